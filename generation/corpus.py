"""Documents of any kind -> articles -> the sections worth asking about, one at a time.

Choice of sections: the summary and randomly chosen sections of the body, as in Grzywinski et al. 2023, section 3.2.2.
"""

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from generation.articles.article import rename
from generation.articles.digests import Digests
from generation.articles.sources import MAX_BYTES, Found, Skipped, read_source
from generation.errors import CorpusError, UsageError
from generation.records import Article, Section, digest
from generation.segment import DEFAULT_SEGMENTER, segment

__all__ = ["MAX_BYTES", "MAX_SENTENCES", "MIN_SENTENCES", "Skipped", "articles", "choose", "read"]

MIN_SENTENCES = 3
"""A pair needs two sentences or three; below three there is nothing that could be left out."""

MAX_SENTENCES = 40
"""Three times the 90 % quantile of the paper's sections (12, its Table 1); in longer ones most of a prompt is what no
question is about. Of the 641 sections of FreshWiki's 57 articles, 3 are longer."""

_NO_INPUT = "Name at least one file, folder, glob or dataset to read."

OnSkipped = Callable[[Skipped], None]
_log = logging.getLogger(__name__)


def _warn(skipped: Skipped) -> None:
    _log.warning("Skipped %s", skipped)


def articles(
    inputs: Sequence[str], *, max_bytes: int = MAX_BYTES, column: str = "text", skipped: OnSkipped = _warn
) -> Iterator[Article]:
    """Read files, folders, globs, JSONL and datasets (see `sources.read_source`), one article after the other.

    Ids are unique: another article of the same title gets a hash of its text behind its id, the same article once more
    is skipped. Whatever cannot be read goes to `skipped`. Raises CorpusError, at the end, if nothing could be read.
    """
    if not inputs:
        raise UsageError(_NO_INPUT)
    return (found.article for found in _articles(inputs, max_bytes, column, skipped))


def _articles(inputs: Sequence[str], max_bytes: int, column: str, skipped: OnSkipped) -> Iterator[Found]:
    ids, texts = Digests(), Digests()
    first: Skipped | None = None
    for address in inputs:
        for found in read_source(address, max_bytes, column):
            admitted = found if isinstance(found, Skipped) else _admit(found, ids, texts)
            if isinstance(admitted, Skipped):
                first = first or admitted
                skipped(admitted)
            else:
                yield admitted
    if not len(ids):
        raise CorpusError(f"No article could be read; the first reason: {first}.")


def _admit(found: Found, ids: Digests, texts: Digests) -> Found | Skipped:
    article, text = found.article, digest(found.article.text)
    if not article.sections:
        return Skipped(found.name, "holds no prose")
    if text in texts:
        return Skipped(found.name, "was read before, word for word")
    if article.id in ids:
        article = rename(article, f"{article.id}-{text[:8]}")
    ids.add(article.id)
    texts.add(text)
    return Found(found.name, article)


def choose(
    article: Article,
    *,
    sections: int | Literal["all"] = "all",
    seed: int = 0,
    min_sentences: int = MIN_SENTENCES,
    max_sentences: int = MAX_SENTENCES,
    segmenter: str = DEFAULT_SEGMENTER,
    skipped: OnSkipped = _warn,
    name: str = "",
) -> list[Section]:
    """The segmented sections of `article` that have a fitting number of sentences, in reading order.

    A number of `sections` asks for that many: the summary and random ones of the body. The choice depends on `seed` and
    the article's id alone, not on the other articles. How many do not fit is told to `skipped`, once for the article,
    under `name` (where it was read from) or else its title.
    """
    if isinstance(sections, int) and sections < 1:
        raise UsageError(f'The number of sections must be at least 1, or "all", not {sections}.')
    if not 1 <= min_sentences <= max_sentences:
        raise UsageError(f"There is no number of sentences from {min_sentences} to {max_sentences}.")
    segmented = [segment(s, segmenter) for s in article.sections]
    fitting = [s for s in segmented if min_sentences <= len(s.sentences) <= max_sentences]
    if misfits := len(segmented) - len(fitting):
        reason = f"{misfits} of {len(segmented)} sections do not have {min_sentences} to {max_sentences} sentences"
        skipped(Skipped(name or article.title, reason, misfits if fitting else 0))
    if sections == "all" or len(fitting) <= sections:
        return fitting
    return _drawn(fitting, sections, random.Random(f"{seed}/{article.id}"))


def _drawn(sections: list[Section], count: int, chance: random.Random) -> list[Section]:
    summary = [n for n, s in enumerate(sections) if s.is_summary][:1]
    body = [n for n in range(len(sections)) if n not in summary]
    return [sections[n] for n in sorted(summary + chance.sample(body, count - len(summary)))]


def read(
    inputs: Sequence[str],
    *,
    sections: int | Literal["all"] = "all",
    seed: int = 0,
    min_sentences: int = MIN_SENTENCES,
    max_sentences: int = MAX_SENTENCES,
    segmenter: str = DEFAULT_SEGMENTER,
    max_bytes: int = MAX_BYTES,
    column: str = "text",
    skipped: OnSkipped = _warn,
) -> Iterator[Section]:
    """All sections to work on, segmented: `articles`, and of each what `choose` takes, never more than one in memory.

    Raises CorpusError, at the end, if nothing at all is left.
    """
    is_empty = True
    if not inputs:
        raise UsageError(_NO_INPUT)
    for name, article in _articles(inputs, max_bytes, column, skipped):
        for section in choose(
            article,
            sections=sections,
            seed=seed,
            min_sentences=min_sentences,
            max_sentences=max_sentences,
            segmenter=segmenter,
            skipped=skipped,
            name=name,
        ):
            is_empty = False
            yield section
    if is_empty:
        raise CorpusError(
            f"No section is left: none has {min_sentences} to {max_sentences} sentences; change these two numbers."
        )

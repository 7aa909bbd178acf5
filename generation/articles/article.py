"""Blocks of prose -> an Article: the canonical Markdown that all offsets count in, and its sections.

The text is ours to render: the title as H1, headings from H2 on, one line for each paragraph, list item and quote, a
blank line between blocks. Nothing is escaped, since the sections' text is read as prose: find sections by their
offsets, never by parsing the text again. Headings with nothing under them and Wikipedia's back matter (references,
notes, external links ...) are left out.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import astuple, replace
from itertools import groupby

from generation.articles.markup import Block
from generation.articles.prose import clean_characters
from generation.records import Article, Section, Source, digest

_BACK_MATTER = frozenset(
    "bibliography|citations|citations and references|explanatory notes|external link|external links|footnotes"
    "|further reading|general references|notes|notes and references|references|references and notes|see also|sources"
    "|works cited".split("|")
)
_UNKNOWN = Source()
_LONGEST_TITLE = 100
_LONGEST_SLUG = 80


def make_article(
    blocks: Sequence[Block], *, name: str, title: str = "", domain: str = "", source: Source = _UNKNOWN
) -> Article:
    """Render `blocks` and cut them into sections, whose ids count from 0 in reading order.

    Without a `title` it is the leading H1 if there is no other, else a first line that stands alone, else `name`.
    """
    found, body = _take_title(list(blocks), title)
    title = _readable(clean_characters(title or found or name))
    source = Source(*map(clean_characters, astuple(source)))
    article = Article(slug(title), title, "", domain=clean_characters(domain), source=source)
    return _render(article, _without_empty_headings(_without_back_matter(body)))


def rename(article: Article, article_id: str) -> Article:
    """The same article under another id, its sections included."""
    sections = tuple(replace(s, id=f"{article_id}/{n}", article_id=article_id) for n, s in enumerate(article.sections))
    return replace(article, id=article_id, sections=sections)


def slug(title: str) -> str:
    """A title as lower-case ASCII words joined by "-"; a title without any becomes a hash."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall("[a-z0-9]+", ascii_title))[:_LONGEST_SLUG].strip("-")
    return words or f"article-{digest(title, 8)}"


def _readable(title: str) -> str:
    return title if " " in title else title.replace("_", " ").strip() or title


def _take_title(blocks: list[Block], known: str) -> tuple[str, list[Block]]:
    """The title that the blocks begin with, "" if none, and the blocks after it."""
    if len(blocks) < 2:
        return "", blocks
    first, rest = blocks[0], blocks[1:]
    is_only_h1 = first.kind == "heading" and first.level == 1 and all(b.kind != "heading" or b.level > 1 for b in rest)
    is_lone_line = first.kind == "paragraph" and len(first.text) <= _LONGEST_TITLE and first.text[-1] not in ".!?:;,"
    repeats_title = slug(first.text) == slug(known)
    if is_only_h1 or repeats_title or (is_lone_line and not known):
        return first.text, rest
    return "", blocks


def _without_back_matter(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    dropping = 0  # level of the heading whose part is left out
    for block in blocks:
        if block.kind == "heading" and (not dropping or block.level <= dropping):
            dropping = block.level if block.text.casefold().strip(" :") in _BACK_MATTER else 0
        if not dropping:
            kept.append(block)
    return kept


def _without_empty_headings(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    needed = 0  # a heading of a level below this one has something under it
    for block in reversed(blocks):
        if block.kind != "heading":
            kept.append(block)
            needed = 7
        elif block.level < needed:
            kept.append(block)
            needed = block.level
    return kept[::-1]


def _render(article: Article, blocks: list[Block]) -> Article:
    """Write the text from top to bottom; a section starts where its first block does and ends with its last."""
    top = min((b.level for b in blocks if b.kind == "heading"), default=2)
    text = f"# {article.title}"
    open_headings: list[Block] = []
    sections: list[Section] = []
    for is_heading, group in groupby(blocks, key=lambda b: b.kind == "heading"):
        if is_heading:
            for heading in group:
                open_headings = [*(h for h in open_headings if h.level < heading.level), heading]
                text += f"\n\n{'#' * min(heading.level - top + 2, 6)} {heading.text}"
            continue
        start = len(text) + 2
        prose = _prose(list(group))
        text += f"\n\n{prose}"
        path = tuple(h.text for h in open_headings)
        sections.append(_section(article, len(sections), path, prose, start))
    return replace(article, text=text + "\n", sections=tuple(sections))


def _section(article: Article, n: int, path: tuple[str, ...], text: str, start: int) -> Section:
    return Section(
        id=f"{article.id}/{n}",
        article_id=article.id,
        article_title=article.title,
        path=path,
        text=text,
        start=start,
        end=start + len(text),
        domain=article.domain,
        source=article.source,
    )


def _prose(blocks: list[Block]) -> str:
    lines = [_line(blocks[0])]
    for previous, block in zip(blocks, blocks[1:], strict=False):
        in_list = previous.kind == block.kind == "item"
        lines += [_line(block)] if in_list else ["", _line(block)]
    return "\n".join(lines)


def _line(block: Block) -> str:
    match block.kind:
        case "item":
            return f"{'  ' * block.level}{block.marker} {block.text}"
        case "quote":
            return f"> {block.text}"
    return block.text

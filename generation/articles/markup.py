"""Markdown, HTML and plain text -> blocks of prose; wikitext has a module of its own.

What is not prose is left out: images, tables, code blocks, formulas, comments, scripts. Links, emphasis and inline code
become their text.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from generation.articles.prose import clean_characters, tidy

if TYPE_CHECKING:
    from lxml.html import HtmlElement
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, list item or block quote: a single line of text without its marker.

    `level` is the depth of a heading (1 to 6) or of a list item (0 for the outermost list); `marker` is "-" or "3.".
    """

    kind: Literal["heading", "paragraph", "item", "quote"]
    text: str
    level: int = 0
    marker: str = ""


_LONGEST_WRAPPED_LINE = 160  # nobody wraps by hand beyond this; such a file has one paragraph a line (FreshWiki)
_ENDS_SENTENCE = re.compile(r"[.!?:][\"'\u201d\u2019)\]]*$")
_SHORT_PAGE = 3000  # characters of text
_CITATION_LABEL = re.compile(r"\d{1,3}|\^\S{1,40}")  # of a link: [8](https://...), or [8] defined further down
_LISTED_ADDRESS = re.compile(r"\s*\[\^?\w{1,20}\]:?\s+(?:https?|ftp)://\S+\s*")


def from_text(text: str) -> list[Block]:
    """Plain text: blank lines part the paragraphs; nothing in it is mark-up."""
    text = clean_characters(text)
    paragraphs = re.split(r"\n[^\S\n]*\n", text)
    one_per_line = _has_a_paragraph_per_line(text.split("\n"))
    return [Block("paragraph", line) for p in paragraphs for line in _unwrap(p.split("\n"), one_per_line)]


def _has_a_paragraph_per_line(lines: list[str]) -> bool:
    return max(map(len, lines), default=0) > _LONGEST_WRAPPED_LINE


def _unwrap(lines: list[str], one_per_line: bool) -> Iterator[str]:
    """Join lines to paragraphs; lists of bare addresses, `[8] https://...`, are dropped."""
    pending: list[str] = []
    for line in lines:
        if _LISTED_ADDRESS.fullmatch(line):
            continue
        pending.append(line)
        if one_per_line and _ENDS_SENTENCE.search(tidy(line)):
            yield from filter(None, [tidy(" ".join(pending))])
            pending.clear()
    yield from filter(None, [tidy(" ".join(pending))])


def from_markdown(text: str, *, indented_code: bool = True) -> list[Block]:
    """CommonMark with GitHub's tables. `indented_code=False` reads lines indented by four spaces as prose."""
    tokens = _parser(indented_code).parse(clean_characters(text))
    contents = [line for t in tokens if t.type == "inline" for line in t.content.split("\n")]
    return _MarkdownBlocks(_has_a_paragraph_per_line(contents)).read(tokens)


@cache
def _parser(indented_code: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    return parser if indented_code else parser.disable("code")


class _MarkdownBlocks:
    """One pass over the tokens of markdown-it, with the lists and quotes that are open."""

    def __init__(self, one_per_line: bool) -> None:
        self.one_per_line = one_per_line
        self.blocks: list[Block] = []
        self.heading = 0
        self.lists = 0
        self.quotes = 0
        self.tables = 0
        self.marker = ""  # of the list item that has just been opened

    def read(self, tokens: "list[Token]") -> list[Block]:
        for token in tokens:
            match token.type:
                case "heading_open":
                    self.heading = int(token.tag[1])
                case "bullet_list_open" | "ordered_list_open" | "bullet_list_close" | "ordered_list_close":
                    self.lists += token.nesting
                case "blockquote_open" | "blockquote_close":
                    self.quotes += token.nesting
                case "table_open" | "table_close":
                    self.tables += token.nesting
                case "list_item_open":
                    self.marker = f"{token.info}." if token.info else "-"
                case "list_item_close":
                    self.marker = ""
                case "html_block":
                    self.blocks += from_html(token.content)
                case "inline" if not self.tables:
                    self.add(_lines(token))
        return self.blocks

    def add(self, lines: list[str]) -> None:
        whole = self.heading or self.lists
        for text in _unwrap(lines, self.one_per_line and not whole):
            self.blocks.append(self.block(text))
        self.heading, self.marker = 0, ""

    def block(self, text: str) -> Block:
        if self.heading:
            return Block("heading", text, self.heading)
        if self.marker:
            return Block("item", text, self.lists - 1, self.marker)
        return Block("quote" if self.quotes and not self.lists else "paragraph", text)


def _lines(inline: "Token") -> list[str]:
    """The text of an inline token, a string per source line; the content of <script> and <style> is dropped."""
    lines, hidden = [""], ""
    previous = ""
    for token in inline.children or []:
        if token.type == "html_inline":
            tag = token.content.strip("</>").split()[:1]
            if tag and tag[0].lower() in ("script", "style"):
                hidden = "" if token.content.startswith("</") else tag[0]
        elif hidden:
            pass
        elif token.type in ("text", "code_inline"):
            is_citation = previous == "link_open" and _CITATION_LABEL.fullmatch(token.content)
            lines[-1] += f"[{token.content}]" if is_citation else token.content
        elif token.type == "softbreak":
            lines.append("")
        elif token.type == "hardbreak":
            lines[-1] += " "
        previous = token.type
    return lines


_BREAKING = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr"
    " html li main nav ol p section summary td th tr ul".split()
)
_WITHOUT_PROSE = frozenset(
    "audio button canvas embed figure head iframe img input math nav noscript object picture pre script select"
    " style svg table template textarea video".split()
)
_WITHOUT_PROSE_CLASSES = frozenset(
    "ambox catlinks hatnote infobox metadata mw-editsection mw-jump-link mw-references-wrap navbox noexcerpt noprint"
    " printfooter reflist shortdescription sidebar sistersitebox thumb toc vertical-navbox".split()
)


def from_html(html: str) -> list[Block]:
    """All the prose of an HTML page or fragment, in order; see `main_content` for pages with menus around it."""
    return from_tree(parse_html(html))


def from_tree(root: "HtmlElement") -> list[Block]:
    """The same for what `parse_html` has made."""
    return _HtmlBlocks().read(root)


def parse_html(html: str) -> "HtmlElement":
    """Parse HTML and take out what holds no prose; an empty page is an empty <div>."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = document_fromstring(clean_characters(html).encode(), parser=parser)
    except etree.ParserError:  # no element at all
        return document_fromstring(b"<div></div>", parser=parser)
    for element in [e for e in root.iter() if _holds_no_prose(e)]:
        if element.getparent() is not None:
            element.drop_tree()
    for element in list(root.iter("code", "kbd", "samp", "tt", "var")):  # words of a sentence: trafilatura moves them
        element.drop_tag()
    return root


def _holds_no_prose(element: "HtmlElement") -> bool:
    if element.tag in ("html", "head", "body"):  # the head stays for the title and licence that it names
        return False
    if element.tag in _WITHOUT_PROSE or element.get("role") in ("note", "navigation"):
        return True
    if "display:none" in element.get("style", "").replace(" ", "") or element.get("id") == "coordinates":
        return True
    classes = element.get("class", "").split()
    is_citation = element.tag in ("sup", "ol") and any(c.startswith(("reference", "mw-ref")) for c in classes)
    return is_citation or not _WITHOUT_PROSE_CLASSES.isdisjoint(classes)


def main_content(root: "HtmlElement") -> list[Block]:
    """The article on a page, without menus, footers and advertisements: what trafilatura finds, else all prose.

    From short pages trafilatura gives the text in one piece, its headings in the midst of it, or only a part.
    """
    import trafilatura

    whole = from_tree(_middle(root))
    found = trafilatura.extract(
        root, output_format="html", include_formatting=True, include_comments=False, include_tables=False
    )
    blocks = from_html(found) if found else []
    return whole if _is_run_together(blocks, whole) or _is_a_part(blocks, whole) else blocks


def _middle(root: "HtmlElement") -> "HtmlElement":
    """A copy of the page's <main>, or of its one <article>, or of all, without footers and asides."""
    mains = list(root.iter("main")) or list(root.iter("article"))
    middle = copy.deepcopy(mains[0] if len(mains) == 1 else root)
    for element in list(middle.iter("footer", "aside")):
        if element.getparent() is not None:
            element.drop_tree()
    return middle


def _is_run_together(blocks: list[Block], whole: list[Block]) -> bool:
    """True if no heading is left as one, while half of them or more stand in the midst of paragraphs."""
    headings = [b.text for b in whole if b.kind == "heading"]
    if not headings or any(b.kind == "heading" for b in blocks):
        return False
    swallowed = [h for h in headings if any(h in b.text for b in blocks)]
    return 2 * len(swallowed) >= len(headings)


def _is_a_part(blocks: list[Block], whole: list[Block]) -> bool:
    """True if most of a short page is missing; of a long one most may well be menus and comments."""
    length = sum(len(b.text) for b in whole)
    return length < _SHORT_PAGE and 2 * sum(len(b.text) for b in blocks) < length


class _HtmlBlocks:
    """One walk over a tree of lxml: text gathers in a buffer that every block-level tag empties."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.buffer: list[str] = []
        self.lists: list[str] = []  # "ul" or "ol", outermost first
        self.open: list[str] = []  # tags of the blocks that are open
        self.marker = ""

    def read(self, root: "HtmlElement") -> list[Block]:
        self.walk(root)
        self.flush()
        return self.blocks

    def walk(self, element: "HtmlElement") -> None:
        if element.tag in _BREAKING:
            self.walk_block(element)
        elif element.tag == "br":
            self.buffer.append(" ")
        elif element.tag not in _WITHOUT_PROSE and isinstance(element.tag, str):
            self.walk_inside(element)

    def walk_block(self, element: "HtmlElement") -> None:
        self.flush()
        self.open.append(element.tag)
        if element.tag in ("ul", "ol"):
            self.lists.append(element.tag)
        elif element.tag == "li":
            self.marker = _item_marker(element)
        self.walk_inside(element)
        self.flush()
        if element.tag in ("ul", "ol"):
            self.lists.pop()
        elif element.tag == "li":
            self.marker = ""
        self.open.pop()

    def walk_inside(self, element: "HtmlElement") -> None:
        text = element.text or ""
        if element.tag == "sup" and text.strip().lstrip("-\u2212").isdecimal():
            text = "^" + text.strip()  # 10<sup>6</sup> is not 106
        self.buffer.append(text)
        for child in element:
            self.walk(child)
            self.buffer.append(child.tail or "")

    def flush(self) -> None:
        text = tidy("".join(self.buffer))
        self.buffer.clear()
        if text:
            self.blocks.append(self.block(text))
            self.marker = ""

    def block(self, text: str) -> Block:
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            return Block("heading", text, int(self.open[-1][1]))
        if self.marker:
            return Block("item", text, max(len(self.lists) - 1, 0), self.marker)
        return Block("quote" if "blockquote" in self.open and not self.lists else "paragraph", text)


def _item_marker(element: "HtmlElement") -> str:
    parent = element.getparent()
    if parent is None or parent.tag != "ol":
        return "-"
    return f"{1 + sum(1 for e in element.itersiblings('li', preceding=True))}."

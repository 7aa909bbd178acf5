"""Wikitext -> blocks of prose, by mwparserfromhell.

Wikitext is not finished text: templates are programs. The few that stand for words in the middle of a sentence are
written out, all others are dropped, and with them what they would have said. An article taken through Wikipedia's
REST API (see `generation.articles.wikipedia`) has them all rendered.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from generation.articles.markup import Block
from generation.articles.prose import clean_characters, tidy

if TYPE_CHECKING:
    from mwparserfromhell.nodes import ExternalLink, Node, Tag, Template, Wikilink
    from mwparserfromhell.wikicode import Wikicode

_NOT_PROSE = frozenset(
    "chem gallery graph hiero imagemap math pre ref references score script source style syntaxhighlight table"
    " timeline".split()
)
_NAMESPACES = frozenset(["file", "image", "category", "media"])
_SWITCH = re.compile(r"__[A-Z]+__")  # __NOTOC__
_ITEM = re.compile(r"[*#:;]+")

_TEMPLATES: dict[str, Callable[[list[str]], str]] = {
    "nowrap": lambda a: a[0],
    "nobr": lambda a: a[0],
    "abbr": lambda a: a[0],
    "em": lambda a: a[0],
    "sic": lambda a: a[0],
    "lang": lambda a: a[1],
    "convert": lambda a: f"{a[0]} {a[1]}",
    "cvt": lambda a: f"{a[0]} {a[1]}",
    "circa": lambda a: f"c. {a[0]}",
    "c.": lambda a: f"c. {a[0]}",
    "as of": lambda a: f"As of {a[0]}",
    "usc": lambda a: f"{a[0]} U.S.C. \u00a7 {a[1]}",
    "uspl": lambda a: f"Pub. L. {a[0]}\u2013{a[1]}",
    "usstat": lambda a: f"{a[0]} Stat. {a[1]}",
    "ussc": lambda a: f"{a[0]} U.S. {a[1]}",
    "blockquote": lambda a: a[0],
    "quote": lambda a: a[0],
}


def from_wikitext(text: str) -> list[Block]:
    """The headings, paragraphs and list items of a page's source."""
    import mwparserfromhell

    lines = _SWITCH.sub("", _plain(mwparserfromhell.parse(clean_characters(text)))).split("\n")
    return list(_blocks(lines))


# Private marks within the flattened text, which `clean_characters` has cleared of control characters.
_HEADING, _LIST = "\x01", "\x02"


def _plain(code: "Wikicode") -> str:
    return "".join(_plain_node(node) for node in code.nodes)


def _plain_node(node: "Node") -> str:
    from mwparserfromhell import nodes

    match node:
        case nodes.Text():
            return str(node.value)
        case nodes.Heading():
            return f"\n{_HEADING}{node.level}{_plain(node.title)}\n"
        case nodes.Wikilink():
            return _link_text(node)
        case nodes.ExternalLink():
            return _address_text(node)
        case nodes.Tag():
            return _tag_text(node)
        case nodes.HTMLEntity():
            return clean_characters(node.normalize() or "")
        case nodes.Template():
            return _template_text(node)
    return ""


def _link_text(link: "Wikilink") -> str:
    target = str(link.title).strip()
    if target.split(":")[0].strip().lower() in _NAMESPACES:
        return ""
    return _plain(link.text) if link.text is not None else target.lstrip(":")


def _address_text(link: "ExternalLink") -> str:
    if link.title is not None:
        return _plain(link.title)
    return "" if link.brackets else str(link.url)


def _tag_text(tag: "Tag") -> str:
    name = str(tag.tag).strip().lower()
    if tag.wiki_markup and _ITEM.fullmatch(str(tag.wiki_markup)):
        return _LIST + str(tag.wiki_markup)
    if name == "br":
        return " "
    if name in _NOT_PROSE or tag.contents is None:
        return ""
    text = _plain(tag.contents)
    return f"\n\n{text}\n\n" if name in ("blockquote", "p", "div") else text


def _template_text(template: "Template") -> str:
    write = _TEMPLATES.get(str(template.name).strip().lower())
    if write is None:
        return ""
    arguments = [_plain(p.value).strip() for p in template.params if not p.showkey]
    try:
        return write(arguments)
    except IndexError:  # fewer arguments than it needs: as mute as an unknown template
        return ""


def _blocks(lines: list[str]) -> Iterator[Block]:
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip() and line[0] not in (_HEADING, _LIST):
            paragraph.append(line)
            continue
        yield from _block("paragraph", " ".join(paragraph))
        paragraph.clear()
        if line.startswith(_HEADING):
            yield from _block("heading", line[2:], int(line[1]))
        elif line.startswith(_LIST):
            yield from _item(line)


def _item(line: str) -> Iterator[Block]:
    marks = "".join(re.findall(f"{_LIST}([*#:;]+)", line))
    text = re.sub(f"{_LIST}[*#:;]+", " ", line)
    if marks[-1] in "*#":  # both as "-": a number would have to be counted over lines
        yield from _block("item", text, len(marks) - 1, "-")
    else:
        yield from _block("paragraph", text)


def _block(kind: str, text: str, level: int = 0, marker: str = "") -> Iterator[Block]:
    if text := tidy(text):
        yield Block(kind, text, level, marker)  # type: ignore[arg-type]

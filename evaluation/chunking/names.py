"""The grammar of chunkers' names: KIND[:NUMBER[:NUMBER]][@TOKENIZER]."""

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.chunking import chains, coreference, fixed, libraries, semantic
from evaluation.chunking.chunk import Chunker, SpanChunker, Split
from evaluation.chunking.late import TokenEmbedder
from evaluation.chunking.tokens import Tokenizer, tokenizer
from evaluation.embedders import DEFAULT, Embedder, embedder_of
from evaluation.examples import Document, ExampleSet, Span
from generation.errors import UsageError


@dataclass(frozen=True)
class Tools:
    """What some chunkers need besides their numbers."""

    embedder: Embedder | None = None
    examples: ExampleSet | None = None
    tokens: TokenEmbedder | None = None


@dataclass(frozen=True)
class Sizes:
    """The numbers of a name, 0 where not given, and its tokenizer."""

    first: int
    second: int
    unit: Tokenizer


@dataclass(frozen=True)
class Form:
    """How a name is written: `least` to `most` numbers, the first from `smallest` to `largest`, the second less.

    `needs` names the tool that the split is built with.
    """

    written: str
    build: Callable[..., Split]
    least: int = 1
    most: int = 2
    smallest: int = 1
    largest: int = 1_000_000
    has_unit: bool = True
    has_overlap: bool = True
    needs: str = ""


def simple(name: str, tools: Tools) -> Chunker:
    """The chunker of a name without a prefix. Raises UsageError with the form that was wanted."""
    form, values, unit = _read(name)
    sizes = Sizes(*_pair(values), tokenizer(unit or "words"))
    if values and not form.smallest <= sizes.first <= form.largest:
        raise UsageError(f'"{name}": the first number must be {form.smallest} to {form.largest}.')
    if form.has_overlap and sizes.second >= max(sizes.first, 1):
        raise UsageError(f'"{name}": OVERLAP must be less than SIZE.')
    full = ":".join([name.partition("@")[0].partition(":")[0], *map(str, values)])
    full += f"@{sizes.unit.name}" if form.has_unit and values else ""
    if form.needs == "embedder":
        embedder = tools.embedder or embedder_of(DEFAULT)
        return SpanChunker(f"{full} ({embedder.name})", form.build(sizes, embedder))
    if form.needs == "examples":
        if tools.examples is None:
            raise UsageError(f'"{name}" reads the labels of a set; pass the set as examples=.')
        return SpanChunker(full, form.build(sizes, tools.examples))
    return SpanChunker(full, form.build(sizes))


def _read(name: str) -> tuple[Form, list[int], str]:
    """The form, numbers and tokenizer ("" where none is given) of a name."""
    start, at, unit = name.partition("@")
    kind, *values = start.split(":")
    if kind not in NAMES:
        raise UsageError(f'There is no chunker "{kind}"; choose one of {", ".join(NAMES)}, contextual:NAME, late:NAME.')
    form = NAMES[kind]
    are_numbers = all(v.isascii() and v.isdigit() and len(v) < 8 for v in values)
    has_unit = form.has_unit and bool(values)
    if not are_numbers or not form.least <= len(values) <= form.most or at and not (unit and has_unit):
        raise UsageError(f'"{name}" is not of the form {form.written}, with whole numbers.')
    return form, [int(v) for v in values], unit


def _pair(values: list[int]) -> tuple[int, int]:
    first, second = [*values, 0, 0][:2]
    return first, second


def _tokens(s: Sizes) -> Split:
    return lambda d: fixed.tokens(d, s.unit, s.first, s.second)


def _sentences(s: Sizes) -> Split:
    return lambda d: fixed.sentences(d, s.first, s.second)


def _recursive(s: Sizes) -> Split:
    return lambda d: libraries.recursive(d.text, s.unit, s.first, s.second)


def _unicode(s: Sizes) -> Split:
    return lambda d: libraries.text_splitter(d.text, s.unit, s.first, s.second, markdown=False)


def _markdown(s: Sizes) -> Split:
    return lambda d: libraries.text_splitter(d.text, s.unit, s.first, s.second, markdown=True)


def _sections(s: Sizes) -> Split:
    return lambda d: fixed.sections(d, s.unit, s.first or None)


def _semantic(s: Sizes, embedder: Embedder) -> Split:
    return lambda d: semantic.breakpoints(d, embedder, s.first, s.unit, s.second or None)


def _cluster(s: Sizes, embedder: Embedder) -> Split:
    return lambda d: semantic.cluster(d, embedder, s.unit, s.first)


def _coref(s: Sizes) -> Split:
    return lambda d: coreference.aware(d, s.unit, s.first, chains.found)


def _oracle(s: Sizes, examples: ExampleSet) -> Split:
    links = chains.labelled(examples)

    def split(document: Document) -> list[Span]:
        # all else only decides between cuts that are as good for the labels
        return coreference.aware(document, s.unit, s.first, lambda d: links.get(d.id, ()), unseen=0.001)

    return split


NAMES: dict[str, Form] = {
    "tokens": Form("tokens:SIZE[:OVERLAP][@TOKENIZER]", _tokens),
    "sentences": Form("sentences:SIZE[:OVERLAP]", _sentences, has_unit=False),
    "recursive": Form("recursive:SIZE[:OVERLAP][@TOKENIZER]", _recursive, smallest=2),
    "unicode": Form("unicode:SIZE[:OVERLAP][@TOKENIZER]", _unicode),
    "markdown": Form("markdown:SIZE[:OVERLAP][@TOKENIZER]", _markdown),
    "sections": Form("sections[:SIZE][@TOKENIZER]", _sections, least=0, most=1),
    "semantic": Form("semantic:PERCENT[:SIZE][@TOKENIZER]", _semantic, largest=99, has_overlap=False, needs="embedder"),
    "cluster": Form("cluster:SIZE[@TOKENIZER]", _cluster, most=1, needs="embedder"),
    "coref": Form("coref:SIZE[@TOKENIZER]", _coref, most=1),
    "oracle": Form("oracle:SIZE[@TOKENIZER]", _oracle, most=1, needs="examples"),
}

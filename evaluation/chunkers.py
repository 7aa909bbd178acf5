"""Chunkers by name: text is cut into spans of it, never searched for.

    tokens:SIZE[:OVERLAP]       windows of so many tokens
    sentences:SIZE[:OVERLAP]    windows of so many sentences
    recursive:SIZE[:OVERLAP]    paragraphs, else lines, sentences, words (LangChain's rule, separators as Chroma's)
    unicode:SIZE[:OVERLAP]      the largest of Unicode's units that fit (semantic-text-splitter)
    markdown:SIZE[:OVERLAP]     the largest of Markdown's blocks that fit (semantic-text-splitter)
    sections[:SIZE]             the headed sections, long ones filled up by sentences

SIZE and OVERLAP count tokens, of the default tokenizer "words" unless the name ends in @characters or @cl100k. Instead
of a name, `make` takes any function text -> (start, end) pairs, or a chunker made by chonkie.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import cast

from evaluation.chunking import fixed, libraries
from evaluation.chunking.chunk import Chunk, Chunker, SpanChunker, Split
from evaluation.chunking.tokens import Tokenizer, tokenizer
from evaluation.examples import Document
from generation.errors import UsageError

__all__ = ["NAMES", "Chunk", "Chunked", "Chunker", "chunk_all", "make"]


@dataclass(frozen=True)
class Chunked:
    """The chunks of many documents and the seconds that cutting them took."""

    chunker: str
    chunks: tuple[Chunk, ...]
    seconds: float


def make(given: str | Callable[[str], Iterable[tuple[int, int]]] | Chunker | object) -> Chunker:
    """The chunker of a name as above, or around a function from text to spans or another package's chunker.

    The chunker's own `name` says size, overlap and tokenizer in full. Raises UsageError for a name that does not
    follow the grammar; what a function returns is checked when it is used, with ChunkError.
    """
    if isinstance(given, str):
        return _named(given)
    if hasattr(given, "chunk_indices") or hasattr(given, "chunk") or hasattr(given, "split_text"):
        name, spans = libraries.of_object(given)
        return SpanChunker(name, lambda document: spans(document.text))
    if callable(given) and isinstance(getattr(given, "name", None), str):
        return cast(Chunker, given)
    if callable(given):
        function: Callable[[str], Iterable[tuple[int, int]]] = given
        return SpanChunker(getattr(given, "__name__", type(given).__name__), lambda d: function(d.text))
    raise UsageError(f"{given!r} is no chunker; give a name, or a function that takes a text and returns spans.")


def chunk_all(chunker: Chunker, documents: Iterable[Document]) -> Chunked:
    """Cut each document, in order, and time it."""
    start = perf_counter()
    chunks = tuple(chunk for document in documents for chunk in chunker(document))
    return Chunked(chunker.name, chunks, perf_counter() - start)


@dataclass(frozen=True)
class _Sizes:
    """The numbers of a name, and its tokenizer."""

    size: int
    overlap: int
    unit: Tokenizer


def _named(name: str) -> Chunker:
    start, at, unit = name.partition("@")
    kind, *values = start.split(":")
    if kind not in NAMES:
        raise UsageError(f'There is no chunker "{kind}"; choose one of {", ".join(NAMES)}.')
    form = NAMES[kind]
    has_unit = form.has_unit and bool(values)
    are_numbers = all(v.isascii() and v.isdigit() for v in values)
    if not are_numbers or not form.least <= len(values) <= form.most or at and not (unit and has_unit):
        raise UsageError(f'"{name}" is not of the form {form.written}, with whole numbers.')
    size, overlap = [int(v) for v in [*values, "0", "0"][:2]]
    if values and size < form.smallest or overlap >= max(size, 1):
        raise UsageError(f'"{name}": SIZE must be at least {form.smallest}, and OVERLAP less than SIZE.')
    sizes = _Sizes(size, overlap, tokenizer(unit or "words"))
    full = ":".join([kind, *map(str, map(int, values))]) + (f"@{sizes.unit.name}" if has_unit else "")
    return SpanChunker(full, form.build(sizes))


@dataclass(frozen=True)
class _Form:
    """How a name is written: its numbers, at least `least` and at most `most`; the first at least `smallest`."""

    written: str
    build: Callable[[_Sizes], Split]
    least: int = 1
    most: int = 2
    smallest: int = 1
    has_unit: bool = True


NAMES: dict[str, _Form] = {
    "tokens": _Form(
        "tokens:SIZE[:OVERLAP][@TOKENIZER]", lambda s: lambda d: fixed.tokens(d, s.unit, s.size, s.overlap)
    ),
    "sentences": _Form(
        "sentences:SIZE[:OVERLAP]", lambda s: lambda d: fixed.sentences(d, s.size, s.overlap), has_unit=False
    ),
    "recursive": _Form(
        "recursive:SIZE[:OVERLAP][@TOKENIZER]",
        lambda s: lambda d: libraries.recursive(d.text, s.unit, s.size, s.overlap),
        smallest=2,
    ),
    "unicode": _Form(
        "unicode:SIZE[:OVERLAP][@TOKENIZER]",
        lambda s: lambda d: libraries.text_splitter(d.text, s.unit, s.size, s.overlap, markdown=False),
    ),
    "markdown": _Form(
        "markdown:SIZE[:OVERLAP][@TOKENIZER]",
        lambda s: lambda d: libraries.text_splitter(d.text, s.unit, s.size, s.overlap, markdown=True),
    ),
    "sections": _Form(
        "sections[:SIZE][@TOKENIZER]", lambda s: lambda d: fixed.sections(d, s.unit, s.size or None), least=0, most=1
    ),
}

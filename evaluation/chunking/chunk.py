"""What a chunk is, what a chunker is, and the check that all of them pass through."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluation.examples import Document, Place, Span
from generation.errors import ChunkError

Split = Callable[[Document], Iterable[tuple[int, int]]]
"""A document -> (start, end) of its chunks, characters of its text, end exclusive, in order of start."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Characters `start` to `end` of a document; `text` is what an index reads.

    `text` is the document's own between these places, unless the chunker adds to it (contextual): what counts as found
    is always the place, never the text.
    """

    document: str
    start: int
    end: int
    text: str

    @property
    def place(self) -> Place:
        return Place(self.document, self.start, self.end)


class Chunker(Protocol):
    """Cuts one document into chunks, in order; `name` says all that its chunks depend on."""

    @property
    def name(self) -> str: ...

    def __call__(self, document: Document) -> tuple[Chunk, ...]: ...


@dataclass(frozen=True)
class SpanChunker:
    """A chunker made from a function to spans, which are checked."""

    name: str
    split: Split

    def __call__(self, document: Document) -> tuple[Chunk, ...]:
        spans = checked(self.name, document.text, self.split(document))
        return tuple(Chunk(document.id, *span, document.text[span.start : span.end]) for span in spans)


def checked(name: str, text: str, spans: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """`spans` as they are, if each holds something, none reaches beyond `text`, and starts never go back.

    Raises ChunkError with the number of the first that does not.
    """
    found: list[Span] = []
    if isinstance(spans, str) or not isinstance(spans, Iterable):
        raise ChunkError(f"{name} returned {spans!r:.80}; pairs (start, end) are wanted.")
    for number, given in enumerate(spans, 1):
        try:
            start, end = given
        except (TypeError, ValueError) as error:
            raise ChunkError(f"Chunk {number} of {name} is {given!r}; a pair (start, end) is wanted.") from error
        if not _is_index(start) or not _is_index(end) or not 0 <= start < end <= len(text):
            raise ChunkError(
                f"Chunk {number} of {name} is {start!r} to {end!r} in a text of {len(text)} characters; give whole "
                "numbers with 0 <= start < end <= length."
            )
        if found and start < found[-1].start:
            raise ChunkError(f"Chunk {number} of {name} starts before the one that it follows; give them in order.")
        found.append(Span(int(start), int(end)))
    return tuple(found)


def covering(name: str, text: str, found: Sequence[tuple[int, str]]) -> list[Span]:
    """The spans of a library's chunks (start, text), if each stands where it says and no word of `text` is left out.

    Raises ChunkError where an offset is wrong, as when a library looks repeated text up and finds the wrong place.
    """
    spans, reached = [], 0
    for number, (start, piece) in enumerate(found, 1):
        end = start + len(piece)
        if start < 0 or text[start:end] != piece:
            raise ChunkError(f"Chunk {number} of {name} does not stand at character {start}, as the library says.")
        if text[reached:start].strip():
            raise ChunkError(f"{name} leaves out what stands between characters {reached} and {start}.")
        spans.append(Span(start, end))
        reached = max(reached, end)
    if text[reached:].strip():
        raise ChunkError(f"{name} leaves out what stands after character {reached}.")
    return spans


def stripped(text: str, start: int, end: int) -> Span:
    """The span without the white space at its ends; empty, at `end`, if it holds nothing else."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return Span(first, max(first, start + len(piece.rstrip())))


def _is_index(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)

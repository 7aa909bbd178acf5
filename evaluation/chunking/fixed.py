"""Chunks of a fixed number of tokens or sentences, and chunks that are sections."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from evaluation.chunking.chunk import stripped
from evaluation.chunking.tokens import Ruler, Tokenizer
from evaluation.examples import Document, Span


def tokens(document: Document, unit: Tokenizer, size: int, overlap: int) -> list[Span]:
    """Windows of `size` tokens that share `overlap` tokens with the one before; the last may be shorter."""
    places = unit.spans(document.text)
    windows = (Span(places[a].start, places[b - 1].end) for a, b in _windows(len(places), size, overlap))
    return [w for w in windows if document.text[w.start : w.end].strip()]


def sentences(document: Document, size: int, overlap: int) -> list[Span]:
    """Windows of `size` sentences that share `overlap` sentences with the one before."""
    units = sentence_units(document)
    return [stripped(document.text, units[a].start, units[b - 1].end) for a, b in _windows(len(units), size, overlap)]


def sections(document: Document, unit: Tokenizer, size: int | None) -> list[Span]:
    """One chunk a section, its heading with it; a section of more than `size` tokens is filled up by sentences."""
    whole = section_units(document)
    if size is None:
        return [stripped(document.text, *span) for span in whole]
    ruler = Ruler(document.text, unit)
    units = limited(ruler, sentence_units(document), size)
    return [span for part in whole for span in packed(ruler, [u for u in units if u.start in range(*part)], size)]


def sentence_units(document: Document) -> list[Span]:
    """The document in one piece a sentence, without a gap: what stands before a sentence (a heading) goes with it.

    No piece goes on into the next section; what follows a section's last sentence (a table) is a piece by itself.
    """
    return _units(document.text, [s.end for s in (*document.sentences, *document.sections)])


def section_units(document: Document) -> list[Span]:
    """The document in one piece a section, without a gap; each begins where the one before ends, at its own heading."""
    return _units(document.text, [s.end for s in document.sections])


def limited(ruler: Ruler, units: Sequence[Span], size: int) -> list[Span]:
    """`units`, those of more than `size` tokens cut into pieces of at most so many."""
    return [piece for unit in units for piece in ruler.pieces(*unit, size)]


def _units(text: str, ends: Iterable[int]) -> list[Span]:
    """The text cut at `ends`; white space alone is no piece but the end of the one before."""
    units: list[Span] = []
    cuts = sorted({0, *ends, len(text)})
    for start, end in pairwise(cuts):
        if text[start:end].strip():
            units.append(Span(start, end))
        elif units:
            units[-1] = Span(units[-1].start, end)
    return units


def packed(ruler: Ruler, units: Sequence[Span], size: int) -> Iterator[Span]:
    """Units put together, in order, as long as they hold at most `size` tokens."""
    start = units[0].start if units else 0
    for before, unit in pairwise(units):
        if ruler.count(start, unit.end) > size:
            yield stripped(ruler.text, start, before.end)
            start = unit.start
    if units:
        yield stripped(ruler.text, start, units[-1].end)


def _windows(count: int, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """(first, last + 1) of each window; the last one ends at `count`."""
    for first in range(0, count, size - overlap):
        yield first, min(first + size, count)
        if first + size >= count:
            return

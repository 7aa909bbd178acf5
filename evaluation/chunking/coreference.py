"""Coreference-aware chunks: cut where the fewest references are cut, and carry names into chunks that lack them."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.chunking import fixed, optimum
from evaluation.chunking.chains import LEANING, Reference, found
from evaluation.chunking.chunk import Chunk, Chunker
from evaluation.chunking.tokens import Ruler, Tokenizer
from evaluation.examples import Document, Span

Find = Callable[[Document], Sequence[Reference]]
LEAST_SURE = 0.5
"""Names of less sure references are not carried into a chunk: a wrong name misleads more than none."""


def aware(document: Document, unit: Tokenizer, size: int, find: Find, unseen: float = LEANING) -> list[Span]:
    """Chunks of whole sentences, at most `size` tokens each, that cut references of the smallest summed margin.

    Two sentences of one section may also be tied by what `find` does not see: cutting between them costs `unseen`,
    divided by their distance. A sentence of more than `size` tokens is cut by tokens.
    """
    ruler = Ruler(document.text, unit)
    units = fixed.limited(ruler, fixed.sentence_units(document), size)
    starts, ends = [u.start for u in units], [s.end for s in document.sections]
    section = [bisect_right(ends, start) for start in starts]
    held: dict[int, Counter[int]] = defaultdict(Counter)  # first unit -> last unit -> hundredths of margin
    for reference in find(document):
        places = (bisect_right(starts, place.start) - 1 for place in (reference.antecedent, reference.mention))
        first, last = sorted(places)
        held[first][last] += round(100 * reference.margin)

    def gains(first: int, last: int) -> list[float]:
        row, others = held.get(first, Counter()), range(first + 1, last + 1)
        return [row[i] / 100 + (unseen / (i - first) if section[i] == section[first] else 0) for i in others]

    return optimum.cut(ruler, units, size, gains)


@dataclass(frozen=True)
class Contextual:
    """The chunks of another chunker, with the name in brackets after a mention whose name stands before the chunk.

    The chunk keeps its place; `text` is what grows: "It [the Clean Air Act] sets limits." Each name is given once, and
    not where the chunk holds it anyway.
    """

    inner: Chunker
    find: Find = found

    @property
    def name(self) -> str:
        return f"contextual:{self.inner.name}"

    def __call__(self, document: Document) -> tuple[Chunk, ...]:
        references = [r for r in self.find(document) if r.margin >= LEAST_SURE]
        return tuple(self._named(document, chunk, references) for chunk in self.inner(document))

    def _named(self, document: Document, chunk: Chunk, references: Sequence[Reference]) -> Chunk:
        additions: dict[str, int] = {}  # a name -> where it goes, characters of the document
        for reference in references:
            name = document.text[slice(*reference.antecedent)]
            inside = chunk.start <= reference.mention.start and reference.mention.end <= chunk.end
            if inside and reference.antecedent.start < chunk.start and name not in chunk.text:
                additions.setdefault(name, reference.mention.end)
        pieces, at = [], chunk.start
        for name, end in sorted(additions.items(), key=lambda item: item[1]):
            pieces.append(f"{document.text[at:end]} [{name}]")
            at = end
        return Chunk(chunk.document, chunk.start, chunk.end, "".join([*pieces, document.text[at : chunk.end]]))

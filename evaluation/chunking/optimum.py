"""The best way to cut a document into chunks of limited size, when pairs of sentences want to stay together.

Dynamic programming over the units (sentences) gives an optimum, not an approximation: of all ways to cut, one whose
chunks hold the most; of these, one with the fewest chunks; of these, one with the most even sizes.
"""

from collections.abc import Callable, Sequence

from evaluation.chunking.chunk import stripped
from evaluation.chunking.tokens import Ruler
from evaluation.examples import Span

Gains = Callable[[int, int], Sequence[float]]
"""(i, last) -> what units i+1 to `last` each gain, in order, by being in one chunk with unit i."""


def cut(ruler: Ruler, units: Sequence[Span], size: int, gains: Gains) -> list[Span]:
    """Chunks of neighbouring `units`, each of at most `size` tokens or one unit, that gain the most."""
    best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # per end: what is lost, chunks, sum of squared sizes
    begins: list[int] = []
    rows = [_summed(gains(i, _reach(ruler, units, size, i))) for i in range(len(units))]
    for last in range(len(units)):
        options, inside = [], 0.0
        for first in range(last, -1, -1):
            tokens = ruler.count(units[first].start, units[last].end)
            if first < last and (tokens > size or last - first >= len(rows[first])):
                break
            inside += rows[first][last - first]
            lost, chunks, squares = best[first]
            options.append(((round(lost - inside, 9), chunks + 1, squares + tokens * tokens), first))
        value, begin = min(options)
        best.append(value)
        begins.append(begin)
    return _chunks(ruler.text, units, begins)


def _reach(ruler: Ruler, units: Sequence[Span], size: int, first: int) -> int:
    """The last unit that fits into a chunk that begins with unit `first`."""
    last = first
    while last + 1 < len(units) and ruler.count(units[first].start, units[last + 1].end) <= size:
        last += 1
    return last


def _summed(values: Sequence[float]) -> list[float]:
    """Running sums, 0 first: what unit i gains in a chunk that ends with it, one later, two later..."""
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    return sums


def _chunks(text: str, units: Sequence[Span], begins: Sequence[int]) -> list[Span]:
    chunks, end = [], len(units)
    while end:
        begin = begins[end - 1]
        chunks.append(stripped(text, units[begin].start, units[end - 1].end))
        end = begin
    return chunks[::-1]

"""How good is a ranking of chunks for a question whose evidence is places in documents?

A required sentence is *found* in some chunks when each of its characters but spaces lies within one of them, and
*touched* when any does. Chunks never change what is right, so that rankings under different chunkers compare.

recall@k is the share of required sentences found in the first k, whole@k whether all are, touched@k the share touched.
For nDCG@k and MRR a chunk's gain is the number of required sentences that it touches; both as in trec_eval.
evidence_f1@k takes all sentences found in the first k for predicted (HotpotQA's supporting facts). failure@20 is
1 - recall@20. whole@Nw is whole at an equal budget: as many of the first chunks as N words hold, so that large chunks
gain nothing by their size. one_chunk says whether any chunk of the whole corpus holds all required sentences.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING

from evaluation.evidence import supporting_facts
from evaluation.examples import Document, Place

if TYPE_CHECKING:
    from evaluation.chunking.chunk import Chunk

FAILURE_K = 20
WORDS = 400
"""The budget of whole@Nw, about what 500 tokens hold."""

Measures = dict[str, float]


class Corpus:
    """The chunks of all documents in the order in which they are indexed; `words` is how long each one's text is."""

    def __init__(self, documents: Mapping[str, Document], chunks: "Sequence[Chunk]") -> None:
        self.documents = documents
        self.chunks = [c.place for c in chunks]
        self.words = [len(c.text.split()) for c in chunks]
        self._of: dict[str, list[int]] = {}
        for index, chunk in enumerate(self.chunks):
            self._of.setdefault(chunk.document, []).append(index)

    def found(self, place: Place, chunks: Iterable[Place]) -> bool:
        """Does each character of `place` but spaces lie within one of `chunks`?"""
        text, at = self.documents[place.document].text, place.start
        inside = sorted((c.start, c.end) for c in chunks if c.document == place.document)
        for start, end in inside:
            if end <= at:
                continue
            if start >= place.end or text[at:start].strip():
                break
            at = end
        return at >= place.end or not text[at : place.end].strip()

    def touches(self, chunk: Place, place: Place) -> bool:
        """Do the two share a character that is no space?"""
        if chunk.document != place.document:
            return False
        start, end = max(chunk.start, place.start), min(chunk.end, place.end)
        return start < end and bool(self.documents[place.document].text[start:end].strip())

    def gains(self, required: Sequence[Place]) -> dict[int, int]:
        """Chunk index -> how many of `required` it touches, for those that touch any."""
        near = {i for document in {p.document for p in required} for i in self._of.get(document, ())}
        counts = {i: sum(self.touches(self.chunks[i], place) for place in required) for i in near}
        return {i: count for i, count in counts.items() if count}

    def sentences_found(self, chunks: Sequence[Place]) -> set[tuple[str, int]]:
        """(document, index) of all sentences that are found in `chunks`."""
        found = set()
        for document in {c.document for c in chunks}:
            spans = self.documents[document].sentences
            inside = [c for c in chunks if c.document == document]
            for index in {i for c in inside for i in _between(spans, c)}:
                if self.found(Place(document, *spans[index]), inside):
                    found.add((document, index))
        return found

    def holds_all(self, required: Sequence[Place]) -> bool:
        """Is there a chunk that alone holds all of `required`?"""
        if len({place.document for place in required}) != 1:
            return False
        near = (self.chunks[i] for i in self._of.get(required[0].document, ()))
        return any(all(self.found(place, (chunk,)) for place in required) for chunk in near)


def measure(
    corpus: Corpus, ranked: Sequence[int], required: Sequence[Place], ks: Sequence[int], budget: int = WORDS
) -> Measures:
    """All measures of the module's text for one question; `ranked` are chunk indices, best first.

    `required` must not be empty; `ranked` should be as long as the largest k, and FAILURE_K, want.
    """
    gains = corpus.gains(required)
    measures = {"mrr": _reciprocal_rank(ranked, gains), "one_chunk": float(corpus.holds_all(required))}
    gold = {(place.document, corpus.documents[place.document].sentence_at(place.start)) for place in required}
    for k in ks:
        first = [corpus.chunks[i] for i in ranked[:k]]
        shares = [corpus.found(place, first) for place in required]
        touched = [any(corpus.touches(chunk, place) for chunk in first) for place in required]
        measures |= {
            f"recall@{k}": sum(shares) / len(shares),
            f"whole@{k}": float(all(shares)),
            f"touched@{k}": sum(touched) / len(touched),
            f"ndcg@{k}": ndcg([gains.get(i, 0) for i in ranked[:k]], list(gains.values()), k),
            f"evidence_f1@{k}": supporting_facts(corpus.sentences_found(first), gold).f1,
            f"words@{k}": float(sum(corpus.words[i] for i in ranked[:k])),
        }
    twenty = [corpus.chunks[i] for i in ranked[:FAILURE_K]]
    measures["failure@20"] = 1 - sum(corpus.found(place, twenty) for place in required) / len(required)
    within = [corpus.chunks[i] for i in _within(corpus, ranked, budget)]
    measures[f"whole@{budget}w"] = float(all(corpus.found(place, within) for place in required))
    return measures


def ndcg(gains: Sequence[float], all_gains: Sequence[float], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, linear gains; 0 where nothing can be gained."""
    ideal = _dcg(sorted(all_gains, reverse=True)[:k])
    return _dcg(gains[:k]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _reciprocal_rank(ranked: Sequence[int], gains: Mapping[int, int]) -> float:
    return next((1 / rank for rank, index in enumerate(ranked, 1) if index in gains), 0.0)


def _within(corpus: Corpus, ranked: Sequence[int], budget: int) -> Iterator[int]:
    """The first of `ranked` that together hold at most `budget` words; the first that does not fit is the end."""
    for index in ranked:
        budget -= corpus.words[index]
        if budget < 0:
            return
        yield index


def _between(spans: Sequence[tuple[int, int]], chunk: Place) -> range:
    """Indices of the sentences that share characters with `chunk`."""
    first = bisect_right([span[1] for span in spans], chunk.start)
    return range(first, bisect_left([span[0] for span in spans], chunk.end))

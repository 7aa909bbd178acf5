"""Chunkers of other packages, with places that are checked: LangChain's recursive one, semantic-text-splitter, chonkie.

LangChain finds a chunk's start by searching for its text, which goes wrong where text repeats or sizes are not in
characters; here its pieces carry their places through its own rule. The others say where their chunks stand.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from evaluation.chunking.chunk import covering
from evaluation.chunking.tokens import Tokenizer
from evaluation.examples import Span
from generation.errors import ChunkError, UsageError

SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
"""What to cut at, the first that occurs. Source: Smith and Troynikov 2024 (Chroma), RecursiveTokenChunker."""


class _Placed(str):
    """A piece of text that knows where it stands."""

    start: int

    def __new__(cls, text: str, start: int) -> "_Placed":
        piece = super().__new__(cls, text)
        piece.start = start
        return piece


def recursive(text: str, unit: Tokenizer, size: int, overlap: int) -> list[Span]:
    """Cut at paragraphs, else lines, sentences, words, characters, until a chunk has at most `size` tokens.

    The rule is that of LangChain's RecursiveCharacterTextSplitter. `size` is at least 2, since it cuts what has
    `size` tokens or more, and a character cannot be cut.
    """

    def length(piece: str) -> int:
        return unit.count(piece) if len(piece) > 1 else min(unit.count(piece), size - 1)

    splitter = _langchain()(
        separators=list(SEPARATORS), keep_separator=True, chunk_size=size, chunk_overlap=overlap, length_function=length
    )
    found = splitter.split_text(text)
    if not all(isinstance(piece, _Placed) for piece in found):
        raise ChunkError("This version of langchain-text-splitters cuts by another rule; install the pinned one.")
    return covering("recursive", text, [(piece.start, str(piece)) for piece in found])


@cache
def _langchain() -> type[Any]:
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter
    except ImportError as error:
        raise UsageError(
            'The chunker "recursive" needs langchain-text-splitters: pip install "craqan[evaluation]"'
        ) from error

    class Splitter(RecursiveCharacterTextSplitter):
        """Hands its pieces on with their places: they come in order, and each character of the text once."""

        _reached = 0

        def _merge_splits(self, splits: Iterable[str], separator: str) -> list[str]:
            placed = []
            for piece in splits:
                placed.append(_Placed(piece, self._reached))
                self._reached += len(piece)
            return super()._merge_splits(placed, separator)

        def _join_docs(self, docs: list[str], separator: str) -> str | None:
            whole = separator.join(docs)
            body = whole.strip()
            first = docs[0]
            if not isinstance(first, _Placed):
                return body or None
            return _Placed(body, first.start + len(whole) - len(whole.lstrip())) if body else None

    return Splitter


def text_splitter(text: str, unit: Tokenizer, size: int, overlap: int, markdown: bool) -> list[Span]:
    """semantic-text-splitter's chunks: the largest of Unicode's or Markdown's units that fit into `size` tokens."""
    try:
        import semantic_text_splitter
    except ImportError as error:
        raise UsageError(
            'The chunkers "unicode" and "markdown" need semantic-text-splitter: pip install "craqan[evaluation]"'
        ) from error
    kind = semantic_text_splitter.MarkdownSplitter if markdown else semantic_text_splitter.TextSplitter
    splitter = kind.from_callback(unit.count, size, overlap=overlap)
    try:
        return covering(kind.__name__, text, splitter.chunk_indices(text))
    except UnicodeEncodeError as error:
        raise ChunkError(f"{kind.__name__} cannot read a text with half a surrogate pair in it.") from error


def of_object(given: Any) -> tuple[str, Callable[[str], list[Span]]]:
    """Name and spans of a chunker that a package made: chonkie's `chunk`, semantic-text-splitter's `chunk_indices`."""
    name = type(given).__name__
    if hasattr(given, "chunk_indices"):
        return name, lambda text: covering(name, text, given.chunk_indices(text))
    if hasattr(given, "chunk"):
        return name, lambda text: covering(name, text, [(c.start_index, c.text) for c in given.chunk(text)])
    if hasattr(given, "split_text"):
        raise UsageError(f'{name} does not say where its chunks stand; use "recursive", or a function text -> spans.')
    raise UsageError(f"{given!r} is no chunker; give a name, a function text -> spans, or a chunker of chonkie.")

"""Chunkers on the released set, as the page needs them: one article at once, the whole set within bounded time."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from evaluation import chunk_metrics, chunkers
from evaluation.chunk_metrics import ChunkReport
from evaluation.chunkers import Chunk, Chunked
from evaluation.chunking import chains
from evaluation.chunking.chains import Reference
from evaluation.examples import Document, Example, ExampleSet
from evaluation.rows import craqan_set
from generation.errors import UsageError
from space.making import aside
from space.shelf import Shelf

OFFERED = {
    "recursive": "Recursive: paragraphs, lines, words",
    "tokens": "A fixed number of tokens",
    "sentences": "Whole sentences",
    "markdown": "Blocks of Markdown",
    "sections": "Headed sections",
    "coref": "By coreference, as rules find it (slow)",
    "oracle": "By the labels (an upper bound)",
}
ALLOWED = (*OFFERED, "unicode")  # the others need embeddings, which this page does not compute
SMALLEST, LARGEST = 20, 600  # tokens, or sentences, that a chunk may hold here
MAX_NAME = 60
SENTENCE_TOKENS = 21  # a mean sentence of the released articles
SECONDS = 25.0
"""For one comparison; then what has been cut by all chunkers is measured."""
_NAME = re.compile(r"(?P<kind>[a-z]+)(:(?P<size>\d{1,7})(:(?P<overlap>\d{1,7}))?)?(@[a-z0-9]+)?")


@dataclass(frozen=True)
class Compared:
    """Chunkers on the same `articles` of `of_articles`; `reports` in the chunkers' order, empty until all is cut."""

    articles: int
    of_articles: int
    reports: tuple[ChunkReport, ...] = ()


@dataclass(frozen=True)
class CutArticle:
    """One article in chunks, with the set's links and questions on it."""

    document: Document
    chunks: tuple[Chunk, ...]
    references: tuple[Reference, ...]
    questions: tuple[Example, ...]


class Bench:
    """Cuts the articles of a shelf. Everything that takes time runs on the page's one thread for such work."""

    def __init__(self, shelf: Shelf):
        self.shelf = shelf
        self._cut = lru_cache(maxsize=1000)(self._cut_anew)

    @cached_property
    def examples(self) -> ExampleSet:
        """The released set with places in whole articles; the first use takes seconds."""
        return craqan_set(self.shelf.rows, "CRaQAn", self.shelf.texts)

    @cached_property
    def references(self) -> dict[str, tuple[Reference, ...]]:
        return chains.labelled(self.examples)

    @property
    def titles(self) -> list[tuple[str, str]]:
        """(title, id) of each document that has questions, without making the set."""
        key = "article_id" if self.shelf.texts else "section_id"
        found = {row[key]: row["article_title"] for row in self.shelf.rows}
        return sorted(((title, id) for id, title in found.items()), key=lambda pair: pair[0].casefold())

    async def cut(self, name: str, document: str) -> CutArticle:
        """The article called `document`, cut by the chunker called `name`. Raises UsageError if there is none."""
        return await aside(self._article, check_name(name), document)

    async def compare(self, names: Sequence[str], split: str = "") -> AsyncIterator[Compared]:
        """Cut one article after the other with every chunker; the last Compared has the reports.

        Stops early after SECONDS, and says on how many articles the figures stand. Raises UsageError for a name or a
        split that there is none of.
        """
        names = [check_name(name) for name in names]
        if split not in ("", *self.shelf.splits):
            raise UsageError(f"There is no split {split!r}; choose one of {', '.join(self.shelf.splits)}.")
        examples = await aside(self._of_split, split)
        clock = asyncio.get_running_loop().time
        deadline, done = clock() + SECONDS, 0
        for document in examples.documents:
            for name in names:
                await aside(self._cut, name, document)
            done += 1
            if clock() > deadline:
                break
            yield Compared(done, len(examples.documents))
        yield Compared(done, len(examples.documents), await aside(self._reports, names, examples, done))

    def _article(self, name: str, id: str) -> CutArticle:
        if id not in self.examples.documents:
            raise UsageError("There is no such article in the set: choose one from the list.")
        asked = tuple(e for e in self.examples.examples if any(p.document == id for p in e.evidence))
        chunks, _ = self._cut(name, id)
        return CutArticle(self.examples.documents[id], chunks, self.references.get(id, ()), asked)

    def _cut_anew(self, name: str, id: str) -> tuple[tuple[Chunk, ...], float]:
        chunked = chunkers.chunk_all(chunkers.make(name, examples=self.examples), [self.examples.documents[id]])
        return chunked.chunks, chunked.seconds

    def _of_split(self, split: str) -> ExampleSet:
        ids = {row["id"] for row in self.shelf.rows if split in ("", row.get("split"))}
        return _with(self.examples, [e for e in self.examples.examples if e.id in ids])

    def _reports(self, names: Sequence[str], examples: ExampleSet, done: int) -> tuple[ChunkReport, ...]:
        kept = set(list(examples.documents)[:done])
        part = _with(examples, [e for e in examples.examples if {p.document for p in e.evidence} <= kept])
        found = []
        for name in names:
            cuts = [self._cut(name, id) for id in part.documents]
            chunks = tuple(chunk for cut, _ in cuts for chunk in cut)
            found.append(chunk_metrics.report(part, Chunked(name, chunks, sum(seconds for _, seconds in cuts))))
        return tuple(found)


def name_of(kind: str, size: int) -> str:
    """The chunker of OFFERED whose chunks hold at most about `size` tokens. Raises UsageError if there is none."""
    if not SMALLEST <= size <= LARGEST:
        raise UsageError(f"Choose a size from {SMALLEST} to {LARGEST} tokens.")
    return f"sentences:{max(1, round(size / SENTENCE_TOKENS))}" if kind == "sentences" else f"{kind}:{int(size)}"


def check_name(name: str) -> str:
    """`name` if it is a chunker that this page runs; UsageError says what to write instead.

    Chunks so small, or overlaps so large, that they would fill the memory are refused.
    """
    found = _NAME.fullmatch(name) if len(name) <= MAX_NAME else None
    if not found or found["kind"] not in ALLOWED:
        raise UsageError(
            f"This page runs no chunker {name[:MAX_NAME]!r}; choose one of {', '.join(ALLOWED)} with a size, such as "
            "recursive:150 or sentences:5. Those that need embeddings run with `craqan evaluate` on your machine."
        )
    size, overlap = int(found["size"] or LARGEST), int(found["overlap"] or 0)
    least = 1 if found["kind"] == "sentences" else SMALLEST
    if size < least or overlap > size / 2:
        raise UsageError(f"{name}: SIZE must be at least {least} here, and OVERLAP at most half of it.")
    chunkers.make(name, examples=ExampleSet("", "craqan", {}, ()))  # raises UsageError for what else is wrong
    return name


def _with(examples: ExampleSet, asked: Sequence[Example]) -> ExampleSet:
    """The set with these questions and the documents that they need, in the set's order."""
    needed = {p.document for e in asked for p in e.evidence}
    documents = {id: d for id, d in examples.documents.items() if id in needed}
    return replace(examples, documents=documents, examples=tuple(asked))

"""Chunkers x retrievers x readers on one set: every question measured, kept, and put together into Results.

import evaluation

results = evaluation.evaluate("data", chunkers=["tokens:200", "coreference:200"], retrievers=["bm25"])
print(results.markdown())
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evaluation import adapters, chunk_metrics, chunkers, retrieval
from evaluation.cells import Cell, Shelf
from evaluation.chunking.late import Late, TokenEmbedder, TokensOfTransformer, vectors_of
from evaluation.embedders import DEFAULT, Kept, SentenceTransformer
from evaluation.examples import Example, ExampleSet, limited
from evaluation.ranking import FAILURE_K, WORDS, Corpus, measure
from evaluation.retrieval import Index, Retriever, Tools, embedders_in, indexed, retriever_of
from generation.errors import CircuitError, JournalError, ModelError, UsageError
from generation.records import digest
from generation.running.session import Limits

if TYPE_CHECKING:
    from evaluation.report import Results
    from generation.llm import Chat

CHUNKERS = ("sentences:1", "sentences:3", "tokens:100", "recursive:200", "sections")
RETRIEVERS = ("bm25",)
KS = (1, 5, 20)
DEEP = 100
"""Ranks kept for the budget in words, which small chunks fill only after many."""
VERSION = 1
"""Raised whenever a measure changes its meaning, so that nothing kept before is taken for it."""


_TOLD = ("split", "limit", "seed", "reader_k", "reader_limit", "words", "model", "base_url", "examples")


@dataclass(frozen=True)
class Options:
    """What else an evaluation can be told; each field has a flag of the same name."""

    split: str = ""
    limit: int | None = None
    """So many questions, chosen by chance but always the same; the corpus stays whole."""
    seed: int = 0
    reader_k: int = 5
    """Chunks that a reader is shown for each question, or sub-question."""
    reader_limit: int | None = None
    """So many of the questions are read, chosen likewise, since readers take their time."""
    words: int = WORDS
    model: str = ""
    base_url: str = ""
    prompts: Path | None = None
    examples: str = ""
    """Rows that worked examples are chosen from: a set as `adapters.load` takes it, "PATH#SPLIT" for one split."""
    cache: Path | None = None
    embeddings_url: str = ""
    qdrant_url: str = ""
    limits: Limits = field(default_factory=Limits)
    chat: "Chat | None" = None
    """A chat in place of `model`, for tests and for one's own clients."""


def evaluate(
    data: "str | Path | ExampleSet",
    chunkers: Sequence[Any] = CHUNKERS,
    retrievers: Sequence[str | Retriever] = RETRIEVERS,
    readers: Sequence[Any] = (),
    k: Iterable[int] = KS,
    *,
    out: str | Path | None = None,
    options: Options | None = None,
    say: Callable[[str], None] | None = None,
) -> "Results":
    """Measure each chunker under each retriever, and each reader on the given context and on what these retrieve.

    Chunkers, retrievers and readers are names, or objects of one's own. With `out` everything is kept there, a run that
    was killed goes on, and results.json, table.md and plots are written. `say` is told of progress. Raises UsageError
    and InputError before anything is computed where a name, a file or a package is wrong. Works in notebooks as well.
    """

    def run() -> "Results":
        work = Work(data, chunkers, retrievers, readers, k, None if out is None else Path(out), options, say)
        return work.run()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as thread:  # inside a notebook's loop
        return thread.submit(run).result()


class Work:
    """One evaluation under way."""

    def __init__(
        self,
        data: "str | Path | ExampleSet",
        chunker_names: Sequence[Any],
        retrievers: Sequence[str | Retriever],
        readers: Sequence[Any],
        ks: Iterable[int],
        out: Path | None,
        options: Options | None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.options = _with_examples(options or Options(), data)
        self.ks = checked_ks(ks)
        self.out, self.say = out, say or (lambda text: None)
        self.examples = limited(_loaded(data, self.options.split), self.options.limit, self.options.seed)
        cache = self.options.cache or (out / "cache" if out else None)
        self.tools = Tools(cache, self.options.embeddings_url, self.options.qdrant_url)
        if not chunker_names and not readers:
            raise UsageError("Nothing to evaluate: name at least one chunker or one reader.")
        if bool(chunker_names) != bool(retrievers):
            raise UsageError("Chunkers and retrievers go together: name at least one of each, or none of either.")
        self.retrievers = [retriever_of(r, self.tools) if isinstance(r, str) else r for r in _unique(retrievers)]
        self.chunkers = [self._chunker(given) for given in _unique(chunker_names)]
        self.shelf = Shelf(out / "rows" if out else None)
        self.scored = [e for e in self.examples.examples if e.evidence]
        if self.chunkers and not self.scored:
            raise UsageError(f"{self.examples.name} has no evidence to find; evaluate readers on it, or another set.")
        self._reader_names = readers

    def run(self) -> "Results":
        """All cells, in the order given."""
        from evaluation.reading import Desk
        from evaluation.report import Results

        started = time.time()
        results = Results(self.examples, self.ks, self.options.words, self.options.reader_k)
        with Desk(self.examples, self._reader_names, self.options, self.tools, self.shelf, self.out, self.say) as desk:
            results.price = desk.price
            try:
                for cell in desk.on_given_context():
                    results.cells.append(cell)
                for number, chunker in enumerate(self.chunkers, 1):
                    self.say(f"{chunker.name} ({number} of {len(self.chunkers)})")
                    for cell in self._of_chunker(chunker, results, desk):
                        results.cells.append(cell)
            except (CircuitError, JournalError, ModelError) as error:
                results.stopped = error
        results.seconds = time.time() - started
        results.settings = self._settings()
        if results.stopped is not None and not results.cells:
            raise results.stopped
        if self.out is not None:
            results.write(self.out)
        return results

    def _of_chunker(self, chunker: Any, results: "Results", desk: Any) -> Iterator[Cell]:
        chunked = chunkers.chunk_all(chunker, self.examples.documents.values())
        results.chunkings[chunker.name] = chunk_metrics.report(self.examples, chunked)
        corpus = Corpus(self.examples.documents, chunked.chunks)
        late = self._late(chunker, chunked.chunks) if isinstance(chunker, Late) else None
        for retriever in self.retrievers:
            searched = Searched(retriever, chunked.chunks, corpus, late)
            if late and not searched.late:
                self.say(
                    f"  {retriever.name} has no use for late vectors and ranks as it does under {chunker.inner.name}"
                )
            cell = self._retrieved(chunker.name, searched)
            yield cell
            yield from desk.on_retrieved(chunker.name, searched, cell)

    def _retrieved(self, chunker: str, searched: "Searched") -> Cell:
        """The retrieval cell, from the shelf where it is whole."""
        cell = Cell(chunker, searched.retriever.name)
        measured = [VERSION, self.examples.digest, searched.digest, cell.retriever, self.ks, self.options.words]
        key = digest(["retrieval", *measured])
        cell.rows = self.shelf.read(key)
        started = time.monotonic()
        wanting = [e for e in self.scored if e.id not in cell.rows]
        if wanting:
            rankings = searched.rank(
                [e.question for e in wanting], max(*self.ks, FAILURE_K, DEEP, self.options.reader_k)
            )
            rows = [self._row(searched.corpus, e, ranked) for e, ranked in zip(wanting, rankings, strict=True)]
            self.shelf.add(key, rows)
            cell.rows |= {row["id"]: row for row in rows}
        cell.seconds = time.monotonic() - started
        kept = len(self.scored) - len(wanting)
        self.say(
            f"  {cell.name}: {len(wanting)} questions in {cell.seconds:.1f} s" + (f", {kept} kept" if kept else "")
        )
        return cell

    def _row(self, corpus: Corpus, example: Example, ranked: list[int]) -> dict[str, Any]:
        measures = measure(corpus, ranked, example.evidence, self.ks, self.options.words)
        return {"id": example.id, **measures, "ranked": ranked[: max(self.options.reader_k, FAILURE_K)]}

    def _chunker(self, given: Any) -> chunkers.Chunker:
        """The chunker of that name; one by meaning shares the kept embeddings."""
        by_meaning = isinstance(given, str) and any(kind in given for kind in ("semantic", "cluster"))
        embedder = self.tools.embedder(DEFAULT) if by_meaning else None
        tokens = self._tokens() if isinstance(given, str) and given.startswith("late:") else None
        return chunkers.make(given, embedder=embedder, examples=self.examples, tokens=tokens)

    def _tokens(self) -> TokenEmbedder | None:
        """The first model of the retrievers that gives a vector for each token; None where none does."""
        for embedder in (e for retriever in self.retrievers for e in embedders_in(retriever)):
            model = embedder.embedder if isinstance(embedder, Kept) else embedder
            if isinstance(model, SentenceTransformer):
                return TokensOfTransformer(model)
            if hasattr(model, "tokens") and hasattr(model, "window"):
                return cast(TokenEmbedder, model)
        return None

    def _late(self, chunker: Late, chunks: Sequence[chunkers.Chunk]) -> "LateVectors":
        """What is made, once for all retrievers, when it is first needed."""
        every = (e for retriever in self.retrievers for e in embedders_in(retriever))
        kept = next((e for e in every if isinstance(e, Kept) and e.name == chunker.embedder.name), None)
        return LateVectors(chunker.embedder.name, partial(vectors_of, chunker, self.examples.documents, chunks, kept))

    def _settings(self) -> dict[str, Any]:
        """All that the figures depend on, without keys and clients."""
        told = {name: getattr(self.options, name) for name in _TOLD}
        return {
            **told,
            "k": list(self.ks),
            "chunkers": [c.name for c in self.chunkers],
            "retrievers": [r.name for r in self.retrievers],
            "readers": [str(getattr(r, "name", r)) for r in self._reader_names],
        }


@dataclass
class LateVectors:
    """Vectors of late chunking by the model `name`, made when they are first used."""

    name: str
    make: Callable[[], Any]

    @cached_property
    def given(self) -> retrieval.LateRows:
        return retrieval.LateRows(self.name, self.make())


class Searched:
    """The chunks of one chunker under one retriever; they are indexed when they are first searched.

    `late` is None where the retriever does not rank by the model of the late vectors.
    """

    def __init__(
        self,
        retriever: Retriever,
        chunks: Sequence[chunkers.Chunk],
        corpus: Corpus,
        late: LateVectors | None = None,
    ) -> None:
        self.retriever, self.chunks, self.corpus = retriever, chunks, corpus
        uses = late is not None and any(e.name == late.name for e in embedders_in(retriever))
        self.late = late if uses else None

    @cached_property
    def digest(self) -> str:
        """Stands for the chunks and their vectors themselves, whatever their chunker is called."""
        found = digest([[c.document, c.start, c.end, c.text] for c in self.chunks])
        return digest([found, "late", self.late.name]) if self.late else found

    @cached_property
    def _index(self) -> Index:
        return indexed(self.retriever, [c.text for c in self.chunks], self.late.given if self.late else None)

    def rank(self, questions: Sequence[str], k: int) -> list[list[int]]:
        """Chunk numbers for each question, best first."""
        return [[hit.index for hit in hits] for hits in self._index.search(questions, k)]


def checked_ks(ks: Iterable[int]) -> tuple[int, ...]:
    """Sorted and unique. Raises UsageError where there is none or one is below 1."""
    found = tuple(sorted(set(ks)))
    if not found or found[0] < 1:
        raise UsageError("--k takes numbers of chunks from 1, such as 1,5,20.")
    return found


def _loaded(data: "str | Path | ExampleSet", split: str) -> ExampleSet:
    return data if isinstance(data, ExampleSet) else adapters.load(data, split=split)


def _with_examples(options: Options, data: "str | Path | ExampleSet") -> Options:
    """Worked examples for one split come from the train split of the same set, unless they are named."""
    if options.examples or isinstance(data, ExampleSet) or options.split in ("", "train"):
        return options
    return replace(options, examples=f"{data}#train")


def _unique(given: Sequence[Any]) -> list[Any]:
    return list({(g if isinstance(g, str) else id(g)): g for g in given}.values())


def default_folder(data: str) -> Path:
    """runs/NAME-evaluation, so that the same command goes on where it stopped."""
    from generation.articles.article import slug

    return Path("runs") / f"{slug(Path(data).resolve().stem)}-evaluation"


def several(names: str) -> list[str]:
    """The names in a list parted by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def numbers(text: str) -> list[int]:
    """The whole numbers in a list parted by commas. Raises UsageError for anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f'--k takes whole numbers such as 1,5,20, not "{text}".') from None

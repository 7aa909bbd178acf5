"""Readers at work: on the context that comes with a question, and on what a retriever found."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evaluation import adapters, readers
from evaluation.cells import Cell, Row, Shelf
from evaluation.connection import Line, connected, price_of
from evaluation.embedders import DEFAULT
from evaluation.examples import Example, ExampleSet, limited
from evaluation.fewshot import Shots
from evaluation.readers import Answered, Reader, Shown
from evaluation.retrieval import Tools
from generation.client.loops import new_loop
from generation.errors import CircuitError, ModelError, UsageError
from generation.llm import Chat, Scoped
from generation.prompts import load_or_ours
from generation.records import Usage, digest

if TYPE_CHECKING:
    from evaluation.harness import Options, Searched

VERSION = 1
EVERY = 10.0
"""Seconds between two words of progress."""


class Desk:
    """All readers of one evaluation, with one event loop, one chat, one journal and one budget."""

    def __init__(
        self,
        examples: ExampleSet,
        given: Sequence[Any],
        options: "Options",
        tools: Tools,
        shelf: Shelf,
        out: Path | None,
        say: Callable[[str], None],
    ) -> None:
        self.examples, self.options, self.tools, self.shelf, self.say = examples, options, tools, shelf, say
        self._read = limited(examples, options.reader_limit, options.seed).examples
        self.readers = [self._reader(r) if isinstance(r, str) else r for r in dict.fromkeys(given)]
        asks = options.model and any(isinstance(r, readers.Visconde) for r in self.readers)
        self.price = price_of(options.model, options.base_url, options.limits) if asks else None
        self._journal = out / "journal.sqlite" if out and (asks or options.chat) else None
        self._asks = bool(asks) and options.chat is None
        self._runner = asyncio.Runner(loop_factory=new_loop)
        self._stack = AsyncExitStack()
        self._line: Line | None = None
        self._chats: dict[str, Scoped | None] = {}

    def __enter__(self) -> Self:
        self._runner.__enter__()
        if self._asks:
            o = self.options
            line = connected(o.model, o.base_url, o.limits, self._journal, self.price, self.say)
            self._line = self._runner.run(self._stack.enter_async_context(line))
        return self

    def __exit__(self, *error: Any) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.__exit__(*error)

    def on_given_context(self) -> Iterator[Cell]:
        """One cell a reader: what it makes of the context itself, the upper bound of any retrieval."""

        def whole(wanting: Sequence[Example]) -> Mapping[str, list[Shown]]:
            return {e.id: readers.shown_context(self.examples, e) for e in wanting}

        for reader in self.readers:
            yield self._filled(Cell("", "", reader.name), reader, ["given"], self._read, whole)

    def on_retrieved(self, chunker: str, searched: "Searched", ranked: Cell) -> Iterator[Cell]:
        """One cell a reader: decompose where it wants to, search, read."""
        examples = [e for e in self._read if e.id in ranked.rows]
        for reader in self.readers:
            how = [searched.digest, ranked.retriever, self.options.reader_k]
            cell = Cell(chunker, ranked.retriever, reader.name)

            def found(wanting: Sequence[Example], reader: Reader = reader) -> Mapping[str, list[Shown]]:
                return self._found(reader, wanting, searched, ranked)

            yield self._filled(cell, reader, how, examples, found)

    def _filled(
        self,
        cell: Cell,
        reader: Reader,
        how: list[Any],
        examples: Sequence[Example],
        shown: Callable[[Sequence[Example]], Mapping[str, list[Shown]]],
    ) -> Cell:
        key = digest(["reading", VERSION, self.examples.digest, self._recipe(reader), *how])
        ids = {e.id for e in examples}
        cell.rows = {id: row for id, row in self.shelf.read(key).items() if id in ids}
        wanting = [e for e in examples if e.id not in cell.rows]
        started = time.monotonic()
        self._chats = {e.id: self._chat(e) for e in wanting}  # one a question, so that all its calls are counted
        if wanting:
            contexts = shown(wanting)
            self._runner.run(self._all(cell, key, reader, [e for e in wanting if e.id in contexts], contexts))
        cell.seconds = time.monotonic() - started
        self.say(
            f"  {cell.name}: {len(wanting) - len(cell.failed)} read in {cell.seconds:.1f} s"
            + (f", {len(examples) - len(wanting)} kept" if len(wanting) < len(examples) else "")
            + (f", {len(cell.failed)} failed: {next(iter(cell.failed.values()))}" if cell.failed else "")
        )
        return cell

    def _found(
        self, reader: Reader, wanting: Sequence[Example], searched: "Searched", ranked: Cell
    ) -> Mapping[str, list[Shown]]:
        """What is shown for each question: the best chunks of each sub-question, each chunk once, best first."""
        asked = self._runner.run(self._decomposed(reader, wanting))
        k = self.options.reader_k
        own = {e.question for e in wanting}
        parts = list(dict.fromkeys(q for qs in asked.values() for q in qs if q not in own))
        rankings = dict(zip(parts, searched.rank(parts, k), strict=True)) if parts else {}
        rankings |= {e.question: ranked.rows[e.id]["ranked"][:k] for e in wanting}
        documents = self.examples.documents
        return {
            id: [
                readers.shown_chunk(documents, searched.chunks[i])
                for i in dict.fromkeys(i for question in questions for i in rankings[question])
            ]
            for id, questions in asked.items()
        }

    async def _decomposed(self, reader: Reader, wanting: Sequence[Example]) -> dict[str, tuple[str, ...]]:
        """Example id -> what to search for; a question that could not be decomposed is searched for whole."""

        async def one(example: Example) -> tuple[str, ...]:
            try:
                return await reader.questions(example.question, self._chats[example.id])
            except CircuitError:
                raise
            except ModelError as error:
                self.say(f"  {example.id} is searched for whole: {error}")
                return (example.question,)

        found = await _windowed([partial(one, e) for e in wanting], self.options.limits.window)
        return {e.id: questions for e, questions in zip(wanting, found, strict=True)}

    async def _all(
        self,
        cell: Cell,
        key: str,
        reader: Reader,
        wanting: Sequence[Example],
        contexts: Mapping[str, list[Shown]],
    ) -> None:
        told = time.monotonic()

        async def one(example: Example) -> None:
            nonlocal told
            chat = self._chats[example.id]
            try:
                answered = await reader.read(example, contexts[example.id], chat)
            except CircuitError:
                raise
            except ModelError as error:
                cell.failed[example.id] = str(error)
                return
            row = self._row(example, answered, chat)
            self.shelf.add(key, [row])
            cell.rows[example.id] = row
            if time.monotonic() - told > EVERY:
                told = time.monotonic()
                self.say(f"  {cell.name}: {len(cell.rows)} questions")

        await _windowed([partial(one, e) for e in wanting], self.options.limits.window)

    def _row(self, example: Example, answered: Answered, chat: Scoped | None) -> Row:
        usage = sum(chat.usage.values(), Usage()) if chat else Usage()
        scored = readers.score(self.examples, example, answered)._asdict()
        dollars = {"usd": self.price.of(usage)} if self.price else {}
        said = asdict(answered) | {"cited": [list(fact) for fact in answered.cited]}  # as JSON gives it back
        return {"id": example.id, **scored, **said, "usage": asdict(usage), **dollars}

    def _chat(self, example: Example) -> Scoped | None:
        chat: Chat | None = self.options.chat or (self._line.chat if self._line else None)
        return Scoped(chat, example.id) if chat else None

    def _recipe(self, reader: Reader) -> list[Any]:
        """All that a reader's answers depend on, its prompts, examples and model among them."""
        if not isinstance(reader, readers.Visconde):
            return [reader.name]
        prompts = [p.digest for p in (reader.aggregator, reader.decomposer) if p]
        shots = [reader.shots.pool.digest, reader.shots.choice, reader.shots.count] if reader.shots else []
        return [reader.name, self.options.base_url, prompts, shots]

    def _reader(self, name: str) -> Reader:
        kind, *options = name.split(":")
        if kind not in readers.NAMES or not set(options) <= set(readers.OPTIONS):
            raise UsageError(
                f'There is no reader "{name}"; choose one of {", ".join(readers.NAMES)}; "visconde" may be followed'
                f" by {', '.join(f':{option}' for option in readers.OPTIONS)}."
            )
        if kind == "extractive":
            return readers.ExtractiveReader()
        if not self.options.model and self.options.chat is None:
            raise UsageError('The reader "visconde" asks a model; add --model NAME, or read with "extractive".')
        return readers.Visconde(
            load_or_ours("aggregator", self.options.prompts),
            None if "whole" in options else load_or_ours("decomposer", self.options.prompts),
            None if "zero" in options else self._shots("dynamic" in options),
            self.options.model or self.options.chat.identity,  # type: ignore[union-attr]
        )

    def _shots(self, dynamic: bool) -> Shots:
        source, _, split = self.options.examples.partition("#")
        pool = adapters.load(source, split=split) if source else self.examples
        return Shots(pool, "dynamic", embedder=self.tools.embedder(DEFAULT)) if dynamic else Shots(pool)


async def _windowed(starts: Sequence[Callable[[], Awaitable[Any]]], window: int) -> list[Any]:
    """All results in order, at most `window` at a time; the first CircuitError ends it, after what is under way."""
    gate = asyncio.Semaphore(max(1, window))
    stopped: list[CircuitError] = []

    async def one(start: Callable[[], Awaitable[Any]]) -> Any:
        async with gate:
            if stopped:
                return None
            try:
                return await start()
            except CircuitError as error:
                stopped.append(error)
                return None

    found = await asyncio.gather(*(one(start) for start in starts))
    if stopped:
        raise stopped[0]
    return list(found)

"""Many sections: run the loop on each, keep the books, and write a run's folder."""

import asyncio
import json
import os
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from generation import __version__
from generation.dataset import passage_from, row_from
from generation.errors import Abstention, AuthError, ModelError, RequestError, UsageError
from generation.llm import Chat, Scoped
from generation.records import Outcome, Round, Section, Usage, digest
from generation.refine import MAX_REVISIONS, CheckLevel, Generator, Reviewer, conclude, refine

FINISHED = ("accepted", "rejected", "failed")

Prepare = Callable[[Section, Chat], Awaitable[Section]]
"""Work on a section that needs the model, done before its loop: splitting it into sentences."""


@dataclass
class Ledger:
    """The books of a run: `submitted` is always the sum of accepted, rejected, failed and pending."""

    submitted: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    usage: dict[str, Usage] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        return self.submitted - sum(self.counts[s] for s in FINISHED)

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.status] += 1
        if outcome.status == "rejected":
            self.problems.update(outcome.problems or ("nothing_offered",))
        for role, usage in outcome.usage.items():
            self.usage[role] = self.usage.get(role, Usage()) + usage

    def as_dict(self) -> dict[str, Any]:
        total = sum(self.usage.values(), Usage())
        return {
            "submitted": self.submitted,
            **{status: self.counts[status] for status in FINISHED},
            "pending": self.pending,
            "problems": dict(sorted(self.problems.items())),
            "usage": {role: asdict(u) for role, u in sorted(self.usage.items())} | {"total": asdict(total)},
        }


async def finish(
    section: Section,
    order: int,
    generator: Generator,
    panel: Sequence[Reviewer],
    *,
    chat: Chat | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    prepare: Prepare | None = None,
    **on: Any,
) -> Outcome:
    """Run the loop on one section to its end. A model's failure is an outcome; a wrong key or model ends the run.

    `order` is the section's place in the input; of two equally advanced ones the earlier is asked first. `on_draft`
    and `on_verdict` are handed on to `refine`.
    """
    scoped = Scoped(chat, section.id, order) if chat else None
    rounds: list[Round] = []
    abstention: Abstention | None = None
    error = ""
    try:
        if prepare and scoped:
            section = await prepare(section, scoped)
        async for round_ in refine(
            section, generator, panel, chat=scoped, check_level=check_level, max_revisions=max_revisions, **on
        ):
            rounds.append(round_)
    except Abstention as nothing:
        abstention = nothing
    except ModelError as failure:
        if isinstance(failure, AuthError) or (isinstance(failure, RequestError) and failure.status == 404):
            raise
        error = f"{type(failure).__name__}: {failure}"
    usage = dict(scoped.usage) if scoped else {}
    if error:
        last = rounds[-1].candidate if rounds else None
        return Outcome(section, "failed", last, tuple(rounds), error=error, usage=usage)
    return replace(conclude(section, rounds, abstention), usage=usage)


async def outcomes(
    sections: Iterable[Section],
    generator: Generator,
    panel: Sequence[Reviewer],
    *,
    chat: Chat | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    prepare: Prepare | None = None,
    window: int = 64,
    ledger: Ledger | None = None,
    on_change: Callable[[], None] = lambda: None,
) -> AsyncIterator[Outcome]:
    """Yield one outcome a section, in input order; at most `window` sections are under way at a time.

    `sections` is read lazily. `ledger` is kept up to date as sections begin and end, whenever their turn to be yielded
    comes, and `on_change` told.
    """
    books = ledger if ledger is not None else Ledger()
    upcoming = enumerate(sections)
    tasks: deque[asyncio.Task[Outcome]] = deque()
    under_way = 0
    moved = asyncio.Event()

    def ended(task: asyncio.Task[Outcome]) -> None:
        nonlocal under_way
        under_way -= 1
        moved.set()
        if not task.cancelled() and task.exception() is None:
            books.add(task.result())
            on_change()

    def submit(order: int, section: Section) -> None:
        nonlocal under_way
        under_way += 1
        books.submitted += 1
        on_change()
        options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions, "prepare": prepare}
        tasks.append(asyncio.create_task(finish(section, order, generator, panel, chat=chat, **options)))
        tasks[-1].add_done_callback(ended)

    exhausted = False
    try:
        while True:
            # A slow first section must not let finished ones pile up without bound: hence the second limit.
            while not exhausted and under_way < window and len(tasks) < 8 * window:
                item = next(upcoming, None)
                exhausted = item is None
                if item:
                    submit(*item)
            if not tasks:
                return
            if tasks[0].done():
                yield tasks.popleft().result()
            else:
                moved.clear()
                await moved.wait()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def outcome_row(outcome: Outcome, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """One line of a run's files: the dataset's columns where there is a candidate, and all that led to it."""
    section = outcome.section
    how = {
        "reason": outcome.reason,
        "problems": list(outcome.problems),
        "error": outcome.error,
        "rounds": [asdict(r) for r in outcome.rounds],
        "usage": {role: asdict(u) for role, u in sorted(outcome.usage.items())},
        "segmenter": section.segmenter,
        "source": asdict(section.source),
        "recipe": digest(recipe),
    }
    if outcome.candidate is None:
        return {**passage_from(section), **how}
    row = row_from(section, outcome.candidate, generator=recipe["generator"], reviewed_by=recipe["reviewed_by"])
    return {**row, **how}


class RunFolder:
    """The files of a run, written whole or not at all: each grows beside its place and is moved there by `close`.

    Raises UsageError where the folder already holds a finished run, unless `overwrite`.
    """

    FILES = ("accepted", "rejected", "failed")

    def __init__(self, path: Path, recipe: Mapping[str, Any], *, overwrite: bool = False):
        if (path / "run.json").exists() and not overwrite:
            raise UsageError(f"{path} already holds a run; choose another --out, or replace it with --overwrite.")
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.recipe = recipe
        self._files: dict[str, IO[str]] = {}

    def __enter__(self) -> Self:
        for name in self.FILES:
            self._files[name] = (self.path / f"{name}.jsonl.part").open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
            part = Path(file.name)
            if error and part.exists() and not part.stat().st_size:
                part.unlink()

    def add(self, outcome: Outcome) -> None:
        json.dump(outcome_row(outcome, self.recipe), self._files[outcome.status], ensure_ascii=False)
        self._files[outcome.status].write("\n")

    def close(self, summary: Mapping[str, Any]) -> None:
        """Move the finished files into place; run.json comes last and says that the run is whole."""
        for name, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            file.close()
            Path(file.name).replace(self.path / f"{name}.jsonl")
        write_whole(self.path / "run.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old one or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def make_recipe(
    generator: Generator, panel: Sequence[Reviewer], check_level: CheckLevel, generator_name: str, reviewer_name: str
) -> dict[str, Any]:
    """What a row's signature is made of: who drafts, who judges, from which prompts, with which code.

    `generator_name` and `reviewer_name` are what the rows say: "model:<name>" or "rules:<version>".
    """
    roles: tuple[Any, ...] = (generator, *panel)
    checked = [] if check_level == "none" else ["checks"]
    return {
        "code_version": __version__,
        "generator": generator_name,
        "reviewed_by": [*checked, reviewer_name],
        "panel": [r.name for r in panel],
        "prompts": {r.name: r.prompt.digest for r in roles if hasattr(r, "prompt")},
        "temperatures": {r.name: r.temperature for r in roles if hasattr(r, "temperature")},
        "checks": check_level,
    }

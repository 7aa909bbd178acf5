"""Many sections: run the loop on each, many at a time, in order, and keep the books."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from generation import __version__
from generation.checks import CheckLevel
from generation.errors import Abstention, AuthError, CircuitError, ModelError
from generation.llm import Chat, Scoped
from generation.proof import Prover
from generation.records import Outcome, Round, Section, Usage
from generation.refine import MAX_REVISIONS, CheckAll, Generator, Remarks, Reviewer, conclude, refine

FINISHED = ("accepted", "rejected", "failed")
NOTHING_OFFERED = "nothing_offered"
_COHORT = 2  # windows; calls of an older cohort go first
_UNYIELDED = 3  # windows of sections that may be under way or wait for an earlier one to end

T = TypeVar("T")
R = TypeVar("R")

Prepare = Callable[[Section, Chat], Awaitable[Section]]
"""Work on a section that needs the model, done before its loop: splitting it into sentences."""


@dataclass
class Ledger:
    """The books of a run: `submitted` is always the sum of accepted, rejected, failed and pending."""

    submitted: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    objections: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Why sections were rejected: how often which reviewer named which problem in the last round."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why sections failed: how often which error."""
    first_failure: str = ""
    usage: dict[str, Usage] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        return self.submitted - sum(self.counts[s] for s in FINISHED)

    @property
    def tokens_per_accepted(self) -> int | None:
        """Prompt and completion tokens of all roles and sections, for each accepted pair; None without any."""
        total, accepted = sum(self.usage.values(), Usage()), self.counts["accepted"]
        return round((total.prompt_tokens + total.completion_tokens) / accepted) if accepted else None

    def add(self, outcome: Outcome) -> None:
        """Enter an outcome; a pending one is known by its tokens only."""
        if outcome.status in FINISHED:
            self.counts[outcome.status] += 1
        if outcome.status == "rejected":
            against = outcome.rounds[-1].verdicts if outcome.rounds else ()
            found = {(v.reviewer, problem) for v in against for problem in v.problems}
            self.objections.update(found or {("generator", NOTHING_OFFERED)})
        if outcome.status == "failed":
            self.failures[outcome.error.partition(":")[0]] += 1
            self.first_failure = self.first_failure or outcome.error
        for role, usage in outcome.usage.items():
            self.usage[role] = self.usage.get(role, Usage()) + usage

    def as_dict(self) -> dict[str, Any]:
        total = sum(self.usage.values(), Usage())
        return {
            "submitted": self.submitted,
            **{status: self.counts[status] for status in FINISHED},
            "pending": self.pending,
            "objections": self._by_reviewer(),
            "failures": dict(sorted(self.failures.items())),
            "usage": {role: asdict(u) for role, u in sorted(self.usage.items())} | {"total": asdict(total)},
        }

    def _by_reviewer(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for (reviewer, problem), count in sorted(self.objections.items()):
            found.setdefault(reviewer, {})[problem] = count
        return found


async def finish(
    section: Section,
    order: int,
    generator: Generator,
    panel: Sequence[Reviewer],
    *,
    chat: Chat | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    prover: Prover | None = None,
    prepare: Prepare | None = None,
    cohort: int = 0,
    **on: Any,
) -> Outcome:
    """Run the loop on one section to its end.

    A model's failure is an outcome. Where the run as a whole was stopped (CircuitError) the outcome is pending. A wrong
    key is raised, since no other section could fare better.
    `order` is the section's place in the input; of two equally advanced ones the earlier is asked first, and all of a
    lower `cohort` before those of a higher. `on_draft` and `on_verdict` are handed on to `refine`.
    """
    scoped = Scoped(chat, section.id, order, cohort) if chat else None
    rounds: list[Round] = []
    abstention: Abstention | None = None
    error = stopped = ""
    try:
        if prepare and scoped:
            section = await prepare(section, scoped)
        options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions, "prover": prover, **on}
        async for round_ in refine(section, generator, panel, chat=scoped, **options):
            rounds.append(round_)
    except Abstention as nothing:
        abstention = nothing
    except CircuitError as stop:
        stopped = str(stop)
    except ModelError as failure:
        if isinstance(failure, AuthError) and failure.status != 403:
            raise
        error = f"{type(failure).__name__}: {failure}"
    usage = dict(scoped.usage) if scoped else {}
    last = rounds[-1].candidate if rounds else None
    if stopped:
        return Outcome(section, "pending", last, tuple(rounds), reason=stopped, usage=usage)
    if error:
        return Outcome(section, "failed", last, tuple(rounds), error=error, usage=usage)
    outcome = replace(conclude(section, rounds, abstention), usage=usage)
    if outcome.status == "accepted" and outcome.candidate and isinstance(generator, Remarks):
        return replace(outcome, reason=generator.remark(section, outcome.candidate))
    return outcome


async def outcomes(
    sections: Iterable[Section],
    generator: Generator,
    panel: Sequence[Reviewer],
    *,
    chat: Chat | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    prover: Prover | None = None,
    prepare: Prepare | None = None,
    check_all: CheckAll | None = None,
    window: int = 64,
    ledger: Ledger | None = None,
    on_change: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
    first: int = 0,
) -> AsyncIterator[Outcome]:
    """Yield one outcome a section, in input order; at most `window` sections are under way at a time.

    `sections` is read lazily. `ledger` is kept up to date as sections begin and end, whenever their turn to be yielded
    comes, and `on_change` told. No section is begun once `stop` says so; those under way are still yielded. `first` is
    the place of the first section in the whole input.
    """
    books = ledger if ledger is not None else Ledger()
    options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions}
    options |= {"prover": prover, "prepare": prepare, "check_all": check_all}

    def begin(_: tuple[int, Section]) -> None:
        books.submitted += 1
        on_change()

    async def work(placed: tuple[int, Section]) -> Outcome:
        order, section = placed
        # Without cohorts the longest loops wait for all newer sections, and those in turn for the room to begin.
        cohort = order // (_COHORT * window)
        outcome = await finish(section, order, generator, panel, chat=chat, cohort=cohort, **options)
        books.add(outcome)
        on_change()
        return outcome

    async with aclosing(in_order(enumerate(sections, first), work, window=window, begin=begin, stop=stop)) as running:
        async for outcome in running:
            yield outcome


async def in_order(
    items: Iterable[T],
    work: Callable[[T], Coroutine[Any, Any, R]],
    *,
    window: int,
    begin: Callable[[T], None] = lambda item: None,
    stop: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[R, None]:
    """Yield what `work` makes of each item, in the order of the items, `window` of which are under way at a time.

    `items` is read lazily; `begin` is told of each. Nothing is begun once `stop` says so.
    """
    upcoming = iter(items)
    tasks: deque[asyncio.Task[R]] = deque()
    under_way = 0
    moved = asyncio.Event()

    def ended(_: asyncio.Task[R]) -> None:
        nonlocal under_way
        under_way -= 1
        moved.set()

    def submit(item: T) -> None:
        nonlocal under_way
        under_way += 1
        begin(item)
        tasks.append(asyncio.create_task(work(item)))
        tasks[-1].add_done_callback(ended)

    exhausted = False
    try:
        while True:
            # A slow first item must not let finished ones pile up without bound: hence the second limit.
            while not exhausted and under_way < window and len(tasks) < _UNYIELDED * window and not stop():
                for item in upcoming:
                    submit(item)
                    break
                else:
                    exhausted = True
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


def make_recipe(
    generator: Generator,
    panel: Sequence[Reviewer],
    check_level: CheckLevel,
    generator_name: str,
    reviewer_name: str,
    prover: Prover | None = None,
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
        **({} if prover is None else {"proof": prover.recipe()}),
    }

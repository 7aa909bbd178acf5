"""One sitting at a run: its chat with journal, admission and budget, its books, and why it stopped if it did."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.console import Console

from generation import __version__
from generation.articles.sources import Skipped
from generation.checks import CheckLevel
from generation.client.transport import endpoint
from generation.errors import CircuitError, UsageError
from generation.llm import Chat
from generation.records import Outcome, Section
from generation.refine import MAX_REVISIONS, Generator, Reviewer
from generation.run import Ledger, Prepare, outcomes
from generation.running import budget
from generation.running.folder import RunFolder
from generation.running.progress import Progress

if TYPE_CHECKING:
    from generation.client.admission import Admission
    from generation.client.batch import BatchChat
    from generation.journal import Journal
    from generation.running.ray_engine import Crew

MOST_AT_ONCE = 50_000
"""Sections under way in batch mode; each holds a few kB of memory."""


@dataclass(frozen=True)
class Cast:
    """Who plays the roles of a run, and what their rows say of them; no `model` means rules."""

    generator: Generator
    reviewers: Sequence[Reviewer]
    generator_name: str
    reviewer_name: str
    model: str = ""
    base_url: str = ""
    prepare: Prepare | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Limits:
    """How fast a run may go and when it ends early; None is no limit. None of it changes what is asked."""

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = 60.0
    accept: int | None = None
    max_candidates: int | None = None
    max_usd: float | None = None
    prices: budget.Price | None = None
    batch: bool = False
    """Ask in batch jobs, within hours and for less, instead of live; rate limits are the server's business then."""

    def __post_init__(self) -> None:
        if self.batch and (self.rpm is not None or self.tpm is not None):
            raise UsageError("--rpm and --tpm limit live calls; leave them out with --batch.")

    @property
    def window(self) -> int:
        """How many sections are under way at once: in batch mode all, but not many more than are wanted."""
        if not self.batch:
            return 2 * self.concurrency
        return MOST_AT_ONCE if self.accept is None else min(MOST_AT_ONCE, 2 * self.accept)


@dataclass(frozen=True)
class Cluster:
    """The Ray cluster that does the work: so many workers at `address`, or on this machine."""

    workers: int = 2
    address: str = ""


class Session:
    """Works through sections with a cast, within limits. `books` say what was written, `stopped` why it ended early."""

    def __init__(
        self,
        cast: Cast,
        limits: Limits,
        console: Console,
        *,
        check_level: CheckLevel = "all",
        max_revisions: int = MAX_REVISIONS,
        cluster: Cluster | None = None,
    ):
        self.cast = cast
        self.cluster = cluster
        self.limits = limits
        self.console = console
        self.options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions}
        self.live = Ledger()  # as sections begin and end, in whatever order
        self.books = Ledger()  # as they are written, in input order
        self.price = limits.prices
        self.stopped = ""
        self.failure: CircuitError | None = None
        self._metered: budget.Metered | None = None
        self._admission: Admission | BatchChat | Crew | None = None
        if limits.batch and not cast.model:
            raise UsageError("--batch asks a model; add --model NAME.")
        if limits.batch and cluster is not None:
            raise UsageError("--batch needs no cluster: leave out --engine ray, or ask live.")
        if limits.max_usd is not None and cast.model and self.known_price() is None:
            raise UsageError(f"No price is known for {cast.model}, so --max-usd cannot be kept; give --prices IN,OUT.")

    def stop(self, reason: str) -> None:
        """Begin nothing new; calls that are out are let finish and kept."""
        self.stopped = self.stopped or reason
        if self._admission is not None:
            self._admission.stop(reason)

    def work(self, sections: Iterable[Section], folder: RunFolder, skipped: Sequence[Skipped] = ()) -> None:
        """Run the loop on all `sections`, write into `folder` and close it."""
        started, clock = datetime.now(UTC), time.monotonic()
        notes = list(self.cast.notes)
        with Progress(self.console, self.live) as progress:
            asyncio.run(self._run(islice(sections, self.limits.max_candidates), folder, progress, notes))
        self.books.submitted = self.live.submitted
        self.known_price()
        folder.close(
            {
                "craqan_version": __version__,
                "state": "stopped" if self.stopped or self.books.pending else "finished",
                "stopped": self.stopped,
                **self.books.as_dict(),
                "cost": self.cost(),
                "skipped": [asdict(s) for s in skipped],
                "notes": notes,
                "started_at": started.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - clock, 3),
            }
        )

    def cost(self) -> dict[str, Any] | None:
        """Dollars of the whole run, this sitting and earlier ones; None without a model or a price."""
        if self.price is None or not self.cast.model:
            return None
        by_role = {role: round(self.price.of(usage), 6) for role, usage in sorted(self.books.usage.items())}
        accepted = self.books.counts["accepted"]
        return {
            "usd": round(sum(by_role.values()), 6),
            "usd_by_role": by_role,
            "usd_per_accepted": round(sum(by_role.values()) / accepted, 6) if accepted else None,
            "prices": asdict(self.price),
        }

    async def _run(self, sections: Iterable[Section], folder: RunFolder, progress: Progress, notes: list[str]) -> None:
        async with AsyncExitStack() as stack:
            self._catch_interrupts(stack)
            async for outcome in await self._outcomes(stack, sections, folder, progress, notes):
                if self._is_target_reached():
                    continue  # a later section that was under way; its replies stay in the journal
                folder.add(outcome)
                self.books.add(outcome)
                if self._is_target_reached():
                    self.stop(f"{self.limits.accept} pairs are accepted.")
            if self._admission is not None and self._admission.stopped is not None and not self.stopped:
                self.failure = self._admission.stopped
                self.stopped = str(self.failure)

    async def _outcomes(
        self,
        stack: AsyncExitStack,
        sections: Iterable[Section],
        folder: RunFolder,
        progress: Progress,
        notes: list[str],
    ) -> AsyncIterator[Outcome]:
        """The outcomes of all sections in input order, of this process or of a cluster."""

        def note(sentence: str) -> None:
            notes.append(sentence)
            progress.note(sentence)

        hooks: dict[str, Any] = {"ledger": self.live, "on_change": progress.moved, "stop": self._is_over}
        if self.cluster is not None:
            crew = await self._hire(stack, self.cluster, folder, note)
            progress.watch(crew)
            return crew.outcomes(sections, **hooks)
        chat = await self._connect(stack, folder, progress, note) if self.cast.model else None
        return outcomes(
            sections,
            self.cast.generator,
            self.cast.reviewers,
            chat=chat,
            prepare=self.cast.prepare,
            window=self.limits.window,
            **hooks,
            **self.options,
        )

    async def _hire(
        self, stack: AsyncExitStack, cluster: Cluster, folder: RunFolder, note: Callable[[str], None]
    ) -> "Crew":
        from generation.journal import Journal
        from generation.running.ray_engine import Crew

        if folder.batches_path.exists():
            with Journal(folder.journal_path) as journal:
                _refuse_open_batches(folder, journal)
        crew = Crew(
            self.cast,
            self.limits,
            self.options,
            folder.path,
            workers=cluster.workers,
            address=cluster.address,
            price=self.price,
            spent=self.stop,
            notify=note,
        )
        self._admission = crew
        return await stack.enter_async_context(crew)

    async def _connect(
        self, stack: AsyncExitStack, folder: RunFolder, progress: Progress, note: Callable[[str], None]
    ) -> Chat:
        """Journal around budget around admission around the live client: what is stored costs and waits for nothing."""
        from generation.journal import Journal, Journaled

        journal = stack.enter_context(Journal(folder.journal_path))
        connect = self._connect_batch if self.limits.batch else self._connect_live
        self._admission = door = await connect(stack, folder, journal, note)
        progress.watch(door)
        if self.price is None:
            return Journaled(door, journal)
        spent = sum(self.price.of(usage) for usage in journal.paid().values())
        self._metered = budget.Metered(door, self.price, self.limits.max_usd, self.stop, spent)
        return Journaled(self._metered, journal)

    async def _connect_live(
        self, stack: AsyncExitStack, folder: RunFolder, journal: "Journal", note: Callable[[str], None]
    ) -> "Admission":
        from generation.client.admission import Admission
        from generation.llm import OpenAIChat

        limits, cast = self.limits, self.cast
        _refuse_open_batches(folder, journal)
        live = OpenAIChat(cast.model, cast.base_url or None, timeout=limits.timeout, retries=0, notify=note)
        await stack.enter_async_context(live)
        return Admission(live, limits.concurrency, rpm=limits.rpm, tpm=limits.tpm, notify=note)

    async def _connect_batch(
        self, stack: AsyncExitStack, folder: RunFolder, journal: "Journal", note: Callable[[str], None]
    ) -> "BatchChat":
        from generation.client.batch import BatchChat

        chat = BatchChat(
            self.cast.model,
            self.cast.base_url or None,
            journal=journal,
            folder=folder.batches_path,
            timeout=self.limits.timeout,
            cost=lambda request: budget.guess(self.price, request),
            spare=lambda: self._metered.spare if self._metered else float("inf"),
            notify=note,
        )
        return await stack.enter_async_context(chat)

    def known_price(self) -> budget.Price | None:
        """The price given by hand, else the listed one; looked up late, since the list takes half a second to load."""
        if self.price is None and self.cast.model:
            self.price = budget.listed(self.cast.model, endpoint(self.cast.base_url), self.limits.batch)
        return self.price

    def _is_over(self) -> bool:
        accept = self.limits.accept
        has_failed = self._admission is not None and self._admission.stopped is not None
        return bool(self.stopped) or has_failed or (accept is not None and self.live.counts["accepted"] >= accept)

    def _is_target_reached(self) -> bool:
        return self.limits.accept is not None and self.books.counts["accepted"] >= self.limits.accept

    def _catch_interrupts(self, stack: AsyncExitStack) -> None:
        """Ctrl-C once: finish what is in flight. Twice: stop at once."""
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            if self.stopped:
                raise KeyboardInterrupt
            if not self.limits.batch:
                self.console.print("Finishing what is in flight; Ctrl-C again stops at once.", style="yellow")
            self.stop("interrupted.")

        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows; not in the main thread
            loop.add_signal_handler(signal.SIGINT, interrupted)
            stack.callback(loop.remove_signal_handler, signal.SIGINT)


def _refuse_open_batches(folder: RunFolder, journal: "Journal") -> None:
    if not folder.batches_path.exists():
        return
    from generation.client.batch import are_out

    if are_out(folder.batches_path, journal):
        raise UsageError(
            f"Batch jobs of this run are still out, and asking live would pay for them again: add --batch, or"
            f" move {folder.batches_path} away to give them up."
        )

"""One sitting at a run: its chat with journal, admission and budget, its books, and why it stopped if it did."""

import asyncio
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.console import Console

from generation import __version__, budget
from generation.errors import CircuitError, UsageError
from generation.folder import RunFolder
from generation.llm import Chat
from generation.progress import Progress
from generation.records import Section
from generation.refine import MAX_REVISIONS, CheckLevel, Generator, Reviewer
from generation.run import Ledger, Prepare, outcomes
from generation.sources import Skipped
from generation.transport import endpoint

if TYPE_CHECKING:
    from generation.admission import Admission


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
    ):
        self.cast = cast
        self.limits = limits
        self.console = console
        self.options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions}
        self.live = Ledger()  # as sections begin and end, in whatever order
        self.books = Ledger()  # as they are written, in input order
        self.price = limits.prices
        self.stopped = ""
        self.failure: CircuitError | None = None
        self._admission: Admission | None = None
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
            chat = await self._connect(stack, folder, progress, notes) if self.cast.model else None
            async for outcome in outcomes(
                sections,
                self.cast.generator,
                self.cast.reviewers,
                chat=chat,
                prepare=self.cast.prepare,
                window=2 * self.limits.concurrency,
                ledger=self.live,
                on_change=progress.moved,
                stop=self._is_over,
                **self.options,
            ):
                if self._is_target_reached():
                    continue  # a later section that was under way; its replies stay in the journal
                folder.add(outcome)
                self.books.add(outcome)
                if self._is_target_reached():
                    self.stop(f"{self.limits.accept} pairs are accepted.")
            if self._admission is not None and self._admission.stopped is not None and not self.stopped:
                self.failure = self._admission.stopped
                self.stopped = str(self.failure)

    async def _connect(self, stack: AsyncExitStack, folder: RunFolder, progress: Progress, notes: list[str]) -> Chat:
        """Journal around budget around admission around the live client: what is stored costs and waits for nothing."""
        from generation.admission import Admission
        from generation.journal import Journal, Journaled
        from generation.llm import OpenAIChat

        limits, cast = self.limits, self.cast

        def note(sentence: str) -> None:
            notes.append(sentence)
            progress.note(sentence)

        live = OpenAIChat(cast.model, cast.base_url or None, timeout=limits.timeout, retries=0, notify=note)
        await stack.enter_async_context(live)
        self._admission = Admission(live, limits.concurrency, rpm=limits.rpm, tpm=limits.tpm, notify=note)
        progress.watch(self._admission)
        journal = stack.enter_context(Journal(folder.journal_path))
        if self.price is None:
            return Journaled(self._admission, journal)
        spent = sum(self.price.of(usage) for usage in journal.paid().values())
        metered = budget.Metered(self._admission, self.price, limits.max_usd, self.stop, spent)
        return Journaled(metered, journal)

    def known_price(self) -> budget.Price | None:
        """The price given by hand, else the listed one; looked up late, since the list takes half a second to load."""
        if self.price is None and self.cast.model:
            self.price = budget.listed(self.cast.model, endpoint(self.cast.base_url))
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
            self.console.print("Finishing what is in flight; Ctrl-C again stops at once.", style="yellow")
            self.stop("interrupted.")

        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows; not in the main thread
            loop.add_signal_handler(signal.SIGINT, interrupted)
            stack.callback(loop.remove_signal_handler, signal.SIGINT)

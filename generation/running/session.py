"""One sitting at a run: its chat with journal, admission and budget, its books, and why it stopped if it did."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.console import Console

from generation import __version__
from generation.articles.sources import Skipped
from generation.checks import CheckLevel
from generation.client.environment import allow_connections
from generation.client.loops import running
from generation.client.transport import endpoint, find_key
from generation.errors import CircuitError, CraqanError, JournalError, UsageError
from generation.llm import Chat, Routed
from generation.records import Outcome, Section
from generation.refine import MAX_REVISIONS
from generation.run import Ledger, outcomes
from generation.running import budget, interrupts
from generation.running.folder import NO_ROOM, RunFolder
from generation.running.novelty import Novelty
from generation.running.outlook import Outlook
from generation.running.progress import Progress
from generation.running.settings import Cast, Cluster, Limits

if TYPE_CHECKING:
    from generation.checking.workers import Checkers
    from generation.client.admission import Admission
    from generation.client.batch import BatchChat
    from generation.journal import Journal
    from generation.running.ray_engine import Crew


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
        novelty: Novelty | None = None,
    ):
        self.cast = cast
        self.cluster = cluster
        self.novelty = novelty
        self.limits = limits
        self.console = console
        self.options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions}
        self.live = Ledger()  # as sections begin and end, in whatever order
        self.books = Ledger()  # as they are written, in input order
        self.tariff: budget.Tariff | None = None
        self.stopped = ""
        self.failure: CraqanError | None = None
        self._purse: budget.Purse | None = None
        self._doors: list[Admission | BatchChat | Crew] = []
        if limits.prices is not None:
            self.known_prices()
        if limits.batch and not cast.model:
            raise UsageError("--batch asks a model; add --model NAME.")
        if limits.batch and cluster is not None:
            raise UsageError("--batch needs no cluster: leave out --engine ray, or ask live.")
        if limits.batch and cast.others:
            raise UsageError("A batch job has one model: leave out --batch, or the reader's and judge's own models.")
        if limits.max_usd is not None and cast.model and self.known_prices() is None:
            names = " or ".join(dict.fromkeys((cast.model, *cast.others.values())))
            raise UsageError(f"No price is known for {names}, so --max-usd cannot be kept; give --prices IN,OUT.")

    def refuse_unable(self) -> None:
        """Raise UsageError, before any file is made, where the model could not be asked. A cluster has its own keys."""
        if self.cast.model and self.cluster is None:
            find_key(endpoint(self.cast.base_url))
            if not self.limits.batch:
                allow_connections(self.limits.concurrency * len({self.cast.model, *self.cast.others.values()}))

    def stop(self, reason: str) -> None:
        """Begin nothing new; calls that are out are let finish and kept."""
        self.stopped = self.stopped or reason
        for door in self._doors:
            door.stop(reason)

    def work(
        self,
        sections: Iterable[Section],
        folder: RunFolder,
        skipped: Sequence[Skipped] = (),
        inputs: Sequence[str] = (),
    ) -> None:
        """Run the loop on all `sections`, write into `folder` and close it; `inputs`, their sources, tell how many."""
        started, clock = datetime.now(UTC), time.monotonic()
        notes = list(self.cast.notes)
        outlook = Outlook(self.live, self.limits.accept, self.limits.max_candidates)
        if inputs:
            outlook.count(inputs)
        chosen = outlook.watched(islice(sections, self.limits.max_candidates), skipped)
        try:
            with Progress(self.console, self.live, outlook) as progress, _room_told(folder), running() as runner:
                runner.run(self._run(chosen, folder, progress, notes))
        except (CircuitError, JournalError) as error:  # a full disk, a damaged journal
            self.failure, self.stopped = error, self.stopped or str(error)
            if not self.live.submitted:
                raise
        self.books.submitted = self.live.submitted
        self.known_prices()
        summary = {
            "craqan_version": __version__,
            "state": "stopped" if self.stopped or self.books.pending else "finished",
            "stopped": self.stopped,
            **self.books.as_dict(),
            "tokens_per_accepted": self.books.tokens_per_accepted,
            "cost": self.cost(),
            "skipped": [asdict(s) for s in skipped],
            "notes": notes,
            "started_at": started.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - clock, 3),
        }
        with _room_told(folder):
            folder.close(summary)

    def cost(self) -> dict[str, Any] | None:
        """Dollars of the whole run, this sitting and earlier ones; None without a model or a price."""
        if self.tariff is None or not self.cast.model:
            return None
        by_role = {r: round(self.tariff.at(r).of(usage), 6) for r, usage in sorted(self.books.usage.items())}
        accepted = self.books.counts["accepted"]
        return {
            "usd": round(sum(by_role.values()), 6),
            "usd_by_role": by_role,
            "usd_per_accepted": round(sum(by_role.values()) / accepted, 6) if accepted else None,
            "prices": asdict(self.tariff.price),
            **{f"prices_{role}": asdict(price) for role, price in self.tariff.others.items()},
        }

    async def _run(self, sections: Iterable[Section], folder: RunFolder, progress: Progress, notes: list[str]) -> None:
        async with AsyncExitStack() as stack:
            self._catch_interrupts(stack)
            async for outcome in await self._outcomes(stack, sections, folder, progress, notes):
                if self._is_target_reached():  # a later section that was under way: it is paid, and in the journal
                    self.books.add(replace(outcome, status="pending"))
                    continue
                outcome = self._judged_new(outcome)
                folder.add(outcome)
                self.books.add(outcome)
                if self._is_target_reached():
                    self.stop(f"{self.limits.accept} pairs are accepted.")
            if not self.stopped and (failures := self._failures()):
                self.failure = failures[0]
                self.stopped = str(self.failure)

    def _judged_new(self, outcome: Outcome) -> Outcome:
        """The outcome, rejected if its question was asked before; the live counts follow, so that the target holds."""
        judged = self.novelty.of(outcome) if self.novelty else outcome
        self.live.counts[outcome.status] -= judged.status != outcome.status
        self.live.counts[judged.status] += judged.status != outcome.status
        return judged

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
            prover=self.cast.prover,
            check_all=self._check_all(stack),
            window=self.limits.window,
            **hooks,
            **self.options,
        )

    def _check_all(self, stack: AsyncExitStack) -> "Checkers | None":
        """Processes for the checks, where calls are so many that the loop should do nothing else."""
        from generation.checking.workers import FEWEST_CALLS, Checkers

        is_busy = bool(self.cast.model) and self.limits.concurrency >= FEWEST_CALLS
        if not is_busy or self.options["check_level"] != "all":
            return None
        checkers = Checkers.for_calls(self.limits.concurrency)
        stack.callback(checkers.close)
        checkers.start()
        return checkers

    async def _hire(
        self, stack: AsyncExitStack, cluster: Cluster, folder: RunFolder, note: Callable[[str], None]
    ) -> "Crew":
        from generation.journal import Journal
        from generation.running.journals import refuse_open_batches
        from generation.running.ray_engine import Crew

        if folder.batches_path.exists():
            with Journal(folder.journal_path) as journal:
                refuse_open_batches(folder.batches_path, journal, "--batch")
        crew = Crew(
            self.cast,
            self.limits,
            self.options,
            folder.path,
            workers=cluster.workers,
            address=cluster.address,
            tariff=self.tariff,
            spent=self.stop,
            notify=note,
        )
        self._doors = [crew]
        return await stack.enter_async_context(crew)

    async def _connect(
        self, stack: AsyncExitStack, folder: RunFolder, progress: Progress, note: Callable[[str], None]
    ) -> Chat:
        """Journal around budget around admission around the live client: what is stored costs and waits for nothing.

        One such row for each model, with one journal and one budget.
        """
        from generation.journal import Journal, Journaled

        journal = stack.enter_context(Journal(folder.journal_path))
        if self.tariff is not None:
            self._purse = budget.Purse(self.limits.max_usd, self.stop, self.tariff.of_paid(journal.paid()))

        async def connected(model: str, role: str = "") -> Chat:
            connect = self._connect_batch if self.limits.batch else self._connect_live
            door: Chat = await connect(stack, folder, journal, note, model)
            if self.tariff is not None and self._purse is not None:
                door = budget.Metered(door, self.tariff.at(role), self._purse)
            return Journaled(door, journal)

        chat = await connected(self.cast.model)
        progress.watch(self._doors[0])
        others = {role: await connected(model, role) for role, model in self.cast.others.items()}
        return Routed(chat, others) if others else chat

    async def _connect_live(
        self, stack: AsyncExitStack, folder: RunFolder, journal: "Journal", note: Callable[[str], None], model: str
    ) -> "Admission":
        from generation.running.doors import admitted
        from generation.running.journals import refuse_open_batches

        refuse_open_batches(folder.batches_path, journal, "--batch")
        admission = await stack.enter_async_context(admitted(model, self.cast.base_url, self.limits, note))
        self._doors.append(admission)
        return admission

    async def _connect_batch(
        self, stack: AsyncExitStack, folder: RunFolder, journal: "Journal", note: Callable[[str], None], model: str
    ) -> "BatchChat":
        from generation.client.batch import BatchChat

        chat = BatchChat(
            model,
            self.cast.base_url or None,
            journal=journal,
            folder=folder.batches_path,
            timeout=self.limits.timeout,
            cost=lambda request: budget.guess(self.tariff.price if self.tariff else None, request),
            spare=lambda: self._purse.spare if self._purse else float("inf"),
            notify=note,
        )
        self._doors.append(chat)
        return await stack.enter_async_context(chat)

    def known_prices(self) -> budget.Tariff | None:
        """The prices listed, or that given by hand for all models; None if one is not known.

        Looked up late, since the list takes half a second to load.
        """
        cast, by_hand = self.cast, self.limits.prices
        if self.tariff is None and cast.model:
            models = {"": cast.model, **cast.others}
            url = endpoint(cast.base_url)
            found = {r: by_hand or budget.listed(model, url, self.limits.batch) for r, model in models.items()}
            known = {role: price for role, price in found.items() if price is not None}
            if len(known) == len(models):
                self.tariff = budget.Tariff(known.pop(""), known, cast.others)
        return self.tariff

    def _failures(self) -> list[CircuitError]:
        return [door.stopped for door in self._doors if door.stopped is not None]

    def _is_over(self) -> bool:
        accept = self.limits.accept
        return (
            bool(self.stopped)
            or bool(self._failures())
            or (accept is not None and self.live.counts["accepted"] >= accept)
        )

    def _is_target_reached(self) -> bool:
        return self.limits.accept is not None and self.books.counts["accepted"] >= self.limits.accept

    def _catch_interrupts(self, stack: AsyncExitStack) -> None:
        """Ctrl-C once: finish what is in flight. Twice: stop at once. A third time: wait for nothing at all."""
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            if self.stopped:
                interrupts.break_off()
            if not self.limits.batch:
                self.console.print("Finishing what is in flight; Ctrl-C again stops at once.", style="yellow")
            self.stop("interrupted.")

        stack.enter_context(interrupts.told_to(lambda: _soon(loop, interrupted)))


@contextmanager
def _room_told(folder: RunFolder) -> Iterator[None]:
    """A full disk is a reason to stop and go on later, not a fault of ours."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        where = error.filename or folder.path
        raise CircuitError(
            f"No room left to write {where} ({error.strerror}); free some, then run again to go on."
        ) from error


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """`call` at the loop's next turn; a loop that has just been closed has nothing left to be told."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)

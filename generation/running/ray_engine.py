"""The same loop on many machines: workers of a Ray cluster, fed with sections in order, their outcomes put in order.

Each worker is a process that runs `run.outcomes` on a few sections at a time, with its share of the endpoint's limits
and a journal of its own. A worker that is lost is replaced, and its sections are done again; what its journal holds is
not asked again where the run's folder is in reach of all machines.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from generation.errors import CircuitError, UsageError
from generation.journal import Journal
from generation.records import Outcome, Section
from generation.run import Ledger, in_order
from generation.running import journals
from generation.running.budget import Tariff, all_spent
from generation.running.journals import ClosedJournal
from generation.running.ray_worker import Report, Worker, share_of

if TYPE_CHECKING:
    from generation.running.settings import Cast, Limits

BATCH = 8
"""Sections that travel together; a worker has several batches at a time, so that it never waits for the next."""
_SUSPECT = 2  # losses after which a batch is taken apart, and a section gets a worker for itself alone
_LOSSES_IN_A_ROW = 10  # workers lost with nothing done in between: the cluster is ill, not a section


@dataclass
class _Seat:
    """A place in the crew, and who sits in it now."""

    number: int
    actor: Any
    journal: Path
    spent: float = 0.0
    at_work: int = 0
    is_reserved: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)


@dataclass
class _Batch:
    first: int
    sections: list[Section]
    losses: int = 0


class Crew:
    """The workers of a run; to a Session it is what Admission is to a run on one machine.

    `outcomes` gives what `run.outcomes` would give. `stop`, `stopped` and `in_flight` (sections under way) are those
    of Admission. Raises UsageError where Ray is missing, cannot be reached, or the limits do not go round.
    """

    def __init__(
        self,
        cast: "Cast",
        limits: "Limits",
        options: dict[str, Any],
        folder: Path,
        *,
        workers: int,
        address: str = "",
        tariff: Tariff | None = None,
        spent: Callable[[str], None],
        notify: Callable[[str], None],
    ) -> None:
        if not 1 <= workers <= (limits.concurrency if cast.model else workers):
            raise UsageError(f"{limits.concurrency} calls at a time do not go round {workers} workers; ask for fewer.")
        self.stopped: CircuitError | None = None
        self.in_flight = 0
        self.losses = 0
        self._cast = cast
        self._limits = limits
        self._options = options
        self._folder = folder.resolve()
        self._workers = workers
        self._address = address
        self._tariff = tariff
        self._on_spent = spent
        self._notify = notify
        self._told: set[str] = set()
        self._closed: list[Path] = []
        self._paid = 0.0  # before this sitting, and by workers that are gone
        self._losses_in_a_row = 0
        self._seats: list[_Seat] = []
        self._free: asyncio.Queue[_Seat] = asyncio.Queue()
        self._replacing = asyncio.Lock()
        self._numbers = iter(range(1, 1_000_000_000))
        share = max(1, limits.concurrency // workers)
        self._batch = BATCH if not cast.model else max(1, min(BATCH, share // 2))
        self._at_once = 2 if not cast.model else max(2, -(-2 * share // self._batch))

    async def __aenter__(self) -> Self:
        self._recall()
        self._ray = _connected(self._address, self._workers)
        self._seats = [self._hired(number) for number in range(self._workers)]
        for _ in range(self._at_once):
            for seat in self._seats:
                self._free.put_nowait(seat)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        closing = [asyncio.wait_for(seat.actor.close.remote(), journals.LEAVING_S) for seat in self._seats]
        await asyncio.gather(*closing, return_exceptions=True)
        for seat in self._seats:
            self._ray.kill(seat.actor)
        if self._ray.is_ours:
            self._ray.shutdown()
        journals.gather(self._folder)

    async def outcomes(
        self, sections: Iterable[Section], *, ledger: Ledger, on_change: Callable[[], None], stop: Callable[[], bool]
    ) -> AsyncGenerator[Outcome, None]:
        """Yield one outcome a section, in input order, as `run.outcomes` does."""

        def begin(batch: _Batch) -> None:
            ledger.submitted += len(batch.sections)
            self.in_flight += len(batch.sections)
            on_change()

        async def work(batch: _Batch) -> list[Outcome]:
            found = await self._done(batch)
            self.in_flight -= len(batch.sections)
            for outcome in found:
                ledger.add(outcome)
            on_change()
            return found

        window = self._workers * self._at_once
        async for batch in in_order(self._batches(sections), work, window=window, begin=begin, stop=stop):
            for outcome in batch:
                yield outcome

    def stop(self, reason: str) -> None:
        """Let no further call out, on any machine; those under way are let finish."""
        if self.stopped is None:
            self._stop_with(f"Stopped: {reason} Run the same command again to go on from here.")

    def _stop_with(self, sentence: str) -> None:
        self.stopped = CircuitError(sentence)
        for seat in self._seats:
            seat.actor.stop.remote("another worker was stopped.")

    def _batches(self, sections: Iterable[Section]) -> Iterator[_Batch]:
        upcoming, first = iter(sections), 0
        while batch := list(islice(upcoming, self._batch)):
            yield _Batch(first, batch)
            first += len(batch)

    async def _done(self, batch: _Batch) -> list[Outcome]:
        """The outcomes of a batch, whoever is lost on the way."""
        while self.stopped is None:
            is_suspect = batch.losses >= _SUSPECT
            if is_suspect and len(batch.sections) > 1:
                singles = [_Batch(batch.first + n, [s], _SUSPECT - 1) for n, s in enumerate(batch.sections)]
                return [outcome for found in await asyncio.gather(*map(self._done, singles)) for outcome in found]
            async with self._seat(alone=is_suspect) as seat:
                actor = seat.actor
                try:
                    return self._heard(seat, await actor.work.remote(batch.first, batch.sections, self._closed))
                except self._ray.losses as loss:
                    reason = str(loss).splitlines()[0]
                    await self._replace(seat, actor, reason)
            batch.losses += 1
            if is_suspect:
                error = f"{batch.losses} workers were lost over this section, the last one: {reason}"
                return [Outcome(s, "failed", error=error) for s in batch.sections]
        return [Outcome(s, "pending", reason=str(self.stopped)) for s in batch.sections]

    @asynccontextmanager
    async def _seat(self, alone: bool) -> AsyncIterator[_Seat]:
        """A seat that has room for one more batch; or one with nobody else at work in it, and kept so."""
        seat = await self._free.get()
        try:
            async with seat.changed:
                await seat.changed.wait_for(lambda: not seat.is_reserved)
                seat.is_reserved = alone
                await seat.changed.wait_for(lambda: not alone or not seat.at_work)
                seat.at_work += 1
            try:
                yield seat
            finally:
                async with seat.changed:
                    seat.at_work -= 1
                    seat.is_reserved = seat.is_reserved and not alone
                    seat.changed.notify_all()
        finally:
            self._free.put_nowait(seat)

    def _heard(self, seat: _Seat, report: Report) -> list[Outcome]:
        self._losses_in_a_row = 0
        seat.spent = max(seat.spent, report.spent)
        for note in report.notes:
            self._tell(note)
        if report.failure is not None:
            raise report.failure
        if self._cast.model and not seat.journal.exists():
            self._tell(
                f"{self._folder} is not the same folder on all machines: a worker that is lost, and a later run, pay"
                " again for what was answered."
            )
        if report.stopped and self.stopped is None:
            self._stop_with(report.stopped)
        self._check_budget()
        return report.outcomes

    def _check_budget(self) -> None:
        most, total = self._limits.max_usd, self._paid + sum(seat.spent for seat in self._seats)
        if most is not None and total >= most and self.stopped is None:
            self._on_spent(all_spent(total, most))

    async def _replace(self, seat: _Seat, lost: Any, reason: str) -> None:
        """Put another worker into the seat, unless that has been done; all read what the lost one has paid for."""
        async with self._replacing:
            if seat.actor is not lost:
                return
            self.losses += 1
            self._losses_in_a_row += 1
            self._tell(f"Worker {seat.number} was lost ({reason}); its sections are done again.")
            self._ray.kill(lost)
            if self._losses_in_a_row >= _LOSSES_IN_A_ROW:
                self.stop(f"{self._losses_in_a_row} workers in a row were lost, the last one: {reason}.")
            if await asyncio.to_thread(journals.settle, seat.journal):
                self._closed.append(seat.journal)
                self._paid += self._worth(seat.journal)
            else:
                self._paid += seat.spent
            hired = self._hired(seat.number)
            seat.actor, seat.journal, seat.spent = hired.actor, hired.journal, 0.0

    def _recall(self) -> None:
        """Let the workers read what earlier sittings have left, and count what they paid."""
        whole = self._folder / "journal.sqlite"
        if self._cast.model and whole.exists():
            Journal(whole, create=False).close()  # brings in what SQLite had written ahead
            self._closed.append(whole)
            self._paid = self._worth(whole)
            self._check_budget()

    def _worth(self, path: Path) -> float:
        if self._tariff is None:
            return 0.0
        with ClosedJournal(path) as journal:
            return self._tariff.of_paid(journal.paid())

    def _hired(self, number: int) -> _Seat:
        path = self._folder / f"journal-{next(self._numbers)}.sqlite"
        share = share_of(self._limits, self._workers, number)
        remote = self._ray.remote(Worker, self._at_once + 4)
        actor = remote.remote(self._cast, self._options, share, self._tariff, path)
        return _Seat(number, actor, path)

    def _tell(self, note: str) -> None:
        if note not in self._told:
            self._told.add(note)
            self._notify(note)


class _Ray:
    """The few things that we need of Ray."""

    def __init__(self, ray: Any, is_ours: bool) -> None:
        self._ray = ray
        self.is_ours = is_ours
        errors = ray.exceptions
        self.losses = (errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError)

    def remote(self, worker: type, calls: int) -> Any:
        return self._ray.remote(num_cpus=1, max_concurrency=calls, max_restarts=0)(worker)

    def kill(self, actor: Any) -> None:
        self._ray.kill(actor, no_restart=True)

    def shutdown(self) -> None:
        self._ray.shutdown()


def _connected(address: str, workers: int) -> _Ray:
    """The cluster at `address`, or one of this machine alone, which ends with the run."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unasked
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'craqan[ray]'.") from None
    if ray.is_initialized():
        return _Ray(ray, is_ours=False)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address:
        options["address"] = address
    else:
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"The Ray cluster {address or 'of this machine'} cannot be reached: {error}.") from error
    return _Ray(ray, is_ours=True)

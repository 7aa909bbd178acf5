"""One process of a Ray cluster: a chat with its share of the limits, a journal of its own, and the loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from generation import journals
from generation.admission import Admission
from generation.budget import Metered, Price
from generation.errors import CraqanError
from generation.journal import Journal, Journaled
from generation.journals import ClosedJournal, Recalled
from generation.llm import Chat, OpenAIChat
from generation.records import Outcome, Section
from generation.run import outcomes

if TYPE_CHECKING:
    from generation.session import Cast, Limits


@dataclass(frozen=True)
class Share:
    """What one worker may do of what the endpoint allows: the limits divided by the number of workers."""

    calls: int
    rpm: float | None
    tpm: float | None
    timeout: float

    @classmethod
    def of(cls, limits: "Limits", workers: int, number: int) -> Self:
        """The share of worker `number`; what does not divide goes to the first ones."""
        calls = limits.concurrency // workers + (number < limits.concurrency % workers)
        rpm, tpm = (None if limit is None else limit / workers for limit in (limits.rpm, limits.tpm))
        return cls(calls, rpm, tpm, limits.timeout)


class Report(NamedTuple):
    """What a worker says of a batch; `spent` and `notes` are those of its whole life."""

    outcomes: list[Outcome]
    spent: float
    notes: list[str]
    stopped: str
    failure: CraqanError | None


class Worker:
    """One process of the cluster: a chat with its share of the limits, and the loop."""

    def __init__(
        self,
        cast: "Cast",
        options: dict[str, Any],
        share: Share,
        price: Price | None,
        journal: Path,
        closed: Sequence[Path],
    ) -> None:
        self._cast = cast
        self._options = options
        self._notes: list[str] = []
        self._live: OpenAIChat | None = None
        self._admission: Admission | None = None
        self._metered: Metered | None = None
        self._chat: Chat | None = None
        if cast.model:
            self._connect(cast, share, price, journal, closed)

    def _connect(self, cast: "Cast", share: Share, price: Price | None, path: Path, closed: Sequence[Path]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = journals.lock_of(path)
        self._lock.acquire(timeout=0)
        self._journal = Journal(path)
        live = OpenAIChat(
            cast.model, cast.base_url or None, timeout=share.timeout, retries=0, notify=self._notes.append
        )
        admission = Admission(live, share.calls, rpm=share.rpm, tpm=share.tpm, notify=self._notes.append)
        paying: Chat = admission
        if price is not None:
            paying = self._metered = Metered(admission, price, None, lambda reason: None)
        self._live, self._admission, self._chat = live, admission, Journaled(paying, self._journal)
        if known := [ClosedJournal(p) for p in closed if p.exists()]:
            self._chat = Recalled(self._chat, known)

    async def work(self, first: int, sections: Sequence[Section]) -> Report:
        """Run the loop on all of `sections`, the first of which is number `first` of the input."""
        found: list[Outcome] = []
        failure: CraqanError | None = None
        cast = self._cast
        running = outcomes(
            sections,
            cast.generator,
            cast.reviewers,
            chat=self._chat,
            prepare=cast.prepare,
            window=len(sections),
            first=first,
            **self._options,
        )
        try:
            async for outcome in running:
                found.append(outcome)
        except CraqanError as error:
            failure = error
        stopped = self._admission.stopped if self._admission else None
        spent = self._metered.spent if self._metered else 0.0
        return Report(found, spent, self._notes, str(stopped or ""), failure)

    async def stop(self, reason: str) -> None:
        """Let no further call out."""
        if self._admission is not None:
            self._admission.stop(reason)

    async def close(self) -> None:
        """Close connections and journal."""
        if self._live is not None:
            await self._live.aclose()
            self._journal.close()
            self._lock.release()

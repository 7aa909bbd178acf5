"""One process of a Ray cluster: a chat with its share of the limits, a journal of its own, and the loop."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from generation.errors import CraqanError
from generation.journal import Journal, Journaled
from generation.llm import Chat, Routed
from generation.records import Outcome, Section
from generation.run import outcomes
from generation.running import journals
from generation.running.budget import Metered, Purse, Tariff
from generation.running.doors import admitted
from generation.running.journals import ClosedJournal, Recalled

if TYPE_CHECKING:
    from generation.client.admission import Admission
    from generation.running.settings import Cast, Limits


def share_of(limits: "Limits", workers: int, number: int) -> "Limits":
    """What worker `number` may do of what the endpoint allows; what does not divide goes to the first ones."""
    calls = limits.concurrency // workers + (number < limits.concurrency % workers)
    rpm, tpm = (None if limit is None else limit / workers for limit in (limits.rpm, limits.tpm))
    return replace(limits, concurrency=calls, rpm=rpm, tpm=tpm)


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
        share: "Limits",
        tariff: Tariff | None,
        journal: Path,
    ) -> None:
        self._cast = cast
        self._options = options
        self._share = share
        self._tariff = tariff
        self._path = journal
        self._closed: dict[Path, ClosedJournal] = {}
        self._notes: list[str] = []
        self._stack = AsyncExitStack()
        self._connecting = asyncio.Lock()
        self._chat: Chat | None = None
        self._doors: list[Admission] = []
        self._purse = Purse(None, lambda reason: None)

    async def _connect(self) -> Chat:
        """For each model: closed journals around a journal around the budget around admission around a live client."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._stack.enter_context(journals.lock_of(self._path).acquire(timeout=0))
        journal = self._stack.enter_context(Journal(self._path))
        chat = await self._connect_to(self._cast.model, "", journal)
        others = {role: await self._connect_to(model, role, journal) for role, model in self._cast.others.items()}
        return Routed(chat, others) if others else chat

    async def _connect_to(self, model: str, role: str, journal: Journal) -> Chat:
        door_of = admitted(model, self._cast.base_url, self._share, self._notes.append)
        admission = await self._stack.enter_async_context(door_of)
        self._doors.append(admission)
        door: Chat = admission
        if self._tariff is not None:
            door = Metered(admission, self._tariff.at(role), self._purse)
        return Recalled(Journaled(door, journal), self._closed.values())

    def _recall(self, closed: Sequence[Path]) -> None:
        """Open the journals that were closed since the last batch; those out of this machine's reach are left out."""
        for path in closed:
            if path not in self._closed and path.exists():
                self._closed[path] = self._stack.enter_context(ClosedJournal(path))

    async def work(self, first: int, sections: Sequence[Section], closed: Sequence[Path]) -> Report:
        """Run the loop on all of `sections`, the first of which is number `first` of the input.

        `closed` are the journals of earlier runs and of lost workers; what they hold is not asked again.
        """
        found: list[Outcome] = []
        failure: CraqanError | None = None
        cast = self._cast
        try:
            async with self._connecting:
                if cast.model and self._chat is None:
                    self._chat = await self._connect()
                self._recall(closed)
            running = outcomes(
                sections,
                cast.generator,
                cast.reviewers,
                chat=self._chat,
                prepare=cast.prepare,
                prover=cast.prover,
                window=len(sections),
                first=first,
                **self._options,
            )
            async for outcome in running:
                found.append(outcome)
        except CraqanError as error:
            failure = error
        stopped = next((door.stopped for door in self._doors if door.stopped is not None), None)
        spent = self._purse.spent
        return Report(found, spent, self._notes, str(stopped or ""), failure)

    async def stop(self, reason: str) -> None:
        """Let no further call out."""
        for door in self._doors:
            door.stop(reason)

    async def close(self) -> None:
        """Close connections and journal."""
        await self._stack.aclose()

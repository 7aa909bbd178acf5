"""Journals of many workers: one file each while they work, one file for all of them before and after.

SQLite must not be written from several machines over a network file system, so each worker has a journal of its own,
`journal-<n>.sqlite`, a number that is never used twice in a run. While it lives it holds a lock beside it. Once it is
gone its journal is closed and may be read by all; `gather` moves everything into `journal.sqlite`.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from generation.client.calls import Asked
from generation.client.replies import usable
from generation.errors import UsageError
from generation.journal import Journal
from generation.llm import Chat, Reply, Request

LEAVING_S = 30.0
"""Seconds in which a worker that was killed must have let its journal go."""


class ClosedJournal(Journal):
    """A journal that nobody writes any more, for reading only, from any number of machines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting = []
        with self._told():
            address = f"{path.resolve().as_uri()}?immutable=1"
            self._db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            self._is_ours()


class Recalled:
    """A chat that answers from closed journals what they hold, and asks `chat` for the rest."""

    def __init__(self, chat: Chat, journals: Iterable[ClosedJournal]) -> None:
        self.chat = chat
        self.journals = journals

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        key = ""
        for journal in self.journals:
            key = key or Asked.of(self.identity, request).key
            if (stored := journal.find(key)) is not None:
                return usable(stored)
        return await self.chat(request)


def lock_of(journal: Path) -> FileLock:
    """The lock that a worker holds on its journal; the system frees it when the process ends, however it ends."""
    return FileLock(journal.with_name(journal.name + ".lock"))


def settle(journal: Path, patience: float = LEAVING_S) -> bool:
    """Close the journal of a worker that is gone, so that it may be read; False where no such file is in reach.

    Raises UsageError if the worker still holds it after `patience` seconds.
    """
    if not journal.exists():
        return False
    try:
        with lock_of(journal).acquire(timeout=patience):
            Journal(journal, create=False).close()  # brings in what SQLite had written ahead
    except Timeout:
        raise UsageError(f"A worker still writes {journal}; end it, then run the same command again.") from None
    return True


def of_workers(folder: Path) -> list[Path]:
    """The workers' journals in a run's folder, in the order of their numbers."""
    return sorted(folder.glob("journal-*.sqlite"), key=lambda path: int(path.stem.partition("-")[2]))


def gather(folder: Path) -> None:
    """Move what the workers' journals hold into `journal.sqlite` and remove them. Interrupted, it can be run again."""
    for path in of_workers(folder):
        settle(path)
        with Journal(folder / "journal.sqlite") as journal:
            journal.take_in(path)
        for part in folder.glob(f"{path.name}*"):  # with what SQLite and the lock left beside it
            part.unlink()


def refuse_open_batches(folder: Path, journal: Journal, flag: str) -> None:
    """Raise UsageError, which names `flag`, where asking live would pay again for what batch jobs are out with."""
    if not folder.exists():
        return
    from generation.client.batch import are_out

    if are_out(folder, journal):
        raise UsageError(
            f"Batch jobs of this run are still out, and asking live would pay for them again: add {flag}, or"
            f" move {folder} away to give them up."
        )

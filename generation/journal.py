"""Every call on disk before its reply is used: what was asked, what was answered, what it took.

A journal is one SQLite file in WAL mode. A call is found again by the hash of everything that is sent, so a changed
prompt, model or parameter misses, while another order, concurrency or time-out hits. What is kept is the server's raw
answer; it is read anew at every use, so a changed reader costs nothing. Long texts are kept once, however often sent.

Replies that arrive together are committed together. A commit outlives the process (kill -9) at once; a power cut may
cost the last moments, never the file. Commits do not wait for the disk. What does, bringing into the file what SQLite
has written ahead of it, is left to a thread, so that a slow disk holds up no call that is out.

Two processes may share a journal: what the first has stored the second uses.
"""

import asyncio
import json
import random
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from generation.client.calls import Asked, Call, raw_of, read_raw, writable
from generation.client.replies import usable
from generation.errors import CircuitError, ForeignJournalError, JournalError, ModelError, NoJournalError
from generation.llm import Chat, Reply, Request
from generation.records import Usage

APPLICATION_ID = 0x43526151  # "CRaQ"
VERSION = 1
BUSY_S = 30.0  # that another process may keep the file to itself
_GLANCE_S = 0.02  # that a commit waits for it before the loop goes on with other work
_CHECKED_BYTES = 64_000_000  # a larger file is not read through at opening; damage shows when a page is used
_KNOWN_TEXTS = 1_000
_AHEAD = 64_000_000  # characters that are committed before they are brought into the file itself

_SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, role TEXT NOT NULL, scope TEXT NOT NULL, asking INTEGER NOT NULL,
    request TEXT NOT NULL, status TEXT NOT NULL, reply TEXT, crc32 INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    asked_at REAL NOT NULL, seconds REAL NOT NULL
);
"""
_UNLESS_ANSWERED = """ON CONFLICT (key) DO UPDATE SET
    status = excluded.status, reply = excluded.reply, crc32 = excluded.crc32, role = excluded.role,
    scope = excluded.scope, prompt_tokens = excluded.prompt_tokens, cached_tokens = excluded.cached_tokens,
    completion_tokens = excluded.completion_tokens, asked_at = excluded.asked_at, seconds = excluded.seconds
WHERE reply IS NULL
"""
_KEEP = f"INSERT INTO calls VALUES ({', '.join('?' * 14)}) {_UNLESS_ANSWERED}"
_COLUMNS = """key, identity, role, scope, asking, request, status, reply, crc32,
    prompt_tokens, cached_tokens, completion_tokens, asked_at, seconds"""


class Journal:
    """The calls of one or many runs, in one file. Use it in one thread; close it, or use `with`.

    Raises JournalError where the file is damaged, of another program, of a newer version, or cannot be written; such a
    file is left as it is. `create=False` refuses to make a new one.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise NoJournalError(f"{self.path} does not exist; name the folder of a run that asked a model.")
        self._waiting: list[_Waiting] = []
        self._known: set[str] = set()
        self._ahead = 0
        self._is_bringing_in = False
        self._give_up = float("inf")  # on the monotonic clock
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            with self._told():
                self._prepare_in_turn()
                self._wait_up_to(_GLANCE_S)
        except JournalError:
            self._db.close()
            raise

    def find(self, key: str) -> Reply | None:
        """The stored reply, read anew and marked `stored`, or None."""
        try:
            row = self._db.execute("SELECT reply, crc32, seconds FROM calls WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return None if row is None else self._reply(*row)

    async def keep(self, asked: Asked, reply: Reply | None, status: str) -> Reply | None:
        """Store a call, and return once it is committed.

        Returns `reply`, or the one that another process stored first: that one has been used and must stay the answer.
        """
        request = asked.request
        raw, usage, seconds = None, Usage(), 0.0
        if reply is not None:
            raw, usage, seconds = raw_of(reply), reply.usage, reply.seconds
        who = (asked.key, writable(asked.identity), writable(request.role), writable(request.scope), request.asking)
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        row = (*who, asked.sent, status, raw, _crc32(raw), *tokens, time.time() - seconds, seconds)
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append(_Waiting(row, asked.texts, loop.create_future()))
        return reply if await self._waiting[-1].was_first else self.find(asked.key)

    def calls(self) -> Iterator[Call]:
        """Every call, in the order in which they were first stored."""
        with self._told():
            for row in self._db.execute(f"SELECT {_COLUMNS} FROM calls ORDER BY rowid"):
                yield self._call(*row)

    def paid(self) -> dict[str, Usage]:
        """Answered calls and their tokens by identity: what all runs on this journal have cost."""
        sums = "count(reply), total(prompt_tokens), total(cached_tokens), total(completion_tokens)"
        with self._told():
            rows = self._db.execute(f"SELECT identity, {sums} FROM calls GROUP BY identity").fetchall()
        return {identity: Usage(*map(int, counts)) for identity, *counts in rows}

    def take_in(self, other: Path) -> None:
        """Copy all calls of another journal, which nobody writes, into this one; what is answered here stays."""
        with self._told():
            self._wait_up_to(BUSY_S)
            self._db.execute("ATTACH ? AS other", (str(other),))
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT OR IGNORE INTO texts SELECT * FROM other.texts")
            self._db.execute(f"INSERT INTO calls SELECT * FROM other.calls WHERE true {_UNLESS_ANSWERED}")
            self._db.execute("COMMIT")
            self._db.execute("DETACH other")
            self._wait_up_to(_GLANCE_S)

    def close(self) -> None:
        """Commit what waits and close the file."""
        self._is_bringing_in, self._give_up = False, 0.0
        with self._told():
            self._wait_up_to(BUSY_S)
            self._commit()
            self._db.close()

    def _wait_up_to(self, seconds: float) -> None:
        """How long a statement waits in place for a file that another process keeps to itself."""
        self._db.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare_in_turn(self) -> None:
        """Prepare; several processes that make one file at once get in each other's way, and try again."""
        give_up = time.monotonic() + BUSY_S
        while True:
            try:
                return self._prepare()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > give_up:
                    raise
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            time.sleep(random.uniform(0.01, 0.1))

    def _prepare(self) -> None:
        self._db.execute("BEGIN")  # one look at the file, while others may be making it
        ours = self._is_ours()
        self._db.execute("COMMIT")
        if self.path.stat().st_size <= _CHECKED_BYTES:
            problem = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise sqlite3.DatabaseError(problem)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA wal_autocheckpoint = 0")  # see _bring_in
        if not ours:
            self._create()

    def _create(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._is_ours()  # another process may have made it meanwhile
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._db.execute("COMMIT")

    def _is_ours(self) -> bool:
        """False for an empty file; raises for a foreign one, before anything is written to it."""
        owner = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION_ID and (owner or tables):
            raise ForeignJournalError(
                f"{self.path} belongs to another program and is left as it is; choose another folder."
            )
        if owner == APPLICATION_ID and version > VERSION:
            raise ForeignJournalError(f"{self.path} was made by a newer CRaQAn; use that version, or another folder.")
        return bool(owner == APPLICATION_ID)

    def _commit(self) -> None:
        """One transaction for all that wait, then tell them."""
        if self._is_bringing_in or not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        try:
            with self._told():
                if not self._begin():
                    self._waiting = waiting
                    return
                firsts = [self._insert(w) for w in waiting]
                self._db.execute("COMMIT")
        except JournalError as error:
            self._known.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            for w in waiting:
                if not w.was_first.done():
                    w.was_first.set_exception(JournalError(str(error)))
            return
        for w, first in zip(waiting, firsts, strict=True):
            if not w.was_first.done():
                w.was_first.set_result(first)
        self._ahead += sum(w.size for w in waiting)
        if self._ahead >= _AHEAD:
            self._bring_in()

    def _begin(self) -> bool:
        """False while another process writes: then the commit is tried again soon, and calls go on meanwhile."""
        now = time.monotonic()
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            self._give_up = min(self._give_up, now + BUSY_S)
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or now >= self._give_up:
                raise
            asyncio.get_running_loop().call_later(_GLANCE_S, self._commit)
            return False
        self._give_up = float("inf")
        return True

    def _bring_in(self) -> None:
        """Let a thread do it. What comes meanwhile waits, or what is ahead would grow without end."""

        def ended(_: object) -> None:
            self._is_bringing_in = False
            self._commit()

        self._ahead, self._is_bringing_in = 0, True
        work = asyncio.get_running_loop().run_in_executor(None, _bring_in, self.path)
        work.add_done_callback(ended)

    def _insert(self, waiting: "_Waiting") -> bool:
        """False if the call was answered before, by another process."""
        for sha256, text in waiting.texts.items():
            if sha256 not in self._known:
                self._db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (sha256, text))
                self._known.add(sha256)
        if len(self._known) > _KNOWN_TEXTS:
            self._known.clear()
        return self._db.execute(_KEEP, waiting.row).rowcount == 1

    def _reply(self, raw: str | None, crc32: int, seconds: float) -> Reply | None:
        if raw is not None and _crc32(raw) != crc32:
            raise self._trouble("a reply differs from what was stored")
        return None if raw is None else read_raw(raw, seconds)

    def _call(self, key: str, identity: str, role: str, scope: str, asking: int, request: str, status: str, *rest: Any):
        raw, crc32, prompt, cached, completion, asked_at, seconds = rest
        usage = Usage(int(raw is not None), prompt, cached, completion)
        messages, temperature, schema, max_tokens = json.loads(request, object_hook=self._lengthened)
        asked = Request(tuple(messages), temperature, json.loads(schema or "null"), max_tokens, asking, role, scope)
        reply = self._reply(raw, crc32, seconds)
        return Call(key, identity, asked, status, reply, usage, asked_at, seconds)

    def _lengthened(self, value: dict[str, Any]) -> Any:
        """Put a long text back in its place."""
        if value.keys() != {"sha256"}:
            return value
        row = self._db.execute("SELECT text FROM texts WHERE sha256 = ?", (value["sha256"],)).fetchone()
        if row is None:
            raise self._trouble("a text is missing")
        return row[0]

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, sqlite3.Warning) as error:
            raise self._trouble(error) from error

    def _trouble(self, error: object) -> JournalError:
        words = getattr(error, "strerror", None) or str(error)
        if "locked" in words:
            return JournalError(f"{self.path} is held by another process ({words}); wait for it, then run again.")
        if "full" in words or "disk I/O" in words:
            return JournalError(f"No room left to write {self.path} ({words}); free some, then run again to go on.")
        if any(word in words for word in ("malformed", "not a database", "differs", "missing", "corrupt", "***")):
            return JournalError(f"{self.path} is damaged or no journal ({words}) and is left as it is; move it away.")
        return JournalError(f"{self.path} cannot be used as a journal: {words}.")


class Journaled:
    """A chat that asks each thing once: what the journal holds is not asked again, what is answered is kept first.

    Equal requests at the same time are asked once. Replies that are of no use are kept too, since they were paid, and
    raise the same error again; failures without an answer are noted, and asked again.
    """

    def __init__(self, chat: Chat, journal: Journal) -> None:
        self.chat = chat
        self.journal = journal
        self._flights: dict[str, asyncio.Future[None]] = {}

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        asked = Asked.of(self.identity, request)
        while True:
            if (stored := self.journal.find(asked.key)) is not None:
                return usable(stored)
            if (flight := self._flights.get(asked.key)) is None:
                break
            await asyncio.wait([flight])
        landed = self._flights[asked.key] = asyncio.get_running_loop().create_future()
        try:
            return await self._ask(asked)
        finally:
            del self._flights[asked.key]
            landed.set_result(None)

    async def _ask(self, asked: Asked) -> Reply:
        try:
            reply = await self.chat(asked.request)
        except ModelError as error:
            kept = await self.journal.keep(asked, error.reply, type(error).__name__)
            if kept is None or kept is error.reply:
                raise
            return usable(kept)
        except CircuitError as stop:
            if isinstance(stop.__cause__, ModelError):
                await self.journal.keep(asked, None, type(stop.__cause__).__name__)
            raise
        return usable(await self.journal.keep(asked, reply, "ok") or reply)


@dataclass(frozen=True, slots=True)
class _Waiting:
    row: tuple[Any, ...]
    texts: Mapping[str, str]
    was_first: "asyncio.Future[bool]"

    @property
    def size(self) -> int:
        """Characters."""
        return sum(len(part) for part in (*self.row, *self.texts.values()) if isinstance(part, str))


def _bring_in(path: Path) -> None:
    """Write into a journal's file what SQLite has written ahead of it."""
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        with suppress(sqlite3.Error):  # a full disk, as the next commit will tell: all is still there
            db.execute("PRAGMA wal_checkpoint").fetchall()
            db.execute(f"PRAGMA user_version = {VERSION}")  # the first write after it waits for the disk once more
    finally:
        db.close()


def _crc32(raw: str | None) -> int:
    return 0 if raw is None else zlib.crc32(raw.encode())

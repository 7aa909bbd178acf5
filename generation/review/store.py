"""The file that a review is kept in: pairs, people and votes in one SQLite database.

WAL mode: many processes and threads read and write at once. A vote is one transaction, on disk before the page says
so, and rows of `votes` are never changed or removed. Every method opens a connection of its own, so that an object may
be shared between threads.
"""

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from generation.errors import BallotError, ReviewError, UsageError
from generation.review.ballots import Policy, Vote

APPLICATION_ID = 0x43525657  # "CRVW"
VERSION = 1
BUSY_S = 30.0

_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE people (label TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE pairs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL,
    parent TEXT NOT NULL, corrected_by TEXT NOT NULL, gold TEXT NOT NULL
);
CREATE TABLE votes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, pair TEXT NOT NULL REFERENCES pairs (id),
    reviewer TEXT NOT NULL REFERENCES people (label), accept INTEGER NOT NULL, reasons TEXT NOT NULL,
    note TEXT NOT NULL, seconds REAL, at TEXT NOT NULL, correction TEXT NOT NULL
);
CREATE INDEX votes_of_pair ON votes (pair);
CREATE INDEX votes_of_person ON votes (reviewer);
CREATE TRIGGER votes_stay BEFORE UPDATE ON votes BEGIN SELECT RAISE(ABORT, 'votes are only added'); END;
CREATE TRIGGER votes_remain BEFORE DELETE ON votes BEGIN SELECT RAISE(ABORT, 'votes are only added'); END;
CREATE TABLE leases (
    pair TEXT NOT NULL, reviewer TEXT NOT NULL, ticket TEXT NOT NULL, since REAL NOT NULL, until REAL NOT NULL,
    again INTEGER NOT NULL, PRIMARY KEY (pair, reviewer)
);
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair as it is kept. `gold` is what is known of a hidden one: {"accept", "reasons"}, else None."""

    id: str
    row: Mapping[str, Any]
    parent: str = ""
    corrected_by: str = ""
    gold: Mapping[str, Any] | None = None


class Store:
    """One review file. Raises ReviewError where it is missing, damaged, foreign, newer than this code, or held."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        _refuse_folder(self.path)
        if not self.path.is_file():
            raise ReviewError(f"{self.path} does not exist; make it with: craqan review start {self.path} PAIRS.jsonl")
        with self.reading() as db:
            self._check(db)

    @classmethod
    def create(cls, path: Path | str, policy: Policy, guidelines: str) -> "Store":
        """A new file, complete or not there at all. Raises UsageError if there is one already."""
        path = Path(path)
        _refuse_folder(path)
        if path.exists():
            raise UsageError(f"{path} exists already; add pairs to it with: craqan review add {path} PAIRS.jsonl")
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            with _told(part), closing(sqlite3.connect(part, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = FULL")
                db.executescript(_SCHEMA)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {VERSION}")
                settings = {"policy": json.dumps(asdict(policy)), "guidelines": guidelines}
                db.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        with _told(path), closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode = WAL")
        return cls(path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent look at the file."""
        with _told(self.path), closing(self._connect()) as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk afterwards, or none of it."""
        with _told(self.path), closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise ReviewError(f"{self.path} is no review file and is left as it is; name one of craqan review start.")
        if db.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            raise ReviewError(f"{self.path} was made by a newer CRaQAn; use that version.")
        if (problem := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"malformed: {problem}")

    @property
    def policy(self) -> Policy:
        with self.reading() as db:
            return policy_from(json.loads(_setting(db, "policy")))

    @property
    def guidelines(self) -> str:
        with self.reading() as db:
            return _setting(db, "guidelines")

    def names(self) -> dict[str, str]:
        """{label: name} of everybody who has voted or opened a pair."""
        with self.reading() as db:
            return names_of(db)

    def pairs(self) -> list[Pair]:
        """All pairs, gold ones too, in the order in which they were added."""
        with self.reading() as db:
            return pairs_of(db)

    def pair(self, id: str) -> Pair:
        """One pair. Raises BallotError if there is none."""
        with self.reading() as db:
            found = pairs_of(db, [id])
        if not found:
            raise BallotError("There is no such pair in this review; take the one that is shown next.")
        return found[0]

    def votes(self) -> list[Vote]:
        """All votes ever given, in order."""
        with self.reading() as db:
            return votes_of(db)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise ReviewError(
            f"{path} is a folder, not a review file; name a file in it, such as {path / 'review.sqlite'}."
        )


def policy_from(values: Mapping[str, Any]) -> Policy:
    """A policy from its fields as JSON has them."""
    rest = dict(values)
    adjudicators, reviewers = tuple(rest.pop("adjudicators")), tuple(rest.pop("reviewers"))
    return Policy(adjudicators=adjudicators, reviewers=reviewers, **rest)


def names_of(db: sqlite3.Connection) -> dict[str, str]:
    """{label: name} of everybody who has voted or opened a pair."""
    return dict(db.execute("SELECT label, name FROM people ORDER BY rowid"))


def pairs_of(db: sqlite3.Connection, ids: Sequence[str] | None = None) -> list[Pair]:
    """The pairs called `ids`, or all; in the order in which they were added."""
    where = "" if ids is None else f"WHERE id IN ({', '.join('?' * len(ids))})"
    found = db.execute(f"SELECT id, row, parent, corrected_by, gold FROM pairs {where} ORDER BY number", ids or ())
    return [Pair(id, json.loads(row), parent, by, json.loads(gold or "null")) for id, row, parent, by, gold in found]


def votes_of(db: sqlite3.Connection, **where: str) -> list[Vote]:
    """All votes, or those whose columns have the given values, such as reviewer="person:..."."""
    columns = "number, uid, pair, reviewer, accept, reasons, note, seconds, at, correction"
    wanted = " AND ".join(f"{column} = ?" for column in where) or "true"
    found = db.execute(f"SELECT {columns} FROM votes WHERE {wanted} ORDER BY number", tuple(where.values()))
    return [
        Vote(n, uid, id, who, bool(yes), tuple(json.loads(why)), *rest) for n, uid, id, who, yes, why, *rest in found
    ]


def put_pair(db: sqlite3.Connection, pair: Pair) -> None:
    """Add a pair; its id must be new."""
    gold = "" if pair.gold is None else json.dumps(pair.gold)
    values = (pair.id, json.dumps(pair.row, ensure_ascii=False), pair.parent, pair.corrected_by, gold)
    db.execute("INSERT INTO pairs (id, row, parent, corrected_by, gold) VALUES (?, ?, ?, ?, ?)", values)


def put_vote(db: sqlite3.Connection, vote: Vote) -> None:
    """Add a vote; its number is given by the file."""
    values = (vote.uid, vote.pair, vote.reviewer, vote.accept, json.dumps(vote.reasons), vote.note)
    db.execute(
        """INSERT INTO votes (uid, pair, reviewer, accept, reasons, note, seconds, at, correction)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (*values, vote.seconds, vote.at, vote.correction),
    )


def label_of(db: sqlite3.Connection, name: str, *, create: bool = True) -> str:
    """The label, "person:<pseudonym>", of somebody by name; the pseudonym is random, so that it tells nothing.

    A label instead of a name stands for itself. With `create` somebody new is added; otherwise theirs is "".
    """
    found = db.execute("SELECT label FROM people WHERE name = ? OR label = ?", (name, name)).fetchone()
    if found or not create:
        return found[0] if found else ""
    label = name if name.startswith("person:") else f"person:{secrets.token_hex(4)}"
    db.execute("INSERT INTO people VALUES (?, ?)", (label, name))
    return label


def now() -> str:
    """UTC to the millisecond; such texts sort by time."""
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _setting(db: sqlite3.Connection, name: str) -> str:
    found = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise sqlite3.DatabaseError(f"malformed: no {name}")
    return str(found[0])


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, sqlite3.Warning) as error:
        words = getattr(error, "strerror", None) or str(error)
        if "locked" in words:
            raise ReviewError(f"{path} is held by another process ({words}); wait for it, then try again.") from error
        if "full" in words:
            raise ReviewError(f"No room left to write {path} ({words}); free some, then try again.") from error
        if any(word in words for word in ("malformed", "not a database", "no such table", "corrupt")):
            raise ReviewError(f"{path} is damaged or no review file ({words}) and is left as it is.") from error
        raise ReviewError(f"{path} cannot be used as a review file: {words}.") from error

"""The reviewer's desk: the next pair for somebody, their vote on it, and back to the one before.

Nobody is dealt a pair that they have voted on, corrected themselves, or that has all the people it needs; the order is
each person's own. A pair that is open on a desk counts as being read, so that no more people work on it than needed.
"""

import hashlib
import secrets
import sqlite3
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from generation.errors import BallotError, UsageError
from generation.records import PROBLEM_CODES
from generation.review.ballots import Policy, Vote, tally
from generation.review.corrections import Correction, corrected
from generation.review.store import Pair, Store, label_of, now, pairs_of, put_pair, put_vote, votes_of

MAX_NAME = 80  # characters
MAX_NOTE = 2_000
VOTES_A_MINUTE = 30


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` pairs by this person, `left` that they could still be dealt; `decided` of `total` pairs by all."""

    done: int
    left: int
    decided: int
    total: int


@dataclass(frozen=True, slots=True)
class Served:
    """A pair on somebody's desk. `ticket` becomes their vote's uid; `earlier` is their vote, if they take it up again.

    `pair` is None if there is nothing to judge now; `free_at` (seconds since 1970) then says when to ask again, if
    others hold pairs.
    """

    pair: Pair | None
    ticket: str
    progress: Progress
    earlier: Vote | None = None
    free_at: float | None = None


@dataclass(frozen=True, slots=True)
class Ballot:
    """What somebody says of the pair on their desk: accept, or reject with reasons and perhaps a correction."""

    pair: str
    ticket: str
    accept: bool
    reasons: Sequence[str] = ()
    note: str = ""
    correction: Correction | None = None


def clean_name(name: str) -> str:
    """A person's name as it is kept: one form for what reads the same. Raises UsageError if it is none."""
    plain = " ".join(unicodedata.normalize("NFKC", name).split()).casefold()
    if not plain:
        raise UsageError("Enter your name first.")
    if len(plain) > MAX_NAME or any(unicodedata.category(c)[0] == "C" for c in plain):
        raise UsageError(f"A name may have {MAX_NAME} characters, all of them visible: choose another.")
    return plain


def admit(name: str, policy: Policy) -> str:
    """The name as it is kept, if this person may judge. Raises UsageError otherwise."""
    plain = clean_name(name)
    named = {clean_name(n) for n in (*policy.reviewers, *policy.adjudicators)}
    if policy.reviewers and plain not in named:
        raise UsageError(f"{plain} is not among the reviewers of this set: ask whoever keeps it to add you.")
    return plain


def next_pair(store: Store, name: str) -> Served:
    """The pair for `name` to judge now, kept for them from now on; an open one again, before any other."""
    policy = store.policy
    name = admit(name, policy)
    with store.writing() as db:
        label = label_of(db, name)
        db.execute("DELETE FROM leases WHERE reviewer = ? AND again = 1", (label,))
        view = _View(db, policy, label, _is_among(name, policy.adjudicators))
        held = db.execute("SELECT pair, ticket FROM leases WHERE reviewer = ? ORDER BY since", (label,)).fetchall()
        chosen = next((id for id, _ in held if view.wants(id)), None) or next(view.free(), None)
        if chosen is None:
            return Served(None, "", view.progress(), free_at=view.free_at())
        ticket = dict(held).get(chosen) or secrets.token_hex(8)
        _lease(db, policy, label, chosen, ticket)
        return Served(pairs_of(db, [chosen])[0], ticket, view.progress())


def reopen(store: Store, name: str, before: int | None = None) -> Served | None:
    """The last pair that `name` voted on (before the vote numbered `before`), to think again; None if there is none.

    Their vote on it stands until they give another.
    """
    policy = store.policy
    name = admit(name, policy)
    with store.writing() as db:
        label = label_of(db, name)
        latest = {v.pair: v for v in votes_of(db, reviewer=label)}
        earlier = max((v for v in latest.values() if before is None or v.number < before), key=_number, default=None)
        if earlier is None:
            return None
        db.execute("DELETE FROM leases WHERE reviewer = ? AND again = 1", (label,))
        ticket = secrets.token_hex(8)
        _lease(db, policy, label, earlier.pair, ticket, again=True)
        view = _View(db, policy, label, _is_among(name, policy.adjudicators))
        return Served(pairs_of(db, [earlier.pair])[0], ticket, view.progress(), earlier)


def send(store: Store, name: str, ballot: Ballot) -> Vote:
    """Add a vote on the pair that is open on `name`'s desk; on disk when this returns.

    The same ballot twice (a double click, a page that had no answer) is one vote. A correction makes a new pair.
    Raises BallotError, with nothing kept, if the ballot is incomplete, too long, too fast, or for another pair.
    """
    policy = store.policy
    name = admit(name, policy)
    said = check(ballot)
    with store.reading() as db:
        found, label = pairs_of(db, [said.pair]), label_of(db, name, create=False)
    if not found or not label:
        raise BallotError("This pair is not on your desk; take the one that is shown next.")
    child = corrected(found[0], said.correction, label) if said.correction else None
    if found[0].gold:
        child = None  # what comes of a gold pair never enters the set
    with store.writing() as db:
        if sent := votes_of(db, uid=said.ticket):
            return _same(sent[0], said, label)
        lease = db.execute(
            "SELECT since FROM leases WHERE pair = ? AND reviewer = ? AND ticket = ?", (said.pair, label, said.ticket)
        ).fetchone()
        if lease is None:
            raise BallotError("This pair is not on your desk any more; take the one that is shown next.")
        _not_too_fast(db, label)
        if child and not pairs_of(db, [child.id]):
            put_pair(db, child)
        seconds = round(max(0.0, time.time() - lease[0]), 3)
        correction = child.id if child else ""
        vote = Vote(
            0, said.ticket, said.pair, label, said.accept, tuple(said.reasons), said.note, seconds, now(), correction
        )
        put_vote(db, vote)
        db.execute("DELETE FROM leases WHERE pair = ? AND reviewer = ?", (said.pair, label))
        return votes_of(db, uid=said.ticket)[0]


def check(ballot: Ballot) -> Ballot:
    """The ballot, its note tidied and its reasons in order. Raises BallotError if it says too little, or too much."""
    note = ballot.note.replace("\r\n", "\n").replace("\r", "\n").strip()
    unknown = set(ballot.reasons) - set(PROBLEM_CODES)
    if unknown:
        raise BallotError(f'"{min(unknown)}" is none of the nine reasons: {", ".join(PROBLEM_CODES)}.')
    if ballot.accept and ballot.reasons:
        raise BallotError("A pair is accepted, or rejected with reasons: take the reasons back, or reject it.")
    if ballot.accept and ballot.correction:
        raise BallotError("A pair that needs a correction is not accepted as it is: reject it with a reason.")
    if not ballot.accept and not ballot.reasons:
        raise BallotError("Give at least one reason (keys 1 to 9) to reject a pair.")
    if len(note) > MAX_NOTE:
        raise BallotError(f"A note may have {MAX_NOTE:,} characters; this one has {len(note):,}.")
    if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in note):
        raise BallotError("The note holds control characters, which cannot be kept: take them out.")
    reasons = [code for code in PROBLEM_CODES if code in ballot.reasons]
    correction = None if ballot.correction is None or ballot.correction.is_empty else ballot.correction
    return Ballot(ballot.pair, ballot.ticket, ballot.accept, reasons, note, correction)


def progress(store: Store, name: str) -> Progress:
    """How far `name` and all others are; writes nothing."""
    policy = store.policy
    name = admit(name, policy)
    with store.reading() as db:
        label = label_of(db, name, create=False)
        return _View(db, policy, label, _is_among(name, policy.adjudicators)).progress()


class _View:
    """Who has said what of which pair, who holds which, and what that leaves for one person."""

    def __init__(self, db: sqlite3.Connection, policy: Policy, label: str, is_adjudicator: bool) -> None:
        self.policy, self.label, self.is_adjudicator, self.moment = policy, label, is_adjudicator, time.time()
        self.pairs = {id: (by, gold != "") for id, by, gold in db.execute("SELECT id, corrected_by, gold FROM pairs")}
        self.offered = {(id, who) for id, who in db.execute("SELECT correction, reviewer FROM votes")}
        self.said: dict[str, list[tuple[str, bool]]] = {id: [] for id in self.pairs}
        latest = "SELECT pair, reviewer, accept, max(number) FROM votes GROUP BY pair, reviewer"
        for pair, reviewer, accept, _ in db.execute(latest):
            self.said[pair].append((reviewer, bool(accept)))
        names = {clean_name(n) for n in policy.adjudicators}
        self.adjudicators = {label for label, name in db.execute("SELECT label, name FROM people") if name in names}
        self.leases = db.execute(
            "SELECT pair, until FROM leases WHERE reviewer != ? AND again = 0 AND until > ?", (label, self.moment)
        ).fetchall()
        self.held = Counter(pair for pair, _ in self.leases)

    def wants(self, id: str) -> bool:
        """Does this pair need a vote that this person may give, whoever else has it open?"""
        return self._missing(id) > 0

    def free(self) -> Iterator[str]:
        """The pairs for this person, in their own order."""
        wanted = [id for id in self.pairs if self._missing(id) > (0 if self.pairs[id][1] else self.held[id])]
        yield from sorted(wanted, key=self._place)

    def free_at(self) -> float | None:
        """When the first pair that others hold, and this person could judge, comes free."""
        return min((until for pair, until in self.leases if self.wants(pair)), default=None)

    def progress(self) -> Progress:
        real = [id for id, (_, is_gold) in self.pairs.items() if not is_gold]
        decided = sum(tally(self.said[id], self.policy, self.adjudicators).decision != "needs_more" for id in real)
        done = sum(any(who == self.label for who, _ in said) for said in self.said.values())
        return Progress(done, sum(map(self.wants, self.pairs)), decided, len(real))

    def _missing(self, id: str) -> int:
        corrected_by, is_gold = self.pairs[id]
        is_author = corrected_by == self.label or (id, self.label) in self.offered
        if self.label and (is_author or any(who == self.label for who, _ in self.said[id])):
            return 0
        if is_gold:
            return int(not self.is_adjudicator)
        counted = tally(self.said[id], self.policy, self.adjudicators)
        return counted.missing if counted.by_adjudicator == self.is_adjudicator else 0

    def _place(self, id: str) -> bytes:
        return hashlib.sha256(f"{self.policy.seed}:{self.label}:{id}".encode()).digest()


def _lease(db: sqlite3.Connection, policy: Policy, label: str, pair: str, ticket: str, *, again: bool = False) -> None:
    since = time.time()
    until = since + 60 * policy.lease_minutes
    db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?)", (pair, label, ticket, since, until, again))


def _same(sent: Vote, said: Ballot, label: str) -> Vote:
    if (sent.reviewer, sent.pair, sent.accept, sent.reasons) != (label, said.pair, said.accept, tuple(said.reasons)):
        raise BallotError("You have judged this pair already, in another window; press u to change your vote.")
    return sent


def _not_too_fast(db: sqlite3.Connection, label: str) -> None:
    since = datetime.fromtimestamp(time.time() - 60, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    recent = db.execute("SELECT count(*) FROM votes WHERE reviewer = ? AND at > ?", (label, since)).fetchone()[0]
    if recent >= VOTES_A_MINUTE:
        raise BallotError(f"That were {VOTES_A_MINUTE} votes in a minute; a pair takes longer to read. Wait a moment.")


def _is_among(name: str, names: Sequence[str]) -> bool:
    return name in {clean_name(n) for n in names}


def _number(vote: Vote) -> int:
    return vote.number

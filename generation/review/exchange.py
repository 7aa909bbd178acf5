"""Votes out of a review and into one: what every format carries, and the import that takes all of a file or nothing.

JSON Lines are the whole review: one line a pair, with its row, its votes and, for gold pairs, their known verdict, so
keep that file from reviewers. Spreadsheets (`sheet`) and Label Studio (`label_studio`) are for people to fill in: there
nothing tells a gold pair from another. A vote that was exported, or imported before, is known by its `vote_id`.
"""

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from generation.errors import BallotError, InputError, UsageError
from generation.records import PROBLEM_CODES
from generation.review import intake
from generation.review.ballots import Policy, Vote
from generation.review.corrections import Correction, corrected
from generation.review.desk import Ballot, admit, check
from generation.review.guidelines import REASONS
from generation.review.store import Pair, Store, label_of, names_of, now, pairs_of, put_pair, put_vote, votes_of

MAX_SECONDS = 86_400.0
PARTS = ("question", "answer", "required_sentence_indices", "coreferences")
_YES, _NO = ("accept", "accepted"), ("reject", "rejected")
_REASON_WORDS = {
    word.casefold(): code for i, (code, (name, _)) in enumerate(REASONS.items(), 1) for word in (code, name, str(i))
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A vote as it travels, as it was read: `where` names its place in the file. Checked when it is taken in."""

    where: str
    pair_id: str
    reviewer: str
    decision: str
    reasons: Sequence[str] = ()
    note: str = ""
    correction: Correction | None = None
    seconds: float | None = None
    at: str = ""
    vote_id: str = ""


class Leaving(NamedTuple):
    """A pair with its votes, each with its reviewer's name or pseudonym and what it would correct."""

    pair: Pair
    votes: list[tuple[Vote, str, Correction | None]]


class Imported(NamedTuple):
    """How many votes were added, how many were there already, how many corrected pairs and pairs came with them."""

    added: int
    known: int
    corrections: int
    pairs: int


def leaving(store: Store, *, names: bool = False) -> list[Leaving]:
    """All pairs with all their votes, in order; people by pseudonym ("person:..."), or by the `names` they gave."""
    with store.reading() as db:
        pairs, votes = pairs_of(db), votes_of(db)
        known = names_of(db)
    by_id = {pair.id: pair for pair in pairs}
    found = {pair.id: Leaving(pair, []) for pair in pairs}
    for vote in votes:
        who = known[vote.reviewer] if names else vote.reviewer
        correction = difference(by_id[vote.pair], by_id[vote.correction]) if vote.correction else None
        found[vote.pair].votes.append((vote, who, correction))
    return list(found.values())


def difference(pair: Pair, child: Pair) -> Correction:
    """What `child` has otherwise than `pair`."""
    return Correction(**{p: child.row[p] if child.row[p] != pair.row[p] else None for p in PARTS})


def write_jsonl(leaving_: Sequence[Leaving]) -> str:
    """One line a pair: the row's columns, "pair_id", "parent", "gold" and "votes"."""
    lines = []
    for pair, votes in leaving_:
        said = [_vote_dict(vote, who, correction) for vote, who, correction in votes]
        about = {"pair_id": pair.id, "parent": pair.parent, "gold": pair.gold, "votes": said}
        lines.append(json.dumps({**pair.row, **about}, ensure_ascii=False) + "\n")
    return "".join(lines)


def read_jsonl(path: Path) -> tuple[list[Entry], list[Pair]]:
    """The votes of a file that `write_jsonl` has written, or that has at least "pair_id" and "votes"; and its pairs."""
    entries, pairs, errors = [], [], []
    for where, raw in intake.lines(path):
        try:
            id, votes = raw.get("pair_id") or raw.get("id"), raw.get("votes")
            if not isinstance(id, str) or not isinstance(votes, list):
                raise InputError('a line needs "pair_id" and a list of "votes".')
            entries += [_entry(f"{where}, vote {i}", id, vote) for i, vote in enumerate(votes, 1)]
            if "sentences" in raw and not raw.get("parent"):
                pairs.append(_pair(raw))
        except InputError as error:
            errors.append(f"{where}: {error}")
    _raise_all(errors)
    return entries, pairs


def _vote_dict(vote: Vote, who: str, correction: Correction | None) -> dict[str, Any]:
    changes = None if correction is None else {k: v for k, v in asdict(correction).items() if v is not None}
    return {
        "vote_id": vote.uid,
        "reviewer": who,
        "decision": "accept" if vote.accept else "reject",
        "reasons": list(vote.reasons),
        "note": vote.note,
        "correction": changes,
        "seconds": vote.seconds,
        "at": vote.at,
    }


def _entry(where: str, pair_id: str, vote: Any) -> Entry:
    if not isinstance(vote, dict):
        raise InputError("a vote must be an object.")
    fields = {
        name: vote[name]
        for name in ("reviewer", "decision", "reasons", "note", "seconds", "at", "vote_id")
        if vote.get(name) is not None
    }
    if missing := {"reviewer", "decision"} - set(fields):
        raise InputError(f'a vote lacks "{min(missing)}".')
    return Entry(where, pair_id, correction=read_correction(vote.get("correction")), **fields)


def read_correction(value: Any) -> Correction | None:
    """A correction from a JSON object with some of PARTS. Raises InputError for anything else."""
    if value is None:
        return None
    if not isinstance(value, dict) or not set(value) <= set(PARTS):
        raise InputError(f"a correction is an object with some of {', '.join(PARTS)}.")
    return Correction(**value)


def _pair(raw: Mapping[str, Any]) -> Pair:
    row = {k: v for k, v in raw.items() if k not in ("pair_id", "parent", "gold", "votes")}
    gold = raw.get("gold")
    if gold is None:
        row = intake.pair_row(row)
        return Pair(row["id"], row)
    if not isinstance(gold, dict):
        raise InputError('"gold" must be an object or null.')
    expected = {"expected": "accept" if gold.get("accept") else "reject", "expected_reasons": gold.get("reasons")}
    return intake.gold_pair({**row, **expected})


def take_in(store: Store, entries: Sequence[Entry], pairs: Sequence[Pair] = ()) -> Imported:
    """Add all votes, and the pairs they need, or nothing at all. Raises InputError naming what is wrong where."""
    policy = store.policy
    with store.reading() as db:
        known, names = {pair.id: pair for pair in pairs_of(db)}, names_of(db)
    new = {pair.id: pair for pair in pairs if pair.id not in known}
    plan = _Plan(policy, {**new, **known}, {name: label for label, name in names.items()})
    # A vote on a corrected pair is later than the one that made it; what has no time comes after what has, in order.
    for entry in sorted(entries, key=lambda e: e.at or "~"):
        plan.add(entry)
    _raise_all(plan.errors)
    with store.writing() as db:
        there = {pair.id for pair in pairs_of(db)}
        for pair in [*new.values(), *plan.children.values()]:
            if pair.id not in there:
                put_pair(db, replace(pair, corrected_by=label_of(db, pair.corrected_by) if pair.corrected_by else ""))
        added = sum([_put(db, vote, where) for vote, where in plan.votes])
        made = len(plan.children.keys() - there)
    return Imported(added, len(plan.votes) - added, made, len(new.keys() - there))


class _Plan:
    """Entries read against the pairs; errors are collected, so that one import tells all of them."""

    def __init__(self, policy: Policy, pairs: Mapping[str, Pair], labels: Mapping[str, str]) -> None:
        self.policy, self.pairs, self.labels = policy, dict(pairs), labels
        self.children: dict[str, Pair] = {}
        self.votes: list[tuple[Vote, str]] = []
        self.errors: list[str] = []

    def add(self, entry: Entry) -> None:
        try:
            self._add(entry)
        except (InputError, UsageError) as error:
            self.errors.append(f"{entry.where}: {error}")

    def _add(self, entry: Entry) -> None:
        pair = self.pairs.get(entry.pair_id)
        if pair is None:
            raise InputError(f"there is no pair {entry.pair_id} in this review; add it first with: craqan review add")
        who = _reviewer(entry.reviewer, self.policy)
        who = self.labels.get(who, who)
        if who == pair.corrected_by:
            raise BallotError("whoever corrected a pair does not vote on it; leave this vote to others.")
        ballot = check(
            Ballot(pair.id, "", _decision(entry.decision), _reasons(entry.reasons), _text(entry.note), entry.correction)
        )
        correction = ""
        if ballot.correction:
            child = corrected(pair, ballot.correction, who)
            correction = child.id if pair.gold is None else ""
            if correction and child.id not in self.pairs:
                self.pairs[child.id] = self.children[child.id] = child
        uid = _text(entry.vote_id)
        at, seconds = _moment(entry.at), _seconds(entry.seconds)
        vote = Vote(0, uid, pair.id, who, ballot.accept, tuple(ballot.reasons), ballot.note, seconds, at, correction)
        self.votes.append((vote, entry.where))


def _put(db: Any, vote: Vote, where: str) -> bool:
    """Add a vote by somebody's name or label; False if it is there already.

    One without an id is, if that person's last word on the pair is the same.
    """
    vote = replace(vote, reviewer=label_of(db, vote.reviewer))
    earlier = votes_of(db, uid=vote.uid) if vote.uid else votes_of(db, pair=vote.pair, reviewer=vote.reviewer)[-1:]
    is_same = bool(earlier) and _said(earlier[0]) == _said(vote)
    if earlier and vote.uid and not is_same:
        raise InputError(f"{where}: vote {vote.uid} is there already and says something else; nothing was imported.")
    if not is_same:
        put_vote(db, replace(vote, uid=vote.uid or secrets.token_hex(8), at=vote.at or now()))
    return not is_same


def _said(vote: Vote) -> tuple[Any, ...]:
    return vote.pair, vote.reviewer, vote.accept, vote.reasons, vote.note, vote.correction


def _reviewer(value: Any, policy: Policy) -> str:
    """A name as it is kept, or the label of somebody whose name was not told."""
    if not isinstance(value, str):
        raise InputError("the reviewer must be a text.")
    return value if value.startswith("person:") and value.isprintable() else admit(value, policy)


def _decision(value: Any) -> bool:
    word = str(value).strip().casefold()
    if word not in (*_YES, *_NO):
        raise BallotError(f'the decision is "accept" or "reject", not "{str(value)[:40]}".')
    return word in _YES


def _reasons(values: Any) -> list[str]:
    """Codes, their names, or their numbers from 1 to 9."""
    if not isinstance(values, (list, tuple)):
        raise BallotError("reasons must be a list.")
    codes = []
    for value in values:
        code = _REASON_WORDS.get(str(value).strip().casefold())
        if code is None:
            raise BallotError(f'"{str(value)[:40]}" is none of the nine reasons: {", ".join(PROBLEM_CODES)}.')
        codes.append(code)
    return codes


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BallotError("a note or vote_id must be a text.")
    return value


def _moment(value: Any) -> str:
    """UTC to the millisecond; "" stays."""
    if not value:
        return ""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise BallotError(f'"{str(value)[:40]}" is no time such as 2026-11-22T09:30:00Z.') from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError) as error:
        raise BallotError(f'"{str(value)[:40]}" is no number of seconds.') from error
    if not (math.isfinite(seconds) and 0 <= seconds <= MAX_SECONDS) or isinstance(value, bool):
        raise BallotError(f"seconds go from 0 to {MAX_SECONDS:,.0f}, not {value}.")
    return seconds


def _raise_all(errors: Sequence[str]) -> None:
    if errors:
        more = [f"… and {len(errors) - intake.SHOWN} more"] if len(errors) > intake.SHOWN else []
        raise InputError("\n".join([*errors[: intake.SHOWN], *more, "Nothing was imported; mend these and try again."]))

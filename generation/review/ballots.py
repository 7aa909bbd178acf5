"""What people say of a pair, and what follows from it: votes, the policy, and the decision that they make."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from generation.errors import UsageError
from generation.records import PROBLEM_CODES

PEOPLE = 2  # Grzywinski et al. 2023, section 3.2.4: each pair was read by at least two people
Final = Literal["accepted", "rejected", "needs_more"]
How = Literal["", "agreed", "third person", "adjudicator", "disagreement", "replaced"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How many people read a pair, and what happens where they disagree.

    `on_disagreement` "drop" rejects such a pair. "third" asks one more person, and further ones while they are tied;
    if `adjudicators` are named, one of them instead, whose word is final. Adjudicators, by the name that they sign in
    with, judge disagreements only. `reviewers`, if any are named, are the only others who may judge. `seed` orders the
    pairs for each person; a pair is kept for who has opened it for `lease_minutes`.
    """

    people: int = PEOPLE
    on_disagreement: Literal["third", "drop"] = "third"
    adjudicators: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    seed: int = 0
    lease_minutes: float = 30.0

    def __post_init__(self) -> None:
        if self.people < 1:
            raise UsageError(f"At least one person has to read a pair, not {self.people}.")
        if self.on_disagreement not in ("third", "drop"):
            raise UsageError(f'On disagreement takes "third" or "drop", not "{self.on_disagreement}".')
        if self.lease_minutes <= 0:
            raise UsageError("A pair has to be kept for its reader for more than 0 minutes.")
        if self.adjudicators and self.on_disagreement == "drop":
            raise UsageError('Adjudicators have nothing to do where disagreements are dropped; choose "third".')
        if both := set(self.adjudicators) & set(self.reviewers):
            raise UsageError(f"{min(both)} is named as reviewer and as adjudicator; adjudicators judge no other pairs.")


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's word on one pair. Votes are only ever added: of one person's votes on a pair the last one counts.

    `reviewer` is "person:<pseudonym>". `reasons` are PROBLEM_CODES, one or more if `accept` is False, else none.
    `seconds` is the time from opening the pair to this vote, None where it is not known. `at` is UTC, ISO 8601.
    `correction` is the id of the pair that this vote offers instead, or "".
    `number` orders all votes of a file; `uid` is the same wherever the vote is copied to.
    """

    number: int
    uid: str
    pair: str
    reviewer: str
    accept: bool
    reasons: tuple[str, ...]
    note: str
    seconds: float | None
    at: str
    correction: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What people's votes make of a pair.

    `how`: "agreed" (all said the same), "third person" (a majority after a disagreement), "adjudicator",
    "disagreement" (dropped), "replaced" (an accepted correction, `replaced_by`, took its place), "" while people are
    missing. `votes` are those that count, one a person, in the order given. `row` is the pair as it was put to people:
    the columns of "default" and what else its source had. A corrected pair has the pair that it corrects as `parent`
    and its author as `corrected_by` ("person:<pseudonym>"), who does not vote on it.
    """

    id: str
    decision: Final
    how: How
    votes: tuple[Vote, ...]
    row: Mapping[str, Any]
    parent: str = ""
    corrected_by: str = ""
    replaced_by: str = ""

    @property
    def adjudicated(self) -> bool:
        """Did people disagree at first, and others settle it?"""
        return self.how in ("third person", "adjudicator")

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Who voted, as in the column `reviewed_by`; their number is `human_reviews`."""
        return tuple(v.reviewer for v in self.votes)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The codes that rejecting votes gave, the most frequent first, then as in PROBLEM_CODES."""
        counts = Counter(code for v in self.votes for code in v.reasons)
        return tuple(sorted(counts, key=lambda code: (-counts[code], PROBLEM_CODES.index(code))))

    def provenance_votes(self) -> list[dict[str, Any]]:
        """The votes as the column `votes` of "provenance" has them; 0 seconds where the time is not known."""
        return [
            {
                "reviewer": v.reviewer,
                "is_quality": v.accept,
                "reason": v.note,
                "problems": list(v.reasons),
                "is_person": True,
                "seconds": v.seconds or 0.0,
            }
            for v in self.votes
        ]


class Count(NamedTuple):
    """The outcome of a count: `missing` people still have to vote, adjudicators if `by_adjudicator`."""

    decision: Final
    how: How
    missing: int = 0
    by_adjudicator: bool = False


def last_votes(votes: Sequence[Vote]) -> tuple[Vote, ...]:
    """The votes that count: the last one of each person, in order."""
    latest = {v.reviewer: v for v in sorted(votes, key=lambda v: v.number)}
    return tuple(sorted(latest.values(), key=lambda v: v.number))


def count(votes: Sequence[Vote], policy: Policy, adjudicators: Collection[str] = ()) -> Count:
    """What `votes`, all on one pair, decide under `policy`; `adjudicators` are the labels of the people it names."""
    return tally([(v.reviewer, v.accept) for v in last_votes(votes)], policy, adjudicators)


def tally(said: Sequence[tuple[str, bool]], policy: Policy, adjudicators: Collection[str] = ()) -> Count:
    """As `count`, of each person's label and last word."""
    readers = [accept for who, accept in said if who not in adjudicators]
    rulings = [accept for who, accept in said if who in adjudicators]
    if len(readers) < policy.people:
        return Count("needs_more", "", policy.people - len(readers))
    if len(set(readers)) == 1:
        return Count(_final(readers[0]), "agreed")
    if policy.on_disagreement == "drop":
        return Count("rejected", "disagreement")
    if policy.adjudicators:
        return _majority(rulings, "adjudicator", is_enough=bool(rulings))
    return _majority(readers, "third person", is_enough=len(readers) > policy.people)


def _majority(said: Sequence[bool], how: How, *, is_enough: bool) -> Count:
    yes = sum(said)
    if not is_enough or 2 * yes == len(said):
        return Count("needs_more", "", 1, how == "adjudicator")
    return Count(_final(2 * yes > len(said)), how)


def _final(accept: bool) -> Final:
    return "accepted" if accept else "rejected"

"""Review by people: the pairs that they read, their votes, and what these decide.

    from generation import human

    for d in human.decisions("review.sqlite"):
        print(d.id, d.decision, d.how, d.reasons, d.reviewers)

A review is one SQLite file, made by `craqan review start` and filled by the page's Review tab or by imports. Every pair
is read by at least two people who do not see each other's votes. Source: Grzywinski et al. 2023, section 3.2.4.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from generation.review.ballots import Count, Decision, Policy, Vote, count, last_votes
from generation.review.store import Pair, Store, names_of, pairs_of, votes_of

__all__ = ["Count", "Decision", "Policy", "Vote", "count", "decisions", "last_votes", "policy"]


def decisions(path: Path | str, policy: Policy | None = None) -> list[Decision]:
    """What people have decided of each pair of a review file, in the order in which the pairs were added.

    Every pair that was put to people is there, decided or not, corrected ones (which no other file holds) too; hidden
    gold pairs are not. Of a pair and its corrections at most one is accepted: the accepted correction that was added
    last, the others being rejected as "replaced". `policy` is asked instead of the file's own, if given.
    Raises ReviewError if the file is none.
    """
    store = Store(path)
    rules = policy or store.policy
    with store.reading() as db:
        pairs, votes, names = pairs_of(db), votes_of(db), names_of(db)
    adjudicators = {label for label, name in names.items() if name in rules.adjudicators}
    by_pair: dict[str, list[Vote]] = {pair.id: [] for pair in pairs}
    for vote in votes:
        by_pair[vote.pair].append(vote)
    made = [_decision(pair, by_pair[pair.id], rules, adjudicators) for pair in pairs if pair.gold is None]
    return _one_of_each_family(made)


def policy(path: Path | str) -> Policy:
    """The policy that a review file was started with. Raises ReviewError if the file is none."""
    return Store(path).policy


def _decision(pair: Pair, votes: Sequence[Vote], rules: Policy, adjudicators: set[str]) -> Decision:
    counted = count(votes, rules, adjudicators)
    valid = last_votes(votes)
    return Decision(pair.id, counted.decision, counted.how, valid, pair.row, pair.parent, pair.corrected_by)


def _one_of_each_family(made: Sequence[Decision]) -> list[Decision]:
    parents = {d.id: d.parent for d in made}

    def root(id: str) -> str:
        return root(parents[id]) if parents[id] else id

    chosen = {root(d.id): d.id for d in made if d.decision == "accepted"}  # the last one stays
    return [_replaced(d, chosen[root(d.id)]) if d.decision == "accepted" else d for d in made]


def _replaced(decision: Decision, chosen: str) -> Decision:
    if decision.id == chosen:
        return decision
    return replace(decision, decision="rejected", how="replaced", replaced_by=chosen)

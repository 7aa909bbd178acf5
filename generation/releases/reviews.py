"""What people decided on pairs -> the pool of a release: labels, votes, corrections, and what they turned down."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from generation import human
from generation.dataset import Row
from generation.errors import InputError
from generation.human import Decision
from generation.records import candidate_from_dict
from generation.releases.gates import REPLACED
from generation.releases.pool import Pool

_PAIR = ("question", "answer", "required_sentence_indices", "coreferences")
_CHECKED = {"reviewer": "checks", "is_quality": True, "reason": "", "problems": []}
"""No correction enters a review that the checks turn down."""


def apply(pool: Pool, path: Path) -> None:
    """Carry the decisions of a review file into `pool`; the same file again changes nothing.

    Accepted pairs say who read them, by pseudonym; rejected ones move to the rejected, with the votes; of a pair on
    which people are missing nothing is said, so that it counts as unread. An accepted correction takes the place of
    the pair that it corrects, under the same id if only coreferences differ. Raises InputError for a pair that no input
    holds.
    """
    decisions = human.decisions(path)
    for family in _families(decisions).values():
        root = family[0]
        standing = next((d for d in family if d.decision == "accepted"), None)
        if not _has(pool, root.id) and not (standing and _has(pool, _id(standing))):
            raise InputError(f"{path} holds the pair {root.id}, which no input has: give its run or folder too.")
        for decision in _settled(family, standing):
            _settle(pool, decision, family, standing)


def _families(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    """{id of a first pair: it and all that corrects it}, what is corrected before its correction."""
    first: dict[str, str] = {}
    families: dict[str, list[Decision]] = {}
    for decision in decisions:
        first[decision.id] = first[decision.parent] if decision.parent else decision.id
        families.setdefault(first[decision.id], []).append(decision)
    return families


def _settled(family: Sequence[Decision], standing: Decision | None) -> list[Decision]:
    """The decision for each content of a family; corrections of coreferences share an id, and so one place.

    What was replaced comes last: its correction's history begins with its own.
    """
    last: dict[str, Decision] = {}
    for decision in family:
        if decision.decision == "rejected" and not (decision.parent and _is_open(last.get(_id(decision)))):
            last[_id(decision)] = decision
        else:
            last.setdefault(_id(decision), decision)
    if standing:
        last[_id(standing)] = standing
    made = [decision for decision in last.values() if decision.decision != "needs_more"]
    return sorted(made, key=lambda decision: decision.how == "replaced")


def _is_open(decision: Decision | None) -> bool:
    return decision is not None and decision.decision == "needs_more"


def _settle(pool: Pool, decision: Decision, family: Sequence[Decision], standing: Decision | None) -> None:
    id = _id(decision)
    if decision.how == "replaced" and standing:
        pool.replace(id, _id(standing), f"{REPLACED}{_id(standing)}, a correction of it")
        return
    if decision.parent:
        _put_correction(pool, decision, family)
    if id not in pool.pairs:
        return  # turned down already
    pool.histories[id] = {**pool.histories[id], "votes": decision.provenance_votes()}
    if decision.decision == "accepted":
        others = [r for r in pool.pairs[id]["reviewed_by"] if not r.startswith("person:")]
        read = {"reviewed_by": [*others, *decision.reviewers], "human_reviews": len(decision.reviewers)}
        pool.pairs[id] = {**pool.pairs[id], **read}
    else:
        against = [v for v in decision.votes if not v.accept]
        reason = "\n".join(f"{v.reviewer}: {v.note or ', '.join(v.reasons)}" for v in against)
        pool.reject(id, [v.reviewer for v in against], decision.reasons, reason)


def _put_correction(pool: Pool, decision: Decision, family: Sequence[Decision]) -> None:
    """Add the corrected pair: each text of its history is a round, what people said of an earlier one its verdicts."""
    chain = _chain(decision, family)
    root, id = chain[0], _id(decision)
    if root.id not in pool.histories:
        return  # in the last release already, and what it corrects is gone
    history = pool.histories[root.id]
    rounds = _until(history["rounds"], root.row)
    for earlier, later in zip(chain, chain[1:], strict=False):
        rounds[-1] = {**rounds[-1], "verdicts": [*_not_by_people(rounds[-1]["verdicts"]), *_verdicts(earlier)]}
        rounds.append({"index": len(rounds), **_pair(later.row), "verdicts": [_CHECKED]})
    pool.rejected.pop(id, None)
    pool.pairs[id] = {name: decision.row[name] for name in _columns()}
    pool.histories[id] = {**history, "id": id, "rounds": rounds, "votes": []}


def _chain(decision: Decision, family: Sequence[Decision]) -> list[Decision]:
    """From the first pair to `decision`, each correcting the one before it."""
    by_id = {d.id: d for d in family}
    chain = [decision]
    while chain[0].parent:
        chain.insert(0, by_id[chain[0].parent])
    return chain


def _until(rounds: Sequence[Row], row: Mapping[str, object]) -> list[Row]:
    """The rounds up to the one on `row`: later ones are of corrections that an earlier release had already."""
    places = [n for n, made in enumerate(rounds) if {name: made[name] for name in _PAIR} == _pair(row)]
    return [*rounds[: places[-1] + 1]] if places else [*rounds]


def _pair(row: Mapping[str, object]) -> Row:
    pair = asdict(candidate_from_dict(row))
    lists = {name: list(pair[name]) for name in ("required_sentence_indices", "coreferences")}
    return {name: {**pair, **lists}[name] for name in _PAIR}


def _verdicts(decision: Decision) -> list[Row]:
    return [{name: vote[name] for name in _CHECKED} for vote in decision.provenance_votes()]


def _not_by_people(verdicts: Iterable[Row]) -> list[Row]:
    return [verdict for verdict in verdicts if not verdict["reviewer"].startswith("person:")]


def _has(pool: Pool, id: str) -> bool:
    return id in pool.pairs or id in pool.rejected


def _id(decision: Decision) -> str:
    """The pair's content hash, which a correction of nothing but coreferences shares with what it corrects."""
    return str(decision.row["id"])


def _columns() -> list[str]:
    import craqan

    return list(craqan.FEATURES["default"])

"""What people decided on pairs -> the pool of a release: labels, votes, corrections, and what they turned down."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from generation import human
from generation.dataset import Row
from generation.errors import InputError
from generation.human import Decision
from generation.records import Round, candidate_from_dict
from generation.releases.gates import REPLACED
from generation.releases.pool import Pool


def apply(pool: Pool, path: Path) -> None:
    """Carry the decisions of a review file into `pool`.

    Accepted pairs say who read them; rejected ones move to the rejected; of a pair on which people are missing nothing
    is said, so that it counts as unread. Raises InputError for a pair that no input holds.
    """
    decisions = human.decisions(path)
    for decision in decisions:  # a correction comes after what it corrects
        if decision.parent and decision.decision == "accepted":
            _add_correction(pool, decision)
    for decision in decisions:
        known = decision.id in pool.pairs or decision.id in pool.rejected
        if not known and not decision.parent:
            raise InputError(f"{path} holds the pair {decision.id}, which no input has: give its run or folder too.")
        if decision.id in pool.pairs and decision.decision != "needs_more":
            _vote(pool, decision, decisions)


def _vote(pool: Pool, decision: Decision, all_of_them: Iterable[Decision]) -> None:
    history = pool.histories[decision.id]
    pool.histories[decision.id] = {**history, "votes": decision.provenance_votes()}
    if decision.decision == "accepted":
        row = pool.pairs[decision.id]
        others = [r for r in row["reviewed_by"] if not r.startswith("person:")]
        pool.pairs[decision.id] = {
            **row,
            "reviewed_by": [*others, *decision.reviewers],
            "human_reviews": len(decision.reviewers),
        }
        return
    better = next((d for d in all_of_them if d.id == decision.replaced_by), None)
    against = [v.reviewer for v in decision.votes if not v.accept]
    if better:
        pool.reject(decision.id, [better.corrected_by], decision.reasons, f"{REPLACED}{better.id}, a correction of it")
    else:
        notes = [f"{v.reviewer}: {v.note or ', '.join(v.reasons)}" for v in decision.votes if not v.accept]
        pool.reject(decision.id, against, decision.reasons, "\n".join(notes))


def _add_correction(pool: Pool, decision: Decision) -> None:
    """A corrected pair comes after the last round of the pair that it corrects."""
    parent = pool.histories.get(decision.parent)
    if parent is None:
        raise InputError(f"The corrected pair {decision.id} has no earlier one among the inputs: give its run as well.")
    row = {name: decision.row[name] for name in _columns()}
    candidate = candidate_from_dict(row)
    last = Round(len(parent["rounds"]), candidate)
    pool.pairs[decision.id] = row
    pool.histories[decision.id] = {
        **parent,
        "id": decision.id,
        "generator": row["generator"],
        "rounds": [*parent["rounds"], _round(last)],
        "votes": [],
    }


def _round(last: Round) -> Row:
    pair = asdict(replace(last).candidate)
    kept = {k: pair[k] for k in ("question", "answer", "required_sentence_indices", "coreferences")}
    kept["required_sentence_indices"] = list(kept["required_sentence_indices"])
    kept["coreferences"] = list(kept["coreferences"])
    return {"index": last.index, **kept, "verdicts": []}


def _columns() -> list[str]:
    import craqan

    return list(craqan.FEATURES["default"])

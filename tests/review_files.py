"""Small reviews for tests: pairs of our own making, votes by script."""

import json
from pathlib import Path

from generation import human
from generation.dataset import row_from
from generation.human import Policy
from generation.review import desk
from generation.review.desk import Ballot
from generation.review.store import Store
from tests.helpers import candidate_of, section_of

ACTS = ["Harbor", "River", "Bridge", "Tunnel", "Canal", "Dock", "Pier", "Beacon"]


def pair_rows(count: int = 4) -> list[dict]:
    """Rows of "default", each on an act of its own, that pass all checks."""
    rows = []
    for name in ACTS[:count]:
        law = f"The {name} Safety Act"
        section = section_of(
            f"{law} was passed in 1974.",
            "Senator Mary Cole wrote most of the bill.",
            "It requires every ferry to carry two rafts.",
            "She had lost a brother at sea.",
            id=f"{name.lower()}/0",
        )
        candidate = candidate_of(f"What does the {name} Safety Act require every ferry to carry?")
        (link,) = candidate.coreferences
        span = {"sentence_index": 0, "start": 0, "end": len(law), "text": law}
        row = row_from(section, candidate, generator="rules:1", reviewed_by=["checks"])
        row["coreferences"] = [{**row["coreferences"][0], "antecedent": span}]
        row["derivation"] = []
        rows.append(row)
    return rows


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def start(folder: Path, policy: Policy | None = None, count: int = 4, gold: list[dict] | None = None) -> Store:
    """A review in `folder` of so many pairs."""
    known = write_rows(folder / "gold.jsonl", gold) if gold else None
    pairs = write_rows(folder / "pairs.jsonl", pair_rows(count))
    human.start(folder / "review.sqlite", [pairs], policy or Policy(), gold=known)
    return Store(folder / "review.sqlite")


def judge(store: Store, name: str, accept=True, **said):
    """`name` takes the next pair and votes on it; returns the pair's id, or None if there was none.

    `accept` may be a function of the pair.
    """
    served = desk.next_pair(store, name)
    if served.pair is None:
        return None
    accept = accept(served.pair) if callable(accept) else accept
    said.setdefault("reasons", () if accept else ("incomplete_answer",))
    desk.send(store, name, Ballot(served.pair.id, served.ticket, accept, **said))
    return served.pair.id


def judge_all(store: Store, name: str, accept=True, **said) -> list[str]:
    return list(iter(lambda: judge(store, name, accept, **said), None))

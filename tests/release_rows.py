"""Rows of a release, changed or added, and what the gates are asked about them."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generation import dataset, release
from generation.records import Candidate, pair_id
from generation.releases.changes import Version
from generation.releases.gates import Proposal

Tables = dict[str, dict[str, list[dict[str, Any]]]]


def with_row(data: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """`data` with a row of its first split added once more in a changed form, its history following."""
    tables = copy.deepcopy(dataset.rows_of(data))
    split = next(iter(tables["default"]))
    row = copy.deepcopy(tables["default"][split][0])
    old = row["id"]
    change(row)
    row["id"] = _id(row)
    history = copy.deepcopy(next(h for h in tables["provenance"][split] if h["id"] == old))
    for name in ("question", "answer", "required_sentence_indices", "coreferences"):
        history["rounds"][-1][name] = row[name]
    history["id"] = row["id"]
    tables["default"][split].append(row)
    tables["provenance"][split].append(history)
    tables.pop("v1")
    dataset.write_tables(tables, folder)
    return folder


def _id(row: dict[str, Any]) -> str:
    candidate = Candidate(row["question"], row["answer"], tuple(row["required_sentence_indices"]))
    return pair_id([s["text"] for s in row["sentences"]], candidate)


def other_question(row: dict[str, Any]) -> None:
    row["question"] = "Whose doing does the passage tell of here, all things considered together?"


def proposal(data: Path, **more: Any) -> Proposal:
    pool = release.gather([data], None, [], {})
    given = {"policy": "labelled", "licence": "cc-by-4.0", "recipes": pool.recipes, "tables": release.tables_of(pool)}
    return Proposal(version=Version(1, 1, 0), **{**given, **more})


def rows_of(proposed: Proposal, config: str = "default") -> list[dict[str, Any]]:
    return [row for rows in proposed.tables[config].values() for row in rows]


def move_first(tables: Tables, config: str) -> None:
    """The first row goes to another split."""
    origin, target = (s for s in list(tables[config])[:2])
    tables[config][target].append(tables[config][origin].pop(0))

"""From one release to the next: what was added, changed and withdrawn, and the version that follows from it."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from generation.dataset import Row
from generation.errors import UsageError


class Version(NamedTuple):
    """Semantic version of a dataset.

    Major: columns or configs are gone or changed, or a pair changed its split. Minor: pairs were added or withdrawn.
    Patch: pairs were corrected, or only the texts around them changed.
    """

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return ".".join(map(str, self))


class Changes(NamedTuple):
    """Ids of pairs; `changed` names the columns, `withdrawn` the reason ("" where none is known)."""

    added: list[str]
    changed: dict[str, list[str]]
    withdrawn: dict[str, str]
    moved: list[str]
    columns: list[str]


def parse(text: str) -> Version:
    """Read "1.1.0" or "v1.1.0". Raises UsageError for anything else."""
    match = re.fullmatch(r"v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})", text)
    if not match:
        raise UsageError(f'A version is three numbers such as "1.1.0", not "{text}".')
    return Version(*map(int, match.groups()))


def compare(
    before: Mapping[str, Mapping[str, Row]],
    now: Mapping[str, Mapping[str, Row]],
    reasons: Mapping[str, str],
) -> Changes:
    """Compare {split: {id: row}} of the pairs of two releases by their ids; `reasons` are those of rejected pairs."""
    old, new = _flat(before), _flat(now)
    both = [id for id in old if id in new]
    changed = {id: _differing(old[id][1], new[id][1]) for id in both}
    columns = {name for _, row in old.values() for name in row} ^ {name for _, row in new.values() for name in row}
    return Changes(
        added=[id for id in new if id not in old],
        changed={id: names for id, names in changed.items() if names},
        withdrawn={id: reasons.get(id, "") for id in old if id not in new},
        moved=[id for id in both if old[id][0] != new[id][0]],
        columns=sorted(columns) if old and new else [],
    )


def least(before: Version, changes: Changes) -> Version:
    """The lowest version that may follow `before`; below 1.0.0 any higher one may."""
    if before.major == 0:
        return before._replace(patch=before.patch + 1)
    if changes.moved or changes.columns:
        return Version(before.major + 1, 0, 0)
    if changes.added or changes.withdrawn:
        return Version(before.major, before.minor + 1, 0)
    return before._replace(patch=before.patch + 1)


def describe(version: Version, date: str, changes: Changes | None, count: int, reference: Mapping[str, Row]) -> str:
    """The entry of CHANGELOG.md; `reference` gives the questions of ids."""
    lines = [f"## {version} ({date})", ""]
    if changes is None:
        return "\n".join([*lines, f"First release: {count} pairs.", ""])
    added, changed, withdrawn = (len(part) for part in (changes.added, changes.changed, changes.withdrawn))
    lines += [f"{count} pairs: {added} added, {changed} changed, {withdrawn} withdrawn."]
    lines += _list("Added", [f"`{id}` {_question(id, reference)}" for id in changes.added])
    lines += _list("Changed", [f"`{id}`: {', '.join(names)}" for id, names in changes.changed.items()])
    reasons = {id: " ".join(reason.split()) or "no reason given" for id, reason in changes.withdrawn.items()}
    lines += _list("Withdrawn", [f"`{id}`: {reason}" for id, reason in reasons.items()])
    lines += _list("Moved to another split", [f"`{id}`" for id in changes.moved])
    lines += _list("Columns that came or went", [f"`{name}`" for name in changes.columns])
    return "\n".join([*lines, ""])


def _list(title: str, items: list[str]) -> list[str]:
    return ["", f"### {title}", "", *(f"- {item}" for item in items)] if items else []


def _question(id: str, reference: Mapping[str, Row]) -> str:
    return " ".join(reference[id]["question"].split()) if id in reference else ""


def _flat(splits: Mapping[str, Mapping[str, Row]]) -> dict[str, tuple[str, Row]]:
    return {id: (split, row) for split, rows in splits.items() for id, row in rows.items()}


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [name for name in new if name in old and old[name] != new[name]]

"""From one release to the next: what was added, changed and withdrawn, and which version that asks for."""

import copy
import re
from pathlib import Path

import pytest

from generation import dataset, release
from generation.errors import GateError, UsageError
from generation.releases import changes, files, gates
from generation.releases.changes import Version
from tests.release_rows import move_first, other_question, proposal, rows_of, with_row

pytestmark = pytest.mark.usefixtures("without_pictures")


def test_the_next_release_says_what_was_added_changed_and_withdrawn_and_keeps_the_old_one(
    data: Path, first: Path, tmp_path: Path
) -> None:
    old = files.listed(first)
    grown = with_row(data, tmp_path / "grown", other_question)
    tables = dataset.rows_of(grown)
    changed = tables["default"]["train"][-1]
    changed["derivation"] = []
    dataset.write_tables(tables, grown)
    gone = tables["default"]["validation"][0]["id"]
    made = release.make(
        grown,
        "1.1.0",
        tmp_path / "out",
        previous=first,
        withdraw={gone: "the law was misread"},
        allow=["splits"],  # nothing else is in validation
    )
    assert made.changes is not None
    assert len(made.changes.added) == 1
    assert made.changes.changed == ({changed["id"]: ["derivation"]} if changed["id"] not in made.changes.added else {})
    assert made.changes.withdrawn == {gone: "withdrawn: the law was misread"}
    log = (tmp_path / "out" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert log.index("## 1.1.0") < log.index(f"`{gone}`: withdrawn: the law was misread") < log.index("## 1.0.0")
    rejected = [r for rows in dataset.rows_of(tmp_path / "out" / "data")["rejected"].values() for r in rows]
    assert gone in {row["id"] for row in rejected}
    assert files.listed(first) == old
    assert release.check(tmp_path / "out", previous=first)


def test_what_the_last_release_held_is_kept_though_no_input_has_it(data: Path, first: Path, tmp_path: Path) -> None:
    grown = with_row(data, tmp_path / "grown", other_question)
    tables = dataset.rows_of(grown)
    split = next(iter(tables["default"]))
    article = tables["default"][split][-1]["article_id"]
    only = {c: {split: [r for r in t.get(split, []) if r.get("article_id") == article]} for c, t in tables.items()}
    ids = {r["id"] for config in ("default", "rejected") for r in only[config][split]}
    only["provenance"] = {split: [r for r in tables["provenance"][split] if r["id"] in ids]}
    dataset.write_tables(only, tmp_path / "only")
    made = release.make(tmp_path / "only", "1.1.0", tmp_path / "out", previous=first)
    assert made.changes is not None and len(made.changes.added) == 1 and not made.changes.withdrawn
    before = dataset.rows_of(first / "data")["default"]
    now = dataset.rows_of(tmp_path / "out" / "data")["default"]
    assert all(row in now[split] for split, rows in before.items() for row in rows)


@pytest.mark.parametrize(
    ("version", "fits"), [("1.0.0", False), ("1.0.1", False), ("0.9.0", False), ("1.1.0", True), ("2.0.0", True)]
)
def test_new_pairs_ask_for_a_minor_version(version: str, fits: bool, data: Path, first: Path, tmp_path: Path) -> None:
    grown = with_row(data, tmp_path / "grown", other_question)
    if fits:
        release.make(grown, version, tmp_path / "out", previous=first)
    else:
        with pytest.raises(GateError, match=r"version: .* must be 1\.1\.0 or higher"):
            release.make(grown, version, tmp_path / "out", previous=first)


def test_a_pair_that_left_its_split_is_stopped(data: Path, first: Path) -> None:
    last = release.read(first)
    proposed = proposal(data, previous=last.tables, previous_version=last.version)
    tables = copy.deepcopy(proposed.tables)
    move_first(tables, "random")
    found = gates.findings(proposal(data, tables=tables, previous=last.tables, previous_version=last.version))
    assert re.search(r"random: pair \w+ was in \w+ and is in", found["splits"][0])


def test_a_pair_gone_without_a_reason_is_stopped(data: Path) -> None:
    gone = changes.Changes([], {}, {"0" * 16: ""}, [], [])
    found = gates.findings(proposal(data, changes=gone, previous_version=Version(1, 0, 0), previous={}))
    assert found["withdrawn"] == [f"pair {'0' * 16} of the last release is gone, and nothing says why"]


def test_a_new_pair_that_nearly_repeats_a_withdrawn_one_is_stopped(data: Path) -> None:
    row = rows_of(proposal(data))[0]
    old = {"default": {"train": [{**row, "id": "0" * 16}]}}
    for reason, count in (("wrong", 1), ("replaced by it", 0)):
        made = changes.Changes([row["id"]], {}, {"0" * 16: reason}, [], [])
        found = gates.findings(proposal(data, changes=made, previous=old, previous_version=Version(1, 0, 0)))
        assert len(found.get("previous", [])) == count


@pytest.mark.parametrize("text", ["1", "1.0", "1.0.0-rc1", "v", "01.0.0", "1.0.0\n", "a.b.c", "1.٣.0"])
def test_a_version_is_three_numbers(text: str, data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="A version is three numbers"):
        release.make(data, text, tmp_path / "out")

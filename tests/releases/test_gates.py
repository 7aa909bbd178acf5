"""What stops a release: each gate, with what breaks it, licences, and exceptions by name."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation import dataset, release
from generation.errors import GateError, UsageError
from generation.releases import gates, licences
from tests.release_rows import Tables, move_first, proposal, rows_of, with_row

pytestmark = pytest.mark.usefixtures("without_pictures")


def repeat_elsewhere(tables: Tables) -> None:
    """The passage of a row stands in the articles of another split, too, with two words changed."""
    (one, other) = (tables["default"][split][0] for split in ("train", "test"))
    other.update(section_text=one["section_text"].replace("the", "that", 2), sentences=one["sentences"])


def share_evidence(tables: Tables) -> None:
    one, other = (tables["default"][split][0] for split in ("train", "test"))
    sentence = one["sentences"][one["required_sentence_indices"][0]]["text"]
    other["sentences"][other["required_sentence_indices"][0]]["text"] = sentence.upper()


def one_row(**values: Any) -> Callable[[Tables], None]:
    return lambda tables: next(iter(tables["default"].values()))[0].update(values)


def first_of(config: str, **values: Any) -> Callable[[Tables], None]:
    return lambda tables: next(iter(tables[config].values()))[0].update(values)


def reworded(tables: Tables) -> None:
    rows = next(iter(tables["default"].values()))
    question = rows[0]["question"]
    rows.append({**rows[0], "id": "0" * 16, "question": f"{question[:-1]} then?"})


def repeated(tables: Tables) -> None:
    rows = next(iter(tables["default"].values()))
    rows.append({**rows[0], "id": "0" * 16, "question": rows[0]["question"].upper()})


def unvoted(tables: Tables) -> None:
    row = next(iter(tables["default"].values()))[0]
    row.update(reviewed_by=[*row["reviewed_by"], "person:ida"], human_reviews=1)


GATE_BREAKS: dict[str, tuple[str, Callable[[Tables], None], str]] = {
    "column gone": ("schema", lambda t: next(iter(t["default"].values()))[0].pop("domain"), '"domain" is missing'),
    "offset": ("rows", lambda t: next(iter(t["default"].values()))[0]["sentences"][0].update(start=1), "sentence 0"),
    "id": ("rows", one_row(id="0" * 16), "its id is not the hash"),
    "no history": ("tables", lambda t: t.update(provenance={}), "has no provenance"),
    "said twice": ("duplicates", repeated, "repeats question and answer"),
    "said nearly twice": ("duplicates", reworded, "nearly repeats"),
    "article in two splits": ("leakage", lambda t: move_first(t, "default"), "default: article_id"),
    "passage in two splits": ("leakage", repeat_elsewhere, "share a passage or evidence"),
    "evidence in two splits": ("leakage", share_evidence, "share a passage or evidence"),
    "empty split": ("splits", lambda t: t["default"].pop("test"), "the split test is empty"),
    "vote not kept": ("review", unvoted, "no vote of theirs is kept"),
    "licence unknown": ("licences", first_of("articles", license="all mine"), "is not known"),
    "share alike": ("licences", first_of("articles", license="CC BY-SA 4.0"), "only under cc-by-sa-4.0"),
    "wikipedia": ("licences", first_of("articles", url="https://en.wikipedia.org/wiki/A"), "which is under CC BY-SA"),
    "no recipe": ("recipes", first_of("provenance", recipe=""), "does not say by which recipe"),
    "recipe unknown": ("recipes", first_of("provenance", recipe="abc"), "of which nothing is known"),
}


def test_rows_in_order_pass_every_gate(data: Path) -> None:
    assert gates.findings(proposal(data)) == {}


@pytest.mark.parametrize("broken", GATE_BREAKS)
def test_each_gate_finds_what_breaks_it(broken: str, data: Path) -> None:
    gate, change, message = GATE_BREAKS[broken]
    proposed = proposal(data)
    tables = copy.deepcopy(proposed.tables)
    change(tables)
    found = gates.findings(proposal(data, tables=tables))
    assert any(message in finding for finding in found[gate]), found


def test_the_policy_gate_asks_for_people(data: Path) -> None:
    found = gates.findings(proposal(data, policy="reviewed:2"))
    assert len(found["review"]) == 4 and "was accepted by 0 people, not 2" in found["review"][0]


@pytest.mark.parametrize("policy", ["people", "reviewed:0", "reviewed:x", "labelled:2", ""])
def test_a_policy_that_is_none_is_a_wrong_call(policy: str, data: Path) -> None:
    with pytest.raises(UsageError, match="A policy is"):
        gates.people_needed(policy)


def test_the_licence_gate_refuses_mit_for_wikipedias_text(data: Path, tmp_path: Path) -> None:
    tables = dataset.rows_of(data)
    for row in (row for rows in tables["articles"].values() for row in rows):
        row.update(url="https://en.wikipedia.org/wiki/X", license="CC BY-SA 4.0")
    dataset.write_tables(tables, tmp_path / "data")
    for stated in ("mit", "cc-by-4.0"):
        with pytest.raises(GateError, match="may not be given out under"):
            release.make(tmp_path / "data", "1.0.0", tmp_path / "out", licence=stated)
    release.make(tmp_path / "data", "1.0.0", tmp_path / "out", licence="cc-by-sa-4.0")
    assert "license: cc-by-sa-4.0" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


LICENCES = {
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC-BY-SA-3.0": "cc-by-sa-3.0",
    "https://creativecommons.org/licenses/by-sa/4.0/": "cc-by-sa-4.0",
    "Creative Commons Attribution-ShareAlike 4.0 International": "cc-by-sa-4.0",
    "Creative Commons Attribution 4.0": "cc-by-4.0",
    "CC BY-NC-ND 4.0": "cc-by-nc-nd-4.0",
    "cc0": "cc0-1.0",
    "Public domain": "public-domain",
    "MIT License": "mit",
    "Apache-2.0": "apache-2.0",
    "permitted use": "permitted use",
    "": "",
}


@pytest.mark.parametrize("written", LICENCES)
def test_licences_are_known_however_they_are_written(written: str) -> None:
    assert licences.name_of(written) == LICENCES[written]


def test_a_stopped_release_leaves_nothing_and_says_all(data: Path, tmp_path: Path) -> None:
    bad = with_row(data, tmp_path / "bad", lambda row: row.update(question=row["question"].upper()))
    with pytest.raises(GateError, match="duplicates: pair") as caught:
        release.make(bad, "1.0.0", tmp_path / "out")
    assert set(caught.value.findings) == {"duplicates"}
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "cache") == ["bad"]


def test_an_exception_by_name_is_written_in_the_card_and_the_manifest(data: Path, tmp_path: Path) -> None:
    bad = with_row(data, tmp_path / "bad", lambda row: row.update(question=row["question"].upper()))
    made = release.make(bad, "1.0.0", tmp_path / "out", allow=["duplicates"])
    assert [*made.allowed] == ["duplicates"]
    assert "Exception from the gate `duplicates`: pair" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert [*release.check(tmp_path / "out")] == ["duplicates"]


@pytest.mark.parametrize("name", ["schema", "rows", "tables", "everything"])
def test_there_is_no_exception_from_what_readers_rely_on(name: str, data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--allow takes one of duplicates"):
        release.make(data, "1.0.0", tmp_path / "out", allow=[name])


def test_pairs_of_the_first_craqan_are_not_given_out_as_new(data: Path, tmp_path: Path) -> None:
    old = rows_of(proposal(data))[0]
    found = gates.findings(proposal(data, original=[{**old, "id": "f" * 16}]))
    assert "of the original CRaQAn" in found["original"][0]

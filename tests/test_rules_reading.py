"""The readings of the embedded default: what readers said is merged by one command, and nothing unreadable is."""

import json

import pytest

from benchmarks import rules, rules_rounds, rules_texts
from generation.errors import UsageError

VERDICT = {"id": 1, "reader": "a", "is_quality": True, "problems": [], "is_grammatical": True, "reason": "Sound."}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "READING", tmp_path)
    rules.write_lines(tmp_path / "round3.jsonl", [json.dumps({"id": 1}), json.dumps({"id": 2})])
    return tmp_path


def write(folder, name, *rows):
    rules.write_lines(folder / name, map(json.dumps, rows))
    return folder / name


def test_two_readers_are_merged_and_the_last_word_of_each_counts(folder):
    first = write(folder, "a.jsonl", VERDICT, {**VERDICT, "id": 2})
    second = write(
        folder, "b.jsonl", {**VERDICT, "reader": "b"}, {**VERDICT, "is_quality": False, "problems": ["other"]}
    )
    assert rules_rounds.merge(3, [first, second]) == "round3_verdicts.jsonl holds 3 verdicts on 2 candidates."
    kept = rules.read_rows(folder / "round3_verdicts.jsonl")
    assert [(v["reader"], v["id"], v["is_quality"]) for v in kept] == [("a", 1, False), ("a", 2, True), ("b", 1, True)]


@pytest.mark.parametrize(
    ("number", "change", "word"),
    [
        (99, {}, "no round 99"),
        (3, {"id": 9}, "no candidate 9"),
        (3, {"problems": ["ugly"]}, "no problem code"),
    ],
)
def test_a_verdict_that_cannot_be_placed_is_refused_by_name(folder, number, change, word):
    file = write(folder, "a.jsonl", {**VERDICT, **change})
    with pytest.raises(UsageError, match=word):
        rules_rounds.merge(number, [file])
    assert not (folder / "round3_verdicts.jsonl").exists()


def test_labels_of_articles_kept_unread_come_from_the_third_reading_or_later():
    later = ("round 3", "author, round 4", "round 4", "round 5", "author, round 6", "wide")
    labelled = {r["article"] for r in rules.read_rows(rules.READING / "tuning.jsonl") if r["read"] not in later}
    assert rules_texts.FRESH and not labelled & rules_texts.FRESH
    assert {row["article"] for row in rules.read_rows(rules.READING / "round3.jsonl")} <= rules_texts.FRESH


def test_what_the_fourth_readers_read_was_labelled_by_nobody_before():
    before = [r for r in rules.read_rows(rules.READING / "tuning.jsonl") if r["read"] != "round 4"]
    labelled = {(r["article"], r["question"]) for r in before}
    offered = rules.read_rows(rules.READING / "round4.jsonl")
    assert offered and not labelled & {(row["article"], row["question"]) for row in offered}
    assert all(row["confidence"] >= rules_rounds.DEFAULTS[4] for row in offered)
    assert len({row["section_id"] for row in offered}) == len(offered)

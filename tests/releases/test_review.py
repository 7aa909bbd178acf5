"""`release --review`: what people decided reaches the rows, their votes the provenance, and their names nobody."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation import dataset, human, release
from generation.errors import GateError, InputError
from generation.human import Policy
from generation.releases import files
from generation.review.corrections import Correction
from generation.review.store import Pair, Store
from tests.dataset_files import ROOT
from tests.review_files import judge, judge_all, pair_rows, write_rows

pytestmark = pytest.mark.usefixtures("without_pictures")

Rows = dict[str, dict[str, Any]]
Says = Callable[[Pair], Any]


@pytest.fixture
def store(data: Path, tmp_path: Path) -> Store:
    """A review of the four pairs of `data`, nobody having voted."""
    human.start(tmp_path / "review.sqlite", [data])
    return Store(tmp_path / "review.sqlite")


def make(data: Path | list[Path], store: Store, out: Path, **options: Any) -> dict[str, Rows]:
    """The rows of a release, {config: {id: row}}; that a split is empty does not matter here."""
    options = {"version": "1.0.0", "allow": ["splits"], "review": store.path, **options}
    release.make(data, out=out, **options)
    return read(out)


def read(folder: Path) -> dict[str, Rows]:
    tables = dataset.rows_of(folder / "data")
    return {
        config: {row["id"]: row for rows in tables.get(config, {}).values() for row in rows}
        for config in ("default", "rejected", "provenance")
    }


def first(data: Path) -> dict[str, Any]:
    return dataset.rows_of(data)["default"]["train"][0]


def no(id: str) -> Says:
    """Accept all pairs but one."""
    return lambda pair: pair.id != id


def correct(store: Store, id: str, correction: Correction, name: str = "Ann", reason: str = "other") -> str:
    """`name` reads all, accepts all but the pair `id`, and corrects that; returns the corrected pair's key."""
    while (served := _next(store, name)) is not None:
        if served == id:
            judge(store, name, False, reasons=(reason,), note="see my correction", correction=correction)
        else:
            judge(store, name)
    return next(pair.id for pair in store.pairs() if pair.parent == id)


def _next(store: Store, name: str) -> str | None:
    from generation.review import desk

    pair = desk.next_pair(store, name).pair
    return pair.id if pair else None


def people(labels: list[str]) -> list[str]:
    return [label for label in labels if label.startswith("person:")]


def test_accepted_pairs_say_who_read_them_and_keep_the_votes(data: Path, store: Store, tmp_path: Path) -> None:
    for name in ("Ann", "Ben"):
        judge_all(store, name)
    made = make(data, store, tmp_path / "out", allow=[])
    assert len(made["default"]) == 4
    for id, row in made["default"].items():
        assert row["human_reviews"] == 2 and len(people(row["reviewed_by"])) == 2
        votes = made["provenance"][id]["votes"]
        assert [v["reviewer"] for v in votes] == people(row["reviewed_by"])
        assert all(v["is_person"] and v["is_quality"] for v in votes)
    assert files.read_manifest(tmp_path / "out")["policy"] == "reviewed"


def test_a_pair_that_people_reject_goes_to_the_rejected_with_their_reasons(
    data: Path, store: Store, tmp_path: Path
) -> None:
    bad = first(data)["id"]
    judge_all(store, "Ann", no(bad), note="no rafts")
    judge_all(store, "Ben", no(bad))
    made = make(data, store, tmp_path / "out")
    row = made["rejected"][bad]
    assert bad not in made["default"] and row["problems"] == ["incomplete_answer"]
    assert len(people(row["rejected_by"])) == 2
    (ann, ben) = row["rejected_by"]
    assert row["reason"] == f"{ann}: no rafts\n{ben}: incomplete_answer"
    votes = made["provenance"][bad]["votes"]
    assert [(v["reviewer"], v["is_quality"], v["reason"]) for v in votes] == [
        (ann, False, "no rafts"),
        (ben, False, ""),
    ]


@pytest.mark.parametrize("third", [True, False])
def test_of_a_disagreement_all_three_votes_are_kept(third: bool, data: Path, store: Store, tmp_path: Path) -> None:
    disputed = first(data)["id"]
    judge_all(store, "Ann")
    judge_all(store, "Ben", no(disputed))
    assert judge(store, "Eve", third) == disputed
    made = make(data, store, tmp_path / "out")
    assert (disputed in made["default"]) == third and (disputed in made["rejected"]) != third
    assert [v["is_quality"] for v in made["provenance"][disputed]["votes"]] == [True, False, third]
    if not third:
        assert len(made["rejected"][disputed]["rejected_by"]) == 2


def test_a_corrected_pair_takes_the_place_of_the_one_that_people_rejected(
    data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    new = correct(store, row["id"], Correction(question=f"Say: {row['question']}"), reason="ambiguous_question")
    judge_all(store, "Ben", no(row["id"]))
    judge_all(store, "Eve")
    made = make(data, store, tmp_path / "out")
    assert made["default"][new]["question"] == f"Say: {row['question']}"
    assert made["default"][new]["human_reviews"] == 2
    assert set(made["rejected"][row["id"]]["problems"]) == {"ambiguous_question", "incomplete_answer"}
    before, after = made["provenance"][new]["rounds"][-2:]
    assert (before["question"], after["question"]) == (row["question"], f"Say: {row['question']}")
    assert [v["reason"] for v in before["verdicts"] if v["reviewer"].startswith("person:")] == ["see my correction", ""]
    assert set(release.check(tmp_path / "out")) <= {"splits"}


def test_an_accepted_pair_that_gave_way_to_its_correction_is_not_among_the_rejected(
    data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    new = correct(store, row["id"], Correction(question=f"Say: {row['question']}"))
    for name in ("Ben", "Eve"):
        judge_all(store, name)
    assert {d.id: d.how for d in human.decisions(store.path)}[row["id"]] == "replaced"
    made = make(data, store, tmp_path / "out")
    assert new in made["default"] and len(made["default"]) == 4
    assert row["id"] not in {**made["default"], **made["rejected"], **made["provenance"]}
    said = [v for v in made["provenance"][new]["rounds"][-2]["verdicts"] if v["reviewer"].startswith("person:")]
    assert [v["is_quality"] for v in said] == [False, True, True]


def other_links(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The pair's coreferences, the antecedent of the first without its first word."""
    link, *others = row["coreferences"]
    article, _, name = link["antecedent"]["text"].partition(" ")
    shorter = {**link["antecedent"], "text": name, "start": link["antecedent"]["start"] + len(article) + 1}
    return [{**link, "antecedent": shorter}, *others]


@pytest.mark.parametrize("parent_stands", [True, False])
def test_a_correction_of_coreferences_alone_keeps_the_row_id(
    parent_stands: bool, data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    links = other_links(row)
    key = correct(store, row["id"], Correction(coreferences=links), reason="coreference_error")
    assert key != row["id"]
    judge_all(store, "Ben", parent_stands or no(row["id"]))
    judge_all(store, "Eve")
    made = make(data, store, tmp_path / "out")
    assert made["default"][row["id"]]["coreferences"] == links and made["default"][row["id"]]["human_reviews"] == 2
    assert row["id"] not in made["rejected"] and key not in {**made["default"], **made["provenance"]}
    rounds = made["provenance"][row["id"]]["rounds"]
    assert [r["coreferences"] for r in rounds[-2:]] == [row["coreferences"], links]
    assert "coreference_error" in [code for v in rounds[-2]["verdicts"] for code in v["problems"]]


def test_a_correction_of_a_correction_that_nobody_wanted_has_all_its_rounds(
    data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    middle = correct(store, row["id"], Correction(question=f"Say: {row['question']}"))
    last = correct(store, middle, Correction(question=f"Do say: {row['question']}"), name="Ben")
    judge_all(store, "Eve", lambda pair: pair.id not in (row["id"], middle))
    judge_all(store, "Flo", lambda pair: pair.id not in (row["id"], middle))
    made = make(data, store, tmp_path / "out")
    assert last in made["default"] and middle in made["rejected"]
    assert [r["question"].partition(":")[0] for r in made["provenance"][last]["rounds"][-2:]] == ["Say", "Do say"]


def test_a_correction_that_people_reject_is_among_the_rejected(data: Path, store: Store, tmp_path: Path) -> None:
    row = first(data)
    new = correct(store, row["id"], Correction(question=f"Say: {row['question']}"))
    for name in ("Ben", "Eve"):
        judge_all(store, name, no(new))
    made = make(data, store, tmp_path / "out")
    assert row["id"] in made["default"] and made["rejected"][new]["problems"] == ["incomplete_answer"]


def test_a_pair_on_which_people_are_missing_stops_a_release_under_review(
    data: Path, store: Store, tmp_path: Path
) -> None:
    judge_all(store, "Ann")
    last = first(data)["id"]
    judge_all(store, "Ben", lambda pair: pair.id != last)
    command = [sys.executable, "-m", "generation", "release", str(data), "--version", "1.0.0"]
    command += ["--review", str(store.path), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.strip().count("\n") == 0
    assert f"pair {last} was accepted by 0 people, not 2" in done.stderr
    with pytest.raises(GateError) as stopped:
        make(data, store, tmp_path / "out", policy="reviewed:3")
    assert len(stopped.value.findings["review"]) == 4
    made = make(data, store, tmp_path / "out", policy="labelled")
    assert made["default"][last]["human_reviews"] == 0


def test_gold_pairs_never_enter(data: Path, tmp_path: Path) -> None:
    known = [{**row, "expected": "accept"} for row in pair_rows(2)]
    human.start(tmp_path / "review.sqlite", [data], gold=write_rows(tmp_path / "gold.jsonl", known))
    store = Store(tmp_path / "review.sqlite")
    for name in ("Ann", "Ben"):
        assert len(judge_all(store, name)) == 6
    made = make(data, store, tmp_path / "out")
    assert not {row["id"] for row in known} & {*made["default"], *made["rejected"], *made["provenance"]}


def test_no_name_of_a_reviewer_is_in_any_file_of_a_release(data: Path, tmp_path: Path) -> None:
    names = ("Ottilie Quandt", "zed-account-77", "Wanda Eberhard")
    human.start(tmp_path / "review.sqlite", [data], Policy(adjudicators=(names[2],)))
    store = Store(tmp_path / "review.sqlite")
    disputed = first(data)
    correct(store, disputed["id"], Correction(question=f"Say: {disputed['question']}"), name=names[0])
    judge_all(store, names[1])
    judge_all(store, "Third Person")
    judge_all(store, names[2])
    made = make(data, store, tmp_path / "out")
    texts = [json.dumps(made, ensure_ascii=False)]
    texts += [
        p.read_text(encoding="utf-8") for p in (tmp_path / "out").rglob("*") if p.suffix in (".md", ".json", ".py")
    ]
    for name in (*names, "Third Person"):
        assert not any(name.casefold() in text.casefold() for text in texts)


def test_a_pair_that_no_input_holds_is_named(data: Path, tmp_path: Path) -> None:
    human.start(tmp_path / "review.sqlite", [write_rows(tmp_path / "pairs.jsonl", pair_rows(1))])
    with pytest.raises(InputError, match=f"holds the pair {pair_rows(1)[0]['id']}, which no input has"):
        make(data, Store(tmp_path / "review.sqlite"), tmp_path / "out")


@pytest.mark.parametrize("links_only", [True, False])
@pytest.mark.parametrize("again", ["the inputs", "the last release alone"])
def test_the_same_review_once_more_changes_nothing(
    links_only: bool, again: str, data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    better = Correction(coreferences=other_links(row)) if links_only else Correction(question=f"Say: {row['question']}")
    correct(store, row["id"], better)
    for name in ("Ben", "Eve"):
        judge_all(store, name)
    before = make(data, store, tmp_path / "1.0.0")
    inputs = data if again == "the inputs" else tmp_path / "1.0.0"
    after = make(inputs, store, tmp_path / "1.0.1", version="1.0.1", previous=tmp_path / "1.0.0")
    assert after == before


def test_a_run_given_again_does_not_unsay_what_people_said(data: Path, store: Store, tmp_path: Path) -> None:
    bad = first(data)["id"]
    for name in ("Ann", "Ben"):
        judge_all(store, name, no(bad))
    before = make(data, store, tmp_path / "1.0.0")
    after = make(data, store, tmp_path / "1.0.1", version="1.0.1", previous=tmp_path / "1.0.0", review=())
    assert after == before and bad in after["rejected"]


def test_a_pair_replaced_after_its_release_is_withdrawn_with_the_reason(
    data: Path, store: Store, tmp_path: Path
) -> None:
    row = first(data)
    release.make(data, "1.0.0", tmp_path / "1.0.0", allow=["splits"])
    new = correct(store, row["id"], Correction(question=f"Say: {row['question']}"))
    for name in ("Ben", "Eve"):
        judge_all(store, name)
    make(data, store, tmp_path / "1.1.0", version="1.1.0", previous=tmp_path / "1.0.0")
    log = (tmp_path / "1.1.0" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`{row['id']}`: replaced by {new}, a correction of it" in log
    assert set(release.check(tmp_path / "1.1.0", previous=tmp_path / "1.0.0")) <= {"splits"}

"""Hand-written drafts: what assembling makes of them, and what it says of each mistake."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from generation import dataset
from generation.errors import InputError, InvariantError, UsageError
from generation.records import Section, Sentence
from generation.releases import assemble as assembling
from generation.releases.assemble import Assembled, assemble
from generation.releases.drafts import _span
from tests.dataset_files import DRAFTS, drop, edit, repeat, rows_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    assemble(DRAFTS, tmp_path / "data", seed=0)
    return tmp_path / "data"


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DRAFTS, tmp_path / "drafts"))


def test_assemble_counts_every_pair_and_keeps_the_rejected_with_their_reasons(tmp_path: Path) -> None:
    result = assemble(DRAFTS, tmp_path, seed=0)
    assert result == Assembled(articles=3, accepted=4, rejected=1)
    assert result.submitted == 5
    (rejected,) = rows_of(tmp_path, "rejected")
    assert (rejected["rejected_by"], rejected["problems"]) == (["model:two"], ["irrelevant_sentences"])
    assert rejected["reason"] == "model:two: One sentence answers it."


def test_assemble_keeps_the_rounds_before_a_revision(data: Path) -> None:
    (history,) = [r for r in rows_of(data, "provenance") if len(r["rounds"]) == 2]
    first, last = history["rounds"]
    assert first["question"] == "When did the man who led it die?" and not first["verdicts"][0]["is_quality"]
    assert [v["reviewer"] for v in last["verdicts"]] == ["model:one", "model:two"]


def proof_of(drafts: Path, **changes: Any) -> Path:
    """A proof of the first pair of the folder, put beside its article."""
    path = sorted((drafts / "pairs").glob("*.jsonl"))[0]
    pair = json.loads(path.read_text().splitlines()[0])
    required = pair["required"]
    names = ["section", "required", *(f"{c} without {k}" for c in ("required", "section") for k in required), "nothing"]
    readings = [{"context": n, "answer": pair["answer"], "is_right": n in names[:2]} for n in names]
    row = {"question": pair["question"], "reader": "model:three", "readings": readings, **changes}
    (drafts / "proofs").mkdir()
    out = drafts / "proofs" / path.name
    out.write_text(json.dumps(row) + "\n")
    return out


def test_a_proof_stands_in_the_provenance_of_its_pair_alone(drafts: Path, tmp_path: Path) -> None:
    proof = json.loads(proof_of(drafts).read_text())
    assemble(drafts, tmp_path / "data", seed=0)
    rows = rows_of(tmp_path / "data", "provenance")
    (history,) = [r for r in rows if r["rounds"][-1]["question"] == proof["question"]]
    assert history["proof"] == proof["readings"]
    assert [r["id"] for r in rows if r["proof"]] == [history["id"]]
    assert history["recipe"] not in [r["recipe"] for r in rows if r is not history]


@pytest.mark.parametrize("changes", [{"question": "Who?"}, {"readings": []}, {"readings": None}, {"readings": [{}]}])
def test_a_proof_of_something_else_or_with_contexts_missing_is_refused(
    changes: dict[str, Any], drafts: Path, tmp_path: Path
) -> None:
    path = proof_of(drafts, **changes)
    with pytest.raises(InputError, match=path.name):
        assemble(drafts, tmp_path / "data", seed=0)
    assert not (tmp_path / "data").exists()


def test_a_third_reader_settles_what_two_disagreed_on(drafts: Path, tmp_path: Path) -> None:
    (path,) = [p for p in (drafts / "verdicts").glob("*.jsonl") if '"irrelevant_sentences"' in p.read_text()]
    against = next(v for v in map(json.loads, path.read_text().splitlines()) if "irrelevant" in str(v["problems"]))
    pairs = drafts / "pairs" / path.name
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    for row in rows:
        if row["question"] == against["question"]:
            row["earlier"] = [{k: v for k, v in row.items() if k != "section"}]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    third = {**against, "reviewer": "model:three", "is_quality": True, "problems": [], "round": 2}
    path.write_text(path.read_text() + json.dumps(third) + "\n")
    assert assemble(drafts, tmp_path / "data", seed=0).rejected == 0
    (row,) = [r for r in rows_of(tmp_path / "data", "default") if r["question"] == against["question"]]
    assert "model:three" in row["reviewed_by"] and against["reviewer"] not in row["reviewed_by"]


def test_v1_rows_have_the_twelve_columns_and_zero_based_json_sentences(data: Path) -> None:
    row = rows_of(data, "v1")[0]
    assert len(row) == 12
    sentences = json.loads(row["section_sentences"])
    assert [s["index"] for s in sentences] == [*range(len(sentences))]
    assert row["article_titles"] == ["Summary", "Offices"] and row["article_sections"][1] == row["section"]


def test_assembling_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assemble(DRAFTS, tmp_path / name, seed=0)
    files = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.jsonl")]
    assert len(files) == 14
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)


def test_adding_articles_never_moves_one_to_another_split() -> None:
    names = [f"act-{n}" for n in range(2000)]
    splits = [assembling.split_of(name) for name in names]
    assert splits[:10] == [assembling.split_of(name) for name in names[:10]]
    shares = {split: splits.count(split) / len(names) for split in assembling.SHARES}
    assert shares == pytest.approx({"train": 0.70, "validation": 0.15, "test": 0.15}, abs=0.03)


def test_a_seed_that_leaves_a_split_empty_is_refused_with_one_that_does_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no pair falls into .*; seed 0 fills all three"):
        assemble(DRAFTS, tmp_path / "data", seed=3)
    assert not (tmp_path / "data").exists()


def pair(name: str, **changes: Any) -> Any:
    return lambda drafts: edit(drafts / f"pairs/{name}.jsonl", 1, lambda row: row.update(changes))


def coreference(**mention: Any) -> Any:
    return lambda drafts: edit(
        drafts / "pairs/linden-orchard-act.jsonl", 2, lambda row: row["coreferences"][0]["mention"].update(mention)
    )


def first_verdict(**changes: Any) -> Any:
    return lambda drafts: edit(drafts / "verdicts/snow-plow-act.jsonl", 1, lambda row: row.update(changes))


def in_article(old: str, new: str) -> Any:
    def change(drafts: Path) -> None:
        path = drafts / "articles/linden-orchard-act.md"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


DRAFT_ERRORS: dict[str, tuple[Any, str]] = {
    "unknown section": (pair("snow-plow-act", section="Sumary"), "snow-plow-act.jsonl:1: there is no section 'Sumary'"),
    "unknown key": (pair("snow-plow-act", note="x"), "snow-plow-act.jsonl:1: unknown keys note"),
    "text not there": (coreference(text="They"), "jsonl:2: in sentence 2"),
    "half a word": (coreference(text="fam", start=28), "not there as whole words"),
    "wrong start": (coreference(start=41), "not there as whole words"),
    "text twice": (coreference(text="a", sentence=1, start=None), "not there"),
    "no such sentence": (coreference(sentence=9), "there is no sentence 9"),
    "not required": (pair("snow-plow-act", required=[0]), "requires 1 sentences"),
    "no coreference": (pair("snow-plow-act", coreferences=[]), "at least one coreference"),
    "answer no text": (pair("snow-plow-act", answer=3), 'column "answer" should be string'),
    "verdict on nothing": (first_verdict(question="Who?"), "verdicts/snow-plow-act.jsonl:1"),
    "no verdict": (lambda d: drop(d, "verdicts/snow-plow-act.jsonl"), "verdicts/snow-plow-act.jsonl is empty"),
    "pair unjudged": (lambda d: drop_last(d, "verdicts/glass-bottle-act.jsonl", 2), "round 2 has no verdict"),
    "judged twice": (lambda d: repeat(d, "verdicts/snow-plow-act.jsonl"), "judges the same text twice"),
    "round of no text": (first_verdict(round=2), 'put it under "earlier"'),
    "unknown problem": (first_verdict(is_quality=False, problems=["bad"]), "some codes"),
    "not JSON": (lambda d: (d / "pairs/snow-plow-act.jsonl").write_text("{'a': 1}\n"), "jsonl:1: not JSON"),
    "no pairs": (lambda d: (d / "pairs/snow-plow-act.jsonl").unlink(), "pairs/snow-plow-act.jsonl"),
    "no article": (lambda d: (d / "articles/snow-plow-act.md").unlink(), "look at pairs/snow-plow-act.jsonl"),
    "no front matter": (in_article("---\n", ""), "front matter"),
    "front matter key": (in_article("domain:", "area:"), "should hold exactly author, domain, license, title"),
    "front matter version": (in_article("title: Linden Orchard Act", "title: 1931"), "each a text"),
    "other title": (in_article("# Linden", "# Lindens"), 'linden-orchard-act.md:8: expected "# Linden Orchard Act"'),
    "broken sentence": (in_article("land along", "land\nalong"), "linden-orchard-act.md:10: one sentence a line"),
    "deeper heading": (in_article("## The board", "### The board"), 'not "### The board"'),
    "heading twice": (in_article("The members", "## The board\n\nThe members"), 'already a part "The board"'),
    "empty part": (in_article("## The board", "## Nothing\n\n## The board"), "nothing under ['Nothing']"),
    "not UTF-8": (lambda d: (d / "articles/snow-plow-act.md").write_bytes(b"\xff\xfe"), "UTF-8"),
}


def drop_last(drafts: Path, name: str, count: int) -> None:
    lines = (drafts / name).read_text(encoding="utf-8").splitlines(keepends=True)
    (drafts / name).write_text("".join(lines[:-count]), encoding="utf-8")


@pytest.mark.parametrize("error", DRAFT_ERRORS)
def test_a_draft_with_a_mistake_is_named_and_nothing_is_written(error: str, drafts: Path, tmp_path: Path) -> None:
    change, message = DRAFT_ERRORS[error]
    change(drafts)
    with pytest.raises((InputError, InvariantError, UsageError)) as caught:
        assemble(drafts, tmp_path / "out", seed=0)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_text_that_stands_twice_in_its_sentence_needs_its_start() -> None:
    text = "She said that she knew what she wanted."
    section = Section("a/0", "a", "A", (), text, 0, len(text), (Sentence(text, 0, len(text)),))
    with pytest.raises(ValueError, match=r'give its "start", one of \[14, 28\]'):
        _span({"sentence": 0, "text": "she"}, section)
    assert _span({"sentence": 0, "text": "she", "start": 28}, section).start == 28


def test_drafts_in_two_folders_are_one_set(drafts: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for kind in ("articles", "pairs", "verdicts"):
        (other / kind).mkdir(parents=True)
        (path,) = (drafts / kind).glob("snow*")
        path.rename(other / kind / path.name)
    assert assemble([drafts, other], tmp_path / "data", seed=0).articles == 3


# --- adding to rows that are there -----------------------------------------------------------------------------------


def splits_of(data: Path) -> dict[str, str]:
    """{article: split}, read off the rows of articles."""
    files = (data / "articles").glob("*.jsonl")
    return {json.loads(line)["article_id"]: path.stem for path in files for line in path.open(encoding="utf-8")}


def test_kept_rows_stay_as_they_are_and_in_their_splits_whatever_the_seed(data: Path, drafts: Path) -> None:
    before = {path: path.read_bytes() for path in data.rglob("*.jsonl")}
    homes = splits_of(data)
    for path in drafts.glob("*/*"):
        if path.stem == "snow-plow-act":
            text = path.read_text(encoding="utf-8").replace("Snow Plow", "Sand Plow")
            path.with_stem("sand-plow-act").write_text(text, encoding="utf-8")
        path.unlink()
    result = assemble(drafts, data, seed=5, keep=True)
    assert (result.articles, result.submitted, result.kept) == (4, 6, 5)
    for path, text in before.items():
        assert path.read_bytes().startswith(text), path
    assert {k: v for k, v in splits_of(data).items() if k in homes} == homes


def test_keeping_rows_adds_nothing_when_the_drafts_are_already_there(data: Path) -> None:
    before = {path: path.read_bytes() for path in data.rglob("*.jsonl")}
    result = assemble(DRAFTS, data, seed=7, keep=True)
    assert (result.submitted, result.kept) == (5, 5)
    assert {path: path.read_bytes() for path in data.rglob("*.jsonl")} == before


def test_a_new_pair_on_a_kept_article_joins_its_split(drafts: Path, tmp_path: Path) -> None:
    pairs = drafts / "pairs/linden-orchard-act.jsonl"
    whole = pairs.read_text(encoding="utf-8")
    question = json.loads(whole.splitlines()[-1])["question"]
    verdicts = drafts / "verdicts/linden-orchard-act.jsonl"
    all_verdicts = verdicts.read_text(encoding="utf-8")
    pairs.write_text("".join(whole.splitlines(keepends=True)[:-1]), encoding="utf-8")
    kept = [line for line in all_verdicts.splitlines(keepends=True) if json.loads(line)["question"] != question]
    verdicts.write_text("".join(kept), encoding="utf-8")
    data = tmp_path / "data"
    first = assemble(drafts, data, seed=0)
    homes = splits_of(data)
    pairs.write_text(whole, encoding="utf-8")
    verdicts.write_text(all_verdicts, encoding="utf-8")
    assert assemble(drafts, data, seed=5, keep=True).submitted == first.submitted + 1
    assert splits_of(data) == homes


def test_a_draft_that_differs_from_a_kept_row_is_refused(data: Path, drafts: Path) -> None:
    before = {path: path.read_bytes() for path in data.rglob("*.jsonl")}
    edit(drafts / "pairs/snow-plow-act.jsonl", 1, lambda row: row.update(derivation=[]))
    with pytest.raises(InputError, match="differs in derivation from the row to keep"):
        assemble(drafts, data, seed=0, keep=True)
    assert {path: path.read_bytes() for path in data.rglob("*.jsonl")} == before


def test_a_kept_pair_is_not_turned_down_by_a_later_verdict(data: Path, drafts: Path) -> None:
    change = {"is_quality": False, "problems": ["other"], "reason": "No."}
    edit(drafts / "verdicts/snow-plow-act.jsonl", 1, lambda row: row.update(change))
    with pytest.raises(InputError, match='would be in "rejected" but is in "default"'):
        assemble(drafts, data, seed=0, keep=True)


def test_rows_are_divided_by_passage_and_by_domain_too_and_stay_there(drafts: Path, tmp_path: Path) -> None:
    snow = drafts / "articles/snow-plow-act.md"
    snow.write_text(snow.read_text(encoding="utf-8").replace("domain: law", "domain: science"), encoding="utf-8")
    data = tmp_path / "data"
    assemble(drafts, data, seed=0)
    default = {row["id"]: row for row in rows_of(data, "default")}
    for config in ("random", "domain"):
        assert {row["id"]: row for row in rows_of(data, config)} == default
    domains = [{row["domain"] for row in rows} for rows in dataset.rows_of(data)["domain"].values() if rows]
    assert sorted(map(len, domains)) == [1, 1]
    before = {path: path.read_bytes() for path in data.glob("*/*.jsonl")}
    assemble(drafts, data, seed=9, keep=True)
    assert {path: path.read_bytes() for path in data.glob("*/*.jsonl")} == before


def test_there_must_be_rows_to_keep(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no data"):
        assemble(DRAFTS, tmp_path / "data", seed=0, keep=True)

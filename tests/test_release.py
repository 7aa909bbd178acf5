"""Releases on disk: gates (each with what breaks it), splits, changes, files, card, and being killed."""

import copy
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

import craqan
from generation import dataset, release
from generation.errors import GateError, InputError, UsageError
from generation.records import Candidate, Section, Sentence, pair_id
from generation.releases import blocks, card, changes, figures, files, gates, licences, page, runs, splits
from generation.releases.assemble import assemble
from generation.releases.changes import Version
from generation.releases.gates import Proposal
from tests.dataset_files import DRAFTS, ROOT

Tables = dict[str, dict[str, list[dict[str, Any]]]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "data"
    assemble(DRAFTS, folder, seed=0)
    return folder


@pytest.fixture(scope="module")
def first(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the drafts, 1.0.0; never written to."""
    out = tmp_path_factory.mktemp("releases") / "1.0.0"
    release.make(data, "1.0.0", out)
    return out


def with_row(data: Path, folder: Path, change: Callable[[dict[str, Any]], None], *, add: bool = True) -> Path:
    """`data` with one row of the test split changed, or added in its changed form, its history following."""
    tables = copy.deepcopy(dataset.rows_of(data))
    split = next(iter(tables["default"]))
    row = copy.deepcopy(tables["default"][split][0])
    old = row["id"]
    change(row)
    candidate = dataset.candidate_from_dict(row) if hasattr(dataset, "candidate_from_dict") else None
    row["id"] = _id(row) if candidate is None else pair_id([s["text"] for s in row["sentences"]], candidate)
    history = copy.deepcopy(next(h for h in tables["provenance"][split] if h["id"] == old))
    for name in ("question", "answer", "required_sentence_indices", "coreferences"):
        history["rounds"][-1][name] = row[name]
    history["id"] = row["id"]
    if add:
        tables["default"][split].append(row)
        tables["provenance"][split].append(history)
    else:
        tables["default"][split][0] = row
        tables["provenance"][split] = [h for h in tables["provenance"][split] if h["id"] != old] + [history]
    tables.pop("v1")
    dataset.write_tables(tables, folder)
    return folder


def _id(row: dict[str, Any]) -> str:
    candidate = Candidate(row["question"], row["answer"], tuple(row["required_sentence_indices"]))
    return pair_id([s["text"] for s in row["sentences"]], candidate)


def other_question(row: dict[str, Any]) -> None:
    row["question"] = "Whose doing does the passage tell of here, all things considered together?"


# --- what a release holds --------------------------------------------------------------------------------------------


def test_a_release_holds_the_rows_that_went_in_and_those_that_follow_from_them(data: Path, first: Path) -> None:
    before, now = dataset.rows_of(data), dataset.rows_of(first / "data")
    for config in ("default", "rejected", "provenance", "articles"):
        assert now[config] == before[config], config
    key = lambda row: row["question"]  # noqa: E731
    assert sorted(now["v1"]["train"], key=key) == sorted(before["v1"]["train"], key=key)
    assert {r["id"] for s in now["random"].values() for r in s} == {r["id"] for s in now["default"].values() for r in s}


def test_the_checkouts_own_rows_pass_every_gate_and_come_out_unchanged(tmp_path: Path) -> None:
    made = release.make(ROOT / "data", "1.0.0", tmp_path / "out", texts=ROOT)
    assert made.allowed == {}
    before, now = dataset.rows_of(ROOT / "data"), dataset.rows_of(tmp_path / "out" / "data")
    assert all(now[config] == before[config] for config in ("default", "rejected", "articles"))
    for split, rows in before["provenance"].items():
        assert {r["id"]: r for r in rows} == {r["id"]: r for r in now["provenance"][split]}
    assert release.check(tmp_path / "out") == {}


@pytest.mark.parametrize("config", ["default", "random", "articles", "provenance", "rejected", "v1"])
def test_every_reader_finds_the_same_rows_and_no_librarys_own_metadata(config: str, first: Path) -> None:
    import duckdb
    import pandas
    import polars
    from pyarrow import parquet

    for path in sorted((first / "data" / config).glob("*.parquet")):
        assert parquet.read_schema(path).metadata is None
        rows = [row for _, row in craqan.read_rows(str(path), config)]
        column = "question" if config not in ("articles", "provenance") else rows and next(iter(rows[0]))
        expected = [row[column] for row in rows]
        assert pandas.read_parquet(path)[column].tolist() == expected
        assert polars.read_parquet(path).select(column).to_series().to_list() == expected
        assert [r[0] for r in duckdb.sql(f"select {column} from '{path}'").fetchall()] == expected


def test_load_dataset_and_craqan_load_read_the_folder(first: Path, tmp_path: Path) -> None:
    for config in ("default", "random", "articles", "provenance", "rejected", "v1"):
        loaded = datasets.load_dataset(str(first), config, cache_dir=str(tmp_path / "own"))
        streamed = datasets.load_dataset(str(first), config, streaming=True)
        for split, rows in dataset.rows_of(first / "data")[config].items():
            assert [*loaded[split]] == [*streamed[split]] == rows
            assert loaded[split].features == craqan.FEATURES[config]


def test_the_manifest_names_every_file_and_a_changed_one_is_found(first: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(first, tmp_path / "copy"))
    assert files.verify(copied)["version"] == "1.0.0"
    (copied / "README.md").write_text("changed", encoding="utf-8")
    with pytest.raises(InputError, match=r"README\.md differs"):
        release.check(copied)
    (copied / "README.md").unlink()
    with pytest.raises(InputError, match=r"README\.md is missing"):
        release.check(copied)


def test_croissant_is_valid_and_reads_the_same_rows(first: Path) -> None:
    import mlcroissant

    described = mlcroissant.Dataset(first / "croissant.json")
    assert not described.metadata.issues.errors and not described.metadata.issues.warnings
    assert described.metadata.version == "1.0.0"
    for config, by_split in dataset.rows_of(first / "data").items():
        for split, rows in by_split.items():
            records = [*described.records(f"{config}/{split}")]
            assert len(records) == len(rows)
            column = next(iter(rows[0]))
            assert [r[f"{config}/{split}/{column}"].decode() for r in records] == [row[column] for row in rows]
    required = [r["default/test/required_sentence_indices"] for r in described.records("default/test")]
    assert required == [row["required_sentence_indices"] for row in dataset.rows_of(first / "data")["default"]["test"]]


def test_the_same_inputs_give_the_same_bytes(data: Path, first: Path, tmp_path: Path) -> None:
    release.make(data, "1.0.0", tmp_path / "again")
    assert files.listed(tmp_path / "again") == files.listed(first)


def test_the_script_of_a_release_knows_its_version_and_licence(first: Path) -> None:
    code = "import craqan; print(craqan.VERSION, craqan.LICENSE, craqan.load(split='train').num_rows)"
    done = subprocess.run([sys.executable, "-c", code], cwd=first, capture_output=True, text=True)
    assert done.stdout.split()[:2] == ["1.0.0", "cc-by-4.0"], done.stderr


# --- gates -----------------------------------------------------------------------------------------------------------


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


# --- splits ----------------------------------------------------------------------------------------------------------


def passage(article: str, number: int, text: str, domain: str = "law") -> dict[str, Any]:
    sentences = [s + "." for s in text.removesuffix(".").split(". ")]
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Sentence(sentence, at, at + len(sentence)))
        at += len(sentence) + 1
    whole = " ".join(sentences)
    section = Section(f"{article}/{number}", article, article, (), whole, 0, len(whole), tuple(spans), domain=domain)
    candidate = Candidate(f"What of {article} {number} {text[:9]}?", sentences[1], (0, 1))
    return dataset.row_from(section, candidate, generator="rules", reviewed_by=["checks"])


def many(count: int, domains: int = 1) -> list[dict[str, Any]]:
    """Pairs on `count` articles; the first 20 are of `domains` domains, whatever comes after them."""
    text = "The act {n} of {i} has a name of its own {m}. It was {i} passed in {n} with {k}"
    return [
        passage(f"a{n}", i, text.format(n=n, i=i, m=n * 7, k=n * i), f"d{n % domains}" if n < 20 else f"e{n % 3}")
        for n in range(count)
        for i in range(1 + n % 4)
    ]


def test_a_row_keeps_its_split_when_rows_are_added() -> None:
    old = many(20, 5)
    before = splits.divide(old, {})
    now = splits.divide(many(60, 5), before)
    for config in ("default", "random", "domain"):
        assert {id: now[config][id] for id in before[config]} == before[config]


def test_no_unit_is_in_two_splits_and_the_shares_are_met() -> None:
    rows = many(100, 12)
    divided = splits.divide(rows, {})
    for config, column in (("default", "article_id"), ("random", "section_id"), ("domain", "domain")):
        homes: dict[str, set[str]] = {}
        for row in rows:
            homes.setdefault(row[column], set()).add(divided[config][row["id"]])
        assert all(len(where) == 1 for where in homes.values())
        train = sum(split == "train" for split in divided[config].values()) / len(rows)
        assert 0.6 < train < 0.85


def test_related_passages_and_shared_evidence_go_together() -> None:
    text = "The Harbour Act of 1921 built a long pier of grey stone. It cost the port more than two hundred thousand"
    rows = many(30)
    rows += [passage("twin-a", 0, f"{text} pounds"), passage("twin-b", 0, f"{text} francs")]
    shared = "The committee of the whole house sat for nine days on end. It then rose"
    rows += [
        passage("ev-a", 0, f"{shared} for tea"),
        passage("ev-b", 0, f"{shared} without a word, and went home by the last train"),
    ]
    divided = splits.divide(rows, {})["default"]
    home = {row["article_id"]: divided[row["id"]] for row in rows}
    assert home["twin-a"] == home["twin-b"]
    assert home["ev-a"] == home["ev-b"]


def test_one_domain_cannot_be_divided_by_domain_and_the_card_says_so(first: Path) -> None:
    assert "domain" not in splits.divide(many(10), {})
    assert "There is no config `domain`: all pairs are of one domain" in (first / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("count", [3, 4, 5, 50])
def test_no_split_stays_empty_where_there_are_groups_enough(count: int) -> None:
    assert set(splits.pack({f"g{n}": 1 for n in range(count)}, {}).values()) == set(splits.SHARES)


def test_another_seed_packs_otherwise() -> None:
    sizes = {f"g{n}": 1 for n in range(40)}
    assert splits.pack(sizes, {}, 1) != splits.pack(sizes, {}, 2)


# --- from one release to the next ------------------------------------------------------------------------------------


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


# --- runs and reviews ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on one article; not to be written to."""
    folder = tmp_path_factory.mktemp("run") / "run"
    source = str(ROOT / "examples" / "wilderness-act.md")
    command = [sys.executable, "-m", "generation", "generate", source, "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return folder


def test_a_run_becomes_a_release_with_its_article_recipe_and_yield(run: Path, tmp_path: Path) -> None:
    pool = runs.read_run(run)
    assert not pool.excerpts and [row["license"] for row in pool.articles.values()] == ["unknown"]
    out = tmp_path / "out"
    with pytest.raises(GateError, match='its licence, "unknown", is not known'):
        release.make(run, "0.1.0", out, allow=["splits"])
    release.make(run, "0.1.0", out, allow=["splits"], source_license="CC0")
    about = files.read_manifest(out)
    rows = [row for rows in dataset.rows_of(out / "data")["provenance"].values() for row in rows]
    assert about["recipes"][rows[0]["recipe"]]["checks"] == "all"
    stages, submitted = about["stages"], json.loads((run / "run.json").read_text(encoding="utf-8"))["submitted"]
    lost = sum(about["rows"]["default"].values()) + len(pool.rejected) + stages["nothing_offered"] + stages["failed"]
    assert stages["sections"] == submitted == lost == 6
    assert rows[0]["rounds"][0]["verdicts"][1]["reviewer"] == f"{rows[0]['generator']}/content_cohesion"
    assert "| sections given to a run | 6 |" in (out / "README.md").read_text(encoding="utf-8")


def test_an_article_that_cannot_be_read_again_is_an_excerpt_and_the_card_says_so(run: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(run, tmp_path / "run"))
    about = json.loads((moved / "run.json").read_text(encoding="utf-8"))
    about["settings"]["inputs"] = [str(tmp_path / "gone.md")]
    (moved / "run.json").write_text(json.dumps(about), encoding="utf-8")
    release.make(moved, "0.1.0", tmp_path / "out", allow=["splits"], source_license="CC0")
    assert "Of 1 articles only the sections are given" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_a_folder_that_is_nothing_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder of a run"):
        release.make(tmp_path / "nothing", "1.0.0", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no data"):
        release.make(tmp_path / "empty", "1.0.0", tmp_path / "out")


# --- card and datasheet ----------------------------------------------------------------------------------------------


def test_the_card_and_the_datasheet_of_the_checkout_are_current() -> None:
    assert card.main(["--check"]) == 0


QUESTIONS = (
    "Why was the dataset created?",
    "Has the dataset been used already?",
    "Who funded the dataset?",
    "What are the instances?",
    "How many instances are there?",
    "What data does each instance consist of?",
    "Does the data rely on external resources?",
    "Are there recommended data splits or evaluation measures?",
    "How was the data collected?",
    "Who was involved in the collection process and what were their roles?",
    "Over what time frame was the data collected?",
    "Does the dataset contain all possible instances?",
    "If the dataset is a sample, then what is the population?",
    "What preprocessing or cleaning was done?",
    "Was the raw data saved in addition to the cleaned data?",
    "achieve the initial motivation?",
    "How is the dataset distributed?",
    "When was it released?",
    "What licence is it distributed under?",
    "Who is supporting and maintaining the dataset?",
    "Were workers told what the dataset would be used for and did they consent?",
    "could this dataset expose people to harm or legal action?",
    "does it unfairly advantage or disadvantage a particular social group?",
)


@pytest.mark.parametrize("sheet", ["DATASHEET.md", "generation/releases/datasheet.md"])
def test_every_question_of_a_datasheet_is_answered(sheet: str) -> None:
    text = (ROOT / sheet).read_text(encoding="utf-8")
    for question in QUESTIONS:
        _, found, after = text.partition(question)
        answer = after.partition("\n**")[0].partition("\n## ")[0].removeprefix("**").strip()
        assert found and answer, question


def test_the_hand_written_part_of_a_card_is_kept(data: Path, first: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    sheet = (first / "DATASHEET.md").read_text(encoding="utf-8")
    (texts / "DATASHEET.md").write_text(sheet.replace("Not stated.", "The Ministry of Silly Acts."), encoding="utf-8")
    own = "---\npretty_name: Acts\nextra_gated_prompt: 'Yes: really'\nsdk: gradio\n---\nOurs, <b>as it is</b>.\n\n"
    block = "<!-- splits: made from the data -->\nold\n<!-- end of splits -->\n"
    (texts / "README.md").write_text(own + block, encoding="utf-8")
    release.make(data, "1.0.0", tmp_path / "out", texts=texts)
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Ours, <b>as it is</b>." in readme and "| `default` |" in readme and "\nold\n" not in readme
    import yaml

    front = yaml.safe_load(readme.split("---\n")[1])
    assert front["pretty_name"] == "Acts" and front["extra_gated_prompt"] == "Yes: really" and "sdk" not in front
    assert "Silly Acts" in (tmp_path / "out" / "DATASHEET.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- splits: made from the data -->\n", "has no end"),
        ("<!-- spilts: made from the data -->\n<!-- end of spilts -->\n", 'has a block "spilts"'),
    ],
)
def test_a_block_that_cannot_be_filled_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        blocks.fill(text, {"splits": "x"}, "README.md")


def test_the_figures_are_those_of_the_rows(data: Path) -> None:
    counted = figures.count(dataset.rows_of(data))
    assert counted.counts["pairs"] == 4 and counted.counts["rejected"] == 1
    assert counted.reasons["irrelevant_sentences"] == 1 and sum(counted.reasons.values()) == 1
    assert figures.quantiles([1, 2, 3, 4, 5]) == (1.4, 3, 4.6)
    assert figures.quantiles([7]) == (7, 7, 7)
    assert "| Pairs | 4 | 261 |" in page.characteristics(counted)


def test_agreement_is_krippendorffs() -> None:
    verdicts = [[True, True], [True, False], [False, False], [True, True]]
    found = figures._agreement("people", verdicts)
    assert found is not None and found.raw == 0.75
    # 4 units, 5 yes and 3 no: observed 2/8, expected 2*5*3/(8*7)
    assert found.alpha == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_the_parts_of_the_proofs_are_counted_and_told() -> None:
    def history(**right: bool) -> dict[str, Any]:
        names = ("section", "required", "required without 0", "required without 2", "section without 0", "nothing")
        readings = [{"context": n, "answer": "x", "is_right": right.get(n.replace(" ", "_"), False)} for n in names]
        return {"proof": readings}

    histories = [
        history(section=True, required=True),
        history(section=True, required=True, required_without_2=True, nothing=True),
        history(section=True, section_without_0=True),
        {"proof": []},
    ]
    counted = figures._proof(histories)
    assert counted == {
        "read": 3, "section": 3, "required": 2, "needed": 2, "proven": 1, "replaceable": 1, "nothing": 1
    }  # fmt: skip
    assert "| all three: proven | 1 | 33.3 % |" in page.proof(figures.Figures(proof=counted))
    assert "No reader was asked" in page.proof(figures.Figures())


def test_pictures_are_drawn_of_what_there_is(first: Path, tmp_path: Path) -> None:
    from generation.releases import plots

    assert plots.draw(figures.Figures(), tmp_path) == []
    names = {path.stem for path in (first / "data" / "figures").glob("*.png")}
    assert names == {"distances", "kinds", "lengths", "reasons"}
    card_text = (first / "README.md").read_text(encoding="utf-8")
    assert all(f"(data/figures/{name}.png)" in card_text for name in names)


# --- whole or not at all ---------------------------------------------------------------------------------------------


def test_a_folder_that_is_there_is_not_touched(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already"):
        release.make(data, "1.0.0", tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine.txt"]


KILLED_AFTER = ("data/default/train-00000-of-00001.parquet", "data/figures/kinds.png", "craqan.py", "manifest.json")


def test_a_release_killed_at_each_file_in_turn_leaves_a_hidden_part_that_the_next_one_clears(
    data: Path, tmp_path: Path
) -> None:
    out, part = tmp_path / "out", tmp_path / ".out.part"
    makers = multiprocessing.get_context("forkserver")  # processes of their own, the libraries loaded once
    makers.set_forkserver_preload(["generation.release", "datasets", "matplotlib.pyplot", "datasketch"])
    for file in KILLED_AFTER:
        maker = makers.Process(target=release.make, args=(data, "1.0.0", out))
        maker.start()
        until = time.monotonic() + 60
        while not (part / file).exists() and maker.is_alive() and time.monotonic() < until:
            time.sleep(0.0005)
        maker.kill()
        maker.join()
        if out.exists():  # the last file was written, and the kill came after the folder was moved
            break
        assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == [part.name], file
        (part / "left-over").write_text("by the killed one", encoding="utf-8")
    if not out.exists():
        release.make(data, "1.0.0", out)
    assert files.verify(out)["version"] == "1.0.0" and not part.exists() and not (out / "left-over").exists()


def test_the_command_prints_what_it_made_and_a_gate_is_exit_code_1(data: Path, tmp_path: Path) -> None:
    run = lambda *more: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "generation", "release", str(data), "--out", str(tmp_path / "out"), *more],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    stopped = run("--version", "1.0.0", "--policy", "reviewed")
    assert (stopped.returncode, stopped.stdout) == (1, "") and "was accepted by 0 people" in stopped.stderr
    done = run("--version", "1.0.0")
    assert done.returncode == 0 and "default: train 2, validation 1, test 1" in done.stdout
    assert json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["rows"]["default"]["train"] == 2

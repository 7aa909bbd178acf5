"""What a release holds: the rows that went in, whoever reads them, and a manifest of every file."""

import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pytest

import craqan
from generation import dataset, release
from generation.errors import InputError
from generation.releases import files
from tests.dataset_files import ROOT


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

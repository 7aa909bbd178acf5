"""The builder and `load`: the same rows as load_dataset, nothing stale, nothing filled in, nothing from the network."""

import ast
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

import craqan
from tests.dataset_files import CONFIGS, ROOT, edit, make_checkout, python


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """datasets answers from its cache by the folder's name, so that no two tests may share one."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "DOWNLOADED_DATASETS_PATH", tmp_path / "cache" / "downloads")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "CRaQAn_copy")


def whole(dataset: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in dataset]


# --- load_dataset and the builder agree ------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("source", ["drafts of the tests", "data of the checkout"])
def test_load_dataset_and_the_builder_agree_row_by_row(source: str, config: str, tmp_path: Path) -> None:
    data = ROOT / "data" if source.startswith("data") else None
    folder = make_checkout(tmp_path / "CRaQAn_copy", data)
    theirs = datasets.load_dataset(str(folder), config)
    ours = craqan.load(config, data_dir=folder)
    streamed = datasets.load_dataset(str(folder), config, streaming=True)
    our_stream = craqan.load(config, data_dir=folder, streaming=True)
    assert list(theirs) == list(ours) == list(streamed) == list(our_stream)
    for split in theirs:
        assert theirs[split].features == ours[split].features == craqan.FEATURES[config]
        rows = [json.loads(line) for line in (folder / f"data/{config}/{split}.jsonl").open(encoding="utf-8")]
        assert whole(theirs[split]) == whole(ours[split]) == whole(streamed[split]) == whole(our_stream[split]) == rows


def test_the_default_config_needs_no_name(checkout: Path) -> None:
    assert whole(datasets.load_dataset(str(checkout))["test"]) == whole(craqan.load(split="test", data_dir=checkout))


@pytest.mark.parametrize("split", ["train+test", "train[:1]", "all", "validation[50%:]"])
def test_splits_are_named_as_datasets_names_them(split: str, checkout: Path) -> None:
    assert isinstance(craqan.load(split=split, data_dir=checkout), datasets.Dataset)


def test_a_release_in_several_parquet_files_gives_the_same_rows(checkout: Path, tmp_path: Path) -> None:
    rows = whole(craqan.load("provenance", split="train", data_dir=checkout))
    release = tmp_path / "CRaQAn [release]"
    folder = release / "data" / "provenance"
    folder.mkdir(parents=True)
    for n, part in enumerate((rows[:2], rows[2:])):
        table = datasets.Dataset.from_list(part, features=craqan.FEATURES["provenance"]).data.table
        import pyarrow.parquet

        pyarrow.parquet.write_table(table.replace_schema_metadata({}), folder / f"train-0000{n}-of-00002.parquet")
    assert whole(craqan.load("provenance", split="train", data_dir=release)) == rows
    assert whole(craqan.load("provenance", split="train", data_dir=release, streaming=True)) == rows


def test_a_folder_named_craqan_loads_by_our_load_only(tmp_path: Path) -> None:
    folder = make_checkout(tmp_path / "craqan")
    assert python("import craqan; print(craqan.load(split='train').num_rows)", folder, tmp_path / "home") == "2\n"
    with pytest.raises(RuntimeError, match="Dataset scripts are no longer supported"):
        datasets.load_dataset(str(folder))


# --- nothing stale ---------------------------------------------------------------------------------------------------


def test_edited_data_is_never_served_stale(checkout: Path) -> None:
    assert craqan.load(split="test", data_dir=checkout)[0]["answer"] == "Ida Holm"
    edit(checkout / "data/default/test.jsonl", 1, lambda row: row.update(answer="Ada Holm"))
    assert craqan.load(split="test", data_dir=checkout)[0]["answer"] == "Ada Holm"


def test_edited_data_is_never_served_stale_even_if_the_caller_names_a_hash(checkout: Path) -> None:
    for answer in ("Ida Holm", "Ada Holm"):
        edit(checkout / "data/default/test.jsonl", 1, lambda row, answer=answer: row.update(answer=answer))  # type: ignore[misc]
        builder = craqan.Craqan(base_path=str(checkout), hash="same")
        builder.download_and_prepare()
        assert builder.as_dataset("test")[0]["answer"] == answer


def test_two_checkouts_of_one_name_do_not_answer_for_each_other(checkout: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(checkout, tmp_path / "other" / checkout.name))
    edit(other / "data/default/test.jsonl", 1, lambda row: row.update(answer="Ada Holm"))
    answers = [craqan.load(split="test", data_dir=folder)[0]["answer"] for folder in (checkout, other)]
    assert answers == ["Ida Holm", "Ada Holm"]


# --- rows are held against the schema --------------------------------------------------------------------------------


BREACHES: dict[str, tuple[Any, str]] = {
    "missing": (lambda r: r.pop("domain"), 'column "domain" is missing'),
    "extra": (lambda r: r.update(note=1), 'column "note" is not in the schema'),
    "null": (lambda r: r.update(answer=None), 'column "answer" should be string, not null'),
    "number for text": (lambda r: r.update(answer=1977), 'column "answer" should be string, not 1977'),
    "text for number": (lambda r: r.update(distance="1"), 'column "distance" should be int32, not "1"'),
    "true for number": (lambda r: r.update(distance=True), 'column "distance" should be int32, not true'),
    "too large": (lambda r: r.update(distance=2**31), 'column "distance" should be int32'),
    "fraction": (lambda r: r.update(distance=1.0), 'column "distance" should be int32, not 1.0'),
    "text for list": (lambda r: r.update(reviewed_by="checks"), 'column "reviewed_by" should be a list'),
    "in a list": (lambda r: r.update(section_path=["a", 1]), 'column "section_path[1]" should be string, not 1'),
    "nested": (lambda r: r["sentences"][1].pop("end"), 'column "sentences[1].end" is missing'),
    "deeper": (
        lambda r: r["coreferences"][0]["mention"].update(start="x"),
        'column "coreferences[0].mention.start" should be int32',
    ),
    "object for list": (lambda r: r.update(sentences={"text": []}), 'column "sentences" should be a list'),
    "half a character": (lambda r: r.update(answer="\ud83d"), 'column "answer" should be string'),
}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("breach", BREACHES)
def test_a_row_outside_the_schema_is_an_error_that_names_file_line_and_column(
    breach: str, streaming: bool, checkout: Path
) -> None:
    change, message = BREACHES[breach]
    edit(checkout / "data/default/train.jsonl", 2, change)
    with pytest.raises(craqan.DataError) as caught:
        whole(craqan.load(split="train", data_dir=checkout, streaming=streaming))
    assert message in str(caught.value)
    assert "data/default/train.jsonl:2: " in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not a JSON object of its own"),
        ("{'id': 1}", "not a JSON object of its own"),
        ('{"id": "a"', "not a JSON object of its own"),
        ('{"id": "a", "id": "b"}', "not a JSON object of its own: a key is given twice"),
        ("[1]", 'column "row" should be an object'),
    ],
)
def test_a_line_that_is_no_row_is_named(line: str, message: str, checkout: Path) -> None:
    with (checkout / "data/default/train.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(craqan.DataError, match=r"train\.jsonl:3: " + message):
        craqan.load(split="train", data_dir=checkout)


def test_a_float_that_is_no_number_is_refused() -> None:
    for value in (float("nan"), float("inf"), "1", True):
        with pytest.raises(craqan.DataError, match="float32"):
            craqan.check_columns({"seconds": value}, {"seconds": craqan.Value("float32")}, "x:1")


def test_a_split_in_two_formats_is_refused_instead_of_chosen(checkout: Path) -> None:
    (checkout / "data/default/train-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(craqan.DataError, match='holds "train" as jsonl and as parquet: remove one'):
        craqan.load(data_dir=checkout)


def test_a_split_that_nobody_knows_is_refused_instead_of_ignored(checkout: Path) -> None:
    (checkout / "data/v1/train.jsonl").rename(checkout / "data/v1/test.jsonl")
    with pytest.raises(craqan.DataError, match='holds a split "test"; "v1" knows train'):
        craqan.load("v1", data_dir=checkout)


# --- what does not exist ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"config": "v9"},
            'There is no config "v9"; there are default, random, domain, articles, provenance, rejected, v1, original.',
        ),
        ({"split": "dev"}, 'There is no split "dev" in the config "default"; there are train, validation, test.'),
        (
            {"split": "train+dev[:3]"},
            'There is no split "dev" in the config "default"; there are train, validation, test.',
        ),
        (
            {"config": "rejected", "split": "test"},
            'There is no split "test" in the config "rejected"; there are train.',
        ),
        ({"config": "v1", "split": "test"}, 'There is no split "test" in the config "v1"; there are train.'),
    ],
)
def test_what_does_not_exist_is_answered_with_what_does(
    arguments: dict[str, str], message: str, streaming: bool, checkout: Path
) -> None:
    with pytest.raises(ValueError) as caught:
        craqan.load(**arguments, data_dir=checkout, streaming=streaming)
    assert str(caught.value) == message


def test_a_folder_without_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(craqan.DataError, match=f'The config "default" has no data files in {tmp_path}/data'):
        craqan.load(data_dir=tmp_path)


@pytest.mark.parametrize("repo", ["anyone/craqan", "Edge-Pyxos/CRaQAn"])
def test_a_repository_that_datasets_would_refuse_is_told_its_name(repo: str) -> None:
    with pytest.raises(
        ValueError, match='refuses a repository or folder named "craqan".*use "Edge-Pyxos/CRaQAn-dataset"'
    ):
        craqan.load(repo=repo)


@pytest.mark.parametrize("repo", ["craqan", "../data", "a/b/c", "https://x/y", "a/b@main"])
def test_a_repository_needs_an_owner_and_a_name(repo: str) -> None:
    with pytest.raises(ValueError, match="is no name of a repository"):
        craqan.load(repo=repo, revision="v1")


def test_our_own_names_are_usable() -> None:
    assert craqan.usable_name(craqan.REPO) == craqan.REPO
    assert craqan.usable_name(craqan.ORIGINAL_REPO) == craqan.ORIGINAL_REPO


# --- one file, one dependency, no network ----------------------------------------------------------------------------


def test_craqan_imports_the_standard_library_and_datasets_only() -> None:
    tree = ast.parse((ROOT / "craqan.py").read_text(encoding="utf-8"))
    modules = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    modules |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {m.split(".")[0] for m in modules} - set(sys.stdlib_module_names) == {"datasets"}


def test_local_data_is_loaded_without_a_single_connection(checkout: Path, tmp_path: Path) -> None:
    code = """
        import socket
        def refuse(*args): raise SystemExit(f"went to the network: {args}")
        socket.socket.connect = socket.getaddrinfo = refuse
        import craqan
        for config in ("default", "articles", "provenance", "rejected", "v1"):
            craqan.load(config)
            for split in craqan.load(config, streaming=True).values(): list(split)
        print("done")
    """
    code = re.sub("^ {8}", "", code, flags=re.MULTILINE)
    assert python(code, checkout, tmp_path / "home") == "done\n"


def test_releases_are_versions_in_order_and_cited() -> None:
    versions = [tuple(map(int, v.split("."))) for v in craqan.RELEASES]
    assert versions == sorted(versions) and all(len(v) == 3 for v in versions)
    assert craqan.VERSION in craqan.CITATION and "2311.16338" in craqan.CITATION
    assert str(craqan.Craqan.BUILDER_CONFIGS[0].version) == craqan.VERSION

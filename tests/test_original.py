"""The config "original": the first release's rows in every odd shape, its index base, and the Hub it comes from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import craqan
from generation.releases import card, invariants
from generation.releases.assemble import assemble
from tests.dataset_files import DRAFTS, LEAVE, ROOT, edit, python
from tests.hub import Hub
from tests.hub_client import put

FERRY = (
    "The Harbor Act was passed in 1974.",
    "Mary Cole wrote most of the bill.",
    "It requires every ferry to carry two rafts.",
    "She had lost a brother at sea.",
)


def original(
    answer: str = "two rafts", required: Any = (0, 2), sentences: Any = FERRY, **changes: Any
) -> dict[str, Any]:
    """A row as Edge-Pyxos/CRaQAn_v1 has it, `section_sentences` a JSON string of objects."""
    text = " ".join(sentences)
    return {
        "title": "Harbor Act",
        "article": f"# Harbor Act\n\nLead.\n\n## History\n\n{text}",
        "article_titles": ["Harbor Act", "History"],
        "article_sections": ["Lead.", text],
        "section": text,
        "section_index": 1,
        "section_sentences": json.dumps([{"index": i, "sentence": s} for i, s in enumerate(sentences)]),
        "question": "What does the Harbor Act require every ferry to carry?",
        "answer": answer,
        "sentences_required": list(required) if isinstance(required, tuple) else required,
        "url": "https://en.wikipedia.org/wiki/Harbor_Act",
        "time_downloaded": "2023-11-01",
        **changes,
    }


SHAPES: dict[str, Any] = {
    "JSON objects": json.dumps([{"index": i, "sentence": s} for i, s in enumerate(FERRY)]),
    "JSON objects from 1": json.dumps([{"index": i, "sentence": s} for i, s in enumerate(FERRY, start=1)]),
    "JSON strings": json.dumps(FERRY),
    "Python literal of objects": str([{"index": i, "sentence": s} for i, s in enumerate(FERRY)]),
    "Python literal of strings": str(list(FERRY)),
    "list of objects": [{"index": i, "sentence": s} for i, s in enumerate(FERRY)],
    "list of strings": list(FERRY),
    "objects without index": json.dumps([{"sentence": s} for s in FERRY]),
    "objects with more": json.dumps([{"index": i, "sentence": s, "x": 1} for i, s in enumerate(FERRY)]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_section_sentences_are_read_in_every_shape(shape: str) -> None:
    rows, report = craqan.convert_original([original(section_sentences=SHAPES[shape])])
    (row,) = rows
    assert [s["text"] for s in row["sentences"]] == list(FERRY)
    assert row["required_sentence_indices"] == [0, 2] and row["distance"] == 2
    assert row["section_path"] == ["History"]
    invariants.check_row("original", row)
    assert report.startswith("Edge-Pyxos/CRaQAn_v1: 1 rows read, 1 converted, 0 left out.\n")


def test_required_sentences_may_be_text_and_in_any_order() -> None:
    for required in ("[2, 0]", "[2, 0, 2]", [2, 0]):
        assert craqan.convert_original([original(required=required)]).rows[0]["required_sentence_indices"] == [0, 2]


def numbered(base: int, **changes: Any) -> list[dict[str, Any]]:
    """Rows whose required sentences count from `base` while "index" is left out, so that it tells nothing."""
    facts = [("two rafts", (0, 2)), ("a brother", (1, 3)), ("most of the bill", (0, 1))]
    return [
        original(answer, tuple(i + base for i in required), section_sentences=json.dumps(FERRY), **changes)
        for answer, required in facts
    ]


@pytest.mark.parametrize("base", [0, 1])
def test_the_index_base_is_found_over_all_rows(base: int) -> None:
    rows, report = craqan.convert_original(numbered(base))
    assert [r["required_sentence_indices"] for r in rows] == [[0, 2], [1, 3], [0, 1]]
    assert f"sentences_required counts from {base} (in range only so:" in report


@pytest.mark.parametrize("base", [0, 1])
def test_the_answers_words_decide_where_the_range_does_not(base: int) -> None:
    row = original("two rafts", (1 + base, 3 + base), section_sentences=json.dumps([*FERRY[1:], "So.", "So it is."]))
    rows, report = craqan.convert_original([row])
    assert rows[0]["required_sentence_indices"] == [1, 3]
    assert "in range only so: 0 rows for 0, 0 for 1; answer's words only so: 1 rows for 0" in report or base


@pytest.mark.parametrize("base", [0, 1])
def test_the_index_values_decide_where_nothing_else_does(base: int) -> None:
    labelled = json.dumps([{"index": i, "sentence": s} for i, s in enumerate(FERRY, start=base)])
    rows, _ = craqan.convert_original([original("unheard of", (1, 2), section_sentences=labelled)])
    assert rows[0]["required_sentence_indices"] == [1 - base, 2 - base]


def test_evidence_for_both_bases_is_an_error_and_no_guess() -> None:
    with pytest.raises(craqan.DataError, match="cannot tell whether sentences_required counts from 0 or 1"):
        craqan.convert_original([*numbered(0), *numbered(1, title="Other Act")])
    with pytest.raises(craqan.DataError, match="cannot tell"):
        craqan.convert_original([original("unheard of", (1, 2), section_sentences=json.dumps(FERRY))])


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "broken literal": ({"section_sentences": "[{'index': 0, "}, "neither JSON nor a Python literal"),
    "code": ({"section_sentences": "__import__('os').getcwd()"}, "neither JSON nor a Python literal"),
    "no list": ({"section_sentences": '{"0": "a"}'}, "section_sentences is not a list"),
    "no sentences": ({"section_sentences": "[]"}, "no sentence"),
    "empty sentence": ({"section_sentences": '["a", ""]'}, "no sentence"),
    "null sentence": ({"section_sentences": '[{"index": 0, "sentence": null}]'}, "no sentence"),
    "gap in index": (
        {"section_sentences": json.dumps([{"index": i, "sentence": "a"} for i in (0, 2)])},
        "do not count up from 0 or 1",
    ),
    "one required": ({"sentences_required": [1]}, "not 2 or 3"),
    "four required": ({"sentences_required": [0, 1, 2, 3]}, "not 2 or 3"),
    "out of range": ({"sentences_required": [0, 99]}, "not 2 or 3 that exist"),
    "no numbers": ({"sentences_required": ["0", "2"]}, "not a list of numbers"),
    "truth values": ({"sentences_required": [False, True]}, "not a list of numbers"),
    "no question": ({"question": " "}, "question is empty"),
    "no answer": ({"answer": None}, "answer is empty"),
    "missing column": ({"section_sentences": KeyError}, "column 'section_sentences' is missing"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_row_that_cannot_be_converted_is_counted_and_named(kind: str) -> None:
    changes, message = BAD[kind]
    bad = {k: v for k, v in original(title="Bad Act", **changes).items() if v is not KeyError}
    rows, report = craqan.convert_original([*numbered(0), bad])
    assert len(rows) == 3
    assert "4 rows read, 3 converted, 1 left out." in report
    assert "row 4 left out: " in report and message in report


def test_a_pair_that_comes_twice_is_counted_and_named() -> None:
    _, report = craqan.convert_original([*numbered(0), numbered(0)[1]])
    assert "4 rows read, 3 converted, 1 left out." in report
    assert "row 4 left out: the same pair as an earlier row." in report


def test_no_readable_row_is_an_error() -> None:
    with pytest.raises(craqan.DataError, match="not one of 1 rows can be read; row 1: column 'title' is missing"):
        craqan.convert_original([{"a": 1}])
    with pytest.raises(craqan.DataError, match="not one of 0 rows"):
        craqan.convert_original([])


def test_sentences_are_found_in_the_section_whatever_the_white_space() -> None:
    text = "## History\n\n" + "\n\n".join(FERRY).replace("two rafts", "two\n  rafts") + "\n"
    (row,), report = craqan.convert_original([original(section=text, article_sections=[])])
    assert row["section_text"] == text and row["sentences"][2]["text"].endswith("two\n  rafts.")
    invariants.check_row("original", row)
    assert "0 sections rebuilt" in report


def test_a_sentence_that_comes_twice_is_found_at_both_places() -> None:
    (row,), _ = craqan.convert_original([original(sentences=(*FERRY, FERRY[0]))])
    assert row["sentences"][4]["start"] > row["sentences"][3]["end"]
    invariants.check_row("original", row)


def test_a_section_named_by_its_heading_is_found_in_the_article() -> None:
    (row,), report = craqan.convert_original([original(section="History")])
    assert row["section_text"] == " ".join(FERRY) and "0 sections rebuilt" in report


def test_sentences_that_are_no_slices_are_joined_and_counted() -> None:
    rows, report = craqan.convert_original([original(section="Something else.", article_sections=[])])
    assert rows[0]["section_text"] == " ".join(FERRY)
    invariants.check_row("original", rows[0])
    assert "1 sections rebuilt" in report


# --- over HTTP -------------------------------------------------------------------------------------------------------


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running


def put_original(hub: Hub, folder: Path) -> None:
    import datasets

    (folder / "data").mkdir(parents=True)
    rows = [*numbered(0), original(title="Bad Act", section_sentences="[")]
    dataset = datasets.Dataset.from_list(rows, features=craqan.FEATURES["v1"])
    dataset.to_parquet(folder / "data/train-00000-of-00001-0123456789abcdef.parquet")
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n", encoding="utf-8")
    put(hub, craqan.ORIGINAL_REPO, "abc", folder)


SHOW_ORIGINAL = """
import craqan
for streaming in (False, True):
    rows = craqan.load("original", revision="abc", split="train", streaming=streaming)
    print([r["required_sentence_indices"] for r in rows], rows.info.description.splitlines()[1:])
"""


def test_original_comes_from_the_hub_in_the_default_schema_with_its_report(hub: Hub, tmp_path: Path) -> None:
    put_original(hub, tmp_path / "original")
    out = python(SHOW_ORIGINAL + LEAVE, ROOT, tmp_path / "home", HF_ENDPOINT=hub.url).splitlines()
    assert out[0] == out[1]
    assert out[0].startswith(
        "[[0, 2], [1, 3], [0, 1]] ['Edge-Pyxos/CRaQAn_v1@abc: 4 rows read, 3 converted, 1 left out.'"
    )
    assert "sentences_required counts from 0" in out[0] and "row 4 left out" in out[0]


def put_release(hub: Hub, folder: Path, version: str, **changes: Any) -> None:
    """A release of the drafts, one row of its test split changed; None takes a column out."""
    assemble(DRAFTS, folder / version / "data", seed=0)
    card.update(folder / version / "README.md", folder / version / "data")

    def change(row: dict[str, Any]) -> None:
        row.update(changes)
        for name in [name for name, value in changes.items() if value is None]:
            del row[name]

    edit(folder / version / "data/default/test.jsonl", 1, change)
    put(hub, craqan.REPO, version, folder / version)


def test_a_revision_is_read_from_the_hub_and_no_other(hub: Hub, tmp_path: Path) -> None:
    put_release(hub, tmp_path, "v0.1.0", answer="Ida Holm")
    put_release(hub, tmp_path, "v0.2.0", answer="Ada Holm")
    code = "import craqan\nfor revision in ('v0.1.0', 'v0.2.0', 'main'):\n    for streaming in (False, True):\n"
    code += "        rows = craqan.load(split='test', revision=revision, streaming=streaming)\n"
    code += "        print(next(iter(rows))['answer'])\n"
    out = python(code, ROOT, tmp_path / "home", HF_ENDPOINT=hub.url).splitlines()
    assert out == ["Ida Holm"] * 2 + ["Ada Holm"] * 4


def test_a_release_is_held_against_the_schema_too(hub: Hub, tmp_path: Path) -> None:
    put_release(hub, tmp_path, "v0.1.0", domain=None)
    code = "import craqan\ntry: craqan.load(revision='v0.1.0')\nexcept craqan.DataError as error: print(error)"
    assert 'column "domain" is missing' in python(code, ROOT, tmp_path / "home", HF_ENDPOINT=hub.url)


FAILING = """
import time
time.sleep = lambda seconds: None  # the Hub's client waits between its retries
import craqan
for config, revision in {calls}:
    try: print(craqan.load(config, revision=revision))
    except (ConnectionError, FileNotFoundError) as error: print(type(error).__name__, error)
"""


def test_a_revision_that_does_not_exist_is_named(hub: Hub, tmp_path: Path) -> None:
    put_release(hub, tmp_path, "v0.1.0", answer="Ida Holm")
    out = python(FAILING.format(calls=[("default", "v9")]), ROOT, tmp_path / "home", HF_ENDPOINT=hub.url)
    assert "Revision 'v9' doesn't exist" in out and out.count("\n") == 1


def test_without_a_connection_there_is_one_sentence_and_no_cached_revision(hub: Hub, tmp_path: Path) -> None:
    put_release(hub, tmp_path, "v0.1.0", answer="Ida Holm")
    put_original(hub, tmp_path / "original")
    names = (craqan.REPO, craqan.ORIGINAL_REPO)
    seen = f"import datasets\nfor name in {names}: datasets.load_dataset(name)" + LEAVE
    python(seen, ROOT, tmp_path / "home", HF_ENDPOINT=hub.url)
    code = FAILING.format(calls=[("default", "v0.1.0"), ("original", "abc")])
    offline = python(code, ROOT, tmp_path / "home", HF_HUB_OFFLINE="1")
    dead = python(code, ROOT, tmp_path / "home2", HF_ENDPOINT="http://127.0.0.1:9")
    for line, name in zip(offline.splitlines() + dead.splitlines(), names * 2, strict=True):
        assert line.startswith(f"ConnectionError {name} at ") and "cannot be read from the Hub: " in line


def test_original_without_a_revision_says_how_to_ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path)
    with pytest.raises(craqan.DataError, match="at a revision that you name"):
        craqan.load("original")


@pytest.mark.parametrize("arguments", [{"repo": "a/b"}, {"data_dir": "."}])
def test_original_from_elsewhere_is_refused_instead_of_ignored(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="is read from Edge-Pyxos/CRaQAn_v1 alone"):
        craqan.load("original", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not both"):
        craqan.load(revision="v1", data_dir=".")

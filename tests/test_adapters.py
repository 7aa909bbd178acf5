"""Files of CRaQAn and its neighbours in the common form: offsets point at their text, bad files are named."""

import json
import shutil
from pathlib import Path

import pytest

from evaluation.adapters import load
from evaluation.examples import ExampleError
from generation.errors import UsageError

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
REAL = {
    "quoref": ("quoref/quoref-dev-public.json", 886),
    "hotpotqa": ("hotpotqa/hotpot_dev_distractor_public.json", 54),
    "qed": ("qed/qed-dev-public.jsonlines", 488),
    "quac": ("quac_sample/quac_sample.json", 6),
    "expertqa": ("expertqa/rand_test.jsonl", 217),
}
ROW = {
    "sentences": ["The Harbor Act passed in 1950.", "It names a port.", "It funds two piers."],
    "question": "How many piers does the Harbor Act fund?",
    "answer": "two",
    "required_sentence_indices": [0, 2],
}


def rows_file(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def released():
    return load(ROOT / "data")


def test_places_of_our_rows_hold_the_text_of_the_rows(released):
    rows = [json.loads(x) for p in (ROOT / "data/default").glob("*.jsonl") for x in p.read_text("utf-8").splitlines()]
    by_id = {row["id"]: row for row in rows}
    assert len(released.examples) == len(rows)
    for example in released.examples:
        row = by_id[example.id]
        wanted = [row["sentences"][i]["text"] for i in row["required_sentence_indices"]]
        assert [released.text(place) for place in example.evidence] == wanted
        assert [released.text(link.mention) for link in example.links] == [
            c["mention"]["text"] for c in row["coreferences"]
        ]


def test_whole_articles_hold_sentences_in_order_and_apart(released):
    for document in released.documents.values():
        assert len(document.sections) > 1
        ends = [0, *(end for _, end in document.sentences)]
        assert all(start >= end for (start, _), end in zip(document.sentences, ends, strict=False))


def test_a_split_is_a_part_of_the_set(released):
    assert 0 < len(load(ROOT / "data", split="test").examples) < len(released.examples)


@pytest.mark.parametrize("format", REAL)
def test_every_answer_of_an_extractive_set_stands_in_its_context(format):
    path, count = REAL[format]
    if not (SHARED / path).exists():
        pytest.skip(f"needs ../shared/data/{path}")
    found = load(SHARED / path)
    assert (found.format, len(found.examples)) == (format, count)
    assert found.lacks
    for example in found.examples:
        said = " ".join(found.text(place) for place in example.context)
        assert all(found.text(place) and place.document in found.documents for place in example.evidence)
        if format in ("quoref", "qed", "quac"):
            assert all(a in said for a in example.answers[-1:])


def test_r4cs_joined_file_brings_its_derivations():
    path = SHARED / "r4c/r4c_dev_with_hotpot_context_29.json"
    if not path.exists():
        pytest.skip("needs ../shared/data/r4c")
    assert all(len(e.derivations) == 3 for e in load(path).examples)


def test_rows_without_articles_stand_on_their_passage_and_say_so(tmp_path):
    found = load(rows_file(tmp_path / "mine.jsonl", ROW))
    assert [found.text(p) for p in found.examples[0].evidence] == [ROW["sentences"][0], ROW["sentences"][2]]
    assert found.examples[0].distance == 2
    assert any("whole articles" in lack for lack in found.lacks)


def test_the_digest_changes_with_an_answer(tmp_path):
    one = load(rows_file(tmp_path / "a.jsonl", ROW)).digest
    assert one == load(rows_file(tmp_path / "b.jsonl", ROW)).digest
    assert one != load(rows_file(tmp_path / "c.jsonl", ROW | {"answer": "a port"})).digest


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({k: v for k, v in ROW.items() if k != "answer"}, "no known format"),
        (ROW | {"required_sentence_indices": [0, 9]}, "row 1.*outside the 3"),
        (ROW | {"required_sentence_indices": []}, "row 1 names no required sentence"),
        (ROW | {"required_sentence_indices": "0,2"}, "row 1.*required_sentence_indices"),
        (ROW | {"sentences": 7}, "row 1.*sentences"),
    ],
)
def test_a_bad_row_is_named_in_one_sentence(tmp_path, row, said):
    with pytest.raises(ExampleError, match=said) as error:
        load(rows_file(tmp_path / "bad.jsonl", row))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"), [("", "no question"), ("[]", "no question"), ("{", "line 1: this is not JSON"), ("[1]", "row 1")]
)
def test_a_file_without_questions_is_named(tmp_path, text, said):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExampleError, match=said):
        load(path)


def test_a_hotpot_row_that_needs_a_missing_paragraph_is_named(tmp_path):
    row = {"_id": "q", "question": "?", "answer": "a", "context": [["A", ["One."]]], "supporting_facts": [["B", 0]]}
    path = tmp_path / "hotpot.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(ExampleError, match='needs "B"'):
        load(path)


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: load(folder / "nowhere"),
        lambda folder: load(folder),
        lambda folder: load(ROOT / "data", split="dev"),
        lambda folder: load(rows_file(folder / "x.jsonl", ROW), split="test"),
        lambda folder: load(rows_file(folder / "x.jsonl", ROW), format="trivia"),
    ],
)
def test_a_wrong_call_is_a_usage_error(tmp_path, call):
    with pytest.raises(UsageError):
        call(tmp_path)


def test_a_row_whose_article_is_missing_is_named(tmp_path):
    shutil.copytree(ROOT / "data", tmp_path / "data")
    for path in (tmp_path / "data/articles").glob("*.jsonl"):
        path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    with pytest.raises(ExampleError, match="which no article holds"):
        load(tmp_path / "data")


def refusal(tmp_path, **columns):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**ROW, **columns}) + "\n", encoding="utf-8")
    with pytest.raises(ExampleError) as error:
        load(path)
    return str(error.value)


def test_a_coreference_that_points_at_nothing_names_its_row(tmp_path):
    act = {"sentence_index": 0, "text": "The Harbor Act"}
    for wrong in ({"sentence_index": 9, "text": "It"}, {"sentence_index": 2, "text": "It", "start": 5, "end": 900}):
        told = refusal(tmp_path, coreferences=[{"mention": wrong, "antecedent": act}])
        assert "row 1" in told and f"sentence {wrong['sentence_index']}" in told


def test_rows_without_required_sentences_or_with_another_derivation_are_named(tmp_path):
    assert "names no required sentence" in refusal(tmp_path, required_sentence_indices=[])
    for steps in ([{"head": "a"}], "abc"):
        assert 'row 1: "derivation"' in refusal(tmp_path, derivation=steps)


def test_a_question_that_is_no_text_is_named(tmp_path):
    asked = {"id": "q7", "question": None, "answers": [{"text": "b", "answer_start": 2}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "A b c.", "qas": [asked]}]}]}), encoding="utf-8")
    with pytest.raises(ExampleError, match="q7 must be texts"):
        load(path)


def test_a_mistyped_file_is_not_looked_for_on_the_hub(monkeypatch):
    import datasets

    def asked(*args, **options):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(datasets, "load_dataset", asked)
    with pytest.raises(UsageError, match="There is no data/nosuch.jsonl"):
        load("data/nosuch.jsonl")

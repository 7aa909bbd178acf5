# ruff: noqa: E501 (tables)
"""`craqan check`: rows of several makes, broken rows, exit codes, repeated questions."""

import json
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from generation.checking.repeats import Questions
from generation.checking.rows import RowError, check_file, read_pair
from generation.cli import app
from generation.errors import UsageError
from generation.language import nlp
from generation.records import Span
from tests.helpers import PASSAGE, candidate_of

GOOD = {
    "sentences": list(PASSAGE),
    "question": candidate_of().question,
    "answer": "two rafts",
    "required_sentence_indices": [0, 2],
}
OTHER = GOOD | {"question": "When was the Harbor Safety Act with its rule on ferries passed?", "answer": "1974"}
LABELS = [asdict(c) for c in candidate_of().coreferences]
V1 = {
    "section_sentences": json.dumps([{"index": i, "sentence": s} for i, s in enumerate(PASSAGE)]),
    "sentences_required": [0, 2],
    "question": GOOD["question"],
    "answer": GOOD["answer"],
}


def write(tmp_path, *rows, name="pairs.jsonl"):
    path = tmp_path / name
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return path


MAKES = {
    "plain strings": GOOD,
    "objects with text": GOOD | {"sentences": [{"text": s, "start": 0, "end": 1} for s in PASSAGE]},
    "labels with offsets": GOOD | {"coreferences": LABELS},
    "labels without offsets": GOOD
    | {
        "coreferences": [
            {
                "mention": {"sentence_index": 2, "text": "It"},
                "antecedent": {"sentence_index": 0, "text": "The Harbor Safety Act"},
            }
        ]
    },
    "no labels": GOOD | {"coreferences": None},
    "extra columns": GOOD | {"id": "x", "human_reviews": 0},
    "v1": V1,
    "v1 counted from 1": V1
    | {
        "section_sentences": [{"index": i, "sentence": s} for i, s in enumerate(PASSAGE, 1)],
        "sentences_required": "[1, 3]",
    },
    "v1 as a Python literal": V1
    | {"section_sentences": repr([{"index": i, "sentence": s} for i, s in enumerate(PASSAGE)])},
}


@pytest.mark.parametrize("row", MAKES.values(), ids=MAKES)
def test_rows_of_every_make_are_read_alike(row):
    candidate, sentences = read_pair(row)
    assert sentences == PASSAGE
    assert (candidate.question, candidate.answer) == (GOOD["question"], "two rafts")
    assert candidate.required_sentence_indices == (0, 2)


def test_labels_without_offsets_are_found_at_the_edges_of_words():
    sentences = ["The Bitter Pit Act came. ", "A pit, with it, is It."]
    labels = [
        {
            "mention": {"sentence_index": 1, "text": "it"},
            "antecedent": {"sentence_index": 0, "text": "The Bitter Pit Act"},
        }
    ]
    candidate, _ = read_pair(
        GOOD | {"sentences": sentences, "required_sentence_indices": [0, 1], "coreferences": labels}
    )
    assert candidate.coreferences[0].mention == Span(1, 12, 14, "it")
    assert candidate.coreferences[0].kind == "pronominal"


BROKEN = {
    "not JSON": ('{"question": ', "not JSON"),
    "a list": ("[1]", "object is wanted"),
    "no sentences": ({k: v for k, v in GOOD.items() if k != "sentences"}, '"sentences" is missing'),
    "no question": ({k: v for k, v in GOOD.items() if k != "question"}, '"question" is missing'),
    "answer a list": (GOOD | {"answer": ["two"]}, '"answer" must be text'),
    "answer nothing": (GOOD | {"answer": None}, '"answer" must be text, not nothing'),
    "indices as text": (GOOD | {"required_sentence_indices": "0, 2"}, "whole numbers, not text"),
    "indices as strings": (GOOD | {"required_sentence_indices": ["0", "2"]}, "whole numbers"),
    "indices true": (GOOD | {"required_sentence_indices": [True, 2]}, "whole numbers"),
    "sentences empty": (GOOD | {"sentences": []}, "not an empty list"),
    "a book": (GOOD | {"sentences": ["word " * 30_000, "It."]}, "more than 100,000 characters"),
    "a sentence empty": (GOOD | {"sentences": ["", "b"]}, "a sentence is empty"),
    "label without index": (
        GOOD | {"coreferences": [{"mention": {"text": "It"}, "antecedent": {}}]},
        '"sentence_index"',
    ),
    "label as text": (GOOD | {"coreferences": ["It"]}, "a coreference must be an object"),
    "index beyond the end": (GOOD | {"required_sentence_indices": [0, 9]}, "does not exist"),
    "label of other words": (
        GOOD
        | {
            "coreferences": [
                {
                    "mention": {"sentence_index": 2, "text": "Them"},
                    "antecedent": {"sentence_index": 0, "text": "The Harbor"},
                }
            ]
        },
        'The mention "Them" does not stand in sentence 2',
    ),
}


@pytest.mark.parametrize(("row", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_row_is_told_by_its_line_and_the_others_are_still_checked(tmp_path, row, reason):
    rows = list(check_file(write(tmp_path, GOOD, row, OTHER)))
    assert [r.rejected for r in rows] == [False, True, False]
    assert [(r.index, r.line) for r in rows] == [(0, 1), (1, 2), (2, 3)]
    assert reason in rows[1].problems[0].reason
    if rows[1].problems[0].check == "schema":
        assert rows[1].problems[0].reason.startswith("Line 2: ")


def run(*args):
    return CliRunner().invoke(app, ["check", *map(str, args)])


def test_a_good_file_exits_with_0_and_prints_nothing_to_mend(tmp_path):
    result = run(write(tmp_path, GOOD, OTHER))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "2 rows: 2 pass, 0 rejected" in result.stderr


def test_a_rejected_row_exits_with_1_and_is_printed_with_its_line(tmp_path):
    path = write(tmp_path, GOOD, GOOD | {"answer": "1975", "question": "When was the Harbor Safety Act passed?"})
    result = run(path)
    assert result.exit_code == 1
    assert f"{path}:2: rejected: When was" in result.stdout
    assert "wrong_information (answer_supported)" in result.stdout


def test_json_gives_one_object_a_row(tmp_path):
    result = run(write(tmp_path, GOOD, "\n", "no JSON"), "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [set(r) for r in rows] == [{"index", "problems"}] * 2
    assert [r["index"] for r in rows] == [0, 1]
    assert set(rows[1]["problems"][0]) == {"code", "check", "reason", "certainty"}


@pytest.mark.parametrize("content", [None, "", "\n \n", "\udcff"], ids=["absent", "empty", "blank", "binary"])
def test_a_file_without_rows_is_a_wrong_call(tmp_path, content):
    path = tmp_path / "pairs.jsonl"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError):
        list(check_file(path))


def test_a_question_asked_before_is_told_within_the_file_and_across_files(tmp_path):
    again = GOOD | {"question": "what does the HARBOR safety act require every ferry to carry ?"}
    path, old = write(tmp_path, OTHER, GOOD, again), write(tmp_path, OTHER, name="old.jsonl")
    rows = list(check_file(path, [old]))
    assert [[p.reason for p in r.problems if p.check == "not_repeated"] for r in rows] == [
        ["The question repeats the one of old.jsonl, line 1; ask something else."],
        [],
        ["The question repeats the one of line 2; ask something else."],
    ]


NEAR = [
    ("When did the Harbor Safety Act of Ellery pass the Senate?", "When did the Harbor Safety Act of Ellery pass in the Senate?", "certain"),
    ("When did the Harbor Safety Act of 1974 pass?", "When did the Harbor Safety Act of 1975 pass?", None),
    ("Who founded the Bureau of Shoals in Vessa?", "When did the founder of the Bureau of Shoals leave?", None),
    ("Who wrote the Harbor Safety Act?", "When did somebody write the Harbor Safety Act?", None),
    ("How many rafts does the Harbor Safety Act of Ellery require?", "How many large rafts does the Harbor Safety Act of Ellery require?", "unsure"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "certainty"), NEAR, ids=[n for _, n, _ in NEAR])
def test_questions_are_alike_by_their_words_but_not_by_their_numbers(old, new, certainty):
    asked = Questions()
    asked.add(old, "before")
    found = asked.earlier(new)
    assert (found and found.certainty) == certainty


def test_no_near_question_is_missed_by_the_filing():
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()
    asked = Questions()
    asked.add("What about " + " ".join(words) + "?", "before")
    for left_out in words:  # similarity 10/11 with one word less
        assert asked.earlier("What about " + " ".join(w for w in words if w != left_out) + "?") is not None


def test_a_row_error_is_one_sentence():
    with pytest.raises(RowError, match=r"^[^.]+\.$"):
        read_pair({"sentences": 3})


def test_passages_parsed_together_are_parsed_as_each_by_itself():
    passages = [("A pier was built.", f"It cost {n} pounds, and she paid for it.") for n in range(40)] + [("", " ")]
    alone = [[(t.text, t.dep_, t.head.i, t.ent_type_) for t in nlp.parse_sentences(p).doc] for p in passages]
    nlp.parse_sentences.cache_clear()
    nlp.parse_ahead(passages)
    together = [[(t.text, t.dep_, t.head.i, t.ent_type_) for t in nlp.parse_sentences(p).doc] for p in passages]
    assert together == alone


def test_a_parquet_file_is_checked_like_lines(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([GOOD, GOOD | {"answer": "nine"}]), tmp_path / "pairs.parquet")
    assert [row.rejected for row in check_file(tmp_path / "pairs.parquet")] == [False, True]


@pytest.mark.parametrize(
    "text", [json.dumps([GOOD, OTHER]), json.dumps([GOOD, OTHER], indent=1), json.dumps(GOOD, indent=1)]
)
def test_one_json_value_in_place_of_lines_is_a_wrong_call_in_one_sentence(tmp_path, text):
    done = CliRunner().invoke(app, ["check", str(write(tmp_path, text))])
    assert isinstance(done.exception, UsageError) and "one JSON" in str(done.exception)


def test_half_a_character_is_a_breach_and_the_next_row_is_checked(tmp_path):
    broken = json.dumps(GOOD | {"sentences": ["A \ud800 law.", "It holds."]})
    first, second = check_file(write(tmp_path, broken, GOOD))
    assert first.problems[0].check == "schema" and "half a character" in first.problems[0].reason
    assert not second.rejected


def test_a_question_of_a_million_letters_is_shown_in_part(tmp_path):
    done = CliRunner().invoke(
        app, ["check", str(write(tmp_path, GOOD | {"question": "What is " + "a" * 1_000_000 + "?"}))]
    )
    assert done.exit_code == 1 and len(done.output) < 2_000


def test_a_missing_column_is_told_with_those_that_a_pair_has(tmp_path):
    (row,) = check_file(write(tmp_path, {"context": "A b.", "question": "Who?", "answers": {"text": ["b"]}}))
    assert "required_sentence_indices" in row.problems[0].reason

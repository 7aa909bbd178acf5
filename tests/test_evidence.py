"""Evidence metrics: equal to the official evaluators' figures, and defined where those crash."""

import pytest

from evaluation import answers, evidence, official
from generation.errors import UsageError
from tests.test_answers import agree, golden


def test_hotpot_agrees_with_its_script():
    for case in golden("hotpot"):
        agree(case, official.hotpot(case["gold"], case["prediction"]), case["official"])


def test_hotpot_over_no_question_is_zero_where_the_script_divides_by_zero():
    assert set(official.hotpot([], {"answer": {}, "sp": {}}).values()) == {0.0}


@pytest.mark.parametrize(
    ("predicted", "gold", "match", "precision", "recall"),
    [
        ([0, 2], [2, 0], 1, 1, 1),
        ([0, 2, 2], [0, 2], 1, 1, 1),  # sets: repetition does not count
        ([0, 1, 2], [0, 2], 0, 2 / 3, 1),
        ([0], [0, 2], 0, 1, 1 / 2),
        ([], [0, 2], 0, 0, 0),
        ([1], [], 0, 0, 0),
        ([], [], 1, 0, 0),
        ([["The Act", 0]], [("The Act", 0)], 1, 1, 1),
        ([["the act", 0]], [["The Act", 0]], 0, 0, 0),  # titles as they are written
    ],
)
def test_required_sentences_are_compared_as_sets(predicted, gold, match, precision, recall):
    score = evidence.supporting_facts(predicted, gold)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert (score.exact_match, score.precision, score.recall) == (match, precision, recall)
    assert score.f1 == pytest.approx(f1)


def test_the_joint_multiplies_answer_and_evidence():
    answer = answers.hotpot_f1("two rafts", "rafts")  # precision 1/2, recall 1
    facts = evidence.supporting_facts([0], [0, 2])  # precision 1, recall 1/2
    score = evidence.joint(answer, facts)
    assert (score.exact_match, score.precision, score.recall, score.f1) == (0.0, 0.5, 0.5, 0.5)
    perfect = evidence.joint(answers.hotpot_f1("rafts", "rafts"), evidence.supporting_facts([0], [0]))
    assert perfect == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("predicted", "references", "f1"),
    [
        (["p1", "p2"], [["p1"], ["p1", "p2"]], 1.0),
        (["p1", "p1"], [["p1"]], 2 / 3),  # a repeated paragraph counts in the length and matches once
        ([], [[]], 1.0),
        ([], [["p1"], []], 1.0),
        (["p1"], [[]], 0.0),
        ([], [], 1.0),
    ],
)
def test_paragraph_f1_is_the_best_over_annotators(predicted, references, f1):
    assert evidence.qasper_f1(predicted, references) == pytest.approx(f1)


def test_text_evidence_only_leaves_tables_and_figures_out():
    answer = {"unanswerable": False, "extractive_spans": ["x"], "free_form_answer": "", "yes_no": None}
    question = {"question_id": "q", "answers": [{"answer": answer | {"evidence": ["p1", "FLOAT SELECTED: Table 1"]}}]}
    made = {"q": {"answer": "x", "evidence": ["p1"]}}
    assert official.qasper({"p": {"qas": [question]}}, made)["Evidence F1"] == pytest.approx(2 / 3)
    assert official.qasper({"p": {"qas": [question]}}, made, text_evidence_only=True)["Evidence F1"] == 1.0


@pytest.mark.parametrize("facts", ["ab", 3, {"The Act": [0]}, [[["The Act"], 0]], b"ab"])
def test_facts_that_are_no_collection_of_facts_are_one_clear_sentence(facts):
    with pytest.raises(UsageError, match="Supporting facts are a list"):
        evidence.supporting_facts([0], facts)


@pytest.mark.parametrize(("predicted", "references"), [("a", [["a"]]), (["a"], ["a"]), (["a"], None), (["a"], "a")])
def test_qasper_refuses_texts_where_lists_of_paragraphs_are_wanted(predicted, references):
    with pytest.raises(UsageError, match="Evidence is a list of paragraphs"):
        evidence.qasper_f1(predicted, references)


def test_qasper_gives_nothing_for_evidence_that_was_not_predicted():
    assert evidence.qasper_f1(None, [["a"]]) == 0

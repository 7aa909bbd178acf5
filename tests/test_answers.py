"""Answer metrics: equal to the official evaluators' figures, and defined where those crash."""

import json
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import answers, official
from evaluation.answers import CANNOT_ANSWER
from generation.errors import UsageError

GOLDEN = Path(__file__).parents[2] / "shared" / "golden"


def golden(name: str) -> list[dict]:
    path = GOLDEN / f"{name}.sample.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


def flat(figures: dict, prefix: str = "") -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in figures.items():
        found |= flat(value, f"{prefix}{key}/") if isinstance(value, dict) else {prefix + key: value}
    return found


def agree(case: dict, ours: dict, theirs: dict) -> None:
    ours, theirs = flat(ours), flat(theirs)
    assert {k: ours[k] for k in theirs} == pytest.approx(theirs, abs=1e-9, rel=0), case["id"]


def qasper_predictions(case: dict) -> dict[str, dict]:
    return {
        p["question_id"]: {"answer": p["predicted_answer"], "evidence": p["predicted_evidence"]}
        for p in case["prediction"]
    }


def test_squad_1_agrees_with_its_script():
    for case in golden("squad1.1"):
        agree(case, official.squad1(case["data"], case["prediction"]), case["official"])


def test_squad_2_agrees_with_its_script_wherever_that_gives_a_value():
    seen = 0
    for case in golden("squad2.0"):
        threshold = case.get("na_prob_thresh", 1.0)
        ours = official.squad2(case["data"], case["prediction"], case.get("na_prob"), threshold)
        if case["official"] is not None:
            seen += 1
            agree(case, ours, case["official"])
            assert set(ours) == set(case["official"])
    assert seen == 17


def test_quac_agrees_with_its_script_over_files_and_question_by_question():
    compared = 0
    for case in golden("quac"):
        ours = official.quac(case["data"], case["predictions"], case["min_f1"])
        if case["official"] is not None:
            agree(case, ours, case["official"])
            assert round(ours["human_f1"], 1) == case["official_printed"]["human_f1_1dp"]
        made = {
            qid: text
            for line in case["predictions"]
            for qid, text in zip(line["qid"], line["best_span_str"], strict=True)
        }
        for question in (q for article in case["data"] for p in article["paragraphs"] for q in p["qas"]):
            references = [answer["text"] for answer in question["answers"]]
            theirs = case["per_question"][question["id"]]
            assert len(answers.quac_references(references)) == theirs["references_kept"]
            assert answers.human_f1(references) == pytest.approx(theirs["human_f1"], abs=1e-9, rel=0)
            if "f1" in theirs:
                compared += 1
                ours_f1 = answers.quac_f1(made[question["id"]], references)
                assert ours_f1 == pytest.approx(theirs["f1"], abs=1e-9, rel=0)
    assert compared > 100


def test_quoref_agrees_with_its_script_over_files_and_question_by_question():
    for case in golden("quoref"):
        agree(case, official.quoref(case["gold"], case["prediction"]), case["official"])
        for id_, theirs in case["per_question"].items():
            assert answers.quoref(case["prediction"][id_], case["gold"][id_]) == (theirs["em"], theirs["f1"])


def test_qasper_agrees_with_its_script_and_with_viscondes_reading_of_it():
    differ = 0
    for case in golden("qasper"):
        made = qasper_predictions(case)
        for count_missing, key in ((True, "official"), (False, "visconde_variant")):
            ours = official.qasper(
                case["gold"], made, text_evidence_only=case["text_evidence_only"], count_missing=count_missing
            )
            agree(case, ours, case[key])
        differ += case["official"] != case["visconde_variant"]
    assert differ == 2


@pytest.mark.parametrize(
    ("prediction", "references", "match", "f1"),
    [
        ("The  Harbor Act!", "harbor act", True, 1.0),
        ("two rafts", ["one raft", "two rafts and a boat"], False, 2 * 1 * 0.5 / 1.5),
        ("rafts rafts rafts", "rafts rafts", False, 2 * (2 / 3) / (2 / 3 + 1)),  # words count as often as they stand
        ("", "rafts", False, 0.0),
        ("the", "a", True, 1.0),
        ("", [], True, 1.0),  # no reference: the right answer is none
        ("rafts", [], False, 0.0),
        ("1–2", "1–2", True, 1.0),  # only ASCII punctuation goes
    ],
)
def test_exact_match_and_token_f1(prediction, references, match, f1):
    assert answers.exact_match(prediction, references) is match
    assert answers.token_f1(prediction, references) == pytest.approx(f1)


def test_the_f1_of_two_texts_of_articles_alone_is_the_one_asked_for():
    assert answers.token_f1("the", "a") == 1.0
    assert answers.token_f1("the", "a", empty=0.0) == 0.0
    assert answers.qasper_f1("the", ["a"]) == 0.0
    assert answers.quac_f1("the", ["a"]) == 0.0


@pytest.mark.parametrize(
    ("prediction", "reference", "match", "f1"),
    [
        ("yes", "Yes.", 1.0, 1.0),
        ("yes", "yes it is", 0.0, 0.0),  # no part marks for yes, no and noanswer
        ("yes it is", "yes", 0.0, 0.0),
        ("noanswer", "no", 0.0, 0.0),
        ("the", "a", 1.0, 0.0),
        ("two rafts", "rafts", 0.0, 2 / 3),
    ],
)
def test_hotpot_answers(prediction, reference, match, f1):
    score = answers.hotpot_f1(prediction, reference)
    assert (score.exact_match, score.f1) == (match, pytest.approx(f1))


def test_quac_leaves_one_reference_out_at_a_time():
    references = ["two rafts", "two rafts and a boat", "boat"]
    best = {r: answers.token_f1("two rafts", r) for r in references}
    without_first = max(best[references[1]], best[references[2]])
    assert answers.quac_f1("two rafts", references) == pytest.approx((without_first + 1.0 + 1.0) / 3)
    assert answers.quac_f1("two rafts", references[:1]) == 1.0


def test_cannotanswer_wins_ties_and_is_dropped_in_the_minority():
    assert answers.quac_references(["a boat", CANNOT_ANSWER]) == [CANNOT_ANSWER]
    assert answers.quac_references(["a boat", "a raft", CANNOT_ANSWER]) == ["a boat", "a raft"]
    assert answers.quac_f1(CANNOT_ANSWER, ["a boat", CANNOT_ANSWER]) == 1.0
    assert answers.quac_f1("a boat", ["a boat", CANNOT_ANSWER]) == 0.0
    assert answers.human_f1(["a boat", CANNOT_ANSWER]) == 1.0


def test_heq_counts_questions_and_whole_dialogs_and_a_missing_answer_fails_its_dialog():
    good, bad = ("two rafts", ["two rafts", "two rafts"]), ("a boat", ["two rafts", "two rafts"])
    missing = answers.Turn(None, ["two rafts", "two rafts"])
    unclear = ("a boat", ["two rafts", "nine cows"])  # human F1 is 0: not judged
    figures = answers.heq([[good, good], [good, bad], [good, missing], [good, unclear]])
    assert figures.heq_q == pytest.approx(5 / 7)
    assert figures.heq_d == pytest.approx(2 / 4)
    assert figures.f1 == pytest.approx(5 / 7)
    assert figures.unfiltered_f1 == pytest.approx(5 / 8)
    assert figures.human_f1 == 1.0


def test_heq_counts_a_missing_answer_even_where_people_disagree():
    unclear = ["two rafts", "nine cows"]
    assert answers.heq([[answers.Turn(None, unclear)]]).heq_d == 0.0
    assert answers.heq([[answers.Turn("a boat", unclear)]]).heq_d == 1.0
    assert answers.heq([[("rafts", ["rafts"]), (None, unclear)]]).heq_q == 0.5


def test_heq_of_nothing_is_zero_where_the_script_divides_by_zero():
    assert answers.heq([]) == (0.0,) * 5
    assert official.quac([], [])["unanswerable_acc"] == 0.0


@pytest.mark.parametrize(
    ("prediction", "references", "match", "f1"),
    [
        (["rafts", "boats"], ["boats", "rafts"], 1.0, 1.0),
        ("rafts", ["rafts", "boats"], 0.0, 0.5),
        (["rafts", "boats", "cows"], ["rafts"], 0.0, 0.33),
        (["5 rafts"], ["6 rafts"], 0.0, 0.0),  # the numbers differ
        (["1,000 rafts"], ["1000.0 rafts"], 1.0, 1.0),
        (["co-op"], ["co op"], 1.0, 1.0),
        ([], ["rafts"], 0.0, 0.0),
        (["rafts"], [], 0.0, 0.0),  # here the script crashes
        ([""], [" "], 0.0, 0.0),
    ],
)
def test_quoref_spans(prediction, references, match, f1):
    assert answers.quoref(prediction, references) == (match, pytest.approx(f1))


def test_quoref_pairs_spans_for_the_best_sum_not_greedily():
    prediction, references = ["red big boat", "red boat house"], ["red boat", "red big"]
    # "red big boat" fits both; only giving it "red big" leaves "red boat" for the other
    assert answers.quoref(prediction, references).f1 == round((0.8 + 0.8) / 2, 2)


def test_a_missing_squad_2_prediction_scores_zero_where_the_script_crashes():
    question = {"id": "q", "answers": [{"text": "rafts"}]}
    data = [{"paragraphs": [{"qas": [question, {"id": "r", "answers": []}]}]}]
    figures = official.squad2(data, {"r": ""})
    assert (figures["exact"], figures["HasAns_exact"], figures["NoAns_exact"]) == (50.0, 0.0, 100.0)
    assert official.squad2([], {})["exact"] == 0.0


SCORES = [
    answers.exact_match,
    answers.token_f1,
    answers.quac_f1,
    answers.qasper_f1,
    answers.quoref,
    lambda given, references: answers.hotpot_f1(given, references[0]),
]


@pytest.mark.parametrize("score", SCORES)
def test_no_prediction_scores_zero_and_what_is_no_text_is_told(score):
    nothing = score(None, ["two rafts"])
    assert not any(nothing if isinstance(nothing, tuple) else (nothing,))
    for prediction, references in ((3, ["3"]), (["x", None], ["y"]), ("x", [None])):
        with pytest.raises(UsageError, match="^An answer is a text, not|^A text or a list") as error:
            score(prediction, references)
        assert "\n" not in str(error.value)


@given(st.text(st.sampled_from("aAnthe \t\n\x00\x1c.,-'é—1"), max_size=12))
def test_the_fast_normal_form_is_squads(text):
    theirs = re.sub(r"\b(a|an|the)\b", " ", "".join(c for c in text.lower() if c not in string.punctuation))
    assert answers.normalize(text) == " ".join(theirs.split())


TEXT = st.text(st.sampled_from("ab the1-.,'é "), max_size=20)


@given(TEXT, st.lists(TEXT, max_size=4))
def test_every_score_lies_between_zero_and_one_and_a_match_scores_one(prediction, references):
    f1 = answers.token_f1(prediction, references)
    assert 0 <= f1 <= 1
    if answers.exact_match(prediction, references):
        assert f1 == 1.0
    if references:
        assert 0 <= answers.quac_f1(prediction, references) <= 1
        assert 0 <= answers.quoref(references, references).f1 <= 1


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_the_order_of_references_does_not_matter(references):
    shuffled = random.Random(0).sample(references, len(references))
    assert answers.token_f1("the a1 b", references) == answers.token_f1("the a1 b", shuffled)
    assert answers.quac_f1("the a1 b", references) == pytest.approx(answers.quac_f1("the a1 b", shuffled))
    assert answers.human_f1(references) == pytest.approx(answers.human_f1(shuffled))


@pytest.mark.parametrize("given", [None, 5, float("nan"), {"a": 1}, {"a"}, b"cat", [None], [b"cat"]])
@pytest.mark.parametrize(
    "score",
    [
        lambda given: answers.quac_f1("cat", given),
        lambda given: answers.human_f1(given),
        lambda given: answers.quoref("cat", given),
        lambda given: answers.token_f1("cat", given),
        lambda given: answers.hotpot_f1(b"cat", "cat"),
    ],
)
def test_references_that_are_no_texts_are_one_clear_sentence(score, given):
    with pytest.raises(UsageError):
        score(given)


def test_one_reference_may_be_given_as_a_text_and_is_never_read_letter_by_letter():
    assert answers.quac_f1("the cat", "cat") == answers.human_f1("cat") == 1
    assert answers.quoref("cat", "cat") == (1, 1)


@pytest.mark.parametrize(
    "dialogs", [["ab"], [{"a": 1}], [["ab"]], [[{"prediction": "a", "references": ["a"]}]], [[("a",)]]]
)
def test_heq_refuses_what_is_no_list_of_turns(dialogs):
    with pytest.raises(UsageError, match="is a (list of turns|pair)"):
        answers.heq(dialogs)

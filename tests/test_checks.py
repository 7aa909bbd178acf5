# ruff: noqa: E501 (tables)
"""Each check on good candidates and on the breach that it is there to find."""

import pytest

from generation import checks
from generation.records import PROBLEM_CODES, Coreference, Span
from tests.helpers import PASSAGE, candidate_of

LINK = candidate_of().coreferences[0]


def codes(candidate, level="all"):
    return {(p.code, p.check) for p in checks.run(candidate, PASSAGE, level) if p.certainty == "certain"}


GOOD = [
    candidate_of(),
    candidate_of(coreferences=()),
    candidate_of("Whom had Senator Mary Cole lost at sea?", "a brother", (1, 3), ()),
    candidate_of("What does the Harbor Safety Act require?", "Every ferry to carry two rafts."),
    candidate_of("When did the Harbor Safety Act with its ferry rule pass?", "1974"),
    candidate_of("Which law requires rafts and was passed in 1974?", "The Harbor Safety Act"),
    candidate_of("How many rafts does the Harbor Safety Act, and no other law, ask for?", "two"),
]


@pytest.mark.parametrize("candidate", GOOD, ids=lambda c: c.question)
def test_a_good_candidate_passes(candidate):
    assert codes(candidate) == set()


def span(index, text):
    return Span(index, PASSAGE[index].find(text), PASSAGE[index].find(text) + len(text), text)


BROKEN = [
    ("formatting", "texts_present", candidate_of(answer="  ")),
    ("formatting", "indices_valid", candidate_of(indices=(2,))),
    ("formatting", "indices_valid", candidate_of(indices=(0, 1, 2, 3))),
    ("formatting", "indices_valid", candidate_of(indices=(0, 4))),
    ("formatting", "indices_valid", candidate_of(indices=(-1, 2))),
    ("formatting", "indices_valid", candidate_of(indices=(2, 2))),
    ("formatting", "question_form", candidate_of(question="The Harbor Safety Act requires rafts.")),
    ("formatting", "question_form", candidate_of(question="What " + "very " * 50 + "long thing is this?")),
    ("formatting", "no_markup", candidate_of(answer="Answer: two rafts")),
    ("formatting", "no_markup", candidate_of(answer="```two rafts```")),
    ("coreference_error", "spans_real", candidate_of(coreferences=(Coreference("nominal", Span(2, 0, 3, "The"), LINK.antecedent),))),
    ("coreference_error", "spans_real", candidate_of(coreferences=(Coreference("nominal", Span(7, 0, 2, "It"), LINK.antecedent),))),
    ("coreference_error", "spans_required", candidate_of(coreferences=(Coreference("nominal", span(0, "1974"), LINK.antecedent),))),
    ("missing_sentences", "spans_required", candidate_of(coreferences=(Coreference("nominal", span(1, "the bill"), LINK.antecedent),))),
    ("compound_question", "single_question", candidate_of(question="What must ferries carry and when was the Harbor Safety Act passed?")),
    ("compound_question", "single_question", candidate_of(question="Which act is it? What must ferries carry?")),
    ("ambiguous_question", "question_stands_alone", candidate_of(question="What does it require every ferry to carry?")),
    ("ambiguous_question", "question_stands_alone", candidate_of(question="What does the passage say of the Harbor Safety Act?")),
    ("other", "answer_not_leaked", candidate_of(question="Does the Harbor Safety Act ask for two rafts?")),
    ("wrong_information", "answer_supported", candidate_of(question="When was the Harbor Safety Act passed?", answer="1975")),
    ("wrong_information", "answer_supported", candidate_of(answer="three green lanterns")),
    ("incomplete_answer", "answer_says_something", candidate_of(question="What requires rafts?", answer="It")),
    ("incomplete_answer", "answer_says_something", candidate_of(answer="It requires every ferry to carry two rafts.")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "check", "candidate"), BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_a_breach_is_found_under_its_code(code, check, candidate):
    assert (code, check) in codes(candidate)


@pytest.mark.parametrize(("code", "check", "candidate"), BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_every_reason_is_one_sentence_under_a_known_code(code, check, candidate):
    for problem in checks.run(candidate, PASSAGE):
        assert problem.code in PROBLEM_CODES
        assert problem.reason.endswith(".") and len(problem.reason) < 160


def test_numbers_may_be_grouped_and_possessives_dropped():
    sentences = ("Cole's Act was passed in May.", "It cost $1,200,000.")
    candidate = candidate_of("How much did Cole's Act cost?", "$1200000", (0, 1), ())
    assert checks.run(candidate, sentences) == ()


def test_format_level_leaves_the_text_alone():
    assert codes(candidate_of(answer="three green lanterns"), "format") == set()


def test_a_breach_of_shape_hides_the_text_checks():
    problems = checks.run(candidate_of(question="it", indices=(0, 9)), PASSAGE)
    assert {p.check for p in problems} <= {c.__name__ for c in checks.FORMAT_CHECKS}


def test_unsure_problems_do_not_reject():
    partly = candidate_of(answer="two rafts of wood")
    problems = checks.run(partly, PASSAGE)
    assert [p.certainty for p in problems] == ["unsure"]
    assert checks.verdict(problems).is_quality

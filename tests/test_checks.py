# ruff: noqa: E501 (tables)
"""Each check on good candidates and on the breach that it is there to find."""

import subprocess
import sys
import time
from pathlib import Path

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


MUSEUM = (
    "The Bureau of Shoals opened a museum in the port of Vessa in 1986.",
    "It is run by Lenora Tarrow, a former pilot.",
    "Visitors come for the collection of ship models.",
    "The bureau lent the museum an old iron bell and eleven charts.",
    "The pilot found that bell herself, near a reef that had sunk three ships.",
    "They had carried salt.",
    "Lenora Tarrow retired in 2001.",
)


def link(at, mention, back, antecedent, sentences=MUSEUM):
    ends = [Span(i, (s := sentences[i].index(t)), s + len(t), t) for i, t in ((at, mention), (back, antecedent))]
    return Coreference("nominal", *ends)


BUREAU = link(3, "The bureau", 0, "The Bureau of Shoals")
CURATOR = link(4, "The pilot", 1, "Lenora Tarrow")
LENT = "What did the Bureau of Shoals lend the museum?"
FOUND = "Near what did Lenora Tarrow find the bell?"
MUSEUM_GOOD = [
    candidate_of(LENT, "an old iron bell and eleven charts", (0, 3), (BUREAU,)),
    candidate_of(LENT, "an old iron bell and eleven charts", (0, 3), ()),
    candidate_of(FOUND, "a reef", (1, 4), (CURATOR,)),
    candidate_of(FOUND, "a reef that had sunk three ships", (1, 4), ()),
    candidate_of("How many charts did the Bureau of Shoals lend?", "eleven", (0, 3), (BUREAU,)),
    candidate_of("Who is the former pilot who found the bell?", "Lenora Tarrow", (1, 4), (CURATOR,)),
    candidate_of("What had the ships carried that were sunk by a reef?", "salt", (4, 5), ()),
]


@pytest.mark.parametrize("candidate", MUSEUM_GOOD, ids=lambda c: f"{c.question} {len(c.coreferences)}")
def test_a_good_candidate_passes_with_its_evidence(candidate):
    assert [p for p in checks.run(candidate, MUSEUM) if p.certainty == "certain"] == []


MUSEUM_BROKEN = [
    # evidence
    ("irrelevant_sentences", "sentences_needed", candidate_of(LENT, "an old iron bell and eleven charts", (0, 2, 3), (BUREAU,))),
    ("irrelevant_sentences", "sentences_needed", candidate_of(LENT, "an old iron bell and eleven charts", (0, 1, 3), (BUREAU, link(1, "It", 0, "The Bureau of Shoals")))),
    ("irrelevant_sentences", "sentences_needed", candidate_of("Who is Lenora Tarrow's museum run by?", "Lenora Tarrow", (1, 5), ())),
    ("missing_sentences", "names_supported", candidate_of(LENT, "eleven charts", (2, 3), ())),
    ("missing_sentences", "answer_supported", candidate_of("What did the Bureau of Shoals open?", "salt", (0, 3), (BUREAU,))),
    ("missing_sentences", "numbers_supported", candidate_of("What was sunk near the reef by the bell of 1986?", "three ships", (3, 4), ())),
    ("missing_sentences", "words_supported", candidate_of("What collection of ship models did the Bureau of Shoals have a bell for?", "eleven charts", (0, 3), (BUREAU,))),
    ("wrong_information", "answer_supported", candidate_of(LENT, "an old iron anchor of Harald Finch", (0, 3), (BUREAU,))),
    ("wrong_information", "numbers_supported", candidate_of("What did the Bureau of Shoals lend the museum in 1999?", "eleven charts", (0, 3), (BUREAU,))),
    ("incomplete_answer", "answer_whole", candidate_of(LENT, "an old iron", (0, 3), (BUREAU,))),
    ("incomplete_answer", "answer_whole", candidate_of(LENT, "an old iron bell and", (0, 3), (BUREAU,))),
    ("incomplete_answer", "answer_whole", candidate_of("Near what did Lenora Tarrow find the bell?", "a reef that", (1, 4), (CURATOR,))),
    ("incomplete_answer", "answer_says_something", candidate_of(FOUND, "near the", (1, 4), (CURATOR,))),
    ("incomplete_answer", "answer_says_something", candidate_of(FOUND, "That one.", (1, 4), (CURATOR,))),
    # links
    ("coreference_error", "mention_after_antecedent", candidate_of(LENT, "eleven charts", (0, 3), (Coreference("nominal", BUREAU.antecedent, BUREAU.mention),))),
    ("coreference_error", "mention_refers", candidate_of("When did Lenora Tarrow retire?", "2001", (1, 6), (link(6, "Lenora Tarrow", 1, "Lenora Tarrow"),))),
    ("coreference_error", "ends_agree", candidate_of(FOUND, "a reef", (0, 4), (link(4, "The pilot", 0, "The Bureau of Shoals"),))),
    ("coreference_error", "antecedent_named", candidate_of("What did Vessa lend the museum?", "eleven charts", (0, 3), (BUREAU,))),
    ("ambiguous_question", "antecedent_named", candidate_of("What did the bureau lend the museum?", "eleven charts", (0, 3), (BUREAU,))),
    ("coreference_error", "something_refers_back", candidate_of("When did the former pilot of the museum retire?", "2001", (1, 6), ())),
    # wording
    ("ambiguous_question", "question_asks_something", candidate_of("What happened next?", "a reef", (1, 4), ())),
    ("ambiguous_question", "question_stands_alone", candidate_of("In which port was it opened?", "Vessa", (0, 3), ())),
    ("ambiguous_question", "question_stands_alone", candidate_of("Near what did she find the bell?", "a reef", (1, 4), ())),
    ("ambiguous_question", "question_stands_alone", candidate_of("What did the former lend?", "eleven charts", (0, 3), ())),
    ("compound_question", "single_question", candidate_of("Who found the bell, and where was it?", "Lenora Tarrow", (1, 4), ())),
    ("compound_question", "single_question", candidate_of("When and where did the museum open?", "1986", (0, 3), ())),
    ("compound_question", "single_question", candidate_of("Who found the bell as well as when?", "Lenora Tarrow", (1, 4), ())),
    # shape
    ("formatting", "no_markup", candidate_of(LENT, "**eleven charts**", (0, 3))),
    ("formatting", "no_markup", candidate_of(LENT, "eleven charts (see", (0, 3))),
    ("formatting", "no_markup", candidate_of(LENT.replace("?", "? Answer: charts?"), "charts", (0, 3))),
    ("formatting", "no_markup", candidate_of(LENT.replace("did", "\n- did"), "charts", (0, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "check", "candidate"), MUSEUM_BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_a_breach_of_evidence_is_found_under_its_code(code, check, candidate):
    found = {(p.code, p.check) for p in checks.run(candidate, MUSEUM) if p.certainty == "certain"}
    assert (code, check) in found


NOT_COMPOUND = [
    "What did Ann, who was ill, sell to the bureau?",
    "Which man lived in Vessa and had a boat, and no other?",
    "Who was the man who lived in Vessa and who was lost?",
    'Who asked "Where is it? And why?" in the museum?',
    "By August 1986, what record had the museum broken?",
]


@pytest.mark.parametrize("question", NOT_COMPOUND)
def test_a_relative_clause_is_no_second_question(question):
    assert "single_question" not in {p.check for p in checks.run(candidate_of(question, "x", (0, 1), ()), MUSEUM)}


STANDS_ALONE = [
    "How long did it take the Bureau of Shoals to open?",
    "What did Lenora Tarrow say after she had found the bell?",
    "Who said that it would be hard to open a museum?",
    "Who does Iris confront when her diary disappears?",
    "What is the name of the person whose grief is echoed by her nurse?",
    "What is the name of the character who cries when they learn the truth?",
    "Which law did that senator from Maine, Ruth Pell, oppose?",
    "How many words are in the sentence of Section 230 that judges quote?",
    "In what article of the constitution is that rule about ships?",
    "Which former pilot runs the museum?",
    "How many of the cases that she argued before the court did Lenora Tarrow win?",
]


@pytest.mark.parametrize("question", ["What of the things that she found did the museum keep?", "What did she find?"])
def test_a_pronoun_whose_name_never_comes_does_not_stand_alone(question):
    found = checks.run(candidate_of(question, "x", (0, 1), ()), MUSEUM)
    assert "question_stands_alone" in {p.check for p in found}


@pytest.mark.parametrize(("answer", "cut"), [("Pouilly-le-Fort", False), ("half of the old", True)])
def test_a_name_joined_by_hyphens_ends_where_it_ends(answer, cut):
    sentences = (
        "Harald Finch was a farmer.",
        "At his farm in Pouilly-le-Fort half of the old sheep were counted in May.",
    )
    found = checks.run(candidate_of("What was there at the farm of Harald Finch?", answer, (0, 1), ()), sentences)
    assert ("answer_whole" in {p.check for p in found}) == cut


@pytest.mark.parametrize("question", STANDS_ALONE)
def test_a_pronoun_with_something_before_it_stands_alone(question):
    found = checks.run(candidate_of(question, "x", (0, 1), ()), MUSEUM)
    assert "question_stands_alone" not in {p.check for p in found}


def test_a_link_between_two_sentences_is_needed_even_if_no_word_of_it_is():
    sentences = (
        "The Cedar Bar Association was founded in 1880.",
        "Bo sang.",
        "The association has a council.",
        "It fines lawyers.",
    )
    chain = (
        link(2, "The association", 0, "The Cedar Bar Association", sentences),
        link(3, "It", 2, "a council", sentences),
    )
    candidate = candidate_of("Whom does the Cedar Bar Association have fined?", "lawyers", (0, 2, 3), chain)
    assert "sentences_needed" not in {p.check for p in checks.run(candidate, sentences)}


def test_a_pronoun_left_open_in_the_required_sentences_is_told_but_does_not_reject():
    sentences = ("The Pell Club opened in 1990.", "Anna Kern led the choir.", "She sang in Rome for the club.")
    candidate = candidate_of("Where was a song sung for the Pell Club?", "Rome", (0, 2), ())
    found = [p for p in checks.run(candidate, sentences) if p.check == "mentions_resolvable"]
    assert [(p.code, p.certainty) for p in found] == [("missing_sentences", "unsure")]
    assert "Anna Kern" in found[0].reason


def test_a_phrase_that_the_question_asks_the_kind_of_is_whole():
    sentences = ("The Pell Act came in 1990.", "It forbids merely unwise action by agencies.")
    candidate = candidate_of("What kind of action does the Pell Act forbid?", "merely unwise", (0, 1), ())
    assert "answer_whole" not in {p.check for p in checks.run(candidate, sentences)}


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


def test_the_level_format_needs_no_parser():
    code = (
        "import sys; from generation import checks; from tests.helpers import PASSAGE, candidate_of;"
        "checks.run(candidate_of(), PASSAGE, 'format'); assert 'spacy' not in sys.modules;"
        "checks.run(candidate_of(), PASSAGE); assert 'spacy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


def test_every_check_has_a_name_of_its_own_and_a_docstring():
    names = [c.__name__ for c in checks.CHECKS]
    assert len(set(names)) == len(names)
    assert all(c.__doc__ for c in checks.CHECKS)


@pytest.mark.parametrize(
    "text", ["", " ", "?", "\ud800", "a" * 5000 + "?", "\u202e", "…?", "it " * 40 + "?", "(" * 30, "3?"]
)
def test_strange_texts_never_break_a_check(text):
    for candidate in (candidate_of(question=text), candidate_of(answer=text), candidate_of(text, text, (0, 2), ())):
        for problem in checks.run(candidate, PASSAGE):
            assert problem.code in PROBLEM_CODES


def test_strange_sentences_never_break_a_check():
    for sentences in ((" ", "\n", "...", "It"), ("1", "2", "3", "4"), ("é" * 9, "—", "“”", "The\u00a0")):
        checks.run(candidate_of("What is é?", "é", (0, 2), ()), sentences)


@pytest.mark.parametrize(
    "piece", ["what ", "(a", "that ", "it is ", "and what was ", ", who ", "as stated ", "Aa ", "a-", "''"]
)
def test_no_text_makes_a_check_slow(piece):
    text = piece * (60_000 // len(piece))
    started = time.process_time()
    checks.run(candidate_of(question=text + "?"), PASSAGE)
    checks.run(candidate_of(answer=text), PASSAGE)
    checks.run(candidate_of(question=text[:990] + "?", answer=text), PASSAGE)
    assert time.process_time() - started < 5


def test_the_kind_of_thing_asked_for_makes_no_sentence_certain_to_be_missing():
    passage = (
        "Sodium chloride melts at 801 °C.",
        "At room temperature the salt dissolves in water.",
        "Above 1,413 °C it boils.",
    )
    pair = candidate_of("Above what temperature does sodium chloride boil?", "1,413 °C", (0, 2), ())
    assert not [p for p in checks.run(pair, passage) if p.certainty == "certain"]


def test_a_capital_inside_a_word_begins_no_name():
    passage = ("Sodium chloride melts at 801 °C.", "The salt dissolves in water, 36 g in every 100 mL.")
    pair = candidate_of("How much sodium chloride dissolves in 100 mL of water?", "36 g", (0, 1), ())
    assert not [p for p in checks.run(pair, passage) if p.check == "names_supported"]

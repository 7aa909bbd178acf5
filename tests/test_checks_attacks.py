"""Pairs of kinds that no corruption of the benchmark has: good ones that must pass, and faults that must be named."""

import json

import pytest

from generation import checks
from generation.checking import terms
from generation.checking.rows import check_line
from generation.records import Candidate, Coreference, Span

MUTINY = (
    "Twenty-five sailors mutinied aboard the frigate Aurelia on Sept. 8, 1797.",
    "Their leader, a gunner called Amos Teague, demanded 1.2 billion reales in back pay.",
    "He was hanged from the yardarm eleven days later.",
)
BOARD = (
    "The Clean Rivers Act 1971 created the National Water Board.",
    "The Board has seven members, who are appointed for terms of six years.",
    "Few of them stay that long.",
)
CLUB = (
    "Brixworth Athletic hired a new manager, the former goalkeeper Des Farrow.",
    "The club nevertheless lost only twice before Christmas.",
    "He sold three strikers within a month.",
    "In the cup, however, the side were beaten 3–0 by Leyford Rovers.",
)
GIRL = (
    "Ingrid Solvang was born in Tromsø in 1902, near the cold lakes.",
    "At fifteen she left school to keep the books of a cannery.",
    "Her brother Tom, a sailor, wrote to her every week.",
)
ROD = (
    "Louis Pasteur came to Lille in 1854.",
    "In a spoiled liquid he found small rods.",
)
INVENTOR = (
    "The first sewing machine in Ellmark was patented by a tailor named Josef Madl.",
    "The inventor, who had spent every gulden on it, died in a poorhouse.",
)


def link(sentences, at, mention, back, antecedent, kind=None):
    spans = [
        Span(i, sentences[i].index(text), sentences[i].index(text) + len(text), text)
        for i, text in ((at, mention), (back, antecedent))
    ]
    return Coreference(kind or ("pronominal" if mention.lower() in ("it", "she", "he") else "nominal"), *spans)


def found(sentences, question, answer, indices=(0, 1), links=(), certainty="certain"):
    problems = checks.run(Candidate(question, answer, tuple(indices), tuple(links)), sentences)
    return {p.check: p.reason for p in problems if p.certainty == certainty}


BOARD_LINK = link(BOARD, 1, "The Board", 0, "the National Water Board")


@pytest.mark.parametrize(
    ("sentences", "question", "answer", "indices", "links"),
    [
        (MUTINY, "How many sailors had Amos Teague as their leader when they mutinied?", "25", (0, 1), ()),
        (MUTINY, "When did the sailors led by Amos Teague mutiny?", "8 September 1797", (0, 1), ()),
        (MUTINY, "When did the sailors led by Amos Teague mutiny?", "1797-09-08", (0, 1), ()),
        (MUTINY, "When did the sailors led by Amos Teague mutiny?", "September 8th, 1797", (0, 1), ()),
        (BOARD, "How many members does the body created by the Clean Rivers Act have?", "7", (0, 1), (BOARD_LINK,)),
        (BOARD, "How many members does the body created by the Clean Rivers Act have?", "seven", (0, 1), ()),
        (CLUB, "How many strikers did Des Farrow sell within a month?", "three", (0, 2), ()),
        (CLUB, "By what score did Brixworth Athletic lose to Leyford Rovers?", "3-0", (0, 3), ()),
        (INVENTOR, "What became of Josef Madl, who had spent every gulden?", "died in a poorhouse", (0, 1), ()),
        (GIRL, "In the year when Ingrid Solvang was fifteen, where did she work?", "a cannery", (0, 1), ()),
    ],
)  # fmt: skip
def test_a_good_pair_with_other_words_dates_or_numbers_passes(sentences, question, answer, indices, links):
    assert found(sentences, question, answer, indices, links) == {}


ASKED = "How old was Ingrid Solvang when she left school?"


@pytest.mark.parametrize(
    ("check", "sentences", "question", "answer"),
    [
        ("answer_supported", MUTINY, "How many reales did the sailors and Amos Teague demand?", "1.2 million"),
        ("answer_supported", BOARD, "For how long are members of the National Water Board appointed?", "not six years"),
        ("answer_fits_question", GIRL, ASKED, "1902"),
        ("answer_fits_question", MUTINY, "In what year did Amos Teague's sailors mutiny?", "the frigate Aurelia"),
        ("answer_fits_question", MUTINY, "How many sailors did Amos Teague lead?", "sailors"),
        ("answer_fits_question", MUTINY, "Who led the sailors who mutinied aboard the Aurelia?", "Sept. 8, 1797"),
        ("answer_whole", GIRL, "Near what was Ingrid Solvang, who left school at fifteen, born?", "the cold lakes,"),
        ("answer_whole", GIRL, "What did the sister of Tom keep after she left school?", "the books,"),
        ("answer_whole", ROD, "What did Louis Pasteur find in the liquid?", "small"),
        ("answer_whole", ROD, "What was the name of the man who found small rods in the liquid?", "Louis"),
        ("answer_not_leaked", GIRL, "How old was the 15-year-old Ingrid Solvang when she left school?", "fifteen"),
        ("answer_not_leaked", MUTINY, "On what day, 8 September, did Amos Teague's sailors mutiny?", "Sept. 8"),
        ("single_question", GIRL, "How old was Ingrid Solvang when she left school and who taught her?", "fifteen"),
        ("no_markup", GIRL, ASKED, "`fifteen`"),
        ("no_markup", GIRL, ASKED, "_fifteen_"),
        ("no_markup", GIRL, ASKED, "[fifteen]"),
        ("no_markup", GIRL, ASKED, "&quot;fifteen&quot;"),
        ("no_markup", GIRL, ASKED + "?", "fifteen"),
        ("no_markup", GIRL, "1. " + ASKED, "fifteen"),
        ("texts_present", GIRL, ASKED, "fif\ud800teen"),
    ],
)
def test_a_fault_of_wording_or_answer_is_named(check, sentences, question, answer):
    assert check in found(sentences, question, answer)


SHE = link(GIRL, 1, "she", 0, "Ingrid Solvang")


@pytest.mark.parametrize(
    ("check", "coreference"),
    [
        ("kind_fits", link(GIRL, 1, "she", 0, "Ingrid Solvang", "nominal")),
        ("kind_fits", link(GIRL, 1, "a cannery", 0, "Ingrid Solvang", "pronominal")),
        ("spans_real", Coreference("pronominal", Span(1, 11, 14, "she"), Span(0, 1, 14, "ngrid Solvang"))),
        ("spans_real", Coreference("pronominal", Span(1, 11, 13, "sh"), Span(0, 0, 14, "Ingrid Solvang"))),
        ("spans_real", Coreference("pronominal", Span(1, 11, 15, "she "), Span(0, 0, 14, "Ingrid Solvang"))),
        ("mention_refers", link(GIRL, 1, "left", 0, "Ingrid Solvang")),
        ("ends_agree", link(GIRL, 1, "she", 0, "the cold lakes")),
    ],
)
def test_a_fault_of_a_link_is_named(check, coreference):
    assert check in found(GIRL, ASKED, "fifteen", (0, 1), (coreference,))
    assert found(GIRL, ASKED, "fifteen", (0, 1), (SHE,)) == {}


def test_indices_out_of_order_are_told_and_do_not_reject():
    assert found(GIRL, ASKED, "fifteen", (1, 0)) == {}
    assert "write [0, 1]" in found(GIRL, ASKED, "fifteen", (1, 0), certainty="unsure")["indices_valid"]


@pytest.mark.parametrize("kind", ["bananas", 7, ["nominal"]])
def test_a_kind_that_is_none_is_a_breach_of_the_schema(kind):
    ends = {"mention": {"sentence_index": 1, "text": "she"}, "antecedent": {"sentence_index": 0, "text": "Ingrid"}}
    row = {"sentences": GIRL, "question": ASKED, "answer": "fifteen", "required_sentence_indices": [0, 1]}
    (problem,) = check_line(json.dumps({**row, "coreferences": [{**ends, "kind": kind}]}), 1)
    assert problem.check == "schema" and '"kind"' in problem.reason


@pytest.mark.parametrize(
    ("sentences", "question", "answer", "words"),
    [
        (GIRL, ASKED + " Where?", "fifteen", "Where?"),
        (GIRL, ASKED.replace("she", "fifteen-year-olds"), "fifteen", '"fifteen"'),
        (GIRL, ASKED, "sixteen", '"sixteen"'),
        (GIRL, ASKED, "a wooden ladder", '"a wooden ladder"'),
        (GIRL, ASKED, "**fifteen**", '"**"'),
        (GIRL, ASKED, "fif\u200bteen", "U+200B"),
        (GIRL, ASKED, "fifteen (", "("),
    ],
)
def test_a_reason_names_the_words_concerned(sentences, question, answer, words):
    assert words in " ".join(found(sentences, question, answer).values())


@pytest.mark.parametrize(
    ("text", "written_otherwise"),
    [
        ("twenty-five men", "25 men"),
        ("1.2 billion", "1,200,000,000"),
        ("a hundred and six", "106"),
        ("two thousand three hundred and four", "2304"),
        ("three dozen", "36"),
        ("the twenty-first century", "the 21st century"),
        ("between one hundred and two hundred", "between 100 and 200"),
        ("5 million, 3 of them", "5,000,000 3 of them"),
        ("1933-06-04", "4 June 1933"),
        ("the fifth of Sept.", "the 5th of September"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_numbers_and_dates_are_compared_however_they_are_written(text, written_otherwise):
    one, other = ([terms.stem(w) for w in terms.words(t)] for t in (text, written_otherwise))
    assert one == other


def test_numbers_side_by_side_stay_apart():
    assert terms.words("one of two, five and six, in 1905 two hundred men") == [
        *("one", "of", "two", "five", "and", "six", "in", "1905", "200", "men")
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Which painter who lived in Rome and who taught Ann died in 1900?",
        "Which river did the bridge cross, which had been built by Roman soldiers?",
        "When Ann was ill, who was the king?",
        "After the fire that destroyed the mill in which Ann lived, where did she go?",
    ],
)
def test_a_relative_or_opening_clause_is_no_second_question(question):
    assert "single_question" not in found(GIRL, question, "fifteen")

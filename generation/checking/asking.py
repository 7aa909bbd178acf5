"""Has the answer the kind that the question asks for: a year, a number, somebody?"""

import re
from collections.abc import Iterator

from generation.checking.case import Case, Certainty, Problem
from generation.checking.numbers import NUMBERS, ORDINALS, SCALES

_DATES = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_AMOUNTS = (
    NUMBERS.keys()
    | ORDINALS.keys()
    | SCALES.keys()
    | frozenset(
        "a an no none nobody nothing never once twice thrice single only sole pair couple trio quartet double triple "
        "both either each every all half halves quarter quarters third thirds fifths dozens hundreds thousands some "
        "millions several many few fewer more most majority minority lot lots scores countless numerous".split()
    )
)
_TIMES = _DATES | frozenset(
    "when whenever while if once after before during until till since as upon on in at by within every each daily "
    "weekly monthly yearly annually never always day days night noon midnight morning afternoon evening dawn dusk week "
    "weeks month months year years decade century season spring summer autumn fall winter easter christmas era age "
    "reign war today yesterday tomorrow now later earlier then next previous following same only soon".split()
)
_YEAR = re.compile(r"\b(?:what|which) (?:calendar )?year\b(?!-)", re.IGNORECASE)
_COUNT = re.compile(r"\bhow many\b", re.IGNORECASE)
_AGE = re.compile(r"\b(?:how old|(?:what|which) age)\b", re.IGNORECASE)
_SOMEBODY = re.compile(r"^(?:(?:by|to|for|from|with|after|against|of|on) )?(?:who|whom|whose|where)\b", re.IGNORECASE)
_WHEN = re.compile(r"^when\b", re.IGNORECASE)
_A_YEAR = range(1000, 2100)


def answer_fits_question(case: Case) -> Iterator[Problem]:
    """A year is asked for and given, so are a number, an age, a time; somebody is no date.

    Certain only where no reading of the answer fits; most kinds of question are not judged at all.
    """
    question, answer = case.candidate.question.strip(), case.candidate.answer.strip()
    wanted, certainty = _unfit(question, case.answer_words)
    if wanted:
        reason = f'The question asks for {wanted}, which "{answer}" is not; answer what is asked, or ask for that.'
        yield Problem("wrong_information", "answer_fits_question", reason, certainty)


def _unfit(question: str, words: list[str]) -> tuple[str, Certainty]:
    """What is asked for and not given ("" if it may be given), and how certain that is."""
    has_number = any(any(c.isdigit() for c in w) for w in words)
    known = set(words)
    if _YEAR.search(question) and not has_number and known.isdisjoint(_AMOUNTS | _TIMES):
        return "a year", "certain"
    if _COUNT.search(question) and not has_number and known.isdisjoint(_AMOUNTS):
        return "a number", "certain"
    if _AGE.search(question) and len(words) == 1 and words[0].isdecimal() and int(words[0][:9]) in _A_YEAR:
        return "an age", "certain"
    if _SOMEBODY.match(question) and _is_date(words):
        return "a place" if "where" in question[:14].lower() else "somebody", "certain"
    if _WHEN.match(question) and not has_number and known.isdisjoint(_TIMES | _AMOUNTS):
        return "a time", "unsure"
    return "", "unsure"


def _is_date(words: list[str]) -> bool:
    """Nothing but days, months and years: "June 4, 1933", "in 1993"."""
    told = [w for w in words if w not in ("in", "on", "by", "the", "of")]
    return any(w in _DATES or w.isdecimal() and int(w[:9]) in _A_YEAR for w in told) and all(
        w in _DATES or w.isdecimal() for w in told
    )

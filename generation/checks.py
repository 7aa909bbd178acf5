"""What code can decide about a candidate, free of charge and before any reviewer.

Each check is a function of a Case that yields Problems: a code of PROBLEM_CODES, a reason that a generator can act on,
and how certain it is. Only "certain" problems reject; "unsure" ones are shown and left to the panel.
Seen here: shape, wording, and whether the required sentences hold what question and answer say (by their words and by a
parse). Not seen: a wrong antecedent in fluent text whose sentences fit together, a link that the resolver gets wrong
where none is labelled, whether the world knows a second answer, grammar, and a paraphrase that shares no word with the
text. Those are for the panel, the proof and people. Measured by benchmarks/checks.py.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from generation.checking import asking, evidence, shape, wording
from generation.checking import links as link
from generation.checking.case import Case, Certainty, Problem
from generation.records import Candidate, Verdict

__all__ = ["CHECKS", "Case", "Certainty", "CheckLevel", "Problem", "run", "verdict"]

CheckLevel = Literal["all", "format", "none"]
Check = Callable[[Case], Iterator[Problem]]

FORMAT_CHECKS: tuple[Check, ...] = (
    shape.texts_present,
    shape.indices_valid,
    shape.question_form,
    shape.no_markup,
    shape.spans_real,
    shape.spans_required,
)
TEXT_CHECKS: tuple[Check, ...] = (
    wording.single_question,
    wording.question_asks_something,
    wording.question_stands_alone,
    wording.answer_not_leaked,
    wording.answer_says_something,
    asking.answer_fits_question,
    evidence.answer_supported,
    evidence.answer_whole,
    evidence.numbers_supported,
    evidence.names_supported,
    evidence.words_supported,
    evidence.sentences_needed,
    link.mention_after_antecedent,
    link.mention_refers,
    link.kind_fits,
    link.ends_agree,
    link.antecedent_named,
    link.something_refers_back,
    link.mentions_resolvable,
)
CHECKS = FORMAT_CHECKS + TEXT_CHECKS


def run(candidate: Candidate, sentences: Sequence[str], level: CheckLevel = "all") -> tuple[Problem, ...]:
    """All problems of `candidate` in the passage `sentences` (the section's, in order).

    `level` "format" asks only whether the shape is right, "none" asks nothing. A breach of shape hides the other
    checks, which could not be trusted on it.
    """
    if level == "none":
        return ()
    case = Case(candidate, sentences)
    problems = tuple(p for check in FORMAT_CHECKS for p in check(case))
    if level == "format" or any(p.certainty == "certain" for p in problems):
        return problems
    return problems + tuple(p for check in TEXT_CHECKS for p in check(case))


def verdict(problems: Sequence[Problem]) -> Verdict:
    """The checks' vote: a rejection with every certain problem, in words that go back to the generator."""
    certain = [p for p in problems if p.certainty == "certain"]
    if not certain:
        return Verdict("checks", True, "All checks decided by code passed.")
    codes = tuple(dict.fromkeys(p.code for p in certain))
    return Verdict("checks", False, " ".join(dict.fromkeys(p.reason for p in certain)), codes)

"""One question, once: what a run accepts although it, or an earlier set, has asked it before becomes a rejection.

Outcomes pass here in input order, so that the first of two equal questions stays, whichever was finished first. It
costs no call, and none is made to revise the later one: whether it repeats is known only when all before it are done.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from generation.checking.repeats import Questions
from generation.checking.rows import questions_in
from generation.records import Outcome, Verdict

REVIEWER = "repeats"


class Novelty:
    """The questions of the run so far and of the files `against`. Raises UsageError for a file that cannot be read."""

    def __init__(self, against: Sequence[Path] = ()) -> None:
        self._asked = Questions()
        for where, question in questions_in(against):
            self._asked.add(question, where)

    def of(self, outcome: Outcome) -> Outcome:
        """The outcome as it is, or as rejected by REVIEWER if its question is certainly that of an earlier pair."""
        candidate = outcome.candidate
        if outcome.status != "accepted" or candidate is None:
            return outcome
        repeat = self._asked.earlier(candidate.question)
        if repeat is None or repeat.certainty != "certain":
            self._asked.add(candidate.question, outcome.section.id)
            return outcome
        problem = repeat.problem
        verdict = Verdict(REVIEWER, False, problem.reason, (problem.code,))
        last = outcome.rounds[-1]
        rounds = (*outcome.rounds[:-1], replace(last, verdicts=(*last.verdicts, verdict)))
        reason = f"{REVIEWER}: {problem.reason}"
        return replace(outcome, status="rejected", rounds=rounds, reason=reason, problems=verdict.problems)

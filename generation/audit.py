"""What each reviewer, check and proof is worth, held against verdicts that are known to be right.

    from generation import audit

    for line in audit.audit(audit.read_cases(Path("runs/mine"), votes=Path("votes.jsonl"))).judges:
        print(line.name, line.scores.precision, line.scores.recall, line.only_catches)

A judge rejects or accepts a pair, or was not asked. All judges together reject what any of them rejects, as the loop
does; what one adds is what they would lose without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from generation.auditing.cases import Case, Said, read_cases, with_checks, with_proof, with_rules
from generation.auditing.scores import Scores, Seen, scores
from generation.errors import UsageError
from generation.records import PROBLEM_CODES

__all__ = ["Audit", "Case", "Judge", "Said", "audit", "read_cases", "with_checks", "with_proof", "with_rules"]


@dataclass(frozen=True, slots=True)
class Code:
    """One problem code: `bad` pairs have it, `caught` of them were rejected, `named` of these for this reason.

    `wrongly` counts rejections for it of pairs that do not have it.
    """

    bad: int
    caught: int
    named: int
    wrongly: int


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge, or a kind of judges ("all checks"), among others.

    `only_catches` are the bad pairs that nobody else rejects, `only_alarms` the good ones; `recall_lost` and
    `precision_lost` are what all others together would have less without it (negative: more).
    """

    name: str
    scores: Scores
    only_catches: int
    only_alarms: int
    recall_lost: float | None
    precision_lost: float | None
    codes: Mapping[str, Code]

    @property
    def adds(self) -> str:
        """In words: what would be lost without it."""
        if not self.scores.rejected:
            return "never rejects"
        if not self.only_catches:
            return "nothing" + (" but false alarms" if self.only_alarms else "")
        return f"{self.only_catches} that others miss"


@dataclass(frozen=True, slots=True)
class Audit:
    """All figures: `judges` one by one, `kinds` of judges (checks, reviewers, proof), and `all` together."""

    pairs: int
    bad: int
    judges: tuple[Judge, ...]
    kinds: tuple[Judge, ...]
    all: Scores

    def as_dict(self) -> dict[str, Any]:
        def line(judge: Judge) -> dict[str, Any]:
            return {**asdict(judge), "adds": judge.adds}

        return {
            "pairs": self.pairs,
            "bad": self.bad,
            "judges": [line(j) for j in self.judges],
            "kinds": [line(j) for j in self.kinds],
            "all": asdict(self.all),
        }


def audit(cases: Iterable[Case]) -> Audit:
    """Hold all that was said in `cases` against what is known. Raises UsageError if nothing can be measured."""
    found = list(cases)
    if not any(case.said for case in found):
        raise UsageError("Nobody has judged any of these pairs: give a run's folder, or rows that checks can read.")
    names = sorted({name for case in found for name in case.said}, key=_order)
    kinds = list(dict.fromkeys(map(_kind, names)))
    by_kind = [_by_kind(case) for case in found]
    everybody = [Seen(any(s.rejects for s in c.said.values()), c.bad, c.passage) for c in found if c.said]
    judges = tuple(_judge(name, names, found) for name in names)
    return Audit(
        len(found),
        sum(case.bad for case in found),
        judges,
        tuple(_judge(kind, kinds, by_kind) for kind in kinds),
        scores(everybody),
    )


def _kind(name: str) -> str:
    if name.startswith("check "):
        return "all checks"
    return "proof" if name == "proof" else "all reviewers"


def _order(name: str) -> tuple[int, str]:
    return ["all checks", "all reviewers", "proof"].index(_kind(name)), name


def _by_kind(case: Case) -> Case:
    kinds: dict[str, Said] = {}
    for name, said in case.said.items():
        before = kinds.get(_kind(name), Said(False))
        problems = tuple(dict.fromkeys(before.problems + said.problems))
        kinds[_kind(name)] = Said(before.rejects or said.rejects, problems)
    return Case(case.id, case.passage, case.bad, case.problems, kinds)


def _judge(name: str, names: Sequence[str], cases: Sequence[Case]) -> Judge:
    judged = [case for case in cases if name in case.said]
    only = [case for case in judged if case.said[name].rejects and _rejecting(case) == {name}]
    catches = sum(case.bad for case in only)
    with_it, without = _together(cases, names), _together(cases, [n for n in names if n != name])
    figures = scores([Seen(c.said[name].rejects, c.bad, c.passage) for c in judged])
    recall, precision = (_less(a, b) for a, b in zip(with_it, without, strict=True))
    codes = {code: found for code in PROBLEM_CODES if (found := _code(code, name, judged)).bad or found.wrongly}
    return Judge(name, figures, catches, len(only) - catches, recall, precision, codes)


def _rejecting(case: Case) -> set[str]:
    return {name for name, said in case.said.items() if said.rejects}


def _together(cases: Sequence[Case], names: Sequence[str]) -> tuple[float | None, float | None]:
    """Recall and precision of all `names` together."""
    rejected = [case for case in cases if any(case.said[n].rejects for n in names if n in case.said)]
    caught, bad = sum(case.bad for case in rejected), sum(case.bad for case in cases)
    return caught / bad if bad else None, caught / len(rejected) if rejected else None


def _less(with_it: float | None, without: float | None) -> float | None:
    return None if with_it is None or without is None else with_it - without


def _code(code: str, name: str, judged: Sequence[Case]) -> Code:
    having = [case for case in judged if code in case.problems]
    named = sum(code in case.said[name].problems for case in having)
    everywhere = sum(code in case.said[name].problems for case in judged)
    return Code(len(having), sum(case.said[name].rejects for case in having), named, everywhere - named)

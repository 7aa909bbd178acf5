"""Figures of a judge against known verdicts: precision, recall, F1, Cohen's kappa, and intervals by bootstrap.

A judge's "yes" is a rejection, and what it should find are the bad pairs. Pairs made from one passage are not
independent, so whole passages are drawn again, not single pairs. Source of kappa: Cohen 1960.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

DRAWS = 1000
SEED = 20231127
LEVEL = 0.95


class Interval(NamedTuple):
    """The middle 95 % of what a figure was when passages were drawn again; None where it never had a value."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Seen:
    """One pair that a judge has judged: did it reject, is the pair bad, and from which passage is it?"""

    rejected: bool
    bad: bool
    passage: str


@dataclass(frozen=True, slots=True)
class Scores:
    """A judge's figures, each from 0 to 1 (kappa from -1), None where nothing was there to measure it on."""

    pairs: int
    bad: int
    rejected: int
    caught: int
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    intervals: dict[str, Interval]


def scores(seen: Sequence[Seen], draws: int = DRAWS) -> Scores:
    """All figures of one judge with their intervals; deterministic."""
    caught, false, missed, passed = _counts(seen)
    figures = _figures(caught, false, missed, passed)
    return Scores(len(seen), caught + missed, caught + false, caught, *figures, _intervals(seen, draws))


Figures = tuple[float | None, float | None, float | None, float | None]


def _counts(seen: Sequence[Seen]) -> tuple[int, int, int, int]:
    caught = sum(s.rejected and s.bad for s in seen)
    false = sum(s.rejected and not s.bad for s in seen)
    missed = sum(not s.rejected and s.bad for s in seen)
    return caught, false, missed, len(seen) - caught - false - missed


def _figures(caught: float, false: float, missed: float, passed: float) -> Figures:
    """Precision, recall, F1 and kappa."""
    total = caught + false + missed + passed
    precision = _share(caught, caught + false)
    recall = _share(caught, caught + missed)
    f1 = _share(2 * caught, 2 * caught + false + missed) if caught + missed else None
    if not total:
        return precision, recall, f1, None
    agreed = (caught + passed) / total
    chance = ((caught + false) * (caught + missed) + (missed + passed) * (false + passed)) / total**2
    return precision, recall, f1, (agreed - chance) / (1 - chance) if chance < 1 else None


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _intervals(seen: Sequence[Seen], draws: int) -> dict[str, Interval]:
    import numpy as np

    by_passage: dict[str, list[Seen]] = {}
    for one in seen:
        by_passage.setdefault(one.passage, []).append(one)
    names = ("precision", "recall", "f1", "kappa")
    if not by_passage:
        return dict.fromkeys(names, Interval(None, None))
    counts = np.array([_counts(group) for group in by_passage.values()])
    drawn = np.random.default_rng(SEED).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), draws)
    found = [_figures(*row) for row in (drawn @ counts).tolist()]
    return {name: _middle([f[i] for f in found]) for i, name in enumerate(names)}


def _middle(values: Sequence[float | None]) -> Interval:
    known = sorted(v for v in values if v is not None)
    if not known:
        return Interval(None, None)
    cut = int((1 - LEVEL) / 2 * len(known))
    return Interval(known[cut], known[len(known) - 1 - cut])

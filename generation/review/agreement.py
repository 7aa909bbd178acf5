"""How far people agree: raw, Cohen's kappa, Krippendorff's alpha, by reason, with bootstrap intervals; time and gold.

Measured on each person's first vote on a pair: only that one was given without knowing anybody else's. Statistics by
scikit-learn, krippendorff and scipy. An estimate that is not defined, such as alpha where all votes are the same, is
None. Sources: Cohen 1960; Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; Efron 1979.
"""

import math
import statistics
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

from generation.errors import UsageError
from generation.records import PROBLEM_CODES
from generation.review.ballots import Vote
from generation.review.store import Pair

RESAMPLES = 999
LEVEL = 0.95
ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over `n` units, with the ends of its 95 % bootstrap interval (percentiles); None where not defined."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def __str__(self) -> str:
        if self.value is None:
            return f"not defined (n = {self.n})"
        interval = "" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.value:.2f}{interval} (n = {self.n})"


@dataclass(frozen=True, slots=True)
class TwoPeople:
    """Two people on the pairs that both have judged."""

    one: str
    other: str
    raw: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class OnGold:
    """How a person did on gold pairs; `reasons_found` of `reasons_known`, where both say reject."""

    right: int
    seen: int
    wrongly_accepted: int
    wrongly_rejected: int
    reasons_found: int
    reasons_known: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """All figures of a review; people by their labels.

    `raw` is the share of agreeing pairs of votes on the same pair, `alpha` Krippendorff's over all. `reasons` has alpha
    of "was this reason given?" for each code, `given` how many first votes gave it. `confusion` counts, over two
    people's votes on one pair, which reason one gave where the other gave which, or "accepted"; (a, a) is a reason that
    both gave. `minutes` is the mean time for a vote, `median_minutes` the median, `minutes_of` each person's mean.
    `gold` is empty without gold pairs, which count nowhere else.
    """

    pairs: int
    votes: int
    changed: int
    raw: Estimate
    alpha: Estimate
    people: tuple[TwoPeople, ...]
    reasons: Mapping[str, Estimate]
    given: Mapping[str, int]
    confusion: Mapping[tuple[str, str], int]
    minutes: Estimate
    median_minutes: float | None
    minutes_of: Mapping[str, Estimate]
    gold: Mapping[str, OnGold]


def measure(pairs: Sequence[Pair], votes: Sequence[Vote], *, seed: int = 0, resamples: int = RESAMPLES) -> Agreement:
    """Measure all votes of a review. Raises UsageError if the libraries for it are not installed."""
    _need_libraries()
    gold = {pair.id: pair.gold for pair in pairs if pair.gold is not None}
    first = _first(votes)
    real = [v for v in first if v.pair not in gold]
    units = _by_pair(real)
    draw = _Bootstrap(seed, resamples)
    minutes = [(v.reviewer, v.seconds / 60) for v in real if v.seconds is not None]
    labels = list(dict.fromkeys(v.reviewer for v in real))
    return Agreement(
        pairs=len({v.pair for v in real}),
        votes=len(real),
        changed=sum(v.pair not in gold for v in votes) - len(real),
        raw=draw([_counts(unit, _accepts) for unit in units], _raw),
        alpha=draw([_counts(unit, _accepts) for unit in units], _alpha),
        people=tuple(_two(one, other, real, draw) for one, other in combinations(labels, 2)),
        reasons={c: draw([_counts(unit, _gives(c)) for unit in units], _alpha) for c in PROBLEM_CODES},
        given={code: sum(code in v.reasons for v in real) for code in PROBLEM_CODES},
        confusion=confusion(units),
        minutes=draw([m for _, m in minutes], _mean),
        median_minutes=_median([m for _, m in minutes]),
        minutes_of={who: draw([m for one, m in minutes if one == who], _mean) for who in labels},
        gold=_on_gold([v for v in first if v.pair in gold], gold),
    )


def confusion(units: Iterable[Sequence[Vote]]) -> dict[tuple[str, str], int]:
    """Reasons against each other, over every two votes on one pair; keys sorted, so that (a, b) is also (b, a)."""
    found: Counter[tuple[str, str]] = Counter()
    for one, other in (two for unit in units for two in combinations(unit, 2)):
        if one.accept and other.accept:
            continue
        a, b = (set(v.reasons) or {ACCEPTED} for v in (one, other))
        found.update((code, code) for code in a & b)
        found.update(tuple(sorted((x, y))) for x in (a - b) for y in (b - a))  # type: ignore[misc]
    return dict(sorted(found.items()))


class _Bootstrap:
    """`draw(units, statistic)`: the statistic with its interval, the units being drawn again and again."""

    def __init__(self, seed: int, resamples: int) -> None:
        self.seed, self.resamples = seed, resamples

    def __call__(self, values: Sequence[Any], statistic: Callable[[Any], float]) -> Estimate:
        import numpy as np
        from scipy.stats import bootstrap

        units = np.asarray(values)
        value = statistic(units) if len(units) else math.nan
        if math.isnan(value) or len(units) < 2:
            return Estimate(None if math.isnan(value) else value, None, None, len(units))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # draws that are all alike are dealt with below
            drawn = bootstrap(
                (np.arange(len(units)),),
                lambda indices: statistic(units[indices]),
                vectorized=False,
                n_resamples=self.resamples,
                confidence_level=LEVEL,
                method="percentile",
                rng=np.random.default_rng(self.seed),
            ).bootstrap_distribution
        # A draw in which all votes are the same has no alpha or kappa; the interval is that of the others.
        known = drawn[~np.isnan(drawn)]
        edge = 100 * (1 - LEVEL) / 2
        low, high = np.percentile(known, [edge, 100 - edge])
        return Estimate(value, float(low), float(high), len(units))


def _need_libraries() -> None:
    try:
        import krippendorff  # noqa: F401
        import scipy  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as error:
        raise UsageError(f"Agreement needs {error.name}: pip install 'craqan[review]'.") from error


def _first(votes: Sequence[Vote]) -> list[Vote]:
    first: dict[tuple[str, str], Vote] = {}
    for vote in sorted(votes, key=lambda v: v.number):
        first.setdefault((vote.pair, vote.reviewer), vote)
    return list(first.values())


def _by_pair(votes: Sequence[Vote]) -> list[list[Vote]]:
    """The votes on each pair that two people or more have judged."""
    units: dict[str, list[Vote]] = {}
    for vote in votes:
        units.setdefault(vote.pair, []).append(vote)
    return [unit for unit in units.values() if len(unit) > 1]


def _accepts(vote: Vote) -> bool:
    return vote.accept


def _gives(code: str) -> Callable[[Vote], bool]:
    return lambda vote: code in vote.reasons


def _counts(unit: Sequence[Vote], says: Callable[[Vote], bool]) -> tuple[int, int]:
    yes = sum(map(says, unit))
    return len(unit) - yes, yes


def _raw(counts: Any) -> float:
    """The share of all two votes on one pair that agree; `counts` as for `_alpha`."""
    votes = counts.sum(axis=1)
    return float((counts * (counts - 1)).sum() / (votes * (votes - 1)).sum())


def _alpha(counts: Any) -> float:
    """Krippendorff's alpha, nominal; `counts` says of each unit how many people said no and yes, shape (units, 2)."""
    import krippendorff

    if (counts.sum(axis=0) == 0).any():
        return math.nan  # everybody said the same of everything: nothing to agree about
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _two(one: str, other: str, votes: Sequence[Vote], draw: _Bootstrap) -> TwoPeople:
    said = [{v.pair: v.accept for v in votes if v.reviewer == who} for who in (one, other)]
    shared = [(said[0][pair], said[1][pair]) for pair in said[0] if pair in said[1]]
    return TwoPeople(one, other, draw([a == b for a, b in shared], _mean), draw([2 * a + b for a, b in shared], _kappa))


def _kappa(cells: Any) -> float:
    """Cohen's kappa of two people; a cell is 2 * (one accepts) + (other accepts)."""
    import numpy as np

    return _kappa_of(tuple(np.bincount(cells, minlength=4).tolist()))


@lru_cache(maxsize=100_000)  # draws repeat themselves
def _kappa_of(table: tuple[int, int, int, int]) -> float:
    from sklearn import config_context
    from sklearn.metrics import cohen_kappa_score

    with warnings.catch_warnings(), config_context(skip_parameter_validation=True, assume_finite=True):
        warnings.simplefilter("ignore")  # 0/0, which comes back as nan
        return float(cohen_kappa_score([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=table))


def _mean(values: Any) -> float:
    return float(values.mean())


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _on_gold(votes: Sequence[Vote], gold: Mapping[str, Mapping[str, Any]]) -> dict[str, OnGold]:
    found = {}
    for who in dict.fromkeys(v.reviewer for v in votes):
        mine = [(v, gold[v.pair]) for v in votes if v.reviewer == who]
        both_reject = [(set(v.reasons), set(g["reasons"])) for v, g in mine if not v.accept and not g["accept"]]
        found[who] = OnGold(
            right=sum(v.accept == g["accept"] for v, g in mine),
            seen=len(mine),
            wrongly_accepted=sum(v.accept and not g["accept"] for v, g in mine),
            wrongly_rejected=sum(not v.accept and g["accept"] for v, g in mine),
            reasons_found=sum(len(said & known) for said, known in both_reject),
            reasons_known=sum(len(known) for _, known in both_reject),
        )
    return found

"""Is a difference more than chance? Intervals and tests that respect which questions belong together.

Questions on one passage are not independent: they are right and wrong together. So what is resampled, and what is
swapped in a test, is the passage with all its questions (`groups`), never the single question.

Sources: Dror et al. 2018 (paired permutation and bootstrap for NLP), Holm 1979.
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from generation.errors import InputError

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 9_999
CONFIDENCE = 0.95
SEED = 20231128
_BATCH = 500  # resamples at a time: 500 x 1,000 groups are 4 MB


class Interval(NamedTuple):
    """A mean with the ends of its bootstrap interval, and how many questions and groups stand behind it."""

    mean: float
    low: float
    high: float
    questions: int
    groups: int


class Difference(NamedTuple):
    """Mean of `a` minus mean of `b` on the same questions; `p` is two-sided, uncorrected."""

    difference: float
    low: float
    high: float
    p: float
    questions: int
    groups: int


def interval(values: Sequence[float], groups: Sequence[Hashable], *, resamples: int = RESAMPLES) -> Interval:
    """The mean of `values`, shape (n,), with a 95 % percentile bootstrap interval over `groups`, shape (n,).

    With a single group nothing can be resampled and the interval is the mean itself. Raises InputError without values.
    """
    sums, counts = _by_group(values, groups)
    low, high = _bootstrap(sums, counts, resamples)
    return Interval(float(sums.sum() / counts.sum()), low, high, len(values), len(sums))


def paired(
    a: Sequence[float], b: Sequence[float], groups: Sequence[Hashable], *, resamples: int = RESAMPLES
) -> Difference:
    """Compare two systems on the same questions by swapping them, group by group.

    `a`, `b` and `groups` have shape (n,). All 2^groups swaps are tried where these are at most `resamples`. The
    interval is the clustered bootstrap's of the difference.
    """
    import numpy as np
    from scipy.stats import permutation_test

    if not len(a) == len(b) == len(groups):
        raise InputError(f"Pairs are wanted: {len(a)} values, {len(b)} values and {len(groups)} groups were given.")
    sums, counts = _by_group([x - y for x, y in zip(a, b, strict=True)], groups)
    low, high = _bootstrap(sums, counts, resamples)

    def mean(x: "np.ndarray", y: "np.ndarray", axis: int = -1) -> "np.ndarray":
        return (x - y).sum(axis=axis)

    p = 1.0
    if len(sums) > 1 and np.any(sums):
        p = permutation_test(
            (sums, np.zeros_like(sums)),
            mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=resamples,
            batch=_BATCH,
            rng=np.random.default_rng(SEED),
        ).pvalue
    return Difference(float(sums.sum() / counts.sum()), low, high, float(p), len(a), len(sums))


def unpaired(
    a: Sequence[float],
    groups_a: Sequence[Hashable],
    b: Sequence[float],
    groups_b: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
) -> Difference:
    """Compare one system on two sets: mean of `a` minus mean of `b`, groups dealt out anew between the two sets."""
    import numpy as np
    from scipy.stats import bootstrap, permutation_test

    sums_a, counts_a = _by_group(a, groups_a)
    sums_b, counts_b = _by_group(b, groups_b)
    sums, counts = np.concatenate([sums_a, sums_b]), np.concatenate([counts_a, counts_b])

    def gap(x: "np.ndarray", y: "np.ndarray", axis: int = -1) -> "np.ndarray":
        x, y = x.astype(int), y.astype(int)
        return sums[x].sum(axis) / counts[x].sum(axis) - sums[y].sum(axis) / counts[y].sum(axis)

    places = np.arange(len(sums_a)), np.arange(len(sums_a), len(sums))
    told: dict[str, Any] = {"vectorized": True, "n_resamples": resamples, "batch": _BATCH}
    test = permutation_test(places, gap, permutation_type="independent", rng=np.random.default_rng(SEED), **told)
    found = float(gap(*places))
    low = high = found
    if min(len(sums_a), len(sums_b)) > 1:
        ends = bootstrap(places, gap, method="percentile", rng=np.random.default_rng(SEED), **told).confidence_interval
        low, high = float(ends.low), float(ends.high)
    return Difference(found, low, high, float(test.pvalue), len(a) + len(b), len(sums))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's corrected p for each of `p_values`, in the same order: for all differences that are shown together."""
    if not len(p_values):
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def _by_group(values: Sequence[float], groups: Sequence[Hashable]) -> "tuple[np.ndarray, np.ndarray]":
    """Sum and number of the values of each group, shapes (groups,)."""
    import numpy as np

    if not len(values):
        raise InputError("There is no value to take a mean of; give at least one question.")
    if len(values) != len(groups):
        raise InputError(f"Each value needs its group: {len(values)} values, {len(groups)} groups were given.")
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(group, len(numbers)) for group in groups]
    return np.bincount(places, weights=np.asarray(values, float)), np.bincount(places).astype(float)


def _bootstrap(sums: "np.ndarray", counts: "np.ndarray", resamples: int) -> tuple[float, float]:
    import numpy as np
    from scipy.stats import bootstrap

    def mean(s: "np.ndarray", c: "np.ndarray", axis: int = -1) -> "np.ndarray":
        return s.sum(axis) / c.sum(axis)

    if len(sums) < 2:
        only = float(sums.sum() / counts.sum())
        return only, only
    found = bootstrap(
        (sums, counts),
        mean,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=resamples,
        batch=_BATCH,
        confidence_level=CONFIDENCE,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(found.low), float(found.high)

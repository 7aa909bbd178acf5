"""Is a difference more than chance? Intervals and tests that respect which questions belong together.

Questions on one passage are not independent: they are right and wrong together. So what is resampled, and what is
swapped in a test, is the passage with all its questions (`groups`), never the single question.

Sources: Dror et al. 2018 (paired permutation and bootstrap for NLP), Holm 1979.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from generation.errors import InputError

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 9_999
CONFIDENCE = 0.95
SEED = 20231128
_BATCH = 500  # swaps at a time: 500 x 1,000 groups are 4 MB
_MOST = 50_000_000  # numbers in memory for a bootstrap; beyond 5,000 groups there are fewer resamples, down to 999


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

    if not len(a) == len(b) == len(groups):
        raise InputError(f"Pairs are wanted: {len(a)} values, {len(b)} values and {len(groups)} groups were given.")
    sums, counts = _by_group([x - y for x, y in zip(a, b, strict=True)], groups)
    low, high = _bootstrap(sums, counts, resamples)
    p = _swapped(sums, resamples) if len(sums) > 1 and np.any(sums) else 1.0
    return Difference(float(sums.sum() / counts.sum()), low, high, p, len(a), len(sums))


def _swapped(sums: "np.ndarray", resamples: int) -> float:
    """Two-sided p of `sums`, shape (groups,), under swaps of whole groups, the swap that was observed among them."""
    swaps = _signs(len(sums), resamples)
    found = abs(float(sums.sum()))
    as_far = int((abs(swaps @ sums) >= found * (1 - 1e-9)).sum())
    is_exact = len(swaps) == 2 ** len(sums)
    return as_far / len(swaps) if is_exact else (as_far + 1) / (len(swaps) + 1)


@lru_cache(maxsize=8)
def _signs(groups: int, resamples: int) -> "np.ndarray":
    """1 or -1 for each group, shape (swaps, groups): all there are if these are no more than `resamples`."""
    import numpy as np

    if 2**groups <= resamples:
        return 1 - 2 * ((np.arange(2**groups)[:, None] >> np.arange(groups)) & 1).astype(float)
    resamples = min(resamples, max(999, _MOST // groups))
    return np.random.default_rng(SEED).choice((-1.0, 1.0), size=(resamples, groups))


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
    from scipy.stats import permutation_test

    sums_a, counts_a = _by_group(a, groups_a)
    sums_b, counts_b = _by_group(b, groups_b)
    sums, counts = np.concatenate([sums_a, sums_b]), np.concatenate([counts_a, counts_b])

    def gap(x: "np.ndarray", y: "np.ndarray", axis: int = -1) -> "np.ndarray":
        x, y = x.astype(int), y.astype(int)
        return sums[x].sum(axis) / counts[x].sum(axis) - sums[y].sum(axis) / counts[y].sum(axis)

    places = np.arange(len(sums_a)), np.arange(len(sums_a), len(sums))
    test = permutation_test(
        places,
        gap,
        permutation_type="independent",
        vectorized=True,
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(SEED),
    )
    found = float(gap(*places))
    drawn = [_means(s, c, resamples, SEED + i) for i, (s, c) in enumerate(((sums_a, counts_a), (sums_b, counts_b)))]
    shortest = min(map(len, drawn))
    low, high = _ends(drawn[0][:shortest] - drawn[1][:shortest])
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
    """Ends of the percentile interval of sum / number, groups drawn anew."""
    return _ends(_means(sums, counts, resamples, SEED))


def _means(sums: "np.ndarray", counts: "np.ndarray", resamples: int, seed: int) -> "np.ndarray":
    """The mean of each resample, shape (resamples,)."""
    weights = _weights(len(sums), resamples, seed)
    return (weights @ sums.astype("float32")) / (weights @ counts.astype("float32"))


def _ends(means: "np.ndarray") -> tuple[float, float]:
    import numpy as np

    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


@lru_cache(maxsize=8)
def _weights(groups: int, resamples: int, seed: int) -> "np.ndarray":
    """How often each group is drawn in each resample, shape (resamples, groups): the same for all measures."""
    import numpy as np

    resamples = min(resamples, max(999, _MOST // groups))
    drawn = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    return drawn.astype(np.float32)

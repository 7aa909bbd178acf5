"""Intervals and tests: known cases, the rate of false alarms, and that passages, not questions, are what counts."""

from math import comb

import numpy as np
import pytest

from evaluation import statistics
from generation.errors import InputError


def test_paired_agrees_with_the_exact_sign_test():
    # 8 passages, one question each, the first system right on 7 of 8 and the second on none: each swap of a passage is
    # one sign, and a sum at least as far out has 7 or 8 equal signs.
    a, b = [1, 1, 1, 1, 1, 1, 1, 0], [0] * 8
    exact = 2 * 2 / 2**8  # the tied passage doubles both sides
    found = statistics.paired(a, b, range(8))
    assert found.p == pytest.approx(exact)
    assert found.difference == pytest.approx(7 / 8)


def test_paired_counts_passages_not_questions():
    a, b = [1] * 40, [0] * 40
    alone = statistics.paired(a, b, range(40))
    together = statistics.paired(a, b, [i // 10 for i in range(40)])
    assert alone.p < 0.001
    assert together.p == pytest.approx(2 / 2**4)  # four passages: 16 swaps, two of them as far out
    assert together.groups == 4


def test_equal_systems_have_a_p_of_one():
    found = statistics.paired([1, 0, 1], [1, 0, 1], "abc")
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def _false_alarms(rng, groups, trials=100):
    """Share of trials with p < 0.05 where passages are easy or hard for each system by chance alone."""
    hits = 0
    for _ in range(trials):
        easy_a, easy_b = rng.random(12), rng.random(12)
        a = [float(rng.random() < easy_a[i // 8]) for i in range(96)]
        b = [float(rng.random() < easy_b[i // 8]) for i in range(96)]
        hits += statistics.paired(a, b, [groups(i) for i in range(96)], resamples=99).p < 0.05
    return hits / trials


def test_false_alarms_stay_near_five_in_a_hundred():
    assert 0.01 <= _false_alarms(np.random.default_rng(1), lambda i: i // 8) <= 0.10


def test_questions_taken_for_independent_give_false_alarms():
    assert _false_alarms(np.random.default_rng(1), lambda i: i) > 0.15


def test_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng, covered = np.random.default_rng(2), 0
    for _ in range(100):
        easy = rng.beta(2, 2, 40)
        values = [float(rng.random() < easy[i // 5]) for i in range(200)]
        found = statistics.interval(values, [i // 5 for i in range(200)], resamples=299)
        covered += found.low <= 0.5 <= found.high
    assert 0.88 <= covered / 100 <= 0.99


def test_interval_of_one_group_claims_nothing_else():
    found = statistics.interval([1.0, 0.0], "aa")
    assert (found.mean, found.low, found.high, found.groups) == (0.5, 0.5, 0.5, 1)


def test_unpaired_agrees_with_the_exact_count_of_deals():
    # Five passages all right against five all wrong: of the C(10, 5) deals two are as far out.
    found = statistics.unpaired([1] * 5, range(5), [0] * 5, range(5))
    assert found.p == pytest.approx(2 / comb(10, 5))
    assert found.difference == 1


def test_holm_agrees_with_the_worked_example():
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, then never below the one before
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == []


def test_no_value_and_unequal_lengths_are_told():
    with pytest.raises(InputError, match="no value"):
        statistics.interval([], [])
    with pytest.raises(InputError, match="Pairs are wanted"):
        statistics.paired([1], [1, 0], "ab")


def test_the_interval_is_that_of_scipys_bootstrap():
    from scipy.stats import bootstrap

    rng = np.random.default_rng(4)
    groups = [i // 4 for i in range(120)]
    values = [float(rng.random() < 0.3 + 0.4 * (g % 2)) for g in groups]
    sums, counts = np.bincount(groups, weights=values), np.bincount(groups)
    theirs = bootstrap((sums, counts), lambda s, c, axis=-1: s.sum(axis) / c.sum(axis), paired=True, vectorized=True,
                       method="percentile", rng=rng).confidence_interval  # fmt: skip
    ours = statistics.interval(values, groups)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_the_paired_p_is_that_of_scipys_permutation_test():
    from scipy.stats import permutation_test

    rng = np.random.default_rng(5)
    sums = rng.normal(0.4, 1, 40)
    theirs = permutation_test((sums, 0 * sums), lambda x, y, axis=-1: (x - y).sum(axis), permutation_type="samples",
                              vectorized=True, rng=rng).pvalue  # fmt: skip
    assert statistics.paired(sums, 0 * sums, range(40)).p == pytest.approx(theirs, abs=0.01)

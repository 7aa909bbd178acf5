"""Agreement: the libraries' figures on known tables, intervals, and what is left out."""

import pytest

from generation.review.agreement import confusion, measure
from generation.review.ballots import Vote
from generation.review.store import Pair

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", example A: binary, two observers, no missing data.
MEG = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
OWEN = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]


def votes_of(*columns, reasons=("other",)):
    votes = []
    for who, said in enumerate(columns):
        for pair, accept in enumerate(said):
            if accept is not None:
                why = () if accept else reasons
                n = len(votes) + 1
                votes.append(Vote(n, str(n), f"p{pair}", f"person:{who}", bool(accept), why, "", 60.0, ""))
    return votes


def test_alpha_is_that_of_krippendorffs_example():
    found = measure([], votes_of(MEG, OWEN), resamples=50)
    assert found.alpha.value == pytest.approx(0.095, abs=0.0005)
    assert found.raw.value == pytest.approx(0.6)
    assert found.people[0].kappa.value == pytest.approx(0.0909, abs=0.0005)


def test_intervals_hold_the_estimate_and_follow_the_seed():
    votes = votes_of(MEG * 4, OWEN * 4)
    one, same, other = (measure([], votes, seed=seed, resamples=200) for seed in (1, 1, 2))
    assert one.alpha == same.alpha != other.alpha
    assert one.alpha.low < one.alpha.value < one.alpha.high


def test_what_is_not_defined_is_none_and_no_number():
    found = measure([], votes_of([1, 1, 1], [1, 1, 1]), resamples=50)
    assert found.alpha.value is None and found.people[0].kappa.value is None and found.raw.value == 1
    assert measure([], []).raw.value is None


def test_only_first_votes_count_since_only_they_were_blind():
    votes = votes_of([1, 0], [0, 0])
    changed = Vote(9, "9", "p0", "person:0", False, ("other",), "", 60.0, "")
    assert measure([], [*votes, changed], resamples=20).raw.value == 0.5
    assert measure([], [*votes, changed], resamples=20).changed == 1


def test_reasons_are_confused_where_two_give_different_ones():
    (a,), (b,) = votes_of([0], reasons=("other", "formatting")), votes_of([0], reasons=("missing_sentences", "other"))
    assert confusion([[a, b]]) == {("formatting", "missing_sentences"): 1, ("other", "other"): 1}
    (c,) = votes_of([1])
    assert confusion([[a, c]]) == {("accepted", "formatting"): 1, ("accepted", "other"): 1}


def test_gold_measures_people_and_counts_nowhere_else():
    gold = {"accept": False, "reasons": ["other", "formatting"]}
    found = measure([Pair("p0", {}, gold=gold), Pair("p1", {})], votes_of([0, 1], [1, 1]), resamples=20)
    assert found.votes == 2 and found.pairs == 1
    assert (found.gold["person:0"].right, found.gold["person:0"].reasons_found) == (1, 1)
    assert (found.gold["person:1"].right, found.gold["person:1"].wrongly_accepted) == (0, 1)

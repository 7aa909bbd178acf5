"""The set that the checks are measured on: its pairs, its halves, its corruptions, and a small measurement."""

import json

import pytest

from benchmarks import checks_pairs
from benchmarks.checks import measure
from benchmarks.checks_corruptions import COUNTS, corrupt, row_of
from generation import checks
from generation.checking import wording
from generation.records import candidate_from_dict

PAIRS = checks_pairs.load()
OURS = [p for p in PAIRS if p.source in ("released", "own")]
NEVER = (*checks.FORMAT_CHECKS, wording.single_question, wording.answer_not_leaked)


def test_the_good_set_is_large_and_every_span_points_at_its_text():
    assert len(OURS) >= 150
    for pair in PAIRS:
        for span in (s for c in pair.candidate.coreferences for s in (c.mention, c.antecedent)):
            assert pair.sentences[span.sentence_index][span.start : span.end] == span.text, pair.id


@pytest.mark.skipif(not checks_pairs.SHARED.is_dir(), reason="needs the folder shared beside the repository")
def test_every_borrowed_label_finds_its_text():
    labels = (checks_pairs.OWN / "borrowed.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(PAIRS) - len(OURS) == len(labels) >= 40


def test_pairs_of_one_passage_are_in_one_half():
    halves: dict[str, set[str]] = {}
    for pair in PAIRS:
        halves.setdefault(pair.passage, set()).add(pair.half)
    assert all(len(h) == 1 for h in halves.values())
    counts = [sum(p.half == half for p in OURS) for half in ("tuned", "held out")]
    assert min(counts) >= 75


@pytest.mark.parametrize("check", NEVER, ids=lambda c: c.__name__)
def test_no_good_pair_is_rejected_by_format_compound_or_leak(check):
    rejected = [p.candidate.question for p in PAIRS if any(check(checks.Case(p.candidate, p.sentences)))]
    assert rejected == []


def test_corruptions_are_many_of_every_reason_and_always_the_same():
    made = [c for pair in OURS for c in corrupt(pair)]
    assert len(made) >= 1500
    assert {c.reason for c in made} == set(COUNTS)
    assert made[:200] == [c for pair in OURS[:30] for c in corrupt(pair)][:200]


def test_no_corruption_is_the_pair_itself():
    for pair in OURS:
        original = json.dumps(row_of(pair), ensure_ascii=False)
        assert not [c.kind for c in corrupt(pair) if c.line == original]


def test_a_row_of_a_pair_reads_back_as_the_pair():
    for pair in OURS[:20]:
        assert candidate_from_dict(row_of(pair)) == pair.candidate or pair.candidate.derivation


def test_a_small_measurement_reaches_its_bars():
    tally = measure([p for p in OURS if p.source == "own" and p.half == "tuned"][:12])
    assert tally.weighted >= 0.95
    assert sum(tally.rejected.values()) == 0
    assert tally.caught[("formatting",)] == tally.made[("formatting",)]
    assert tally.caught[("compound_question",)] == tally.made[("compound_question",)]

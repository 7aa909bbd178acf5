"""Measures of rankings: by hand, against ir-measures, and what makes a required sentence count as found."""

import random
from dataclasses import dataclass

import pytest

from evaluation.examples import Document, Place, Span
from evaluation.ranking import Corpus, measure, ndcg

TEXT = "Ada built it.  She sold it to Bob. He lost it. Nobody cared."
SENTENCES = (Span(0, 13), Span(15, 34), Span(35, 46), Span(47, 60))
DOCUMENT = Document("d", "D", TEXT, (Span(0, len(TEXT)),), SENTENCES)


@dataclass(frozen=True)
class Piece:
    document: str
    start: int
    end: int

    @property
    def place(self):
        return Place(self.document, self.start, self.end)

    @property
    def text(self):
        return TEXT[self.start : self.end]


def corpus(*spans):
    return Corpus({"d": DOCUMENT}, [Piece("d", *span) for span in spans])


def required(*indices):
    return [Place("d", *SENTENCES[i]) for i in indices]


def test_a_sentence_in_two_pieces_is_found_when_both_are_retrieved():
    pieces = corpus((0, 20), (20, 46))  # the second sentence is cut in the middle
    assert measure(pieces, [0], required(1), [1])["recall@1"] == 0
    assert measure(pieces, [0], required(1), [1])["touched@1"] == 1
    assert measure(pieces, [1, 0], required(1), [2])["recall@2"] == 1


def test_one_missing_character_is_not_found_but_missing_space_is():
    assert measure(corpus((0, 12)), [0], required(0), [1])["recall@1"] == 0
    assert measure(corpus((0, 13), (15, 34)), [0, 1], [Place("d", 0, 34)], [2])["recall@2"] == 1
    assert measure(corpus((0, 13), (16, 34)), [0, 1], [Place("d", 0, 34)], [2])["recall@2"] == 0


def test_whole_wants_every_required_sentence():
    found = measure(corpus(*SENTENCES), [0, 3, 2], required(0, 2), [1, 3])
    assert (found["recall@1"], found["whole@1"], found["recall@3"], found["whole@3"]) == (0.5, 0, 1, 1)
    assert found["failure@20"] == 0
    assert found["one_chunk"] == 0
    assert measure(corpus((0, 60)), [0], required(0, 2), [1])["one_chunk"] == 1


def test_the_same_place_of_another_document_is_not_found():
    other = Document("e", "E", TEXT, (Span(0, len(TEXT)),), SENTENCES)
    both = Corpus({"d": DOCUMENT, "e": other}, [Piece("e", 0, 60)])
    assert measure(both, [0], required(0), [1])["touched@1"] == 0


def test_evidence_f1_counts_every_sentence_found():
    found = measure(corpus((0, 46)), [0], required(0, 2), [1])["evidence_f1@1"]
    assert found == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))  # three sentences found, two of them required


def test_the_budget_ends_before_the_first_chunk_that_does_not_fit():
    pieces = corpus((15, 46), (0, 13), (47, 60))  # 8, 3 and 2 words
    assert measure(pieces, [1, 0, 2], required(0), [1], budget=3)["whole@3w"] == 1
    assert measure(pieces, [0, 1], required(0), [1], budget=7)["whole@7w"] == 0
    assert measure(pieces, [0, 1], required(0), [1], budget=11)["whole@11w"] == 1


def test_sentence_chunks_agree_with_ir_measures():
    import ir_measures
    from ir_measures import RR, R, nDCG

    chance = random.Random(3)
    sentences = corpus(*SENTENCES)
    for _ in range(50):
        ranked = chance.sample(range(4), 4)
        wanted = sorted(chance.sample(range(4), chance.randint(1, 3)))
        run = {"q": {str(i): float(-rank) for rank, i in enumerate(ranked)}}
        theirs = ir_measures.calc_aggregate(
            [R @ 1, R @ 3, nDCG @ 1, nDCG @ 3, RR], {"q": {str(i): int(i in wanted) for i in range(4)}}, run
        )
        ours = measure(sentences, ranked, required(*wanted), [1, 3])
        assert ours["recall@1"] == pytest.approx(theirs[R @ 1])
        assert ours["recall@3"] == pytest.approx(theirs[R @ 3])
        assert ours["ndcg@1"] == pytest.approx(theirs[nDCG @ 1])
        assert ours["ndcg@3"] == pytest.approx(theirs[nDCG @ 3])
        assert ours["mrr"] == pytest.approx(theirs[RR])


def test_graded_ndcg_agrees_with_ir_measures():
    import ir_measures
    from ir_measures import nDCG

    gains = {"a": 2, "b": 0, "c": 1, "d": 3}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    theirs = ir_measures.calc_aggregate([nDCG @ 3], {"q": gains}, run)[nDCG @ 3]
    assert ndcg([2, 0, 1], list(gains.values()), 3) == pytest.approx(theirs)

"""Scores of chunks: they agree with Chroma's evaluation, and count what is whole, cut and held by hand."""

import json
from pathlib import Path

import pytest

from benchmarks import chroma
from evaluation import chunk_metrics as metrics
from evaluation.chunkers import Chunk, Chunked
from evaluation.examples import Document, Example, ExampleSet, Link, Place, Span

GOLDEN = Path(__file__).parents[2] / "shared" / "golden" / "chroma_chunks.sample.json"


def place(start, end, document="d"):
    return Place(document, start, end)


@pytest.mark.skipif(not GOLDEN.exists(), reason="needs the outputs of Chroma's evaluation in ../shared/golden")
def test_scores_agree_with_chromas_evaluation():
    for case in json.loads(GOLDEN.read_text())["cases"]:
        chunks = [Place(name, a, b) for a, b, name in case["chunks"]]
        for number, question in enumerate(case["questions"]):
            references = [Place(question["corpus_id"], a, b) for a, b in question["references"]]
            ranking = [Place(name, a, b) for a, b, name in case["retrieved"][number]][: case["k"]]
            omega, found = metrics.precision_omega(chunks, references), metrics.retrieved(ranking, references)
            ours = {"precision_omega": omega.score, "highlighted_chunks": omega.touched, **found._asdict()}
            for name, official in case["official"].items():
                assert ours[name] == pytest.approx(official[number], abs=1e-9), (case["id"], name)


@pytest.mark.skipif(not chroma.FOLDER.exists(), reason="needs Chroma's corpora in ../shared/data")
@pytest.mark.parametrize("name", ["tokens:800:400", "recursive:200"])
def test_the_published_precision_omega_is_reproduced(name, capsys):
    documents = {path.stem: chroma._document(path) for path in chroma.FOLDER.glob("*.md")}
    questions = chroma._questions(chroma.FOLDER / "questions_df.csv")
    assert len(questions) == 472
    assert chroma._row(name, documents, questions) == chroma.PUBLISHED[name]


def test_omega_counts_a_chunk_that_only_meets_the_reference():
    apart = metrics.precision_omega([place(0, 10), place(11, 20)], [place(11, 20)])
    meeting = metrics.precision_omega([place(0, 11), place(11, 20)], [place(11, 20)])
    assert (apart.score, apart.touched) == (1.0, 1)
    assert (meeting.score, meeting.touched) == (9 / 20, 2)


def test_precision_divides_by_lengths_added_up_and_recall_counts_once():
    found = metrics.retrieved([place(0, 10), place(5, 15)], [place(5, 10), place(20, 25)])
    assert found == (5 / 10, 5 / 20, 5 / 25)


def test_no_reference_or_no_chunk_scores_nothing():
    assert metrics.precision_omega([], [place(0, 4)]) == (0.0, 0)
    assert metrics.precision_omega([place(0, 4)], []) == (0.0, 0)
    assert metrics.retrieved([], []) == (0.0, 0.0, 0.0)
    assert not metrics.in_one([place(0, 9)], [])
    assert not metrics.in_all([place(0, 9)], [], {})


def test_the_whole_set_must_lie_in_one_chunk_of_one_document():
    required = [place(2, 4), place(8, 9)]
    assert metrics.in_one([place(2, 9)], required)
    assert not metrics.in_one([place(0, 5), place(5, 20), place(2, 9, "other")], required)
    assert not metrics.in_one([place(3, 9)], required)


def test_chunks_together_may_leave_out_white_space_alone():
    documents = {"d": Document("d", "", "ab cd.ef", (), ())}
    assert metrics.in_all([place(0, 2), place(3, 6)], [place(0, 6)], documents)
    assert not metrics.in_all([place(0, 2), place(4, 6)], [place(0, 6)], documents)
    assert not metrics.in_all([place(0, 6)], [place(0, 6), place(6, 8)], documents)
    assert not metrics.in_all([place(0, 6, "e")], [place(0, 6)], documents)


@pytest.fixture
def measured():
    text = "Ann ran. She won. It rained. She slept."
    sentences = (Span(0, 8), Span(9, 17), Span(18, 28), Span(29, 39))
    ann, she, late = place(0, 3), place(9, 12), place(29, 32)
    near, far = Link("pronominal", she, ann), Link("nominal", late, ann)
    examples = (
        Example("1", "?", (), (), (place(0, 8), place(9, 17)), (near,), "pronominal", 1),
        Example("2", "?", (), (), (place(0, 8), place(29, 39)), (near, far), "mixed", 3),
        Example("3", "nothing required", (), ()),
    )
    documents = {"d": Document("d", "", text, (), sentences)}
    chunks = tuple(Chunk("d", a, b, text[a:b]) for a, b in ((0, 17), (18, 28), (29, 39)))
    return metrics.report(ExampleSet("s", "craqan", documents, examples), Chunked("by hand", chunks, 0.5))


def test_the_report_counts_questions_and_links_by_kind_and_distance(measured):
    assert measured.all == metrics.Share(2, 0.5, 3, 1 / 3)
    assert measured.by_kind["pronominal"] == metrics.Share(1, 1.0, 1, 0.0)
    assert measured.by_distance[3] == metrics.Share(1, 0.0, 2, 0.5)
    assert measured.links_by_kind == {"nominal": (1, 1.0), "pronominal": (2, 0.0)}
    assert measured.links_by_distance == {1: (2, 0.0), 3: (1, 1.0)}


def test_the_report_measures_the_chunks_themselves(measured):
    assert (measured.chunks, measured.seconds, measured.unit) == (3, 0.5, "words")
    assert measured.mean_characters == pytest.approx((17 + 10 + 10) / 3)
    assert measured.mean_tokens == pytest.approx((6 + 3 + 3) / 3)
    assert measured.covered == pytest.approx(37 / 39)
    assert measured.repeated == 1


def test_the_report_of_no_chunks_is_all_zero(measured):
    empty = metrics.report(ExampleSet("s", "craqan", {}, ()), Chunked("none", (), 0.0))
    assert empty.all == metrics.Share(0, 0.0, 0, None)
    assert (empty.chunks, empty.mean_tokens, empty.covered, empty.mean_omega) == (0, 0.0, 0.0, 0.0)

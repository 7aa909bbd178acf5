"""The Evaluate tab without a browser: what is cut, what is said of it, what is refused."""

import asyncio
import json
import re

import pytest

from evaluation.chunk_metrics import is_cut
from evaluation.chunkers import chunk_all, make
from generation.errors import UsageError
from space import cuts, cutting, results
from space.cutting import Bench, check_name, name_of
from space.shelf import Shelf, load_shelf
from tests.space_rows import ROWS


@pytest.fixture(scope="module")
def bench():
    return Bench(Shelf(ROWS))


@pytest.fixture(scope="module")
def released():
    shelf = load_shelf()
    articles = {row["article_id"] for row in shelf.rows[:12]}
    rows = [row for row in shelf.rows if row["article_id"] in articles]
    return Bench(Shelf(rows, texts=[text for text in shelf.texts if text["article_id"] in articles]))


def drawn(bench, name, document):
    return cuts.article(asyncio.run(bench.cut(name, document)), name)


@pytest.mark.parametrize("name", ["tokens:40", "recursive:60", "sentences:2", "sections", "oracle:80"])
def test_each_broken_coreference_is_named_at_a_cut_and_no_other_is(released, name):
    for _, document in released.titles:
        page = drawn(released, name, document)
        chunked = chunk_all(make(name, examples=released.examples), [released.examples.documents[document]])
        links = {
            (link.mention, link.antecedent): is_cut(link, chunked.chunks)
            for example in released.examples.examples
            for link in example.links
            if link.mention.document == document
        }
        named = set(re.findall(r'<li><span class="tag">(\d+)</span>', page))
        assert len(named) == sum(links.values())
        assert f"{len(named)} of {len(links)} labelled" in page


@pytest.mark.parametrize("name", ["tokens:40", "recursive:60", "sentences:2"])
def test_the_chunks_show_the_whole_article(released, name):
    for _, document in released.titles:
        cut = asyncio.run(released.cut(name, document))
        assert "".join("".join(c.text for c in cut.chunks).split()) == "".join(cut.document.text.split())


def test_the_passage_is_shown_as_text(bench):
    hostile = next(row for row in ROWS if row["id"] == "hostile-1")
    page = drawn(bench, "sentences:1", hostile["section_id"])
    assert "<script" not in page and "<img" not in page


def test_the_comparison_agrees_with_the_report_of_the_evaluation(released):
    async def compare():
        return [c async for c in released.compare(["tokens:80"])][-1]

    compared = asyncio.run(compare())
    assert compared.articles == compared.of_articles == len(released.titles)
    assert compared.reports[0].all.questions == len(released.shelf.rows)
    assert 0 < compared.reports[0].all.whole < 1


def test_a_comparison_that_takes_too_long_ends_with_what_it_has(bench, monkeypatch):
    monkeypatch.setattr(cutting, "SECONDS", 0.0)

    async def compare():
        return [c async for c in bench.compare(["sentences:1"])]

    last = asyncio.run(compare())[-1]
    assert last.articles == 1 < last.of_articles
    assert 0 < last.reports[0].all.questions < len(ROWS)


@pytest.mark.parametrize(
    "name", ["semantic:90", "late:tokens:50", "contextual:tokens:50", "tokens", "tokens:0", "tokens:5", "tokens:100:90",
             "tokens:100@nothing", "sections:a", "", "x" * 500, "tokens:100:50:20", "coref:100\n"]
)  # fmt: skip
def test_what_this_page_does_not_run_is_refused_in_a_sentence(name):
    with pytest.raises(UsageError, match=r"\.$"):
        check_name(name)


@pytest.mark.parametrize("kind", list(cutting.OFFERED))
def test_every_choice_is_a_chunker(kind):
    assert check_name(name_of(kind, 100))


def test_an_article_that_is_not_there_is_refused(bench):
    with pytest.raises(UsageError, match="no such article"):
        asyncio.run(bench.cut("tokens:50", "nothing"))


def test_absent_and_broken_results_are_said_and_good_ones_are_drawn(tmp_path):
    assert "No results are stored" in results.stored(tmp_path)
    (tmp_path / "results-a.json").write_text("{")
    (tmp_path / "results-b.json").write_text('{"set": {"name": "<b>"}}')
    assert results.stored(tmp_path).count("holds no results that can be read") == 2
    figures = {"all": {"whole": 0.5, "cut": None}, "chunks": 1200, "mean_tokens": 41.6}
    cell = {"chunker": "t", "retriever": "bm25", "reader": "", "measures": {"whole@5": {"mean": 0.75}}}
    good = {
        "set": {"name": "<i>set", "questions": 9, "documents": 2},
        "made_at": "2026-11-22T00:00:00+00:00",
        "chunkers": {"<b>t": figures},
        "cells": [cell],
    }
    (tmp_path / "results-b.json").write_text(json.dumps(good))
    page = results.stored(tmp_path)
    assert all(part in page for part in ("50.0 %", "1,200", "42", "75.0 %", "&lt;b&gt;t", "&lt;i&gt;set"))

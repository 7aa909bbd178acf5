"""Parquet by fsspec: parts that are whole, sections that come back as they went in, and clear refusals."""

import json

import fsspec
import pytest
from pyarrow import parquet

from generation.errors import CorpusError, InputError
from generation.records import Outcome, Round, Usage, Verdict
from generation.running.folder import outcome_row
from generation.running.table import Table, read_sections
from tests.helpers import candidate_of, section_of

RECIPE = {"generator": "model:m", "reviewed_by": ["checks", "model:m"]}
VERDICTS = (Verdict("a", False, "Too long.", ("other",)), Verdict("b", True, "Fine."))


@pytest.fixture
def url():
    yield "memory://table"
    fsspec.filesystem("memory").rm("/table", recursive=True)


def row_of(number, candidate=None):
    rounds = (Round(0, candidate, VERDICTS),) if candidate else ()
    section = section_of(id=f"article-{number}/0", path=("History", "Rafts"))
    outcome = Outcome(section, "rejected", candidate, rounds, reason="no", usage={"generator": Usage(1, 2, 3, 4)})
    return outcome_row(outcome, RECIPE)


def written(url, rows, **options):
    table = Table(url, **options)
    for row in rows:
        table.add("rejected", row)
    table.close()


def names(url):
    return sorted(p.rpartition("/")[2] for p in fsspec.filesystem("memory").find("/table"))


def test_rows_come_back_whole_and_in_order(url):
    rows = [row_of(n, candidate_of() if n % 2 else None) for n in range(7)]
    written(url, rows, part_rows=3)
    assert names(url) == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    found = []
    for name in names(url):
        with fsspec.open(f"{url}/{name}") as file:
            found += parquet.read_table(file).to_pylist()
    assert [r["section_id"] for r in found] == [r["section_id"] for r in rows]
    usage = [{"role": "generator", "calls": 1, "prompt_tokens": 2, "cached_tokens": 3, "completion_tokens": 4}]
    assert found[1] == {**json.loads(json.dumps(rows[1])), "status": "rejected", "usage": usage}
    assert found[0]["question"] is None and found[0]["reason"] == "no"


def test_parts_of_a_longer_run_are_removed_at_the_end(url):
    written(url, [row_of(n) for n in range(9)], part_rows=3)
    written(url, [row_of(0)], part_rows=3)
    assert names(url) == ["part-00000.parquet"]


def test_a_part_that_is_not_whole_is_not_there(url):
    table = Table(url, part_rows=1000)
    for n in range(600):
        table.add("rejected", row_of(n))
    assert not any(name.startswith("part-") for name in names(url))
    table.close()
    assert names(url) == ["part-00000.parquet"]


def test_a_table_without_rows_has_columns(url):
    written(url, [])
    with fsspec.open(f"{url}/part-00000.parquet") as file:
        assert {"status", "question"} <= set(parquet.read_table(file).column_names)


def test_sections_come_back_as_they_went_in(url):
    rows = [row_of(n) for n in range(5)]
    written(url, rows, part_rows=2)
    found = list(read_sections([f"{url}/*.parquet"], skipped=[].append))
    assert found == [section_of(id=f"article-{n}/0", path=("History", "Rafts")) for n in range(5)]


def test_rows_without_sentences_are_segmented_and_short_ones_told(url):
    import pyarrow

    texts = ["The act was passed. It names two rivers. More follows.", "Too short."]
    table = pyarrow.table({"section_id": ["a/0", "b/0"], "section_text": texts})
    with fsspec.open(f"{url}/in.parquet", "wb") as file:
        parquet.write_table(table, file)
    skipped = []
    (section,) = read_sections([f"{url}/in.parquet"], skipped=skipped.append)
    assert len(section.sentences) == 3 and section.segmenter and section.article_id == "a"
    assert [s.name for s in skipped] == ["b/0"]


def test_what_cannot_be_read_is_named(url):
    import pyarrow

    fs = fsspec.filesystem("memory")
    fs.pipe("/table/bad.parquet", b"no parquet at all")
    with fsspec.open(f"{url}/other.parquet", "wb") as file:
        parquet.write_table(pyarrow.table({"text": ["a"]}), file)
    for name, why in [("bad", "cannot be read"), ("other", "no column section_id"), ("none", "names no file")]:
        with pytest.raises(InputError, match=why):
            list(read_sections([f"{url}/{name}.parquet"], skipped=print))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_sections(["nowhere://x/a.parquet"], skipped=print))


def test_nothing_left_is_an_error(url):
    written(url, [row_of(0)])
    with pytest.raises(CorpusError):
        list(read_sections([f"{url}/*.parquet"], min_sentences=30, skipped=lambda s: None))

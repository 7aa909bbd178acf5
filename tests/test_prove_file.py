"""`craqan prove` on files as people have them: exit codes, results, going on, and the reader without a model."""

import json
from dataclasses import asdict

import pytest

from generation.prompts import CANNOT_TELL
from generation.proving.extractive import read
from tests.helpers import PASSAGE, candidate_of
from tests.model_server import ModelServer, failing
from tests.test_cli import KEY, ROOT, craqan, lines, within
from tests.test_proof import asked_of, understanding

GOOD = {"sentences": list(PASSAGE), **asdict(candidate_of()), "extra": 7}
WIDE = {**GOOD, "required_sentence_indices": [0, 1, 2]}


def reader(request):
    return {"reason": "Seen.", "answer": understanding(asked_of(request)["sentences"])}


def file_of(path, rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def proving(file, out, url, *more):
    return within("prove", file, "--out", out, "--model", "m", "--base-url", url, *more, OPENAI_API_KEY=KEY)


def test_proven_and_failing_rows_are_parted_and_keep_their_columns(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [GOOD, WIDE])
    with ModelServer(reader) as server:
        done = proving(file, tmp_path / "out", server.url, "--json")
    assert done.returncode == 1, done.stderr
    first, second = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["index"], first["status"], second["status"]) == (0, "proven", "not proven")
    assert second["problems"] == ["irrelevant_sentences"] and "sentence 1" in second["reason"]
    (kept,) = lines(tmp_path / "out" / "accepted.jsonl")
    assert kept["extra"] == 7 and kept["reader"] == "model:m" and len(kept["proof"]) == 7
    assert [row["index"] for row in lines(tmp_path / "out" / "rejected.jsonl")] == [1]
    assert KEY not in done.stdout + done.stderr


def test_a_file_of_proven_pairs_exits_with_0_and_asks_nothing_the_second_time(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [GOOD])
    with ModelServer(reader) as server:
        assert proving(file, tmp_path / "out", server.url).returncode == 0
        assert len(server.requests) == 7
        assert proving(file, tmp_path / "out", server.url).returncode == 0
        assert len(server.requests) == 7


def test_after_a_failing_server_only_what_is_missing_is_asked(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [GOOD])
    is_ill = True

    def moody(request):
        return failing(400) if is_ill and not asked_of(request)["sentences"] else reader(request)

    with ModelServer(moody) as server:
        first = proving(file, tmp_path / "out", server.url)
        assert first.returncode == 1 and len(lines(tmp_path / "out" / "failed.jsonl")) == 1
        before, is_ill = len(server.requests), False
        assert proving(file, tmp_path / "out", server.url).returncode == 0
        assert len(server.requests) == before + 1


def test_a_row_that_is_no_pair_is_named_and_the_rest_go_on(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [GOOD, "{", {"sentences": ["One."]}])
    with ModelServer(reader) as server:
        done = proving(file, tmp_path / "out", server.url)
    assert done.returncode == 1
    assert "pairs.jsonl:2" in done.stderr and "pairs.jsonl:3" in done.stderr and "2 unreadable" in done.stderr
    assert len(lines(tmp_path / "out" / "accepted.jsonl")) == 1


def test_required_indices_out_of_range_prove_nothing_and_do_no_harm(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [{**GOOD, "required_sentence_indices": [0, 99]}])
    with ModelServer(reader) as server:
        assert proving(file, tmp_path / "out", server.url).returncode == 1
    (row,) = lines(tmp_path / "out" / "rejected.jsonl")
    assert row["problems"] == ["missing_sentences"]


def test_parquet_a_run_and_the_dataset_are_read_alike(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([GOOD]), tmp_path / "pairs.parquet")
    (tmp_path / "run").mkdir()
    file_of(tmp_path / "run" / "accepted.jsonl", [GOOD])
    (tmp_path / "set" / "default").mkdir(parents=True)
    file_of(tmp_path / "set" / "default" / "train.jsonl", [GOOD])
    with ModelServer(reader) as server:
        for name in ("pairs.parquet", "run", "set"):
            done = proving(tmp_path / name, tmp_path / f"out-{name}", server.url)
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["nothing.jsonl", "empty.jsonl", "folder", "nothing.parquet"])
def test_a_path_without_rows_is_one_sentence_and_code_2(tmp_path, name):
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "folder").mkdir()
    done = within("prove", tmp_path / name, "--out", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.count("\n") <= 2 and "Traceback" not in done.stderr


def test_a_dry_run_asks_and_writes_nothing(tmp_path):
    file = file_of(tmp_path / "pairs.jsonl", [GOOD])
    done = proving(file, tmp_path / "out", "http://127.0.0.1:1/v1", "--dry-run")
    assert done.returncode == 0 and "7 calls" in done.stderr and not (tmp_path / "out").exists()


def test_without_a_model_the_released_rows_are_read_by_rules_and_twice_alike(tmp_path):
    lines = (ROOT / "data/default/test.jsonl").read_text(encoding="utf-8").splitlines()[:11]
    file = file_of(tmp_path / "some.jsonl", lines)
    first = craqan("prove", file, "--out", tmp_path / "a", "--json")
    again = within("prove", file, "--out", tmp_path / "b", "--json")
    assert first.stdout == again.stdout and len(first.stdout.splitlines()) == 11
    assert all(json.loads(line)["reader"].startswith("rules:") for line in first.stdout.splitlines())


# --- the reader without a model --------------------------------------------------------------------------------------

STORY = (
    "The Gullane Lighthouse was built in 1846.",
    "It replaced a wooden beacon.",
    "A storm damaged the roof of the keeper's house in 1911.",
)
ASKED = "What did the Gullane Lighthouse replace?"


def test_the_reader_without_a_model_follows_a_link_to_the_answer():
    assert read(STORY, ASKED) == "a wooden beacon"


def test_it_cannot_tell_where_the_name_is_not_among_the_sentences():
    assert read(STORY[1:], ASKED) == CANNOT_TELL


def test_it_cannot_tell_where_the_answer_is_not_among_the_sentences():
    assert read((STORY[0], STORY[2]), ASKED) == CANNOT_TELL


@pytest.mark.parametrize("sentences", [(), ("", "  "), ("!!!",), ("It.",)])
@pytest.mark.parametrize("question", ["", "?", ASKED, "Why?"])
def test_it_cannot_tell_from_nothing(sentences, question):
    assert read(sentences, question) == CANNOT_TELL


@pytest.mark.parametrize(
    ("question", "answer"),
    [("When was the Gullane Lighthouse built?", "1846"), ("What does the moon do?", CANNOT_TELL)],
)
def test_it_answers_by_the_kind_of_question(question, answer):
    assert read(STORY, question) == answer

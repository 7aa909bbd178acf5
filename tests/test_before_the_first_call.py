"""What is found out before the first call, or instead of it: no key, no price, no server for batch jobs."""

import subprocess
import sys
import textwrap

import pytest

from generation import generate
from generation.client import batch, batch_jobs
from generation.errors import CircuitError, UsageError
from generation.running.budget import all_spent
from tests.batch_server import BatchServer
from tests.model_server import ModelServer
from tests.test_batch import Sitting, echo, requests_of
from tests.test_cli import ARTICLE, ROOT, within


@pytest.mark.parametrize("address", [(), ("--base-url", "nonsense")])
@pytest.mark.parametrize("command", ["generate", "prove"])
def test_without_a_key_or_address_nothing_is_left_behind(command, address, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        '{"sentences": ["A.", "It."], "question": "Q?", "answer": "A", "required_sentence_indices": [0, 1]}'
    )
    source = ARTICLE if command == "generate" else pairs
    done = within(command, source, "--out", tmp_path / "run", "--model", "m", *address)
    assert done.returncode == 2 and ("OPENAI_API_KEY" in done.stderr or "no address" in done.stderr)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("flag", ["rpm inf", "timeout inf", "max-usd inf", "prices nan,1", "max-mb inf"])
def test_no_limit_is_held_against_what_is_no_number(flag, tmp_path):
    name, value = flag.split()
    url = "http://127.0.0.1:9/v1"
    done = within("generate", ARTICLE, "--out", tmp_path / "run", "--model", "m", "--base-url", url, f"--{name}", value)
    assert done.returncode == 2 and "number" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "wrong",
    [{"chat": "gpt"}, {"check_level": "some"}, {"max_revisions": -1}, {"rpm": 0}, {"tpm": float("nan")}],
    ids=str,
)
def test_a_wrong_value_is_refused_by_the_functions_too(wrong):
    with pytest.raises(UsageError):
        generate([], **wrong)


FEW_FILES = """
    import resource, sys
    resource.setrlimit(resource.RLIMIT_NOFILE, ({}, {}))
    from generation.cli import main
    main()
"""


@pytest.mark.parametrize(("soft", "hard", "code"), [(128, 128, 2), (128, 4096, 0)])
def test_more_calls_at_a_time_than_open_files_are_made_room_for_or_refused(soft, hard, code, tmp_path):
    with ModelServer(lambda request: "no pair", delay=0.02) as server:
        command = [sys.executable, "-c", textwrap.dedent(FEW_FILES.format(soft, hard)), "generate", ARTICLE]
        options = ["--out", tmp_path / "run", "--model", "m", "--base-url", server.url]
        done = subprocess.run(
            [*map(str, [*command, *options, "--concurrency", "200"])], cwd=ROOT, capture_output=True, text=True
        )
    if code == 2:
        assert done.returncode == 2 and "ulimit -n" in done.stderr and "28 at a time" in done.stderr
        assert not (tmp_path / "run").exists() and not server.calls
    else:
        assert "submitted" in (tmp_path / "run" / "run.json").read_text() and server.calls


async def test_a_batch_server_that_never_answers_is_told_and_not_waited_for_an_hour(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "QUIET_S", 0.05)
    monkeypatch.setattr(batch_jobs, "_BACKOFF_S", 0.02)
    monkeypatch.setattr(batch_jobs, "FIRST_PATIENCE", 0.3)
    with BatchServer(echo) as server:
        server.go_away()
        async with Sitting(server, tmp_path) as sitting:
            (error,) = await sitting.ask(requests_of(1))
    assert isinstance(error, CircuitError) and "No connection" in str(error)
    assert [note.startswith("Waiting for the server: No connection") for note in sitting.notes] == [True]


def test_a_small_budget_is_not_told_as_nothing():
    assert all_spent(0.0012, 0.001) == "$0.0012 of $0.0010 are spent."
    assert all_spent(20.01, 20) == "$20.0100 of $20.00 are spent."

"""What is found out before the first call, or instead of it: no key, no price, no server for batch jobs."""

import pytest

from generation import generate
from generation.client import batch, batch_jobs
from generation.errors import CircuitError, UsageError
from generation.running.budget import all_spent
from tests.batch_server import BatchServer
from tests.test_batch import Sitting, echo, requests_of
from tests.test_cli import ARTICLE, within


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

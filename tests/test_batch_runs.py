"""Whole runs and programs in batches: killed, left, and gone on with, the live run's files and nothing paid twice."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import aclosing

import pytest

from generation.api import agenerate, generate
from generation.errors import UsageError
from generation.llm import OpenAIChat
from tests.batch_server import BatchServer
from tests.helpers import written_articles
from tests.model_server import ModelServer
from tests.test_api import URL, examples, passages
from tests.test_api import script as examples_script
from tests.test_batch import quick as quick
from tests.test_cli import KEY, ROOT, counts, within
from tests.test_resume import files, script

SECTIONS = 8
QUICK = """
from generation.client import batch, batch_jobs
from generation.cli import main
batch.QUIET_S = 0.1
batch_jobs.FIRST_LOOK_S, batch_jobs.LONGEST_LOOK_S = 0.02, 0.1
main()
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return written_articles(tmp_path_factory.mktemp("corpus"), SECTIONS)


def arguments(corpus, out, url, *more):
    return ["generate", corpus, "--out", out, "--model", "m", "--base-url", url, "--checks", "format", *more]


@pytest.fixture(scope="module")
def live(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("live") / "run"
    with ModelServer(script) as server:
        done = within(*arguments(corpus, out, server.url))
        assert done.returncode == 0, done.stderr
        return files(out), len(server.requests)


def started(corpus, out, server, *more):
    command = [sys.executable, "-c", QUICK, *map(str, arguments(corpus, out, server.url, "--batch", *more))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": KEY, "COLUMNS": "100"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)


def finished(corpus, out, server, *more):
    done = within(*arguments(corpus, out, server.url, "--batch", *more), OPENAI_API_KEY=KEY)
    return done.returncode, done.stderr


def until(condition, process=None):
    give_up = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < give_up and (process is None or process.poll() is None)
        time.sleep(0.005)


def killed(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_batch_run_writes_the_files_of_the_live_run(corpus, live, tmp_path):
    with BatchServer(script) as server:
        code, errors = finished(corpus, tmp_path / "run", server)
        assert code == 0, errors
        assert sum(server.paid.values()) == live[1] and max(server.paid.values()) == 1
        assert len(server.jobs) <= 12  # six rounds of drafts and reviews
        assert server.keys == {f"Bearer {KEY}"}
    assert files(tmp_path / "run") == live[0]
    records = [json.loads(p.read_text()) for p in (tmp_path / "run" / "batches").glob("*.json")]
    assert {r["state"] for r in records} == {"closed"} and sum(r["answered"] for r in records) == live[1]
    assert not any(KEY in p.read_text(errors="replace") for p in (tmp_path / "run").rglob("*") if p.is_file())


def test_after_kill_9_at_every_step_no_request_is_sent_twice(corpus, live, tmp_path):
    out = tmp_path / "run"
    with BatchServer(script) as server:
        for step in ("upload", "create", "look", "content"):  # each hears the process and leaves it waiting
            reached = threading.Event()
            server.fault = lambda event, number, step=step, reached=reached: (
                event == step and (reached.set() or "stall")
            )
            process = started(corpus, out, server)
            until(reached.is_set, process)
            time.sleep(0.1)
            killed(process)
        server.fault = lambda event, number: ""
        code, errors = finished(corpus, out, server)
        assert code == 0, errors
        assert sum(server.paid.values()) == live[1] and max(server.paid.values()) == 1
        assert max(Counter(r["custom_id"] for job in server.jobs for r in job.requests).values()) == 1
    assert files(out) == live[0]


def test_after_kill_9_at_random_moments_no_request_is_paid_twice(corpus, live, tmp_path):
    out, chances = tmp_path / "run", random.Random(11)
    with BatchServer(script) as server:
        for _ in range(2):
            process, goal = started(corpus, out, server), sum(server.seen.values()) + chances.randrange(2, 25)
            until(lambda goal=goal, process=process: sum(server.seen.values()) >= goal or process.poll() is not None)
            killed(process)
        code, errors = finished(corpus, out, server)
        assert code == 0, errors
        assert sum(server.paid.values()) == live[1] and max(server.paid.values()) == 1
    assert files(out) == live[0]


def test_going_on_live_while_a_job_is_out_is_refused(corpus, live, tmp_path):
    out = tmp_path / "run"
    with BatchServer(script) as server:
        server.hold.set()
        process = started(corpus, out, server)
        until(lambda: server.seen["look"], process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0 and counts(out)["pending"] == SECTIONS
        done = within(*arguments(corpus, out, server.url))
        assert done.returncode == 2 and "--batch" in done.stderr
        server.hold.clear()
        assert finished(corpus, out, server)[0] == 0
    assert files(out) == live[0]


@pytest.mark.parametrize("more", [["--rpm", "5"], ["--tpm", "5"]])
def test_limits_of_live_calls_are_refused_with_batch(corpus, tmp_path, more):
    done = within(*arguments(corpus, tmp_path / "run", "http://127.0.0.1:9/v1", "--batch", *more))
    assert done.returncode == 2 and more[0] in done.stderr


def python(code, folder):
    quick = QUICK.replace("from generation.cli import main\n", "").replace("main()\n", "")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", quick + code], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_example_in_batches_runs_as_a_script_and_says_what_the_live_one_says(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with ModelServer(examples_script) as server:
        live = python(examples()[1].replace(URL, server.url), tmp_path)
    (tmp_path / "runs" / "journal.sqlite").unlink()
    with BatchServer(examples_script) as server:
        code = examples()[2].replace(URL, server.url)
        done = python(code, tmp_path)
        assert done.returncode == 0 and done.stdout == live.stdout and len(done.stdout.splitlines()) == 3, done.stderr
        jobs = len(server.jobs)
        assert jobs >= 2 and python(code, tmp_path).stdout == done.stdout and len(server.jobs) == jobs


def test_a_program_that_is_left_while_a_job_is_out_collects_it_and_may_not_ask_live(tmp_path):
    journal = tmp_path / "j.sqlite"
    with BatchServer(examples_script) as server:
        server.hold.set()

        async def leave():
            async with aclosing(agenerate(passages(3), chat=chat_at(server), journal=journal, batch=True)) as running:
                first = asyncio.ensure_future(anext(running))
                while not server.seen["look"]:
                    await asyncio.sleep(0.005)
                first.cancel()
                await asyncio.wait([first])

        asyncio.run(leave())
        with pytest.raises(UsageError, match="batch=True"):
            list(generate(passages(3), chat=chat_at(server), journal=journal))
        server.hold.clear()
        found = list(generate(passages(3), chat=chat_at(server), journal=journal, batch=True))
        assert len(found) == 3 and {o.status for o in found} <= {"accepted", "rejected"}
        assert set(server.paid.values()) == {1} and len(server.jobs) >= 2


def test_a_second_program_on_one_journal_is_refused_while_the_first_has_jobs_out(tmp_path):
    options = {"journal": tmp_path / "j.sqlite", "batch": True, "check_level": "none"}
    with BatchServer(examples_script) as server:
        server.hold.set()
        first = threading.Thread(target=lambda: list(generate(passages(3), chat=chat_at(server), **options)))
        first.start()
        while not server.seen["look"]:
            time.sleep(0.005)
        with pytest.raises(UsageError, match="another journal"):
            list(generate(passages(3), chat=chat_at(server), **options))
        server.hold.clear()
        first.join()
        jobs = len(server.jobs)
        assert len(list(generate(passages(3), chat=chat_at(server), **options))) == 3 and len(server.jobs) == jobs
    assert set(server.paid.values()) == {1}


def chat_at(server):
    return OpenAIChat("m", server.url, KEY)


@pytest.mark.parametrize("more", [{"journal": None}, {"rpm": 60}, {"chat": None}])
def test_batches_without_what_they_need_are_refused_at_once(tmp_path, more):
    options = {"chat": OpenAIChat("m", URL, KEY), "journal": tmp_path / "j.sqlite", "batch": True}
    with pytest.raises(UsageError):
        generate(passages(1), **options | more)


def test_batches_through_a_client_of_azure_are_refused_with_a_word_on_what_to_do(tmp_path):
    import openai

    client = openai.AsyncAzureOpenAI(azure_endpoint="https://x.invalid", api_key=KEY, api_version="2024-10-21")
    chat = OpenAIChat("deployment", client=client)
    with pytest.raises(UsageError, match="Azure.*ask live"):
        generate(passages(1), chat=chat, journal=tmp_path / "j.sqlite", batch=True)

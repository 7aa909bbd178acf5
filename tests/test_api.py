"""The package as a program uses it: the examples of its docstring, in scripts, under a running loop, over real HTTP."""

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import generation
from generation.api import agenerate, generate
from generation.errors import AuthError, CircuitError, UsageError
from generation.journal import Journal
from generation.llm import OpenAIChat, Request
from generation.run import Ledger
from generation.running.folder import outcome_row
from tests.helpers import ScriptedGenerator, ScriptedReviewer, candidate_of, section_of
from tests.model_server import Canned, ModelServer, failing
from tests.test_panel import GOOD, NO, YES

ROOT = Path(__file__).parents[1]
SECTIONS = [section_of(id=f"article-{i}/0") for i in range(12)]
URL = "http://localhost:8000/v1"


def examples():
    """The code blocks of the package's docstring."""
    lines = [line if line.startswith("    ") or not line else "#" for line in generation.__doc__.splitlines()]
    blocks = "\n".join(lines).split("#")
    return [textwrap.dedent(block) for block in blocks if "import generation" in block]


def script(request):
    """Drafts and accepts."""
    return GOOD if request["temperature"] == 0.7 else YES


def passages(count):
    """Sections of which no two ask the same."""
    texts = ("The act of {} was passed.", "It names two rivers.", "More follows.")
    return [section_of(*(t.format(n) for t in texts), id=f"act-{n}/0") for n in range(count)]


def python(code, cwd=ROOT):
    clean = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN")}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def worker_threads():
    return [t for t in threading.enumerate() if t.name == "craqan generate"]


def test_the_example_without_a_model_runs_as_a_script():
    done = python(examples()[0])
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.splitlines() and all(" - " in line for line in done.stdout.splitlines())


def test_the_example_with_a_model_runs_as_a_script_and_keeps_what_it_paid(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with ModelServer(script) as server:
        code = examples()[1].replace(URL, server.url)
        assert server.url in code
        done = python(code, tmp_path)
        paid = len(server.requests)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert paid and python(code, tmp_path).stdout == done.stdout and len(server.requests) == paid
    assert len(done.stdout.splitlines()) == 3


def test_importing_the_package_brings_nothing_heavy():
    code = "import sys, generation; print(len([m for m in sys.modules if m.startswith('generation')]), 'asyncio' in"
    done = python(f"{code} sys.modules, hasattr(generation, 'generate'))")
    assert done.stdout.split() == ["1", "False", "True"], done.stderr


def test_the_example_runs_where_an_event_loop_is_running():
    async def cell():
        assert asyncio.get_running_loop()
        exec(examples()[0], {})

    asyncio.run(cell())
    assert not worker_threads()


def test_outcomes_come_in_input_order_with_their_recipe_over_http(tmp_path):
    with ModelServer(script, delay=0.1) as server:
        books = Ledger()
        chat = OpenAIChat("m", server.url)
        found = list(generate(SECTIONS, chat=chat, concurrency=4, journal=tmp_path / "j.sqlite", ledger=books))
        assert 1 < server.peak <= 4
    assert [o.section.id for o in found] == [s.id for s in SECTIONS]
    assert {o.status for o in found} <= {"accepted", "rejected"} and books.submitted == len(SECTIONS)
    assert outcome_row(found[0], found[0].recipe)["generator"] == "model:m"
    with Journal(tmp_path / "j.sqlite", create=False) as journal:
        assert len(list(journal.calls())) == len(server.requests)


def test_the_first_outcome_is_there_before_the_last_section_is_read():
    taken = []

    def stream():
        for section in SECTIONS:
            taken.append(section.id)
            yield section

    running = generate(stream(), generator=ScriptedGenerator(candidate_of()), panel=[ScriptedReviewer("a")], window=2)
    assert next(running).section.id == SECTIONS[0].id
    assert len(taken) < len(SECTIONS)
    assert len(list(running)) == len(SECTIONS) - 1


def test_nothing_starts_before_the_first_outcome_is_asked_for():
    generate(SECTIONS, generator=ScriptedGenerator(candidate_of()), panel=[ScriptedReviewer("a")])
    assert not worker_threads()


@pytest.mark.parametrize("how", ["close", "break", "exception"])
def test_leaving_early_ends_calls_thread_and_journal(how, tmp_path):
    with ModelServer(script, delay=0.03) as server:
        journal = tmp_path / "journal.sqlite"
        running = generate(passages(200), chat=OpenAIChat("m", server.url), concurrency=8, journal=journal)
        with contextlib.suppress(ZeroDivisionError):
            for _ in running:
                if how == "exception":
                    raise ZeroDivisionError
                break
        if how == "close":
            running.close()
        del running
        assert not worker_threads()
        sent = len(server.requests)
        time.sleep(0.2)
        assert 8 <= sent < 400 and len(server.requests) == sent and server.in_flight == 0
    assert [p.name for p in tmp_path.iterdir()] == ["journal.sqlite"]  # closed: no -wal beside it


@pytest.mark.parametrize("held", ["running", "held = [running]; held.append(held); del running"])
def test_a_program_that_ends_while_it_holds_the_iterator_ends_at_once_and_closes_the_journal(held, tmp_path):
    with ModelServer(script, delay=0.03) as server:
        code = f"""
            import generation
            from tests.test_api import passages
            chat = generation.OpenAIChat("m", {server.url!r})
            running = generation.generate(passages(99), chat=chat, journal="journal.sqlite", check_level="none")
            print(next(running).status)
            {held}
        """
        done = python(textwrap.dedent(code), tmp_path)
    assert done.stdout.split() == ["accepted"] and not done.stderr and done.returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["journal.sqlite"]  # closed: no -wal beside it


def test_an_interrupt_while_waiting_ends_the_work():
    with ModelServer(lambda request: Canned(fault="hang")) as server:
        code = f"""
            import os, signal, threading, time, generation
            from tests.helpers import section_of
            signal.signal(signal.SIGINT, signal.default_int_handler)
            def press():
                while not any("craqan" in t.name for t in threading.enumerate()):
                    time.sleep(0.01)
                time.sleep(0.5)  # the main thread waits for the other's first outcome
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=press).start()
            chat = generation.OpenAIChat("m", {server.url!r})
            try:
                list(generation.generate([section_of()], chat=chat))
            except KeyboardInterrupt:
                print([t.name for t in threading.enumerate() if "craqan" in t.name])
        """
        done = python(textwrap.dedent(code))
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


async def test_the_asynchronous_form_yields_the_same():
    options = {"panel": [ScriptedReviewer("a")], "check_level": "none"}
    here = [o async for o in agenerate(SECTIONS, generator=ScriptedGenerator(candidate_of()), **options)]
    there = list(generate(SECTIONS, generator=ScriptedGenerator(candidate_of()), **options))
    assert here == there and len(here) == len(SECTIONS)


async def test_one_chat_serves_the_running_loop_and_the_thread():
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context["message"]))
    with ModelServer(script) as server:
        async with OpenAIChat("m", server.url) as chat:
            first = [o async for o in agenerate(SECTIONS[:2], chat=chat)]
            await chat(Request(({"role": "user", "content": "Still there?"},)))
            second = list(generate(SECTIONS[:2], chat=chat))
            gc.collect()
            await chat(Request(({"role": "user", "content": "And now?"},)))
    assert first == second and not complaints  # an unclosed session would be told to the loop


def test_a_rejection_and_a_failure_are_outcomes():
    def awful(request):
        return "no JSON" if "ferry" in str(request["messages"]) else script(request)

    with ModelServer(lambda request: GOOD if request["temperature"] == 0.7 else NO) as server:
        (rejected,) = generate(SECTIONS[:1], chat=OpenAIChat("m", server.url), max_revisions=1)
    with ModelServer(awful) as server:
        (failed,) = generate(SECTIONS[:1], chat=OpenAIChat("m", server.url))
    assert (rejected.status, failed.status) == ("rejected", "failed") and "ReplyError" in failed.error


def test_a_wrong_key_is_raised_and_says_what_to_set():
    with ModelServer(lambda request: failing(401, "no such key")) as server:
        with pytest.raises((AuthError, CircuitError), match="401|key"):
            list(generate(SECTIONS, chat=OpenAIChat("m", server.url)))
        assert len(server.requests) <= 16
    assert not worker_threads()


def test_a_run_that_was_stopped_yields_what_is_pending_and_then_says_so(tmp_path):
    answers = iter([GOOD, YES, YES, YES, YES])

    def then_gone(request):
        return next(answers, failing(401, "no such key"))

    found = []
    with ModelServer(then_gone) as server, pytest.raises(CircuitError):
        for outcome in generate(SECTIONS, chat=OpenAIChat("m", server.url), concurrency=1, check_level="none"):
            found.append(outcome)
    assert found and {o.status for o in found} <= {"accepted", "pending"} and found[-1].status == "pending"
    assert len(found) < len(SECTIONS)


def test_a_question_of_earlier_pairs_is_rejected_and_the_ledger_follows(tmp_path):
    earlier, books = tmp_path / "earlier.jsonl", Ledger()
    asked = candidate_of().question
    earlier.write_text(json.dumps({"question": asked, "answer": "x", "sentences": ["A.", "B."]}) + "\n")
    cast = {"generator": ScriptedGenerator(candidate_of()), "panel": [ScriptedReviewer("a")]}
    (kept,) = generate(SECTIONS[:1], check_level="none", **cast)
    cast = {"generator": ScriptedGenerator(candidate_of()), "panel": [ScriptedReviewer("a")]}
    (repeated,) = generate(SECTIONS[:1], check_level="none", against=[earlier], ledger=books, **cast)
    assert (kept.status, repeated.status) == ("accepted", "rejected") and repeated.recipe
    assert repeated.reason.startswith("repeats: ") and books.counts == {"accepted": 0, "rejected": 1}
    assert books.submitted == 1 and not books.pending


@pytest.mark.parametrize(
    "wrong",
    [
        {"against": "one.jsonl"},
        {"against": ["not-there.jsonl"]},
        {"journal": "x.sqlite"},
        {"prompts": "mine"},
        {"panel": []},
        {"concurrency": 0},
    ],
)
def test_a_wrong_call_is_refused_at_once(wrong):
    with pytest.raises(UsageError):
        generate(SECTIONS, **wrong)


def test_a_section_without_sentences_is_segmented():
    bare = replace(SECTIONS[0], sentences=(), segmenter="")
    (outcome,) = generate([bare], generator=ScriptedGenerator(candidate_of()), panel=[ScriptedReviewer("a")])
    assert len(outcome.section.sentences) == len(SECTIONS[0].sentences)

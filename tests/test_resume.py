"""A run that is broken, stopped or limited, in a process of its own: nothing is paid twice, nothing is lost."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from generation.journal import Journal
from tests.helpers import written_articles
from tests.model_server import Canned, ModelServer, failing
from tests.test_cli import KEY, ROOT, counts, craqan, lines, within

SECTIONS = 30
CONCURRENCY = 8


def chance(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def script(request):
    """A model whose answers depend on nothing but what it is asked; reviewers accept nine times of ten."""
    messages = request["messages"]
    sent = json.dumps(messages)
    if request["temperature"] != 0.7:
        good = chance(sent) < 0.9
        verdict = {"reason": "Seen.", "problems": [] if good else ["other"], "is_quality": good}
        return Canned(json.dumps(verdict), delay=0.02 * chance(sent + "wait"))
    number = len(messages) // 2
    answer = {"question": f"What is asked in try {number}?", "answer": "a thing", "required_sentence_indices": [0, 1]}
    return Canned(json.dumps({**answer, "coreferences": []}), delay=0.02 * chance(sent + "wait"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return written_articles(tmp_path_factory.mktemp("corpus"), SECTIONS)


def arguments(corpus, out, url, *more):
    common = ["--model", "m", "--base-url", url, "--checks", "format", "--concurrency", CONCURRENCY]
    return ["generate", corpus, "--out", out, *common, *more]


def files(out):
    return {name: (out / f"{name}.jsonl").read_bytes() for name in ("accepted", "rejected", "failed")}


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken") / "run"
    with ModelServer(script) as server:
        done = craqan(*arguments(corpus, out, server.url))
        assert done.returncode == 0, done.stderr
        return files(out), len(server.requests)


def started(corpus, out, url, **streams):
    command = [sys.executable, "-m", "generation", *map(str, arguments(corpus, out, url))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams}
    return subprocess.Popen(command, env=environment, **streams)


def asked(request):
    return json.dumps([request["messages"], request["temperature"]], sort_keys=True)


def stored(out):
    """How often each request has an answer in the journal: equal requests of one section are different askings."""
    if not (out / "journal.sqlite").exists():
        return Counter()
    with Journal(out / "journal.sqlite", create=False) as journal:
        kept = [c.request for c in journal.calls() if c.reply]
    return Counter(json.dumps([list(r.messages), r.temperature], sort_keys=True) for r in kept)


def test_after_kill_9_at_ten_moments_no_stored_call_is_made_again(corpus, unbroken, tmp_path):
    expected, calls = unbroken
    out, chances = tmp_path / "run", random.Random(7)
    with ModelServer(script) as server:
        for kill in range(10):
            process, goal = started(corpus, out, server.url), len(server.requests) + chances.randrange(1, calls // 12)
            while process.poll() is None and len(server.requests) < goal:
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.wait()
            before, kept = Counter(map(asked, server.requests)), stored(out)
            if kill == 9:
                break
        assert within(*arguments(corpus, out, server.url)).returncode == 0
        after = Counter(map(asked, server.requests)) - before
    assert files(out) == expected
    total = stored(out)
    again = {request: n for request, n in after.items() if n > total[request] - kept[request]}
    assert not again
    assert sum(before.values()) + sum(after.values()) <= calls + 10 * CONCURRENCY


def test_a_finished_run_asks_nothing_when_it_is_run_again(corpus, unbroken, tmp_path):
    with ModelServer(script) as server:
        within(*arguments(corpus, tmp_path / "run", server.url))
        asked_once = len(server.requests)
        assert within(*arguments(corpus, tmp_path / "run", server.url, "--concurrency", "3")).returncode == 0
        assert len(server.requests) == asked_once
    assert files(tmp_path / "run") == unbroken[0]


def test_the_target_stops_the_run_and_a_higher_one_goes_on(corpus, unbroken, tmp_path):
    with ModelServer(script) as server:
        within(*arguments(corpus, tmp_path / "run", server.url, "--accept", "5"))
        first = counts(tmp_path / "run")
        assert first["accepted"] == 5 and first["submitted"] < SECTIONS
        paid = json.loads((tmp_path / "run" / "run.json").read_text())["usage"]["total"]["calls"]
        assert paid == len(server.requests)  # those of sections beyond the fifth pair too
        assert first["submitted"] == sum(first[k] for k in ("accepted", "rejected", "failed", "pending"))
        within(*arguments(corpus, tmp_path / "run", server.url))
        assert len(server.requests) == unbroken[1]
    assert files(tmp_path / "run") == unbroken[0]


def test_two_runs_to_the_same_target_give_identical_files(corpus, tmp_path):
    for name in "ab":
        with ModelServer(script, delay=0.01 if name == "b" else 0) as server:
            within(*arguments(corpus, tmp_path / name, server.url, "--accept", "7"))
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_the_budget_is_passed_by_no_more_than_what_is_in_flight(corpus, unbroken, tmp_path):
    # The server counts 100 prompt and 20 completion tokens a call: 120 dollars a million calls of 1 token each.
    price = (100 * 1.0 + 20 * 2.0) / 1e6
    budget = price * 60
    with ModelServer(script) as server:
        options = ["--prices", "1,2", "--max-usd", budget]
        done = within(*arguments(corpus, tmp_path / "run", server.url, *options))
        assert done.returncode == 0 and "spent" in done.stderr
        assert 60 <= len(server.requests) < 60 + CONCURRENCY  # the 60th spent it, the others were out
        spent = len(server.requests)
        within(*arguments(corpus, tmp_path / "run", server.url, *options))
        assert len(server.requests) == spent
        within(*arguments(corpus, tmp_path / "run", server.url))
        assert len(server.requests) == unbroken[1]
    assert files(tmp_path / "run") == unbroken[0]


@pytest.mark.parametrize(("prices", "is_stopped"), [("1,2", True), ("0,0", False)])
def test_a_budget_that_cannot_be_kept_since_no_tokens_are_counted_stops_the_run(corpus, tmp_path, prices, is_stopped):
    with ModelServer(lambda request: replace(script(request), usage=None)) as server:
        done = within(*arguments(corpus, tmp_path / "run", server.url, "--prices", prices, "--max-usd", "1"))
        assert done.returncode == 0 and ("counts no tokens" in done.stderr) == is_stopped
        assert (len(server.requests) <= CONCURRENCY) == is_stopped
    books = counts(tmp_path / "run")
    assert (books["pending"] > 0) == is_stopped and books["failed"] == 0


def test_an_unknown_price_with_a_budget_is_refused(corpus, tmp_path):
    with ModelServer(script) as server:
        done = within(*arguments(corpus, tmp_path / "run", server.url, "--max-usd", "1"))
        assert done.returncode == 2 and "--prices" in done.stderr and not server.requests


def test_the_cost_of_a_run_stands_in_its_summary_by_role(corpus, tmp_path):
    with ModelServer(script) as server:
        within(*arguments(corpus, tmp_path / "run", server.url, "--prices", "1,2,0.5", "--max-candidates", "4"))
        calls = len(server.requests)
    summary = json.loads((tmp_path / "run" / "run.json").read_text())
    # 40 of the 100 prompt tokens are reported as cached
    assert summary["cost"]["usd"] == pytest.approx(calls * (60 * 1 + 40 * 0.5 + 20 * 2) / 1e6, abs=1e-5)
    assert sum(summary["cost"]["usd_by_role"].values()) == pytest.approx(summary["cost"]["usd"], abs=1e-5)
    assert counts(tmp_path / "run")["submitted"] == 4


def test_a_dry_run_asks_nothing_and_says_what_it_would_cost(corpus, tmp_path):
    with ModelServer(script) as server:
        done = within(*arguments(corpus, tmp_path / "run", server.url, "--dry-run", "--prices", "1,2"))
        assert not server.requests
    assert f"{SECTIONS} sections" in done.stderr and "$" in done.stderr
    assert not (tmp_path / "run").exists()


def test_interrupting_once_finishes_what_is_in_flight(corpus, unbroken, tmp_path):
    out = tmp_path / "run"
    with ModelServer(script) as server:
        process = started(corpus, out, server.url)
        while len(server.requests) < unbroken[1] // 3:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        books = counts(out)
        assert books["pending"] and json.loads((out / "run.json").read_text())["stopped"] == "interrupted."
        assert sum(stored(out).values()) == len(server.requests)
        within(*arguments(corpus, out, server.url))
        assert len(server.requests) == unbroken[1]
    assert files(out) == unbroken[0]


@pytest.mark.parametrize("presses", ["twice", "again and again"])
def test_interrupting_twice_or_more_stops_at_once_and_the_same_command_goes_on(corpus, unbroken, tmp_path, presses):
    out, hanging = tmp_path / "run", []
    third = unbroken[1] // 3

    def never_in_time(request):
        if len(hanging) == CONCURRENCY or len(server.requests) <= third:
            return script(request)
        hanging.append(request)
        return replace(script(request), delay=60.0)

    with ModelServer(never_in_time) as server:
        process = started(corpus, out, server.url, stderr=subprocess.PIPE, text=True)
        while len(hanging) < CONCURRENCY:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        assert "Finishing" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        while process.poll() is None and presses != "twice":
            process.send_signal(signal.SIGINT)
            time.sleep(0.001)
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 130 and "Traceback" not in errors
        kept, before = sum(stored(out).values()), len(server.requests)
        assert within(*arguments(corpus, out, server.url)).returncode == 0
        assert len(server.requests) - before == unbroken[1] - kept
    assert files(out) == unbroken[0]


def test_interrupting_a_command_that_is_done_never_ends_it_by_the_signal():
    command = [sys.executable, "-m", "generation", "--version"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.0005)
    assert process.returncode in (0, 130) and not process.communicate()[1]


def test_a_joint_panel_asks_once_a_round_and_is_labelled(corpus, tmp_path):
    names = [p.stem for p in sorted((ROOT / "prompts" / "reviewers").glob("*.md"))]

    def joint(request):
        if request["temperature"] == 0.7:
            return script(request)
        return {name: {"reason": "Fine.", "problems": [], "is_quality": True} for name in names}

    with ModelServer(joint) as server:
        done = within(*arguments(corpus, tmp_path / "run", server.url, "--panel", "joint", "--max-candidates", "3"))
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 6
    verdicts = lines(tmp_path / "run" / "accepted.jsonl")[0]["rounds"][-1]["verdicts"]
    assert [v["reviewer"] for v in verdicts] == ["checks", *(f"joint/{name}" for name in names)]


def test_repeated_sections_are_dropped_before_the_first_call_and_listed(tmp_path):
    text = "The Act was passed in 1974 by the council of the old town. It names nine rivers and their mills. " * 3
    for n, end in enumerate(["It ends here.", "It ends here.", "It ends there."]):
        (tmp_path / f"{n}.md").write_text(f"# Town {n}\n\n{text}{end}\n")
    with ModelServer(script) as server:
        within(*arguments(tmp_path, tmp_path / "run", server.url))
    assert counts(tmp_path / "run")["submitted"] == 1
    reasons = [s["reason"] for s in json.loads((tmp_path / "run" / "run.json").read_text())["skipped"]]
    assert len([r for r in reasons if "repeats town-0/0" in r]) == 2


def test_calls_shows_what_was_asked_and_answered(corpus, tmp_path):
    with ModelServer(script) as server:
        within(*arguments(corpus, tmp_path / "run", server.url, "--max-candidates", "1"))
    done = within("calls", tmp_path / "run")
    assert "generator" in done.stdout and "reviewers/content_cohesion" in done.stdout and "a thing" in done.stdout
    whole = [json.loads(line) for line in within("calls", tmp_path / "run", "--full").stdout.splitlines()]
    assert whole[0]["request"]["messages"] and KEY not in json.dumps(whole)
    assert within("calls", corpus).returncode == 2


def test_calls_tells_of_calls_that_were_never_answered(corpus, tmp_path):
    with ModelServer(lambda request: failing(401, "wrong key")) as server:
        assert within(*arguments(corpus, tmp_path / "run", server.url)).returncode == 1
    done = within("calls", tmp_path / "run")
    assert done.returncode == 0 and "AuthError" in done.stdout
    assert f"{len(done.stdout.splitlines())} of them without an answer" in done.stderr
    assert "0 calls on nobody" in within("calls", tmp_path / "run", "--section", "nobody").stderr

"""Whole runs over real HTTP through what stops all of them for a while: pauses, lost keys, lost servers, full disks."""

import json
import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from generation import errors
from generation.journal import Journal
from tests.model_server import ModelServer, failing
from tests.test_cli import ROOT, counts, craqan, lines, within
from tests.test_faults import CALLS, CONCURRENCY, SECTIONS, Run, Striking, honest
from tests.test_faults import corpus as corpus
from tests.test_faults import unbroken as unbroken


def in_one_second():
    """A Retry-After date, by a server whose clock is years behind."""
    now = datetime(2019, 1, 1, 12, tzinfo=UTC)
    headers = {"Date": format_datetime(now, usegmt=True)}
    return failing(429, retry_after=format_datetime(now + timedelta(seconds=1), usegmt=True), headers=headers)


@pytest.mark.parametrize("status", ["429, seconds", "429, a date", "503, seconds"])
def test_retry_after_is_kept_to(status, corpus, unbroken, tmp_path):
    fault = in_one_second() if "date" in status else failing(int(status[:3]), retry_after="1")
    model = Striking(fault)
    with ModelServer(model) as server:
        run = Run(corpus, tmp_path / "run", server)
        again = [c.at for c in server.calls if "The thing 3 is" in json.dumps(c.json) and c.json["temperature"] == 0.7]
    assert run.pairs == unbroken.pairs
    assert 1.0 <= again[1] - model.struck[0] < 10


def test_a_pause_that_is_too_long_stops_the_run_which_goes_on_later(corpus, unbroken, tmp_path):
    with ModelServer(Striking(failing(429, retry_after="86400"))) as server:
        run = Run(corpus, tmp_path / "run", server)
        assert isinstance(run.error, errors.CircuitError) and "86400 s" in str(run.error)
        run.assert_books(failed=0)
        assert run.summary["state"] == "stopped" and counts(tmp_path / "run")["pending"]
        assert Run(corpus, tmp_path / "run", server).pairs == unbroken.pairs
        assert len(server.calls) == CALLS + 1


class Revoked:
    """A key that is taken back after so many calls."""

    def __init__(self, after, status=401):
        self.left = after
        self.status = status

    def __call__(self, request):
        self.left -= 1
        return honest(request) if self.left >= 0 else failing(self.status, "gone")


@pytest.mark.parametrize("status", [401, 402])
def test_a_key_that_is_revoked_in_mid_run_stops_it_at_once_and_nothing_is_paid_twice(
    status, corpus, unbroken, tmp_path
):
    model = Revoked(17, status)
    with ModelServer(model) as server:
        run = Run(corpus, tmp_path / "run", server)
        assert len(run.calls) <= 17 + CONCURRENCY
        assert isinstance(run.error, errors.CircuitError)
        assert str(status) in str(run.error) and "same command" in str(run.error)
        run.assert_books(failed=0, rejected=0)
        assert run.summary["state"] == "stopped" and counts(tmp_path / "run")["pending"] > 0
        model.left = 999
        again = Run(corpus, tmp_path / "run", server)
    assert again.error is None and again.pairs == unbroken.pairs
    assert len(again.calls) == CALLS - 17


@pytest.mark.parametrize("status", [403, 404])
def test_a_model_that_is_withdrawn_in_mid_run_stops_it_after_a_few_calls(status, corpus, unbroken, tmp_path):
    model = Revoked(8, status)
    with ModelServer(model) as server:
        run = Run(corpus, tmp_path / "run", server, concurrency=1)
        assert isinstance(run.error, errors.CircuitError) and str(status) in str(run.error)
        assert len(run.calls) <= 8 + 6
        run.assert_books()
        model.left = 999
        assert Run(corpus, tmp_path / "run", server).pairs == unbroken.pairs


def test_a_server_that_goes_away_and_comes_back_loses_nothing(corpus, unbroken, tmp_path):
    def leave_and_return():
        while len(server.calls) < 12:
            time.sleep(0.002)
        server.go_away()
        time.sleep(2)
        server.come_back()

    with ModelServer(honest, delay=0.01) as server:
        thread = threading.Thread(target=leave_and_return)
        thread.start()
        run = Run(corpus, tmp_path / "run", server, patience=10, backoff=0.1)
        thread.join()
    assert run.error is None and run.seconds > 2
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    assert run.pairs == unbroken.pairs
    assert len(run.calls) <= CALLS + CONCURRENCY  # what was in flight was dropped with the connections
    assert "Waiting for the server" in run.printed.getvalue() and "answers again" in run.printed.getvalue()


def test_a_server_that_stays_away_stops_the_run_which_goes_on_later(corpus, unbroken, tmp_path):
    def leave():
        while len(server.calls) < 12:
            time.sleep(0.002)
        server.go_away()

    with ModelServer(honest, delay=0.01) as server:
        thread = threading.Thread(target=leave)
        thread.start()
        run = Run(corpus, tmp_path / "run", server, patience=1, backoff=0.1)
        thread.join()
        assert isinstance(run.error, errors.CircuitError) and run.seconds < 30
        run.assert_books(failed=0)
        server.come_back()
        assert Run(corpus, tmp_path / "run", server).pairs == unbroken.pairs
        assert len(server.calls) <= CALLS + CONCURRENCY


def test_a_server_that_was_never_there_is_told_and_nothing_is_left_behind(corpus, unbroken, tmp_path):
    with ModelServer(honest) as server:
        server.go_away()
        run = Run(corpus, tmp_path / "run", server, patience=0.5)
        assert isinstance(run.error, errors.CircuitError) and f"127.0.0.1:{server.port}" in str(run.error)
        run.assert_books(accepted=0, failed=0)
        server.come_back()
        assert Run(corpus, tmp_path / "run", server).pairs == unbroken.pairs


FULL = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
sys.argv = {argv!r}
runpy.run_module("generation", run_name="__main__")
"""


def test_a_full_disk_stops_the_run_with_a_clear_word_and_it_goes_on_once_there_is_room(corpus, unbroken, tmp_path):
    with ModelServer(honest) as server:
        argv = [str(part) for part in arguments(corpus, tmp_path / "run", server.url)]
        code = FULL.format(room=150_000, argv=["craqan", *argv])
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "300"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
        )
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr
        assert "journal.sqlite" in done.stderr and "free some" in done.stderr
        with Journal(tmp_path / "run" / "journal.sqlite", create=False) as journal:
            kept = sum(call.reply is not None for call in journal.calls())
        asked = len(server.calls)
        assert 0 < kept < CALLS
        books = counts(tmp_path / "run")
        assert books["submitted"] == books["accepted"] + books["pending"] == SECTIONS
        again = within(*argv)
        assert again.returncode == 0, again.stderr
        assert len(server.calls) - asked == CALLS - kept
    assert counts(tmp_path / "run")["accepted"] == SECTIONS
    found = [{k: v for k, v in row.items() if k != "usage"} for row in lines(tmp_path / "run" / "accepted.jsonl")]
    assert found == unbroken.pairs


def test_two_runs_in_one_folder_at_once_do_not_meet(corpus, unbroken, tmp_path):
    with ModelServer(honest, delay=0.4) as server:
        first = threading.Thread(target=lambda: craqan(*arguments(corpus, tmp_path / "run", server.url)))
        first.start()
        while not server.calls:
            time.sleep(0.01)
        second = within(*arguments(corpus, tmp_path / "run", server.url))
        first.join()
        assert second.returncode == 2 and "Another run is at work" in second.stderr
        assert len(server.calls) == CALLS
    found = [{k: v for k, v in row.items() if k != "usage"} for row in lines(tmp_path / "run" / "accepted.jsonl")]
    assert found == unbroken.pairs


def arguments(corpus, out, url):
    common = ["--model", "m", "--checks", "format", "--concurrency", CONCURRENCY]
    return ["generate", corpus, "--out", out, "--base-url", url, *common]


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0, "back and forth"])
def test_a_wall_clock_that_jumps_changes_nothing(jump, corpus, unbroken, tmp_path, monkeypatch):
    true, jumps = time.time, iter(range(10**9))

    def jumping():
        step = next(jumps)
        return true() + ((-1) ** step * 86_400.0 if isinstance(jump, str) else step * jump)

    monkeypatch.setattr(time, "time", jumping)
    with ModelServer(Striking(failing(503, retry_after="1"))) as server:
        run = Run(corpus, tmp_path / "run", server)
        again = Run(corpus, tmp_path / "run", server)
    assert run.error is None and again.error is None
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    assert run.pairs == unbroken.pairs and not again.calls
    assert 1 <= run.seconds < 30 and 0 <= run.summary["seconds"] < 30


def test_a_run_in_which_all_fails_says_so_by_its_exit_code(corpus, tmp_path):
    with ModelServer(lambda request: failing(400, "the same for all")) as server:
        done = within(*arguments(corpus, tmp_path / "run", server.url))
    assert done.returncode == 1 and "the same for all" in done.stderr
    assert counts(tmp_path / "run")["failed"] == SECTIONS

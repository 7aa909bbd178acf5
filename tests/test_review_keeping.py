"""A review kept in a private dataset repository on a Hub over real HTTP, and brought back after a restart."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from generation import human
from generation.human import Policy
from generation.review import keeping
from generation.review.corrections import Correction
from tests.hub import OWNER, Hub
from tests.review_files import judge, judge_all, pair_rows, start, write_rows
from tests.test_cli import ROOT, craqan

REPO = "acme/votes"


def copy(store, path):
    return keeping.restore(path, json.loads(json.dumps(list(keeping.lines(store)))))


def test_the_log_gives_everything_back_twice_over(tmp_path):
    gold = [{**pair_rows(5)[4], "expected": "accept"}]
    store = start(tmp_path, Policy(adjudicators=("eve",), seed=3), count=2, gold=gold)
    judge_all(store, "ann", accept=False, note="line\u2028break")
    made = copy(store, tmp_path / "copy.sqlite")
    assert (made.policy, made.guidelines, made.names()) == (store.policy, store.guidelines, store.names())
    assert (made.pairs(), made.votes()) == (store.pairs(), store.votes())
    assert copy(store, tmp_path / "copy.sqlite").votes() == store.votes(), "known votes are passed over"


def python(code, hub, folder, token=OWNER, **more):
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": token,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(folder / "hf"),
    }
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
        timeout=120,
    )


SPACE = """
    import os, sys
    from pathlib import Path
    from generation.review import keeping
    from generation.review.store import Store
    from tests.review_files import judge
    path, save = keeping.from_environment()
    for name in sys.stdin.read().split():
        print(judge(Store(path), name, accept=False, note="kept"))
        save()
"""


def space(hub, folder, people, **more):
    """A start of the page on a machine without a lasting disk: people vote, then it ends."""
    code = SPACE.replace("sys.stdin.read()", repr(people))
    return python(code, hub, folder, REVIEW_REPO=REPO, REVIEW_PAIRS=str(folder / "pairs.jsonl"), **more)


def test_votes_outlive_two_restarts_of_a_machine_that_keeps_nothing(tmp_path):
    write_rows(tmp_path / "pairs.jsonl", pair_rows(2))
    with Hub() as hub:
        for people in ("ann ann", "ben", "ben eve"):
            done = space(hub, tmp_path, people)
            assert done.returncode == 0, done.stderr
        assert hub.dataset(REPO).private
        logs = [path for path in hub.dataset(REPO).at("main").tree if path.startswith("log/")]
        assert len(logs) == 3, "each start adds a file of its own"
        environment = {
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": OWNER,
            "HF_HOME": str(tmp_path / "hf2"),
            "HF_HUB_DISABLE_XET": "1",
        }
        pulled = craqan("review", "pull", "home.sqlite", REPO, cwd=tmp_path, **environment)
        assert "2 pairs, 4 votes" in pulled.stdout, pulled.stderr
    assert human.status(tmp_path / "home.sqlite").people == {"ann": 2, "ben": 2, "eve": 0}
    assert {d.decision for d in human.decisions(tmp_path / "home.sqlite")} == {"rejected"}


def test_a_public_repository_is_refused_before_anybody_votes(tmp_path):
    write_rows(tmp_path / "pairs.jsonl", pair_rows(1))
    with Hub() as hub:
        hub.create("dataset", REPO, private=False)
        done = space(hub, tmp_path, "ann")
    assert "is public, and votes are not" in done.stderr and not done.stdout


@pytest.mark.parametrize("status", [401, 503])
def test_a_repository_out_of_reach_stops_the_start_instead_of_beginning_anew(tmp_path, status):
    write_rows(tmp_path / "pairs.jsonl", pair_rows(1))
    with Hub() as hub:
        assert space(hub, tmp_path, "ann").returncode == 0
        hub.fail(".*", status, times=99)
        done = space(hub, tmp_path, "ben")
    assert "cannot be used" in done.stderr and not done.stdout and OWNER not in done.stderr


def test_without_a_repository_nothing_is_sent_anywhere(monkeypatch, tmp_path):
    for name in ("REVIEW_REPO", "REVIEW_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert keeping.from_environment()[0] is None
    monkeypatch.setenv("REVIEW_FILE", str(tmp_path / "r.sqlite"))
    assert keeping.from_environment()[0] == tmp_path / "r.sqlite"


def test_a_correction_is_kept_with_its_parent(tmp_path):
    store = start(tmp_path, count=1)
    judge(store, "ann", accept=False, correction=Correction("What must every ferry carry under the Harbor Safety Act?"))
    made = copy(store, tmp_path / "copy.sqlite")
    assert [d.parent for d in human.decisions(made.path)] == [d.parent for d in human.decisions(store.path)] != ["", ""]

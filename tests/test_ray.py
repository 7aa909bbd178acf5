"""The Ray engine on a real cluster of several processes: the rows of the local engine, whoever is killed on the way."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from generation.corpus import read
from generation.errors import AuthError, UsageError
from generation.records import Outcome
from generation.run import Ledger
from generation.running.folder import outcome_row
from generation.running.pipeline import model_cast
from generation.running.ray_engine import Crew
from generation.running.ray_worker import Worker, share_of
from generation.running.settings import Cast, Limits
from generation.running.table import Table
from tests.helpers import ScriptedGenerator, ScriptedReviewer, candidate_of, section_of, written_articles
from tests.model_server import ModelServer, failing
from tests.test_cli import ARTICLE, KEY, ROOT, craqan, lines, within
from tests.test_resume import arguments, asked, files, script, stored

SECTIONS = 30
CONCURRENCY = 6
RAY = ("--engine", "ray", "--workers", "2", "--concurrency", str(CONCURRENCY))


@pytest.fixture(scope="module", autouse=True)
def short_folder():
    """Ray's sockets have paths of at most 107 characters."""
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    before = os.environ.get("RAY_TMPDIR")
    os.environ["RAY_TMPDIR"] = folder
    yield Path(folder)
    os.environ.pop("RAY_TMPDIR") if before is None else os.environ.update(RAY_TMPDIR=before)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def ray():
    return pytest.importorskip("ray", reason="the extra [ray] is not installed")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return written_articles(tmp_path_factory.mktemp("corpus"), SECTIONS)


@pytest.fixture(scope="module")
def local(corpus, tmp_path_factory):
    """The local engine's files, and how many calls they took."""
    out = tmp_path_factory.mktemp("local") / "run"
    with ModelServer(script) as server:
        done = within(*arguments(corpus, out, server.url))
        assert done.returncode == 0, done.stderr
        return files(out), len(server.requests)


def started(corpus, out, url):
    command = [sys.executable, "-m", "generation", *map(str, arguments(corpus, out, url, *RAY))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def workers_of(pid):
    """The process ids of the Ray workers that descend from `pid` and have a section in hand."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_text()
                ancestors = list(_ancestors(int(entry.name)))
            except (FileNotFoundError, ProcessLookupError):
                continue
            if title.startswith("ray::Worker") and pid in ancestors:
                found.append(int(entry.name))
    return found


def _ancestors(pid):
    while pid > 1:
        pid = int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        yield pid


def wait_for_calls(server, process, goal):
    while len(server.requests) < goal:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)


@pytest.mark.ray
def test_the_rows_are_those_of_the_local_engine_and_nothing_is_paid_twice(ray, corpus, local, tmp_path, short_folder):
    expected, calls = local
    out, table = tmp_path / "run", tmp_path / "table"
    with ModelServer(script) as server:
        done = craqan(*arguments(corpus, out, server.url, *RAY, "--parquet", table.as_uri()), OPENAI_API_KEY=KEY)
        assert done.returncode == 0, done.stderr
        assert files(out) == expected
        assert len(server.requests) == calls and 2 <= server.peak <= CONCURRENCY
        assert craqan(*arguments(corpus, out, server.url, *RAY)).returncode == 0
        assert within(*arguments(corpus, out, server.url)).returncode == 0
        assert len(server.requests) == calls
    assert files(out) == expected
    assert sorted(p.name for p in out.glob("journal*")) == ["journal.sqlite"]
    check_table(table, expected)
    told = subprocess.run(["grep", "-rl", KEY, short_folder, tmp_path], capture_output=True, text=True)
    assert told.stdout == ""


def check_table(folder, expected):
    from pyarrow import parquet

    rows = parquet.read_table(folder).to_pylist()
    for status in ("accepted", "rejected"):
        wanted = [json.loads(line) for line in expected[status].decode().splitlines()]
        found = [row for row in rows if row["status"] == status]
        assert [r["section_id"] for r in found] == [r["section_id"] for r in wanted]
        for one, other in zip(found, wanted, strict=True):
            usage = {u.pop("role"): u for u in one["usage"]}
            assert {**one, "usage": usage} == {**other, "status": status}
    assert [r["section_id"] for r in rows] == [f"title-{n}/0" for n in range(SECTIONS)]


@pytest.mark.ray
def test_a_killed_workers_sections_are_done_again_and_no_stored_call_is_paid_again(ray, corpus, local, tmp_path):
    expected, calls = local
    out = tmp_path / "run"
    with ModelServer(script, delay=0.05) as server:
        process = started(corpus, out, server.url)
        wait_for_calls(server, process, calls // 3)
        victim = workers_of(process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        at_kill = len(server.requests)
        assert process.wait(120) == 0, process.stderr.read()
        sent = Counter(map(asked, server.requests))
    assert at_kill < calls, "the worker was killed too late to prove anything"
    assert files(out) == expected
    notes = json.loads((out / "run.json").read_text())["notes"]
    assert any("was lost" in note for note in notes)
    # only what was on the wire when the worker died may have been asked again
    assert sum(sent.values()) <= calls + CONCURRENCY
    assert stored(out) == Counter({request: n for request, n in stored(out).items() if request in sent})


@pytest.mark.ray
def test_after_the_whole_run_is_killed_another_engine_goes_on(ray, corpus, local, tmp_path):
    expected, calls = local
    out = tmp_path / "run"
    with ModelServer(script, delay=0.03) as server:
        process = started(corpus, out, server.url)
        wait_for_calls(server, process, calls // 2)
        process.kill()
        process.wait()
        assert within(*arguments(corpus, out, server.url)).returncode == 0
        assert len(server.requests) <= calls + CONCURRENCY
    assert files(out) == expected


@pytest.mark.ray
def test_the_target_and_the_budget_stop_all_workers(ray, corpus, local, tmp_path):
    with ModelServer(script) as server:
        options = (*RAY, "--prices", "1,2", "--max-usd", 60 * 140e-6)
        done = craqan(*arguments(corpus, tmp_path / "run", server.url, *options))
        assert done.returncode == 0 and "spent" in done.stderr, done.stderr
        # a batch is counted when it is back: what the sections under way cost may come on top
        assert 60 <= len(server.requests) < local[1]
        craqan(*arguments(corpus, tmp_path / "target", server.url, *RAY, "--accept", "5"))
    assert len(lines(tmp_path / "target" / "accepted.jsonl")) == 5


@pytest.mark.ray
def test_a_wrong_key_stops_the_run(ray, corpus, tmp_path):
    with ModelServer(lambda request: failing(401, "no such key")) as server:
        done = craqan(*arguments(corpus, tmp_path / "run", server.url, *RAY))
        assert done.returncode == 1 and "401" in done.stderr and "Traceback" not in done.stderr, done.stderr
        assert len(server.requests) <= 2 * CONCURRENCY


@pytest.mark.ray
def test_rules_work_on_sections_from_parquet_as_on_the_article(ray, tmp_path):
    table = Table((tmp_path / "sections").as_uri())
    for section in read([str(ARTICLE)]):
        table.add("pending", outcome_row(Outcome(section, "pending"), {}))
    table.close()
    within("generate", ARTICLE, "--out", tmp_path / "local")
    address = (tmp_path / "sections").as_uri() + "/*.parquet"
    done = craqan("generate", address, "--out", tmp_path / "ray", "--engine", "ray")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "ray") == files(tmp_path / "local")


async def test_a_worker_at_work_hears_of_a_lost_ones_journal(tmp_path):
    sections = [section_of("The act passed.", f"It names {n} rivers.", "More.", id=f"act-{n}/0") for n in range(2)]
    cast, options = model_cast("m", ""), {"check_level": "none"}
    with ModelServer(script) as server:
        cast = replace(cast, base_url=server.url)
        one, other = (
            Worker(cast, options, Limits(concurrency=2), None, tmp_path / f"journal-{n}.sqlite") for n in (1, 2)
        )
        lost = (await one.work(0, sections, [])).outcomes
        await one.close()
        await other.work(0, [section_of(id="first/0")], [])
        sent = len(server.requests)
        redone = await other.work(0, sections, [tmp_path / "journal-1.sqlite"])
        await other.close()
        assert redone.outcomes == lost and len(server.requests) == sent


async def test_a_worker_is_as_patient_as_its_run(tmp_path):
    share = share_of(Limits(concurrency=4, patience=0.3, backoff=0.01), 2, 0)
    with ModelServer(lambda request: failing(503)) as server:
        cast = replace(model_cast("m", ""), base_url=server.url)
        worker = Worker(cast, {"check_level": "none"}, share, None, tmp_path / "journal-1.sqlite")
        async with asyncio.timeout(5):
            report = await worker.work(0, [section_of(id="first/0")], [])
        await worker.close()
    assert "no call was answered" in report.stopped and [o.status for o in report.outcomes] == ["pending"]


@pytest.mark.ray
async def test_a_missing_key_is_said_as_on_one_machine(ray, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cast = Cast(ScriptedGenerator(candidate_of()), [ScriptedReviewer("a")], "model:m", "model:m", "m")
    async with Crew(cast, Limits(), {}, tmp_path, workers=1, spent=print, notify=print) as crew:
        with pytest.raises(AuthError, match="OPENAI_API_KEY"):
            async for _ in crew.outcomes([section_of()], ledger=Ledger(), on_change=print, stop=lambda: False):
                pass


class Killing(ScriptedGenerator):
    """Ends the process that works on article-5."""

    async def draft(self, section, rounds, chat=None):
        if section.article_id == "article-5":
            os._exit(9)
        await asyncio.sleep(0.01)
        return await super().draft(section, rounds, chat)


@pytest.mark.ray
async def test_a_section_that_kills_its_workers_fails_alone(ray, tmp_path):
    sections = [section_of(id=f"article-{n}/0") for n in range(12)]
    cast = Cast(Killing(candidate_of()), [ScriptedReviewer("a")], "own:g", "own:r")
    notes, books = [], Ledger()
    crew = Crew(cast, Limits(), {"check_level": "none"}, tmp_path, workers=1, spent=notes.append, notify=notes.append)
    async with crew:
        running = crew.outcomes(sections, ledger=books, on_change=lambda: None, stop=lambda: False)
        found = [outcome async for outcome in running]
    assert [o.section.id for o in found] == [s.id for s in sections]
    assert [o.section.article_id for o in found if o.status == "failed"] == ["article-5"]
    assert "workers were lost" in found[5].error and books.pending == 0 and notes


def test_the_workers_shares_add_up_to_the_limits():
    shares = [share_of(Limits(concurrency=10, rpm=90, tpm=None), 4, n) for n in range(4)]
    assert (
        [s.concurrency for s in shares] == [3, 3, 2, 2] and sum(s.rpm for s in shares) == 90 and shares[0].tpm is None
    )


def test_more_workers_than_calls_are_refused(tmp_path):
    cast = Cast(ScriptedGenerator(), [ScriptedReviewer("a")], "model:m", "model:m", "m")
    with pytest.raises(UsageError, match="do not go round"):
        Crew(cast, Limits(concurrency=2), {}, tmp_path, workers=3, spent=print, notify=print)


def test_a_missing_ray_is_named_with_what_to_install(tmp_path):
    code = "import sys; sys.modules['ray'] = None; from generation.cli import main; sys.argv[1:] = sys.argv[2:]; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "x", "generate", str(ARTICLE), "--engine", "ray", "--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 2 and "craqan[ray]" in done.stderr, done.stderr

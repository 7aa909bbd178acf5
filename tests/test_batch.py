"""The chat in batches on real HTTP: each request gets its own answer, and none is paid for twice."""

import asyncio
import json
from collections import Counter

import pytest

from generation import errors
from generation.client import batch, batch_jobs
from generation.client.batch import BatchChat
from generation.errors import CircuitError, RequestError, ServerError
from generation.journal import Journal, Journaled
from generation.llm import OpenAIChat, Request
from generation.running.budget import Metered, Price, Purse
from tests import batch_server
from tests.batch_server import BatchServer
from tests.model_server import Canned, failing, refusing
from tests.test_cli import KEY


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(batch, "QUIET_S", 0.05)
    monkeypatch.setattr(batch_jobs, "FIRST_LOOK_S", 0.01)
    monkeypatch.setattr(batch_jobs, "LONGEST_LOOK_S", 0.05)
    monkeypatch.setattr(batch_jobs, "_BACKOFF_S", 0.02)


def requests_of(count):
    return [Request(({"role": "user", "content": f"Question {n}"},), temperature=0.3) for n in range(count)]


def echo(request):
    return f"Answer to {request['messages'][0]['content']}"


class Sitting:
    """A journaled batch chat on `folder`, its notes and the replies to some requests."""

    def __init__(self, server, folder, **options):
        self.server, self.folder, self.options = server, folder, options
        self.notes = []

    async def __aenter__(self):
        self.journal = Journal(self.folder / "journal.sqlite").__enter__()
        options = {"journal": self.journal, "folder": self.folder / "batches", "notify": self.notes.append}
        self.door = BatchChat("m", self.server.url, KEY, **options | self.options)
        self.chat = Journaled(self.door, self.journal)
        await self.door.__aenter__()
        return self

    async def __aexit__(self, *error):
        await self.door.__aexit__(*error)
        self.journal.close()

    async def ask(self, requests):
        return await asyncio.gather(*map(self.chat, requests), return_exceptions=True)

    def states(self):
        records = sorted((self.folder / "batches").glob("*.json"))
        return [r.get("end", r["state"]) for r in (json.loads(p.read_text()) for p in records)]


def texts(replies):
    return [r if isinstance(r, Exception) else r.text for r in replies]


EXPECTED = [f"Answer to Question {n}" for n in range(8)]


async def test_requests_that_wait_go_out_as_one_job_and_each_gets_its_own_answer(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1 and sitting.states() == ["completed"]
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


async def test_the_calls_of_a_batch_are_those_of_the_live_chat(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            await sitting.ask(requests_of(3))
            live = Journaled(OpenAIChat("m", server.url, KEY), sitting.journal)
            assert [(await live(r)).text for r in requests_of(3)] == EXPECTED[:3]  # the server has no live endpoint


async def test_a_full_file_goes_at_once_and_the_rest_follows(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MOST_REQUESTS", 3)
    monkeypatch.setattr(batch, "MOST_BYTES", 500)
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert all(len(job.requests) <= 3 for job in server.jobs)
        assert all(len(server.files[job.file_id]) <= 500 for job in server.jobs)


async def test_requests_that_fail_go_out_again_and_the_others_do_not(tmp_path):
    tries = Counter()

    def flaky(request):
        text = echo(request)
        tries[text] += 1
        return failing(500) if text in EXPECTED[:3] and tries[text] < 3 else text

    with BatchServer(flaky) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert [len(job.requests) for job in server.jobs] == [8, 3, 3] and max(server.paid.values()) == 1
    assert sitting.states() == ["completed"] * 3


async def test_a_request_that_always_fails_is_given_up_alone(tmp_path):
    with BatchServer(lambda r: failing(500) if echo(r) == EXPECTED[0] else echo(r)) as server:
        async with Sitting(server, tmp_path, retries=2) as sitting:
            first, *others = texts(await sitting.ask(requests_of(8)))
        assert isinstance(first, ServerError) and others == EXPECTED[1:] and len(server.jobs) == 3
        assert sitting.door.stopped is None


@pytest.mark.parametrize("end", ["expired", "cancelled"])
async def test_what_a_job_left_undone_goes_out_again_and_nothing_else(tmp_path, end):
    with BatchServer(echo) as server:
        server.end = lambda number: end if number <= 2 else "completed"
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert [len(job.requests) for job in server.jobs] == [8, 4, 2] and max(server.paid.values()) == 1


async def test_jobs_that_end_early_again_and_again_stop_the_run(tmp_path):
    with BatchServer(echo) as server:
        server.end, server.share = lambda number: "expired", 0
        async with Sitting(server, tmp_path, retries=2) as sitting:
            replies = await sitting.ask(requests_of(8))
        assert all(isinstance(r, CircuitError) and "expired" in str(r) for r in replies) and len(server.jobs) == 3


async def test_a_file_that_the_server_refuses_stops_the_run_with_its_words(tmp_path):
    with BatchServer(echo) as server:
        server.end = lambda number: "failed"
        async with Sitting(server, tmp_path) as sitting:
            replies = await sitting.ask(requests_of(8))
            assert all(isinstance(r, CircuitError) and "line 2: This line is no JSON" in str(r) for r in replies)
        assert len(server.jobs) == 1 and sitting.states() == ["failed"]


async def test_a_queue_that_is_too_short_gets_the_requests_in_parts(tmp_path):
    with BatchServer(echo) as server:
        server.limit = 3
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert max(server.paid.values()) == 1 and any("in parts" in note for note in sitting.notes)


@pytest.mark.parametrize("event", ["upload", "create", "look", "content"])
@pytest.mark.parametrize("fault", [500, 429, "before", "after", "half"])
async def test_a_fault_on_the_way_costs_nothing(tmp_path, event, fault):
    with BatchServer(echo) as server:
        server.fault = lambda e, number: fault if e == event and number <= 2 else ""
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1, "a job that was made unseen must be found, not made again"


@pytest.mark.parametrize(
    "odd",
    [
        {"created_at": "2026-01-01T00:00:00Z"},
        {"created_at": None, "request_counts": None},
        {"request_counts": []},
        {"request_counts": {"completed": "8"}},
        {"errors": []},
        {"errors": "none"},
        {"errors": {"data": ["none"]}},
    ],
)
async def test_what_a_server_says_of_a_job_in_its_own_way_does_no_harm(tmp_path, monkeypatch, odd):
    shown = batch_server._shown
    monkeypatch.setattr(batch_server, "_shown", lambda job: {**shown(job), **odd})
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


@pytest.mark.parametrize("odd", [{"response": "x"}, {"response": [1]}, {"response": None, "error": "boom"}])
async def test_a_line_in_a_form_of_the_servers_own_is_a_failure_of_that_request(tmp_path, odd):
    def spoil(event, number):
        if event == "content":
            file = server.files[server.jobs[-1].output]
            lines = [json.loads(line) for line in file.splitlines()]
            server.files[server.jobs[-1].output] = "".join(
                json.dumps(line | (odd if "Question 3" in str(line) else {})) + "\n" for line in lines
            ).encode()
        return ""

    with BatchServer(echo) as server:
        server.fault = spoil
        async with Sitting(server, tmp_path, retries=1) as sitting:
            replies = texts(await sitting.ask(requests_of(8)))
    assert isinstance(replies.pop(3), ServerError) and replies == EXPECTED[:3] + EXPECTED[4:]


async def test_an_output_file_that_is_named_a_moment_after_the_job_ended_is_waited_for(tmp_path, monkeypatch):
    shown, looks = batch_server._shown, Counter()

    def late(job):
        looks[job.id] += bool(job.output)
        return shown(job) | ({} if looks[job.id] > 1 else {"output_file_id": None})

    monkeypatch.setattr(batch_server, "_shown", late)
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


async def test_an_output_file_that_was_cut_at_a_line_is_read_again(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            cut = {}

            def fault(event, number):
                if event == "content" and number == 1:
                    name = server.jobs[0].output
                    cut[name], server.files[name] = (
                        server.files[name],
                        server.files[name][: server.files[name].index(b"\n") + 1],
                    )
                elif event == "content":
                    server.files.update(cut)
                return ""

            server.fault = fault
            assert texts(await sitting.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


async def test_a_server_that_goes_away_is_waited_for(tmp_path):
    with BatchServer(echo) as server:
        server.hold.set()
        async with Sitting(server, tmp_path) as sitting:
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while server.seen["look"] < 2:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(server.go_away)
            await asyncio.sleep(0.3)
            server.hold.clear()
            await asyncio.to_thread(server.come_back)
            assert texts(await answers) == EXPECTED
        assert len(server.jobs) == 1


async def test_a_server_that_stays_away_is_not_waited_for_without_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(batch_jobs, "PATIENCE_S", 0.2)
    with BatchServer(echo) as server:
        server.fault = lambda event, number: 503 if event == "look" else ""
        async with Sitting(server, tmp_path) as sitting:
            replies = await sitting.ask(requests_of(2))
            assert all(isinstance(r, CircuitError) and "503" in str(r) for r in replies)
        server.fault = lambda event, number: ""
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(2))) == EXPECTED[:2]
        assert len(server.jobs) == 1


async def test_a_job_that_never_ends_is_not_waited_for_without_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(batch_jobs, "LONGEST_JOB_S", 0.2)
    with BatchServer(echo) as server:
        server.hold.set()
        async with Sitting(server, tmp_path) as sitting:
            replies = await sitting.ask(requests_of(2))
        assert all(isinstance(r, CircuitError) and "batch_1 is still" in str(r) for r in replies)


@pytest.mark.parametrize(("status", "words"), [(401, "does not take the key"), (404, "no batch API")])
async def test_a_wrong_key_or_a_server_without_batches_stops_at_once(tmp_path, status, words):
    with BatchServer(echo) as server:
        server.fault = lambda event, number: status
        async with Sitting(server, tmp_path) as sitting:
            replies = await sitting.ask(requests_of(4))
        assert all(isinstance(r, CircuitError) and words in str(r) and KEY not in str(r) for r in replies)
        assert sum(server.seen.values()) == 1


async def test_what_one_request_is_refused_for_is_its_own(tmp_path):
    with BatchServer(lambda r: failing(400, "too long") if echo(r) == EXPECTED[0] else echo(r)) as server:
        async with Sitting(server, tmp_path) as sitting:
            first, *others = texts(await sitting.ask(requests_of(8)))
        assert isinstance(first, RequestError) and others == EXPECTED[1:] and len(server.jobs) == 1


async def test_a_form_that_is_refused_is_changed_and_remembered(tmp_path):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    asked = [Request(r.messages, 0.3, schema) for r in requests_of(8)]
    with BatchServer(refusing(echo, "json_schema")) as server:
        async with Sitting(server, tmp_path) as sitting:
            assert texts(await sitting.ask(asked[:6])) == EXPECTED[:6]
        before = len(server.jobs)
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(asked)) == EXPECTED
        assert len(server.jobs) == before + 1 and max(server.paid.values()) == 1


async def test_a_refusal_and_an_empty_answer_are_kept_as_what_they_are(tmp_path):
    answers = {EXPECTED[0]: Canned(None, message={"refusal": "No."}), EXPECTED[1]: Canned("")}
    with BatchServer(lambda r: answers.get(echo(r), echo(r))) as server:
        for _ in range(2):
            async with Sitting(server, tmp_path) as sitting:
                replies = await sitting.ask(requests_of(3))
            assert [type(r).__name__ for r in replies] == ["RefusalError", "ReplyError", "Reply"]
        assert len(server.jobs) == 1


async def test_a_queue_that_is_full_of_other_jobs_is_waited_for(tmp_path):
    with BatchServer(echo) as server:
        server.limit = 8
        server.hold.set()
        async with Sitting(server, tmp_path) as sitting:
            first = asyncio.create_task(sitting.ask(requests_of(6)))
            while sitting.states() != ["created"]:
                await asyncio.sleep(0.005)
            second = asyncio.create_task(sitting.ask(requests_of(10)[6:]))
            while len(sitting.states()) < 2 or sitting.states()[1] != "failed":
                await asyncio.sleep(0.005)
            server.hold.clear()
            assert texts(await first + await second)[:8] == EXPECTED
        assert [len(job.requests) for job in server.jobs] == [6, 4, 4]


async def test_a_job_that_finds_the_account_empty_stops_the_run(tmp_path):
    empty = failing(429, "You exceeded your current quota", code="insufficient_quota")
    with BatchServer(lambda r: empty if echo(r) == EXPECTED[5] else echo(r)) as server:
        async with Sitting(server, tmp_path) as sitting:
            replies = texts(await sitting.ask(requests_of(8)))
            assert replies[:5] + replies[6:] == EXPECTED[:5] + EXPECTED[6:]
            assert isinstance(replies[5], CircuitError) and "no credit" in str(sitting.door.stopped)


async def test_no_more_goes_out_than_the_budget_is_likely_to_pay(tmp_path):
    price = Price(prompt=10_000, completion=0, cached=10_000, source="a dollar for the server's 100 prompt tokens")
    with BatchServer(echo) as server:
        purse = Purse(3.0, lambda reason: sitting.door.stop(reason))
        options = {"cost": lambda request: 1.0, "spare": lambda: purse.spare}
        async with Sitting(server, tmp_path, **options) as sitting:
            sitting.chat = Metered(sitting.door, price, purse)
            replies = texts(await sitting.ask(requests_of(8)))
        assert [len(job.requests) for job in server.jobs] == [3] and purse.spent == 3.0
        assert sorted(type(r).__name__ for r in replies) == ["CircuitError"] * 5 + ["str"] * 3


async def test_a_full_disk_is_an_error_for_all_who_wait(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            (tmp_path / "batches" / "0001.jsonl").mkdir()  # in the way
            replies = await asyncio.wait_for(sitting.ask(requests_of(3)), 5)
        assert {type(r).__name__ for r in replies} == {"JournalError"} and not server.seen


async def test_a_folder_that_cannot_be_made_is_told_before_anything_is_asked(tmp_path):
    (tmp_path / "batches").write_text("in the way")
    with BatchServer(echo) as server, pytest.raises(errors.JournalError, match="batches"):
        await Sitting(server, tmp_path).__aenter__()
    assert not server.seen


def test_a_run_in_batches_prices_by_the_batch(tmp_path):
    from generation.running.budget import listed

    url = "https://api.openai.com/v1"
    half, whole = listed("gpt-4o-mini", url, batch=True), listed("gpt-4o-mini", url)
    assert half.prompt == whole.prompt / 2 and half.completion == whole.completion / 2 and half.source.endswith("batch")
    local = listed("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", batch=True)
    assert "none for batch" in local.source or local.source.endswith("batch")

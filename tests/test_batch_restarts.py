"""Batches that are left and taken up again: what is out is found and collected, and nothing is sent again."""

import asyncio
from collections import Counter

from generation.errors import CircuitError
from tests.batch_server import BatchServer
from tests.model_server import failing
from tests.test_batch import EXPECTED, Sitting, echo, requests_of, texts
from tests.test_batch import quick as quick


async def test_a_request_that_failed_and_is_out_again_is_not_sent_a_third_time_after_a_restart(tmp_path):
    tries = Counter()

    def flaky(request):
        tries[echo(request)] += 1
        return failing(500) if echo(request) == EXPECTED[0] and tries[EXPECTED[0]] == 1 else echo(request)

    with BatchServer(flaky) as server:
        sitting = Sitting(server, tmp_path)
        async with sitting:
            sitting.door._close_kept = lambda: None  # dies before it can say that the first wave is over
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while len(server.jobs) < 2:
                await asyncio.sleep(0.005)
                server.hold.set() if server.jobs and not server.jobs[0].stages else None
            while sitting.states() != ["created", "created"]:
                await asyncio.sleep(0.005)
            answers.cancel()
        assert sitting.states() == ["created", "created"]
        server.hold.clear()
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert [len(job.requests) for job in server.jobs] == [8, 1]
        assert again.states() == ["completed", "completed"]


async def test_a_job_whose_making_no_record_tells_is_found_though_the_list_lags(tmp_path):
    with BatchServer(echo) as server:
        server.fault = lambda event, number: "stall" if event == "create" else ""
        async with Sitting(server, tmp_path) as sitting:
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while not server.jobs:
                await asyncio.sleep(0.005)
            answers.cancel()
        assert sitting.states() == ["uploaded"]
        server.fault, server.lagging = lambda event, number: "", 1
        for number in range(5):  # other jobs of the account, made later
            server.jobs.append(type(server.jobs[0])(f"other_{number}", "file-x", [], [], "completed", 2000))
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 6


async def test_answers_that_come_before_they_are_asked_for_are_not_lost(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while sitting.states() != ["created"]:
                await asyncio.sleep(0.005)
            answers.cancel()
        async with Sitting(server, tmp_path) as again:
            while not any("completed" in note for note in again.notes):
                await asyncio.sleep(0.005)
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


async def test_a_wave_is_not_over_before_its_answers_are_in_the_journal(tmp_path):
    with BatchServer(echo) as server:
        async with Sitting(server, tmp_path) as sitting:
            sitting.journal.keep = lambda *call: asyncio.sleep(3600)
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while not any("completed" in note for note in sitting.notes):
                await asyncio.sleep(0.005)
            answers.cancel()
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1


async def test_stopping_leaves_the_job_to_the_next_run(tmp_path):
    with BatchServer(echo) as server:
        server.hold.set()
        async with Sitting(server, tmp_path) as sitting:
            answers = asyncio.create_task(sitting.ask(requests_of(8)))
            while server.seen["look"] < 1:
                await asyncio.sleep(0.005)
            sitting.door.stop("interrupted.")
            assert all(isinstance(r, CircuitError) for r in await answers)
        assert any("batch_1" in note and "Still out" in note for note in sitting.notes)
        server.hold.clear()
        async with Sitting(server, tmp_path) as again:
            assert texts(await again.ask(requests_of(8))) == EXPECTED
        assert len(server.jobs) == 1

"""Admission: in order, within the limits, patient with a server in trouble, and done at once where nothing helps."""

import asyncio
import contextlib
import time

import pytest

from generation import errors
from generation.client.admission import Admission
from generation.journal import Journal, Journaled
from generation.llm import OpenAIChat, Reply, Request
from generation.records import Usage
from tests.model_server import Canned, ModelServer, failing


def request_of(text: str = "Hi.", **fields) -> Request:
    return Request(({"role": "user", "content": text},), **fields)


class Fake:
    """A chat that answers after `delay` by `answer(number of the call)`; keeps order and height of the traffic."""

    identity = "x y"

    def __init__(self, answer=lambda n: Reply("ok", Usage(1, 80, 0, 20)), delay=0.01):
        self.answer, self.delay = answer, delay
        self.texts: list[str] = []
        self.times: list[float] = []
        self.in_flight = self.peak = 0

    async def __call__(self, request: Request) -> Reply:
        self.texts.append(request.messages[0]["content"])
        number = len(self.texts)
        self.times.append(now())
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
            result = self.answer(number)
        finally:
            self.in_flight -= 1
        if isinstance(result, Exception):
            raise result
        return result


def now() -> float:
    """The event loop's time, which a test marked `looptime` does not wait for."""
    return asyncio.get_running_loop().time()


async def flood(chat, count: int, **fields):
    calls = (chat(request_of(str(n), priority=(n,), **fields)) for n in range(count))
    return await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.looptime
async def test_no_more_calls_than_the_limit_are_in_flight_and_never_fewer_while_calls_wait():
    fake = Fake()
    started = now()
    await flood(Admission(fake, 8), 80)
    assert fake.peak == 8
    assert now() - started < 10 * 0.01 * 1.1


@pytest.mark.looptime
async def test_the_smallest_priority_goes_first_and_equals_in_order_of_arrival():
    fake = Fake()
    admission = Admission(fake, 1)
    order = [(2, 0), (1, 1), (1, 0), (1, 0), (3, 0)]
    await asyncio.gather(*(admission(request_of(str(n), priority=p)) for n, p in enumerate(order)))
    assert fake.texts == ["0", "2", "3", "1", "4"]


@pytest.mark.looptime
async def test_cancelled_calls_leave_no_slot_taken_and_none_doubled():
    fake = Fake(delay=0.02)
    admission = Admission(fake, 2)
    calls = [asyncio.create_task(admission(request_of(str(n)))) for n in range(20)]
    for n, call in enumerate(calls):
        if n % 3 == 0:
            await asyncio.sleep(0.002)
            call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert admission.in_flight == 0 and admission.waiting == 0
    await flood(admission, 6)
    assert fake.peak == 2


@pytest.mark.looptime
async def test_a_call_cancelled_in_the_moment_it_is_let_through_gives_its_slot_on():
    def answer(number):
        if number == 1:
            asyncio.get_running_loop().call_soon(second.cancel)  # runs after its turn has come, before it wakes
        return Reply("ok")

    admission = Admission(Fake(answer), 1)
    first, second, third = (asyncio.create_task(admission(request_of(t))) for t in "abc")
    await asyncio.wait_for(asyncio.gather(first, third), 2)
    assert second.cancelled() and admission.in_flight == 0


async def test_a_429_storm_cuts_the_window_and_every_call_is_answered():
    room = 10

    def script(request):
        return failing(429) if server.in_flight > room else Canned("ok", delay=0.02)

    with ModelServer(script) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            admission = Admission(chat, 64, backoff=0.02)
            results = await flood(admission, 400)
            assert all(isinstance(r, Reply) for r in results)
            assert admission.refused < 400, "fewer refused than answered"
            assert admission.window < 40


@pytest.mark.looptime
async def test_a_lone_429_does_not_cost_the_window():
    windows: set[float] = set()

    def answer(number):
        windows.add(admission.window)
        return errors.RateLimitError("slow", status=429) if number % 50 == 0 else Reply("ok")

    admission = Admission(Fake(answer), 8, backoff=0.01)
    results = await flood(admission, 300)
    assert all(isinstance(r, Reply) for r in results) and windows == {8.0}


@pytest.mark.looptime
async def test_after_a_cut_the_window_grows_again():
    fake = Fake(lambda n: errors.RateLimitError("slow") if n <= 8 else Reply("ok"))
    admission = Admission(fake, 8, backoff=0.01)
    results = await flood(admission, 200)
    assert all(isinstance(r, Reply) for r in results)
    assert admission.refused >= 8 and admission.window == 8


@pytest.mark.parametrize("limit", [2, 12])
async def test_retry_after_holds_all_calls_once_the_limit_is_reached_for_all(limit):
    def script(request):
        early = time.monotonic() - server.calls[0].at < 1
        return failing(429, retry_after="1") if early else "ok"

    with ModelServer(script) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, limit, backoff=0.01), 40)
        assert all(isinstance(r, Reply) for r in results)
        assert len(server.calls) <= 40 + limit + 2, "after two refusals no call is wasted on a server that said when"


@pytest.mark.parametrize("how", ["a 429", "a header"])
async def test_a_long_wait_that_the_server_asks_for_is_told_once(how):
    limits = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m"}
    named = failing(429, retry_after="60") if how == "a 429" else Canned("ok", headers=limits)
    told: list[str] = []
    with ModelServer(lambda _: named) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(flood(Admission(chat, 4, notify=told.append), 20), 0.5)
    assert told in (["Waiting 60 s, as the server asks."], ["Waiting 61 s, as the server asks."])


async def test_a_wait_beyond_all_bounds_stops_the_run_and_says_so():
    with ModelServer(lambda _: failing(429, retry_after="3600")) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 2), 20)
        assert len(server.calls) <= 2
    assert {type(r) for r in results} == {errors.CircuitError}
    assert "3600" in str(results[0])


@pytest.mark.parametrize(
    ("status", "words"),
    [
        *((status, "no") for status in (401, 402, 403, 404, 405, 301, 307)),
        (400, "The requested model 'tiny' does not exist"),
        (400, "tiny is not a valid model ID"),
        (400, "Model Not Exist"),
        (400, "Invalid model: tiny"),
        (422, "model tiny was not found"),
    ],
)
async def test_a_wrong_key_model_or_address_stops_all_calls_at_once(status, words):
    with ModelServer(lambda _: failing(status, words)) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 4), 100)
        assert len(server.calls) <= 4
    assert {type(r) for r in results} == {errors.CircuitError}
    assert isinstance(results[0].__cause__, errors.AuthError | errors.RequestError)


@pytest.mark.parametrize(
    "words", ["This model does not support tools", "invalid model output", "unknown model parameter", "too long"]
)
async def test_a_400_that_is_not_about_the_models_name_is_its_calls_own(words):
    with ModelServer(lambda r: failing(400, words) if r["messages"][0]["content"] == "0" else "ok") as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 1), 5)
    assert [type(r) for r in results] == [errors.RequestError, *[Reply] * 4]


@pytest.mark.looptime
async def test_nothing_goes_out_once_an_answer_has_stopped_the_run():
    fake = Fake()
    admission = Admission(fake, 1)

    async def until_spent(request):
        reply = await admission(request)
        if len(fake.texts) == 3:
            admission.stop("all is spent.")
        return reply

    results = await flood(until_spent, 10)
    assert len(fake.texts) == 3 and admission.in_flight == 0
    assert sum(isinstance(r, errors.CircuitError) for r in results) == 7


async def test_a_key_that_is_revoked_in_mid_run_stops_the_run():
    with ModelServer([*["ok"] * 20, *[failing(401)] * 80]) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 4), 100)
        assert len(server.calls) <= 24
    assert sum(isinstance(r, Reply) for r in results) == 20
    assert sum(isinstance(r, errors.CircuitError) for r in results) == 80


async def test_one_forbidden_passage_in_mid_run_fails_alone():
    with ModelServer(lambda r: failing(403) if r["messages"][0]["content"] == "7" else "ok") as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 1), 20)
    assert [type(r) for r in results] == [errors.AuthError if n == 7 else Reply for n in range(20)]


async def test_a_server_that_goes_away_and_comes_back_loses_nothing():
    told: list[str] = []
    with ModelServer(lambda _: Canned("ok", delay=0.02)) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            admission = Admission(chat, 16, retries=1, backoff=0.05, notify=told.append)
            calls = asyncio.create_task(flood(admission, 300))
            while len(server.calls) < 60:
                await asyncio.sleep(0.005)
            await asyncio.to_thread(server.go_away)
            reached = len(server.calls)
            await asyncio.sleep(1.5)
            await asyncio.to_thread(server.come_back)
            results = await calls
            assert admission.window == 16
        assert len(server.calls) - reached < 310
    assert all(isinstance(r, Reply) for r in results)
    assert [sentence.split()[0] for sentence in told] == ["Waiting", "The"]


@pytest.mark.looptime
async def test_an_outage_is_probed_by_single_calls_with_pauses():
    down = Fake(lambda n: errors.ServerError("down", status=503) if n < 40 else Reply("ok"), delay=0.001)
    admission = Admission(down, 16, retries=1, backoff=0.05)
    results = await flood(admission, 16)
    assert all(isinstance(r, Reply) for r in results)
    gaps = [b - a for a, b in zip(down.times[20:39], down.times[21:40], strict=False)]
    assert min(gaps) > 0.02


async def test_a_server_that_never_comes_back_stops_the_run_within_the_patience():
    with ModelServer([]) as server:
        url = server.url
    async with OpenAIChat("tiny", url, retries=0) as chat:
        started = time.monotonic()
        results = await flood(Admission(chat, 8, patience=0.6, backoff=0.05), 50)
        assert 0.5 < time.monotonic() - started < 30
    assert {type(r) for r in results} == {errors.CircuitError}
    assert "no call was answered" in str(results[0])


async def test_a_call_with_a_fault_of_its_own_fails_after_its_retries_and_the_others_go_on():
    def script(request):
        return failing(500) if request["messages"][0]["content"] == "7" else "ok"

    with ModelServer(script) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            results = await flood(Admission(chat, 2, retries=2, backoff=0.01), 30)
        assert [r["messages"][0]["content"] for r in server.requests].count("7") == 3
    assert [type(r) for r in results] == [errors.ServerError if n == 7 else Reply for n in range(30)]


async def test_time_outs_of_one_call_are_few_since_each_may_be_paid_for():
    def script(request):
        return Canned(fault="hang") if request["messages"][0]["content"] == "7" else "ok"

    with ModelServer(script) as server:
        async with OpenAIChat("tiny", server.url, retries=0, timeout=0.5) as chat:
            results = await flood(Admission(chat, 2, retries=9, backoff=0.01), 30)
        assert [r["messages"][0]["content"] for r in server.requests].count("7") == 3
    assert [type(r) for r in results] == [errors.ModelTimeoutError if n == 7 else Reply for n in range(30)]


@pytest.mark.looptime
async def test_a_time_out_halves_the_window():
    windows: list[float] = []

    def answer(number):
        windows.append(admission.window)
        return errors.ModelTimeoutError("late") if number == 3 else Reply("ok")

    admission = Admission(Fake(answer), 8, backoff=0.01)
    await flood(admission, 40)
    assert min(windows) == 4 and admission.window > 4


@pytest.mark.looptime
async def test_a_slow_server_is_given_fewer_calls_until_they_end_in_time():
    work = asyncio.Semaphore(2)  # a server that works on two calls at a time and lets the others wait

    class Slow(Fake):
        async def __call__(self, request):
            try:
                async with asyncio.timeout(0.1), work:
                    return await super().__call__(request)
            except TimeoutError:
                raise errors.ModelTimeoutError("late") from None

    admission = Admission(Slow(delay=0.02), 32, backoff=0.01)
    results = await flood(admission, 60)
    assert sum(isinstance(r, Reply) for r in results) >= 58
    assert admission.window < 32


@pytest.mark.looptime
async def test_a_long_row_of_failures_stops_the_run():
    fake = Fake(lambda n: errors.RequestError("too long", status=400), delay=0)
    results = await flood(Admission(fake, 4), 200)
    assert len(fake.texts) <= 60
    assert isinstance(results[0], errors.RequestError) and isinstance(results[-1], errors.CircuitError)


@pytest.mark.looptime
async def test_a_paid_but_useless_reply_keeps_its_error_even_as_the_run_stops(tmp_path):
    useless = errors.LengthError("cut", reply=Reply("{", Usage(1, 5, 0, 5)))
    with Journal(tmp_path / "j.sqlite") as journal:
        results = await flood(Journaled(Admission(Fake(lambda n: useless), 4), journal), 200)
        stored = [call for call in journal.calls() if call.reply]
    assert len(stored) == sum(isinstance(r, errors.LengthError) for r in results) >= 50


async def test_admission_works_in_one_event_loop_after_another_and_holds_no_timer():
    fake = Fake(delay=0)
    admission = Admission(fake, 2, rpm=6000)
    await flood(admission, 30)
    assert admission.waiting == 0 and admission._timer is None

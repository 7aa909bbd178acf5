"""Rates: no more requests and tokens a minute than are allowed, and the pauses that a server's headers name."""

import pytest

from generation.client.admission import Admission
from generation.client.rates import Rate, named_wait
from generation.llm import OpenAIChat, Reply
from generation.records import Usage
from tests.model_server import Canned, ModelServer
from tests.test_admission import Fake, flood, now


async def test_requests_per_minute_are_kept():
    fake = Fake(delay=0)
    started = now()
    await flood(Admission(fake, 50, rpm=60 * 40), 60)
    elapsed = now() - started
    assert elapsed >= (60 - 40) / 40 - 0.02
    assert elapsed < 30


async def test_tokens_per_minute_are_kept_by_what_was_really_used():
    fake = Fake(lambda n: Reply("ok", Usage(1, 900, 0, 100)), delay=0)
    started = now()
    await flood(Admission(fake, 1, tpm=60 * 10_000), 25)
    assert 1.0 < now() - started < 30


async def test_limits_in_the_servers_headers_are_kept():
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "600ms"}
    with ModelServer([Canned("ok", headers=headers), "ok"]) as server:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            await flood(Admission(chat, 1), 2)
        assert server.calls[1].at - server.calls[0].at >= 0.6


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, 0),
        ({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "9s"}, 0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "3"}, 3),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2026-01-01T00:00:00Z"}, 0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h"}, 120),
        ({"x-ratelimit-remaining-tokens": "0"}, 0),
    ],
)
def test_a_named_limit_is_read_and_bounded(limits, seconds):
    assert named_wait(limits) == pytest.approx(seconds)


def test_a_rate_lets_one_seconds_worth_through_and_then_its_pace():
    rate = Rate(120)
    assert rate.wait(1, now=100.0) == 0
    rate.take(1)
    assert rate.wait(1, now=100.0) == 0
    rate.take(1)
    assert rate.wait(1, now=100.0) == pytest.approx(0.5)
    assert rate.wait(1, now=100.5) == 0


def test_an_amount_beyond_a_seconds_worth_goes_alone_and_is_waited_for_afterwards():
    rate = Rate(600)
    assert rate.wait(50, now=1.0) == 0
    rate.take(50)
    assert rate.wait(1, now=1.0) == pytest.approx(4.1)

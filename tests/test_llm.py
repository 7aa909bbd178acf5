"""The door to a model, against a real server: modes, retries, errors, keys, and re-asks."""

import asyncio
import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from generation import errors
from generation.client.transport import retry_after
from generation.llm import OpenAIChat, Reply, Request, pause
from generation.records import Usage
from tests.model_server import Canned, ModelServer, failing

SCHEMA = {
    "title": "verdict",
    "type": "object",
    "properties": {"is_quality": {"type": "boolean"}},
    "required": ["is_quality"],
    "additionalProperties": False,
}
KEY = "sk-very-secret-0123456789"


def request_of(text: str = "Is it good? Answer as JSON.", **fields) -> Request:
    return Request(({"role": "user", "content": text},), **fields)


def json_request(**fields) -> Request:
    return request_of(schema=SCHEMA, **fields)


def chat_of(server: ModelServer, **settings) -> OpenAIChat:
    return OpenAIChat("tiny", server.url, **{"backoff": 0.01, **settings})


async def asked(script, request: Request | None = None, **settings) -> tuple[Reply, ModelServer, OpenAIChat]:
    with ModelServer(script) as server:
        async with chat_of(server, **settings) as chat:
            return await chat(request or request_of()), server, chat


async def test_a_reply_carries_text_usage_model_and_the_raw_body():
    reply, server, _ = await asked(["hello"], request_of(temperature=0.3, max_tokens=50))
    assert (reply.text, reply.model, reply.finish_reason) == ("hello", "tiny", "stop")
    assert reply.usage == Usage(calls=1, prompt_tokens=100, cached_tokens=40, completion_tokens=20)
    assert json.loads(reply.raw)["choices"][0]["message"]["content"] == "hello"
    assert server.calls[0].path == "/v1/chat/completions"
    assert server.requests[0] == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Is it good? Answer as JSON."}],
        "temperature": 0.3,
        "max_tokens": 50,
    }


async def test_what_is_ours_alone_is_never_sent():
    _, server, _ = await asked(["hello"], request_of(role="ROLE", scope="SCOPE", priority=(77,), asking=5))
    assert not {"role", "scope", "priority", "asking"} & set(server.requests[0])


@pytest.mark.parametrize(
    ("canned", "expected"),
    [
        (Canned("x", usage=None), Usage(calls=1)),
        (Canned("x", usage={}), Usage(calls=1)),
        (Canned("x", usage={"prompt_tokens": None, "completion_tokens": "7"}), Usage(calls=1)),
        (Canned("x", usage={"prompt_tokens": 3, "prompt_tokens_details": None}), Usage(1, 3)),
        (Canned("x", usage={"prompt_tokens": -3, "completion_tokens": True}), Usage(calls=1)),
    ],
)
async def test_missing_or_odd_usage_counts_as_zero_tokens(canned, expected):
    reply, _, _ = await asked([canned])
    assert reply.usage == expected


@pytest.mark.parametrize(
    ("canned", "kind"),
    [
        (failing(401), errors.AuthError),
        (failing(402, "out of credits"), errors.AuthError),
        (failing(403), errors.AuthError),
        (failing(429, code="insufficient_quota"), errors.AuthError),
        (failing(400), errors.RequestError),
        (failing(400, code="content_filter"), errors.ContentFilterError),
        (failing(404, "no such model"), errors.RequestError),
        (failing(422), errors.RequestError),
        (Canned(status=307, headers={"Location": "http://elsewhere/v1"}, body=""), errors.RequestError),
        (Canned("", message={"refusal": "I would rather not."}), errors.RefusalError),
        (Canned("{", finish_reason="length"), errors.LengthError),
        (Canned("x", finish_reason="content_filter"), errors.ContentFilterError),
        (Canned(""), errors.ReplyError),
        (Canned(" \n"), errors.ReplyError),
        (Canned(None), errors.ReplyError),
        (Canned(None, message={"reasoning_content": "Let me think."}), errors.ReplyError),
    ],
)
async def test_what_cannot_be_mended_by_asking_again_is_raised_at_once(canned, kind):
    with ModelServer([canned, "too late"]) as server:
        async with chat_of(server) as chat:
            with pytest.raises(kind):
                await chat(request_of())
        assert len(server.calls) == 1


MENDED = {
    "429": failing(429),
    "429 with seconds": failing(429, retry_after="0"),
    "500": failing(500),
    "503": failing(503),
    "529": failing(529),
    "reset": Canned(fault="reset"),
    "disconnect": Canned(fault="disconnect"),
    "half": Canned("hello", fault="half"),
    "half, unmeasured": Canned("hello", fault="half_unmeasured"),
    "malformed body": Canned(body="<html>Bad gateway</html>"),
    "truncated body": Canned(body='{"choices": [{"mess'),
    "wrong shape": Canned(body='{"choices": []}'),
    "a list": Canned(body="[]"),
    "null": Canned(body="null"),
    "empty body": Canned(body=""),
    "deep body": Canned(body="[" * 100_000),
    "content is a number": Canned(message={"content": 5}),
    "error with status 200": Canned(body='{"error": {"message": "overloaded", "code": 503}}'),
    "error in the choice": Canned(body='{"choices": [{"error": {"message": "overloaded"}}]}'),
}


@pytest.mark.parametrize("name", MENDED)
async def test_a_passing_fault_is_asked_again_and_then_answered(name):
    reply, server, _ = await asked([MENDED[name], MENDED[name], "hello"])
    assert reply.text == "hello"
    assert len(server.calls) == 3


@pytest.mark.parametrize(
    ("canned", "kind"),
    [
        (failing(429), errors.RateLimitError),
        (failing(500), errors.ServerError),
        (failing(503), errors.ServerError),
        (Canned(fault="reset"), errors.ConnectError),
        (Canned(fault="half"), errors.ConnectError),
        (Canned(body="<html>"), errors.ServerError),
    ],
)
async def test_retries_are_bounded(canned, kind):
    with ModelServer(lambda _: canned) as server:
        async with chat_of(server, retries=2) as chat:
            with pytest.raises(kind):
                await chat(request_of())
        assert len(server.calls) == 3


async def test_no_server_is_a_connect_error_that_names_the_address():
    with ModelServer([]) as server:
        chat = chat_of(server, retries=1)
    with pytest.raises(errors.ConnectError, match=f"127.0.0.1:{server.port}"):
        await chat(request_of())
    await chat.aclose()


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_a_time_out_is_total_and_asked_again_once_only(fault):
    with ModelServer(lambda _: Canned("hello", fault=fault)) as server:
        async with chat_of(server, timeout=0.3, retries=9) as chat:
            started = time.monotonic()
            with pytest.raises(errors.ModelTimeoutError):
                await chat(request_of())
            assert time.monotonic() - started < 10
        assert len(server.calls) == 2


async def test_a_server_that_comes_back_is_asked_again_on_new_connections():
    with ModelServer(lambda _: "hello") as server:
        async with chat_of(server, backoff=0.2) as chat:
            await chat(request_of())
            server.go_away()
            later = asyncio.create_task(chat(request_of()))
            await asyncio.sleep(0.25)
            await asyncio.to_thread(server.come_back)
            assert (await later).text == "hello"


async def test_retry_after_in_seconds_is_kept_to():
    started = time.monotonic()
    await asked([failing(429, retry_after="1"), "hello"])
    assert 1.0 <= time.monotonic() - started < 10


async def test_retry_after_as_a_date_counts_from_the_servers_clock():
    server_now = datetime(2001, 1, 1, tzinfo=UTC)  # a clock that is decades off
    headers = {"Date": format_datetime(server_now, usegmt=True)}
    date = format_datetime(server_now + timedelta(seconds=1), usegmt=True)
    started = time.monotonic()
    await asked([failing(503, retry_after=date, headers=headers), "hello"])
    assert 1.0 <= time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT", "date": "no date"}, None),
    ],
)
def test_retry_after_is_read(headers, seconds):
    assert retry_after(headers) == seconds


async def test_a_wait_beyond_the_bound_is_not_begun_but_told():
    with ModelServer([failing(429, retry_after="600"), "hello"]) as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.RateLimitError) as raised:
                await chat(request_of())
        assert raised.value.retry_after == 600
        assert len(server.calls) == 1


def test_pauses_grow_with_jitter_and_stay_bounded():
    error = errors.ServerError("x")
    first = {pause(error, 0) or 0 for _ in range(20)}
    assert len(first) > 10 and all(0.25 <= p <= 0.5 for p in first)
    assert all((pause(error, n) or 99) <= 8 for n in range(30))
    assert pause(errors.AuthError("x"), 0) is None


async def test_extra_parameters_are_sent_and_are_part_of_the_identity():
    _, server, chat = await asked(["x"], extra={"seed": 7, "reasoning_effort": "low"})
    assert server.requests[0]["seed"] == 7
    assert chat.identity.endswith('tiny {"reasoning_effort": "low", "seed": 7}')


def test_a_chat_works_in_one_event_loop_after_another():
    with ModelServer(lambda _: "hello") as server:
        chat = chat_of(server)
        for _ in range(2):
            assert asyncio.run(chat(request_of())).text == "hello"


def test_importing_the_door_imports_no_client():
    code = "import sys, generation.llm; print([m for m in ('aiohttp', 'openai', 'json_repair') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


async def test_half_a_surrogate_pair_in_a_passage_does_not_stop_the_call():
    _, server, _ = await asked(["x"], request_of("caf\udce9 and \u00e9"))
    assert server.requests[0]["messages"][0]["content"] == "caf? and \u00e9"


async def test_a_body_with_nan_large_numbers_and_half_a_pair_is_read():
    body = '{"choices": [{"message": {"content": "caf\\ud83d"}, "logprobs": NaN}], "seed": 12345678901234567890123}'
    reply, _, _ = await asked([Canned(body=body)])
    assert reply.text == "caf?"

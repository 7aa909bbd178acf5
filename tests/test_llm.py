"""The door to a model, against a real server: modes, retries, errors, keys, and re-asks."""

import asyncio
import json
import logging
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from generation import errors
from generation.client.replies import read_json
from generation.client.transport import endpoint, find_key, retry_after
from generation.llm import Answer, OpenAIChat, Reply, Request, Scoped, ask, pause
from generation.records import Usage
from tests.model_server import Canned, ModelServer, failing, mode_of, refusing

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
            assert time.monotonic() - started < 2
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
    assert 1.0 <= time.monotonic() - started < 2.0


async def test_retry_after_as_a_date_counts_from_the_servers_clock():
    server_now = datetime(2001, 1, 1, tzinfo=UTC)  # a clock that is decades off
    headers = {"Date": format_datetime(server_now, usegmt=True)}
    date = format_datetime(server_now + timedelta(seconds=1), usegmt=True)
    started = time.monotonic()
    await asked([failing(503, retry_after=date, headers=headers), "hello"])
    assert 1.0 <= time.monotonic() - started < 2.0


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


MODES = ["json_schema", "json_object_schema", "json_object", "plain"]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("known", MODES)
async def test_json_is_asked_for_in_the_strictest_form_that_the_server_knows(status, known):
    unknown = MODES[: MODES.index(known)]
    with ModelServer(refusing(lambda _: {"is_quality": True}, *unknown, status=status, message="no")) as server:
        async with chat_of(server) as chat:
            await chat(json_request())
            before = len(server.calls)
            await chat(json_request())
            assert chat.mode == known
            assert len(server.calls) == before + 1, "decided once"
            assert len(chat.notes) == bool(unknown) and all(known in note for note in chat.notes)
        assert mode_of(server.requests[-1]) == known


async def test_a_schema_is_sent_as_strict_only_if_it_is_closed():
    _, server, _ = await asked([{"is_quality": True}], json_request())
    assert server.requests[0]["response_format"]["json_schema"] == {"name": "verdict", "schema": SCHEMA, "strict": True}
    _, server, _ = await asked([{"is_quality": True}], request_of(schema=SCHEMA | {"required": []}))
    assert server.requests[0]["response_format"]["json_schema"]["strict"] is False


async def test_a_real_fault_is_not_taken_for_an_unknown_form():
    with ModelServer(lambda _: failing(500, "out of memory")) as server:
        async with chat_of(server, retries=1) as chat:
            with pytest.raises(errors.ServerError):
                await chat(json_request())
            assert chat.mode == "" and chat.notes == []
            assert len(server.calls) < 12
            server._answer = lambda _: Canned('{"is_quality": true}')
            await chat(json_request())
            assert chat.mode == "json_schema"


async def test_one_500_of_the_moment_does_not_cost_the_schema():
    _, _, chat = await asked([failing(500), {"is_quality": True}], json_request())
    assert chat.mode == "json_schema" and chat.notes == []


async def test_a_400_for_another_reason_does_not_step_down():
    with ModelServer(lambda _: failing(400, "maximum context length is 8192")) as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.RequestError, match="8192"):
                await chat(json_request())
        assert len(server.calls) == 1


async def test_concurrent_first_calls_do_not_all_pay_for_the_search():
    script = refusing(lambda _: Canned('{"is_quality": true}', delay=0.05), "json_schema", "json_object_schema")
    with ModelServer(script) as server:
        async with chat_of(server) as chat:
            await asyncio.gather(*(chat(json_request()) for _ in range(40)))
        assert len(server.calls) == 42


async def test_a_search_that_fails_does_not_hold_up_the_others():
    calls = iter([Canned(fault="hang")])
    with ModelServer(lambda _: next(calls, Canned("{}"))) as server:
        async with chat_of(server, timeout=0.3, retries=0) as chat:
            results = await asyncio.gather(*(chat(json_request()) for _ in range(10)), return_exceptions=True)
        assert [type(r) for r in results].count(errors.ModelTimeoutError) == 1
        assert sum(isinstance(r, Reply) for r in results) == 9
        assert len(server.calls) == 10


async def test_a_form_refused_later_is_stepped_down_too_but_only_once():
    refuse = False

    def script(request):
        if refuse and mode_of(request) == "json_schema":
            return failing(400, "response_format: this schema is not supported")
        return Canned('{"is_quality": true}', delay=0.05)

    with ModelServer(script) as server:
        async with chat_of(server) as chat:
            await chat(json_request())
            refuse = True
            await asyncio.gather(*(chat(json_request()) for _ in range(20)))
            assert chat.mode == "json_object_schema" and len(chat.notes) == 1


@pytest.mark.parametrize(
    ("message", "field", "replacement"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens", 50),
        ("Unsupported value: 'temperature' does not support 0.3 with this model.", "temperature", None),
    ],
)
async def test_a_parameter_that_is_not_taken_is_left_out_and_reported(message, field, replacement):
    with ModelServer(lambda request: failing(400, message) if field in request else "hello") as server:
        async with chat_of(server) as chat:
            for _ in range(2):
                await chat(request_of(temperature=0.3, max_tokens=50))
            assert len(chat.notes) == 1
        assert len(server.calls) == 3
        assert server.requests[-1].get("max_completion_tokens") == replacement


async def test_a_template_without_system_role_gets_the_words_in_the_users_message():
    def script(request):
        return failing(400, "System role not supported") if request["messages"][0]["role"] == "system" else "hello"

    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."})
    _, server, _ = await asked(script, Request(messages))
    assert server.requests[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nHi."}]


async def test_a_wrong_token_limit_is_not_taken_for_an_unknown_parameter():
    with ModelServer(lambda _: failing(400, "max_tokens is too large: 99999")) as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.RequestError, match="too large"):
                await chat(request_of(max_tokens=99999))
        assert len(server.calls) == 1


async def test_a_note_is_told_when_it_is_found():
    told: list[str] = []
    await asked(refusing(["{}"], "json_schema"), json_request(), notify=told.append)
    assert len(told) == 1 and "json_object_schema" in told[0]


@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_a_key_never_shows_even_if_the_server_echoes_it(status, caplog):
    caplog.set_level(logging.DEBUG)
    body = json.dumps({"error": {"message": f"bad key {KEY}"}}) if status != 200 else None
    canned = Canned(f"your key is {KEY}", status=status, body=body)
    with ModelServer(lambda _: canned) as server:
        async with chat_of(server, api_key=KEY, retries=0) as chat:
            try:
                shown = repr(await chat(request_of())) + (await chat(request_of())).raw
            except errors.ModelError as error:
                shown = f"{error} {error!r} {error.raw} {error.__cause__!r}"
            shown += repr(chat) + chat.identity + repr(vars(chat)) + caplog.text + str(chat.notes)
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in shown
    assert "[key]" in shown


def test_the_key_is_found_by_host_and_goes_to_no_other(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-000000")
    monkeypatch.setenv("HF_TOKEN", "hf_token_000000")
    assert find_key("https://api.openai.com/v1") == "sk-openai-000000"
    assert find_key("https://router.huggingface.co/v1") == "hf_token_000000"
    assert find_key("https://evilhuggingface.co/v1") == "sk-openai-000000"
    assert find_key("https://router.huggingface.co/v1", " given-key\n") == "given-key"


@pytest.mark.parametrize(
    ("url", "variable"),
    [("https://api.openai.com/v1", "OPENAI_API_KEY"), ("https://router.huggingface.co/v1", "HF_TOKEN")],
)
def test_a_missing_key_is_an_auth_error_that_names_what_to_set(monkeypatch, url, variable):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with pytest.raises(errors.AuthError, match=variable):
        OpenAIChat("any", url)


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"])
def test_a_local_server_needs_no_key(monkeypatch, url):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert OpenAIChat("any", url).identity == f"{url} any"


def test_a_key_that_no_header_can_carry_is_told():
    with pytest.raises(errors.AuthError, match="characters") as raised:
        OpenAIChat("any", api_key="sk-ключ-secret")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://u:pw@x/v1", "http://x/v1?key=pw"]
)
def test_an_address_that_cannot_work_is_a_usage_error_without_secrets(url):
    with pytest.raises(errors.UsageError) as raised:
        endpoint(url)
    assert "pw" not in str(raised.value)


def test_an_address_may_end_in_the_endpoint():
    assert endpoint("http://x/v1/chat/completions/") == endpoint("http://x/v1/") == "http://x/v1"


async def test_extra_parameters_are_sent_and_are_part_of_the_identity():
    _, server, chat = await asked(["x"], extra={"seed": 7, "reasoning_effort": "low"})
    assert server.requests[0]["seed"] == 7
    assert chat.identity.endswith('tiny {"reasoning_effort": "low", "seed": 7}')


def openai_client(server: ModelServer, **settings):
    import openai

    return openai.AsyncOpenAI(base_url=server.url, api_key=KEY, **settings)


async def test_a_client_of_the_openai_package_is_used_with_its_settings():
    with ModelServer([failing(503), failing(429), "hello"]) as server:
        async with openai_client(server, default_headers={"X-Team": "blue"}) as client:
            chat = OpenAIChat("tiny", client=client, backoff=0.01)
            assert (await chat(request_of())).text == "hello"
            assert chat.retries == 2 and chat.identity == f"{server.url} tiny"
        assert {call.headers["x-team"] for call in server.calls} == {"blue"}
        assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("canned", "kind", "calls"),
    [
        (failing(401, f"bad {KEY}"), errors.AuthError, 1),
        (failing(404), errors.RequestError, 1),
        (failing(429), errors.RateLimitError, 2),
        (failing(500), errors.ServerError, 2),
        (Canned(fault="reset"), errors.ConnectError, 2),
        (Canned("x", fault="half"), errors.ConnectError, 2),
        (Canned(fault="hang"), errors.ModelTimeoutError, 2),
        (Canned("x" * 100, fault="drip"), errors.ModelTimeoutError, 2),
        (Canned(body="<html>"), errors.ServerError, 2),
        (Canned("x", finish_reason="length"), errors.LengthError, 1),
    ],
)
async def test_a_clients_errors_become_ours(canned, kind, calls):
    with ModelServer(lambda _: canned) as server:
        async with openai_client(server, timeout=0.4, max_retries=1) as client:
            with pytest.raises(kind) as raised:
                await OpenAIChat("tiny", client=client, backoff=0.01)(request_of())
        assert len(server.calls) == calls
        assert KEY not in f"{raised.value} {raised.value.raw}"


async def test_an_azure_client_reaches_its_deployment():
    import openai

    with ModelServer(["hello"]) as server:
        endpoint_url = server.url.removesuffix("/v1")
        async with openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint_url, api_key=KEY, api_version="2024-10-21"
        ) as client:
            assert (await OpenAIChat("gpt-x", client=client)(request_of())).text == "hello"
        assert server.calls[0].path == "/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21"
        assert server.calls[0].headers["api-key"] == KEY


def test_a_client_that_is_not_async_is_refused():
    import openai

    with pytest.raises(errors.UsageError):
        OpenAIChat("tiny", client=openai.OpenAI(api_key=KEY))


def test_a_chat_works_in_one_event_loop_after_another():
    with ModelServer(lambda _: "hello") as server:
        chat = chat_of(server)
        for _ in range(2):
            assert asyncio.run(chat(request_of())).text == "hello"


def test_importing_the_door_imports_no_client():
    code = "import sys, generation.llm; print([m for m in ('aiohttp', 'openai', 'json_repair') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


READABLE = {
    '{"a": 1}': {"a": 1},
    ' \n{"a": 1}\n': {"a": 1},
    '\ufeff{"a": 1}': {"a": 1},
    '```json\n{"a": 1}\n```': {"a": 1},
    'Here it is:\n\n```\n{"a": 1}\n```\nI hope it helps {really}.': {"a": 1},
    'Sure! {"a": 1} I hope it helps.': {"a": 1},
    'As sentence [1] says: {"a": [1]}': {"a": [1]},
    '{"a": 1, "b": [1, 2,],}': {"a": 1, "b": [1, 2]},
    "{'a': 'x', 'b': True, 'c': None}": {"a": "x", "b": True, "c": None},
    "{'a': 'the Act\\'s scope'}": {"a": "the Act's scope"},
    '<think>Perhaps {"a": 2}?</think>{"a": 1}': {"a": 1},
    'Perhaps {"a": 2}?\n</think>\n\n```json\n{"a": 1}\n```': {"a": 1},
    '{"a": "a </think> in a string"}': {"a": "a </think> in a string"},
    '{"a": "```json\\n{}\\n```"}': {"a": "```json\n{}\n```"},
    '{"a": 1}\n{"a": 1}': {"a": 1},
    '{"a": "two\nlines"}': {"a": "two\nlines"},
    "[1, 2]": [1, 2],
    "true": True,
}

UNREADABLE = [
    "",
    "I cannot answer that.",
    "<think>Let me see",
    '{"a": "What did the',
    '{"a": 1',
    '{"a": "x}',
    '{"a": "x {b} y',
    '{"a": 1, "b": [{"c": 1}, {"d": 2',
    '{"a": 1, "b": [{"c": 1},',
    '{"a": [1, 2}',
    '{"is_quality": true} or rather {"is_quality": false}',
    '{"is_quality": true,}\n{"is_quality": false,}',
    '{"is_quality": true, "is_quality": false}',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": "\\ud83d"}',
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"a": ' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("text", READABLE)
def test_json_is_read_through_its_wrapping(text):
    assert read_json(text) == READABLE[text]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: text[:30])
def test_json_that_is_unclear_or_breaks_off_is_refused(text):
    with pytest.raises(ValueError):
        read_json(text)


def read_verdict(text: str) -> bool:
    value = read_json(text)
    if not isinstance(value, dict) or not isinstance(value.get("is_quality"), bool):
        raise ValueError('"is_quality" must be true or false')
    return value["is_quality"]


async def test_an_unreadable_answer_is_asked_again_quoting_the_error():
    with ModelServer(['{"is_quality": "yes"}', '{"is_quality": true}']) as server:
        async with chat_of(server) as chat:
            answer = await ask(chat, json_request(), read_verdict)
        assert isinstance(answer, Answer) and answer.value is True and len(answer.replies) == 2
        messages = server.requests[1]["messages"]
        assert [m["role"] for m in messages] == ["user", "assistant", "user"]
        assert messages[1]["content"] == '{"is_quality": "yes"}'
        assert '"is_quality" must be true or false' in messages[2]["content"]


async def test_re_asks_end_after_two_in_an_error_with_the_raw_text():
    with ModelServer(lambda _: "perhaps") as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.ReplyError) as raised:
                await ask(chat, json_request(role="reviewers/x"), read_verdict)
        assert len(server.calls) == 3
        assert raised.value.raw == "perhaps" and "reviewers/x" in str(raised.value)
        assert len(server.requests[2]["messages"]) == 3, "only the last answer is quoted"


async def test_an_empty_answer_is_asked_again_without_quoting_nothing():
    with ModelServer(["", '{"is_quality": false}']) as server:
        async with chat_of(server) as chat:
            scoped = Scoped(chat, "a/0")
            answer = await ask(scoped, json_request(role="r"), read_verdict)
        assert answer.value is False and len(answer.replies) == 2
        assert server.requests[0]["messages"] == server.requests[1]["messages"]
        assert scoped.usage["r"].calls == 2


async def test_a_refusal_is_not_asked_again():
    with ModelServer([Canned(message={"refusal": "No."}), "{}"]) as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.RefusalError):
                await ask(chat, json_request(), read_verdict)
        assert len(server.calls) == 1


class Recorder:
    """A chat that keeps its requests."""

    identity = "recorder"

    def __init__(self):
        self.seen: list[Request] = []

    async def __call__(self, request: Request) -> Reply:
        self.seen.append(request)
        return Reply("x", Usage(1, 10, 0, 2))


async def test_a_scope_numbers_equal_requests_and_only_those():
    recorder = Recorder()
    scoped = Scoped(recorder, "a/0", order=9)
    for text in ("one", "two", "one", "one"):
        await scoped(request_of(text))
    await Scoped(recorder, "b/0")(request_of("one"))
    assert [r.asking for r in recorder.seen] == [0, 0, 1, 2, 0]
    assert [r.scope for r in recorder.seen] == ["a/0"] * 4 + ["b/0"]


async def test_a_scope_puts_young_sections_and_generators_first():
    recorder = Recorder()
    scoped = Scoped(recorder, "a/0", order=9, cohort=3)
    for role in ("generator", "reviewers/x", "generator", "reviewers/x"):
        await scoped(request_of(role=role))
    assert [r.priority for r in recorder.seen] == [(3, 1, 0, 9), (3, 1, 1, 9), (3, 2, 0, 9), (3, 2, 1, 9)]
    assert scoped.usage == {"generator": Usage(2, 20, 0, 4), "reviewers/x": Usage(2, 20, 0, 4)}


async def test_unusable_replies_are_counted_since_they_were_paid():
    with ModelServer([Canned("{", finish_reason="length")]) as server:
        async with chat_of(server) as chat:
            scoped = Scoped(chat, "a/0")
            with pytest.raises(errors.LengthError):
                await scoped(request_of(role="generator"))
    assert scoped.usage["generator"].completion_tokens == 20


async def test_half_a_surrogate_pair_in_a_passage_does_not_stop_the_call():
    _, server, _ = await asked(["x"], request_of("caf\udce9 and \u00e9"))
    assert server.requests[0]["messages"][0]["content"] == "caf? and \u00e9"


async def test_a_body_with_nan_large_numbers_and_half_a_pair_is_read():
    body = '{"choices": [{"message": {"content": "caf\\ud83d"}, "logprobs": NaN}], "seed": 12345678901234567890123}'
    reply, _, _ = await asked([Canned(body=body)])
    assert reply.text == "caf?"

"""How JSON is asked for: in the strictest form, and with the parameters, that a server knows."""

import asyncio

import pytest

from generation import errors
from generation.llm import Reply, Request
from tests.model_server import Canned, ModelServer, failing, mode_of, refusing
from tests.test_llm import SCHEMA, asked, chat_of, json_request, request_of

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

"""Keys and addresses: found by host, shown to nobody; and chats through clients of the openai package."""

import json
import logging

import pytest

from generation import errors
from generation.client.transport import endpoint, find_key
from generation.llm import OpenAIChat
from tests.model_server import Canned, ModelServer, failing
from tests.test_llm import KEY, chat_of, request_of


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

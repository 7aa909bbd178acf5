"""Calls by programs without a browser: whatever comes in, one sentence goes out, and nothing of it into the log."""

import asyncio
import json
import re
import socket

import gradio as gr
import pytest
from gradio.routes import App
from starlette.testclient import TestClient

import app
from generation.errors import UsageError
from generation.llm import OpenAIChat
from space import addresses, calls, limits, making, rates
from space.door import COUNTS, UNUSED, Door
from space.shelf import Shelf
from tests.helpers import section_of
from tests.space_rows import ROWS

NAMES = ["search_questions", "get_question", "list_sections", "generate_pair", "check_pair", "evaluate_chunker"]


@pytest.fixture(scope="module")
def demo():
    return app.build_demo(Shelf(ROWS))


@pytest.fixture(scope="module")
def page(demo):
    """The page's server without its port."""
    server = App.create_app(demo, app_kwargs={"exception_handlers": calls.HANDLERS})
    with TestClient(server, raise_server_exceptions=False) as client:
        yield client


def endpoints(demo):
    return {fn.api_name: fn for fn in demo.fns.values() if fn.api_name in NAMES}


def values(demo, name, given):
    """All values that the endpoint takes, in order, those given in place of the defaults."""
    defaults = {"id": "", "name": "", "sentences": ["One.", "Two."], "question": "", "answer": "", "required": []}
    info = demo.get_api_info()["named_endpoints"][f"/{name}"]["parameters"]
    names = [parameter["parameter_name"] for parameter in info]
    assert set(given) <= set(names)
    return [
        given.get(n, p["parameter_default"] if p["parameter_has_default"] else defaults.get(n, ""))
        for n, p in zip(names, info, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("search_questions", {"text": 5}, "`text` must be a text"),
        ("search_questions", {"text": None}, "`text` must be a text"),
        ("search_questions", {"required_sentences": "2"}, "`required_sentences` must be a whole number"),
        ("search_questions", {"min_distance": True}, "`min_distance` must be a whole number"),
        ("search_questions", {"min_distance": -1}, "counts sentences from 0"),
        ("search_questions", {"required_sentences": 7}, "No row has required_sentences 7: give one of 2, 3"),
        ("search_questions", {"kind": "verbal"}, "No row has kind 'verbal'"),
        ("search_questions", {"article": "x" * 999}, "No row has article 'x{60}…': give a title"),
        ("search_questions", {"text": "word " * 1000}, "300 characters at most"),
        ("get_question", {"id": ["x"]}, "`id` must be a text"),
        ("list_sections", {"text": {"a": 1}}, "`text` must be a text"),
        ("generate_pair", {"section": 0.5}, "`section` must be a whole number"),
        ("generate_pair", {"section": float("inf")}, "`section` must be a whole number"),
        ("generate_pair", {"section": 7, "sentences": ["A ship."]}, "needs 3"),
        ("generate_pair", {"unsure": "no"}, "`unsure` must be true or false"),
        ("generate_pair", {"sentences": "One. Two."}, "`sentences` must be a list of texts, or null"),
        ("check_pair", {"sentences": [1, 2]}, "`sentences` must be a list of texts"),
        ("check_pair", {"sentences": ["", "b"]}, "a sentence is empty"),
        ("check_pair", {"required": [0, 1.0]}, "`required` must be a list of whole numbers"),
        ("check_pair", {"coreferences": [[]]}, "`coreferences` must be a list of objects"),
        ("evaluate_chunker", {"name": 7}, "`name` must be a text"),
    ],
)
async def test_a_value_of_another_kind_or_out_of_range_is_one_sentence(demo, name, given, message):
    with pytest.raises(gr.Error, match=message) as refused:
        await endpoints(demo)[name].fn(*values(demo, name, given))
    sentence = refused.value.message
    assert "\n" not in sentence and sentence.endswith(".") and "Traceback" not in sentence


def test_every_endpoint_is_guarded_and_none_is_logged_with_what_was_sent(demo):
    assert set(endpoints(demo)) == set(NAMES)
    assert all(hasattr(fn.fn, "__wrapped__") for fn in endpoints(demo).values())
    assert not calls.refusal("No.").print_exception


def test_every_argument_and_result_is_described_on_one_line_which_is_all_that_gradio_shows(demo):
    for fn in endpoints(demo).values():
        _, _, sections = fn.fn.__doc__.partition("Args:\n")
        arguments, _, results = sections.partition("\n\nReturns:\n")
        assert all(re.match(r"    \w+: .+\.$", line) for line in arguments.split("\n")), arguments
        assert "\n" not in results
    assert 'with "start" and "end"' in endpoints(demo)["check_pair"].fn.__doc__


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (["text", 0, "https://host", "model", "key-canary"], "takes 7 values and was given 5"),
        ([{"path": "http://192.0.2.1/huge", "meta": {"_type": "gradio.FileData"}}, *[""] * 6], "No files"),
        ([[[{"path": "/etc/passwd", "meta": 5}]], *[""] * 6], "No files"),
        (["\ud800 key-canary", *[""] * 6], "half of a character"),
        ([json.loads("[" * 50 + "]" * 50), *[""] * 6], "lists within lists"),
    ],
)
async def test_what_gradio_would_fetch_log_or_choke_on_is_refused(demo, sent, message):
    with pytest.raises(gr.Error, match=message) as refused:
        await demo.preprocess_data(endpoints(demo)["generate_pair"], sent, None)
    assert "canary" not in refused.value.message and not refused.value.print_exception


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "nothing", "", 404),
        ("PUT", "gradio_api/call/check_pair", "{}", 405),
        ("POST", "gradio_api/call/check_pair", "{", 422),
        ("POST", "gradio_api/call/check_pair", "[]", 422),
        ("POST", "gradio_api/call/check_pair", '{"data": 5}', 422),
        ("POST", "gradio_api/call/check_pair", '{"data": ' + "[" * 100_000 + "]" * 100_000 + "}", 400),
        ("POST", "gradio_api/call/nothing", '{"data": []}', 404),
        ("POST", "gradio_api/call/v2/nothing", "{}", 404),
        ("POST", "gradio_api/call/v2/get_question", "{}", 422),
        ("POST", "gradio_api/call/v2/get_question", '{"idd": "x"}', 422),
        ("POST", "gradio_api/queue/join", '{"data": []}', 400),
        ("POST", "gradio_api/queue/join", '{"data": [], "fn_index": 99999, "session_hash": "x"}', 404),
        ("POST", "gradio_api/cancel", "{}", 422),
    ],
)
def test_a_wrong_path_method_or_body_is_answered_in_a_sentence(page, method, path, body, status):
    answer = page.request(method, f"/{path}", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    told = answer.json()["detail"]
    assert isinstance(told, str) and "\n" not in told and "/" not in told.replace("`", "")


def test_what_breaks_inside_is_told_without_a_path(page, monkeypatch):
    monkeypatch.setattr(App, "get_blocks", lambda self: 1 / 0)
    answer = page.post("/gradio_api/call/get_question", json={"data": ["x"]})
    assert answer.status_code == 500 and answer.json() == {
        "detail": "Something broke on the server's side: try again in a minute."
    }


async def test_the_list_is_asked_for_in_one_way_so_that_the_last_asking_wins(demo):
    (show,) = (fn for fn in demo.fns.values() if fn.name == "show")
    assert show.trigger_mode == "always_last"
    assert {event for _, event in show.targets} == {"change", "input", "submit"}


# the door


class Seen:
    """The headers that get through the door."""

    headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope, receive, send):
        self.headers = scope["headers"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("path", UNUSED)
def test_what_the_page_has_no_use_for_is_closed(path):
    inside = Seen()
    client = TestClient(Door(inside))
    assert client.post(f"{path}x").status_code == 404 and not inside.headers
    assert client.get("/").status_code == client.get(COUNTS).status_code == 200


def test_whoever_asks_through_mcp_is_counted_at_the_address_that_they_come_from():
    inside = Seen()
    client = TestClient(Door(inside), client=("203.0.113.9", 1))
    client.post("/gradio_api/mcp/", headers={"X-Forwarded-For": "127.0.0.1"})
    assert (b"x-forwarded-for", b"127.0.0.1, 203.0.113.9") in inside.headers
    client.post("/gradio_api/queue/join")
    assert not [value for name, value in inside.headers if name == b"x-forwarded-for"]


class Asked:
    """A request as a Space gets it."""

    def __init__(self, host, forwarded=""):
        self.client = type("Client", (), {"host": host})
        self.headers = {"x-forwarded-for": forwarded} if forwarded else {}


@pytest.mark.parametrize(
    ("request_", "address"),
    [
        (Asked("10.1.1.1", "1.1.1.1"), "1.1.1.1"),
        (Asked("10.1.1.1", "8.8.8.8, 1.1.1.1"), "1.1.1.1"),  # the first is what the visitor claims
        (Asked("10.1.1.1", "1.1.1.1, 10.2.2.2"), "1.1.1.1"),
        (Asked("127.0.0.1", "1.1.1.1, 10.2.2.2, 127.0.0.1"), "1.1.1.1"),
        (Asked("10.1.1.1", "nonsense"), "10.1.1.1"),
        (Asked("10.1.1.1"), "10.1.1.1"),
    ],
)
def test_on_a_space_each_visitor_is_counted_alone(monkeypatch, request_, address):
    assert rates.visitor(request_) == request_.client.host  # elsewhere a header proves nothing
    monkeypatch.setenv("SPACE_ID", "someone/CRaQAn")
    assert rates.visitor(request_) == address


# the address that was checked is the one that is connected to


async def asked_of_a_name(monkeypatch, *public: str) -> tuple[list[object], BaseException | str]:
    """Of a name that is `public` when it is first looked up, and then this machine: connections made, and what came."""
    made: list[object] = []

    async def connected(reader, writer):
        made.append(writer)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    turns = iter(public)

    async def found(loop, host, to, **more):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(turns, "127.0.0.1"), to or 0))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found)
    maker = await making.of_visitor(f"https://rebind.example:{port}/v1", "model", "key")
    maker.chat.retries = 0
    try:
        outcome = [story async for story in making.watch(section_of(), maker)][-1].outcome
        return made, outcome.error
    except UsageError as error:
        return made, error
    finally:
        await maker.chat.aclose()
        server.close()


async def test_a_name_that_turns_private_after_the_check_is_not_connected_to(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/CRaQAn")
    made, error = await asked_of_a_name(monkeypatch, "93.184.216.34")
    assert not made and isinstance(error, UsageError) and "rebind.example is a private address" in str(error)


async def test_the_same_name_is_connected_to_where_nobody_else_is_served(monkeypatch):
    made, error = await asked_of_a_name(monkeypatch)
    assert made and not isinstance(error, UsageError)


async def test_a_page_that_serves_other_machines_calls_no_private_address_either(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    for url in ("https://192.168.0.1/v1", "http://127.0.0.1:8000/v1"):
        with pytest.raises(UsageError, match="private address|start with https"):
            await limits.check_endpoint(url, "model", "key")


def test_where_a_proxy_would_do_the_calling_a_strangers_server_is_not_called(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="called by a proxy"):
        OpenAIChat("model", "https://models.example/v1", "key", admit=addresses.admit)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::a9fe:a9fe"]
    + ["::7f00:1", "2001:0:7f00:1::1", "224.0.0.1", "ff02::1"],
)
def test_no_form_of_a_private_address_is_admitted(address):
    with pytest.raises(UsageError, match="host is a private address"):
        addresses.admit("host", ["1.1.1.1", address])


def test_public_addresses_of_both_kinds_are_admitted():
    addresses.admit("host", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])

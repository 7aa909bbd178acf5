"""The journal: nothing is paid twice, nothing stored is lost, and no file of others is touched."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from generation import errors
from generation.client.calls import key_of
from generation.journal import Journal, Journaled
from generation.llm import OpenAIChat, Reply, Request, ask, read_json
from generation.records import Usage
from tests.model_server import Canned, ModelServer, failing

LONG = "You are a REVIEWER. " * 50
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def request_of(text: str = "Hi.", **fields) -> Request:
    return Request(({"role": "system", "content": LONG}, {"role": "user", "content": text}), **fields)


class Counting:
    """A chat that answers at once, and counts."""

    identity = "http://x/v1 tiny"

    def __init__(self, answer=lambda request, n: Reply(f"answer {n}", Usage(1, 5, 1, 2))):
        self.answer = answer
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(0)
        result = self.answer(request, len(self.asked))
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "journal.sqlite"


async def test_a_stored_call_is_not_made_again_by_the_next_run(path):
    chat = Counting()
    for _ in range(2):
        with Journal(path) as journal:
            reply = await Journaled(chat, journal)(request_of())
    assert len(chat.asked) == 1
    assert reply == Reply("answer 1", Usage(1, 5, 1, 2)) and reply.stored


async def test_the_servers_raw_answer_is_kept_and_read_anew(path):
    with ModelServer(["hello"]) as server, Journal(path) as journal:
        async with OpenAIChat("tiny", server.url) as chat:
            first = await Journaled(chat, journal)(request_of())
            again = await Journaled(chat, journal)(request_of())
        assert len(server.calls) == 1
    assert again == first and again.raw == first.raw
    assert json.loads(again.raw)["choices"][0]["message"]["content"] == "hello"


@pytest.mark.parametrize(
    ("change", "hits"),
    [
        ({"role": "other", "scope": "b/1", "priority": (9,)}, True),
        ({"temperature": 0.1}, False),
        ({"max_tokens": 7}, False),
        ({"schema": SCHEMA}, False),
        ({"asking": 1}, False),
        ({"messages": ({"role": "user", "content": "Hi."},)}, False),
        ({"messages": ({"role": "system", "content": LONG + "."}, {"role": "user", "content": "Hi."})}, False),
        ({"messages": ({"role": "system", "content": LONG}, {"role": "assistant", "content": "Hi."})}, False),
    ],
)
def test_the_key_is_all_that_is_sent_and_nothing_else(change, hits):
    request = request_of(role="generator", scope="a/0", priority=(1,))
    assert (key_of("x y", request) == key_of("x y", replace(request, **change))) is hits


def test_another_endpoint_or_model_misses():
    assert key_of("x y", request_of()) != key_of("x z", request_of())


def test_equal_schemas_and_whole_temperatures_make_equal_keys():
    copy = json.loads(json.dumps(dict(reversed(SCHEMA.items()))))
    assert key_of("x", request_of(schema=SCHEMA)) == key_of("x", request_of(schema=copy))
    assert key_of("x", request_of(temperature=1)) == key_of("x", request_of(temperature=1.0))


async def test_a_changed_time_out_hits(path):
    with ModelServer(["hello"]) as server, Journal(path) as journal:
        for timeout in (5.0, 50.0):
            async with OpenAIChat("tiny", server.url, timeout=timeout) as chat:
                assert (await Journaled(chat, journal)(request_of())).text == "hello"
        assert len(server.calls) == 1


async def test_equal_requests_at_the_same_time_are_asked_once(path):
    chat = Counting()
    with Journal(path) as journal:
        journaled = Journaled(chat, journal)
        replies = await asyncio.gather(*(journaled(request_of()) for _ in range(10)))
    assert len(chat.asked) == 1 and {r.text for r in replies} == {"answer 1"}


async def test_if_the_first_of_equal_requests_fails_the_next_asks_itself(path):
    chat = Counting(lambda request, n: errors.ConnectError("gone") if n == 1 else Reply("x"))
    with Journal(path) as journal:
        journaled = Journaled(chat, journal)
        results = await asyncio.gather(*(journaled(request_of()) for _ in range(3)), return_exceptions=True)
    assert len(chat.asked) == 2
    assert [type(r) for r in results] == [errors.ConnectError, Reply, Reply]


async def test_if_the_first_of_equal_requests_is_cancelled_the_next_asks_itself(path):
    chat = Counting()
    with Journal(path) as journal:
        journaled = Journaled(chat, journal)
        first, second = (asyncio.create_task(journaled(request_of())) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).text == "answer 2"


@pytest.mark.parametrize(
    ("canned", "kind"),
    [
        (Canned("{", finish_reason="length"), errors.LengthError),
        (Canned("x", finish_reason="content_filter"), errors.ContentFilterError),
        (Canned("", message={"refusal": "No."}), errors.RefusalError),
        (Canned(""), errors.ReplyError),
    ],
)
async def test_a_paid_but_useless_reply_is_not_paid_again(path, canned, kind):
    with ModelServer([canned]) as server, Journal(path) as journal:
        async with OpenAIChat("tiny", server.url) as chat:
            for _ in range(2):
                with pytest.raises(kind) as raised:
                    await Journaled(chat, journal)(request_of())
                assert raised.value.reply.usage.prompt_tokens == 100
        assert len(server.calls) == 1
        assert [call.status for call in journal.calls()] == [kind.__name__]


async def test_a_failure_without_an_answer_is_noted_and_asked_again(path):
    with ModelServer([failing(500), "hello"]) as server, Journal(path) as journal:
        async with OpenAIChat("tiny", server.url, retries=0) as chat:
            with pytest.raises(errors.ServerError):
                await Journaled(chat, journal)(request_of())
            assert [(call.status, call.reply) for call in journal.calls()] == [("ServerError", None)]
            assert (await Journaled(chat, journal)(request_of())).text == "hello"
        assert [call.status for call in journal.calls()] == ["ok"]


async def test_a_changed_reader_costs_nothing(path):
    with ModelServer(['{"a": "1"}', '{"a": 1}']) as server, Journal(path) as journal:
        async with OpenAIChat("tiny", server.url) as chat:
            journaled = Journaled(chat, journal)
            await ask(journaled, request_of(schema=SCHEMA), lambda text: int(read_json(text)["a"]))
            with pytest.raises(errors.ReplyError):
                await ask(journaled, request_of(schema=SCHEMA), lambda text: int(text), reasks=0)
        assert len(server.calls) == 1


async def test_the_journal_tells_all_that_was_asked_and_answered(path):
    request = request_of(
        "Caf\u00e9?", temperature=0.3, schema=SCHEMA, max_tokens=9, role="generator", scope="a/0", asking=2
    )
    started = time.time()
    with ModelServer([Canned("hello", delay=0.1)]) as server, Journal(path) as journal:
        async with OpenAIChat("tiny", server.url) as chat:
            await Journaled(chat, journal)(request)
    with Journal(path, create=False) as journal:
        (call,) = journal.calls()
        assert journal.paid() == {f"{server.url} tiny": Usage(1, 100, 40, 20)}
    assert call.request == request and call.identity == f"{server.url} tiny" and call.status == "ok"
    assert call.reply is not None and call.reply.text == "hello"
    assert call.usage == Usage(1, 100, 40, 20)
    assert 0.1 <= call.seconds < 60 and started - 0.01 <= call.asked_at < started + 60


async def test_long_texts_are_stored_once(path):
    with Journal(path) as journal:
        journaled = Journaled(Counting(), journal)
        for number in range(200):
            await journaled(request_of(f"Number {number}."))
    assert path.stat().st_size < 200 * len(LONG)
    assert path.read_bytes().count(LONG.encode()) == 1


async def test_odd_characters_are_kept(path):
    odd = "\x00 \ud83d \U0001f600 \u2028 '\"\\ " + "x" * 300
    chat = Counting(lambda request, n: Reply(odd))
    with Journal(path) as journal:
        journaled = Journaled(chat, journal)
        await journaled(request_of(odd, scope="caf\udce9"))
        await journaled(request_of(odd.replace("\ud83d", "\ud83e")))
        assert len(chat.asked) == 2, "texts that differ in half a pair are different requests"
        (first, _) = journal.calls()
        assert first.request.messages[1]["content"] == odd.replace("\ud83d", "?")


async def test_a_key_that_a_server_echoes_is_not_in_the_file(path):
    secret = "sk-very-secret-0123456789"
    with ModelServer([f"your key is {secret}"]) as server:
        async with OpenAIChat("tiny", server.url, api_key=secret) as chat:
            with Journal(path) as journal:
                await Journaled(chat, journal)(request_of())
                files = [p.read_bytes() for p in path.parent.iterdir()]
    assert files and not any(secret.encode() in content for content in files)


async def test_replies_that_come_together_are_committed_together(path, monkeypatch):
    with Journal(path) as journal:
        commits: list[int] = []
        commit = journal._commit

        def counted() -> None:
            commits.append(len(journal._waiting))
            commit()

        monkeypatch.setattr(journal, "_commit", counted)
        journaled = Journaled(Counting(), journal)
        await asyncio.gather(*(journaled(request_of(str(n))) for n in range(100)))
    assert commits[0] == 100

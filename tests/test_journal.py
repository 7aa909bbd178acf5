"""The journal: nothing is paid twice, nothing stored is lost, and no file of others is touched."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from generation import errors
from generation.journal import Journal, Journaled
from generation.llm import OpenAIChat, Reply, Request, ask, read_json
from generation.records import Usage
from generation.running.calls import Asked, key_of
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
    assert 0.1 <= call.seconds < 5 and started - 0.01 <= call.asked_at < started + 5


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


def journal_of(path: Path, texts=("one", "two", "three")) -> None:
    async def fill() -> None:
        with Journal(path) as journal:
            for text in texts:
                await Journaled(Counting(), journal)(request_of(text))

    asyncio.run(fill())


def foreign_text(path: Path) -> None:
    path.write_text("Dear diary, " * 100)


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE diary (day TEXT)")


def foreign_application(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA application_id = 7")


def newer(path: Path) -> None:
    journal_of(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")


def truncated(path: Path) -> None:
    journal_of(path, [str(n) for n in range(200)])
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path: Path) -> None:
    journal_of(path, [str(n) for n in range(200)])
    data = bytearray(path.read_bytes())
    data[4096 : len(data)] = random.Random(1).randbytes(len(data) - 4096)
    path.write_bytes(data)


@pytest.mark.parametrize("made", [foreign_text, foreign_database, foreign_application, newer, truncated, overwritten])
def test_a_damaged_or_foreign_file_is_told_and_left_as_it_is(path, made):
    path.parent.mkdir()
    made(path)
    before = path.read_bytes()
    with pytest.raises(errors.JournalError, match="journal.sqlite"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_folder_in_its_place_is_told(path):
    path.parent.mkdir()
    path.mkdir()
    with pytest.raises(errors.JournalError):
        Journal(path)


def test_a_parent_that_is_a_file_is_told(path):
    path.parent.write_text("")
    with pytest.raises(errors.JournalError):
        Journal(path)


def test_reading_does_not_make_a_journal(path):
    with pytest.raises(errors.JournalError, match="does not exist"):
        Journal(path, create=False)
    assert not path.exists()


def test_one_flipped_character_in_a_reply_is_told_not_used(path):
    journal_of(path)
    path.write_bytes(path.read_bytes().replace(b"answer 1", b"answer 9"))
    with Journal(path) as journal, pytest.raises(errors.JournalError, match="differs"):
        asyncio.run(Journaled(Counting(), journal)(request_of("one")))


async def test_a_full_disk_ends_the_run_with_a_clear_error_and_keeps_what_was_stored(path):
    with Journal(path) as journal:
        journaled = Journaled(Counting(), journal)
        await journaled(request_of("before"))
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count = {pages + 12}")
        with pytest.raises(errors.JournalError, match="No room left"):
            await asyncio.gather(*(journaled(request_of(str(n) * 3000)) for n in range(20)))
        journal._db.execute("PRAGMA max_page_count = 1000000")
        await journaled(request_of("1" * 3000))
        assert [call.request.messages[1]["content"][0] for call in journal.calls()] == ["b", "1"]
    chat = Counting()
    with Journal(path) as journal:
        await Journaled(chat, journal)(request_of("before"))
        await Journaled(chat, journal)(request_of("0" * 3000))
    assert [r.messages[1]["content"][:6] for r in chat.asked] == ["000000"]


async def test_two_journals_on_one_file_give_the_reply_that_was_stored_first(path):
    with Journal(path) as one, Journal(path) as two:
        asked = Asked.of("x y", request_of())
        assert await one.keep(asked, Reply("first"), "ok") == Reply("first")
        assert await two.keep(asked, Reply("second"), "ok") == Reply("first")
        assert await two.keep(asked, None, "ConnectError") == Reply("first")
        assert [call.status for call in one.calls()] == ["ok"]


async def test_a_store_waits_for_another_writer_and_a_look_does_not(path):
    with Journal(path) as journal:
        journaled = Journaled(Counting(), journal)
        await journaled(request_of("one"))
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN EXCLUSIVE")
        assert (await journaled(request_of("one"))).stored
        release = threading.Timer(0.3, other.execute, ["COMMIT"])
        release.start()
        await journaled(request_of("two"))
        release.join()
        other.close()
        assert len(list(journal.calls())) == 2


WRITER = textwrap.dedent("""
    import asyncio, sys
    from generation.journal import Journal, Journaled
    from generation.llm import Reply, Request

    class Chat:
        identity = "x y"
        async def __call__(self, request):
            await asyncio.sleep(0.001)
            return Reply("answer to " + request.messages[0]["content"])

    async def main():
        with Journal(sys.argv[1]) as journal:
            chat = Journaled(Chat(), journal)
            for start in range(0, 400, 20):
                texts = [str(n) for n in range(start, start + 20)]
                replies = await asyncio.gather(*(chat(Request(({"role": "user", "content": t},))) for t in texts))
                assert [r.text for r in replies] == ["answer to " + t for t in texts]

    asyncio.run(main())
""")


def test_processes_that_make_and_fill_one_journal_at_once_do_not_harm_it(path):
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [(w.communicate()[1], w.returncode) for w in writers] == [("", 0)] * 3
    with Journal(path) as journal:
        assert len(list(journal.calls())) == 400


RUNNER = textwrap.dedent("""
    import asyncio, sys
    from generation.journal import Journal, Journaled
    from generation.llm import OpenAIChat, Request

    async def main():
        async with OpenAIChat("tiny", sys.argv[2]) as server:
            with Journal(sys.argv[1]) as journal:
                chat = Journaled(server, journal)
                room = asyncio.Semaphore(16)

                async def one(n):
                    async with room:
                        return await chat(Request(({"role": "user", "content": f"Number {n}."},)))

                replies = await asyncio.gather(*(one(n) for n in range(300)))
        print([r.text for r in replies] == [f"Number {n}." for n in range(300)])

    asyncio.run(main())
""")


def test_after_kill_9_at_random_moments_no_stored_call_is_made_again(path):
    def echo(request):
        return Canned(request["messages"][0]["content"], delay=0.01)

    with ModelServer(echo) as server:
        command = [sys.executable, "-c", RUNNER, str(path), server.url]
        for seed in range(4):
            process = subprocess.Popen(command)
            reach = len(server.calls) + random.Random(seed).randint(5, 70)
            while len(server.calls) < reach and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.wait()
            with Journal(path) as journal:
                stored = {call.request.messages[0]["content"] for call in journal.calls()}
            time.sleep(0.1)
            before = len(server.calls)
        assert 0 < len(stored) < 300
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
        asked_last = [request["messages"][0]["content"] for request in server.requests[before:]]
    assert not stored & set(asked_last)
    assert len(asked_last) == 300 - len(stored)


async def test_storing_is_no_bottleneck(path):
    with Journal(path) as journal:
        journaled = Journaled(Counting(), journal)
        started = time.process_time()
        for start in range(0, 2000, 100):
            await asyncio.gather(*(journaled(request_of(str(n))) for n in range(start, start + 100)))
        assert (time.process_time() - started) / 2000 < 0.001

"""The journal as a file: damaged, of others, on a full disk, and with several processes at it."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from generation import errors
from generation.client.calls import Asked
from generation.journal import Journal, Journaled
from generation.llm import Reply
from tests.model_server import Canned, ModelServer
from tests.test_journal import Counting, request_of
from tests.test_journal import path as path


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


@pytest.fixture
def other(path):
    """Another program's connection to the journal, which has begun to write."""
    Journal(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    yield other
    other.close()


async def test_a_store_waits_for_another_writer_and_neither_a_look_nor_the_loop_does(path, other):
    with Journal(path) as journal:
        other.execute("COMMIT")
        journaled = Journaled(Counting(), journal)
        await journaled(request_of("one"))
        other.execute("BEGIN EXCLUSIVE")
        assert (await journaled(request_of("one"))).stored
        stores = [asyncio.create_task(journaled(request_of(text))) for text in ("two", "three")]
        await asyncio.sleep(0.2)
        assert not any(store.done() for store in stores)
        other.execute("COMMIT")
        await asyncio.gather(*stores)
        assert len(list(journal.calls())) == 3


async def test_another_writer_that_does_not_end_is_told(path, other, monkeypatch):
    monkeypatch.setattr("generation.journal.BUSY_S", 0.1)
    with Journal(path) as journal:
        asked = [Asked.of("x y", request_of(text)) for text in ("one", "two")]
        with pytest.raises(errors.JournalError, match="held by another process"):
            await journal.keep(asked[0], Reply("lost"), "ok")
        other.execute("COMMIT")
        assert await journal.keep(asked[1], Reply("kept"), "ok") == Reply("kept")


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

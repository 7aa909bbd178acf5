"""Journals of many workers: read by others once closed, brought together, nothing paid for lost."""

import pytest

from generation.errors import RefusalError, ServerError, UsageError
from generation.journal import Journal, Journaled
from generation.llm import Reply, Request
from generation.records import Usage
from generation.running.journals import ClosedJournal, Recalled, gather, lock_of, of_workers, settle

HELLO, OTHER = (Request(({"role": "user", "content": text},)) for text in ("Hello " * 60, "Other"))


class Counting:
    """Answers with its name, or raises; counts how often it was asked."""

    identity = "http://x/v1 m"

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    async def __call__(self, request):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(self.answer, Usage(1, 10, 0, 5))


async def kept(path, answer, *requests):
    with Journal(path) as journal:
        for request in requests:
            try:
                await Journaled(Counting(answer), journal)(request)
            except ServerError:
                continue


async def answer_of(path, request):
    with Journal(path, create=False) as journal:
        return (await Journaled(Counting("asked again"), journal)(request)).text


async def test_gathering_brings_all_calls_together_and_removes_the_rest(tmp_path):
    await kept(tmp_path / "journal-2.sqlite", "two", HELLO)
    await kept(tmp_path / "journal-10.sqlite", "ten", OTHER)
    assert [p.stem for p in of_workers(tmp_path)] == ["journal-2", "journal-10"]
    gather(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["journal.sqlite"]
    assert await answer_of(tmp_path / "journal.sqlite", HELLO) == "two"
    assert await answer_of(tmp_path / "journal.sqlite", OTHER) == "ten"


async def test_an_answer_that_is_there_stays_and_a_failure_gives_way(tmp_path):
    await kept(tmp_path / "journal.sqlite", "first", HELLO)
    await kept(tmp_path / "journal.sqlite", ServerError("down"), OTHER)
    await kept(tmp_path / "journal-1.sqlite", "second", HELLO, OTHER)
    gather(tmp_path)
    assert await answer_of(tmp_path / "journal.sqlite", HELLO) == "first"
    assert await answer_of(tmp_path / "journal.sqlite", OTHER) == "second"


async def test_what_closed_journals_hold_is_not_asked(tmp_path):
    await kept(tmp_path / "a.sqlite", "stored", HELLO)
    live = Counting("live")
    chat = Recalled(live, [ClosedJournal(tmp_path / "a.sqlite")])
    assert (await chat(HELLO)).text == "stored" and live.asked == 0
    assert (await chat(OTHER)).text == "live" and live.asked == 1


async def test_a_stored_refusal_is_raised_again(tmp_path):
    with Journal(tmp_path / "a.sqlite") as journal, pytest.raises(RefusalError):
        await Journaled(Refusing(), journal)(HELLO)
    with pytest.raises(RefusalError):
        await Recalled(Counting("live"), [ClosedJournal(tmp_path / "a.sqlite")])(HELLO)


class Refusing(Counting):
    def __init__(self):
        super().__init__("")

    async def __call__(self, request):
        return Reply("", refusal="I decline.")


async def test_a_journal_that_a_worker_still_holds_is_not_touched(tmp_path):
    path = tmp_path / "journal-1.sqlite"
    await kept(path, "one", HELLO)
    with lock_of(path), pytest.raises(UsageError, match="still writes"):
        settle(path, patience=0.1)
    assert settle(path) and not settle(tmp_path / "journal-9.sqlite")

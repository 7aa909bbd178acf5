"""A journal on a slow disk: calls that are out are not held up; what is written ahead does not grow without end."""

import asyncio
import time

import pytest

from generation import journal as journals
from generation.journal import Journal, Journaled
from generation.llm import Reply, Request
from generation.records import Usage

PAUSE = 0.2


class Talkative:
    identity = "http://x/v1 tiny"

    async def __call__(self, request):
        await asyncio.sleep(0.001)
        return Reply("x" * 2000, Usage(1, 5, 1, 2))


@pytest.fixture
def slow(monkeypatch):
    """Bringing in what is ahead takes PAUSE, and comes every fifty calls."""
    true = journals._bring_in

    def slowly(path):
        time.sleep(PAUSE)
        true(path)

    monkeypatch.setattr(journals, "_bring_in", slowly)
    monkeypatch.setattr(journals, "_AHEAD", 100_000)


async def longest_gap(work):
    """The longest time for which the event loop did nothing else while `work` ran."""
    gaps, running = [], asyncio.ensure_future(work)
    while not running.done():
        before = time.monotonic()
        await asyncio.sleep(0.005)
        gaps.append(time.monotonic() - before)
    await running
    return max(gaps)


async def ask_many(journaled, count=300, at_once=10):
    async def some(first):
        for n in range(first, count, at_once):
            await journaled(Request(({"role": "user", "content": f"{n}"},)))

    await asyncio.gather(*map(some, range(at_once)))


async def test_the_event_loop_does_not_wait_for_a_slow_disk(slow, tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        assert await longest_gap(ask_many(Journaled(Talkative(), journal))) < PAUSE * 0.75
        assert sum(call.reply is not None for call in journal.calls()) == 300


async def test_what_is_written_ahead_is_used_again(slow, tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        await ask_many(Journaled(Talkative(), journal))
        assert (tmp_path / "journal.sqlite-wal").stat().st_size < 600_000


async def test_what_waits_for_a_slow_disk_is_committed_when_the_journal_is_closed(slow, tmp_path):
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        asking = asyncio.ensure_future(ask_many(Journaled(Talkative(), journal), count=60, at_once=60))
        async with asyncio.timeout(5):
            while not journal._is_bringing_in:
                await asyncio.sleep(0.001)
        late = asyncio.ensure_future(Journaled(Talkative(), journal)(Request(({"role": "user", "content": "late"},))))
        await asyncio.sleep(0.05)
        assert not late.done()
    assert (await late).text and await asking is None
    with Journal(path, create=False) as journal:
        assert sum(1 for _ in journal.calls()) == 61

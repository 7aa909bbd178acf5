"""A recorded run, replayed: the same replies lead to the same outcomes, wherever it is cut and taken up again."""

import json
from collections import Counter
from pathlib import Path

import pytest

from generation.corpus import read
from generation.journal import Journal, Journaled
from generation.llm import Reply
from generation.panel import from_prompts
from generation.prompts import load_set
from generation.run import outcomes

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden_run.json").read_text(encoding="utf-8"))
ARTICLE = HERE.parent / "examples" / "wilderness-act.md"


class Replay:
    """Answers what was answered then, by section, role and round; dies after `lasts` calls."""

    identity = "replay"

    def __init__(self, lasts=10**6):
        self.lasts = lasts
        self.asked = Counter()

    async def __call__(self, request):
        if sum(self.asked.values()) >= self.lasts:
            raise ConnectionAbortedError("cut")
        turn = (len(request.messages) // 2) if request.role == "generator" else request_round(request)
        self.asked[request.scope, request.role, turn] += 1
        return Reply(GOLDEN["replies"][request.scope][request.role][turn - 1])


def request_round(request):
    """Which draft a reviewer is shown: drafts of one section differ in their question."""
    shown = json.loads(request.messages[-1]["content"])
    return GOLDEN["questions"][request.scope].index(shown["question"]) + 1


async def replayed(chat):
    generator, panel = from_prompts(load_set())
    found = [o async for o in outcomes(read([str(ARTICLE)]), generator, panel, chat=chat, check_level="format")]
    return [[o.section.id, o.status, len(o.rounds), o.candidate.question, list(o.problems)] for o in found]


async def test_the_recorded_run_gives_the_recorded_outcomes():
    assert await replayed(Replay()) == GOLDEN["outcomes"]


@pytest.mark.parametrize("cut", [1, 7, 20, 33])
async def test_the_run_cut_anywhere_and_resumed_asks_nothing_twice(cut, tmp_path):
    first, second = Replay(lasts=cut), Replay()
    with Journal(tmp_path / "journal.sqlite") as journal, pytest.raises(ConnectionAbortedError):
        await replayed(Journaled(first, journal))
    with Journal(tmp_path / "journal.sqlite") as journal:
        assert await replayed(Journaled(second, journal)) == GOLDEN["outcomes"]
    assert not first.asked & second.asked

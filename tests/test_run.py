"""Many sections: order, books, failures, and files that are whole or absent."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from generation.errors import AuthError, CircuitError, ForeignJournalError, InputError, ServerError, UsageError
from generation.llm import OpenAIChat
from generation.panel import from_prompts
from generation.prompts import load_set
from generation.run import Ledger, make_recipe, outcomes
from generation.running.folder import RunFolder
from tests.helpers import PASSAGE, ScriptedGenerator, ScriptedReviewer, candidate_of, section_of
from tests.model_server import ModelServer, failing
from tests.test_panel import GOOD, NO, YES

SECTIONS = [section_of(id=f"article-{i}/0") for i in range(40)]


class Slow(ScriptedGenerator):
    """Drafts after as many ticks as `ticks` says for the section's number."""

    def __init__(self, ticks):
        super().__init__(candidate_of())
        self.ticks = ticks
        self.under_way = self.peak = 0

    async def draft(self, section, rounds, chat=None):
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        for _ in range(self.ticks(int(section.article_id.split("-")[1]))):
            await asyncio.sleep(0)
        self.under_way -= 1
        return await super().draft(section, rounds, chat)


async def ended(sections, generator, panel=None, **options):
    return [o async for o in outcomes(sections, generator, panel or [ScriptedReviewer("a")], **options)]


async def test_outcomes_come_in_input_order_whatever_finishes_first():
    found = await ended(SECTIONS, Slow(lambda n: 50 - n), window=16)
    assert [o.section.id for o in found] == [s.id for s in SECTIONS]


async def test_no_more_sections_than_the_window_are_under_way():
    generator = Slow(lambda n: 5)
    await ended(SECTIONS, generator, window=4)
    assert generator.peak == 4


async def test_sections_are_read_lazily():
    taken = []

    def stream():
        for section in SECTIONS:
            taken.append(section.id)
            yield section

    running = outcomes(stream(), Slow(lambda n: 2), [ScriptedReviewer("a")], window=3)
    await anext(running)
    assert len(taken) < 10
    await running.aclose()


async def test_a_slow_section_does_not_stop_the_others():
    ledger = Ledger()
    release = asyncio.Event()

    class Stuck(ScriptedGenerator):
        async def draft(self, section, rounds, chat=None):
            if section.id == SECTIONS[0].id:
                await release.wait()
            return await super().draft(section, rounds, chat)

    task = asyncio.create_task(ended(SECTIONS, Stuck(candidate_of()), window=16, ledger=ledger))
    async with asyncio.timeout(20):
        while ledger.counts["accepted"] < len(SECTIONS) - 1:
            await asyncio.sleep(0.001)
    assert ledger.pending == 1
    release.set()
    assert len(await task) == len(SECTIONS)


async def test_submitted_is_the_sum_at_every_moment():
    ledger = Ledger()
    sums = []

    def look():
        counts = ledger.as_dict()
        sums.append(counts["submitted"] - sum(counts[k] for k in ("accepted", "rejected", "failed", "pending")))

    reviewer = ScriptedReviewer("a", lambda c: len(reviewer.asked) % 3 > 0)
    await ended(SECTIONS, ScriptedGenerator(candidate_of()), [reviewer], ledger=ledger, on_change=look)
    assert len(sums) == 2 * len(SECTIONS) and set(sums) == {0}
    assert ledger.counts["accepted"] and ledger.counts["rejected"]


async def test_a_models_failure_is_an_outcome_and_the_others_go_on():
    class Failing(ScriptedGenerator):
        async def draft(self, section, rounds, chat=None):
            if section.id == SECTIONS[1].id:
                raise ServerError("The server is down.")
            return await super().draft(section, rounds, chat)

    found = await ended(SECTIONS[:3], Failing(candidate_of()))
    assert [o.status for o in found] == ["accepted", "failed", "accepted"]
    assert found[1].error == "ServerError: The server is down."


async def test_a_wrong_key_ends_the_run():
    with ModelServer(lambda request: failing(401, "bad key")) as server:
        async with OpenAIChat("m", server.url, api_key="sk-0123456789abcdef") as chat:
            generator, panel = from_prompts(load_set())
            with pytest.raises(AuthError):
                await ended(SECTIONS, generator, panel, chat=chat)
        assert len(server.requests) < len(SECTIONS) * 5


async def test_tokens_are_counted_by_role():
    ledger = Ledger()

    def script(request):
        return GOOD if request["temperature"] == 0.7 else YES

    with ModelServer(script) as server:
        async with OpenAIChat("m", server.url) as chat:
            generator, panel = from_prompts(load_set())
            await ended(SECTIONS[:2], generator, panel, chat=chat, ledger=ledger)
    usage = ledger.as_dict()["usage"]
    assert usage["generator"]["calls"] == 2 and usage["total"]["calls"] == 10
    assert usage["total"]["prompt_tokens"] == 1000 and usage["reviewers/required_sentences"]["cached_tokens"] == 80


async def test_feedback_leads_to_a_revision_over_http():
    better = {**GOOD, "question": "What must every ferry carry under the Harbor Safety Act?"}

    def script(request):
        if request["temperature"] == 0.7:
            return better if len(request["messages"]) > 2 else GOOD
        return YES if "What must every ferry" in request["messages"][-1]["content"] else NO

    with ModelServer(script) as server:
        async with OpenAIChat("m", server.url) as chat:
            generator, panel = from_prompts(load_set())
            (outcome,) = await ended(SECTIONS[:1], generator, panel, chat=chat)
    assert outcome.status == "accepted" and len(outcome.rounds) == 2
    assert outcome.rounds[0].verdicts[1].problems == ("irrelevant_sentences",)


RECIPE = make_recipe(ScriptedGenerator(), [ScriptedReviewer("a")], "all", "rules:1", "rules:1")


async def run_into(path, sections=SECTIONS[:6], **options):
    reviewer = ScriptedReviewer("a", lambda c: len(reviewer.asked) % 2 == 0)
    with RunFolder(path, RECIPE, options.pop("settings", {}), **options) as folder:
        for outcome in await ended(sections, ScriptedGenerator(candidate_of()), [reviewer]):
            folder.add(outcome)
        folder.close({"submitted": len(sections)})


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_a_runs_files_hold_every_section_once(tmp_path):
    await run_into(tmp_path)
    rows = lines(tmp_path / "accepted.jsonl") + lines(tmp_path / "rejected.jsonl")
    assert sorted(r["section_id"] for r in rows) == sorted(s.id for s in SECTIONS[:6])
    assert lines(tmp_path / "failed.jsonl") == []
    assert not list(tmp_path.glob("*.part"))


async def test_an_accepted_line_has_the_datasets_columns_and_its_rounds(tmp_path):
    import craqan

    await run_into(tmp_path)
    row = lines(tmp_path / "accepted.jsonl")[0]
    assert set(craqan.FEATURES["default"]) <= set(row)
    assert row["rounds"][-1]["verdicts"][-1] == {"reviewer": "a", "is_quality": True, "reason": "Fine.", "problems": []}
    assert row["sentences"][2]["text"] == PASSAGE[2]


async def test_a_broken_run_leaves_no_file_that_looks_whole(tmp_path):
    with pytest.raises(RuntimeError), RunFolder(tmp_path, RECIPE) as folder:
        for outcome in await ended(SECTIONS[:1], ScriptedGenerator(candidate_of())):
            folder.add(outcome)
        raise RuntimeError
    assert not list(tmp_path.glob("*.jsonl"))
    assert json.loads((tmp_path / "run.json").read_text())["state"] == "running"


async def test_the_same_run_again_gives_the_same_files(tmp_path):
    await run_into(tmp_path)
    before = (tmp_path / "accepted.jsonl").read_bytes()
    await run_into(tmp_path)
    assert (tmp_path / "accepted.jsonl").read_bytes() == before


@pytest.mark.parametrize(("key", "value"), [("seed", 2), ("model", "other"), ("new", 1)])
async def test_a_changed_setting_is_refused_and_named(tmp_path, key, value):
    await run_into(tmp_path, settings={"seed": 1, "model": "m"})
    before = (tmp_path / "accepted.jsonl").read_bytes()
    with pytest.raises(UsageError, match=key):
        await run_into(tmp_path, settings={"seed": 1, "model": "m", key: value})
    assert (tmp_path / "accepted.jsonl").read_bytes() == before


async def test_limits_may_change_between_sessions(tmp_path):
    await run_into(tmp_path, settings={"seed": 1, "concurrency": 4, "max_usd": 1})
    await run_into(tmp_path, settings={"seed": 1, "concurrency": 64, "max_usd": 5})


async def test_a_changed_prompt_is_refused(tmp_path):
    await run_into(tmp_path)
    changed = {**RECIPE, "prompts": {"a": "0123"}}
    with pytest.raises(UsageError, match="prompt a"), RunFolder(tmp_path, changed):
        pass


async def test_resume_always_needs_a_run_and_never_throws_it_away(tmp_path):
    with pytest.raises(UsageError, match="no run"):
        await run_into(tmp_path / "new", resume="always")
    await run_into(tmp_path, settings={"seed": 1})
    (tmp_path / "journal.sqlite").write_bytes(b"old")
    await run_into(tmp_path, settings={"seed": 2}, resume="never")
    assert not (tmp_path / "journal.sqlite").exists()


async def test_a_run_that_is_thrown_away_takes_no_other_programs_file_with_it(tmp_path):
    await run_into(tmp_path)
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db:
        db.execute("CREATE TABLE diary (day TEXT)")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ForeignJournalError, match="another program"):
        await run_into(tmp_path, resume="never")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


async def test_a_run_whose_throwing_away_was_cut_off_can_be_thrown_away_again(tmp_path, monkeypatch):
    await run_into(tmp_path)
    removed, unlink = [], Path.unlink

    def cut_off(path, **options):
        removed.append(path.name)
        if len(removed) > 1:
            raise KeyboardInterrupt
        unlink(path, **options)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "unlink", cut_off)
        await run_into(tmp_path, resume="never")
    assert removed
    await run_into(tmp_path, resume="never")
    assert (tmp_path / "accepted.jsonl").exists()


async def test_two_runs_in_one_folder_at_once_are_refused(tmp_path):
    with RunFolder(tmp_path, RECIPE), pytest.raises(UsageError, match="Another run"), RunFolder(tmp_path, RECIPE):
        pass


async def test_a_foreign_run_json_is_left_alone(tmp_path):
    (tmp_path / "run.json").write_text("[1]")
    with pytest.raises(InputError), RunFolder(tmp_path, RECIPE):
        pass
    assert (tmp_path / "run.json").read_text() == "[1]"


async def test_a_stopped_run_leaves_its_sections_pending():
    class Stopped(ScriptedGenerator):
        async def draft(self, section, rounds, chat=None):
            if section.id == SECTIONS[2].id:
                raise CircuitError("Stopped: enough.")
            return await super().draft(section, rounds, chat)

    ledger = Ledger()
    found = await ended(SECTIONS[:4], Stopped(candidate_of()), ledger=ledger)
    assert [o.status for o in found] == ["accepted", "accepted", "pending", "accepted"]
    assert ledger.pending == 1


async def test_no_section_is_begun_once_the_run_is_to_stop():
    ledger = Ledger()
    await ended(SECTIONS, Slow(lambda n: 1), window=2, ledger=ledger, stop=lambda: ledger.counts["accepted"] >= 5)
    assert 5 <= ledger.submitted <= 8

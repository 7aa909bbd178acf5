"""The loop: what is accepted, what goes back, and when it ends."""

import asyncio

import pytest

from generation.errors import Abstention, ReplyError, UsageError
from generation.refine import conclude, refine
from tests.helpers import ScriptedGenerator, ScriptedReviewer, candidate_of, section_of

SECTION = section_of()
GOOD = candidate_of()
OTHER = candidate_of(question="What must every ferry carry under the Harbor Safety Act?")


async def rounds_of(generator, panel, **options):
    return [r async for r in refine(SECTION, generator, panel, **options)]


async def test_consensus_in_the_first_round_ends_the_loop():
    panel = [ScriptedReviewer("a"), ScriptedReviewer("b")]
    rounds = await rounds_of(ScriptedGenerator(GOOD, OTHER), panel)
    assert [r.accepted for r in rounds] == [True]
    assert [v.reviewer for v in rounds[0].verdicts] == ["checks", "a", "b"]


async def test_one_objection_of_many_sends_the_candidate_back():
    picky = ScriptedReviewer("picky", lambda c: c == OTHER)
    rounds = await rounds_of(ScriptedGenerator(GOOD, OTHER), [ScriptedReviewer("a"), picky])
    assert [r.accepted for r in rounds] == [False, True]


async def test_acceptance_needs_all_reviewers_on_the_same_text():
    # Each reviewer accepts one of the two texts, so no text is ever accepted by both.
    panel = [ScriptedReviewer("a", lambda c: c == GOOD), ScriptedReviewer("b", lambda c: c == OTHER)]
    rounds = await rounds_of(ScriptedGenerator(GOOD, OTHER, GOOD, OTHER, GOOD, OTHER), panel)
    assert len(rounds) == 6
    assert not any(r.accepted for r in rounds)


async def test_one_draft_and_five_revisions_are_the_most():
    generator = ScriptedGenerator(*[GOOD] * 20)
    rounds = await rounds_of(generator, [ScriptedReviewer("no", lambda c: False)])
    assert len(rounds) == len(generator.seen) == 6


async def test_the_generator_sees_every_earlier_round_with_its_verdicts():
    generator = ScriptedGenerator(GOOD, OTHER, GOOD)
    rounds = await rounds_of(generator, [ScriptedReviewer("no", lambda c: False)], max_revisions=2)
    assert generator.seen == [(), tuple(rounds[:1]), tuple(rounds[:2])]
    assert generator.seen[2][1].verdicts[-1].reason == "no objects."


async def test_a_breach_of_a_check_costs_no_reviewer():
    reviewer = ScriptedReviewer("a")
    broken = candidate_of(indices=(0, 9))
    rounds = await rounds_of(ScriptedGenerator(broken, GOOD), [reviewer])
    assert [v.reviewer for v in rounds[0].verdicts] == ["checks"]
    assert reviewer.asked == [GOOD]


async def test_without_checks_only_the_panel_decides():
    rounds = await rounds_of(ScriptedGenerator(candidate_of(indices=(0,))), [ScriptedReviewer("a")], check_level="none")
    assert rounds[0].accepted


async def test_verdicts_are_told_before_the_round_is_over():
    told = []
    generator = ScriptedGenerator(GOOD)
    async for _ in refine(
        SECTION,
        generator,
        [ScriptedReviewer("a"), ScriptedReviewer("b")],
        on_draft=lambda i, c: told.append(("draft", i)),
        on_verdict=lambda i, v: told.append((v.reviewer, i)),
    ):
        told.append("round")
    assert told == [("draft", 0), ("checks", 0), ("a", 0), ("b", 0), "round"]


async def test_an_unreadable_verdict_is_an_error_and_no_vote():
    class Broken(ScriptedReviewer):
        async def judge(self, section, candidate, chat=None):
            raise ReplyError("no verdict", raw="???")

    with pytest.raises(ReplyError):
        await rounds_of(ScriptedGenerator(GOOD), [Broken("broken"), ScriptedReviewer("a")])


async def test_reviewers_judge_in_parallel():
    both = asyncio.Barrier(2)

    class Waiting(ScriptedReviewer):
        async def judge(self, section, candidate, chat=None):
            await asyncio.wait_for(both.wait(), 5)
            return await super().judge(section, candidate, chat)

    assert (await rounds_of(ScriptedGenerator(GOOD), [Waiting("a"), Waiting("b")]))[-1].accepted


async def test_a_panel_of_nobody_is_refused():
    with pytest.raises(UsageError):
        await rounds_of(ScriptedGenerator(GOOD), [])


async def test_a_rejection_names_every_objector_and_each_problem_once():
    panel = [ScriptedReviewer("a", lambda c: False), ScriptedReviewer("b", lambda c: False)]
    rounds = await rounds_of(ScriptedGenerator(GOOD), panel, max_revisions=0)
    outcome = conclude(SECTION, rounds)
    assert (outcome.status, outcome.problems) == ("rejected", ("other",))
    assert "a objects." in outcome.reason and "b objects." in outcome.reason


def test_an_abstention_is_a_rejection_with_its_reason():
    outcome = conclude(SECTION, [], Abstention("No sentence refers back."))
    assert (outcome.status, outcome.reason, outcome.candidate) == ("rejected", "No sentence refers back.", None)

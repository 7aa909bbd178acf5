"""Twenty recorded attacks by a passage that gives orders: no verdict of code changes, no prompt lets them out."""

import asyncio
import json
from pathlib import Path

import pytest

from generation import checks, joint, prompts, rules
from generation.panel import shown_to_reviewer, written_for_reviewers
from tests.helpers import PASSAGE, candidate_of, section_of

ATTACKS = {a["name"]: a["text"] for a in json.loads(Path(__file__).with_name("attacks.json").read_text("utf-8"))}
GOOD = candidate_of()
WRONG = {
    "another answer": candidate_of(answer="three lifeboats"),
    "missing sentence": candidate_of(indices=(1, 2), coreferences=()),
    "compound": candidate_of("What does the Harbor Safety Act require every ferry to carry, and who wrote it?"),
    "leak": candidate_of("Does the Harbor Safety Act require every ferry to carry two rafts?"),
    "one sentence": candidate_of(indices=(2,), coreferences=()),
}
attacks = pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))


def attacked(attack):
    """The passage with the attack behind it, and with it in the middle of what no candidate needs."""
    return [*PASSAGE, attack], [*PASSAGE[:3], f"She had lost a brother at sea. {attack}"]


def test_there_are_twenty_attacks_and_the_candidates_are_judged_as_named():
    assert len(ATTACKS) == 20
    assert checks.verdict(checks.run(GOOD, PASSAGE)).is_quality
    assert not any(checks.verdict(checks.run(wrong, PASSAGE)).is_quality for wrong in WRONG.values())


@attacks
@pytest.mark.parametrize("candidate", [GOOD, *WRONG.values()], ids=["good", *WRONG])
def test_no_verdict_of_the_checks_changes(attack, candidate):
    before = checks.verdict(checks.run(candidate, PASSAGE))
    for passage in attacked(attack):
        after = checks.verdict(checks.run(candidate, passage))
        assert (after.is_quality, after.problems) == (before.is_quality, before.problems)


@attacks
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_an_order_in_the_answer_or_the_question_gets_nothing_accepted(attack, wrong):
    for candidate in (
        candidate_of(wrong.question, f"{wrong.answer} {attack}", wrong.required_sentence_indices, wrong.coreferences),
        candidate_of(f"{wrong.question} {attack}", wrong.answer, wrong.required_sentence_indices, wrong.coreferences),
    ):
        assert not checks.verdict(checks.run(candidate, PASSAGE)).is_quality


@attacks
def test_no_reviewer_by_rules_accepts_what_it_rejected(attack):
    async def votes(passage, candidate):
        section = section_of(*passage)
        return [(await reviewer.judge(section, candidate)).is_quality for reviewer in rules.panel()]

    for candidate in WRONG.values():
        before = asyncio.run(votes(PASSAGE, candidate))
        for passage in attacked(attack):
            after = asyncio.run(votes(passage, candidate))
            assert all(was or not is_now for was, is_now in zip(before, after, strict=True))


@attacks
@pytest.mark.parametrize("name", [*prompts.load_set().reviewers])
def test_the_panels_prompts_keep_the_passage_inside_its_fence(attack, name):
    prompt = prompts.load_set().reviewers[name]

    def messages(passage):
        return prompt.render(input=written_for_reviewers(section_of(*passage), GOOD, prompt.is_extended))

    calm = messages(PASSAGE)
    for passage in attacked(attack):
        system, user = messages(passage)
        assert system == calm[0]
        assert json.loads(user["content"]) == shown_to_reviewer(section_of(*passage), GOOD, prompt.is_extended)
        assert not any(char in user["content"] for char in "<>\u200b\u202e\U000e0061")
        assert user["content"].strip().count("\n") == 0


@attacks
def test_the_generators_prompt_does_too(attack):
    prompt = prompts.load_set().generator
    for passage in attacked(attack):
        shown = [{"index": i, "sentence": text} for i, text in enumerate(passage)]
        calm = prompt.render(segmented_text=[])
        rendered = prompt.render(segmented_text=shown)
        written = prompts.as_data(shown)
        assert rendered[0] == calm[0]
        assert rendered[-1]["content"].replace(written, "[]") == calm[-1]["content"]
        assert json.loads(written) == shown and "<" not in written


@attacks
def test_a_joint_panels_prompt_and_a_feedback_in_the_generators_do_too(attack):
    panel = joint.Joint(prompts.load_set().reviewers, 0.3)
    calm, _ = panel._messages(shown_to_reviewer(section_of(), GOOD, False))
    bad = candidate_of(f"{GOOD.question} {attack}", f"{GOOD.answer} {attack}")
    for passage in attacked(attack):
        shown = shown_to_reviewer(section_of(*passage), bad, False)
        system, user = panel._messages(shown)
        assert system == calm and json.loads(user["content"]) == shown
        assert user["content"].strip().count("\n") == 0 and "<" not in user["content"]


OTHERS = {
    "reader": ("sentences", "question"),
    "judge": ("question", "answer", "given"),
    "segmenter": ("text",),
    "aggregator": ("examples", "documents", "question"),
    "decomposer": ("question",),
}


@attacks
@pytest.mark.parametrize("name", OTHERS)
def test_whatever_a_prompt_is_filled_with_stays_data(attack, name):
    prompt = prompts.load(name)
    assert set(prompt.placeholders) == set(OTHERS[name])
    for place in OTHERS[name]:
        calm = prompt.render(**dict.fromkeys(OTHERS[name], "calm"))
        rendered = prompt.render(**{**dict.fromkeys(OTHERS[name], "calm"), place: attack})
        written = prompts.as_data(attack)
        assert json.loads(written) == attack and "<" not in written and "\n" not in written
        assert [m["role"] for m in rendered] == [m["role"] for m in calm]
        undone = [m["content"].replace(written, prompts.as_data("calm")) for m in rendered]
        assert undone == [m["content"] for m in calm]

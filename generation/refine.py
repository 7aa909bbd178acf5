"""The paper's loop for one section: draft, check, judge, prove, revise, until all reviewers accept the same text.

Source: Grzywinski et al. 2023, arXiv:2311.16338, sections 3.1.2 and 3.2.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from generation import checks
from generation.checks import CheckLevel
from generation.errors import Abstention, UsageError
from generation.llm import Chat
from generation.proof import Prover
from generation.records import Candidate, Outcome, Proof, Round, Section, Verdict

MAX_REVISIONS = 5  # Grzywinski et al. 2023, section 3.1.2


class Generator(Protocol):
    """Drafts a candidate for a section; `rounds` holds all that it offered before and what was said of it.

    Raises Abstention if it has nothing (more) to offer, ModelError if its model fails.
    """

    @property
    def name(self) -> str: ...

    async def draft(self, section: Section, rounds: Sequence[Round], chat: Chat | None = None) -> Candidate: ...


@runtime_checkable
class Remarks(Protocol):
    """A generator that may have something to say of what it offered; it becomes the accepted outcome's reason."""

    def remark(self, section: Section, candidate: Candidate) -> str: ...


class Reviewer(Protocol):
    """Judges one candidate, by its own directives. Raises ModelError if no verdict can be had: there is no default."""

    @property
    def name(self) -> str: ...

    async def judge(self, section: Section, candidate: Candidate, chat: Chat | None = None) -> Verdict: ...


CheckAll = Callable[[Candidate, Sequence[str]], Awaitable[Verdict]]
"""All checks of a candidate and its section's sentences, done elsewhere: `checking.workers.Checkers`."""


async def refine(
    section: Section,
    generator: Generator,
    panel: Sequence[Reviewer],
    *,
    chat: Chat | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    prover: Prover | None = None,
    check_all: CheckAll | None = None,
    on_draft: Callable[[int, Candidate], None] = lambda index, candidate: None,
    on_verdict: Callable[[int, Verdict], None] = lambda index, verdict: None,
) -> AsyncIterator[Round]:
    """Yield the rounds of one section as they finish; the last one is accepted or the loop ran out of revisions.

    A candidate that breaks a check goes back to the generator without asking the panel, whose reviewers otherwise judge
    in parallel. What they all accept is put to the `prover`, if there is one, and goes back too if it fails. `on_draft`
    and `on_verdict` are told at once what a page may want to show before the round is over. `check_all` does the checks
    of level "all" in place of this process.
    Raises what generator and reviewers raise; `run.finish` turns that into an outcome.
    """
    if not panel and prover is None:
        raise UsageError("The panel has no reviewer, so nothing could be accepted; add one to the prompt set.")
    rounds: list[Round] = []
    while len(rounds) <= max_revisions:
        candidate = await generator.draft(section, rounds, chat)
        index = len(rounds)
        on_draft(index, candidate)
        verdicts = await _checked(section, candidate, check_level, check_all)
        for verdict in verdicts:
            on_verdict(index, verdict)
        if all(v.is_quality for v in verdicts):
            verdicts += await _judged(section, candidate, panel, chat, partial(on_verdict, index))
        proof: Proof | None = None
        if prover is not None and all(v.is_quality for v in verdicts):
            proof = await prover.prove(section, candidate, chat)
            verdicts += (prover.verdict(proof),)
            on_verdict(index, verdicts[-1])
        rounds.append(Round(index, candidate, verdicts, proof))
        yield rounds[-1]
        if rounds[-1].accepted:
            return


async def _checked(
    section: Section, candidate: Candidate, level: CheckLevel, check_all: CheckAll | None
) -> tuple[Verdict, ...]:
    if level == "none":
        return ()
    sentences = [s.text for s in section.sentences]
    if level == "all" and check_all is not None:
        return (await check_all(candidate, sentences),)
    return (checks.verdict(checks.run(candidate, sentences, level=level)),)


async def _judged(
    section: Section,
    candidate: Candidate,
    panel: Sequence[Reviewer],
    chat: Chat | None,
    on_verdict: Callable[[Verdict], None],
) -> tuple[Verdict, ...]:
    async def judge(reviewer: Reviewer) -> Verdict:
        verdict = await reviewer.judge(section, candidate, chat)
        on_verdict(verdict)
        return verdict

    # Wait for all, even if one fails: the others' replies are already on their way and will be kept.
    results = await asyncio.gather(*(judge(reviewer) for reviewer in panel), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return tuple(r for r in results if isinstance(r, Verdict))


def conclude(section: Section, rounds: Sequence[Round], abstention: Abstention | None = None) -> Outcome:
    """The outcome of a section whose loop is over: accepted, or rejected with the last round's reasons."""
    if not rounds:
        reason = str(abstention) if abstention else "No round was run."
        return Outcome(section, "rejected", reason=reason)
    last = rounds[-1]
    if last.accepted:
        return Outcome(section, "accepted", candidate=last.candidate, rounds=tuple(rounds))
    against = [v for v in last.verdicts if not v.is_quality]
    reason = " ".join(f"{v.reviewer}: {v.reason}" for v in against)
    problems = tuple(dict.fromkeys(p for v in against for p in v.problems))
    return Outcome(section, "rejected", last.candidate, tuple(rounds), reason, problems)

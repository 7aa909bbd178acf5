"""The story of a run as HTML: where it stands, the pair in its passage, what was said of each draft."""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

from generation.records import Outcome, Usage
from generation.running import budget
from space import rounds
from space.making import Maker, Story
from space.passage import drawn, escape

SHOWN_TRIED = 2  # sections whose reasons are shown at once
WAITING = (
    '<p class="question soft">No question yet</p>'
    '<dl class="pair"><dt>Answer</dt><dd>–</dd><dt>Needs</dt><dd>–</dd></dl>'
)
_FLAG = re.compile(r"; a minimum confidence of [\d.]+ would let a draft through")  # which the command line takes
WORDS = {"accepted": "accepted", "rejected": "not accepted", "failed": "failed", "pending": "not finished"}


def notice(text: str, kind: str = "", more: str = "") -> str:
    role = "alert" if kind == "error" else "status"
    return f'<div class="notice {kind}" role="{role}"><b>{escape(text)}</b>{more}</div>'


def status(stories: Sequence[Story], maker: Maker) -> str:
    """Where the run stands, and what came of the sections before."""
    story, outcome = stories[-1], stories[-1].outcome
    if outcome is None:
        return notice(_under_way(story, maker), more=_count(len(stories) - 1))
    if outcome.status == "accepted":
        remark = f"<p>Only {escape(outcome.reason)}.</p>" if outcome.reason else ""
        more = remark + _label(maker) + _tried(stories[:-1])
        return notice(f"Accepted by all {len(maker.reviewers)} reviewers.", "" if remark else "good", more)
    if outcome.status == "failed":
        return notice(_plain_error(outcome.error), "error", _tried(stories[:-1]))
    if all(s.outcome and s.outcome.candidate is None for s in stories):
        return notice("No pair found in this text.", "error", _tried(stories) + _advice(maker))
    return notice("No draft was accepted by all reviewers.", "error", _tried(stories))


def paid(stories: Sequence[Story], maker: Maker) -> str:
    """What a model was asked and what that costs where the price is known; nothing of rules, which cost nothing."""
    if maker.chat is None:
        return ""
    total = sum((u for s in stories if s.outcome for u in s.outcome.usage.values()), Usage())
    price = budget.listed(maker.chat.model, maker.base_url)
    cost = f"about ${price.of(total):.4f} by the list prices" if price else "its price is not in the list of prices"
    asked = "1 call" if total.calls == 1 else f"{total.calls} calls"
    return f'<p class="soft">{asked}: {total.prompt_tokens:,} tokens in, {total.completion_tokens:,} out; {cost}.</p>'


def _label(maker: Maker) -> str:
    who = "by your model" if maker.chat else "by rules, without a model"
    return f"<p>Made and judged {who}; no person has read it yet.</p>"


def _under_way(story: Story, maker: Maker) -> str:
    where = f"Section “{story.section.title}”: "
    if not story.rounds:
        return where + "looking for a question …"
    last = story.rounds[-1]
    draft = "first draft" if last.index == 0 else f"revision {last.index}"
    return where + f"{draft}, {len(last.verdicts)} of {len(maker.reviewers)} verdicts"


def _count(sections: int) -> str:
    words = "1 section before gave none" if sections == 1 else f"{sections} sections before gave none"
    return f"<p>{words}</p>" if sections else ""


def _tried(stories: Sequence[Story]) -> str:
    items = "".join(
        f"<li><b>{escape(s.section.title)}:</b> {escape(_reason(s.outcome))}</li>" for s in stories if s.outcome
    )
    if not items:
        return ""
    whole = f'<ul class="tried">{items}</ul>'
    many = f"<details><summary>Why {len(stories)} sections gave none</summary>{whole}</details>"
    return whole if len(stories) <= SHOWN_TRIED else many


def _reason(outcome: Outcome) -> str:
    """In one sentence: what the generator said, or who turned the last draft down and for what."""
    if not outcome.rounds:
        return _FLAG.sub("; the switch for less sure drafts may let one through", outcome.reason) or _plain_error(
            outcome.error
        )
    against = [v for v in outcome.rounds[-1].verdicts if not v.is_quality]
    return " ".join(f"{rounds.maker_words(v.reviewer)}: {v.reason}" for v in against)


def _plain_error(error: str) -> str:
    """Without the name of the error's class, which the run's files keep."""
    return re.sub(r"^\w+Error: ", "", error)


def _advice(maker: Maker) -> str:
    if maker.chat:
        return ""
    return (
        "<p>The rules are cautious: they need a name and a later sentence that refers back to it by “it”, “she” or "
        "“the Act”, and they would rather stay silent than guess. Try another text, let less "
        "sure drafts through, or take a model of your own.</p>"
    )


def progress(stories: Sequence[Story], maker: Maker) -> str:
    """Every draft of the section at work with its verdicts, and at the end what a model was paid for."""
    story = stories[-1]
    told = rounds.rounds(story.rounds, maker.reviewers, is_running=story.outcome is None)
    heading = '<h2 class="heading">What was said of each draft</h2>' if told else ""
    return heading + told + (paid(stories, maker) if story.outcome else "")


def has_more(stories: Sequence[Story], maker: Maker) -> bool:
    """Is there more to see than a passage that the rules, which take no time, may leave again at once?"""
    return bool(maker.chat or len(stories) == 1 or stories[-1].rounds or stories[-1].outcome)


def result(stories: Sequence[Story], maker: Maker) -> str:
    """The passage from the start, so that nothing moves when a draft lights up in it; at the end, the download."""
    story, outcome = stories[-1], stories[-1].outcome
    candidate = story.rounds[-1].candidate if story.rounds else None
    if outcome and candidate is None:
        return ""
    section = story.section
    return (
        f'<article class="result">{rounds.pair(candidate) if candidate else WAITING}'
        f'<p class="place">{escape(section.article_title)} › {escape(section.title)}</p>'
        f"{drawn(section.sentences, section.text, candidate)}"
        f"{_download(maker.row(outcome), outcome.status) if outcome else ''}</article>"
    )


def _download(row: dict[str, Any], status: str) -> str:
    """A link that carries the row itself, so that nothing of it has to be kept on the server."""
    line = json.dumps(row, ensure_ascii=False) + "\n"
    data = base64.b64encode(line.encode("utf-8", "replace")).decode()
    return (
        f'<a class="download" download="craqan-{status}.jsonl" href="data:application/jsonl;base64,{data}">'
        f"Download as JSONL ({WORDS[status]})</a>"
    )

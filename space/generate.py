"""The Generate tab: paste a text, watch a pair being drafted and judged, take it along."""

import base64
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import gradio as gr

from generation.errors import CraqanError
from generation.records import Outcome
from space import making, rounds
from space.limits import MAX_CHARACTERS, MIN_SENTENCES
from space.making import EACH, Maker, Story
from space.passage import drawn, escape, plain
from space.theme import show_on_narrow

EACH_WORDS = "Each in turn, until one gives a pair"
RULES, MODEL = "rules", "model"
AT_ONCE = 4  # runs at a time; further visitors wait in the queue
EXAMPLE = Path(__file__).with_name("example.md")
SHOWN_TRIED = 2  # sections whose reasons are shown at once
INVITATION = (
    '<div class="empty"><h3>Nothing made yet</h3><p>Paste a text, or take the example, and press “Generate a pair”. '
    "Each draft appears here with what every reviewer says of it, and at the end the pair with its passage.</p></div>"
)
WAITING = (
    '<p class="question soft">No question yet</p>'
    '<dl class="pair"><dt>Answer</dt><dd>–</dd><dt>Needs</dt><dd>–</dd></dl>'
)
WORDS = {"accepted": "accepted", "rejected": "not accepted", "failed": "failed", "pending": "not finished"}

Shown = tuple[Any, Any, Any, Any, Any]  # status, pair in its passage, rounds, the two buttons


def build() -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks."""
    with gr.Row(elem_classes="maker"):
        with gr.Column(scale=2, min_width=280):
            text, example, section = _text_inputs()
            who, own, model_inputs = _model_inputs()
            unsure = gr.Checkbox(
                label="Show drafts that the rules are less sure of", info="They are marked as such", elem_id="unsure"
            )
            with gr.Row(elem_classes="actions"):
                start = gr.Button("Generate a pair", variant="primary", min_width=120, scale=2)
                stop = gr.Button("Stop", interactive=False, min_width=80, scale=1)
        with gr.Column(scale=3, min_width=280):
            status = gr.HTML(INVITATION, elem_id="status", apply_default_css=False)
            result = gr.HTML(elem_id="result", apply_default_css=False)
            progress = gr.HTML(elem_id="progress", apply_default_css=False)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    shown = [status, result, progress, start, stop]
    example.click(lambda: EXAMPLE.read_text(encoding="utf-8"), None, text, **quiet)
    text.change(_section_choice, text, section, trigger_mode="always_last", concurrency_limit=2, **quiet)
    who.change(_of_maker, who, [own, unsure], **quiet)
    running = start.click(
        _run,
        [text, section, who, *model_inputs, unsure],
        shown,
        show_progress="minimal",
        show_progress_on=status,
        api_visibility="private",
        concurrency_limit=AT_ONCE,
        concurrency_id="generate",
    )
    start.click(None, None, None, js=show_on_narrow("status"), **quiet)
    running.failure(_broken, None, [status, start, stop], **quiet)
    stop.click(_stopped, None, [status, start, stop], cancels=[running], **quiet)


def _text_inputs() -> tuple[gr.Textbox, gr.Button, gr.Dropdown]:
    text = gr.Textbox(
        label="Text",
        info=f"English, plain or Markdown, {MIN_SENTENCES} sentences to {MAX_CHARACTERS:,} characters",
        placeholder="A few paragraphs in which later sentences refer back: “It required …”, “The Act created …”",
        lines=10,
        max_lines=16,
        elem_id="text",
    )
    example = gr.Button("Use an example text", size="sm", elem_classes="quiet")
    section = gr.Dropdown([(EACH_WORDS, EACH)], value=EACH, label="Section", elem_id="section")
    return text, example, section


def _model_inputs() -> tuple[gr.Radio, gr.Column, list[gr.Textbox]]:
    who = gr.Radio(
        [("Built-in rules, no key needed", RULES), ("My own model and key", MODEL)],
        value=RULES,
        label="Who makes it",
        elem_id="who",
    )
    with gr.Column(visible=False, elem_classes="own-model") as own:
        url = gr.Textbox(
            label="Base URL",
            info="Any OpenAI-compatible server; empty: OpenAI",
            placeholder="https://api.openai.com/v1",
            max_lines=1,
            html_attributes=gr.InputHTMLAttributes(autocomplete="off", spellcheck=False, autocapitalize="off"),
        )
        model = gr.Textbox(
            label="Model",
            max_lines=1,
            html_attributes=gr.InputHTMLAttributes(autocomplete="off", spellcheck=False, autocapitalize="off"),
        )
        key = gr.Textbox(
            label="Key",
            info="Used for this run only: never stored, logged or shown",
            type="password",
            max_lines=1,
            html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
        )
    return who, own, [url, model, key]


def _of_maker(who: str) -> tuple[Any, Any]:
    """A model's address only for a model, the rules' switch only for the rules."""
    return gr.update(visible=who == MODEL), gr.update(visible=who == RULES)


async def _section_choice(text: str) -> Any:
    """The sections of the text so far; while there is nothing to choose from, only the first choice."""
    choices = [(EACH_WORDS, EACH)]
    try:
        sections = await making.split(text)
        choices += [(plain(t), i) for i, t in enumerate(making.titles(sections))]
    except CraqanError:
        pass  # not a text to work on yet; pressing the button says why
    return gr.update(choices=choices, value=EACH)


async def _run(
    text: str, section: int, who: str, url: str, model: str, key: str, unsure: bool = False
) -> AsyncIterator[Shown]:
    off, on = gr.update(interactive=False), gr.update(interactive=True)
    yield _notice("Reading the text …"), "", "", off, on
    try:
        sections = await making.split(text)
        chosen = making.choose(sections, section)
        async with maker_for(who, url, model, key, unsure) as maker, aclosing(making.make(chosen, maker)) as telling:
            async for stories in telling:
                yield _status(stories, maker), _result(stories, maker), _progress(stories, maker), off, on
        yield gr.skip(), gr.skip(), gr.skip(), on, off
    except CraqanError as error:
        yield _notice(str(error), "error"), gr.skip(), gr.skip(), on, off


@asynccontextmanager
async def maker_for(who: str, url: str, model: str, key: str, unsure: bool = False) -> AsyncIterator[Maker]:
    """Who makes the pair, for as long as the block lasts; then the visitor's connection is closed."""
    if who == RULES:
        yield making.embedded(unsure)
        return
    maker = await making.of_visitor(url, model, key)
    try:
        yield maker
    finally:
        if maker.chat:
            await maker.chat.aclose()


def _stopped() -> tuple[str, Any, Any]:
    return _notice("Stopped. Nothing was kept."), gr.update(interactive=True), gr.update(interactive=False)


def _broken() -> tuple[str, Any, Any]:
    words = "This page is too busy, or something broke on its side: try again in a minute."
    return _notice(words, "error"), gr.update(interactive=True), gr.update(interactive=False)


def _notice(text: str, kind: str = "", more: str = "") -> str:
    role = "alert" if kind == "error" else "status"
    return f'<div class="notice {kind}" role="{role}"><b>{escape(text)}</b>{more}</div>'


def _status(stories: Sequence[Story], maker: Maker) -> str:
    """Where the run stands, and what came of the sections before."""
    story, outcome = stories[-1], stories[-1].outcome
    if outcome is None:
        return _notice(_under_way(story, maker), more=_count(len(stories) - 1))
    if outcome.status == "accepted":
        remark = f"<p>Only {escape(outcome.reason)}.</p>" if outcome.reason else ""
        more = remark + _label(maker) + _tried(stories[:-1])
        return _notice(f"Accepted by all {len(maker.reviewers)} reviewers.", "" if remark else "good", more)
    if outcome.status == "failed":
        return _notice(_plain_error(outcome.error), "error", _tried(stories[:-1]))
    if all(s.outcome and s.outcome.candidate is None for s in stories):
        return _notice("No pair found in this text.", "error", _tried(stories) + _advice(maker))
    return _notice("No draft was accepted by all reviewers.", "error", _tried(stories))


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
        return outcome.reason or _plain_error(outcome.error)
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


def _progress(stories: Sequence[Story], maker: Maker) -> str:
    story = stories[-1]
    drawn_rounds = rounds.rounds(story.rounds, maker.reviewers, is_running=story.outcome is None)
    return f'<h2 class="heading">What was said of each draft</h2>{drawn_rounds}' if drawn_rounds else ""


def _result(stories: Sequence[Story], maker: Maker) -> str:
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

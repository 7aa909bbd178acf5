"""The Generate tab: a text, its sentences, the loop as it happens, and the pair to take along or send to review."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import gradio as gr

from generation.client.transport import HF_ROUTER_URL
from generation.errors import CraqanError, UsageError
from generation.review.intake import pair_row, put_pairs
from generation.review.store import Pair, Store
from space import editing, making, rates, telling, texts, turns
from space.hosting import is_public
from space.limits import MAX_FILE, MAX_TEXT, MIN_SENTENCES, SUFFIXES, can_sign_in
from space.making import Maker
from space.passage import escape, plain
from space.rates import visitor
from space.telling import notice
from space.texts import Origin, Text
from space.theme import show_on_narrow
from space.turns import QUIET

EACH_WORDS = "Each in turn, until one gives a pair"
RULES, MODEL, HUB = "rules", "model", "hub"
AT_ONCE = 4  # runs at a time; further visitors wait in the queue
EXAMPLE = Path(__file__).with_name("example.md")
STATE_SECONDS = 3600  # that a session's text and pair are remembered
INVITATION = (
    '<div class="empty"><h3>Nothing made yet</h3><p>Paste a text, or take the example, and press “Generate a pair”. '
    "Each draft appears here with what every reviewer says of it, and at the end the pair with its passage.</p></div>"
)
FILE_PICKER = (
    '<button type="button">Upload a file</button>'
    f'<input type="file" accept="{",".join(SUFFIXES)}" data-most="{MAX_FILE}" aria-label="File" tabindex="-1">'
)
# In the browser, before the run's inputs are sent.
ON_START = f"""(text, section, edits, ...rest) => {{
  {turns.BEGIN};
  const said = {editing.COLLECT};
  document.querySelector('.editor')?.removeAttribute('open');
  document.getElementById('sentences').classList.add('started');
  ({show_on_narrow("status")})();
  return [text, section, said, ...rest];
}}"""

Shown = tuple[Any, Any, Any, Any, Any]  # status, pair, rounds, and the button and the row to send
Request = gr.Request | None


def build(review: Path | None = None, kept: Callable[[], None] = lambda: None) -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks.

    Accepted pairs can be sent to the file `review`, if there is one; `kept` is called after one was.
    """
    origin, made = gr.State(Origin(), time_to_live=STATE_SECONDS), gr.State(None, time_to_live=STATE_SECONDS)
    with gr.Row(elem_classes="maker"):
        with gr.Column(scale=2, min_width=280):
            text, section, sources = _text_inputs()
            who, own, model_inputs = _model_inputs()
            unsure = gr.Checkbox(
                label="Show drafts that the rules are less sure of", info="They are marked as such", elem_id="unsure"
            )
            with gr.Row(elem_classes="actions"):
                start = gr.Button("Generate a pair", variant="primary", min_width=120, scale=2)
                stop = gr.Button("Stop", interactive=False, elem_id="stop", min_width=80, scale=1)
        with gr.Column(scale=3, min_width=280):
            editor = gr.HTML(elem_id="sentences", apply_default_css=False, js_on_load=editing.ON_LOAD)
            status = gr.HTML(
                INVITATION, elem_id="status", apply_default_css=False, js_on_load="window.craqanPlace(element)"
            )
            result = gr.HTML(elem_id="result", apply_default_css=False)
            with gr.Column(visible=review is not None):
                send = gr.Button("Send to review", visible=False, elem_classes="quiet")
            progress = gr.HTML(elem_id="progress", apply_default_css=False)
    edits = gr.Textbox(visible=False)  # filled in the browser, when a run starts

    _wire_sources(sources, [text, origin, status])
    text.change(_split_up, text, [section, editor], trigger_mode="always_last", concurrency_limit=2, **QUIET)
    section.input(
        _editor, [text, section], editor, trigger_mode="always_last", concurrency_limit=2, preprocess=False, **QUIET
    )
    who.change(_of_maker, who, [*own, unsure], **QUIET)
    turns.wait(status, start, stop)
    running = start.click(
        _run,
        [text, section, edits, origin, who, *model_inputs, unsure],
        [status, result, progress, send, made],
        js=ON_START,
        show_progress="minimal",
        show_progress_on=status,
        api_visibility="private",
        concurrency_limit=AT_ONCE,
        concurrency_id="generate",
        preprocess=False,  # see _editor
    )
    turns.end(running, status, start, stop)
    if review is not None:
        _wire_review(send, made, status, Store(review), kept)


def _text_inputs() -> tuple[gr.Textbox, gr.Dropdown, list[Any]]:
    text = gr.Textbox(
        label="Text",
        info=f"English, plain or Markdown, {MIN_SENTENCES} sentences to {MAX_TEXT:,} characters",
        placeholder="A few paragraphs in which later sentences refer back: “It required …”, “The Act created …”",
        lines=7,
        max_lines=10,
        elem_id="text",
    )
    with gr.Row(elem_classes="sources"):
        example = gr.Button("Use an example text", size="sm", elem_classes="quiet")
        file = gr.HTML(FILE_PICKER, elem_id="file", apply_default_css=False, js_on_load="craqanFile(element, trigger)")
    with gr.Row(elem_classes="sources"):
        title = gr.Textbox(
            label="Or an article of Wikipedia",
            placeholder="Clean Air Act",
            max_lines=1,
            scale=3,
            min_width=140,
            elem_id="wikipedia",
        )
        fetch = gr.Button("Fetch", size="sm", elem_classes="quiet")
    section = gr.Dropdown([(EACH_WORDS, making.EACH)], value=making.EACH, label="Section", elem_id="section")
    return text, section, [example, file, title, fetch]


def _wire_sources(sources: list[Any], read: list[Any]) -> None:
    example, file, title, fetch = sources
    example.click(_example, None, read, **QUIET)
    file.upload(_upload, None, read, concurrency_limit=2, **QUIET)
    gr.on([fetch.click, title.submit], _fetch, title, read, concurrency_limit=2, **QUIET)


def _model_inputs() -> tuple[gr.Radio, list[Any], list[Any]]:
    makers = [("Built-in rules, no key needed", RULES), ("My own model and key", MODEL)]
    who = gr.Radio(
        [*makers, ("Hugging Face, signed in", HUB)] if can_sign_in() else makers,
        value=RULES,
        label="Who makes it",
        elem_id="who",
    )
    plain_field = gr.InputHTMLAttributes(autocomplete="off", spellcheck=False, autocapitalize="off")
    with gr.Column(visible=False, elem_classes="own-model") as own:
        url = gr.Textbox(
            label="Base URL",
            info="Any OpenAI-compatible server; empty: OpenAI",
            placeholder="https://api.openai.com/v1",
            max_lines=1,
            html_attributes=plain_field,
        )
        key = gr.Textbox(
            label="Key",
            info="Used for this run only: never stored, logged or shown",
            type="password",
            max_lines=1,
            html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
        )
    with gr.Column(visible=False, elem_classes="own-model") as hub:
        if can_sign_in():
            gr.LoginButton(size="sm", elem_classes="quiet")
    model = gr.Textbox(label="Model", max_lines=1, visible=False, html_attributes=plain_field)
    return who, [own, hub, model], [url, model, key]


def _of_maker(who: str) -> tuple[Any, Any, Any, Any]:
    """An address and a key for an own model, a sign-in for the Hub, the rules' switch for the rules."""
    return (
        gr.update(visible=who == MODEL),
        gr.update(visible=who == HUB),
        gr.update(visible=who != RULES),
        gr.update(visible=who == RULES),
    )


def _example() -> tuple[str, Origin, str]:
    return EXAMPLE.read_text(encoding="utf-8"), Origin(), INVITATION


def _upload(event: gr.EventData) -> tuple[Any, Any, str]:
    sent: dict[str, Any] = event._data if isinstance(event._data, dict) else {}
    try:
        return _taken(texts.from_file(sent.get("name"), sent.get("size"), sent.get("data")))
    except CraqanError as error:
        return gr.skip(), gr.skip(), notice(str(error), "error")


async def _fetch(title: str, request: Request = None) -> AsyncIterator[tuple[Any, Any, str]]:
    yield gr.skip(), gr.skip(), notice("Fetching the article …")
    try:
        rates.FETCHES.admit(visitor(request))
        yield _taken(await texts.from_wikipedia(title))
    except CraqanError as error:
        yield gr.skip(), gr.skip(), notice(str(error), "error")


def _taken(text: Text) -> tuple[str, Origin, str]:
    source = text.source
    facts = [source.url, f"revision {source.revision}" if source.revision else "", source.license]
    told = ", ".join(escape(fact) for fact in facts if fact)
    read = f"Read: {len(text.markdown):,} characters. Choose a section, or let each be tried in turn."
    return text.markdown, texts.origin_of(text), notice(read, more=f"<p>{told}</p>" if told else "")


async def _split_up(text: str) -> tuple[Any, Any]:
    """The sections of the text so far and the sentences of those that a run would read; none of a text that is none."""
    choices: list[tuple[str, int]] = [(EACH_WORDS, making.EACH)]
    try:
        sections = await making.split(text)
    except CraqanError:  # not a text to work on yet; pressing the button says why
        return gr.update(choices=choices, value=making.EACH), ""
    choices += [(plain(t), i) for i, t in enumerate(making.titles(sections))]
    chosen = making.choose(sections, making.EACH)
    return gr.update(choices=choices, value=making.EACH), editing.editor(text, chosen, len(sections))


async def _editor(text: str, section: int) -> str:
    """The sentences of the section that was just chosen; taken, as by a run, without gradio's preprocessing.

    gradio fails a choice that the server's copy of the dropdown no longer has, which changes before the page's does.
    """
    try:
        [text] = editing.fields(text)
        sections = await making.split(text)
        return editing.editor(text, making.choose(sections, section), len(sections))
    except CraqanError:
        return ""


async def _run(
    text: str,
    section: int,
    edits: str,
    origin: Origin,
    who: str,
    url: str,
    model: str,
    key: str,
    unsure: bool = False,
    request: Request = None,
    token: gr.OAuthToken | None = None,
) -> AsyncIterator[Shown]:
    yield notice("Reading the text …"), "", "", gr.update(visible=False), None
    try:
        text, edits, who, url, model, key = editing.fields(text, edits, who, url, model, key)
        rates.RUNS.admit(visitor(request))
        if who == HUB:
            url, key = HF_ROUTER_URL, _signed_in(token)
        sections = await making.split(text, origin.of(text))
        section = section if editing.is_of(text, edits) else making.EACH  # as the page is about to show
        chosen = editing.edited(making.choose(sections, section), text, edits)
        async with maker_for(who, url, model, key, unsure) as maker, aclosing(making.make(chosen, maker)) as news:
            async for stories in news:
                told = telling.result(stories, maker) if telling.has_more(stories, maker) else gr.skip()
                shown = (telling.status(stories, maker), told, telling.progress(stories, maker))
                yield *shown, gr.skip(), gr.skip()
        outcome = stories[-1].outcome
        row = maker.row(outcome) if outcome and outcome.status == "accepted" else None
        yield gr.skip(), gr.skip(), gr.skip(), gr.update(visible=row is not None, interactive=True), row
    except CraqanError as error:
        yield notice(str(error), "error"), gr.skip(), gr.skip(), gr.skip(), gr.skip()


def _signed_in(token: gr.OAuthToken | None) -> str:
    if token is None:
        raise UsageError("Sign in with your Hugging Face account first.")
    return str(token.token)


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


def _wire_review(send: gr.Button, made: gr.State, status: gr.HTML, store: Store, kept: Callable[[], None]) -> None:
    def hand_over(row: Any, request: Request = None, profile: gr.OAuthProfile | None = None) -> tuple[Any, Any]:
        try:
            rates.SENDINGS.admit(visitor(request))
            if row is None:
                raise UsageError("There is no pair to send any more: generate it again.")
            if is_public() and profile is None:
                raise UsageError("Sign in with your Hugging Face account first, on the tab Review.")
            checked = pair_row(row)
            added = put_pairs(store, [Pair(checked["id"], checked)]).added
            kept()
        except CraqanError as error:
            return notice(str(error), "error"), gr.skip()
        words = "Sent: it will be read on the tab Review." if added else "This pair is in the review already."
        return notice(words, "good"), gr.update(interactive=False)

    send.click(hand_over, made, [status, send], show_progress="hidden", api_visibility="private")

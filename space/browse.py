"""The Browse tab: the released rows, filtered, and one of them open with its passage drawn."""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from generation.errors import UsageError
from space import charts
from space.passage import KIND_WORDS, escape, plain
from space.row import opened
from space.shelf import ORDERS, QUESTION_WORDS, Filters, Row, Shelf
from space.theme import show_on_narrow

PAGE = 8  # rows in the list at a time: about one screen beside the passage

# Runs in the browser: a click on a row or a page button becomes an event that carries what was clicked, and a click on
# a copy button puts the text beside it on the clipboard. "again" comes from AGAIN.
ON_CLICK = """element.addEventListener('again', () => trigger('submit', {}));
element.addEventListener('click', async (event) => {
  const button = event.target.closest('button[data-id], button[data-page], button[data-copy]');
  if (!button || button.disabled) return;
  if ('copy' in button.dataset) {
    const code = button.parentElement.querySelector('code');
    try { await navigator.clipboard.writeText(code.textContent); button.textContent = 'Copied'; }
    catch { window.getSelection().selectAllChildren(code); button.textContent = 'Selected: copy it'; }
    setTimeout(() => { button.textContent = 'Copy'; }, 2500);
  } else if (button.dataset.id) {
    element.querySelector('[aria-current]')?.removeAttribute('aria-current');
    button.setAttribute('aria-current', 'true');
    trigger('select', { id: button.dataset.id });
    const address = new URL(window.location.href);  // that can be sent to somebody
    address.searchParams.set('id', button.dataset.id);
    window.history.replaceState(window.history.state, '', address);
  } else trigger('input', { page: Number(button.dataset.page) });
});"""

# The filters are emptied at once, in the browser; then the list is asked for by the same event as after any change, of
# which gradio lets the last one win: otherwise the whole list could arrive after that of a word typed meanwhile.
AGAIN = """() => document.querySelector('#list-pane :is(.count, .empty)')
  .dispatchEvent(new Event('again', { bubbles: true }))"""


def listed(shelf: Shelf, filters: Filters, page: int = 1, open_id: str = "") -> str:
    """One page of the questions that fit, as a list of buttons, with how many there are."""
    try:
        found = shelf.find(filters)
    except UsageError as error:
        return _empty("This cannot be looked for", str(error))
    if not found:
        return _nothing(bool(shelf.rows))
    pages = -(-len(found) // PAGE)
    page = min(max(page, 1), pages)
    shown = found[(page - 1) * PAGE : page * PAGE]
    items = "".join(_item(row, row["id"] == open_id) for row in shown)
    return (
        f'<p class="count" role="status">{_counted(len(found), len(shelf.of(filters.config)))}</p>'
        f'<ul class="rows" id="rows">{items}</ul>{_pager(page, pages)}'
    )


def build(shelf: Shelf) -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks."""
    first = shelf.rows[0]["id"] if shelf.rows else ""
    open_id = gr.State(first)
    with gr.Row(elem_classes="filters"):
        inputs = _filter_inputs(shelf)
        clear = gr.Button("Clear filters", size="sm", elem_classes="quiet")
    with gr.Accordion("More filters", open=False, elem_classes="more"), gr.Row(elem_classes="filters"):
        inputs += _more_inputs(shelf)
    with gr.Row(elem_classes="panes"):
        with gr.Column(scale=2, min_width=280):
            rows = _html(listed(shelf, Filters(), open_id=first), "list-pane")
        with gr.Column(scale=3, min_width=280):
            row = _html(_opened(shelf, first) if first else "", "row")
    with gr.Accordion("The set in figures", open=False, elem_classes="more"):
        gr.HTML(charts.charts(shelf), apply_default_css=False)

    def show(open_id: str, *values: Any) -> str:
        return listed(shelf, _filters(*values), open_id=open_id)

    def turn(event: gr.EventData, open_id: str, *values: Any) -> str:
        return listed(shelf, _filters(*values), event.page, open_id)

    def choose(event: gr.EventData) -> tuple[str, str]:
        return event.id, _opened(shelf, event.id)

    def arrive(request: gr.Request) -> tuple[Any, ...]:
        """Open the row that the address names, and the list where it stands; one that names none opens the first."""
        id = request.query_params.get("id", "")
        if id == first or id not in shelf.by_id:
            return (gr.skip(),) * 4
        config = "rejected" if "rejected_by" in shelf.get(id) else "default"
        at = next(n for n, row in enumerate(shelf.of(config)) if row["id"] == id)
        return id, _opened(shelf, id), listed(shelf, Filters(config=config), at // PAGE + 1, id), config

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    # `arrive` sets the last one and the list: that `change` would turn the list back to page 1.
    events = [*(i.change for i in inputs[:-1]), inputs[-1].input, rows.submit]
    gr.on(events, show, [open_id, *inputs], rows, trigger_mode="always_last", **quiet)
    rows.input(turn, [open_id, *inputs], rows, **quiet)
    chosen = rows.select(choose, None, [open_id, row], **quiet)
    chosen.then(None, None, None, js=show_on_narrow("row"), **quiet)
    emptied = clear.click(None, None, inputs, js=f"() => {json.dumps(_EMPTY)}", **quiet)  # at once, in the browser
    emptied.then(None, None, None, js=AGAIN, **quiet)
    arrived = gr.on(None, arrive, None, [open_id, row, rows, inputs[-1]], **quiet)  # when the page is opened
    arrived.then(None, None, None, js=f"() => location.search.includes('id=') && ({show_on_narrow('row')})()", **quiet)


SETS = {
    "default": "Accepted",
    "random": "Accepted, split at random",
    "domain": "Accepted, split by domain",
    "rejected": "Rejected",
}
_EMPTY = ("", "", "", 0, "", 0, 0, "", "", "", "default")


def _filter_inputs(shelf: Shelf) -> list[Any]:
    kinds = [("Any kind", ""), *((words.capitalize(), kind) for kind, words in KIND_WORDS.items() if kind)]
    orders = [(words, name) for name, (words, _) in ORDERS.items()]
    return [
        gr.Textbox(label="Search", placeholder="Words to look for", max_lines=1, min_width=180, scale=3),
        gr.Dropdown(_choices("All articles", shelf.articles), value="", label="Article", min_width=180, scale=3),
        gr.Dropdown(kinds, value="", label="Coreference", min_width=130, scale=2),
        gr.Dropdown([("2 or 3", 0), ("2", 2), ("3", 3)], value=0, label="Sentences", min_width=110, scale=1),
        gr.Dropdown(orders, value="", label="Order", min_width=150, scale=2),
    ]


def _more_inputs(shelf: Shelf) -> list[Any]:
    distances = sorted({row["distance"] for row in shelf.rows})
    sets = [(words, config) for config, words in SETS.items() if config == "default" or shelf.of(config)]
    return [
        gr.Dropdown([("any", 0), *_numbers(distances)], value=0, label="Distance from", min_width=110, scale=1),
        gr.Dropdown([("any", 0), *_numbers(distances)], value=0, label="Distance to", min_width=110, scale=1),
        gr.Dropdown(_choices("All domains", shelf.domains), value="", label="Domain", min_width=130, scale=1),
        gr.Dropdown(_choices("Any", QUESTION_WORDS), value="", label="Question word", min_width=130, scale=1),
        gr.Dropdown(_choices("All", shelf.splits), value="", label="Split", min_width=110, scale=1),
        gr.Dropdown(sets, value="default", label="Pairs", min_width=120, scale=2),
    ]


def _opened(shelf: Shelf, id: str) -> str:
    return opened(shelf.get(id), shelf.provenance.get(id), shelf.splits_of(id))


def _numbers(values: Sequence[int]) -> list[tuple[str, int]]:
    return [(str(v), v) for v in values]


def _choices(every: str, values: Sequence[str]) -> list[tuple[str, str]]:
    return [(every, ""), *((plain(v), v) for v in values)]


def _filters(
    text: str,
    article: str,
    kind: str,
    required: int,
    order: str,
    nearest: int,
    farthest: int,
    domain: str,
    word: str,
    split: str,
    config: str,
) -> Filters:
    return Filters(article, kind, required, nearest, farthest, text, domain, word, split, config, order)


def _html(value: str, id: str) -> gr.HTML:
    return gr.HTML(value, elem_id=id, apply_default_css=False, js_on_load=ON_CLICK)


def _counted(found: int, total: int) -> str:
    return f"{total} questions" if found == total else f"{found} of {total} questions"


def _nothing(has_rows: bool) -> str:
    if not has_rows:
        return _empty("No rows yet", "The released set is not in this copy of the project.")
    return _empty(
        "No question fits all of these filters", "Widen one of them, or press “Clear filters” to see the whole set."
    )


def _empty(heading: str, advice: str) -> str:
    return f'<div class="empty" role="status"><h3>{heading}</h3><p>{escape(advice)}</p></div>'


def _item(row: Row, is_open: bool) -> str:
    current = ' aria-current="true"' if is_open else ""
    needed = len(row["required_sentence_indices"])
    facts = f"{KIND_WORDS[row['kind']]} · {needed} sentences · distance {row['distance']}"
    return (
        f'<li><button type="button" data-id="{escape(row["id"])}"{current}>'
        f'<span class="question" dir="auto">{escape(row["question"])}</span>'
        f'<span class="facts"><span>{escape(row["article_title"])}</span><span>{facts}</span></span></button></li>'
    )


def _pager(page: int, pages: int) -> str:
    if pages == 1:
        return ""

    def button(to: int, word: str) -> str:
        off = "" if 1 <= to <= pages else " disabled"
        return f'<button type="button" data-page="{to}"{off}>{word}</button>'

    return (
        f'<nav class="pager" aria-label="Pages">{button(page - 1, "Previous")}<span>Page {page} of {pages}</span>'
        f"{button(page + 1, 'Next')}</nav>"
    )

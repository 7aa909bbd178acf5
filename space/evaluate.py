"""The Evaluate tab: where chunkers cut an article of the set, what each cut breaks, and how they compare."""

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from generation.errors import CraqanError
from space import cuts, results
from space.cutting import LARGEST, OFFERED, SMALLEST, Bench, Compared, name_of
from space.passage import escape, plain

NO_OTHER = ""
FIRST, BESIDE, SIZE = "recursive", "tokens", 100
WAITING = '<div class="empty"><h3>Cutting …</h3><p>The first article takes a few seconds.</p></div>'
NOT_COMPARED = (
    '<div class="empty"><h4>Not compared yet</h4><p>Press “Compare over the set”: the chosen chunkers cut every '
    "article while you wait, for at most half a minute.</p></div>"
)
EMPTY = '<div class="empty"><h3>No rows yet</h3><p>The released set is not in this copy of the project.</p></div>'


def build(tab: gr.Tab, bench: Bench) -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks."""
    if not bench.shelf.rows:
        gr.HTML(EMPTY, apply_default_css=False)
        return
    titles = [(plain(title), id) for title, id in bench.titles]
    kinds = [(words, kind) for kind, words in OFFERED.items()]
    with gr.Row(elem_classes=["filters", "cutters"]):
        article = gr.Dropdown(titles, value=titles[0][1], label="Article to cut", min_width=180, scale=3)
        first = gr.Dropdown(kinds, value=FIRST, label="Chunker", min_width=180, scale=3)
        beside = gr.Dropdown([("None", NO_OTHER), *kinds], value=BESIDE, label="Beside it", min_width=180, scale=3)
        size = gr.Slider(SMALLEST, LARGEST, SIZE, step=10, label="Size in tokens", min_width=200, scale=2, buttons=[])
    gr.HTML('<h2 class="heading">Over the whole set</h2>', apply_default_css=False)
    compare = gr.Button("Compare over the set", size="sm", elem_classes="quiet")
    table = gr.HTML(NOT_COMPARED, elem_id="comparison", apply_default_css=False)
    gr.HTML('<h2 class="heading">In this article</h2>', apply_default_css=False)
    shown = gr.HTML(WAITING, elem_id="cuttings", apply_default_css=False)
    with gr.Accordion("Stored results, with retrieval", open=False, elem_classes="more"):
        gr.HTML(results.stored(), apply_default_css=False)

    async def draw(article: str, first: str, beside: str, size: int) -> str:
        try:
            names = _names(first, beside, size)
            drawn = [cuts.article(await bench.cut(name, article), title) for name, title in names.items()]
        except CraqanError as error:
            return _error(error)
        return f'{cuts.LEGEND}<div class="cuttings">{"".join(drawn)}</div>'

    async def measure(first: str, beside: str, size: int) -> AsyncIterator[tuple[str, Any]]:
        off, on = gr.update(interactive=False), gr.update(interactive=True)
        yield _said("Reading the set …"), off
        try:
            names = _names(first, beside, size)
            async for compared in bench.compare(list(names)):
                yield _comparison(compared, list(names.values())), off
            yield gr.skip(), on
        except CraqanError as error:
            yield _error(error), on

    chosen = [article, first, beside, size]
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    limits: dict[str, Any] = {"concurrency_limit": 4, "concurrency_id": "cut", **quiet}
    changes = [article.change, first.change, beside.change, size.release, size.change]
    gr.on([*changes, tab.select], draw, chosen, shown, trigger_mode="always_last", **limits)
    compare.click(measure, chosen[1:], [table, compare], concurrency_limit=2, concurrency_id="compare", **quiet)


def _names(first: str, beside: str, size: int) -> dict[str, str]:
    """Chunker -> its title, for the one or two that are chosen."""
    kinds = dict.fromkeys(kind for kind in (first, beside) if kind != NO_OTHER)
    return {(name := name_of(kind, size)): _title(kind, name) for kind in kinds}


def _title(kind: str, name: str) -> str:
    size = name.partition(":")[2]
    unit = "sentence" if kind == "sentences" else "token"
    return f"{OFFERED[kind].partition(' (')[0]}, up to {size} {unit}{'s' * (size != '1')}"


def _comparison(compared: Compared, titles: list[str]) -> str:
    if not compared.reports:
        return _said(f"Article {compared.articles} of {compared.of_articles} is cut …")
    asked = compared.reports[0].all.questions
    part = "" if compared.articles == compared.of_articles else f" of {compared.of_articles}, as far as time allowed"
    said = f"{asked} questions on {compared.articles} articles{part}."
    return f'<p class="count" role="status">{said}</p>{cuts.measured(compared.reports, titles)}'


def _said(words: str) -> str:
    return f'<div class="empty" role="status"><h4>{words}</h4><p>Coreference takes about a second an article.</p></div>'


def _error(error: CraqanError) -> str:
    return f'<div class="notice error" role="alert"><b>{escape(str(error))}</b></div>'

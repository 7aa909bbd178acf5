"""The Browse tab: the released rows, filtered, and one of them open with its passage drawn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

import craqan
from generation.dataset import section_from
from generation.errors import UsageError
from generation.records import Round, Verdict, candidate_from_dict
from space import rounds
from space.passage import KIND_WORDS, drawn, escape, plain
from space.theme import show_on_narrow

Row = Mapping[str, Any]
DATA = Path(craqan.__file__).parent / "data"
PAGE = 8  # rows in the list at a time: about one screen beside the passage

# Runs in the browser: a click on a row or a page button becomes an event that carries what was clicked.
ON_CLICK = """element.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-id], button[data-page]');
  if (!button || button.disabled) return;
  if (button.dataset.id) {
    element.querySelector('[aria-current]')?.removeAttribute('aria-current');
    button.setAttribute('aria-current', 'true');
    trigger('select', { id: button.dataset.id });
  } else trigger('change', { page: Number(button.dataset.page) });
});"""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a row has to be like; an empty string or 0 asks nothing. Distances are inclusive."""

    article: str = ""
    kind: str = ""
    required_sentences: int = 0
    min_distance: int = 0
    max_distance: int = 0
    text: str = ""

    def fit(self, row: Row) -> bool:
        words = self.text.casefold().split()
        distance = row["distance"]
        return (
            self.article in ("", row["article_title"])
            and self.kind in ("", row["kind"])
            and self.required_sentences in (0, len(row["required_sentence_indices"]))
            and self.min_distance <= distance <= (self.max_distance or distance)
            and (not words or all(word in _haystack(row) for word in words))
        )


class Shelf:
    """The rows that the tab shows, with the provenance that belongs to them."""

    def __init__(self, rows: Iterable[Row], provenance: Iterable[Row] = ()):
        self.rows = list(rows)
        self.by_id = {row["id"]: row for row in self.rows}
        self.provenance = {row["id"]: row for row in provenance}

    @property
    def articles(self) -> list[str]:
        return sorted({row["article_title"] for row in self.rows})

    def find(self, filters: Filters) -> list[Row]:
        return [row for row in self.rows if filters.fit(row)]

    def get(self, id: str) -> Row:
        """The row called `id`. Raises UsageError if there is none."""
        if id not in self.by_id:
            raise UsageError("There is no question with this id in the released set; search for it by its words.")
        return self.by_id[id]


def load_shelf(folder: Path = DATA) -> Shelf:
    """The released rows of a data folder, each with its `split`. Raises craqan.DataError for rows that are none."""

    def rows(config: str) -> Iterator[Row]:
        for split, paths in craqan.local_files(folder, config).items():
            for path in paths:
                for _, row in craqan.read_rows(path, config):
                    yield {**row, "split": split}

    return Shelf(rows("default"), rows("provenance"))


def listed(shelf: Shelf, filters: Filters, page: int = 1, open_id: str = "") -> str:
    """One page of the questions that fit, as a list of buttons, with how many there are."""
    found = shelf.find(filters)
    if not found:
        return _nothing(bool(shelf.rows))
    pages = -(-len(found) // PAGE)
    page = min(max(page, 1), pages)
    shown = found[(page - 1) * PAGE : page * PAGE]
    items = "".join(_item(row, row["id"] == open_id) for row in shown)
    return (
        f'<p class="count" role="status">{_counted(len(found), len(shelf.rows))}</p>'
        f'<ul class="rows" id="rows">{items}</ul>{_pager(page, pages)}'
    )


def opened(row: Row, provenance: Row | None = None) -> str:
    """One row in full: question, answer, drawn passage, derivation and where it comes from."""
    candidate = candidate_from_dict(row)
    section = section_from(row)
    place = f"{escape(section.article_title)} › {escape(section.title)}"
    return (
        f'<article class="open-row"><a class="back" href="#rows">Back to the list</a>'
        f'{rounds.pair(candidate)}<p class="place">{place}</p>'
        f"{drawn(section.sentences, section.text, candidate)}{_derivation(row['derivation'])}"
        f"{_provenance(row, provenance)}</article>"
    )


def build(shelf: Shelf) -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks."""
    first = shelf.rows[0]["id"] if shelf.rows else ""
    open_id = gr.State(first)
    with gr.Row(elem_classes="filters"):
        inputs = _filter_inputs(shelf)
        clear = gr.Button("Clear filters", size="sm", elem_classes="quiet")
    with gr.Row(elem_classes="panes"):
        with gr.Column(scale=2, min_width=280):
            rows = _html(listed(shelf, Filters(), open_id=first), "list-pane")
        with gr.Column(scale=3, min_width=280):
            row = _html(opened(shelf.get(first), shelf.provenance.get(first)) if first else "", "row")

    def show(open_id: str, *values: Any) -> str:
        return listed(shelf, _filters(*values), open_id=open_id)

    def turn(event: gr.EventData, open_id: str, *values: Any) -> str:
        return listed(shelf, _filters(*values), event.page, open_id)

    def choose(event: gr.EventData) -> tuple[str, str]:
        return event.id, opened(shelf.get(event.id), shelf.provenance.get(event.id))

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    gr.on([i.change for i in inputs], show, [open_id, *inputs], rows, trigger_mode="always_last", **quiet)
    rows.change(turn, [open_id, *inputs], rows, **quiet)
    rows.select(choose, None, [open_id, row], **quiet).then(None, None, None, js=show_on_narrow("row"), **quiet)
    clear.click(lambda: list(_EMPTY), None, inputs, **quiet)


_EMPTY = ("", "", "", 0, 0, 0)


def _filter_inputs(shelf: Shelf) -> list[Any]:
    kinds = [("Any kind", ""), *((words.capitalize(), kind) for kind, words in KIND_WORDS.items() if kind)]
    distances = sorted({row["distance"] for row in shelf.rows})
    return [
        gr.Textbox(label="Search", placeholder="Words to look for", max_lines=1, min_width=180, scale=3),
        gr.Dropdown(_choices(shelf.articles), value="", label="Article", min_width=180, scale=3),
        gr.Dropdown(kinds, value="", label="Coreference", min_width=130, scale=2),
        gr.Dropdown([("2 or 3", 0), ("2", 2), ("3", 3)], value=0, label="Sentences", min_width=110, scale=1),
        gr.Dropdown([("any", 0), *_numbers(distances)], value=0, label="Distance from", min_width=110, scale=1),
        gr.Dropdown([("any", 0), *_numbers(distances)], value=0, label="Distance to", min_width=110, scale=1),
    ]


def _numbers(values: Sequence[int]) -> list[tuple[str, int]]:
    return [(str(v), v) for v in values]


def _choices(articles: Sequence[str]) -> list[tuple[str, str]]:
    return [("All articles", ""), *((plain(a), a) for a in articles)]


def _filters(text: str, article: str, kind: str, required: int, nearest: int, farthest: int) -> Filters:
    return Filters(article, kind, required, nearest, farthest, text)


def _html(value: str, id: str) -> gr.HTML:
    return gr.HTML(value, elem_id=id, apply_default_css=False, js_on_load=ON_CLICK)


def _haystack(row: Row) -> str:
    return " ".join((row["question"], row["answer"], row["article_title"], row["section_text"])).casefold()


def _counted(found: int, total: int) -> str:
    return f"{total} questions" if found == total else f"{found} of {total} questions"


def _nothing(has_rows: bool) -> str:
    if not has_rows:
        return (
            '<div class="empty"><h3>No rows yet</h3><p>The released set is not in this copy of the project.</p></div>'
        )
    return (
        '<div class="empty" role="status"><h3>No question fits all of these filters</h3>'
        "<p>Widen one of them, or press “Clear filters” to see the whole set.</p></div>"
    )


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


def _derivation(steps: Sequence[Row]) -> str:
    items = "".join(
        f"<li><span>{escape(s['head'])}</span> <i>{escape(s['relation'])}</i> <span>{escape(s['tail'])}</span> "
        f'<span class="soft">sentence {s["sentence_index"]}</span></li>'
        for s in steps
    )
    return f'<section class="derivation"><h3>Derivation</h3><ol>{items}</ol></section>' if items else ""


def _provenance(row: Row, provenance: Row | None) -> str:
    people = row["human_reviews"]
    facts = {
        "Made by": rounds.maker_words(row["generator"]),
        "Reviewed by": ", ".join(rounds.maker_words(r) for r in row["reviewed_by"]) or "nobody yet",
        "Read by people": {0: "not yet", 1: "1 person"}.get(people, f"{people} people"),
        "Split": row.get("split", ""),
        "Id": row["id"],
    }
    items = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items() if value)
    how = _rounds(provenance) if provenance else ""
    return f'<section class="provenance"><h3>Where it comes from</h3><dl class="pair">{items}</dl>{how}</section>'


def _rounds(provenance: Row) -> str:
    read = [
        Round(
            r["index"],
            candidate_from_dict(r),
            tuple(Verdict(v["reviewer"], v["is_quality"], v["reason"], tuple(v["problems"])) for v in r["verdicts"]),
        )
        for r in provenance["rounds"]
    ]
    if not read:
        return ""
    counted = "1 round" if len(read) == 1 else f"{len(read)} rounds"
    return f"<details><summary>How it was made: {counted}</summary>{rounds.rounds(read)}</details>"

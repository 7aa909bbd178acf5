"""The Space without a browser: what it renders, what it refuses, and the story that it tells of a run."""

import html
import json
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.errors import UsageError
from generation.records import Candidate, Coreference, Sentence, Span
from space import browse, charts, passage
from space.row import opened
from space.shelf import Filters, Shelf, question_word
from tests.helpers import candidate_of, section_of
from tests.space_rows import ROWS

ROOT = Path(__file__).parents[1]
HOSTILE = next(row for row in ROWS if row["id"] == "hostile-1")


class Tags(HTMLParser):
    """The tags, attributes and text of a page as a browser's parser sees them."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def passage_of(text: str, *spans: tuple[str, int, int]) -> str:
    ends = [Span(0, start, end, text[start:end]) for _, start, end in spans]
    links = tuple(Coreference("nominal", a, b) for a, b in zip(ends[::2], ends[1::2], strict=True))
    return passage.drawn([Sentence(text, 0, len(text))], text, Candidate("q?", "a", (0, 1), links))


# passage


def test_a_hostile_row_adds_no_tag_and_no_attribute_of_its_own():
    seen = Tags(opened(HOSTILE) + browse.listed(Shelf(ROWS), Filters()))
    assert not {"script", "img", "b", "h1"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert "<script>window.hacked = 1</script>" in seen.text


def test_control_and_bidi_characters_are_named_and_not_sent():
    page = opened(HOSTILE)
    assert not set(page) & set("\u202e\u202c\u0007\u200b")
    for name in ("U+202E", "U+202C", "U+0007", "U+200B"):
        assert name in page


@given(st.text(max_size=80), st.lists(st.integers(0, 80), min_size=4, max_size=4))
@settings(max_examples=150, deadline=None)
def test_marks_never_lose_double_or_reorder_a_character(text, cuts):
    cuts = sorted(min(c, len(text)) for c in cuts)
    page = passage_of(text, ("mention", cuts[0], cuts[2]), ("antecedent", cuts[1], cuts[3]))
    body = re.search(r'<p dir="auto">(.*?)</p></li>', page, re.DOTALL)[1]
    body = re.sub(r'<span class="tag">\d+</span>', "", body)
    body = re.sub(r'<span class="code-point"[^>]*>U\+([0-9A-F]+)</span>', lambda m: f"&#x{m[1]};", body)
    assert "".join(_shown(re.sub(r"</?mark[^>]*>", "", body))) == text


def _shown(page: str) -> str:
    """Undo the escapes; html.unescape would swallow control characters that a reference names."""
    named = re.sub(r"&#x([0-9A-F]+);", lambda m: chr(int(m[1], 16)), page)
    return html.unescape(named) if "&" in page else named


def test_required_sentences_are_told_in_words_too():
    page = opened(ROWS[1])
    assert page.count('<span class="sr">, required</span>') == 3


@pytest.mark.parametrize(
    "span", [Span(7, 0, 2, "It"), Span(0, -1, -1, "It"), Span(0, 0, 2, "Xx"), Span(-1, 0, 2, "It")]
)
def test_a_span_that_is_not_in_its_sentence_is_left_out(span):
    section = section_of("It rains.", "It pours.")
    draft = candidate_of(indices=(0, 1), coreferences=[Coreference("pronominal", span, Span(1, 0, 2, "It"))])
    page = passage.drawn(section.sentences, section.text, draft)
    assert page.count("data-mention") == 0
    assert page.count("data-antecedent") == 1


def test_far_sentences_of_a_long_passage_are_folded_and_required_ones_are_not():
    page = opened(next(row for row in ROWS if row["id"] == "far-1"))
    folds = re.findall(r"<details>.*?</details>", page.partition("<section")[0], re.DOTALL)
    assert [re.search("<summary>(.*?)</summary>", f)[1] for f in folds[:1]] == ["Sentences 2 to 15"]
    assert not any("required" in fold for fold in folds)


# browse


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({}, [row["id"] for row in ROWS]),
        ({"article": "Ferry Code"}, ["far-1"]),
        ({"kind": "nominal"}, ["orchard-2"]),
        ({"kind": "mixed"}, ["orchard-4"]),
        ({"required_sentences": 3}, ["orchard-2", "orchard-4"]),
        ({"min_distance": 2}, ["orchard-2", "orchard-4", "far-1"]),
        ({"min_distance": 2, "max_distance": 2}, ["orchard-2", "orchard-4"]),
        ({"max_distance": 1}, ["orchard-1", "orchard-3", "hostile-1"]),
        ({"text": "TELLER  wanted"}, ["orchard-1", "orchard-2", "orchard-3", "orchard-4"]),
        ({"text": "two coins"}, ["far-1"]),
        ({"text": "nowhere"}, []),
        ({"domain": "law", "article": "Ferry Code"}, ["far-1"]),
        ({"domain": "science"}, []),
        ({"split": "test"}, []),
        ({"order": "far", "min_distance": 2}, ["far-1", "orchard-2", "orchard-4"]),
        ({"article": "Linden Orchard Act", "kind": "pronominal", "max_distance": 1}, ["orchard-1", "orchard-3"]),
    ],
)
def test_filters(filters, ids):
    assert [row["id"] for row in Shelf(ROWS).find(Filters(**filters))] == ids


def test_a_filter_by_question_word_takes_the_first_and_counts_whom_as_who():
    asked = ("In what year?", "Whom did she ask, and how?", "Name it.")
    assert [question_word(question) for question in asked] == ["what", "who", ""]
    found = Shelf(ROWS).find(Filters(question_word="where"))
    assert found and {question_word(row["question"]) for row in found} == {"where"}


def test_an_order_that_there_is_none_of_is_one_sentence():
    with pytest.raises(UsageError, match="far, near"):
        Shelf(ROWS).find(Filters(order="sideways"))


def rejected_row():
    turned_down = {k: v for k, v in HOSTILE.items() if k not in ("kind", "distance", "derivation", "reviewed_by")}
    return {
        **turned_down,
        "rejected_by": ["model:m"],
        "problems": ["other"],
        "reason": "<script>no</script> sense",
    }


def test_rejected_pairs_are_shown_with_their_reason_and_nothing_of_theirs_is_markup():
    shelf = Shelf(ROWS[:1], rejected=[rejected_row()])
    assert "1 question" in browse.listed(shelf, Filters(config="rejected"))
    shown = opened(shelf.find(Filters(config="rejected"))[0])
    assert "Why it was rejected" in shown and "another reason" in shown
    assert "script" not in Tags(shown).tags


def test_the_json_of_a_row_is_the_row_even_with_characters_that_the_page_does_not_show():
    class Code(HTMLParser):
        text, inside = "", False

        def handle_starttag(self, tag, attrs):
            self.inside = tag == "code"

        def handle_endtag(self, tag):
            if tag == "code":
                self.inside, self.done = False, self.text

        def handle_data(self, data):
            self.text = self.text + data if self.inside else ""

    row = {**HOSTILE, "answer": "a\u202eb\x07 <b>"}
    reader = Code()
    reader.feed(opened(row))
    assert json.loads(reader.done) == {k: v for k, v in row.items() if k != "split"}


def test_the_charts_count_every_row_once():
    shown = charts.charts(Shelf(ROWS, rejected=[rejected_row()]))
    tables = re.findall(r"<caption>(.*?)</caption>(.*?)</table>", shown, re.DOTALL)
    sums = {title: sum(map(int, re.findall(r"<span>(\d+)</span>", body))) for title, body in tables}
    assert sums.pop("Why pairs were rejected") == 1
    assert len(sums) == 6 and set(sums.values()) == {len(ROWS)}


def test_the_proof_and_the_votes_stand_with_the_row():
    provenance = {
        "id": ROWS[0]["id"],
        "rounds": [],
        "proof": [{"context": "required without 0", "answer": "<i>cannot tell</i>", "is_right": False}],
        "votes": [{"reviewer": "person:ann", "is_quality": True, "reason": "Fine.", "problems": [], "is_person": True}],
    }
    shown = opened(ROWS[0], provenance)
    assert "the required ones without 0" in shown and "&lt;i&gt;" in shown
    assert "1 vote<" in shown and "ann, a person" in shown


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (["section", "required"], "Proven:"),
        (["section", "required", "nothing"], "known from elsewhere, or guessed"),
        (["section", "required", "required without 2", "section without 0"], "came without sentence 2 as well"),
        (["section"], "required sentences alone did not"),
        ([], "Open:"),
    ],
)
def test_the_proof_says_what_follows_from_it(right, words):
    names = ["section", "required", *(f"{c} without {k}" for c in ("required", "section") for k in (0, 2)), "nothing"]
    proof = [{"context": name, "answer": "", "is_right": name in right} for name in names]
    shown = opened(ROWS[0], {"id": ROWS[0]["id"], "rounds": [], "proof": proof, "votes": []})
    assert words in shown and shown.count("no answer") == len(names) and "nothing at all" in shown


def test_the_list_counts_what_fits_and_pages_it():
    many = Shelf([{**row, "id": f"{row['id']}-{n}"} for n in range(5) for row in ROWS])
    first, last = browse.listed(many, Filters()), browse.listed(many, Filters(), page=99)
    assert "30 questions" in first and "Page 1 of 4" in first and first.count("data-id") == browse.PAGE
    assert "Page 4 of 4" in last and last.count("data-id") == 30 - 3 * browse.PAGE
    assert "10 of 30 questions" in browse.listed(many, Filters(required_sentences=3))


def test_no_match_and_no_data_are_told_apart():
    assert "Clear filters" in browse.listed(Shelf(ROWS), Filters(text="nowhere"))
    assert "No rows yet" in browse.listed(Shelf([]), Filters())


def test_an_unknown_id_is_one_sentence():
    with pytest.raises(UsageError, match="no question with this id"):
        Shelf(ROWS).get("nothing")


def test_a_row_shows_its_rounds_from_the_provenance():
    pair = {k: ROWS[0][k] for k in ("question", "answer", "required_sentence_indices", "coreferences")}
    verdict = {"reviewer": "content_cohesion", "is_quality": False, "reason": "Too vague.", "problems": ["other"]}
    page = opened(ROWS[0], {"rounds": [{"index": 0, **pair, "verdicts": [verdict]}], "proof": [], "votes": []})
    assert "Content cohesion</b> rejects" in page and "Too vague." in page and "another reason" in page


# the app


def test_importing_the_app_reads_no_data_starts_nothing_and_turns_analytics_off_first():
    code = "import sys, os, app; print('spacy' in sys.modules, 'openai' in sys.modules)"
    code += "; print(os.environ['GRADIO_ANALYTICS_ENABLED'])"
    environment = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "True"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["False", "False", "False"]


def test_the_spaces_requirements_are_a_part_of_the_projects_without_gradio():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {*project["dependencies"], *project["optional-dependencies"]["space"]}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = {line for line in lines if not line.startswith("#")}
    assert wanted and wanted <= known and not any(line.startswith("gradio") for line in wanted)


def test_the_page_keeps_its_width_and_lets_parts_of_it_stick_to_the_window():
    rules = (ROOT / "space" / "style.css").read_text(encoding="utf-8").partition(".gradio-container {")[2][:300]
    assert "width: 100%" in rules  # else it is as wide as what stands in it, and jumps
    assert "overflow: clip" in rules  # gradio's "hidden" would keep the review's messages at the page's end

"""The Browse tab in a real Chromium."""

import json
import re

import pytest
from playwright.sync_api import expect

from space import browse
from space.shelf import load_shelf

pytestmark = pytest.mark.browser

RELEASED = load_shelf().rows

# Where the line of reference `number` starts and ends, and the words it should join, in the page's coordinates.
LINE = """(number) => {
  const passage = document.querySelector('#row craqan-passage');
  const box = passage.getBoundingClientRect();
  const path = passage.shadowRoot.querySelectorAll('path')[number];
  const at = (length) => { const p = path.getPointAtLength(length); return [p.x + box.left, p.y + box.top]; };
  const lines = (role) => [...passage.querySelectorAll(`[data-${role}]`)].flatMap((e) => [...e.getClientRects()])
    .map((r) => [r.left, r.top, r.right, r.bottom]);
  return { start: at(0), end: at(path.getTotalLength()), mention: lines('mention'), antecedent: lines('antecedent'),
           width: window.innerWidth, points: [...Array(40).keys()].map((i) => at(i / 39 * path.getTotalLength())) };
}"""


@pytest.fixture
def page(shared_small_page):
    """All six rows in the list, whatever the test before has chosen."""
    search = shared_small_page.get_by_label("Search")
    search.fill("no such word")
    expect(shared_small_page.locator(".empty")).to_be_visible()
    shared_small_page.get_by_role("button", name="Clear filters").click()
    expect(search).to_have_value("")
    expect(shared_small_page.locator(".count")).to_have_text("6 questions")
    shared_small_page.wait_for_timeout(300)  # the button and the emptied field ask for the list one after the other
    return shared_small_page


def touches(point, boxes, by=4):
    return any(b[0] - by <= point[0] <= b[2] + by and b[1] - by <= point[1] <= b[3] + by for b in boxes)


def choose(page, label, choice):
    box = page.get_by_label(label, exact=True)
    box.click()
    page.locator(f"#{box.get_attribute('aria-controls')}").get_by_role("option", name=choice, exact=True).click()


def test_the_released_rows_are_counted_and_the_first_is_open(app, open_page):
    page = open_page(app)
    expect(page.locator(".count")).to_have_text(f"{len(RELEASED)} questions")
    expect(page.locator("#row .question").first).to_have_text(RELEASED[0]["question"])
    needed = len(RELEASED[0]["required_sentence_indices"])
    expect(page.locator("#row .sentence.required")).to_have_count(needed)


def test_search_and_choices_narrow_the_list_and_clear_brings_it_back(page):
    count = page.locator(".count")
    page.get_by_label("Search").fill("coins")
    expect(count).to_have_text("1 of 6 questions")
    page.get_by_label("Search").fill("")
    expect(count).to_have_text("6 questions")
    for label, choice, expected in [
        ("Article", "Linden Orchard Act", 4),
        ("Sentences", "3", 2),
        ("Coreference", "Noun phrase", 1),
    ]:
        choose(page, label, choice)
        expect(count).to_have_text(f"{expected} of 6 questions")
    page.get_by_role("button", name="Clear filters").click()
    expect(count).to_have_text("6 questions")


def test_the_distance_filter_takes_a_range(page):
    more = page.get_by_role("button", name="More filters")
    if more.get_attribute("aria-expanded") != "true":
        more.click()
    choose(page, "Distance from", "2")
    choose(page, "Distance to", "2")
    expect(page.locator(".count")).to_have_text("2 of 6 questions")


def test_nothing_found_says_what_to_do(page):
    page.get_by_label("Search").fill("no such word")
    expect(page.locator(".empty")).to_contain_text("Clear filters")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_row_opens_with_a_line_from_mention_to_antecedent(small_app, open_page, width):
    page = open_page(small_app, width)
    page.get_by_role("button", name=re.compile("Maria Teller want")).click()
    expect(page.locator("#row .question").first).to_contain_text("Maria Teller")
    expect(page.locator("#row mark.mention").first).to_contain_text("She")
    line = page.evaluate(LINE, 0)
    assert touches(line["start"], line["antecedent"]) and touches(line["end"], line["mention"])
    assert all(0 <= x <= line["width"] for x, _ in line["points"])


def test_the_line_follows_when_the_page_gets_narrow(small_app, open_page):
    page = open_page(small_app)
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(300)
    line = page.evaluate(LINE, 0)
    assert touches(line["start"], line["antecedent"]) and touches(line["end"], line["mention"])


def test_required_sentences_differ_by_more_than_colour(page):
    styles = "e => { const s = getComputedStyle(e.querySelector('.number')); return s.fontWeight; }"
    required = page.locator("#row .sentence.required").first.evaluate(styles)
    other = page.locator("#row .sentence:not(.required)").first.evaluate(styles)
    assert int(required) > int(other)


def test_a_hostile_row_is_shown_as_text(page):
    page.get_by_role("button", name=re.compile("of 1950 say")).click()
    passage = page.locator("#row craqan-passage")
    expect(passage).to_contain_text("<script>window.hacked = 1</script>")
    expect(passage).to_contain_text('<img src=x onerror="window.hacked=1">')
    expect(passage).to_contain_text("${window.hacked=1} and {{value}}")
    expect(passage).to_contain_text("U+202E")
    assert page.locator("#row img, #row h1, #row script").count() == 0
    assert page.evaluate("window.hacked") is None


def test_the_keyboard_alone_opens_a_row(page):
    page.locator(".rows button").first.focus()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")
    expect(page.locator("#row .question").first).to_contain_text("five growers")
    assert outline == "solid"


def test_on_a_phone_an_opened_row_comes_into_view(small_app, open_page):
    page = open_page(small_app, 360)
    page.get_by_role("button", name=re.compile("Ferry Code")).click()
    expect(page.locator("#row .question").first).to_contain_text("Ferry Code")
    expect(page.locator("#row .question").first).to_be_in_viewport()


def test_pages_turn(app, open_page):
    if len(RELEASED) <= browse.PAGE:
        pytest.skip("data/ holds no more rows than one page shows")
    page = open_page(app)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".pager")).to_contain_text("Page 2 of")
    expect(page.locator(".rows .question").first).to_have_text(RELEASED[browse.PAGE]["question"])


def test_the_recorder_would_notice_a_request_that_leaves(small_app, open_page):
    page = open_page(small_app)
    page.evaluate("fetch('http://example.invalid/').catch(() => null)")
    assert open_page.recorder.foreign == ["http://example.invalid/"]
    open_page.recorder.foreign.clear()


def test_the_address_opens_the_row_that_it_names_and_follows_what_is_opened(app, open_page):
    page = open_page(app)
    last = RELEASED[-1]
    page.goto(f"{app.url}?id={last['id']}")
    expect(page.locator("#row .question").first).to_have_text(last["question"])
    expect(page.locator(".rows [aria-current]")).to_contain_text(last["question"])
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    page.locator(".rows button").first.click()
    expect(page).to_have_url(re.compile(r"\?id=[0-9a-f]+"))
    expect(page).not_to_have_url(re.compile(last["id"]))


def test_an_address_that_names_no_row_opens_the_first(app, open_page):
    page = open_page(app)
    page.goto(f"{app.url}?id=%3Cscript%3E")
    expect(page.locator("#row .question").first).to_have_text(RELEASED[0]["question"])


def test_the_address_of_a_rejected_pair_shows_it_among_the_rejected(app, open_page):
    page = open_page(app, width=360)
    row = load_shelf().rejected[-1]
    page.goto(f"{app.url}?id={row['id']}")
    expect(page.locator("#row .question").first).to_have_text(row["question"])
    expect(page.locator(".rows [aria-current]")).to_contain_text(row["question"])
    expect(page.locator("#row")).to_be_in_viewport()
    assert "Traceback" not in app.log.read_text()


def test_rejected_pairs_are_a_choice_away(app, open_page):
    page = open_page(app)
    page.get_by_role("button", name="More filters").click()
    choose(page, "Pairs", "Rejected")
    expect(page.locator(".count")).to_have_text(f"{len(load_shelf().rejected)} questions")
    page.locator(".rows button").first.click()
    expect(page.locator("#row")).to_contain_text("Why it was rejected")


@pytest.mark.parametrize("width", [360, 1280])
def test_open_parts_never_push_the_page_aside(app, open_page, width):
    page = open_page(app, width=width)
    page.get_by_role("button", name="More filters").click()
    page.get_by_role("button", name="The set in figures").click()
    for summary in page.locator("#row summary").all():
        summary.click()
    expect(page.locator(".chart").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_copied_row_is_its_json(app, open_page):
    page = open_page(app)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("summary", has_text="Use this row").click()
    page.get_by_role("button", name="Copy").last.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["id"] == RELEASED[0]["id"]

"""The Generate tab in a real Chromium, with the rules and with a scripted model."""

import json
import time

import pytest
from gradio_client import Client
from playwright.sync_api import expect

from space import generate
from tests.model_server import Canned, ModelServer

pytestmark = pytest.mark.browser

EXAMPLE = generate.EXAMPLE.read_text(encoding="utf-8")
CANARY = "visitor-canary-8471"
DRAFT = {
    "question": "What did the Harbour Pilots Act require every foreign ship to take on board?",
    "answer": "a local pilot",
    "required_sentence_indices": [0, 1],
    "coreferences": [
        {
            "kind": "pronominal",
            "mention": {"sentence_index": 1, "text": "It"},
            "antecedent": {"sentence_index": 0, "text": "The Harbour Pilots Act"},
        }
    ],
}
# Whenever the page changes: how many reviewers have accepted, and where the passage stands.
WATCH = """() => {
  window.seen = [];
  const look = () => window.seen.push([document.querySelectorAll('#progress .verdicts > li.yes').length,
    Math.round(document.querySelector('#result craqan-passage')?.getBoundingClientRect().top + window.scrollY)]);
  new MutationObserver(() => document.querySelector('#result craqan-passage') && look())
    .observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture
def tab(shared_page):
    """The tab with the rules chosen and no run under way, whatever the test before has left."""
    page = open_tab(shared_page)
    page.get_by_text("Built-in rules").click()
    expect(page.get_by_role("button", name="Generate a pair")).to_be_enabled()
    return page


def open_tab(page):
    page.get_by_role("tab", name="Generate").click()
    page.locator("#text textarea").wait_for()
    return page


def generate_from(page, text):
    page.locator("#text textarea").fill(text)
    page.get_by_role("button", name="Generate a pair").click()


def use_model(page, url, key=CANARY):
    page.get_by_text("My own model and key").click()
    page.get_by_label("Base URL").fill(url)
    page.get_by_label("Model", exact=True).fill("any-model")
    page.locator("input[type=password]").fill(key)


def answer(request, verdict=True):
    """What the scripted model says: the draft, or a verdict."""
    if "antecedent" in json.dumps(request.get("response_format", "")):
        return DRAFT
    return {"reason": "As it should be.", "problems": [] if verdict else ["other"], "is_quality": verdict}


def test_the_example_gives_a_pair_with_the_rules_and_it_downloads(tab):
    tab.get_by_role("button", name="Use an example text").click()
    expect(tab.locator("#text textarea")).to_have_value(EXAMPLE)
    tab.get_by_role("button", name="Generate a pair").click()
    expect(tab.locator("#status .notice.good")).to_contain_text("Accepted by all 5 reviewers")
    expect(tab.locator("#progress .round").last.locator(".verdicts > li.yes")).to_have_count(5)
    expect(tab.locator("#result .sentence.required")).not_to_have_count(0)
    with tab.expect_download() as download:
        tab.locator("a.download").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    assert len(lines) == 1 and row["status"] == "accepted" and row["generator"].startswith("rules:")
    assert row["question"] == tab.locator("#result .question").inner_text()


def test_the_sections_of_a_text_can_be_chosen(tab):
    tab.get_by_role("button", name="Use an example text").click()
    tab.get_by_label("Section").click()
    tab.get_by_role("option", name="Later changes (4 sentences)").click()
    tab.get_by_role("button", name="Generate a pair").click()
    expect(tab.locator("#result .place")).to_contain_text("Later changes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Paste a text first"),
        ("The law holds. It is old.", "too short: its longest section has 2 sentences"),
        ("The law holds. " * 20_000, "has 300,000 characters and the limit is 200,000"),
        ("Der Hund bellt laut. Er hat Hunger. Seine Herrin gibt ihm einen Knochen.", "does not look like English"),
        ("The rain fell. The wind blew hard. The night was long and cold.", "No pair found in this text"),
    ],
    ids=["empty", "short", "long", "foreign", "nothing"],
)
def test_each_problem_is_told_and_the_text_stays(tab, text, message):
    generate_from(tab, text)
    expect(tab.get_by_role("alert")).to_contain_text(message)
    expect(tab.locator("#text textarea")).to_have_value(text)
    expect(tab.get_by_role("button", name="Generate a pair")).to_be_enabled()


@pytest.mark.parametrize(
    ("url", "key", "message"),
    [
        ("http://example.com/v1", "k", "must start with https"),
        ("", "", "Enter the key for api.openai.com"),
        ("http://127.0.0.1:9/v1", "", "No connection to 127.0.0.1:9"),
    ],
)
def test_a_model_that_cannot_be_called_is_told(tab, url, key, message):
    use_model(tab, url, key)
    generate_from(tab, EXAMPLE)
    expect(tab.get_by_role("alert")).to_contain_text(message)


def test_verdicts_arrive_one_by_one_and_the_passage_does_not_move(app, open_page):
    def slow(request):
        said = answer(request)
        if said is not DRAFT:
            time.sleep(0.4)  # the scripted server answers one after the other
        return said

    with ModelServer(slow) as server:
        page = open_tab(open_page(app))
        use_model(page, server.url)
        generate_from(page, EXAMPLE)
        expect(page.locator(".editor:not([open])")).to_have_count(1)
        page.evaluate(WATCH)
        expect(page.locator("#status .notice.good")).to_be_visible(timeout=20_000)
    seen = page.evaluate("window.seen")
    assert len({verdicts for verdicts, _ in seen}) > 2 and len({top for _, top in seen}) == 1


def test_stop_ends_the_run_and_its_calls(tab):
    with ModelServer(lambda request: Canned(fault="hang")) as server:
        use_model(tab, server.url)
        generate_from(tab, EXAMPLE)
        expect(tab.locator("#status")).to_contain_text("looking for a question")
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator("#status")).to_contain_text("Stopped")
        expect(tab.get_by_role("button", name="Generate a pair")).to_be_enabled()
        before = len(server.calls)
        tab.wait_for_timeout(2_000)
        assert len(server.calls) == before


def test_who_waits_sees_the_place_in_the_queue_and_can_leave_it(app, tab):
    taken = Client(app.url, verbose=False, analytics_enabled=False)
    with ModelServer(lambda request: Canned(fault="hang")) as server:
        for _ in range(generate.AT_ONCE + 1):
            taken.submit(EXAMPLE, -1, server.url, "any", api_name="/generate_pair")
        while len(server.calls) < generate.AT_ONCE:
            time.sleep(0.05)
        generate_from(tab, EXAMPLE)
        waiting = tab.locator("#status .waiting")
        expect(waiting).to_have_text("Waiting for a turn: place 2 of 2 in the queue.")
        assert waiting.evaluate("e => getComputedStyle(e.closest('.html-container')).opacity") == "1"
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator("#status")).to_contain_text("Stopped")
    expect(tab.get_by_role("button", name="Generate a pair")).to_be_enabled()


def test_a_key_is_in_no_page_storage_schema_or_log(app, open_page):
    with ModelServer(answer) as server:
        page = open_tab(open_page(app))
        use_model(page, server.url)
        generate_from(page, EXAMPLE)
        expect(page.locator("#status .notice.good")).to_be_visible()
        assert any(CANARY in call.headers.get("authorization", "") for call in server.calls)
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    schema = [page.request.get(app.url + path).text() for path in ("config", "gradio_api/info")]
    places = [page.content(), kept, *schema, app.log.read_text()]
    assert not any(CANARY in place for place in places)


def test_a_hostile_text_is_shown_as_text(app, open_page):
    hostile = EXAMPLE.replace("local pilot", 'local <img src=x onerror="window.hacked=1"> ${window.hacked=1} {{pilot}}')
    with ModelServer(answer) as server:
        page = open_tab(open_page(app))
        use_model(page, server.url)
        generate_from(page, hostile + "\n<script>window.hacked = 1</script> \u202egnorw\n")
        expect(page.locator("#status .notice")).not_to_contain_text("Reading")
        expect(page.locator("#result craqan-passage")).to_contain_text("${window.hacked=1}")
    assert page.locator("#result img, #result script").count() == 0
    assert page.evaluate("window.hacked") is None

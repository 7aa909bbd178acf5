"""Texts from files and Wikipedia, and the sentences before a run, in a real Chromium."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_generate import EXAMPLE, open_tab

pytestmark = pytest.mark.browser

FIELDS = ".editor textarea"


@pytest.fixture
def tab(shared_small_page):
    """The tab with the example's sentences as they were split."""
    page = open_tab(shared_small_page)
    page.locator("#text textarea").fill("")
    expect(page.locator(".editor")).to_have_count(0)
    page.get_by_role("button", name="Use an example text").click()
    expect(page.locator(FIELDS)).to_have_count(9)
    return page


def values(page):
    return page.eval_on_selector_all(FIELDS, "fields => fields.map((f) => f.value)")


def upload(page, name, content):
    page.locator("#file input").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


def run(page):
    page.locator("a.download").evaluate_all("links => links.forEach((link) => link.remove())")  # of the run before
    page.get_by_role("button", name="Generate a pair").click()
    expect(page.locator("a.download")).to_be_visible(timeout=60_000)
    with page.expect_download() as download:
        page.locator("a.download").click()
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def test_sentences_are_split_joined_left_out_and_restored_by_keyboard_alone(tab):
    before = values(tab)
    tab.locator(FIELDS).first.focus()
    for key in ("Home", "Control+ArrowRight", "Control+ArrowRight", "Enter"):
        tab.keyboard.press(key)
    assert values(tab)[:2] == ["The Harbour", before[0].removeprefix("The Harbour ")]
    expect(tab.locator(".editor [role=status]")).to_have_text("Split: the rest is sentence 1.")
    expect(tab.locator(FIELDS).nth(1)).to_be_focused()
    tab.keyboard.press("Backspace")
    assert values(tab) == before
    for key in ("End", "Delete"):
        tab.keyboard.press(key)
    assert values(tab)[0] == f"{before[0]} {before[1]}" and len(values(tab)) == 8
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Space")
    expect(tab.locator(".editor li").first.locator(".number")).to_have_text("–")
    expect(tab.locator(FIELDS).nth(1)).to_have_attribute("aria-label", "Sentence 0")
    tab.get_by_role("button", name="As they were").press("Enter")
    assert values(tab) == before and tab.locator(".editor input:not(:checked)").count() == 0


def test_the_buttons_do_the_same(tab):
    before = values(tab)
    expect(tab.get_by_role("button", name="Split at the cursor")).to_be_disabled()
    tab.locator(FIELDS).first.evaluate("f => { f.focus(); f.setSelectionRange(11, 11); }")
    tab.get_by_role("button", name="Split at the cursor").click()
    assert values(tab)[0] == "The Harbour" and len(values(tab)) == 10
    tab.locator(FIELDS).first.focus()
    tab.get_by_role("button", name="Join with the next").click()
    assert values(tab) == before


def test_the_run_takes_the_edited_sentences_whatever_they_hold(tab):
    hostile = 'Before that year, <img src=x onerror="window.hacked=1"> captains steered on their own.'
    tab.locator(FIELDS).nth(3).fill("The Act created the Canal Board in 1949.")
    tab.locator(FIELDS).nth(2).fill(hostile)
    tab.locator(".editor input").nth(4).uncheck()
    row = run(tab)
    assert [s["text"] for s in row["sentences"]] == values(tab)[:4]
    assert row["sentences"][2]["text"] == hostile and "Canal Board" in row["question"] + row["answer"]
    assert row["segmenter"].endswith("edited by hand")
    expect(tab.locator("#result .sentence").nth(2)).to_contain_text("onerror=")
    assert tab.locator("#result img").count() == 0 and tab.evaluate("window.hacked") is None


def test_a_chosen_section_shows_its_sentences_and_nothing_else(tab):
    tab.get_by_label("Section").click()
    tab.get_by_role("option", name="Later changes (4 sentences)").click()
    expect(tab.locator(FIELDS)).to_have_count(4)
    assert run(tab)["section_path"] == ["Later changes"]


def test_changed_sentences_are_kept_while_another_section_is_looked_at(tab):
    tab.locator(FIELDS).first.fill("The Canal Act was signed by Governor Ellen Marsh in 1948.")
    tab.locator(".editor input").nth(1).uncheck()
    left = values(tab)
    for choice, shown in (("Later changes (4 sentences)", left[5:]), ("Origin (5 sentences)", left[:5])):
        tab.get_by_label("Section").click()
        tab.get_by_role("option", name=choice).click()
        expect(tab.locator(FIELDS)).to_have_count(len(shown))
        assert values(tab) == shown
    expect(tab.locator(".editor input").nth(1)).not_to_be_checked()
    tab.get_by_role("button", name="As they were").click()
    assert values(tab)[0] != left[0]


def test_too_few_sentences_left_are_told(tab):
    for box in tab.locator(".editor ol").first.get_by_role("checkbox").all()[1:]:
        box.uncheck()
    tab.get_by_role("button", name="Generate a pair").click()
    expect(tab.get_by_role("alert")).to_contain_text("Only 1 sentence is left of “Origin”")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.md", b"\0\1\2\xff" * 20, "This file is binary"),
        ("a.txt", b"", "This file is empty"),
        ("a.txt", b"a" * 1_000_001, "too large: the limit is 1,000,000 bytes"),
        ("a.txt", "Ärger".encode("latin-1"), "is not UTF-8 text"),
        ("a.exe", b"MZ", "Choose a file that ends in .md"),
    ],
    ids=["binary", "empty", "large", "latin", "kind"],
)
def test_a_file_that_cannot_be_used_is_told_and_the_text_stays(tab, name, content, message):
    upload(tab, name, content)
    expect(tab.get_by_role("alert")).to_contain_text(message)
    expect(tab.locator("#text textarea")).to_have_value(EXAMPLE)


@pytest.mark.parametrize(
    ("name", "wrap"), [("a.md", "{}"), ("a.txt", "{}"), ("a.html", "<html><body><p>{}</p></body>")]
)
def test_a_file_fills_the_text(tab, name, wrap):
    text = "The Reef Act was signed by Anna Holt in 1950. It protects the coral. She called it a promise."
    upload(tab, name, wrap.format(text).encode())
    expect(tab.locator(FIELDS)).to_have_count(3)
    assert " ".join(values(tab)) == text


def test_an_article_of_wikipedia_is_fetched_and_its_source_stays_with_the_pair(tab):
    title = tab.get_by_label("Or an article of Wikipedia")
    title.fill("No such thing")
    title.press("Enter")
    expect(tab.get_by_role("alert")).to_contain_text('has no article "No such thing"')
    title.fill("Harbor Act")
    title.press("Enter")
    expect(tab.locator("#status")).to_contain_text("CC BY-SA 4.0")
    expect(tab.locator(FIELDS)).to_have_count(3)
    row = run(tab)
    assert row["source"]["revision"] == "1181234567" and row["article_title"] == "Harbor Act"


def test_a_pair_is_sent_to_review_once(tab):
    question = run(tab)["question"]
    send = tab.get_by_role("button", name="Send to review")
    send.click()
    expect(tab.locator("#status")).to_contain_text("Sent: it will be read")
    expect(send).to_be_disabled()
    assert run(tab)["question"] == question
    send.click()
    expect(tab.locator("#status")).to_contain_text("in the review already")

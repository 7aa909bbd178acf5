"""The Evaluate tab in a real Chromium."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_browse import choose

pytestmark = pytest.mark.browser


def evaluate(page):
    page.get_by_role("tab", name="Evaluate").click()
    page.locator(".cutting").first.wait_for()
    return page


def test_two_chunkers_are_drawn_and_one_can_be_left_out(small_app, open_page):
    page = evaluate(open_page(small_app))
    expect(page.locator(".cutting")).to_have_count(2)
    choose(page, "Beside it", "None")
    expect(page.locator(".cutting")).to_have_count(1)


def test_a_cut_says_which_coreferences_it_breaks_and_marks_them(app, open_page):
    page = evaluate(open_page(app))
    choose(page, "Beside it", "None")
    choose(page, "Chunker", "Whole sentences")
    size = page.get_by_role("spinbutton")
    size.fill("20")
    size.press("Enter")
    expect(page.locator(".cutting h3")).to_have_text("Whole sentences, up to 1 sentence")
    expect(page.locator(".cut.breaks").first).to_contain_text("refers to")
    expect(page.locator("mark.lost").first).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_comparison_arrives_and_pushes_nothing_aside(small_app, open_page, width):
    page = evaluate(open_page(small_app, width))
    page.get_by_role("button", name="Compare over the set").press("Enter")
    expect(page.locator("#comparison .count")).to_have_text(re.compile("6 questions on"))
    expect(page.locator("#comparison tbody tr")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

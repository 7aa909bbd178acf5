"""Every tab and state under axe-core's rules of WCAG 2.2 A and AA, at two widths and in both lights."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_evaluate import evaluate
from tests.browser.test_look import states

pytestmark = pytest.mark.browser
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
FADED = """() => new Promise(requestAnimationFrame).then(() => document.getAnimations().every(
    (some) => some.playState !== "running" || some.effect.getTiming().iterations === Infinity))"""
"""Has the page been drawn anew, and has every colour faded in?"""
COLOURS = {"runOnly": ["color-contrast"]}  # all that axe has which the other light can change


def violations(page):
    """In the dark on a phone by all rules, by day the colours alone, and by day on a wide screen by all rules again.

    What a screen's width changes is the layout and which parts are shown; only the narrow one has parts of its own.
    """
    found = _violations(page, RULES)
    page.evaluate("document.body.classList.remove('dark')")
    found += _violations(page, COLOURS)
    page.set_viewport_size({"width": 1280, "height": 900})
    found += _violations(page, RULES)
    page.set_viewport_size({"width": 360, "height": 900})
    page.evaluate("document.body.classList.add('dark')")
    return found


def _violations(page, rules):
    page.wait_for_timeout(300)
    page.wait_for_function(FADED)  # on a busy machine colours fade in late
    found = Axe().run(page, options=rules).response["violations"]
    return [f"{v['id']}: {node['html'][:160]}" for v in found for node in v["nodes"][:3]]


def test_axe_finds_nothing(small_app, open_page):
    page = open_page(small_app, 360, dark=True)
    found = {state: violations(page) for state in states(page)}
    page.get_by_role("tab", name="Review").click()
    found["review"] = violations(page)
    evaluate(page).get_by_role("button", name="Compare over the set").click()
    page.locator("#comparison table").wait_for()
    found["evaluate"] = violations(page)
    assert {state: some for state, some in found.items() if some} == {}

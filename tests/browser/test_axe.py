"""Every tab and state under axe-core's rules of WCAG 2.2 A and AA, at two widths and in both lights."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_evaluate import evaluate
from tests.browser.test_look import states

pytestmark = pytest.mark.browser
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(page):
    page.wait_for_timeout(300)  # colours fade in
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{v['id']}: {node['html'][:160]}" for v in found for node in v["nodes"][:3]]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(app, open_page, width, dark):
    page = open_page(app, width, dark)
    found = {state: violations(page) for state in states(page)}
    page.get_by_role("tab", name="Review").click()
    found["review"] = violations(page)
    evaluate(page).get_by_role("button", name="Compare over the set").click()
    page.locator("#comparison table").wait_for()
    found["evaluate"] = violations(page)
    assert {state: some for state, some in found.items() if some} == {}

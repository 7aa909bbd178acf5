"""How both tabs look: widths, lights, contrast, labels."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

# Every piece of visible text whose contrast with what lies behind it is under WCAG's AA (4.5, or 3 for large type).
WEAK_TEXT = """() => {
  const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a),
    b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const behind = (e) => {
    const chain = []; for (let n = e; n; n = n.parentElement) chain.unshift(parse(getComputedStyle(n).backgroundColor));
    return chain.reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    if (!text || !e.checkVisibility() || e.closest('script, style, .sr, :disabled')) continue;
    if (!e.getClientRects().length) continue;
    const style = getComputedStyle(e), ground = behind(e), ink = over(parse(style.color), ground);
    const [x, y] = [light(ink), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (x + 0.05) / (y + 0.05);
    if (ratio < (large ? 3 : 4.5)) weak.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
  }
  return weak;
}"""
UNLABELLED = """() => [...document.querySelectorAll('input, textarea, select, button')]
  .filter((e) => e.checkVisibility() && e.type !== 'hidden')
  .filter((e) => !(e.ariaLabel || e.labels?.length || e.innerText?.trim() || e.ariaLabelledByElements?.length))
  .map((e) => e.outerHTML.slice(0, 120))"""


def states(page):
    """Both tabs, the second one empty, filled in for a model, and with a result."""
    yield "browse"
    page.get_by_role("tab", name="Generate").click()
    page.locator("#text textarea").wait_for()
    yield "generate"
    page.get_by_text("My own model and key").click()
    page.get_by_label("Base URL").wait_for()
    yield "model"
    page.get_by_text("Built-in rules").click()
    page.get_by_role("button", name="Use an example text").click()
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Generate a pair").click()
    expect(page.locator("a.download")).to_be_visible(timeout=60_000)
    yield "result"


@pytest.mark.parametrize("width", [360, 1920])
def test_nothing_is_wider_than_the_page(app, open_page, width):
    page = open_page(app, width)
    for state in states(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_can_be_read_and_every_field_has_a_name(app, open_page, dark):
    page = open_page(app, dark=dark)
    for state in states(page):
        page.wait_for_timeout(300)  # colours fade in
        assert page.evaluate(WEAK_TEXT) == [], state
        assert page.evaluate(UNLABELLED) == [], state


def test_the_visitors_light_is_followed(app, open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    assert open_page(app).evaluate(ground) == "rgb(250, 248, 244)"
    assert open_page(app, dark=True).evaluate(ground) == "rgb(18, 21, 27)"


def test_headings_and_language_are_there(app, open_page):
    page = open_page(app)
    assert page.title() == "CRaQAn" and page.evaluate("document.documentElement.lang") == "en"
    expect(page.get_by_role("heading", level=1)).to_have_text("CRaQAn")

"""Presses that come while the server has yet to answer those before: its answers are held back here, one by one."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_generate import EXAMPLE, generate_from, open_tab, use_model
from tests.model_server import Canned, ModelServer

pytestmark = pytest.mark.browser

BUSY = "This page is too busy"


class Held:
    """The requests of `page` to paths that end like `path`: kept until they are let go, the first one first."""

    def __init__(self, page, path):
        self.page, self.pattern, self.routes = page, f"**/gradio_api/{path}*", []
        page.route(self.pattern, lambda route: self.routes.append(route))  # playwright marks what it is given

    def wait_for(self, count):
        for _ in range(600):
            if len(self.routes) >= count:
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"{len(self.routes)} of {count} requests came")

    def let_go(self):
        self.routes.pop(0).continue_()

    def end(self):
        while self.routes:
            self.let_go()
        self.page.unroute(self.pattern)


@pytest.fixture
def tab(app, open_page):
    return open_tab(open_page(app))


@pytest.fixture
def hanging():
    with ModelServer(lambda request: Canned(fault="hang")) as server:
        yield server


def button(page, name):
    return page.get_by_role("button", name=name)


def expect_to_stop(page, server):
    """Stop is answered, and no call is made afterwards."""
    expect(page.locator("#status")).to_contain_text("Stopped")
    expect(button(page, "Generate a pair")).to_be_enabled()
    expect(button(page, "Stop")).to_be_disabled()
    before = len(server.calls)
    page.wait_for_timeout(1_000)
    assert len(server.calls) == before and BUSY not in page.locator("#status").inner_text()


def test_a_run_whose_section_was_chosen_in_the_text_before_does_not_fail(tab):
    button(tab, "Use an example text").click()
    tab.get_by_label("Section").click()
    tab.get_by_role("option", name="Later changes (4 sentences)").click()
    expect(tab.locator(".editor")).to_contain_text("The sentences: 4")
    held = Held(tab, "queue/join")
    generate_from(tab, "")
    held.wait_for(2)
    held.let_go()  # the change of the text, after which the server knows of no such section
    expect(tab.locator(".editor")).to_have_count(0)
    held.end()
    expect(tab.locator("#status")).to_contain_text("Paste a text first")
    expect(button(tab, "Generate a pair")).to_be_enabled()


@pytest.mark.parametrize("path", ["cancel", "reset"])
def test_the_run_after_a_stopped_one_is_not_taken_for_it(tab, hanging, path):
    use_model(tab, hanging.url)
    generate_from(tab, EXAMPLE)
    expect(tab.locator("#status")).to_contain_text("looking for a question")
    held = Held(tab, path)
    button(tab, "Stop").click()
    held.wait_for(1)
    answer = held.routes[0].fetch()  # now the server has ended the run, and says so twice: once with this answer
    tab.wait_for_timeout(500)
    expect(button(tab, "Generate a pair")).to_be_disabled()
    held.routes.pop().fulfill(response=answer)
    held.end()
    button(tab, "Generate a pair").click()
    expect(tab.locator("#status")).to_contain_text("looking for a question")
    button(tab, "Stop").click()
    expect_to_stop(tab, hanging)


def test_stop_ends_a_run_that_the_server_has_not_taken_yet(tab, hanging):
    use_model(tab, hanging.url)
    tab.locator("#text textarea").fill(EXAMPLE)
    expect(tab.locator(".editor")).to_have_count(1)
    held = Held(tab, "queue/join")
    button(tab, "Generate a pair").click()
    held.wait_for(1)
    button(tab, "Stop").click()
    tab.wait_for_timeout(200)
    held.end()
    expect_to_stop(tab, hanging)


def test_a_run_that_is_not_taken_is_told_in_a_sentence_and_can_be_tried_again(tab):
    tab.route("**/gradio_api/queue/join*", lambda route: route.fulfill(status=503, json={"detail": "Queue is full."}))
    button(tab, "Generate a pair").click()
    expect(tab.get_by_role("alert")).to_contain_text(BUSY)
    expect(button(tab, "Stop")).to_be_disabled()
    tab.unroute("**/gradio_api/queue/join*")
    generate_from(tab, "")
    expect(tab.locator("#status")).to_contain_text("Paste a text first")

"""`craqan review serve` in a process of its own, and a person at it who uses nothing but the keyboard."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import App, answering, surroundings
from tests.browser.warm import ROOT, Warm


class Desk:
    """The page of the review file in `folder`, on a port of its own, to be killed and started again.

    With an `environment` of its own it is the command in a new interpreter, which takes some seconds more.
    """

    def __init__(self, folder: Path, **environment: str) -> None:
        self.review = folder / "review.sqlite"
        self.port, self.environment = surroundings(folder, PYTHONPATH=str(ROOT), **environment)
        self.app = App(f"http://127.0.0.1:{self.port}/", folder / "serve.log")
        self.is_new = bool(environment)
        self.process: Any = None

    def start(self) -> "Desk":
        command = ["review", "serve", str(self.review), "--port", str(self.port)]
        if self.is_new:
            with self.app.log.open("a") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "generation", *command],
                    cwd=ROOT,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                )
        else:
            self.process = Warm("generation", command, self.environment, self.app.log)
        answering(self.app.url, self.process, self.app.log)
        return self

    def kill(self) -> None:
        self.process.kill()
        if self.is_new:
            self.process.wait()


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[Desk]:
    """The page of `folder`/review.sqlite while the block runs."""
    desk = Desk(folder, **environment).start()
    try:
        yield desk
    finally:
        desk.kill()


def sign_in(open_page: Any, desk: Desk, name: str, width: int = 1280, **options: Any) -> Any:
    """The tab opened and the door passed by keyboard."""
    page = open_page(desk.app, width, **options)
    page.get_by_role("tab", name="Review").focus()
    page.keyboard.press("Enter")
    page.locator("#reviewer-name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator(".desk").wait_for()
    return page


def press(page: Any, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def question(page: Any) -> str:
    return str(page.locator(".desk .question").inner_text())


def vote(page: Any, keys: str) -> str:
    """Press the keys and Enter; return the question that was voted on, once the vote is said to be kept."""
    asked = question(page)
    ticket = page.locator(".desk").get_attribute("data-facts")
    press(page, keys + " Enter")
    expect(page.locator(".desk")).not_to_have_attribute("data-facts", ticket)
    expect(page.locator("#review-message")).to_contain_text("Kept")
    return asked


def is_finished(page: Any) -> bool:
    return bool(page.locator(".desk.finished").count())

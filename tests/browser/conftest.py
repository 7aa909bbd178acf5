"""A real Chromium on the real app, in a process of its own; every page records where it sends requests."""

import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.warm import Warm

CHROMIUM = os.environ.get("CRAQAN_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTING = 120  # seconds that the app may take to answer on a busy machine
PATIENCE = 30_000  # milliseconds that the page may take to come to what is expected of it


@dataclass
class App:
    """A running app: its address, and the file that all its output goes to."""

    url: str
    log: Path


def surroundings(folder: Path, **more: str) -> tuple[int, dict[str, str]]:
    """A free port, and the environment of a server on it that knows no key and keeps to `folder`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN", "SPACE_ID")}
    own = {"GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1", "HF_HOME": str(folder)}
    return port, {**kept, **own, **more}


def answering(url: str, process: Any, log: Path) -> None:
    """Wait until the server at `url` answers; `process` has a `poll` that is not None once it has ended."""
    deadline = time.monotonic() + STARTING
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}config", timeout=STARTING):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    pytest.fail(f"The app did not start:\n{log.read_text()}")


def _serve(module: str, folder: Path) -> Iterator[App]:
    port, environment = surroundings(folder)
    running = App(f"http://127.0.0.1:{port}/", folder / "app.log")
    process = Warm(module, [], environment, running.log)
    try:
        answering(running.url, process, running.log)
        yield running
    finally:
        process.end()


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """`python app.py`, as visitors meet it, on the released rows."""
    yield from _serve("app", tmp_path_factory.mktemp("app"))


@pytest.fixture(scope="package")
def small_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The same app on six known rows, a hostile one among them."""
    yield from _serve("tests.browser.serve", tmp_path_factory.mktemp("small_app"))


@pytest.fixture(scope="package")
def chromium():
    """Skips where there is no Chromium, unless CRAQAN_REQUIRE_BROWSER=1: then it fails."""
    if not Path(CHROMIUM).exists():
        missing = f"no Chromium at {CHROMIUM}: install it, or name it in CRAQAN_CHROMIUM"
        if os.environ.get("CRAQAN_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Recorder:
    """All requests of a page that leave this machine, and all errors that its scripts raise."""

    def __init__(self) -> None:
        self.foreign: list[str] = []
        self.errors: list[str] = []

    def watch(self, page) -> None:
        page.on("request", self._seen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _seen(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.foreign.append(request.url)


class Visits:
    """Opens pages; nothing may have left by any of them, nor any script have failed.

    The first page shares a profile with those of tests before, so that the scripts need not be read again, half of a
    page's cost; what they have stored is gone. Each further page has a profile of its own, as another visitor.
    """

    def __init__(self, chromium: Any, common: Any) -> None:
        self.recorder = Recorder()
        self._chromium, self._common = chromium, common
        self._own: list[Any] = []
        self._pages: list[Any] = []

    def __call__(self, running: App, width: int = 1280, dark: bool = False) -> Any:
        context = self._common if not self._pages else self._chromium.new_context()
        if self._pages:
            self._own.append(context)
        page = context.new_page()
        self._pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        self.recorder.watch(page)
        page.goto(running.url)
        page.locator(".open-row, .empty").first.wait_for()
        return page

    def end(self) -> None:
        if self._pages and self._pages[0].url.startswith("http"):
            self._pages[0].evaluate("localStorage.clear(); sessionStorage.clear()")
            self._pages[0].close()
            self._common.clear_cookies()
            self._common.clear_permissions()
        for context in self._own:
            context.close()
        assert not self.recorder.foreign
        assert not self.recorder.errors


@pytest.fixture(scope="package")
def profile(chromium):
    return chromium.new_context()


@pytest.fixture
def open_page(chromium, profile):
    """open_page(app, width=..., dark=...) opens the app in a profile in which nothing is stored."""
    visits = Visits(chromium, profile)
    yield visits
    visits.end()


@pytest.fixture(scope="module")
def shared_page(chromium, app):
    """One page on the released rows for a module's tests, which leave it fit for the next."""
    visits = Visits(chromium, chromium.new_context())
    yield visits(app)
    visits.end()


@pytest.fixture(scope="module")
def shared_small_page(chromium, small_app):
    """One page on the six known rows for a module's tests, which leave it fit for the next."""
    visits = Visits(chromium, chromium.new_context())
    yield visits(small_app)
    visits.end()

"""A real Chromium on the real app, in a process of its own; every page records where it sends requests."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CRAQAN_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTING = 60  # seconds that the app may take to answer on a busy machine


@dataclass
class App:
    """A running app: its address, and the file that all its output goes to."""

    url: str
    log: Path


def _serve(command: list[str], folder: Path) -> Iterator[App]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "app.log"
    kept = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN", "SPACE_ID")}
    environment = {**kept, "GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1", "HF_HOME": str(folder)}
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait(f"http://127.0.0.1:{port}/config", process, log)
        yield App(f"http://127.0.0.1:{port}/", log)
    finally:
        process.terminate()
        process.wait(10)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTING
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"The app did not start:\n{log.read_text()}")


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """`python app.py`, as visitors meet it, on the released rows."""
    yield from _serve(["app.py"], tmp_path_factory.mktemp("app"))


@pytest.fixture(scope="package")
def small_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The same app on six known rows, a hostile one among them."""
    yield from _serve(["-m", "tests.browser.serve"], tmp_path_factory.mktemp("small_app"))


@pytest.fixture(scope="package")
def chromium():
    """Skips where there is no Chromium, unless CRAQAN_REQUIRE_BROWSER=1: then it fails."""
    if not Path(CHROMIUM).exists():
        missing = f"no Chromium at {CHROMIUM}: install it, or name it in CRAQAN_CHROMIUM"
        if os.environ.get("CRAQAN_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

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


@contextmanager
def _pages(chromium) -> Iterator[Callable[..., Any]]:
    recorder, contexts = Recorder(), []

    def open_(running: App, width: int = 1280, dark: bool = False):
        scheme = "dark" if dark else "light"
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        recorder.watch(page)
        page.goto(running.url)
        page.locator(".open-row, .empty").first.wait_for()
        return page

    open_.recorder = recorder  # type: ignore[attr-defined]
    yield open_
    for context in contexts:
        context.close()
    assert not recorder.foreign
    assert not recorder.errors


@pytest.fixture
def open_page(chromium):
    """open_page(app, width=..., dark=...) opens the app in a fresh profile; at the end nothing may have left."""
    with _pages(chromium) as open_:
        yield open_


@pytest.fixture(scope="module")
def shared_page(chromium, app):
    """One page on the released rows for a module's tests, which leave it fit for the next."""
    with _pages(chromium) as open_:
        yield open_(app)


@pytest.fixture(scope="module")
def shared_small_page(chromium, small_app):
    """One page on the six known rows for a module's tests, which leave it fit for the next."""
    with _pages(chromium) as open_:
        yield open_(small_app)

"""Other hosts: the page starts and works where nothing but a bare temporary folder can be written."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import app
from generation.errors import ReviewError, UsageError
from generation.review import keeping
from generation.review.ballots import Policy
from generation.review.store import Store
from space import hosting
from space.shelf import Shelf
from tests.space_rows import ROWS

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STARTING = 90  # seconds on a machine that is busy with other tests; alone it takes a quarter of that


@pytest.mark.skipif(not shutil.which("unshare") or os.geteuid() != 0, reason="needs root to mount a read-only view")
def test_the_page_works_on_a_read_only_file_system_and_without_a_home(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mounts = "mount -t tmpfs none /mnt && mount -o remount,ro,bind / && cd /"
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": "/mnt", "PYTHONPATH": str(ROOT)}
    environment |= {"GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1"}
    start = f"mount --bind / / && {mounts} && exec {sys.executable} -m app"
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", start], env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}/"
        assert _answer(url + "health", process) == {"status": "ok", "version": _version()}, log.read_text()
        assert b"CRaQAn" in urllib.request.urlopen(url, timeout=60).read()
    finally:
        process.terminate()
        process.wait(60)


def _version():
    from generation import __version__

    return __version__


def _answer(url, process):
    deadline = time.monotonic() + STARTING
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=STARTING) as reply:
                return json.load(reply)
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    return None


def test_the_image_holds_every_package_that_the_project_names():
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    copied = set(re.findall(r"^COPY (?:\S+ )*?(\w+) \./\1$", DOCKERFILE, re.MULTILINE))
    assert {package.partition(".")[0] for package in named["packages"]} | {"data"} <= copied
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied | {"app.py", "craqan.py", "requirements.txt", "constraints.txt"} == allowed


def test_the_image_runs_as_nobody_in_particular_and_knows_no_secret():
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.MULTILINE)
    assert not re.search(r"(?i)token|api_key|password", DOCKERFILE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRAQAN_SPACY_MODEL", "nothere"),
        ("CRAQAN_SPACY_MODEL", "/"),
        ("CRAQAN_DATASET", "a b/c"),
        ("CRAQAN_MODEL_HOSTS", "https://models.example/"),
        *(("GRADIO_SERVER_PORT", value) for value in ("abc", "", "0", "70000", "7860.0", "-1", "٣")),
        ("GRADIO_NUM_PORTS", "many"),
        ("GRADIO_DEBUG", "yes"),
        *(("GRADIO_SERVER_NAME", value) for value in ("", "192.0.2.1", "::1", "no host")),
    ],
)
def test_a_broken_setting_is_named_before_anything_is_served(monkeypatch, name, value):
    hosting.check_environment()
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name):
        hosting.check_environment()


def test_a_port_that_is_none_is_said_before_gradio_meets_it():
    code = (
        "import sys, runpy\ntry: runpy.run_module('app', run_name='__main__')\nfinally: print('gradio' in sys.modules)"
    )
    environment = {**os.environ, "GRADIO_SERVER_PORT": "abc", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=STARTING
    )
    assert (ran.returncode, ran.stdout) == (2, "False\n")
    assert ran.stderr == "GRADIO_SERVER_PORT takes a whole number from 1 to 65535, not 'abc': change or unset it.\n"


@pytest.mark.parametrize("minutes", ["soon", "0", "-1", "nan", "inf"])
def test_a_time_between_two_savings_that_is_none_is_refused_before_the_hub_is_asked(monkeypatch, minutes):
    monkeypatch.setenv("REVIEW_REPO", "org/votes")
    monkeypatch.setenv("REVIEW_MINUTES", minutes)
    with pytest.raises(UsageError, match="REVIEW_MINUTES takes a number above 0"):
        keeping.from_environment()


def test_a_folder_in_place_of_a_review_is_called_one(tmp_path):
    for use in (Store, lambda path: Store.create(path, Policy(), "")):
        with pytest.raises(ReviewError, match="is a folder, not a review"):
            use(tmp_path)


def test_a_damaged_review_file_is_said_in_one_sentence(tmp_path, monkeypatch, capsys):
    review = tmp_path / "review.sqlite"
    review.write_text("no database")
    monkeypatch.setenv("REVIEW_FILE", str(review))
    monkeypatch.setattr(app, "load_shelf", lambda: Shelf(ROWS))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        app.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and "damaged" in said and len(said.splitlines()) == 1

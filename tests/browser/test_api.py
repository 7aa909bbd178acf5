"""The app for programs: named endpoints over real HTTP, without a browser."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from space import generate
from tests.space_rows import ROWS

NAMES = ["search_questions", "get_question", "list_sections", "generate_pair", "check_pair", "evaluate_chunker"]
ORCHARD = {
    "sentences": [s["text"] for s in ROWS[0]["sentences"]],
    "question": ROWS[0]["question"],
    "answer": ROWS[0]["answer"],
    "required": ROWS[0]["required_sentence_indices"],
}
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def client(small_app):
    return Client(small_app.url, verbose=False, analytics_enabled=False)


def test_every_public_endpoint_is_named_and_described(client):
    endpoints = client.view_api(return_format="dict")["named_endpoints"]
    assert set(endpoints) == {f"/{name}" for name in NAMES}
    assert all(endpoint["description"] for endpoint in endpoints.values())


def test_search_and_get(client):
    found = client.predict(required_sentences=3, api_name="/search_questions")
    assert [row["id"] for row in found] == ["orchard-2", "orchard-4"]
    assert client.predict("far-1", api_name="/get_question") == next(row for row in ROWS if row["id"] == "far-1")


def test_a_pair_is_made_from_a_text(client):
    text = generate.EXAMPLE.read_text(encoding="utf-8")
    assert client.predict(text, api_name="/list_sections") == ["Origin (5 sentences)", "Later changes (4 sentences)"]
    made = client.predict(text, api_name="/generate_pair")
    assert made["status"] == "accepted" and made["question"] and made["rounds"]


def test_a_pair_is_made_from_sentences_as_they_are_given(client):
    sentences = ["The Reef Act was signed by Anna Holt in 1950 in St. John.", "It protects the coral.", "She was glad."]
    made = client.predict(sentences=sentences, unsure=True, api_name="/generate_pair")
    assert [s["text"] for s in made["sentences"]] == sentences and made["segmenter"] == "given by hand"


def test_a_pair_is_checked(client):
    checked = client.predict(**ORCHARD, coreferences=ROWS[0]["coreferences"], api_name="/check_pair")
    assert checked["is_quality"] and checked["problems"] == []
    wrong = client.predict(**{**ORCHARD, "required": [0]}, api_name="/check_pair")
    assert not wrong["is_quality"] and wrong["problems"][0]["code"] == "formatting"


def test_a_chunker_is_evaluated(client):
    whole = client.predict("sections", api_name="/evaluate_chunker")
    single = client.predict("sentences:1", "train", api_name="/evaluate_chunker")
    assert (whole["questions"], whole["whole"], whole["links_cut"]) == (len(ROWS), 1.0, 0.0)
    assert single["whole"] == 0.0 and single["chunks"] > whole["chunks"]
    assert single["articles"] == single["of_articles"] == whole["of_articles"]


def test_the_functions_are_tools_for_mcp_and_their_replies_are_json(small_app):
    async def use():
        server = streamable_http_client(small_app.url + "gradio_api/mcp/")
        async with server as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            listed = (await session.list_tools()).tools
            return {tool.name: tool for tool in listed}, await session.call_tool("check_pair", ORCHARD)

    with ThreadPoolExecutor(1) as aside:  # Playwright may hold this thread's event loop
        tools, answer = aside.submit(asyncio.run, use()).result(60)
    assert set(tools) == set(NAMES)
    assert all(tool.description for tool in tools.values())
    assert set(tools["check_pair"].inputSchema["properties"]) == {*ORCHARD, "coreferences"}
    assert not answer.isError and json.loads(answer.content[0].text)["is_quality"] is True


@pytest.mark.parametrize("kind", ["python", "bash"])
def test_the_examples_of_the_readme_run(small_app, tmp_path, kind):
    (code,) = (c for c in re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL) if "127.0.0.1:7860" in c)
    code = code.replace("http://127.0.0.1:7860", small_app.url.rstrip("/")).replace('"test"', '"train"')
    command = [sys.executable, "-c", code] if kind == "python" else ["bash", "-euc", code]
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=90)
    assert ran.returncode == 0, ran.stderr
    if kind == "bash":
        line = next(line for line in ran.stdout.splitlines() if line.startswith("data: ["))
        assert json.loads(line.removeprefix("data: "))[0]["chunker"] == "sentences:5"


def test_health_answers_at_once(small_app):
    with urllib.request.urlopen(small_app.url + "health", timeout=30) as reply:
        assert json.load(reply)["status"] == "ok"


@pytest.mark.parametrize(
    ("endpoint", "arguments", "message"),
    [
        ("/check_pair", {**ORCHARD, "sentences": ["One."] * 61}, "the limit is 60"),
        ("/check_pair", {**ORCHARD, "sentences": [1, 2]}, "list of texts"),
        ("/check_pair", {**ORCHARD, "coreferences": [{"kind": "pronominal"}]}, "mention"),
        ("/check_pair", {**ORCHARD, "required": "all"}, "whole numbers"),
        ("/evaluate_chunker", {"name": "semantic:90"}, "runs no chunker"),
        ("/evaluate_chunker", {"name": "tokens:5000:4999"}, "at most half"),
        ("/evaluate_chunker", {"name": "tokens:1@characters"}, "at least 20"),
        ("/evaluate_chunker", {"name": "tokens:100", "split": "all"}, "no split"),
        ("/generate_pair", {"text": ""}, "Paste a text first"),
        ("/generate_pair", {"sentences": ["One ship came.", "It sank."]}, "needs 3"),
        ("/generate_pair", {"sentences": [1, 2, 3]}, "list of texts"),
        ("/generate_pair", {"text": "A text.", "sentences": ["One."]}, "not both"),
        ("/generate_pair", {"text": "The law holds. " * 20_000}, "the limit is 200,000"),
        ("/generate_pair", {"text": "x", "model": "m", "base_url": "http://example.com"}, "too short"),
        ("/get_question", {"id": "nothing"}, "no question with this id"),
    ],
)
def test_limits_hold_for_programs_too(client, endpoint, arguments, message):
    with pytest.raises(AppError, match=message):
        client.predict(**arguments, api_name=endpoint)


def test_the_schema_shows_no_key(client):
    parameters = client.view_api(return_format="dict")["named_endpoints"]["/generate_pair"]["parameters"]
    key = next(p for p in parameters if p["parameter_name"] == "api_key")
    assert key["parameter_default"] == ""


def test_a_body_that_no_page_sends_is_refused_unread(small_app):
    for header, status in (("Content-Length: 3000001", b"413"), ("Transfer-Encoding: chunked", b"411")):
        # The head alone: a server that would read the body first waits for it, and does not answer.
        with socket.create_connection(("127.0.0.1", urlsplit(small_app.url).port), timeout=60) as client:
            client.sendall(f"POST /gradio_api/queue/join HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n".encode())
            assert client.recv(64).split()[1] == status


@pytest.mark.parametrize("path", ["gradio_api/file=/etc/passwd", "gradio_api/file=app.py"])
def test_no_file_of_the_server_is_served(small_app, path):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(small_app.url + path, timeout=60)

"""The app for programs: named endpoints over real HTTP, without a browser."""

import urllib.error
import urllib.request

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from space import generate
from tests.space_rows import ROWS


@pytest.fixture(scope="module")
def client(small_app):
    return Client(small_app.url, verbose=False, analytics_enabled=False)


def test_every_public_endpoint_is_named_and_described(client):
    endpoints = client.view_api(return_format="dict")["named_endpoints"]
    assert set(endpoints) == {"/search_questions", "/get_question", "/list_sections", "/generate_pair"}
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


@pytest.mark.parametrize(
    ("endpoint", "arguments", "message"),
    [
        ("/generate_pair", {"text": ""}, "Paste a text first"),
        ("/generate_pair", {"text": "The law holds. " * 2000}, "the limit is 20,000"),
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


@pytest.mark.parametrize("path", ["gradio_api/file=/etc/passwd", "gradio_api/file=app.py"])
def test_no_file_of_the_server_is_served(small_app, path):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(small_app.url + path, timeout=10)

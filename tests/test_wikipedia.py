"""Wikipedia's REST API, played by a local server: what is recorded, what is left out, how it fails."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from generation.articles.wikipedia import fetch
from generation.corpus import Skipped, articles
from generation.errors import CorpusError, UsageError
from generation.records import Article
from tests.model_server import Canned, ModelServer

HTML = """<!DOCTYPE html><html prefix="dc: http://purl.org/dc/terms/"><head><title>Harbor Act</title>
<link rel="stylesheet" href="/w/load.php"/><style>.x{}</style></head><body class="mw-parser-output" id="mwAA">
<section data-mw-section-id="0"><div class="shortdescription noexcerpt" style="display:none">A law</div>
<div role="note" class="hatnote navigation-not-searchable">For the ship, see <a href="./X">X</a>.</div>
<table class="infobox"><tbody><tr><th>Enacted</th><td>1974</td></tr></tbody></table>
<p>The <b>Harbor&#160;Act</b> of 1974 is a law.<sup class="mw-ref reference"><a href="#n1">[12]</a></sup>
It was signed by <a href="./Ford">Gerald Ford</a>.<sup class="noprint">[<i>citation needed</i>]</sup></p>
</section><section data-mw-section-id="1"><h2 id="History">History<span class="mw-editsection">[edit]</span></h2>
<p>Mary Cole wrote the bill. She lost.</p>
<figure typeof="mw:File/Thumb"><img src="a.png"/><figcaption>Cole</figcaption></figure>
<ul><li>One point.</li><li>Another point.</li></ul>
<section><h3 id="Later">Later</h3><blockquote><p>It stands.</p></blockquote></section></section>
<section><h2 id="References">References</h2><div class="mw-references-wrap"><ol class="mw-references">
<li>Cole, M. (1974).</li></ol></div></section>
<section><h2>External links</h2><ul><li><a href="http://x">A page</a></li></ul></section></body></html>"""

PAGE: dict[str, Any] = {
    "id": 7,
    "key": "Harbor_Act",
    "title": "Harbor Act",
    "latest": {"id": 1181234567, "timestamp": "2023-10-20T00:00:00Z"},
    "content_model": "wikitext",
    "license": {
        "url": "https://creativecommons.org/licenses/by-sa/4.0/deed.en",
        "title": "Creative Commons Attribution-Share Alike 4.0",
    },
    "html": HTML,
}


def page(**changes: Any) -> Canned:
    return Canned(body=json.dumps(PAGE | changes))


def get(*answers: Canned, title: str = "Harbor Act", timeout: float = 5.0) -> tuple[Article, ModelServer]:
    with ModelServer(list(answers)) as server:
        return fetch(title, base=server.url, timeout=timeout), server


def test_prose_comes_without_references_notes_tables_and_captions() -> None:
    article, _ = get(page())
    assert article.text == (
        "# Harbor Act\n\nThe Harbor Act of 1974 is a law. It was signed by Gerald Ford.\n\n"
        "## History\n\nMary Cole wrote the bill. She lost.\n\n- One point.\n- Another point.\n\n"
        "### Later\n\n> It stands.\n"
    )
    assert [s.path for s in article.sections] == [(), ("History",), ("History", "Later")]
    assert all(article.text[s.start : s.end] == s.text for s in article.sections)


def test_address_revision_licence_and_time_are_recorded() -> None:
    article, server = get(page())
    source = article.sections[0].source
    assert source == article.source
    assert source.url == f"http://127.0.0.1:{server.port}/wiki/Harbor_Act"
    assert (source.revision, source.license) == ("1181234567", "CC BY-SA 4.0")
    assert datetime.now(UTC) - datetime.fromisoformat(source.retrieved_at) < timedelta(minutes=1)


def test_another_licence_is_named_as_the_page_names_it() -> None:
    article, _ = get(page(license={"url": "https://example.org/terms", "title": "House terms"}))
    assert article.source.license == "House terms"


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Harbor Act", "Harbor_Act"),
        ("AC/DC", "AC%2FDC"),
        ("What? 100 % #1", "What%3F_100_%25_%231"),
        ("Poincaré", "Poincar%C3%A9"),
        ("../../evil", "..%2F..%2Fevil"),
    ],
)
def test_any_title_becomes_one_part_of_the_path(title: str, path: str) -> None:
    _, server = get(page(), title=title)
    assert server.calls[0].path == f"/v1/page/{path}/with_html"


def test_request_says_who_asks() -> None:
    _, server = get(page())
    assert server.calls[0].headers["user-agent"].startswith("CRaQAn/")
    assert "+https://" in server.calls[0].headers["user-agent"]


def test_redirect_by_the_server_is_followed() -> None:
    moved = Canned(status=307, headers={"Location": "/v1/page/Harbor_Act/with_html"}, body="")
    article, server = get(moved, page(), title="Harbour Act")
    assert article.title == "Harbor Act"
    assert [c.path for c in server.calls] == ["/v1/page/Harbour_Act/with_html", "/v1/page/Harbor_Act/with_html"]


def test_redirect_named_in_the_answer_is_followed_once() -> None:
    named = page(html="<p>Redirect to:</p>", redirect_target="/w/rest.php/v1/page/Harbor%20Act/with_html")
    article, server = get(named, page(), title="Harbour Act")
    assert article.title == "Harbor Act" and len(server.calls) == 2


def test_disambiguation_page_is_an_error_that_names_choices() -> None:
    listing = (
        '<html><head><meta property="mw:PageProp/disambiguation"/></head><body><p>It may be:</p><ul>'
        '<li><a href="./A">Mercury (planet)</a></li><li><a href="./B">Mercury (element)</a></li></ul></body></html>'
    )
    with pytest.raises(CorpusError, match=r'only lists articles.*"Mercury \(planet\)", "Mercury \(element\)"'):
        get(page(title="Mercury", html=listing), title="Mercury")


def test_page_without_prose_is_an_error() -> None:
    with pytest.raises(CorpusError, match="holds no prose"):
        get(page(html="<html><body><table><tr><td>1</td></tr></table></body></html>"))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Canned(status=404, body='{"messageTranslations":{}}'), 'has no article "Harbor Act"'),
        (Canned(status=429, body="", headers={"Retry-After": "17"}), "fewer requests .429.*in 17 s"),
        (Canned(status=429, body=""), "try .* again later"),
        (Canned(status=503, body="<html>"), r"failed at .*\(503\): try again later"),
        (Canned(status=403, body=""), "refused"),
        (Canned(body="<html>captive portal</html>"), "no page"),
        (Canned(body="[]"), "no page"),
        (Canned(body='{"title": "x"}'), "no page"),
        (Canned(fault="reset"), "broke|cannot be reached"),
        (Canned(fault="disconnect"), "broke|cannot be reached"),
        (Canned(body=json.dumps(PAGE), fault="half"), "broke"),
    ],
)
def test_every_failure_is_one_sentence(answer: Canned, says: str) -> None:
    with pytest.raises(CorpusError, match=says) as caught:
        get(answer)
    message = str(caught.value)
    assert "\n" not in message
    assert "Harbor Act" in message or "cannot be reached" in message


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_waiting_ends_after_the_time_out(fault: Any) -> None:
    start = time.monotonic()
    with pytest.raises(CorpusError, match=r"within 0\.4 s"):
        get(Canned(body=json.dumps(PAGE), fault=fault), timeout=0.4)
    assert time.monotonic() - start < 30


def test_nobody_there_is_one_sentence() -> None:
    with ModelServer([]) as server:
        base = server.url
    with pytest.raises(CorpusError, match="cannot be reached"):
        fetch("Harbor Act", base=base, timeout=2)


def test_endless_answer_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.articles.wikipedia.MAX_BYTES", 1000)
    with pytest.raises(CorpusError, match="too large"):
        get(page())


@pytest.mark.parametrize("base", ["file:///etc", "ftp://x/y", "example.org"])
def test_only_web_addresses_are_asked(base: str) -> None:
    with pytest.raises(UsageError, match="REST API"):
        fetch("passwd", base=base)


def test_titles_are_read_among_files_and_a_missing_one_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([page(), Canned(status=404, body="")]) as server:
        monkeypatch.setattr("generation.articles.wikipedia.BASE", server.url)
        notes: list[Skipped] = []
        (article,) = articles(["wikipedia:Harbor Act", "wikipedia:Harbour"], skipped=notes.append)
    assert article.title == "Harbor Act"
    assert [n.name for n in notes] == ["wikipedia:Harbour"] and 'has no article "Harbour"' in notes[0].reason


def test_empty_title_is_a_wrong_call() -> None:
    with pytest.raises(UsageError):
        fetch("  ")

"""An article of Wikipedia by its title, through MediaWiki's REST API."""

import json
import time
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from generation import __version__
from generation.articles.article import make_article
from generation.articles.markup import from_tree, parse_html
from generation.errors import CorpusError, UsageError
from generation.records import Article, Source

if TYPE_CHECKING:
    from lxml.html import HtmlElement

BASE = "https://en.wikipedia.org/w/rest.php/v1"
TIMEOUT = 30.0
MAX_BYTES = 20_000_000
"""A page as HTML inside JSON; the longest of Wikipedia's are some 5 MB."""

# Wikimedia asks every client to say what it is and where its people can be found.
USER_AGENT = f"CRaQAn/{__version__} (+https://huggingface.co/datasets/Edge-Pyxos/CRaQAn_v1) Python-urllib"

_OPTIONS_SHOWN = 5


def fetch(title: str, *, base: str = BASE, timeout: float = TIMEOUT) -> Article:
    """Get the article `title` as it stands now, redirects followed, with its address, revision, licence and time.

    `base` is the API's address on any MediaWiki; `timeout` in seconds. The page comes as HTML, its templates rendered.
    Raises CorpusError, in one sentence, for a page that does not exist or only lists others of that name, and for a
    server that refuses, fails or is silent. Nothing is asked twice.
    """
    title = title.strip().replace(" ", "_")
    if not title:
        raise UsageError("An article's title cannot be empty.")
    if urlsplit(base).scheme not in ("http", "https"):
        raise UsageError(f"{base} is no address of a REST API: it has to begin with https://.")
    page = _page(title, base, timeout)
    if target := page.get("redirect_target"):
        page = _page(unquote(str(target).split("/page/")[-1].split("?")[0].split("/")[0]), base, timeout)
    return _article(page, base)


def _page(title: str, base: str, timeout: float) -> dict[str, Any]:
    name = title.replace("_", " ")
    address = f"{base.rstrip('/')}/page/{quote(title, safe='')}/with_html"
    data = _get(address, name, timeout)
    try:
        page = json.loads(data)
    except ValueError:
        page = None
    if not isinstance(page, dict) or not isinstance(page.get("html") or page.get("redirect_target"), str):
        raise CorpusError(f'{urlsplit(base).netloc} answered "{name}" with what is no page: check the address {base}.')
    return page


def _get(address: str, name: str, timeout: float) -> bytes:
    host = urlsplit(address).netloc
    request = Request(address, headers={"User-Agent": USER_AGENT, "Accept": "application/json"})
    try:
        with urlopen(request, timeout=timeout) as answer:
            data = _body(answer, deadline=time.monotonic() + timeout)
    except HTTPError as error:
        with error:
            raise CorpusError(_refusal(error, host, name)) from None
    except (URLError, TimeoutError, HTTPException, ConnectionError) as error:
        raise CorpusError(_silence(error, host, name, timeout)) from None
    if len(data) > MAX_BYTES:
        raise CorpusError(f'"{name}" is too large: {host} sent more than {MAX_BYTES:,} bytes.')
    return data


def _body(answer: HTTPResponse, deadline: float) -> bytes:
    """All bytes up to just over MAX_BYTES; urlopen's own time-out counts from one byte to the next only."""
    data = bytearray()
    while len(data) <= MAX_BYTES and (piece := answer.read1(65_536)):
        data += piece
        if time.monotonic() > deadline:
            raise TimeoutError
    if answer.length and len(data) <= MAX_BYTES:
        raise IncompleteRead(bytes(data), answer.length)
    return bytes(data)


def _refusal(error: HTTPError, host: str, name: str) -> str:
    if error.code == 404:
        return f'{host} has no article "{name}": check the spelling of the title.'
    if error.code == 429:
        after = error.headers.get("Retry-After", "")
        return f'{host} asks for fewer requests (429): try "{name}" again {f"in {after} s" if after else "later"}.'
    if error.code >= 500:
        return f'{host} failed at "{name}" ({error.code}): try again later.'
    return f'{host} refused "{name}" ({error.code} {error.reason}).'


def _silence(error: Exception, host: str, name: str, timeout: float) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return f'{host} did not send "{name}" within {timeout:g} s: try again later.'
    if isinstance(error, URLError):
        return f"{host} cannot be reached ({reason}): check the network."
    return f'The connection to {host} broke while it sent "{name}": try again.'


def _article(page: dict[str, Any], base: str) -> Article:
    title, key = str(page.get("title") or page.get("key") or ""), str(page.get("key") or page.get("title") or "")
    root = parse_html(page["html"])
    if root.xpath("//meta[@property='mw:PageProp/disambiguation']"):
        raise CorpusError(f'"{title}" only lists articles of that name: take one of them{_options(root)}.')
    site = urlsplit(base)
    source = Source(
        url=f"{site.scheme}://{site.netloc}/wiki/{quote(key.replace(' ', '_'), safe=':/(),')}",
        license=_license(page.get("license")),
        revision=str((page.get("latest") or {}).get("id") or ""),
        retrieved_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    article = make_article(from_tree(root), name=title, title=title, source=source)
    if not article.sections:
        raise CorpusError(f'"{title}" at {site.netloc} holds no prose.')
    return article


def _options(root: "HtmlElement") -> str:
    names = [" ".join(link.text_content().split()) for link in root.xpath("//li//a[@href]")]
    shown = [f'"{n}"' for n in dict.fromkeys(names) if n][:_OPTIONS_SHOWN]
    return f", for instance {', '.join(shown)}" if shown else ""


def _license(about: Any) -> str:
    """The licence's short name where it is Wikipedia's usual one, else what the page says."""
    if not isinstance(about, dict):
        return ""
    _, found, rest = str(about.get("url") or "").partition("/licenses/by-sa/")
    return f"CC BY-SA {rest.split('/')[0]}" if found else str(about.get("title") or "")

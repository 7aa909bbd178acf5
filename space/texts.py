"""Where a text comes from if it is not pasted: a file of the visitor's, or an article of the English Wikipedia."""

import asyncio
import base64
import binascii
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from generation.articles import sources, wikipedia
from generation.errors import CorpusError, InputError
from generation.records import Article, Source, digest
from space.limits import MAX_FIELD, MAX_FILE, MAX_TEXT, SUFFIXES

FETCH_SECONDS = 15.0
NAMELESS = "Uploaded text"  # the file's own name is never used
UNKNOWN = Source()


@dataclass(frozen=True, slots=True)
class Text:
    """A text as Markdown, and where it is from."""

    markdown: str
    source: Source = UNKNOWN


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the text with this digest is from; of any other text it says nothing."""

    digest: str = ""
    source: Source = UNKNOWN

    def of(self, text: str) -> Source:
        return self.source if digest(text) == self.digest else UNKNOWN


def origin_of(text: Text) -> Origin:
    return Origin(digest(text.markdown), text.source)


def from_file(name: object, size: object, data: object) -> Text:
    """The text of an uploaded file: `name` tells its kind, `data` is its content in base64. Nothing is written to disk.

    A page does not send the content of a file whose `size` in bytes is over the limit. InputError says what is wrong.
    """
    if not isinstance(name, str) or not isinstance(size, int) or not isinstance(data, str):
        raise InputError("This page is out of date: reload it.")
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"Choose a file that ends in {', '.join(SUFFIXES)}: other kinds are not read.")
    content = b"" if size > MAX_FILE else _decoded(data)
    if max(size, len(content)) > MAX_FILE:
        raise InputError(f"This file is too large: the limit is {MAX_FILE:,} bytes.")
    try:
        article = sources.read_document(content, suffix, NAMELESS)
    except CorpusError as error:
        raise InputError(f"This file {error}.") from None
    if not article.sections:
        raise InputError("This file holds no prose: upload one with a few paragraphs of text.")
    return _text(article, "This file")


async def from_wikipedia(title: str) -> Text:
    """The article of that title, or at that address of en.wikipedia.org. InputError says what is wrong."""
    name = _title(title)
    try:
        article = await asyncio.to_thread(wikipedia.fetch, name, base=wikipedia.BASE, timeout=FETCH_SECONDS)
    except CorpusError as error:
        raise InputError(f"{error} You can paste or upload a text instead.") from None
    return _text(article, "This article")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise InputError("The file did not arrive whole: upload it again.") from None


def _title(given: str) -> str:
    title = given.strip()
    if "://" in title:
        parts = urlsplit(title)
        if parts.hostname not in ("en.wikipedia.org", "en.m.wikipedia.org") or not parts.path.startswith("/wiki/"):
            raise InputError("Only articles of the English Wikipedia are fetched: give a title, such as Clean Air Act.")
        title = unquote(parts.path.removeprefix("/wiki/"))
    if not title:
        raise InputError("Name an article of the English Wikipedia first, such as Clean Air Act.")
    if len(title) > MAX_FIELD:
        raise InputError(f"A title has {MAX_FIELD} characters at most: check what was pasted.")
    return title


def _text(article: Article, what: str) -> Text:
    if len(article.text) > MAX_TEXT:
        raise InputError(
            f"{what} has {len(article.text):,} characters and the limit is {MAX_TEXT:,}: paste the part that matters."
        )
    return Text(article.text, article.source)

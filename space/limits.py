"""What a visitor may send: checked on the server, before anything is done with it."""

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from generation.client.transport import OPENAI_URL, endpoint, is_loopback
from generation.client.wire import Admit
from generation.errors import InputError, UsageError
from generation.records import Section
from space import addresses
from space.hosting import is_open, is_public, model_hosts

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

MAX_TEXT = 200_000  # characters: a long article of Wikipedia
MAX_CHARACTERS = 20_000  # that one run reads: about ten pages
MAX_FILE = 1_000_000  # bytes
SUFFIXES = (".md", ".markdown", ".html", ".htm", ".txt")
MIN_SENTENCES = 3
MAX_SENTENCES = 60  # in one section: what a model's context and a reader's patience take
MAX_FIELD = 300  # characters of an address, a model's name or a key
# Short English texts full of foreign names score low, so only a text that is surely something else is turned away.
SURELY_FOREIGN = 0.75
BARELY_ENGLISH = 0.05


def can_sign_in() -> bool:
    """Is this a Space with sign-in, as `hf_oauth: true` in its card makes it?"""
    from gradio.utils import get_space

    # gradio asks for more than SPACE_ID before it takes this for a Space, and for the secrets of its sign-in.
    return is_public() and get_space() is not None and bool(os.environ.get("OAUTH_CLIENT_ID"))


def check_text(text: str) -> str:
    """`text` if it can be worked on; InputError says what to do instead.

    Whether it has enough sentences is asked later, by `check_sections`, since that takes a segmenter.
    """
    if not text.strip():
        raise InputError("Paste a text first: a few paragraphs of an article work best.")
    if len(text) > MAX_TEXT:
        raise InputError(f"This text has {len(text):,} characters and the limit is {MAX_TEXT:,}: paste a part of it.")
    if not _may_be_english(text[:MAX_CHARACTERS]):
        raise InputError(
            "This does not look like English, the only language that the rules and prompts know: paste an English text."
        )
    return text


def check_sections(sections: Sequence[Section]) -> list[Section]:
    """The segmented sections that a question can be made from; InputError if there are none."""
    longest = max((len(s.sentences) for s in sections), default=0)
    if longest < MIN_SENTENCES:
        counted = {0: "no whole sentence", 1: "one sentence"}.get(longest, f"{longest} sentences")
        raise InputError(
            f"This text is too short: its longest section has {counted}, and a question needs at least {MIN_SENTENCES}."
        )
    fitting = [s for s in sections if MIN_SENTENCES <= len(s.sentences) <= MAX_SENTENCES]
    fitting = [s for s in fitting if len(s.text) <= MAX_CHARACTERS]
    if not fitting:
        raise InputError(
            f"Every section here has more than {MAX_SENTENCES} sentences or {MAX_CHARACTERS:,} characters: paste fewer "
            "paragraphs, or add headings."
        )
    return fitting


def of_one_run(sections: Sequence[Section]) -> list[Section]:
    """As many of the first sections as one run reads, at least one."""
    sizes = accumulate(len(s.text) for s in sections)
    return [s for s, size in zip(sections, sizes, strict=True) if size <= MAX_CHARACTERS] or [*sections[:1]]


def check_pair(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """`row` if its passage, question and answer are small enough to be checked; InputError says what is not."""
    sentences, texts = row["sentences"], (row["question"], row["answer"])
    if not isinstance(sentences, list) or not all(isinstance(text, str) for text in (*sentences, *texts)):
        raise InputError("Give the passage as a list of sentences, and question and answer as texts.")
    if len(sentences) > MAX_SENTENCES:
        raise InputError(f"The passage has {len(sentences):,} sentences and the limit is {MAX_SENTENCES}.")
    if sum(map(len, (*sentences, *texts))) > MAX_CHARACTERS:
        raise InputError(f"Passage, question and answer may have {MAX_CHARACTERS:,} characters together.")
    if not isinstance(row["coreferences"], list) or len(row["coreferences"]) > MAX_SENTENCES:
        raise InputError(f"Give the coreferences as a list of {MAX_SENTENCES} at most.")
    return row


async def check_endpoint(base_url: str, model: str, key: str) -> str:
    """The address of the visitor's model, if it may be called from here; UsageError says what to change.

    https only, or http on this machine itself if nobody else is served. Otherwise no private address is called; and a
    key is never lent: the visitor has to bring one. Hosts that CRAQAN_MODEL_HOSTS lists, parted by commas, may be
    called by either, wherever they are.
    """
    if max(map(len, (base_url, model, key))) > MAX_FIELD:
        raise UsageError(f"Base URL, model and key may have {MAX_FIELD} characters each: check what was pasted.")
    url = endpoint(base_url or OPENAI_URL)
    host = urlsplit(url).hostname or ""
    is_local = host in model_hosts() or (is_loopback(host) and not is_open())
    if urlsplit(url).scheme != "https" and not is_local:
        raise UsageError("The base URL must start with https://, so that your key and text travel encrypted.")
    if admit := admission(url):
        await _check_address(host, admit)
    if not model.strip():
        raise UsageError("Name the model to ask, as your server calls it.")
    if not key.strip() and not is_local:
        raise UsageError(f"Enter the key for {host}; if that server asks for none, any word will do.")
    return url


def admission(url: str) -> Admit | None:
    """What the addresses of a visitor's server have to pass whenever it is connected to; None where any will do."""
    is_allowed = (urlsplit(url).hostname or "") in model_hosts()
    return addresses.admit if is_open() and not is_allowed else None


async def _check_address(host: str, admit: Admit) -> None:
    """A first look, so that a visitor hears of it before the run; `admit` is asked again of what is connected to."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UsageError(f"There is no server called {host}: check the base URL.") from None
    admit(host, [str(entry[4][0]) for entry in found])


def _may_be_english(text: str) -> bool:
    ranked = {language: float(share) for language, share in _identifier().rank(text)}
    return max(ranked.values()) < SURELY_FOREIGN or ranked["en"] >= BARELY_ENGLISH


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

"""How a request body reaches a server: by `wire`, by aiohttp, or by a client of the openai package of the caller's.

The processor time of a call decides how many one machine can keep in flight, and `chat.completions.create` takes fifty
times that of `wire`, which is therefore the default; aiohttp stands in where a proxy is to be passed. Whoever needs
Azure, own headers, own certificates or another setting of the openai package passes its client, and all of its settings
stay in force.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlsplit

from generation import __version__
from generation.client.environment import is_loopback, proxy_for, trusted
from generation.client.failures import lost, too_late
from generation.errors import NoKeyError, UsageError

if TYPE_CHECKING:
    import aiohttp

OPENAI_URL = "https://api.openai.com/v1"
HF_ROUTER_URL = "https://router.huggingface.co/v1"
_HF_HOSTS = (".huggingface.co", ".hf.co", ".hf.space", ".huggingface.cloud")
_SHORTEST_SECRET = 8  # shorter keys ("EMPTY", "none") are placeholders, and hiding them would maim ordinary words


@dataclass(frozen=True, slots=True)
class Answered:
    """One HTTP answer, whatever its status; header names are looked up in lower case."""

    status: int
    headers: Mapping[str, str]
    body: str


class Transport(Protocol):
    """Posts one body to the chat completions endpoint; raises ConnectError or ModelTimeoutError, never by status."""

    url: str
    host: str
    key: "Key"
    timeout: float

    async def post(self, payload: Mapping[str, Any]) -> Answered: ...

    def apart(self) -> "Transport": ...

    async def aclose(self) -> None: ...


class Key(str):
    """A key that does not show itself where values are printed for debugging."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[key]'"

    def hidden_in(self, text: str) -> str:
        """`text` with every occurrence of the key replaced."""
        for form in _forms(str(self)):
            if form in text:
                text = text.replace(form, "[key]")
        return text


@lru_cache(maxsize=64)
def _forms(key: str) -> tuple[str, ...]:
    """How a key may stand in a text; none if it is no secret."""
    return (key, quote(key, safe=""), json.dumps(key)[1:-1]) if len(key) >= _SHORTEST_SECRET else ()


def endpoint(base_url: str | None) -> str:
    """The address without its trailing parts, checked: scheme, host, and nothing secret in it."""
    url = (base_url or OPENAI_URL).strip().rstrip("/").removesuffix("/chat/completions").rstrip("/")
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:  # a port beyond 65535, brackets around what is no IPv6 address
        is_address = False
    if not is_address:
        raise UsageError("The base URL is no address of a server: give it as http://HOST:PORT/v1.")
    if parts.username or parts.password:
        raise UsageError(f"The base URL of {parts.hostname} holds a password: give the key in OPENAI_API_KEY instead.")
    if parts.query or parts.fragment:
        raise UsageError(
            f"The base URL of {parts.hostname} holds a query: pass a client of the openai package instead."
        )
    return url


def _is_host(host: str) -> bool:
    """False for what no resolver can be asked for: nothing, white space, a label of more than 63 letters."""
    try:
        return bool(host) and not any(c.isspace() for c in host) and bool(host.encode("idna"))
    except UnicodeError:
        return False


def find_key(url: str, api_key: str | None = None) -> Key:
    """The key for `url`: the one given, else HF_TOKEN for Hugging Face's hosts, else OPENAI_API_KEY.

    A server on this machine needs none. Raises NoKeyError, which names what to set. No key goes to the other's host.
    """
    host = urlsplit(url).hostname or ""
    variable = "HF_TOKEN" if f".{host}".endswith(_HF_HOSTS) else "OPENAI_API_KEY"
    key = Key((api_key or os.environ.get(variable) or "").strip())
    if not key.isascii() or not key.isprintable():
        raise NoKeyError(f"The key for {host} holds characters that no key has: copy it again into {variable}.")
    if not key and not is_loopback(host):
        raise NoKeyError(f"No key for {host}: set {variable} (any word, if that server asks for none).")
    return key


class AiohttpTransport:
    """The way through a proxy: one aiohttp session per event loop, no limit on connections (the caller decides)."""

    def __init__(self, url: str, key: Key, timeout: float) -> None:
        self.url = url
        self.host = urlsplit(url).netloc
        self.key = key
        self.timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, payload: Mapping[str, Any]) -> Answered:
        import aiohttp

        data = encoded(payload)
        try:
            async with self._here().post(self._target, data=data, allow_redirects=False) as response:
                body = await response.read()
                return Answered(response.status, response.headers, body.decode("utf-8", "replace"))
        except TimeoutError:
            raise too_late(self.host, self.timeout) from None
        except (aiohttp.ClientError, OSError) as error:
            raise lost(self.url, self.key.hidden_in(str(error)), error) from None

    def _here(self) -> "aiohttp.ClientSession":
        """The session of the running loop; one that belongs to a finished loop is let go."""
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop or self._session.closed:
            self._session, self._loop = self._open(), loop
        return self._session

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp
        from yarl import URL

        self._target = URL(self.url + "/chat/completions")
        headers = {"Content-Type": "application/json", "User-Agent": f"craqan/{__version__}"}
        tls = trusted() if self.url.startswith("https:") else True
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ttl_dns_cache=300, ssl=tls),
            timeout=aiohttp.ClientTimeout(total=self.timeout),  # total: a slow drip of bytes is no progress
            headers=headers,
            proxy=proxy_for(self.url),
            middlewares=(self._with_key,),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def _with_key(self, request: Any, send: Any) -> Any:
        """Sign what goes to the server; a header of the session would go to the proxy too, in the clear."""
        if self.key:
            request.headers["Authorization"] = f"Bearer {self.key}"
        return await send(request)

    def apart(self) -> "AiohttpTransport":
        """The same endpoint, with connections of its own."""
        return AiohttpTransport(self.url, self.key, self.timeout)

    async def aclose(self) -> None:
        if self._session is not None and self._loop is asyncio.get_running_loop():
            await self._session.close()
        self._session = None


class ClientTransport:
    """The path through the caller's own `openai.AsyncOpenAI` or `AsyncAzureOpenAI`, with its auth and settings.

    Its retries are done by us (as many as it was told), so that the errors of every attempt are seen.
    """

    def __init__(self, client: Any, timeout: float | None) -> None:
        if not asyncio.iscoroutinefunction(getattr(client, "post", None)):
            raise UsageError("client must be an AsyncOpenAI or AsyncAzureOpenAI of the openai package.")
        self.client = client
        self.url = str(client.base_url).split("?")[0].rstrip("/")
        self.host = urlsplit(self.url).netloc.rpartition("@")[2]
        self.key = Key(client.api_key if isinstance(client.api_key, str) else "")
        self.timeout = timeout or _seconds(client.timeout)

    async def post(self, payload: Mapping[str, Any]) -> Answered:
        import httpx2
        import openai

        try:
            async with asyncio.timeout(self.timeout):
                response = await self.client.post(
                    "/chat/completions", body=dict(payload), cast_to=httpx2.Response, options={"max_retries": 0}
                )
        except openai.APIStatusError as error:
            response = error.response
        except (openai.APITimeoutError, TimeoutError):
            raise too_late(self.host, self.timeout) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise lost(self.url, self.key.hidden_in(str(cause)), cause) from None
        return Answered(response.status_code, response.headers, response.text)

    def apart(self) -> "ClientTransport":
        """Itself: the connections are the client's."""
        return self

    async def aclose(self) -> None:
        """Leave the client open: it is the caller's."""


def encoded(payload: Mapping[str, Any]) -> bytes:
    """The body's bytes; half a surrogate pair, which no UTF-8 can hold, becomes a question mark."""
    import orjson

    try:
        return bytes(memoryview(orjson.dumps(payload)))  # a copy: the original holds on to ten times its size
    except orjson.JSONEncodeError:
        return json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date), or None.

    A date counts from the server's own `date`, so that a wrong clock on this machine does no harm.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(0.0, seconds) if seconds < float("inf") else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _seconds(timeout: Any) -> float:
    """A client's time-out in seconds; the openai package takes a number, None, or a record with `read`."""
    seconds = getattr(timeout, "read", timeout)
    return float(seconds) if isinstance(seconds, int | float) else 600.0

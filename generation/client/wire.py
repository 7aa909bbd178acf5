"""HTTP/1.1 to one address, with as little work a call as Python allows.

aiohttp takes about 150 us of processor time a call on the machine of the README's figures, this a sixth of it; the rest
of the engine takes about as much as aiohttp alone. What aiohttp is kept for: proxies, files, and servers that are met
once. The parser is httptools, which is what uvicorn answers with; connections are made by aiohttp's own
aiohappyeyeballs. No answer is decompressed that was not asked for: the request says "identity".
"""

import asyncio
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from generation import __version__
from generation.client.environment import trusted
from generation.client.failures import lost, too_late
from generation.client.transport import Answered, Key, encoded

MOST_BYTES = 64_000_000
"""An answer that is larger is no chat completion."""
_MOST_HEAD = 100_000  # bytes of all headers
_IDLE_S = 30.0  # a connection that rested longer may have been dropped on the way, without a word
_ADDRESS_S = 300.0  # how long a name's addresses are believed
_CLOSING_S = 1.0  # a connection that ends within it, without a byte, was closed before the request came
_STAGGER_S = 0.25  # between two addresses of one name (RFC 8305)

Admit = Callable[[str, Sequence[str]], None]
"""Is told a host and all its addresses before any of them is connected to; raises UsageError to refuse them."""


class Broken(ConnectionError):
    """The connection ended, or what came over it is no HTTP."""


class WireTransport:
    """Posts to one chat completions endpoint, over connections that are kept; see `transport.Transport`.

    There is no limit on connections (who calls decides how many). They belong to the event loop in which they were
    made, and are let go in another one. Redirects are not followed, cookies not kept. What `admit` was told is what is
    connected to: a name is not looked up again in between, and whenever it is, `admit` is asked anew.
    """

    def __init__(self, url: str, key: Key, timeout: float, admit: Admit | None = None) -> None:
        self.url = url
        self.host = urlsplit(url).netloc
        self.key = key
        self.timeout = timeout
        self._admit = admit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pool: _Pool | None = None

    async def post(self, payload: Mapping[str, Any]) -> Answered:
        loop = asyncio.get_running_loop()
        pool = self._pool
        if pool is None or self._loop is not loop:
            pool, self._loop = _Pool(self.url, self.key, self._admit), loop
            self._pool = pool
        try:
            return await pool.post(pool.framed(encoded(payload)), loop.time() + self.timeout)
        except TimeoutError:
            raise too_late(self.host, self.timeout) from None
        except OSError as error:
            raise lost(self.url, self.key.hidden_in(str(error)), error) from None

    def apart(self) -> "WireTransport":
        """The same endpoint, with connections of its own."""
        return WireTransport(self.url, self.key, self.timeout, self._admit)

    async def aclose(self) -> None:
        if self._pool is not None and self._loop is asyncio.get_running_loop():
            self._pool.close()
        self._pool = None


class _Pool:
    """The connections of one event loop, those at rest in `idle`, the one used last at its end."""

    def __init__(self, url: str, key: Key, admit: Admit | None = None) -> None:
        from yarl import URL

        target = URL(url + "/chat/completions")
        self.host = target.raw_host or ""
        self.port = target.port or 80
        self.is_tls = target.scheme == "https"
        self.idle: list[_Connection] = []
        self.at_work: set[_Connection] = set()
        self._admit = admit
        self._addresses: list[Any] = []
        self._asked_at = 0.0
        self._lookup = asyncio.Lock()
        self._tls = trusted() if self.is_tls else None
        authority = target.raw_authority.rpartition("@")[2]
        lines = [
            f"POST {target.raw_path_qs} HTTP/1.1",
            f"Host: {authority}",
            f"User-Agent: craqan/{__version__}",
            "Accept: application/json",
            "Accept-Encoding: identity",
            "Content-Type: application/json",
            *([f"Authorization: Bearer {key}"] if key else []),
            "Content-Length: ",
        ]
        self._head = "\r\n".join(lines).encode("latin-1")

    def framed(self, body: bytes) -> bytes:
        """A whole request."""
        return b"%b%d\r\n\r\n%b" % (self._head, len(body), body)

    async def post(self, request: bytes, deadline: float) -> Answered:
        """One framed request and its answer, whole before `deadline`; raises TimeoutError or OSError.

        A server may close a connection that rests just as a request goes out on it. Such a request was not taken, and
        goes out once more, on a new connection: this is no fault of the server's, and is not counted as one.
        """
        if (rested := self._rested()) is not None:
            asked_at = time.monotonic()
            try:
                return await self._exchange(rested, request, deadline)
            except TimeoutError:
                raise
            except OSError:
                if rested.has_heard or time.monotonic() - asked_at > _CLOSING_S:
                    raise
        async with asyncio.timeout_at(deadline):
            connection = await self._connect()
        return await self._exchange(connection, request, deadline)

    async def _exchange(self, connection: "_Connection", request: bytes, deadline: float) -> Answered:
        self.at_work.add(connection)
        try:
            return await connection.ask(request, deadline)
        finally:
            self.at_work.discard(connection)
            if connection.is_reusable:
                connection.rests_since = time.monotonic()
                self.idle.append(connection)
            else:
                connection.drop()

    def close(self) -> None:
        for connection in (*self.idle, *self.at_work):
            connection.drop()
        self.idle.clear()

    def _rested(self) -> "_Connection | None":
        while self.idle:
            connection = self.idle.pop()
            if connection.is_reusable and time.monotonic() - connection.rests_since < _IDLE_S:
                return connection
            connection.drop()
        return None

    async def _connect(self) -> "_Connection":
        from aiohappyeyeballs import start_connection

        loop = asyncio.get_running_loop()
        socket = await start_connection(await self._found(), happy_eyeballs_delay=_STAGGER_S, loop=loop)
        try:
            name = self.host if self.is_tls else None
            _, connection = await loop.create_connection(_Connection, sock=socket, ssl=self._tls, server_hostname=name)
        except BaseException:
            socket.close()
            raise
        return connection

    async def _found(self) -> list[Any]:
        """The addresses of the host's name; many calls at once ask for them once."""
        import socket

        async with self._lookup:
            if not self._addresses or time.monotonic() - self._asked_at > _ADDRESS_S:
                loop = asyncio.get_running_loop()
                found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
                if self._admit is not None:
                    self._admit(self.host, [str(entry[4][0]) for entry in found])
                self._addresses = found
                self._asked_at = time.monotonic()
        return self._addresses


class _Connection(asyncio.Protocol):
    """One connection: one request at a time, and whether it can take the next."""

    def __init__(self) -> None:
        self.is_reusable = False
        self.has_heard = False
        self.rests_since = 0.0
        self._transport: Any = None
        self._parser: Any = None
        self._answer: asyncio.Future[Answered] | None = None
        self._begin()

    async def ask(self, request: bytes, deadline: float) -> Answered:
        """Send a whole request and wait for the whole answer; after a failure the connection is of no use."""
        loop = asyncio.get_running_loop()
        self.is_reusable = self.has_heard = False
        self._begin()
        self._answer = loop.create_future()
        timer = loop.call_at(deadline, self._fail, TimeoutError())
        try:
            if self._transport.is_closing():
                raise Broken("the server has closed the connection")
            self._transport.write(request)
            return await self._answer
        finally:
            timer.cancel()
            self._answer = None

    def drop(self) -> None:
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        import httptools

        if self._answer is None:  # nobody asked
            return self.drop()
        self.has_heard = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(Broken(f"its answer is no HTTP: {error}"))
        if not self._status:  # still in the head
            self._head += len(data)
            self._check_head()
        return None

    def connection_lost(self, error: Exception | None) -> None:
        self.is_reusable = False
        if self._answer is None or self._answer.done():
            return
        if self._status and not self._is_measured and error is None:
            self._deliver()  # its end is the end of the answer
        else:
            early = Broken("the server closed it before the answer was whole")
            self._fail(error if isinstance(error, OSError) else early)

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._answer is None or self._answer.done():  # a second answer to one request: nothing fits any more
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        self._headers[key] = value.decode("utf-8", "replace")
        if len(value) > 1000:
            self._head += len(value)
            self._check_head()

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        self._is_measured = "content-length" in self._headers or "transfer-encoding" in self._headers

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MOST_BYTES:
            self._fail(Broken(f"its answer is larger than {MOST_BYTES:,} bytes"))
        else:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        if self._status < 200:  # "continue" and the like; the answer is still to come
            return self._begin(self._parser)
        if self._answer is not None and not self._answer.done():
            self.is_reusable = self._parser.should_keep_alive()
            self._deliver()
        return None

    def _begin(self, parser: Any = None) -> None:
        import httptools

        self._parser = parser or httptools.HttpResponseParser(self)
        self._status = self._size = self._head = 0
        self._is_measured = False
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []

    def _deliver(self) -> None:
        assert self._answer is not None
        body = b"".join(self._parts)
        try:
            body = _plain(body, self._headers.get("content-encoding", ""))
        except (Broken, zlib.error) as error:
            self._fail(Broken(f"its answer cannot be unpacked: {error}"))
        else:
            self._answer.set_result(Answered(self._status, self._headers, body.decode("utf-8", "replace")))

    def _check_head(self) -> None:
        if self._head > _MOST_HEAD:
            self._fail(Broken(f"its head is larger than {_MOST_HEAD:,} bytes"))

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self.drop()


def _plain(body: bytes, encoding: str) -> bytes:
    """`body` without the packing that a server may have added unasked."""
    if encoding.lower() not in ("gzip", "x-gzip", "deflate") or not body:
        return body
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: gzip or zlib, as its head says
    plain = unpacking.decompress(body, MOST_BYTES)
    if not unpacking.eof:
        raise Broken("it breaks off or is too large")
    return plain

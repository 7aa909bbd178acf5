"""A small forward proxy over real HTTP: tunnels for https, whole addresses for http, every name led to one port.

async with Proxy(port) as proxy:  # proxy.url, proxy.asked (first lines), proxy.seen (all bytes of clients)
"""

import asyncio
from contextlib import suppress
from typing import Self


class Proxy:
    """Forwards all to `port` of this machine; `login` is the Proxy-Authorization that it insists on, "" for none."""

    def __init__(self, port: int, login: str = "") -> None:
        self.target = port
        self.login = login
        self.asked: list[str] = []
        self.seen = b""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.seen += head
            first = head.split(b"\r\n")[0].decode()
            self.asked.append(first)
            if self.login and f"proxy-authorization: {self.login}".encode().lower() not in head.lower():
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            else:
                await self._forward(first, head, reader, writer)
        writer.close()

    async def _forward(
        self, first: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        from_target, to_target = await asyncio.open_connection("127.0.0.1", self.target)
        if first.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            to_target.write(head)
        await asyncio.gather(self._pass_on(reader, to_target, True), self._pass_on(from_target, writer, False))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_client: bool) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                self.seen += piece if is_client else b""
                writer.write(piece)
                await writer.drain()
        writer.close()

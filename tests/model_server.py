"""A scripted OpenAI-compatible server over real HTTP, in a thread of its own, with every way to fail that we know.

    with ModelServer(["first answer", {"is_quality": True}, failing(429, retry_after="1")]) as server:
        chat = OpenAIChat("any", server.url)

A script is a list, one answer a call, or a function from the request's body to an answer. An answer is a text, a value
(sent as its JSON text), or a Canned. `server.calls` logs what came in, in order of arrival.
"""

import asyncio
import itertools
import json
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Fault = Literal["", "reset", "disconnect", "half", "half_unmeasured", "hang", "drip"]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}


@dataclass(frozen=True)
class Canned:
    """One answer. `body` replaces the whole chat completion, `message` adds fields to the assistant's message.

    `delay` is seconds before the first byte. Faults: "reset" and "disconnect" close without a byte, "half" breaks off
    in the middle of the body, "half_unmeasured" does so without a Content-Length, "hang" never answers, "drip" sends a
    byte every 50 ms. `wire` is sent as it is in place of all that, status line included, and the connection closed.
    """

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str | None = "stop"
    usage: Any = field(default_factory=lambda: dict(USAGE))
    delay: float = 0.0
    fault: Fault = ""
    wire: bytes = b""


@dataclass(frozen=True)
class Call:
    """One request as the server saw it; `at` is seconds on the monotonic clock."""

    number: int
    at: float
    path: str
    headers: Mapping[str, str]
    json: Any


Script = Callable[[dict[str, Any]], Any] | Sequence[Any]


def failing(status: int, message: str = "as scripted", code: str = "", retry_after: str = "", **more: Any) -> Canned:
    """An error in OpenAI's shape."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    body = json.dumps({"error": {"message": message, "type": "scripted", "code": code or None, "param": None}})
    return Canned(status=status, headers=headers | more.pop("headers", {}), body=body, **more)


def mode_of(request: Mapping[str, Any]) -> str:
    """How the request asks for JSON, by the names of generation.client.dialect."""
    wanted = request.get("response_format")
    if wanted is None:
        return "plain"
    return "json_object_schema" if wanted["type"] == "json_object" and "schema" in wanted else wanted["type"]


def refusing(script: Script, *modes: str, status: int = 400, message: str = "unsupported response_format") -> Script:
    """`script` behind a server that answers `status` to each of these ways to ask for JSON."""
    answer = _player(script)
    return lambda request: failing(status, message) if mode_of(request) in modes else answer(request)


class ThreadedServer(ABC):
    """A server on a free port of this machine, in a thread of its own, until the block ends; `url` is its base URL.

    Subclasses have coroutines `_start`, which listens on `port` (0: a free one, which it then notes), and `_stop`.
    """

    def __init__(self) -> None:
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self.come_back()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_away()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def go_away(self) -> None:
        """Close the port and drop every connection, as a server does that is restarted."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()

    def come_back(self) -> None:
        """Listen again, on the same port."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()

    @abstractmethod
    async def _start(self) -> None: ...

    @abstractmethod
    async def _stop(self) -> None: ...


class ModelServer(ThreadedServer):
    """Serves `script`; `calls` logs what came in, in order of arrival."""

    def __init__(self, script: Script, delay: float = 0.0) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.in_flight = 0
        self.peak = 0
        self.delay = delay
        self._answer = _player(script)
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def requests(self) -> list[Any]:
        """The bodies that came in."""
        return [call.json for call in self.calls]

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False if the connection is over."""
        path, headers, body = await _read(reader)
        self.calls.append(Call(next(self._numbers), time.monotonic(), path, headers, body))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            answer = self._answer(body)
            await asyncio.sleep(answer.delay or self.delay)
            return await _write(writer, answer, str(body.get("model", "")))
        finally:
            self.in_flight -= 1


def _player(script: Script) -> Callable[[dict[str, Any]], Canned]:
    if callable(script):
        return lambda request: _canned(script(request))
    answers = iter(script)
    over = failing(418, "the script is over")
    return lambda request: _canned(next(answers, over))


def _canned(answer: Any) -> Canned:
    if isinstance(answer, Canned):
        return answer
    return Canned(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


async def _read(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return first.split()[1], headers, json.loads(body) if body else {}


async def _write(writer: asyncio.StreamWriter, answer: Canned, model: str) -> bool:
    if answer.fault == "hang":
        await asyncio.sleep(3600)
    if answer.fault == "reset":
        linger = struct.pack("ii", 1, 0)  # close with RST, not FIN
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    if answer.fault in ("reset", "disconnect"):
        return False
    if answer.wire:
        writer.write(answer.wire)
        await writer.drain()
        return False
    body = (completion(answer, model) if answer.body is None else answer.body).encode("utf-8", "surrogatepass")
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
    if answer.fault == "half_unmeasured":
        headers = {"Connection": "close", **answer.headers}
    head = f"HTTP/1.1 {answer.status} Scripted\r\n" + "".join(f"{n}: {v}\r\n" for n, v in headers.items()) + "\r\n"
    writer.write(head.encode("latin-1"))
    if answer.fault == "drip":
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)
        return True
    writer.write(body[: len(body) // 2] if answer.fault.startswith("half") else body)
    with suppress(ConnectionError):
        await writer.drain()
    return not answer.fault


def completion(answer: Canned, model: str) -> str:
    """The body of an answer, as a server would send it."""
    message = {"role": "assistant", "content": answer.text, **answer.message}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    body = {"id": "scripted", "object": "chat.completion", "model": model, "choices": [choice]}
    return json.dumps(body if answer.usage is None else body | {"usage": answer.usage}, ensure_ascii=False)

"""The mock server of benchmarks/engine.py: chat completions of a known latency, answered by one small process.

It costs some 70 us of processor time a call, which counts against the client: the ratios are that much too high.
`GET /report` tells what it saw, `GET /reset` forgets it.
"""

import argparse
import asyncio
import hashlib
import json
import math
import time
from collections import Counter
from functools import lru_cache
from typing import Any

from benchmarks import engine_workload as workload
from generation.client.loops import new_loop

_TOKENS = 4  # characters each
_FLAW = workload.FLAW.encode()


class Book:
    """What the server saw since the last reset; a call counts as answered once its bytes were handed to the socket.

    `keep_names` is needed to know what was asked twice, and takes 100 bytes a call.
    """

    def __init__(self, keep_names: bool = True) -> None:
        self.keep_names = keep_names
        self.answered: Counter[bytes] = Counter()
        self.calls = self.paid_again = self.in_flight = self.peak = 0
        self.tokens = [0, 0]
        self.latency_sum = 0.0
        self.first = self.last = 0.0

    def came(self, name: bytes, latency: float) -> None:
        self.first = self.first or time.time()
        self.paid_again += name in self.answered
        self.latency_sum += latency
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)

    def went(self, name: bytes) -> None:
        self.last = time.time()
        self.calls += 1
        self.in_flight -= 1
        if self.keep_names:
            self.answered[name] += 1

    def report(self) -> dict[str, Any]:
        window = self.last - self.first
        return {
            "calls": self.calls,
            "paid_again": self.paid_again,
            "peak": self.peak,
            "prompt_tokens": self.tokens[0],
            "completion_tokens": self.tokens[1],
            "latency_sum": self.latency_sum,
            "window": window,
            "mean_in_flight": self.latency_sum / window if window else 0.0,
            "first": self.first,
            "last": self.last,
        }


class Mock(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, book: list[Book], options: argparse.Namespace) -> None:
        self.book, self.options = book, options
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport  # uvloop's is no asyncio.Transport by name
        self.loop = asyncio.get_running_loop()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = _content_length(head)
        if len(rest) >= length:
            self.buffer = rest[length:]
            self.handle(head, rest[:length])

    def handle(self, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1]
        if path == b"/report":
            return self.transport.write(_http(json.dumps(self.book[0].report()).encode()))
        if path == b"/reset":
            self.book[0] = Book(self.options.names)
            return self.transport.write(_http(b"{}"))
        what, book = workload.asked(body), self.book[0]
        name = hashlib.blake2b(body, digest_size=16).digest()
        latency = self.options.latency
        if self.options.sigma:
            first, second = (workload.chance(f"{what}/{n}") for n in "ab")
            normal = math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second)  # Box and Muller
            latency *= math.exp(self.options.sigma * normal)
        book.came(name, latency)
        has_flaw = "generator" not in what and _FLAW in body
        text = workload.reply(what, self.options.accept, self.options.flawed, has_flaw)
        answer = _answer(text, len(body) // _TOKENS)
        book.tokens[0] += len(body) // _TOKENS
        book.tokens[1] += len(text) // _TOKENS
        self.loop.call_later(latency, self.answer, book, name, answer)
        return None

    def answer(self, book: Book, name: bytes, answer: bytes) -> None:
        if self.transport.is_closing():
            book.in_flight -= 1
            return
        self.transport.write(answer)
        book.went(name)


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line[:15].lower() == b"content-length:":
            return int(line[15:])
    return 0


@lru_cache(maxsize=4096)
def _answer(text: str, prompt_tokens: int) -> bytes:
    """The whole HTTP answer; there are few different ones."""
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    completion = len(text) // _TOKENS
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion}
    body = {"id": "mock", "object": "chat.completion", "created": 0, "model": "mock", "choices": [choice]}
    return _http(json.dumps(body | {"usage": usage | {"total_tokens": prompt_tokens + completion}}).encode())


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def serve(options: argparse.Namespace) -> None:
    """Serve until killed; prints the port on the first line."""
    book = [Book(options.names)]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Mock(book, options), "127.0.0.1", options.port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds a call; the median if --sigma is given")
    parser.add_argument("--sigma", type=float, default=0.0, help="of the lognormal distribution; 0: all alike")
    parser.add_argument("--accept", type=float, default=0.9, help="how likely a reviewer accepts")
    parser.add_argument("--flawed", type=float, default=0.0, help="how likely a draft has an answer from nowhere")
    parser.add_argument("--no-names", dest="names", action="store_false", help="do not remember each call")
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(serve(parser.parse_args()))

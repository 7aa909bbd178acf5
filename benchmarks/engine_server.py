"""The mock server of benchmarks/engine.py: chat completions of a known latency, answered by one small process.

Whether a reviewer accepts is decided by a hash of what is asked, so that every client meets the same workload. It costs
some 40 us of processor time a call, which counts against the client: the ratios are that much too high.
`GET /report` tells what it saw, `GET /reset` forgets it.
"""

import argparse
import asyncio
import hashlib
import json
import math
import time
from collections import Counter
from typing import Any

from generation.client.loops import new_loop


class Book:
    """What the server saw since the last reset; a call counts as answered once its bytes were handed to the socket."""

    def __init__(self) -> None:
        self.asked: Counter[bytes] = Counter()
        self.answered: Counter[bytes] = Counter()
        self.paid_again = 0
        self.in_flight = self.peak = 0
        self.latency_sum = 0.0
        self.first = self.last = 0.0

    def came(self, name: bytes, latency: float) -> None:
        self.first = self.first or time.time()
        self.asked[name] += 1
        self.paid_again += name in self.answered
        self.latency_sum += latency
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)

    def went(self, name: bytes) -> None:
        self.last = time.time()
        self.answered[name] += 1
        self.in_flight -= 1

    def report(self) -> dict[str, Any]:
        window = self.last - self.first
        calls = sum(self.answered.values())
        return {
            "calls": calls,
            "paid_again": self.paid_again,
            "peak": self.peak,
            "latency_sum": self.latency_sum,
            "window": window,
            "mean_in_flight": self.latency_sum / window if window else 0.0,
            "first": self.first,
            "last": self.last,
        }


class Mock(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, book: list[Book], latency: float, sigma: float, accept: float) -> None:
        self.book, self.latency, self.sigma, self.accept = book, latency, sigma, accept
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
            return self.write(json.dumps(self.book[0].report()).encode())
        if path == b"/reset":
            self.book[0] = Book()
            return self.write(b"{}")
        name = hashlib.blake2b(body, digest_size=24).digest()
        chances = [(int.from_bytes(name[at : at + 8]) + 1) / 2**64 for at in (0, 8, 16)]
        latency = self.latency
        if self.sigma:
            normal = math.sqrt(-2 * math.log(chances[1])) * math.cos(2 * math.pi * chances[2])  # Box and Muller
            latency *= math.exp(self.sigma * normal)
        book = self.book[0]
        book.came(name, latency)
        answer = (
            VERDICTS[chances[0] < self.accept]
            if b"is_quality" in body
            else DRAFT.replace(MARK, name.hex()[:8].encode())
        )
        self.loop.call_later(latency, self.answer, book, name, answer)
        return None

    def answer(self, book: Book, name: bytes, answer: bytes) -> None:
        if self.transport.is_closing():
            book.in_flight -= 1
            return
        self.transport.write(answer)
        book.went(name)

    def write(self, body: bytes) -> None:
        self.transport.write(_http(body))


def _verdict(accepts: bool) -> str:
    problems = [] if accepts else ["other"]
    return json.dumps({"reason": "It is as it should or should not be.", "is_quality": accepts, "problems": problems})


def _draft(mark: str) -> str:
    """A candidate for engine_client.PASSAGE that passes the checks; `mark` tells one draft from another."""
    coreference = {
        "kind": "pronominal",
        "mention": {"sentence_index": 2, "text": "It"},
        "antecedent": {"sentence_index": 0, "text": "The Harbor Safety Act"},
    }
    question = f"What does the Harbor Safety Act require every ferry of class {mark} to carry?"
    answer = {"question": question, "answer": "two rafts", "required_sentence_indices": [0, 2]}
    return json.dumps(answer | {"coreferences": [coreference]})


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line[:15].lower() == b"content-length:":
            return int(line[15:])
    return 0


def _completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
    body = {"id": "mock", "object": "chat.completion", "created": 0, "model": "mock", "choices": [choice]}
    return json.dumps(body | {"usage": usage}).encode()


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


MARK = b"xxxxxxxx"  # as long as what takes its place
DRAFT = _http(_completion(_draft(MARK.decode())))
VERDICTS = {accepts: _http(_completion(_verdict(accepts))) for accepts in (False, True)}


async def serve(port: int, latency: float, sigma: float, accept: float) -> None:
    """Serve until killed; prints the port on the first line."""
    book = [Book()]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Mock(book, latency, sigma, accept), "127.0.0.1", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds a call; the median if --sigma is given")
    parser.add_argument("--sigma", type=float, default=0.0, help="of the lognormal distribution; 0: all alike")
    parser.add_argument("--accept", type=float, default=0.9, help="how likely a reviewer accepts")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(serve(options.port, options.latency, options.sigma, options.accept))

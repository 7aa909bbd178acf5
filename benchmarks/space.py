"""The page under load, over real HTTP: start-up, fifty visitors at once, memory over 500 runs, time to a freed slot.

    python -m benchmarks.space [--visitors 50] [--runs 500]

Visitors speak gradio's queue as the page does: they join it, read the stream of their places, and get their pair. All
of it is on this machine, the embedded default makes the pairs, and the model behind the cancelled runs is a local
server that takes its time.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).parents[1]
PORT = 7899
PAGE = f"http://127.0.0.1:{PORT}/gradio_api/"
EXAMPLE = (ROOT / "space" / "example.md").read_text(encoding="utf-8")
NAMES = ("Harbour", "River", "Bridge", "Tunnel", "Canal", "Dock", "Pier", "Beacon", "Ferry", "Quay")
AT_ONCE = 4  # runs at a time, as space/generate.py has it
TOLD = 50  # runs after which memory is read first


@dataclass
class Visit:
    """What one visitor saw: places in the queue, when the run began and ended (seconds), whether a pair was made."""

    joined: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    places: list[int] = field(default_factory=list)
    is_made: bool = False


@contextmanager
def page() -> Iterator[tuple[int, float]]:
    """`python app.py` in a process of its own: its id, and the seconds until GET /health answered."""
    import urllib.request

    kept = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN", "SPACE_ID")}
    with tempfile.TemporaryFile() as log:
        begun = time.monotonic()
        environment = {**kept, "GRADIO_SERVER_PORT": str(PORT), "GRADIO_SERVER_NAME": "127.0.0.1"}
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            while process.poll() is None:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield process.pid, time.monotonic() - begun
        finally:
            process.terminate()
            process.wait(30)


async def endpoint(web: aiohttp.ClientSession, name: str) -> int:
    """The number under which the queue knows a named function."""
    async with web.get(f"http://127.0.0.1:{PORT}/config") as answer:
        config = await answer.json()
    return next(d["id"] for d in config["dependencies"] if d["api_name"] == name)


async def join(web: aiohttp.ClientSession, number: int, session: str, data: list[Any]) -> str:
    """Enter the queue; the event's id."""
    body = {"fn_index": number, "session_hash": session, "data": data}
    async with web.post(PAGE + "queue/join", json=body) as answer:
        answer.raise_for_status()
        return str((await answer.json())["event_id"])


async def stream(web: aiohttp.ClientSession, session: str) -> AsyncIterator[dict[str, Any]]:
    """Every message that the queue sends to this visitor."""
    async with web.get(PAGE + "queue/data", params={"session_hash": session}) as answer:
        async for line in answer.content:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])


async def visit(web: aiohttp.ClientSession, number: int, session: str, data: list[Any]) -> Visit:
    """One visitor from joining to the pair."""
    seen = Visit(joined=time.monotonic())
    await join(web, number, session, data)
    async for message in stream(web, session):
        kind = message["msg"]
        if kind == "estimation":
            seen.places.append(message["rank"])
        elif kind == "process_starts":
            seen.started = time.monotonic()
        elif kind == "process_completed":
            seen.ended = time.monotonic()
            made = (message["output"].get("data") or [{}])[0]
            seen.is_made = bool(message["success"]) and made.get("status") == "accepted"
            break
    return seen


def text_of(n: int) -> str:
    """The example, about an act of its own."""
    return EXAMPLE.replace("Harbour", f"{NAMES[n % len(NAMES)]} {NAMES[n // len(NAMES) % len(NAMES)]}")


async def crowd(web: aiohttp.ClientSession, number: int, visitors: int) -> dict[str, str]:
    """All visitors at the same moment."""
    begun = time.monotonic()
    seen = await asyncio.gather(
        *(visit(web, number, f"crowd{n}", [text_of(n), -1, "", "", "", False, None]) for n in range(visitors))
    )
    wall = time.monotonic() - begun
    turns = sorted(seen, key=lambda v: v.started)
    waits = [v.started - v.joined for v in seen]
    back = sum(any(later > earlier for earlier, later in pairwise(v.places)) for v in seen)
    return {
        f"{visitors} visitors at once, a pair made": f"{sum(v.is_made for v in seen)} of {visitors}",
        "wall time": f"{wall:.1f} s, {visitors / wall:.1f} pairs a second",
        "shown their place while they waited": f"{sum(bool(v.places) for v in seen)} of {visitors}",
        "whose place ever got worse": str(back),
        "wait for a turn, median and longest": f"{statistics.median(waits):.1f} and {max(waits):.1f} s",
        "longest overtaking": f"{_overtaking(turns)} turns",
    }


def _overtaking(turns: list[Visit]) -> int:
    """By how many turns a visitor at most came before an earlier one; up to the runs at a time is chance."""
    first_places = [v.places[0] if v.places else 0 for v in turns]
    return max((place - turn for turn, place in enumerate(first_places)), default=0)


def memory(pid: int) -> float:
    """Resident memory of the page's process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


async def many(web: aiohttp.ClientSession, number: int, pid: int, runs: int) -> dict[str, str]:
    """Runs by AT_ONCE visitors, one after the other, each in a session of its own."""
    read: dict[int, float] = {}
    for first in range(0, runs, AT_ONCE):
        if first >= TOLD and TOLD not in read:
            read[TOLD] = memory(pid)
        group = range(first, min(first + AT_ONCE, runs))
        await asyncio.gather(
            *(visit(web, number, f"many{n}", [text_of(n), -1, "", "", "", False, None]) for n in group)
        )
    return {f"memory after {TOLD} and {runs} more runs": f"{read.get(TOLD, 0):.0f} and {memory(pid):.0f} MiB"}


async def freed(web: aiohttp.ClientSession, number: int, times: int = 5) -> dict[str, str]:
    """Fill every slot with runs that wait for a slow model, cancel one, and see when the next visitor's begins."""
    sys.path.insert(0, str(ROOT))
    from tests.model_server import Canned, ModelServer

    seconds = []
    with ModelServer(lambda request: Canned(fault="hang")) as slow:
        model = [EXAMPLE, -1, slow.url, "slow", "", False, None]
        sessions = [f"slot{n}" for n in range(AT_ONCE + times)]
        streams = {s: _events(web, number, s, model) for s in sessions}
        events = {s: await anext(streams[s]) for s in sessions[:AT_ONCE]}
        for s in sessions[:AT_ONCE]:
            await anext(streams[s])  # it has begun
        for leaving, waiting in zip(sessions, sessions[AT_ONCE:], strict=False):
            events[waiting] = await anext(streams[waiting])
            begins = asyncio.ensure_future(anext(streams[waiting]))
            await asyncio.sleep(0.5)
            assert not begins.done(), "a slot was free before"
            begun = time.monotonic()
            await web.post(
                PAGE + "cancel", json={"fn_index": number, "session_hash": leaving, "event_id": events[leaving]}
            )
            await begins
            seconds.append(time.monotonic() - begun)
        for s in sessions[times:]:
            await web.post(PAGE + "cancel", json={"fn_index": number, "session_hash": s, "event_id": events[s]})
    return {f"from cancel to the next run, longest of {times}": f"{max(seconds):.2f} s"}


async def _events(web: aiohttp.ClientSession, number: int, session: str, data: list[Any]) -> AsyncIterator[str]:
    """The event's id once it has joined, then once more when the run begins."""
    event = await join(web, number, session, data)
    yield event
    async for message in stream(web, session):
        if message["msg"] == "process_starts":
            yield event


async def measure(visitors: int, runs: int) -> dict[str, str]:
    with page() as (pid, seconds):
        table = {"start-up to the first GET /health": f"{seconds:.1f} s"}
        timeout = aiohttp.ClientTimeout(total=1800)
        async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as web:
            number = await endpoint(web, "generate_pair")
            begun = time.monotonic()
            first = await visit(web, number, "first", [EXAMPLE, -1, "", "", "", False, None])
            table["the first pair, models loaded for it"] = f"{first.ended - begun:.1f} s"
            table |= await crowd(web, number, visitors)
            table |= await freed(web, number)
            if runs:
                table |= await many(web, number, pid, runs)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--runs", type=int, default=500)
    asked = parser.parse_args()
    table = asyncio.run(measure(asked.visitors, asked.runs))
    print("| | |\n|---|--:|")
    for name, value in table.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()

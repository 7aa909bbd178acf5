"""How near the engine comes to never being idle, beside two bare loops in the same run. `make bench` prints it.

    python -m benchmarks.engine             four latencies, a kill -9, tokens a pair; about six minutes
    python -m benchmarks.engine --whole     also level "all" of the checks, and 100,000 passages in memory
    python -m benchmarks.engine --only kill tokens --passages 500

The workload is the paper's loop on passages of seven sentences: a draft, four reviews in parallel, each accepting with
probability 0.9, at most five rounds, against a local server of known latency. `craqan` is the command itself, with
journal, admission, ledger and progress on; what it is measured beside is in engine_client.py. window / ideal is the
time from the first request to the last reply over (sum of latencies / calls in flight); processor time, memory and the
first request count from the start of the process.
"""

import argparse
import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine_workload import REVISIONS, passages

HERE = Path(__file__).parent
CASES = {"0.5": (0.5, 0.0), "0.05": (0.05, 0.0), "0.15": (0.15, 0.0), "lognormal": (0.5, 0.6)}
PARTS = ("speed", "kill", "tokens", "all", "memory")
MEMORY = (1_000, 100_000)


@contextmanager
def server(latency: float, sigma: float = 0.0, *more: str) -> Iterator[str]:
    """A mock server for one case; yields its address."""
    command = [sys.executable, "-m", "benchmarks.engine_server", "--latency", str(latency), "--sigma", str(sigma)]
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def told(url: str) -> dict[str, Any]:
    """What the server has seen so far."""
    with urllib.request.urlopen(url + "/report", timeout=30) as answer:
        return json.load(answer)


@dataclass
class Ended:
    """A client that has ended: seconds of its life and of processor time, its children's too, and its peak in MiB."""

    started: float
    wall: float
    cpu: float
    peak: float


class Client:
    """One run over the passages of a file, in a process of its own; its files are in `out`."""

    def __init__(self, system: str, url: str, file: Path, out: Path, calls: int, checks: str = "format", *more: str):
        self.out = out
        if system == "craqan":
            command = ["generation", "generate", str(file), "--out", str(out), "--model", "mock"]
            command += ["--base-url", f"{url}/v1", "--concurrency", str(calls), "--checks", checks]
            command += ["--max-revisions", str(REVISIONS), "--prices", "1,4", *more]
        else:
            command = ["benchmarks.engine_client", system, str(file), "--url", f"{url}/v1", "--calls", str(calls)]
            command += ["--checks", checks]
        out.mkdir(parents=True, exist_ok=True)
        self.log = (out / "log.txt").open("w+")
        self.started = time.time()
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command], stdout=self.log, stderr=subprocess.STDOUT, cwd=HERE.parent
        )

    def wait(self) -> Ended:
        """Wait for its end, watching its memory."""
        peak = 0.0
        while True:
            done, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if done:
                break
            peak = max(peak, sum(map(_pss, _family(self.process.pid))))
            time.sleep(0.1)
        wall = time.time() - self.started
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            self.log.seek(0)
            raise SystemExit(f"the client failed with {self.process.returncode}: {self.log.read()[-2000:]}")
        return Ended(self.started, wall, usage.ru_utime + usage.ru_stime, peak)

    def books(self) -> dict[str, Any]:
        """The counts of the run."""
        if (run := self.out / "run.json").exists():
            return json.loads(run.read_text(encoding="utf-8"))
        return json.loads((self.out / "log.txt").read_text().splitlines()[-1])


def _family(pid: int) -> list[int]:
    """A process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *map(int, children)]


def _pss(pid: int) -> float:
    """Memory of a process in MiB, what it shares with others in part (proportional set size); 0 if it is not told."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0  # it has just ended, or this system does not tell
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def measure(system: str, case: str, count: int, calls: int, checks: str = "format") -> dict[str, Any]:
    with server(*CASES[case]) as url, written(count) as (file, folder):
        client = Client(system, url, file, folder / "run", calls, checks)
        ended, seen, books = client.wait(), told(url), client.books()
    ideal = seen["latency_sum"] / calls
    return {
        "system": system,
        "case": case,
        "checks": checks,
        "calls": seen["calls"],
        "ideal s": round(ideal, 2),
        "window / ideal": round(seen["window"] / ideal, 3),
        "wall / ideal": round(ended.wall / ideal, 3),
        "CPU s / 1000 calls": round(ended.cpu / seen["calls"] * 1000, 3),
        "peak MiB": round(ended.peak),
        "first request s": round(seen["first"] - ended.started, 2),
        "accepted": books["accepted"],
        "failed": books["failed"],
        "load": round(os.getloadavg()[0], 1),
    }


@contextmanager
def written(count: int) -> Iterator[tuple[Path, Path]]:
    """A JSONL file of so many passages, and the folder that it is in."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "passages.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in passages(count))
        yield file, Path(folder)


def killed(count: int, calls: int, at: float) -> dict[str, Any]:
    """Kill the run when the share `at` of its calls is answered, start it again, and ask what was asked twice."""
    with server(*CASES["0.05"]) as url, written(count) as (file, folder):
        first = Client("craqan", url, file, folder / "run", calls)
        while told(url)["calls"] < count * 7.4 * at and first.process.poll() is None:
            time.sleep(0.02)
        first.process.kill()
        first.process.wait()
        time.sleep(1)  # let the server finish what was on its way
        before, stored = told(url), rows(folder / "run" / "journal.sqlite")
        second = Client("craqan", url, file, folder / "run", calls)
        second.wait()
        seen, kept, books = told(url), rows(folder / "run" / "journal.sqlite"), second.books()
        whole = Client("craqan", url, file, folder / "unbroken", calls)
        whole.wait()
        same = all((folder / "run" / name).read_bytes() == (folder / "unbroken" / name).read_bytes() for name in FILES)
    return {
        "killed at": f"{at:.0%}",
        "answered": before["calls"],
        "stored": stored,
        "calls of the second run": seen["calls"] - before["calls"],
        "stored calls paid again": seen["calls"] - before["calls"] - (kept - stored),
        "answered, not stored, paid again": seen["paid_again"],
        "pending": books["pending"],
        "same files as unbroken": same,
    }


FILES = ("accepted.jsonl", "rejected.jsonl", "failed.jsonl")


def rows(journal: Path) -> int:
    """How many answered calls a journal holds."""
    with sqlite3.connect(journal) as database:
        return int(database.execute("SELECT count(reply) FROM calls").fetchone()[0])


def tokens(count: int, calls: int) -> Iterator[dict[str, Any]]:
    """Tokens an accepted pair, by what is done before reviewers are asked, on the same replies.

    Three drafts in ten have an answer that the passage does not hold; reviewers turn these down as well.
    """
    plain = 0.0
    ways: dict[str, tuple[str, ...]] = {"the paper's loop": ("none",), "checks first": ("all",)}
    ways["checks first, joint panel"] = ("all", "--panel", "joint")
    for name, (checks, *more) in ways.items():
        with server(0.01, 0.0, "--flawed", "0.3") as url, written(count) as (file, folder):
            client = Client("craqan", url, file, folder / "run", calls, checks, *more)
            client.wait()
            seen, books = told(url), client.books()
        spent = (seen["prompt_tokens"] + seen["completion_tokens"]) / books["accepted"]
        plain = plain or spent
        yield {
            "way": name,
            "accepted": f"{books['accepted']} of {books['submitted']}",
            "calls a pair": round(seen["calls"] / books["accepted"], 2),
            "tokens a pair": round(spent),
            "of the plain loop": f"{spent / plain:.0%}",
        }


def memory(counts: Iterable[int], calls: int) -> Iterator[dict[str, Any]]:
    """Peak memory by number of passages: no latency, every pair accepted, two calls a passage."""
    for count in counts:
        with server(0.0, 0.0, "--accept", "1", "--no-names") as url, written(count) as (file, folder):
            client = Client("craqan", url, file, folder / "run", calls, "format", "--panel", "joint")
            ended, books = client.wait(), client.books()
        accepted, skipped = books["accepted"], len(books["skipped"])
        yield {
            "passages": count,
            "accepted": accepted,
            "skipped": skipped,
            "wall s": round(ended.wall, 1),
            "CPU ms a passage": round(ended.cpu / count * 1000, 2),
            "peak MiB": round(ended.peak, 1),
        }


def show(lines: Iterable[dict[str, Any]]) -> None:
    """Print rows of one shape as a Markdown table, each as soon as it is there."""
    for number, row in enumerate(lines):
        if number == 0:
            print("\n| " + " | ".join(row) + " |\n|" + "---|" * len(row))
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=128, help="most calls in flight")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--systems", nargs="+", default=["craqan", "aiohttp", "openai"])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[])
    parser.add_argument("--whole", action="store_true", help="all parts, some minutes more")
    options = parser.parse_args()
    parts = options.only or (PARTS if options.whole else PARTS[:3])
    count, calls = options.passages, options.calls
    if "speed" in parts:
        pairs = itertools.product(options.cases, options.systems)
        show(measure(system, case, count, calls) for case, system in pairs)
    if "kill" in parts:
        show(killed(count, calls, at) for at in (0.5, random.random()))
    if "tokens" in parts:
        show(tokens(min(count, 300), calls))
    if "all" in parts:
        show(measure("craqan", case, count, calls, "all") for case in options.cases)
    if "memory" in parts:
        show(memory(MEMORY, calls))


if __name__ == "__main__":
    main()

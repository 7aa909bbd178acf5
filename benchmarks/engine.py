"""How near the engine comes to never being idle, beside a bare openai loop in the same run. `make bench` prints it.

    python -m benchmarks.engine [--passages 1000] [--calls 128] [--cases 0.5 0.05 lognormal] [--systems craqan openai]
    python -m benchmarks.engine --kill                  kill -9 at half of the calls, run again: what was paid twice
    python -m benchmarks.engine --memory 1000 10000     peak memory by number of passages

The workload is the paper's loop on passages of seven sentences: a draft, four reviews in parallel, each accepting with
probability 0.9, at most five rounds, against a local server of known latency. window / ideal is the time from the first
request to the last reply over (sum of latencies / calls in flight).
"""

import argparse
import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = {"0.5": (0.5, 0.0), "0.05": (0.05, 0.0), "lognormal": (0.5, 0.6), "fast": (0.005, 0.0)}


@contextmanager
def server(latency: float, sigma: float) -> Iterator[str]:
    """A mock server for one case; yields its address."""
    command = [sys.executable, "-m", "benchmarks.engine_server", "--latency", str(latency), "--sigma", str(sigma)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def told(url: str, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(url + path, timeout=30) as answer:
        return json.load(answer)


def start(system: str, url: str, passages: int, calls: int, journal: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "benchmarks.engine_client", system, "--url", f"{url}/v1"]
    command += ["--passages", str(passages), "--calls", str(calls), "--journal", str(journal)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)


def watched(process: "subprocess.Popen[str]") -> tuple[dict[str, Any], float]:
    """What the client printed, and its peak memory in MiB (proportional set size, sampled)."""
    peak = 0.0
    rollup = Path(f"/proc/{process.pid}/smaps_rollup")
    while process.poll() is None:
        try:
            line = next(line for line in rollup.read_text().splitlines() if line.startswith("Pss:"))
            peak = max(peak, int(line.split()[1]) / 1024)
        except (OSError, StopIteration):
            pass  # it has just ended, or this system does not tell
        time.sleep(0.1)
    assert process.stdout is not None
    printed = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"the client failed with {process.returncode}: {printed}")
    return json.loads(printed.splitlines()[-1]), peak


def measure(system: str, case: str, passages: int, calls: int) -> dict[str, Any]:
    with server(*CASES[case]) as url, tempfile.TemporaryDirectory() as folder:
        client, peak = watched(start(system, url, passages, calls, Path(folder) / "journal.sqlite"))
        seen = told(url, "/report")
    ideal = seen["latency_sum"] / calls
    return {
        "system": system,
        "case": case,
        "calls": seen["calls"],
        "ideal s": round(ideal, 2),
        "window / ideal": round(seen["window"] / ideal, 3),
        "wall / ideal": round((client["ended"] - client["started"]) / ideal, 3),
        "mean in flight": round(seen["mean_in_flight"], 1),
        "CPU s / 1000 calls": round(client["cpu"] / seen["calls"] * 1000, 3),
        "peak MiB": round(peak),
        "first request s": round(seen["first"] - client["started"], 2),
        "accepted": client["ledger"]["accepted"],
        "failed": client["ledger"]["failed"],
    }


def killed(case: str, passages: int, calls: int) -> dict[str, Any]:
    """Kill the engine at half of its calls, run it again on the same journal, and ask the server what came twice."""
    with server(*CASES[case]) as url, tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.sqlite"
        first = start("craqan", url, passages, calls, journal)
        while (seen := told(url, "/report"))["calls"] < passages * 3.7 and first.poll() is None:
            time.sleep(0.02)
        first.kill()
        first.wait()
        time.sleep(1)  # let the server finish what was on its way
        before, stored = told(url, "/report")["calls"], rows(journal)
        client, _ = watched(start("craqan", url, passages, calls, journal))
        seen, wanted = told(url, "/report"), rows(journal)
    return {
        "answered at kill": before,
        "stored at kill": stored,
        "calls of the second run": seen["calls"] - before,
        "answered calls paid again": seen["paid_again"],
        "stored calls paid again": seen["calls"] - before - (wanted - stored),
        "pending": client["ledger"]["pending"],
        "failed": client["ledger"]["failed"],
    }


def rows(journal: Path) -> int:
    """How many calls a journal holds."""
    with sqlite3.connect(journal) as database:
        return int(database.execute("SELECT count(*) FROM calls").fetchone()[0])


def show(lines: Iterable[dict[str, Any]]) -> None:
    """Print rows of one shape as a Markdown table, each as soon as it is there."""
    for number, row in enumerate(lines):
        if number == 0:
            print("| " + " | ".join(row) + " |\n|" + "---|" * len(row))
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=128, help="most calls in flight")
    parser.add_argument("--cases", nargs="+", default=["0.5", "0.05", "lognormal"], choices=CASES)
    parser.add_argument("--systems", nargs="+", default=["craqan", "openai"])
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--memory", nargs="+", type=int, default=[])
    options = parser.parse_args()
    if options.kill:
        show([killed("0.05", options.passages, options.calls)])
    elif options.memory:
        show({"passages": count} | measure("craqan", "fast", count, options.calls) for count in options.memory)
    else:
        pairs = itertools.product(options.cases, options.systems)
        show(measure(system, case, options.passages, options.calls) for case, system in pairs)


if __name__ == "__main__":
    main()

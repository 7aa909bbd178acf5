"""The checks in processes of their own: the same vote, and no process that outlives its run."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from generation import checks
from generation.checking.workers import Checkers
from generation.records import Candidate

SENTENCES = ("The Harbor Act was passed in 1974.", "It requires every ferry to carry two rafts.")
GOOD = Candidate("What does the Harbor Act require every ferry to carry?", "two rafts", (0, 1))
BAD = Candidate("What does the Harbor Act require every ferry to carry?", "ninety lanterns", (0, 1))


async def test_workers_vote_as_the_checks_do_here():
    checkers = Checkers(1)
    try:
        for candidate in (GOOD, BAD):
            assert await checkers(candidate, SENTENCES) == checks.verdict(checks.run(candidate, SENTENCES))
    finally:
        checkers.close()


async def test_a_lost_worker_costs_nothing_but_time():
    checkers = Checkers(1)
    checkers.start()
    first = await checkers(GOOD, SENTENCES)
    for pool in checkers._pools:
        for pid in pool._processes:
            os.kill(pid, signal.SIGKILL)
    votes = await asyncio.gather(*(checkers(GOOD, SENTENCES) for _ in range(3)))
    assert votes == [first] * 3
    checkers.close()


ORPHAN = """
import time
from generation.checking.workers import Checkers
if __name__ == "__main__":
    checkers = Checkers(1)
    checkers.start()
    while not checkers._pools[0]._processes:
        time.sleep(0.05)
    print(*checkers._pools[0]._processes, flush=True)
    time.sleep(60)
"""


def test_a_worker_ends_with_a_run_that_is_killed(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(ORPHAN)
    run = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    worker = int(run.stdout.readline())
    time.sleep(3)
    run.kill()
    run.wait()
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and _is_alive(worker):
        time.sleep(0.1)
    assert not _is_alive(worker)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().split(") ")[1][0] != "Z"

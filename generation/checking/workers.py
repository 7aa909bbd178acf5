"""The checks in processes of their own, for runs whose event loop has no time for a parse.

A passage takes spaCy about 14 ms and holds the interpreter meanwhile, so that a thread would not help: at 128 calls in
flight of half a second each that is a third of a processor, and every reply would wait for it.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from zlib import crc32

from generation import checks
from generation.records import Candidate, Verdict

CALLS_A_WORKER = 64
"""Calls in flight to which one worker is enough, if they take half a second or longer."""
FEWEST_CALLS = 32
"""With fewer the checks are done where the loop is, without a process of 200 MiB."""


class Checkers:
    """Checks candidates in `count` processes; a passage always goes to the same one, which parses it once.

    Where a process cannot be started or is lost, the checks are done here.
    """

    def __init__(self, count: int) -> None:
        context = get_context("spawn")
        self._pools = [ProcessPoolExecutor(1, mp_context=context, initializer=_begin) for _ in range(count)]

    @classmethod
    def for_calls(cls, in_flight: int) -> "Checkers":
        """As many as so many calls in flight need, and the processors hold beside the loop."""
        return cls(max(1, min(in_flight // CALLS_A_WORKER, (os.cpu_count() or 2) - 1)))

    def start(self) -> None:
        """Let the processes load their model while the first calls are out."""
        with _deaf():
            for pool in self._pools:
                pool.submit(_ready)

    async def __call__(self, candidate: Candidate, sentences: Sequence[str]) -> Verdict:
        """The vote of all checks."""
        texts = tuple(sentences)
        if self._pools:
            pool = self._pools[crc32(" ".join(texts).encode("utf-8", "replace")) % len(self._pools)]
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, _verdict, candidate, texts)
            except BrokenExecutor:
                self.close()
        return _verdict(candidate, texts)

    def close(self) -> None:
        """Let the processes end; what they still check is not waited for."""
        pools, self._pools = self._pools, []
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """What is started meanwhile does not hear Ctrl-C, not even before `_begin`; here it is heard afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _verdict(candidate: Candidate, sentences: Sequence[str]) -> Verdict:
    return checks.verdict(checks.run(candidate, sentences))


def _begin() -> None:
    """In a new process: leave Ctrl-C to the run, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()


def _ready() -> None:
    from generation.language import nlp

    nlp.load()

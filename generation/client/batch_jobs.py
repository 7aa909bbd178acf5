"""One wave's way through a batch API: file, job, waiting, answers; from wherever an earlier process left it."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from generation.client.admission import FIRST_PATIENCE
from generation.client.batch_http import BatchTransport, Job
from generation.client.batch_lines import Line
from generation.client.batch_waves import Wave
from generation.errors import ConnectError, ModelError, RateLimitError, ReplyError, ServerError
from generation.llm import RETRIED

FIRST_LOOK_S = 2.0
LONGEST_LOOK_S = 60.0
LONGEST_JOB_S = 30 * 3600.0  # a job has 24 hours, and some time to write its files
PATIENCE_S = 3600.0
"""Seconds for which a server that is away, or fails, is asked again; one that never answered, FIRST_PATIENCE."""
_BACKOFF_S = 0.5
_DOWNLOADS = 3
_LOOKS_FOR_LOST = 2  # a list may lag behind the job that was just made

T = TypeVar("T")


class Courier:
    """Carries waves through `transport`; every step is on disk before the server can know of the next one.

    `notify` is told when the server must be waited for.
    """

    def __init__(self, transport: BatchTransport, notify: Callable[[str], None]) -> None:
        self.transport = transport
        self._notify = notify
        self._has_answered = False

    async def send(self, wave: Wave) -> Job:
        """Upload the wave's file and make a job of it, once: a job whose making was not confirmed is looked for."""
        wave.file_id = await self._insist(lambda: self.transport.upload(wave.requests))
        wave.save()
        job = await self._create(wave)
        self._made(wave, job)
        return job

    async def lost(self, wave: Wave) -> Job | None:
        """The job of a wave whose file was uploaded when the process died; None if none was made."""
        for look in range(_LOOKS_FOR_LOST):
            if look:
                await asyncio.sleep(FIRST_LOOK_S)
            if job := await self._find(wave):
                self._made(wave, job)
                return job
        return None

    async def end_of(self, wave: Wave) -> Job:
        """Wait until the wave's job has ended, looking ever more seldom."""
        pause, give_up = FIRST_LOOK_S, _now() + LONGEST_JOB_S
        while True:
            job = await self._insist(lambda: self.transport.look(wave.job_id))
            if job.has_ended:
                return job
            if _now() > give_up:
                hours = LONGEST_JOB_S / 3600
                raise ServerError(f"The job {wave.job_id} is still {job.status} after {hours:.0f} hours: cancel it.")
            await asyncio.sleep(pause * random.uniform(0.8, 1.0))
            pause = min(LONGEST_LOOK_S, pause * 1.5)

    async def answers(self, job: Job) -> dict[str, Line]:
        """The lines of a job that has ended, by key; looked for again where there are fewer than the job counts."""
        for download in range(_DOWNLOADS):
            is_last = download == _DOWNLOADS - 1
            lines: dict[str, Line] = {}
            try:
                for file_id in filter(None, (job.error_file_id, job.output_file_id)):
                    lines.update(await self._insist(partial(self.transport.lines, file_id)))
            except ReplyError:
                if is_last:
                    raise
                continue
            if len(lines) >= job.done or is_last:
                return lines
            await asyncio.sleep(FIRST_LOOK_S)
            job = await self._insist(partial(self.transport.look, job.id))  # its files may be named a moment later
        raise AssertionError("not reached")

    async def _create(self, wave: Wave) -> Job:
        started, attempt = _now(), 0
        while True:
            try:
                return await self.transport.create(wave.file_id, {"wave": wave.path.stem})
            except RETRIED as error:
                await self._wait(error, attempt, started)
                is_refused = isinstance(error, RateLimitError)
            attempt += 1
            if not is_refused and (job := await self._find(wave)):
                return job

    async def _find(self, wave: Wave) -> Job | None:
        return await self._insist(lambda: self.transport.find(wave.file_id, wave.planned_at))

    def _made(self, wave: Wave, job: Job) -> None:
        wave.job_id = job.id
        wave.save()

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Ask until it works, for a while: nothing asked here costs anything."""
        started, attempt = _now(), 0
        while True:
            try:
                answer = await call()
            except RETRIED as error:
                await self._wait(error, attempt, started)
            else:
                self._has_answered = True
                return answer
            attempt += 1

    async def _wait(self, error: ModelError, attempt: int, started: float) -> None:
        """Pause after the `attempt`-th failure (0 is the first), or raise it once it has been long enough."""
        is_there = self._has_answered or not isinstance(error, ConnectError)
        if _now() - started > (PATIENCE_S if is_there else FIRST_PATIENCE):
            raise error
        if attempt == 1:  # the second in a row
            self._notify(f"Waiting for the server: {error}")
        await asyncio.sleep(_pause(error, attempt))


def _pause(error: Any, attempt: int) -> float:
    if error.retry_after:
        return min(error.retry_after, PATIENCE_S)
    return min(LONGEST_LOOK_S, _BACKOFF_S * 2 ** min(attempt, 10)) * random.uniform(0.5, 1.0)


def _now() -> float:
    return asyncio.get_running_loop().time()

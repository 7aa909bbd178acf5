"""A model behind a batch API: requests wait for each other, go out as one job a wave, and are answered within hours.

A wave goes when no new request has come for a moment, which is when no section can go on without an answer, or when it
is full. What is out is on disk (see batch_waves), so that a process that dies is followed by one that collects it.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

from filelock import FileLock, Timeout

from generation.client.batch_http import BatchTransport, Job
from generation.client.batch_jobs import Courier
from generation.client.batch_lines import ENDED_EARLY, Line, is_answered, missing_line, read_line, request_line
from generation.client.batch_waves import Wave, Waves, unwritable
from generation.client.calls import key_of
from generation.client.dialect import Dialect
from generation.client.replies import usable
from generation.client.transport import endpoint, find_key
from generation.errors import AddressError, AuthError, CircuitError, ModelError, RequestError, UsageError
from generation.journal import Journal
from generation.llm import RETRIED, Reply, Request, identity_of

MOST_REQUESTS = 50_000
MOST_BYTES = 199_000_000
"""Of one file; OpenAI takes 200 MB."""
MOST_JOBS = 10
QUIET_S = 1.0
"""Seconds without a new request after which a wave goes."""
_QUEUE_IS_FULL = "token_limit_exceeded"  # the tokens of an account's jobs that have not ended
_FORM = ("mode", "max_tokens_name", "takes_temperature", "takes_system")


class BatchChat:
    """A chat that asks in batch jobs; the same `identity`, hence the same calls in the journal, as the live OpenAIChat.

    `journal` is the one wrapped around this chat: a wave is closed once its replies are in there. `folder` keeps the
    records of waves. `retries` bounds how often one request goes out again after a fault of the server or a job that
    ended before it. A file that the server refuses, a wrong key or model stop the run (CircuitError, `stopped`).

    With `cost` (dollars of a request, by guess) and `spare` (dollars left) no more goes out than is likely to be paid
    for. Use `async with`: it takes up the jobs that an earlier process left. `notify` is told of every job, `in_flight`
    counts the requests that are with the server.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        journal: Journal,
        folder: Path,
        timeout: float = 60.0,
        retries: int = 3,
        extra: Mapping[str, Any] | None = None,
        cost: Callable[[Request], float] = lambda request: 0.0,
        spare: Callable[[], float] = lambda: float("inf"),
        notify: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        url = endpoint(base_url)
        self.model = model
        self.retries = retries
        self.stopped: CircuitError | None = None
        self._transport = BatchTransport(url, find_key(url, api_key), timeout)
        self._courier = Courier(self._transport, notify)
        self._journal = journal
        self._folder = folder
        self._lock = FileLock(folder / ".lock")
        self._extra = dict(extra or {})
        self._cost, self._spare, self._notify = cost, spare, notify
        self._dialect = Dialect(model, self._extra, lambda note: notify(f"{model} at {self._transport.host}: {note}"))
        self._items: dict[str, _Item] = {}  # all that is asked and not answered, by key
        self._queue: dict[str, _Item] = {}  # what of it waits for a wave
        self._owners: dict[str, Wave] = {}  # the latest wave that a key went out with
        self._unasked: dict[str, Line] = {}  # answers to what this process has not asked yet
        self._delivered: list[tuple[Wave, str, list[str]]] = []
        self._jobs: dict[asyncio.Task[None], Wave] = {}
        self._planner: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None
        self._wake = asyncio.Event()
        self._last_arrival = 0.0
        self._most_requests, self._most_jobs = MOST_REQUESTS, MOST_JOBS

    @property
    def identity(self) -> str:
        return identity_of(self._transport.url, self.model, self._extra)

    @property
    def in_flight(self) -> int:
        return len(self._owners)

    async def __aenter__(self) -> Self:
        self._hold_folder()
        self._waves = Waves(self._folder)
        self._take_up_form()
        for wave in self._waves.open:
            if wave.file_id and not self._is_kept(wave.keys):
                self._owners.update(dict.fromkeys(wave.keys, wave))
                self._start(self._take_up(wave), wave)
            else:
                wave.close("collected" if wave.file_id else "never sent", len(wave.keys) if wave.file_id else 0)
        self._planner = asyncio.create_task(self._plan())
        self._planner.add_done_callback(self._ended)
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._jobs, *([self._planner] if self._planner else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            self._close_kept()
        finally:
            self._lock.release()
            await self._transport.aclose()

    async def __call__(self, request: Request) -> Reply:
        """Ask, in as many waves as it takes; the ModelError of the last one, or CircuitError, is raised."""
        send = partial(self._reply, key_of(self.identity, request), request)
        return usable(await self._dialect.speak(request, send))

    def stop(self, reason: str) -> None:
        """Send nothing more and wait for nothing; jobs that are out go on, and the next process collects them."""
        if self.stopped is not None:
            return
        if jobs := [wave.job_id for wave in self._jobs.values() if wave.job_id]:
            self._notify(f"Still out and to be collected by the next run: {', '.join(jobs)}.")
        self.stopped = CircuitError(f"Stopped: {reason} Run the same command again to go on from here.")
        self._fail(self.stopped)
        for task in self._jobs:
            task.cancel()

    def _hold_folder(self) -> None:
        """One process at a time: two would give their waves the same numbers, and lose each other's jobs."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise UsageError(
                f"Another process asks in batch jobs from {self._folder}; wait for it, or give another journal."
            ) from None
        except OSError as error:
            raise unwritable(self._folder, error) from error

    async def _reply(self, key: str, request: Request, body: dict[str, Any]) -> Reply:
        for attempt in itertools.count():
            line = await self._line(key, request, body)
            try:
                return read_line(self._transport.host, self.model, line)
            except RETRIED as error:
                if attempt >= self.retries:
                    if error.code in ENDED_EARLY:  # the job's doing, not this request's
                        self._give_up(error)
                    raise
            except (AuthError, AddressError) as error:
                self._give_up(error)
        raise AssertionError("not reached")

    def _give_up(self, error: ModelError) -> NoReturn:
        self.stop(str(error))
        raise CircuitError(str(self.stopped)) from error

    async def _line(self, key: str, request: Request, body: dict[str, Any]) -> Line:
        """What the next wave brings for a request, or one that is out already."""
        if (end := self.stopped or self._broken) is not None:
            raise _fresh(end)
        if key in self._unasked:
            return self._unasked.pop(key)
        if (item := self._items.get(key)) is None:
            answer = asyncio.get_running_loop().create_future()
            item = self._items[key] = _Item(key, request, body, answer)
            if key not in self._owners:
                self._enqueue(item)
        await asyncio.wait([item.answer])  # not `await item.answer`: who is cancelled must not cancel it for others
        return item.answer.result()

    def _enqueue(self, item: "_Item") -> None:
        self._queue[item.key] = item
        self._last_arrival = asyncio.get_running_loop().time()
        self._wake.set()

    async def _plan(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue and self._has_room():
                if (wait := self._until_quiet()) > 0:
                    await asyncio.sleep(wait)
                else:
                    self._launch()

    def _until_quiet(self) -> float:
        if len(self._queue) >= self._most_requests:
            return 0.0
        return self._last_arrival + QUIET_S - asyncio.get_running_loop().time()

    def _has_room(self) -> bool:
        """Room for one more job, by number and by money; the end of a job makes some."""
        return not self._jobs or (len(self._jobs) < self._most_jobs and self._to_spend() > 0)

    def _to_spend(self) -> float:
        return self._spare() - sum(wave.usd for wave in self._jobs.values())

    def _launch(self) -> None:
        self._close_kept()
        wave = Wave(self._waves.next(), [], {name: getattr(self._dialect, name) for name in _FORM})
        wave.write(self._filling(wave))
        self._owners.update(dict.fromkeys(wave.keys, wave))
        self._start(self._carry(wave), wave)

    def _filling(self, wave: Wave) -> Iterator[bytes]:
        """The lines of a wave, by priority, as many as file and budget take; they leave the queue."""
        size, left = 0, self._to_spend()
        for item in sorted(self._queue.values(), key=lambda item: item.request.priority):
            line, usd = request_line(item.key, item.body), self._cost(item.request)
            is_full = len(wave.keys) >= self._most_requests or size + len(line) > MOST_BYTES or wave.usd + usd > left
            if wave.keys and is_full:
                return
            del self._queue[item.key]
            wave.keys.append(item.key)
            wave.usd += usd
            size += len(line)
            yield line

    def _start(self, work: Coroutine[Any, Any, None], wave: Wave) -> None:
        task = asyncio.create_task(work)
        self._jobs[task] = wave
        task.add_done_callback(self._ended)

    async def _carry(self, wave: Wave) -> None:
        job = await self._courier.send(wave)
        self._notify(f"{len(wave.keys)} requests are out as job {job.id}.")
        await self._collect(wave)

    async def _take_up(self, wave: Wave) -> None:
        """Collect what an earlier process left, or find that it never went out."""
        try:
            if not wave.job_id and await self._courier.lost(wave) is None:
                wave.close("never sent")
                self._release(wave)
                return
            self._notify(f"Job {wave.job_id} of an earlier run holds {len(wave.keys)} requests.")
            await self._collect(wave)
        except RequestError as error:
            self.stop(f"{error} To give up the job {wave.job_id}, move {wave.path} away.")

    async def _collect(self, wave: Wave) -> None:
        job = await self._courier.end_of(wave)
        if job.is_refused:
            self._refused(wave, job)
        else:
            self._deliver(wave, job, await self._courier.answers(job))

    def _deliver(self, wave: Wave, job: Job, lines: Mapping[str, Line]) -> None:
        """Hand out a job's answers as the last step of its task: who asked wakes, and pays, before the planner does."""
        answered = []
        for key in wave.keys:
            if self._owners.get(key) is not wave:  # it failed here, and is out again with a later wave
                continue
            del self._owners[key]
            line = lines.get(key) or missing_line(job.id, job.status)
            if is_answered(line):
                answered.append(key)
            if item := self._items.pop(key, None):
                item.answer.set_result(line)
            elif is_answered(line):
                self._unasked[key] = line
        self._delivered.append((wave, job.status, answered))
        self._notify(f"Job {job.id} is {job.status}: {len(answered)} of {len(wave.keys)} requests are answered.")

    def _refused(self, wave: Wave, job: Job) -> None:
        """The file was not accepted, so nothing was asked: too much at once is asked in parts, all else is hopeless."""
        wave.close(job.status)
        code, words = job.faults[0]
        others = len(self._jobs) - 1
        if code == _QUEUE_IS_FULL and others:
            self._most_jobs = others
        elif code == _QUEUE_IS_FULL and len(wave.keys) > 1:
            self._most_jobs, self._most_requests = 1, len(wave.keys) // 2
            self._notify(f"The server's queue is too short for {len(wave.keys)} requests: they go in parts.")
        else:
            self.stop(f"{self._transport.host} refused the job {job.id} ({code}: {words.rstrip('.')}).")
        self._release(wave)

    def _release(self, wave: Wave) -> None:
        """Let the requests of a wave that never ran go out with the next."""
        for key in wave.keys:
            if self._owners.get(key) is wave:
                del self._owners[key]
                if key in self._items:
                    self._enqueue(self._items[key])

    def _close_kept(self) -> None:
        """Close the waves whose replies are all in the journal."""
        for delivered in list(self._delivered):
            wave, end, answered = delivered
            if self._is_kept(answered):
                wave.close(end, len(answered))
                self._delivered.remove(delivered)

    def _is_kept(self, keys: Iterable[str]) -> bool:
        return all(self._journal.find(key) is not None for key in keys)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._jobs.pop(task, None)
        self._wake.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, ModelError):
            self.stop(str(error))
        elif error is not None:  # a full disk, or a fault of ours: nobody may wait on
            self._broken = error
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        items, self._items, self._queue = self._items, {}, {}
        for item in items.values():
            item.answer.set_exception(_fresh(error))
            item.answer.exception()  # seen: who asked may be gone

    def _take_up_form(self) -> None:
        """Put requests as the last wave did; the strictest form is tried without a search, which would take a job."""
        for name in set(_FORM) & set(self._waves.form):
            setattr(self._dialect, name, self._waves.form[name])
        self._dialect.settled = True


@dataclass(frozen=True, slots=True)
class _Item:
    key: str
    request: Request
    body: Mapping[str, Any]
    answer: "asyncio.Future[Line]"


def are_out(folder: Path, journal: Journal) -> bool:
    """True if batch jobs of the run in `folder` may hold replies that its journal lacks."""
    waves = Waves(folder).open
    return any(wave.file_id and any(journal.find(key) is None for key in wave.keys) for wave in waves)


def _fresh(error: BaseException) -> BaseException:
    """An error to raise at many places at once."""
    return CircuitError(str(error)) if isinstance(error, CircuitError) else error

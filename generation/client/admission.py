"""When a call may go out: one controller per endpoint and model, for all calls of a run.

Calls wait in one queue, smallest priority first, and go out as soon as the window has room and no limit holds them. The
window grows by additions and is cut by a factor when the server says 429 or stops answering in time. A server that goes
away is probed with single calls until it is back. What cannot get better (a wrong key, a wrong model, a server that
answers nothing for `patience` seconds, a long row of failures) stops the run at once, with a clear word.
"""

import asyncio
import heapq
import itertools
from collections.abc import Callable

from generation.client.rates import Rate, named_wait
from generation.errors import (
    AddressError,
    AuthError,
    CertificateError,
    CircuitError,
    ConnectError,
    ModelError,
    ModelTimeoutError,
    RateLimitError,
)
from generation.llm import LONGEST_WAIT, RETRIED, Chat, Reply, Request, pause

PATIENCE = 120.0  # seconds without any answer after which the run stops
FIRST_PATIENCE = 15.0  # the same before the first answer, where nobody listens: most likely a wrong address
_CUT = 0.5
_GROWTH = 20  # the window grows by limit / 20 per round trip
_OUTAGE = 5  # failures in a row, across calls, that make an outage
_MOST_429 = 30  # a call refused this often is too large for the limit, not too early
_MOST_TIMEOUTS = 2  # a time-out may be paid for, so few
_MOST_FAILURES = 50  # calls in a row that ended in failure
_MOST_BARRED = 5  # calls in a row that met 403 or an AddressError after others were answered
_CHARS_PER_TOKEN = 4
_SILENT_S = 5.0  # a longer wait for all calls is told


class Admission:
    """A chat that lets calls through to `chat` in order of priority, at most `limit` at a time.

    `rpm` and `tpm` bound requests and tokens per minute; rate limits in the server's headers and Retry-After are kept
    to. It asks again itself, so give it an OpenAIChat with `retries=0`; `retries` then bounds how often one call meets
    a fault of its own while the server answers others. Raises the call's ModelError, or CircuitError once the run is
    over. `in_flight`, `waiting`, `window` and `refused` (429s so far) may be watched.
    """

    def __init__(
        self,
        chat: Chat,
        limit: int = 16,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        retries: int = 4,
        patience: float = PATIENCE,
        backoff: float = 0.5,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.chat = chat
        self.limit = limit
        self.retries = retries
        self.patience = patience
        self.backoff = backoff
        self.window = float(limit)
        self.in_flight = 0
        self.refused = 0
        self.stopped: CircuitError | None = None
        self._notify = notify or (lambda sentence: None)
        self._requests = Rate(rpm) if rpm else None
        self._tokens = Rate(tpm) if tpm else None
        self._queue: list[tuple[tuple[int, ...], int, float, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._hold_until = 0.0
        self._threshold = float(limit)  # below it the window doubles per round trip, as after an outage
        self._last_cut = 0.0
        self._since_429 = limit  # calls answered since the last 429
        self._share_of_429 = 0.0
        self._cuts_in_silence = 0
        self._row_of_faults = 0
        self._probes = 0
        self._row_of_failures = 0
        self._row_of_barred = 0
        self._silent_since: float | None = None
        self._answered = 0
        self._completion_tokens = 300.0

    @property
    def identity(self) -> str:
        return self.chat.identity

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def __call__(self, request: Request) -> Reply:
        size = self._size(request)
        faults = _Faults()
        while True:
            await self._turn(request.priority, size)
            started, reply = self._now(), None
            try:
                reply = await self.chat(request)
                self._row_of_failures = 0
                return reply
            except ModelError as error:
                reply = error.reply
                wait = self._after_error(error, faults, started)
                if self.stopped is not None and reply is None:
                    raise CircuitError(str(self.stopped)) from error
                if wait is None:
                    raise
            finally:
                self._leave(reply, size)
            await asyncio.sleep(wait)

    async def _turn(self, priority: tuple[int, ...], size: float) -> None:
        if self.stopped is not None:
            raise CircuitError(str(self.stopped))
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (priority, next(self._numbers), size, turn))
        self._pump()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let through and cancelled at once
                self._leave()
            raise
        if self.stopped is not None:  # let through, and the run stopped before it went: by what an answer cost
            self._leave()
            raise CircuitError(str(self.stopped))

    def _pump(self) -> None:
        """Let through whom window and limits allow; if time is what is missing, come back then."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue and self.in_flight < max(1, int(self.window)):
            _, _, size, turn = self._queue[0]
            if turn.done():
                heapq.heappop(self._queue)
                continue
            now = self._now()
            if (wait := self._wait(size, now)) > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._pump)
                return
            heapq.heappop(self._queue)
            self._charge(1, size)
            self.in_flight += 1
            turn.set_result(None)

    def _wait(self, size: float, now: float) -> float:
        waits = [self._hold_until - now]
        if self._requests is not None:
            waits.append(self._requests.wait(1, now))
        if self._tokens is not None:
            waits.append(self._tokens.wait(size, now))
        return max(waits)

    def _charge(self, calls: int, tokens: float) -> None:
        if self._requests is not None:
            self._requests.take(calls)
        if self._tokens is not None:
            self._tokens.take(tokens)

    def _leave(self, reply: Reply | None = None, size: float = 0.0) -> None:
        self.in_flight -= 1
        if reply is not None:
            self._after_answer(reply, size)
        self._pump()

    def _after_answer(self, reply: Reply, size: float) -> None:
        if self._row_of_faults >= _OUTAGE:
            self._notify("The server answers again.")
        self._answered += 1
        self._since_429 += 1
        self._share_of_429 *= 0.9
        self._cuts_in_silence = self._row_of_faults = self._row_of_barred = self._probes = 0
        self._silent_since = None
        if used := reply.usage.prompt_tokens + reply.usage.completion_tokens:
            self._completion_tokens += 0.1 * (reply.usage.completion_tokens - self._completion_tokens)
            self._charge(0, used - size)
        if self.window < self.limit:
            step = 1.0 if self.window < self._threshold else max(1.0, self.limit / _GROWTH) / self.window
            self.window = min(float(self.limit), self.window + step)
        if reply.limits:
            self._hold(named_wait(reply.limits), is_asked=True)

    def _after_error(self, error: ModelError, faults: "_Faults", started: float) -> float | None:
        """Seconds to wait before the call may queue again, or None to give it up."""
        now = self._now()
        if self._is_hopeless(error):
            self.stop(str(error))
        elif error.retry_after is not None and error.retry_after > LONGEST_WAIT:
            self.stop(f"the server asks to wait {error.retry_after:.0f} s.")
        if not isinstance(error, RETRIED):
            return self._given_up(error)
        if self._silent_since is None:
            self._silent_since = now
        is_first = isinstance(error, ConnectError) and not self._answered
        if now - self._silent_since > (min(self.patience, FIRST_PATIENCE) if is_first else self.patience):
            self.stop(f"no call was answered for {now - self._silent_since:.0f} s: {error}")
        if isinstance(error, RateLimitError):
            return self._after_429(error, faults, started)
        return self._after_fault(error, faults, started)

    def _after_429(self, error: RateLimitError, faults: "_Faults", started: float) -> float | None:
        self.refused += 1
        faults.refused += 1
        lone = self._since_429 >= self.window
        self._since_429 = 0
        self._share_of_429 += 0.1 * (1 - self._share_of_429)
        if not lone and self._cut(started):
            self._cuts_in_silence += 1
        wait = pause(error, min(self._cuts_in_silence, 5), self.backoff) or 0.0
        if self._share_of_429 > 0.5 or (error.retry_after is not None and not lone):
            self._hold(wait, is_asked=bool(error.retry_after))  # not one call's bad luck: the limit is reached for all
        return wait if faults.refused < _MOST_429 else self._given_up(error)

    def _after_fault(self, error: ModelError, faults: "_Faults", started: float) -> float | None:
        self._row_of_faults += 1
        late = isinstance(error, ModelTimeoutError)
        faults.late += late
        if late:
            self._cut(started)
        if faults.late > _MOST_TIMEOUTS:
            return self._given_up(error)
        if self._row_of_faults >= _OUTAGE:
            return self._in_outage(error)
        faults.own += 1
        if faults.own > self.retries:
            return self._given_up(error)
        return pause(error, 0 if late else faults.own - 1, self.backoff)

    def _in_outage(self, error: ModelError) -> float:
        """The fault is the server's, not the call's: probe with one call at a time, and do not count it."""
        if self._row_of_faults == _OUTAGE:
            self._notify(f"Waiting for the server: {error}")
        if not isinstance(error, ModelTimeoutError):
            self._threshold = max(self._threshold, self.window)
        self.window = 1.0
        if self.in_flight <= 1:
            self._probes += 1
            self._hold(pause(error, min(self._probes, 3), self.backoff) or 0.0)
        return 0.0

    def _given_up(self, error: ModelError) -> float | None:
        self._row_of_failures += 1
        if self._row_of_failures >= _MOST_FAILURES:
            self.stop(f"{self._row_of_failures} calls in a row failed, the last one: {error}")
        return None

    def _is_hopeless(self, error: ModelError) -> bool:
        if isinstance(error, CertificateError) or (isinstance(error, AuthError) and error.status != 403):
            return True
        if not isinstance(error, AuthError | AddressError):
            return False
        self._row_of_barred += 1
        return not self._answered or self._row_of_barred >= _MOST_BARRED

    def stop(self, reason: str) -> None:
        """Let no further call out; those under way are let finish, those that wait raise CircuitError."""
        if self.stopped is not None:
            return
        self.stopped = CircuitError(f"Stopped: {reason} Run the same command again to go on from here.")
        waiting, self._queue = self._queue, []
        for *_, turn in waiting:
            if not turn.done():
                turn.set_exception(CircuitError(str(self.stopped)))

    def _cut(self, started: float) -> bool:
        """Halve the window, once per round trip: calls sent before the last cut say nothing of the new window."""
        if started < self._last_cut:
            return False
        self._last_cut = self._now()
        self.window = self._threshold = max(1.0, self.window * _CUT)
        return True

    def _hold(self, seconds: float, is_asked: bool = False) -> None:
        now = self._now()
        if is_asked and seconds > _SILENT_S and self._hold_until <= now:
            self._notify(f"Waiting {seconds:.0f} s, as the server asks.")
        self._hold_until = max(self._hold_until, now + seconds)

    def _size(self, request: Request) -> float:
        """Tokens that a call will cost, by guess."""
        if self._tokens is None:
            return 0.0
        characters = sum(len(message.get("content", "")) for message in request.messages)
        return characters / _CHARS_PER_TOKEN + self._completion_tokens

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class _Faults:
    """What one call met so far."""

    __slots__ = ("late", "own", "refused")

    def __init__(self) -> None:
        self.own = self.refused = self.late = 0

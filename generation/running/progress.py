"""What a person sees of a run while it goes on: a live line on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from generation.records import Usage
from generation.run import FINISHED, Ledger
from generation.running.outlook import Outlook, in_words
from generation.running.show import harmless

if TYPE_CHECKING:
    from generation.client.admission import Admission
    from generation.client.batch import BatchChat
    from generation.running.ray_engine import Crew
    from generation.running.session import Session

EVERY = 10.0
"""Seconds between two plain lines."""
SHOWN = 10
"""Skipped sources that are printed; all of them stand in run.json."""


class Progress:
    """Shows a Ledger: redrawn four times a second on a terminal, else one line every EVERY seconds.

    `outlook` says how long it will still take.
    """

    def __init__(self, console: Console, ledger: Ledger, outlook: Outlook):
        self._console = console
        self._ledger = ledger
        self._outlook = outlook
        self._started = self._printed = time.monotonic()
        self._admission: Admission | BatchChat | Crew | None = None
        self._live = Live(console=console, get_renderable=self._line, transient=True, refresh_per_second=4)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def watch(self, admission: "Admission | BatchChat | Crew") -> None:
        """Show its calls (or, of a crew, its sections) in flight as well."""
        self._admission = admission

    def moved(self) -> None:
        """Say that the ledger has changed."""
        now = time.monotonic()
        self._outlook.look()
        if not self._console.is_terminal and now - self._printed >= EVERY:
            self._printed = now
            self._console.print(self._line(), soft_wrap=True)

    def note(self, sentence: str) -> None:
        """Print one sentence above the live line."""
        self._console.print(Text(harmless(sentence), style="yellow"), soft_wrap=True)

    def _line(self) -> Text:
        books, seconds = self._ledger, time.monotonic() - self._started
        parts = [
            f"{books.submitted} sections",
            *(f"{books.counts[s]} {s}" for s in FINISHED),
            f"{books.pending} pending",
        ]
        total = sum(books.usage.values(), Usage())
        if total.calls:
            parts.append(f"{total.calls} calls, {total.prompt_tokens + total.completion_tokens:,} tokens")
        if self._admission is not None:
            parts.append(f"{self._admission.in_flight} in flight")
        finished = books.submitted - books.pending
        rate = f", {60 * finished / seconds:.0f} a minute" if finished and seconds > 1 else ""
        left = self._outlook.left()
        ahead = [] if left is None or not books.pending else [f"about {in_words(left)} left"]
        return Text(" · ".join([*parts, f"{in_words(seconds)}{rate}", *ahead]))


def _say_usage(say: Callable[[str], None], session: "Session") -> None:
    """Calls, tokens and money by role, and the tokens of an accepted pair; nothing where no model was asked."""
    usage, cost = session.books.usage, session.cost()
    asked = {role: used for role, used in sorted(usage.items()) if used.calls}
    if not asked:
        return
    for role, used in asked.items():
        dollars = f", ${cost['usd_by_role'][role]:.4f}" if cost else ""
        say(f"  {role}: {_tokens(used)}{dollars}")
    each = session.books.tokens_per_accepted
    a_pair = "" if each is None else f"; {each:,} tokens an accepted pair"
    say(f"Asked: {_tokens(sum(asked.values(), Usage()))}{a_pair}")


def _tokens(usage: Usage) -> str:
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.calls:,} calls, {usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out"


def report(console: Console, out: Path, session: "Session", skipped: Sequence[object]) -> None:
    """The end of a run: the books, why sections were rejected, what it cost, what was left out, where the files are."""

    def say(text: str, style: str = "") -> None:
        console.print(Text(harmless(text), style=style), soft_wrap=True)

    books = session.books
    counts = books.as_dict()
    say(f"{counts['submitted']} sections = " + " + ".join(f"{counts[s]} {s}" for s in (*FINISHED, "pending")), "bold")
    if books.objections:
        reasons = (f"{who}: {what.replace('_', ' ')} {n}" for (who, what), n in books.objections.most_common(SHOWN))
        say(f"Rejected for: {', '.join(reasons)}")
    if books.failures:
        say(f"Failed for: {', '.join(f'{kind} {n}' for kind, n in books.failures.most_common(SHOWN))}")
        say(f"The first that failed: {books.first_failure}")
    _say_usage(say, session)
    if cost := session.cost():
        each = f", ${cost['usd_per_accepted']:.4f} an accepted pair" if cost["usd_per_accepted"] is not None else ""
        say(f"Cost: ${cost['usd']:.4f}{each} (prices: {cost['prices']['source']})")
    for item in skipped[:SHOWN]:
        say(f"Skipped {item}", "yellow")
    if len(skipped) > SHOWN:
        say(f"... and {len(skipped) - SHOWN} more; run.json lists them all.", "yellow")
    if session.stopped and not session.failure:
        say(f"Stopped: {session.stopped} The same command goes on from here.", "yellow")
    say(f"Files: {out}/accepted.jsonl, rejected.jsonl, failed.jsonl, run.json")

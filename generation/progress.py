"""What a person sees of a run while it goes on: a live line on a terminal, plain lines elsewhere."""

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from generation.records import Usage
from generation.run import FINISHED, Ledger
from generation.show import harmless

EVERY = 10.0
"""Seconds between two plain lines."""
SHOWN = 10
"""Skipped sources that are printed; all of them stand in run.json."""


class Progress:
    """Shows a Ledger: redrawn four times a second on a terminal, else one line every EVERY seconds."""

    def __init__(self, console: Console, ledger: Ledger):
        self._console = console
        self._ledger = ledger
        self._started = self._printed = time.monotonic()
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

    def moved(self) -> None:
        """Say that the ledger has changed."""
        now = time.monotonic()
        if not self._console.is_terminal and now - self._printed >= EVERY:
            self._printed = now
            self._console.print(self._line())

    def note(self, sentence: str) -> None:
        """Print one sentence above the live line."""
        self._console.print(Text(sentence, style="yellow"))

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
        return Text(" · ".join([*parts, f"{seconds:.0f} s"]))


def report(console: Console, out: Path, ledger: Ledger, skipped: Sequence[object]) -> None:
    """The end of a run: the books, why sections were rejected, what was left out, and where the files are."""
    counts = ledger.as_dict()
    books = " + ".join(f"{counts[s]} {s}" for s in (*FINISHED, "pending"))
    console.print(Text(f"{counts['submitted']} sections = {books}", style="bold"))
    if ledger.problems:
        reasons = ", ".join(f"{code.replace('_', ' ')} {n}" for code, n in ledger.problems.most_common())
        console.print(Text(f"Rejected for: {reasons}"))
    for item in skipped[:SHOWN]:
        console.print(Text(f"Skipped {harmless(str(item))}", style="yellow"), soft_wrap=True)
    if len(skipped) > SHOWN:
        console.print(Text(f"... and {len(skipped) - SHOWN} more; run.json lists them all.", style="yellow"))
    console.print(Text(f"Files: {out}/accepted.jsonl, rejected.jsonl, failed.jsonl, run.json"), soft_wrap=True)

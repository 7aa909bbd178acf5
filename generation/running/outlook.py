"""How long a run will still take, from how much is left and how fast sections have ended lately."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from generation.articles.sources import Skipped, count_articles
from generation.records import Section
from generation.run import FINISHED, Ledger

LATELY = 60.0
"""Seconds that the pace is taken from: what a journal gave at once says nothing of what is still to be asked."""
_STEP = 1.0  # seconds between two looks
_FEWEST = 3  # sections; fewer make no pace


class _Look(NamedTuple):
    at: float
    finished: int
    accepted: int


class Outlook:
    """Watches a run's sections as they are read and its `ledger` as they end.

    How many sections there are is known once all are read; before, from the share of `inputs` that has been read, where
    those are files whose articles can be counted. `accept` and `most` are the run's own ends.
    """

    def __init__(
        self,
        ledger: Ledger,
        accept: int | None = None,
        most: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._ledger = ledger
        self._accept = accept
        self._most = most
        self._looks = deque([_Look(clock(), 0, 0)])
        self._clock = clock
        self._articles: int | None = None
        self._read = self._drawn = 0
        self._is_read = False
        self._skipped: Sequence[Skipped] = ()

    def count(self, inputs: Sequence[str]) -> None:
        """Count the articles of `inputs`, in a thread beside the run."""

        def counted() -> None:
            self._articles = count_articles(inputs)

        threading.Thread(target=counted, name="craqan count", daemon=True).start()

    def watched(self, sections: Iterable[Section], skipped: Sequence[Skipped] = ()) -> Iterator[Section]:
        """`sections` as they are; `skipped` grows as they are read."""
        self._skipped = skipped
        article = None
        for section in sections:
            self._read += section.article_id != article
            self._drawn += 1
            article = section.article_id
            yield section
        self._is_read = True

    def total(self) -> int | None:
        """How many sections there are, by what is known now; None if nothing is."""
        read = self._read + sum(not skip.sections for skip in self._skipped)
        if self._is_read:
            total: int | None = self._drawn
        elif self._articles is None or not self._drawn:
            total = None
        else:
            total = max(self._drawn, round(self._drawn * self._articles / read))
        return self._most if total is None else min(total, self._most or total)

    def left(self) -> float | None:
        """Seconds until the last section is finished, or the accepted pairs are enough; None where no pace is known."""
        now, then = self.look(), self._looks[0]
        lasted, finished, accepted = now.at - then.at, now.finished - then.finished, now.accepted - then.accepted
        if lasted < _STEP or finished < _FEWEST:
            return None
        ends = []
        if (total := self.total()) is not None:
            ends.append(max(0, total - now.finished) * lasted / finished)
        if self._accept is not None and accepted:
            ends.append(max(0, self._accept - now.accepted) * lasted / accepted)
        return min(ends, default=None)

    def look(self) -> _Look:
        """How far the run is now; kept for the pace, no oftener than is of use."""
        at, counts = self._clock(), self._ledger.counts
        now = _Look(at, sum(counts[s] for s in FINISHED), counts["accepted"])
        if at - self._looks[-1].at >= _STEP:
            self._looks.append(now)
        while at - self._looks[0].at > LATELY:
            self._looks.popleft()
        return now


def in_words(seconds: float) -> str:
    """A length of time as people say it: "40 s", "12 min", "3 h 20 min", "2 days 4 h"."""
    minutes = round(seconds / 60)
    hours = round(seconds / 3600)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{hours // 24} day{'s' * (hours >= 48)} {hours % 24} h"

"""How often one visitor may ask, kept in memory and bounded: a page open to everybody is asked by programs as well."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from generation.client.environment import is_loopback
from generation.errors import UsageError
from space import hosting

MOST_VISITORS = 10_000  # of whom is remembered when they asked; beyond it the longest silent are forgotten


class Rate:
    """At most `limit` askings in `seconds` for each visitor; who uses the page on his own machine is not counted."""

    def __init__(self, limit: int, seconds: float, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.seconds = seconds
        self.what = what
        self._clock = clock
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()

    def admit(self, visitor: str) -> None:
        """Count one asking. Raises UsageError, which says when there will be room again, and counts nothing then."""
        if not visitor or is_loopback(visitor):
            return
        now = self._clock()
        asked = self._asked.setdefault(visitor, deque())
        self._asked.move_to_end(visitor)
        while asked and asked[0] <= now - self.seconds:
            asked.popleft()
        if len(asked) >= self.limit:
            minutes = max(1, round((asked[0] + self.seconds - now) / 60))
            wait = "a minute" if minutes == 1 else f"{minutes} minutes"
            raise UsageError(f"That is more {self.what} than one visitor gets here: try again in {wait}.")
        asked.append(now)
        while len(self._asked) > MOST_VISITORS:
            self._asked.popitem(last=False)


def visitor(request: Any) -> str:
    """The address that a request comes from; "" for a call without one, as in a test.

    A Space is reached through proxies at private addresses, which add the address that they were asked from at the end
    of a header: the last public one there is the visitor's, and what a visitor wrote into it stands before that.
    """
    client = getattr(request, "client", None)
    if hosting.is_public():
        for address in reversed(getattr(request, "headers", {}).get("x-forwarded-for", "").split(",")):
            if _is_global(address.strip()):
                return address.strip()
    return str(getattr(client, "host", None) or "")


def _is_global(address: str) -> bool:
    try:
        return ip_address(address).is_global
    except ValueError:
        return False


RUNS = Rate(60, 600, "runs")
FETCHES = Rate(20, 600, "articles of Wikipedia")
CHECKS = Rate(300, 600, "checks and comparisons")
SENDINGS = Rate(20, 3600, "pairs sent to review")

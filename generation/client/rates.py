"""Limits per minute: the ones we are told to keep, and the ones that a server names in its headers."""

import re
from collections.abc import Mapping

from generation.llm import LONGEST_WAIT

_SPAN = re.compile(r"([\d.]+)(ms|h|m|s)")
_SPAN_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Rate:
    """A limit per minute of which at most a second's worth (or one call) goes out at once."""

    def __init__(self, per_minute: float) -> None:
        self.per_second = per_minute / 60
        self.most = max(1.0, self.per_second)
        self.free = self.most
        self._at: float | None = None

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` may go out; what exceeds a second's worth goes alone and is waited for afterwards."""
        self.free = min(self.most, self.free + self.per_second * (now - (self._at or now)))
        self._at = now
        return max(0.0, (min(amount, self.most) - self.free) / self.per_second)

    def take(self, amount: float) -> None:
        self.free -= amount


def named_wait(limits: Mapping[str, str]) -> float:
    """Seconds until the server's own limits give room again; 0 if they have some, or speak another language."""
    waits = [0.0]
    for what in ("requests", "tokens"):
        if limits.get(f"x-ratelimit-remaining-{what}", "").strip() == "0":
            waits.append(_span(limits.get(f"x-ratelimit-reset-{what}", "")))
    return min(LONGEST_WAIT, max(waits))


def _span(text: str) -> float:
    """Seconds in "6m0s", "1.2s", "20ms" or "3"."""
    parts = _SPAN.findall(text)
    try:
        return sum(float(number) * _SPAN_S[unit] for number, unit in parts) if parts else float(text)
    except ValueError:
        return 0.0

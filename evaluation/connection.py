"""The way of an evaluation to a model: the same client, admission, budget and journal as of generation."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from generation.client.transport import endpoint
from generation.errors import CircuitError, UsageError
from generation.llm import Chat
from generation.running import budget
from generation.running.session import Limits


@dataclass(frozen=True)
class Line:
    """A chat that keeps every reply, and why it stopped taking requests, if it did."""

    chat: Chat
    failure: Callable[[], CircuitError | None]


def price_of(model: str, base_url: str, limits: Limits) -> budget.Price | None:
    """The price given by hand or listed. Raises UsageError if a limit in dollars is set and there is none."""
    found = limits.prices or budget.listed(model, endpoint(base_url))
    if found is None and limits.max_usd is not None:
        raise UsageError(f"No price is known for {model}, so --max-usd cannot be kept; give --prices IN,OUT.")
    return found


@asynccontextmanager
async def connected(
    model: str,
    base_url: str,
    limits: Limits,
    journal_path: Path | None,
    price: budget.Price | None,
    notify: Callable[[str], None],
) -> AsyncIterator[Line]:
    """Journal around budget around admission around the live client: what is stored is neither asked nor paid again."""
    from generation.journal import Journal, Journaled
    from generation.running.doors import admitted

    async with admitted(model, base_url, limits, notify) as admission:
        journal = Journal(journal_path) if journal_path else None
        try:
            door: Chat = admission
            if price is not None:
                paid = budget.Tariff(price).of_paid(journal.paid()) if journal else 0.0
                door = budget.Metered(door, price, budget.Purse(limits.max_usd, admission.stop, paid))
            yield Line(Journaled(door, journal) if journal else door, lambda: admission.stopped)
        finally:
            if journal:
                journal.close()

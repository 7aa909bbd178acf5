"""The live way to a model: a client behind admission, under a run's limits."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from generation.client.admission import Admission
from generation.llm import OpenAIChat
from generation.running.settings import Limits


@asynccontextmanager
async def admitted(
    model: str, base_url: str, limits: Limits, notify: Callable[[str], None]
) -> AsyncIterator[Admission]:
    """`model` at `base_url` (OpenAI's where empty), asked as `limits` allow; the client is closed at the end.

    Only the admission sends a call again, since it alone knows of all of them.
    """
    async with OpenAIChat(model, base_url or None, timeout=limits.timeout, retries=0, notify=notify) as live:
        yield Admission(
            live,
            limits.concurrency,
            rpm=limits.rpm,
            tpm=limits.tpm,
            patience=limits.patience,
            backoff=limits.backoff,
            notify=notify,
        )

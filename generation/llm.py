"""The only door to a model: a Request goes in, a Reply comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from generation.records import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `role`, `scope` and `priority` are ours and never sent; all else is, and makes up the call's key.

    `schema` is the JSON Schema of the answer, or None for free text. `role` names who asks ("generator",
    "reviewers/content_cohesion", "reader", "segmenter") for the ledger; `scope` is the section's id. `asking` counts
    equal requests within one scope, so that a second asking is a new call. Smaller `priority` tuples go first.
    """

    messages: tuple[Mapping[str, str], ...]
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    asking: int = 0
    role: str = ""
    scope: str = ""
    priority: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, unread: `text` is the assistant's message."""

    text: str
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""


class Chat(Protocol):
    """Anything that answers a Request: the live client, a journal around it, a replay, a scripted fake."""

    @property
    def identity(self) -> str:
        """Endpoint and model, without secrets."""
        ...

    async def __call__(self, request: Request) -> Reply: ...

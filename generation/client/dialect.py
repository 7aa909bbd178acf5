"""What one server and model take of the chat completions parameters, found out once and reported.

A JSON answer is asked for in the strictest form that the server knows: a JSON Schema, a JSON object with the schema
beside it, a JSON object, or the prompt's words alone. Servers answer 400, or even 500, to a form that they do not know.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from generation.errors import AddressError, ModelError, RequestError, ServerError

if TYPE_CHECKING:
    from generation.llm import Reply, Request

Mode = Literal["json_schema", "json_object_schema", "json_object", "plain"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object_schema", "json_object", "plain")
Send = Callable[[dict[str, Any]], "Awaitable[Reply]"]

_FORMAT_WORDS = (
    "response_format",
    "json_schema",
    "json schema",
    "json_object",
    "grammar",
    "structured output",
    "guided",
)
_OTHER_FAULTS = ("context length", "context_length", "context size", "too many tokens", "too long", "does not exist")
_REFUSES = ("unsupported", "not support", "unrecognized", "unknown", "not permitted", "only the default")
_QUIET_S = 30.0  # after a search in which every form met a 500 the server is ill: do not multiply its load


class Dialect:
    """Shapes requests for one server and model, and steps down when it refuses.

    While the form is not settled the first call searches and the others wait for it. A form is given up only if a lower
    one then succeeds; otherwise the first refusal is raised and nothing is settled.
    """

    def __init__(self, model: str, extra: Mapping[str, Any], note: Callable[[str], None]) -> None:
        self.model = model
        self.extra = dict(extra)
        self.mode: Mode = MODES[0]
        self.settled = False
        self.max_tokens_name = "max_tokens"
        self.takes_temperature = True
        self.takes_system = True
        self._note = note
        self._formats: dict[str, dict[str, Any]] = {}
        self._search_done: asyncio.Event | None = None
        self._quiet_until = 0.0

    async def speak(self, request: "Request", send: Send) -> "Reply":
        """Send `request` in the form that this server takes; raises what `send` raises."""
        if request.schema is None:
            return await self._adapting(request, "plain", send)
        while self.settled:
            mode = self.mode
            try:
                return await self._adapting(request, mode, send)
            except RequestError as error:
                if mode == "plain" or not _names_format(error):
                    raise
                if self.mode == mode and self.settled:
                    self.settled, self._search_done = False, None
        if self._search_done is None:
            self._search_done = asyncio.Event()
            try:
                return await self._search(request, send)
            finally:
                self._search_done.set()
        await self._search_done.wait()
        if self.settled:
            return await self._adapting(request, self.mode, send)
        return await self._search(request, send)

    def payload(self, request: "Request", mode: Mode) -> dict[str, Any]:
        """The body to send; what the server does not take is left out or renamed."""
        messages = request.messages if self.takes_system else _fold_system(request.messages)
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if self.takes_temperature:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[self.max_tokens_name] = request.max_tokens
        if request.schema is not None and mode != "plain":
            body["response_format"] = self._response_format(request.schema, mode)
        return body | self.extra

    def _response_format(self, schema: Mapping[str, Any], mode: Mode) -> dict[str, Any]:
        name = f"{mode} {canonical(schema)}"
        if name not in self._formats:
            self._formats[name] = _response_format(schema, mode)
        return self._formats[name]

    async def _search(self, request: "Request", send: Send) -> "Reply":
        refusals: list[ModelError] = []
        for mode in MODES[MODES.index(self.mode) :]:
            try:
                reply = await self._trying(request, mode, send)
            except (RequestError, ServerError) as error:
                if not self._may_be_format(error):
                    raise
                refusals.append(error)
                continue
            self._settle(mode, refusals)
            return reply
        if any(isinstance(refusal, ServerError) for refusal in refusals):
            self._quiet_until = time.monotonic() + _QUIET_S
        raise refusals[0]

    async def _trying(self, request: "Request", mode: Mode, send: Send) -> "Reply":
        """One form, asked again if it meets a 500 that does not name the form: that may be a fault of the moment."""
        try:
            return await self._adapting(request, mode, send)
        except ServerError as error:
            if _names_format(error) or not self._may_be_format(error):
                raise
        return await self._adapting(request, mode, send)

    def _may_be_format(self, error: ModelError) -> bool:
        if isinstance(error, AddressError):
            return False
        if _names_format(error):
            return True
        if isinstance(error, ServerError):
            return error.status in (500, 501) and time.monotonic() >= self._quiet_until
        return error.status in (400, 422) and not any(word in _words(error) for word in _OTHER_FAULTS)

    def _settle(self, mode: Mode, refusals: list[ModelError]) -> None:
        if refusals and not self.settled:
            self._note(f"JSON is asked for as {mode}, since {refusals[0]}")
        self.mode, self.settled = mode, True

    async def _adapting(self, request: "Request", mode: Mode, send: Send) -> "Reply":
        """Send, and send again without each parameter that the server says it does not take."""
        while True:
            form = (self.max_tokens_name, self.takes_temperature, self.takes_system)
            try:
                return await send(self.payload(request, mode))
            except (RequestError, ServerError) as error:
                if form == (self.max_tokens_name, self.takes_temperature, self.takes_system):
                    adapted = self._adapt(request, error)
                    if not adapted:
                        raise
                    self._note(f"{adapted}, since {error}")

    def _adapt(self, request: "Request", error: ModelError) -> str:
        """Change one parameter if `error` names it as not taken; says what was changed, or nothing."""
        words = _words(error)
        if not any(word in words for word in _REFUSES):
            return ""
        if self.max_tokens_name == "max_tokens" and request.max_tokens is not None and "max_tokens" in words:
            self.max_tokens_name = "max_completion_tokens"
            return "The token limit is sent as max_completion_tokens"
        if self.takes_temperature and "temperature" in words:
            self.takes_temperature = False
            return "No temperature is sent"
        if self.takes_system and "system role" in words:
            self.takes_system = False
            return "System messages are put into the first user message"
        return ""


_canonical: dict[int, tuple[Mapping[str, Any] | None, str]] = {}


def canonical(schema: Mapping[str, Any] | None) -> str:
    """A schema as canonical JSON; remembered by identity, since a run has few schemas, unchanging, and many calls."""
    known = _canonical.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_canonical) >= 64:
            _canonical.clear()
        known = _canonical[id(schema)] = (schema, json.dumps(schema, sort_keys=True))
    return known[1]


def _response_format(schema: Mapping[str, Any], mode: Mode) -> dict[str, Any]:
    if mode == "json_object":
        return {"type": "json_object"}
    if mode == "json_object_schema":
        return {"type": "json_object", "schema": schema}
    named = {"name": str(schema.get("title", "answer")), "schema": schema, "strict": _is_strict(schema)}
    return {"type": "json_schema", "json_schema": named}


def _is_strict(schema: Any) -> bool:
    """True if every object of `schema` is closed and requires all of its fields, as OpenAI's strict mode demands."""
    if isinstance(schema, list | tuple):
        return all(map(_is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if isinstance(fields := schema.get("properties"), Mapping):
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(fields):
            return False
        return all(map(_is_strict, [*fields.values(), *schema.get("$defs", {}).values()]))
    return schema.get("type") != "object" and all(map(_is_strict, schema.values()))


def _fold_system(messages: tuple[Mapping[str, str], ...]) -> tuple[Mapping[str, str], ...]:
    """The system messages as the beginning of the first user message."""
    system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    rest = [m for m in messages if m["role"] != "system"]
    if not system:
        return messages
    if rest and rest[0]["role"] == "user":
        return ({"role": "user", "content": f"{system}\n\n{rest[0]['content']}"}, *rest[1:])
    return ({"role": "user", "content": system}, *rest)


def _words(error: ModelError) -> str:
    return f"{error.code} {error.raw or error}".lower()


def _names_format(error: ModelError) -> bool:
    words = _words(error)
    return any(word in words for word in _FORMAT_WORDS)

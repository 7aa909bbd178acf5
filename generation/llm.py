"""The only door to a model: a Request goes in, a Reply comes out."""

import asyncio
import copy
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from generation.client.dialect import Dialect, canonical
from generation.client.environment import proxy_for
from generation.client.replies import error_of, read_body, usable
from generation.client.replies import read_json as read_json
from generation.client.transport import AiohttpTransport, ClientTransport, Key, Transport, endpoint, find_key
from generation.client.wire import Admit, WireTransport
from generation.errors import (
    CertificateError,
    ConnectError,
    ModelError,
    ModelTimeoutError,
    RateLimitError,
    ReplyError,
    ServerError,
    UsageError,
)
from generation.records import Usage

if TYPE_CHECKING:
    from generation.client.batch import BatchChat
    from generation.journal import Journal

DEFAULT_TIMEOUT = 60.0
DEFAULT_RETRIES = 4
LONGEST_WAIT = 120.0
"""Seconds; a server that asks for a longer pause gets none: the call fails and says how long it was asked to wait."""

RETRIED = (RateLimitError, ServerError, ConnectError, ModelTimeoutError)
"""Errors after which the same request may be answered if it is sent again."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `role`, `scope` and `priority` are ours and never sent; all else is, and makes up the call's key.

    `schema` is the JSON Schema of the answer, or None for free text. `role` names who asks ("generator",
    "reviewers/content_cohesion", "reader", "judge", "segmenter") for the ledger; `scope` is the section's id. `asking`
    counts equal requests within one scope, so that a second asking is a new call. Smaller `priority` tuples go first.
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
    """What came back, unread: `text` is the assistant's message, `raw` the server's whole answer as it came.

    `refusal` is the model's own refusal where the server reports one apart from the text. `seconds` is how long the
    server took, `limits` the rate limits that it named, `stored` says that a journal gave it and nothing was paid.
    """

    text: str
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    refusal: str = ""
    raw: str = field(default="", repr=False)
    limits: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    seconds: float = field(default=0.0, compare=False)
    stored: bool = field(default=False, compare=False)


class Chat(Protocol):
    """Anything that answers a Request: the live client, a journal around it, a replay, a scripted fake.

    A reply that came but is of no use (a refusal, a filter, a cut, an empty text) is raised as its ModelError, with the
    Reply in `error.reply`.
    """

    @property
    def identity(self) -> str:
        """Endpoint and model, without secrets."""
        ...

    async def __call__(self, request: Request) -> Reply: ...


class OpenAIChat:
    """A model behind any OpenAI-compatible chat completions endpoint.

    OpenAI by default; Hugging Face's router, vLLM, llama.cpp, Ollama and others by `base_url`. The key is `api_key`,
    else HF_TOKEN for Hugging Face's hosts, else OPENAI_API_KEY; a server on this machine needs none. `timeout` (60 s)
    is for one whole answer; `retries` (4) bounds how often 429, 5xx, lost connections and (once) time-outs are asked
    again. `extra` is put into every body as it is ("top_p", "seed", "reasoning_effort") and is part of `identity`.

    Requests go out over a thin path of our own, or through aiohttp where the environment names a proxy. Pass `client`,
    an `AsyncOpenAI` or `AsyncAzureOpenAI`, to use that package's settings instead (Azure, own headers, proxies,
    certificates): slower per call, the same in all else. Its base URL, key, time-out and number of retries then count.
    Batch jobs do not go through a client: on Azure ask live. `admit` is for servers that a stranger names: it is told
    the addresses of the host before any of them is connected to, and may refuse them; no proxy is then gone through.

    `notes` tells what the server was found not to take, `notify` is called with each such sentence when it is found.
    Close it with `aclose()` or `async with`.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        extra: Mapping[str, Any] | None = None,
        client: Any = None,
        notify: Callable[[str], None] | None = None,
        backoff: float = 0.5,
        admit: Admit | None = None,
    ) -> None:
        if not model.strip():
            raise UsageError("Name the model: --model NAME.")
        if client is not None and (base_url or api_key):
            raise UsageError("Give the base URL and key either to the client or to OpenAIChat, not to both.")
        self.model = model
        self.retries = _first(retries, getattr(client, "max_retries", None), DEFAULT_RETRIES)
        self.notes: list[str] = []
        self._transport: Transport = _transport(base_url, api_key, timeout, client, admit)
        self._key: Key = self._transport.key
        self._extra = dict(extra or {})
        self._backoff = backoff
        self._notify = notify
        self._dialect = Dialect(model, self._extra, self._note)

    @property
    def identity(self) -> str:
        return identity_of(self._transport.url, self.model, self._extra)

    @property
    def mode(self) -> str:
        """How JSON is asked for, or "" before the first such call has been answered."""
        return self._dialect.mode if self._dialect.settled else ""

    def __repr__(self) -> str:
        return f"OpenAIChat({self.identity!r})"

    async def __call__(self, request: Request) -> Reply:
        """Ask, with bounded retries; raises the ModelError that the last attempt met."""
        attempt = 0
        while True:
            try:
                return usable(await self._dialect.speak(request, self._send))
            except ModelError as error:
                wait = pause(error, attempt, self._backoff)
                if wait is None or attempt >= self.retries:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def _send(self, body: dict[str, Any]) -> Reply:
        started = time.monotonic()
        answered = await self._transport.post(body)
        text = self._key.hidden_in(answered.body)
        if not 200 <= answered.status < 300:
            raise error_of(self._transport.host, self.model, answered.status, answered.headers, text)
        return read_body(self._transport.host, text, answered.headers, time.monotonic() - started)

    def _note(self, sentence: str) -> None:
        self._say(f"{self.model} at {self._transport.host}: {sentence}")

    def _say(self, note: str) -> None:
        self.notes.append(note)
        if self._notify is not None:
            self._notify(note)

    def apart(self, *, retries: int) -> "OpenAIChat":
        """The same model with connections of its own, for another event loop; `notes` and `notify` are shared."""
        other = copy.copy(self)
        other.retries = retries
        other._transport = self._transport.apart()
        other._dialect = Dialect(self.model, self._extra, other._note)
        return other

    def in_batches(self, journal: "Journal", folder: Path) -> "BatchChat":
        """The same model, asked in batch jobs; see `BatchChat`. `notes` and `notify` are told of each job.

        Raises UsageError for a chat on a client of the openai package (see `refuse_batches`).
        """
        from generation.client.batch import BatchChat

        self.refuse_batches()
        url, key, timeout = self._transport.url, self._key, self._transport.timeout
        options: dict[str, Any] = {"timeout": timeout, "retries": self.retries, "extra": self._extra}
        return BatchChat(self.model, url, key, journal=journal, folder=folder, notify=self._say, **options)

    def refuse_batches(self) -> None:
        """Raise UsageError where batch jobs cannot be had: they do not go through a client, hence not to Azure's."""
        if isinstance(self._transport, ClientTransport):
            raise UsageError(
                "Batch jobs do not go through a client of the openai package, Azure's included: ask live, or give"
                " OpenAIChat the base URL and key of a server with OpenAI's files and batches endpoints."
            )

    async def aclose(self) -> None:
        """Close the connections; the chat opens new ones if it is used again."""
        await self._transport.aclose()

    async def __aenter__(self) -> "OpenAIChat":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def identity_of(url: str, model: str, extra: Mapping[str, Any]) -> str:
    """What names a server and model in the key of a call, whatever way the call takes there."""
    return f"{url} {model}" + (f" {json.dumps(extra, sort_keys=True, ensure_ascii=False)}" if extra else "")


def pause(error: ModelError, attempt: int, backoff: float = 0.5) -> float | None:
    """Seconds to wait before asking again after the `attempt`-th failure (0 is the first), or None to give up.

    A wait that the server asked for is kept to, with a little jitter on top; one beyond LONGEST_WAIT is not begun.
    A time-out is asked again once only: the next one costs as much.
    """
    if not isinstance(error, RETRIED) or isinstance(error, CertificateError):
        return None
    if isinstance(error, ModelTimeoutError) and attempt >= 1:
        return None
    if error.retry_after:  # none, or 0, which says nothing: the pauses are ours
        return None if error.retry_after > LONGEST_WAIT else error.retry_after + random.uniform(0, backoff / 2)
    return min(8.0, backoff * 2**attempt) * random.uniform(0.5, 1.0)


class Answer(NamedTuple, Generic[T]):
    """A value that was read, and all replies that it took, the readable one last."""

    value: T
    replies: tuple[Reply, ...]


async def ask(chat: Chat, request: Request, read: Callable[[str], T], reasks: int = 2) -> Answer[T]:
    """Ask until `read` takes the answer's text, at most `reasks` times more, each time quoting what was wrong.

    `read` raises ValueError (or ReplyError) for a text that it cannot take. Raises ReplyError with the last raw text,
    or the chat's own ModelError.
    """
    replies: list[Reply] = []
    turn, problem = request, ""
    for asking in range(reasks + 1):
        try:
            reply = await chat(turn)
        except ReplyError as error:  # an empty answer
            problem = str(error)
            if error.reply is not None:
                replies.append(error.reply)
        else:
            replies.append(reply)
            try:
                return Answer(read(reply.text), tuple(replies))
            except (ValueError, ReplyError) as error:
                problem = str(error)
        turn = replace(_again(request, replies[-1].text if replies else "", problem), asking=asking + 1)
    who = request.role or "The model"
    raw = replies[-1].text if replies else ""
    raise ReplyError(f"{who} gave no readable answer in {reasks + 1} asks: {problem}", raw=raw)


class Scoped:
    """A chat for one section: numbers equal requests, marks them as its own and sums their tokens by role.

    Unless the request says otherwise its priority is (`cohort`, drafts so far, 0 for the generator and 1 for others,
    `order`), `order` being the section's place in the input: of one cohort the section with most of its way before it
    goes first, between equals the older one. `usage` counts unusable replies too, since they were paid.
    """

    def __init__(self, chat: Chat, scope: str, order: int = 0, cohort: int = 0) -> None:
        self.chat = chat
        self.scope = scope
        self.order = order
        self.cohort = cohort
        self.usage: dict[str, Usage] = {}
        self._asked: Counter[Any] = Counter()
        self._drafts = 0

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        same = _sameness(request)
        asking = self._asked[same]
        self._asked[same] += 1
        priority = request.priority or self._place(request.role)
        try:
            reply = await self.chat(self._marked(request, asking, priority))
        except ModelError as error:
            if error.reply is not None:
                self._count(request.role, error.reply.usage)
            raise
        self._count(request.role, reply.usage)
        return reply

    def _marked(self, r: Request, asking: int, priority: tuple[int, ...]) -> Request:
        """`replace`, which takes six times as long."""
        return Request(r.messages, r.temperature, r.schema, r.max_tokens, asking, r.role, self.scope, priority)

    def _place(self, role: str) -> tuple[int, ...]:
        self._drafts += role == "generator"
        return self.cohort, self._drafts, int(role != "generator"), self.order

    def _count(self, role: str, usage: Usage) -> None:
        self.usage[role] = self.usage.get(role, Usage()) + usage


class Routed:
    """Chats by role: a request of a role in `others` goes there, all else to `chat`, which gives the identity."""

    def __init__(self, chat: Chat, others: Mapping[str, Chat]) -> None:
        self.chat = chat
        self.others = others

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        return await self.others.get(request.role, self.chat)(request)


def _again(request: Request, earlier: str, problem: str) -> Request:
    """The request with the earlier answer and what was wrong with it; unchanged if there is nothing to quote."""
    if not earlier.strip():
        return request
    words = " ".join(problem.split())[:500]
    complaint = (
        f"That answer cannot be used: {words}. Answer the request above once more, complete and in exactly the form "
        "that it asks for, with nothing before or after it."
    )
    quoted = ({"role": "assistant", "content": earlier[:8000]}, {"role": "user", "content": complaint})
    return replace(request, messages=(*request.messages, *quoted))


def _sameness(request: Request) -> tuple[Any, ...]:
    """Equal for requests that are sent alike."""
    messages = tuple(hash(frozenset(message.items())) for message in request.messages)
    return messages, request.temperature, canonical(request.schema), request.max_tokens


def _transport(
    base_url: str | None, api_key: str | None, timeout: float | None, client: Any, admit: Admit | None
) -> Transport:
    if client is not None:
        if admit is not None:
            raise UsageError("A client looks up its server's addresses itself: give OpenAIChat no `admit` with it.")
        return ClientTransport(client, timeout)
    url = endpoint(base_url)
    key, seconds = find_key(url, api_key), _first(timeout, DEFAULT_TIMEOUT)
    if not proxy_for(url):
        return WireTransport(url, key, seconds, admit)
    if admit is not None:
        raise UsageError(
            f"{urlsplit(url).hostname} would be called by a proxy, whose way on cannot be checked: put the host into "
            "NO_PROXY, so that it is called from here."
        )
    return AiohttpTransport(url, key, seconds)


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)

"""A call as a journal stores it: its name, what was sent, and what came back as it came."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Self

from generation.client.dialect import canonical
from generation.client.replies import read_body
from generation.llm import Reply, Request
from generation.records import Usage

_LONG_TEXT = 200  # characters; shorter texts stay in the request's own row
_OWN = "craqan_reply"
_OWN_FORM = f'{{"{_OWN}":'
_OWN_FIELDS = ("text", "usage", "model", "finish_reason", "refusal")


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the journal holds it; `status` is "ok" or the name of the error, `reply` None if none ever came."""

    key: str
    identity: str
    request: Request
    status: str
    reply: Reply | None
    usage: Usage
    asked_at: float
    seconds: float


def key_of(identity: str, request: Request) -> str:
    """The name of a call: the hash of all that is sent, to whom, and which asking of it this is."""
    return Asked.of(identity, request).key


@dataclass(frozen=True, slots=True)
class Asked:
    """A call with its key; `sent` is what is sent as canonical JSON, its long texts put aside in `texts` by hash."""

    key: str
    identity: str
    request: Request
    sent: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, identity: str, request: Request) -> Self:
        texts: dict[str, str] = {}
        messages = [{name: _short(text, texts) for name, text in m.items()} for m in request.messages]
        schema = None if request.schema is None else _short(canonical(request.schema), texts)
        sent = _dumped([messages, float(request.temperature), schema, request.max_tokens])
        name = f"{identity}\n{request.asking}\n{sent}"
        key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(key, identity, request, sent, texts)


def raw_of(reply: Reply) -> str:
    """The server's answer as it came; for a reply that no server sent, its fields."""
    if reply.raw:
        return writable(reply.raw)
    fields = {name: value for name, value in asdict(reply).items() if name in _OWN_FIELDS}
    return json.dumps({_OWN: fields})


def read_raw(raw: str, seconds: float = 0.0) -> Reply:
    """The reply in what `raw_of` wrote, read anew and marked `stored`."""
    if raw.startswith(_OWN_FORM):
        fields = json.loads(raw)[_OWN]
        return Reply(**{**fields, "usage": Usage(**fields["usage"])}, seconds=seconds, stored=True)
    return replace(read_body("The journal", raw, seconds=seconds), stored=True)


def _dumped(value: Any) -> str:
    """Canonical JSON; lone surrogates, which orjson refuses, stay as escapes."""
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True)


def writable(text: str) -> str:
    """`text` with what UTF-8 cannot hold replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _short(text: str, texts: dict[str, str]) -> Any:
    """`text`, or a reference to it if it is long."""
    if len(text) <= _LONG_TEXT:
        return text
    sha256, kept = _put_aside(text)
    texts[sha256] = kept
    return {"sha256": sha256}


@lru_cache(maxsize=256)
def _put_aside(text: str) -> tuple[str, str]:
    """A long text's hash, and its form for the file; a prompt comes with every call, a candidate with four."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), writable(text)

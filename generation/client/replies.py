"""Reading what a server or a model said: an HTTP body, an error, a text that should be JSON.

Lenient about wrapping, strict about what is inside: nothing here guesses a value that was not written.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from generation.client.failures import one_line
from generation.client.transport import retry_after
from generation.errors import (
    AddressError,
    AuthError,
    ContentFilterError,
    LengthError,
    ModelError,
    ModelTimeoutError,
    RateLimitError,
    RefusalError,
    ReplyError,
    RequestError,
    ServerError,
)
from generation.records import Usage

if TYPE_CHECKING:
    from generation.llm import Reply

_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_FILTER_CODES = ("content_filter", "responsibleaipolicyviolation", "content_policy", "requires moderation")
LIMIT_HEADERS = (
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
)
_MOST_TOKENS = 10**9  # of one call; a larger number is no count
_NO_MODEL = re.compile(
    r"model_not_(found|exist|supported)|model not (found|exist)|not a valid model"
    r"|(unknown|invalid|no such) model\b(?! \w)|model\b.{0,120} (does not exist|doesn't exist|not found)"
)
"""How servers that answer 400 to a model's name put it."""
_EMPTY_ACCOUNT = ("insufficient_quota", "billing_hard_limit", "credit balance")


def read_body(host: str, body: str, headers: Mapping[str, str] | None = None, seconds: float = 0.0) -> "Reply":
    """The Reply in a chat completion's body; raises ServerError if it is none, or the error that it carries."""
    from generation.llm import Reply

    try:
        answer = _loaded(body)
        if isinstance(answer, dict) and answer.get("error"):
            raise _carried(host, answer, body)
        choice = answer["choices"][0]
        if isinstance(choice, dict) and choice.get("error"):
            raise _carried(host, choice, body)
        message = choice["message"]
        text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ServerError(
            f"{host} answered with what is no chat completion ({_excerpt(body)}): is the address a /v1 endpoint?",
            raw=body[:2000],
            status=200,
        ) from None
    limits = {name: headers[name] for name in LIMIT_HEADERS if name in headers} if headers else {}
    finish = str(choice.get("finish_reason") or "")
    model = str(answer.get("model") or "")
    return Reply(text, _usage(answer.get("usage")), model, finish, refusal, body, limits, seconds)


def usable(reply: "Reply") -> "Reply":
    """The reply itself, or the error of one that was refused, filtered, cut off or empty (with `error.reply`)."""
    if reply.refusal:
        raise RefusalError(f"The model declined to answer: {_excerpt(reply.refusal)}", raw=reply.refusal, reply=reply)
    if reply.finish_reason == "content_filter":
        raise ContentFilterError("The server's content filter stopped the answer.", raw=reply.text, reply=reply)
    if reply.finish_reason in ("length", "max_tokens", "model_length"):
        raise LengthError(
            "The answer was cut off at the token limit: raise it, or let the model think less.",
            raw=reply.text,
            reply=reply,
        )
    if not reply.text.strip():
        raise ReplyError("The answer is empty.", raw=reply.text, reply=reply)
    return reply


def error_of(host: str, model: str, status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """The error that an HTTP status other than 200 stands for."""
    message, code = _server_words(body)
    lower = f"{code} {message}".lower()
    kind: type[ModelError]
    if any(word in lower for word in _FILTER_CODES) and 400 <= status < 500:
        kind, words = ContentFilterError, f"{host} filtered the request ({status}: {message})."
    elif status == 402 or any(word in lower for word in _EMPTY_ACCOUNT):
        kind, words = (
            AuthError,
            f"The account at {host} has no credit left ({status}: {message}): add some, then resume.",
        )
    elif status == 401:
        kind, words = AuthError, f"{host} does not take the key (401: {message}): set another one."
    elif status == 403:
        kind, words = AuthError, f"{host} does not allow this to the key (403: {message}): use another key or model."
    elif status in (404, 405, 410) or (status in (400, 422) and _NO_MODEL.search(lower)):
        kind, words = (
            AddressError,
            f"{host} knows no {model} or no such address ({status}: {message}): check both, and the /v1.",
        )
    elif status == 408:
        kind, words = ModelTimeoutError, f"{host} gave up waiting (408: {message})."
    elif status == 429:
        kind, words = RateLimitError, f"{host} asks for fewer calls (429: {message}): ask fewer at a time, or later."
    elif status >= 500 or status in (409, 425):
        kind, words = ServerError, f"{host} failed ({status}: {message}): try again later."
    elif status < 400:
        where = headers.get("location", "nowhere")
        kind, words = AddressError, f"{host} answers {status} and points to {where}: give that as the base URL."
    else:
        kind, words = RequestError, f"{host} refused the request ({status}: {message})."
    return kind(words, raw=body[:2000], status=status, retry_after=retry_after(headers), code=code)


def read_json(text: str) -> Any:
    """The one JSON value in a model's answer: fences, prose, trailing commas, single quotes, thinking are forgiven.

    Raises ValueError for none, for several different ones, for one that breaks off, and for a key that is given twice.
    Its shape is the caller's to check.
    """
    try:
        return _strictly(text.strip())
    except ValueError:
        pass
    body = _without_thinking(text)
    if len(fenced := _FENCE.findall(body)) == 1:
        body = fenced[0]
    value = _from_bracket(body)
    try:
        return _only(value)
    except json.JSONDecodeError:
        return _repaired(value)


def _from_bracket(text: str) -> str:
    """`text` from its first brace on; from its first bracket if it begins with one or has no brace ("see [1]: {")."""
    text = text.lstrip()
    start = 0 if text.startswith("[") else text.find("{")
    if start < 0 and (start := text.find("[")) < 0:
        raise ValueError("it holds no JSON")
    return text[start:]


def _strictly(text: str) -> Any:
    try:
        return _sound(_DECODER.decode(text), text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def _only(text: str) -> Any:
    """The value at the start of `text`, if no other one follows."""
    try:
        value, end = _DECODER.raw_decode(text)
        while (start := text.find("{", end)) >= 0:
            other, end = _DECODER.raw_decode(text, start)
            if other != value:
                raise ValueError("it holds more than one JSON value")
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    return _sound(value, text)


def _repaired(text: str) -> Any:
    import json_repair

    end = _end(text)
    if "{" in text[end:]:
        raise ValueError("it holds more than one JSON value")  # the library would take the last one
    try:
        value = json_repair.loads(text[:end], skip_json_loads=True)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    if not isinstance(value, dict if text[0] == "{" else list):
        raise ValueError("it holds no clear JSON")
    return _sound(value, text)


def _end(text: str) -> int:
    """Where the value that opens `text` has closed; a repair may mend commas and quotes, not invent an ending."""
    awaited: list[str] = []
    quote, escaped = "", False
    for place, char in enumerate(text):
        if quote:
            if escaped or char == "\\":
                escaped = not escaped
            elif char == quote:
                quote = ""
        elif char == '"' or (char == "'" and text[:place].rstrip()[-1:] in "{[,:"):
            quote = char
        elif char in "{[":
            awaited.append("}" if char == "{" else "]")
        elif char in "}]":
            if awaited.pop() != char:
                break
            if not awaited:
                return place + 1
    raise ValueError("its JSON breaks off or is not closed")


def _sound(value: Any, text: str) -> Any:
    """`value`, if its texts can be written as UTF-8; half a surrogate pair raises UnicodeEncodeError, a ValueError."""
    if "\\u" in text:  # only an escape can make one
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _without_thinking(text: str) -> str:
    """What follows the model's thinking aloud; some servers leave out the tag that opens it."""
    _, closed, after = text.rpartition("</think>")
    if closed:
        return after
    if text.lstrip().startswith("<think>"):
        raise ValueError("it thinks and never answers")
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("its JSON gives a key twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"its JSON holds {name}")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _loaded(body: str) -> Any:
    """A server's JSON, by the quick reader; the other one takes NaN, large numbers and half surrogate pairs too."""
    import orjson

    body = body.removeprefix("\ufeff")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return json.loads(body)


def _carried(host: str, answer: Mapping[str, Any], body: str) -> ModelError:
    """The error inside a body that came with status 200, as some routers send it."""
    error = answer["error"]
    status = _status_of(error) if isinstance(error, dict) else 500
    return error_of(host, str(answer.get("model") or "this model"), status, {}, json.dumps({"error": error}))


def _status_of(error: Mapping[str, Any]) -> int:
    """The HTTP status that an error speaks of; 500 where it names none, so that it is asked again."""
    code = str(error.get("code") or error.get("status") or "")
    if code.isascii() and code.isdigit() and 400 <= int(code[:4]) < 600:
        return int(code[:4])
    return 429 if "rate_limit" in f"{code} {error.get('type')}".lower() else 500


def _text(content: Any) -> str:
    """A message's content as one text; a list of parts is joined, thinking parts left out."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type", "text") == "text")
    if not isinstance(content, str):
        raise TypeError("content is no text")
    return content.encode("utf-8", "replace").decode()  # a lone surrogate could not be written to a file


def _usage(counts: Any) -> Usage:
    if not isinstance(counts, dict):
        return Usage(calls=1)
    details = counts.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    prompt, completion = _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
    return Usage(1, prompt, min(_count(cached), prompt), completion)


def _count(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS else 0


def _server_words(body: str) -> tuple[str, str]:
    """The server's own message and code, from the shapes that are in use."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return _excerpt(body), ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return _excerpt(str(error)), ""
    message = error.get("message") or error.get("detail") or error.get("error") or body
    return _excerpt(str(message)), str(error.get("code") or error.get("type") or "")


def _excerpt(text: str) -> str:
    """The beginning of a foreign text on one line, which cannot drive a terminal."""
    if text.lstrip()[:1] == "<":
        return "an HTML page"
    words = one_line(text[:1000])
    return (words[:200] + " ..." if len(words) > 200 else words).rstrip(".") or "no words"

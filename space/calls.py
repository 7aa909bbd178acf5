"""How a program's call is taken: arguments of the kinds that are promised, no files, one sentence for each fault."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, get_type_hints

import gradio as gr
from fastapi.exceptions import RequestValidationError
from gradio.route_utils import FnIndexInferError
from pydantic import ConfigDict, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from generation.errors import CraqanError, InputError
from space import rates
from space.rates import Rate

SEE = "see “Use via API” at the page's foot."
KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list[str]: "a list of texts",
    list[str] | None: "a list of texts, or null",
    list[int]: "a list of whole numbers",
    list[dict[str, Any]] | None: "a list of objects, or null",
}
_DEEPEST = 20  # lists and objects within each other


def endpoint(function: Callable[..., Awaitable[Any]], rate: Rate = rates.CHECKS) -> Callable[..., Awaitable[Any]]:
    """`function` for gr.api: held against its own annotations and `rate` first; what is wrong is a gr.Error.

    Every parameter but `request` needs an annotation of KINDS.
    """
    hints = {name: hint for name, hint in get_type_hints(function).items() if name not in ("request", "return")}
    readers = {name: (TypeAdapter(hint, config=ConfigDict(strict=True)), KINDS[hint]) for name, hint in hints.items()}
    signature = inspect.signature(function)

    @wraps(function)
    async def called(*args: Any) -> Any:
        given = signature.bind(*args).arguments
        try:
            for name, (reader, kind) in readers.items():
                _check(name, given[name], reader, kind)
            rate.admit(rates.visitor(given.get("request")))
            return await function(*args)
        except CraqanError as error:
            raise refusal(str(error)) from error

    called.__doc__ = _unwrapped(function.__doc__ or "")
    return called


def refusal(sentence: str) -> gr.Error:
    """Shown to whoever called; no fault of the server's, and so not in its log, which is no place for what was sent."""
    return gr.Error(sentence, print_exception=False)


def guard(demo: gr.Blocks) -> None:
    """Hold what every event of the page gets against what gradio does not ask, or answers badly.

    It tells of missing values with all that were given, keys included, in the log; it fetches what a value claims to be
    a file at an address; and it cannot send half a pair of surrogates back.
    """

    def validate_inputs(block_fn: Any, inputs: list[Any]) -> None:
        if len(inputs) < len(block_fn.inputs):
            raise refusal(f"This function takes {len(block_fn.inputs)} values and was given {len(inputs)}: {SEE}")
        for part in _parts(inputs):
            if _is_file(part):
                raise refusal("No files are taken here: give the text itself.")
            if isinstance(part, str) and not _is_whole(part):
                raise refusal("A text holds half of a character: send it as UTF-8, or as pairs of \\u escapes.")

    demo.validate_inputs = validate_inputs  # type: ignore[method-assign]


def _unwrapped(doc: str) -> str:
    """With each argument, and what is returned, on one line: gradio shows no second one, or puts a comma before it."""
    lines: list[str] = []
    is_returns = False
    for line in inspect.cleandoc(doc).split("\n"):
        goes_on = line.startswith(" " * 8) or (is_returns and line.startswith(" ") and lines[-1].startswith(" "))
        is_returns = is_returns or line == "Returns:"
        if goes_on:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _check(name: str, value: Any, reader: TypeAdapter[Any], kind: str) -> None:
    try:
        reader.validate_python(value)
    except ValidationError:
        raise InputError(f"`{name}` must be {kind}: {SEE}") from None


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """The value and all within it."""
    if depth > _DEEPEST:
        raise refusal("This holds too many lists within lists: give it flat.")
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inner:
        yield from _parts(part, depth + 1)


def _is_file(value: Any) -> bool:
    """As gradio asks it."""
    return isinstance(value, dict) and "path" in value and "meta" in value


def _is_whole(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


# Requests that reach no function of ours


def _unreadable(request: Request, error: Exception) -> JSONResponse:
    return _said(f'The body must be JSON of the form that this path takes, such as {{"data": [...]}}: {SEE}', 422)


def _unknown(request: Request, error: Exception) -> JSONResponse:
    """gradio looks a function up by its name, or by the number that a page has for it, and raises what it meets."""
    if not any(part in request.url.path for part in ("/call/", "/run/", "/queue/join")):
        raise error
    return _said(f"There is no such function: {SEE}", 404)


def _misnamed(request: Request, error: Exception) -> JSONResponse:
    """From a call by names."""
    if "/call/" not in request.url.path:
        raise error
    return _said(f"These are not the names of the function's arguments: {SEE}", 422)


def _broken(request: Request, error: Exception) -> JSONResponse:
    return _said("Something broke on the server's side: try again in a minute.", 500)


def _said(sentence: str, status: int) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status)


HANDLERS = {
    RequestValidationError: _unreadable,
    KeyError: _unknown,
    FnIndexInferError: _unknown,
    TypeError: _misnamed,
    Exception: _broken,
}
"""For FastAPI: how each kind of error is answered."""

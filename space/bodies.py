"""No request may be larger than what the page sends: gradio reads a body whole before any limit of ours counts."""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MAX_BODY = 3_000_000
"""Bytes: a file of limits.MAX_FILE in base64, and room for the rest."""


class SmallBodies:
    """ASGI middleware that answers 413 to a larger body, and 411 to one that does not say how large it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := _refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _refusal(headers: Headers) -> PlainTextResponse | None:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return PlainTextResponse("Say how long the body is.", 411)
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) <= MAX_BODY:
        return None
    return PlainTextResponse(f"A request may have {MAX_BODY:,} bytes.", 413)

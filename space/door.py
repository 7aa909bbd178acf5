"""What a request has to be like before gradio sees it, which reads a body whole before any limit of ours counts."""

from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MAX_BODY = 3_000_000
"""Bytes: a file of limits.MAX_FILE in base64, and room for the rest."""
UNUSED = (
    "/gradio_api/upload",
    "/gradio_api/proxy=",
    "/gradio_api/component_server",
    "/gradio_api/process_recording",
    "/gradio_api/deep_link",
    "/gradio_api/dev/",
    "/gradio_api/vibe-",
    "/gradio_api/undo-vibe-",
    "/monitoring",
)
"""Paths of gradio's that this page has no use for: they write files, fetch addresses, or tell of other visitors."""
COUNTS = "/monitoring/summary"  # what “Use via API” asks for: how long each function takes
_MCP = "/gradio_api/mcp"
_SENT_FOR = b"x-forwarded-for"


class Door:
    """ASGI middleware that lets in what the page and its programs send.

    The rest gets one sentence: 413 for a larger body, 411 for one that does not say how large it is, 404 for UNUSED. A
    tool of MCP's is called by gradio from this machine, so the caller's address goes along in a header, for `rates`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if refusal := _refusal(scope["path"], Headers(scope=scope)):
                await refusal(scope, receive, send)
                return
            if scope["path"].startswith(_MCP):
                scope = _with_caller(scope)
        await self.app(scope, receive, send)


def _refusal(path: str, headers: Headers) -> PlainTextResponse | None:
    if path.startswith(UNUSED) and path != COUNTS:
        return PlainTextResponse("This page does not use this path: see “Use via API” at its foot.", 404)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return PlainTextResponse("Say how long the body is.", 411)
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) <= MAX_BODY:
        return None
    return PlainTextResponse(f"A request may have {MAX_BODY:,} bytes.", 413)


def _with_caller(scope: Scope) -> dict[str, Any]:
    """With the address that the request came from behind those that it claims, as a proxy adds it."""
    client = scope.get("client")
    claimed = [value for name, value in scope["headers"] if name == _SENT_FOR]
    others = [(name, value) for name, value in scope["headers"] if name != _SENT_FOR]
    here = [client[0].encode("latin-1")] if client else []
    return {**scope, "headers": [*others, (_SENT_FOR, b", ".join([*claimed, *here]))]}

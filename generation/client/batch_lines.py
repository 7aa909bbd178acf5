"""The lines of batch files: a request as it goes up, an answer as it comes down."""

import json
from collections.abc import Mapping
from typing import Any

from generation.client.replies import error_of, read_body
from generation.client.transport import encoded
from generation.errors import ServerError
from generation.llm import Reply

ENDPOINT = "/v1/chat/completions"
"""What all lines ask for; the API's own word, whatever the path of the server's address."""
ENDED_EARLY = ("batch_expired", "batch_cancelled")
"""Error codes of requests that their job did not get to."""

Line = dict[str, Any]
"""A line of an output or error file: custom_id, and response (status_code, body) or error (code, message)."""


def request_line(key: str, body: Mapping[str, Any]) -> bytes:
    return encoded({"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}) + b"\n"


def missing_line(job_id: str, status: str) -> Line:
    """What stands for a request that is in neither file of a job."""
    return {"error": {"code": ENDED_EARLY[0], "message": f"job {job_id} ended ({status}) without it"}}


def read_line(host: str, model: str, line: Line) -> Reply:
    """The Reply in a line, or the ModelError that it stands for."""
    body = mapping(line.get("response")).get("body")
    text = body if isinstance(body, str) else json.dumps(body)
    if (status := status_of(line)) == 200:
        return read_body(host, text)
    if status:
        raise error_of(host, model, status, {}, text)
    error = mapping(line.get("error") or line.get("response"))
    code, message = str(error.get("code") or ""), str(error.get("message") or "no words")[:300]
    raise ServerError(f"The batch job at {host} has no answer ({code}: {message}).", code=code, raw=message)


def mapping(value: Any) -> Mapping[str, Any]:
    """`value`; what a server puts in place of an object, a text or a list, tells what is wrong as `message`."""
    return value if isinstance(value, dict) else {"message": value} if value else {}


def status_of(line: Line) -> int:
    """The HTTP status of a line's response, 0 where it has none."""
    code = str(mapping(line.get("response")).get("status_code"))
    return int(code) if code.isascii() and code.isdigit() else 0


def is_answered(line: Line) -> bool:
    return status_of(line) == 200

"""The files and batches endpoints of an OpenAI-compatible server, reached with the same key as live calls."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.client.batch_lines import ENDPOINT, Line, mapping
from generation.client.failures import lost, too_late
from generation.client.replies import error_of
from generation.client.transport import AiohttpTransport
from generation.errors import ReplyError, RequestError, ServerError

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_SLOWEST = 50_000  # bytes per second; a file that moves more slowly is not waited for
_LARGEST_ANSWER = 500_000_000  # bytes of an output file; only bounds the time it may take
_PAGE = 100
_MOST_PAGES = 50
_CLOCKS_DIFFER_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Job:
    """A batch job as its server describes it. `done` requests have a line in the output or the error file.

    `faults` are the reasons for which a file was refused as a whole: code and message of each.
    """

    id: str
    status: str
    input_file_id: str
    output_file_id: str = ""
    error_file_id: str = ""
    done: int = 0
    created_at: float = 0.0
    faults: tuple[tuple[str, str], ...] = ()

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_refused(self) -> bool:
        """Its file was not accepted, so that nothing was asked."""
        return self.status == "failed" and bool(self.faults) and not self.output_file_id


class BatchTransport(AiohttpTransport):
    """Uploads and downloads files, makes jobs and looks after them. Raises a ModelError for every failure."""

    model = ""  # named in error messages

    async def upload(self, path: Path) -> str:
        """Send a file of requests and return its id; a file that no job was made of costs nothing."""
        import aiohttp

        with path.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=path.name, content_type="application/jsonl")
            body = form()
            headers = {"Content-Type": body.content_type}
            answer = await self._ask("POST", "/files", path.stat().st_size, data=body, headers=headers)
        return _name(answer, self.host)

    async def create(self, file_id: str, metadata: Mapping[str, str]) -> Job:
        """Make a job of an uploaded file. After ServerError, ConnectError or a time-out it may have been made."""
        wanted = {"input_file_id": file_id, "endpoint": ENDPOINT, "completion_window": "24h", "metadata": metadata}
        return self._job(await self._ask("POST", "/batches", data=json.dumps(wanted)))

    async def look(self, job_id: str) -> Job:
        return self._job(await self._ask("GET", f"/batches/{job_id}"))

    async def find(self, file_id: str, since: float) -> Job | None:
        """The job that was made of a file after `since` (Unix time), or None; the server lists the newest first."""
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            answer = await self._ask("GET", "/batches", params={"limit": str(_PAGE), **after})
            page = [self._job(item) for item in _list(answer, self.host)]
            for job in page:
                if job.input_file_id == file_id:
                    return job
            if not page or not answer.get("has_more") or page[-1].created_at < since - _CLOCKS_DIFFER_S:
                break
            after = {"after": page[-1].id}
        return None

    async def lines(self, file_id: str) -> dict[str, Line]:
        """The lines of an output or error file by custom_id; ReplyError where it breaks off or is no such file."""
        timeout = self._timeout(_LARGEST_ANSWER)
        found: dict[str, Line] = {}
        rest = b""
        with self._told():
            url = f"{self.url}/files/{file_id}/content"
            async with self._here().get(url, timeout=timeout, allow_redirects=False) as response:
                if response.status != 200:
                    raise self._refusal(response.status, response.headers, await response.read())
                async for chunk in response.content.iter_chunked(1 << 18):
                    *whole, rest = (rest + chunk).split(b"\n")
                    found.update(self._line(line, file_id) for line in whole if line.strip())
        if rest.strip():
            found.update([self._line(rest, file_id)])
        return found

    async def _ask(self, method: str, path: str, size: int = 0, **sent: Any) -> Any:
        with self._told():
            url = self.url + path
            async with self._here().request(
                method, url, timeout=self._timeout(size), allow_redirects=False, **sent
            ) as response:
                body = await response.read()
        if response.status not in (200, 201):
            if response.status in (404, 405, 501) and path in ("/files", "/batches"):
                raise RequestError(
                    f"{self.host} has no batch API ({method} {path} gives {response.status}): leave out --batch.",
                    status=response.status,
                )
            raise self._refusal(response.status, response.headers, body)
        try:
            return json.loads(body)
        except ValueError:
            raise ServerError(f"{self.host} answered {path} with what is no JSON.", status=200) from None

    def _timeout(self, size: int) -> Any:
        import aiohttp

        return aiohttp.ClientTimeout(total=self.timeout + size / _SLOWEST, sock_read=self.timeout)

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        text = self.key.hidden_in(body.decode("utf-8", "replace"))
        lower = {name.lower(): value for name, value in headers.items()}
        return error_of(self.host, self.model, status, lower, text)

    @contextmanager
    def _told(self) -> Iterator[None]:
        import aiohttp

        try:
            yield
        except TimeoutError:
            raise too_late(self.host, self.timeout) from None
        except (aiohttp.ClientError, OSError) as error:
            raise lost(self.url, self.key.hidden_in(str(error)), error) from None

    def _line(self, line: bytes, file_id: str) -> tuple[str, Line]:
        try:
            value = json.loads(self.key.hidden_in(line.decode("utf-8-sig", "replace")))
            return str(value["custom_id"]), value
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ReplyError(f"The file {file_id} of {self.host} breaks off or is no batch output.") from None

    def _job(self, answer: Any) -> Job:
        id_ = _name(answer, self.host)
        counts = mapping(answer.get("request_counts"))
        faults = mapping(answer.get("errors")).get("data") or ()
        hidden = self.key.hidden_in
        return Job(
            id_,
            str(answer.get("status") or ""),
            str(answer.get("input_file_id") or ""),
            str(answer.get("output_file_id") or ""),
            str(answer.get("error_file_id") or ""),
            int(_number(counts.get("completed")) + _number(counts.get("failed"))),
            _number(answer.get("created_at")),
            tuple((str(f.get("code") or ""), hidden(_words(f))) for f in map(mapping, faults)),
        )


def _name(answer: Any, host: str) -> str:
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str) or not answer["id"]:
        raise ServerError(f"{host} answered without an id where one is due.", status=200)
    return str(answer["id"])


def _list(answer: Any, host: str) -> list[Any]:
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
        raise ServerError(f"{host} answered without a list of jobs where one is due.", status=200)
    return answer["data"]


def _number(value: Any) -> float:
    """`value` if it is a number; a server that gives none has said nothing."""
    return float(value) if isinstance(value, int | float) else 0.0


def _words(fault: Mapping[str, Any]) -> str:
    line = f"line {fault['line']}: " if fault.get("line") else ""
    return f"{line}{' '.join(str(fault.get('message') or fault.get('code') or 'no words').split())[:300]}"

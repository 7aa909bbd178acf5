"""A scripted server with the files and batches endpoints over real HTTP, in a thread of its own.

    with BatchServer(script) as server:
        ... "--base-url", server.url, "--batch" ...

`script` answers each line of a job as it does a live call of tests.model_server; an answer with a status other than 200
becomes a line of the error file. Output lines are shuffled. What goes wrong is set by attributes, see below.
"""

import asyncio
import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.model_server import Script, ThreadedServer, _canned, _player, completion, failing

Event = Literal["upload", "create", "list", "look", "content"]
End = Literal["completed", "failed", "expired", "cancelled"]
Fault = int | Literal["", "before", "after", "half", "stall"]


@dataclass
class Made:
    """A job; `looks` is how often it must still be looked at before it moves on to its next status."""

    id: str
    file_id: str
    requests: list[dict[str, Any]]
    stages: list[str]
    end: End
    created_at: int
    output: str = ""
    error: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, Any]] = field(default_factory=list)


class BatchServer(ThreadedServer):
    """Serves files and jobs until the block ends.

    `fault(event, number)` may break the number-th request of a kind: a status to answer, "before" (cut the connection
    unheard), "after" (do it, then cut), "half" (cut in the middle of the body), "stall" (do it, then never answer).
    `end(number)` says how the number-th job ends, `share` how much of one that ends early is done first. While `hold`
    is set no job moves on. `limit` is the most requests in all jobs that have not ended, `lagging` the number of lists
    that still lack every job. `paid` counts answers, `seen` requests.
    """

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.jobs: list[Made] = []
        self.files: dict[str, bytes] = {}
        self.seen: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.keys: set[str] = set()
        self.fault: Callable[[str, int], Fault] = lambda event, number: ""
        self.end: Callable[[int], End] = lambda number: "completed"
        self.share = 0.5
        self.limit = 10**9
        self.lagging = 0
        self.hold = threading.Event()
        self._answer = _player(script)
        self._numbers = itertools.count(1)

    async def _start(self) -> None:
        app = web.Application(client_max_size=10**9)
        app.router.add_post("/v1/files", self._door("upload", self._upload))
        app.router.add_get("/v1/files/{id}/content", self._door("content", self._content))
        app.router.add_post("/v1/batches", self._door("create", self._create))
        app.router.add_get("/v1/batches", self._door("list", self._list))
        app.router.add_get("/v1/batches/{id}", self._door("look", self._look))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    async def _stop(self) -> None:
        """Files and jobs stay."""
        await self._runner.cleanup()

    def _door(self, event: Event, handle: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def answered(request: web.Request) -> web.StreamResponse:
            self.seen[event] += 1
            self.keys.add(request.headers.get("Authorization", ""))
            fault = self.fault(event, self.seen[event])
            if isinstance(fault, int) and fault:
                return _error(fault, f"as scripted, to {request.headers.get('Authorization')}")
            if fault == "before":
                return _cut(request)
            response = await handle(request)
            if fault == "stall":
                await asyncio.sleep(3600)
            if fault == "after":
                return _cut(request)
            if fault == "half":
                whole = web.StreamResponse(headers={"Content-Length": str(len(response.body))})
                await whole.prepare(request)
                await whole.write(response.body[: len(response.body) // 2])
                return _cut(request, whole)
            return response

        return answered

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file_id = f"file-{len(self.files)}"
        self.files[file_id] = form["file"].file.read()  # type: ignore[union-attr]
        return web.json_response({"id": file_id, "object": "file", "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        file = self.files.get(request.match_info["id"])
        return _error(404, "No such file.") if file is None else web.Response(body=file)

    async def _create(self, request: web.Request) -> web.Response:
        wanted = await request.json()
        assert wanted["endpoint"] == "/v1/chat/completions" and wanted["completion_window"] == "24h"
        requests = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        assert len({r["custom_id"] for r in requests}) == len(requests) and all(r["method"] == "POST" for r in requests)
        number = next(self._numbers)
        stages = ["validating", "in_progress", "finalizing"]
        job = Made(f"batch_{number}", wanted["input_file_id"], requests, stages, self.end(number), 1000 + number)
        waiting = sum(len(j.requests) for j in self.jobs if j.stages)
        if waiting + len(requests) > self.limit:
            job.faults = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}]
        elif job.end == "failed":
            job.faults = [{"code": "invalid_json_line", "message": "This line is no JSON.", "line": 2}]
        if job.faults:
            job.end, job.stages = "failed", ["validating"]
        self.jobs.append(job)
        return web.json_response(_shown(job))

    async def _list(self, request: web.Request) -> web.Response:
        if self.lagging:
            self.lagging -= 1
            return web.json_response({"object": "list", "data": [], "has_more": False})
        newest = list(reversed(self.jobs))
        after = request.query.get("after")
        start = 1 + [j.id for j in newest].index(after) if after else 0
        page = newest[start : start + 2]  # smaller than asked for, so that pages are turned
        has_more = start + 2 < len(newest)
        return web.json_response({"object": "list", "data": [_shown(j) for j in page], "has_more": has_more})

    async def _look(self, request: web.Request) -> web.Response:
        found = [j for j in self.jobs if j.id == request.match_info["id"]]
        if not found:
            return _error(404, "No such batch.")
        job = found[0]
        if job.stages and (job.faults or not self.hold.is_set()):
            job.stages.pop(0)
            if not job.stages:
                self._finish(job)
        return web.json_response(_shown(job))

    def _finish(self, job: Made) -> None:
        if job.faults:
            return
        chances = random.Random(job.id)
        requests = list(job.requests)
        chances.shuffle(requests)
        done = requests if job.end == "completed" else requests[: int(len(requests) * self.share)]
        output, error = [], []
        for request in done:
            answer = _canned(self._answer(request["body"]))
            body = json.loads(answer.body or completion(answer, request["body"]["model"]))
            response = {"status_code": answer.status, "request_id": "r", "body": body}
            line = {"id": "x", "custom_id": request["custom_id"], "response": response, "error": None}
            (output if answer.status == 200 else error).append(line)
            self.paid[request["custom_id"]] += answer.status == 200
        for request in requests[len(done) :] if job.end == "expired" else ():
            fault = {"code": "batch_expired", "message": "This request could not be executed in time."}
            error.append({"id": "x", "custom_id": request["custom_id"], "response": None, "error": fault})
        job.counts.update(completed=len(output), failed=len(error))
        job.output, job.error = self._file(output), self._file(error)

    def _file(self, lines: list[dict[str, Any]]) -> str:
        if not lines:
            return ""
        file_id = f"file-{len(self.files)}"
        self.files[file_id] = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return file_id


def _shown(job: Made) -> dict[str, Any]:
    return {
        "id": job.id,
        "object": "batch",
        "status": job.stages[0] if job.stages else job.end,
        "input_file_id": job.file_id,
        "output_file_id": job.output or None,
        "error_file_id": job.error or None,
        "created_at": job.created_at + 1_700_000_000_000,
        "errors": {"object": "list", "data": job.faults} if job.faults and not job.stages else None,
        "request_counts": {"total": len(job.requests), **job.counts},
    }


def _error(status: int, message: str) -> web.Response:
    return web.Response(status=status, body=(failing(status, message).body or "").encode())


def _cut(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the connection without another byte."""
    assert request.transport is not None
    request.transport.abort()
    return response or web.Response()

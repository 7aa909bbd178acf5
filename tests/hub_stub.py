"""A Hub over real HTTP that serves dataset repositories from memory, as far as reading them needs.

python -m tests.hub_stub FOLDER    serves FOLDER/<org>/<name>/<revision>/<files>, prints its address
"""

import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse


def serve(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of `folder`, not yet running; the newest revision by name is also "main"."""
    handler = type("Handler", (_Handler,), {"folder": folder})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


class _Handler(BaseHTTPRequestHandler):
    folder: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        self._answer(form.get("paths", []))

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, paths: list[str] | None = None) -> None:
        parts = [unquote(part) for part in urlparse(self.path).path.strip("/").split("/")]
        if parts[0] == "api" and parts[1] == "datasets":
            kind, revision, inner = (*parts[4:6], "/".join(parts[6:])) if len(parts) > 5 else ("revision", "main", "")
            repo = self._repo(parts[2:4], revision)
            if repo:
                self._json(self._about("/".join(parts[2:4]), kind, repo, inner, paths))
        elif parts[0] == "datasets" and parts[3] == "resolve":
            repo = self._repo(parts[1:3], parts[4])
            if repo:
                self._file(repo, repo / "/".join(parts[5:]))
        else:
            self._fail(404, "EntryNotFound")

    def _repo(self, name: list[str], revision: str) -> Path | None:
        home = self.folder.joinpath(*name)
        revisions = sorted(p for p in home.glob("*") if p.is_dir())
        if not revisions:
            self._fail(401, "RepoNotFound")
            return None
        known = {"main": revisions[-1]} | {p.name: p for p in revisions} | {_sha(p): p for p in revisions}
        if revision not in known:
            self._fail(404, "RevisionNotFound")
        return known.get(revision)

    def _about(self, name: str, kind: str, repo: Path, inner: str, paths: list[str] | None) -> Any:
        files = sorted(p for p in repo.rglob("*") if p.is_file())
        if kind == "revision":
            siblings = [{"rfilename": p.relative_to(repo).as_posix()} for p in files]
            return {"id": name, "sha": _sha(repo), "private": False, "siblings": siblings, "tags": []}
        found = [repo / path for path in paths] if paths is not None else sorted((repo / inner).rglob("*"))
        return [_entry(p, repo) for p in found if p.exists()]

    def _file(self, repo: Path, path: Path) -> None:
        if not path.is_file():
            self._fail(404, "EntryNotFound", _sha(repo))
            return
        content, status = path.read_bytes(), 200
        size, headers = len(content), {"ETag": f'"{_sha(path)}"', "X-Repo-Commit": _sha(repo)}
        if span := self.headers.get("Range"):
            first, _, last = span.removeprefix("bytes=").partition("-")
            content, status = content[int(first) : int(last or size) + 1], 206
            headers["Content-Range"] = f"bytes {first}-{int(first) + len(content) - 1}/{size}"
        self._send(status, content, headers)

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _fail(self, status: int, code: str, commit: str = "") -> None:
        self._send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": code, "X-Repo-Commit": commit})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content)), "Accept-Ranges": "bytes"}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _sha(path: Path) -> str:
    content = path.read_bytes() if path.is_file() else str(path).encode()
    return hashlib.sha1(content).hexdigest()


def _entry(path: Path, repo: Path) -> dict[str, Any]:
    size = path.stat().st_size if path.is_file() else 0
    kind = "file" if path.is_file() else "directory"
    return {"type": kind, "path": path.relative_to(repo).as_posix(), "oid": _sha(path), "size": size}


if __name__ == "__main__":
    server = serve(Path(sys.argv[1]))
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()

"""A Hub over real HTTP, in memory, that takes uploads: repositories, commits, tags, pull requests, Spaces, rights.

It answers as huggingface.co does where huggingface_hub and datasets look: status, X-Error-Code, ETag, Range, LFS or
regular upload, stale parents. Files ending in .parquet or .png go through LFS. `fail` makes a request fail on purpose.
"""

import base64
import hashlib
import itertools
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlparse

OWNER, READER, STRANGER = "hf_owner_secret", "hf_reader_secret", "hf_stranger_secret"
TOKENS = {OWNER: ("ida", "write"), READER: ("ida", "read"), STRANGER: ("bo", "write")}
ORGS = {"ida": ["acme"], "bo": []}
LFS = (".parquet", ".png")


class Blob(NamedTuple):
    content: bytes
    lfs: bool

    @property
    def oid(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content).hexdigest()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


class Commit(NamedTuple):
    id: str
    title: str
    tree: dict[str, Blob]
    parent: str


@dataclass
class Repo:
    kind: str
    name: str
    private: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)  # branches by name, pull requests as refs/pr/N
    tags: dict[str, str] = field(default_factory=dict)
    lfs: dict[str, bytes] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def commit(self, ref: str, title: str, tree: dict[str, Blob], parent: str) -> Commit:
        listing = json.dumps([title, parent, len(self.commits), {path: blob.oid for path, blob in tree.items()}])
        made = Commit(hashlib.sha1(listing.encode()).hexdigest(), title, tree, parent)
        self.commits[made.id] = made
        self.refs[ref] = made.id
        return made

    def at(self, revision: str) -> Commit | None:
        known = {**self.refs, **self.tags, **{f"refs/heads/{b}": c for b, c in self.refs.items()}}
        return self.commits.get(known.get(revision, revision))


class Refusal(Exception):
    def __init__(self, status: int, code: str = "", message: str = "", commit: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.commit = status, code, message or code or str(status), commit


class Hub:
    """`with Hub() as hub:` serves until the end; `hub.url` is its HF_ENDPOINT, `hub.log` what was asked."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.log: list[str] = []
        self.lock = threading.RLock()
        self._faults: list[dict[str, Any]] = []
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Hub":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, request: str, status: int = 503, times: int = 1, *, after: bool = False, hook: Any = None) -> None:
        """Answer the next `times` requests that match `request` ("POST /api/.*/commit/") with `status`.

        With `after` the request is carried out first, and its answer lost. `hook` is called before the answer.
        """
        self._faults.append({"request": request, "status": status, "times": times, "after": after, "hook": hook})

    def fault(self, request: str) -> dict[str, Any] | None:
        with self.lock:
            for fault in self._faults:
                if fault["times"] and re.match(fault["request"], request):
                    fault["times"] -= 1
                    return fault
        return None

    def dataset(self, name: str) -> Repo:
        return self.repos["dataset", name]

    def writes(self) -> list[str]:
        """The requests that change something."""
        reads = ("paths-info", "validate-yaml", "preupload")
        return [r for r in self.log if not r.startswith(("GET", "HEAD")) and not any(word in r for word in reads)]

    def create(self, kind: str, name: str, private: bool = False) -> Repo:
        repo = Repo(kind, name, private)
        repo.commit("main", "initial commit", {".gitattributes": Blob(b"*.parquet filter=lfs\n", False)}, "")
        self.repos[kind, name] = repo
        return repo


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    body: bytes

    def log_message(self, *_: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._any
        raise AttributeError(name)

    def _any(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = f"{self.command} {self.path}"
        fault = self.hub.fault(request)
        try:
            if fault and fault["hook"]:
                fault["hook"]()
            if fault and not fault["after"]:
                raise Refusal(fault["status"], message="on purpose")
            with self.hub.lock:
                self.hub.log.append(request)
                answer = self._route()
            if fault and fault["after"]:
                raise Refusal(fault["status"], message="on purpose")
            self._send(*answer)
        except Refusal as no:
            headers = {"X-Error-Code": no.code, "X-Error-Message": no.message, "X-Repo-Commit": no.commit}
            self._send(no.status, json.dumps({"error": no.message}).encode(), headers)

    # --- who may what ------------------------------------------------------------------------------------------------

    def _who(self) -> tuple[str, str]:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token not in TOKENS:
            raise Refusal(401, message="Invalid credentials in Authorization header")
        return TOKENS.get(token, ("", ""))

    def _repo(self, kind: str, name: str, write: bool = False) -> Repo:
        user, role = self._who()
        repo = self.hub.repos.get((kind, name))
        mine = bool(user) and name.split("/")[0] in (user, *ORGS[user])
        if repo is None or (repo.private and not mine):
            raise Refusal(404 if user else 401, "RepoNotFound", "Repository not found")
        if write and not (mine and role == "write"):
            raise Refusal(403 if user else 401, message="You don't have the rights to write here")
        return repo

    def _commit(self, repo: Repo, revision: str) -> Commit:
        commit = repo.at(revision)
        if commit is None:
            raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit

    # --- routes ------------------------------------------------------------------------------------------------------

    def _route(self) -> tuple[int, bytes, dict[str, str]]:
        url = urlparse(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        if parts[:2] == ["api", "whoami-v2"]:
            return self._whoami()
        if parts[:3] == ["api", "repos", "create"]:
            return self._create(json.loads(self.body))
        if parts[:2] == ["api", "validate-yaml"]:
            return self._json({"errors": [], "warnings": []})
        if parts[0] == "api" and parts[1] in ("datasets", "spaces") and len(parts) >= 4:
            return self._about(parts[1][:-1], "/".join(parts[2:4]), parts[4:], parse_qs(url.query))
        if parts[0] in ("datasets", "spaces") and "resolve" in parts:
            revision, path = parts[4], "/".join(parts[5:])
            return self._file(self._repo(parts[0][:-1], "/".join(parts[1:3])), revision, path)
        if parts[0] in ("datasets", "spaces") and parts[-2:] == ["objects", "batch"]:
            return self._lfs_batch(parts[0][:-1], f"{parts[1]}/{parts[2].removesuffix('.git')}")
        if parts[0] == "lfs":
            if hashlib.sha256(self.body).hexdigest() != parts[4]:  # the sender went away in the middle
                raise Refusal(400, message="the content is not what was announced")
            self.hub.repos[parts[1], "/".join(parts[2:4])].lfs[parts[4]] = self.body
            return 200, b"", {}
        if parts[0] == "lfs-verify":
            return self._json({})
        raise Refusal(404, "EntryNotFound")

    def _about(self, kind: str, name: str, rest: list[str], query: dict[str, list[str]]) -> Any:
        what = rest[0] if rest else "revision"
        if self.command == "POST" and what in ("commit", "tag", "preupload", "variables"):
            return getattr(self, f"_post_{what}")(self._repo(kind, name, write=True), rest[1:], query)
        repo = self._repo(kind, name)
        if what == "variables":
            return self._json({k: {"key": k, "value": v} for k, v in repo.variables.items()})
        if what == "refs":
            return self._refs(repo)
        commit = self._commit(repo, rest[1] if len(rest) > 1 else "main")
        if what == "revision":
            siblings = [{"rfilename": path} for path in sorted(commit.tree)]
            about = {"id": name, "sha": commit.id, "private": repo.private, "siblings": siblings, "tags": []}
            return self._json({**about, "sdk": "gradio"} if kind == "space" else about)
        if what == "tree":
            return self._tree(commit, "/".join(rest[2:]), query.get("recursive", ["false"])[0].lower() in ("true", "1"))
        if what == "paths-info":
            wanted = parse_qs(self.body.decode()).get("paths", [])
            everything = _entries(commit.tree, "")
            return self._json([entry for entry in everything if entry["path"] in wanted])
        if what == "commits":
            return self._json(
                [
                    {"id": c.id, "title": c.title, "message": "", "authors": [{"user": "ida"}], "date": _DATE}
                    for c in _history(repo, commit)
                ]
            )
        raise Refusal(404, "EntryNotFound")

    def _whoami(self) -> Any:
        user, role = self._who()
        if not user:
            raise Refusal(401, message="Invalid username or password")
        orgs = [{"name": org, "roleInOrg": "admin"} for org in ORGS[user]]
        return self._json({"type": "user", "name": user, "orgs": orgs, "auth": {"accessToken": {"role": role}}})

    def _create(self, asked: dict[str, Any]) -> Any:
        user, role = self._who()
        if not user:
            raise Refusal(401, message="Invalid username or password")
        owner = asked.get("organization") or user
        name = f"{owner}/{asked['name']}"
        if role != "write" or owner not in (user, *ORGS[user]):
            raise Refusal(403, message="You don't have the rights to create a repository here")
        kind = asked.get("type") or "model"
        url = f"{self.hub.url}/{kind}s/{name}"
        if (kind, name) in self.hub.repos:
            return 409, json.dumps({"error": "You already created this repo", "url": url}).encode(), _JSON
        private = asked.get("private") or asked.get("visibility") == "private"
        self.hub.create(kind, name, bool(private))
        return self._json({"url": url, "name": name})

    def _refs(self, repo: Repo) -> Any:
        branches = {name: c for name, c in repo.refs.items() if not name.startswith("refs/pr/")}
        pulls = {name: c for name, c in repo.refs.items() if name.startswith("refs/pr/")}
        return self._json(
            {
                "branches": [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": c} for n, c in branches.items()],
                "tags": [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in repo.tags.items()],
                "converts": [],
                "pullRequests": [{"name": n, "ref": n, "targetCommit": c} for n, c in pulls.items()],
            }
        )

    def _tree(self, commit: Commit, inner: str, recursive: bool) -> Any:
        entries = _entries(commit.tree, inner)
        if inner and not entries:
            raise Refusal(404, "EntryNotFound", commit=commit.id)
        depth = inner.count("/") + 1 if inner else 0
        return self._json([e for e in entries if recursive or e["path"].count("/") == depth])

    def _file(self, repo: Repo, revision: str, path: str) -> Any:
        commit = self._commit(repo, revision)
        if path not in commit.tree:
            raise Refusal(404, "EntryNotFound", "Entry not found", commit.id)
        blob = commit.tree[path]
        size, content, status = len(blob.content), blob.content, 200
        headers = {"X-Repo-Commit": commit.id, "ETag": f'"{blob.sha256 if blob.lfs else blob.oid}"'}
        if blob.lfs:
            headers |= {"X-Linked-Etag": f'"{blob.sha256}"', "X-Linked-Size": str(size)}
        if span := self.headers.get("Range"):
            first, _, last = span.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(size - int(last), 0)
            end = min(int(last), size - 1) if last and first else size - 1
            if start >= size:
                raise Refusal(416)
            content, status = content[start : end + 1], 206
            headers["Content-Range"] = f"bytes {start}-{end}/{size}"
        return status, content, headers

    # --- changes -----------------------------------------------------------------------------------------------------

    def _post_preupload(self, repo: Repo, rest: list[str], query: Any) -> Any:
        tree = self._commit(repo, rest[0]).tree
        files = []
        for file in json.loads(self.body)["files"]:
            blob = tree.get(file["path"])
            oid = (blob.sha256 if blob.lfs else blob.oid) if blob else None
            mode = "lfs" if file["path"].endswith(LFS) else "regular"
            files.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        return self._json({"files": files})

    def _lfs_batch(self, kind: str, name: str) -> Any:
        repo = self._repo(kind, name, write=True)
        objects = []
        for item in json.loads(self.body)["objects"]:
            answer = {"oid": item["oid"], "size": item["size"]}
            if item["oid"] not in repo.lfs:
                address = f"{self.hub.url}/lfs/{kind}/{name}/{item['oid']}"
                verify = {"href": f"{self.hub.url}/lfs-verify/{kind}/{name}"}
                answer["actions"] = {"upload": {"href": address}, "verify": verify}
            objects.append(answer)
        return self._json({"transfer": "basic", "objects": objects})

    def _post_commit(self, repo: Repo, rest: list[str], query: Any) -> Any:
        lines = [json.loads(line) for line in self.body.decode().splitlines() if line]
        header = lines[0]["value"]
        parent = self._commit(repo, rest[0])
        pull = query.get("create_pr", ["0"])[0] in ("1", "true")
        if header.get("parentCommit") and header["parentCommit"] != parent.id and not pull:
            raise Refusal(412, message="A commit has happened since. Please refresh and try again.")
        tree = dict(parent.tree)
        for line in lines[1:]:
            value, path = line["value"], line["value"]["path"]
            if line["key"] == "file":
                tree[path] = Blob(base64.b64decode(value["content"]), False)
            elif line["key"] == "lfsFile":
                if value["oid"] not in repo.lfs:
                    raise Refusal(400, message="the file was not uploaded")
                tree[path] = Blob(repo.lfs[value["oid"]], True)
            elif line["key"] == "deletedFile":
                if path not in tree:
                    raise Refusal(404, "EntryNotFound", f"{path} is not there")
                del tree[path]
        number = next(n for n in itertools.count(1) if f"refs/pr/{n}" not in repo.refs)
        made = repo.commit(f"refs/pr/{number}" if pull else rest[0], header["summary"], tree, parent.id)
        answer = {"commitOid": made.id, "commitUrl": f"{self.hub.url}/{repo.kind}s/{repo.name}/commit/{made.id}"}
        if pull:
            answer["pullRequestUrl"] = f"{self.hub.url}/{repo.kind}s/{repo.name}/discussions/{number}"
        return self._json({"success": True, **answer})

    def _post_tag(self, repo: Repo, rest: list[str], query: Any) -> Any:
        name = json.loads(self.body)["tag"]
        if name in repo.tags:
            raise Refusal(409, message=f"Tag {name} already exists")
        repo.tags[name] = self._commit(repo, rest[0]).id
        return self._json({})

    def _post_variables(self, repo: Repo, rest: list[str], query: Any) -> Any:
        asked = json.loads(self.body)
        repo.variables[asked["key"]] = asked["value"]
        return self._json({k: {"key": k, "value": v} for k, v in repo.variables.items()})

    # --- answers -----------------------------------------------------------------------------------------------------

    def _json(self, value: Any) -> tuple[int, bytes, dict[str, str]]:
        return 200, json.dumps(value).encode(), _JSON

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), "Accept-Ranges": "bytes", **headers}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


_JSON = {"Content-Type": "application/json"}
_DATE = "2026-11-22T00:00:00.000Z"


def _history(repo: Repo, commit: Commit) -> list[Commit]:
    found = [commit]
    while found[-1].parent:
        found.append(repo.commits[found[-1].parent])
    return found


def _entries(tree: dict[str, Blob], inner: str) -> list[dict[str, Any]]:
    """All files and folders below `inner`, as the Hub lists them."""
    inside = {path: blob for path, blob in tree.items() if not inner or path.startswith(f"{inner}/")}
    folders = {"/".join(parts[:n]) for parts in (p.split("/") for p in inside) for n in range(1, len(parts))}
    entries: list[dict[str, Any]] = [
        {"type": "directory", "path": f, "oid": hashlib.sha1(f.encode()).hexdigest(), "size": 0}
        for f in sorted(folders)
        if not inner or f.startswith(f"{inner}/")
    ]
    for path, blob in sorted(inside.items()):
        entry: dict[str, Any] = {"type": "file", "path": path, "oid": blob.oid, "size": len(blob.content)}
        if blob.lfs:
            entry["lfs"] = {"oid": blob.sha256, "size": len(blob.content), "pointerSize": 130}
        entries.append(entry)
    return entries

"""The Hugging Face Hub as a release needs it: what a repository holds, one commit, a tag; every error one sentence.

Addresses, tokens and caches are those of huggingface_hub (HF_ENDPOINT, HF_TOKEN, HF_HOME). A token is never printed: no
message of the server or the client is passed on.
"""

import hashlib
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from generation.errors import PublishError, UsageError

Kind = Literal["dataset", "space"]
T = TypeVar("T")
Errors = tuple[type[Exception], ...]

WAITS = (0.5, 1.0, 2.0, 4.0)
"""Seconds before a request is sent once more that the Hub could not answer (429, 5xx, no connection)."""
KEPT = (".gitattributes",)
"""Files that the Hub itself puts into a repository."""
_PASSING = (429, 500, 502, 503, 504)


class Difference(NamedTuple):
    """What one commit would change: paths that are new, that differ, and that are there but not wanted."""

    added: list[str]
    changed: list[str]
    removed: list[str]

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)


class Repo:
    """One repository on the Hub; all methods raise PublishError, naming it."""

    def __init__(self, name: str, kind: Kind = "dataset") -> None:
        from huggingface_hub import HfApi

        self.name, self.kind = name, kind
        self._api = HfApi()

    def head(self) -> str:
        """The commit that main is at, "" if there is no such repository (or none that this token may see)."""
        from huggingface_hub.errors import RepositoryNotFoundError

        def ask() -> str:
            try:
                return self._api.repo_info(self.name, repo_type=self.kind).sha or ""
            except RepositoryNotFoundError:
                return ""

        return self._told(ask)

    def is_private(self) -> bool:
        return bool(self._told(lambda: self._api.repo_info(self.name, repo_type=self.kind).private))

    def create(self, private: bool) -> None:
        """Make the repository unless it is there."""
        sdk = "gradio" if self.kind == "space" else None
        create = self._api.create_repo
        self._told(lambda: create(self.name, repo_type=self.kind, private=private, exist_ok=True, space_sdk=sdk))

    def tags(self) -> dict[str, str]:
        """{tag: commit}."""
        refs = self._told(lambda: self._api.list_repo_refs(self.name, repo_type=self.kind))
        return {tag.name: tag.target_commit for tag in refs.tags}

    def pull_requests(self) -> list[str]:
        """The refs of open and closed pull requests, newest first."""
        refs = self._told(lambda: self._api.list_repo_refs(self.name, repo_type=self.kind, include_pull_requests=True))
        return [ref.ref for ref in refs.pull_requests or []][::-1]

    def title(self, revision: str) -> str:
        """The title of the last commit."""
        commits = self._told(lambda: self._api.list_repo_commits(self.name, repo_type=self.kind, revision=revision))
        return commits[0].title if commits else ""

    def files(self, revision: str) -> dict[str, tuple[str, int]]:
        """{path: (digest, bytes)}; the digest is git's, or SHA-256 for files in large-file storage."""

        def ask() -> list[Any]:
            listed = self._api.list_repo_tree(self.name, recursive=True, revision=revision, repo_type=self.kind)
            return [entry for entry in listed if hasattr(entry, "blob_id")]

        return {f.path: (f.lfs.sha256 if f.lfs else f.blob_id, f.size) for f in self._told(ask)}

    def difference(self, files: Mapping[str, Path], revision: str) -> Difference:
        """What brings `revision` to exactly `files`; "" is a repository that holds nothing."""
        there = self.files(revision) if revision else {}
        return Difference(
            added=[path for path in files if path not in there],
            changed=[path for path in files if path in there and there[path][0] not in digests(files[path])],
            removed=[path for path in there if path not in files and path not in KEPT],
        )

    def commit(
        self, files: Mapping[str, Path], change: Difference, parent: str, title: str, create_pr: bool = False
    ) -> str:
        """One commit on top of `parent`; returns its id, or the address of the pull request.

        If the Hub does not answer, what it holds is looked at before anything is sent again. Raises PublishError, too,
        if somebody else has committed since `parent`.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        errors: Errors = (
            *hub_errors(),
            RuntimeError,
            ValueError,
        )  # of an upload that failed, of a card that is not valid
        for wait in (*WAITS, None):
            operations: list[Any] = [CommitOperationAdd(path, files[path]) for path in change.added + change.changed]
            operations += [CommitOperationDelete(path) for path in change.removed]
            try:
                made = self._api.create_commit(
                    self.name,
                    operations,
                    commit_message=title,
                    repo_type=self.kind,
                    parent_commit=parent,
                    create_pr=create_pr,
                )
            except errors as error:
                if wait is None or not _is_passing(error):
                    raise PublishError(self._sentence(error)) from None
                time.sleep(wait)
                head = self.head()
                if head != parent and not create_pr:
                    if self.difference(files, head).is_empty:
                        return head
                    raise PublishError(self._stale()) from None
            else:
                return str(made.pr_url if create_pr else made.oid)
        raise AssertionError("the last try returns or raises")

    def tag(self, name: str, commit: str) -> bool:
        """Set a tag; False if there is one of that name already."""
        errors = hub_errors()
        try:
            self._ask(lambda: self._api.create_tag(self.name, tag=name, revision=commit, repo_type=self.kind))
        except errors as error:
            if _status(error) == 409:
                return False
            raise PublishError(self._sentence(error)) from None
        return True

    def download(self, revision: str, cache: Path, paths: list[str] | None = None) -> Path:
        """The files of a revision, fetched anew into `cache`; returns the folder."""
        from huggingface_hub import snapshot_download

        def ask() -> str:
            return snapshot_download(
                self.name, repo_type=self.kind, revision=revision, cache_dir=cache, allow_patterns=paths
            )

        return Path(self._told(ask))

    def set_variables(self, variables: Mapping[str, str]) -> None:
        """A Space's variables, those that differ: each change restarts it."""
        there = self._told(lambda: self._api.get_space_variables(self.name))
        for key, value in variables.items():
            if key not in there or there[key].value != value:
                self._told(lambda k=key, v=value: self._api.add_space_variable(self.name, k, v))  # type: ignore[misc]

    def _told(self, call: Callable[[], T]) -> T:
        errors: Errors = (*hub_errors(), OSError, ValueError)
        try:
            return self._ask(call)
        except errors as error:
            raise PublishError(self._sentence(error)) from None

    def _ask(self, call: Callable[[], T]) -> T:
        """`call`, once more after a while if the Hub could not answer; only for what may be asked twice."""
        errors = hub_errors()
        for wait in WAITS:
            try:
                return call()
            except errors as error:
                if not _is_passing(error):
                    raise
                time.sleep(wait)
        return call()

    def _sentence(self, error: Exception) -> str:
        what = {
            400: "does not take the files: its card or a name is not valid there",
            401: "wants a valid token: log in with `hf auth login` or set HF_TOKEN",
            403: "may not be written to with this token: ask for the right to, or take another token",
            404: "is not there, or this token may not see it: check the name, or log in with `hf auth login`",
            409: "is being changed by somebody else at this moment: give the command again",
            412: "",
            429: "takes no more requests for now: give the command again in a while",
        }
        status = _status(error)
        if status == 412:
            return self._stale()
        if status in what:
            return f"{self._named()} {what[status]}."
        if status:
            return f"{self._named()} could not be reached, the Hub answers {status}: give the command again."
        kind = type(error).__name__
        return f"{self._named()} could not be reached ({kind}): check the connection and give the command again."

    def _stale(self) -> str:
        return f"Somebody else has changed {self._named()} meanwhile: look at it, then give the command again."

    def _named(self) -> str:
        return f"The {self.kind} {self.name}"


def digests(path: Path) -> tuple[str, str]:
    """The two names that the Hub may give a file's content: git's blob id and SHA-256."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(), hashlib.sha256(content).hexdigest()


def download(place: str, cache: Path) -> Path:
    """A release on the Hub, "ORG/NAME" (its newest tag) or "ORG/NAME@TAG"; returns its folder."""
    match = re.fullmatch(r"(\w[\w.-]*/\w[\w.-]*)(?:@(.+))?", place)
    if not match:
        raise UsageError(f"{place} is no folder, and no ORG/NAME or ORG/NAME@v1.0.0 on the Hub.")
    repo = Repo(match[1])
    revision = match[2] or newest(repo.tags())
    if not revision:
        raise PublishError(f"The dataset {match[1]} has no tag of a version: name one, as in {match[1]}@v1.0.0.")
    return repo.download(revision, cache)


def newest(tags: Mapping[str, str]) -> str:
    """The tag of the highest version, "" if there is none."""
    versions = [(numbers(tag), tag) for tag in tags if numbers(tag)]
    return max(versions)[1] if versions else ""


def numbers(tag: str) -> tuple[int, ...]:
    match = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", tag)
    return tuple(map(int, match.groups())) if match else ()


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars meanwhile, and no warning that a Space gets data."""
    import datasets
    from huggingface_hub import utils

    libraries: list[Any] = [utils, datasets]
    loud = [lib for lib in libraries if not lib.are_progress_bars_disabled()]
    for library in libraries:
        library.disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*commit a data file.*")
            yield
    finally:
        for library in loud:
            library.enable_progress_bars()


def _status(error: BaseException | None) -> int:
    """The Hub's answer behind an error, 0 if there was none; 400 if the client itself found the files not valid."""
    while error is not None:
        if status := getattr(getattr(error, "response", None), "status_code", 0):
            return int(status)
        if isinstance(error, ValueError):
            return 400
        error = error.__cause__
    return 0


def _is_passing(error: Exception) -> bool:
    return _status(error) in (*_PASSING, 0)


def hub_errors() -> Errors:
    """huggingface_hub's, and those of its HTTP library: requests, httpx or httpx2, by its version."""
    from importlib import import_module
    from importlib.util import find_spec

    from huggingface_hub.errors import HfHubHTTPError

    found: list[type[Exception]] = [HfHubHTTPError, ConnectionError, TimeoutError]
    for library, name in (("httpx2", "TransportError"), ("httpx", "TransportError"), ("requests", "ConnectionError")):
        if find_spec(library):
            found.append(getattr(import_module(library), name))
    return tuple(found)

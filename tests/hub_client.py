"""`craqan publish` and `datasets` against the Hub of `tests.hub`, in this process or in new ones."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.dataset_files import LEAVE, ROOT
from tests.hub import LFS, OWNER, READER, STRANGER, Blob, Hub
from tests.test_cli import within

REPO = "acme/acts"

Done = subprocess.CompletedProcess[str]
Splits = dict[str, list[dict[str, Any]]]

LOAD = """
import datasets, json, sys
datasets.disable_progress_bars()
read = lambda revision, streaming: {
    split: [row for row in rows]
    for split, rows in datasets.load_dataset(sys.argv[1], revision=revision or None, streaming=streaming).items()
}
loaded = {revision: read(revision, False) for revision in sys.argv[2:]}
assert loaded == {revision: read(revision, True) for revision in sys.argv[2:]}
print(json.dumps(loaded))
"""


def environment(hub: Hub, home: Path, token: str = OWNER) -> dict[str, str]:
    neutral = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ours = {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return {**neutral, **ours, "PYTHONPATH": str(ROOT), **({"HF_TOKEN": token} if token else {})}


def put(hub: Hub, name: str, tag: str, folder: Path) -> None:
    """Make the files of `folder` the dataset's main and a tag, as somebody else's tools might."""
    repo = hub.repos.get(("dataset", name)) or hub.create("dataset", name)
    paths = [p for p in folder.rglob("*") if p.is_file()]
    tree = {p.relative_to(folder).as_posix(): Blob(p.read_bytes(), p.suffix in LFS) for p in paths}
    repo.tags[tag] = repo.commit("main", tag, tree, repo.refs["main"]).id


@contextmanager
def reached(hub: Hub, home: Path, token: str = OWNER) -> Iterator[None]:
    """`environment` for this process: what the libraries have read of theirs is put in its place, as from the start."""
    import datasets
    from huggingface_hub import constants

    read = {
        "ENDPOINT": hub.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_TOKEN_PATH": str(home / "token"),
        "HF_HUB_DISABLE_XET": True,
    }
    with ExitStack() as until:
        until.enter_context(patch.multiple(constants, **read))
        until.enter_context(patch.multiple(datasets.config, HF_ENDPOINT=hub.url, HF_DATASETS_CACHE=home / "datasets"))
        until.enter_context(patch.dict(os.environ, environment(hub, home, token)))
        yield


def publish(hub: Hub, folder: Path, *more: str, home: Path, token: str = OWNER, repo: str = REPO) -> Done:
    """The command in this process; nothing that it prints may hold a token."""
    with reached(hub, home, token):
        done = within("publish", folder, "--repo", repo, *more, **({"HF_TOKEN": token} if token else {}))
    return _silent_on_tokens(done)


def publish_alone(hub: Hub, folder: Path, *more: str, home: Path, token: str = OWNER, repo: str = REPO) -> Done:
    """The command in a process of its own, seconds slower; nothing that it prints may hold a token."""
    command = [sys.executable, "-m", "generation", "publish", str(folder), "--repo", repo, *more]
    done = subprocess.run(command, env=environment(hub, home, token), text=True, capture_output=True, timeout=120)
    return _silent_on_tokens(done)


def _silent_on_tokens(done: Done) -> Done:
    assert not any(secret in done.stdout + done.stderr for secret in (OWNER, READER, STRANGER))
    assert "Traceback" not in done.stderr, done.stderr
    return done


def load(hub: Hub, home: Path, *revisions: str, token: str = OWNER, repo: str = REPO) -> Done:
    """Load each revision with `datasets`, "" being none, streaming and not; `rows_of_each` reads what it prints."""
    command = [sys.executable, "-c", LOAD + LEAVE, repo, *(revisions or [""])]
    return subprocess.run(command, env=environment(hub, home, token), text=True, capture_output=True, timeout=120)


def rows_of_each(done: Done) -> dict[str, Splits]:
    """{revision: {split: rows}}."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]

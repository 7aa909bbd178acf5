"""What the tests of the dataset share: a small data folder made from tests/drafts, and copies of the checkout."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generation.releases import card
from generation.releases.assemble import assemble

ROOT = Path(__file__).resolve().parents[1]
DRAFTS = Path(__file__).parent / "drafts"
CONFIGS = ("default", "articles", "provenance", "rejected", "v1")

# The last lines of a program that reads Parquet through `datasets` and whose exit status counts. Arrow's own threads
# may let go of such a file only when the interpreter is going: then C++ ends the process, "terminate called without an
# active exception", though all was done and printed (apache/arrow#45214, huggingface/datasets#7467).
LEAVE = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""


def make_checkout(folder: Path, data: Path | None = None) -> Path:
    """A folder with craqan.py, README.md and data/, as somebody has it who cloned or downloaded the dataset."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "craqan.py", folder)
    if data:
        shutil.copytree(data, folder / "data")
    else:
        assemble(DRAFTS, folder / "data", seed=0)
    card.update(folder / "README.md", folder / "data")
    return folder


def some_articles(folder: Path, of_each_split: int = 4) -> Path:
    """The released rows of a few articles, as `folder`/data."""
    articles = {
        row["article_id"]
        for path in (ROOT / "data" / "articles").glob("*.jsonl")
        for row in _rows(path)[:of_each_split]
    }
    ids: set[str] = set()
    for config in ("default", "rejected", "articles", "provenance"):
        (folder / "data" / config).mkdir(parents=True)
        for path in sorted((ROOT / "data" / config).glob("*.jsonl")):
            kept = [row for row in _rows(path) if row.get("article_id") in articles or row.get("id") in ids]
            ids |= {row["id"] for row in kept if "id" in row}
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
            (folder / "data" / config / path.name).write_text(lines, encoding="utf-8")
    return folder / "data"


def edit(path: Path, line: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change one row of a JSON Lines file, lines counted from 1."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    row = json.loads(lines[line - 1])
    change(row)
    lines[line - 1] = json.dumps(row) + "\n"
    path.write_text("".join(lines), encoding="utf-8")


def rows_of(data: Path, config: str) -> list[dict[str, Any]]:
    """All rows of a config, split by split, read by nothing but json."""
    return [row for path in sorted((data / config).glob("*.jsonl")) for row in _rows(path)]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def drop(data: Path, name: str) -> None:
    """Take the first line out of a file."""
    path = data / name
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")


def repeat(data: Path, name: str) -> None:
    """Put the first line of a file at its end once more."""
    path = data / name
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines, lines[0]]), encoding="utf-8")


def python(code: str, cwd: Path, home: Path, **env: str) -> str:
    """What a fresh interpreter in `cwd` prints for `code`; its caches are under `home`, which is its own."""
    neutral = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    settings = {**neutral, "HF_HOME": str(home), "PYTHONPATH": str(cwd), "HF_HUB_DISABLE_TELEMETRY": "1", **env}
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, env=settings, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

"""What has been measured, kept on disk question by question, so that a run which was killed goes on.

A cell is one chunking under one retriever, or one reader on what these give it. Its file is named by the hash of all
that it depends on; another setting is another file, and the same setting is never computed twice.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generation.errors import InputError

Row = dict[str, Any]


@dataclass
class Cell:
    """Rows by question id. `chunker` and `retriever` are empty where a reader was given the context itself."""

    chunker: str
    retriever: str
    reader: str = ""
    rows: dict[str, Row] = field(default_factory=dict)
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    """Question id -> why a reader gave no answer; asked again by the next run."""

    @property
    def name(self) -> str:
        """As people read it: "chunker / retriever", with "> reader" where one read."""
        found = f"{self.chunker} / {self.retriever}" if self.chunker else "given context"
        return f"{found} > {self.reader}" if self.reader else found

    def values(self, measure: str, ids: Iterable[str]) -> dict[str, float]:
        """Question id -> value, for those of `ids` that have one."""
        found = ((id, self.rows[id].get(measure)) for id in ids if id in self.rows)
        return {id: float(value) for id, value in found if value is not None}


class Shelf:
    """The files of all cells under one folder, or nowhere (None)."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{folder} cannot be made ({error.strerror}); give another --out.") from error

    def read(self, key: str) -> dict[str, Row]:
        """The rows kept under `key`; a last line that was cut off is left out."""
        path = self._path(key)
        if path is None or not path.exists():
            return {}
        rows = {}
        lines = _lines(path.read_text(encoding="utf-8"))
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                rows[row["id"]] = row
            except (ValueError, KeyError, TypeError) as error:
                if number < len(lines) or line.endswith("\n"):
                    raise InputError(f"{path}, line {number}, is damaged; delete that file and run again.") from error
        return rows

    def add(self, key: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows, in place of a last line that a kill cut off."""
        path = self._path(key)
        if path is None:
            return
        _drop_torn_line(path)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    def _path(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{key}.jsonl"


def _lines(text: str) -> list[str]:
    """The lines with their ends. A new line alone ends one: a row may hold the separators that splitlines cuts at."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _drop_torn_line(path: Path) -> None:
    if not path.exists():
        return
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(data.rfind(b"\n") + 1)

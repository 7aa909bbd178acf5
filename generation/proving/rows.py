"""Rows of pairs from wherever they lie: a JSONL or Parquet file, a run's folder, or a folder of the dataset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.checking.rows import RowError, read_object, read_pair, text_lines
from generation.errors import InputError, UsageError
from generation.files import read_parquet
from generation.records import Candidate, Section, Sentence

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """A row; `where` names its file and line. It is a pair, or `fault` says in one sentence why it is none."""

    index: int
    where: str
    row: Row
    candidate: Candidate | None = None
    sentences: tuple[str, ...] = ()
    fault: str = ""

    @property
    def id(self) -> str:
        """The row's own id, or its number."""
        return str(self.row.get("id") or f"row {self.index}")

    @property
    def section(self) -> Section:
        """The passage as a section of its own; its id names the row."""
        spans, end = [], 0
        for text in self.sentences:
            spans.append(Sentence(text, end, end + len(text)))
            end += len(text) + 1
        text = " ".join(self.sentences)
        return Section(f"{self.index}: {self.id}", "", "", (), text, 0, len(text), tuple(spans))


def given(path: Path) -> Iterator[Given]:
    """All rows of `path`, in order, read lazily where the format allows.

    A folder is that of a run (its accepted pairs) or of the dataset (all splits of "default"). Raises UsageError for a
    path that holds no rows, InputError for a file that cannot be read.
    """
    index = -1
    for index, (where, row) in enumerate(_rows(path)):
        if isinstance(row, RowError):
            yield Given(index, where, {}, fault=str(row))
            continue
        try:
            candidate, sentences = read_pair(row)
            yield Given(index, where, row, candidate, sentences)
        except RowError as error:
            yield Given(index, where, row, fault=str(error))
    if index < 0:
        raise UsageError(f"{path} holds no row; give a file of pairs.")


def _rows(path: Path) -> Iterator[tuple[str, Row | RowError]]:
    if path.is_dir():
        yield from _folder(path)
    elif path.suffix == ".parquet":
        yield from _parquet(path)
    else:
        for number, text in text_lines(path):
            try:
                yield f"{path}:{number}", read_object(text)
            except RowError as error:
                yield f"{path}:{number}", error


def _folder(path: Path) -> Iterator[tuple[str, Row | RowError]]:
    import craqan

    if (path / "accepted.jsonl").is_file():
        yield from _rows(path / "accepted.jsonl")
        return
    home = path / "data" if (path / "data").is_dir() else path
    try:
        files = [Path(file) for files in craqan.local_files(home, "default").values() for file in files]
    except craqan.DataError as error:
        raise InputError(str(error)) from error
    if not files:
        raise UsageError(f"{path} holds neither a run's accepted.jsonl nor default/*.jsonl; name a file of pairs.")
    for file in files:
        yield from _rows(file)


def _parquet(path: Path) -> Iterator[tuple[str, Row | RowError]]:
    return ((f"{path}, row {number}", row) for number, row in enumerate(read_parquet(path), 1))

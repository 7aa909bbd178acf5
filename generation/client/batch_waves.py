"""The waves of a run in batch mode, on disk: which requests went out together, and as which job.

A record is written before each step that a server could remember, so that a process that dies at any point finds again
what it has out: first the requests (planned), then the id of their file (uploaded), then the id of the job (created).
"""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generation.errors import JournalError
from generation.files import write_whole


@dataclass
class Wave:
    """Requests that go out together, by their keys in the journal. `usd` is what they may cost, by guess.

    `form` is how the requests were put to the server, so that what was learnt of it need not be learnt again.
    """

    path: Path
    keys: list[str]
    form: Mapping[str, Any] = field(default_factory=dict)
    usd: float = 0.0
    planned_at: float = field(default_factory=time.time)
    file_id: str = ""
    job_id: str = ""

    @property
    def requests(self) -> Path:
        """The file to upload; it exists until the wave is closed."""
        return self.path.with_suffix(".jsonl")

    def write(self, lines: Iterable[bytes]) -> None:
        """Put the requests and then the record on disk."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.requests.open("wb") as file:
                file.writelines(lines)
        except OSError as error:
            raise unwritable(self.requests, error) from error
        self.save()

    def save(self) -> None:
        self._put(
            {
                "state": "created" if self.job_id else "uploaded" if self.file_id else "planned",
                "job_id": self.job_id,
                "file_id": self.file_id,
                "planned_at": self.planned_at,
                "usd": self.usd,
                "form": self.form,
                "keys": self.keys,
            }
        )

    def close(self, end: str, answered: int = 0) -> None:
        """Say that nothing more is to be had from this wave, and why."""
        about = {"job_id": self.job_id, "file_id": self.file_id, "planned_at": self.planned_at, "form": self.form}
        self._put({"state": "closed", "end": end, "requests": len(self.keys), "answered": answered, **about})
        self.requests.unlink(missing_ok=True)

    def _put(self, record: Mapping[str, Any]) -> None:
        try:
            write_whole(self.path, json.dumps(record) + "\n")
        except OSError as error:
            raise unwritable(self.path, error) from error


class Waves:
    """The folder that holds the records of a run's waves, in the order in which they were planned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        records = [(path, _read(path)) for path in sorted(folder.glob("[0-9]*.json"), key=_number)]
        self.open = [_wave(path, record) for path, record in records if record["state"] != "closed"]
        self.form: Mapping[str, Any] = records[-1][1]["form"] if records else {}
        self._last = _number(records[-1][0]) if records else 0

    def next(self) -> Path:
        """Where the next wave's record goes."""
        self._last += 1
        return self.folder / f"{self._last:04}.json"


def _number(path: Path) -> int:
    return int(path.stem)


def _read(path: Path) -> Any:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return record | {"state": str(record["state"]), "form": dict(record["form"])}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise JournalError(
            f"{path} is no record of a batch job ({error}); move it away to give that job up."
        ) from error


def _wave(path: Path, record: Mapping[str, Any]) -> Wave:
    try:
        return Wave(path, **{name: value for name, value in record.items() if name != "state"})
    except TypeError as error:
        raise JournalError(f"{path} is of another version ({error}); move it away to give that job up.") from error


def unwritable(path: Path, error: OSError) -> JournalError:
    """The error for a record that could not be written."""
    return JournalError(f"{path} cannot be written ({error.strerror}); make room, then run again to go on.")

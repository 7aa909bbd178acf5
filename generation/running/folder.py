"""A run's folder: the files that it holds, whole or not at all, and how a run goes on where it was left."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Self

from filelock import FileLock, Timeout

from generation.dataset import passage_from, row_from
from generation.errors import ForeignJournalError, InputError, JournalError, UsageError
from generation.files import write_whole
from generation.records import Outcome, digest

if TYPE_CHECKING:
    from generation.running.table import Table

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Resume = Literal["if-possible", "always", "never"]
FILES = ("accepted", "rejected", "failed")
_AS_ESCAPES = "backslashreplace"
"""What UTF-8 cannot hold, as in a file's name of another encoding, is written as JSON's own escape of it."""
FREE = frozenset(
    {
        "concurrency",
        "timeout",
        "patience",
        "backoff",
        "rpm",
        "tpm",
        "accept",
        "max_candidates",
        "max_usd",
        "prices",
        "batch",
    }
)
"""Settings that may change between two sessions of one run: none of them changes what is asked or answered."""


class RunFolder:
    """The files of a run. accepted, rejected and failed grow beside their places and are moved there by `close`.

    run.json says from the first moment what the run is made of, and at the end what became of it. The journal holds
    every reply, so that the same run started again asks for nothing twice and writes the same files. If it is stopped
    before it is as far as it had come before, the files stay as they are.

    `resume` "if-possible" goes on with what the folder holds, "always" insists that there is something, "never" throws
    it away. Raises UsageError where another process is at work in the folder, or where a setting differs from that of
    the run in it, naming the difference. `table` gets the same rows. `row_of` writes other lines than `outcome_row`.
    """

    def __init__(
        self,
        path: Path,
        recipe: Mapping[str, Any],
        settings: Mapping[str, Any] | None = None,
        resume: Resume = "if-possible",
        table: "Table | None" = None,
        row_of: Callable[[Outcome], dict[str, Any]] | None = None,
    ):
        self.path = path
        self.recipe = recipe
        self.settings = json.loads(json.dumps(settings or {}))
        self._resume = resume
        self._table = table
        self._row_of = row_of or (lambda outcome: outcome_row(outcome, recipe))
        self._lock = FileLock(path / ".lock")
        self._files: dict[str, IO[str]] = {}
        self._before: Mapping[str, Any] = {}

    @property
    def journal_path(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def batches_path(self) -> Path:
        """Records of batch jobs; there is no such folder before the first."""
        return self.path / "batches"

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            self._begin()
        except Timeout:
            raise UsageError(f"Another run is at work in {self.path}; wait for it or choose another --out.") from None
        except OSError as error:
            self._lock.release()
            raise UsageError(
                f"{self.path} cannot be made or written to ({error.strerror}); choose another --out."
            ) from None
        except BaseException:
            self._lock.release()
            raise
        return self

    def _begin(self) -> None:
        earlier = self._earlier()
        if earlier is not None and self._resume == "never":
            self._throw_away()
        elif earlier is not None and not self._is_blank(earlier):
            self._refuse_differences(earlier)
            self._before = earlier
        elif earlier is None and self._resume == "always":
            raise UsageError(f"{self.path} holds no run to go on with; leave out --resume always, or correct --out.")
        if any(self.path.glob("journal-*.sqlite")):
            from generation.running.journals import gather

            gather(self.path)  # of workers that were killed together with their run
        self._write({**self._before, "state": "running"})
        for name in FILES:
            part = self.path / f"{name}.jsonl.part"
            self._files[name] = part.open("w", encoding="utf-8", errors=_AS_ESCAPES, newline="\n")

    def _throw_away(self) -> None:
        """Remove the files of a run, and only those; workers' journals are journal-<n>.sqlite."""
        for journal in self.path.glob("journal*.sqlite"):
            _refuse_foreign(journal)
        names = (*(f"{name}.jsonl" for name in FILES), *(f"{name}.jsonl.part" for name in FILES))
        for path in (*(self.path / name for name in names), *self.path.glob("journal*.sqlite*")):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.batches_path, ignore_errors=True)
        (self.path / "run.json").unlink()  # last: without it rows that are left are taken for another program's

    def _is_blank(self, earlier: Mapping[str, Any]) -> bool:
        """Did the earlier run end before it had asked or written anything? Then any other may take its place."""
        return earlier.get("state") == "running" and not any(self.path.glob("journal*.sqlite")) and not self._rows()

    def _rows(self) -> list[Path]:
        return [path for name in FILES if (path := self.path / f"{name}.jsonl").exists()]

    def _earlier(self) -> dict[str, Any] | None:
        try:
            found = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            if rows := self._rows():
                raise UsageError(f"{rows[0]} is there but no run.json beside it; choose another --out.") from None
            return None
        except ValueError:
            found = None
        if not isinstance(found, dict) or "settings" not in found or "recipe" not in found:
            raise InputError(f"{self.path / 'run.json'} is not of this program; choose another --out.")
        return found

    def _refuse_differences(self, earlier: Mapping[str, Any]) -> None:
        parts = (("settings", self.settings), ("prompts", self.recipe.get("prompts", {})))
        for part, now in parts:
            before = earlier["settings"] if part == "settings" else earlier["recipe"].get("prompts", {})
            changed = [k for k in sorted({*before, *now} - FREE) if before.get(k) != now.get(k)]
            if changed:
                key = changed[0]
                what = f"the prompt {key} has changed"
                if part == "settings":
                    what = f"{key} was {before.get(key)!r} and is now {now.get(key)!r}"
                raise UsageError(
                    f"{self.path} holds a run with other settings: {what}; take another --out, the old settings, or"
                    " --resume never to throw it away."
                )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            with suppress(OSError):  # a full disk, which is told already
                file.close()
        self._lock.release()

    def add(self, outcome: Outcome) -> None:
        """Write a finished outcome; a pending one has no file, the journal holds what was paid for it."""
        if outcome.status in FILES:
            row = self._row_of(outcome)
            json.dump(row, self._files[outcome.status], ensure_ascii=False)
            self._files[outcome.status].write("\n")
            if self._table is not None:
                self._table.add(outcome.status, row)

    def close(self, summary: Mapping[str, Any]) -> None:
        """Move the files into place; run.json with `summary` (its "state" among it) comes last."""
        if summary.get("state") == "stopped" and _finished(summary) < _finished(self._before):
            self._write({**self._before, **{name: summary[name] for name in ("state", "stopped")}})
            return
        for name, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            file.close()
            Path(file.name).replace(self.path / f"{name}.jsonl")
        if self._table is not None:
            self._table.close()
        self._write(summary)

    def _write(self, summary: Mapping[str, Any]) -> None:
        whole = {**summary, "settings": self.settings, "recipe": self.recipe}
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        write_whole(self.path / "run.json", text.encode("utf-8", _AS_ESCAPES))


def _refuse_foreign(journal: Path) -> None:
    """Raise ForeignJournalError for a file that is not ours to remove; a damaged one may have been."""
    from generation.journal import Journal

    try:
        Journal(journal, create=False).close()
    except ForeignJournalError:
        raise
    except JournalError:
        pass


def _finished(summary: Mapping[str, Any]) -> int:
    return sum(summary.get(status, 0) for status in FILES)


def outcome_row(outcome: Outcome, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """One line of a run's files: the dataset's columns where there is a candidate, and all that led to it."""
    section = outcome.section
    proof = outcome.rounds[-1].proof if outcome.rounds else None
    how = {
        "reason": outcome.reason,
        "problems": list(outcome.problems),
        "error": outcome.error,
        "rounds": [asdict(r) for r in outcome.rounds],
        "proof": [asdict(reading) for reading in proof.readings] if proof else [],
        "usage": {role: asdict(u) for role, u in sorted(outcome.usage.items())},
        "segmenter": section.segmenter,
        "source": asdict(section.source),
        "recipe": digest(recipe),
    }
    if outcome.candidate is None:
        return {**passage_from(section), **how}
    row = row_from(section, outcome.candidate, generator=recipe["generator"], reviewed_by=recipe["reviewed_by"])
    return {**row, **how}

"""Files as people name them: read, or one sentence on why not; written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from generation.errors import InputError, UsageError

PAIRS = "a JSONL file of pairs"


def read_text(path: Path, wanted: str) -> str:
    """The text of a file in UTF-8, with or without a byte-order mark. Raises what `reading` does; blank will not do."""
    with reading(path, wanted):
        text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise InputError(f"{path} is empty; give {wanted}.")
    return text


def read_lines(path: Path, wanted: str = PAIRS) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of all lines that are not blank, read as they are taken. Raises what `reading` does."""
    with reading(path, wanted), path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def read_parquet(path: Path, wanted: str = PAIRS) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, a batch at a time. Raises UsageError if it is not there, InputError if it is none."""
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=256):
                yield from batch.to_pylist()
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; give {wanted}.") from None
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}.") from error


@contextmanager
def reading(path: Path, wanted: str) -> Iterator[None]:
    """Say in one sentence why `path` cannot be read, and that `wanted` is.

    Raises UsageError; InputError where the system refuses.
    """
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path} does not exist; give {wanted}.") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; give {wanted}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8; give {wanted}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give {wanted}.") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8, so that a reader sees the old one or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)

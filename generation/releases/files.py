"""A release's files: Parquet without any library's own metadata, and the manifest that says what belongs to it."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from generation.dataset import Tables
from generation.errors import InputError, PublishError

MANIFEST = "manifest.json"


def write_parquet(tables: Tables, data_dir: Path) -> None:
    """Write `<data_dir>/<config>/<split>-00000-of-00001.parquet`, splits without rows left out.

    No "huggingface" or "pandas" key and no Arrow schema in the file: versions of datasets before 4 stumble over what
    later ones write there.
    """
    import pyarrow
    from pyarrow import parquet

    import craqan

    for config, splits in tables.items():
        schema = craqan.FEATURES[config].arrow_schema.remove_metadata()
        for split, rows in splits.items():
            if rows:
                (data_dir / config).mkdir(parents=True, exist_ok=True)
                table = pyarrow.Table.from_pylist(rows, schema)
                path = data_dir / config / f"{split}-00000-of-00001.parquet"
                parquet.write_table(table, path, compression="zstd", store_schema=False)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed(folder: Path) -> dict[str, dict[str, Any]]:
    """{path: {"sha256", "bytes"}} of all files of a folder but the manifest."""
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    return {p.relative_to(folder).as_posix(): {"sha256": sha256(p), "bytes": p.stat().st_size} for p in paths}


def write_manifest(folder: Path, about: Mapping[str, Any]) -> None:
    """`about` and the digests of all files, as manifest.json."""
    text = json.dumps({**about, "files": listed(folder)}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Raises InputError if there is none, or it is not of a release."""
    try:
        about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} is no release: it has no {MANIFEST}; make one with craqan release.") from None
    except ValueError as error:
        raise InputError(f"{folder / MANIFEST} is damaged ({error}); make the release once more.") from error
    if not isinstance(about, dict) or not {"version", "files", "licence", "policy"} <= about.keys():
        raise InputError(f"{folder / MANIFEST} is not of craqan release.")
    return about


def verify(folder: Path) -> dict[str, Any]:
    """The manifest, after every file was compared with it. Raises InputError naming the first that differs."""
    about = read_manifest(folder)
    found = listed(folder)
    for path in sorted(found.keys() | about["files"].keys()):
        if found.get(path) != about["files"].get(path):
            how = "is missing" if path not in found else "does not belong" if path not in about["files"] else "differs"
            raise InputError(f"{folder / path} {how}: the release is not what {MANIFEST} says; make it once more.")
    return about


def verify_same(folder: Path, other: Path) -> None:
    """Raise PublishError unless `other` holds the files of the release in `folder`, and no more than the Hub adds."""
    mine, theirs = ({**listed(f), MANIFEST: {"sha256": sha256(f / MANIFEST)}} for f in (folder, other))
    theirs = {path: about for path, about in theirs.items() if path != ".gitattributes"}
    if differing := [path for path in sorted(mine.keys() | theirs.keys()) if mine.get(path) != theirs.get(path)]:
        raise PublishError(f"What was read back differs from {folder} in {differing[0]}: give the command again.")


def to_disk(paths: Iterable[Path]) -> None:
    """Wait until the files are on the disk and not only in memory."""
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())

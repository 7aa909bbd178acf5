"""Releases: from runs, folders of rows and reviews to a folder that can be published, after every gate.

    from generation import release

    made = release.make(["runs/gpt", "data"], "1.1.0", "releases/1.1.0", previous="releases/1.0.0")
    release.check("releases/1.1.0", previous="releases/1.0.0")

A release holds what the last one held, unless a pair is withdrawn, and what the inputs add or correct. The folder
appears when it is complete; what stops a release leaves nothing behind.
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from generation import __version__, dataset
from generation.dataset import Row, Tables
from generation.errors import InputError, UsageError
from generation.records import digest
from generation.releases import changes as changing
from generation.releases import figures, files, gates, pool, reviews, runs, splits, writing
from generation.releases.changes import Changes, Version
from generation.releases.gates import Proposal
from generation.releases.pool import Pool

Place = Path | str


class Made(NamedTuple):
    """A release on disk: its counts by config and split, what changed, and what was let through by name."""

    path: Path
    version: str
    splits: dict[str, dict[str, int]]
    changes: Changes | None
    allowed: dict[str, list[str]]


class Released(NamedTuple):
    """A release as it is read back."""

    about: Mapping[str, Any]
    tables: Tables
    texts: dict[str, str]

    @property
    def version(self) -> Version:
        return changing.parse(self.about["version"])


def make(
    inputs: Sequence[Place] | Place,
    version: str,
    out: Place,
    *,
    previous: Place | None = None,
    review: Sequence[Place] | Place = (),
    policy: str = "",
    allow: Sequence[str] = (),
    withdraw: Mapping[str, str] | None = None,
    licence: str = "",
    source_license: str = "",
    original: str = "",
    texts: Place | None = None,
    seed: int = splits.SEED,
) -> Made:
    """Make the release `version` in the folder `out`, which must not exist yet.

    `inputs` are folders of runs (`craqan generate`), of rows (data/, a checkout) or of releases. `previous` is a
    release's folder, or "ORG/NAME" or "ORG/NAME@v1.0.0" on the Hub. `review` are review files. `policy`: "labelled"
    (unread pairs say so; the default without a review), "reviewed" (two people accepted each pair; the default with
    one) or "reviewed:N". `withdraw` is {id: reason}. `licence` is the release's, by default the last one's or craqan's;
    `source_license` that of articles that name none. `original` is a file of the first CRaQAn's rows, or a revision of
    it on the Hub, to compare with. `texts` is a folder with README.md and DATASHEET.md, whose blocks are filled; by
    default those of the last release, else templates. Raises GateError with all findings, InputError, UsageError.
    """
    import craqan

    number, target = changing.parse(version), Path(out)
    policy = policy or ("reviewed" if review else "labelled")
    gates.people_needed(policy)
    gates.refuse({}, allow)
    _refuse_existing(target)
    last = read(previous) if previous else None
    licence = licence or (last.about["licence"] if last else craqan.LICENSE)
    gathered = gather(_several(inputs), last, _several(review), withdraw or {}, source_license)
    tables = tables_of(gathered, seed)
    gone = {"withdrawn": gathered.replaced}
    release = _proposal(number, tables, licence, policy, gathered.recipes, last, _original(original), gone)
    found = gates.findings(release)
    gates.refuse(found, allow)
    about = _about(release, found, gathered, seed)
    with _staging(target) as folder:
        writing.write(folder, release, about, gathered, texts=_texts(texts, last))
        files.write_manifest(folder, about)
        files.to_disk(p for p in folder.rglob("*") if p.is_file())
        folder.rename(target)
    return Made(target, version, _counts(tables), release.changes, found)


def check(folder: Place, previous: Place | None = None) -> dict[str, list[str]]:
    """Hold a release on disk against its manifest and, once more, every gate; returns what it was allowed.

    Raises InputError for a file that differs from the manifest, GateError for what the manifest does not allow.
    """
    about = files.verify(Path(folder))
    mine = read(folder)
    last = read(previous) if previous else None
    release = _proposal(
        mine.version, mine.tables, about["licence"], about["policy"], about["recipes"], last, None, about["changes"]
    )
    found = gates.findings(release)
    unknown = {name: new for name, breaches in found.items() if (new := _not_allowed(breaches, about, name))}
    if unknown:
        gates.refuse(unknown, ())
    return found


def read(place: Place) -> Released:
    """Read a release from its folder, or from the Hub: "ORG/NAME" (its newest tag) or "ORG/NAME@TAG"."""
    if not Path(place).is_dir():
        from generation.releases.hub import download

        with tempfile.TemporaryDirectory() as cache:
            return read(download(str(place), Path(cache)))
    folder = Path(place)
    about = files.read_manifest(folder)
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in writing.TEXTS if (folder / name).exists()}
    return Released(about, dataset.rows_of(folder / "data"), texts)


def gather(
    inputs: Sequence[Path],
    last: Released | None,
    review: Sequence[Path],
    withdraw: Mapping[str, str],
    source_license: str = "",
) -> Pool:
    """All rows that a release is made of, the last release's among them, each once."""
    if not inputs:
        raise UsageError("Name at least one folder: of a run, of rows, or of a release.")
    new = Pool()
    for folder in inputs:
        new.add(_input(folder, source_license), str(folder))
    everything = Pool()
    if last:
        everything.add(pool.from_tables(last.tables, last.about["recipes"]), "the last release")
    everything.add(new, "the inputs", newer=True)
    for path in review:
        reviews.apply(everything, path)
    for id, reason in withdraw.items():
        if id not in everything.pairs:
            raise UsageError(f"There is no pair {id} to withdraw.")
        everything.reject(id, ["person:maintainer"], ["other"], f"withdrawn: {reason}")
    if not everything.pairs:
        raise InputError("No accepted pair is left to release.")
    return everything


def tables_of(gathered: Pool, seed: int = splits.SEED) -> Tables:
    """The rows of all configs, divided into splits; "random", "domain" and "v1" follow from the others."""
    rows = [*gathered.pairs.values()]
    divided = splits.divide(rows, gathered.homes, seed)
    homes = {**gathered.homes["default"]}
    homes |= {gathered.pairs[id]["article_id"]: split for id, split in divided["default"].items()}
    of_article = {id: homes.get(id) or splits.split_of(id, seed) for id in gathered.articles}
    tables: Tables = {config: {} for config in ("default", "random", "domain", "articles", "provenance", "rejected")}
    for config, ids in divided.items():
        for id, split in ids.items():
            tables[config].setdefault(split, []).append(gathered.pairs[id])
    for id, row in gathered.articles.items():
        tables["articles"].setdefault(of_article[id], []).append(row)
    for id, row in {**gathered.pairs, **gathered.rejected}.items():
        split = divided["default"].get(id) or of_article.get(row["article_id"], "train")
        if id in gathered.rejected:
            tables["rejected"].setdefault(split, []).append(row)
        if id in gathered.histories:
            tables["provenance"].setdefault(split, []).append(gathered.histories[id])
    return {**{c: _in_order(s) for c, s in tables.items() if s}, "v1": {"train": writing.v1_rows(gathered)}}


def _in_order(splits_of_config: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    return {split: splits_of_config[split] for split in splits.SHARES if split in splits_of_config}


def _input(folder: Path, source_license: str) -> Pool:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder of a run, of rows or of a release.")
    if runs.is_run(folder):
        return runs.read_run(folder, source_license)
    if (folder / files.MANIFEST).exists():
        released = read(folder)
        return pool.from_tables(released.tables, released.about["recipes"])
    return pool.from_tables(dataset.rows_of(folder / "data" if (folder / "data").is_dir() else folder))


def _proposal(
    version: Version,
    tables: Tables,
    licence: str,
    policy: str,
    recipes: Mapping[str, Any],
    last: Released | None,
    original: Sequence[Row] | None,
    recorded: Mapping[str, Any] | None = None,
) -> Proposal:
    reasons = {row["id"]: row["reason"] for rows in tables.get("rejected", {}).values() for row in rows}
    reasons |= (recorded or {}).get("withdrawn", {})
    changes = changing.compare(_by_id(last.tables), _by_id(tables), reasons) if last else None
    return Proposal(
        version,
        tables,
        licence,
        policy,
        recipes,
        last.tables if last else None,
        last.version if last else None,
        changes,
        original,
    )


def _by_id(tables: Tables) -> dict[str, dict[str, Row]]:
    return {split: {row["id"]: row for row in rows} for split, rows in tables.get("default", {}).items()}


def _about(release: Proposal, found: Mapping[str, list[str]], gathered: Pool, seed: int) -> dict[str, Any]:
    return {
        "version": str(release.version),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "previous": str(release.previous_version) if release.previous_version else "",
        "licence": release.licence,
        "policy": release.policy,
        "seed": seed,
        "code_version": __version__,
        "allowed": dict(found),
        "changes": release.changes._asdict() if release.changes else {},
        "recipes": {name: dict(recipe) for name, recipe in sorted(gathered.recipes.items())},
        "excerpts": sorted(gathered.excerpts),
        "compared_with_original": release.original is not None,
        "stages": asdict(gathered.stages),
        "rows": _counts(release.tables),
        "figures": figures.as_dict(figures.count(release.tables, gathered.stages)),
    }


def _counts(tables: Tables) -> dict[str, dict[str, int]]:
    return {config: {split: len(rows) for split, rows in by.items()} for config, by in tables.items()}


def _not_allowed(breaches: Sequence[str], about: Mapping[str, Any], name: str) -> list[str]:
    known = set(about["allowed"].get(name, []))
    return [breach for breach in breaches if breach not in known]


def _original(place: str) -> list[Row] | None:
    import craqan

    if not place:
        return None
    try:
        if Path(place).exists():
            return craqan.convert_original([row for _, row in craqan._read(place)], place).rows
        return [dict(row) for row in craqan.load("original", split="train", revision=place)]
    except (craqan.DataError, ConnectionError) as error:
        raise InputError(f"The original rows cannot be read from {place}: {error}") from error


def _texts(folder: Place | None, last: Released | None) -> dict[str, str]:
    if folder is None:
        return last.texts if last else {}
    found = {name: Path(folder, name) for name in ("README.md", "DATASHEET.md")}
    if missing := [path for path in found.values() if not path.is_file()]:
        raise UsageError(f"{missing[0]} does not exist; --texts takes a folder with README.md and DATASHEET.md.")
    earlier = {"CHANGELOG.md": last.texts["CHANGELOG.md"]} if last and "CHANGELOG.md" in last.texts else {}
    return {**earlier, **{name: path.read_text(encoding="utf-8") for name, path in found.items()}}


def _several(places: Sequence[Place] | Place) -> list[Path]:
    return [Path(places)] if isinstance(places, str | Path) else [Path(place) for place in places]


def _refuse_existing(target: Path) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already; a release is never changed: choose another --out.")


@contextmanager
def _staging(target: Path):
    """A folder beside `target` for one maker at a time; what a killed one has left is thrown away first."""
    lock = FileLock(Path(tempfile.gettempdir()) / f"craqan-release-{digest(str(target.resolve()))}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(f"Another release is being made in {target}; wait for it or choose another --out.") from None
    folder = target.with_name(f".{target.name}.part")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _refuse_existing(target)
        yield folder
    except OSError as error:
        raise InputError(f"The release cannot be written to {target}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()

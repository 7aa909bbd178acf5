"""The files of a release: rows, card, datasheet, changelog, pictures, Croissant, and craqan.py of that version."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation import dataset
from generation.dataset import Row
from generation.errors import InputError
from generation.records import candidate_from_dict
from generation.releases import blocks, card, changes, croissant, figures, files, page, plots, splits
from generation.releases.gates import Proposal
from generation.releases.pool import Pool

TEXTS = ("README.md", "DATASHEET.md", "CHANGELOG.md")
_HERE = Path(__file__).parent
_ENTRIES = "# Changelog\n\n"


def write(folder: Path, release: Proposal, about: dict[str, Any], gathered: Pool, *, texts: Mapping[str, str]) -> None:
    """Write everything but the manifest into `folder`. `texts` are an earlier card, datasheet and changelog, if any."""
    files.write_parquet(release.tables, folder / "data")
    counted = figures.count(release.tables, gathered.stages)
    pictures = [path.stem for path in plots.draw(counted, folder / "data" / plots.FOLDER)]
    made = page.blocks(
        counted,
        licence=release.licence,
        version=str(release.version),
        pictures=pictures,
        picture_folder=f"data/{plots.FOLDER}",
        notes=_notes(release, about, gathered),
    )
    croissant.write(folder, version=str(release.version), licence=release.licence, date=about["date"])
    entry = changes.describe(release.version, about["date"], release.changes, counted.counts["pairs"], _rows(release))
    earlier = texts.get("CHANGELOG.md", "").removeprefix(_ENTRIES)
    _write(folder / "CHANGELOG.md", f"{_ENTRIES}{entry}\n{earlier}".rstrip() + "\n")
    sheet = texts.get("DATASHEET.md") or (_HERE / "datasheet.md").read_text(encoding="utf-8")
    _write(folder / "DATASHEET.md", _without_dead_links(blocks.fill(sheet, made, "DATASHEET.md"), folder))
    about["releases"] = _releases(texts, release, about)
    _write(folder / "craqan.py", script(about["releases"], release.licence))
    text = texts.get("README.md") or (_HERE / "card.md").read_text(encoding="utf-8")
    people = any(number != "0" for number in counted.people)
    front = card.release_front_matter(folder / "data", release.licence, text, people)
    _write(folder / "README.md", front + _without_dead_links(blocks.fill(card.body(text), made, "README.md"), folder))


def script(releases: Mapping[str, str], licence: str) -> str:
    """craqan.py with the releases and the licence of this set. Raises InputError if its lines are not found."""
    import craqan

    text = Path(craqan.__file__).read_text(encoding="utf-8")
    for name, value in (("RELEASES", dict(releases)), ("LICENSE", licence)):
        text, count = re.subn(rf"^{name} = .*$", lambda _, n=name, v=value: f"{n} = {v!r}", text, flags=re.MULTILINE)  # type: ignore[misc]
        if count != 1:
            raise InputError(f"craqan.py has {count} lines that begin with {name} =, not one.")
    return text


def v1_rows(gathered: Pool) -> list[Row]:
    """The pairs in the twelve columns of the first CRaQAn; pairs without their article are left to the gates."""
    rows = []
    articles = {id: dataset.article_from(row) for id, row in gathered.articles.items()}
    for row in gathered.pairs.values():
        article = articles.get(row["article_id"])
        if article and row["section_id"] in [s.id for s in article.sections]:
            section = dataset.section_from(row, article)
            rows.append(dataset.v1_row(article, section, candidate_from_dict(row)))
    return rows


def _notes(release: Proposal, about: Mapping[str, Any], gathered: Pool) -> list[str]:
    notes = page.exceptions(about["allowed"])
    if gathered.excerpts:
        notes.append(f"Of {len(gathered.excerpts)} articles only the sections are given that a run has seen.")
    if obstacle := splits.domain_obstacle(release.rows()):
        notes.append(f"There is no config `domain`: {obstacle}.")
    if release.original is None:
        notes.append("The pairs were not compared with those of the first CRaQAn.")
    return notes


def _releases(texts: Mapping[str, str], release: Proposal, about: Mapping[str, Any]) -> dict[str, str]:
    """{version: date} of this and all earlier releases, oldest first, as the changelog has them."""
    earlier = re.findall(r"^## (\d+\.\d+\.\d+) \((.*)\)$", texts.get("CHANGELOG.md", ""), re.MULTILINE)
    return {**dict(reversed(earlier)), str(release.version): about["date"]}


def _rows(release: Proposal) -> dict[str, Row]:
    return {row["id"]: row for row in release.rows()}


def _without_dead_links(text: str, folder: Path) -> str:
    """Links to files that the release does not have become plain text."""

    def kept(match: re.Match[str]) -> str:
        target = match[2].partition("#")[0]
        return match[0] if "://" in target or not target or (folder / target).exists() or target in TEXTS else match[1]

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", kept, text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")

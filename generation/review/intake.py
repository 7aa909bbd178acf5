"""Pairs into a review: from a run's folder, a dataset's folder or files, or any file of pairs; gold pairs too."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from generation.checking.rows import read_pair
from generation.dataset import Row, id_of, row_from, section_from
from generation.errors import InputError, InvariantError, UsageError
from generation.files import PAIRS, read_lines
from generation.records import PROBLEM_CODES, Candidate, Section, Sentence, candidate_from_dict, digest
from generation.releases.invariants import check_row
from generation.review.store import Pair, Store, pairs_of, put_pair

SHOWN = 5  # of the errors of a file
PAIR_COLUMNS = ("section_text", "question", "answer", "required_sentence_indices", "coreferences")


class Added(NamedTuple):
    """How many pairs were added, and how many were there already."""

    added: int
    known: int


def read_gold(path: Path) -> list[Pair]:
    """Hidden pairs whose verdict is known: rows with `expected` ("accept" or "reject") and, if rejected, perhaps
    `expected_reasons`. Raises InputError naming every line that is no such row (at most SHOWN)."""
    if pairs := _each(lines(path), gold_pair):
        return pairs
    raise UsageError(f'{path} holds no gold pair; give {PAIRS} with "expected".')


def put_pairs(store: Store, pairs: Sequence[Pair]) -> Added:
    """Add `pairs` in one transaction; one that is there with the same content is counted as known.

    Raises InputError if one is there with another content, or in the other role of gold and pair to be judged.
    """
    added = 0
    with store.writing() as db:
        there = {pair.id: pair for pair in pairs_of(db)}
        for pair in pairs:
            if pair.id not in there:
                put_pair(db, pair)
                there[pair.id] = pair
                added += 1
            elif clash := _clash(there[pair.id], pair):
                raise InputError(f'Pair {pair.id} ("{str(pair.row["question"])[:60]}") {clash}; nothing was added.')
    return Added(added, len(pairs) - added)


def _clash(one: Pair, other: Pair) -> str:
    if (one.gold is None) != (other.gold is None):
        return "is both a gold pair and one to be judged"
    if one.gold != other.gold:
        return "is a gold pair with another verdict already"
    if any(one.row[c] != other.row[c] for c in PAIR_COLUMNS):
        return "is there already with other coreferences"
    return ""


def read_all(places: Sequence[Path]) -> list[Row]:
    """The pairs of all places as rows.

    Raises UsageError for a place that holds none, InputError naming every line that is no pair (at most SHOWN).
    """
    return [row for place in places for row in _each(_rows_of(place), pair_row)]


def _rows_of(place: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(file:line, row as it stands) of a run's folder, a dataset's folder, its "default", or a file."""
    if not place.exists():
        raise UsageError(f"{place} does not exist; name a run's folder, a dataset's folder or a JSONL file of pairs.")
    if place.is_file():
        return lines(place) if place.suffix != ".parquet" else _released([place])
    if (place / "accepted.jsonl").is_file():
        return lines(place / "accepted.jsonl")
    files = _dataset_files(place)
    if not files:
        raise UsageError(f"{place} holds neither accepted.jsonl nor rows of a dataset; name a folder that does.")
    return _released(files)


def _dataset_files(folder: Path) -> list[Path]:
    import craqan

    for data in (folder, folder / "data", folder.parent if folder.name == "default" else folder):
        try:
            if files := craqan.local_files(data, "default"):
                return [Path(path) for paths in files.values() for path in paths]
        except craqan.DataError as error:
            raise InputError(str(error)) from error
    return []


def _released(paths: Sequence[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import craqan

    try:
        for path in paths:
            for line, row in craqan.read_rows(str(path), "default"):
                yield f"{path}:{line}", row
    except craqan.DataError as error:
        raise InputError(str(error)) from error


def lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(file:line, object) of a JSONL file. Raises UsageError, InputError."""
    for number, line in read_lines(path):
        yield f"{path}:{number}", _object(line, f"{path}:{number}")


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: this is not JSON; give a JSONL file, one object a line.") from error
    if not isinstance(row, dict):
        raise InputError(f"{where}: a JSON object is wanted; give a JSONL file, one object a line.")
    return row


def _each(rows: Iterator[tuple[str, Mapping[str, Any]]], read: Any) -> list[Any]:
    """`read` of every row; InputError with the first errors if any row cannot be read."""
    made, errors = [], []
    for where, row in rows:
        try:
            made.append(read(row))
        except (InputError, InvariantError) as error:
            errors.append(f"{where}: {error}")
    if errors:
        more = f"\n… and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        raise InputError("\n".join(errors[:SHOWN]) + more + "\nNothing was added; mend these rows, or take them out.")
    return made


def pair_row(raw: Mapping[str, Any]) -> Row:
    """A row of "default" with what else `raw` holds, from such a row or from less (see `craqan check`).

    `id` becomes the content hash; another one that `raw` has is kept as `source_id`. Raises InputError if it is no pair
    or breaks an invariant of the dataset.
    """
    import craqan

    row = _drawable(raw)
    check_row("default", {name: row[name] for name in craqan.FEATURES["default"]})
    return row


def gold_pair(raw: Mapping[str, Any]) -> Pair:
    """A hidden pair with its known verdict; it may break any rule, as long as it can be shown."""
    expected, reasons = raw.get("expected"), raw.get("expected_reasons") or []
    if expected not in ("accept", "reject"):
        raise InputError('"expected" must be "accept" or "reject".')
    if not isinstance(reasons, list) or not set(reasons) <= set(PROBLEM_CODES) or (reasons and expected == "accept"):
        raise InputError('"expected_reasons" must be a list of problem codes, and empty if the pair is to be accepted.')
    row = _drawable({k: v for k, v in raw.items() if k not in ("expected", "expected_reasons")})
    if not all(0 <= i < len(row["sentences"]) for i in row["required_sentence_indices"]):
        raise InputError("a required sentence does not exist.")
    return Pair(row["id"], row, gold={"accept": expected == "accept", "reasons": reasons})


def _drawable(raw: Mapping[str, Any]) -> Row:
    section, candidate = _parts(raw)
    generator = raw.get("generator") or "model:unknown"
    reviewed_by, human_reviews = raw.get("reviewed_by") or [], raw.get("human_reviews") or 0
    row = row_from(section, candidate, generator=generator, reviewed_by=reviewed_by, human_reviews=human_reviews)
    given = raw.get("id")
    source = {"source_id": given} if isinstance(given, str) and given != row["id"] else {}
    return {**raw, **source, **row}


def _parts(raw: Mapping[str, Any]) -> tuple[Section, Candidate]:
    if "section_text" not in raw or "sentences" not in raw:
        candidate, sentences = read_pair(raw)
        return _bare_section(raw, sentences), candidate
    names = ("article_id", "article_title", "section_id", "domain")
    try:
        section = section_from({**dict.fromkeys(names, ""), "section_path": [], **raw})
        candidate = candidate_from_dict(raw)
        id_of(section, candidate)  # hashes every part, which takes texts and numbers
        return section, candidate
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"a column is missing or of the wrong kind: {error}.") from error


def _bare_section(raw: Mapping[str, Any], texts: Sequence[str]) -> Section:
    """A section of nothing but sentences."""
    sentences, start = [], 0
    for text in texts:
        sentences.append(Sentence(text, start, start + len(text)))
        start += len(text) + 1
    title = next(
        (t for t in (raw.get("article_title"), raw.get("title")) if isinstance(t, str) and t.strip()), "Untitled"
    )
    article, whole = digest(title), " ".join(texts)
    return Section(
        id=f"{article}/{digest(whole)}",
        article_id=article,
        article_title=title.strip(),
        path=(),
        text=whole,
        start=0,
        end=len(whole),
        sentences=tuple(sentences),
    )

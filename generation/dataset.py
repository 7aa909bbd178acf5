"""Records -> rows of the dataset and back, and data/ as JSON Lines, written whole or not at all.

The columns are those of `craqan.FEATURES`; what must hold among them is in `generation.releases.invariants`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generation.errors import InvariantError, UsageError
from generation.records import (
    Article,
    Candidate,
    Round,
    Section,
    Sentence,
    Source,
    Usage,
    Verdict,
    pair_id,
)

Row = dict[str, Any]
Tables = dict[str, dict[str, list[Row]]]
"""{config: {split: rows}}; a split without rows is absent."""


def row_from(
    section: Section, candidate: Candidate, *, generator: str, reviewed_by: Sequence[str], human_reviews: int = 0
) -> Row:
    """A row of "default": an accepted pair on its segmented section."""
    return {
        "id": id_of(section, candidate),
        **passage_from(section),
        **_pair(candidate),
        "derivation": [asdict(step) for step in candidate.derivation],
        "kind": candidate.kind,
        "distance": candidate.distance,
        "generator": generator,
        "reviewed_by": list(reviewed_by),
        "human_reviews": human_reviews,
    }


def rejected_row(
    section: Section,
    candidate: Candidate,
    *,
    generator: str,
    rejected_by: Sequence[str],
    problems: Sequence[str],
    reason: str,
) -> Row:
    """A row of "rejected": the last candidate and who turned it down for what."""
    return {
        "id": id_of(section, candidate),
        **passage_from(section),
        **_pair(candidate),
        "generator": generator,
        "rejected_by": list(rejected_by),
        "problems": list(problems),
        "reason": reason,
    }


def provenance_row(
    id: str,
    rounds: Sequence[Round],
    *,
    generator: str,
    recipe: str,
    code_version: str,
    segmenter: str,
    votes: Sequence[Mapping[str, Any]] = (),
    proof: Sequence[Mapping[str, Any]] = (),
    usage: Usage | None = None,
) -> Row:
    """A row of "provenance"; `votes` are verdicts with `is_person` and `seconds`, `proof` as in the schema."""
    return {
        "id": id,
        "generator": generator,
        "recipe": recipe,
        "code_version": code_version,
        "segmenter": segmenter,
        "rounds": [
            {"index": r.index, **_pair(r.candidate), "verdicts": [_verdict(v) for v in r.verdicts]} for r in rounds
        ],
        "votes": [dict(vote) for vote in votes],
        "proof": [dict(answer) for answer in proof],
        "prompt_tokens": usage.prompt_tokens if usage else 0,
        "completion_tokens": usage.completion_tokens if usage else 0,
    }


def article_row(article: Article, *, author: str) -> Row:
    """A row of "articles"."""
    return {
        "article_id": article.id,
        "article_title": article.title,
        "domain": article.domain,
        "text": article.text,
        "sections": [
            {"section_id": s.id, "path": list(s.path), "start": s.start, "end": s.end} for s in article.sections
        ],
        **asdict(article.source),
        "author": author,
    }


def v1_row(article: Article, section: Section, candidate: Candidate) -> Row:
    """A row of "v1": the same pair in the twelve columns of Edge-Pyxos/CRaQAn_v1."""
    sentences = [{"index": i, "sentence": s.text} for i, s in enumerate(section.sentences)]
    return {
        "title": article.title,
        "article": article.text,
        "article_titles": [s.title for s in article.sections],
        "article_sections": [s.text for s in article.sections],
        "section": section.text,
        "section_index": [s.id for s in article.sections].index(section.id),
        "section_sentences": json.dumps(sentences, ensure_ascii=False),
        "question": candidate.question,
        "answer": candidate.answer,
        "sentences_required": list(candidate.required_sentence_indices),
        "url": article.source.url,
        "time_downloaded": article.source.retrieved_at,
    }


def id_of(section: Section, candidate: Candidate) -> str:
    """The pair's id: a hash of the section's sentences, the question, the answer and the required indices."""
    return pair_id([s.text for s in section.sentences], candidate)


def section_from(row: Mapping[str, Any], article: Article | None = None) -> Section:
    """The section of a row of "default" or "rejected"; see `records.candidate_from_dict` for its candidate.

    Such a row does not say where its section lies, who split it or whence it comes: without the `article`, `start` is
    0, `end` the section's length, and the source is empty.
    """
    home = next((s for s in article.sections if s.id == row["section_id"]), None) if article else None
    return Section(
        id=row["section_id"],
        article_id=row["article_id"],
        article_title=row["article_title"],
        path=tuple(row["section_path"]),
        text=row["section_text"],
        start=home.start if home else 0,
        end=home.end if home else len(row["section_text"]),
        sentences=tuple(Sentence(**s) for s in row["sentences"]),
        domain=row["domain"],
        source=home.source if home else Source(),
    )


def article_from(row: Mapping[str, Any]) -> Article:
    """The article of a row of "articles", its sections not segmented."""
    source = Source(row["url"], row["license"], row["revision"], row["retrieved_at"])
    sections = tuple(
        Section(
            id=s["section_id"],
            article_id=row["article_id"],
            article_title=row["article_title"],
            path=tuple(s["path"]),
            text=row["text"][s["start"] : s["end"]],
            start=s["start"],
            end=s["end"],
            domain=row["domain"],
            source=source,
        )
        for s in row["sections"]
    )
    return Article(row["article_id"], row["article_title"], row["text"], sections, row["domain"], source)


def read_tables(data_dir: Path) -> dict[str, dict[str, list[tuple[str, Row]]]]:
    """{config: {split: [("file:line", row), ...]}} of a data folder, each row with the columns and types of its config.

    Raises InvariantError naming file, line and column, UsageError if there is no data at all.
    """
    import craqan

    tables: dict[str, dict[str, list[tuple[str, Row]]]] = {}
    try:
        for config in craqan.SPLITS:
            tables[config] = {
                split: [(f"{path}:{line}", row) for path in paths for line, row in read_file(Path(path), config)]
                for split, paths in craqan.local_files(data_dir, config).items()
            }
    except craqan.DataError as error:
        raise InvariantError(str(error)) from error
    if not any(tables.values()):
        raise UsageError(f"{data_dir} holds no data: expected {data_dir}/default/train.jsonl and its like.")
    return tables


def read_file(path: Path, config: str) -> Iterator[tuple[int, Row]]:
    """As `craqan.read_rows`, but Parquet is read without `datasets`, which is ten times as fast."""
    import craqan

    if path.suffix != ".parquet":
        yield from craqan.read_rows(str(path), config)
        return
    import pyarrow
    from pyarrow import parquet

    try:
        rows = parquet.ParquetFile(path).read().to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise craqan.DataError(f"{path} cannot be read as Parquet: {error}") from error
    for line, row in enumerate(rows, start=1):
        craqan.check_columns(row, craqan.FEATURES[config], f"{path}:{line}")
        yield line, row


def rows_of(data_dir: Path) -> Tables:
    """The rows of a data folder without their places; raises as `read_tables` does."""
    return {c: {s: [row for _, row in rows] for s, rows in t.items()} for c, t in read_tables(data_dir).items() if t}


def count(tables: Tables, config: str) -> int:
    """How many rows a config has, over all splits."""
    return sum(map(len, tables.get(config, {}).values()))


def write_tables(tables: Tables, data_dir: Path) -> None:
    """Write `<data_dir>/<config>/<split>.jsonl`; remove the configs' data files that `tables` does not have.

    All files are complete beside their places before the first one is moved there. Keys come in the schema's order.
    """
    import craqan

    staged: dict[Path, Path] = {}
    try:
        for config, splits in tables.items():
            for split, rows in splits.items():
                place = data_dir / config / f"{split}.jsonl"
                place.parent.mkdir(parents=True, exist_ok=True)
                staged[place] = place.with_suffix(".jsonl.part")
                _write_rows(staged[place], rows, list(craqan.FEATURES[config]))
        stale = [p for c in tables for p in (data_dir / c).glob("*") if p.suffix in (".jsonl", ".parquet")]
        for place, part in staged.items():
            part.replace(place)
        for path in set(stale) - set(staged):
            path.unlink()
    finally:
        for part in staged.values():
            part.unlink(missing_ok=True)


def _write_rows(path: Path, rows: Iterable[Row], columns: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")


def passage_from(section: Section) -> Row:
    return {
        "article_id": section.article_id,
        "article_title": section.article_title,
        "domain": section.domain,
        "section_id": section.id,
        "section_path": list(section.path),
        "section_text": section.text,
        "sentences": [asdict(s) for s in section.sentences],
    }


def _pair(candidate: Candidate) -> Row:
    return {
        "question": candidate.question,
        "answer": candidate.answer,
        "required_sentence_indices": list(candidate.required_sentence_indices),
        "coreferences": [asdict(c) for c in candidate.coreferences],
    }


def _verdict(verdict: Verdict) -> Row:
    return {**asdict(verdict), "problems": list(verdict.problems)}

"""The folder of a run of `craqan generate` -> rows: pairs, rejected pairs, their histories, and the articles."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from generation import corpus, dataset
from generation.dataset import Row
from generation.errors import CraqanError, InputError, UsageError
from generation.files import read_lines
from generation.records import Article, Round, Source, Usage, Verdict, candidate_from_dict
from generation.releases.pool import Pool, Stages

FILES = ("accepted", "rejected", "failed")


def is_run(folder: Path) -> bool:
    return (folder / "run.json").is_file()


def read_run(folder: Path, source_license: str = "") -> Pool:
    """The pool of a finished run; `source_license` is that of articles which do not name one.

    Articles are read again from where the run found them; where that fails, or they have changed, the article is an
    excerpt: the sections that the run has seen, and the pool says so. Raises InputError for files that are no run's.
    """
    about = _about(folder)
    rows = {name: [*_rows(folder / f"{name}.jsonl")] for name in FILES}
    pool = Pool(stages=_stages(about, rows))
    recipe = about["recipe"]
    try:
        _add_pairs(pool, rows, recipe)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{folder} holds rows without the columns of a run: {error!r}.") from error
    seen = [row for name in FILES for row in rows[name]]
    _add_articles(pool, seen, _read_again(about), source_license)
    pool.only_needed_articles()
    return pool


def _about(folder: Path) -> dict[str, Any]:
    try:
        about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{folder / 'run.json'} is not JSON: {error}.") from error
    if not isinstance(about, dict) or "recipe" not in about:
        raise InputError(f"{folder / 'run.json'} is not of craqan generate.")
    if about.get("state") == "running":
        raise UsageError(f"The run in {folder} is not finished: give its command once more, then release it.")
    return about


def _rows(path: Path) -> Iterator[Row]:
    for number, line in read_lines(path, "the whole folder of a run"):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number} is not JSON: {error}.") from error


def _stages(about: Mapping[str, Any], rows: Mapping[str, Sequence[Row]]) -> Stages:
    total = about.get("usage", {}).get("total", {})
    cost = about.get("cost")
    return Stages(
        sections=about.get("submitted", 0),
        nothing_offered=sum("question" not in row for row in rows["rejected"]),
        failed=len(rows["failed"]),
        pending=about.get("pending", 0),
        usd=_usd(cost),
        calls=total.get("calls", 0),
        prompt_tokens=total.get("prompt_tokens", 0),
        completion_tokens=total.get("completion_tokens", 0),
    )


def _usd(cost: Any) -> float:
    spent = cost.get("usd", 0) if isinstance(cost, dict) else cost
    return float(spent) if isinstance(spent, (int, float)) else 0.0


def _add_pairs(pool: Pool, rows: Mapping[str, Sequence[Row]], recipe: Mapping[str, Any]) -> None:
    reviewer = recipe["reviewed_by"][-1]
    for row in (row for name in ("accepted", "rejected") for row in rows[name] if "question" in row):
        rounds = [_round(r, reviewer) for r in row["rounds"]]
        pool.histories[row["id"]] = dataset.provenance_row(
            row["id"],
            rounds,
            generator=row["generator"],
            recipe=row["recipe"],
            code_version=recipe["code_version"],
            segmenter=row["segmenter"],
            proof=row.get("proof", []),
            usage=_usage(row["usage"]),
        )
        pool.recipes[row["recipe"]] = dict(recipe)
    for row in rows["accepted"]:
        pool.pairs[row["id"]] = {name: row[name] for name in _columns("default")}
    for row in rows["rejected"]:
        if "question" in row:
            pool.rejected[row["id"]] = _rejected(row, pool.histories[row["id"]], reviewer)


def _columns(config: str) -> list[str]:
    import craqan

    return list(craqan.FEATURES[config])


def _rejected(row: Row, history: Row, reviewer: str) -> Row:
    last = history["rounds"][-1]["verdicts"]
    by = [verdict["reviewer"] for verdict in last if not verdict["is_quality"]] or [reviewer]
    more = {"rejected_by": by, "problems": row["problems"] or ["other"], "reason": row["reason"] or "not accepted"}
    return {name: {**row, **more}[name] for name in _columns("rejected")}


def _round(row: Mapping[str, Any], reviewer: str) -> Round:
    verdicts = tuple(
        Verdict(_label(v["reviewer"], reviewer), v["is_quality"], v["reason"], tuple(v["problems"]))
        for v in row["verdicts"]
    )
    return Round(row["index"], candidate_from_dict(row["candidate"]), verdicts)


def _label(name: str, reviewer: str) -> str:
    """The panel's names are those of its prompts; a release says who played them."""
    return name if name.startswith(("checks", "model:", "rules", "person:")) else f"{reviewer}/{name}"


def _usage(roles: Mapping[str, Mapping[str, int]]) -> Usage:
    return sum((Usage(**usage) for usage in roles.values()), Usage())


def _read_again(about: Mapping[str, Any]) -> dict[str, Article]:
    """The articles behind a run, by id, as far as they are files of this machine that are still there."""
    inputs = [i for i in about.get("settings", {}).get("inputs", []) if Path(i).exists()]
    if not inputs:
        return {}
    try:
        return {article.id: article for article in corpus.articles(inputs, skipped=lambda _: None)}
    except CraqanError:  # they were read once; what is missing now becomes an excerpt
        return {}


def _add_articles(pool: Pool, seen: Sequence[Row], known: Mapping[str, Article], source_license: str) -> None:
    by_article: dict[str, list[Row]] = {}
    for row in seen:
        by_article.setdefault(row["article_id"], []).append(row)
    for id, rows in by_article.items():
        texts = {row["section_id"]: row["section_text"] for row in rows}
        article = known.get(id)
        if article is None or not texts.items() <= {s.id: s.text for s in article.sections}.items():
            article = _excerpt(id, rows)
            pool.excerpts.add(id)
        source = Source(**rows[0]["source"])
        source = replace(source, license=source.license or source_license or "unknown")
        article = replace(article, source=source)
        pool.articles[id] = dataset.article_row(article, author=_author(source))


def _author(source: Source) -> str:
    return "Wikipedia contributors" if "wikipedia.org" in source.url else "not stated"


def _excerpt(id: str, rows: Sequence[Row]) -> Article:
    """An article of the sections that are known, in the order of their numbers."""
    text, sections = f"# {rows[0]['article_title']}", []
    unique = {row["section_id"]: row for row in rows}
    for section_id in sorted(unique, key=lambda s: (len(s), s)):  # "/10" comes after "/9"
        row = unique[section_id]
        if row["section_path"]:
            text += f"\n\n## {' > '.join(row['section_path'])}"
        start = len(text) + 2
        text += f"\n\n{row['section_text']}"
        section = dataset.section_from(row)
        sections.append(replace(section, start=start, end=len(text)))
    first = rows[0]
    return Article(id, first["article_title"], text + "\n", tuple(sections), first["domain"])

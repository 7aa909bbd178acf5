"""Hand-written drafts -> data/: who accepted what, which split an article belongs to, and the files of all configs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from generation import __version__, dataset
from generation.errors import InputError, InvariantError, UsageError
from generation.records import Article, Round, digest
from generation.releases import additions, invariants
from generation.releases.drafts import SEGMENTER, Draft, read_article, read_pairs, read_verdicts, with_proofs
from generation.releases.splits import SEED, SHARES, divide, split_of

CONFIGS = ("default", "articles", "provenance", "rejected", "v1")
"""What drafts say of themselves; "random" and "domain" are the rows of default, divided otherwise."""


class Assembled(NamedTuple):
    """How many articles and pairs the folder holds now, `kept` pairs from before; submitted = accepted + rejected."""

    articles: int
    accepted: int
    rejected: int
    kept: int = 0

    @property
    def submitted(self) -> int:
        return self.accepted + self.rejected


def assemble(drafts: Path | Sequence[Path], out_dir: Path, seed: int = SEED, keep: bool = False) -> Assembled:
    """Read one folder of drafts or several (their form is in `drafts`) and write all configs into `out_dir`.

    A pair is accepted if every reviewer of its last round accepts it, otherwise rejected; a third reader, asked where
    two disagreed, is a round of their own on the same text. Splits go by article. With
    `keep` the rows that `out_dir` holds stay as they are, in their splits, and what is new comes after them. All is
    checked before anything is written: raises InputError naming file and line, or a draft that differs from what is
    kept; InvariantError for a row that may not stand; UsageError if a split would stay empty.
    """
    folders = [drafts] if isinstance(drafts, Path) else list(drafts)
    paths = _articles(folders)
    before: dataset.Tables = dataset.rows_of(out_dir) if keep else {}
    tables: dataset.Tables = {c: {} for c in CONFIGS}
    for path in paths:
        _add_article(path, split_of(path.stem, seed), tables)
    if keep:
        tables = additions.added(tables, before)
    _no_empty_split(tables, seed)
    tables |= _divided(tables["default"], before, seed)
    invariants.check_tables(tables)
    dataset.write_tables(tables, out_dir)
    articles, accepted, rejected = (dataset.count(tables, c) for c in ("articles", "default", "rejected"))
    return Assembled(articles, accepted, rejected, dataset.count(before, "default") + dataset.count(before, "rejected"))


def _divided(default: dict[str, list[dataset.Row]], before: dataset.Tables, seed: int) -> dataset.Tables:
    """The rows of default once more, by passage ("random") and by domain; what was divided before stays there."""
    rows = {row["id"]: row for of_split in default.values() for row in of_split}
    homes = {c: {r["id"]: s for s, kept in before.get(c, {}).items() for r in kept} for c in ("random", "domain")}
    divided = divide([*rows.values()], homes, seed)
    tables: dataset.Tables = {}
    for config in homes.keys() & divided.keys():
        order = dict.fromkeys((*homes[config], *rows))
        tables[config] = {split: [rows[i] for i in order if divided[config][i] == split] for split in SHARES}
    return tables


def _articles(folders: Sequence[Path]) -> list[Path]:
    """The articles' paths, sorted by name; each has its pairs and verdicts, and there are no others."""
    paths = sorted((p for f in folders for p in (f / "articles").glob("*.md")), key=lambda p: p.stem)
    if not paths:
        where = " or ".join(map(str, folders))
        raise UsageError(f"No drafts are in {where}: give a folder with articles/*.md, pairs/ and verdicts/.")
    names = [p.stem for p in paths]
    for one, other in zip(paths, paths[1:], strict=False):
        if one.stem == other.stem:
            raise InputError(f"{one} and {other} have the same name: rename one of them.")
    there = {(kind, p.stem) for f in folders for kind in ("pairs", "verdicts") for p in (f / kind).glob("*.jsonl")}
    wanted = {(kind, name) for kind in ("pairs", "verdicts") for name in names}
    if there != wanted:
        odd = ", ".join(f"{kind}/{name}.jsonl" for kind, name in sorted(there ^ wanted))
        raise InputError(f"Articles, pairs and verdicts do not match in {', '.join(map(str, folders))}; look at {odd}.")
    return paths


def _add_article(path: Path, split: str, tables: dataset.Tables) -> None:
    article, author = read_article(path)
    drafts = read_pairs(path.parents[1] / "pairs" / f"{path.stem}.jsonl", article)
    rounds = read_verdicts(path.parents[1] / "verdicts" / f"{path.stem}.jsonl", drafts)
    rounds = with_proofs(path.parents[1] / "proofs" / f"{path.stem}.jsonl", drafts, rounds)
    _add("articles", split, dataset.article_row(article, author=author), str(path), tables)
    for draft, history in zip(drafts, rounds, strict=True):
        for config, row in _rows(article, author, draft, history):
            _add(config, "train" if config == "v1" else split, row, draft.where, tables)


def _add(config: str, split: str, row: dataset.Row, where: str, tables: dataset.Tables) -> None:
    try:
        invariants.check_row(config, row)
    except InvariantError as error:
        raise InvariantError(f"{where}: {error}") from error
    tables[config].setdefault(split, []).append(row)


def _rows(article: Article, author: str, draft: Draft, rounds: Sequence[Round]) -> list[tuple[str, dict[str, Any]]]:
    last = rounds[-1]
    history = dataset.provenance_row(
        dataset.id_of(draft.section, last.candidate),
        rounds,
        generator=author,
        recipe=digest(_recipe(author, last)),
        code_version=__version__,
        segmenter=SEGMENTER,
        proof=[asdict(reading) for reading in last.proof.readings] if last.proof else (),
    )
    if not last.accepted:
        return [("rejected", _rejected_row(author, draft, last)), ("provenance", history)]
    readings = (v for r in rounds if r.candidate == last.candidate for v in r.verdicts if v.is_quality)
    reviewers = list(dict.fromkeys(verdict.reviewer for verdict in readings))
    row = dataset.row_from(
        draft.section,
        last.candidate,
        generator=author,
        reviewed_by=reviewers,
        human_reviews=sum(r.startswith("person:") for r in reviewers),
    )
    return [("default", row), ("provenance", history), ("v1", dataset.v1_row(article, draft.section, last.candidate))]


def _recipe(author: str, last: Round) -> dict[str, str]:
    """Who made a pair: its author and, where there is a proof, who read for it."""
    reader = {"proof": last.proof.reader} if last.proof else {}
    return {"author": author, "segmenter": SEGMENTER, "code_version": __version__, **reader}


def _rejected_row(author: str, draft: Draft, last: Round) -> dataset.Row:
    against = [verdict for verdict in last.verdicts if not verdict.is_quality]
    return dataset.rejected_row(
        draft.section,
        last.candidate,
        generator=author,
        rejected_by=[verdict.reviewer for verdict in against],
        problems=list(dict.fromkeys(code for verdict in against for code in verdict.problems)),
        reason="\n".join(f"{verdict.reviewer}: {verdict.reason}" for verdict in against),
    )


def _no_empty_split(tables: dataset.Tables, seed: int) -> None:
    if missing := [split for split in SHARES if split not in tables["default"]]:
        used = {row["article_id"] for rows in tables["default"].values() for row in rows}
        other = next((s for s in range(1000) if {split_of(a, s) for a in used} == set(SHARES)), None)
        advice = (
            f"seed {other} fills all three" if other is not None else "at least three articles with pairs are needed"
        )
        raise UsageError(f"With seed {seed} no pair falls into {' and '.join(missing)}; {advice}.")

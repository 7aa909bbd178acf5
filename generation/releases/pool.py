"""What goes into a release, from wherever it comes: each article, pair, rejected pair and history once, by its id."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generation.dataset import Row, Tables
from generation.errors import InputError
from generation.records import PROBLEM_CODES

SPLIT_CONFIGS = ("default", "random", "domain")
"""The configs that hold the same pairs, each divided in its own way."""


@dataclass
class Stages:
    """Where candidates were lost; `sections` is what the runs were given, 0 where only rows are known."""

    sections: int = 0
    nothing_offered: int = 0
    failed: int = 0
    pending: int = 0
    usd: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, other: "Stages") -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Pool:
    """Rows by id (articles by article_id). `homes`: {config: {id of a pair or article: its split}}, where known.

    `excerpts` are the articles of which only some sections are known. `recipes` tells what a digest in the column
    `recipe` stands for. `replaced` says of pairs that gave way to their correction why they are gone.
    """

    articles: dict[str, Row] = field(default_factory=dict)
    pairs: dict[str, Row] = field(default_factory=dict)
    rejected: dict[str, Row] = field(default_factory=dict)
    histories: dict[str, Row] = field(default_factory=dict)
    homes: dict[str, dict[str, str]] = field(default_factory=lambda: {config: {} for config in SPLIT_CONFIGS})
    recipes: dict[str, Any] = field(default_factory=dict)
    excerpts: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)
    stages: Stages = field(default_factory=Stages)

    def add(self, other: "Pool", name: str, *, newer: bool = False) -> None:
        """Take in `other`; if it is `newer`, its rows replace those of the same id, otherwise they must be equal.

        What people have said of a pair is not unsaid by a newer input in which nobody has read it.
        """
        self.excerpts |= other.excerpts - self.articles.keys()
        for id, row in other.articles.items():
            self.articles[id] = row if id not in self.articles else self._one_article(id, row, other, name, newer)
        said = self._said_by_people() - other._said_by_people() if newer else set()
        for config in ("pairs", "rejected", "histories"):
            mine, theirs = getattr(self, config), getattr(other, config)
            for id, row in ((id, row) for id, row in theirs.items() if id not in said):
                if config != "histories" and not newer and mine.get(id, row) != row:
                    raise InputError(f"{name} holds the pair {id} in other words or columns than an input before it.")
                mine[id] = row
        if newer:
            self._follow_verdicts(other, said)
        for config in SPLIT_CONFIGS:
            self.homes[config] = {**other.homes[config], **self.homes[config]}
        self.recipes |= other.recipes
        self.stages.add(other.stages)

    def _follow_verdicts(self, newer: "Pool", said: set[str]) -> None:
        for id in newer.rejected.keys() - said:
            self.pairs.pop(id, None)
        for id in newer.pairs.keys() - said:
            self.rejected.pop(id, None)

    def _said_by_people(self) -> set[str]:
        """The pairs that people have read, or turned down."""
        against = {id for id, row in self.rejected.items() if any(r.startswith("person:") for r in row["rejected_by"])}
        return against | {id for id, row in self.pairs.items() if row["human_reviews"]}

    def _one_article(self, id: str, row: Row, other: "Pool", name: str, newer: bool) -> Row:
        """The one that holds all sections of both; an excerpt gives way to the whole."""
        mine = self.articles[id]
        if mine == row or _sections(row).items() <= _sections(mine).items():
            return mine if not newer or id in other.excerpts else row
        if newer or (id in self.excerpts and _sections(mine).items() <= _sections(row).items()):
            self.excerpts -= {id} - other.excerpts
            return row
        raise InputError(f"{name} holds another article under the name {id}: rename one of them.")

    def reject(self, id: str, by: Iterable[str], problems: Iterable[str], reason: str) -> None:
        """Move a pair to the rejected ones, with who turned it down and why."""
        row = self.pairs.pop(id)
        kept = {k: v for k, v in row.items() if k not in ("derivation", "kind", "distance", "reviewed_by")}
        kept.pop("human_reviews")
        codes = [code for code in PROBLEM_CODES if code in set(problems)] or ["other"]
        self.rejected[id] = {**kept, "rejected_by": list(by), "problems": codes, "reason": reason}

    def replace(self, id: str, by: str, reason: str) -> None:
        """Take out a pair whose correction, `by`, is in the pool; its history is part of the correction's."""
        if id != by and id in self.pairs:
            del self.pairs[id]
            self.histories.pop(id, None)
            self.replaced[id] = reason

    def only_needed_articles(self) -> None:
        """Leave out articles of which no pair is left, and whose pairs were all lost before they had a candidate."""
        used = {row["article_id"] for rows in (self.pairs, self.rejected) for row in rows.values()}
        self.articles = {id: row for id, row in self.articles.items() if id in used}
        self.excerpts &= used


def from_tables(tables: Tables, recipes: Mapping[str, Any] | None = None) -> Pool:
    """The pool of a data folder's rows; a row's split is remembered."""
    pool = Pool(recipes=dict(recipes or {}))
    for config, name, key in _PARTS:
        for row in (row for rows in tables.get(config, {}).values() for row in rows):
            getattr(pool, name)[row[key]] = row
    for config in SPLIT_CONFIGS:
        for split, rows in tables.get(config, {}).items():
            pool.homes[config] |= {row["id"]: split for row in rows}
    for split, rows in tables.get("articles", {}).items():
        pool.homes["default"] |= {row["article_id"]: split for row in rows}
    for row in pool.histories.values():
        known = {name: row[name] for name in ("generator", "segmenter", "code_version")}
        pool.recipes.setdefault(row["recipe"], known)
    return pool


_PARTS = (
    ("articles", "articles", "article_id"),
    ("default", "pairs", "id"),
    ("rejected", "rejected", "id"),
    ("provenance", "histories", "id"),
)


def _sections(row: Row) -> dict[str, str]:
    return {s["section_id"]: row["text"][s["start"] : s["end"]] for s in row["sections"]}

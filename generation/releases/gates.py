"""What a release must pass before anything is written: each gate is one function, named as `--allow` names it.

A gate yields what it found, each finding one sentence without its stop, and nothing if all is well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.dataset import Row, Tables
from generation.errors import GateError, UsageError
from generation.releases import changes as changing
from generation.releases import invariants, licences, similar, splits
from generation.releases.changes import Changes, Version
from generation.releases.pool import SPLIT_CONFIGS

REPLACED = "replaced by "
"""How the reason of a withdrawn pair begins of which a person has written a better one."""
SHOWN = 3
"""Findings of a gate that its message names; the others are counted."""


@dataclass(frozen=True)
class Proposal:
    """A release that is not written yet. `previous` is {config: {split: rows}} of the release before it, if any.

    `policy` is "labelled", or "reviewed:N" if each pair must have been accepted by N people. `original` are the rows of
    the first CRaQAn in today's columns, if they are to be compared.
    """

    version: Version
    tables: Tables
    licence: str
    policy: str
    recipes: Mapping[str, Any]
    previous: Tables | None = None
    previous_version: Version | None = None
    changes: Changes | None = None
    original: Sequence[Row] | None = None

    def rows(self, config: str = "default") -> list[Row]:
        return [row for rows in self.tables.get(config, {}).values() for row in rows]


def schema(release: Proposal) -> Iterator[str]:
    """Every row has the columns and types of its config."""
    import craqan

    for config in release.tables:
        for row in release.rows(config):
            try:
                craqan.check_columns(row, craqan.FEATURES[config], f"{config} row {row.get('id', '')}".strip())
            except craqan.DataError as error:
                yield str(error).removesuffix(".")


def rows(release: Proposal) -> Iterator[str]:
    """Offsets point at their text, required sentences exist, ids are the hashes of what they name."""
    for config in release.tables:
        for row in release.rows(config):
            yield from invariants.breaches_of(config, row)


def tables(release: Proposal) -> Iterator[str]:
    """Ids are unique; what one config says of a pair the others do not deny."""
    yield from invariants.breaches_among({c: s for c, s in release.tables.items() if c != "articles" or s})


def duplicates(release: Proposal) -> Iterator[str]:
    """No two pairs ask the same, word for word or nearly."""
    repeated = similar.questions_repeated(release.rows())
    for pair in repeated:
        yield f"pair {pair.other} repeats question and answer of {pair.one}"
    known = {(pair.one, pair.other) for pair in repeated}
    for pair in similar.questions_alike(release.rows()):
        if (pair.one, pair.other) not in known:
            yield f"pair {pair.other} nearly repeats {pair.one} (overlap {pair.overlap:.2f})"


def previous(release: Proposal) -> Iterator[str]:
    """No new pair nearly repeats one of the last release under another id, unless it corrects and replaces it."""
    if release.previous is not None and release.changes is not None:
        replaced = {id for id, reason in release.changes.withdrawn.items() if reason.startswith(REPLACED)}
        old = [row for r in release.previous.get("default", {}).values() for row in r if row["id"] not in replaced]
        added = set(release.changes.added)
        for pair in similar.questions_alike([row for row in release.rows() if row["id"] in added], old):
            yield f"new pair {pair.other} nearly repeats {pair.one} of the last release (overlap {pair.overlap:.2f})"


def original(release: Proposal) -> Iterator[str]:
    """No pair nearly repeats one of the first CRaQAn."""
    for pair in similar.questions_alike(release.rows(), release.original or []) if release.original else ():
        yield f"pair {pair.other} nearly repeats {pair.one} of the original CRaQAn (overlap {pair.overlap:.2f})"


def leakage(release: Proposal) -> Iterator[str]:
    """No article (default), passage (random) or domain (domain), and nothing related, is in two splits."""
    links = splits.related(release.rows())
    for config, column in (("default", "article_id"), ("random", "section_id"), ("domain", "domain")):
        split_of = {row["id"]: split for split, rows in release.tables.get(config, {}).items() for row in rows}
        homes: dict[str, set[str]] = {}
        for row in release.rows(config):
            homes.setdefault(row[column], set()).add(split_of[row["id"]])
        for unit, where in homes.items():
            if len(where) > 1:
                yield f"{config}: {column} {unit} is in {' and '.join(sorted(where))}"
        for one, other in links if split_of else ():
            if split_of.get(one) != split_of.get(other):
                yield (
                    f"{config}: pairs {one} and {other} share a passage or evidence, but are in {split_of.get(one)}"
                    f" and {split_of.get(other)}"
                )


def divided(release: Proposal) -> Iterator[str]:
    """No split of default is empty, and no pair of the last release has left its split."""
    for split in splits.SHARES:
        if not release.tables.get("default", {}).get(split):
            yield f"default: the split {split} is empty"
    for config in SPLIT_CONFIGS if release.previous else ():
        before, now = (_homes(t, config) for t in (release.previous or {}, release.tables))
        for id in before.keys() & now.keys():
            if before[id] != now[id]:
                yield f"{config}: pair {id} was in {before[id]} and is in {now[id]}"


def review(release: Proposal) -> Iterator[str]:
    """Every pair was accepted as the policy asks; no label says that a person read it where no vote of one is kept."""
    needed = people_needed(release.policy)
    histories = {row["id"]: row for row in release.rows("provenance")}
    for row in release.rows():
        history = histories.get(row["id"], {"votes": [], "rounds": []})
        verdicts = history["votes"] + [v for r in history["rounds"][-1:] for v in r["verdicts"]]
        votes = {v["reviewer"]: v["is_quality"] for v in verdicts if v["reviewer"].startswith("person:")}
        if (accepting := sum(votes.values())) < needed:
            yield f"pair {row['id']} was accepted by {accepting} people, not {needed}"
        if unknown := {r for r in row["reviewed_by"] if r.startswith("person:")} - votes.keys():
            yield f"pair {row['id']} says that {min(unknown)} read it, but no vote of theirs is kept"
        if votes and not accepting:
            yield f"pair {row['id']} is in default, but every person rejected it"


def sources(release: Proposal) -> Iterator[str]:
    """The licences of all articles are known and allow the stated one."""
    articles = {row["article_id"]: row for row in release.rows("articles")}
    yield from licences.obstacles(articles, release.licence)


def recipes(release: Proposal) -> Iterator[str]:
    """Every pair says by which recipe it was made: prompts, models, code version."""
    histories = {row["id"]: row for config in ("provenance",) for row in release.rows(config)}
    for row in release.rows():
        history = histories.get(row["id"])
        if not history or not history["recipe"] or not history["code_version"]:
            yield f"pair {row['id']} does not say by which recipe it was made"
        elif history["recipe"] not in release.recipes:
            yield f"pair {row['id']} names the recipe {history['recipe']}, of which nothing is known"


def version(release: Proposal) -> Iterator[str]:
    """The version is higher than the last one, by as much as the changes ask."""
    if release.previous_version is not None and release.changes is not None:
        least = changing.least(release.previous_version, release.changes)
        if release.version < least:
            yield f"{release.version} after {release.previous_version}, with these changes, must be {least} or higher"


def withdrawn(release: Proposal) -> Iterator[str]:
    """Every pair of the last release is still there, or a reason is kept why not."""
    for id, reason in (release.changes.withdrawn if release.changes else {}).items():
        if not reason.strip():
            yield f"pair {id} of the last release is gone, and nothing says why"


Gate = Callable[[Proposal], Iterator[str]]
GATES: dict[str, Gate] = {
    "schema": schema,
    "rows": rows,
    "tables": tables,
    "duplicates": duplicates,
    "previous": previous,
    "original": original,
    "leakage": leakage,
    "splits": divided,
    "review": review,
    "licences": sources,
    "recipes": recipes,
    "version": version,
    "withdrawn": withdrawn,
}
STRICT = ("schema", "rows", "tables")
"""Gates without exceptions: behind them readers break, or a pair does not say what it seems to say."""


def people_needed(policy: str) -> int:
    """How many people must have accepted each pair: 0 for "labelled", N for "reviewed:N", 2 for "reviewed"."""
    name, _, number = policy.partition(":")
    if name == "reviewed" and (not number or (number.isascii() and number.isdigit() and int(number) > 0)):
        return int(number or 2)
    if policy == "labelled":
        return 0
    raise UsageError(f'A policy is "labelled", "reviewed" or "reviewed:N", not "{policy}".')


def findings(release: Proposal) -> dict[str, list[str]]:
    """{gate: what it found}, gates without findings left out. Rows that break the schema are all that is looked at."""
    found = {"schema": [*schema(release)]}
    if not found["schema"]:
        found = {name: [*gate(release)] for name, gate in GATES.items()}
    return {name: breaches for name, breaches in found.items() if breaches}


def refuse(found: Mapping[str, list[str]], allowed: Iterable[str]) -> None:
    """Raise GateError for findings of gates that are not allowed, UsageError for names of no gate that may be."""
    for name in allowed:
        if name not in GATES or name in STRICT:
            names = ", ".join(name for name in GATES if name not in STRICT)
            raise UsageError(f'--allow takes one of {names}; there is no exception from "{name}".')
    stopping = {name: breaches for name, breaches in found.items() if name not in set(allowed)}
    if stopping:
        told = "; ".join(f"{name}: {_shown(breaches)}" for name, breaches in stopping.items())
        raise GateError(f"The release does not pass {len(stopping)} of {len(GATES)} gates. {told}.", dict(stopping))


def _shown(breaches: list[str]) -> str:
    more = f" (and {len(breaches) - SHOWN} more)" if len(breaches) > SHOWN else ""
    return ", ".join(breaches[:SHOWN]) + more


def _homes(tables: Tables, config: str) -> dict[str, str]:
    return {row["id"]: split for split, rows in tables.get(config, {}).items() for row in rows}

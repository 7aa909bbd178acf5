"""Which split a row belongs to: by article (default), by passage (random) or by domain, and for good.

What shares a passage or evidence is one group, whatever it is divided by, and a group is in one split. Groups of which
a part was released before stay where it was; new ones are packed into the splits that lack most. Source of the configs
"random" and "domain": ExpertQA (Malaviya et al. 2023).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from generation.dataset import Row
from generation.releases import similar

SEED = 42
"""Of the order in which groups are packed, and of `split_of`; never changed, since rows keep their split."""
SHARES = {"train": 0.70, "validation": 0.15, "test": 0.15}

Units = dict[str, str]
"""{unit: split}; a unit is an article, a section or a domain."""


def split_of(article_id: str, seed: int = SEED) -> str:
    """The split of an article by its hash alone, so that no other article can move it."""
    place = _place(article_id, seed)
    if place < SHARES["train"]:
        return "train"
    return "validation" if place < SHARES["train"] + SHARES["validation"] else "test"


def divide(rows: Sequence[Row], homes: Mapping[str, Mapping[str, str]], seed: int = SEED) -> dict[str, dict[str, str]]:
    """{config: {id of a pair: split}}; `homes` are the splits that ids of pairs and articles have already.

    "domain" is absent where there are not two domains at least, each group of related passages in one of them, or where
    a pair has no domain: see `domain_obstacle`.
    """
    links = related(rows)
    configs = {"default": "article_id", "random": "section_id"}
    if not domain_obstacle(rows, links):
        configs["domain"] = "domain"
    divided = {}
    for config, column in configs.items():
        units = {row["id"]: row[column] for row in rows}
        placed = _placed(rows, units, homes.get(config, {}))
        groups = grouped(units, links)
        divided[config] = _spread(groups, units, placed, seed)
    return divided


def related(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Ids of pairs that may not be in two splits: on nearly the same passage, or with a sentence of evidence shared."""
    by_section: dict[str, list[str]] = {}
    for row in rows:
        by_section.setdefault(row["section_id"], []).append(row["id"])
    links = [(pair.one, pair.other) for pair in similar.evidence_shared(rows)]
    links += [(ids[0], other) for ids in by_section.values() for other in ids[1:]]
    links += [(by_section[p.one][0], by_section[p.other][0]) for p in similar.passages_alike(rows)]
    return links


def domain_obstacle(rows: Sequence[Row], links: Sequence[tuple[str, str]] | None = None) -> str:
    """Why the pairs cannot be divided by domain, or ""."""
    domains = {row["id"]: row["domain"] for row in rows}
    if "" in domains.values():
        return f"{sum(not d for d in domains.values())} pairs name no domain"
    groups = grouped(domains, related(rows) if links is None else links)
    if len(groups) < 2:
        return f"all pairs are of one domain, {min(domains.values(), default='none')}, or of related ones"
    return ""


def grouped(units: Mapping[str, str], links: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """The units (values of `units`, by id of a pair) that links tie together, merged; each is in one group."""
    root: dict[str, str] = {unit: unit for unit in units.values()}

    def find(unit: str) -> str:
        while root[unit] != unit:
            root[unit] = root[root[unit]]
            unit = root[unit]
        return unit

    for one, other in links:
        a, b = find(units[one]), find(units[other])
        root[max(a, b)] = min(a, b)
    groups: dict[str, set[str]] = {}
    for unit in root:
        groups.setdefault(find(unit), set()).add(unit)
    return [frozenset(group) for group in groups.values()]


def pack(sizes: Mapping[str, int], placed: Units, seed: int = SEED) -> Units:
    """A split for each group of `sizes` that is not `placed`: the largest first, into the split that lacks most.

    As long as there are groups enough, no split stays empty.
    """
    filled = dict.fromkeys(SHARES, 0)
    for group, split in placed.items():
        filled[split] += sizes[group]
    total = sum(sizes.values())
    new = sorted((g for g in sizes if g not in placed), key=lambda g: (-sizes[g], _place(g, seed)))
    chosen: Units = {}
    for n, group in enumerate(new):
        empty = [split for split in SHARES if not filled[split]]
        open_to = empty if len(new) - n <= len(empty) else list(SHARES)
        chosen[group] = max(open_to, key=lambda split: SHARES[split] * total - filled[split])
        filled[chosen[group]] += sizes[group]
    return chosen


def _spread(groups: Sequence[frozenset[str]], units: Mapping[str, str], placed: Units, seed: int) -> dict[str, str]:
    """{id: split}; a group of which units were placed apart stays apart, for the gate to name."""
    name: dict[str, str] = {unit: min(group) for group in groups for unit in group}
    sizes: dict[str, int] = dict.fromkeys(name.values(), 0)
    for unit in units.values():
        sizes[name[unit]] += 1
    known: Units = {}
    for unit in sorted(placed):
        known.setdefault(name[unit], placed[unit])
    homes = {**known, **pack(sizes, known, seed)}
    return {id: placed.get(unit, homes[name[unit]]) for id, unit in units.items()}


def _placed(rows: Sequence[Row], units: Mapping[str, str], homes: Mapping[str, str]) -> Units:
    """The units of which a pair or, by article, the article itself has a split already."""
    return {units[row["id"]]: homes[row[key]] for key in ("article_id", "id") for row in rows if row[key] in homes}


def _place(name: str, seed: int) -> float:
    """From 0 to 1, by the name's hash."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8]) / 2**64

"""The figures of a set, counted from its rows: what the card, the datasheet and the plots show.

Tables 1 and 2 have the rows of Grzywinski et al. 2023, so that a set can be read beside the first CRaQAn.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from generation.dataset import Row, Tables
from generation.records import PROBLEM_CODES, Proof, Reading
from generation.releases.pool import Stages

QUANTILES = (0.1, 0.5, 0.9)
PAPER_COUNTS = {
    "articles": 70,
    "pairs": 261,
    "from a summary": 57,
    "from another section": 204,
    "two sentences": 229,
    "three sentences": 32,
}
PAPER_QUANTILES = {"sections": (1, 3.5, 6), "sentences": (4, 7, 12), "words": (83, 159, 299), "distance": (1, 1.5, 4)}
PAPER_REASONS = dict(
    zip(
        ("irrelevant_sentences", "missing_sentences", "formatting", "incomplete_answer", "ambiguous_question"),
        (47, 43, 36, 17, 17),
        strict=True,
    )
) | {"coreference_error": 11, "other": 9, "wrong_information": 7, "compound_question": 6}
"""Source of the three: Grzywinski et al. 2023, Tables 1 and 2."""


@dataclass
class Figures:
    """Everything that is counted. Lists hold one number a section, an article or a coreference, not sorted."""

    counts: dict[str, int] = field(default_factory=dict)
    splits: dict[str, dict[str, int]] = field(default_factory=dict)
    lengths: dict[str, list[float]] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    reviewers: dict[str, tuple[int, int]] = field(default_factory=dict)
    generators: dict[str, int] = field(default_factory=dict)
    recipes: dict[str, int] = field(default_factory=dict)
    licences: dict[str, int] = field(default_factory=dict)
    domains: dict[str, int] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    agreement: list["Agreement"] = field(default_factory=list)
    minutes: float | None = None
    proof: dict[str, int] = field(default_factory=dict)
    stages: Stages = field(default_factory=Stages)


@dataclass(frozen=True)
class Agreement:
    """Two or more verdicts a pair, by models or by people: `raw` is how often two of them say the same."""

    who: str
    pairs: int
    raw: float
    alpha: float | None


def count(tables: Tables, stages: Stages | None = None) -> Figures:
    """All figures of a set's tables; `stages` are what the runs know beside their rows."""
    rows, rejected, articles, histories = (
        [row for split in tables.get(config, {}).values() for row in split]
        for config in ("default", "rejected", "articles", "provenance")
    )
    sections = {row["section_id"]: row for row in rows}
    first, people = _verdicts(histories)
    return Figures(
        counts=_counts(rows, rejected, articles, sections),
        splits={c: {s: len(r) for s, r in splits.items()} for c, splits in tables.items()},
        lengths=_lengths(rows, sections),
        kinds=dict(Counter(c["kind"] for row in rows for c in row["coreferences"]).most_common()),
        reasons=_reasons(rejected),
        reviewers=_reviewers(histories),
        generators=dict(Counter(row["generator"] for row in [*rows, *rejected]).most_common()),
        recipes=dict(Counter(row["recipe"] for row in histories).most_common()),
        licences=dict(Counter(row["license"] for row in articles).most_common()),
        domains=dict(Counter(row["domain"] or "none" for row in rows).most_common()),
        people=dict(Counter(str(row["human_reviews"]) for row in rows)),
        rounds=dict(sorted(Counter(len(row["rounds"]) for row in histories).items())),
        agreement=[a for a in (_agreement("reviewers of the first round", first), _agreement("people", people)) if a],
        minutes=_minutes(histories),
        proof=_proof(histories),
        stages=stages or _stages(histories),
    )


def quantiles(values: Sequence[float]) -> tuple[float, ...]:
    """The QUANTILES of `values`, linear between neighbours; none of nothing."""
    ordered = sorted(values)
    if not ordered:
        return ()
    places = [q * (len(ordered) - 1) for q in QUANTILES]
    neighbours = [(ordered[int(p)], ordered[min(int(p) + 1, len(ordered) - 1)], p % 1) for p in places]
    return tuple(low + part * (high - low) for low, high, part in neighbours)


def words(text: str) -> int:
    return len(re.findall(r"\w+(?:['’-]\w+)*", text))


def _counts(
    rows: Sequence[Row], rejected: Sequence[Row], articles: Sequence[Row], sections: Mapping[str, Row]
) -> dict[str, int]:
    summaries = sum(not row["section_path"] for row in rows)
    needs = Counter(len(row["required_sentence_indices"]) for row in rows)
    return {
        "articles": len({row["article_id"] for row in rows}),
        "articles in all": len(articles),
        "sections": len(sections),
        "pairs": len(rows),
        "from a summary": summaries,
        "from another section": len(rows) - summaries,
        "two sentences": needs[2],
        "three sentences": needs[3],
        "rejected": len(rejected),
    }


def _lengths(rows: Sequence[Row], sections: Mapping[str, Row]) -> dict[str, list[float]]:
    per_article = Counter(row["article_id"] for row in sections.values())
    return {
        "sections": [*per_article.values()],
        "sentences": [len(row["sentences"]) for row in sections.values()],
        "words": [words(row["section_text"]) for row in sections.values()],
        "distance": [
            c["mention"]["sentence_index"] - c["antecedent"]["sentence_index"]
            for row in rows
            for c in row["coreferences"]
        ],
        "question words": [words(row["question"]) for row in rows],
        "answer words": [words(row["answer"]) for row in rows],
    }


def _reasons(rejected: Sequence[Row]) -> dict[str, int]:
    found = Counter(code for row in rejected for code in row["problems"])
    return {code: found[code] for code in PROBLEM_CODES}


def _reviewers(histories: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """{who: (verdicts given, of which rejections)}; readers of one model count together, and so do people."""
    given: Counter[str] = Counter()
    against: Counter[str] = Counter()
    for verdict in (v for h in histories for r in h["rounds"] for v in r["verdicts"]):
        who = "people" if verdict["reviewer"].startswith("person:") else verdict["reviewer"].split("/")[0]
        given[who] += 1
        against[who] += not verdict["is_quality"]
    return {who: (n, against[who]) for who, n in given.most_common()}


def _verdicts(histories: Iterable[Row]) -> tuple[list[list[bool]], list[list[bool]]]:
    """The verdicts on each pair: the panel's on its first draft, code's checks left out, and people's last ones."""
    panel, people = [], []
    for row in histories:
        drafts = row["rounds"][0]["verdicts"]
        panel.append([v["is_quality"] for v in drafts if v["reviewer"].startswith(("model:", "rules"))])
        votes = row["votes"] + [v for v in row["rounds"][-1]["verdicts"] if v["reviewer"].startswith("person:")]
        people.append([v["is_quality"] for v in votes if v["reviewer"].startswith("person:")])
    return panel, people


def _agreement(who: str, verdicts: Sequence[Sequence[bool]]) -> Agreement | None:
    """Raw agreement over all couples of verdicts, and Krippendorff's alpha for two values.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", the nominal case.
    """
    several = [v for v in verdicts if len(v) > 1]
    if not several:
        return None
    couples = sum(len(v) * (len(v) - 1) for v in several)
    same = sum(sum(v) * (sum(v) - 1) + (len(v) - sum(v)) * (len(v) - sum(v) - 1) for v in several)
    total, yes = sum(map(len, several)), sum(map(sum, several))
    observed = sum(2 * sum(v) * (len(v) - sum(v)) / (len(v) - 1) for v in several) / total
    expected = 2 * yes * (total - yes) / (total * (total - 1))
    return Agreement(who, len(several), same / couples, 1 - observed / expected if expected else None)


def _proof(histories: Iterable[Row]) -> dict[str, int]:
    """Of how many candidates a reader was asked what is needed, and how each part of the experiment came out."""
    proofs = [Proof("", tuple(Reading(**r) for r in row["proof"])) for row in histories if row["proof"]]
    return {
        "read": len(proofs),
        "section": sum(p.is_answered for p in proofs),
        "required": sum(p.is_sufficient for p in proofs),
        "needed": sum(not p.not_needed for p in proofs),
        "proven": sum(p.is_proven for p in proofs),
        "replaceable": sum(bool(p.replaceable) for p in proofs),
        "nothing": sum(p.closed_book_right for p in proofs),
    }


def _minutes(histories: Iterable[Row]) -> float | None:
    """The median time that a person took for a pair."""
    seconds = [v["seconds"] for h in histories for v in h["votes"] if v["is_person"] and v["seconds"] > 0]
    return quantiles(seconds)[1] / 60 if seconds else None


def _stages(histories: Sequence[Row]) -> Stages:
    add: Callable[[str], int] = lambda name: sum(row[name] for row in histories)  # noqa: E731
    return Stages(prompt_tokens=add("prompt_tokens"), completion_tokens=add("completion_tokens"))


def as_dict(figures: Figures) -> dict[str, Any]:
    """For the manifest: plain values; the lists become their quantiles."""
    plain = asdict(figures)
    plain["lengths"] = {name: list(quantiles(values)) for name, values in figures.lengths.items()}
    return plain

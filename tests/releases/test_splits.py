"""How pairs are divided: related ones stay together, old ones stay where they were, no split is empty."""

from pathlib import Path
from typing import Any

import pytest

from generation import dataset
from generation.records import Candidate, Section, Sentence
from generation.releases import splits


def passage(article: str, number: int, text: str, domain: str = "law") -> dict[str, Any]:
    sentences = [s + "." for s in text.removesuffix(".").split(". ")]
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Sentence(sentence, at, at + len(sentence)))
        at += len(sentence) + 1
    whole = " ".join(sentences)
    section = Section(f"{article}/{number}", article, article, (), whole, 0, len(whole), tuple(spans), domain=domain)
    candidate = Candidate(f"What of {article} {number} {text[:9]}?", sentences[1], (0, 1))
    return dataset.row_from(section, candidate, generator="rules", reviewed_by=["checks"])


def many(count: int, domains: int = 1) -> list[dict[str, Any]]:
    """Pairs on `count` articles; the first 20 are of `domains` domains, whatever comes after them."""
    text = "The act {n} of {i} has a name of its own {m}. It was {i} passed in {n} with {k}"
    return [
        passage(f"a{n}", i, text.format(n=n, i=i, m=n * 7, k=n * i), f"d{n % domains}" if n < 20 else f"e{n % 3}")
        for n in range(count)
        for i in range(1 + n % 4)
    ]


def test_a_row_keeps_its_split_when_rows_are_added() -> None:
    old = many(20, 5)
    before = splits.divide(old, {})
    now = splits.divide(many(60, 5), before)
    for config in ("default", "random", "domain"):
        assert {id: now[config][id] for id in before[config]} == before[config]


def test_no_unit_is_in_two_splits_and_the_shares_are_met() -> None:
    rows = many(100, 12)
    divided = splits.divide(rows, {})
    for config, column in (("default", "article_id"), ("random", "section_id"), ("domain", "domain")):
        homes: dict[str, set[str]] = {}
        for row in rows:
            homes.setdefault(row[column], set()).add(divided[config][row["id"]])
        assert all(len(where) == 1 for where in homes.values())
        train = sum(split == "train" for split in divided[config].values()) / len(rows)
        assert 0.6 < train < 0.85


def test_related_passages_and_shared_evidence_go_together() -> None:
    text = "The Harbour Act of 1921 built a long pier of grey stone. It cost the port more than two hundred thousand"
    rows = many(30)
    rows += [passage("twin-a", 0, f"{text} pounds"), passage("twin-b", 0, f"{text} francs")]
    shared = "The committee of the whole house sat for nine days on end. It then rose"
    rows += [
        passage("ev-a", 0, f"{shared} for tea"),
        passage("ev-b", 0, f"{shared} without a word, and went home by the last train"),
    ]
    divided = splits.divide(rows, {})["default"]
    home = {row["article_id"]: divided[row["id"]] for row in rows}
    assert home["twin-a"] == home["twin-b"]
    assert home["ev-a"] == home["ev-b"]


def test_one_domain_cannot_be_divided_by_domain_and_the_card_says_so(first: Path) -> None:
    assert "domain" not in splits.divide(many(10), {})
    assert "There is no config `domain`: all pairs are of one domain" in (first / "README.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("count", [3, 4, 5, 50])
def test_no_split_stays_empty_where_there_are_groups_enough(count: int) -> None:
    assert set(splits.pack({f"g{n}": 1 for n in range(count)}, {}).values()) == set(splits.SHARES)


def test_another_seed_packs_otherwise() -> None:
    sizes = {f"g{n}": 1 for n in range(40)}
    assert splits.pack(sizes, {}, 1) != splits.pack(sizes, {}, 2)

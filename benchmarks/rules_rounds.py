"""The second to thirteenth readings of the embedded default: what was read, what readers said, and one table for each.

The second was of articles that came into the repository later; the third of articles that were kept unread, our own,
FreshWiki's, Quoref's, QED's and HotpotQA's, after the rules had been rewritten with the first two readings in sight;
the fourth and fifth of articles written for them and of Wikipedia text of which no candidate had been read; the others
of articles written for them alone, legal ones and others, since no Wikipedia text here was unread any more. Those of
the tenth to thirteenth were asked for in Wikipedia's usual prose, with its pronouns where it would have them; the
ones before are denser.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import rules, rules_texts
from generation.errors import UsageError
from generation.records import PROBLEM_CODES

ROUNDS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
DEFAULTS = {2: 0.72, 3: 0.6, 4: 0.55, 5: 0.55, 6: 0.6, 7: 0.6, 8: 0.7, 9: 0.7, 10: 0.7, 11: 0.7, 12: 0.75, 13: 0.7}
"""The default confidence when a round was read."""
LEAST = 0.5
"""Candidates that are less sure than the default are read too, to tell what another default would be worth."""
SOURCES = ("legal", "freshwiki", "quoref", "qed", "hotpotqa")
UNREAD = ("legal", "general", "freshwiki", "wikitext", "hotpotqa", "qed")
"""Sources of the fourth reading and of those after it."""
MOST_OF_SOURCE = 80
"""Candidates of one source in such a reading."""
A_FILE = 25
"""Candidates in each file that its readers are given."""
NEEDED = ("id", "reader", "is_quality", "problems", "is_grammatical", "reason")


def candidates_of(number: int) -> Path:
    return rules.READING / f"round{number}.jsonl"


def verdicts_of(number: int) -> Path:
    return rules.READING / f"round{number}_verdicts.jsonl"


def coverage_of(number: int) -> Path:
    return rules.READING / f"round{number}_coverage.json"


async def record(path: Path) -> list[str]:
    """Offer at most 100 candidates on the texts kept for the third reading; store them, write them for readers."""
    found, measured = [], {}
    for source in SOURCES:
        more, measured[source] = await rules.offers(source, rules_texts.sections(source, "fresh"))
        found += more
    picked = list(enumerate(rules.chosen(found), 1))
    rules.write_lines(candidates_of(3), (json.dumps(rules.as_row(o, n), ensure_ascii=False) for n, o in picked))
    coverage_of(3).write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    rules.write_lines(path, (line for n, o in picked for line in rules.readable(o, n)))
    return list(rules.coverage_table(measured))


async def record_unread(number: int, folder: Path, written: rules_texts.Written) -> list[str]:
    """Offer candidates of at least LEAST on texts of which none was read; store them, write them to `folder`.

    `written` are the files written for this reading. Each file in `folder` (cands-0.txt, ...) holds A_FILE candidates.
    Raises UsageError for a round that is no such reading, or whose verdicts are stored already.
    """
    if number not in ROUNDS[2:] or verdicts_of(number).exists():
        raise UsageError(f"Round {number} cannot be offered anew; add the next round to ROUNDS and DEFAULTS.")
    labelled = {row["article"] for row in rules.read_rows(rules.READING / "tuning.jsonl")} | rules_texts.SEEN
    found, measured = [], {}
    for source in UNREAD:
        more, measured[source] = await rules.offers(source, rules_texts.unread(source, written))
        sure = [o for o in more if o.scored.confidence >= LEAST and o.section.article_title not in labelled]
        found += rules.chosen(sure, MOST_OF_SOURCE)
    picked = list(enumerate(rules.chosen(found, len(found)), 1))
    rules.write_lines(candidates_of(number), (json.dumps(rules.as_row(o, n), ensure_ascii=False) for n, o in picked))
    rules.write_lines(
        rules.READING / f"round{number}_articles.txt", sorted({o.section.article_title for _, o in picked})
    )
    coverage_of(number).write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(picked), A_FILE):
        lines = (line for n, o in picked[first : first + A_FILE] for line in rules.readable(o, n))
        rules.write_lines(folder / f"cands-{first // A_FILE}.txt", lines)
    return list(rules.coverage_table(measured))


def merge(number: int, files: Sequence[Path]) -> str:
    """Add readers' verdicts to a round's; what one reader said before of a candidate is replaced.

    Raises UsageError for an unknown round, a row that lacks a field, an unknown id or an unknown problem code.
    """
    if number not in ROUNDS:
        raise UsageError(f"There is no round {number}; choose one of {', '.join(map(str, ROUNDS))}.")
    known = {row["id"] for row in rules.read_rows(candidates_of(number))}
    said = {(v["id"], v["reader"]): v for v in rules.read_rows(verdicts_of(number))}
    for file in files:
        for line, verdict in enumerate(rules.read_rows(file), 1):
            _checked(verdict, known, f"{file}, line {line}")
            said[verdict["id"], verdict["reader"]] = verdict
    rows = sorted(said.values(), key=lambda v: (v["reader"], v["id"]))
    rules.write_lines(verdicts_of(number), (json.dumps(v, ensure_ascii=False) for v in rows))
    return f"{verdicts_of(number).name} holds {len(rows)} verdicts on {len({v['id'] for v in rows})} candidates."


def _checked(verdict: dict, known: set[int], where: str) -> None:
    if missing := [name for name in NEEDED if name not in verdict]:
        raise UsageError(f"{where}: {', '.join(missing)} is missing.")
    if verdict["id"] not in known:
        raise UsageError(f"{where}: there is no candidate {verdict['id']}.")
    if unknown := set(verdict["problems"]) - set(PROBLEM_CODES):
        raise UsageError(f"{where}: {', '.join(sorted(unknown))} is no problem code.")


def page() -> Iterator[str]:
    """docs/embedded_default.md: the tables of all rounds, and examples from the latest that was read."""
    yield "# The embedded default: what readers said of its pairs\n"
    yield "Written by `python -m benchmarks.rules --examples` from the stored readings (`benchmarks/rules_reading`)."
    yield "Each round is of the rules as they then were, with their confidences, on texts not tuned on.\n"
    yield "```"
    yield from rules.tables()
    yield "```\n"
    read = [n for n in ROUNDS if verdicts_of(n).exists()]
    candidates, verdicts = rules.read_rows(candidates_of(read[-1])), rules.read_rows(verdicts_of(read[-1]))
    judged = {v["id"] for v in verdicts}
    yield f"Twenty good pairs and twenty bad ones of round {read[-1]}. Good means that all readers signed the pair, bad"
    yield "that one refused it. Words are those of our own articles, of Wikipedia (FreshWiki, QED, HotpotQA, GAP and"
    yield "WikiText, CC BY-SA) or of Quoref (CC BY 4.0); numbers are indices of the required sentences."
    yield from rules.examples([c for c in candidates if c["id"] in judged], verdicts)


def table(number: int) -> Iterator[str]:
    """Coverage, where it was measured, and precision of one round."""
    candidates, verdicts = rules.read_rows(candidates_of(number)), rules.read_rows(verdicts_of(number))
    yield f"Round {number}: {len(candidates)} candidates."
    if coverage_of(number).exists():
        yield from rules.coverage_table(json.loads(coverage_of(number).read_text(encoding="utf-8")))
    yield from rules.precision(candidates, verdicts, DEFAULTS[number]) if verdicts else ["  not read yet"]

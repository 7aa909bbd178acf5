"""What the embedded default is worth: precision by two readers' verdicts, coverage of texts that nobody tuned on, time.

    python -m benchmarks.rules                          the tables, from the stored reading
    python -m benchmarks.rules --coverage               coverage and time measured again on the held-out half
    python -m benchmarks.rules --input FILE [FILE ...]  what it offers on plain text files of your own
    python -m benchmarks.rules --record READABLE        offer 100 candidates anew; write them for readers
    python -m benchmarks.rules --third READABLE         the same on texts kept for the third reading
    python -m benchmarks.rules --unread 13 FOLDER --input FILE [FILE ...] --general FILE [FILE ...]
                                                        the same for the thirteenth reading, on texts nobody has read:
                                                        FILEs are articles written for it, legal ones and others
    python -m benchmarks.rules --merge 13 FILE [FILE]   add what readers of the thirteenth reading said
    python -m benchmarks.rules --examples               write docs/embedded_default.md from the stored reading

`rules_reading/candidates.jsonl` holds the candidates that were read, `verdicts.jsonl` beside it what a reader said
({id, reader, is_quality, problems, is_grammatical, reason}), `coverage.json` how much was offered. Only what
the checks and the embedded panel accept counts as offered, at most one a section.
"""

import argparse
import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import rules_rounds, rules_texts
from generation import checks, corpus, rules
from generation.language import nlp
from generation.records import Section

READING = Path(__file__).parent / "rules_reading"
CANDIDATES, VERDICTS, COVERAGE = READING / "candidates.jsonl", READING / "verdicts.jsonl", READING / "coverage.json"
EXAMPLES = Path(__file__).parents[1] / "docs" / "embedded_default.md"
THRESHOLDS = (0.3, 0.5, 0.55, 0.6, 0.65, 0.7, 0.72, 0.75, 0.8)
FIRST_DEFAULT = 0.7
"""The default confidence when the first reading was made."""
TRIED = 6
WANTED = 100
Row = dict[str, Any]


@dataclass(frozen=True)
class Offer:
    """The best candidate of one section that checks and panel accept."""

    source: str
    section: Section
    scored: rules.Scored


async def offer(source: str, section: Section) -> Offer | None:
    """What the loop would accept: the best of six candidates that the checks and all four reviewers pass."""
    sentences = [s.text for s in section.sentences]
    for scored in rules.candidates(section)[:TRIED]:
        if any(p.certainty == "certain" for p in checks.run(scored.candidate, sentences)):
            continue
        verdicts = [await reviewer.judge(section, scored.candidate) for reviewer in rules.panel()]
        if all(v.is_quality for v in verdicts):
            return Offer(source, section, scored)
    return None


async def offers(source: str, sections: Iterable[Section]) -> tuple[list[Offer], Row]:
    """All offers of a source, and how many of how many sections have one at which confidence, and how fast."""
    nlp.load()
    known = list(sections)
    start = time.process_time()
    found = [o for section in known if (o := await offer(source, section)) is not None]
    spent = 1000 * (time.process_time() - start) / max(1, len(known))
    at = {str(t): sum(o.scored.confidence >= t for o in found) for t in THRESHOLDS}
    words = sum(len(s.text.split()) for s in known) / max(1, len(known))
    return found, {"sections": len(known), "words": round(words), "offered": at, "cpu_ms_a_section": round(spent)}


def coverage_table(measured: dict[str, Row]) -> Iterator[str]:
    for source, row in measured.items():
        shares = ", ".join(f">= {t}: {n / max(1, row['sections']):.0%}" for t, n in row["offered"].items())
        words, spent = row["words"], row["cpu_ms_a_section"]
        yield f"  {source:9} {row['sections']:4} sections of {words} words, {spent} ms each; with a candidate {shares}"


# the reading


def as_row(found: Offer, number: int) -> Row:
    """A candidate for the record: of its text only where it stands and the hashes of its sentences."""
    section, candidate = found.section, found.scored.candidate
    return {
        "id": number,
        "source": found.source,
        "article": section.article_title,
        "section": section.title,
        "section_id": section.id,
        "sentences": [
            {"index": i, "sha256": hashlib.sha256(section.sentences[i].text.encode()).hexdigest()[:16]}
            for i in candidate.required_sentence_indices
        ],
        "confidence": found.scored.confidence,
        "target": found.scored.target,
        "kind": candidate.kind,
        "question": candidate.question,
        "answer": candidate.answer,
        "coreferences": [asdict(c) for c in candidate.coreferences],
    }


def chosen(found: Sequence[Offer], wanted: int = WANTED) -> list[Offer]:
    """So many as are wanted: those of enough confidence, and if these are too few, the surest of the others."""
    by_hash = sorted(found, key=lambda o: hashlib.sha256(o.section.text.encode()).hexdigest())
    sure = [o for o in by_hash if o.scored.confidence >= rules.MIN_CONFIDENCE][:wanted]
    unsure = sorted((o for o in by_hash if o not in sure), key=lambda o: -o.scored.confidence)
    together = sure + unsure[: wanted - len(sure)]
    return [o for o in by_hash if o in together]


def readable(found: Offer, number: int) -> Iterator[str]:
    """A candidate with its section for a reader, the required sentences marked; no confidence, not to lead them."""
    candidate = found.scored.candidate
    yield f"=== {number}  {found.section.article_title} | {found.section.title} ==="
    for index, sentence in enumerate(found.section.sentences):
        if index <= candidate.required_sentence_indices[-1] + 3:
            mark = "**" if index in candidate.required_sentence_indices else "  "
            yield f"{mark}[{index}] {sentence.text}"
    yield f"QUESTION: {candidate.question}"
    yield f"ANSWER:   {candidate.answer}"
    yield f"REQUIRED: {list(candidate.required_sentence_indices)}"
    for c in candidate.coreferences:
        mention, antecedent = c.mention, c.antecedent
        yield f"LINK:     [{mention.sentence_index}] {mention.text} -> [{antecedent.sentence_index}] {antecedent.text}"
    yield ""


async def record(path: Path) -> None:
    """Offer candidates on the held-out half; store them and the coverage, and write them to `path` for readers."""
    found, measured = [], {}
    for source in rules_texts.SOURCES:
        more, measured[source] = await offers(source, rules_texts.sections(source, "held-out"))
        found += more
    picked = list(enumerate(chosen(found), 1))
    READING.mkdir(exist_ok=True)
    write_lines(CANDIDATES, (json.dumps(as_row(o, n), ensure_ascii=False) for n, o in picked))
    COVERAGE.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, (line for n, o in picked for line in readable(o, n)))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_rows(path: Path) -> list[Row]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def precision(candidates: Sequence[Row], verdicts: Sequence[Row], default: float) -> Iterator[str]:
    """Shares of candidates that each reader, and both, would sign: by confidence, source, kind, target and length."""
    said: dict[int, dict[str, bool]] = {}
    for v in verdicts:
        said.setdefault(v["id"], {})[v["reader"]] = v["is_quality"]
    readers = sorted({v["reader"] for v in verdicts})
    for threshold in THRESHOLDS:
        yield _shares(
            f"confidence >= {threshold}", [c for c in candidates if c["confidence"] >= threshold], said, readers
        )
    sure = [c for c in candidates if c["confidence"] >= default]
    yield f"  at the default confidence of {default}:"
    for key in ("source", "kind", "target"):
        for value in sorted({c[key] for c in sure}):
            yield _shares(f"{key} {value}", [c for c in sure if c[key] == value], said, readers)
    for length in sorted({len(c["sentences"]) for c in sure}):
        yield _shares(f"{length} sentences", [c for c in sure if len(c["sentences"]) == length], said, readers)
    ids = {c["id"] for c in sure}
    for reader in readers:
        own = [v for v in verdicts if v["reader"] == reader and v["id"] in ids]
        fine = sum(v["is_grammatical"] for v in own)
        problems = Counter(code for v in own if not v["is_quality"] for code in v["problems"])
        yield f"  {reader}: grammatical {fine}/{len(own)}; problems {dict(problems.most_common())}"


def _shares(label: str, rows: Sequence[Row], said: dict[int, dict[str, bool]], readers: Sequence[str]) -> str:
    judged = [said[c["id"]] for c in rows if set(said.get(c["id"], {})) == set(readers)]
    each = [f"{r} {sum(j[r] for j in judged)}/{len(judged)}" for r in readers]
    return f"  {label:22} " + "  ".join([*each, f"both {sum(all(j.values()) for j in judged)}/{len(judged)}"])


def examples(candidates: Sequence[Row], verdicts: Sequence[Row], wanted: int = 20) -> Iterator[str]:
    """Good and bad examples in the order of the record; bad is what a reader refused."""
    refused: dict[int, Row] = {}
    for v in verdicts:
        if not v["is_quality"]:
            refused.setdefault(v["id"], v)
    for title, rows in (
        ("Good", [c for c in candidates if c["id"] not in refused]),
        ("Bad", [c for c in candidates if c["id"] in refused]),
    ):
        yield f"\n## {title}\n"
        for c in rows[:wanted]:
            indices = ", ".join(str(s["index"]) for s in c["sentences"])
            where = f"{c['article']}, {c['section']}: {indices}; confidence {c['confidence']:.2f}"
            yield f"- *{c['question']}* {c['answer']} ({where})"
            if c["id"] in refused:
                verdict = refused[c["id"]]
                yield f"  - {', '.join(verdict['problems'])}: {verdict['reason']}"


def tables() -> Iterator[str]:
    candidates, verdicts = read_rows(CANDIDATES), read_rows(VERDICTS)
    yield "Coverage of the held-out half, at most one candidate a section:"
    yield from coverage_table(json.loads(COVERAGE.read_text(encoding="utf-8")))
    yield f"Precision of {len(candidates)} held-out candidates:"
    yield from precision(candidates, verdicts, FIRST_DEFAULT) if verdicts else ["  not read yet"]
    for number in rules_rounds.ROUNDS:
        yield from rules_rounds.table(number)


async def measure(inputs: Sequence[Path]) -> Iterator[str]:
    """Coverage and time on files, or on the held-out half."""
    if inputs:
        texts = {path.name: corpus.read([str(path)]) for path in inputs}
    else:
        texts = {source: rules_texts.sections(source, "held-out") for source in rules_texts.SOURCES}
    measured = {name: await offers(name, sections) for name, sections in texts.items()}
    lines = list(coverage_table({name: row for name, (_, row) in measured.items()}))
    if inputs:
        for found, _ in measured.values():
            lines += [
                f"{o.scored.confidence:.2f} {o.scored.candidate.question} => {o.scored.candidate.answer}" for o in found
            ]
    return iter(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coverage", action="store_true", help="measure coverage and time again")
    parser.add_argument("--input", type=Path, nargs="+", help="measure on these files, and show what is offered")
    parser.add_argument("--general", type=Path, nargs="+", help="articles on other matters written for --unread")
    parser.add_argument("--record", type=Path, help="store new candidates and write them for readers to this file")
    parser.add_argument("--third", type=Path, help="store the third reading's candidates, and write them to this file")
    parser.add_argument(
        "--unread", nargs=2, metavar=("ROUND", "FOLDER"), help="the same on texts of which none was read"
    )
    parser.add_argument("--merge", nargs="+", metavar=("ROUND", "FILE"), help="add readers' verdicts to a round's")
    parser.add_argument("--examples", action="store_true", help="write docs/embedded_default.md")
    options = parser.parse_args()
    if options.record:
        asyncio.run(record(options.record))
    elif options.third:
        print(*asyncio.run(rules_rounds.record(options.third)), sep="\n")
    elif options.unread:
        number, folder = int(options.unread[0]), Path(options.unread[1])
        written = {"legal": options.input or (), "general": options.general or ()}
        print(*asyncio.run(rules_rounds.record_unread(number, folder, written)), sep="\n")
    elif options.merge:
        print(rules_rounds.merge(int(options.merge[0]), [Path(name) for name in options.merge[1:]]))
    elif options.coverage or options.input:
        print(*asyncio.run(measure(options.input or ())), sep="\n")
    elif options.examples:
        EXAMPLES.parent.mkdir(exist_ok=True)
        write_lines(EXAMPLES, rules_rounds.page())
    else:
        print(*tables(), sep="\n")


if __name__ == "__main__":
    main()

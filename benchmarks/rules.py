"""What the embedded default offers on real text: coverage, confidence, targets, time; and the candidates to judge.

    python -m benchmarks.rules                            FreshWiki sections of six sentences or more
    python -m benchmarks.rules --input FILE [FILE ...]    plain text files, passages separated by a line "==="
    python -m benchmarks.rules --write out.jsonl          the best accepted candidate of each section, for reading
    python -m benchmarks.rules --judged judged.jsonl      precision by confidence, kind and target of a read file

A judged file is a written one with `"good": true` or `false` and, if bad, `"problem"` (a code of Table 2) on each line.
Only a candidate that the embedded panel accepts counts as offered.
"""

import argparse
import asyncio
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from generation import rules
from generation.language import nlp
from generation.records import Section, Sentence

FRESHWIKI = Path(__file__).parents[2] / "shared" / "data" / "freshwiki"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
_CITATIONS = re.compile(r"\[(?:\d+|[a-z]|note \d+|citation needed)\]")


@dataclass(frozen=True)
class Offer:
    """The best candidate of one section that the embedded panel accepts."""

    section: Section
    scored: rules.Scored


def freshwiki(folder: Path, part: int | None = None) -> Iterator[Section]:
    """Sections of FreshWiki's articles, references left out; `part` 0 or 1 takes every other article."""
    paths = sorted(folder.glob("*.md"))
    for path in paths if part is None else paths[part::2]:
        seen: set[str] = set()
        for number, block in enumerate(re.split(r"(?m)^#.*$", path.read_text(encoding="utf-8").partition("\n")[2])):
            lines = [ln for ln in block.splitlines() if ln.strip() and not re.match(r"\[\d+\] http", ln)]
            text = re.sub(r" +", " ", _CITATIONS.sub("", "\n\n".join(lines))).strip()
            if text and text not in seen:
                seen.add(text)
                yield section(f"{path.stem}-{number}", text)


def passages(paths: Sequence[Path]) -> Iterator[Section]:
    for path in paths:
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n===\n")):
            yield section(f"{path.stem}-{number}", text.strip())


def section(name: str, text: str) -> Section:
    """A section of one's own, split by nupunkt within paragraphs."""
    import nupunkt

    sentences = []
    for block in re.finditer(r"[^\n]+", text):
        for start, end in nupunkt.sent_spans(block.group()):
            found = block.group()[start:end]
            first = block.start() + start + len(found) - len(found.lstrip())
            if found.strip():
                sentences.append(Sentence(found.strip(), first, first + len(found.strip())))
    return Section(name, name, name, (), text, 0, len(text), tuple(sentences))


async def offer(given: Section) -> Offer | None:
    """What the loop would accept: the best of six candidates that all four reviewers pass."""
    for scored in rules.candidates(given)[:6]:
        verdicts = [await r.judge(given, scored.candidate) for r in rules.panel()]
        if all(v.is_quality for v in verdicts):
            return Offer(given, scored)
    return None


def report(sections: Sequence[Section], offers: Sequence[Offer], seconds: float) -> Iterator[str]:
    words = sum(len(s.text.split()) for s in sections) / max(1, len(sections))
    yield f"{len(sections)} sections of {words:.0f} words; {1000 * seconds / max(1, len(sections)):.0f} ms a section"
    for threshold in THRESHOLDS:
        sure = sum(o.scored.confidence >= threshold for o in offers)
        yield f"  confidence >= {threshold}: a candidate for {sure} sections ({sure / max(1, len(sections)):.1%})"
    sure_offers = [o for o in offers if o.scored.confidence >= rules.MIN_CONFIDENCE]
    yield f"  targets: {dict(Counter(o.scored.target for o in sure_offers).most_common())}"
    yield f"  kinds: {dict(Counter(o.scored.candidate.kind for o in sure_offers).most_common())}"
    lengths = Counter(len(o.scored.candidate.required_sentence_indices) for o in sure_offers)
    yield f"  required sentences: {dict(sorted(lengths.items()))}"


def line(found: Offer) -> str:
    """One offer as JSON, with the sentences that it requires and, to be filled in, the reader's judgement."""
    candidate = found.scored.candidate
    row = {
        "section": found.section.id,
        "confidence": found.scored.confidence,
        "target": found.scored.target,
        "kind": candidate.kind,
        "sentences": {i: found.section.sentences[i].text for i in candidate.required_sentence_indices},
        **asdict(candidate),
        "good": None,
        "problem": "",
    }
    return json.dumps(row, ensure_ascii=False)


def precision(rows: Sequence[dict]) -> Iterator[str]:
    """Shares of good candidates among those judged, by threshold, kind and target."""
    judged = [r for r in rows if r["good"] is not None]
    for threshold in THRESHOLDS:
        sure = [r["good"] for r in judged if r["confidence"] >= threshold]
        if sure:
            yield f"  confidence >= {threshold}: {sum(sure) / len(sure):.2f} of {len(sure)}"
    for key in ("kind", "target"):
        groups: dict[str, list[bool]] = defaultdict(list)
        for row in judged:
            groups[row[key]].append(row["good"])
        yield f"  by {key}: " + ", ".join(f"{k} {sum(v)}/{len(v)}" for k, v in sorted(groups.items()))
    yield f"  problems: {dict(Counter(r['problem'] for r in judged if not r['good']).most_common())}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, nargs="+", help="plain text files instead of FreshWiki")
    parser.add_argument(
        "--part", type=int, choices=(0, 1), help="every other FreshWiki article, from the first or second"
    )
    parser.add_argument("--min-sentences", type=int, default=6, help="default: %(default)s")
    parser.add_argument("--write", type=Path, help="write the offers as JSON lines")
    parser.add_argument("--judged", type=Path, help="only report on a file that was read and judged")
    options = parser.parse_args()
    if options.judged:
        rows = [json.loads(ln) for ln in options.judged.read_text(encoding="utf-8").splitlines() if ln.strip()]
        print(options.judged.name, *precision(rows), sep="\n")
        return
    found = passages(options.input) if options.input else freshwiki(FRESHWIKI, options.part)
    sections = [s for s in found if len(s.sentences) >= options.min_sentences]
    nlp.load()
    start = time.perf_counter()
    offers = [o for s in sections if (o := await offer(s)) is not None]
    print(*report(sections, offers, time.perf_counter() - start), sep="\n")
    if options.write:
        options.write.write_text("\n".join(map(line, offers)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())

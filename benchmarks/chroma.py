"""Chroma's published PrecisionOmega beside ours: python -m benchmarks.chroma [FOLDER]

FOLDER holds the set as its authors publish it: five corpora in Markdown and questions_df.csv with 472 questions. Sizes
are tokens of cl100k. PrecisionOmega needs no retrieval, so the rows of its table can be compared as they stand.

Chroma looks for a chunk by its text and takes the first place where it stands. One corpus repeats whole pages, so that
276 of the 1,644 windows of 200 tokens are put where they were not cut. "As theirs" does the same, "true" does not.
Source: Smith and Troynikov 2024 (Chroma), "Evaluating Chunking Strategies for Retrieval", first table.
"""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from time import perf_counter

from evaluation import chunk_metrics, chunkers
from evaluation.chunkers import Chunk
from evaluation.examples import Document, Place, split

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "chroma_chunking"
PUBLISHED = {  # PrecisionOmega in percent and its deviation over the questions
    "recursive:800:400": "6.7 ± 5.2",
    "recursive:400:200": "13.9 ± 10.4",
    "recursive:400": "17.7 ± 14.0",
    "recursive:200": "29.9 ± 18.4",
    "tokens:800:400": "4.7 ± 3.1",
    "tokens:400:200": "8.4 ± 5.1",
    "tokens:400": "12.5 ± 8.1",
    "tokens:200": "21.0 ± 11.9",
}
OURS = ("sentences:5", "sentences:10", "unicode:200", "markdown:200")
"""Chunkers that the report does not have, for comparison."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a published figure is not reproduced."""
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0]) if given else FOLDER
    if not (folder / "questions_df.csv").exists():
        print(f"Chroma's set is not in {folder}: give the folder that holds questions_df.csv.", file=sys.stderr)
        return 2
    documents = {path.stem: _document(path) for path in sorted(folder.glob("*.md"))}
    questions = _questions(folder / "questions_df.csv")
    print(f"{len(questions)} questions, {len(documents)} corpora\n")
    head = ("chunker", "chunks", "tokens", "whole", "true", "as theirs", "published")
    print("{:<18} {:>6} {:>7} {:>6}  {:<12} {:<12} {:<12} seconds".format(*head))
    same = [_row(name, documents, questions) == published for name, published in PUBLISHED.items()]
    for name in OURS:
        _row(name, documents, questions)
    return 0 if all(same) else 1


def _row(name: str, documents: dict[str, Document], questions: Sequence[tuple[Place, ...]]) -> str:
    """Print a chunker's row; PrecisionOmega on Chroma's places, as the report writes it, comes back."""
    unit = chunkers.tokenizer("cl100k")
    chunker = chunkers.make(name if name.startswith("sentences") else f"{name}@cl100k")
    start = perf_counter()
    pieces = {id: chunker(document) for id, document in documents.items()}
    seconds = perf_counter() - start
    theirs = {id: [_first_place(documents[id].text, chunk) for chunk in chunks] for id, chunks in pieces.items()}
    every = [chunk for chunks in pieces.values() for chunk in chunks]
    whole = fmean(chunk_metrics.in_one(pieces[r[0].document], r) for r in questions)
    ours, published = _omega(theirs, questions), PUBLISHED.get(name, "")
    mark = "" if not published else "  same" if ours == published else "  DIFFERENT"
    print(
        f"{name:<18} {len(every):>6} {fmean(unit.count(c.text) for c in every):>7.1f} {100 * whole:>6.1f}  "
        f"{_omega(pieces, questions):<12} {ours:<12} {published:<12} {seconds:>7.2f}{mark}",
        flush=True,
    )
    return ours


def _omega(pieces: Mapping[str, Sequence[Chunk | Place]], questions: Sequence[tuple[Place, ...]]) -> str:
    scores = [100 * chunk_metrics.precision_omega(pieces[r[0].document], r).score for r in questions]
    return f"{fmean(scores):.1f} ± {pstdev(scores):.1f}"


def _first_place(text: str, chunk: Chunk) -> Place:
    """Where Chroma's evaluation takes the chunk to be: the first place where its text stands."""
    start = text.find(chunk.text)
    return Place(chunk.document, start, start + len(chunk.text))


def _document(path: Path) -> Document:
    text = path.read_text(encoding="utf-8")  # line ends as the authors' ranges count them
    return Document(path.stem, path.stem, text, (), split(text))


def _questions(path: Path) -> list[tuple[Place, ...]]:
    """The places that answer each question, all in one corpus."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        tuple(Place(row["corpus_id"], r["start_index"], r["end_index"]) for r in json.loads(row["references"]))
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())

"""How many of the required sets of data/ lie whole in one chunk, by chunker and largest chunk, as a Markdown table.

    python -m benchmarks.chunks

In brackets the mean size of a chunk; sizes count words and marks. The oracle knows the labelled links: an upper bound,
no chunker that could be used.
"""

import sys
from pathlib import Path

from evaluation import adapters, chunk_metrics, chunkers, tables
from evaluation.examples import ExampleSet

DATA = Path(__file__).parents[1] / "data"
SIZES = (60, 100, 150, 200, 300)
NAMES = ("tokens", "recursive", "sections", "coref", "oracle")


def main() -> int:
    """Print the table."""
    pairs = adapters.load(DATA)
    print(f"{len(pairs.examples)} questions, {len(pairs.documents)} documents")
    rows = [(str(size), *(share(pairs, f"{name}:{size}") for name in NAMES)) for size in SIZES]
    print(tables.table(("largest chunk", *NAMES), rows))
    return 0


def share(pairs: ExampleSet, name: str) -> str:
    """Per cent of the questions whose required sentences all lie in one chunk."""
    cut = chunkers.chunk_all(chunkers.make(name, examples=pairs), pairs.documents.values())
    report = chunk_metrics.report(pairs, cut)
    return f"{100 * report.all.whole:.1f} ({report.mean_tokens:.0f})"


if __name__ == "__main__":
    sys.exit(main())

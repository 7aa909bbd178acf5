"""Chunkers, retrievers and a reader on our set and on Quoref, for docs/results.md.

    python -m benchmarks.evaluation

The same command again goes on where the last one stopped, and computes only what is new.
Quoref's passages are drawn by chance until they hold as many words as our articles, so that a question has about as
much to be confused with in either set. Embeddings are kept under runs/evaluation/cache.
"""

import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copyfile

from evaluation import adapters, statistics, tables
from evaluation.cells import Cell
from evaluation.examples import ExampleSet
from evaluation.harness import Options, evaluate
from evaluation.plots import best_retriever
from evaluation.report import Compared, Results, distance_of, kind_of
from generation.files import write_whole

ROOT = Path(__file__).parents[1]
QUOREF = ROOT.parent / "shared" / "data" / "quoref" / "quoref-dev-public.json"
OUT = ROOT / "runs" / "evaluation"
PAGE = ROOT / "docs" / "results.md"
SUMMARY = PAGE.parent / "results" / "summary.md"
"""What the card and the datasheet quote (`python -m generation.releases.card`)."""
CHUNKERS = (
    "sections:100",  # whole sentences, at most 100 tokens: the one that all are compared with
    "tokens:50",
    "tokens:100",
    "tokens:200",
    "sentences:1",
    "sentences:3",
    "coref:100",
    "contextual:sections:100",
    "sections",
)
RETRIEVERS = ("bm25", "dense", "hybrid")
PLOTS = {
    "size": "whole-set recall against chunk size",
    "pareto": "whole-set recall against words retrieved",
    "distance": "whole-set recall by distance",
    "kind": "whole-set recall by kind",
}
READ_UNDER = ("bm25",)
READ_CHUNKERS = ("sections:100", "tokens:100", "coref:100", "sections")
READ = 100
"""Questions that the reader reads in each cell, under which chunkers and retriever; it takes about 0.2 s for each."""


def main() -> int:
    """Evaluate both sets and write the page; 1 if Quoref is not there."""
    ours = adapters.load(ROOT / "data")
    found = {"ours": _evaluated(replace(ours, name="CRaQAn"), OUT / "ours")}
    if QUOREF.exists():
        quoref = sample(adapters.load(QUOREF), words(ours))
        found["quoref"] = _evaluated(replace(quoref, name="Quoref (a part)"), OUT / "quoref")
    write_whole(PAGE, page(found))
    for name in found:
        for plot in (OUT / name / "plots").glob("*.png"):
            target = PAGE.parent / "results" / f"{name}-{plot.name}"
            target.parent.mkdir(exist_ok=True)
            copyfile(plot, target)
    if "quoref" in found:
        write_whole(SUMMARY, summary(found["ours"], found["quoref"]))
    print(PAGE.read_text(encoding="utf-8"))
    return 0 if "quoref" in found else 1


def words(examples: ExampleSet) -> int:
    return sum(len(d.text.split()) for d in examples.documents.values())


def sample(examples: ExampleSet, budget: int) -> ExampleSet:
    """Documents in an order by chance (seed 0) until `budget` words are there, with the questions on them."""
    ids = sorted(examples.documents)
    Random(0).shuffle(ids)
    kept, total = {}, 0
    for id in ids:
        if total >= budget:
            break
        kept[id] = examples.documents[id]
        total += len(kept[id].text.split())
    asked = tuple(e for e in examples.examples if all(p.document in kept for p in (*e.context, *e.evidence)))
    return replace(examples, documents=kept, examples=asked)


def _evaluated(examples: ExampleSet, out: Path) -> Results:
    options = Options(cache=OUT / "cache", reader_limit=READ)
    say = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    found = evaluate(examples, CHUNKERS, RETRIEVERS, out=out, options=options, say=say)
    read = evaluate(examples, READ_CHUNKERS, READ_UNDER, ("extractive",), out=out, options=options, say=say)
    both = replace(found, cells=[*found.cells, *read.reading], seconds=found.seconds + read.seconds)
    both.write(out)
    return both


def page(found: dict[str, Results]) -> str:
    """docs/results.md."""
    ours = found["ours"]
    parts = [
        "# Results",
        "Made by `python -m benchmarks.evaluation`; how each figure is defined stands in"
        " [evaluation/ranking.py](../evaluation/ranking.py). Percentages; intervals are 95 % bootstrap intervals over"
        " passages, not over questions. whole@5: all required sentences are in the first five chunks."
        f" {ours.at_budget}: the same for as many of the first chunks as {ours.words} words hold, which large chunks"
        " cannot win by size. Intervals of 100 % or 0 % have no width because no passage differs.",
        "## What they say",
        findings(found),
    ]
    for name, results in found.items():
        parts += _of_set(name, results)
    if "quoref" in found:
        parts += ["## The two sets beside each other", _beside(ours, found["quoref"])]
    return "\n\n".join(parts) + "\n"


def summary(ours: Results, theirs: Results) -> str:
    """A table for the card: a row a chunker, both sets under each retriever, and the reader where it read."""
    names = {r.partition(":")[0]: r for r in dict.fromkeys(c.retriever for c in ours.retrieval)}
    columns = [(results, retriever) for results in (ours, theirs) for retriever in names.values()]
    header = ["chunker", *(f"{label}, {name}" for label in ("CRaQAn", "Quoref") for name in names)]
    rows = [
        [
            chunker,
            *(_told(results, chunker, retriever, results.main).removesuffix(" %") for results, retriever in columns),
        ]
        for chunker in ours.chunkings
    ]
    sizes = [
        f"{len(r.examples.examples):,} questions on {len(r.examples.documents):,} documents" for r in (ours, theirs)
    ]
    return "\n\n".join(
        [
            f"Share of questions whose whole required set is in the first five chunks (%, with the 95 % interval over"
            f" passages): {sizes[0]} of CRaQAn (digest {ours.examples.digest}), {sizes[1]} of Quoref.",
            tables.table(header, rows),
            "A reader by rules, F1 of the answer and of the required sentences, CRaQAn and Quoref:",
            tables.table(("chunks read", "CRaQAn", "Quoref"), _read_by_rules(ours, theirs)),
            "[All figures, how each is defined, and which differences are significant](docs/results.md).",
        ]
    )


def _read_by_rules(ours: Results, theirs: Results) -> list[tuple[str, ...]]:
    """One row a context that the reader was given in both sets."""
    at = {(c.chunker, c.retriever): c for c in theirs.reading}
    rows = []
    for cell in ours.reading:
        if (cell.chunker, cell.retriever) in at:
            read = f"{cell.chunker} / {cell.retriever}, first {ours.reader_k}" if cell.chunker else "the given passage"
            both = ((ours, cell), (theirs, at[cell.chunker, cell.retriever]))
            rows.append((read, *(f"{_share(r, c, 'f1')}, {_share(r, c, 'support_f1')}" for r, c in both)))
    return rows


def _share(results: Results, cell: Cell, measure: str) -> str:
    mean = results.mean(cell, measure)
    return "-" if mean is None else f"{100 * mean:.1f}"


def findings(found: dict[str, Results]) -> str:
    """What the figures say, in sentences that are made from them."""
    lines = [*_on_size(found["ours"]), *_on_distance(found["ours"]), *_on_boundaries(found["ours"])]
    if "quoref" in found:
        lines += _on_sets(found["ours"], found["quoref"])
    return "\n".join(f"- {line}" for line in lines)


def _on_size(results: Results) -> list[str]:
    by_size = [f"tokens:{size}@words" for size in (50, 100, 200)]
    lines = []
    for measure, where in ((results.main, "in the first five chunks"), (results.at_budget, "at an equal budget")):
        shares = [_told(results, chunker, best_retriever(results), measure) for chunker in by_size]
        lines.append(
            f"**Size.** Windows of 50, 100 and 200 tokens hold the whole chain for {', '.join(shares)} of the questions"
            f" {where} ({best_retriever(results)})."
        )
    return lines


def _on_distance(results: Results) -> list[str]:
    retriever, chunker = best_retriever(results), "tokens:50@words"
    cell = next(c for c in results.retrieval if (c.chunker, c.retriever) == (chunker, retriever))
    parts = results.split(cell, results.main, distance_of)
    told = ", ".join(f"{100 * i.mean:.0f} % at {label} (n={i.questions})" for label, i in parts.items())
    return [f"**Distance.** With {chunker} under {retriever}, {results.main} by distance in sentences: {told}."]


def _on_boundaries(results: Results) -> list[str]:
    """What is gained, or lost, against whole sentences filled up to the same size."""
    names = {
        "tokens:100@words": "Windows that cut sentences",
        "coref:100@words": "Boundaries that cut few references",
        "contextual:sections:100@words": "Names carried into the chunk",
    }
    lines = []
    for chunker, what in names.items():
        gains = [d for d in results.differences if d.what == "chunker" and d.a.startswith(f"{chunker} / ")]
        told = "; ".join(
            f"{d.measure} {100 * d.found.difference:+.1f} under {d.a.partition(' / ')[2]}"
            f" (p {tables.p_value(d.p_holm)})"
            for d in gains
        )
        lines.append(f"**{what}** ({chunker}) against {results.retrieval[0].chunker}: {told}.")
    return lines


def _on_sets(ours: Results, theirs: Results) -> list[str]:
    chunker, retriever = "tokens:100@words", "bm25"
    a, b = (_told(r, chunker, retriever, r.main) for r in (ours, theirs))
    one_a, one_b = (100 * r.chunkings[chunker].all.whole for r in (ours, theirs))
    return [
        f"**Difficulty.** With {chunker} under {retriever}, {ours.main} is {a} on CRaQAn and {b} on Quoref; one chunk"
        f" holds everything for {one_a:.0f} % and {one_b:.0f} % of the questions. Quoref's required sentences are"
        " silver ones, so compare the order of chunkers rather than the last percent."
    ]


def _told(results: Results, chunker: str, retriever: str, measure: str) -> str:
    cell = next(c for c in results.retrieval if (c.chunker, c.retriever) == (chunker, retriever))
    found = results.interval(cell, measure)
    return "-" if found is None else f"{100 * found.mean:.1f} [{100 * found.low:.0f}, {100 * found.high:.0f}] %"


def _of_set(name: str, results: Results) -> list[str]:
    e = results.examples
    retriever = best_retriever(results)
    best = [c for c in results.retrieval if c.retriever == retriever]
    parts = [
        f"## {e.name}",
        f"{len(e.examples):,} questions on {len(set(results.groups.values())):,} passages, {len(e.documents):,}"
        f" documents, {words(e):,} words (digest {e.digest})."
        + (f" The set lacks: {'; '.join(e.lacks)}." if e.lacks else ""),
        tables.chunks(results),
        tables.retrieval(results),
    ]
    for what, of in (("sentences from the first to the last required one", distance_of), ("kind", kind_of)):
        if split := tables.by(results, best, of):
            parts += [f"{results.main} under {retriever} by {what}:", split]
    parts += [
        *(f"![{label}](results/{name}-{plot}.png)" for plot, label in PLOTS.items() if _is_drawn(name, plot)),
        "### Reader by rules",
        tables.readers(results),
        "### Differences",
        tables.differences(results, [d for d in results.differences if _is_told(d)]),
    ]
    return parts


def _is_drawn(name: str, plot: str) -> bool:
    return (OUT / name / "plots" / f"{plot}.png").exists()


def _is_told(compared: Compared) -> bool:
    """Chunkers against the first, and retrievers against BM25; the reader's differences stand in results.json."""
    return compared.what != "reader"


def _beside(ours: Results, theirs: Results) -> str:
    """One row a chunker and retriever, our mean minus Quoref's."""
    at = {(c.chunker, c.retriever): c for c in theirs.retrieval}
    pairs = [(c, at[c.chunker, c.retriever]) for c in ours.retrieval if (c.chunker, c.retriever) in at]
    rows, ps = [], []
    for a, b in pairs:
        x, y = a.values(ours.main, ours.groups), b.values(theirs.main, theirs.groups)
        d = statistics.unpaired(
            list(x.values()), [ours.groups[i] for i in x], list(y.values()), [theirs.groups[i] for i in y]
        )
        rows.append((a.chunker, a.retriever, d))
        ps.append(d.p)
    header = ("chunker", "retriever", f"CRaQAn minus Quoref, {ours.main}", "p (Holm)")
    lines = [
        (c, r, f"{100 * d.difference:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]", tables.p_value(p))
        for (c, r, d), p in zip(rows, statistics.holm(ps), strict=True)
    ]
    return tables.table(header, lines)


if __name__ == "__main__":
    sys.exit(main())

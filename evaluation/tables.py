"""Results as Markdown: one table a question that a researcher asks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from evaluation.cells import Cell
from evaluation.report import distance_of, kind_of
from evaluation.statistics import Interval
from generation import __version__

if TYPE_CHECKING:
    from evaluation.report import Compared, Results

ALPHA = 0.05


def markdown(results: "Results") -> str:
    """All tables that the results have something for."""
    parts = [*_head(results)]
    if results.retrieval:
        parts += ["## Chunks", chunks(results), "## Retrieval", retrieval(results)]
        for title, of in (("distance between the required sentences", distance_of), ("kind of coreference", kind_of)):
            if split := by(results, results.retrieval, of):
                parts += [f"## {results.main} by {title}", split]
    if results.reading:
        parts += ["## Readers", readers(results)]
    if results.differences:
        parts += ["## Differences", differences(results, results.differences)]
    return "\n\n".join(parts) + "\n"


def _head(results: "Results") -> Iterator[str]:
    found = results.examples
    yield f"# {found.name}"
    yield (
        f"{len(found.examples):,} questions on {len(set(results.groups.values())):,} passages,"
        f" {len(found.documents):,} documents; format {found.format}, digest {found.digest}; CRaQAn {__version__}."
    )
    if results.examples.lacks:
        yield f"The set lacks: {'; '.join(results.examples.lacks)}."
    if results.stopped:
        yield f"**Not finished:** {results.stopped}"
    yield (
        "Figures are percentages with 95 % bootstrap intervals over passages. whole@k: all required sentences are in"
        f" the first k chunks. {results.at_budget}: the same for as many of the first chunks as {results.words} words"
        " hold."
    )


def chunks(results: "Results") -> str:
    """What each chunking keeps, before anything is retrieved."""
    header = ("chunker", "chunks", "mean tokens", "all required in one chunk", "links cut", "PrecisionOmega", "seconds")
    rows = (
        (
            name,
            f"{report.chunks:,}",
            f"{report.mean_tokens:.0f}",
            _percent(report.all.whole),
            "-" if report.all.cut is None else _percent(report.all.cut),
            _percent(report.mean_omega),
            f"{report.seconds:.2f}",
        )
        for name, report in results.chunkings.items()
    )
    return table(header, rows)


def retrieval(results: "Results") -> str:
    """One row a chunker and retriever."""
    k = results.main_k
    plain = [f"whole@{other}" for other in results.ks if other != k]
    header = ("chunker", "retriever", results.main, *plain, results.at_budget, f"recall@{k}", f"touched@{k}",
              f"evidence F1@{k}", f"nDCG@{k}", "MRR", "failure@20")  # fmt: skip
    names = (f"recall@{k}", f"touched@{k}", f"evidence_f1@{k}", f"ndcg@{k}", "mrr", "failure@20")
    rows = (
        (
            cell.chunker,
            cell.retriever,
            _ranged(results.interval(cell, results.main)),
            *(_percent(results.mean(cell, name)) for name in plain),
            _ranged(results.interval(cell, results.at_budget)),
            *(_percent(results.mean(cell, name)) for name in names),
        )
        for cell in results.retrieval
    )
    return table(header, rows)


def by(results: "Results", cells: Sequence[Cell], of: object) -> str:
    """The main measure, one column a part of the questions; nothing where there are not two parts."""
    parts = results.parts(of)  # type: ignore[arg-type]
    if len(parts) < 2:
        return ""
    header = ("chunker", "retriever", *(f"{label} (n={len(ids)})" for label, ids in parts.items()))
    rows = []
    for cell in cells:
        found = results.split(cell, results.main, of)  # type: ignore[arg-type]
        rows.append((cell.chunker, cell.retriever, *(_ranged(found.get(label)) for label in parts)))
    return table(header, rows)


def readers(results: "Results") -> str:
    """One row a reader and what it read."""
    header = ("reader", "reads", "questions", "failed", "EM", "F1", "supporting F1", "tokens", "US dollars")
    rows = []
    for cell in results.reading:
        cost = results.cost(cell)
        tokens = cost["prompt_tokens"] + cost["completion_tokens"]
        rows.append((
            cell.reader,
            f"{cell.chunker} / {cell.retriever}, first {results.reader_k}" if cell.chunker else "the given context",
            f"{len(cell.rows):,}",
            f"{len(cell.failed):,}",
            _percent(results.mean(cell, "em")),
            _ranged(results.interval(cell, "f1")),
            _percent(results.mean(cell, "support_f1")),
            f"{tokens:,}" if tokens else "-",
            "-" if cost["usd"] is None or not tokens else f"{cost['usd']:.4f}",
        ))  # fmt: skip
    return table(header, rows)


def differences(results: "Results", shown: "Sequence[Compared]") -> str:
    """Every difference with its interval and corrected p."""
    header = ("measure", "this", "against", "difference", "p (Holm)")
    rows = (
        (
            d.measure,
            d.a,
            d.b,
            f"{100 * d.found.difference:+.1f}"
            + (f" [{100 * d.found.low:+.1f}, {100 * d.found.high:+.1f}]" if d.found.groups > 1 else ""),
            f"**{p_value(d.p_holm)}**" if d.p_holm < ALPHA else p_value(d.p_holm),
        )
        for d in shown
    )
    told = (
        f"{len(results.differences)} differences, tested by swapping whole passages and corrected together after Holm;"
        f" bold: p below {ALPHA}."
    )
    return f"{told}\n\n{table(header, rows)}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all but columns of names are set to the right."""
    names = {"chunker", "retriever", "reader", "reads", "measure", "this", "against"}
    lines = [header, ["---" if name in names else "--:" for name in header], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _ranged(found: Interval | None) -> str:
    if found is None:
        return "-"
    if found.groups < 2:  # nothing to resample: an interval would pretend to know
        return f"{100 * found.mean:.1f}"
    return f"{100 * found.mean:.1f} [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def p_value(value: float) -> str:
    """A p as tables show it."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"

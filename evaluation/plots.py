"""Results as plots: what a chunk's size costs and gains, where distance breaks the chain, what kind does.

Colours are those of Okabe and Ito 2008, which the colour-blind tell apart; each line has a marker of its own as well.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.cells import Cell
from evaluation.embedders import missing
from evaluation.report import distance_of, kind_of

if TYPE_CHECKING:
    from evaluation.report import Results

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = "osD^vPX*"


def draw(results: "Results", folder: Path) -> list[Path]:
    """Write the plots that the results have something for; their paths come back."""
    if not results.retrieval:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "size.png": _size(results),
        "pareto.png": _pareto(results),
        "distance.png": _split(results, distance_of, "Sentences from the first to the last required one"),
        "kind.png": _split(results, kind_of, "Kind of coreference"),
    }
    paths = []
    for name, figure in made.items():
        if figure is not None:
            figure.savefig(folder / name, dpi=150)
            paths.append(folder / name)
    return paths


def best_retriever(results: "Results") -> str:
    """The retriever with the highest mean of the main measure over all chunkers."""
    means: dict[str, list[float]] = {}
    for cell in results.retrieval:
        means.setdefault(cell.retriever, []).append(results.mean(cell, results.main) or 0.0)
    return max(means, key=lambda name: sum(means[name]) / len(means[name]))


def _size(results: "Results") -> Any:
    """Whole-set recall against mean chunk size, one line a retriever: at equal k, and at an equal budget of words."""
    figure, axes = _figure(2, 11.0)
    panels = ((results.main, f"In the first {results.main_k} chunks"),
              (results.at_budget, f"In the first {results.words} words"))  # fmt: skip
    for axis, (measure, title) in zip(axes, panels, strict=True):
        for number, retriever in enumerate(dict.fromkeys(c.retriever for c in results.retrieval)):
            cells = [c for c in results.retrieval if c.retriever == retriever]
            points = sorted((_tokens(results, c), 100 * (results.mean(c, measure) or 0)) for c in cells)
            axis.plot(
                *zip(*points, strict=True), color=COLOURS[number % 8], marker=MARKERS[number % 8], label=retriever
            )
        _sized(axis, "Mean tokens a chunk", [_tokens(results, c) for c in results.retrieval])
        axis.set_title(title)
    axes[0].set_ylabel("Questions with all required\nsentences retrieved (%)")
    _legend(figure, axes[0])
    return figure


def _pareto(results: "Results") -> Any:
    """What is read against what is found: every chunker at every k under the best retriever, and the best of them."""
    retriever = best_retriever(results)
    figure, (axis,) = _figure(1, 8.0)
    points = []
    for number, cell in enumerate(c for c in results.retrieval if c.retriever == retriever):
        line = [(results.mean(cell, f"words@{k}") or 0.0, 100 * (results.mean(cell, f"whole@{k}") or 0.0))
                for k in results.ks]  # fmt: skip
        points += line
        axis.plot(*zip(*line, strict=True), **_style(number), linestyle=_dash(number), linewidth=1, label=cell.chunker)
    front = frontier(points)
    axis.step(*zip(*front, strict=True), where="post", color="0.75", linewidth=6, zorder=0, label="Pareto frontier")
    _sized(axis, "Words retrieved", [x for x, _ in points])
    axis.set_ylabel("Questions with all required\nsentences retrieved (%)")
    axis.set_title(f"{retriever}, k = {', '.join(map(str, results.ks))}")
    _legend(figure, axis)
    return figure


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those points that no other beats with fewer words and more found, by words."""
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda p: (p[0], -p[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def _split(results: "Results", of: Any, label: str) -> Any:
    """The main measure by part of the questions, one mark a chunker, under the best retriever."""
    parts = results.parts(of)
    if len(parts) < 2:
        return None
    retriever = best_retriever(results)
    cells = [c for c in results.retrieval if c.retriever == retriever]
    figure, (axis,) = _figure(1, 8.5)
    step = 0.8 / len(cells)
    for number, cell in enumerate(cells):
        found = results.split(cell, results.main, of)
        places = [at + step * (number - (len(cells) - 1) / 2) for at, name in enumerate(parts) if name in found]
        values = [found[name] for name in parts if name in found]
        heights = [100 * v.mean for v in values]
        errors = [[100 * (v.mean - v.low) for v in values], [100 * (v.high - v.mean) for v in values]]
        axis.errorbar(
            places,
            heights,
            yerr=errors,
            **_style(number),
            linestyle="none",
            elinewidth=1,
            capsize=2,
            label=cell.chunker,
        )
    axis.set_xticks(range(len(parts)), [f"{name}\n(n={len(ids)})" for name, ids in parts.items()])
    for between in range(len(parts) - 1):
        axis.axvline(between + 0.5, color="0.9", linewidth=1)
    axis.set_xlabel(label)
    axis.set_ylabel(f"{results.main}: questions with all\nrequired sentences (%)")
    axis.set_ylim(-3, 103)
    axis.set_title(retriever)
    _legend(figure, axis)
    return figure


def _figure(panels: int, width: float) -> tuple[Any, Sequence[Any]]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing("matplotlib", "evaluation") from error
    figure = Figure(figsize=(width, 4.8), layout="constrained")
    axes = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
    for axis in axes:
        axis.grid(axis="y", color="0.9")
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _sized(axis: Any, label: str, values: Sequence[float]) -> None:
    """A logarithmic axis with round numbers that people read."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axis.set_xscale("log")
    low, high = max(1.0, min(values)), max(values)
    ticks = [t for e in range(6) for t in (10**e, 2 * 10**e, 5 * 10**e) if low / 1.5 <= t <= high * 1.5]
    axis.set_xticks(ticks)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(label)
    axis.set_ylim(-3, 103)


def _legend(figure: Any, axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False)


def _style(number: int) -> dict[str, str]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def _tokens(results: "Results", cell: Cell) -> float:
    return results.chunkings[cell.chunker].mean_tokens


def _dash(number: int) -> str:
    return ("-", "--", ":", "-.")[number // len(COLOURS) % 4]

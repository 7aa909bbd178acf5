"""Pictures of a set for its card: how far apart the ends of coreferences are, their kinds, lengths, reasons."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generation.errors import UsageError
from generation.releases.figures import PAPER_REASONS, Figures

FOLDER = "figures"
CAPTIONS = {
    "distances": "Sentences from a mention to its antecedent",
    "kinds": "Kinds of coreference",
    "lengths": "Words a section",
    "reasons": "Why candidates were turned down, in per cent of all reasons",
}
_BLUE, _ORANGE, _INK = "#0072B2", "#E69F00", "#222222"  # Okabe and Ito's palette, told apart by all eyes
_FASTEN = {"Software": None}  # no name of a library and no date: the same figures give the same bytes


def draw(figures: Figures, folder: Path) -> list[Path]:
    """Write one PNG a caption into `folder`; pictures of which there is nothing to show are left out."""
    drawn = []
    for name, content in (
        ("distances", _distances(figures)),
        ("kinds", figures.kinds),
        ("lengths", figures.lengths.get("words")),
        ("reasons", figures.reasons if any(figures.reasons.values()) else None),
    ):
        if content:
            canvas, axes = _canvas(CAPTIONS[name])
            _DRAWERS[name](axes, content)
            folder.mkdir(parents=True, exist_ok=True)
            drawn.append(folder / f"{name}.png")
            canvas.savefig(drawn[-1], dpi=150, metadata=_FASTEN)
    return drawn


def _distances(figures: Figures) -> dict[int, int]:
    return dict(sorted(Counter(int(d) for d in figures.lengths.get("distance", [])).items()))


def _canvas(title: str) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("A release needs more libraries: pip install 'craqan[release]'") from error
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11, color=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _draw_distances(axes: Any, content: dict[int, int]) -> None:
    places = [*range(1, max(content) + 1)]
    axes.bar(places, [content.get(p, 0) for p in places], color=_BLUE)
    axes.set_xticks(places if len(places) <= 20 else places[:: len(places) // 10])
    axes.set_xlabel("sentences")
    axes.set_ylabel("coreferences")


def _draw_kinds(axes: Any, content: dict[str, int]) -> None:
    bars = axes.barh([*content], [*content.values()], color=_BLUE)
    axes.bar_label(bars, padding=3)
    axes.set_xlabel("coreferences")


def _draw_lengths(axes: Any, content: list[float]) -> None:
    axes.hist(content, bins=min(20, max(5, len(content) // 3)), color=_BLUE, edgecolor="white")
    axes.set_xlabel("words")
    axes.set_ylabel("sections")


def _draw_reasons(axes: Any, content: dict[str, int]) -> None:
    codes = [*content][::-1]
    for values, shift, colour, label in (
        (content, 0.2, _BLUE, "this set"),
        (PAPER_REASONS, -0.2, _ORANGE, "Grzywinski et al. 2023, by people"),
    ):
        total = sum(values.values())
        axes.barh([n + shift for n in range(len(codes))], [100 * values[c] / total for c in codes], 0.4, color=colour)
        axes.plot([], [], color=colour, linewidth=6, label=label)
    axes.set_yticks(range(len(codes)), [code.replace("_", " ") for code in codes], fontsize=8)
    axes.legend(frameon=False, fontsize=8)
    axes.set_xlabel("per cent")


_DRAWERS: dict[str, Callable[[Any, Any], None]] = {
    "distances": _draw_distances,
    "kinds": _draw_kinds,
    "lengths": _draw_lengths,
    "reasons": _draw_reasons,
}

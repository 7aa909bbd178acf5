"""The set in figures: tables whose cells are bars, so that they are read aloud, copied and printed as what they are."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from space.passage import KIND_WORDS, escape
from space.rounds import PROBLEM_WORDS
from space.shelf import QUESTION_WORDS, Shelf, question_word

_LENGTHS = ((1, 2), (3, 4), (5, 6), (7, 9), (10, 0))  # words of an answer; 0: no upper bound


def charts(shelf: Shelf) -> str:
    """Distances, kinds, question words, lengths and domains of the accepted rows, and why the others were rejected."""
    rows = shelf.rows
    if not rows:
        return ""
    distances = Counter(row["distance"] for row in rows)
    lengths = Counter(_length(len(row["answer"].split())) for row in rows)
    asked = Counter(question_word(row["question"]) or "none" for row in rows)
    needed = Counter(len(row["required_sentence_indices"]) for row in rows)
    reasons = Counter(p for row in shelf.rejected for p in row["problems"])
    parts = [
        _chart("Distance between the required sentences", {str(d): distances[d] for d in sorted(distances)}),
        _chart("Required sentences", {str(n): needed[n] for n in sorted(needed)}),
        _chart("Kind of coreference", _named(KIND_WORDS, Counter(row["kind"] for row in rows))),
        _chart("Question word", {w: asked[w] for w in (*QUESTION_WORDS, "none") if asked[w]}),
        _chart("Words in the answer", {_range(*r): lengths[r] for r in _LENGTHS}),
        _chart("Domain", dict(Counter(row["domain"] or "not named" for row in rows).most_common())),
        _chart("Why pairs were rejected", _named(PROBLEM_WORDS, reasons)) if reasons else "",
    ]
    return f'<div class="charts">{"".join(parts)}</div>'


def _chart(title: str, counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=0) or 1
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><span class="bar" style="--share:{count / most:.3f}"></span>'
        f"<span>{count}</span></td></tr>"
        for name, count in counts.items()
    )
    return f'<table class="chart"><caption>{title}</caption><tbody>{rows}</tbody></table>'


def _named(words: Mapping[str, str], counts: "Counter[Any]") -> dict[str, int]:
    return {words.get(name, name): count for name, count in counts.most_common()}


def _length(words: int) -> tuple[int, int]:
    return next(r for r in reversed(_LENGTHS) if words >= r[0] or r == _LENGTHS[0])


def _range(least: int, most: int) -> str:
    return f"{least} to {most}" if most else f"{least} or more"

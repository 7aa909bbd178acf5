"""The tables that `craqan audit` prints."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from generation.audit import Audit, Judge
from generation.auditing.scores import Interval, Scores


def tables(found: Audit, every_check: bool = False) -> Iterator[Table]:
    """All judges; kinds of judges; problem codes by kind. Checks that never reject are left out unless asked for."""
    shown = [j for j in found.judges if every_check or not j.name.startswith("check ") or j.scores.rejected]
    title = (
        f"{found.pairs} pairs, {found.bad} of them bad: each judge (in brackets: the middle 95 % of resampled passages)"
    )
    yield _judges(shown, title, found.all)
    yield _judges(found.kinds, "kinds of judges, each as one: it rejects what any of it rejects", found.all)
    yield _codes(found.kinds)


def _judges(judges: Sequence[Judge], title: str, everybody: Scores) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("judge", no_wrap=True)
    for name in ("asked", "rejects", "precision", "recall", "F1", "kappa", "only it catches", "only it wrongs"):
        table.add_column(name, justify="right")
    table.add_column("without it, recall and precision of the rest", justify="right", max_width=18)
    table.add_column("adds", max_width=12)
    for judge in judges:
        own = (str(judge.only_catches), str(judge.only_alarms))
        table.add_row(judge.name, *_figures(judge.scores), *own, _lost(judge), judge.adds)
    table.add_section()
    table.add_row("all together", *_figures(everybody), "", "", "", "")
    return table


def _lost(judge: Judge) -> str:
    changes = (judge.recall_lost, judge.precision_lost)
    return " / ".join("-" if lost is None else f"{round(-100 * lost, 1) + 0.0:+.1f}" for lost in changes)


def _figures(found: Scores) -> list[str]:
    shares = [(found.precision, "precision"), (found.recall, "recall"), (found.f1, "f1")]
    cells = [_share(value, found.intervals[name]) for value, name in shares]
    return [str(found.pairs), str(found.rejected), *cells, _number(found.kappa, found.intervals["kappa"])]


def _share(value: float | None, interval: Interval) -> str:
    if value is None:
        return "-"
    within = f" [{100 * interval.low:.0f}-{100 * interval.high:.0f}]" if None not in interval else ""  # type: ignore[operator]
    return f"{100 * value:.1f} %{within}"


def _number(value: float | None, interval: Interval) -> str:
    if value is None:
        return "-"
    within = f" [{interval.low:.2f}-{interval.high:.2f}]" if None not in interval else ""
    return f"{value:.2f}{within}"


def _codes(kinds: Sequence[Judge]) -> Table:
    table = Table(
        title="bad pairs by what is wrong with them: caught (and named so; named so wrongly)", title_justify="left"
    )
    table.add_column("problem", no_wrap=True)
    table.add_column("pairs", justify="right")
    for kind in kinds:
        table.add_column(kind.name, justify="right")
    codes = dict.fromkeys(code for kind in kinds for code in kind.codes)
    for code in codes:
        cells = [f"{c.caught} ({c.named}; {c.wrongly})" if (c := kind.codes.get(code)) else "-" for kind in kinds]
        bad = max(c.bad for kind in kinds if (c := kind.codes.get(code)))
        table.add_row(code, str(bad), *cells)
    return table

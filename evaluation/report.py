"""Results: what was measured, with intervals, differences and their significance; as JSON, tables and plots."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluation import statistics
from evaluation.cells import Cell
from evaluation.chunk_metrics import ChunkReport
from evaluation.examples import Example, ExampleSet
from evaluation.statistics import Difference, Interval
from generation import __version__
from generation.errors import InputError
from generation.files import write_whole
from generation.records import Usage
from generation.running.budget import Price

FARTHEST = 5
"""Distances from here on are taken together."""
LEAST = 5
"""Questions below which a group (a distance, a kind) is not shown."""


@dataclass(frozen=True)
class Compared:
    """Cell `a` minus cell `b` on one measure; `p_holm` is corrected for all differences of the same Results."""

    measure: str
    what: str
    a: str
    b: str
    found: Difference
    p_holm: float


@dataclass
class Results:
    """All cells of one evaluation of one set. `price` is that of the model, None without one or where none is known."""

    examples: ExampleSet
    ks: tuple[int, ...]
    words: int
    reader_k: int
    cells: list[Cell] = field(default_factory=list)
    chunkings: dict[str, ChunkReport] = field(default_factory=dict)
    price: Price | None = None
    stopped: Exception | None = None
    seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def main_k(self) -> int:
        """The k that is compared: 5, or the middle one where 5 was not asked for."""
        return 5 if 5 in self.ks else self.ks[len(self.ks) // 2]

    @property
    def main(self) -> str:
        return f"whole@{self.main_k}"

    @property
    def at_budget(self) -> str:
        return f"whole@{self.words}w"

    @property
    def retrieval(self) -> list[Cell]:
        return [cell for cell in self.cells if not cell.reader]

    @property
    def reading(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.reader]

    @cached_property
    def groups(self) -> dict[str, str]:
        """Question id -> the passage it belongs with."""
        return {e.id: e.group or e.id for e in self.examples.examples}

    def interval(self, cell: Cell, measure: str, ids: Sequence[str] | None = None) -> Interval | None:
        """The mean over those questions that have the measure; None where none has."""
        values = cell.values(measure, self.groups if ids is None else ids)
        if not values:
            return None
        return statistics.interval(list(values.values()), [self.groups[id] for id in values])

    def mean(self, cell: Cell, measure: str) -> float | None:
        values = cell.values(measure, self.groups)
        return sum(values.values()) / len(values) if values else None

    @cached_property
    def differences(self) -> list[Compared]:
        """Every difference that the report shows: chunkers and retrievers against the first, readers against the given.

        All share one Holm correction.
        """
        pairs = list(self._pairs())
        found = [self._difference(measure, a, b) for measure, _, a, b in pairs]
        kept = [(pair, d) for pair, d in zip(pairs, found, strict=True) if d is not None]
        corrected = statistics.holm([d.p for _, d in kept])
        return [
            Compared(measure, what, a.name, b.name, d, p)
            for ((measure, what, a, b), d), p in zip(kept, corrected, strict=True)
        ]

    def _pairs(self) -> Iterator[tuple[str, str, Cell, Cell]]:
        chunkers, retrievers = (list(dict.fromkeys(names)) for names in self._axes())
        at = {(c.chunker, c.retriever): c for c in self.retrieval}
        for measure in (self.main, self.at_budget) if at else ():
            for r in retrievers:
                for c in chunkers[1:]:
                    if (c, r) in at and (chunkers[0], r) in at:
                        yield measure, "chunker", at[c, r], at[chunkers[0], r]
            for c in chunkers:
                for r in retrievers[1:]:
                    if (c, r) in at and (c, retrievers[0]) in at:
                        yield measure, "retriever", at[c, r], at[c, retrievers[0]]
        given = {c.reader: c for c in self.reading if not c.chunker}
        for cell in self.reading:
            if cell.chunker and cell.reader in given:
                yield "f1", "reader", cell, given[cell.reader]

    def _axes(self) -> tuple[list[str], list[str]]:
        return [c.chunker for c in self.retrieval], [c.retriever for c in self.retrieval]

    def _difference(self, measure: str, a: Cell, b: Cell) -> Difference | None:
        ours, theirs = a.values(measure, self.groups), b.values(measure, self.groups)
        both = [id for id in ours if id in theirs]
        if not both:
            return None
        return statistics.paired([ours[i] for i in both], [theirs[i] for i in both], [self.groups[i] for i in both])

    def parts(self, of: Callable[[Example], str | None]) -> dict[str, list[str]]:
        """Label -> ids of the questions that have evidence, the labels in order; groups below LEAST are left out."""
        found: dict[str, list[str]] = {}
        for example in self.examples.examples:
            label = of(example) if example.evidence else None
            if label:
                found.setdefault(label, []).append(example.id)
        return {label: ids for label, ids in sorted(found.items()) if len(ids) >= LEAST}

    def split(self, cell: Cell, measure: str, of: Callable[[Example], str | None]) -> dict[str, Interval]:
        """The measure by distance, by kind, or by whatever `of` says."""
        found = {label: self.interval(cell, measure, ids) for label, ids in self.parts(of).items()}
        return {label: one for label, one in found.items() if one is not None}

    def cost(self, cell: Cell) -> dict[str, Any]:
        """Tokens of a reader's cell as if every reply had been asked for, and dollars where the price is known."""
        usage = sum((Usage(**row["usage"]) for row in cell.rows.values() if "usage" in row), Usage())
        return {**asdict(usage), "usd": None if self.price is None else round(self.price.of(usage), 6)}

    def markdown(self) -> str:
        """The report as Markdown tables."""
        from evaluation.tables import markdown

        return markdown(self)

    def as_dict(self) -> dict[str, Any]:
        """The results with all that they depend on."""
        return {
            "set": {
                "name": self.examples.name,
                "format": self.examples.format,
                "digest": self.examples.digest,
                "documents": len(self.examples.documents),
                "questions": len(self.examples.examples),
                "with_evidence": sum(bool(e.evidence) for e in self.examples.examples),
                "groups": len(set(self.groups.values())),
                "lacks": list(self.examples.lacks),
            },
            "code_version": __version__,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 1),
            "state": "stopped" if self.stopped else "finished",
            "stopped": str(self.stopped or ""),
            "settings": self.settings,
            "chunkers": {name: _of_chunking(report) for name, report in self.chunkings.items()},
            "cells": [self._of_cell(cell) for cell in self.cells],
            "differences": [asdict(d) | {"found": d.found._asdict()} for d in self.differences],
        }

    def _of_cell(self, cell: Cell) -> dict[str, Any]:
        names = sorted({name for row in cell.rows.values() for name, value in row.items() if _is_figure(value)})
        measures = {n: i._asdict() for n in names if n != "shots" and (i := self.interval(cell, n)) is not None}
        found: dict[str, Any] = {
            "chunker": cell.chunker,
            "retriever": cell.retriever,
            "reader": cell.reader,
            "questions": len(cell.rows),
            "measures": measures,
        }
        if cell.reader:
            return found | {"failed": cell.failed, "cost": self.cost(cell)}
        splits = {"by_distance": distance_of, "by_kind": kind_of}
        return found | {n: _told(self.split(cell, self.main, of)) for n, of in splits.items()}

    def write(self, folder: Path) -> None:
        """results.json, table.md and plots/*.png, each whole or not at all. InputError where one cannot be written."""
        from evaluation.plots import draw

        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / "results.json", json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n")
            write_whole(folder / "table.md", self.markdown())
            draw(self, folder / "plots")
        except OSError as error:
            where = error.filename2 or error.filename or folder
            raise InputError(f"{where} cannot be written ({error.strerror}); give another --out.") from error


def distance_of(example: Example) -> str | None:
    """Sentences from the first to the last required one, as a label; FARTHEST and beyond together."""
    if example.distance is None:
        return None
    return f"{FARTHEST}+" if example.distance >= FARTHEST else str(example.distance)


def kind_of(example: Example) -> str | None:
    return example.kind or None


def _told(parts: Mapping[str, Interval]) -> dict[str, Any]:
    return {label: interval._asdict() for label, interval in parts.items()}


def _of_chunking(report: ChunkReport) -> dict[str, Any]:
    """A chunking's own figures without its single questions."""
    return {name: value for name, value in asdict(report).items() if name not in ("questions", "chunker")}


def _is_figure(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

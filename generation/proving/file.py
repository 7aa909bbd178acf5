"""`craqan prove`: the proof on rows that are there already, ours or other people's.

Each row is a section whose draft is the pair in it and whose panel is empty, so that a run's machinery does the rest:
the journal, the budget, limits, and going on where the last call stopped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from generation.articles.article import slug
from generation.articles.sources import Skipped
from generation.llm import Chat
from generation.proving.rows import Given, given
from generation.proving.setup import Proving, prover_of
from generation.records import Candidate, Outcome, Proof, Round, Section
from generation.run import make_recipe
from generation.running.folder import Resume, RunFolder
from generation.running.forecast import forecast
from generation.running.session import Session
from generation.running.settings import Cast, Limits

DEFAULT_LIMITS = Limits()


@dataclass
class Proved:
    """What came of a file: one line for each row that is a pair, how many, and which rows are none.

    `counts` has "accepted" (proven), "rejected" (not proven), "failed" (the reader gave no answer) and "pending".
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    unreadable: list[Skipped] = field(default_factory=list)

    @property
    def all_proven(self) -> bool:
        return not self.unreadable and not any(n for status, n in self.counts.items() if status != "accepted")


@dataclass(frozen=True)
class _Offered:
    """The generator that has nothing but what is given; sections are found again by their ids."""

    pairs: Mapping[str, Candidate]
    name: str = "given"

    async def draft(self, section: Section, rounds: Sequence[Round], chat: Chat | None = None) -> Candidate:
        return self.pairs[section.id]


def default_folder(path: Path) -> Path:
    """runs/NAME-proof, so that the same command goes on where it stopped."""
    return Path("runs") / f"{slug(path.resolve().stem)}-proof"


def prove_file(
    path: Path,
    out: Path,
    console: Console,
    *,
    model: str = "",
    base_url: str = "",
    prompt_folder: Path | None = None,
    options: Proving | None = None,
    limits: Limits = DEFAULT_LIMITS,
    resume: Resume = "if-possible",
    dry_run: bool = False,
) -> Proved:
    """Prove every pair of `path` (see `rows.given`); write proven, failing and failed rows under `out`, as a run does.

    accepted.jsonl holds the proven rows, rejected.jsonl those that are not and why, failed.jsonl those on which the
    reader failed; each keeps its own columns and gains `index`, `proof`, `problems` and `reason`. Without a `model` the
    reader by rules reads. Raises UsageError for a wrong call and CircuitError if going on was hopeless.
    """
    proving = options or Proving()
    prover = prover_of(proving, model, prompt_folder)
    rows = list(given(path))
    pairs = {row.section.id: row for row in rows if row.candidate is not None}
    done = Proved(unreadable=[Skipped(row.where, row.fault, 1) for row in rows if row.fault])
    offered = _Offered({name: row.candidate for name, row in pairs.items() if row.candidate is not None})
    cast = Cast(offered, (), "given", prover.reader.name, model, base_url, prover=prover, others=proving.models)
    session = Session(cast, limits, console, check_level="none", max_revisions=0)
    sections = (row.section for row in pairs.values())
    if dry_run:
        text = forecast(islice(sections, limits.max_candidates), cast, session.known_prices())
        console.print(text, soft_wrap=True, markup=False)
        return done
    session.refuse_unable()
    recipe = make_recipe(offered, (), "none", "given", prover.reader.name, prover)
    settings = {"file": str(path), "model": model, "base_url": base_url, "prove": asdict(proving)}
    settings["prompt_folder"] = str(prompt_folder or "")

    def line(outcome: Outcome) -> dict[str, Any]:
        proof = outcome.rounds[-1].proof if outcome.rounds else None
        done.proofs += [proof] if proof else []
        found = _result(pairs[outcome.section.id], outcome, proof)
        done.lines.append(found)
        return {**pairs[outcome.section.id].row, **found}

    with RunFolder(out, recipe, settings, resume, row_of=line) as folder:
        session.work(sections, folder, done.unreadable)
    done.counts = {k: n for k, n in session.books.as_dict().items() if k in (*_STATUSES, "pending")}
    done.counts["pending"] += len(pairs) - session.books.submitted
    if session.failure:
        raise session.failure
    return done


_STATUSES = {"accepted": "proven", "rejected": "not proven", "failed": "failed"}


def _result(row: Given, outcome: Outcome, proof: Proof | None) -> dict[str, Any]:
    return {
        "index": row.index,
        "id": row.id,
        "status": _STATUSES[outcome.status],
        "problems": list(outcome.problems),
        "reason": outcome.reason,
        "error": outcome.error,
        "reader": proof.reader if proof else "",
        "proof": [asdict(reading) for reading in proof.readings] if proof else [],
        "closed_book_right": proof.closed_book_right if proof else None,
        "usage": {role: asdict(usage) for role, usage in sorted(outcome.usage.items())},
    }


def matrix(proofs: Sequence[Proof]) -> Table:
    """How often the reader was right, by what it was shown."""
    table = Table(title=f"{len(proofs)} pairs, read by {', '.join(sorted({p.reader for p in proofs})) or 'nobody'}")
    for name, justify in (("what was asked", "left"), ("pairs", "right"), ("share", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name, count, of in _shares(proofs):
        table.add_row(name, f"{count} of {of}", f"{100 * count / of:.1f} %" if of else "-")
    return table


def _shares(proofs: Sequence[Proof]) -> Iterator[tuple[str, int, int]]:
    sufficient = [p for p in proofs if p.is_sufficient]
    yield "right from the whole section", sum(p.is_answered for p in proofs), len(proofs)
    yield "right from the required sentences (sufficient)", len(sufficient), len(proofs)
    yield (
        "of those, wrong with any one left out (necessary)",
        sum(not p.not_needed for p in sufficient),
        len(sufficient),
    )
    answered = [p for p in proofs if p.is_answered]
    unique = "of those right from the section, wrong where any required one is left out of it (unique)"
    yield unique, sum(not p.replaceable for p in answered), len(answered)
    yield "right from nothing (closed book)", sum(p.closed_book_right for p in proofs), len(proofs)
    yield "proven", sum(p.is_proven for p in proofs), len(proofs)

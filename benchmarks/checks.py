"""How good are the checks? python -m benchmarks.checks [--misses]

Good pairs (benchmarks/checks_pairs.py) and their corruptions (benchmarks/checks_corruptions.py) are parted once, by the
hash of their passage, into a half that the checks were tuned on and one that is only measured. Pairs with labelled
links are measured twice, with and without them. A corruption is caught if any check rejects it; "code" is the share
that is caught under its own reason. The weighted recall weighs the reasons by their counts in the paper's Table 2.
"""

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.checks_corruptions import COUNTS, corrupt, line_of
from benchmarks.checks_pairs import Pair, load, taken
from generation import checks
from generation.checking.case import Problem
from generation.checking.rows import check_file, check_line
from generation.language import nlp

HALVES = ("tuned", "held out")
MAX_MISSES = 200
TIMED = 20


@dataclass
class Tally:
    """Counts of one half; keys are (reason,), (reason, kind) and (form, reason), form being "links" or "bare"."""

    good: Counter[tuple[str, ...]] = field(default_factory=Counter)
    rejected: Counter[tuple[str, ...]] = field(default_factory=Counter)
    made: Counter[tuple[str, ...]] = field(default_factory=Counter)
    caught: Counter[tuple[str, ...]] = field(default_factory=Counter)
    coded: Counter[tuple[str, ...]] = field(default_factory=Counter)
    on_good: Counter[str] = field(default_factory=Counter)
    on_bad: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    alone: Counter[str] = field(default_factory=Counter)
    codes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    misses: list[str] = field(default_factory=list)

    @property
    def weighted(self) -> float:
        """Recall, each reason weighed by its count in the paper."""
        total = sum(w for reason, w in COUNTS.items() if self.made[(reason,)])
        shares = (w * self.caught[(r,)] / self.made[(r,)] for r, w in COUNTS.items() if self.made[(r,)])
        return sum(shares) / total if total else 0.0


def measure(pairs: Sequence[Pair]) -> Tally:
    """Run all checks on `pairs` and on what becomes of them."""
    tally = Tally()
    for pair in pairs:
        forms = [("links", pair), ("bare", pair.bare)] if pair.candidate.coreferences else [("bare", pair)]
        for form, formed in forms:
            _good(tally, form, formed)
            for corruption in corrupt(formed):
                if corruption.reason != "formatting" or formed is pair:
                    _bad(tally, form, corruption.reason, corruption.kind, corruption.line)
    return tally


def _certain(line: str) -> list[Problem]:
    return [p for p in check_line(line, 1) if p.certainty == "certain"]


def _good(tally: Tally, form: str, pair: Pair) -> None:
    problems = _certain(line_of(pair))
    first = form == "links" or pair.source in ("quoref", "hotpotqa")
    for key in ((form,), *(((pair.source,), ("as they are",)) if first else ())):
        tally.good[key] += 1
        tally.rejected[key] += bool(problems)
    tally.on_good.update({p.check for p in problems})
    tally.misses += [f"good, {form}: {pair.candidate.question} [{p.check}: {p.reason}]" for p in problems]


def _bad(tally: Tally, form: str, reason: str, kind: str, line: str) -> None:
    problems = _certain(line)
    found = {p.check for p in problems}
    is_coded = any(p.code == reason for p in problems)
    for key in ((reason,), (reason, kind), (form, reason)):
        tally.made[key] += 1
        tally.caught[key] += bool(problems)
        tally.coded[key] += is_coded
    tally.on_bad.update(found)
    tally.own.update({p.check for p in problems if p.code == reason})
    tally.alone.update(found if len(found) == 1 else ())
    for problem in problems:
        tally.codes[problem.check].add(problem.code)
    if not problems:
        tally.misses.append(f"{reason}, {kind}, {form}: {line[line.rfind(chr(34) + 'question') :][:300]}")


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def good_table(tallies: dict[str, Tally]) -> list[str]:
    """Good pairs rejected, by source and form."""
    keys = [("released",), ("own",), ("quoref",), ("hotpotqa",), ("as they are",), ("bare",)]
    lines = [_row(["good pairs rejected", *tallies]), _row(["---"] * (1 + len(tallies)))]
    names = {("as they are",): "all, as they are", ("bare",): "all, without links"}
    for key in keys:
        cells = [
            f"{t.rejected[key]} of {t.good[key]} ({_share(t.rejected[key], t.good[key])})" for t in tallies.values()
        ]
        lines.append(_row([names.get(key, key[0]), *cells]))
    return lines


def unselected(pairs: Sequence[Pair]) -> str:
    """How many of `pairs`, which passed no check to be among them, the checks reject.

    The released pairs passed the checks before they were released, so that `good_table` flatters the checks there.
    """
    told = []
    for half in HALVES:
        here = [pair for pair in pairs if pair.half == half]
        bad = sum(bool(_certain(line_of(pair))) for pair in here)
        told.append(f"{half} {bad} of {len(here)} ({_share(bad, len(here))})")
    return f"Of {len(pairs)} candidates of data/ that all readers took, the checks reject: {', '.join(told)}."


def corruption_table(tallies: dict[str, Tally]) -> list[str]:
    """Recall by reason, with its kinds below it."""
    head = ["corruption", "weight", *(f"{h}: {x}" for h in tallies for x in ("n", "caught", "code"))]
    lines = [_row(head), _row(["---"] * len(head))]
    keys = sorted({k for t in tallies.values() for k in t.made if k[0] in COUNTS}, key=lambda k: (-COUNTS[k[0]], k))
    for key in keys:
        name = f"**{key[0]}**" if len(key) == 1 else f"- {key[1]}"
        cells = [c for t in tallies.values() for c in _cells(t, key)]
        lines.append(_row([name, COUNTS[key[0]] if len(key) == 1 else "", *cells]))
    for form, name in (("links", "all, links labelled"), ("bare", "all, no links")):
        lines.append(_row([name, "", *(c for t in tallies.values() for c in _form_cells(t, form))]))
    weighted = (c for t in tallies.values() for c in ("", f"**{100 * t.weighted:.1f} %**", ""))
    return [*lines, _row(["**weighted**", sum(COUNTS.values()), *weighted])]


def _cells(tally: Tally, key: tuple[str, ...]) -> list[object]:
    made = tally.made[key]
    return [made, _share(tally.caught[key], made), _share(tally.coded[key], made)]


def _form_cells(tally: Tally, form: str) -> list[object]:
    keys = [(form, r) for r in COUNTS if r != "formatting"]
    made, caught, coded = (sum(c[k] for k in keys) for c in (tally.made, tally.caught, tally.coded))
    return [made, _share(caught, made), _share(coded, made)]


def check_table(tallies: dict[str, Tally]) -> list[str]:
    """For each check: its codes, what it rejects, how much of that is bad, and its recall on its own reasons."""
    head = ["check", "codes", *(f"{h}: {x}" for h in tallies for x in ("good", "bad", "alone", "precision", "recall"))]
    lines = [_row(head), _row(["---"] * len(head))]
    for name in ("schema", *(c.__name__ for c in checks.CHECKS)):
        codes = sorted(set().union(*(t.codes[name] for t in tallies.values())))
        cells: list[object] = []
        for t in tallies.values():
            own = sum(t.made[(code,)] for code in codes)
            bad, good = t.on_bad[name], t.on_good[name]
            cells += [good, bad, t.alone[name], _share(bad, bad + good), _share(t.own[name], own)]
        lines.append(_row([name, ", ".join(codes) or "-", *cells]))
    return lines


def timing(pairs: Sequence[Pair]) -> list[str]:
    """Milliseconds a candidate, the parse of its passage included, over files with few and with many a passage."""
    whole = [pair for pair in pairs if pair.source == "released"]
    some = list({pair.passage: pair for pair in whole}.values())[:TIMED]
    many = [line for pair in some for line in (line_of(pair), *(c.line for c in corrupt(pair)))]
    files = {
        "the released rows": [line_of(pair) for pair in whole],
        f"{len(some)} released passages, each with a pair and its corruptions": many,
    }
    nlp.parse_sentences(("Only the first parse loads the model.",))
    lines = [_row(["file", "pairs", "passages", "ms a pair"]), _row(["---"] * 4)]
    for name, rows in files.items():
        nlp.parse_sentences.cache_clear()
        passages = {pair.passage for pair in (whole if name == "the released rows" else some)}
        lines.append(_row([name, len(rows), len(passages), f"{_checking(rows):.1f}"]))
    return lines


def _checking(lines: Sequence[str]) -> float:
    """Milliseconds of processor time a line, as `craqan check` reads them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        started = time.process_time()
        for _ in check_file(path):
            pass
        return 1000 * (time.process_time() - started) / len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="also list what goes wrong in the tuned half")
    options = parser.parse_args()
    pairs = load()
    tallies = {half: measure([p for p in pairs if p.half == half]) for half in HALVES}
    made = sum(t.made[(r,)] for t in tallies.values() for r in COUNTS)
    sources = Counter(p.source for p in pairs)
    print(f"{len(pairs)} good pairs ({', '.join(f'{n} {s}' for s, n in sources.items())}), {made} corruptions.")
    for table in (good_table, corruption_table, check_table):
        print("", *table(tallies), sep="\n")
    print("", unselected(taken()), "", *timing(pairs), sep="\n")
    if options.misses:
        print("", *tallies["tuned"].misses[:MAX_MISSES], sep="\n")


if __name__ == "__main__":
    main()

"""What are the judges without a model worth? python -m benchmarks.audit [--all]

PER_HALF good pairs of benchmarks/checks_pairs.py from each half and PER_PAIR corruptions of each that still have the
shape of a pair, all drawn by seed; of the half alone that the checks were not tuned on, unless --all is given. A
passage is in one half only. `craqan audit --corruptions` measures on the same.
"""

import argparse
import json
import random
from collections.abc import Sequence

from rich.console import Console

from benchmarks.checks import HALVES
from benchmarks.checks_corruptions import corrupt, line_of
from benchmarks.checks_pairs import Pair, load
from generation.audit import Case
from generation.auditing.cases import case_of
from generation.checking.rows import RowError, read_pair
from generation.proving.rows import Given

PER_HALF = 150
"""Good pairs: enough to measure on, in some two minutes."""
PER_PAIR = 5
SEED = 20231127


def corrupted(held_out: bool = True) -> list[Case]:
    """The cases: good pairs, and bad ones with the code of what was done to them."""
    cases: list[Case | None] = []
    for pair in drawn(("held out",) if held_out else HALVES):
        cases.append(_case(line_of(pair), len(cases), False))
        spoilt = [c for c in corrupt(pair) if c.reason != "formatting"]
        for corruption in random.Random(f"{SEED}{pair.id}").sample(spoilt, min(PER_PAIR, len(spoilt))):
            cases.append(_case(corruption.line, len(cases), True, corruption.reason))
    return [case for case in cases if case is not None]


def drawn(halves: Sequence[str]) -> list[Pair]:
    """PER_HALF good pairs of each of the `halves`, or all where there are fewer; the same ones each time."""
    pairs = sorted(load(), key=lambda pair: pair.id)
    found = []
    for half in halves:
        here = [pair for pair in pairs if pair.half == half]
        found += random.Random(f"{SEED}{half}").sample(here, min(PER_HALF, len(here)))
    return found


def _case(line: str, index: int, bad: bool, *problems: str) -> Case | None:
    row = json.loads(line)
    try:
        candidate, sentences = read_pair(row)
    except RowError:
        return None
    return case_of(Given(index, f"row {index}", row, candidate, sentences), bad, problems)


def main() -> None:
    from generation.audit import audit, with_checks
    from generation.auditing.command import asked
    from generation.auditing.tables import tables

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="both halves")
    cases = list(with_checks(corrupted(not parser.parse_args().all)))
    console = Console(width=180)
    for table in tables(audit(asked(cases, rules=True, prove=True))):
        console.print(table)


if __name__ == "__main__":
    main()

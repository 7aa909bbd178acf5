"""`craqan audit` from its flags to the figures."""

import asyncio
from pathlib import Path

from generation.audit import Audit, Case, audit, read_cases, with_checks, with_proof, with_rules
from generation.errors import UsageError


def audited(
    file: Path | None, votes: Path | None = None, *, corruptions: bool = False, rules: bool = False, prove: bool = False
) -> Audit:
    """Read the cases, ask those judges that can be asked without a model, and measure all.

    Raises UsageError unless just one of `file` and `corruptions` is given.
    """
    if (file is None) != corruptions or (votes is not None and corruptions):
        raise UsageError("Give either a file (with --votes, if its rows do not hold them) or --corruptions.")
    cases = list(with_checks(_corrupted() if file is None else read_cases(file, votes)))
    return audit(asked(cases, rules, prove))


def asked(cases: list[Case], rules: bool, prove: bool) -> list[Case]:
    """The cases with what reviewers and proof without a model say of them, as far as wanted."""
    return asyncio.run(_asked(cases, rules, prove))


async def _asked(cases: list[Case], rules: bool, prove: bool) -> list[Case]:
    if rules:
        from generation.rules import panel

        cases = await with_rules(cases, panel())
    if prove:
        from generation.proving.setup import Proving, prover_of

        cases = await with_proof(cases, prover_of(Proving()))
    return cases


def _corrupted() -> list[Case]:
    try:
        from benchmarks.audit import corrupted
    except ImportError:
        raise UsageError("--corruptions needs a checkout of CRaQAn: run it in its folder.") from None
    return corrupted()

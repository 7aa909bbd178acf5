"""What a run is told: who plays its roles, how fast it may go, and where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from generation.errors import UsageError
from generation.proof import Prover
from generation.refine import Generator, Reviewer
from generation.run import Prepare
from generation.running import budget


def refuse_no_number(name: str, value: float | None) -> None:
    """Raise UsageError for a flag whose value is infinite or "nan", which no limit can be held against."""
    if value is not None and not isfinite(value):
        raise UsageError(f"--{name.replace('_', '-')} takes a number, not {value}.")


MOST_AT_ONCE = 50_000
"""Sections under way in batch mode; each holds a few kB of memory."""


@dataclass(frozen=True)
class Cast:
    """Who plays the roles of a run, and what their rows say of them; no `model` means rules."""

    generator: Generator
    reviewers: Sequence[Reviewer]
    generator_name: str
    reviewer_name: str
    model: str = ""
    base_url: str = ""
    prepare: Prepare | None = None
    notes: Sequence[str] = ()
    prover: Prover | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    """Models by role ("reader", "judge") that play it in place of `model`, behind the same server."""


@dataclass(frozen=True)
class Limits:
    """How fast a run may go and when it ends early; None is no limit. None of it changes what is asked."""

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = 60.0
    accept: int | None = None
    max_candidates: int | None = None
    max_usd: float | None = None
    prices: budget.Price | None = None
    batch: bool = False
    """Ask in batch jobs, within hours and for less, instead of live; rate limits are the server's business then."""
    patience: float = 120.0
    """Seconds without any answer after which the run stops."""
    backoff: float = 0.5
    """Seconds of the first pause before a call is sent again; later ones are longer."""

    def __post_init__(self) -> None:
        for name in ("rpm", "tpm", "timeout", "max_usd", "patience"):
            refuse_no_number(name, getattr(self, name))
        if self.batch and (self.rpm is not None or self.tpm is not None):
            raise UsageError("--rpm and --tpm limit live calls; leave them out with --batch.")

    @property
    def window(self) -> int:
        """How many sections are under way at once: in batch mode all, but not many more than are wanted."""
        if not self.batch:
            return 2 * self.concurrency
        return MOST_AT_ONCE if self.accept is None else min(MOST_AT_ONCE, 2 * self.accept)


@dataclass(frozen=True)
class Cluster:
    """The Ray cluster that does the work: so many workers at `address`, or on this machine."""

    workers: int = 2
    address: str = ""

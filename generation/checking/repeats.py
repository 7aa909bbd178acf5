"""Questions that were asked before, in the same words or nearly.

Two questions are compared as sets of stems by their Jaccard similarity. Each is filed under its few longest stems only,
as many as two sets that are as alike as NEAR must share (Chaudhuri et al. 2006, prefix filtering), so that a question
is compared with the few that may be near it, and none is missed.
"""

import math
from dataclasses import dataclass, field

from generation.checking import terms
from generation.checking.case import Certainty, Problem

SAME = 0.9
"""From this similarity on, with the same names and numbers, two questions are one."""
NEAR = 0.75


@dataclass(frozen=True, slots=True)
class Repeat:
    """The earlier question that is most alike, where it stands, and how alike it is (1 for the same words)."""

    where: str
    similarity: float
    certainty: Certainty

    @property
    def problem(self) -> Problem:
        how = "repeats" if self.certainty == "certain" else "is much like"
        reason = f"The question {how} the one of {self.where}; ask something else."
        return Problem("other", "not_repeated", reason, self.certainty)


@dataclass
class Questions:
    """The questions so far; `where` is any name that tells a person where one stands ("old.jsonl, line 3")."""

    _stems: list[frozenset[str]] = field(default_factory=list)
    _where: list[str] = field(default_factory=list)
    _filed: dict[str, list[int]] = field(default_factory=dict)

    def add(self, question: str, where: str) -> None:
        stems = _stems(question)
        for stem in _prefix(stems):
            self._filed.setdefault(stem, []).append(len(self._stems))
        self._stems.append(stems)
        self._where.append(where)

    def earlier(self, question: str) -> Repeat | None:
        """The earlier question most like `question`, if one is at least NEAR; the first of equals."""
        stems = _stems(question)
        known = {at for stem in _prefix(stems) for at in self._filed.get(stem, ())}
        alike = [(_jaccard(stems, self._stems[at]), -at) for at in known]
        similarity, at = max(alike, default=(0.0, 0))
        if similarity < NEAR:
            return None
        sure = similarity >= SAME and _marks(stems) == _marks(self._stems[-at])
        return Repeat(self._where[-at], similarity, "certain" if sure else "unsure")


def _stems(question: str) -> frozenset[str]:
    """All content, question words included: "who" and "when" ask different things."""
    words = terms.words(question)
    return frozenset(terms.stem(w) for w in words if w not in terms.STOP_WORDS or w in _ASKING_WORDS)


_ASKING_WORDS = frozenset("who whom whose which when where why how what not no before after".split())


def _prefix(stems: frozenset[str]) -> list[str]:
    """Two sets of similarity NEAR share one of these; long stems come first, as they are the rarest."""
    ordered = sorted(stems, key=lambda s: (-len(s), s))
    return ordered[: len(ordered) - math.ceil(NEAR * len(ordered)) + 1]


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _marks(stems: frozenset[str]) -> set[str]:
    return {s for s in stems if s[0].isdigit() or s in _ASKING_WORDS}

"""What the checks speak: a Problem, and a Case, the candidate beside its passage with all that several checks share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from generation.checking import terms
from generation.records import Candidate

if TYPE_CHECKING:
    from generation.language.mentions import Mention
    from generation.language.nlp import Parse
    from generation.language.resolver import Link

Certainty = Literal["certain", "unsure"]
_MATTER = re.compile(
    r"^In (?:(?:the history of|connection with) .+?|[^,?]+ vs?\. [^,?]+), "
    r"(?=(?:(?:[a-z]+ )?(?:who|whom|what|which|whose)|when|where|why|how)\b)"
)
"""What names the article before a question: "In the history of the Mann Act, who ...?", "In Roe v. Wade, what ...?"."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One breach: `code` of PROBLEM_CODES, the `check` that found it, and a `reason` in one sentence."""

    code: str
    check: str
    reason: str
    certainty: Certainty = "certain"


@dataclass(frozen=True)
class Case:
    """A candidate and its section's sentences; stems are those of generation.checking.terms."""

    candidate: Candidate
    sentences: Sequence[str]

    @cached_property
    def indices(self) -> list[int]:
        """The required indices that exist, in reading order."""
        return sorted({i for i in self.candidate.required_sentence_indices if 0 <= i < len(self.sentences)})

    @cached_property
    def others(self) -> list[int]:
        return [i for i in range(len(self.sentences)) if i not in self.indices]

    @cached_property
    def required_stems(self) -> frozenset[str]:
        return self.stems_of(self.indices)

    @cached_property
    def question(self) -> str:
        """The question behind the words that name its article, which need not stand in the required sentences."""
        return _MATTER.sub("", self.candidate.question)

    @cached_property
    def asked(self) -> list[str]:
        """Stems of what the question is about."""
        return terms.asked_about(self.question)

    @cached_property
    def answer_words(self) -> list[str]:
        return terms.words(self.candidate.answer)

    @cached_property
    def answer_at(self) -> list[int]:
        """The required sentences that hold the answer word for word, else those that hold most of its content."""
        whole = self.holding(self.indices)
        content = set(terms.content(self.candidate.answer))
        overlap = {i: len(content & terms.stems(self.sentences[i])) for i in self.indices}
        most = max(overlap.values(), default=0)
        return whole or [i for i in self.indices if most and overlap[i] == most]

    @cached_property
    def parse(self) -> "Parse":
        """The parse of the whole passage, shared by all its candidates."""
        from generation.language import nlp

        return nlp.parse_sentences(tuple(self.sentences))

    def stems_of(self, indices: Sequence[int]) -> frozenset[str]:
        return frozenset().union(*(terms.stems(self.sentences[i]) for i in indices))

    def holding(self, indices: Sequence[int]) -> list[int]:
        """Those of `indices` whose sentence holds the answer word for word."""
        return [i for i in indices if terms.contains(terms.words(self.sentences[i]), self.answer_words)]

    def links(self, indices: Sequence[int]) -> "list[Link]":
        """What the resolver finds if the passage held only the sentences `indices`."""
        return _links(self.parse, tuple(indices))


@lru_cache(maxsize=64)
def _mentions(parse: "Parse") -> "tuple[Mention, ...]":
    from generation.language import mentions

    return mentions.find(parse)


@lru_cache(maxsize=512)
def _links(parse: "Parse", indices: tuple[int, ...]) -> "list[Link]":
    from generation.language import resolver

    return resolver.resolve_parse(parse, indices, _mentions(parse))

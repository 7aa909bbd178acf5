"""The words of the project: frozen records that every module speaks.

Offsets are counted in Python characters (code points), start inclusive, end exclusive. A sentence's offsets count from
the start of its section's text; a span's offsets count from the start of its sentence. Sentence indices are 0-based.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

PROBLEM_CODES = (
    "irrelevant_sentences",
    "missing_sentences",
    "formatting",
    "incomplete_answer",
    "ambiguous_question",
    "coreference_error",
    "wrong_information",
    "compound_question",
    "other",
)
"""Reasons to reject a candidate, shared by code, models and people. Source: Grzywinski et al. 2023, Table 2."""

Kind = Literal["pronominal", "nominal"]
Status = Literal["accepted", "rejected", "failed", "pending"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where an article comes from; empty strings where nothing is known."""

    url: str = ""
    license: str = ""
    revision: str = ""
    retrieved_at: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`section.text[start:end] == text`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """One headed part of an article, without its heading and without its subsections.

    `article.text[start:end] == text`; `path` holds the headings above it, the article's title left out, so that the
    summary (the text before the first heading) has an empty path. `sentences` is empty until the section is segmented.
    """

    id: str
    article_id: str
    article_title: str
    path: tuple[str, ...]
    text: str
    start: int
    end: int
    sentences: tuple[Sentence, ...] = ()
    segmenter: str = ""
    domain: str = ""
    source: Source = Source()

    @property
    def is_summary(self) -> bool:
        return not self.path

    @property
    def title(self) -> str:
        """The heading path as a person would write it; "Summary" for the lead."""
        return " > ".join(self.path) or "Summary"


@dataclass(frozen=True, slots=True)
class Article:
    """A document as Markdown, with its sections in reading order."""

    id: str
    title: str
    text: str
    sections: tuple[Section, ...] = ()
    domain: str = ""
    source: Source = Source()


@dataclass(frozen=True, slots=True)
class Span:
    """`section.sentences[sentence_index].text[start:end] == text`."""

    sentence_index: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Coreference:
    """A mention that refers to the same entity as its antecedent, in another sentence."""

    kind: Kind
    mention: Span
    antecedent: Span


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation: a relation between two entities, read off one sentence.

    Source: Inoue et al. 2020 (R4C), section 2.
    """

    head: str
    relation: str
    tail: str
    sentence_index: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question-answer pair with the sentences that it requires: 2 or 3 indices, sorted, unique."""

    question: str
    answer: str
    required_sentence_indices: tuple[int, ...]
    coreferences: tuple[Coreference, ...] = ()
    derivation: tuple[Step, ...] = ()

    @property
    def distance(self) -> int:
        """Sentences between the first and the last required one (1 = adjacent)."""
        return max(self.required_sentence_indices) - min(self.required_sentence_indices)

    @property
    def kind(self) -> str:
        """ "pronominal", "nominal", "mixed", or "" if no coreference is labelled."""
        kinds = {c.kind for c in self.coreferences}
        return kinds.pop() if len(kinds) == 1 else ("mixed" if kinds else "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one reviewer says of one candidate; `problems` are PROBLEM_CODES, empty if it is of quality."""

    reviewer: str
    is_quality: bool
    reason: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or many calls; a server that does not count them leaves zeros."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader answered who was shown only `context`, as `proof.contexts` names them, and whether it is right."""

    context: str
    answer: str
    is_right: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """The matrix of an experiment on one candidate; `reader` says who read, "model:<name>" or "rules:<version>"."""

    reader: str
    readings: tuple[Reading, ...]

    @property
    def by_context(self) -> dict[str, Reading]:
        return {reading.context: reading for reading in self.readings}

    @property
    def is_answered(self) -> bool:
        """Right from the whole section."""
        return self.by_context["section"].is_right

    @property
    def is_sufficient(self) -> bool:
        """Right from the required sentences alone."""
        return self.by_context["required"].is_right

    @property
    def not_needed(self) -> tuple[int, ...]:
        """Required sentences without which the others still give the right answer."""
        return self._right_without("required without ")

    @property
    def replaceable(self) -> tuple[int, ...]:
        """Required sentences without which the rest of the section still gives the right answer."""
        return self._right_without("section without ")

    @property
    def closed_book_right(self) -> bool:
        """Right from nothing: the reader knew, or guessed."""
        return self.by_context["nothing"].is_right

    @property
    def is_proven(self) -> bool:
        """Right from the section and from the required sentences, wrong with any one of those left out."""
        return self.is_answered and self.is_sufficient and not self.not_needed

    def _right_without(self, prefix: str) -> tuple[int, ...]:
        found = (r.context.removeprefix(prefix) for r in self.readings if r.context.startswith(prefix) and r.is_right)
        return tuple(map(int, found))


@dataclass(frozen=True, slots=True)
class Round:
    """One candidate and the verdicts on exactly that text; a revision opens the next round (index 0 is the draft).

    `proof` is there where one was asked for and the panel had agreed; what follows from it is among the verdicts.
    """

    index: int
    candidate: Candidate
    verdicts: tuple[Verdict, ...] = ()
    proof: Proof | None = None

    @property
    def accepted(self) -> bool:
        return bool(self.verdicts) and all(v.is_quality for v in self.verdicts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one section ended. `candidate` is the last one seen; `reason` says why it is not accepted, or
    what is to be said of an accepted one (an embedded default's draft of low confidence).

    `recipe` says who made it: generator, reviewers, models, prompt digests, code version.
    """

    section: Section
    status: Status
    candidate: Candidate | None = None
    rounds: tuple[Round, ...] = ()
    reason: str = ""
    problems: tuple[str, ...] = ()
    error: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)


def digest(value: Any, length: int = 16) -> str:
    """Hex SHA-256 of `value` as canonical JSON; records count as their fields."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=asdict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def pair_id(sentences: list[str], candidate: Candidate) -> str:
    """The content hash that names a pair: same sentences, question, answer and required indices, same id."""
    indices = list(candidate.required_sentence_indices)
    return digest([sentences, candidate.question, candidate.answer, indices])


def candidate_from_dict(row: Mapping[str, Any]) -> Candidate:
    """Read a candidate back from what `asdict` or a row of the dataset gives; lists become tuples."""
    return Candidate(
        question=row["question"],
        answer=row["answer"],
        required_sentence_indices=tuple(row["required_sentence_indices"]),
        coreferences=tuple(
            Coreference(c["kind"], Span(**c["mention"]), Span(**c["antecedent"])) for c in row.get("coreferences") or ()
        ),
        derivation=tuple(Step(**s) for s in row.get("derivation") or ()),
    )

"""The common form of a set to evaluate on: documents, and questions whose evidence is places in them.

Everything is an offset into a document's text, in Python characters, end exclusive, so that no chunker, retriever or
reader can change what is right. `evaluation.adapters.load` brings files into this form.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evaluation.derivations import Triple

from generation.errors import InputError, UsageError


class ExampleError(InputError):
    """A file of questions that cannot be used: unreadable, of no known format, a column missing, an index too large."""


class Span(NamedTuple):
    """Characters `start` to `end` of a document's text."""

    start: int
    end: int


class Place(NamedTuple):
    """Characters `start` to `end` of the document of that id."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the spans of its headed sections and of its sentences, each list in order and without overlap."""

    id: str
    title: str
    text: str
    sections: tuple[Span, ...]
    sentences: tuple[Span, ...]

    def sentence_at(self, offset: int) -> int:
        """Index of the sentence that holds the character at `offset`, else of the last that begins before it."""
        before = [index for index, span in enumerate(self.sentences) if span.start <= offset]
        return before[-1] if before else 0


@dataclass(frozen=True, slots=True)
class Link:
    """A coreference between two places of one document; `kind` is "pronominal", "nominal", or "" where unknown."""

    kind: str
    mention: Place
    antecedent: Place


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the answers that count as right, and the sentences that it needs.

    `context` are the places to be read where the evidence is to be given (a section, a paragraph, ten paragraphs);
    questions with the same context are not independent, and statistics group by `group`. `answers` and `evidence` are
    empty where the set has none. `distance` counts sentences from the first to the last required one, None across
    documents.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    context: tuple[Place, ...]
    evidence: tuple[Place, ...] = ()
    links: tuple[Link, ...] = ()
    kind: str = ""
    distance: int | None = None
    derivations: "tuple[tuple[Triple, ...], ...]" = ()
    group: str = ""


@dataclass(frozen=True)
class ExampleSet:
    """Documents and examples of one source; `lacks` says in sentences what the source does not have."""

    name: str
    format: str
    documents: Mapping[str, Document]
    examples: tuple[Example, ...]
    lacks: tuple[str, ...] = field(default=())

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits over all texts, questions, answers and places: the version that results name."""
        sha = hashlib.sha256()
        for document in self.documents.values():
            sha.update(repr((document.id, document.text, document.sentences)).encode())
        for e in self.examples:
            sha.update(repr((e.id, e.question, e.answers, e.context, e.evidence)).encode())
        return sha.hexdigest()[:16]

    def text(self, place: Place) -> str:
        """What stands at `place`."""
        return self.documents[place.document].text[place.start : place.end]


def limited(examples: ExampleSet, limit: int | None, seed: int) -> ExampleSet:
    """So many of the questions, chosen by chance but always the same; the documents all stay."""
    if limit is None or limit >= len(examples.examples):
        return examples
    if limit < 1:
        raise UsageError("A limit is a number from 1.")
    places = sorted(Random(seed).sample(range(len(examples.examples)), limit))
    return replace(examples, examples=tuple(examples.examples[i] for i in places))


def split(text: str, around: Sequence[Span] = ()) -> tuple[Span, ...]:
    """Sentences by the default splitter, part by part, so that none spans two of `around`."""
    from generation import segment

    parts = around or (Span(0, len(text)),)
    return tuple(Span(a + s.start, a + s.end) for a, b in parts for s in segment.split(text[a:b]))


def digest_of(text: str) -> str:
    """12 hexadecimal digits that stand for a text which has no name."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]

"""Shortcuts: how much of a set is answered without reading it, or without following a reference?

A question that needs its sentences gives little to a reader that sees none of them, or one alone. All are weak readers
by rules: what they get is the least that a shortcut gets. Compare them with the same reader on the whole passage, and
with another set; they read the common form, so that every set is measured in the same way. READERS names them.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from evaluation.answers import exact_match, normalize, token_f1
from evaluation.examples import Document, Example, ExampleSet, Place
from generation.language import nlp
from generation.prompts import CANNOT_TELL
from generation.proving import extractive

Reader = Callable[[ExampleSet], Mapping[str, str]]
"""A set -> question id -> answer, "" for none."""

_ASKING = re.compile(
    r"\b(how (?:many|much|long|far|old|often)|(?:what|which) (?:year|date|day|month|state|city|country|court|president)"
    r"|who|whom|whose|when|where|why|how|what|which)\b",
    re.IGNORECASE,
)
SAME = 0.5
"""Token F1 from which an entity and an answer that overlap are the same: "$41 million" and "about $41 million"."""


class Answered(NamedTuple):
    """Exact match and token F1 of one question, each from 0 to 1."""

    em: float
    f1: float


class FirstEntity(NamedTuple):
    """How often the answer is the first named entity of its sentence.

    `questions` are those whose answer is one of the entities; `chance` is the mean of 1 by their number, `p` the
    probability of so many firsts, or more, by chance.
    """

    questions: int
    first: float
    chance: float
    p: float


def scored(examples: ExampleSet, predictions: Mapping[str, str]) -> dict[str, Answered]:
    """Question id -> its scores, for the questions that have an answer; one without a prediction scores 0."""
    found = {}
    for example in (e for e in examples.examples if e.answers):
        given = predictions.get(example.id, "")
        f1 = token_f1(given, example.answers, empty=0.0)
        found[example.id] = Answered(float(exact_match(given, example.answers)), f1)
    return found


def asks(question: str) -> str:
    """The words by which a question asks, in lower case: "how many", "what year", "who"; "" where none is known."""
    match = _ASKING.search(question)
    return match[0].lower() if match else ""


def most_frequent(examples: ExampleSet) -> dict[str, str]:
    """The most frequent answer, on other documents, to questions that ask with the same words."""
    counts: dict[str, Counter[str]] = {}
    own: dict[tuple[str, str], Counter[str]] = {}
    for e in (e for e in examples.examples if e.answers):
        word = asks(e.question)
        counts.setdefault(word, Counter())[normalize(e.answers[0])] += 1
        for home in _homes(e):
            own.setdefault((word, home), Counter())[normalize(e.answers[0])] += 1
    found = {}
    for e in examples.examples:
        word = asks(e.question)
        rest = Counter(counts.get(word, Counter()))
        for home in _homes(e):
            rest -= own.get((word, home), Counter())
        found[e.id] = max(rest, key=rest.__getitem__, default="")
    return found


def nearest_question(examples: ExampleSet) -> dict[str, str]:
    """The answer to the most similar question (BM25) on another document."""
    from evaluation.retrieval import BM25

    asked = [e for e in examples.examples if e.answers]
    rankings = BM25().index([e.question for e in asked]).search([e.question for e in examples.examples], 100)
    found = {}
    for example, hits in zip(examples.examples, rankings, strict=True):
        others = (asked[hit.index] for hit in hits if not _homes(asked[hit.index]) & _homes(example))
        found[example.id] = next((other.answers[0] for other in others), "")
    return found


def first_of_its_kind(examples: ExampleSet) -> dict[str, str]:
    """The first entity of the context that is of the kind asked for and not in the question; nothing else is read."""
    found = {}
    for example in examples.examples:
        wanted = extractive.ENTITIES.get(extractive.Asked(example.question).kind, ())
        texts = (
            entity.text
            for sentences in _context(examples, example)
            for entity in nlp.parse_sentences(sentences).doc.ents
            if not wanted or entity.label_ in wanted
        )
        asked = example.question.lower()
        found[example.id] = next((text for text in texts if text.lower() not in asked), "")
    return found


def last_sentence(examples: ExampleSet) -> dict[str, str]:
    """What a reader who follows no reference answers from the last sentence of the context."""
    return {e.id: _guess(tuple(s[-1] for s in _context(examples, e) if s)[-1:], e.question) for e in examples.examples}


def answer_sentence(examples: ExampleSet) -> dict[str, str]:
    """What that reader answers from the sentence in which the answer stands, which it is told."""
    found = {}
    for example in examples.examples:
        place = fact(examples, example)
        found[example.id] = _guess((examples.text(place),), example.question) if place else ""
    return found


def whole_context(examples: ExampleSet) -> dict[str, str]:
    """What that reader answers from the whole context."""
    return {e.id: _guess(tuple(t for s in _context(examples, e) for t in s), e.question) for e in examples.examples}


def by_reference(examples: ExampleSet) -> dict[str, str]:
    """What the extractive reader answers, which follows references and else says that it cannot tell."""
    found = {}
    for example in examples.examples:
        answer = extractive.read(tuple(t for s in _context(examples, example) for t in s), example.question)
        found[example.id] = "" if answer == CANNOT_TELL else answer
    return found


READERS: Mapping[str, Reader] = {
    "question only: the most frequent answer": most_frequent,
    "question only: the nearest question's answer": nearest_question,
    "kind only: the first entity of the kind asked for": first_of_its_kind,
    "last sentence only": last_sentence,
    "the answer's sentence only, as if known": answer_sentence,
    "whole passage, no reference followed": whole_context,
    "whole passage, references followed": by_reference,
}


def fact(examples: ExampleSet, example: Example) -> Place | None:
    """The last required sentence that holds an answer word for word; None where none does."""
    holding = [p for p in example.evidence if any(a and a in examples.text(p) for a in example.answers)]
    return holding[-1] if holding else None


def first_entity(examples: ExampleSet) -> FirstEntity:
    """How often the answer is the first entity of its sentence, against chance; p is 1 where no answer is an entity."""
    firsts, chances = [], []
    for example in examples.examples:
        place = fact(examples, example)
        are_answer = _are_answer(examples, example, place) if place else []
        if any(are_answer):
            firsts.append(are_answer[0])
            chances.append(sum(are_answer) / len(are_answer))
    if not firsts:
        return FirstEntity(0, 0.0, 0.0, 1.0)
    number = len(firsts)
    return FirstEntity(number, sum(firsts) / number, sum(chances) / number, at_least(sum(firsts), chances))


def at_least(successes: int, chances: Sequence[float]) -> float:
    """The probability of `successes` or more in independent trials with these chances, exactly."""
    import numpy as np

    numbers = np.ones(1)
    for chance in chances:
        numbers = np.convolve(numbers, (1 - chance, chance))
    return float(min(1.0, numbers[successes:].sum()))


def _are_answer(examples: ExampleSet, example: Example, place: Place) -> list[bool]:
    """For each entity of the sentence, in order: is it the answer?"""
    document = examples.documents[place.document]
    sentences, at = _around(document, place, example.context)
    text = sentences[at]
    answer = next(a for a in example.answers if a and a in text)
    start = text.index(answer)
    parse = nlp.parse_sentences(sentences)
    first, last = parse.bounds[at]
    found = []
    for entity in parse.doc[first:last].ents:
        a, b = parse.where[entity.start][1], parse.where[entity.end - 1][2]
        overlaps = a < start + len(answer) and start < b
        found.append(overlaps and token_f1(text[a:b], answer) >= SAME)
    return found


def _around(document: Document, place: Place, context: Sequence[Place]) -> tuple[tuple[str, ...], int]:
    """The sentences of the context that `place` is in, and the place's index there."""
    home = next((c for c in context if c.document == place.document and c.start <= place.start < c.end), place)
    spans = [s for s in document.sentences if home.start <= s.start and s.end <= home.end]
    at = next(i for i, s in enumerate(spans) if s.start <= place.start < s.end)
    return tuple(document.text[s.start : s.end] for s in spans), at


def _context(examples: ExampleSet, example: Example) -> list[tuple[str, ...]]:
    """The sentences of each place of the context."""
    found = []
    for place in example.context:
        document = examples.documents[place.document]
        spans = (s for s in document.sentences if place.start <= s.start and s.end <= place.end)
        found.append(tuple(document.text[s.start : s.end] for s in spans))
    return found


def _guess(sentences: tuple[str, ...], question: str) -> str:
    answer = extractive.guess(sentences, question)
    return "" if answer == CANNOT_TELL else answer


def _homes(example: Example) -> set[str]:
    return {place.document for place in (*example.context, *example.evidence)}

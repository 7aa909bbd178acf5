"""Readers: from a question and retrieved chunks, or the given context, to an answer and the sentences it rests on.

`extractive` needs no model. `visconde` plays Visconde's steps with one: decompose the question where it needs that,
search for each sub-question, and answer from what was found, reasoning first and citing sentences.

Source: Pereira et al. 2022 (Visconde), section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evaluation.answers import exact_match, token_f1
from evaluation.evidence import supporting_facts
from evaluation.examples import Document, Example, ExampleSet, Place
from evaluation.fewshot import Shots
from generation.errors import UsageError
from generation.llm import Chat, Request, ask, read_json
from generation.prompts import CANNOT_TELL, Prompt

if TYPE_CHECKING:
    from evaluation.chunking.chunk import Chunk

MOST_QUESTIONS = 4
_RESYNC = 12  # characters that tell where the text goes on after an addition
TEMPERATURE = 0.0
NAMES = ("extractive", "visconde")
OPTIONS = ("static", "dynamic", "zero", "whole")

Fact = tuple[str, int]
"""A sentence: document id and index."""


class Piece(NamedTuple):
    """Text as a reader sees it, and the sentence that it is (a part of), None for a heading or what was added."""

    text: str
    fact: Fact | None


class Shown(NamedTuple):
    """A chunk as a reader sees it."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a reader says; `cited` are the sentences it rests on, `answer` is CANNOT_TELL where it gives none."""

    answer: str
    cited: tuple[Fact, ...] = ()
    reasoning: str = ""
    shots: int = 0


class Reader(Protocol):
    """Answers questions about what it is shown. Raises ModelError."""

    @property
    def name(self) -> str: ...

    async def questions(self, question: str, chat: Chat | None = None) -> tuple[str, ...]:
        """What to search for: the question itself, or its parts."""
        ...

    async def read(self, example: Example, shown: Sequence[Shown], chat: Chat | None = None) -> Answered: ...


class ExtractiveReader:
    """A phrase of the sentence most like the question, tied to its names by the coreference resolver; deterministic."""

    @property
    def name(self) -> str:
        from generation.proving.extractive import VERSION

        return f"extractive-{VERSION}"

    async def questions(self, question: str, chat: Chat | None = None) -> tuple[str, ...]:
        return (question,)

    async def read(self, example: Example, shown: Sequence[Shown], chat: Chat | None = None) -> Answered:
        from generation.proving.extractive import sourced

        pieces = in_reading_order(shown)
        answer, indices = sourced(tuple(p.text for p in pieces), example.question)
        cited = (pieces[i].fact for i in sorted(indices))
        return Answered(answer, tuple(fact for fact in cited if fact is not None))


@dataclass(frozen=True)
class Visconde:
    """A model as reader. No `decomposer`: questions are searched for whole. No `shots`: no worked examples."""

    aggregator: Prompt
    decomposer: Prompt | None = None
    shots: Shots | None = None
    model: str = "model"

    @property
    def name(self) -> str:
        how = self.shots.choice if self.shots else "zero"
        return f"visconde:{how}{'' if self.decomposer else ':whole'}({self.model})"

    async def questions(self, question: str, chat: Chat | None = None) -> tuple[str, ...]:
        if self.decomposer is None:
            return (question,)
        request = Request(
            self.decomposer.render(question=question), TEMPERATURE, self.decomposer.schema, role="decomposer"
        )
        return (await ask(_needed(chat), request, _questions)).value or (question,)

    async def read(self, example: Example, shown: Sequence[Shown], chat: Chat | None = None) -> Answered:
        labels: dict[str, Piece] = {}
        documents = [_labelled(number, one, labels) for number, one in enumerate(shown, 1)]
        examples = self.shots.shown(example) if self.shots else []
        messages = self.aggregator.render(examples=examples, documents=documents, question=example.question)
        request = Request(messages, TEMPERATURE, self.aggregator.schema, role="aggregator")
        found = (await ask(_needed(chat), request, lambda text: _aggregate(text, labels))).value
        facts = (labels[label].fact for label in found.cited)
        cited = tuple(dict.fromkeys(fact for fact in facts if fact is not None))
        return Answered(found.answer, cited, found.reasoning, len(examples))


class ReadScore(NamedTuple):
    """Of one question: exact match and F1 of the answer, F1 of the cited sentences; None where the set lacks gold."""

    em: float | None
    f1: float | None
    support_f1: float | None


def score(examples: ExampleSet, example: Example, answered: Answered) -> ReadScore:
    """SQuAD's exact match and F1 against the best reference, and HotpotQA's F1 of supporting facts."""
    em = f1 = support = None
    if example.answers:
        given = "" if answered.answer == CANNOT_TELL else answered.answer
        em = float(exact_match(given, example.answers))
        f1 = token_f1(given, example.answers, empty=0.0)
    if example.evidence:
        gold = {(p.document, examples.documents[p.document].sentence_at(p.start)) for p in example.evidence}
        support = supporting_facts(answered.cited, gold).f1
    return ReadScore(em, f1, support)


def shown_chunk(documents: Mapping[str, Document], chunk: "Chunk") -> Shown:
    """A chunk with its sentences, or parts of them, marked; what a chunker put in stays where it put it."""
    document = documents[chunk.document]
    own = document.text[chunk.start : chunk.end]
    pieces = _pieces(document, chunk.place)
    if chunk.text == own:
        return Shown(document.title, tuple(Piece(p.text.strip(), p.fact) for p in pieces if p.text.strip()))
    places = _places(own, chunk.text)
    if places is None:  # a text that does not hold the document's own in order
        return Shown(document.title, (Piece(chunk.text, None),))
    cuts, at = [0], 0
    for piece in pieces[:-1]:
        at += len(piece.text)
        cuts.append(places[at])
    texts = (chunk.text[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(chunk.text)], strict=True))
    return Shown(document.title, tuple(Piece(t, p.fact) for t, p in zip(texts, pieces, strict=True) if t))


def shown_context(examples: ExampleSet, example: Example) -> list[Shown]:
    """The context that comes with the question, one Shown a place."""
    found = []
    for place in example.context:
        document = examples.documents[place.document]
        pieces = (Piece(p.text.strip(), p.fact) for p in _pieces(document, place))
        found.append(Shown(document.title, tuple(p for p in pieces if p.text)))
    return found


def in_reading_order(shown: Sequence[Shown]) -> list[Piece]:
    """All pieces, documents by rank and sentences in order; of the parts of one sentence the longest alone."""
    kept: dict[Any, Piece] = {}
    ranks: dict[str, int] = {}
    for number, one in enumerate(shown):
        for place, piece in enumerate(one.pieces):
            key: Any = piece.fact or ("", number, place)
            if piece.fact:
                ranks.setdefault(piece.fact[0], number)
            if key not in kept or len(piece.text) > len(kept[key].text):
                kept[key] = piece

    def order(item: tuple[Any, Piece]) -> tuple[int, int]:
        key, piece = item
        return (ranks[key[0]], key[1]) if piece.fact else (key[1], -1)

    return [piece for _, piece in sorted(kept.items(), key=order)]


def _pieces(document: Document, place: Place) -> list[Piece]:
    """All text at `place` cut at sentence ends; what stands between sentences (a heading) is a piece of its own."""
    pieces, at = [], place.start
    for index, span in enumerate(document.sentences):
        start, end = max(span.start, place.start), min(span.end, place.end)
        if start >= end:
            continue
        pieces += [Piece(document.text[at:start], None), Piece(document.text[start:end], (document.id, index))]
        at = end
    return [*pieces, Piece(document.text[at : place.end], None)]


def _places(own: str, text: str) -> list[int] | None:
    """Where each character of `own`, and its end, stands in `text`, which has additions; None if it does not."""
    places, at = [], 0
    for index, character in enumerate(own):
        if text[at : at + 1] != character:
            at = text.find(own[index : index + _RESYNC], at)
            if at < 0:
                return None
        places.append(at)
        at += 1
    return [*places, len(text)]


def _labelled(number: int, shown: Shown, labels: dict[str, Piece]) -> dict[str, Any]:
    named = {f"{number}.{place}": piece for place, piece in enumerate(shown.pieces, 1)}
    labels |= named
    return {"title": shown.title, "sentences": {label: piece.text for label, piece in named.items()}}


class _Aggregate(NamedTuple):
    answer: str
    cited: tuple[str, ...]
    reasoning: str


def _aggregate(text: str, labels: Mapping[str, Piece]) -> _Aggregate:
    """An aggregator's reply; ValueError for one without an answer or with labels that nothing bears."""
    data = read_json(text)
    answer, cited = (data.get(name) for name in ("answer", "cited")) if isinstance(data, Mapping) else (None, None)
    if not isinstance(answer, str) or not answer.strip():
        raise ValueError(f'"answer" must be a string; write "{CANNOT_TELL}" where the documents do not say')
    if not isinstance(cited, list):
        raise ValueError('"cited" must be a list of labels such as "1.2"')
    named = tuple(str(label).strip().strip("[]") for label in cited)
    if unknown := [label for label in named if label not in labels]:
        raise ValueError(f'no sentence bears the label "{unknown[0]}"; cite labels as they stand before the sentences')
    answer = CANNOT_TELL if answer.strip().rstrip(".").lower() == CANNOT_TELL else answer.strip()
    return _Aggregate(answer, named, str(data.get("reasoning") or ""))


def _questions(text: str) -> tuple[str, ...]:
    """A decomposer's reply; ValueError where it holds no list of questions."""
    data = read_json(text)
    found = data.get("questions") if isinstance(data, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(q, str) for q in found):
        raise ValueError('"questions" must be a list of strings, empty where one search is enough')
    if len(found) > MOST_QUESTIONS:
        raise ValueError(f"at most {MOST_QUESTIONS} sub-questions")
    return tuple(dict.fromkeys(q.strip() for q in found if q.strip()))


def _needed(chat: Chat | None) -> Chat:
    if chat is None:
        raise UsageError('The reader "visconde" asks a model; add --model NAME, or read with "extractive".')
    return chat

"""Worked examples for a model's reader: the same for every question, or those most like it.

They come from rows with evidence, never from an article that the question itself is asked about. The reasoning of an
example is put together from its labels: which mention refers to what, and where the answer stands.

Source: Pereira et al. 2022 (Visconde), section 3, which takes nearest neighbours by embedding, too.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from evaluation.embedders import Embedder
from evaluation.examples import Document, Example, ExampleSet, Place
from generation.errors import UsageError

Choice = Literal["static", "dynamic"]
SHOTS = 4
SEED = 42


@dataclass(frozen=True)
class Shots:
    """Chooses `count` of the examples of `pool` for a question; "dynamic" takes the nearest by `embedder`."""

    pool: ExampleSet
    choice: Choice = "static"
    count: int = SHOTS
    embedder: Embedder | None = None

    def __post_init__(self) -> None:
        if self.choice == "dynamic" and self.embedder is None:
            raise UsageError("Dynamic examples are chosen by an embedder: give one, or take static ones.")

    @cached_property
    def _usable(self) -> list[Example]:
        """Rows with an answer and evidence, in an order by chance that is always the same."""
        found = [e for e in self.pool.examples if e.answers and e.evidence]
        random.Random(SEED).shuffle(found)
        return found

    @cached_property
    def _vectors(self) -> Any:
        assert self.embedder is not None
        return self.embedder.embed([e.question for e in self._usable], is_query=True)

    def chosen(self, example: Example) -> list[Example]:
        """At most `count` rows for `example`, the most like it last; none of an article that it is asked about."""
        own = _articles(example)
        allowed = [i for i, e in enumerate(self._usable) if not own & _articles(e) and e.id != example.id]
        if self.choice == "dynamic" and allowed:
            assert self.embedder is not None
            near = self._vectors @ self.embedder.embed([example.question], is_query=True)[0]
            allowed = sorted(allowed, key=lambda i: (-near[i], i))
        return [self._usable[i] for i in reversed(allowed[: self.count])]

    def shown(self, example: Example) -> list[dict[str, Any]]:
        """The chosen rows as the aggregator's prompt shows them."""
        return [worked(self.pool, chosen) for chosen in self.chosen(example)]


def worked(examples: ExampleSet, example: Example) -> dict[str, Any]:
    """One row with documents, reasoning, cited labels and answer: what a model is to write for its own question."""
    labels: dict[Place, str] = {}
    documents = []
    for number, id in enumerate(dict.fromkeys(p.document for p in example.evidence), 1):
        document = examples.documents[id]
        places = [p for p in example.evidence if p.document == id]
        sentences = {}
        for place_number, span in enumerate(_window(document, places), 1):
            place = Place(id, *span)
            labels[place] = f"{number}.{place_number}"
            sentences[labels[place]] = examples.text(place)
        documents.append({"title": document.title, "sentences": sentences})
    cited = [label for place, label in labels.items() if place in example.evidence]
    reasoning = [
        f'In {a}, "{mention}" means "{named}" of {b}.' for a, mention, named, b in _links(examples, example, labels)
    ]
    reasoning.append(f"Together {', '.join(cited)} give the answer: {example.answers[0]}.")
    return {
        "documents": documents,
        "question": example.question,
        "reasoning": " ".join(reasoning),
        "cited": cited,
        "answer": example.answers[0],
    }


def _links(examples: ExampleSet, example: Example, labels: dict[Place, str]) -> list[tuple[str, str, str, str]]:
    found = []
    for link in example.links:
        ends = [_label(labels, place) for place in (link.mention, link.antecedent)]
        if all(ends):
            found.append((ends[0], examples.text(link.mention), examples.text(link.antecedent), ends[1]))
    return found


def _label(labels: dict[Place, str], inside: Place) -> str:
    held = (label for p, label in labels.items() if p.document == inside.document and p.start <= inside.start < p.end)
    return next(held, "")


def _window(document: Document, places: Sequence[Place], most: int = 8) -> list[tuple[int, int]]:
    """The sentences from the first to the last place; the places alone where these are more than `most`."""
    first, last = min(p.start for p in places), max(p.end for p in places)
    spans = [(s.start, s.end) for s in document.sentences if s.start >= first and s.end <= last]
    wanted = sorted({(p.start, p.end) for p in places})
    return spans if len(spans) <= most and set(wanted) <= set(spans) else wanted


def _articles(example: Example) -> set[str]:
    return {p.document for p in (*example.context, *example.evidence)}

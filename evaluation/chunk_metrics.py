"""What a chunking does to the evidence: scores on characters, so that what is right does not depend on the chunks.

Recall, precision, IoU and PrecisionOmega are those of Smith and Troynikov 2024 (Chroma, "Evaluating Chunking Strategies
for Retrieval"), as their evaluation computes them: a chunk that only touches a reference counts as touched; precision
and IoU divide by the retrieved lengths added up, while what is found counts once.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple, Protocol, TypeVar

from evaluation.chunkers import Chunk, Chunked
from evaluation.chunking.tokens import Tokenizer, tokenizer
from evaluation.examples import Document, Example, ExampleSet, Link, Place, Span

Key = TypeVar("Key", str, int)


class Located(Protocol):
    """A `Chunk` or a `Place`."""

    @property
    def document(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Omega(NamedTuple):
    """The precision that perfect retrieval would have, and how many chunks touch a reference."""

    score: float
    touched: int


class Retrieved(NamedTuple):
    """How well retrieved chunks match the references, in characters."""

    recall: float
    precision: float
    iou: float


def precision_omega(chunks: Iterable[Located], references: Sequence[Located]) -> Omega:
    """Characters of the references over those of all chunks that touch one; 0 if none does.

    `chunks` are all that there are; missed parts of references are added below the line.
    """
    touching = [c for c in chunks if any(_touches(c, r) for r in references)]
    found = _by_document(_common(c, r) for c in touching for r in references if _touches(c, r))
    below = _by_document([*map(_place, touching), *map(_place, references)])
    return Omega(_length(found) / _length(below) if touching and _length(below) else 0.0, len(touching))


def retrieved(ranking: Sequence[Located], references: Sequence[Located]) -> Retrieved:
    """Recall, precision and IoU of retrieved chunks; cut `ranking` to its first k before."""
    found = _by_document(_common(c, r) for c in ranking for r in references if _touches(c, r))
    hits, wanted, read = _length(found), _sum(references), _sum(ranking)
    missed = sum(b - a for r in references for a, b in _minus(Span(r.start, r.end), found.get(r.document, ())))
    return Retrieved(
        hits / wanted if wanted else 0.0, hits / read if read else 0.0, hits / (read + missed) if read + missed else 0.0
    )


def in_one(chunks: Iterable[Located], places: Sequence[Located]) -> bool:
    """Does one chunk hold all `places`, each from its first to its last character? Never, if there is none."""
    return bool(places) and any(all(_holds(c, p) for p in places) for c in chunks)


def in_all(chunks: Iterable[Located], places: Sequence[Located], documents: Mapping[str, Document]) -> bool:
    """Do the chunks together hold every character of `places`, white space aside?"""
    held = _by_document(map(_place, chunks))
    gaps = ((p, gap) for p in places for gap in _minus(Span(p.start, p.end), held.get(p.document, ())))
    return bool(places) and not any(documents[p.document].text[a:b].strip() for p, (a, b) in gaps)


def is_cut(link: Link, chunks: Iterable[Located]) -> bool:
    """Is there no chunk that holds both the mention and its antecedent?"""
    return not in_one(chunks, (link.mention, link.antecedent))


@dataclass(frozen=True, slots=True)
class Kept:
    """What a chunking keeps of one question: `omega` is PrecisionOmega; `cut` counts those of `links` links."""

    id: str
    group: str
    kind: str
    distance: int | None
    whole: bool
    omega: float
    touched: int
    cut: int
    links: int


@dataclass(frozen=True, slots=True)
class Share:
    """Questions, the share whose required set lies in one chunk; links, the share that is cut (None without links)."""

    questions: int
    whole: float
    links: int
    cut: float | None


class Cuts(NamedTuple):
    """How many links, and the share that is cut."""

    links: int
    cut: float


@dataclass(frozen=True)
class ChunkReport:
    """A chunker on a set. Sizes are means over chunks, tokens of `unit`; seconds are those of cutting all documents.

    `questions` are those with evidence, in the set's order. Questions are counted by their own kind and distance in
    `by_kind` and `by_distance`, links by theirs in `links_by_kind` and `links_by_distance` (sentences apart). `covered`
    is the share of the documents' characters that lie in a chunk, `repeated` how many chunks hold one on average.
    """

    chunker: str
    unit: str
    chunks: int
    mean_characters: float
    mean_tokens: float
    seconds: float
    covered: float
    repeated: float
    all: Share
    by_kind: Mapping[str, Share]
    by_distance: Mapping[int, Share]
    links_by_kind: Mapping[str, Cuts]
    links_by_distance: Mapping[int, Cuts]
    mean_omega: float
    questions: tuple[Kept, ...]


def report(examples: ExampleSet, chunked: Chunked, unit: Tokenizer | None = None) -> ChunkReport:
    """Measure one chunking of all documents of a set; questions without evidence are left out of the shares."""
    unit = unit or tokenizer("words")
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunked.chunks:
        by_document[chunk.document].append(chunk)
    asked = [e for e in examples.examples if e.evidence]
    kept = tuple(_kept(example, _near(example, by_document)) for example in asked)
    links = [(link, is_cut(link, by_document[link.mention.document])) for e in asked for link in e.links]
    held = _by_document(map(_place, chunked.chunks))
    total = sum(len(d.text) for d in examples.documents.values())
    return ChunkReport(
        chunker=chunked.chunker,
        unit=unit.name,
        chunks=len(chunked.chunks),
        mean_characters=_mean([c.end - c.start for c in chunked.chunks]),
        mean_tokens=_mean([unit.count(c.text) for c in chunked.chunks]),
        seconds=chunked.seconds,
        covered=_length(held) / total if total else 0.0,
        repeated=_sum(chunked.chunks) / _length(held) if held else 0.0,
        all=_share(kept),
        by_kind={kind: _share([k for k in kept if k.kind == kind]) for kind in sorted({k.kind for k in kept})},
        by_distance={
            d: _share([k for k in kept if k.distance == d])
            for d in sorted({k.distance for k in kept if k.distance is not None})
        },
        links_by_kind=_cut_by((link.kind, cut) for link, cut in links),
        links_by_distance=_cut_by((_distance(examples.documents, link), cut) for link, cut in links),
        mean_omega=_mean([k.omega for k in kept]),
        questions=kept,
    )


def _near(example: Example, by_document: Mapping[str, list[Chunk]]) -> list[Chunk]:
    """The chunks of the documents that hold the question's evidence or links."""
    ids = {p.document for p in example.evidence} | {link.mention.document for link in example.links}
    return [chunk for id in sorted(ids) for chunk in by_document.get(id, ())]


def _kept(example: Example, chunks: Sequence[Chunk]) -> Kept:
    omega = precision_omega(chunks, example.evidence)
    cut = sum(is_cut(link, chunks) for link in example.links)
    whole = in_one(chunks, example.evidence)
    return Kept(
        example.id, example.group, example.kind, example.distance, whole, *omega, cut=cut, links=len(example.links)
    )


def _share(kept: Sequence[Kept]) -> Share:
    links = sum(k.links for k in kept)
    cut = sum(k.cut for k in kept) / links if links else None
    return Share(len(kept), _mean([k.whole for k in kept]), links, cut)


def _cut_by(links: Iterable[tuple[Key, bool]]) -> dict[Key, Cuts]:
    groups: dict[Key, list[bool]] = defaultdict(list)
    for key, cut in links:
        groups[key].append(cut)
    return {key: Cuts(len(cuts), _mean(cuts)) for key, cuts in sorted(groups.items())}


def _distance(documents: Mapping[str, Document], link: Link) -> int:
    """Sentences from antecedent to mention."""
    document = documents[link.mention.document]
    return abs(document.sentence_at(link.mention.start) - document.sentence_at(link.antecedent.start))


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


# places as sets of characters


def _place(located: Located) -> Place:
    return Place(located.document, located.start, located.end)


def _touches(a: Located, b: Located) -> bool:
    """Do they share a character, or at least meet? Chroma's evaluation counts both."""
    return a.document == b.document and a.start <= b.end and b.start <= a.end


def _holds(chunk: Located, place: Located) -> bool:
    return chunk.document == place.document and chunk.start <= place.start and place.end <= chunk.end


def _common(a: Located, b: Located) -> Place:
    return Place(a.document, max(a.start, b.start), min(a.end, b.end))


def _by_document(places: Iterable[Place]) -> dict[str, list[Span]]:
    """Document -> its characters, as spans in order that do not overlap."""
    united: dict[str, list[Span]] = {}
    for document, start, end in sorted(places):
        spans = united.setdefault(document, [])
        if spans and start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
        else:
            spans.append(Span(start, end))
    return united


def _length(united: Mapping[str, Sequence[Span]]) -> int:
    return sum(b - a for spans in united.values() for a, b in spans)


def _sum(located: Iterable[Located]) -> int:
    return sum(x.end - x.start for x in located)


def _minus(span: Span, taken: Iterable[Span]) -> Iterator[Span]:
    """What is left of `span` without `taken`, which are in order and do not overlap."""
    at = span.start
    for a, b in taken:
        if at < min(a, span.end):
            yield Span(at, min(a, span.end))
        at = max(at, b)
    if at < span.end:
        yield Span(at, span.end)

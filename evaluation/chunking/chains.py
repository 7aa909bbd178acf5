"""Coreference in any text: which mention goes back to which name, in places of the document.

All is found by the rules of `generation.language`, never read from a set's labels. Their links to names are few and
mostly right. What else leans on earlier text (a pronoun whose name they are not sure of, "this", "those agreements",
"the clerk" after "a clerk") is given too, with a small margin: it counts where a chunk should not be cut.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from evaluation.examples import Document, ExampleSet, Span

if TYPE_CHECKING:
    from generation import records
    from generation.language.mentions import Mention
    from generation.language.nlp import Parse

WINDOW, SHARED = 200, 20
"""Sentences that are resolved together, and how many of them the next window sees again: 200 take about two seconds."""


LEANING = 0.3
"""The margin of what leans on earlier text without a name that is known."""
DEMONSTRATIVES = frozenset(["this", "that", "these", "those", "such"])


@dataclass(frozen=True, slots=True)
class Reference:
    """`mention` stands for what `antecedent`, the nearest earlier name, names; `margin` from 0 to 1 says how surely.

    What merely leans on earlier text is of the kind "" and has a whole sentence or a common noun for antecedent.
    """

    kind: str
    mention: Span
    antecedent: Span
    margin: float = 1.0


def found(document: Document) -> tuple[Reference, ...]:
    """The references that the rules find in a document, in reading order; the last 256 documents are kept."""
    return _found(document.text, tuple(document.sentences))


def labelled(examples: ExampleSet) -> dict[str, tuple[Reference, ...]]:
    """Document id -> the references that the set itself labels: an upper bound, not something a chunker may know."""
    links: dict[str, set[Reference]] = {}
    for link in (link for example in examples.examples for link in example.links):
        if link.mention.document == link.antecedent.document:
            reference = Reference(link.kind, Span(*link.mention[1:]), Span(*link.antecedent[1:]))
            links.setdefault(link.mention.document, set()).add(reference)
    return {id: tuple(sorted(some, key=lambda r: (r.mention, r.antecedent))) for id, some in links.items()}


@lru_cache(maxsize=256)
def _found(text: str, sentences: tuple[Span, ...]) -> tuple[Reference, ...]:
    references: dict[Reference, None] = {}
    for first in range(0, max(len(sentences), 1), WINDOW - SHARED):
        window = sentences[first : first + WINDOW]
        seen = SHARED if first else 0
        references.update((r, None) for at, r in _resolved(text, window) if at >= seen)
        if first + WINDOW >= len(sentences):
            break
    return tuple(references)


def _resolved(text: str, sentences: Sequence[Span]) -> Iterator[tuple[int, Reference]]:
    """(sentence of the mention, reference) for sentences that follow each other, in reading order."""
    from generation.language import mentions, nlp, resolver

    parse = nlp.parse_sentences(tuple(text[s.start : s.end] for s in sentences))
    known = mentions.find(parse)
    links = resolver.resolve_parse(parse, found=known)
    pairs: list[tuple[int, Reference]] = []
    for link in links:
        if link.sources:
            pair = resolver.coreference(parse, link.mention, link.sources[-1])
            places = (_place(sentences, pair.mention), _place(sentences, pair.antecedent))
            pairs.append((link.mention.sentence, Reference(pair.kind, *places, link.margin)))
    named = {link.mention.head for link in links}
    for sentence, first, last, antecedent in _leaning(parse, known, named):
        place = _place(sentences, antecedent) if antecedent else sentences[sentence - 1]
        pairs.append((sentence, Reference("", _place(sentences, parse.span(first, last)), place, LEANING)))
    yield from sorted(pairs, key=lambda pair: (pair[1].mention, pair[1].antecedent))


def _leaning(
    parse: "Parse", known: "Sequence[Mention]", named: Container[int]
) -> "Iterator[tuple[int, int, int, records.Span | None]]":
    """(sentence, first token, last + 1, antecedent) of what stays unresolved; None means the sentence before."""
    nouns: dict[str, Mention] = {}
    for mention in known:
        earlier = nouns.get(mention.noun) if mention.noun else None
        if mention.head not in named and mention.sentence > 0:
            points_back = parse.doc[mention.start].lower_ in DEMONSTRATIVES
            if mention.form == "pronoun" or mention.form == "definite" and points_back:
                yield mention.sentence, mention.start, mention.end, None
            elif mention.form == "definite" and earlier is not None and earlier.sentence < mention.sentence:
                yield mention.sentence, mention.start, mention.end, parse.span(earlier.start, earlier.end)
        if mention.noun:
            nouns[mention.noun] = mention
    for token in parse.doc:
        sentence = parse.sentence_of(token.i)
        if sentence > 0 and token.pos_ == "PRON" and token.tag_ == "DT" and token.lower_ in DEMONSTRATIVES:
            yield sentence, token.i, token.i + 1, None


def _place(sentences: Sequence[Span], span: "records.Span") -> Span:
    start = sentences[span.sentence_index].start
    return Span(start + span.start, start + span.end)

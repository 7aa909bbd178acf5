"""The derivation of a pair: what its mentions refer to, and the facts that they tie together.

A fact is the clause around the answer, read off spaCy's parse with names in place of mentions, so a wrong parse gives a
wrong fact. Derivations in R4C's sense (Inoue et al. 2020), built on what CRaQAn's rows hold already.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.derivations import Triple
from evaluation.extraction import AUXILIARIES, COMPLEMENTS, PREPOSITIONS, phrase, said, subjects, verb_text
from generation.language.nlp import Parse, parse_sentences
from generation.records import Candidate, Coreference, Span, Step

if TYPE_CHECKING:
    from spacy.tokens import Token

LINK = "refers to"
"""The relation of a step that a coreference gives."""

_MODIFIERS = frozenset(("nummod", "amod", "compound", "det", "poss", "nmod", "quantmod"))
_POSSESSIVES = frozenset(("its", "his", "their", "whose"))
_HER_NOUN = re.compile(r"her\s+\w", re.IGNORECASE)
_EDGES = " ,;:\"“”'‘’"


def of_candidate(candidate: Candidate, sentences: Sequence[str]) -> tuple[Step, ...]:
    """The derivation of a pair: a step for each coreference, and the facts that they tie together.

    In the order of the required sentences, a step says what each mention refers to, and a fact follows: in the sentence
    with the answer the clause around it, in a sentence in the middle the clause around the next antecedent. A sentence
    whose clause cannot be read gives no fact, and an answer that stands in no required sentence gives none either.
    """
    links = candidate.coreferences
    book = _Book(parse_sentences(tuple(sentences)), links)
    answer = _find_answer(candidate, sentences)
    steps: list[Step] = []
    for index in candidate.required_sentence_indices:
        back = [link for link in links if link.mention.sentence_index == index]
        steps += [Step(link.mention.text, LINK, book.name(link), index) for link in back]
        ends = [answer] if answer and answer.sentence_index == index else _next_antecedents(index, back, links)
        steps += [Step(*fact, index) for end in ends if (fact := book.fact(end)) is not None]
    return tuple(dict.fromkeys(steps))


@dataclass(frozen=True)
class _Book:
    """A parsed passage and the links in it."""

    parse: Parse
    links: Sequence[Coreference]

    def fact(self, span: Span) -> Triple | None:
        """The clause around `span`, or what stands between it and the mention before it where no clause is found."""
        inside = [t for t in self.parse.tokens(span.sentence_index) if self._overlaps(t.i, span)]
        top = next((t for t in inside if t.head not in inside or t.head == t), None)
        if top is None:
            return None
        clause = self._clause_around(top, inside)
        if clause is None:
            return self._from_mention(span)
        verb, subject = clause
        way = _way_up(top)
        if subject in way[: way.index(verb)]:
            return self._said_of_subject(verb, subject)
        start, end = _with_noun(inside, top)
        return self.text(*phrase(subject)), self._relation(verb, subject, start, way), self.text(start, end)

    def name(self, link: Coreference) -> str:
        """What the antecedent is called, with names in place of the mentions inside it."""
        return _Book(self.parse, [other for other in self.links if other is not link]).named(link.antecedent)

    def text(self, start: int, end: int) -> str:
        """Tokens `start` to `end` with names in place of mentions."""
        return self.named(self.parse.span(start, end))

    def named(self, span: Span) -> str:
        """The text of `span` with names in place of mentions."""
        text = span.text
        inside = [link for link in self.links if _holds(span, link.mention)]
        for link in sorted(inside, key=lambda link: link.mention.start, reverse=True):
            start, end = link.mention.start - span.start, link.mention.end - span.start
            possessive = text[start:end].lower() in _POSSESSIVES or bool(_HER_NOUN.match(text, start))
            text = text[:start] + self.name(link) + ("'s" if possessive else "") + text[end:]
        return text

    def _clause_around(self, top: "Token", inside: Sequence["Token"]) -> "tuple[Token, Token] | None":
        """(verb, subject) above `top`: the nearest whose subject holds a mention, else the nearest."""
        clauses = [(verb, who[0]) for verb in _way_up(top) if verb not in inside and (who := subjects(verb))]
        telling = (clause for clause in clauses if self._mentions_in(*phrase(clause[1])))
        return next(telling, clauses[0] if clauses else None)

    def _said_of_subject(self, verb: "Token", subject: "Token") -> Triple | None:
        """Where the answer is the subject: to the first mention that follows the verb, else to what is said first."""
        head = self.text(*phrase(subject))
        for token in (t for t in verb.subtree if t.i > verb.i and self._mentions_in(t.i, t.i + 1)):
            start, end = _with_noun([token], token)
            if verb.i < start:
                return head, self._words(verb, start), self.text(start, end)
        return next(((head, relation, self.text(*place)) for relation, place in said(verb)), None)

    def _relation(self, verb: "Token", subject: "Token", start: int, way: Sequence["Token"]) -> str:
        """The words from the verb to token `start`; if that comes first, the verb with complements and preposition."""
        if verb.i < start and not verb.i < subject.i < start:
            return self._words(verb, start)
        ends = [t.right_edge.i + 1 for t in verb.rights if t.dep_ in COMPLEMENTS and subject not in t.subtree]
        before = [t.text.lower() for t in reversed(way[: way.index(verb)]) if t.dep_ in PREPOSITIONS and t.i < start]
        return " ".join([self._words(verb, max(ends)) if ends else verb_text(verb), *before])

    def _words(self, verb: "Token", end: int) -> str:
        first = min([verb.i, *(t.i for t in verb.children if t.dep_ in AUXILIARIES)])
        return self.text(first, end).strip(_EDGES)

    def _from_mention(self, span: Span) -> Triple | None:
        before = [
            link
            for link in self.links
            if link.mention.sentence_index == span.sentence_index and link.mention.end <= span.start
        ]
        if not before:
            return None
        link = max(before, key=lambda link: link.mention.end)
        between = self.parse.sentences[span.sentence_index][link.mention.end : span.start].strip(_EDGES)
        return (self.name(link), between, span.text) if between else None

    def _mentions_in(self, start: int, end: int) -> bool:
        """Does a mention share a token with `start` to `end`?"""
        return any(self._overlaps(i, link.mention) for i in range(start, end) for link in self.links)

    def _overlaps(self, token: int, span: Span) -> bool:
        index, start, end = self.parse.where[token]
        return index == span.sentence_index and start < span.end and span.start < end


def _find_answer(candidate: Candidate, sentences: Sequence[str]) -> Span | None:
    """Where the answer stands: in a required sentence with a mention if it can be, else in the last one that has it."""
    answer = candidate.answer.strip().rstrip(".")
    words = re.findall(r"\w+", answer)
    if not words:
        return None
    mentioning = {link.mention.sentence_index for link in candidate.coreferences}
    order = sorted(candidate.required_sentence_indices, key=lambda i: (i in mentioning, i), reverse=True)
    for pattern in (re.escape(answer), r"\W+".join(map(re.escape, words))):
        for index in order:
            if found := re.search(rf"(?<!\w){pattern}(?!\w)", sentences[index], re.IGNORECASE):
                return Span(index, found.start(), found.end(), found.group())
    return None


def _next_antecedents(index: int, back: Sequence[Coreference], links: Sequence[Coreference]) -> list[Span]:
    """The antecedents in a sentence that refers back itself, by the links `back`: the middle of a chain."""
    mentions = [link.mention for link in back]
    found = [link.antecedent for link in links if link.antecedent.sentence_index == index]
    return [span for span in found if span not in mentions] if back else []


def _way_up(token: "Token") -> list["Token"]:
    """`token`, its head, and so on up to the root of the sentence."""
    way = [token]
    while way[-1].head != way[-1]:
        way.append(way[-1].head)
    return way


def _with_noun(inside: Sequence["Token"], top: "Token") -> tuple[int, int]:
    """The token range of `inside`, widened to the noun that it counts or describes ("nine" to "nine exemptions")."""
    noun = top
    while noun.dep_ in _MODIFIERS:
        noun = noun.head
    return min(inside[0].i, noun.i), max(inside[-1].i, noun.i) + 1


def _holds(outer: Span, inner: Span) -> bool:
    return outer.sentence_index == inner.sentence_index and outer.start <= inner.start and inner.end <= outer.end

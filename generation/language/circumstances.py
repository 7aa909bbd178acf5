"""When, where and how long: questions for what a clause says of its time and place."""

from typing import TYPE_CHECKING

from generation.language import nlp
from generation.language.asking_words import object_of
from generation.language.lexicon import DURATIVE_VERBS, MONTHS, MOTION_VERBS, PLACE_VERBS
from generation.language.phrasing import Draft, Phrasing

if TYPE_CHECKING:
    from spacy.tokens import Token

_TIMES = frozenset("year month week day hour minute decade season time".split())
_MONTHS = frozenset(month.lower() for month in MONTHS)


class Circumstances(Phrasing):
    """Asks about one clause for its circumstances."""

    def when(self, part: "Token") -> Draft | None:
        inner = part if part.dep_ == "npadvmod" else object_of(part)
        if inner is None or inner.ent_type_ != "DATE" or self._dated_parts() != 1:
            return None
        if part.dep_ == "prep" and part.lower_ not in ("in", "on") or self._is_perfect() or self._follows_clause(part):
            return None
        tokens = self._whole_date(nlp.trimmed(self.parse, inner))
        text = " ".join(self.parse.words[i].lower_ for i in tokens)
        if {"and", "or", "to", "through", "-", "–"} & set(text.split()):
            return None
        if not any(self.parse.words[i].shape_ == "dddd" for i in tokens) or "the" in text.split():
            return None  # a day without its year says nothing
        if any(self.parse.words[i].ent_type_ not in ("DATE", "") for i in tokens):
            return None
        return self.ask("when", "When", part, answer=tokens)

    def _follows_clause(self, part: "Token") -> bool:
        """May the date be that of a relative clause before it, or of an end ("ran until its cancellation in 1991")?"""
        between = self.parse.words[self.clause.verb.i + 1 : part.i]
        return any(t.dep_ == "relcl" or t.lower_ == "until" for t in between)

    def _is_perfect(self) -> bool:
        """ "has been amended" asks for no one time."""
        return any(a.lemma_ == "have" and a.tag_ in ("VBZ", "VBP") for a in self.clause.auxiliaries)

    def _dated_parts(self) -> int:
        """How many of the clause's own parts hold a date?"""
        parts = (*self.clause.complements, *self.clause.fronted)
        return sum(any(_is_calendar(t) for t in p.subtree) for p in parts)

    def _whole_date(self, tokens: list[int]) -> list[int]:
        """A date with the year that a comma sets off ("October 19, 1976"), even where the parser cuts it."""
        doc, end = self.parse.words, tokens[-1] + 1
        if end + 1 < len(doc) and doc[end].text == "," and doc[end + 1].shape_ == "dddd" and self.holds(end + 1):
            return [*tokens, end, end + 1]
        return tokens

    def where(self, part: "Token") -> Draft | None:
        inner = object_of(part)
        if inner is None or part.lower_ not in ("in", "at", "near", "on", "to") or not self.is_place(inner):
            return None
        verb = self.clause.verb
        if part.lower_ == "to":
            tokens = nlp.trimmed(self.parse, inner)
            return self.ask("where", "Where", part, answer=tokens) if verb.lemma_ in MOTION_VERBS else None
        if any(t.lower_ in ("v.", "vs.") for t in inner.subtree):
            return None  # a case is no place
        sites = [p for p in (*self.clause.complements, *self.clause.fronted) if self._is_sited(p)]
        located = verb.lemma_ in PLACE_VERBS or (verb.lemma_ == "be" and len(self.clause.complements) == 1)
        weight = 1.0 if located else 0.85
        if len(sites) != 1 or verb.lemma_ == "be" and not located:
            return None
        whole = part if part.lower_ == "near" else inner
        return self.ask("where", "Where", part, weight, answer=self._whole_place(nlp.trimmed(self.parse, whole)))

    def _whole_place(self, tokens: list[int]) -> list[int]:
        """A place with the state or district that a comma sets off ("Washington, D.C."), where the parser cuts it."""
        doc, end = self.parse.words, tokens[-1] + 1
        more = end + 1 < len(doc) and self.holds(end + 1) and doc[end].text == "," and doc[end + 1].ent_type_ == "GPE"
        return [*tokens, end, end + 1] if more and doc[end + 1].text == "D.C." else tokens

    def _is_sited(self, part: "Token") -> bool:
        inner = object_of(part)
        return inner is not None and inner.ent_type_ in ("GPE", "LOC", "FAC")

    def how_long(self, part: "Token") -> Draft | None:
        inner = object_of(part)
        if inner is None or part.lower_ != "for" or inner.lemma_ not in _TIMES or inner.ent_type_ != "DATE":
            return None
        if self.clause.verb.lemma_ not in DURATIVE_VERBS:
            return None
        return self.ask("how long", "How long", part, answer=nlp.trimmed(self.parse, inner))


def _is_calendar(token: "Token") -> bool:
    """A year or a month, not "six months" or "the age of thirty-six"."""
    return token.ent_type_ == "DATE" and (token.shape_ == "dddd" or token.lower_ in _MONTHS)

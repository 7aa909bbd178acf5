"""Questions that need no clause: "Who was X's successor?", "What is X's population?", "At which university ...?".

What a text says by the way ("His successor, James Landis, was ...") is told as surely as what its main verbs say.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from generation.language import clauses, nlp
from generation.language.asking_words import object_of
from generation.language.lexicon import may_be_person, noun_kind
from generation.language.mentions import Mention
from generation.language.phrasing import Draft, Phrasing

if TYPE_CHECKING:
    from spacy.tokens import Token

_SEVERAL = frozenset(
    "son daughter brother sister child friend student pupil member player soldier employee critic follower colleague "
    "supporter rival ally neighbor neighbour victim client cousin aunt uncle nephew niece director producer".split()
)
"""Of these somebody may have several, so that a name does not answer who it is."""
_TELLING = ("old", "young", "eld", "first", "second", "third", "only", "last", "chief", "late")
_MEASURES = frozenset(
    "population area length height elevation capacity budget membership wingspan diameter width depth circulation "
    "enrollment enrolment altitude weight".split()
)
_TIMES = frozenset("year month week day hour minute decade season time".split())
_PREPOSITIONS = ("in", "at", "on", "for", "from", "with", "to", "into", "of", "by", "against", "under", "through")


class Related(Phrasing):
    """Asks by the words beside a mention; what may be asked of a clause is asked of `clause` alone."""

    def all(self) -> Iterator[Draft | None]:
        for part in (*self.clause.complements, *self.clause.fronted):
            yield from self._of_part(part)

    def _of_part(self, part: "Token") -> Iterator[Draft | None]:
        if part.dep_ == "dobj":
            yield self.count(part)
            yield self.how_much(part)
        if part.dep_ == "dobj" and self.clause.verb.lemma_ == "have":
            yield self.measure(part)
        if part.dep_ == "prep":
            yield self.within(part)
        if part.dep_ == "attr":
            yield from (self.post(part, c) for c in part.rights if c.dep_ == "prep")

    def measure(self, part: "Token") -> Draft | None:
        """ "What is Oran's population?" of "It has a population of 1,043"."""
        inner = next((object_of(c) for c in part.rights if c.lower_ == "of"), None)
        if part.lemma_ not in _MEASURES or inner is None or not any(t.like_num for t in inner.subtree):
            return None
        subject = nlp.trimmed(self.parse, self.clause.subject)
        if clauses.leans(self.parse, subject, self.writer.told(subject)) or not self._is_whole(subject):
            return None
        form = "was" if self.clause.finite.tag_ == "VBD" else "is"
        kept = self.kept(part, ())
        if kept is None:
            return None
        words = [f"What {form} the {part.lower_} of", self.writer.write(subject), *self.written(kept)]
        return self.close("attribute", words, nlp.trimmed(self.parse, inner), [subject, *kept], 1.0)

    def how_much(self, part: "Token") -> Draft | None:
        """ "How much did X cost?"."""
        if part.ent_type_ != "MONEY":
            return None
        whole = nlp.trimmed(self.parse, part)
        tokens = list(takewhile(lambda i: self._is_money(i), whole))
        rest = [i for i in whole if i > tokens[-1]] if tokens else whole
        if not tokens or part.i in rest or rest and self.parse.words[rest[0]].lower_ not in ("in", "to"):
            return None
        if rest and self.parse.words[rest[0]].dep_ == "aux":
            rest = []  # "to do something about it": what for
        kept = self.kept(part, ())
        return self.finish("how much", "How much", [rest, *kept] if rest and kept is not None else kept, tokens)

    def _is_money(self, i: int) -> bool:
        word = self.parse.words[i]
        hedged = word.pos_ in ("ADV", "SYM") or word.lower_ in ("at", "least", "than", "up", "to")
        return hedged or word.ent_type_ == "MONEY"

    def count(self, part: "Token") -> Draft | None:
        """ "How many people did X kill?": answered by the number."""
        number = next((c for c in part.lefts if c.dep_ == "nummod"), None)
        if number is None or part.tag_ != "NNS" or part.lemma_ in _TIMES or number.ent_type_ not in ("CARDINAL", ""):
            return None
        if any(c.dep_ in ("conj", "relcl", "poss", "det") for c in part.children):
            return None
        answer = sorted(t.i for t in number.subtree)
        noun = [i for i in nlp.trimmed(self.parse, part) if i > answer[-1]]
        if part.i not in noun:
            return None
        return self.finish("count", f"How many {self.writer.write(noun)}", self.kept(part, ()), answer, extra=noun)

    def within(self, part: "Token") -> Draft | None:
        """ "In which film did X star as Utah?": the preposition goes before the question word."""
        inner = object_of(part)
        word = self._kind_asked(inner)
        if inner is None or word is None or part.lower_ not in _PREPOSITIONS:
            return None
        if any(c.dep_ == "amod" for c in inner.lefts):
            return None  # "with the best known The Holy City"
        opening = f"{part.lower_.capitalize()} {word}"
        if inner.conjuncts or part.conjuncts or part in part.head.conjuncts:
            return None  # "in the Midwest, in Mexico and in Central America"
        return self.ask("within", opening, part, answer=nlp.trimmed(self.parse, inner))

    def _kind_asked(self, inner: "Token | None") -> str | None:
        """ "which university" for a name that says so of itself, or of which its sentence does."""
        mention = next((m for m in self.mentions if inner is not None and m.head == inner.i), None)
        if inner is None or mention is None or mention.form != "name" or inner.conjuncts:
            return None
        noun = self._noun_of(mention)
        return f"which {noun}" if noun and noun_kind(noun) != "person" else None

    def post(self, part: "Token", preposition: "Token") -> Draft | None:
        """ "At which university was X a professor?"."""
        inner = object_of(preposition)
        word = self._kind_asked(inner)
        if inner is None or word is None or preposition.lower_ not in _PREPOSITIONS or self.clause.verb.lemma_ != "be":
            return None
        gone = {t.i for t in preposition.subtree}
        rest = [i for i in nlp.trimmed(self.parse, part) if i < preposition.i and i not in gone]
        kept = self.kept(part, ())
        if kept is None or not rest or clauses.leans(self.parse, rest, self.writer.told(rest)):
            return None
        opening = f"{preposition.lower_.capitalize()} {word}"
        return self.finish("within", opening, [rest, *kept], nlp.trimmed(self.parse, inner))

    def by_the_way(self, mention: Mention) -> Draft | None:
        """ "Who directed X from 1974?" of "Stanley Sporkin, who directed it from 1974, pursued ..."."""
        verb = next((t for t in self.parse.words[mention.head].ancestors if t.dep_ == "relcl"), None)
        if verb is None or verb.head.pos_ != "PROPN" or any(c.dep_ in ("neg", "aux", "cc") for c in verb.children):
            return None
        who = next((c for c in verb.lefts if c.dep_ in ("nsubj", "nsubjpass") and c.lower_ == "who"), None)
        name = next((m for m in self.mentions if m.head == verb.head.i and m.form == "name"), None)
        if who is None or name is None or name.kind != "person" or verb.tag_ not in ("VBD", "VBZ") or name.coordinated:
            return None
        tokens = [i for i in nlp.trimmed(self.parse, verb) if i > who.i]
        if not tokens or clauses.leans(self.parse, tokens, self.writer.told(tokens)) or not self._is_whole(tokens):
            return None
        answer = list(range(name.start, name.end))
        draft = self.close("subject", ["Who", self.writer.write(tokens)], answer, [tokens], 1.0)
        return None if draft is None else replace(draft, verb=verb.i)

    def beside(self, owner: Mention) -> Iterator[Draft | None]:
        """ "Who was X's successor?" of "His successor, James Landis, ..." and "his wife Mary"."""
        head = self.parse.words[owner.head].head
        if self.parse.words[owner.head].dep_ != "poss":
            return
        if head.pos_ == "NOUN":
            name = next((c for c in head.rights if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
            noun = head
        else:
            near = [c for c in head.lefts if c.pos_ == "NOUN" and c.dep_ in ("compound", "nmod", "appos")]
            name = head if head.pos_ == "PROPN" and near else None
            noun = near[-1] if near else head
        if name is not None:
            yield self._called(owner, noun, name)

    def _called(self, owner: Mention, noun: "Token", name: "Token") -> Draft | None:
        kind, mention = noun_kind(noun.lemma_.lower()), next((m for m in self.mentions if m.head == name.i), None)
        between = [t for t in self.parse.words[owner.end : noun.i] if not t.is_punct]
        telling = any(t.lemma_.lower().startswith(_TELLING) for t in between)
        named = mention is not None and mention.kind == "person"
        person = kind == "person" or not kind and named and may_be_person(noun.lemma_.lower())
        if not person or mention is None or mention.coordinated or noun.tag_ != "NN" or noun.lemma_ in _TITLED:
            return None
        if noun.lemma_ in _SEVERAL and not telling or noun.conjuncts or noun.lemma_ in ("man", "woman"):
            return None
        asked = list(range(owner.start, noun.i + 1))
        answer = list(range(mention.start, mention.end))
        if clauses.leans(self.parse, asked, self.writer.told(asked)):
            return None
        return self.close("attribute", ["Who was", self.writer.write(asked)], answer, [asked], 1.0)


_TITLED = ("president", "king", "queen", "judge", "senator", "general", "professor", "minister")

"""Questions that ask for the antecedent itself: "Who was arrested in Las Vegas?", "Which film grossed 95 million?".

The anaphor gives way to a question word and its name is the answer, so that only who resolves it can tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from generation.language import clauses, nlp
from generation.language.clauses import Writer
from generation.language.entities import Link
from generation.language.lexicon import VAGUE_NOUNS, noun_kind
from generation.language.mentions import Mention
from generation.language.nlp import Parse
from generation.language.phrasing import Draft, Phrasing

if TYPE_CHECKING:
    from spacy.tokens import Token

_LOOSE = ("the", "this", "that", "whose", "who", "which", "its", "his", "her", "their", "former", "latter")
_RELATIVE_NOUNS = frozenset(
    "exception member customer colleague contemporary partner rival opponent friend follower participant survivor "
    "addition fellow alternative reminder result version favorite favourite attempt response".split()
)
"""They say what something is to another, which a question leaves out."""
MAX_DESCRIPTION = 9
"""Words of what a name's own sentence says of it."""
MIN_CONTENT = 3
"""Content words that a question needs beside its question word, so that it can mean one thing only."""


def drafts(
    parse: Parse, sentence: int, writer: Writer, links: Mapping[Mention, Link], mentions: Sequence[Mention]
) -> Iterator[Draft]:
    """All questions that ask for what an anaphor of the sentence stands for; `writer` knows the names of all."""
    here = tuple(m for m in mentions if m.sentence == sentence)
    for clause in clauses.clauses(parse, sentence):
        for wanted, link in links.items():
            same = tuple(m for m in link.entity.mentions if m.sentence == sentence)
            others = {m: name for m, name in writer.names.items() if m not in same}
            asker = Referent(parse, clause, Writer(parse, others, same, writer.resolved), here)
            yield from (d for d in asker.all_for(wanted, link) if d is not None)


def _tellers(name: "Token") -> "Iterator[Token]":
    """The nouns that say what a name is: set beside it ("X, a physicist") or said of it ("X was a physicist")."""
    found = [c for c in name.children if c.dep_ == "appos"]
    if name.dep_ == "nsubj" and name.head.lemma_ == "be" and name.head.dep_ == "ROOT":
        found += [c for c in name.head.rights if c.dep_ == "attr"]
    for noun in found:
        article = noun.left_edge.lower_ in ("a", "an")
        bare = noun.dep_ == "appos" and not any(c.dep_ in ("det", "poss") for c in noun.lefts) and _is_persons(noun)
        doing = noun.lower_.endswith("ing") and not noun_kind(noun.lower_)  # "a fur trading and retail business"
        if (
            noun.tag_ == "NN"
            and (article or bare)
            and noun.lower_ not in (*VAGUE_NOUNS, *_RELATIVE_NOUNS)
            and not doing
        ):
            yield noun


def _is_persons(noun: "Token") -> bool:
    """ "founder of the Carron ironworks": what somebody is, told by more than the noun."""
    return noun_kind(noun.lower_) == "person" and any(c.dep_ == "prep" for c in noun.rights)


def _called(link: Link) -> list[str]:
    """What the name's own sentence calls the thing that it names ("Modern Family is a series")."""
    return [noun for name in link.names[-1:] for noun in sorted(name.nouns) if noun_kind(noun) not in ("", "person")]


class Referent(Phrasing):
    """Asks about one clause for what one of its mentions stands for."""

    def all_for(self, wanted: Mention, link: Link) -> Iterator[Draft | None]:
        word = self._word(wanted, link)
        if word is None or not link.names:
            return
        yield from self._asked(wanted, word)
        for name in link.names:
            if (span := self._described(name)) is not None:
                described = (d for d in self._asked(wanted, "Which " + self.parse.text(*span)) if d is not None)
                yield from (replace(d, told=name.sentence, described=span) for d in described)

    def _asked(self, wanted: Mention, word: str) -> Iterator[Draft | None]:
        yield self._as_subject(wanted, word)
        yield self._as_owner(wanted, word)
        for part in self.clause.complements:
            if part.dep_ == "dobj" and part.i == wanted.head:
                yield self._as_object(wanted, word, part)
            if part.dep_ == "dobj" and wanted.role == "poss" and part.left_edge.i == wanted.start:
                yield self._as_owner_of_object(wanted, word, part)

    def _described(self, name: Mention) -> tuple[int, int] | None:
        """ "physicist born in Lemberg" of "Julius Lilienfeld (was / ,) a physicist born in Lemberg": from, to."""
        noun = next(_tellers(self.parse.words[name.head]), None)
        if noun is None:
            return None
        start = noun.left_edge.i + (noun.left_edge.lower_ in ("a", "an"))
        tokens = self._until_aside([i for i in nlp.trimmed(self.parse, noun) if i >= start], noun)
        whole = tokens and tokens == list(range(tokens[0], tokens[-1] + 1)) and noun.i in tokens
        if not whole or len(tokens) > MAX_DESCRIPTION or not self._is_whole(tokens):
            return None
        founder = noun.left_edge.i == noun.i  # "founder of the Carron ironworks" needs its "the"
        loose = any(self.parse.words[i].lower_ in _LOOSE[founder:] for i in tokens)
        return None if loose or clauses.leans(self.parse, tokens) else (tokens[0], tokens[-1] + 1)

    def _until_aside(self, tokens: list[int], noun: "Token") -> list[int]:
        """The description as far as its first comma, "and a ..." or relative clause, and no longer than is readable."""
        stops = {c.left_edge.i for c in noun.rights if c.dep_ == "relcl"}
        stops |= {t.i - 1 for c in noun.conjuncts for t in c.lefts if t.dep_ == "det"}
        stops |= {i for i in tokens if i > noun.i and self.parse.words[i].text in (",", ";", ":", "-", "–")}
        cut = [i for i in tokens if i < min(stops, default=tokens[-1] + 1)] if tokens else []
        parts = sorted(c.i for c in noun.rights if c.dep_ in ("prep", "acl"))
        while len(cut) > MAX_DESCRIPTION and parts:
            cut = [i for i in cut if i < parts[-1]]
            parts.pop()
        while cut and (
            self.parse.words[cut[-1]].dep_ in ("punct", "cc", "prep") or self._hangs_on_what_went(cut, noun)
        ):
            cut.pop()
        return cut

    def _hangs_on_what_went(self, cut: list[int], noun: "Token") -> bool:
        """Does the last word belong to one that was cut off ("best" of "best known for")?"""
        last = self.parse.words[cut[-1]]
        return last != noun and last.head.i not in cut

    def _word(self, wanted: Mention, link: Link) -> str | None:
        """ "Who", "What" or "Which" with the noun that the text itself uses."""
        if wanted.form == "pronoun":
            if wanted.gender in ("m", "f"):
                return "Who"
            own, called = [n.noun for n in link.entity.names if n.noun], _called(link)
            other = called and own and noun_kind(called[-1]) != noun_kind(own[-1])  # "The First Wives Club is a film"
            nouns = called if other else own or called
            return None if wanted.plural else f"Which {nouns[-1]}" if nouns else "What"
        if wanted.kind == "person":
            return "Who"
        tokens = range(wanted.start + 1, wanted.end)
        return "Which " + " ".join(self.parse.words[i].lower_ for i in tokens) if wanted.noun else None

    def _covers(self, wanted: Mention, part: "Token") -> bool:
        """Is `part` the mention and nothing else?"""
        return part.i == wanted.head and nlp.trimmed(self.parse, part) == list(range(wanted.start, wanted.end))

    def _as_subject(self, wanted: Mention, word: str) -> Draft | None:
        subject = self.clause.subject
        if not self._covers(wanted, subject) or wanted.plural or self._is_emphatic():
            return None
        if self.clause.fronted and any(c.dep_ == "ccomp" for c in self.clause.complements):
            return None  # what stood in front would come after what was said, and belong to it
        kept = self.kept(subject, ())
        if kept is None:
            return None
        words = [word, self.writer.write(self.verbs()), *self.written(kept)]
        target = "who" if word == "Who" or wanted.gender in ("m", "f") else "which"
        return self.close(target, words, [], kept, self._telling(kept), wanted)

    def _is_emphatic(self) -> bool:
        """ "did gain one point": a verb that stands against what was said before."""
        return any(a.lemma_ == "do" for a in self.clause.auxiliaries)

    def _as_owner(self, wanted: Mention, word: str) -> Draft | None:
        """ "Whose employer stood trial?"."""
        subject = nlp.trimmed(self.parse, self.clause.subject)
        if self.clause.subject.pos_ == "PROPN" or any(
            c.dep_ in ("appos", "conj") for c in self.clause.subject.children
        ):
            return None
        if self._is_emphatic():
            return None
        if wanted.role != "poss" or subject[: wanted.end - wanted.start] != list(range(wanted.start, wanted.end)):
            return None
        rest = [i for i in subject[wanted.end - wanted.start :] if self.parse.words[i].tag_ != "POS"]
        kept = self.kept(self.clause.subject, ())
        if kept is None or clauses.leans(self.parse, rest, self.writer.told(rest)) or not self._is_whole(rest):
            return None
        word = "Whose" if word == "Who" else f"{word}'s" if word.startswith("Which ") else ""
        if not word or len(word.split()) > 3:
            return None
        words = [word, self.writer.write(rest), self.writer.write(self.verbs()), *self.written(kept)]
        return self.close("whose", words, [], [rest, *kept], self._telling([rest, *kept]), wanted)

    def _as_object(self, wanted: Mention, word: str, part: "Token") -> Draft | None:
        subject = {t.i for t in self.clause.subject.subtree}
        if not self._covers(wanted, part) or any(m.head in subject for m in self.writer.bound):
            return None
        kept = self.kept(part, ())
        weight = self._telling([nlp.trimmed(self.parse, self.clause.subject), *(kept or [])])
        return self.finish("who" if word == "Who" else "which", word, kept, [], weight, wanted=wanted)

    def _as_owner_of_object(self, wanted: Mention, word: str, part: "Token") -> Draft | None:
        """ "Whose history of Standard Oil did McClure's print?"."""
        subject = {t.i for t in self.clause.subject.subtree}
        owned = [i for i in nlp.trimmed(self.parse, part) if i >= wanted.end and self.parse.words[i].tag_ != "POS"]
        if word != "Who" or not owned or any(m.head in subject for m in self.writer.bound):
            return None
        if self.parse.words[wanted.head].head != part or not self._is_whole(owned):
            return None
        kept = self.kept(part, ())
        weight = self._telling([owned, nlp.trimmed(self.parse, self.clause.subject), *(kept or [])])
        opening = f"Whose {self.writer.write(owned)}"
        return self.finish("whose", opening, kept, [], weight, extra=owned, wanted=wanted)

    def _telling(self, parts: Sequence[Sequence[int]]) -> float:
        """1 if the question says enough to mean one thing only, else less."""
        words = [self.parse.words[i] for part in parts for i in part]
        content = [t for t in words if t.pos_ in ("NOUN", "PROPN", "NUM", "ADJ", "VERB")]
        named = any(t.pos_ in ("PROPN", "NUM") for t in content)
        if len(content) < 2 and not named:
            return 0.0
        return 1.0 if len(content) >= MIN_CONTENT and named else 0.8 if len(content) >= MIN_CONTENT else 0.4

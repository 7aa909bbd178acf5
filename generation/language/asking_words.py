"""With which word is a thing asked for, and what kind of thing is a part of a clause: a place, a time, too vague?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from generation.language.clauses import Clause, Writer
from generation.language.lexicon import COUNTRIES, VAGUE_NOUNS, may_be_person, noun_kind
from generation.language.mentions import Mention
from generation.language.nlp import Parse

if TYPE_CHECKING:
    from spacy.tokens import Token

_AWARDS = ("award", "prize", "medal", "trophy")


@dataclass(frozen=True)
class Wording:
    """Judges the parts of one clause; `mentions` are those of its sentence."""

    parse: Parse
    clause: Clause
    writer: Writer
    mentions: tuple[Mention, ...]

    def wh(self, head: "Token", as_agent: bool = False) -> str | None:
        """ "Who", "What" or None where the kind is not known well enough to ask."""
        mention = next((m for m in self.mentions if m.head == head.i), None)
        kind = mention.kind if mention else noun_kind(head.lemma_.lower())
        if head.pos_ == "PROPN" and not kind or head.pos_ == "PRON":
            return None
        if kind == "person" or (as_agent and kind in ("org", "place") and head.pos_ == "PROPN"):
            return "Who"
        if head.pos_ == "PROPN" and mention and (called := self._noun_of(mention)):
            return f"Which {called}"
        if kind == "place" and head.pos_ == "PROPN":
            return None
        if head.pos_ not in ("NOUN", "PROPN"):
            return None
        return None if not kind and may_be_person(head.lemma_.lower()) else "What"

    def _noun_of(self, name: Mention) -> str:
        """What a name says of itself: "university" of "Yale University", "country" of "France"."""
        if " ".join(name.words) in COUNTRIES:
            return "country"
        if noun_kind(name.noun) == "place" and not self.is_place(self.parse.words[name.head]):
            return ""
        if (award := next((w for w in name.words if w in _AWARDS), "")) and award != name.noun:
            return award  # "the Grammy Award for Best Rock Song" is no song
        if name.noun and name.noun in name.words:
            return name.noun if name.noun not in ("court", "system", "house") else ""
        told = sorted(n for n in name.nouns if noun_kind(n) in ("work", "org", "law", "event"))
        return told[0] if len(told) == 1 else ""

    def is_place(self, head: "Token") -> bool:
        return head.ent_type_ in ("GPE", "LOC", "FAC") and head.pos_ == "PROPN"

    def is_time(self, part: "Token") -> bool:
        inner = object_of(part)
        return inner is not None and inner.ent_type_ in ("DATE", "TIME")

    def is_vague(self, part: "Token") -> bool:
        return part.lemma_ in VAGUE_NOUNS

    def holds(self, token: int) -> bool:
        return self.parse.sentence_of(token) == self.parse.sentence_of(self.clause.verb.i)


def object_of(part: "Token") -> "Token | None":
    return next((c for c in part.children if c.dep_ == "pobj"), None)

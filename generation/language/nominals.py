""" "the Act", "the agency": which name does a definite noun go back to?

Only to one that the text has called by that noun, or that nothing else of its kind stands beside.
"""

from generation.language import topic
from generation.language.discourse import State
from generation.language.entities import Entity
from generation.language.lexicon import are_synonyms, noun_kind
from generation.language.mentions import Mention

WINDOW = 3
"""Sentences back, in the sentences given, that an anaphor may reach with certainty."""
_CALLED_BY_KIND = {True: ("org",), False: ("work", "law", "thing")}
"""What a subject that acts ("Bolt Thrower recorded"), or that something is done to, is called next ("the band")."""
_FIRMS = ("company", "firm")
_NO_FIRMS = frozenset(
    "court circuit commission agency bureau department congress senate house board ministry council committee office "
    "university college administration service union party police government".split()
)
_TOPICAL = ("org", "work", "law", "event", "thing", "place")
_NEVER_TOPICAL = frozenset(
    "government state country court police congress parliament senate legislature army navy system trial case season "
    "race record road street region province city town building house war administration authority service".split()
)
_TELLING = frozenset(
    "film movie album song novel book series show sitcom game app platform company firm band group organization "
    "organisation train ship storm hurricane typhoon cyclone monument palace castle museum bank tournament pageant "
    "festival restaurant magazine newspaper network rapper singer actor actress".split()
)
"""What a topic may be called though nothing but its being the topic says so."""


class Nominals(State):
    """Resolves definite nouns."""

    def _definite(self, mention: Mention) -> tuple[Entity, float, str] | None:
        if mention.plural or not mention.bare or mention.coordinated:
            return None
        described = self._described(mention)
        if described is not None:
            return None
        named = [e for e in self.entities if e.names and e.names[-1].sentence <= mention.sentence]
        called = [e for e in named if mention.noun in e.nouns and self._modifiers_fit(mention, e)]
        about = None if mention.modifiers else self._about_topic(mention, named)
        if called and about is None:
            return self._choose(mention, called, "noun", 0.97)
        if mention.modifiers:
            return None
        if self._same_noun(mention) and (about is None or self._is_introduced(mention)):
            return self._again(mention)
        like = [e for e in named if any(are_synonyms(mention.noun, n) for n in e.nouns)]
        if like:
            return self._choose(mention, like, "synonym", 0.9)
        return about or self._by_kind(mention, named)

    def _is_introduced(self, mention: Mention) -> bool:
        """Has something without a name been called so before by more than a bare "the film"?"""
        alike = [m for e in self.entities if not e.names for m in e.mentions if m.noun == mention.noun]
        return any(m.form == "indefinite" or m.is_describing for m in alike)

    def _about_topic(self, mention: Mention, named: list[Entity]) -> tuple[Entity, float, str] | None:
        """ "The Northman made ... The film": what the article is about, where nothing else named is of that kind."""
        about, kind = topic.find(named, self.parse.title), noun_kind(mention.noun)
        if about is None or about.gender in ("m", "f") or kind not in _TOPICAL or mention.noun in _NEVER_TOPICAL:
            return None
        if about.kind != kind if about.sure else mention.noun not in _TELLING:
            return None
        others = [e for e in named if e is not about and (e.sure[kind] or mention.noun in e.nouns)]
        near = [e for e in others if self._distance(e.last, mention) <= (WINDOW if mention.noun in about.nouns else 99)]
        if near or any(n.plural for n in about.names) and mention.noun not in _TELLING:
            return None
        return about, 0.9 if about.sure else 0.85, "topic"

    def _by_kind(self, mention: Mention, named: list[Entity]) -> tuple[Entity, float, str] | None:
        """ "Bolt Thrower ... The band": the center, if the text has not said what it is and nothing else fits."""
        kind, center = noun_kind(mention.noun), self._center(mention)
        if center not in named or kind in ("", "person") or center.nouns or center.plural or center.gender:
            return None
        alike = [e for e in named if e.kind == kind and e is not center]
        if mention.noun in _FIRMS:
            alike = [e for e in alike if not {noun for n in e.known for noun in n.words} & _NO_FIRMS]
            if center.kind in (kind, "") and not alike and self._distance(center.last, mention) == 1:
                return center, 0.85, "firm"
        if center.kind == kind and not alike:
            return center, 0.5 if kind == "org" else 0.66, "kind"
        acts = self.parse.words[center.last.head].dep_ == "nsubj"
        is_open = not center.sure and mention.main and not any(e.sure[kind] for e in alike)
        return (center, 0.6, "guess") if is_open and kind in _CALLED_BY_KIND[acts] else None

    def _again(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "a channel linked to the group" ... "the channel": the only unnamed thing called by that noun."""
        alike = [e for e in self.entities if not e.names and any(m.noun == mention.noun for m in e.mentions)]
        if len(alike) != 1 or not alike[0].mentions[0].is_describing:
            return None
        opened = alike[0].mentions[0].form == "indefinite"
        distance = self._distance(alike[0].last, mention)
        return (
            alike[0],
            (0.92 if opened else 0.7) * (1.0 if distance <= 1 else 0.85 if distance == 2 else 0.55),
            "same noun",
        )

    def _is_overtaken(self, entity: Entity) -> bool:
        """Has something else been named since, of the same or an unknown kind, that a definite noun could mean too?"""
        later = [e for e in self.entities if e is not entity and e.names and e.last.head > entity.last.head]
        return any(e.kind in ("", entity.kind) and not e.plural and e.last.role in ("subject", "object") for e in later)

    def _modifiers_fit(self, mention: Mention, entity: Entity) -> bool:
        return all(any(w in n.modifiers for n in entity.names) or w in entity.nouns for w in mention.modifiers)

    def _choose(
        self, mention: Mention, alike: list[Entity], how: str, certainty: float
    ) -> tuple[Entity, float, str] | None:
        """The only entity that fits, or, less surely, the one in the centre of attention."""
        if self._same_noun(mention) is not None:
            return None
        center = self._center(mention)
        if len(alike) == 1:
            far = self._distance(alike[0].last, mention) > WINDOW
            doubt = 0.7 if center is not alike[0] and self._is_overtaken(alike[0]) else 1.0
            return alike[0], certainty * (0.9 if far and how != "noun" else 1.0) * doubt, how
        if center in alike:
            others = [e for e in alike if e is not center and self._distance(e.last, mention) <= 1]
            return center, certainty * (0.6 if others else 0.85), how
        best = max(alike, key=lambda e: len(e.mentions))
        if all(len(best.mentions) >= 3 * len(e.mentions) for e in alike if e is not best):
            return best, certainty * 0.85, how
        return max(alike, key=lambda e: e.last.head), certainty * 0.5, how

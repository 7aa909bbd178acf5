"""Coreference between sentences: which name does "it", "she" or "the Act" stand for?

Entities are built up in reading order, first names, then what refers back to them. A link carries a margin from 0 to 1;
precision comes from gates: "it" only goes back to the subject of the sentence before, a definite noun only to a
name that the text has called by that noun. `resolve` may be given fewer sentences than the passage has, which is how
the rules learn which sentences a reader needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from generation.language import mentions, nlp, scorer
from generation.language.entities import Entity, Link, gather, renewed
from generation.language.lexicon import are_synonyms, noun_kind
from generation.language.mentions import SUBJECTS, Mention
from generation.language.nlp import Parse
from generation.records import Coreference, Kind, Section, Span

_STATES = frozenset("have contain consist include belong remain lie measure weigh cost mean involve comprise".split())
_CALLED_BY_KIND = {True: ("org",), False: ("work", "law", "thing")}
"""What a subject that acts ("Bolt Thrower recorded"), or that something is done to, is called next ("the band")."""
_THINGS = ("law", "work", "org", "event", "thing")
WINDOW = 3
"""Sentences back, in the sentences given, that a pronoun may reach."""


def resolve(section: Section) -> list[tuple[Coreference, float]]:
    """Find what refers back across sentences of `section`: (mention and its nearest earlier name, margin 0 to 1).

    Only anaphors of something named or described in an earlier sentence are given, in reading order.
    """
    parse = nlp.parse(section)
    links = resolve_parse(parse)
    return [(coreference(parse, link.mention, link.sources[-1]), link.margin) for link in links if link.sources]


def coreference(parse: Parse, mention: Mention, name: Mention) -> Coreference:
    kind: Kind = "pronominal" if mention.form == "pronoun" else "nominal"
    return Coreference(kind, parse.span(mention.start, mention.end), source_span(parse, name))


def source_span(parse: Parse, source: Mention) -> Span:
    """A name as it stands; a description without its article."""
    if source.form == "name" or source.first < 0:
        return parse.span(source.start, source.end)
    return parse.span(source.first, source.last)


def resolve_parse(
    parse: Parse,
    sentences: Iterable[int] | None = None,
    found: Sequence[Mention] | None = None,
    named: Mapping[int, Entity] | None = None,
) -> list[Link]:
    """Resolve the anaphors of `sentences` (default: all) as if the passage held nothing else.

    What kind of thing a name names is still judged by the whole passage: `named` are the entities of its names, as
    `gather` gives them, before anything was read of them.
    """
    kept = sorted(set(sentences)) if sentences is not None else list(range(len(parse.sentences)))
    place = {sentence: position for position, sentence in enumerate(kept)}
    known = found if found is not None else mentions.find(parse)
    state = Discourse(parse, place, named=renewed(named) if named else gather(m for m in known if m.form == "name"))
    for mention in known:
        if mention.sentence in place:
            state.read(mention)
    return state.links


@dataclass
class Discourse:
    """The entities known so far; `place` is the position of each sentence among those given."""

    parse: Parse
    place: dict[int, int]
    entities: list[Entity] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    owner: dict[int, Entity] = field(default_factory=dict)
    named: dict[int, Entity] = field(default_factory=dict)
    read_so_far: list[Mention] = field(default_factory=list)

    def read(self, mention: Mention) -> None:
        self._place(mention)
        self.read_so_far.append(mention)

    def _place(self, mention: Mention) -> None:
        if mention.form == "name":
            self._join(mention, self._named(mention))
        elif mention.form == "indefinite":
            self._join(mention, self._described(mention) or self._new())
        elif mention.form == "definite":
            self._anaphor(mention, self._definite(mention))
        elif mention.gender in ("m", "f"):
            self._anaphor(mention, self._person(mention))
        else:
            self._anaphor(mention, self._centered(mention))

    def _new(self) -> Entity:
        self.entities.append(Entity())
        return self.entities[-1]

    def _named(self, mention: Mention) -> Entity:
        entity = self.named[mention.head]
        if not entity.mentions:
            self.entities.append(entity)
        return entity

    def _join(self, mention: Mention, entity: Entity, margin: float = 1.0) -> None:
        entity.add(mention, margin)
        self.owner[mention.head] = entity

    def _anaphor(self, mention: Mention, found: "tuple[Entity, float, str] | None") -> None:
        if found is None:
            if mention.form == "definite":
                self._join(mention, self._same_noun(mention) or self._new())
            return
        entity, margin, how = found
        certain = entity.margins[-1]
        margin = min(margin, certain if how == "same noun" else min((margin + certain) / 2, certain * 1.1))
        self.links.append(Link(mention, entity.last, entity, round(margin, 4), how))
        self._join(mention, entity, margin)
        if how == "pronoun" and mention.gender:
            entity.genders.update([mention.gender])

    def _distance(self, earlier: Mention, mention: Mention) -> int:
        return self.place[mention.sentence] - self.place[earlier.sentence]

    def _described(self, mention: Mention) -> Entity | None:
        """The entity that an indefinite predicate nominal or apposition describes."""
        token = self.parse.words[mention.head]
        if token.dep_ == "appos":
            return self.owner.get(token.head.i)
        if token.dep_ == "attr" and token.head.lemma_ in ("be", "become", "remain"):
            subjects = [c for c in token.head.lefts if c.dep_ == "nsubj"]
            return self.owner.get(subjects[0].i) if subjects else None
        return None

    def _same_noun(self, mention: Mention) -> Entity | None:
        """An unnamed entity called by the same noun and modifiers ("the crash" ... "the crash")."""
        alike = [e for e in self.entities if not e.names and e.last.noun == mention.noun]
        return alike[-1] if alike else None

    # definite nouns

    def _definite(self, mention: Mention) -> tuple[Entity, float, str] | None:
        if mention.plural or not mention.bare or mention.coordinated:
            return None
        described = self._described(mention)
        if described is not None:
            return None
        named = [e for e in self.entities if e.names and e.names[-1].sentence <= mention.sentence]
        called = [e for e in named if mention.noun in e.nouns and self._modifiers_fit(mention, e)]
        if called:
            return self._choose(mention, called, "noun", 0.97)
        if mention.modifiers:
            return None
        if self._same_noun(mention):
            return self._again(mention)
        like = [e for e in named if any(are_synonyms(mention.noun, n) for n in e.nouns)]
        if like:
            return self._choose(mention, like, "synonym", 0.9)
        return self._by_kind(mention, named)

    def _by_kind(self, mention: Mention, named: list[Entity]) -> tuple[Entity, float, str] | None:
        """ "Bolt Thrower ... The band": the center, of which the text has not said what it is, and nothing else fits."""
        kind, center = noun_kind(mention.noun), self._center(mention)
        if center not in named or kind in ("", "person") or center.nouns or center.plural or center.gender:
            return None
        alike = [e for e in named if e.kind == kind and e is not center]
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

    # pronouns

    def _center(self, mention: Mention) -> Entity | None:
        """What the sentence before is about: the entity of its root's subject."""
        position = self.place[mention.sentence] - 1
        for earlier in (e for e in self.owner if self.place.get(self.parse.sentence_of(e)) == position):
            for m in self.owner[earlier].mentions:
                if m.head == earlier and m.main:
                    return self.owner[earlier]
        return None

    def _centered(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "it" and "they": the subject of the sentence before, if nothing nearer could be meant."""
        own = self._own_subject(mention)
        if own is not None:
            return self._reflexive(mention, own)
        center = self._center(mention)
        if self._is_before_subject(mention):
            return None
        carried = self._carried(mention)
        if carried:
            center = self.owner.get(carried[-1].head)
        if center is None or not self._agrees(mention, center):
            return self._only_thing(mention) if not carried and not self._nearer(mention) else None
        if self._nearer(mention):
            return None
        margin = 0.93 if center.names else 0.85
        rivals = self._rivals(mention, center)
        if any(m.role != "other" for m in rivals):
            if not self._acts(mention):
                return None
            margin *= 0.88
        elif rivals:
            margin *= 0.95 if self._acts(mention) else 0.85
        elif self._has_other_object(mention, center):
            margin *= 0.9 if self._acts(mention) else 0.75
        if not center.kind:
            margin *= 0.9
        if carried and not carried[-1].main:
            margin *= 0.85
        margin *= self._fits_predicate(mention, center)
        if not mention.main and mention.role != "poss":
            margin *= 0.75
        return center, margin, "pronoun"

    def _only_thing(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "Harry Truman signed the Act. It ...": the one named thing beside a subject that "it" cannot mean."""
        if mention.plural or not mention.main:
            return None
        before = [m for e in self.entities for m in e.mentions if self._distance(m, mention) == 1 and not m.plural]
        things = [m for m in before if m.form == "name" and self.owner[m.head].sure and m.kind in _THINGS]
        others = [m for m in before if m.role in ("subject", "object") and m.gender == "n" and m not in things]
        if len({id(self.owner[m.head]) for m in things}) != 1 or others or things[-1].coordinated:
            return None
        return self.owner[things[-1].head], 0.75 if things[-1].role == "object" else 0.55, "thing"

    def _carried(self, mention: Mention) -> list[Mention]:
        """The like pronouns of the sentence before: "it" goes on with what "it" meant there, resolved or not."""
        position = self.place[mention.sentence] - 1
        return [
            m
            for m in self.read_so_far
            if m.form == "pronoun"
            and self.place[m.sentence] == position
            and (m.gender, m.plural) == (mention.gender, mention.plural)
        ]

    def _fits_predicate(self, mention: Mention, entity: Entity) -> float:
        """ "It was the first victory": how well can the entity be what the pronoun's predicate nominal says?"""
        token = self.parse.words[mention.head]
        if token.dep_ != "nsubj" or token.head.lemma_ not in ("be", "become", "remain"):
            return 1.0
        nouns = [c.lemma_.lower() for c in token.head.children if c.dep_ == "attr" and c.pos_ == "NOUN"]
        kinds = {noun_kind(n) for n in nouns}
        if not nouns or entity.kind in kinds or any(n in entity.nouns for n in nouns):
            return 1.0
        return 0.7 if kinds == {""} else 0.5

    def _is_before_subject(self, mention: Mention) -> bool:
        """Does the pronoun stand before, and outside, a main subject that is no pronoun ("For its part, the bank")?"""
        token = self.parse.words[mention.head]
        root = next((t for t in self.parse.tokens(mention.sentence) if t.dep_ == "ROOT"), None)
        subject = next((c for c in root.lefts if c.dep_ in SUBJECTS), None) if root is not None else None
        if subject is None or subject == token or subject.is_ancestor(token) or subject.pos_ == "PRON":
            return False
        return token.i < subject.i

    def _own_subject(self, mention: Mention) -> Mention | None:
        """An earlier main subject in the mention's own sentence."""
        inside = [m for e in self.entities for m in e.mentions if m.sentence == mention.sentence]
        return next((m for m in inside if m.main and m.head < mention.head), None)

    def _reflexive(self, mention: Mention, own: Mention) -> tuple[Entity, float, str] | None:
        """A later pronoun of a sentence whose subject is the same pronoun or a fitting name."""
        entity = self.owner[own.head]
        if own.form == "indefinite" or not self._agrees(mention, entity):
            return None
        between = [m for e in self.entities for m in e.mentions if own.head < m.head < mention.head]
        rivals = [m for m in between if m.form != "pronoun" and m.gender == "n" and self.owner[m.head] is not entity]
        return entity, 0.6 if rivals else 0.85, "same sentence"

    def _agrees(self, mention: Mention, entity: Entity) -> bool:
        if mention.plural:
            return entity.plural or any(n.plural for n in entity.names)
        return entity.kind != "person" and not entity.plural and not any(n.coordinated for n in entity.mentions[-1:])

    def _nearer(self, mention: Mention) -> bool:
        """Is there a singular thing before the mention in its own sentence?"""
        inside = (m for e in self.entities for m in e.mentions if m.sentence == mention.sentence)
        before = [m for m in inside if m.head < mention.head and m.gender != "m" and m.gender != "f"]
        return any(m.role in ("subject", "object") or m.form == "name" and m.kind != "place" for m in before)

    def _acts(self, mention: Mention) -> bool:
        """Is the mention the subject of an active verb of doing? What acts is rather the subject of before."""
        token = self.parse.words[mention.head]
        return token.dep_ == "nsubj" and token.head.pos_ == "VERB" and token.head.lemma_ not in _STATES

    def _rivals(self, mention: Mention, center: Entity) -> list[Mention]:
        """Mentions of other things of the same kind in the sentence before."""
        return [
            m
            for e in self.entities
            if e is not center and e.kind != "person"
            for m in e.mentions
            if self._distance(m, mention) == 1 and self._competes(m, center)
        ]

    def _has_other_object(self, mention: Mention, center: Entity) -> bool:
        """Does the sentence before have a definite object that "it" could mean?"""
        return any(
            m.role == "object"
            and (m.form == "definite" or m.form == "indefinite" and not self._acts(mention))
            and m.gender == "n"
            and self._distance(m, mention) == 1
            and not m.plural
            for e in self.entities
            if e is not center
            for m in e.mentions
        )

    def _competes(self, mention: Mention, center: Entity) -> bool:
        if mention.plural or mention.form == "indefinite" and mention.role not in ("subject", "object"):
            return False
        return bool(center.kind) and mention.kind == center.kind

    def _person(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "he" and "she": the best of the people who agree, by the trained scorer."""
        fitting = self.people(mention)
        own = self._own_subject(mention)
        if not fitting or own is not None and own.kind == "person" and not self.owner[own.head].names:
            return None
        shares = scorer.shares(self.parse, mention, fitting, self.place)
        known = [
            share * (1.0 if e.kind == "person" or e.gender else 0.8 if not e.kind else 0.4)
            for share, e in zip(shares, fitting, strict=True)
        ]
        best = max(range(len(fitting)), key=lambda i: (known[i], -i))
        best = self._kept_to(mention, fitting, best)
        entity = fitting[best]
        if self._is_beside_unresolved(mention, entity):
            return None
        if self._is_cataphor(mention) or self._is_somewhere(entity):
            return None
        margin = self._person_margin(mention, entity, shares[best], fitting)
        if entity.gender != mention.gender:
            margin *= 0.95 if entity is self._center(mention) else 0.8
        if entity.kind != "person":
            margin *= 0.92 if entity.gender and not entity.kind else 0.8 if not entity.kind else 0.55
        return entity, margin, "pronoun"

    def _kept_to(self, mention: Mention, fitting: list[Entity], best: int) -> int:
        """Rather than somebody of unknown sex, the one whom "she" meant in this sentence or the one before."""
        here = [
            m
            for m in self.read_so_far
            if m.form == "pronoun" and m.gender == mention.gender and 0 <= self._distance(m, mention) <= 1
        ]
        known = self.owner.get(here[-1].head) if here else None
        likely = fitting[best]
        if likely.gender == mention.gender or likely.kind == "person" or known is None or known not in fitting:
            return best
        return fitting.index(known)

    def _is_beside_unresolved(self, mention: Mention, entity: Entity) -> bool:
        """Has a "she" just before, that could not be resolved, somebody else in mind than one of unknown sex?"""
        open_ones = (
            m
            for m in self.read_so_far[:-1]
            if m.form == "pronoun" and m.gender == mention.gender and self._distance(m, mention) <= 1
        )
        return not entity.gender and any(m.head not in self.owner for m in open_ones)

    def _person_margin(self, mention: Mention, entity: Entity, share: float, fitting: list[Entity]) -> float:
        """Nearly sure where nobody else fits, or only the last sentence's subject; else the scorer's share."""
        near = [e for e in fitting if self._distance(e.last, mention) <= 1]
        if (entity not in near or not entity.gender) and self._has_stranger(mention):
            return min(share, 0.4)
        if len(fitting) == 1:
            return 0.95 if near else 0.85
        if entity is self._center(mention) and (mention.main or mention.role == "poss"):
            return 0.93 if near == [entity] else max(0.8, share)
        return max(share, 0.8) if near == [entity] else share

    def _has_stranger(self, mention: Mention) -> bool:
        """Is somebody named shortly before whom no mention covers?"""
        position = self.place[mention.sentence] - 1
        near = [s for s, p in self.place.items() if p in (position, position + 1)]
        tokens = [t for s in near for t in self.parse.tokens(s) if t.i < mention.head]
        covered = {i for e in self.entities for m in e.mentions for i in range(m.start, m.end)}
        named = (t for t in tokens if t.i not in covered and (t.ent_type_ == "PERSON" or t.pos_ == "PROPN"))
        return any(t.ent_type_ == "PERSON" or t.dep_ in SUBJECTS for t in named)

    def _is_cataphor(self, mention: Mention) -> bool:
        """Is the pronoun in a clause set before a main subject with a name ("When he was minister, Kallergis ...")?"""
        return any(
            name.main and name.sentence == mention.sentence and self._is_person(mention, e)
            for head, e in self.named.items()
            if head > mention.head and not mention.main
            for name in e.known
            if name.head == head and self.parse.words[mention.head].head.head.i != head
        )

    def _is_somewhere(self, entity: Entity) -> bool:
        """Is a doubtful name used like a place's, "in X", "from X"?"""
        if entity.sure or entity.kind == "person":
            return False
        before = [self.parse.words[n.head].head.lower_ for n in entity.names]
        return all(w in ("in", "at", "from", "near", "to", "of") for w in before)

    def people(self, mention: Mention) -> list[Entity]:
        """Who "he" may be: people mentioned lately."""
        return [e for e in self.entities if self._is_person(mention, e) and self._is_near(mention, e.last)]

    def people_to_come(self, mention: Mention) -> list[Entity]:
        """People named only soon after the pronoun; the benchmark counts them, the rules never go forward."""
        soon = {
            id(e): e
            for head, e in self.named.items()
            if head > mention.head
            and not e.mentions
            and e.known[0].sentence in self.place
            and self._is_person(mention, e)
            and self._is_near(mention, e.known[0])
        }
        return list(soon.values())

    def _is_near(self, mention: Mention, other: Mention) -> bool:
        distance = self._distance(other, mention)
        return -2 <= distance <= WINDOW and not other.plural and not scorer.is_blocked(self.parse, mention, other)

    def _is_person(self, mention: Mention, entity: Entity) -> bool:
        if entity.gender and entity.gender != mention.gender:
            return False
        if entity.sure or not entity.known:
            return entity.kind == "person"
        return self.parse.doc[entity.known[-1].start].lower_ != "the"

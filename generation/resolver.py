"""Coreference between sentences: which name does "it", "she" or "the Act" stand for?

Entities are built up in reading order, first names, then what refers back to them. A link carries a margin from 0 to 1;
precision comes from gates: "it" only goes back to the subject of the sentence before, a definite noun only to a
name that the text has called by that noun. `resolve` may be given fewer sentences than the passage has, which is how
the rules learn which sentences a reader needs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from generation import mentions, nlp, scorer
from generation.lexicon import are_synonyms, noun_kind
from generation.mentions import Mention
from generation.nlp import Parse
from generation.records import Coreference, Kind, Section

WINDOW = 3
"""Sentences back, in the sentences given, that a pronoun may reach."""


@dataclass(eq=False)
class Entity:
    """What the mentions so far refer to. `margins` holds the certainty of each mention, 1 for names."""

    mentions: list[Mention] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    nouns: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    plural: bool = False

    def add(self, mention: Mention, margin: float = 1.0) -> None:
        self.mentions.append(mention)
        self.margins.append(margin)
        if mention.form == "pronoun":
            return
        self.nouns |= set(mention.nouns) | ({mention.noun} if mention.noun else set())
        self.kinds.update([mention.kind] * bool(mention.kind))
        self.kinds.update(k for k in (noun_kind(n) for n in mention.nouns) if k)
        self.genders.update([mention.gender] * (mention.gender in ("m", "f")))

    @property
    def names(self) -> list[Mention]:
        return [m for m in self.mentions if m.form == "name"]

    @property
    def kind(self) -> str:
        return self.kinds.most_common(1)[0][0] if self.kinds else ""

    @property
    def gender(self) -> str:
        return self.genders.most_common(1)[0][0] if self.genders else ""

    @property
    def last(self) -> Mention:
        return self.mentions[-1]


@dataclass(frozen=True, slots=True)
class Link:
    """`mention` refers to `entity`; `antecedent` is the entity's mention before it; `how` names the rule."""

    mention: Mention
    antecedent: Mention
    entity: Entity
    margin: float
    how: str

    @property
    def names(self) -> list[Mention]:
        """The entity's names before the mention, in other sentences, in reading order."""
        return [n for n in self.entity.names if n.sentence < self.mention.sentence]


def resolve(section: Section) -> list[tuple[Coreference, float]]:
    """Find what refers back across sentences of `section`: (mention and its nearest earlier name, margin 0 to 1).

    Only anaphors with a named antecedent in an earlier sentence are given, in reading order.
    """
    parse = nlp.parse(section)
    links = resolve_parse(parse)
    return [(coreference(parse, link, link.names[-1]), link.margin) for link in links if link.names]


def coreference(parse: Parse, link: Link, name: Mention) -> Coreference:
    mention = link.mention
    kind: Kind = "pronominal" if mention.form == "pronoun" else "nominal"
    return Coreference(kind, parse.span(mention.start, mention.end), parse.span(name.start, name.end))


def resolve_parse(
    parse: Parse, sentences: Iterable[int] | None = None, found: Sequence[Mention] | None = None
) -> list[Link]:
    """Resolve the anaphors of `sentences` (default: all) as if the passage held nothing else."""
    kept = sorted(set(sentences)) if sentences is not None else list(range(len(parse.sentences)))
    place = {sentence: position for position, sentence in enumerate(kept)}
    state = Discourse(parse, place)
    for mention in found if found is not None else mentions.find(parse):
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

    def read(self, mention: Mention) -> None:
        if mention.form == "name":
            self._join(mention, self._namesake(mention) or self._new())
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

    def _join(self, mention: Mention, entity: Entity, margin: float = 1.0) -> None:
        entity.add(mention, margin)
        self.owner[mention.head] = entity

    def _anaphor(self, mention: Mention, found: "tuple[Entity, float, str] | None") -> None:
        if found is None:
            if mention.form == "definite":
                self._join(mention, self._same_noun(mention) or self._new())
            return
        entity, margin, how = found
        margin *= entity.margins[-1]
        self.links.append(Link(mention, entity.last, entity, round(margin, 4), how))
        self._join(mention, entity, margin)
        if how == "pronoun" and mention.gender:
            entity.genders.update([mention.gender])

    def _distance(self, earlier: Mention, mention: Mention) -> int:
        return self.place[mention.sentence] - self.place[earlier.sentence]

    # names

    def _namesake(self, mention: Mention) -> Entity | None:
        named = [e for e in self.entities if e.names]
        exact = [e for e in named if any(n.words == mention.words for n in e.names)]
        if exact:
            return exact[-1]
        alike = [e for e in named if any(same_name(n, mention) for n in e.names)]
        return max(alike, key=lambda e: e.last.head) if alike else None

    def _described(self, mention: Mention) -> Entity | None:
        """The entity that an indefinite predicate nominal or apposition describes."""
        token = self.parse.doc[mention.head]
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
        if mention.modifiers or self._same_noun(mention):
            return None
        like = [e for e in named if any(are_synonyms(mention.noun, n) for n in e.nouns)]
        if like:
            return self._choose(mention, like, "synonym", 0.9)
        kind = noun_kind(mention.noun)
        alike = [e for e in named if kind and e.kind == kind and not e.plural]
        if len(alike) == 1 and not alike[0].nouns and alike[0] is self._center(mention):
            return alike[0], 0.66, "kind"
        return None

    def _modifiers_fit(self, mention: Mention, entity: Entity) -> bool:
        return all(any(w in n.modifiers for n in entity.names) or w in entity.nouns for w in mention.modifiers)

    def _choose(
        self, mention: Mention, alike: list[Entity], how: str, certainty: float
    ) -> tuple[Entity, float, str] | None:
        """The only entity that fits, or, less surely, the one in the centre of attention."""
        unnamed = self._same_noun(mention)
        if unnamed is not None and unnamed.last.head > alike[-1].last.head:
            return None
        if len(alike) == 1:
            far = self._distance(alike[0].last, mention) > WINDOW
            return alike[0], certainty * (0.9 if far else 1.0), how
        center = self._center(mention)
        if center in alike:
            others = [e for e in alike if e is not center and self._distance(e.last, mention) <= 1]
            return center, certainty * (0.6 if others else 0.85), how
        best = max(alike, key=lambda e: e.last.head)
        return best, certainty * 0.5, how

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
        if center is None or not center.names or not self._agrees(mention, center):
            return None
        margin = 0.92
        if self._nearer(mention):
            return None
        margin *= 0.62 if self._rivals(mention, center) else 1.0
        margin *= 0.8 if self._has_other_object(mention, center) else 1.0
        if not center.kind:
            margin *= 0.85
        if not mention.main and mention.role != "poss":
            margin *= 0.75
        return center, margin, "pronoun"

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
        return any(m.head < mention.head and m.gender == "n" and not self._is_time(m) for m in inside)

    def _is_time(self, mention: Mention) -> bool:
        token = self.parse.doc[mention.head]
        return token.ent_type_ in ("DATE", "TIME", "CARDINAL", "PERCENT", "MONEY")

    def _rivals(self, mention: Mention, center: Entity) -> list[Entity]:
        """Other named things of the same kind in the sentence before."""
        return [
            e
            for e in self.entities
            if e is not center
            and e.kind != "person"
            and any(self._distance(m, mention) == 1 and self._competes(m, center) for m in e.mentions)
        ]

    def _has_other_object(self, mention: Mention, center: Entity) -> bool:
        """Does the sentence before have a definite object that "it" could mean?"""
        return any(
            m.role == "object"
            and m.form == "definite"
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
        fitting = [e for e in self.entities if self._is_candidate(mention, e)]
        if not fitting:
            return None
        shares = scorer.shares(self.parse, mention, fitting, self.place)
        best = max(range(len(fitting)), key=lambda i: (shares[i], fitting[i].last.head))
        entity, share = fitting[best], shares[best]
        margin = share if len(fitting) > 1 else 0.95
        if entity.gender != mention.gender:
            margin *= 0.93
        if entity.kind != "person":
            margin *= 0.9
        return entity, margin, "pronoun"

    def _is_candidate(self, mention: Mention, entity: Entity) -> bool:
        last = entity.last
        if entity.gender and entity.gender != mention.gender:
            return False
        if entity.kind != "person" and (entity.kind or not entity.gender):
            return False
        if last.plural or self._distance(last, mention) > WINDOW or last.head >= mention.head:
            return False
        return not scorer.is_blocked(self.parse, mention, last)


def same_name(known: Mention, new: Mention) -> bool:
    """May two names mean one entity? "Dumas Malone" and "Malone", "Food and Drug Administration" and "FDA"."""
    long, short = sorted((known.words, new.words), key=len, reverse=True)
    if not short or len(long) == len(short):
        return False
    if "person" in (known.kind, new.kind) and {known.kind, new.kind} <= {"person", "", "org", "place"}:
        return long[-len(short) :] == short or (len(short) == 1 and short[0] == long[0])
    if (
        len(short) == 1
        and len(short[0]) >= 2
        and short[0] == "".join(w[0] for w in long if w not in ("of", "and", "the", "for"))
    ):
        return True
    return long[: len(short)] == short and known.kind in ("", new.kind, *([known.kind] if not new.kind else []))

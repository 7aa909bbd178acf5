"""Entities, and which names of a passage name the same one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from generation.language import topic
from generation.language.lexicon import FEMININE, MASCULINE, noun_kind
from generation.language.mentions import Mention


@dataclass(eq=False)
class Entity:
    """What the mentions read so far refer to; `margins` holds the certainty of each, 1 for names.

    `known` are all its names in the passage: kind and gender are known from the whole passage, mentions only so far.
    """

    known: list[Mention] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    nouns: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    sure: Counter[str] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    names: list[Mention] = field(default_factory=list)
    plural: bool = False

    def know(self, mention: Mention) -> None:
        """Count what a name or noun tells of the entity's kind and gender."""
        if mention.kind:
            self.kinds[mention.kind] += 1
            if mention.is_sure:
                self.sure[mention.kind] += 1
        for noun in mention.nouns:
            if kind := noun_kind(noun):
                self.sure[kind] += 1
            if noun in MASCULINE or noun in FEMININE:
                self.genders["m" if noun in MASCULINE else "f"] += 1
        if mention.gender in ("m", "f"):
            self.genders[mention.gender] += 1

    def add(self, mention: Mention, margin: float = 1.0) -> None:
        self.mentions.append(mention)
        if mention.form == "name":
            self.names.append(mention)
        self.margins.append(margin)
        if mention.form in ("definite", "indefinite"):
            self.know(mention)
        self.nouns |= set(mention.nouns) | ({mention.noun} if mention.noun else set())

    @property
    def kind(self) -> str:
        """By the words used of it if they tell, else by the majority of spaCy's labels."""
        counted = self.sure or self.kinds
        return max(counted, key=counted.__getitem__) if counted else ""

    @property
    def gender(self) -> str:
        return max(self.genders, key=self.genders.__getitem__) if self.genders else ""

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

    @property
    def sources(self) -> list[Mention]:
        """The names, or for what has none the phrase that first described it ("a channel linked to the group").

        Where the title tells what "the law" is, this, the last time it stood there.
        """
        if self.names or self.entity.names:
            return self.names
        before = [m for m in self.entity.mentions if m.sentence < self.mention.sentence]
        described = [m for m in before if m.is_describing]
        return described[:1] or [m for m in before if m.topical][-1:]


def gather(
    names: Iterable[Mention], people: Mapping[tuple[str, ...], str] | None = None, title: str = ""
) -> dict[int, Entity]:
    """The entity of each name (by its head token), before anything else is read; each knows its names.

    `people` gives the gender of names that are known to be people's; `title` tells whose a bare surname is.
    """
    entities: list[Entity] = []
    owner: dict[int, Entity] = {}
    for name in names:
        entity = _namesake(name, entities, title)
        if entity is None:
            entity = Entity()
            entities.append(entity)
        entity.known.append(name)
        entity.know(name)
        if people and name.words in people:
            entity.sure.update(["person"])
            entity.genders.update([people[name.words]])
        owner[name.head] = entity
    return owner


def renewed(owner: Mapping[int, Entity]) -> dict[int, Entity]:
    """The same entities before anything was read of them, so that what `gather` found can be used again."""
    fresh: dict[int, Entity] = {}
    for entity in owner.values():
        if id(entity) not in fresh:
            kinds, sure, genders = map(_copied, (entity.kinds, entity.sure, entity.genders))
            fresh[id(entity)] = Entity(entity.known, kinds=kinds, sure=sure, genders=genders)
    return {head: fresh[id(entity)] for head, entity in owner.items()}


def _copied(counted: Counter[str]) -> Counter[str]:
    """The same counts; `Counter.copy` counts them anew, which takes ten times as long."""
    fresh: Counter[str] = Counter()
    dict.update(fresh, counted)
    return fresh


def _namesake(name: Mention, entities: list[Entity], title: str) -> Entity | None:
    exact = [e for e in entities if any(n.words == name.words for n in e.known)]
    if exact:
        return exact[-1]
    if topic.full_name(title, name.words):  # "Harlan" is whom the article is about, whoever else bears the name
        entities = [e for e in entities if not any(topic.is_other(n.words, title) for n in e.known)]
    alike = [e for e in entities if any(same_name(n, name) for n in e.known) and not _is_relative(name, e)]
    return max(alike, key=lambda e: e.known[-1].head) if alike else None


def _is_relative(name: Mention, entity: Entity) -> bool:
    """Is a full name that comes only after a bare surname rather a relative's ("Williams ... Richard N. Williams")?"""
    longest = max(len(n.words) for n in entity.known)
    return (
        name.kind in ("person", "") and longest == 1 and len(name.words) > 1 and name.role not in ("subject", "object")
    )


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
    if long[1:] == short and long[0].isdigit():
        return True
    return long[: len(short)] == short and known.kind in ("", new.kind, *([known.kind] if not new.kind else []))

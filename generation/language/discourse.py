"""What has been read of a passage so far: its entities, and what each sentence is about."""

from dataclasses import dataclass, field

from generation.language.entities import Entity, Link
from generation.language.mentions import Mention
from generation.language.nlp import Parse


@dataclass
class State:
    """The entities known so far; `place` is the position of each sentence among those given."""

    parse: Parse
    place: dict[int, int]
    entities: list[Entity] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    owner: dict[int, Entity] = field(default_factory=dict)
    named: dict[int, Entity] = field(default_factory=dict)
    centers: dict[int, int] = field(default_factory=dict)
    read_so_far: list[Mention] = field(default_factory=list)

    def _new(self) -> Entity:
        self.entities.append(Entity())
        return self.entities[-1]

    def _join(self, mention: Mention, entity: Entity, margin: float = 1.0) -> None:
        entity.add(mention, margin)
        self.owner[mention.head] = entity
        if mention.main:
            self.centers.setdefault(mention.sentence, mention.head)

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

    def _center(self, mention: Mention) -> Entity | None:
        """What the sentence before is about: the entity of its root's subject."""
        position = self.place[mention.sentence] - 1
        head = self.centers.get(list(self.place)[position], -1) if position >= 0 else -1
        return self.owner.get(head)

    def _own_subject(self, mention: Mention) -> Mention | None:
        """An earlier main subject in the mention's own sentence."""
        inside = [m for e in self.entities for m in e.mentions if m.sentence == mention.sentence]
        return next((m for m in inside if m.main and m.head < mention.head), None)

""" "he" and "she": the best of the people who agree, by the trained scorer, and how sure that is."""

from generation.language import scorer, topic
from generation.language.discourse import State
from generation.language.entities import Entity
from generation.language.mentions import SUBJECTS, Mention
from generation.language.nominals import WINDOW


class People(State):
    """Resolves pronouns that mean people."""

    def _person(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "he" and "she": the best of the people who agree, by the trained scorer."""
        fitting = self.people(mention)
        own = self._own_subject(mention)
        if not fitting or own is not None and self._may_mean(mention, own):
            return None
        shares = scorer.shares(self.parse, mention, fitting, self.place)
        known = [
            share * (1.0 if self._is_known(e) else 0.8 if not e.kind else 0.4)
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
        if entity.gender != mention.gender and not self._is_topic(entity):
            margin *= 0.95 if entity is self._center(mention) else 0.8
        if entity.kind != "person" and not self._is_topic(entity):
            margin *= 0.92 if entity.gender and not entity.kind else 0.8 if not entity.kind else 0.55
        return entity, margin, "pronoun"

    def _is_known(self, entity: Entity) -> bool:
        """Is this known to be a person, by a word, a first name or the title?"""
        return entity.kind == "person" or bool(entity.gender) or self._is_topic(entity)

    def _is_topic(self, entity: Entity) -> bool:
        return topic.is_person(entity, self.parse.title)

    def _may_mean(self, mention: Mention, own: Mention) -> bool:
        """May a person without a name who is the sentence's subject be meant ("A doctor sold his clinic")?"""
        unnamed = own.kind == "person" and not own.plural and not self.owner[own.head].names
        return unnamed and not self.parse.words[own.head].is_ancestor(self.parse.words[mention.head])

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
        about = self._is_topic(entity)
        if (entity not in near or not entity.gender) and not about and self._has_stranger(mention):
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
        return [e for e in self.entities if self._is_person(mention, e) and self._may_reach(mention, e)]

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

    def _may_reach(self, mention: Mention, entity: Entity) -> bool:
        """Was the person mentioned lately? Whom the article is about is never far."""
        blocked = scorer.is_blocked(self.parse, mention, entity.last)
        about = self._is_topic(entity) and not blocked and not entity.last.plural
        return about or self._is_near(mention, entity.last)

    def _is_near(self, mention: Mention, other: Mention) -> bool:
        distance = self._distance(other, mention)
        return -2 <= distance <= WINDOW and not other.plural and not scorer.is_blocked(self.parse, mention, other)

    def _is_person(self, mention: Mention, entity: Entity) -> bool:
        if entity.gender and entity.gender != mention.gender:
            return False
        if entity.sure or not entity.known:
            return entity.kind == "person"
        return self.parse.words[entity.known[-1].start].lower_ != "the"

"""Coreference between sentences: which name does "it", "she" or "the Act" stand for?

Entities are built up in reading order, first names, then what refers back to them. A link carries a margin from 0 to 1;
precision comes from gates: "it" only goes back to the subject of the sentence before, a definite noun only to a
name that the text has called by that noun. `resolve` may be given fewer sentences than the passage has, which is how
the rules learn which sentences a reader needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from generation.language import mentions, nlp
from generation.language.entities import Entity, Link, gather, renewed
from generation.language.lexicon import DEEDS_OF_LAWS, noun_kind
from generation.language.mentions import SUBJECTS, Mention
from generation.language.nlp import Parse
from generation.language.nominals import Nominals
from generation.language.people import People
from generation.records import Coreference, Kind, Section, Span

_STATES = frozenset("have contain consist include belong remain lie measure weigh cost mean involve comprise".split())
_THINGS = ("law", "work", "org", "event", "thing")


def resolve(section: Section) -> list[tuple[Coreference, float]]:
    """Find what refers back across sentences of `section`: (mention and its nearest earlier name, margin 0 to 1).

    Only anaphors of something named or described in an earlier sentence are given, in reading order.
    """
    parse = nlp.parse(section)
    links = resolve_parse(parse)
    return [(coreference(parse, link.mention, link.sources[-1]), link.margin) for link in links if link.sources]


def coreference(parse: Parse, mention: Mention, name: Mention, is_step: bool = False) -> Coreference:
    """From a mention to its name, or to a mention on the way to it (`is_step`), which keeps its article."""
    kind: Kind = "pronominal" if mention.form == "pronoun" else "nominal"
    end = parse.span(name.start, name.end) if is_step else source_span(parse, name)
    return Coreference(kind, parse.span(mention.start, mention.end), end)


def source_span(parse: Parse, source: Mention) -> Span:
    """A name as it stands; a description without its article."""
    if source.form == "name" or source.first < 0 or source.topical:
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
    state = Discourse(parse, place, named=renewed(named or _named(parse, known)))
    for mention in known:
        if mention.sentence in place:
            state.read(mention)
    return state.links


def _named(parse: Parse, known: Sequence[Mention]) -> Mapping[int, Entity]:
    if known is mentions.find(parse):
        return _gathered(parse)
    return gather((m for m in known if m.form == "name"), title=parse.title)


@lru_cache(maxsize=64)
def _gathered(parse: Parse) -> Mapping[int, Entity]:
    return gather((m for m in mentions.find(parse) if m.form == "name"), title=parse.title)


class Discourse(Nominals, People):
    """Reads the mentions of a passage one after the other; each anaphor that can be resolved becomes a link."""

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

    def _named(self, mention: Mention) -> Entity:
        entity = self.named[mention.head]
        if not entity.mentions:
            self.entities.append(entity)
        return entity

    def _anaphor(self, mention: Mention, found: "tuple[Entity, float, str] | None") -> None:
        if found is None:
            if mention.form == "definite":
                self._join(mention, self._described(mention) or self._same_noun(mention) or self._new())
            return
        entity, margin, how = found
        certain = entity.margins[-1]
        margin = min(margin, certain if how == "same noun" else min((margin + certain) / 2, certain * 1.1))
        self.links.append(Link(mention, entity.last, entity, round(margin, 4), how))
        self._join(mention, entity, margin)
        if how == "pronoun" and mention.gender:
            entity.genders.update([mention.gender])

    def _centered(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "it" and "they": the subject of the sentence before, if nothing nearer could be meant."""
        own = self._own_subject(mention)
        if own is not None and not self._is_another(mention, own):
            return self._reflexive(mention, own)
        center = self._center(mention)
        if self._is_before_subject(mention):
            return self._of_terms(mention)
        carried = self._carried(mention)
        if carried:
            center = self.owner.get(carried[-1].head)
        if (law := self._law_before(mention, center)) is not None:
            return law if law[0].names else None
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

    def _law_before(self, mention: Mention, center: Entity | None) -> tuple[Entity, float, str] | None:
        """ "The commission adopted Regulation 12. It banned ...": what laws do is rather done by the law."""
        verb = self.parse.words[mention.head].head
        if (
            mention.plural
            or not mention.main
            or verb.lemma_ not in DEEDS_OF_LAWS
            or center is None
            or center.kind == "law"
        ):
            return None
        before = (m for e in self.entities for m in e.mentions if m.sentence == mention.sentence - 1)
        laws = [m for m in before if m.role == "object" and m.kind == "law" and not m.plural]
        return (self.owner[laws[-1].head], 0.8, "law") if laws else None

    def _of_terms(self, mention: Mention) -> tuple[Entity, float, str] | None:
        """ "Bush signed the Privacy Act. Under its terms agencies ...": the law just named, or meant by "it"."""
        if mention.role != "poss" or self.parse.words[mention.head].head.lemma_ not in ("term", "provision"):
            return None
        before = [m for e in self.entities for m in e.mentions if self._distance(m, mention) == 1 and not m.plural]
        laws = {id(e): e for m in before if (e := self.owner[m.head]).names and e.sure["law"]}
        return (next(iter(laws.values())), 0.85, "law") if len(laws) == 1 else None

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

    def _is_another(self, mention: Mention, own: Mention) -> bool:
        """ "Lincoln signed it": the object is not the subject of its own verb, nor a person's name what "it" means."""
        words = self.parse.words
        clause = words[own.head].head == words[mention.head].head
        return mention.role == "object" and clause and not mention.plural

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
        before = [m for m in inside if m.head < mention.head and m.gender not in ("m", "f") and not m.plural]
        before = [m for m in before if not self.owner[m.head].sure["person"]]
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
        if self.parse.words[mention.head].dep_ == "oprd":
            return False  # "the Mann Act, also called the White-Slave Traffic Act"
        return bool(center.kind) and mention.kind == center.kind

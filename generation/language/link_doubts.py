"""Why a link between a mention and its name should not be trusted: gates by what else the mention could mean."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from generation.language import topic
from generation.language.antecedents import Antecedents
from generation.language.entities import Entity, Link
from generation.language.lexicon import DEEDS_OF_LAWS, MONTHS, first_names, is_person_like, noun_kind
from generation.language.mentions import Mention, is_main_subject

if TYPE_CHECKING:
    from spacy.tokens import Token

UNTITLED = "only the title says which one is meant"
SINGLE = 0.7
"""Margin of a link to the one law of the sentence before, which is its object."""
GUESS = 0.5
"""Margin under which a link to somebody not in the sentence before is no more than a guess."""


_VERSUS = ("v.", "vs.", "v", "vs")
_DEEDS_OF_BODIES = frozenset(
    "tell ask order instruct request urge advise invite hire appoint meet vote decide begin agree refuse try want hold "
    "rule find conclude say argue build buy sell employ win lose".split()
)
_THINGS = ("law", "org", "work", "place", "thing")
_SHIPS = frozenset(
    "ship vessel liner steamer steamship steamboat frigate schooner sloop brig yacht submarine ferry battleship "
    "cruiser destroyer corvette boat tanker freighter aircraft locomotive".split()
)
_SHIP_TITLE = re.compile(r"^(?:SS|RMS|MS|MV|MY|SY|PS|HMS|HMAS|HMCS|USS|USCGC|USNS|RV|TSS)\b")


def of_link(behind: Antecedents, link: Link) -> Iterator[str]:
    yield from _of_names(behind, link)
    if link.mention.form == "definite":
        yield from _of_nominal(behind, link)
    elif link.mention.gender in ("m", "f"):
        yield from _of_person(behind, link)
    else:
        yield from _of_thing(behind, link)


def _of_names(behind: Antecedents, link: Link) -> Iterator[str]:
    words = behind.parse.words
    for name in link.names:
        if ", and" in behind.parse.text(name.start, name.end):
            yield "two names may be taken for one"
        if _is_cut(behind, name):
            yield "the name may be a part of a longer one"
        around = (*words[max(name.start - 1, 0) : name.start], *words[name.end : name.end + 1])
        if any(t.lower_ in _VERSUS for t in around):
            yield "only the name of a case holds the name"


def _is_cut(behind: Antecedents, name: Mention) -> bool:
    """Does a quote, a capitalised word or an "a" stand right before a person's name ("An Wang", "Sandy" Denny)?"""
    before = behind.parse.words[max(name.start - 1, 0)]
    if before.i >= name.start or before.i < behind.parse.bounds[name.sentence][0] or name.kind == "law":
        return False
    quoted = before.is_quote and bool(before.whitespace_) and name.kind == "person"
    return quoted or before.lower_ in ("a", "an") or before.pos_ == "PROPN" and before.dep_ == "compound"


def _of_nominal(behind: Antecedents, link: Link) -> Iterator[str]:
    if not link.names and link.how == "same noun" and _is_placed(behind, link):
        return
    if link.how not in ("noun", "synonym", "topic", "firm"):
        yield "the noun is not one that the text has called the name by"
    if (
        _is_rather_the_titles(behind, link)
        or _is_rather_the_case(behind, link)
        or _is_rather_the_topic(behind, link.entity)
        or _is_rather_what_the_title_names(behind, link)
    ):
        yield "the noun could as well mean what the text is about"
    if not link.names:
        yield "the noun goes back to no name"
    same = [
        m
        for m in behind.mentions
        if m.head < link.mention.head and m not in link.entity.mentions and link.mention.noun in (m.noun, *m.nouns)
    ]
    if same:
        yield "something else is called by the same noun"


def _is_placed(behind: Antecedents, link: Link) -> bool:
    """Does "a hospital in Louisville", just before, say by a name which one is meant?"""
    source = link.sources[0] if link.sources else None
    if source is None or source.form != "indefinite" or link.mention.sentence - source.sentence > 2:
        return False
    return any(t.pos_ == "PROPN" for t in behind.parse.words[source.head + 1 : source.last])


def _is_rather_the_titles(behind: Antecedents, link: Link) -> bool:
    """ "The Act" of an article about one, linked to another that is the subject of no sentence so far?"""
    if link.mention.noun not in topic.nominals(behind.parse.title) or topic.is_part(link.entity, behind.parse.title):
        return False
    return not any(n.main and link.mention.noun in n.words for n in link.names)


def _is_rather_the_case(behind: Antecedents, link: Link) -> bool:
    """Is "the case" of an article about a case linked to another one?"""
    title = behind.parse.title
    return link.mention.noun == "case" and topic.is_case(title) and topic.find([link.entity], title) is None


def _is_rather_the_topic(behind: Antecedents, entity: Entity) -> bool:
    """Is the article about something else of the same kind, or of a kind that nobody knows?"""
    about = topic.find(behind.named.values(), behind.parse.title)
    if about is None or {m.head for m in about.known} & {m.head for m in entity.mentions}:
        return False
    return about.kind in ("", entity.kind) or not about.sure and about.kind != "person"


def _is_rather_what_the_title_names(behind: Antecedents, link: Link) -> bool:
    """Is "the company" said of an owner, in an article about what may be a company that the text calls otherwise?"""
    title, noun = behind.parse.title, link.mention.noun
    if not title or noun_kind(noun) in ("person", "") or topic.is_part(link.entity, title):
        return False
    return topic.kind(title) in ("", noun_kind(noun)) or noun in topic.words(title)


def _of_person(behind: Antecedents, link: Link) -> Iterator[str]:
    mention, entity = link.mention, link.entity
    others = rivals(behind, link)
    if any(m.sentence == mention.sentence for m in others):
        yield "another person earlier in the sentence"
    before = [m for m in others if m.sentence == mention.sentence - 1]
    last = _last(entity, mention)
    subject = leads(behind, entity, mention.sentence - 1)
    if before and not subject:
        yield "another person in the sentence before"
    if before and any(m.main for m in before):
        yield "another person is the subject of the sentence before"
    if before and subject and mention.role not in ("subject", "poss"):
        yield "two people before, and the pronoun is no subject"
    if any(m.role == "object" and m.form in ("name", "definite") for m in before):
        yield "two people met in the sentence before"
    since = [m for m in others if m.head > last.head]
    if since and last.sentence < mention.sentence - 1:
        yield "another person was mentioned since"
    if entity.gender != mention.gender and others:
        yield "the sex of the name is not known and others are about"
    if link.margin < GUESS and last.sentence < mention.sentence - 1 and _is_overtaken(behind, link):
        yield "the link is a guess over a distance"
    if not _is_known_person(behind, entity):
        yield "the name is not known to be a person's"
    if is_about_another(behind, entity, mention.gender):
        yield "the text is about another person of that sex"
    if _has_stranger(behind, mention):
        yield "a name before the pronoun that nothing is known of"
    if _has_namesake(entity):
        yield "two people of one name"
    if any(t.lower_ == "the" for n in link.names for t in behind.parse.words[max(n.start - 1, 0) : n.start + 1]):
        yield "the name is not known to be a person's"
    if mention.gender == "f" and _may_be_a_ship(behind, entity):
        yield "a ship may be meant"
    if _is_led_by_another(behind, link):
        yield "another name is the subject before the pronoun"
    if _is_fronted(entity, mention):
        yield "the name was no subject and a pronoun in its sentence is"


def leads(behind: Antecedents, entity: Entity, sentence: int) -> bool:
    """Is this the sentence's main subject, or its name ("Its first commissioner, John Kramer, was")?"""
    words = behind.parse.words
    here = [m for m in entity.mentions if m.sentence == sentence]
    beside = (words[m.head].head for m in here if words[m.head].dep_ == "appos")
    return any(m.main for m in here) or any(is_main_subject(t) for t in beside)


def _is_overtaken(behind: Antecedents, link: Link) -> bool:
    """Has another name come since the last one, of which it is not sure that it is no person's?"""
    if not link.names or topic.find([link.entity], behind.parse.title) is not None:
        return False
    after = (m for m in behind.mentions if m.form == "name" and link.names[-1].head < m.head < link.mention.head)
    return any(not m.is_sure and m.kind != "place" and m not in link.entity.mentions for m in after)


def _is_known_person(behind: Antecedents, entity: Entity) -> bool:
    """Do the names or the title say so, rather than the pronouns ("Atlanta" ... "she" of a ship)?"""
    told = any(n.gender in ("m", "f") or n.kind == "person" for n in entity.known)
    told = told or set(entity.kinds) != {"place"} and any(len(n.words) in (2, 3) for n in entity.known)
    title = behind.parse.title
    own = topic.is_person_like(title) and any(n.words and n.words[-1] in title.lower().split() for n in entity.known)
    named = behind.named.get(entity.known[-1].head, entity) if entity.known else entity
    return told or own or named.kind == "person" and set(named.kinds) != {"place"}


def is_about_another(behind: Antecedents, entity: Entity, gender: str) -> bool:
    """Is the article about somebody else whom the pronoun could mean as well?"""
    title = behind.parse.title.partition(",")[0]
    if topic.is_person(entity, behind.parse.title):
        return False
    own = {w for n in entity.known for w in n.words}
    about = topic.gender(title) if topic.is_person_like(title) else "?"
    return about in (gender, "") and not own & set(title.lower().split())


def _has_stranger(behind: Antecedents, mention: Mention) -> bool:
    """Is there a capitalised word in this sentence or the one before that no mention holds ("by Jan Ingenhousz")?"""
    covered = {i for m in behind.mentions if m.sentence >= mention.sentence - 1 for i in range(m.start, m.end)}
    tokens = (t for s in (mention.sentence - 1, mention.sentence) if s >= 0 for t in behind.parse.tokens(s))
    return any(
        t.pos_ == "PROPN" and t.text.istitle() and t.i < mention.head and t.i not in covered and _may_name(t)
        for t in tokens
    )


def _may_name(token: "Token") -> bool:
    elsewhere = token.ent_type_ in ("GPE", "LOC", "FAC", "NORP", "LANGUAGE")
    if token.text in MONTHS or elsewhere or token.text.endswith("day"):
        return False
    return token.dep_ in ("pobj", "nsubj", "nsubjpass", "dobj", "appos", "conj")


def _has_namesake(entity: Entity) -> bool:
    """Are two names of one sentence taken for one person's, "Malone was born to John W. Malone"?"""
    names = [n for n in entity.known if n.form == "name"]
    return any(
        a.sentence == b.sentence and len(a.words) < len(b.words) and a.head < b.head for a in names for b in names
    )


def _may_be_a_ship(behind: Antecedents, entity: Entity) -> bool:
    """Is the article about a ship, or are ships about and the name is not a woman's by its first word?"""
    named = any(len(n.words) > 1 and first_names().get(n.words[0]) == "f" for n in entity.known)
    about = any(t.lemma_.lower() in _SHIPS for t in behind.parse.words)
    return bool(_SHIP_TITLE.match(behind.parse.title)) or about and not named


def _is_led_by_another(behind: Antecedents, link: Link) -> bool:
    own = {m.head for m in link.entity.mentions}
    tokens = behind.parse.tokens(link.mention.sentence)
    before = (t for t in tokens if t.i < link.mention.head and _is_named(t) and t.dep_ in ("nsubj", "nsubjpass"))
    verb = behind.parse.words[link.mention.head].head
    other = (t for t in before if link.mention.role != "object" or t.head != verb)  # "Johnson courted him"
    return any(t.i not in own and not _is_thing(behind, t.i) for t in other)


def _is_named(token: "Token") -> bool:
    """A name, or what opens a sentence bare and may be one ("Hodges died", read as a plural)."""
    bare = token.pos_ == "NOUN" and token.text.istitle() and not list(token.lefts)
    return token.pos_ == "PROPN" or bare


def _is_thing(behind: Antecedents, head: int) -> bool:
    """Is the name with this head surely no person's ("Congress gave him")?"""
    entity = behind.named.get(head)
    return entity is not None and bool(entity.sure) and entity.kind != "person"


def _is_fronted(entity: Entity, mention: Mention) -> bool:
    """ "In an interview with Ann, she ...": the name is no subject of a sentence whose subject is a pronoun."""
    before = [m for m in entity.mentions if m.sentence < mention.sentence]
    if not before:
        return False
    here = [m for m in before if m.sentence == before[-1].sentence]
    names = [m for m in here if m.form == "name"]
    return bool(names) and any(
        m.form == "pronoun" and m.main and all(n.role != "subject" and n.head < m.head for n in names) for m in here
    )


def _of_thing(behind: Antecedents, link: Link) -> Iterator[str]:
    mention, entity = link.mention, link.entity
    if not link.names and any(m.topical for m in link.sources):
        yield UNTITLED
        yield from _of_topical(behind, link)
        return
    object_before = link.how == "thing" and link.margin >= SINGLE and entity.sure["law"] > 0
    if (
        link.how != "law"
        and not object_before
        and not any(m.main for m in entity.mentions if m.sentence == mention.sentence - 1)
    ):
        yield '"it" for what is no subject of the sentence before'
    about = topic.find([entity], behind.parse.title)
    if not (mention.main or mention.role == "poss" or mention.role == "object" and about is not None):
        yield '"it" is no subject'
    if not entity.sure and about is None:
        yield "what kind of thing the name names is a guess"
    if link.how == "thing" and not object_before:
        yield '"it" for the only thing about'
    if any(n.plural for n in entity.names) and not mention.plural:
        yield '"it" for a plural name'
    if entity.kind == "law" and behind.parse.words[mention.head].head.lemma_ in _DEEDS_OF_BODIES and mention.main:
        yield "no law does that"
    if _is_of_what_was_said(behind, link):
        yield "what was said before is of something else"
    title = behind.parse.title
    if topic.kind(title) in _THINGS and not topic.is_part(entity, title):
        yield "the pronoun could as well mean what the text is about"


def _is_of_what_was_said(behind: Antecedents, link: Link) -> bool:
    """ "The court held that the commission had no such power. It could": does the sentence before tell of another?"""
    before = link.mention.sentence - 1
    own = {m.head for m in link.entity.mentions}
    inner = (t for t in behind.parse.tokens(before) if t.dep_ in ("nsubj", "nsubjpass") and t.head.dep_ == "ccomp")
    said = any(m.main and m.sentence == before for m in link.entity.mentions)
    return said and any(t.i not in own and t.tag_ in ("NN", "NNP") and not is_person_like(t.lower_) for t in inner)


def _of_topical(behind: Antecedents, link: Link) -> Iterator[str]:
    """ "The law ... It forbade": does the verb, or what else was spoken of, leave open that it is the law?"""
    mention, source = link.mention, link.sources[-1]
    token = behind.parse.words[mention.head]
    acts = token.head.lemma_ in DEEDS_OF_LAWS or source.kind == "org" and token.dep_ == "nsubj"
    owns = mention.role == "poss" and mention.head == behind.parse.bounds[mention.sentence][0]
    between = (m for m in behind.mentions if source.head < m.head < mention.head and m not in link.entity.mentions)
    kinds = (source.kind, "work", "law")
    others = [m for m in between if not m.plural and m.gender not in ("m", "f") and m.kind in kinds]
    if not source.main or not (owns or mention.main and acts) or others or mention.sentence - source.sentence > 2:
        yield "the pronoun may mean something else than the title's"


def _last(entity: Entity, mention: Mention) -> Mention:
    return max((m for m in entity.mentions if m.head < mention.head), key=lambda m: m.head)


def rivals(behind: Antecedents, link: Link) -> list[Mention]:
    """Other people before a "he" or "she" whom it could mean, by name or by a person's noun, in reading order."""
    own = {m.head for m in link.entity.mentions}
    return [
        m
        for m in behind.mentions
        if m.head < link.mention.head
        and m.head not in own
        and not m.plural
        and _may_be(behind, m, link.mention.gender)
        and not _does_it_to(behind, m, link.mention)
    ]


def _does_it_to(behind: Antecedents, other: Mention, mention: Mention) -> bool:
    """ "Comstock arrested him": whoever is the subject of the verb of which the pronoun is the object is another."""
    words = behind.parse.words
    token = words[other.head]
    while token.dep_ == "conj":
        token = token.head
    subject = token.dep_ in ("nsubj", "nsubjpass")
    return mention.role == "object" and subject and token.head == words[mention.head].head


def _may_be(behind: Antecedents, mention: Mention, gender: str) -> bool:
    if mention.form == "pronoun":
        return False
    if mention.form != "name":
        telling = _is_telling_of_another(behind, mention)
        person = mention.kind == "person" or not mention.kind and is_person_like(mention.noun)
        return person and mention.gender in ("", gender, "n") and not telling
    entity, token = behind.named[mention.head], behind.parse.words[mention.head]
    if len(mention.words) == 1 and token.dep_ == "pobj" and token.head.lower_ in ("in", "at", "near"):
        return False  # "a court in Eugene"
    if len(mention.words) == 2 and first_names().get(mention.words[0]) == gender:
        return True  # "Mary Lake", whatever a lake is
    person = entity.kind == "person" or behind.parse.words[mention.head].ent_type_ == "PERSON" or not entity.kind
    return person and entity.gender in ("", gender)


def _is_telling_of_another(behind: Antecedents, mention: Mention) -> bool:
    """Does the noun only say what somebody is ("X, a physicist and chemist", "as a young woman")?"""
    token = behind.parse.words[mention.head]
    while token.dep_ == "conj":
        token = token.head
    if token.dep_ in ("attr", "appos", "oprd", "compound", "nmod"):
        return True
    if any(c.dep_ == "appos" and c.pos_ == "PROPN" for c in token.rights):
        return True
    if token.dep_ == "nsubj" and token.head.lemma_ == "be":  # "The best-known defendant was Jack Johnson"
        return any(c.dep_ == "attr" and c.pos_ == "PROPN" for c in token.head.rights)
    return token.dep_ == "pobj" and token.head.lower_ == "as"


def is_plain(behind: Antecedents, link: Link) -> bool:
    """Is there nothing else in the text so far that the mention could mean, however far back its name stands?"""
    if link.mention.form == "definite":
        return link.how in ("noun", "topic")
    return link.mention.gender in ("m", "f") and not rivals(behind, link)


def is_clear(behind: Antecedents, link: Link) -> bool:
    """Has the step's own sentence, before it, the name or the same as its main subject, and nobody else?"""
    if link.mention.gender in ("m", "f") and any(m.sentence == link.mention.sentence for m in rivals(behind, link)):
        return False
    before = (m for m in link.entity.mentions if m.sentence == link.mention.sentence and m.head < link.mention.head)
    return any(m.form == "name" or m.main and m.form == "definite" for m in before)

"""Why a candidate should not be trusted, whatever its confidence: hard gates with an evident reason each.

Each gate was written after a reading in which strict readers refused what it now holds back. A candidate with doubts
is kept as a draft, but only SHARE of its confidence is left.
"""

import re
from collections.abc import Iterator, Mapping

from generation.language.antecedents import Antecedents, Support
from generation.language.entities import Entity, Link
from generation.language.mentions import Mention
from generation.language.phrasing import Draft

SHARE = 0.5
"""What is left of the confidence of a candidate with a doubt."""
WIDEST = 3
"""Sentences from one required sentence to the next; over more than that readers lose the thread."""
MIN_TELLING = 3
"""Content words without which a question about a person or thing may mean several things."""
_WEAK = ("governed", "where", "count", "that", "second")
_SHARED = frozenset("portrait photograph picture image statue photo painting biography death murder".split())
YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
MONTH = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
_CONTENT = ("NOUN", "PROPN", "NUM", "ADJ", "VERB")


def of(behind: Antecedents, draft: Draft, links: Mapping[Mention, Link], support: Support) -> tuple[str, ...]:
    """All reasons to doubt, in a fixed order; none for a candidate that may be offered."""
    found = [*_of_question(behind, draft)]
    for link in links.values():
        found += _of_link(behind, link)
    found += _of_support(behind, links, support)
    return tuple(dict.fromkeys(found))


# the question


def _of_question(behind: Antecedents, draft: Draft) -> Iterator[str]:
    words = draft.question.rstrip("?").split()
    if draft.target in _WEAK:
        yield f'questions for "{draft.target}" seldom come out well'
    if draft.loose:
        yield 'the question has a noun with "the" that nothing in it explains'
    if words[-1] in ("be", "not", "been", "to") or re.search(r"['’]s?$", words[-1]):
        yield "the question breaks off"
    if words[1:2] == ["to"]:
        yield "the question has no finite verb"
    if draft.target == "whose" and words[1].lower() in _SHARED:
        yield "the possessive can be read in two ways"
    if _content(behind, draft) < MIN_TELLING:
        yield "the question says too little"
    if draft.wanted and MONTH.search(draft.question) and not YEAR.search(draft.question):
        yield "a month without its year"


def _content(behind: Antecedents, draft: Draft) -> int:
    """Content words of the question, of its fact sentence, beside names and light verbs."""
    said = {w.strip(",.?'\"").lower() for w in draft.question.split()[1:]}
    fact = behind.parse.tokens(behind.parse.sentence_of(draft.verb))
    telling = (
        t
        for t in fact
        if {t.lower_, t.lemma_.lower()} & said and t.pos_ in _CONTENT and t.lemma_ not in ("be", "have", "do")
    )
    return len({t.lower_ for t in telling if not (draft.wanted and t.ent_type_ == "DATE")})


# the link


def _of_link(behind: Antecedents, link: Link) -> Iterator[str]:
    if link.mention.form == "definite":
        yield from _of_nominal(behind, link)
    elif link.mention.gender in ("m", "f"):
        yield from _of_person(behind, link)
    else:
        yield from _of_thing(behind, link)


def _of_nominal(behind: Antecedents, link: Link) -> Iterator[str]:
    if link.how not in ("noun", "synonym"):
        yield "the noun is not one that the text has called the name by"
    if not link.names:
        yield "the noun goes back to no name"
    same = [
        m
        for m in behind.mentions
        if m.head < link.mention.head and m not in link.entity.mentions and link.mention.noun in (m.noun, *m.nouns)
    ]
    if same:
        yield "something else is called by the same noun"


def _of_person(behind: Antecedents, link: Link) -> Iterator[str]:
    mention, entity = link.mention, link.entity
    others = rivals(behind, link)
    if any(m.sentence == mention.sentence for m in others):
        yield "another person earlier in the sentence"
    before = [m for m in others if m.sentence == mention.sentence - 1]
    last = _last(entity, mention)
    subject = any(m.main for m in entity.mentions if m.sentence == mention.sentence - 1)
    if before and not subject:
        yield "another person in the sentence before"
    if before and any(m.main for m in before):
        yield "another person is the subject of the sentence before"
    if before and subject and mention.role not in ("subject", "poss"):
        yield "two people before, and the pronoun is no subject"
    since = [m for m in others if m.head > last.head]
    if since and last.sentence < mention.sentence - 1:
        yield "another person was mentioned since"
    if entity.gender != mention.gender and others:
        yield "the sex of the name is not known and others are about"
    if entity.kind != "person" and not entity.gender:
        yield "the name is not known to be a person's"
    if _has_namesake(entity):
        yield "two people of one name"
    if _is_led_by_another(behind, link):
        yield "another name is the subject before the pronoun"
    if _is_fronted(entity, mention):
        yield "the name was no subject and a pronoun in its sentence is"


def _has_namesake(entity: Entity) -> bool:
    """Are two names of one sentence taken for one person's, "Malone was born to John W. Malone"?"""
    names = [n for n in entity.known if n.form == "name"]
    return any(
        a.sentence == b.sentence and len(a.words) < len(b.words) and a.head < b.head for a in names for b in names
    )


def _is_led_by_another(behind: Antecedents, link: Link) -> bool:
    own = {m.head for m in link.entity.mentions}
    tokens = behind.parse.tokens(link.mention.sentence)
    return any(
        t.i < link.mention.head and t.pos_ == "PROPN" and t.dep_ in ("nsubj", "nsubjpass") and t.i not in own
        for t in tokens
    )


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
    if not any(m.main for m in entity.mentions if m.sentence == mention.sentence - 1):
        yield '"it" for what is no subject of the sentence before'
    if not (mention.main or mention.role == "poss"):
        yield '"it" is no subject'
    if not entity.sure:
        yield "what kind of thing the name names is a guess"
    if link.how == "thing":
        yield '"it" for the only thing about'
    if any(n.plural for n in entity.names) and not mention.plural:
        yield '"it" for a plural name'


def _last(entity: Entity, mention: Mention) -> Mention:
    return max((m for m in entity.mentions if m.head < mention.head), key=lambda m: m.head)


def rivals(behind: Antecedents, link: Link) -> list[Mention]:
    """Other people before a "he" or "she" whom it could mean, by name or by a person's noun, in reading order."""
    own = {m.head for m in link.entity.mentions}
    return [
        m
        for m in behind.mentions
        if m.head < link.mention.head and m.head not in own and not m.plural and _may_be(behind, m, link.mention.gender)
    ]


def _may_be(behind: Antecedents, mention: Mention, gender: str) -> bool:
    if mention.form == "pronoun":
        return False
    if mention.form != "name":
        return mention.kind == "person" and mention.gender in ("", gender)
    entity = behind.named[mention.head]
    person = entity.kind == "person" or behind.parse.words[mention.head].ent_type_ == "PERSON" or not entity.kind
    return person and entity.gender in ("", gender)


# the sentences


def _of_support(behind: Antecedents, links: Mapping[Mention, Link], support: Support) -> Iterator[str]:
    known = {link.mention: link for link in behind.links}
    for step in support.chain:
        if step in known and step.form == "pronoun":
            yield from (f"on the way, {d}" for d in _of_link(behind, known[step]))
    for mention in support.names:
        if mention in links and mention.gender in ("m", "f"):
            yield from _of_required(behind, links[mention], support)
    gap = max(b - a for a, b in zip(support.indices, support.indices[1:], strict=False))
    if gap > WIDEST:
        yield "the required sentences stand far apart"


def _of_required(behind: Antecedents, link: Link, support: Support) -> Iterator[str]:
    """As a reader sees it who is given no more than the required sentences."""
    given = [s for s in support.indices if s < link.mention.sentence]
    others = [m for m in rivals(behind, link) if m.sentence in given]
    last = [m for m in others if m.sentence == given[-1]]
    subject = any(m.main for m in link.entity.mentions if m.sentence == given[-1])
    if last and not subject:
        yield "the required sentences alone leave another person possible"
    if len(given) > 1 and others:
        yield "the required sentences alone leave others possible"

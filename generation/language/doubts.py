"""Why a candidate should not be trusted, whatever its confidence: hard gates with an evident reason each.

Each gate was written after a reading in which strict readers refused what it now holds back. A candidate with doubts
is kept as a draft, but only SHARE of its confidence is left.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from generation.language import anchoring, identifying, topic
from generation.language.antecedents import Antecedents, Support
from generation.language.entities import Entity, Link
from generation.language.lexicon import GOVERNED, PLACE_VERBS, first_names, is_person_like
from generation.language.mentions import Mention, is_main_subject
from generation.language.phrasing import Draft

if TYPE_CHECKING:
    from spacy.tokens import Token

SHARE = 0.5
"""What is left of the confidence of a candidate with a doubt."""
SLIGHT = frozenset(
    (
        "two people before, and the pronoun is no subject",
        "another person was mentioned since",
        "the required sentences stand far apart",
    )
)
"""Doubts of which a question that names the antecedent may have one: readers signed most of those."""
HARMLESS = frozenset(
    (
        'the question has a phrase with "the" that nothing in it explains',
        "on the way, another person in the sentence before",
    )
)
"""Doubts that readers shared only where there was another one."""
SURE = 0.75
"""Margin of the links for which a slight doubt does not count."""
WIDEST = 8
"""Sentences from one required sentence to the next; over more than that readers lose the thread."""
FARTHEST = 12
"""The same where nothing else could be meant."""
MIN_TELLING = 2
"""Content words without which a question about a person or thing may mean several things."""
_TELLING_VERBS = frozenset("say claim state announce report believe think argue suggest declare".split())
"""Somebody says many things: what exactly is asked for must be told by more than the verb."""
_SHARED = frozenset("portrait photograph picture image statue photo painting biography death murder".split())
YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
MONTH = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
_MONTHS = frozenset("January February March April May June July August September October November December".split())
MIN_UNNAMED = 6
"""Content words that single somebody out where no name and no number does."""
MIN_DESCRIBED = 9
"""Words that single somebody out where the question also says what the person is."""
_CONTENT = ("NOUN", "PROPN", "NUM", "ADJ", "VERB")


def of(behind: Antecedents, draft: Draft, links: Mapping[Mention, Link], support: Support) -> tuple[str, ...]:
    """All reasons to doubt, in a fixed order; none for a candidate that may be offered."""
    if draft.anchor:
        plain = anchoring.bare(draft)
        loose = (*draft.loose, *identifying.hanging(said(behind, plain), plain.question))
        return anchoring.left(behind.parse.title, of(behind, plain, links, support), loose)
    found = [*_of_question(behind, draft), *identifying.of(behind, draft)]
    for link in links.values():
        found += _of_link(behind, link)
    found += _of_support(behind, links, support)
    reasons = tuple(dict.fromkeys(found))
    if len(reasons) == 1 and reasons[0] in HARMLESS:
        return ()
    slight = draft.wanted is None and len(reasons) == 1 and reasons[0] in SLIGHT
    sure = all(link.margin >= SURE for link in links.values())
    return () if slight and sure else reasons


# the question


def _of_question(behind: Antecedents, draft: Draft) -> Iterator[str]:
    words = draft.question.rstrip("?").split()
    if _is_weak(behind, draft):
        yield f'questions for "{draft.target}" seldom come out well'
    if draft.loose:
        yield 'the question has nouns with "the" that nothing in it explains'
    if words[-1] in ("be", "not", "been", "to") or re.search(r"['’]s?$", words[-1]):
        yield "the question breaks off"
    if words[1:2] == ["to"]:
        yield "the question has no finite verb"
    if draft.wanted and _is_common(behind, draft):
        yield "what the question says could be true of many"
    if draft.target == "whose" and words[1].lower() in _SHARED:
        yield "the possessive can be read in two ways"
    if content(behind, draft) < (MIN_TELLING if draft.wanted else 1):
        yield "the question says too little"
    if draft.wanted and MONTH.search(draft.question) and not YEAR.search(draft.question):
        yield "a month without its year"


def _is_common(behind: Antecedents, draft: Draft) -> bool:
    """Has a question for the antecedent no name, no number and few words besides ("Who was made an earl?")?"""
    fact = said(behind, draft)
    if draft.told is not None and len(draft.question.split()) >= MIN_DESCRIBED:
        return False
    telling = any(t.pos_ in ("PROPN", "NUM") or t.shape_ == "dddd" for t in fact)
    return content(behind, draft) < MIN_UNNAMED and not telling


def said(behind: Antecedents, draft: Draft) -> "list[Token]":
    """The words of the fact sentence that the question repeats."""
    written = draft.question.split()[1:]
    words = {w.strip(",.?'\"").removesuffix("'s").removesuffix("’s") for w in written} | set(written)
    fact = [*behind.parse.tokens(behind.parse.sentence_of(draft.verb)), *behind.parse.words[slice(*draft.described)]]
    return [t for t in fact if t.text in words and not (t.ent_type_ == "DATE" and t.text in _MONTHS)]


def _is_weak(behind: Antecedents, draft: Draft) -> bool:
    """Is this one of the questions that readers often refused, without what made the others good?"""
    verb = behind.parse.words[draft.verb]
    if draft.target == "governed":
        known = (verb.lemma_, draft.question.rstrip("?").split()[-1]) in GOVERNED
        return not known and content(behind, draft) < MIN_TELLING and verb.tag_ != "VBN"
    if draft.target == "where":
        return verb.lemma_ not in PLACE_VERBS and content(behind, draft) < MIN_TELLING
    if draft.target == "that":
        return verb.lemma_ in _TELLING_VERBS and content(behind, draft) < MIN_TELLING + 2
    return draft.target == "second" or draft.target == "count" and verb.lemma_ == "have"


def content(behind: Antecedents, draft: Draft) -> int:
    """Content words of the question, of its fact sentence, beside names and light verbs."""
    said = {w.strip(",.?'\"").lower() for w in draft.question.split()[1:]}
    fact = [*behind.parse.tokens(behind.parse.sentence_of(draft.verb)), *behind.parse.words[slice(*draft.described)]]
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
    if not link.names and link.how == "same noun" and _is_placed(behind, link):
        return
    if link.how not in ("noun", "synonym", "topic", "firm"):
        yield "the noun is not one that the text has called the name by"
    if _is_rather_the_topic(behind, link.entity):
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


def _is_rather_the_topic(behind: Antecedents, entity: Entity) -> bool:
    """Is the article about something else of the same kind, or of a kind that nobody knows?"""
    about = topic.find(behind.named.values(), behind.parse.title)
    if about is None or {m.head for m in about.known} & {m.head for m in entity.mentions}:
        return False
    return about.kind in ("", entity.kind) or not about.sure and about.kind != "person"


def _of_person(behind: Antecedents, link: Link) -> Iterator[str]:
    mention, entity = link.mention, link.entity
    others = rivals(behind, link)
    if any(m.sentence == mention.sentence for m in others):
        yield "another person earlier in the sentence"
    before = [m for m in others if m.sentence == mention.sentence - 1]
    last = _last(entity, mention)
    subject = _leads(behind, entity, mention.sentence - 1)
    if before and not subject:
        yield "another person in the sentence before"
    if before and any(m.main for m in before):
        yield "another person is the subject of the sentence before"
    if before and subject and mention.role not in ("subject", "poss"):
        yield "two people before, and the pronoun is no subject"
    if any(m.role == "object" and m.form == "name" for m in before):
        yield "two people met in the sentence before"
    since = [m for m in others if m.head > last.head]
    if since and last.sentence < mention.sentence - 1:
        yield "another person was mentioned since"
    if entity.gender != mention.gender and others:
        yield "the sex of the name is not known and others are about"
    if entity.kind != "person" and not entity.gender:
        yield "the name is not known to be a person's"
    if is_about_another(behind, entity, mention.gender) and not subject:
        yield "the text is about another person of that sex"
    if _has_stranger(behind, mention):
        yield "a name before the pronoun that nothing is known of"
    if _has_namesake(entity):
        yield "two people of one name"
    if _is_led_by_another(behind, link):
        yield "another name is the subject before the pronoun"
    if _is_fronted(entity, mention):
        yield "the name was no subject and a pronoun in its sentence is"


def _leads(behind: Antecedents, entity: Entity, sentence: int) -> bool:
    """Is this the sentence's main subject, or its name ("Its first commissioner, John Kramer, was")?"""
    words = behind.parse.words
    here = [m for m in entity.mentions if m.sentence == sentence]
    beside = (words[m.head].head for m in here if words[m.head].dep_ == "appos")
    return any(m.main for m in here) or any(is_main_subject(t) for t in beside)


def is_about_another(behind: Antecedents, entity: Entity, gender: str) -> bool:
    """Is the article about somebody else whom the pronoun could mean as well?"""
    title = behind.parse.title.partition(",")[0]
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
    if token.text in _MONTHS or elsewhere or token.text.endswith("day"):
        return False
    return token.dep_ in ("pobj", "nsubj", "nsubjpass", "dobj", "appos", "conj")


def _has_namesake(entity: Entity) -> bool:
    """Are two names of one sentence taken for one person's, "Malone was born to John W. Malone"?"""
    names = [n for n in entity.known if n.form == "name"]
    return any(
        a.sentence == b.sentence and len(a.words) < len(b.words) and a.head < b.head for a in names for b in names
    )


def _is_led_by_another(behind: Antecedents, link: Link) -> bool:
    own = {m.head for m in link.entity.mentions}
    tokens = behind.parse.tokens(link.mention.sentence)
    before = (t for t in tokens if t.i < link.mention.head and t.pos_ == "PROPN" and t.dep_ in ("nsubj", "nsubjpass"))
    verb = behind.parse.words[link.mention.head].head
    other = (t for t in before if link.mention.role != "object" or t.head != verb)  # "Johnson courted him"
    return any(t.i not in own and not _is_thing(behind, t.i) for t in other)


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
    if link.how != "law" and not any(m.main for m in entity.mentions if m.sentence == mention.sentence - 1):
        yield '"it" for what is no subject of the sentence before'
    about = topic.find([entity], behind.parse.title)
    if not (mention.main or mention.role == "poss" or mention.role == "object" and about is not None):
        yield '"it" is no subject'
    if not entity.sure and about is None:
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


# the sentences


def _of_support(behind: Antecedents, links: Mapping[Mention, Link], support: Support) -> Iterator[str]:
    known = {link.mention: link for link in behind.links}
    for step in support.chain:
        if step in known and step.form == "pronoun" and not _is_clear(behind, known[step]):
            yield from (f"on the way, {d}" for d in _of_link(behind, known[step]))
    for mention in support.names:
        if mention in links and mention.gender in ("m", "f"):
            yield from _of_required(behind, links[mention], support)
    if support.gap > (FARTHEST if all(is_plain(behind, link) for link in links.values()) else WIDEST):
        yield "the required sentences stand far apart"


def _is_clear(behind: Antecedents, link: Link) -> bool:
    """Has the step's own sentence, before it, the name or the same as its main subject, and nobody else?"""
    if link.mention.gender in ("m", "f") and any(m.sentence == link.mention.sentence for m in rivals(behind, link)):
        return False
    before = (m for m in link.entity.mentions if m.sentence == link.mention.sentence and m.head < link.mention.head)
    return any(m.form == "name" or m.main and m.form == "definite" for m in before)


def is_plain(behind: Antecedents, link: Link) -> bool:
    """Is there nothing else in the text so far that the mention could mean, however far back its name stands?"""
    if link.mention.form == "definite":
        return link.how in ("noun", "topic")
    return link.mention.gender in ("m", "f") and not rivals(behind, link)


def _of_required(behind: Antecedents, link: Link, support: Support) -> Iterator[str]:
    """As a reader sees it who is given no more than the required sentences."""
    given = [s for s in support.indices if s < link.mention.sentence]
    others = [m for m in rivals(behind, link) if m.sentence in given]
    last = [m for m in others if m.sentence == given[-1]]
    subject = _leads(behind, link.entity, given[-1])
    if last and not subject:
        yield "the required sentences alone leave another person possible"
    if len(given) > 1 and others:
        yield "the required sentences alone leave others possible"

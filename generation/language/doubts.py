"""Why a candidate should not be trusted: gates with an evident reason each, told in words where a draft is shown.

Each gate was written after a reading in which strict readers refused what it now holds back. What a doubt takes from
the confidence is learnt (language/confidence.py): some are nearly always right, others hardly matter.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from generation.language import anchoring, identifying, link_doubts
from generation.language.antecedents import Antecedents, Support
from generation.language.entities import Link
from generation.language.lexicon import GOVERNED, MONTHS, PLACE_VERBS
from generation.language.mentions import Mention
from generation.language.phrasing import Draft

if TYPE_CHECKING:
    from spacy.tokens import Token

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
_SAYING = frozenset("hold say argue claim think believe find declare state announce reason conclude propose".split())
_SHARED = frozenset("portrait photograph picture image statue photo painting biography death murder".split())
YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
MONTH = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
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
        found += link_doubts.of_link(behind, link)
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
    if _lacks_what_was_said(behind, draft):
        yield "the question breaks off"
    if words[1:2] == ["to"]:
        yield "the question has no finite verb"
    if draft.wanted and _is_common(behind, draft):
        yield "what the question says could be true of many"
    if draft.target == "whose" and words[1].lower() in _SHARED:
        yield "the possessive can be read in two ways"
    if content(behind, draft) < (MIN_TELLING if draft.wanted else 1):
        yield "the question says too little"
    if MONTH.search(draft.question) and not YEAR.search(draft.question):
        yield "a month without its year"


def _lacks_what_was_said(behind: Antecedents, draft: Draft) -> bool:
    """ "Congress, he held in 1947, may decide": when did he hold what?"""
    verb = behind.parse.words[draft.verb]
    if verb.lemma_ not in _SAYING or draft.target in ("that", "object", "governed", "intend", "control"):
        return False
    return not any(c.dep_ in ("dobj", "ccomp", "xcomp", "attr", "oprd", "acomp", "nsubjpass") for c in verb.children)


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
    return [t for t in fact if t.text in words and not (t.ent_type_ == "DATE" and t.text in MONTHS)]


def _is_weak(behind: Antecedents, draft: Draft) -> bool:
    """Is this one of the questions that readers often refused, without what made the others good?"""
    verb = behind.parse.words[draft.verb]
    if draft.target == "governed":
        known = (verb.lemma_, draft.question.rstrip("?").split()[-1]) in GOVERNED
        return not known and content(behind, draft) < MIN_TELLING and verb.tag_ != "VBN"
    if draft.target == "where":
        seated = any(w in draft.question for w in ("headquarters", "seat", "capital", "main office"))
        return verb.lemma_ not in PLACE_VERBS and content(behind, draft) < MIN_TELLING and not seated
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


# the sentences


def _of_support(behind: Antecedents, links: Mapping[Mention, Link], support: Support) -> Iterator[str]:
    known = {link.mention: link for link in behind.links}
    for step in support.chain:
        if step in known and step.form == "pronoun" and not link_doubts.is_clear(behind, known[step]):
            yield from (f"on the way, {d}" for d in link_doubts.of_link(behind, known[step]))
    for mention in support.names:
        if mention in links and mention.gender in ("m", "f"):
            yield from _of_required(behind, links[mention], support)
    if support.gap > (FARTHEST if all(link_doubts.is_plain(behind, link) for link in links.values()) else WIDEST):
        yield "the required sentences stand far apart"


def _of_required(behind: Antecedents, link: Link, support: Support) -> Iterator[str]:
    """As a reader sees it who is given no more than the required sentences."""
    given = [s for s in support.indices if s < link.mention.sentence]
    others = [m for m in link_doubts.rivals(behind, link) if m.sentence in given]
    last = [m for m in others if m.sentence == given[-1]]
    subject = link_doubts.leads(behind, link.entity, given[-1])
    if last and not subject:
        yield "the required sentences alone leave another person possible"
    if len(given) > 1 and others:
        yield "the required sentences alone leave others possible"

"""Questions that the article's title makes plain: "In Miranda v. Arizona, what did ...?".

A question about a court, a bill or a witness often means one thing only within its matter. Where the title is that of a
case, a law, a body, a work or an event, the question may name it first.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from generation.language import topic
from generation.language.antecedents import Antecedents
from generation.language.entities import Link
from generation.language.lexicon import noun_kind
from generation.language.phrasing import Draft

LIFTED = frozenset(
    (
        "what the question says could be true of many",
        "the question says too little",
        "a body that does many such things",
        "a contest without its year",
        "the possessive can be read in two ways",
        "a person by a surname alone",
        "only the title says which one is meant",
        'questions for "that" seldom come out well',
        "the question leaves open in which matter",
    )
)
"""Doubts that naming the matter takes away."""
OPEN = frozenset(('a noun with "the" in the question that only the passage explains',
                  'the question has nouns with "the" that nothing in it explains',
                  'the question has a phrase with "the" that nothing in it explains'))  # fmt: skip
"""Doubts that it takes away where the nouns are those that belong to such a matter."""
_OF_CASES = frozenset(
    "court case trial jury judge decision opinion ruling verdict conviction majority law statute appeal defense "
    "prosecution complaint suit lawsuit dissent hearing sentence petition injunction judgment plaintiff defendant "
    "justice damages crime".split()
)
_OF_LAWS = frozenset(
    "bill measure act law statute legislation house senate veto vote conference campaign amendment president "
    "committee reform repeal provision text debate commission program ban policy court ruling fine "
    "penalty tax fee".split()
)
_SMALL = ("with", "from", "into", "over", "upon", "against")
_HISTORIC = ("law", "org")
_LAWS = frozenset("act law amendment treaty resolution code bill statute constitution order".split())
_EVENTS = frozenset(
    "earthquake flood floods hurricane cyclone typhoon storm wildfire wildfires election elections war battle games "
    "championship championships cup olympics attack explosion bombing shooting protests strike riots riot crash "
    "disaster".split()
)


def wording(title: str) -> str:
    """The words that name an article's matter before a question, "" where a title gives none."""
    bare = re.sub(r"\s*\([^)]*\)\s*$", "", title).strip().removeprefix("The ")
    words = bare.split()
    if topic.is_case(bare):
        return f"In {bare},"
    if len(words) < 2 or not all(w[:1].isupper() or w[:1].isdigit() or len(w) < 4 or w in _SMALL for w in words):
        kind = "" if len(words) < 2 or words[-1].lower() not in _EVENTS else "event"
        return f"In connection with the {bare}," if kind and words[0][:1].isdigit() else ""
    kind = _kind(words)
    if kind in _HISTORIC:
        return f"In the history of the {bare},"
    return f"In connection with the {bare}," if kind == "event" and words[0][:1].isdigit() else ""


def _kind(words: list[str]) -> str:
    """ "law" for the titles of laws, "org" for those of bodies, "event" for years with what happened, else ""."""
    lower = [w.lower() for w in words]
    head = lower[: lower.index("of")] if "of" in lower[1:] else lower
    if head[-1] in _LAWS or lower[-1] in _LAWS:
        return "law"
    if lower[-1] in _EVENTS:
        return "event"
    return "org" if noun_kind(head[-1]) == "org" else ""


def anchored(behind: Antecedents, draft: Draft) -> Draft | None:
    """The draft with the matter named first; None where it names it already, or where the title is the answer."""
    opening = wording(behind.parse.title)
    if not opening or draft.anchor or is_told(behind, draft) or topic.is_case(draft.question):
        return None  # what is told of another case did not happen in this one
    persons = any(_may_be_elsewhere(link) for link in behind.links if link.mention in draft.used)
    if persons and topic.is_case(behind.parse.title):
        return None
    first, _, rest = draft.question.partition(" ")
    return replace(draft, question=f"{opening} {first[:1].lower()}{first[1:]} {rest}", anchor=opening)


def _may_be_elsewhere(link: Link) -> bool:
    """May the person have done it, or spoken of the case, outside of it? Its judges did not."""
    person = link.mention.gender in ("m", "f")
    return person and not any({"justice", "judge", "justices"} & set(n.words) for n in link.names)


def bare(draft: Draft) -> Draft:
    """The draft as it was before its matter was named."""
    return replace(draft, question=_opened(draft.question.removeprefix(draft.anchor)), anchor="")


def without(title: str, question: str) -> str:
    """A question about an article of that title as it is when the matter is not named first."""
    opening = wording(title)
    return _opened(question.removeprefix(opening)) if opening and question.startswith(opening) else question


def _opened(question: str) -> str:
    rest = question.lstrip()
    return rest[:1].upper() + rest[1:]


def is_told(behind: Antecedents, draft: Draft) -> bool:
    """Does the question, or what it asks back for, name the topic?"""
    keys = {topic.key(n) for n in topic.names(behind.parse.title)}
    said = topic.key(draft.question)
    named = (n for link in behind.links if link.mention in draft.used for n in link.names)
    return any(key in said for key in keys) or any(topic.key("".join(n.words)) in keys for n in named)


def left(title: str, reasons: Iterable[str], loose: Iterable[str]) -> tuple[str, ...]:
    """The doubts that remain once the matter is named; `loose` are the question's nouns that nothing explains."""
    own = _OF_CASES if topic.is_case(title) else _OF_LAWS
    explained = all(noun in own for noun in loose)
    return tuple(r for r in reasons if r not in LIFTED and not (explained and r in OPEN))

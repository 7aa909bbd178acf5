"""What a passage is about: the title of its article, and where the passage itself names it.

A text seldom says of its own topic what it is ("The Northman made $5 million. The film ..."); the title tells that such
a name is one name, in one piece, and that "the film" is rather this than anything else.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from generation.language.lexicon import TITLES, first_names, noun_kind

if TYPE_CHECKING:
    from generation.language.entities import Entity
    from generation.language.nlp import Parse

_BRACKETS = re.compile(r"\s*\(([^)]*)\)\s*$")
_VERSUS = re.compile(r"\bvs?\b\.? (?=[A-Z])")
_LEADING = frozenset("hurricane typhoon cyclone tropical storm uss hms ss lake mount super".split())
_LAWS = frozenset("act law amendment treaty resolution code statute constitution".split())
_PARTICLES = ("de", "da", "di", "du", "la", "le", "van", "von", "der", "den", "bin", "al")
_AGENCIES = frozenset("commission administration agency bureau board authority service".split())
_AGES = ("young", "old", "elder", "younger", "late")
_SHORTEST = 4
"""Letters of a title's part that may stand for the whole."""


@lru_cache(maxsize=256)
def names(title: str) -> tuple[str, ...]:
    """How a text may write the title: without its brackets, and by what stands before or after a colon."""
    bare = _BRACKETS.sub("", title).strip()
    parts = [bare, *(p.strip() for p in bare.split(": "))] if ": " in bare else [bare]
    return tuple(dict.fromkeys(p for p in (*parts, *short_forms(title)) if len(p) >= _SHORTEST or p.isupper()))


@lru_cache(maxsize=256)
def short_forms(title: str) -> tuple[str, ...]:
    """What a text calls its topic for short: "SVB" of "Silicon Valley Bank", "Hilary" of "Hurricane Hilary"."""
    words = _BRACKETS.sub("", title).strip().split()
    capital = [w for w in words if w[:1].isupper()]
    found = ["".join(w[0] for w in capital)] if len(capital) >= 3 and words[-1][:1].isupper() else []
    if 2 <= len(words) <= 3 and all(w.lower() in _LEADING for w in words[:-1]):
        found.append(words[-1])
    return tuple(found)


@lru_cache(maxsize=256)
def noun(title: str) -> str:
    """What the brackets of "Takeoff (rapper)" call the topic, "" if nothing that is known."""
    found = _BRACKETS.search(title)
    words = found[1].lower().split() if found else []
    return next((w for w in reversed(words) if noun_kind(w)), "")


@lru_cache(maxsize=256)
def nominals(title: str) -> frozenset[str]:
    """What a text calls a law or a body after which the article is named ("the act", "the agency"); else nothing."""
    words = _BRACKETS.sub("", title).lower().split()
    head = words[: words.index("of")] if "of" in words[1:] else words
    if len(words) < 2 or not head:
        return frozenset()
    last = head[-1]
    if last in _LAWS:
        return frozenset({last, "law", "statute", "legislation"}) if last in ("act", "law") else frozenset({last})
    return frozenset({last, "agency"}) if last in _AGENCIES else frozenset()


@lru_cache(maxsize=256)
def kind(title: str) -> str:
    """The kind of thing that the title names ("law", "org", "work", ...; see `noun_kind`), "" where it tells none."""
    if is_case(title):
        return "event"
    known = words(title)
    head = known[: known.index("of")] if "of" in known[1:] else known
    nouns = [n for n in (noun(title), head[-1], head[-1].removesuffix("s")) if n] if head else []
    told = next((found for n in nouns if (found := noun_kind(n))), "")
    return told or ("person" if gender(title) else "")


def is_case(title: str) -> bool:
    """ "Miranda v. Arizona", "Donoghue v Stevenson"."""
    return bool(_VERSUS.search(title))


def words(title: str) -> list[str]:
    """The title's words in lower case, without its brackets."""
    return _BRACKETS.sub("", title).lower().split()


@lru_cache(maxsize=256)
def gender(title: str) -> str:
    """ "m" or "f" where the title is a person's full name whose first name tells, else ""."""
    told = words(title)
    plain = 2 <= len(told) <= 4 and noun_kind(told[-1]) in ("", "person") and not {"of", "the", "and", "in"} & set(told)
    return first_names().get(told[0], "") if plain else ""


def full_name(title: str, words: tuple[str, ...]) -> str:
    """The name in the title of which `words` are a short form ("Swift" of "Taylor Swift", "SVB"), else "".

    One half of a double surname is enough.
    """
    bare = _BRACKETS.sub("", title).strip()
    if " ".join(words) in (s.lower() for s in short_forms(title)):
        return bare
    known = tuple(bare.lower().split())
    if not known:
        return ""
    opens = len(words) == 1 and known[:1] == words and words[0] in first_names()  # "Derval" of "Derval O'Rourke"
    ends = known[-len(words) :] == words or len(words) == 1 and words[0] in known[-1].split("-")
    return bare if is_person_like(title) and len(known) > len(words) and (ends or opens) else ""


def whole_body(title: str, words: tuple[str, ...]) -> str:
    """The title of a body or law of which `words` are the end ("Secret Service"), with "the", else ""."""
    bare = _BRACKETS.sub("", title).strip()
    known = tuple(bare.lower().split())
    ends = 1 < len(words) < len(known) and known[-len(words) :] == words
    apart = ends and known[-len(words) - 1] in ("of", "for", "in", "and", "on", "the")  # "... Bank of New York"
    return f"the {bare}" if ends and not apart and kind(title) in ("org", "law") and known[0] != "the" else ""


@lru_cache(maxsize=256)
def is_person_like(title: str) -> bool:
    """May the title be a person's full name: so called in brackets, a known first name, two or three plain words?"""
    bare = _BRACKETS.sub("", title).strip()
    words = [w for w in bare.split() if w not in _PARTICLES]
    plain = 2 <= len(words) <= 3 and all(w.isalpha() and w.istitle() and not noun_kind(w.lower()) for w in words)
    return bool(gender(title)) or plain or noun_kind(noun(title)) == "person"


def key(text: str) -> str:
    """Letters and digits alone, for comparing."""
    return re.sub(r"\W", "", text.lower()).removeprefix("the")


def is_person(entity: "Entity", title: str) -> bool:
    """Is the article about this person, by a full name or a surname that no other first name stands before?"""
    if not is_person_like(title) or not (gender(title) or entity.kind == "person" or entity.gender in ("m", "f")):
        return False
    told = [
        n.words for n in entity.known if key("".join(n.words)) in map(key, names(title)) or full_name(title, n.words)
    ]
    return bool(told) and not any(is_other(n.words, title) for n in entity.known)


def is_other(name: tuple[str, ...], title: str) -> bool:
    """Is this the full name of somebody of the same surname ("James Harlan" beside "John Marshall Harlan")?"""
    own = words(title)
    if len(name) < 2 or not own or name[-1] not in (own[-1], *own[-1].split("-")):
        return False
    first = [w for w in name[:-1] if w not in TITLES and w not in _AGES and not noun_kind(w)]
    return bool(first) and not any(w in own or _is_initial(w, own) for w in first)


def _is_initial(word: str, names: list[str]) -> bool:
    letters = word.replace(".", "")
    return len(letters) == 1 and any(n.startswith(letters) for n in names[:-1])


def find(entities: "Iterable[Entity]", title: str) -> "Entity | None":
    """The entity that has the title, or a part of it that can stand for it, as a name."""
    keys = {key(n) for n in names(title)}
    return next((e for e in entities if any(key("".join(n.words)) in keys for n in e.known)), None) if keys else None


def is_part(entity: "Entity", title: str) -> bool:
    """Is one of the entity's names a part of the title, or the title a part of it ("the Act" of "... Act of 1938")?"""
    whole = key(_BRACKETS.sub("", title))
    known = (key("".join(n.words)) for n in entity.known)
    return any(len(name) >= _SHORTEST and (name in whole or whole in name) for name in known)


@lru_cache(maxsize=64)
def spans(parse: "Parse") -> dict[int, tuple[int, int]]:
    """Where the passage writes its title: each token in it to the range (start, end), of names of several words."""
    known = reversed(names(parse.title))  # the whole title last, so that it wins over its parts
    return {i: span for name in known for span in _spans(parse, name.split()) for i in range(*span)}


def _spans(parse: "Parse", words: list[str]) -> Iterator[tuple[int, int]]:
    if len(words) < 2:
        return
    wanted, longest = " ".join(words), 3 * len(words)
    for token in parse.words:
        if token.text[:1] != wanted[:1]:
            continue
        last = min(token.i + longest, parse.bounds[parse.sentence_of(token.i)][1])
        for end in range(token.i + 1, last + 1):
            if parse.text(token.i, end) == wanted:
                yield token.i, end
                break

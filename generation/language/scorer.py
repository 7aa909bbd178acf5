"""Which of several people does "he" or "she" mean? A linear model over the parse, trained by benchmarks/gap.py.

The weights in `pronoun_weights.json` were learnt from GAP's validation and development split (Webster et al. 2018),
each passage with the title of its page and without.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from generation.language import topic
from generation.language.mentions import Mention
from generation.language.nlp import Parse

if TYPE_CHECKING:
    from spacy.tokens import Token

    from generation.language.entities import Entity


@cache
def weights() -> dict[str, float]:
    """The learnt weight of each feature."""
    return json.loads(Path(__file__).with_name("pronoun_weights.json").read_text(encoding="utf-8"))["weights"]


def shares(parse: Parse, mention: Mention, candidates: "Sequence[Entity]", place: Mapping[int, int]) -> list[float]:
    """How the belief divides among `candidates`: numbers that sum to 1."""
    known = weights()
    rows = features(parse, mention, candidates, place)
    scores = [sum(known.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def features(
    parse: Parse, mention: Mention, candidates: "Sequence[Entity]", place: Mapping[int, int]
) -> list[dict[str, float]]:
    """One row of named numbers a candidate."""
    recency = sorted(range(len(candidates)), key=lambda i: abs(mention.head - _nearest(candidates[i]).head))
    most = max(len(c.mentions) for c in candidates)
    rows = []
    for index, entity in enumerate(candidates):
        row = _row(parse, mention, entity, place)
        row["most recent"] = float(recency[0] == index)
        row["recency rank"] = float(min(recency.index(index), 4))
        row["most mentions"] = float(len(entity.mentions) == most)
        rows.append(row)
    return rows


def _row(parse: Parse, mention: Mention, entity: "Entity", place: Mapping[int, int]) -> dict[str, float]:
    if not entity.mentions:
        return _later_row(parse, mention, entity, place)
    last = entity.last
    distance = place[mention.sentence] - place[last.sentence]
    here = [m for m in entity.mentions if m.sentence == last.sentence]
    subject = any(m.role == "subject" for m in here)
    row = {
        f"distance {min(distance, 3)}": 1.0,
        f"role {last.role}": 1.0,
        f"roles {last.role} {mention.role}": 1.0,
        f"near {last.role} {min(distance, 1)}": 1.0,
        "subject in its sentence": float(subject),
        "main subject": float(any(m.main for m in here)),
        f"main subject at {min(distance, 2)}": float(any(m.main for m in here)),
        "coordinated": float(last.coordinated),
        "log mentions": math.log(len(entity.mentions)),
        "named": float(bool(entity.names)),
        "gender known": float(bool(entity.gender)),
        "person known": float(entity.kind == "person"),
        "kind otherwise": float(entity.kind not in ("person", "")),
        "last is pronoun": float(last.form == "pronoun"),
        "opens the passage": float(place[entity.mentions[0].sentence] == 0 and entity.mentions[0].main),
        "log tokens": math.log(1 + mention.head - last.head),
    }
    row |= _about_topic(parse, mention, entity, distance)
    row |= _about_names(parse, entity) | {
        f"far roles {min(distance, 2)} {last.role} {mention.role}": 1.0,
        "object of by": float(parse.words[last.head].head.lower_ == "by"),
        "last is the same pronoun": float(
            last.form == "pronoun" and parse.words[last.head].lower_ == parse.words[mention.head].lower_
        ),
    }
    if distance == 0:
        row |= _same_sentence(parse.words[mention.head], parse.words[last.head])
    return row


def _about_topic(parse: Parse, mention: Mention, entity: "Entity", distance: int) -> dict[str, float]:
    """What being whom the article is about adds; nothing where the passage has no title."""
    if not topic.is_person(entity, parse.title):
        return {}
    return {"is the topic": 1.0, f"topic {mention.role}": 1.0, f"topic at {min(distance, 2)}": 1.0}


def _about_names(parse: Parse, entity: "Entity") -> dict[str, float]:
    """What all names of an entity tell: how many, how full, whether they stand in brackets or in a place's position."""
    names = entity.known
    doc = parse.words
    return {
        "log known": math.log(1 + len(names)),
        "full name": float(any(len(n.words) > 1 for n in names)),
        "in brackets": float(bool(names) and all(n.start and doc[n.start - 1].text == "(" for n in names)),
        "often subject": sum(n.role == "subject" for n in names) / max(1, len(names)),
        "often in a place": sum(doc[n.head].head.lower_ in ("in", "at", "from", "near") for n in names)
        / max(1, len(names)),
        "apposed name": float(bool(names) and all(doc[n.head].dep_ == "appos" for n in names)),
    }


def _nearest(entity: "Entity") -> Mention:
    """The latest mention so far, or the first name to come."""
    return entity.mentions[-1] if entity.mentions else entity.known[0]


def _later_row(parse: Parse, mention: Mention, entity: "Entity", place: Mapping[int, int]) -> dict[str, float]:
    """A name that comes only after the pronoun ("When he was minister, Kallergis ...")."""
    first = entity.known[0]
    distance = place[first.sentence] - place[mention.sentence]
    pronoun, name = parse.words[mention.head], parse.words[first.head]
    below = name.dep_ in ("nsubj", "nsubjpass") and name.head.is_ancestor(pronoun) and distance == 0
    return (
        {
            f"later {min(distance, 2)}": 1.0,
            "later main subject": float(first.main),
            f"later {first.role} {mention.role}": 1.0,
            "later commands": float(below),
            "later, pronoun opens": float(place[mention.sentence] == 0),
            "later, pronoun is subject": float(mention.main),
            "later log tokens": math.log(1 + first.head - mention.head),
            "later names": math.log(len(entity.known)),
            "gender known": float(bool(entity.gender)),
            "person known": float(entity.kind == "person"),
            "kind otherwise": float(entity.kind not in ("person", "")),
        }
        | _about_names(parse, entity)
        | _about_topic(parse, mention, entity, distance)
    )


def _same_sentence(pronoun: "Token", last: "Token") -> dict[str, float]:
    verb = last.head if last.dep_ in ("nsubj", "nsubjpass") else None
    commands = verb is not None and verb.is_ancestor(pronoun)
    return {
        "commands": float(commands),
        "commands possessive": float(commands and pronoun.dep_ == "poss"),
        "in a clause below": float(verb is not None and not commands and pronoun.head.is_ancestor(last)),
        "apposed": float(last.dep_ == "appos"),
        "possesses": float(last.dep_ == "poss" and pronoun.is_ancestor(last)),
    }


def is_blocked(parse: Parse, mention: Mention, last: Mention) -> bool:
    """Binding: two arguments of one verb are two people ("Ann saw her"); so is what holds the pronoun ("her son")."""
    pronoun, other = parse.words[mention.head], parse.words[last.head]
    if last.start <= mention.head < last.end or other.is_ancestor(pronoun) and other.pos_ != "VERB":
        return mention.role == "poss" and last.form != "name" or last.start <= mention.head < last.end
    if mention.role == "poss" or mention.sentence != last.sentence:
        return False
    verb = pronoun.head if pronoun.head.pos_ in ("VERB", "AUX") else pronoun.head.head
    return other.head.i == verb.i and mention.role != last.role and last.role == "subject"

"""How sure is a candidate? Small decision trees over what the rules know of it, learnt from candidates that were read.

`confidence.json` holds the trees and says how they were made; `benchmarks/rules_fit.py` makes them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from generation.language import anchoring, doubts, link_doubts, topic
from generation.language.antecedents import Antecedents, Support
from generation.language.entities import Entity, Link
from generation.language.mentions import Mention
from generation.language.phrasing import PRIORS, Draft

Traits = dict[str, float]
_WIDE = 2
"""Sentences between two required ones from which on a link is far."""


@cache
def _model() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("confidence.json").read_text(encoding="utf-8"))


def of(traits: Mapping[str, float]) -> float:
    """The share of candidates with such traits that a strict reader would sign, 0 to 1.

    Source: gradient boosting (Friedman, 2001), scaled on articles that the trees had not seen (Platt, 1999).
    """
    model = _model()
    values = [traits.get(name, 0.0) for name in model["traits"]]
    odds = model["start"] + model["slope"] * sum(_leaf(tree, values) for tree in model["trees"])
    return 1 / (1 + math.exp(-odds))


def _leaf(tree: Any, values: Sequence[float]) -> float:
    """What a tree, [trait's place, bound, tree up to the bound, tree above it] or a number, adds to the log odds."""
    while isinstance(tree, list):
        place, bound, below, above = tree
        tree = below if values[place] <= bound else above
    return float(tree)


def with_doubts(plain: Mapping[str, float], reasons: Sequence[str]) -> Traits:
    """The traits of a candidate with the doubts about it (language/doubts.py) among them."""
    known = {f"doubt: {reason}": 1.0 for reason in reasons}
    asked_back = not plain.get("named")
    return {
        **plain,
        **known,
        "doubts: any": float(bool(reasons)),
        "doubts: several": float(len(reasons) > 1),
        "doubts: many": float(len(reasons) > 2),
        "doubts: asked back": float(bool(reasons) and asked_back),
    }


def traits(behind: Antecedents, draft: Draft, links: Mapping[Mention, Link], support: Support) -> Traits:
    """What speaks for and against a candidate, as named numbers."""
    if draft.anchor:
        return {**traits(behind, anchoring.bare(draft), links, support), **_anchored(draft)}
    gap, said = support.gap, doubts.content(behind, draft)
    weakest = min(links.values(), key=lambda link: link.margin)
    entity, name = weakest.entity, support.names[weakest.mention]
    return {
        "always": 1.0,
        f"target {draft.target}": 1.0,
        "margin": _logit(min(support.margin, weakest.margin)),
        "doubtful link": float(min(support.margin, weakest.margin) < 0.5),
        "far": float(gap > _WIDE),
        "kind guessed": float(bool(entity.kind) and not entity.sure),
        "one word": float(name.form == "name" and len(name.words) == 1),
        "name is subject": float(name.main),
        "rivals": math.log1p(_rivals(behind, entity, weakest.mention)),
        "left out": float(draft.lost),
        "loose nouns": float(len(draft.loose)),
        "loose, asked back": float(bool(draft.loose) and draft.wanted is not None),
        "says little": float(said < 3),
        "says little, asked back": float(said < 3 and draft.wanted is not None),
        "very far": float(gap > 3 and not all(link_doubts.is_plain(behind, link) for link in links.values())),
        "doubt": math.log(draft.weight / PRIORS[draft.target]),
        **_specific(behind, draft),
        "is the topic": float(_is_topic(behind, entity)),
        "another topic": float(_is_of_another(behind, entity, weakest.mention)),
        "other subject before": float(_has_other_subject(behind, weakest.mention)),
        f"how {weakest.how}": 1.0,
        f"mention {weakest.mention.form} {weakest.mention.role}": 1.0,
        "three sentences": float(len(support.indices) > 2),
        "next sentence": float(gap == 1),
        "answer goes on": float(_goes_on(behind, draft)),
        "long sentence": len(behind.parse.tokens(behind.parse.sentence_of(draft.verb))) / 20,
    }


def _anchored(draft: Draft) -> Traits:
    """What changes once the article's matter is named first: the question no longer says too little."""
    gone = ("loose nouns", "loose, asked back", "says little", "says little, asked back")
    told = {"back: few": 0.0, "back: bare": 0.0, "back: name": 1.0} if draft.wanted is not None else {}
    asked = "anchored, asked back" if draft.wanted is not None else "anchored"
    return {**dict.fromkeys(gone, 0.0), **told, asked: 1.0}


def _specific(behind: Antecedents, draft: Draft) -> Traits:
    """How much a question that asks for the antecedent itself says, so that it can mean but one."""
    if draft.wanted is None:
        return {"named": 1.0}
    fact = doubts.said(behind, draft)
    names = {t.head.i if t.dep_ == "compound" else t.i for t in fact if t.pos_ == "PROPN" and t.ent_type_ != "DATE"}
    content = sum(t.pos_ in ("NOUN", "VERB", "ADJ", "NUM", "PROPN") for t in fact)
    return {
        "back: name": float(bool(names)),
        "back: names": float(min(len(names), 3)),
        "back: year": float(any(t.shape_ == "dddd" for t in fact)),
        "back: number": float(any(t.pos_ == "NUM" and t.shape_ != "dddd" for t in fact)),
        "back: content": min(content, 10) / 5,
        "back: few": float(content < 4),
        "back: bare": float(not names and not any(t.pos_ == "NUM" for t in fact)),
        "back: described": float(draft.told is not None),
        "back: which": float(draft.question.startswith("Which")),
    }


def _has_other_subject(behind: Antecedents, mention: Mention) -> bool:
    """Does the mention's sentence have an earlier subject that may be a person's or thing's ("the skeptic ..., he")?"""
    tokens = behind.parse.tokens(mention.sentence)
    nouns = (t for t in tokens if t.i < mention.start and t.dep_ in ("nsubj", "nsubjpass") and t.tag_ in ("NN", "NNP"))
    return any(mention.start > t.i for t in nouns)


def _is_topic(behind: Antecedents, entity: Entity) -> bool:
    title = behind.parse.title
    return topic.is_person(entity, title) or topic.find([entity], title) is not None


def _goes_on(behind: Antecedents, draft: Draft) -> bool:
    """Does what belongs to the answer follow it ("the claim" of "the claim of the islanders to the land")?"""
    if draft.wanted is not None:
        return False
    start, end = draft.answer
    return any(t.right_edge.i >= end for t in behind.parse.words[start:end] if not start <= t.head.i < end)


def _is_of_another(behind: Antecedents, entity: Entity, mention: Mention) -> bool:
    """Is the article about somebody else of the pronoun's sex?"""
    return link_doubts.is_about_another(behind, entity, mention.gender) if mention.gender in ("m", "f") else False


def _rivals(behind: Antecedents, entity: Entity, mention: Mention) -> int:
    """Names of others in the mention's sentence before it and in the sentence before."""
    own = {n.words for n in entity.known}
    near = (
        m for m in behind.mentions if m.form == "name" and mention.sentence - 1 <= m.sentence and m.head < mention.head
    )
    person = mention.gender in ("m", "f")
    return len({m.words for m in near if m.words not in own and (m.kind == "person" or not person)})


def _logit(share: float) -> float:
    bounded = min(max(share, 0.02), 0.98)
    return math.log(bounded / (1 - bounded))

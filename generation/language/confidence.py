"""How sure is a candidate? A logistic model over what the rules know of it, learnt from candidates that were read.

`confidence.json` holds the weights and says how they were made; `benchmarks/rules_fit.py` makes them.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

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
    """The share of candidates with such traits that a strict reader would sign, 0 to 1."""
    weights = _model()["weights"]
    return 1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in traits.items())))


def traits(behind: Antecedents, draft: Draft, links: Mapping[Mention, Link], support: Support) -> Traits:
    """What speaks for and against a candidate, as named numbers."""
    gap = max(b - a for a, b in zip(support.indices, support.indices[1:], strict=False))
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
        "loose nouns": float(draft.loose),
        "doubt": math.log(draft.weight / PRIORS[draft.target]),
        "long sentence": len(behind.parse.tokens(behind.parse.sentence_of(draft.verb))) / 20,
    }


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

"""Derivations against references: R4C's soft precision, recall and F1.

A derivation is a list of steps, a step is (head, relation, tail). The steps of a prediction are paired one to one with
those of a reference so that their summed similarity is highest; the reference with the highest sum counts.

Source: Inoue et al. 2020 (R4C), section 2.2, and its evaluation script. Two things are defined here that are not there:
two empty phrases are equal (the script divides by zero), and of references that tie the first one given counts (the
script visits them in a random order).
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment

from evaluation.answers import Score
from generation.errors import UsageError

Triple = tuple[str, str, str]
Derivation = Sequence[Triple | Sequence[str]]
Scorer = Literal["entity", "relation", "full"]

SCORERS: Mapping[str, tuple[int, ...]] = {"entity": (0, 2), "relation": (1,), "full": (0, 1, 2)}
"""Scorer -> the parts of a step whose similarities are averaged."""

_NOTHING = Score(0.0, 0.0, 0.0)
_TIE = 1e-12  # sums this close are the same sum, added up in another order


class StepCounts(NamedTuple):
    """Derivations by their number of steps (R4C, Table 1)."""

    two: int
    three: int
    four_or_more: int
    total: int


def score(derivation: Derivation, references: Sequence[Derivation], scorer: Scorer = "full") -> Score:
    """Score one derivation against its references under R4C's entity, relation or full scorer.

    An empty derivation, or one that shares nothing with any reference, scores 0. Raises UsageError if there is no
    reference or no such scorer, or if a step is not three texts.
    """
    if not isinstance(scorer, str) or scorer not in SCORERS:
        raise UsageError(f"There is no scorer {scorer!r}: take one of {', '.join(SCORERS)}.")
    if not references:
        raise UsageError("A derivation needs at least one reference to be scored against.")
    for steps in (derivation, *references):
        _check_steps(steps)
    parts = SCORERS[scorer]
    best, length = 0.0, 0
    for reference in references:
        total = _alignment(derivation, reference, parts)
        if total > best + _TIE:
            best, length = total, len(reference)
    if not length:
        return _NOTHING
    precision, recall = best / len(derivation), best / length
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def _check_steps(derivation: Derivation) -> None:
    if not isinstance(derivation, list | tuple):
        raise UsageError(f"A derivation is a list of steps (head, relation, tail), not {derivation!r:.80}.")
    for step in derivation:
        if not isinstance(step, list | tuple) or len(step) != 3 or not all(isinstance(part, str) for part in step):
            raise UsageError(f"A step is three texts, (head, relation, tail), not {step!r:.80}.")


def similarity(a: str, b: str) -> float:
    """One minus the edit distance of the two in lower case by the length of the longer; 1 for two empty phrases.

    The lengths are those before lower-casing, as in the official script (a few letters grow in lower case).
    """
    longer = max(len(a), len(b))
    return 1 - Levenshtein.distance(a.lower(), b.lower()) / longer if longer else 1.0


def macro(scores: Iterable[Score]) -> Score:
    """The means of precision, recall and F1 over questions; F1 is not computed from the other two."""
    columns = list(zip(*scores, strict=True))
    return Score(*(sum(column) / len(column) for column in columns)) if columns else _NOTHING


def from_r4c(steps: Iterable[Sequence[Any]]) -> list[Triple]:
    """The triples of a derivation in R4C's files, whose steps are [title, sentence index, [head, relation, tail]]."""
    return [(head, relation, tail) for _, _, (head, relation, tail) in steps]


def count_steps(references: Mapping[str, Sequence[Sequence[Any]]]) -> StepCounts:
    """Count the derivations of an R4C file by their number of steps."""
    lengths = Counter(min(len(derivation), 4) for several in references.values() for derivation in several)
    return StepCounts(lengths[2], lengths[3], lengths[4], sum(lengths.values()))


def evaluate(
    predictions: Mapping[str, Sequence[Any]],
    references: Mapping[str, Sequence[Sequence[Any]]],
    *,
    used: int = 3,
    seed: int | None = 3,
) -> dict[str, Score]:
    """Score R4C's files as its script does: macro means by scorer, over the questions that have references.

    A question without a prediction is not counted. Raises UsageError where one has fewer than `used` references.
    Each time a question is scored, `used` of its references are drawn and visited in the order drawn; `seed` starts the
    one random stream that runs through the three scorers in turn, and 3 is the script's. None takes them as they stand.
    """
    stream = random.Random(seed)
    asked = [id_ for id_ in predictions if id_ in references]
    if few := [id_ for id_ in asked if len(references[id_]) < used]:
        raise UsageError(f"Question {few[0]} has {len(references[few[0]])} references, so {used} cannot be used.")
    means = {}
    for scorer in SCORERS:
        scores = []
        for id_ in asked:
            drawn = references[id_][:used] if seed is None else stream.sample(list(references[id_]), used)
            several = [from_r4c(derivation) for derivation in drawn]
            scores.append(score(from_r4c(predictions[id_]), several, scorer))  # type: ignore[arg-type]
        means[scorer] = macro(scores)
    return means


def _alignment(derivation: Derivation, reference: Derivation, parts: tuple[int, ...]) -> float:
    """The highest summed similarity of steps paired one to one."""
    if not derivation or not reference:
        return 0.0
    table = [[_step(ours, theirs, parts) for theirs in reference] for ours in derivation]
    rows, columns = linear_sum_assignment(table, maximize=True)
    return sum(table[row][column] for row, column in zip(rows, columns, strict=True))


def _step(ours: Sequence[str], theirs: Sequence[str], parts: tuple[int, ...]) -> float:
    total = sum(similarity(ours[part], theirs[part]) for part in parts)
    return max(total / len(parts), 0.0)

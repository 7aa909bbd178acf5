"""Evidence against what is required: sentences or paragraphs, and the joint with the answer.

Sources: Yang et al. 2018 (HotpotQA), Dasigi et al. 2021 (Qasper) and their evaluation scripts.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from evaluation.answers import MatchScore
from generation.errors import UsageError


def supporting_facts(predicted: Iterable[Hashable | list] | None, gold: Iterable[Hashable | list]) -> MatchScore:
    """Score one set of facts against another: sentence indices, or (title, index) pairs as in HotpotQA.

    Order and repetition do not count; titles are compared letter by letter. Two empty sets match exactly, with a
    precision, recall and F1 of 0, as in the official script. None was not predicted and scores 0. Raises UsageError
    for what is no collection of facts, a text or an object among it.
    """
    if predicted is None:
        return MatchScore(0.0, 0.0, 0.0, 0.0)
    ours, theirs = _facts(predicted), _facts(gold)
    same = len(ours & theirs)
    precision = same / len(ours) if ours else 0.0
    recall = same / len(theirs) if theirs else 0.0
    return MatchScore(float(ours == theirs), precision, recall, _harmonic(precision, recall))


def joint(answer: MatchScore, facts: MatchScore) -> MatchScore:
    """HotpotQA's joint of `answers.hotpot_f1` and `supporting_facts`: products of precision, recall and match."""
    precision, recall = answer.precision * facts.precision, answer.recall * facts.recall
    return MatchScore(answer.exact_match * facts.exact_match, precision, recall, _harmonic(precision, recall))


def qasper_f1(predicted: Sequence[str] | None, references: Sequence[Sequence[str]]) -> float:
    """Qasper's evidence F1: the best over annotators, paragraphs compared as whole texts.

    None predicted where none is given scores 1. Repeated paragraphs count in the lengths but match once, as in the
    official script. No annotator means no evidence.
    None was not predicted and scores 0. Raises UsageError where a list of paragraphs is something else.
    """
    if predicted is None:
        return 0.0
    for paragraphs in (predicted, *(references if _is_list(references) else [references])):
        if not _is_list(paragraphs):
            raise UsageError(f"Evidence is a list of paragraphs, one for each annotator, not {paragraphs!r:.80}.")
    return max(_paragraph_f1(predicted, reference) for reference in references or ((),))


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _facts(facts: Iterable[Hashable | list]) -> set[Hashable]:
    try:
        if isinstance(facts, str | bytes | Mapping):
            raise TypeError
        return {tuple(fact) if isinstance(fact, list) else fact for fact in facts}
    except TypeError:
        raise UsageError(
            f"Supporting facts are a list of sentence indices or of (title, index) pairs, not {facts!r:.80}."
        ) from None


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _paragraph_f1(predicted: Sequence[str], reference: Sequence[str]) -> float:
    if not predicted and not reference:
        return 1.0
    same = len(set(predicted) & set(reference))
    return _harmonic(same / len(predicted), same / len(reference)) if same else 0.0

"""Answers against references: exact match and the token F1s of SQuAD, QuAC, HotpotQA, Quoref and Qasper.

All but Quoref's share one normalisation: lower case, no ASCII punctuation, no "a", "an", "the", single spaces. They
differ where two texts normalise to nothing; each function says what it gives there. A prediction of None was not made
and scores 0, where the scripts crash; anything else that is no text raises UsageError. Sums run in the official
scripts' order, since QuAC compares two means for >=.

Sources: Rajpurkar et al. 2016 and 2018 (SQuAD), Choi et al. 2018 (QuAC), Yang et al. 2018 (HotpotQA), Dasigi et al.
2019 (Quoref), Dasigi et al. 2021 (Qasper) and their evaluation scripts.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from generation.errors import UsageError

CANNOT_ANSWER = "CANNOTANSWER"
"""QuAC's mark for a question that the text does not answer."""
MIN_HUMAN_F1 = 0.4
"""QuAC leaves out questions on which people agree less than this."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ARTICLE_WORDS = frozenset(("a", "an", "the"))
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_YES_NO = frozenset(("yes", "no", "noanswer"))


class Score(NamedTuple):
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


class MatchScore(NamedTuple):
    """A Score with exact match (0 or 1) beside it."""

    exact_match: float
    precision: float
    recall: float
    f1: float


class SpansScore(NamedTuple):
    """Quoref's two figures for one question."""

    exact_match: float
    f1: float


class Turn(NamedTuple):
    """One question of a QuAC dialog; `prediction` is None where none was made."""

    prediction: str | None
    references: Sequence[str]


class Heq(NamedTuple):
    """QuAC's figures over dialogs, each from 0 to 1.

    `f1` is over the questions kept, `unfiltered_f1` over all; `human_f1` is that of the questions kept.
    """

    heq_q: float
    heq_d: float
    f1: float
    unfiltered_f1: float
    human_f1: float


def normalize(text: str) -> str:
    """SQuAD's normal form, which HotpotQA, QuAC and Qasper share."""
    return " ".join(_tokens(text))


def exact_match(prediction: str | None, references: str | Sequence[str]) -> bool:
    """Does `prediction` equal one of the references once both are normalised? No reference means "no answer"."""
    if prediction is None:
        return False
    wanted = {normalize(reference) for reference in _several(references)} or {""}
    return normalize(prediction) in wanted


def token_f1(prediction: str | None, references: str | Sequence[str], *, empty: float = 1.0) -> float:
    """The best token F1 of `prediction` against any reference; no reference means "no answer".

    `empty` is the value where both texts normalise to nothing: 1 as in SQuAD 2.0, 0 as in SQuAD 1.1, QuAC and Qasper.
    """
    if prediction is None:
        return 0.0
    tokens = _tokens(prediction)
    return max(_overlap(tokens, _tokens(reference), empty).f1 for reference in _several(references) or ("",))


def hotpot_f1(prediction: str | None, reference: str) -> MatchScore:
    """HotpotQA's answer score: "yes", "no" and "noanswer" match themselves or nothing.

    Two texts that normalise to nothing match exactly with an F1 of 0, as in the official script.
    """
    if prediction is None:
        return MatchScore(0.0, 0.0, 0.0, 0.0)
    ours, theirs = normalize(prediction), normalize(reference)
    if ours != theirs and (ours in _YES_NO or theirs in _YES_NO):
        return MatchScore(0.0, 0.0, 0.0, 0.0)
    return MatchScore(float(ours == theirs), *_overlap(ours.split(), theirs.split(), 0.0))


def quac_references(references: str | Sequence[str]) -> list[str]:
    """The references that count: only CANNOTANSWER where at least half say so, else those that do not."""
    spans, cannot = [], 0
    for reference in _several(references):
        if reference == CANNOT_ANSWER:
            cannot += 1
        else:
            spans.append(reference)
    return [CANNOT_ANSWER] if cannot >= len(spans) else spans


def quac_f1(prediction: str | None, references: str | Sequence[str]) -> float:
    """QuAC's F1: the best against the references but one, averaged over the one left out.

    `references` are the annotators' spans, CANNOTANSWER among them. Two empty texts score 0.
    """
    if prediction is None:
        return 0.0
    kept = quac_references(references)
    tokens = _tokens(prediction)
    scores = [_quac_pair(prediction, tokens, reference) for reference in kept]
    if len(scores) == 1:
        return scores[0]
    return _mean([max(scores[:i] + scores[i + 1 :]) for i in range(len(scores))])


def human_f1(references: str | Sequence[str]) -> float:
    """How well the references agree: the best F1 of each against the others, averaged; 1 where only one counts."""
    kept = [_tokens(reference) for reference in quac_references(references)]
    if len(kept) == 1:
        return 1.0
    # Not max(..., key) over pairs once: the F1 of (a, b) and (b, a) can differ in the last bit.
    return _mean(
        [max(_overlap(a, b, 0.0).f1 for j, b in enumerate(kept) if j != i) for i, a in enumerate(kept)],
    )


def heq(
    dialogs: Iterable[Sequence[Turn | tuple[str | None, Sequence[str]]]], min_human_f1: float = MIN_HUMAN_F1
) -> Heq:
    """How often a system equals or beats people: by question (HEQ-Q) and by whole dialog (HEQ-D).

    Questions with a human F1 below `min_human_f1` are left out, and a dialog is judged by the rest of its questions. A
    missing prediction scores 0, counts in any case, and fails its dialog. Means over nothing are 0.
    """
    kept, unfiltered, human, equal, dialog_equal = [], [], [], [], []
    for dialog in dialogs:
        whole = True
        for prediction, references in _turns(dialog):
            people = human_f1(references)
            ours = quac_f1(prediction, references)
            unfiltered.append(ours)
            if people >= min_human_f1:
                human.append(people)
            elif prediction is not None:
                continue
            kept.append(ours)
            equal.append(float(prediction is not None and ours >= people))
            whole = whole and bool(equal[-1])
        dialog_equal.append(float(whole))
    return Heq(*map(_mean, (equal, dialog_equal, kept, unfiltered, human)))


def quoref(prediction: str | Sequence[str] | None, references: str | Sequence[str]) -> SpansScore:
    """Quoref's multi-span score: the spans are paired one to one for the best sum of F1s of their word sets.

    `references` are the spans of one answer, all of them wanted. A span that holds numbers scores only against one that
    shares a number. F1 is divided by the longer list and rounded to two decimals, as in the official script. Where the
    references are empty or blank, the score is 0, as it is there; for no reference at all it crashes, and we give 0.
    """
    if prediction is None:
        return SpansScore(0.0, 0.0)
    ours = [_drop_normalize(span) for span in _several(prediction)]
    wanted_spans = _several(references)
    theirs = [_drop_normalize(span) for span in wanted_spans]
    if not wanted_spans or not wanted_spans[0].strip():
        return SpansScore(0.0, 0.0)
    matches = len(ours) == len(theirs) and set(ours) == set(theirs)
    bags = [frozenset(span.split()) for span in ours]
    wanted = [(bag := frozenset(span.split()), frozenset(filter(_is_number, bag))) for span in theirs]
    best = _best_pairing([[_bag_f1(bag, *reference) for reference in wanted] for bag in bags])
    mean = best / max(len(ours), len(theirs))
    return SpansScore(float(matches), round(mean * 100) / 100)  # numpy's rounding, which the script uses


def qasper_f1(prediction: str | None, references: str | Sequence[str]) -> float:
    """Qasper's answer F1: the best against any annotator; two texts that normalise to nothing score 0.

    Several extractive spans are one text, joined by ", "; the other answers read "Yes", "No" and "Unanswerable".
    """
    return token_f1(prediction, references, empty=0.0)


def _tokens(text: str) -> list[str]:
    try:
        plain = text.lower().translate(_NO_PUNCTUATION)
    except (AttributeError, TypeError):  # bytes have both methods, but take no such table
        raise _no_text(text) from None
    if plain.isascii() and plain.isprintable():  # without punctuation words end at spaces alone: the same, but faster
        return [word for word in plain.split() if word not in _ARTICLE_WORDS]
    return _ARTICLES.sub(" ", plain).split()


def _several(texts: str | Sequence[str]) -> Sequence[str]:
    if not isinstance(texts, str | list | tuple):
        raise UsageError(f"A text or a list of texts is wanted as answers, not {texts!r:.80}.")
    return (texts,) if isinstance(texts, str) else texts


def _turns(dialog: Sequence[Turn | tuple[str | None, Sequence[str]]]) -> Iterable[tuple[str | None, Sequence[str]]]:
    """The turns of a dialog. UsageError for anything else, letters of a text and names of an object among it."""
    if not isinstance(dialog, list | tuple):
        raise UsageError(f"A dialog is a list of turns (prediction, references), not {dialog!r:.80}.")
    for turn in dialog:
        if not isinstance(turn, list | tuple) or len(turn) != 2:
            raise UsageError(f"A turn is a pair (prediction, references), not {turn!r:.80}.")
        yield turn[0], turn[1]


def _no_text(given: object) -> UsageError:
    return UsageError(f"An answer is a text, not {given!r:.80}.")


def _overlap(prediction: Sequence[str], reference: Sequence[str], empty: float) -> Score:
    if not prediction or not reference:
        value = empty if not prediction and not reference else 0.0
        return Score(value, value, value)
    rest = Counter(reference)
    same = 0
    for token in prediction:
        if rest.get(token, 0) > 0:
            rest[token] -= 1
            same += 1
    if same == 0:
        return Score(0.0, 0.0, 0.0)
    precision, recall = same / len(prediction), same / len(reference)
    return Score(precision, recall, (2 * precision * recall) / (precision + recall))


def _mean(values: Sequence[float]) -> float:
    """The plain sum by the number; 0 of nothing. Python 3.12's `sum` would round otherwise than the scripts did."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else 0.0


def _quac_pair(prediction: str, tokens: Sequence[str], reference: str) -> float:
    if reference == CANNOT_ANSWER:
        return float(prediction == CANNOT_ANSWER)
    return _overlap(tokens, _tokens(reference), 0.0).f1


def _drop_normalize(text: str) -> str:
    """DROP's normal form, word by word, with numbers as floats: "The 1,000 co-ops" gives "1000.0 co ops"."""
    if not isinstance(text, str):
        raise _no_text(text)
    return " ".join(filter(None, map(_drop_word, text.replace("-", " ").split(" "))))


@lru_cache(maxsize=1 << 14)
def _drop_word(word: str) -> str:
    word = word.lower()
    if not _is_number(word):
        word = word.translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", str(float(word)) if _is_number(word) else word).split())


@lru_cache(maxsize=1 << 14)
def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _bag_f1(prediction: frozenset[str], reference: frozenset[str], numbers: frozenset[str]) -> float:
    """The F1 of two sets of words; `numbers` are those of the reference."""
    same = len(prediction & reference)
    if numbers and not numbers & prediction:
        return 0.0
    precision = same / len(prediction) if prediction else 1.0
    recall = same / len(reference) if reference else 1.0
    return (2 * precision * recall) / (precision + recall) if precision + recall else 0.0


def _best_pairing(scores: list[list[float]]) -> float:
    """The highest sum of scores when each row takes at most one column and each column at most one row."""
    if not scores or not scores[0]:
        return 0.0
    if len(scores) == 1 or len(scores[0]) == 1:
        return max(max(row) for row in scores)
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(scores, maximize=True)
    return sum(scores[row][column] for row, column in zip(rows, columns, strict=True))

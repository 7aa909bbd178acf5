"""A reviewer's correction: what of a pair should be otherwise, and the new pair that this makes.

Source: ExpertQA (Malaviya et al. 2024) keeps its experts' revised answers beside the judged ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from generation import checks
from generation.checking.rows import RowError, read_pair
from generation.dataset import id_of, row_from, section_from
from generation.errors import BallotError, InvariantError
from generation.records import Candidate, candidate_from_dict, digest
from generation.releases.invariants import check_row
from generation.review.store import Pair

MAX_QUESTION = 500  # characters
MAX_ANSWER = 1_000
MAX_COREFERENCES = 12


@dataclass(frozen=True, slots=True)
class Correction:
    """What should stand instead; None leaves a part as it is.

    A coreference is {"kind", "mention", "antecedent"}, each end {"sentence_index", "text"} with or without "start" and
    "end"; without them the first place in the sentence where the text stands as whole words is meant.
    """

    question: str | None = None
    answer: str | None = None
    required_sentence_indices: Sequence[int] | None = None
    coreferences: Sequence[Mapping[str, Any]] | None = None

    @property
    def is_empty(self) -> bool:
        return all(
            part is None for part in (self.question, self.answer, self.required_sentence_indices, self.coreferences)
        )


def corrected(pair: Pair, correction: Correction, author: str) -> Pair:
    """The pair that `author` ("person:...") offers in place of `pair`, after the checks by code.

    Its votes start anew. Its key is its content hash; where only coreferences differ, which that hash leaves out, a
    hash of them too, while `row["id"]` stays the content hash. A derivation stays only with its answer and sentences.
    Raises BallotError if nothing is changed, a part cannot be read, or a check surely fails: what to do is in it.
    """
    section, before = section_from(pair.row), candidate_from_dict(pair.row)
    after = _apply(correction, before, [s.text for s in section.sentences])
    if (after.question, after.answer, after.required_sentence_indices, after.coreferences) == (
        before.question,
        before.answer,
        before.required_sentence_indices,
        before.coreferences,
    ):
        raise BallotError("The correction changes nothing; change something, or leave it out.")
    verdict = checks.verdict(checks.run(after, [s.text for s in section.sentences]))
    if not verdict.is_quality:
        raise BallotError(f"The corrected pair does not pass the checks: {verdict.reason}")
    row = row_from(section, after, generator=pair.row["generator"], reviewed_by=["checks"])
    _check(row)
    rounds = list(pair.row.get("rounds") or [])
    history = {"rounds": [*rounds, _round(len(rounds), after, asdict(verdict))]} if rounds else {}
    kept = {name: pair.row[name] for name in ("segmenter", "source", "recipe") if name in pair.row}
    id = id_of(section, after)
    key = id if id != pair.row["id"] else digest([id, [asdict(c) for c in after.coreferences]])
    return Pair(key, {**kept, **row, **history}, parent=pair.id, corrected_by=author)


def _apply(correction: Correction, before: Candidate, sentences: Sequence[str]) -> Candidate:
    if len(correction.question or "") > MAX_QUESTION or len(correction.answer or "") > MAX_ANSWER:
        raise BallotError(f"A question may have {MAX_QUESTION:,} characters, an answer {MAX_ANSWER:,}: shorten it.")
    if len(correction.coreferences or ()) > MAX_COREFERENCES:
        raise BallotError(f"A pair may have {MAX_COREFERENCES} coreferences at most; leave some out.")
    given = {name: value for name, value in asdict(correction).items() if value is not None}
    whole = {"sentences": list(sentences), **asdict(before), **given}
    for name in ("required_sentence_indices", "coreferences"):
        whole[name] = list(whole[name]) if isinstance(whole[name], tuple) else whole[name]
    try:
        after, _ = read_pair(whole)
    except RowError as error:
        raise BallotError(f"The correction cannot be read: {error}") from error
    indices = tuple(sorted(set(after.required_sentence_indices)))
    answer = " ".join(after.answer.split()) if correction.answer is not None else before.answer
    question = " ".join(after.question.split()) if correction.question is not None else before.question
    links = before.coreferences if correction.coreferences is None else _kinds(after, correction.coreferences)
    stays = (answer, indices) == (before.answer, before.required_sentence_indices)
    return Candidate(question, answer, indices, links, before.derivation if stays else ())


def _kinds(after: Candidate, given: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """The coreferences with the kinds that were given; `read_pair` guesses them from the mention's words."""
    wanted = [item.get("kind") for item in given]
    if not set(wanted) <= {"pronominal", "nominal", None}:
        raise BallotError('The kind of a coreference is "pronominal" or "nominal".')
    pairs = zip(after.coreferences, wanted, strict=True)
    return tuple(replace(link, kind=kind) if kind else link for link, kind in pairs)


def _check(row: Mapping[str, Any]) -> None:
    try:
        check_row("default", row)
    except InvariantError as error:
        raise BallotError(f"The corrected pair cannot stand: {error}") from error


def _round(index: int, candidate: Candidate, verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {"index": index, "candidate": asdict(candidate), "verdicts": [verdict]}

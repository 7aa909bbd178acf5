"""Pairs whose verdict is known, and what the judges said of them.

What is known stands in the rows (`gold`, or `votes`), in a file of votes, or in a review by people. What was said
stands in the rows too: `verdicts`, or the `rounds` of a run, each of whose candidates is a pair of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from generation import checks
from generation.checking.rows import RowError, read_object, read_pair, text_lines
from generation.errors import InputError, UsageError
from generation.files import reading
from generation.proof import Prover
from generation.proving.rows import Given, given
from generation.records import PROBLEM_CODES, Candidate, Section, Verdict, digest, pair_id
from generation.refine import Reviewer


@dataclass(frozen=True, slots=True)
class Said:
    """One judge on one pair."""

    rejects: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A pair that is known to be good or `bad`; `problems` are the codes of what is wrong, if that is known.

    `said` holds every judge that was asked, by name: a reviewer's own, "check <name>" or "proof". `pair` is there where
    the row has its text.
    """

    id: str
    passage: str
    bad: bool
    problems: tuple[str, ...] = ()
    said: Mapping[str, Said] = field(default_factory=dict)
    pair: tuple[Candidate, Section] | None = None


def read_cases(path: Path, votes: Path | None = None) -> list[Case]:
    """The cases of `path` (a JSONL or Parquet file, or a run's folder); pairs of which nothing is known are left out.

    A row is known by its `gold` (true, false, or {"is_quality", "problems"}), by its `votes`, or by its id in `votes`:
    JSON lines {"id", "is_quality" or "accept", "problems" or "reasons"}, several a pair if several people voted, or a
    review file. The majority counts; ties leave a pair out. Raises UsageError if nothing is known of any pair,
    InputError for a row that cannot be read.
    """
    known = {} if votes is None else _votes(votes)
    found = [case for row in _all_rows(path) for case in _cases(row, known)]
    if not found:
        hint = "its rows have no gold and no votes" if votes is None else f"{votes} decides on none of its pairs"
        raise UsageError(f"Nothing is known to be right of {path}: {hint}.")
    return found


def with_checks(cases: Iterable[Case]) -> Iterator[Case]:
    """Each check by itself, decided now, where the row has its text; the run's joint verdict of them gives way."""
    for case in cases:
        if case.pair is None:
            yield case
            continue
        candidate, section = case.pair
        certain = [p for p in checks.run(candidate, [s.text for s in section.sentences]) if p.certainty == "certain"]
        said = {}
        for check in checks.CHECKS:
            codes = tuple(dict.fromkeys(p.code for p in certain if p.check == check.__name__))
            said[f"check {check.__name__}"] = Said(bool(codes), codes)
        rest = {name: word for name, word in case.said.items() if name != "check all"}
        yield replace(case, said={**said, **rest})


async def with_rules(cases: Iterable[Case], panel: Sequence[Reviewer]) -> list[Case]:
    """What a panel that needs no model says now of each pair that has its text."""
    found = []
    for case in cases:
        if case.pair is not None:
            candidate, section = case.pair
            verdicts = [await reviewer.judge(section, candidate) for reviewer in panel]
            case = replace(case, said={**case.said, **_said(verdicts)})
        found.append(case)
    return found


async def with_proof(cases: Iterable[Case], prover: Prover) -> list[Case]:
    """What a proof by a reader that needs no model says now of each pair that has its text."""
    found = []
    for case in cases:
        if case.pair is not None:
            candidate, section = case.pair
            verdict = prover.verdict(await prover.prove(section, candidate))
            case = replace(case, said={**case.said, **_said([verdict])})
        found.append(case)
    return found


def case_of(given: Given, bad: bool, problems: Sequence[str] = ()) -> Case:
    """A case of a row that is a pair, with nothing said of it yet."""
    assert given.candidate is not None
    section = given.section
    passage = digest(list(given.sentences))
    return Case(given.id, passage, bad, tuple(problems), {}, (given.candidate, section))


def _said(verdicts: Iterable[Verdict]) -> dict[str, Said]:
    return {_name(v.reviewer): Said(not v.is_quality, v.problems) for v in verdicts}


def _name(reviewer: str) -> str:
    return "check all" if reviewer == "checks" else reviewer


def _all_rows(path: Path) -> Iterator[Given]:
    files = [path / f"{name}.jsonl" for name in ("accepted", "rejected")] if path.is_dir() else []
    files = [file for file in files if file.is_file() and file.stat().st_size]
    for file in files or [path]:
        yield from given(file)


def _cases(row: Given, known: Mapping[str, "_Known"]) -> Iterator[Case]:
    """The row as it is; and, of a run's row, the candidates of its earlier rounds, where they are known too."""
    if row.fault and not row.row:
        raise InputError(f"{row.where}: {row.fault}")
    own = _known_by_row(row)
    for case_id, candidate, verdicts in _candidates(row):
        truth = known.get(case_id) or (own if candidate == row.candidate else None)
        if truth is None:
            continue
        pair = None
        if candidate is not None:
            pair = (candidate, row.section)
        passage = digest(list(row.sentences)) if row.sentences else case_id
        yield Case(case_id, passage, truth.bad, truth.problems, _said(verdicts), pair)


def _candidates(row: Given) -> Iterator[tuple[str, Candidate | None, list[Verdict]]]:
    rounds = row.row.get("rounds") or []
    if not rounds:
        yield row.id, row.candidate, _verdicts(row.row.get("verdicts") or [], row.where)
        return
    for number, round_ in enumerate(rounds):
        try:
            said = round_.get("candidate") or {
                k: round_[k] for k in ("question", "answer", "required_sentence_indices")
            }
            candidate, sentences = read_pair({**said, "sentences": list(row.sentences)})
            verdicts = _verdicts(round_["verdicts"], row.where)
        except (RowError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{row.where}: round {number} cannot be read ({error}).") from error
        is_last = number == len(rounds) - 1
        yield (
            row.id if is_last else pair_id(list(sentences), candidate),
            row.candidate if is_last else candidate,
            verdicts,
        )


def _verdicts(items: Sequence[Any], where: str) -> list[Verdict]:
    try:
        return [
            Verdict(v["reviewer"], _is_quality(v), v.get("reason") or "", tuple(v.get("problems") or ()))
            for v in items
            if v["is_quality"] is not None
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f'{where}: a verdict needs a "reviewer" and "is_quality", true or false ({error}).') from error


def _is_quality(verdict: Mapping[str, Any]) -> bool:
    if not isinstance(verdict["is_quality"], bool):
        raise TypeError(f"not {verdict['is_quality']!r}")
    return verdict["is_quality"]


@dataclass(frozen=True, slots=True)
class _Known:
    bad: bool
    problems: tuple[str, ...]


def _known_by_row(row: Given) -> _Known | None:
    if row.row.get("gold") is not None:
        return _known([row.row["gold"]], row.where)
    votes = row.row.get("votes") or []
    if not isinstance(votes, list):
        raise InputError(f'{row.where}: "votes" must be a list of verdicts.')
    return _known(votes, row.where)


def _known(votes: Sequence[Any], where: str) -> _Known | None:
    """What most of the votes say; None for a tie, or for no vote."""
    words = [_word(vote, where) for vote in votes]
    against = sum(word.bad for word in words)
    if 2 * against == len(words):
        return None
    bad = 2 * against > len(words)
    return _Known(bad, tuple(dict.fromkeys(p for word in words if word.bad for p in word.problems)) if bad else ())


def _word(vote: Any, where: str) -> _Known:
    if isinstance(vote, bool):
        return _Known(not vote, ())
    if isinstance(vote, Mapping):
        good = vote.get("is_quality", vote.get("accept"))
        problems = vote.get("problems") or vote.get("reasons") or []
        if isinstance(good, bool) and isinstance(problems, list) and all(p in PROBLEM_CODES for p in problems):
            return _Known(not good, tuple(problems))
    raise InputError(f'{where}: a known verdict is true, false, or an object with "is_quality" and "problems" (codes).')


def _votes(path: Path) -> dict[str, _Known]:
    """{id: what is known} of a file of votes."""
    if _is_review(path):
        from generation import human

        decided = [d for d in human.decisions(path) if d.decision in ("accepted", "rejected")]
        return {d.id: _Known(d.decision == "rejected", d.reasons) for d in decided}
    by_id: dict[str, list[Any]] = {}
    for number, text in text_lines(path):
        try:
            vote = read_object(text)
        except RowError as error:
            raise InputError(f"{path}:{number}: {error}") from error
        if not isinstance(vote.get("id"), str):
            raise InputError(f'{path}:{number}: a vote needs the "id" of its pair.')
        by_id.setdefault(vote["id"], []).append(vote.get("gold", vote))
    found = {id: _known(votes, f"{path}, {id}") for id, votes in by_id.items()}
    return {id: known for id, known in found.items() if known is not None}


def _is_review(path: Path) -> bool:
    with reading(path, "votes as JSON lines, or a review"), path.open("rb") as file:
        return file.read(16).startswith(b"SQLite format 3")

"""Rounds and verdicts as HTML, in plain words."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from generation.records import Candidate, Round, Verdict
from space.passage import escape

PROBLEM_WORDS = {
    "irrelevant_sentences": "a sentence that is not needed",
    "missing_sentences": "a needed sentence is missing",
    "formatting": "badly formed",
    "incomplete_answer": "incomplete answer",
    "ambiguous_question": "ambiguous question",
    "coreference_error": "wrong coreference",
    "wrong_information": "wrong information",
    "compound_question": "more than one question",
    "other": "another reason",
}
SIGNS = {"yes": "✓", "no": "✗", "wait": "…", "skip": "–"}


def maker_words(name: str) -> str:
    """Who made or judged something ("model:NAME", "rules:VERSION", "checks", a reviewer's name) in plain words."""
    kind, _, who = name.partition(":")
    words = {
        "checks": "check by code",
        "model": f"the model {who}",
        "rules": f"rules, without a model (version {who})",
        "person": f"{who}, a person",
    }
    return words.get(kind, name.replace("_", " "))


def listing(indices: Sequence[int | str]) -> str:
    """0, 2 -> "0 and 2"."""
    words = [str(i) for i in indices]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def pair(candidate: Candidate, before: Candidate | None = None) -> str:
    """Question and answer, and the sentences that they need; what differs from `before` is marked."""
    old = before or candidate
    needs, needed = candidate.required_sentence_indices, old.required_sentence_indices
    changed = f" <del>{listing(needed)}</del> <ins>{listing(needs)}</ins>" if needs != needed else f" {listing(needs)}"
    return (
        f'<p class="question" dir="auto">{changes(old.question, candidate.question)}</p><dl class="pair">'
        f'<dt>Answer</dt><dd dir="auto">{changes(old.answer, candidate.answer)}</dd>'
        f"<dt>Needs</dt><dd>sentences{changed}</dd></dl>"
    )


def changes(old: str, new: str) -> str:
    """`new`, with the words that were not in `old` marked and those that it has lost struck out before them."""
    return "".join(_changes(re.findall(r"\s+|[^\s]+", old), re.findall(r"\s+|[^\s]+", new)))


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lost, won = escape("".join(old[a:b])), escape("".join(new[c:d]))
        if kind == "equal":
            yield won
            continue
        yield f"<del>{lost}</del>{' ' if won else ''}" if lost.strip() else ""
        yield f"<ins>{won}</ins>" if won.strip() else won


def rounds(rounds_: Sequence[Round], panel: Sequence[str] = (), *, is_running: bool = False) -> str:
    """All rounds in order; while the last one runs, the reviewers of `panel` who have not spoken yet wait in it."""
    last = len(rounds_) - 1
    before = (None, *(r.candidate for r in rounds_))
    return "".join(_round(r, panel if is_running and i == last else (), before[i]) for i, r in enumerate(rounds_))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _round(round_: Round, waiting_for: Sequence[str], before: Candidate | None) -> str:
    spoken = {v.reviewer for v in round_.verdicts}
    is_stopped = any(v.reviewer == "checks" and not v.is_quality for v in round_.verdicts)
    waiting = [name for name in waiting_for if name not in spoken]
    verdicts = [_verdict(v) for v in round_.verdicts] + [_silent(name, is_stopped) for name in waiting]
    title = "First draft" if round_.index == 0 else f"Revision {round_.index}"
    return (
        f'<section class="round"><h3>{title}{_state(round_, bool(waiting) and not is_stopped)}</h3>'
        f'{pair(round_.candidate, before)}<ul class="verdicts" aria-label="Verdicts">{"".join(verdicts)}</ul></section>'
    )


def _state(round_: Round, is_waiting: bool) -> str:
    if is_waiting or not round_.verdicts:
        return '<span class="state wait">under review</span>'
    word, sign = ("accepted", "yes") if round_.accepted else ("rejected", "no")
    return f'<span class="state {sign}"><span aria-hidden="true">{SIGNS[sign]}</span> {word}</span>'


def _verdict(verdict: Verdict) -> str:
    sign, word = ("yes", "accepts") if verdict.is_quality else ("no", "rejects")
    problems = "".join(f"<li>{PROBLEM_WORDS[p]}</li>" for p in verdict.problems)
    return _line(
        sign,
        f"<b>{escape(_capital(maker_words(verdict.reviewer)))}</b> {word}",
        f'<p dir="auto">{escape(verdict.reason)}</p>' + (f'<ul class="problems">{problems}</ul>' if problems else ""),
    )


def _silent(name: str, is_stopped: bool) -> str:
    word = "not asked: the checks failed first" if is_stopped else "is reading"
    return _line("skip" if is_stopped else "wait", f"<b>{escape(_capital(maker_words(name)))}</b> {word}", "")


def _line(sign: str, said: str, rest: str) -> str:
    return (
        f'<li class="{sign}"><span class="sign" aria-hidden="true">{SIGNS[sign]}</span>'
        f"<div><span>{said}</span>{rest}</div></li>"
    )

"""Rounds and verdicts as HTML, in plain words."""

from collections.abc import Sequence

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


def listing(indices: Sequence[int]) -> str:
    """0, 2 -> "0 and 2"."""
    words = [str(i) for i in indices]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def pair(candidate: Candidate) -> str:
    """Question and answer, and the sentences that they need."""
    return (
        f'<p class="question" dir="auto">{escape(candidate.question)}</p><dl class="pair">'
        f'<dt>Answer</dt><dd dir="auto">{escape(candidate.answer)}</dd>'
        f"<dt>Needs</dt><dd>sentences {listing(candidate.required_sentence_indices)}</dd></dl>"
    )


def rounds(rounds_: Sequence[Round], panel: Sequence[str] = (), *, is_running: bool = False) -> str:
    """All rounds in order; while the last one runs, the reviewers of `panel` who have not spoken yet wait in it."""
    last = len(rounds_) - 1
    return "".join(_round(r, panel if is_running and i == last else ()) for i, r in enumerate(rounds_))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _round(round_: Round, waiting_for: Sequence[str]) -> str:
    spoken = {v.reviewer for v in round_.verdicts}
    is_stopped = any(v.reviewer == "checks" and not v.is_quality for v in round_.verdicts)
    waiting = [name for name in waiting_for if name not in spoken]
    verdicts = [_verdict(v) for v in round_.verdicts] + [_silent(name, is_stopped) for name in waiting]
    title = "First draft" if round_.index == 0 else f"Revision {round_.index}"
    return (
        f'<section class="round"><h3>{title}{_state(round_, bool(waiting) and not is_stopped)}</h3>'
        f'{pair(round_.candidate)}<ul class="verdicts" aria-label="Verdicts">{"".join(verdicts)}</ul></section>'
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

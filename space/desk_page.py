"""The Review tab's pages as HTML: the door, a pair with its ballot, and the end of the queue.

Everything from a row, a reviewer or a model is untrusted and leaves as text. What keys and buttons do is in review.js.
"""

import html
import json
import time
from collections.abc import Mapping
from typing import Any

from generation.dataset import section_from
from generation.records import PROBLEM_CODES, Candidate, Coreference, candidate_from_dict
from generation.review.ballots import Vote
from generation.review.corrections import MAX_ANSWER, MAX_QUESTION
from generation.review.desk import MAX_NAME, MAX_NOTE, Progress, Served
from generation.review.guidelines import REASONS
from space import rounds
from space.passage import KIND_WORDS, drawn, escape

NO_REVIEW = (
    '<div class="empty"><h3>No review is open here</h3><p>Start one with <code>craqan review start review.sqlite '
    "PAIRS.jsonl</code>, then <code>craqan review serve review.sqlite</code>.</p></div>"
)
KEYS = (
    ("a", "accept"),
    ("r", "reject"),
    ("1–9", "reasons"),
    ("n", "note"),
    ("c", "correct"),
    ("Enter", "send"),
    ("u", "back"),
    ("?", "guidelines"),
)


def door_by_name() -> str:
    """Where somebody says who they are, on their own machine."""
    return (
        '<form class="door" data-action="start"><h2 class="heading">Review pairs</h2>'
        "<p>Your votes are kept under this name; others see a pseudonym, and no vote before they have given theirs.</p>"
        f'<label for="reviewer-name">Your name</label><input id="reviewer-name" name="name" maxlength="{MAX_NAME}" '
        'autocomplete="off" spellcheck="false" required><button class="strong-button">Start</button></form>'
    )


def door_by_account(username: str, *, can_sign_in: bool) -> str:
    """The same on a Space, where the account that is signed in says who they are."""
    if username:
        return (
            f'<form class="door" data-action="start"><h2 class="heading">Review pairs</h2><p>You are signed in as '
            f"<b>{escape(username)}</b>. Others see a pseudonym, and no vote before they have given theirs.</p>"
            '<button class="strong-button">Start</button></form>'
        )
    how = (
        "Sign in with your Hugging Face account, by the button above: your votes are kept under its name."
        if can_sign_in
        else "This Space has no sign-in: whoever keeps it sets <code>hf_oauth: true</code> in its card."
    )
    return f'<div class="empty"><h3>Sign in to review pairs</h3><p>{how}</p></div>'


def pair(served: Served, guidelines: str) -> str:
    """A pair to be judged, with the ballot. Raises nothing for any row that the review holds."""
    if served.pair is None:
        return _finished(served)
    row = served.pair.row
    candidate, section = candidate_from_dict(row), section_from(row)
    earlier = served.earlier
    facts = {"pair": served.pair.id, "ticket": served.ticket, "vote": _vote_data(earlier)}
    back = (
        '<p class="notice" role="status">You are back at a pair that you have judged. Your vote stands until you send '
        'another. <button type="button" class="link-button" data-action="leave">Leave it as it is</button></p>'
        if earlier
        else ""
    )
    return (
        f'<article class="desk" data-facts="{html.escape(json.dumps(facts))}">{_progress(served.progress)}{back}'
        f'<div class="desk-columns"><div class="desk-pair">{rounds.pair(candidate)}'
        f'<p class="place">{escape(section.article_title)} › {escape(section.title)}</p>'
        f"{drawn(section.sentences, section.text, candidate)}</div>"
        f"{_ballot(candidate, len(section.sentences))}</div>{_guidelines(guidelines)}</article>"
    )


def message(text: str, kind: str = "") -> str:
    """One sentence below the ballot: what was kept, or what is missing."""
    role = "alert" if kind == "error" else "status"
    # The same sentence twice must still arrive as something new: review.js waits for it.
    return f'<p class="notice {kind}" role="{role}" data-at="{time.time()}">{escape(text)}</p>' if text else ""


def saved(vote: Vote, question: str) -> str:
    """What was kept, in words."""
    sign, word = ("✓", "accepted") if vote.accept else ("✗", "rejected")
    correction = " Your correction is a new pair for two others." if vote.correction else ""
    cut = question if len(question) <= 80 else question[:79] + "…"
    return f"{sign} Kept: {word} “{cut}”.{correction} Press u to change it."


def _vote_data(vote: Vote | None) -> Mapping[str, Any] | None:
    if vote is None:
        return None
    return {"accept": vote.accept, "reasons": list(vote.reasons), "note": vote.note, "number": vote.number}


def _progress(progress: Progress) -> str:
    yours, all_ = (
        f"You: {progress.done} done, {progress.left} left",
        f"All: {progress.decided} of {progress.total} decided",
    )
    return (
        f'<div class="desk-progress"><span>{yours}</span><span>{all_}</span>'
        f'<progress aria-label="Your pairs" max="{max(progress.done + progress.left, 1)}" value="{progress.done}">'
        f"</progress></div>"
    )


def _finished(served: Served) -> str:
    if served.free_at is not None:
        minutes = max(1, round((served.free_at - time.time()) / 60))
        words = f"Other people are reading what is left. Look again in {minutes} minute{'s' * (minutes > 1)} or so."
        button = '<button type="button" class="strong-button" data-action="leave">Look again</button>'
    else:
        words, button = "Nothing is waiting for you. Thank you.", ""
    back = '<button type="button" class="plain-button" data-action="back"><kbd>u</kbd> Back to my last pair</button>'
    return (
        f'<article class="desk finished" data-facts="{{}}">{_progress(served.progress)}<div class="empty">'
        f"<h3>All read for now</h3><p>{words}</p><p>{button} {back if served.progress.done else ''}</p></div></article>"
    )


def _ballot(candidate: Candidate, sentences: int) -> str:
    return (
        '<form class="ballot" data-action="vote"><div class="decisions" role="group" aria-label="Decision">'
        '<button type="button" data-decision="accept" aria-pressed="false"><kbd>a</kbd> ✓ Accept</button>'
        '<button type="button" data-decision="reject" aria-pressed="false"><kbd>r</kbd> ✗ Reject</button></div>'
        f'<fieldset class="reasons" hidden><legend>Why? One or more</legend>{_reasons()}</fieldset>'
        f'<label class="note"><span><kbd>n</kbd> Note, if it helps</span><textarea name="note" rows="2" '
        f'maxlength="{MAX_NOTE}"></textarea></label>{_correction(candidate, sentences)}'
        '<div class="desk-actions"><button class="strong-button"><kbd>Enter</kbd> Send, next</button>'
        '<button type="button" class="plain-button" data-action="back"><kbd>u</kbd> Back</button>'
        '<button type="button" class="plain-button" data-action="guide"><kbd>?</kbd> Guidelines</button></div></form>'
    )


def _reasons() -> str:
    return "".join(
        f'<label><input type="checkbox" name="reason" value="{code}"><kbd>{i}</kbd>'
        f"<span><b>{name}</b>: {when}</span></label>"
        for i, (code, (name, when)) in enumerate(((c, REASONS[c]) for c in PROBLEM_CODES), 1)
    )


def _correction(candidate: Candidate, sentences: int) -> str:
    numbers = "".join(
        f'<label><input type="checkbox" name="required" value="{i}"'
        f"{' checked' * (i in candidate.required_sentence_indices)}>{i}</label>"
        for i in range(sentences)
    )
    links = "".join(f"<li>{_link(c)}</li>" for c in candidate.coreferences)
    return (
        '<details class="correction"><summary><kbd>c</kbd> Offer a correction</summary>'
        f'<label>Question<textarea name="question" rows="2" maxlength="{MAX_QUESTION}">'
        f"{html.escape(candidate.question)}</textarea></label>"
        f'<label>Answer<textarea name="answer" rows="1" maxlength="{MAX_ANSWER}">{html.escape(candidate.answer)}'
        f'</textarea></label><fieldset class="numbers"><legend>Required sentences</legend>{numbers}</fieldset>'
        f'<fieldset class="links"><legend>Coreferences</legend><ul>{links}</ul>'
        f'<template><li>{_link(None)}</li></template><button type="button" class="plain-button" data-action="add-link">'
        "Add one</button></fieldset></details>"
    )


def _link(link: Coreference | None) -> str:
    kinds = "".join(
        f'<option value="{kind}"{" selected" * (link is not None and link.kind == kind)}>{KIND_WORDS[kind]}</option>'
        for kind in ("pronominal", "nominal")
    )
    return (
        f"{_end('mention', 'Words that point back', link and link.mention)}"
        f"{_end('antecedent', 'What they mean', link and link.antecedent)}"
        f'<label class="small">Kind<select name="kind">{kinds}</select></label>'
        '<button type="button" class="plain-button" data-action="drop-link">Take out</button>'
    )


def _end(role: str, words: str, span: Any) -> str:
    known = {"text": "", "sentence_index": "", "start": "", "end": ""}
    if span is not None:
        known = {"text": span.text, "sentence_index": span.sentence_index, "start": span.start, "end": span.end}
    value = {name: html.escape(str(part)) for name, part in known.items()}
    # The offsets stand only as long as words and sentence do: see review.js.
    return (
        f'<label class="wide">{words}<input name="{role}" maxlength="{MAX_ANSWER}" value="{value["text"]}" '
        f'data-text="{value["text"]}" data-sentence="{value["sentence_index"]}" data-start="{value["start"]}" '
        f'data-end="{value["end"]}"></label><label class="small">in sentence<input name="{role}-sentence" '
        f'inputmode="numeric" pattern="[0-9]*" maxlength="4" value="{value["sentence_index"]}"></label>'
    )


def _guidelines(markdown: str) -> str:
    from markdown_it import MarkdownIt

    # "js-default" leaves HTML in the text as text.
    body = MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image").render(markdown)
    keys = "".join(f"<li><kbd>{key}</kbd> {word}</li>" for key, word in KEYS)
    return (
        '<dialog class="guidelines" aria-label="Guidelines"><div class="guidelines-head"><ul class="keys">'
        f'{keys}</ul><button type="button" class="plain-button" data-action="guide">Close <kbd>Esc</kbd></button></div>'
        f"{body}</dialog>"
    )

"""The Review tab: people judge pairs, one after the other, on the same desk as `generation.review.desk`.

Who somebody is comes from the server's session: on a Space from their Hugging Face account, elsewhere from the name
that they gave at the door; never from what a page sends with a vote.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from generation.errors import BallotError, CraqanError
from generation.review import desk
from generation.review.corrections import Correction
from generation.review.desk import Ballot, Served
from generation.review.store import Store
from space import desk_page
from space.hosting import is_public
from space.limits import can_sign_in

AT_ONCE = 8  # events at a time; SQLite takes turns
ON_LOAD = "window.craqanReview(element, trigger)"
PARTS = {"question": str, "answer": str, "required_sentence_indices": list, "coreferences": list}

Shown = tuple[Any, Any, str]  # the desk, the message below it, who is here


def build(tab: gr.Tab, review: Path | None, kept: Callable[[], None] = lambda: None) -> None:
    """Lay the tab out and wire it; call inside a gr.Blocks. `kept` is called after whatever may have been written."""
    if review is None:
        gr.HTML(desk_page.NO_REVIEW, apply_default_css=False)
        return
    store = Store(review)
    if can_sign_in():
        gr.LoginButton(size="sm", elem_classes="quiet")
    here = gr.State("")
    page = gr.HTML(_door(""), elem_id="review", apply_default_css=False, js_on_load=ON_LOAD)
    message = gr.HTML(elem_id="review-message", apply_default_css=False)

    def act(event: gr.EventData, here: str, profile: gr.OAuthProfile | None) -> Shown:
        try:
            name = _who(here, profile, event)
            shown = _answer(store, name, event)
            kept()
            return shown
        except CraqanError as error:
            return gr.skip(), desk_page.message(str(error), "error"), here

    def look(here: str, profile: gr.OAuthProfile | None) -> Any:
        if here or not is_public():
            return gr.skip()
        return _door(profile.username if profile else "")

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    page.submit(
        act,
        here,
        [page, message, here],
        trigger_mode="multiple",  # "once" drops what a quick reader sends while the last answer is being drawn
        concurrency_limit=AT_ONCE,
        concurrency_id="review",
        **quiet,
    )
    tab.select(look, here, page, **quiet)


def _door(username: str) -> str:
    return desk_page.door_by_account(username, can_sign_in=can_sign_in()) if is_public() else desk_page.door_by_name()


def _who(here: str, profile: gr.OAuthProfile | None, event: gr.EventData) -> str:
    """The name of whoever acts. Raises BallotError if nobody is signed in."""
    if is_public():
        if profile is None:
            raise BallotError("Sign in with your Hugging Face account first.")
        return str(profile.username)
    if _sent(event, "action") == "start":
        return desk.clean_name(_text(event, "name"))
    if not here:
        raise BallotError("This page has lost your name: reload it, and start again. What you have sent is kept.")
    return here


def _answer(store: Store, name: str, event: gr.EventData) -> Shown:
    said = ""
    action = _sent(event, "action")
    if action == "vote":
        pair, vote = store.pair(_text(event, "pair")), desk.send(store, name, _ballot(event))
        said = desk_page.message(desk_page.saved(vote, pair.row["question"]), "good")
    served = _back(store, name, event) if action == "back" else desk.next_pair(store, name)
    if served is None:
        return gr.skip(), desk_page.message("There is no earlier pair of yours."), name
    return desk_page.pair(served, store.guidelines), said, name


def _back(store: Store, name: str, event: gr.EventData) -> Served | None:
    before = _sent(event, "before")
    return desk.reopen(store, name, before if isinstance(before, int) else None)


def _ballot(event: gr.EventData) -> Ballot:
    """What the page sent, each part of its kind. Raises BallotError otherwise."""
    decision, reasons = _text(event, "decision"), _sent(event, "reasons")
    if decision not in ("accept", "reject"):
        raise BallotError("Accept (key a) or reject (key r) the pair first.")
    if not isinstance(reasons, list) or not all(isinstance(r, str) for r in reasons):
        raise BallotError("This page is out of date: reload it.")
    pair, ticket, note = (_text(event, part) for part in ("pair", "ticket", "note"))
    correction = _correction(_sent(event, "correction")) if decision == "reject" else None
    return Ballot(pair, ticket, decision == "accept", reasons, note, correction)


def _correction(sent: Any) -> Correction | None:
    if sent is None:
        return None
    if not isinstance(sent, dict) or not all(isinstance(sent.get(part), kind) for part, kind in PARTS.items()):
        raise BallotError("This page is out of date: reload it.")
    return Correction(**{part: sent[part] for part in PARTS})


def _text(event: gr.EventData, part: str) -> str:
    value = _sent(event, part)
    if not isinstance(value, str):
        raise BallotError("This page is out of date: reload it.")
    return value


def _sent(event: gr.EventData, part: str) -> Any:
    return event._data.get(part) if isinstance(event._data, dict) else None

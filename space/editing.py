"""The sentences before a run: shown as they were split, changed by the visitor, read back with nothing taken on trust.

The page sends what became of them as JSON: {"of": TEXT'S DIGEST, "sections": {ID: [[SENTENCE, OPENS PARAGRAPH]]}}.
"""

import html
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from generation.articles.prose import clean_characters
from generation.errors import InputError
from generation.records import Section, Sentence, digest
from space.limits import MAX_CHARACTERS, MAX_SENTENCES, MIN_SENTENCES, check_text
from space.passage import escape, is_plain, opens_paragraph

ON_LOAD = "window.craqanSentences(element)"
COLLECT = "window.craqanEdits()"
_MAX_SENT = 20 * MAX_CHARACTERS  # characters of JSON, in which one of the text may be written as six
_OUT_OF_DATE = "This page is out of date: reload it."
_LINE = 60  # characters that fit on a line of the editor, about

Pieces = list[tuple[str, bool]]


def editor(text: str, chosen: Sequence[Section], of_all: int) -> str:
    """The sentences of the `chosen` sections, each in a field of its own; `of_all` counts the sections of `text`."""
    count = sum(len(s.sentences) for s in chosen)
    where = "" if len(chosen) == 1 else f" in {len(chosen)} sections"
    more = (
        f'<p class="soft">These {len(chosen)} of {of_all} sections are what one run reads; choose a section for the '
        "others.</p>"
        if 1 < len(chosen) < of_all
        else ""
    )
    tools = "".join(
        f'<button type="button" data-do="{do}" disabled>{words}</button>'
        for do, words in (("split", "Split at the cursor"), ("join", "Join with the next"), ("reset", "As they were"))
    )
    return (
        f'<details class="editor" open data-of="{digest(text)}"><summary>The sentences: {count}'
        f"{where}</summary>"
        '<p class="soft">So the text was split. Change it before the run if you like; what has no tick is left out. '
        "In a sentence, Enter splits it and Backspace at its start joins it to the one before.</p>"
        f'{more}<div class="tools" role="toolbar" aria-label="Change the sentences">{tools}</div>'
        f'<div class="edited">{"".join(_section(s, len(chosen) > 1) for s in chosen)}</div>'
        '<p class="sr" role="status"></p></details>'
    )


def edited(chosen: Sequence[Section], text: str, sent: str) -> list[Section]:
    """The `chosen` sections of `text` as the visitor left them; one without a sentence is left out.

    What was sent for another text, which a quick hand may do, counts as nothing. Raises InputError for what no page
    sends, and for sections that a question cannot be made from any more.
    """
    if not is_of(text, sent):
        return list(chosen)
    given = _read(sent)
    left = [_changed(s, given["sections"][s.id]) if s.id in given["sections"] else s for s in chosen]
    kept = [s for s in left if s.sentences]
    if not kept:
        raise InputError("Every sentence is left out: tick those that a question may be about.")
    if sum(len(s.text) for s in kept) > MAX_CHARACTERS:
        raise InputError(f"The changed sentences have more than {MAX_CHARACTERS:,} characters: leave some out.")
    return kept


def is_of(text: str, sent: str) -> bool:
    """Did the page show the sentences, and hence the sections, of this very text when the run was started?"""
    return bool(sent) and _read(sent)["of"] == digest(text)


def fields(*sent: Any) -> list[str]:
    """What the page's fields hold; one that was never touched comes as None. Raises InputError for what is no text."""
    if not all(field is None or isinstance(field, str) for field in sent):
        raise InputError(_OUT_OF_DATE)
    return [field or "" for field in sent]


def given(sentences: Sequence[str]) -> Section:
    """A section of sentences that somebody split already. Raises InputError for those that no question is made from."""
    if not isinstance(sentences, list) or not all(isinstance(text, str) for text in sentences):
        raise InputError("Give the passage as a list of sentences.")
    text = check_text(" ".join(sentences))
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The sentences have {len(text):,} characters and the limit is {MAX_CHARACTERS:,}.")
    bare = Section("pasted-text/0", "pasted-text", "Pasted text", (), "", 0, 0)
    return _changed(bare, [[sentence, False] for sentence in sentences])


def _section(section: Section, is_named: bool) -> str:
    rows = "".join(
        _row(n, s.text, opens_paragraph(n, section.sentences, section.text)) for n, s in enumerate(section.sentences)
    )
    name = escape(section.title)
    heading = f"<h3>{name}</h3>" if is_named else ""
    return (
        f'{heading}<ol data-section="{html.escape(section.id)}" aria-label="{html.escape(section.title)}">{rows}</ol>'
    )


def _row(number: int, text: str, opens: bool) -> str:
    shown = " ".join("".join(c for c in text if is_plain(c)).split())
    lines = 1 + len(shown) // _LINE
    return (
        f'<li{" data-opens" * opens}><input type="checkbox" checked aria-label="Use sentence {number}">'
        f'<span class="number" aria-hidden="true">{number}</span>'
        f'<textarea rows="{lines}" dir="auto" aria-label="Sentence {number}">{html.escape(shown)}</textarea></li>'
    )


def _read(sent: str) -> dict[str, Any]:
    """{"of", "sections"} with every part of its kind."""
    if len(sent) > _MAX_SENT:
        raise InputError(f"The changed sentences have more than {MAX_CHARACTERS:,} characters: leave some out.")
    try:
        given = json.loads(sent)
    except (ValueError, RecursionError):
        raise InputError(_OUT_OF_DATE) from None
    sections = given.get("sections") if isinstance(given, dict) else None
    if not isinstance(sections, dict) or not isinstance(given.get("of"), str):
        raise InputError(_OUT_OF_DATE)
    if not all(isinstance(pieces, list) and all(map(_is_piece, pieces)) for pieces in sections.values()):
        raise InputError(_OUT_OF_DATE)
    return given


def _is_piece(piece: Any) -> bool:
    return isinstance(piece, list) and [type(part) for part in piece] == [str, bool]


def _changed(section: Section, sent: list[list[Any]]) -> Section:
    """`section` if the sentences are still its own, else one of the sentences that were sent."""
    pieces = [(_tidied(text), opens) for text, opens in sent]
    pieces = [piece for piece in pieces if piece[0]]
    if [text for text, _ in pieces] == [_tidied(s.text) for s in section.sentences]:
        return section
    if pieces and len(pieces) < MIN_SENTENCES:
        left = "1 sentence is" if len(pieces) == 1 else f"{len(pieces)} sentences are"
        raise InputError(f"Only {left} left of “{section.title}”: a question needs {MIN_SENTENCES}, or leave out all.")
    if len(pieces) > MAX_SENTENCES:
        raise InputError(f"“{section.title}” now has {len(pieces)} sentences and the limit is {MAX_SENTENCES}.")
    return _rebuilt(section, pieces)


def _tidied(text: str) -> str:
    """On one line, without what the editor does not show."""
    return " ".join("".join(c for c in clean_characters(text) if is_plain(c)).split())


def _rebuilt(section: Section, pieces: Pieces) -> Section:
    """A section of its own, since its offsets no longer count from the article; it says that it was edited."""
    text, sentences = "", []
    for piece, opens in pieces:
        text += ("\n\n" if opens else " ") if text else ""
        sentences.append(Sentence(piece, len(text), len(text) + len(piece)))
        text += piece
    return replace(
        section,
        id=f"{section.article_id}/edited-{digest(text, 8)}",
        text=text,
        start=0,
        end=len(text),
        sentences=tuple(sentences),
        segmenter=f"{section.segmenter}, edited by hand" if section.segmenter else "given by hand",
    )

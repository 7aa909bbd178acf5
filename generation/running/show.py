"""Pairs for a person, in the terminal: the passage with its required sentences lit and the coreferences marked."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

if TYPE_CHECKING:
    from generation.client.calls import Call

REQUIRED = "bold"
MENTION = "bold black on bright_yellow"
ANTECEDENT = "bold black on bright_cyan"
OTHER = "dim"


def show(rows: Iterable[Mapping[str, Any]], console: Console, limit: int | None = None) -> int:
    """Print up to `limit` rows of accepted, rejected or released pairs; the number printed comes back."""
    count = 0
    for row in rows:
        if limit is not None and count >= limit:
            break
        count += 1
        console.print(
            Panel(_body(row), title=_title(row, count), title_align="left", border_style="blue", padding=(0, 1))
        )
    return count


def _title(row: Mapping[str, Any], number: int) -> Text:
    path = " > ".join(row.get("section_path") or ()) or "Summary"
    return Text(harmless(f"{number}. {row.get('article_title', '')} · {path}"))


def _body(row: Mapping[str, Any]) -> RenderableType:
    parts: list[RenderableType] = [passage(row)]
    if row.get("question"):
        parts += [Text(""), _line("Q", row["question"]), _line("A", row["answer"])]
        for coreference in row.get("coreferences") or ():
            parts.append(_coreference(coreference))
    if row.get("reason"):
        label, style = ("Accepted, but", "yellow") if _is_accepted(row) else ("Not accepted", "red")
        parts.append(_line(label, row["reason"], style))
    if row.get("generator"):
        parts.append(Text(f"made by {row['generator']}", style=OTHER))
    return Group(*parts)


def _is_accepted(row: Mapping[str, Any]) -> bool:
    """Did all reviewers of the last round agree, and has nothing else turned the pair down?"""
    verdicts = [v for r in list(row.get("rounds") or ())[-1:] for v in r["verdicts"]]
    return bool(verdicts) and all(v["is_quality"] for v in verdicts) and not row.get("problems")


def _line(label: str, text: str, style: str = "bold green") -> Text:
    return Text.assemble((f"{label}  ", style), harmless(text))


def _coreference(coreference: Mapping[str, Any]) -> Text:
    mention, antecedent = coreference["mention"], coreference["antecedent"]
    return Text.assemble(
        ("   ", ""),
        (harmless(mention["text"]), MENTION),
        (f" [{mention['sentence_index']}] refers to ", ""),
        (harmless(antecedent["text"]), ANTECEDENT),
        (f" [{antecedent['sentence_index']}]  ({coreference['kind']})", OTHER),
    )


def passage(row: Mapping[str, Any]) -> Text:
    """The section's sentences, numbered; required ones bold, mentions and antecedents on colour, the rest dim."""
    required = set(row.get("required_sentence_indices") or ())
    text = Text()
    for index, sentence in enumerate(row["sentences"]):
        shown = harmless(sentence["text"] if isinstance(sentence, Mapping) else sentence)
        marker = "▸" if index in required else " "
        text.append(f"{marker}{index:>2} ", style="green" if index in required else OTHER)
        start = len(text)
        text.append(shown, style=REQUIRED if index in required else OTHER)
        for coreference in row.get("coreferences") or ():
            for role, style in (("mention", MENTION), ("antecedent", ANTECEDENT)):
                span = coreference[role]
                if span["sentence_index"] == index and span["start"] >= 0:
                    text.stylize(style, start + span["start"], start + span["end"])
        text.append("\n")
    text.rstrip()
    return text


def show_calls(journal: Path, console: Console, scope: str = "", full: bool = False) -> None:
    """Print the calls of a journal, one line each, or whole as JSON lines if `full`; only those of `scope` if given.

    A last line on standard error says how many there are, and how many of them have no answer.
    """
    from generation.journal import Journal

    count, unanswered = 0, 0
    with Journal(journal, create=False) as found:
        for call in found.calls():
            if scope and call.request.scope != scope:
                continue
            count += 1
            unanswered += call.reply is None
            if full:
                print(json.dumps(asdict(call), ensure_ascii=False, default=str))
            else:
                console.print(_call_line(call), soft_wrap=True)
    about = f" on {scope}" if scope else ""
    print(f"{count} calls{about}, {unanswered} of them without an answer.", file=sys.stderr)


def _call_line(call: "Call") -> Text:
    answer = " ".join((call.reply.text if call.reply else "").split())
    tokens = f"{call.reply.usage.prompt_tokens}+{call.reply.usage.completion_tokens}" if call.reply else "-"
    style = "" if call.status == "ok" else "red"
    return Text(
        harmless(f"{call.request.scope}  {call.request.role}  {call.status}  {tokens} tokens  {answer[:100]}"),
        style=style,
    )


def harmless(text: str) -> str:
    """`text` with control, format and bidi characters replaced one for one, so that it cannot drive the terminal."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)

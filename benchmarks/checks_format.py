"""Lines that break the format of a candidate, as models and files break it."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Row = dict[str, Any]
KINDS_A_PAIR = 5


def spoiled(row: Row, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Some kinds of broken lines made from `row`: (kind, line)."""
    kinds = {**LINES, **FIELDS} | (SPANS if row.get("coreferences") else {})
    for kind in rng.sample(sorted(kinds), KINDS_A_PAIR):
        copy = json.loads(json.dumps(row))
        made = kinds[kind](copy, rng)
        yield kind, made if isinstance(made, str) else json.dumps(copy, ensure_ascii=False)


def _indices(change: Callable[[list[int], Row, random.Random], Any]) -> Callable[[Row, random.Random], None]:
    def spoil(row: Row, rng: random.Random) -> None:
        row["required_sentence_indices"] = change(row["required_sentence_indices"], row, rng)

    return spoil


def _text(name: str, change: Callable[[str], Any]) -> Callable[[Row, random.Random], None]:
    def spoil(row: Row, rng: random.Random) -> None:
        row[name] = change(row[name])

    return spoil


def _without(name: str) -> Callable[[Row, random.Random], None]:
    return lambda row, rng: row.pop(name) and None


def _line(change: Callable[[str], str]) -> Callable[[Row, random.Random], str]:
    return lambda row, rng: change(json.dumps(row, ensure_ascii=False))


def _shifted(row: Row, rng: random.Random) -> None:
    span = rng.choice(row["coreferences"])[rng.choice(("mention", "antecedent"))]
    span["start"] += 1


def _foreign(row: Row, rng: random.Random) -> None:
    rng.choice(row["coreferences"])["mention"]["text"] = "the undersigned"


def _span_outside(row: Row, rng: random.Random) -> None:
    rng.choice(row["coreferences"])["antecedent"]["sentence_index"] = len(row["sentences"])


LINES = {
    "JSON cut off": _line(lambda text: text[: len(text) * 2 // 3]),
    "code fence": _line(lambda text: f"```json {text} ```"),
    "words before the JSON": _line(lambda text: f"Here is the pair: {text}"),
    "a list instead of an object": _line(lambda text: f"[{text}]"),
    "Python instead of JSON": _line(lambda text: repr(json.loads(text))),
}
FIELDS = {
    "indices as strings": _indices(lambda old, row, rng: [str(i) for i in old]),
    "indices as one string": _indices(lambda old, row, rng: ", ".join(map(str, old))),
    "indices as numbers with a point": _indices(lambda old, row, rng: [i + 0.5 for i in old]),
    "index out of range": _indices(lambda old, row, rng: [*old[:-1], len(row["sentences"]) + rng.randrange(3)]),
    "negative index": _indices(lambda old, row, rng: [-1, *old[1:]]),
    "index twice": _indices(lambda old, row, rng: [old[0], *old[:1], *old[2:]]),
    "one index": _indices(lambda old, row, rng: old[:1]),
    "no index": _indices(lambda old, row, rng: []),
    "four indices": _indices(lambda old, row, rng: sorted({*old, *range(len(row["sentences"]))})[:4]),
    "indices missing": _without("required_sentence_indices"),
    "question missing": _without("question"),
    "answer missing": _without("answer"),
    "answer a list": _text("answer", lambda old: [old]),
    "answer null": _text("answer", lambda old: None),
    "answer empty": _text("answer", lambda old: " "),
    "question empty": _text("question", lambda old: ""),
    "answer labelled": _text("answer", lambda old: f"Answer: {old}"),
    "question labelled": _text("question", lambda old: f"Question: {old}"),
    "no question mark": _text("question", lambda old: old.rstrip("? ")),
    "a statement": _text("question", lambda old: "It is stated that this is so."),
    "Markdown": _text("answer", lambda old: f"**{old}**"),
    "tags": _text("answer", lambda old: f"<answer>{old}</answer>"),
    "question and answer in one": _text("question", lambda old: f"{old} Answer: see below"),
    "placeholder": _text("answer", lambda old: "<answer>"),
    "bracket left open": _text("answer", lambda old: f"{old} (see"),
    "line breaks": _text("question", lambda old: old.replace(" ", "\n\n- ", 1)),
}
SPANS = {"span shifted": _shifted, "span of other text": _foreign, "span outside": _span_outside}

"""The blocks of the card and the datasheet, in Markdown, from the figures of a set."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from generation.releases.figures import PAPER_COUNTS, PAPER_QUANTILES, PAPER_REASONS, Agreement, Figures, quantiles
from generation.releases.licences import name_of
from generation.releases.plots import CAPTIONS

_COUNTS = {
    "articles": "Articles with pairs",
    "pairs": "Pairs",
    "from a summary": "Pairs from a summary",
    "from another section": "Pairs from another section",
    "two sentences": "Pairs that require 2 sentences",
    "three sentences": "Pairs that require 3 sentences",
}
_LENGTHS = {
    "sections": "Sections per article",
    "sentences": "Sentences per section",
    "words": "Words per section",
    "distance": "Sentences between coreferences",
    "question words": "Words per question",
    "answer words": "Words per answer",
}

_PROOF = {
    "read": "candidates that a reader was asked about",
    "section": "right from the whole section",
    "required": "right from the required sentences alone",
    "needed": "not right with any one of the required sentences left out",
    "proven": "all three: proven",
    "replaceable": "right from the section without some required sentence",
    "nothing": "right from nothing: known or guessed",
}

_LOAD = """\
```python
from datasets import load_dataset

pairs = load_dataset("ORG/NAME", revision="vVERSION", split="test")  # ORG/NAME: where you found this card
```"""


def blocks(
    figures: Figures,
    *,
    licence: str,
    version: str = "VERSION",
    pictures: Iterable[str] = (),
    notes: Sequence[str] = (),
    picture_folder: str = "",
    evaluation: str = "",
) -> dict[str, str]:
    """{name: Markdown} of all that is made from the data.

    `notes` are limits and exceptions to be told, `evaluation` what was measured with these very rows, if it was.
    """
    return {
        "load": _LOAD.replace("VERSION", version),
        "splits": splits(figures),
        "characteristics": characteristics(figures),
        "pictures": "\n\n".join(f"![{CAPTIONS[name]}]({picture_folder}/{name}.png)" for name in pictures) or "None.",
        "reasons": reasons(figures),
        "yield": stages(figures),
        "agreement": agreement(figures),
        "proof": proof(figures),
        "evaluation": evaluation or "Not measured with these rows: `craqan evaluate` does it.",
        "makers": makers(figures),
        "licences": licences(figures, licence),
        "limits": "\n".join(f"- {note}" for note in [*limits(figures), *notes]),
    }


def splits(figures: Figures) -> str:
    return _table(
        ("config", "train", "validation", "test"),
        ([f"`{c}`", *(s.get(n, 0) for n in ("train", "validation", "test"))] for c, s in figures.splits.items() if s),
    )


def characteristics(figures: Figures) -> str:
    """Table 1 beside the paper's."""
    counts = [(label, figures.counts[name], PAPER_COUNTS.get(name, "")) for name, label in _COUNTS.items()]
    lengths = [
        (label, _three(quantiles(figures.lengths[name])), _three(PAPER_QUANTILES.get(name, ())))
        for name, label in _LENGTHS.items()
    ]
    kinds = ", ".join(f"{count} {kind}" for kind, count in figures.kinds.items()) or "none labelled"
    return "\n\n".join(
        [
            _table(("", "this set", "CRaQAn 2023"), counts),
            _table(("10 %, 50 % and 90 % quantile", "this set", "CRaQAn 2023"), lengths),
            f"Coreferences: {kinds}.",
        ]
    )


def reasons(figures: Figures) -> str:
    """Table 2 beside the paper's; a candidate may have several reasons."""
    order = sorted(figures.reasons, key=lambda code: -PAPER_REASONS[code])
    table = _table(
        ("reason", "this set", "CRaQAn 2023"),
        ((code.replace("_", " "), figures.reasons[code], PAPER_REASONS[code]) for code in order),
    )
    return f"{table}\n\nA candidate may be turned down for several reasons; the paper's are those that people gave."


def stages(figures: Figures) -> str:
    """How many were left after each stage."""
    count, stage = figures.counts, figures.stages
    seen = count["pairs"] + count["rejected"]
    read = sum(n for people, n in figures.people.items() if people != "0")
    rows: list[tuple[Any, ...]] = []
    if stage.sections:
        rows.append(("sections given to a run", stage.sections, ""))
        rows.append(("nothing was offered for", stage.nothing_offered, _share(stage.nothing_offered, stage.sections)))
        rows.append(("failed", stage.failed, _share(stage.failed, stage.sections)))
        rows.append(("not finished", stage.pending, _share(stage.pending, stage.sections)))
    rows += [
        ("candidates", seen, ""),
        ("turned down", count["rejected"], _share(count["rejected"], seen)),
        ("released", count["pairs"], _share(count["pairs"], seen)),
        ("of them read by people", read, _share(read, count["pairs"])),
    ]
    table = _table(("stage", "count", "share"), rows)
    rounds = ", ".join(f"{n} after {_several(r, 'round')}" for r, n in figures.rounds.items())
    return f"{table}\n\nSettled: {rounds or 'not known'}. In the paper 348 of 578 (60.2 %) passed."


def agreement(figures: Figures) -> str:
    if not figures.agreement:
        return "No pair has two verdicts to compare."
    text = _table(
        ("verdicts of", "pairs", "raw agreement", "Krippendorff's alpha"), (_agreement(a) for a in figures.agreement)
    )
    return text + (f"\n\nThe median person took {figures.minutes:.1f} minutes for a pair." if figures.minutes else "")


def proof(figures: Figures) -> str:
    """How the experiment came out that leaves sentences out."""
    if not figures.proof.get("read"):
        return "No reader was asked whether each required sentence is needed."
    total = figures.proof["read"]
    return _table(
        ("answers of the reader", "candidates", "share"),
        (
            (label, figures.proof[n], "" if n == "read" else _share(figures.proof[n], total))
            for n, label in _PROOF.items()
        ),
    )


def makers(figures: Figures) -> str:
    """Models and recipes, and what they cost."""
    stage = figures.stages
    reviewers = ((who, given, against) for who, (given, against) in figures.reviewers.items())
    tokens = stage.prompt_tokens + stage.completion_tokens
    cost = f"{tokens:,} tokens" if tokens else "no count of tokens was kept"
    dollars = f", {stage.usd:.2f} US dollars" if stage.usd else ""
    return "\n\n".join(
        [
            _table(("made by", "candidates"), figures.generators.items()),
            _table(("judged by", "verdicts", "rejections"), reviewers),
            _table(("recipe", "candidates"), ((f"`{r}`", n) for r, n in figures.recipes.items())),
            f"Cost: {cost}{dollars}.",
        ]
    )


def licences(figures: Figures, licence: str) -> str:
    table = _table(("licence of the text", "articles"), ((name_of(n), c) for n, c in figures.licences.items()))
    return f"The set: {licence}.\n\n{table}"


def limits(figures: Figures) -> list[str]:
    """What the figures themselves say against the set."""
    count, found = figures.counts, []
    unread = figures.people.get("0", 0)
    if unread:
        found.append(f"{unread} of {count['pairs']} pairs were read by no person; `human_reviews` is 0 there.")
    if count["pairs"] < 1000:
        found.append(f"{count['pairs']} pairs are enough to test and compare, not to train on.")
    if len(figures.domains) == 1:
        found.append(f"All pairs are of one domain ({next(iter(figures.domains))}).")
    models = [name for name in figures.generators if name.startswith("model:")]
    if models:
        found.append(f"The questions are those that {' and '.join(models)} would ask; other models may find them easy.")
    if known := figures.proof.get("nothing"):
        share = _share(known, figures.proof["read"])
        found.append(
            f"Of the answers, the reader of the proof knew or guessed {share} without any text: ask closed book too."
        )
    test = figures.splits.get("default", {}).get("test", 0)
    if test < 100:
        found.append(f"The test split has {test} pairs: give intervals with scores.")
    return found


def exceptions(allowed: Mapping[str, Sequence[str]]) -> list[str]:
    """One note for each gate that was overruled."""
    more = {name: f" (and {len(found) - 1} more)" if len(found) > 1 else "" for name, found in allowed.items()}
    return [f"Exception from the gate `{name}`: {_cell(found[0])}{more[name]}." for name, found in allowed.items()]


def _agreement(a: Agreement) -> tuple[Any, ...]:
    return a.who, a.pairs, f"{100 * a.raw:.1f} %", "none: all say the same" if a.alpha is None else f"{a.alpha:.2f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(value: Any) -> str:
    """Text from the data cannot break out of its cell, or become HTML."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "&lt;")


def _three(values: Sequence[float]) -> str:
    return ", ".join(f"{v:.1f}".removesuffix(".0") for v in values)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"

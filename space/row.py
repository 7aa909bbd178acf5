"""One row in full, as HTML: its passage drawn, where it comes from, and how to use it."""

import json
from collections.abc import Mapping, Sequence

import craqan
from generation.dataset import section_from
from generation.records import Round, Verdict, candidate_from_dict
from space import hosting, rounds
from space.passage import drawn, escape, is_plain
from space.shelf import Row

DIVISIONS = {"random": "at random", "domain": "by domain"}


def opened(row: Row, provenance: Row | None = None, splits: Mapping[str, str] | None = None) -> str:
    """One row in full: question, answer, drawn passage, derivation and where it comes from.

    `splits` tells where the row is in the configs that divide the pairs otherwise, by their names.
    """
    candidate = candidate_from_dict(row)
    section = section_from(row)
    is_rejected = "rejected_by" in row
    steps = "" if is_rejected else _derivation(row["derivation"])
    story = _rejection(row, provenance) if is_rejected else _provenance(row, provenance, splits or {})
    place = f"{escape(section.article_title)} › {escape(section.title)}"
    return (
        f'<article class="open-row"><a class="back" href="#rows">Back to the list</a>'
        f'{rounds.pair(candidate)}<p class="place">{place}</p>'
        f"{drawn(section.sentences, section.text, candidate)}{steps}{story}{_for_programs(row)}</article>"
    )


def _derivation(steps: Sequence[Row]) -> str:
    items = "".join(
        f"<li><span>{escape(s['head'])}</span> <i>{escape(s['relation'])}</i> <span>{escape(s['tail'])}</span> "
        f'<span class="soft">sentence {s["sentence_index"]}</span></li>'
        for s in steps
    )
    return f'<section class="derivation"><h3>Derivation</h3><ol>{items}</ol></section>' if items else ""


def _provenance(row: Row, provenance: Row | None, splits: Mapping[str, str]) -> str:
    people = row["human_reviews"]
    facts = {
        "Made by": rounds.maker_words(row["generator"]),
        "Reviewed by": ", ".join(rounds.maker_words(r) for r in row["reviewed_by"]) or "nobody yet",
        "Read by people": {0: "not yet", 1: "1 person"}.get(people, f"{people} people"),
        "Split": ", ".join([row.get("split", ""), *(f"{s} if split {DIVISIONS[c]}" for c, s in splits.items())]),
        "Id": row["id"],
    }
    items = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items() if value)
    how = _history(provenance) if provenance else ""
    return f'<section class="provenance"><h3>Where it comes from</h3><dl class="pair">{items}</dl>{how}</section>'


def _history(provenance: Row) -> str:
    return f"{_rounds(provenance)}{_proof(provenance['proof'])}{_votes(provenance['votes'])}"


def _rounds(provenance: Row) -> str:
    read = [
        Round(
            r["index"],
            candidate_from_dict(r),
            tuple(Verdict(v["reviewer"], v["is_quality"], v["reason"], tuple(v["problems"])) for v in r["verdicts"]),
        )
        for r in provenance["rounds"]
    ]
    if not read:
        return ""
    counted = "1 round" if len(read) == 1 else f"{len(read)} rounds"
    return f"<details><summary>How it was made: {counted}</summary>{rounds.rounds(read)}</details>"


def _rejection(row: Row, provenance: Row | None) -> str:
    """Who turned a pair down, and why."""
    by = ", ".join(escape(rounds.maker_words(name)) for name in row["rejected_by"])
    problems = "".join(f"<li>{rounds.PROBLEM_WORDS[p]}</li>" for p in row["problems"])
    return (
        f'<section class="provenance"><h3>Why it was rejected</h3><p dir="auto">{escape(row["reason"])}</p>'
        f'<ul class="problems">{problems}</ul><dl class="pair"><dt>Rejected by</dt><dd>{by}</dd>'
        f"<dt>Made by</dt><dd>{escape(rounds.maker_words(row['generator']))}</dd>"
        f"<dt>Id</dt><dd>{escape(row['id'])}</dd></dl>{_history(provenance) if provenance else ''}</section>"
    )


def _proof(readings: Sequence[Row]) -> str:
    """What a reader answered from which part of the passage, and what follows from it."""
    lines = "".join(
        f'<tr><th scope="row">{_shown(r["context"])}</th><td dir="auto">{escape(r["answer"]) or "no answer"}</td>'
        f'<td class="{"yes" if r["is_right"] else "soft"}">{"right" if r["is_right"] else "not the answer"}</td></tr>'
        for r in readings
    )
    if not lines:
        return ""
    head = '<tr><th scope="col">Shown</th><th scope="col">A reader answers</th><th scope="col">Which is</th></tr>'
    return (
        f"<details><summary>Is every sentence needed? The proof</summary><p>{_follows(readings)}</p>"
        f'<table class="matrix"><thead>{head}</thead><tbody>{lines}</tbody></table></details>'
    )


def _shown(context: str) -> str:
    """A context's name in the words of a visitor."""
    whole, without, index = context.partition(" without ")
    words = {"section": "the whole section", "required": "only the required sentences", "nothing": "nothing at all"}
    if without:
        words = {"section": f"the section without sentence {index}", "required": f"the required ones without {index}"}
    return escape(words.get(whole, context))


def _follows(readings: Sequence[Row]) -> str:
    """In a sentence, as far as the readings tell."""
    right = {r["context"]: r["is_right"] for r in readings}
    spare = [c.removeprefix("required without ") for c, is_right in right.items() if is_right and "required wi" in c]
    if not right.get("section"):
        return "Open: the reader did not find the answer in the whole section."
    if not right.get("required"):
        return "Not proven: the required sentences alone did not give the answer."
    if spare:
        return f"Not proven: the answer came without sentence {escape(' or '.join(spare))} as well."
    proven = "Proven: the required sentences give the answer, and no longer do so when any of them is left out."
    known = " Shown nothing, the reader gave it too: known from elsewhere, or guessed." if right.get("nothing") else ""
    return proven + known


def _votes(votes: Sequence[Row]) -> str:
    lines = "".join(
        f"<li><b>{escape(rounds.maker_words(v['reviewer']))}</b> {'accepts' if v['is_quality'] else 'rejects'}"
        f'<p dir="auto">{escape(v["reason"])}</p></li>'
        for v in votes
    )
    counted = "1 vote" if len(votes) == 1 else f"{len(votes)} votes"
    return f'<details><summary>{counted}</summary><ul class="votes">{lines}</ul></details>' if lines else ""


def _for_programs(row: Row) -> str:
    """The row as JSON, and the code that loads it."""
    config = "rejected" if "rejected_by" in row else "default"
    split = row.get("split") or "train"
    columns = {name: row[name] for name in craqan.FEATURES[config] if name in row}
    repo, tag = hosting.dataset()
    revision = f", revision={json.dumps(tag)}" if tag else ""
    code = (
        "from datasets import load_dataset\n\n"
        f'rows = load_dataset("{repo}", "{config}", split="{split}"{revision})\n'
        f'row = rows.filter(lambda row: row["id"] == "{row["id"]}")[0]'
    )
    return (
        f"<details><summary>Use this row</summary>{_code('Load it', code)}{_code('As JSON', _json(columns))}</details>"
    )


def _json(columns: Row) -> str:
    """As JSON; what the page would not show as itself is written as an escape, so that a copy is still the row."""
    text = json.dumps(columns, ensure_ascii=False, indent=1)
    return "".join(c if is_plain(c) else json.dumps(c)[1:-1] for c in text)


def _code(title: str, text: str) -> str:
    return (
        f'<div class="code"><strong>{title}</strong><button type="button" data-copy>Copy</button>'
        f'<pre tabindex="0" aria-label="{title}"><code>{escape(text)}</code></pre></div>'
    )

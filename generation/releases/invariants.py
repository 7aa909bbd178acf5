"""What must hold of every row of the dataset, and among the rows of a folder.

Offsets point at their text, ids are content hashes, a pair requires two or three sentences that exist, a coreference
links two of them, no article is in two splits, and what one config says of an id another does not deny.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generation.dataset import Row, Tables, read_tables
from generation.errors import InvariantError
from generation.records import PROBLEM_CODES, candidate_from_dict, pair_id

_KINDS = ("pronominal", "nominal")
_MAKERS = ("model:", "rules", "person:")
_REVIEWERS = ("checks", "proof", "model:", "rules", "person:")


def check_row(config: str, row: Mapping[str, Any]) -> None:
    """Raise InvariantError, naming the row and the first breach, unless `row` may stand in `config` by itself."""
    import craqan

    name = _name(config, row)
    try:
        craqan.check_columns(row, craqan.FEATURES[config], name)
    except craqan.DataError as error:
        raise InvariantError(str(error)) from error
    for breach in breaches_of(config, row):
        raise InvariantError(f"{breach}.")


def breaches_of(config: str, row: Mapping[str, Any]) -> Iterator[str]:
    """What `row`, which has the columns and types of `config`, breaks by itself, each a sentence without its stop."""
    name = _name(config, row)
    for breach in _OF_CONFIG[config](row):
        yield f"{name}: {breach}"


def check_folder(data_dir: Path | str) -> dict[str, dict[str, int]]:
    """Check every row of a data folder and what must hold among them; returns {config: {split: number of rows}}.

    Raises InvariantError naming file, line, row and breach; UsageError if the folder holds no data.
    """
    tables: Tables = {}
    for config, splits in read_tables(Path(data_dir)).items():
        for split, rows in splits.items():
            for where, row in rows:
                try:
                    check_row(config, row)
                except InvariantError as error:
                    raise InvariantError(f"{where}: {error}") from error
            tables.setdefault(config, {})[split] = [row for _, row in rows]
    check_tables(tables)
    return {config: {split: len(rows) for split, rows in splits.items()} for config, splits in tables.items()}


def check_tables(tables: Tables) -> None:
    """Raise InvariantError for the first breach among rows that each hold by themselves."""
    for breach in breaches_among(tables):
        raise InvariantError(f"{breach}.")


def _name(config: str, row: Mapping[str, Any]) -> str:
    return f"{config} row {row.get('id') or row.get('article_id') or row.get('question') or '(without a name)'}"


def _passage(row: Mapping[str, Any]) -> Iterator[str]:
    end = 0
    for i, sentence in enumerate(row["sentences"]):
        if row["section_text"][sentence["start"] : sentence["end"]] != sentence["text"] or not sentence["text"].strip():
            yield f"sentence {i} is not section_text[{sentence['start']}:{sentence['end']}]"
        if sentence["start"] < end:
            yield f"sentence {i} starts before the end of the one before it"
        end = sentence["end"]
    if row["id"] != pair_id([s["text"] for s in row["sentences"]], candidate_from_dict(row)):
        yield "its id is not the hash of its sentences, question, answer and required indices"
    for column in ("article_id", "article_title", "section_id", "question", "answer"):
        if not row[column] or row[column] != row[column].strip():
            yield f"{column} is empty or has white space around it"
    yield from _label("generator", [row["generator"]], _MAKERS)


def _label(column: str, labels: list[str], known: tuple[str, ...]) -> Iterator[str]:
    for label in labels:
        if not label.startswith(known) or label.endswith(":"):
            yield f'{column} "{label}" does not begin with one of {", ".join(known)}'


def _problems(problems: list[str], *, wanted: bool) -> Iterator[str]:
    unknown = [p for p in problems if p not in PROBLEM_CODES]
    if unknown or bool(problems) != wanted or len(set(problems)) < len(problems):
        yield f"problems {problems} should be {'some codes' if wanted else 'empty'} of {', '.join(PROBLEM_CODES)}"


def _required(indices: list[int], count: int) -> Iterator[str]:
    if len(indices) not in (2, 3):
        yield f"it requires {len(indices)} sentences, not 2 or 3"
    if indices != sorted(set(indices)):
        yield f"required indices {indices} are not sorted and unique"
    if indices and not (min(indices) >= 0 and max(indices) < count):
        yield f"required indices {indices} reach outside its {count} sentences"


def _default(row: Mapping[str, Any]) -> Iterator[str]:
    yield from _required(row["required_sentence_indices"], len(row["sentences"]))
    yield from _passage(row)
    for i, coreference in enumerate(row["coreferences"]):
        for breach in _coreference(coreference, row):
            yield f"coreference {i}: {breach}"
    for i, step in enumerate(row["derivation"]):
        if step["sentence_index"] not in row["required_sentence_indices"]:
            yield f"derivation step {i} is read off sentence {step['sentence_index']}, which is not required"
        if not all(step[part].strip() for part in ("head", "relation", "tail")):
            yield f"derivation step {i} has an empty part"
    candidate = candidate_from_dict(row)
    for column in ("kind", "distance"):
        if row[column] != getattr(candidate, column):
            yield f"{column} is {row[column]!r}, but follows to be {getattr(candidate, column)!r}"
    yield from _label("reviewed_by", row["reviewed_by"], _REVIEWERS)
    people = [r for r in row["reviewed_by"] if r.startswith("person:")]
    if not len(people) <= row["human_reviews"] or bool(people) != bool(row["human_reviews"]):
        yield f"human_reviews is {row['human_reviews']}, but reviewed_by names {len(people)} people"


def _coreference(coreference: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[str]:
    if coreference["kind"] not in _KINDS:
        yield f'kind "{coreference["kind"]}" is neither {" nor ".join(_KINDS)}'
    for end in ("mention", "antecedent"):
        span = coreference[end]
        if span["sentence_index"] not in row["required_sentence_indices"]:
            yield f"the {end} is in sentence {span['sentence_index']}, which is not required"
            return
        text = row["sentences"][span["sentence_index"]]["text"]
        if not 0 <= span["start"] < span["end"] or text[span["start"] : span["end"]] != span["text"]:
            yield f"the {end} {span['text']!r} is not at [{span['start']}:{span['end']}] of its sentence"
    if coreference["mention"]["sentence_index"] <= coreference["antecedent"]["sentence_index"]:
        yield "the mention is not in a later sentence than its antecedent"


def _rejected(row: Mapping[str, Any]) -> Iterator[str]:
    # What a rejected candidate says may be wrong in any way: that can be why it was rejected.
    yield from _passage(row)
    yield from _label("rejected_by", row["rejected_by"], _REVIEWERS)
    yield from _problems(row["problems"], wanted=True)
    if not row["rejected_by"] or not row["reason"].strip():
        yield "it does not say by whom and why it was rejected"


def _articles(row: Mapping[str, Any]) -> Iterator[str]:
    end = 0
    for section in row["sections"]:
        start = section["start"]
        if not end <= start < section["end"] <= len(row["text"]):
            yield f"section {section['section_id']} overlaps another or reaches outside the text"
        if not row["text"][start : section["end"]].strip():
            yield f"section {section['section_id']} is blank"
        end = section["end"]
    ids = [s["section_id"] for s in row["sections"]]
    if not ids or len(set(ids)) < len(ids):
        yield "it has no sections, or two with one id"
    for column in ("article_id", "article_title", "license", "author"):
        if not row[column].strip():
            yield f"{column} is empty"


def _provenance(row: Mapping[str, Any]) -> Iterator[str]:
    yield from _label("generator", [row["generator"]], _MAKERS)
    if [r["index"] for r in row["rounds"]] != [*range(len(row["rounds"]))] or not row["rounds"]:
        yield "its rounds do not count up from 0"
    for i, verdict in enumerate([v for r in row["rounds"] for v in r["verdicts"]] + row["votes"]):
        for breach in _problems(verdict["problems"], wanted=not verdict["is_quality"]):
            yield f"verdict {i} by {verdict['reviewer']}: {breach}"
        yield from _label("reviewer", [verdict["reviewer"]], _REVIEWERS)


def _v1(row: Mapping[str, Any]) -> Iterator[str]:
    sections, index = row["article_sections"], row["section_index"]
    if len(sections) != len(row["article_titles"]):
        yield "it has not as many article_titles as article_sections"
    if not 0 <= index < len(sections) or sections[index] != row["section"]:
        yield "section is not article_sections[section_index]"
    if not all(section in row["article"] for section in sections):
        yield "a section is not in the article"
    try:
        items = json.loads(row["section_sentences"])
        sentences = [item["sentence"] for item in items]
        labels = [item["index"] for item in items]
    except (ValueError, TypeError, KeyError):
        yield 'section_sentences is not a JSON list of {"index", "sentence"}'
        return
    if labels != [*range(len(sentences))] or not all(s in row["section"] for s in sentences):
        yield "section_sentences do not count up from 0, or are not in the section"
    yield from _required(row["sentences_required"], len(sentences))


_OF_CONFIG = {
    "default": _default,
    "articles": _articles,
    "provenance": _provenance,
    "rejected": _rejected,
    "v1": _v1,
    "random": _default,
    "domain": _default,
    "original": _default,
}


def breaches_among(tables: Tables) -> Iterator[str]:
    """What rows break together that each hold by themselves."""
    pairs = [(s, row) for c in ("default", "rejected") for s, rows in tables.get(c, {}).items() for row in rows]
    yield from _twice("id", [row["id"] for _, row in pairs])
    yield from _twice("article_id", [row["article_id"] for rows in tables.get("articles", {}).values() for row in rows])
    yield from _splits(pairs, tables)
    yield from _passages(pairs, tables)
    yield from _histories(tables)
    if "v1" in tables:
        known = {row["id"] for rows in tables.get("default", {}).values() for row in rows}
        if (of_v1 := [_v1_id(row) for rows in tables["v1"].values() for row in rows]) and set(of_v1) != known:
            yield f"v1 and default differ in {len(set(of_v1) ^ known)} pairs"
        yield from _twice("pair of v1", of_v1)
    for config in ("random", "domain"):
        yield from _same_rows(config, tables)


def _same_rows(config: str, tables: Tables) -> Iterator[str]:
    here, there = (
        sorted((r for rows in tables.get(c, {}).values() for r in rows), key=lambda r: r["id"])
        for c in (config, "default")
    )
    if here and here != there:
        yield f"{config} does not hold the rows of default, each once"


def _twice(what: str, ids: list[str]) -> Iterator[str]:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            yield f"{what} {id} is there twice"
        seen.add(id)


def _splits(pairs: list[tuple[str, Row]], tables: Tables) -> Iterator[str]:
    home: dict[str, str] = {}
    rows = pairs + [(split, row) for split, rows in tables.get("articles", {}).items() for row in rows]
    for split, row in rows:
        if home.setdefault(row["article_id"], split) != split:
            yield f"article {row['article_id']} is in two splits, {home[row['article_id']]} and {split}"


def _passages(pairs: list[tuple[str, Row]], tables: Tables) -> Iterator[str]:
    articles = {row["article_id"]: row for rows in tables.get("articles", {}).values() for row in rows}
    for _, row in pairs:
        article = articles.get(row["article_id"])
        if not article:
            yield f"row {row['id']}: its article {row['article_id']} is not in articles"
            continue
        section = next((s for s in article["sections"] if s["section_id"] == row["section_id"]), None)
        if not section or section["path"] != row["section_path"]:
            yield f"row {row['id']}: its section {row['section_id']} is not in its article, or under another heading"
        elif article["text"][section["start"] : section["end"]] != row["section_text"]:
            yield f"row {row['id']}: section_text is not its slice of the article"
        if (article["article_title"], article["domain"]) != (row["article_title"], row["domain"]):
            yield f"row {row['id']}: its article has another title or domain"


def _histories(tables: Tables) -> Iterator[str]:
    accepted = {row["id"]: (s, row) for s, rows in tables.get("default", {}).items() for row in rows}
    rejected = {row["id"]: (s, row) for s, rows in tables.get("rejected", {}).items() for row in rows}
    histories = {row["id"]: (s, row) for s, rows in tables.get("provenance", {}).items() for row in rows}
    yield from _twice("id of provenance", [r["id"] for rows in tables.get("provenance", {}).values() for r in rows])
    for id in [*accepted, *rejected]:
        split, row = accepted.get(id) or rejected[id]
        if id not in histories or histories[id][0] != split:
            yield f"row {id} has no provenance in its split, {split}"
            continue
        history = histories[id][1]
        last = history["rounds"][-1]
        if any(last[c] != row[c] for c in ("question", "answer", "required_sentence_indices", "coreferences")):
            yield f"row {id} is not the candidate of the last round in its provenance"
        if id in accepted and not all(v["is_quality"] for v in last["verdicts"]):
            yield f"row {id} is in default, but a verdict of its last round rejects it"
        if history["generator"] != row["generator"]:
            yield f"row {id} has another generator in its provenance"
    for id in histories.keys() - accepted.keys() - rejected.keys():
        yield f"provenance row {id} belongs to no row of default or rejected"


def _v1_id(row: Row) -> str:
    pair = {**row, "required_sentence_indices": row["sentences_required"]}
    return pair_id([s["sentence"] for s in json.loads(row["section_sentences"])], candidate_from_dict(pair))

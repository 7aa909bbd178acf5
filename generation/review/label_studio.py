"""Label Studio's JSON both ways: tasks with the pair drawn as a prediction, annotations as votes, and the labelling
config that both need.

The passage is the section's text. Required sentences, mentions and antecedents are regions of it; a coreference is a
relation from its mention to its antecedent. Regions in an annotation that differ from the pair's own are a correction.
Format: labelstud.io/guide/task_format (JSON_MIN is not read). Offsets there may count UTF-16 units; the region's own
text tells which.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from generation.checking.rows import PRONOUNS
from generation.errors import InputError, UsageError
from generation.records import Candidate, Coreference, Span, candidate_from_dict
from generation.review.corrections import Correction
from generation.review.exchange import Entry, Leaving
from generation.review.guidelines import REASONS
from generation.review.store import Pair

REQUIRED, MENTION, ANTECEDENT = "Required sentence", "Mention", "Antecedent"
_KINDS = ("pronominal", "nominal")
_OBJECT = {"to_name": "passage"}


def config() -> str:
    """The labelling interface, to paste into a project's settings."""
    reasons = "\n".join(
        f"    <Choice value={quoteattr(code)} hint={quoteattr(f'{name}: {when}')}/>"
        for code, (name, when) in REASONS.items()
    )
    texts = {"note": "Note", "corrected_question": "Better question", "corrected_answer": "Better answer"}
    areas = "\n".join(
        f'  <TextArea name="{name}" toName="passage" placeholder="{words}" maxSubmissions="1" editable="true"/>'
        for name, words in texts.items()
    )
    return f"""<View>
  <Header value="$title"/>
  <Header value="$question"/>
  <Header value="$answer"/>
  <Labels name="label" toName="passage">
    <Label value="{REQUIRED}" background="#a86a10"/>
    <Label value="{MENTION}" background="#1762b5"/>
    <Label value="{ANTECEDENT}" background="#1a6b3b"/>
  </Labels>
  <Relations><Relation value="pronominal"/><Relation value="nominal"/></Relations>
  <Text name="passage" value="$passage"/>
  <Choices name="decision" toName="passage" choice="single-radio" required="true">
    <Choice value="accept"/><Choice value="reject"/>
  </Choices>
  <Choices name="reasons" toName="passage" choice="multiple">
{reasons}
  </Choices>
{areas}
</View>
"""


def write(leaving: Sequence[Leaving]) -> str:
    """All pairs as tasks, their votes as annotations."""
    return json.dumps([_task(i, one) for i, one in enumerate(leaving, 1)], ensure_ascii=False, indent=1) + "\n"


def read(path: Path, pairs: Mapping[str, Pair]) -> list[Entry]:
    """The annotations of an export of Label Studio ("JSON"); `pairs` are those of the review, by id.

    A skipped task is no vote. Somebody is named by e-mail, user name, or their number there. Raises UsageError if the
    file is none, InputError naming the task and annotation that cannot be read.
    """
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON; export from Label Studio as “JSON”.") from error
    if not isinstance(tasks, list) or not all(isinstance(t, dict) and isinstance(t.get("data"), dict) for t in tasks):
        raise UsageError(f'{path} holds no list of tasks with "data"; export from Label Studio as “JSON”.')
    return [entry for number, task in enumerate(tasks, 1) for entry in _entries(f"{path}, task {number}", task, pairs)]


def _task(number: int, one: Leaving) -> dict[str, Any]:
    row = one.pair.row
    title = " › ".join([row["article_title"], *row["section_path"]])
    return {
        "id": number,
        "data": {
            "pair_id": one.pair.id,
            "title": title,
            "question": row["question"],
            "answer": row["answer"],
            "passage": row["section_text"],
        },
        "predictions": [{"model_version": row["generator"], "result": _regions(row, candidate_from_dict(row))}],
        "annotations": [
            {
                "vote_id": vote.uid,
                "completed_by": {"email": who},
                "created_at": vote.at,
                "lead_time": vote.seconds,
                "result": [
                    _item("decision", "choices", {"choices": ["accept" if vote.accept else "reject"]}),
                    *([_item("reasons", "choices", {"choices": list(vote.reasons)})] if vote.reasons else []),
                    *([_item("note", "textarea", {"text": [vote.note]})] if vote.note else []),
                    *(_correction_items(row, correction) if correction else []),
                ],
            }
            for vote, who, correction in one.votes
        ],
    }


def _correction_items(row: Mapping[str, Any], correction: Correction) -> list[dict[str, Any]]:
    texts = {"corrected_question": correction.question, "corrected_answer": correction.answer}
    items = [_item(name, "textarea", {"text": [text]}) for name, text in texts.items() if text is not None]
    if correction.required_sentence_indices is None and correction.coreferences is None:
        return items
    changed = {k: v for k, v in asdict(correction).items() if v is not None}
    return items + _regions(row, candidate_from_dict({**row, **changed}))


def _item(name: str, type_: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, **_OBJECT, "type": type_, "value": value}


def _regions(row: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    items = []
    for index in candidate.required_sentence_indices:
        sentence = row["sentences"][index]
        items.append(_region(f"required-{index}", REQUIRED, row, sentence["start"], sentence["end"]))
    for number, link in enumerate(candidate.coreferences):
        items += [_end(f"mention-{number}", MENTION, row, link.mention)]
        items += [_end(f"antecedent-{number}", ANTECEDENT, row, link.antecedent)]
        ends = {"from_id": f"mention-{number}", "to_id": f"antecedent-{number}"}
        items.append({"type": "relation", **ends, "direction": "right", "labels": [link.kind]})
    return items


def _end(id: str, label: str, row: Mapping[str, Any], span: Span) -> dict[str, Any]:
    start = row["sentences"][span.sentence_index]["start"]
    return _region(id, label, row, start + span.start, start + span.end)


def _region(id: str, label: str, row: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": row["section_text"][start:end], "labels": [label]}
    return {"id": id, "from_name": "label", **_OBJECT, "type": "labels", "value": value}


def _entries(where: str, task: Mapping[str, Any], pairs: Mapping[str, Pair]) -> Iterator[Entry]:
    id = task["data"].get("pair_id")
    annotations = task.get("annotations") or []
    if not isinstance(id, str) or not isinstance(annotations, list):
        raise InputError(f'{where}: its data has no "pair_id", or its annotations are no list; nothing was imported.')
    for number, annotation in enumerate(annotations, 1):
        place = f"{where}, annotation {number}"
        if annotation.get("was_cancelled"):
            continue
        try:
            yield _entry(place, id, annotation, pairs[id].row if id in pairs else _row_of(place, task, pairs))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise InputError(f"{place} is not as Label Studio writes it ({error}); nothing was imported.") from error


def _row_of(where: str, task: Mapping[str, Any], pairs: Mapping[str, Pair]) -> Mapping[str, Any]:
    """The row of a corrected pair that an earlier annotation of the same file brings: as its task draws it."""
    passage = task["data"].get("passage")
    like = next((pair.row for pair in pairs.values() if pair.row["section_text"] == passage), None)
    if like is None:
        raise InputError(f"{where}: this review has no such pair; add it first with: craqan review add")
    drawn = [item for prediction in (task.get("predictions") or [])[:1] for item in prediction.get("result", [])]
    correction = _correction(where, drawn, {}, like)
    changed = {k: v for k, v in asdict(correction).items() if v is not None} if correction else {}
    return {**like, **changed}


def _entry(where: str, id: str, annotation: Mapping[str, Any], row: Mapping[str, Any]) -> Entry:
    items = annotation["result"]
    said = {item["from_name"]: item["value"] for item in items if item["type"] in ("choices", "textarea")}
    if not said.get("decision"):
        raise InputError(f"{where}: no decision was made; choose accept or reject there, then export again.")
    texts = {name: "\n".join(said[name]["text"]) for name in said if "text" in said[name]}
    return Entry(
        where,
        id,
        _person(annotation.get("completed_by")),
        said["decision"]["choices"][0],
        said.get("reasons", {}).get("choices", []),
        texts.get("note", ""),
        _correction(where, items, texts, row),
        annotation.get("lead_time"),
        annotation.get("created_at") or "",
        annotation.get("vote_id") or "",
    )


def _person(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("username") or value.get("id")
    return value if isinstance(value, str) else f"label-studio-{value}"


def _correction(
    where: str, items: Sequence[Mapping[str, Any]], texts: Mapping[str, str], row: Mapping[str, Any]
) -> Correction | None:
    """What of the texts and regions is otherwise than in the pair; None if nothing is."""
    before = candidate_from_dict(row)
    spans = {
        i["id"]: (i["value"]["labels"][0], *_offsets(where, i["value"], row)) for i in items if i["type"] == "labels"
    }
    required = sorted({_sentence(where, row, start, end) for label, start, end in spans.values() if label == REQUIRED})
    links = _links(where, items, spans, row)
    correction = Correction(
        texts.get("corrected_question"),
        texts.get("corrected_answer"),
        required if required and tuple(required) != before.required_sentence_indices else None,
        [asdict(link) for link in links] if spans and set(links) != set(before.coreferences) else None,
    )
    return None if correction.is_empty else correction


def _links(
    where: str, items: Sequence[Mapping[str, Any]], spans: Mapping[str, tuple[str, int, int]], row: Mapping[str, Any]
) -> list[Coreference]:
    links, joined = [], set()
    for item in items:
        if item["type"] != "relation":
            continue
        ends = sorted((item["from_id"], item["to_id"]), key=lambda id: spans[id][0] != MENTION)
        if [spans[id][0] for id in ends] != [MENTION, ANTECEDENT]:
            raise InputError(f"{where}: a relation must join a mention and an antecedent; nothing was imported.")
        mention, antecedent = (_span(where, row, *spans[id][1:]) for id in ends)
        kind = next((k for k in item.get("labels") or [] if k in _KINDS), "")
        links.append(Coreference(kind or _guess(mention.text), mention, antecedent))  # type: ignore[arg-type]
        joined.update(ends)
    if alone := [id for id, (label, _, _) in spans.items() if label != REQUIRED and id not in joined]:
        label = spans[alone[0]][0].lower()
        raise InputError(f"{where}: a {label} is joined to nothing; draw the relation, or take it out.")
    return links


def _guess(mention: str) -> str:
    return "pronominal" if mention.casefold() in PRONOUNS else "nominal"


def _offsets(where: str, value: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[int, int]:
    """Start and end in characters, whatever the tool counts in."""
    passage, start, end, text = row["section_text"], value["start"], value["end"], value.get("text")
    if text is None or passage[start:end] == text:
        return start, end
    units = passage.encode("utf-16-le")
    start, end = (len(units[: 2 * offset].decode("utf-16-le", "ignore")) for offset in (start, end))
    if passage[start:end] != text:
        raise InputError(f"{where}: the region {text[:40]!r} does not stand where it says; nothing was imported.")
    return start, end


def _sentence(where: str, row: Mapping[str, Any], start: int, end: int) -> int:
    """The sentence that holds most of a region."""
    shared = [min(end, s["end"]) - max(start, s["start"]) for s in row["sentences"]]
    index = max(range(len(shared)), key=shared.__getitem__)
    if shared[index] <= 0:
        raise InputError(f"{where}: a region lies in no sentence; nothing was imported.")
    return index


def _span(where: str, row: Mapping[str, Any], start: int, end: int) -> Span:
    index = _sentence(where, row, start, end)
    sentence = row["sentences"][index]
    if start < sentence["start"] or end > sentence["end"]:
        raise InputError(f"{where}: a mention or antecedent reaches over a sentence's end; nothing was imported.")
    first, last = start - sentence["start"], end - sentence["start"]
    return Span(index, first, last, sentence["text"][first:last])

"""Whole files, scored as the official scripts do: their input shapes, their keys, their units.

Where a script crashes (no question left, a prediction missing), a value is defined: a missing prediction scores 0, and
a mean over nothing is 0. The docstrings name what else is particular.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation import answers, evidence
from evaluation.answers import CANNOT_ANSWER, MIN_HUMAN_F1, MatchScore

_FLOAT_EVIDENCE = "FLOAT SELECTED"
_JOINED = {"exact_match": "em", "f1": "f1", "precision": "prec", "recall": "recall"}


def squad1(data: Iterable[Mapping], predictions: Mapping[str, str]) -> dict[str, float]:
    """SQuAD 1.1: exact match and F1 in percent. `data` is the file's list of articles."""
    matches, f1s = [], []
    for question in _questions(data):
        references = [answer["text"] for answer in question["answers"]]
        prediction = predictions.get(question["id"])
        answered = prediction is not None
        matches.append(answered and answers.exact_match(prediction or "", references))
        f1s.append(answers.token_f1(prediction or "", references, empty=0.0) if answered else 0.0)
    return {"exact_match": _percent(matches), "f1": _percent(f1s)}


def squad2(
    data: Iterable[Mapping],
    predictions: Mapping[str, str],
    no_answer: Mapping[str, float] | None = None,
    threshold: float = 1.0,
) -> dict[str, float]:
    """SQuAD 2.0, in percent: over all questions, over those with an answer and over those without.

    `no_answer` holds each question's probability of having none; above `threshold` the prediction counts as none, and
    the best thresholds are found as well. The script crashes where a prediction is missing; here it scores 0.
    """
    wanted = {question["id"]: _squad2_references(question) for question in _questions(data)}
    raw = {id_: _squad2_pair(predictions.get(id_), references) for id_, references in wanted.items()}
    final = dict(raw)
    for id_ in raw.keys() & (no_answer or {}).keys():
        if (no_answer or {})[id_] > threshold:
            final[id_] = (float(not wanted[id_]),) * 2
    result = _squad2_means(final, "")
    for prefix, has_answer in (("HasAns_", True), ("NoAns_", False)):
        part = {id_: pair for id_, pair in final.items() if bool(wanted[id_]) is has_answer}
        if part:
            result |= _squad2_means(part, prefix)
    if no_answer:
        for place, name in enumerate(("exact", "f1")):
            scores = {id_: pair[place] for id_, pair in raw.items()}
            best, at = _best_threshold(scores, predictions, no_answer, wanted)
            result |= {f"best_{name}": best, f"best_{name}_thresh": at}
    return result


def quac(
    data: Iterable[Mapping], predictions: Iterable[Mapping[str, Sequence]], min_f1: float = MIN_HUMAN_F1
) -> dict[str, float]:
    """QuAC, in percent: F1, HEQ by question and dialog, dialog acts, unanswerable questions.

    `predictions` are the lines of its format: `qid`, `best_span_str`, `yesno`, `followup`, lists in step. The script
    crashes where no question, or no unanswerable one, is left; those means are 0 here.
    """
    made: dict[str, list] = {}
    for line in predictions:
        rows = zip(line["qid"], line["best_span_str"], line["yesno"], line["followup"], strict=True)
        made |= {qid: rest for qid, *rest in rows}
    dialogs, acts, unanswerable = [], [], []
    for dialog in (paragraph for article in data for paragraph in article["paragraphs"]):
        turns = []
        for question in dialog["qas"]:
            references = [answer["text"] for answer in question["answers"]]
            text, yesno, followup = made.get(question["id"], (None, None, None))
            turns.append(answers.Turn(text, references))
            if text is not None and answers.human_f1(references) < min_f1:
                continue
            acts.append((yesno == question["yesno"], followup == question["followup"]))
            if answers.quac_references(references) == [CANNOT_ANSWER]:
                unanswerable.append(text == CANNOT_ANSWER)
        dialogs.append(turns)
    figures = answers.heq(dialogs, min_f1)
    return {
        "unfiltered_f1": 100.0 * figures.unfiltered_f1,
        "f1": 100.0 * figures.f1,
        "HEQ": 100.0 * figures.heq_q,
        "DHEQ": 100.0 * figures.heq_d,
        "human_f1": 100.0 * figures.human_f1,
        "yes/no": _percent([yesno for yesno, _ in acts]),
        "followup": _percent([followup for _, followup in acts]),
        "unanswerable_acc": _percent(unanswerable),
    }


def hotpot(gold: Sequence[Mapping], predictions: Mapping[str, Mapping]) -> dict[str, float]:
    """HotpotQA: answer, supporting facts (`sp_`) and their joint (`joint_`), means over all gold questions.

    `predictions` holds `answer` and `sp`, each by question id. A question that lacks one of them has no joint.
    """
    columns: dict[str, list[float]] = {
        prefix + short: [] for prefix in ("", "sp_", "joint_") for short in _JOINED.values()
    }
    nothing = MatchScore(0.0, 0.0, 0.0, 0.0)
    for question in gold:
        id_ = question["_id"]
        answer = facts = together = nothing
        if id_ in predictions["answer"]:
            answer = answers.hotpot_f1(predictions["answer"][id_], question["answer"])
        if id_ in predictions["sp"]:
            facts = evidence.supporting_facts(predictions["sp"][id_], question["supporting_facts"])
        if id_ in predictions["answer"] and id_ in predictions["sp"]:
            together = evidence.joint(answer, facts)
        for prefix, score in (("", answer), ("sp_", facts), ("joint_", together)):
            for name, short in _JOINED.items():
                columns[prefix + short].append(getattr(score, name))
    return {name: _mean(values) for name, values in columns.items()}


def quoref(gold: Mapping[str, Sequence[str]], predictions: Mapping[str, str | Sequence[str]]) -> dict[str, float]:
    """Quoref: means of exact match and F1 over question ids; a missing prediction scores 0."""
    missing = answers.SpansScore(0.0, 0.0)
    scores = [answers.quoref(predictions[id_], spans) if id_ in predictions else missing for id_, spans in gold.items()]
    return {"em": _mean([s.exact_match for s in scores]), "f1": _mean([s.f1 for s in scores])}


def qasper(
    data: Mapping[str, Mapping],
    predictions: Mapping[str, Mapping[str, Any]],
    *,
    text_evidence_only: bool = False,
    count_missing: bool = True,
) -> dict[str, Any]:
    """Qasper: means of answer F1, by type of the best-matching answer too, and of evidence F1.

    `predictions` maps a question id to its `answer` and `evidence`. A missing one counts 0; with
    `count_missing=False` it is left out of the means, as in Visconde's copy of the script (Pereira et al. 2023).
    """
    f1s, evidence_f1s, missing = [], [], 0
    by_type: dict[str, list[float]] = {"extractive": [], "abstractive": [], "boolean": [], "none": []}
    for question in (question for paper in data.values() for question in paper["qas"]):
        made = predictions.get(question["question_id"])
        if made is None:
            missing += 1
            f1s += [0.0] * count_missing
            evidence_f1s += [0.0] * count_missing
            continue
        references = [_qasper_reference(entry["answer"], text_evidence_only) for entry in question["answers"]]
        scored = [(answers.qasper_f1(made["answer"], text), kind) for text, kind, _ in references]
        best, kind = max(scored, key=lambda pair: pair[0])  # the first of equals, as in the script
        f1s.append(best)
        by_type[kind].append(best)
        evidence_f1s.append(evidence.qasper_f1(made["evidence"], [paragraphs for *_, paragraphs in references]))
    return {
        "Answer F1": _mean(f1s),
        "Answer F1 by type": {kind: _mean(values) for kind, values in by_type.items()},
        "Evidence F1": _mean(evidence_f1s),
        "Missing predictions": missing,
    }


def _questions(data: Iterable[Mapping]) -> Iterable[Mapping]:
    return (q for article in data for paragraph in article["paragraphs"] for q in paragraph["qas"])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percent(values: Sequence[float]) -> float:
    return 100.0 * sum(values) / len(values) if values else 0.0


def _squad2_references(question: Mapping) -> list[str]:
    return [answer["text"] for answer in question["answers"] if answers.normalize(answer["text"])]


def _squad2_pair(prediction: str | None, references: Sequence[str]) -> tuple[float, float]:
    if prediction is None:
        return 0.0, 0.0
    return float(answers.exact_match(prediction, references)), answers.token_f1(prediction, references)


def _squad2_means(scores: Mapping[str, tuple[float, float]], prefix: str) -> dict[str, float]:
    exact, f1 = (_percent([pair[place] for pair in scores.values()]) for place in (0, 1))
    return {f"{prefix}exact": exact, f"{prefix}f1": f1, f"{prefix}total": len(scores)}


def _best_threshold(
    scores: Mapping[str, float],
    predictions: Mapping[str, str],
    no_answer: Mapping[str, float],
    wanted: Mapping[str, Sequence[str]],
) -> tuple[float, float]:
    """The no-answer threshold with the best mean: start with no answer anywhere, then let the surest answers in."""
    total = best = float(sum(not references for references in wanted.values()))
    at = 0.0
    for id_ in sorted(no_answer, key=lambda id_: no_answer[id_]):
        if id_ not in scores:
            continue
        if wanted[id_]:
            total += scores[id_]
        elif predictions.get(id_):
            total -= 1
        if total > best:
            best, at = total, no_answer[id_]
    return (100.0 * best / len(scores) if scores else 0.0), at


def _qasper_reference(answer: Mapping, text_evidence_only: bool) -> tuple[str, str, list[str]]:
    """The answer as one text, its type, and its evidence."""
    if answer["unanswerable"]:
        return "Unanswerable", "none", []
    paragraphs = [p for p in answer["evidence"] if not (text_evidence_only and _FLOAT_EVIDENCE in p)]
    if answer["extractive_spans"]:
        return ", ".join(answer["extractive_spans"]), "extractive", paragraphs
    if answer["free_form_answer"]:
        return answer["free_form_answer"], "abstractive", paragraphs
    return "Yes" if answer["yes_no"] else "No", "boolean", paragraphs

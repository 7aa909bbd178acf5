"""Neighbours' files -> the common form: Quoref, SQuAD, QuAC, HotpotQA (and R4C on it), QED, ExpertQA.

Each function takes the rows of a file and a name. What a set lacks is said in `ExampleSet.lacks`; nothing is made up
for it, save where the note says "silver".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any

from evaluation.examples import Document, Example, ExampleSet, Link, Place, Span, digest_of, split

Row = Mapping[str, Any]

# --- SQuAD's family: Quoref, SQuAD, QuAC ----------------------------------------------------------------------------


def _squad_like(rows: Iterable[Row], name: str, format: str, lacks: Sequence[str], silver: bool) -> ExampleSet:
    """One document a paragraph; evidence: the sentences that hold an answer, and in silver the question's own."""
    documents: dict[str, Document] = {}
    examples, misplaced = [], 0
    for article in rows:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            id = str(paragraph.get("context_id") or paragraph.get("id") or f"passage-{digest_of(text)}")
            title = article.get("title") or ""
            document = documents.setdefault(id, Document(id, title, text, (Span(0, len(text)),), split(text)))
            for asked in paragraph["qas"]:
                answers = [a for a in asked.get("answers") or () if a["text"] != "CANNOTANSWER"]
                misplaced += _misplaced(asked, answers, text)
                held = {document.sentence_at(a["answer_start"]) for a in answers[:1] if not silver} or {
                    document.sentence_at(a["answer_start"]) for a in answers
                }
                if silver and answers:
                    held.add(_asked_of(document, asked["question"]))
                examples.append(
                    Example(
                        id=str(asked["id"]),
                        question=asked["question"],
                        answers=tuple(dict.fromkeys(a["text"] for a in answers)),
                        context=(Place(id, 0, len(text)),),
                        evidence=tuple(Place(id, *document.sentences[i]) for i in sorted(held)),
                        distance=max(held) - min(held) if held else None,
                        group=id,
                    )
                )
    notes = [f"the right places of {misplaced} answers"] if misplaced else []
    return ExampleSet(name, format, documents, tuple(examples), (*lacks, *notes))


def _misplaced(asked: Row, answers: Sequence[Row], text: str) -> int:
    """How many answers do not stand at their start. ValueError for a start outside the text."""
    for answer in answers:
        if not 0 <= answer["answer_start"] < len(text):
            raise ValueError(
                f"an answer to question {asked['id']} begins at {answer['answer_start']}, outside the context's"
                f" {len(text)} characters"
            )
    return sum(not text.startswith(a["text"], a["answer_start"]) for a in answers)


def _asked_of(document: Document, question: str) -> int:
    """Index of the sentence that shares most with the question, rare words counting more; the first of equals."""
    said = [_words(document.text[a:b]) for a, b in document.sentences]
    seen = {w: sum(w in words for words in said) for words in said for w in words}
    asked = _words(question)
    weights = [sum(log((1 + len(said)) / seen[w]) for w in words & asked) for words in said]
    return weights.index(max(weights)) if weights else 0


def _words(text: str) -> set[str]:
    return {w.lower()[:6] for w in re.findall(r"\w+", text) if len(w) > 3}


def quoref(rows: Sequence[Row], name: str) -> ExampleSet:
    return _squad_like(
        rows,
        name,
        "quoref",
        (
            "required sentences: silver ones are the sentences of the answers and the one most like the question",
            "labelled coreferences and kinds",
        ),
        silver=True,
    )


def squad(rows: Sequence[Row], name: str) -> ExampleSet:
    lacks = ("required sentences beyond the one that holds the answer", "coreferences")
    return _squad_like(rows, name, "squad", lacks, silver=False)


def quac(rows: Sequence[Row], name: str) -> ExampleSet:
    lacks = ("required sentences beyond the one where the answer begins", "coreferences", "questions that stand alone")
    return _squad_like(rows, name, "quac", lacks, silver=False)


# --- several documents: HotpotQA, R4C --------------------------------------------------------------------------------


def hotpot(rows: Iterable[Row], name: str) -> ExampleSet:
    documents: dict[str, Document] = {}
    examples, beyond = [], 0
    for row in rows:
        held: dict[str, str] = {}
        for title, sentences in row["context"]:
            text = "".join(sentences)
            id = f"{title}#{digest_of(text)}"
            documents.setdefault(id, Document(id, title, text, (Span(0, len(text)),), _joined(sentences)))
            held.setdefault(title, id)
        places = []
        for title, index in row["supporting_facts"]:
            if title not in held:
                raise ValueError(f'question {row["_id"]} needs "{title}", which is not in its context')
            if not 0 <= index < len(documents[held[title]].sentences):
                beyond += 1
                continue  # the released file points past the end of some paragraphs; its evaluator cannot score these
            places.append(Place(held[title], *documents[held[title]].sentences[index]))
        steps = tuple(tuple(tuple(step[2]) for step in one) for one in row.get("derivations") or ())
        examples.append(
            Example(
                id=row["_id"],
                question=row["question"],
                answers=(row["answer"],),
                context=tuple(Place(id, 0, len(documents[id].text)) for id in held.values()),
                evidence=tuple(dict.fromkeys(places)),
                kind=row.get("type", ""),
                derivations=steps,
                group=row["_id"],
            )
        )
    lacks = ["coreferences", "distances within one document"]
    if beyond:
        lacks.append(f"the sentences that {beyond} supporting facts point at")
    return ExampleSet(name, "hotpotqa", documents, tuple(examples), tuple(lacks))


def _joined(sentences: Sequence[str]) -> tuple[Span, ...]:
    ends = [0]
    for sentence in sentences:
        ends.append(ends[-1] + len(sentence))
    return tuple(Span(a + len(s) - len(s.lstrip()), b) for (a, b), s in zip(pairwise(ends), sentences, strict=True))


# --- QED, ExpertQA ---------------------------------------------------------------------------------------------------


def qed(rows: Iterable[Row], name: str) -> ExampleSet:
    """The selected sentence, and those that a reference in it leans on; rows without an explanation are left out."""
    documents: dict[str, Document] = {}
    examples = []
    for row in rows:
        explained = row["annotation"]
        if not explained.get("selected_sentence"):
            continue
        text, id = row["paragraph_text"], str(row["example_id"])
        starts = [*row["sentence_starts"], len(text)]
        spans = tuple(Span(a, a + len(text[a:b].rstrip())) for a, b in pairwise(starts))
        document = documents[id] = Document(id, row["title_text"], text, (Span(0, len(text)),), spans)
        held = {document.sentence_at(explained["selected_sentence"]["start"])}
        held |= {document.sentence_at(a["paragraph_reference"]["start"]) for a in explained["answer"]}
        answers = [a["paragraph_reference"]["string"] for a in explained["answer"]]
        examples.append(
            Example(
                id=id,
                question=row["question_text"],
                answers=(", ".join(answers), *answers) if len(answers) > 1 else tuple(answers),
                context=(Place(id, 0, len(text)),),
                evidence=tuple(Place(id, *spans[i]) for i in sorted(held)),
                links=tuple(_qed_links(explained, id)),
                distance=max(held) - min(held),
                group=id,
            )
        )
    lacks = ("questions that always need two sentences", "kinds of coreference")
    return ExampleSet(name, "qed", documents, tuple(examples), lacks)


def _qed_links(explained: Row, id: str) -> Iterator[Link]:
    """From the answer in the selected sentence to the same answer where the paragraph first names it."""
    for answer in explained["answer"]:
        said, named = answer["sentence_reference"], answer["paragraph_reference"]
        if said["start"] != named["start"]:
            yield Link("", Place(id, said["start"], said["end"]), Place(id, named["start"], named["end"]))


def expertqa(rows: Iterable[Row], name: str) -> ExampleSet:
    """One document a cited passage; evidence: the passages cited for claims that were judged fully supported."""
    documents: dict[str, Document] = {}
    examples = []
    for number, row in enumerate(rows, 1):
        for system, answer in (row.get("answers") or {}).items():
            places, cited = [], []
            for claim in answer["claims"]:
                for passage in claim.get("evidence") or ():
                    id = f"passage-{digest_of(passage)}"
                    documents.setdefault(
                        id, Document(id, passage.split("\n", 1)[0], passage, (Span(0, len(passage)),), split(passage))
                    )
                    cited.append(Place(id, 0, len(passage)))
                    if claim.get("support") == "Complete":
                        places.append(cited[-1])
            if cited:
                examples.append(
                    Example(
                        id=f"{number}:{system}",
                        question=row["question"],
                        answers=(answer.get("revised_answer_string") or answer["answer_string"],),
                        context=tuple(dict.fromkeys(cited)),
                        evidence=tuple(dict.fromkeys(places)),
                        group=str(number),
                    )
                )
    lacks = ("short answers", "required sentences: evidence is whole cited passages", "coreferences")
    return ExampleSet(name, "expertqa", documents, tuple(examples), lacks)

"""Rows with our columns -> the common form, on whole articles where these are given, else on their passages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.examples import Document, Example, ExampleError, ExampleSet, Link, Place, Span, digest_of, split

if TYPE_CHECKING:
    from evaluation.derivations import Triple
    from generation.records import Coreference

Row = Mapping[str, Any]


def craqan_set(rows: Iterable[Row], name: str, articles: Iterable[Row] = ()) -> ExampleSet:
    """Rows of "default" (or any rows with our columns), on whole articles where these are given, else on sections."""
    from generation.checking.rows import RowError, read_pair

    rows, homes = list(rows), {a["article_id"]: a for a in articles}
    documents: dict[str, Document] = {}
    if homes:
        given = _given_sentences(rows)
        documents = {id: _article(home, given) for id, home in homes.items()}
    examples = []
    for number, row in enumerate(rows, 1):
        try:
            candidate, sentences = read_pair(row)
        except RowError as error:
            raise ExampleError(f"{name}, row {number}: {error}") from error
        required = sorted(set(candidate.required_sentence_indices))
        if not required:
            raise ExampleError(f"{name}, row {number} names no required sentence; give their indices, from 0.")
        if not 0 <= required[0] <= required[-1] < len(sentences):
            raise ExampleError(
                f"{name}, row {number}: required sentences {required} lie outside the {len(sentences)} of the passage."
            )
        _check_links(candidate.coreferences, sentences, f"{name}, row {number}")
        context, spans = _passage(row, sentences, homes, documents, number)
        place = [Place(context.document, *span) for span in spans]
        links = tuple(
            Link(c.kind, _inside(place[c.mention.sentence_index], c.mention),
                 _inside(place[c.antecedent.sentence_index], c.antecedent))
            for c in candidate.coreferences
        )  # fmt: skip
        kinds = {link.kind for link in links}
        steps = _steps(row.get("derivation") or (), f"{name}, row {number}")
        examples.append(
            Example(
                id=str(row.get("id") or number),
                question=candidate.question,
                answers=(candidate.answer,),
                context=(context,),
                evidence=tuple(place[i] for i in required),
                links=links,
                kind="mixed" if len(kinds) > 1 else next(iter(kinds), ""),
                distance=required[-1] - required[0],
                derivations=(steps,) if steps else (),
                group=str(row.get("section_id") or context.document),
            )
        )
    lacks = ["whole articles: chunking and retrieval see sections alone"] if not homes else []
    if not any(e.links for e in examples):
        lacks.append("labelled coreferences")
    return ExampleSet(name, "craqan", documents, tuple(examples), tuple(lacks))


def _check_links(links: "Iterable[Coreference]", sentences: Sequence[str], where: str) -> None:
    """ExampleError where a mention or an antecedent does not stand where its offsets say."""
    for span in (span for link in links for span in (link.mention, link.antecedent)):
        inside = 0 <= span.sentence_index < len(sentences) and span.start >= 0
        if not inside or sentences[span.sentence_index][span.start : span.end] != span.text:
            raise ExampleError(
                f'{where}: "{span.text[:80]}" does not stand in sentence {span.sentence_index} where a coreference'
                f" says; the sentences run from 0 to {len(sentences) - 1}."
            )


def _steps(given: Any, where: str) -> "tuple[Triple, ...]":
    try:
        return tuple((step["head"], step["relation"], step["tail"]) for step in given)
    except (KeyError, TypeError) as error:
        raise ExampleError(f'{where}: "derivation" must be a list of objects with head, relation and tail.') from error


def _given_sentences(rows: Iterable[Row]) -> dict[str, tuple[Span, ...]]:
    """Section id -> the released sentences, from the start of the section."""
    return {row["section_id"]: tuple(Span(s["start"], s["end"]) for s in row["sentences"]) for row in rows}


def _article(row: Row, given: Mapping[str, Sequence[Span]]) -> Document:
    text, sentences, sections = row["text"], [], []
    for part in row["sections"]:
        start, end = part["start"], part["end"]
        sections.append(Span(start, end))
        inside = given.get(part["section_id"]) or split(text[start:end])
        sentences += [Span(start + s.start, start + s.end) for s in inside]
    return Document(row["article_id"], row["article_title"], text, tuple(sections), tuple(sentences))


def _passage(
    row: Row, sentences: Sequence[str], homes: Mapping[str, Row], documents: dict[str, Document], number: int
) -> tuple[Place, list[Span]]:
    """Where the row's passage lies and the spans of its sentences there; a passage without article is a document."""
    if homes:
        home = homes.get(row["article_id"])
        part = next((s for s in home["sections"] if s["section_id"] == row["section_id"]), None) if home else None
        if part is None:
            raise ExampleError(f"Row {number} names the section {row.get('section_id')}, which no article holds.")
        spans = [Span(part["start"] + s["start"], part["start"] + s["end"]) for s in row["sentences"]]
        return Place(row["article_id"], part["start"], part["end"]), spans
    text = row.get("section_text") or " ".join(sentences)
    spans = _found(text, sentences)
    id = str(row.get("section_id") or f"passage-{digest_of(text)}")
    documents.setdefault(
        id, Document(id, str(row.get("article_title") or ""), text, (Span(0, len(text)),), tuple(spans))
    )
    return Place(id, 0, len(text)), spans


def _found(text: str, sentences: Sequence[str]) -> list[Span]:
    spans, at = [], 0
    for sentence in sentences:
        start = text.find(sentence, at)
        if start < 0:
            raise ExampleError(f"The sentence {sentence[:40]!r} does not stand in its passage.")
        at = start + len(sentence)
        spans.append(Span(start, at))
    return spans


def _inside(sentence: Place, span: Any) -> Place:
    return Place(sentence.document, sentence.start + span.start, sentence.start + span.end)

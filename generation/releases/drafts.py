"""Hand-written drafts -> records: articles in Markdown, pairs and verdicts in JSON Lines.

A folder of drafts holds, for each article,

    articles/<slug>.md      YAML front matter (title, domain, license, author), "# Title", the lead, "## Heading" parts;
                            one sentence a line, a blank line between paragraphs
    pairs/<slug>.jsonl      {"section": "Summary" or a heading, "question", "answer", "required": [0, 3],
                            "coreferences": [{"kind", "mention": {"sentence", "text"}, "antecedent": {...}}],
                            "derivation": [["head", "relation", "tail", sentence], ...], "earlier": [...]}
    verdicts/<slug>.jsonl   {"question", "reviewer", "is_quality", "problems", "reason", "round"}
    proofs/<slug>.jsonl     {"question", "reader", "readings": [{"context", "answer", "is_right"}]}, if any

Sentences count from 0 within the section. A text that occurs twice in its sentence needs its "start". "earlier" holds
what a pair was before its revisions, in the same shape without section; rounds count from 1 and the last one is about
the pair as it stands.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generation.errors import InputError
from generation.files import read_text
from generation.proof import contexts
from generation.records import (
    Article,
    Candidate,
    Coreference,
    Proof,
    Reading,
    Round,
    Section,
    Sentence,
    Source,
    Span,
    Step,
    Verdict,
)

SEGMENTER = "author"

_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*$")


@dataclass(frozen=True)
class Draft:
    """One pair with the file and line it comes from; `versions[-1]` is the pair as it stands."""

    where: str
    section: Section
    versions: tuple[Candidate, ...]


def read_article(path: Path) -> tuple[Article, str]:
    """(article with segmented sections, its author); the canonical text joins a paragraph's sentences by a space."""
    text = read_text(path, "an article in Markdown")
    front = _FRONT_MATTER.match(text)
    fields = _fields(path, front[1] if front else "")
    first_line = text.count("\n", 0, front.end() if front else 0) + 1
    source = Source(license=fields["license"])
    article = Article(path.stem, fields["title"], f"# {fields['title']}", domain=fields["domain"], source=source)
    parts = _parts(path, text.split("\n")[first_line - 1 :], first_line, fields["title"])
    for heading, paragraphs in parts.items():
        article = _with_section(article, heading, paragraphs)
    return replace(article, text=article.text + "\n"), fields["author"]


def _fields(path: Path, front: str) -> dict[str, str]:
    import yaml

    try:
        fields = yaml.safe_load(front)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: the front matter is no YAML: {error}") from error
    wanted = {"title", "domain", "license", "author"}
    if not isinstance(fields, dict) or set(fields) != wanted or not all(isinstance(v, str) for v in fields.values()):
        raise InputError(f"{path}: the front matter should hold exactly {', '.join(sorted(wanted))}, each a text.")
    return fields


def _parts(path: Path, lines: list[str], first: int, title: str) -> dict[str, list[list[str]]]:
    """{heading: paragraphs of sentences}; the summary's heading is "". `first` is the number of the first line."""
    parts: dict[str, list[list[str]]] = {}
    heading, has_title = "", False
    for number, line in enumerate((line.strip() for line in lines), start=first):
        where = f"{path}:{number}"
        if line.startswith("#"):
            heading = line[3:].strip() if line.startswith("## ") else ""
            if not heading and (has_title or line != f"# {title}"):
                raise InputError(f'{where}: expected "# {title}" once and "## " headings after it, not "{line}".')
            if heading in parts or heading == "Summary":
                raise InputError(f'{where}: there is already a part "{heading}".')
            parts[heading], has_title = [[]], True
        elif line and not _SENTENCE_END.search(line):
            raise InputError(f"{where}: one sentence a line, ended by its full stop: {line[-60:]!r}")
        elif not has_title:
            if line:
                raise InputError(f'{where}: the text begins with "# {title}".')
        elif line:
            parts[heading][-1].append(line)
        elif parts[heading][-1]:
            parts[heading].append([])
    if empty := [h or "Summary" for h, paragraphs in parts.items() if not paragraphs[0]] or not parts:
        raise InputError(f"{path}: nothing under {empty if parts else 'a title'}.")
    return {h: [p for p in paragraphs if p] for h, paragraphs in parts.items()}


def _with_section(article: Article, heading: str, paragraphs: list[list[str]]) -> Article:
    before = f"{article.text}\n\n## {heading}\n\n" if heading else f"{article.text}\n\n"
    text, sentences = "", []
    for paragraph in paragraphs:
        for i, sentence in enumerate(paragraph):
            text += " " if i else "\n\n" if text else ""
            sentences.append(Sentence(sentence, len(text), len(text) + len(sentence)))
            text += sentence
    section = Section(
        id=f"{article.id}/{len(article.sections)}",
        article_id=article.id,
        article_title=article.title,
        path=(heading,) if heading else (),
        text=text,
        start=len(before),
        end=len(before) + len(text),
        sentences=tuple(sentences),
        segmenter=SEGMENTER,
        domain=article.domain,
        source=article.source,
    )
    return replace(article, text=before + text, sections=(*article.sections, section))


def read_pairs(path: Path, article: Article) -> list[Draft]:
    """The pairs written on `article`; every span is found in its sentence."""
    sections = {s.path[0] if s.path else "Summary": s for s in article.sections}
    return [_draft(where, row, sections) for where, row in _lines(path)]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(read_text(path, "drafts as JSON lines").removesuffix("\n").split("\n"), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}: not a JSON object.")
        yield f"{path}:{number}", row


def _draft(where: str, row: dict[str, Any], sections: Mapping[str, Section]) -> Draft:
    earlier = row.pop("earlier", [])
    name = row.pop("section", None)
    if name not in sections:
        raise InputError(f"{where}: there is no section {name!r}; there are {', '.join(sections)}.")
    try:
        versions = tuple(_candidate(version, sections[name]) for version in (*earlier, row))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {error if type(error) is ValueError else f'not as described: {error!r}'}"
        ) from error
    if not versions[-1].coreferences:
        raise InputError(f"{where}: a pair needs at least one coreference.")
    return Draft(where, sections[name], versions)


def _candidate(row: Mapping[str, Any], section: Section) -> Candidate:
    if unknown := set(row) - {"question", "answer", "required", "coreferences", "derivation"}:
        raise ValueError(f"unknown keys {', '.join(sorted(unknown))}")
    return Candidate(
        question=row["question"],
        answer=row["answer"],
        required_sentence_indices=tuple(row["required"]),
        coreferences=tuple(
            Coreference(c["kind"], _span(c["mention"], section), _span(c["antecedent"], section))
            for c in row.get("coreferences", ())
        ),
        derivation=tuple(Step(*step) for step in row.get("derivation", ())),
    )


def _span(end: Mapping[str, Any], section: Section) -> Span:
    index, text = end["sentence"], end["text"]
    if not 0 <= index < len(section.sentences):
        raise ValueError(f"there is no sentence {index} in a section of {len(section.sentences)}")
    sentence = section.sentences[index].text
    starts = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", sentence)]
    if "start" in end:
        starts = [s for s in starts if s == end["start"]]
    if len(starts) != 1:
        where = f'more than once: give its "start", one of {starts}' if starts else "not there as whole words"
        raise ValueError(f"in sentence {index}, {sentence!r}, {text!r} is {where}")
    return Span(index, starts[0], starts[0] + len(text), text)


def read_verdicts(path: Path, drafts: Sequence[Draft]) -> list[tuple[Round, ...]]:
    """For each draft its rounds, the last one on the pair as it stands; each must have been judged.

    People's verdicts are kept like the models'. Raises InputError for a verdict on a text that is not given.
    """
    known = {version.question: i for i, draft in enumerate(drafts) for version in draft.versions}
    verdicts: list[list[list[Verdict]]] = [[[] for _ in draft.versions] for draft in drafts]
    for where, row in _lines(path):
        try:
            verdict = Verdict(row["reviewer"], row["is_quality"], row["reason"], tuple(row["problems"]))
            i, number = known[row["question"]], row.get("round", 1)
        except (KeyError, TypeError) as error:
            raise InputError(f"{where}: missing, or no such question: {error!r}") from error
        if not 1 <= number <= len(drafts[i].versions) or drafts[i].versions[number - 1].question != row["question"]:
            raise InputError(f'{where}: round {number} is about a text that is not given; put it under "earlier".')
        if verdict.reviewer in [v.reviewer for v in verdicts[i][number - 1]]:
            raise InputError(f"{where}: {verdict.reviewer} judges the same text twice.")
        verdicts[i][number - 1].append(verdict)
    for draft, of_draft in zip(drafts, verdicts, strict=True):
        if not all(of_draft):
            raise InputError(f"{draft.where}: round {of_draft.index([]) + 1} has no verdict in {path}.")
    return [
        tuple(Round(n, c, tuple(v)) for n, (c, v) in enumerate(zip(draft.versions, of_draft, strict=True)))
        for draft, of_draft in zip(drafts, verdicts, strict=True)
    ]


def with_proofs(path: Path, drafts: Sequence[Draft], rounds: Sequence[tuple[Round, ...]]) -> list[tuple[Round, ...]]:
    """The rounds, the last of each with its proof where the file at `path`, if there is one, has it.

    Raises InputError for a proof of an unknown question or without a context that the proof asks about.
    """
    found: dict[str, Proof] = {}
    for where, row in _lines(path) if path.exists() else ():
        try:
            readings = tuple(Reading(r["context"], r["answer"], r["is_right"]) for r in row["readings"])
            found[row["question"]] = Proof(row["reader"], readings)
        except (KeyError, TypeError) as error:
            raise InputError(f"{where}: a proof has a question, a reader and readings: {error!r}") from error
    if unknown := found.keys() - {draft.versions[-1].question for draft in drafts}:
        raise InputError(f"{path}: no pair asks {min(unknown)!r}.")
    proven = []
    for draft, history in zip(drafts, rounds, strict=True):
        proof = found.get(history[-1].candidate.question)
        asked = contexts(len(draft.section.sentences), history[-1].candidate.required_sentence_indices)
        if proof and proof.by_context.keys() != asked.keys():
            raise InputError(f"{path}: the contexts of {history[-1].candidate.question!r} are {', '.join(asked)}.")
        proven.append((*history[:-1], replace(history[-1], proof=proof)))
    return proven

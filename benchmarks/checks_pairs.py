"""Good pairs to measure the checks on: the released rows, own ones, and questions of Quoref and HotpotQA.

Of the borrowed ones only ids and labels are kept here; their texts are read from the folder `shared` beside the
repository, where it is there. The labels (which sentences a reader needs) were given by one reader.
Sources: Dasigi et al. 2019 (Quoref, CC BY 4.0); Yang et al. 2018 (HotpotQA, CC BY-SA 4.0).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from generation.records import Candidate, Coreference, Kind, Span, candidate_from_dict

ROOT = Path(__file__).parents[1]
OWN = Path(__file__).with_name("checks_data")
SHARED = ROOT.parent / "shared" / "data"
PRONOUNS = frozenset("he him his she her hers it its they them their theirs".split())


@dataclass(frozen=True)
class Pair:
    """A good pair. `passage` names the passage, so that all pairs of one passage fall into the same half."""

    id: str
    source: str
    passage: str
    sentences: tuple[str, ...]
    candidate: Candidate

    @property
    def half(self) -> str:
        """ "tuned" or "held out", by the passage's hash alone."""
        return ("tuned", "held out")[hashlib.sha256(self.passage.encode()).digest()[0] % 2]

    @property
    def bare(self) -> "Pair":
        """The same pair without its links."""
        return replace(self, candidate=replace(self.candidate, coreferences=()))


def load() -> list[Pair]:
    """All good pairs; the borrowed ones only where their texts are."""
    return [*_released(), *_own(), *_borrowed()]


def taken() -> list[Pair]:
    """The released pairs, and the candidates that all their readers took and that checks or proof alone turned down."""
    kept = [_pair(row, "turned down") for row in _rows("rejected") if set(row["rejected_by"]) <= {"checks", "proof"}]
    return [*_released(), *kept]


def _released() -> Iterator[Pair]:
    return (_pair(row, "released") for row in _rows("default"))


def _rows(config: str) -> Iterator[dict[str, Any]]:
    for path in sorted((ROOT / "data" / config).glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _pair(row: Mapping[str, Any], source: str) -> Pair:
    sentences = tuple(s["text"] for s in row["sentences"])
    return Pair(row["id"], source, row["section_id"], sentences, candidate_from_dict(row))


def _own() -> Iterator[Pair]:
    passages = yaml.safe_load((OWN / "own.yaml").read_text(encoding="utf-8"))
    for p, passage in enumerate(passages):
        sentences = tuple(passage["sentences"])
        for i, pair in enumerate(passage["pairs"]):
            links = tuple(_link(sentences, *link) for link in pair["links"])
            candidate = Candidate(pair["q"], pair["a"], tuple(pair["required"]), links)
            yield Pair(f"own-{p}-{i}", "own", sentences[0], sentences, candidate)


def _link(sentences: Sequence[str], at: int, mention: Any, back: int, antecedent: Any) -> Coreference:
    mention, antecedent = str(mention), str(antecedent)
    kind: Kind = "pronominal" if mention.lower() in PRONOUNS else "nominal"
    return Coreference(kind, span_of(sentences, at, mention), span_of(sentences, back, antecedent))


def span_of(sentences: Sequence[str], index: int, text: str) -> Span:
    """The first place where `text` stands in a sentence as whole words. Raises ValueError if it does not."""
    start = f" {sentences[index]} ".replace(",", " ").replace(".", " ").replace("'", " ").find(f" {text} ")
    start = sentences[index].index(text) if start < 0 else start
    return Span(index, start, start + len(text), text)


def _borrowed() -> Iterator[Pair]:
    lines = (OWN / "borrowed.jsonl").read_text(encoding="utf-8").splitlines()
    labels = {label["id"]: label for label in map(json.loads, lines)}
    if (SHARED / "quoref").is_dir():
        yield from _quoref(labels)
    if (SHARED / "hotpotqa").is_dir():
        yield from _hotpotqa(labels)


def _quoref(labels: Mapping[str, Any]) -> Iterator[Pair]:
    data = json.loads((SHARED / "quoref" / "quoref-dev-public.json").read_text(encoding="utf-8"))
    paragraphs = (p for article in data["data"] for p in article["paragraphs"])
    for paragraph, question in ((p, q) for p in paragraphs for q in p["qas"]):
        if label := labels.get(question["id"]):
            context = paragraph["context"]
            sentences = tuple(context[start:end] for start, end in label["sentences"])
            required, text = tuple(label["required"]), question["question"].strip()
            candidate = Candidate(text, question["answers"][0]["text"], required)
            yield Pair(question["id"], "quoref", sentences[0], sentences, candidate)


def _hotpotqa(labels: Mapping[str, Any]) -> Iterator[Pair]:
    """The paragraphs that hold supporting facts, one after the other."""
    file = SHARED / "hotpotqa" / "hotpot_dev_distractor_public.json"
    for item in json.loads(file.read_text(encoding="utf-8")):
        if label := labels.get(item["_id"]):
            context = dict(item["context"])
            titles = dict.fromkeys(title for title, _ in item["supporting_facts"])
            sentences = tuple(s.strip() for title in titles for s in context[title])
            candidate = Candidate(item["question"].strip(), item["answer"], tuple(label["required"]))
            yield Pair(item["_id"], "hotpotqa", sentences[0], sentences, candidate)

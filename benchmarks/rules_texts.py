"""The texts that the embedded default is tuned on and those it is only measured on, split by a hash of the title.

FreshWiki, Quoref, QED and HotpotQA lie in the optional folder ../shared/data; the legal articles are the dataset's own.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from generation import corpus
from generation.records import Section
from generation.segment import segment

Split = Literal["tuning", "held-out", "later", "fresh"]
HALVES: tuple[Split, ...] = ("held-out", "tuning")
SOURCES = ("legal", "freshwiki", "quoref")
ROOT = Path(__file__).parents[1]


def _titles(name: str) -> frozenset[str]:
    return frozenset((Path(__file__).parent / "rules_reading" / name).read_text(encoding="utf-8").splitlines())


LATER = _titles("round2_articles.txt")
"""Titles of our own articles that came into the repository after all tuning before the second reading was done."""
FRESH = _titles("round3_articles.txt")
"""Titles of the articles that were kept unread for the third reading; what its readers said is now tuned on too."""
SEEN = _titles("seen_articles.txt")
"""Titles of articles of which the rules' author saw a candidate of version 7: no later reading takes them."""
SHARED = ROOT.parent / "shared" / "data"
_LONG = dict.fromkeys(("general", "freshwiki", "quoref", "qed", "hotpotqa", "wikitext"), 6)
MIN_SENTENCES = {"legal": 3, **_LONG}
Written = Mapping[str, Sequence[Path]]
"""Files written for a reading, by source: legal articles, and general ones."""
SHORT = {"qed": 4, "hotpotqa": 4}
"""Sentences of the paragraphs of the fourth reading, whose sources are short."""


def split_of(title: str) -> Split:
    """Half of all titles are held out, whatever else changes; what came later or was kept is a part of its own."""
    if title in FRESH:
        return "fresh"
    if title in LATER:
        return "later"
    return "held-out" if hashlib.sha256(title.encode()).digest()[0] % 2 else "tuning"


def sections(source: str, split: Split) -> Iterator[Section]:
    """The segmented sections of one source and one half that are long enough, in a fixed order."""
    single = {"quoref": _quoref, "qed": _qed, "hotpotqa": _hotpotqa}
    for section in single[source]() if source in single else _articles(source):
        if split_of(section.article_title) == split and len(section.sentences) >= MIN_SENTENCES[source]:
            yield section


def unread(source: str, written: Written) -> Iterator[Section]:
    """The sections of the fourth and later readings: of files written for it, of Wikipedia's articles in the chunking
    corpus, and of the held-out halves, those of which no earlier reading had a candidate."""
    least = SHORT.get(source, MIN_SENTENCES[source])
    if source in ("legal", "general"):
        files = [str(path) for path in written.get(source, ())]
        found = (segment(s) for a in corpus.articles(files) for s in a.sections) if files else iter(())
    elif source == "wikitext":
        found = _wikitext()
    else:
        single = {"qed": _qed, "hotpotqa": _hotpotqa}
        every = single[source]() if source in single else _articles(source)
        found = (s for s in every if split_of(s.article_title) == "held-out" and s.id not in _read())
    yield from (s for s in found if len(s.sentences) >= least)


def _read() -> frozenset[str]:
    """The sections of which a candidate was read before."""
    folder = Path(__file__).parent / "rules_reading"
    files = [folder / name for name in ("candidates.jsonl", "round2.jsonl", "round3.jsonl", "round4.jsonl")]
    return frozenset(json.loads(ln)["section_id"] for f in files for ln in f.read_text(encoding="utf-8").splitlines())


def _wikitext() -> Iterator[Section]:
    """The sections of the WikiText articles among Chroma's corpora, without those that have lost a word."""
    text = (SHARED / "chroma_chunking" / "wikitexts.md").read_text(encoding="utf-8")
    title = heading = ""
    body: list[str] = []
    for line in [*text.splitlines(), " = End = "]:
        if marked := re.fullmatch(r" ((?:= )+)(.*?)((?: =)+) ?", line):
            yield from _written(title, heading, body)
            opens = marked[1] == "= " and ";" not in marked[2]
            title, heading, body = (marked[2], "", []) if opens else (title, marked[2], [])
        elif line.strip():
            body.append(_joined(line))


def _written(title: str, heading: str, body: list[str]) -> Iterator[Section]:
    text = "\n\n".join(body)
    if text and "<unk>" not in text:
        name = f"wikitext/{_joined(title)}/{heading}"
        path = (_joined(heading),) if heading else ()
        yield segment(Section(name, name, _joined(title), path, text, 0, len(text)))


def _joined(line: str) -> str:
    """WikiText's tokens as prose: "1 @,@ 000 men , and the ship 's" -> "1,000 men, and the ship's"."""
    line = re.sub(r" @([-,.])@ ", r"\1", line.strip())
    line = re.sub(r" ([,.;:?!)\]%]|'s\b|'(?=\s)|n't\b)", r"\1", line)
    line = re.sub(r"([(\[$£]) ", r"\1", line)
    line = re.sub(r" – (?=\d)", "–", line)
    return re.sub(r'" (.*?) "', r'"\1"', line)


def _articles(source: str) -> Iterator[Section]:
    paths = {"legal": ROOT / "data" / "articles" / "*.jsonl", "freshwiki": SHARED / "freshwiki" / "*.md"}
    for article in corpus.articles([str(paths[source])], skipped=lambda _: None):
        for section in article.sections:
            yield segment(section)


def _quoref() -> Iterator[Section]:
    path = SHARED / "quoref" / "quoref-dev-public.json"
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for number, paragraph in enumerate(article["paragraphs"]):
            text = paragraph["context"].strip()
            name = f"quoref/{article['title']}/{number}"
            yield segment(Section(name, name, article["title"], (), text, 0, len(text)))


def _qed() -> Iterator[Section]:
    path = SHARED / "qed" / "qed-dev-public.jsonlines"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        text = row["paragraph_text"].strip()
        yield segment(Section(f"qed/{number}", f"qed/{number}", row["title_text"], (), text, 0, len(text)))


def _hotpotqa() -> Iterator[Section]:
    path = SHARED / "hotpotqa" / "hotpot_dev_distractor_public.json"
    seen: set[str] = set()
    for question in json.loads(path.read_text(encoding="utf-8")):
        for title, sentences in question["context"]:
            text = "".join(sentences).strip()
            if title not in seen:
                seen.add(title)
                yield segment(Section(f"hotpotqa/{title}", f"hotpotqa/{title}", title, (), text, 0, len(text)))

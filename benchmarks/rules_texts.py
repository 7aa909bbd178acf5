"""The texts that the embedded default is tuned on and those it is only measured on, split by a hash of the title.

FreshWiki, Quoref, QED and HotpotQA lie in the optional folder ../shared/data; the legal articles are the dataset's own.
"""

import hashlib
import json
from collections.abc import Iterator
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
SHARED = ROOT.parent / "shared" / "data"
MIN_SENTENCES = {"legal": 3, "freshwiki": 6, "quoref": 6, "qed": 6, "hotpotqa": 6}


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

"""The texts that the embedded default is tuned on and those it is only measured on, split by a hash of the title.

FreshWiki and Quoref lie in the optional folder ../shared/data; the legal articles are the dataset's own.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from generation import corpus
from generation.records import Section
from generation.segment import segment

Split = Literal["tuning", "held-out", "later"]
HALVES: tuple[Split, ...] = ("held-out", "tuning")
SOURCES = ("legal", "freshwiki", "quoref")
ROOT = Path(__file__).parents[1]
LATER = frozenset(
    (Path(__file__).parent / "rules_reading" / "round2_articles.txt").read_text(encoding="utf-8").splitlines()
)
"""Titles of our own articles that came into the repository after all tuning was done."""
SHARED = ROOT.parent / "shared" / "data"
MIN_SENTENCES = {"legal": 3, "freshwiki": 6, "quoref": 6}


def split_of(title: str) -> Split:
    """Half of all titles are held out, whatever else changes; articles that came later are a part of their own."""
    if title in LATER:
        return "later"
    return "held-out" if hashlib.sha256(title.encode()).digest()[0] % 2 else "tuning"


def sections(source: str, split: Split) -> Iterator[Section]:
    """The segmented sections of one source and one half that are long enough, in a fixed order."""
    for section in _quoref() if source == "quoref" else _articles(source):
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

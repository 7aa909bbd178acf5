"""Six rows in the dataset's default schema, of our own making, for the tests of the Space."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

ORCHARD = (
    "The Linden Orchard Act was passed in 1931. It set aside a strip of land along the river for fruit trees. "
    "A board of five growers runs the strip. The board meets in the old press house every March.\n\n"
    "Maria Teller wrote the first plan. She wanted a tree for every family in the valley."
)


def row(
    id: str,
    question: str,
    answer: str,
    required: Sequence[int],
    references: Sequence[tuple[str, tuple[int, str], tuple[int, str]]],
    *,
    text: str = ORCHARD,
    article: str = "Linden Orchard Act",
    path: Sequence[str] = (),
) -> dict[str, Any]:
    """One row; a reference is (kind, (sentence, mention), (sentence, antecedent)), found in the text by its words."""
    sentences = _sentences(text)
    kinds = {kind for kind, _, _ in references}
    return {
        "id": id,
        "article_id": f"article-{article}",
        "article_title": article,
        "domain": "law",
        "section_id": f"section-{id}",
        "section_path": list(path),
        "section_text": text,
        "sentences": sentences,
        "question": question,
        "answer": answer,
        "required_sentence_indices": list(required),
        "coreferences": [
            {"kind": kind, "mention": _span(sentences, *mention), "antecedent": _span(sentences, *antecedent)}
            for kind, mention, antecedent in references
        ],
        "derivation": [
            {"head": answer, "relation": "answers", "tail": question, "sentence_index": required[-1]},
        ],
        "kind": kinds.pop() if len(kinds) == 1 else "mixed",
        "distance": max(required) - min(required),
        "generator": "rules:0.1.0",
        "reviewed_by": ["checks"],
        "human_reviews": 0,
        "split": "train",
    }


def _sentences(text: str) -> list[dict[str, Any]]:
    """Cut after every full stop that ends a word; the texts above are written for that."""
    matches = re.finditer(r"\S.*?\.(?=\s|$)", text, re.DOTALL)
    return [{"text": m.group(), "start": m.start(), "end": m.end()} for m in matches]


def _span(sentences: Sequence[Mapping[str, Any]], index: int, words: str) -> dict[str, Any]:
    start = sentences[index]["text"].index(words)
    return {"sentence_index": index, "start": start, "end": start + len(words), "text": words}


HOSTILE = (
    'The <script>window.hacked = 1</script> Act <img src=x onerror="window.hacked=1"> was passed in 1950. '
    "It says ![picture](http://example.invalid/x.png) and ${window.hacked=1} and {{value}} and `code`. "
    "The \u202eright-to-left\u202c text and \u0007 bell and zero\u200bwidth stay visible. "
    "</li></ol><h1>big</h1> &lt;b&gt; &amp; end."
)
ROWS = [
    row(
        "orchard-1",
        "What did the Linden Orchard Act set aside along the river?",
        "a strip of land",
        [0, 1],
        [("pronominal", (1, "It"), (0, "The Linden Orchard Act"))],
    ),
    row(
        "orchard-2",
        "Where do the five growers who run the strip of land meet every March?",
        "in the old press house",
        [1, 2, 3],
        [
            ("nominal", (3, "The board"), (2, "A board of five growers")),
            ("nominal", (2, "the strip"), (1, "a strip of land")),
        ],
    ),
    row(
        "orchard-3",
        "What did Maria Teller want for every family in the valley?",
        "a tree",
        [4, 5],
        [("pronominal", (5, "She"), (4, "Maria Teller"))],
        path=["History", "Plan"],
    ),
    row(
        "orchard-4",
        "For what does the law of 1931 set land aside, and who runs it?",
        "for fruit trees; a board of five growers",
        [0, 1, 2],
        [
            ("pronominal", (1, "It"), (0, "The Linden Orchard Act")),
            ("nominal", (2, "the strip"), (1, "a strip of land")),
        ],
    ),
    row(
        "hostile-1",
        "What does the <b>Act</b> of 1950 say?",
        "![picture](http://example.invalid/x.png)",
        [0, 1],
        [("pronominal", (1, "It"), (0, "The <script>window.hacked = 1</script> Act"))],
        text=HOSTILE,
        article="The <i>hostile</i> Act",
    ),
    row(
        "far-1",
        "What does the Ferry Code of the North Shore charge each crossing?",
        "two coins",
        [0, 17],
        [("pronominal", (17, "It"), (0, "The Ferry Code of the North Shore"))],
        text="The Ferry Code of the North Shore is short. "
        + " ".join(f"Rule {n} names a quiet landing place on the shore." for n in range(1, 17))
        + " It charges each crossing two coins. Nobody has changed the price.",
        article="Ferry Code",
    ),
]

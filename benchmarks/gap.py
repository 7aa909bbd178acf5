"""Train and measure the resolver on GAP (Webster et al. 2018, "Mind the GAP"): python -m benchmarks.gap --help.

GAP gives a passage, a pronoun and two names, and says of each name whether the pronoun means it. Its F1 counts the two
yes-or-no labels of every row; bias is the F1 on feminine pronouns over that on masculine ones. A page's title tells
whom the page is about (GAP's "page context" setting); a passage without one is read as well.
"""

import argparse
import csv
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote

from generation.language import mentions, nlp, resolver, scorer
from generation.language.entities import Entity, gather
from generation.language.mentions import Mention
from generation.language.nlp import Parse

GAP = Path(__file__).parents[2] / "shared" / "data" / "gap"
PASSES = 2
PENALTY = 2.0
FOLDS = 5
SOURCE = "GAP's validation and development split, with and without the titles of their pages; benchmarks/gap.py"
Labels = tuple[bool, bool]


@dataclass(frozen=True)
class Row:
    """A GAP row; offsets count characters of `text`; `gold` are the labels of A and B; `title` is its page's."""

    text: str
    pronoun: str
    offset: int
    names: tuple[tuple[str, int], tuple[str, int]]
    gold: tuple[bool, bool]
    title: str = ""

    @property
    def is_feminine(self) -> bool:
        return self.pronoun.lower() in ("she", "her", "hers")


@dataclass(frozen=True)
class Choice:
    """What the resolver chose among at the row's pronoun. `hits[i]` says which of A and B candidate i covers."""

    features: list[dict[str, float]]
    hits: list[tuple[bool, bool]]


Found = tuple[Choice, Row]
Said = tuple[Labels, Row]


def rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                r["Text"],
                r["Pronoun"],
                int(r["Pronoun-offset"]),
                ((r["A"], int(r["A-offset"])), (r["B"], int(r["B-offset"]))),
                (r["A-coref"].upper() == "TRUE", r["B-coref"].upper() == "TRUE"),
                unquote(r["URL"].rpartition("/wiki/")[2]).replace("_", " "),
            )
            for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


class Watching(resolver.Discourse):
    """Reads as usual, and notes the candidates at one token."""

    def __init__(self, parse: Parse, place: dict[int, int], token: int, found: Sequence[Mention]):
        super().__init__(parse, place, named=gather((m for m in found if m.form == "name"), title=parse.title))
        self.token = token
        self.candidates: list[Entity] | None = None
        self.features: list[dict[str, float]] = []
        self.spans: list[list[Mention]] = []

    def _person(self, mention: Mention):
        if mention.head == self.token:
            fitting = self.people(mention) + self.people_to_come(mention)
            self.candidates = fitting
            self.features = scorer.features(self.parse, mention, fitting, self.place) if fitting else []
            self.spans = [e.known for e in fitting]
        return super()._person(mention)


def choice(row: Row, title: str = "") -> Choice:
    """The candidates of one row with their features, in an article of that title; empty where no pronoun is found."""
    starts, sentences = split(row.text)
    parse = replace(nlp.parse_sentences(tuple(sentences)), title=title)
    token = token_at(parse, starts, row.offset)
    found = mentions.find(parse)
    watch = Watching(parse, {s: s for s in range(len(sentences))}, token, found)
    for mention in found:
        if watch.candidates is not None:
            break
        watch.read(mention)
    hits = [hit(parse, starts, spans, row) for spans in watch.spans]
    return Choice(watch.features, hits)


def split(text: str) -> tuple[list[int], list[str]]:
    """Sentences by nupunkt, with where each starts."""
    import nupunkt

    spans = [(s, e) for s, e in nupunkt.sent_spans(text) if text[s:e].strip()]
    return [s for s, _ in spans], [text[s:e] for s, e in spans]


def token_at(parse: Parse, starts: Sequence[int], offset: int) -> int:
    return next((i for i, (s, start, _) in enumerate(parse.where) if starts[s] + start == offset), -1)


def hit(parse: Parse, starts: Sequence[int], spans: Sequence[Mention], row: Row) -> tuple[bool, bool]:
    """Does the entity have a mention that holds name A, or B?"""

    def covers(name: str, offset: int) -> bool:
        for m in spans:
            first = starts[m.sentence] + parse.where[m.start][1]
            last = starts[m.sentence] + parse.where[m.end - 1][2]
            if m.form == "name" and first <= offset + len(name) - 1 and offset <= last - 1:
                head = parse.where[m.head]
                inside = offset <= starts[m.sentence] + head[1] < offset + len(name)
                if inside:
                    return True
        return False

    return tuple(covers(*name) for name in row.names)  # type: ignore[return-value]


def predict(found: Choice, weights: dict[str, float]) -> Labels:
    """Which of A and B the best candidate covers."""
    scored = [
        (sum(weights.get(k, 0.0) * v for k, v in row.items()), h)
        for row, h in zip(found.features, found.hits, strict=True)
    ]
    return max(scored, key=lambda s: s[0])[1] if scored else (False, False)


def f1(pairs: Sequence[tuple[tuple[bool, bool], tuple[bool, bool]]]) -> tuple[float, float, float]:
    """Precision, recall and F1 in percent over the labels of (predicted, gold) pairs."""
    labels = [(p, g) for said, gold in pairs for p, g in zip(said, gold, strict=True)]
    both = sum(p and g for p, g in labels)
    precision = both / max(1, sum(p for p, _ in labels))
    recall = both / max(1, sum(g for _, g in labels))
    return 100 * precision, 100 * recall, 200 * precision * recall / max(1e-9, precision + recall)


def learn(found: Sequence[Found]) -> dict[str, float]:
    """Softmax ranking with an L2 penalty, by Newton-free gradient descent; only rows with a right candidate teach."""
    import numpy as np

    names = sorted({k for c, _ in found for row in c.features for k in row})
    column = {k: i for i, k in enumerate(names)}
    examples = [e for e in (_example(c, r, column) for c, r in found) if e is not None]
    weights = np.zeros(len(names))
    for step in range(400):
        gradient = PENALTY * weights / len(examples)
        for matrix, right in examples:
            scores = matrix @ weights
            powers = np.exp(scores - scores.max())
            gradient -= ((right / right.sum() - powers / powers.sum()) @ matrix) / len(examples)
        weights -= 1.0 * gradient if step < 300 else 0.3 * gradient
    return {k: round(float(w), 4) for k, w in zip(names, weights, strict=True) if abs(w) > 1e-3}


def _example(found: Choice, row: Row, column: dict[str, int]):
    import numpy as np

    right = np.array([any(a and g for a, g in zip(h, row.gold, strict=True)) for h in found.hits], dtype=float)
    if not right.any() or right.all():
        return None
    matrix = np.zeros((len(found.features), len(column)))
    for i, features in enumerate(found.features):
        for name, value in features.items():
            matrix[i, column[name]] = value
    return matrix, right


def read(some: Sequence[Row], titled: bool, weights: dict[str, float]) -> list[Found]:
    """Each row with what the resolver chose among, its earlier pronouns resolved by `weights`."""
    with patch.object(scorer, "weights", lambda: weights):
        return [(choice(row, row.title if titled else ""), row) for row in some]


def trained(some: Sequence[Row], weights: dict[str, float]) -> dict[str, float]:
    """Weights learnt from `some`, each with and without its title; later passes read with better weights."""
    for _ in range(PASSES):
        weights = learn([*read(some, True, weights), *read(some, False, weights)])
    return weights


def crossed(some: Sequence[Row], more: Sequence[Row]) -> tuple[list[Said], list[Said]]:
    """What is said of each row of `some`, with and without its title, by weights learnt without its fifth.

    The fifth is read by those weights too; what they are learnt from was read by the shipped ones.
    """
    known = [[*read((*some, *more), titled, scorer.weights())] for titled in (True, False)]
    order = random.Random(0).sample(range(len(some)), len(some))
    titled_ones: list[Said] = []
    others: list[Said] = []
    for fold in range(FOLDS):
        judged = set(order[fold::FOLDS])
        weights = learn([pair for found in known for n, pair in enumerate(found) if n not in judged])
        for said, titled in ((titled_ones, True), (others, False)):
            again = read([some[i] for i in judged], titled, weights)
            said += [(predict(found, weights), row) for found, row in again]
    return titled_ones, others


def line(label: str, said: Sequence[Said]) -> str:
    precision, recall, overall = f1([(p, r.gold) for p, r in said])
    masculine = f1([(p, r.gold) for p, r in said if not r.is_feminine])[2]
    feminine = f1([(p, r.gold) for p, r in said if r.is_feminine])[2]
    return (
        f"  {label:34} n {len(said)}  P {precision:.1f}  R {recall:.1f}  F1 {overall:.1f}  "
        f"M {masculine:.1f}  F {feminine:.1f}  bias {feminine / masculine:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="learn the weights from both splits, to be shipped")
    options = parser.parse_args()
    development, validation = (rows(GAP / f"gap-{split}.tsv") for split in ("development", "validation"))
    if options.train:
        learnt = trained([*validation, *development], scorer.weights())
        stored = {"source": SOURCE, "weights": learnt}
        path = Path(scorer.__file__).with_name("pronoun_weights.json")
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        scorer.weights.cache_clear()
    print(f"GAP development, each fifth by weights learnt from the rest and from {len(validation)} rows of validation:")
    for label, said in zip(("with the page's title", "without it"), crossed(development, validation), strict=True):
        print(line(label, said))


if __name__ == "__main__":
    main()

"""How well is "the song", "it" or "the agency" resolved? Measured on QED: python -m benchmarks.qed [--misses]

QED (Lamm et al. 2020) marks, in the sentence that answers a question, the phrase that means the same thing as a phrase
of the question. An item here is such a phrase that refers back: a pronoun, or "the", "this" or "its" with a noun and no
name, in a sentence after the first, where an earlier sentence of the paragraph holds the telling words of the
question's phrase. It is resolved rightly if what it is linked to holds at least half of those words. Precision is over
the links made, recall over the items. The baseline takes the nearest earlier name or noun that agrees in number, gender
and kind.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from generation.checking import terms
from generation.language import mentions, nlp, resolver
from generation.language.entities import gather
from generation.language.lexicon import PRONOUN_GENDER
from generation.language.mentions import Mention
from generation.language.nlp import Parse

QED = Path(__file__).parents[2] / "shared" / "data" / "qed" / "qed-dev-public.jsonlines"
KINDS = ("pronominal", "nominal, another noun", "nominal, a word in common")
_OPENINGS = frozenset("the this that these those its his her their such both".split())


@dataclass(frozen=True)
class Item:
    """A phrase at characters `start` to `end` of sentence `index`, and the stems that its antecedent should hold."""

    sentences: tuple[str, ...]
    index: int
    start: int
    end: int
    kind: str
    gold: frozenset[str]
    text: str
    question: str


def items(path: Path = QED) -> Iterator[Item]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield from _items(json.loads(line))


def _items(row: dict) -> Iterator[Item]:
    # The quotes of the treebank become ordinary ones of the same length, so that all offsets stand.
    text = row["paragraph_text"].replace("``", '" ').replace("''", ' "')
    starts = row["sentence_starts"]
    sentences = tuple(text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True))
    for equality in row["annotation"].get("referential_equalities", ()):
        phrase, asked = equality["sentence_reference"], equality["question_reference"]["string"]
        index = max((i for i, s in enumerate(starts) if s <= phrase["start"]), default=0)
        gold = frozenset(terms.content(asked))
        kind = "" if phrase["bridge"] else _kind(phrase["string"], gold)
        earlier = frozenset().union(*(terms.stems(s) for s in sentences[:index]))
        if kind and index and gold and _holds(earlier, gold):
            start = phrase["start"] - starts[index]
            end = phrase["end"] - starts[index]
            yield Item(sentences, index, start, end, kind, gold, phrase["string"], row["question_text"])


def _kind(text: str, gold: frozenset[str]) -> str:
    """One of KINDS, or "" for what does not refer back."""
    words = text.split()
    if text.lower() in PRONOUN_GENDER:
        return KINDS[0]
    if len(words) < 2 or words[0].lower() not in _OPENINGS or any(w[0].isupper() for w in words[1:]):
        return ""
    return KINDS[2] if gold & terms.stems(text) else KINDS[1]


def _holds(stems: frozenset[str], gold: frozenset[str]) -> bool:
    return 2 * len(gold & stems) >= len(gold)


def resolved(item: Item) -> frozenset[str] | None:
    """The stems of all that the resolver links the phrase to, None where it makes no link."""
    parse = nlp.parse_sentences(item.sentences)
    links = [link for link in resolver.resolve_parse(parse) if _is_at(parse, link.mention, item)]
    if not links:
        return None
    link = min(links, key=lambda found: found.mention.start)
    behind = {m for m in (*link.entity.mentions, link.antecedent) if m.head < link.mention.head}
    return _stems(parse, behind)


def nearest(item: Item) -> frozenset[str] | None:
    """The stems of the nearest earlier name or noun that agrees, and of its namesakes before."""
    parse = nlp.parse_sentences(item.sentences)
    found = mentions.find(parse)
    anaphor = next((m for m in found if _is_at(parse, m, item)), None)
    if anaphor is None:
        return None
    earlier = [m for m in found if m.head < anaphor.head and m.form != "pronoun" and _agree(anaphor, m)]
    if not earlier:
        return None
    owner = gather(m for m in found if m.form == "name" and m.head < anaphor.head)
    last = earlier[-1]
    return _stems(parse, set(owner[last.head].known) if last.head in owner else {last})


def _agree(anaphor: Mention, other: Mention) -> bool:
    if anaphor.plural != other.plural:
        return False
    if anaphor.gender in ("m", "f"):
        return other.kind in ("person", "") and other.gender in (anaphor.gender, "")
    if anaphor.form == "pronoun":
        return other.kind != "person"
    return not anaphor.kind or not other.kind or anaphor.kind == other.kind


def _is_at(parse: Parse, mention: Mention, item: Item) -> bool:
    sentence, start, _ = parse.where[mention.head]
    return sentence == item.index and item.start <= start < item.end


def _stems(parse: Parse, found: set[Mention]) -> frozenset[str]:
    texts = (parse.text(min(m.start, m.first) if m.first >= 0 else m.start, max(m.end, m.last)) for m in found)
    return frozenset().union(*(terms.stems(text) for text in texts))


Resolve = Callable[[Item], frozenset[str] | None]


def measure(found: Sequence[Item], resolve: Resolve) -> tuple[dict[str, Counter[str]], list[Item]]:
    """By kind: items, links made and right ones; and the items whose link is wrong."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    for item in found:
        said = resolve(item)
        right = said is not None and _holds(said, item.gold)
        for kind in (item.kind, "all"):
            counts[kind].update(items=1, links=said is not None, right=right)
        wrong += [item] if said is not None and not right else []
    return counts, wrong


def _line(kind: str, name: str, count: Counter[str]) -> str:
    precision = 100 * count["right"] / max(1, count["links"])
    recall = 100 * count["right"] / max(1, count["items"])
    f1 = 200 * count["right"] / max(1, count["links"] + count["items"])
    cells = (kind, name, count["items"], count["links"], f"{precision:.1f}", f"{recall:.1f}", f"{f1:.1f}")
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list the links that are wrong")
    options = parser.parse_args()
    found = list(items())
    print("| anaphora | by | items | links made | precision | recall = accuracy | F1 |")
    print("|---|---|--:|--:|--:|--:|--:|")
    measured = {"resolver": measure(found, resolved), "nearest that agrees": measure(found, nearest)}
    for kind in (*KINDS, "all"):
        for name, (counts, _) in measured.items():
            print(_line(kind, name, counts[kind]))
    for item in measured["resolver"][1] if options.misses else ():
        print(f"- {item.text!r} in {item.sentences[item.index][:100]!r}, asked: {item.question}")


if __name__ == "__main__":
    main()

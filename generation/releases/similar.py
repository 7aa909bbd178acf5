"""Texts that are nearly the same, among many: MinHash finds who to compare, the exact overlap decides.

Overlap is the Jaccard index of two texts' sets of three-word runs. Sources: Broder 1997 (resemblance and MinHash);
datasketch's MinHashLSH finds the candidates.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from generation.errors import UsageError

PASSAGE = 0.5
"""Half of its three-word runs shared: the same passage, edited. Sections of different laws share below 0.1."""
QUESTION = 0.6
"""Question and answer together: from here on two pairs ask the same thing, in other order or with a word changed."""
SHORTEST_EVIDENCE = 5
"""Words; shorter sentences ("It passed.") may stand in many texts."""
RUN = 3
_HASHES = 128


class Pair(NamedTuple):
    """Two texts by their names, and how much they overlap, from 0 to 1."""

    one: str
    other: str
    overlap: float


def near(texts: Mapping[str, str], threshold: float, known: Mapping[str, str] | None = None) -> Iterator[Pair]:
    """Pairs of `texts` that overlap by `threshold` or more; with `known`, only one of `texts` with one of `known`."""
    MinHash, MinHashLSH = _datasketch()  # noqa: N806 (classes)
    index = MinHashLSH(num_perm=_HASHES, params=_bands(threshold))
    runs: dict[str, frozenset[str]] = {}
    for name, text in (known or {}).items():
        runs[name] = _runs(text)
        index.insert(name, _minhash(MinHash, runs[name]))
    for name, text in texts.items():
        mine = _runs(text)
        hashed = _minhash(MinHash, mine)
        for other in sorted(index.query(hashed)):
            overlap = len(mine & runs[other]) / len(mine | runs[other])
            if overlap >= threshold and other != name:
                yield Pair(other, name, overlap)
        if known is None:
            runs[name] = mine
            index.insert(name, hashed)


@cache
def _bands(threshold: float) -> tuple[int, int]:
    """How many bands of how many hashes find the candidates; to work it out takes a quarter of a second.

    For a lower threshold, so that hardly any pair is missed for bad luck.
    """
    _, MinHashLSH = _datasketch()  # noqa: N806 (a class)
    index = MinHashLSH(threshold=threshold * 0.6, num_perm=_HASHES)
    return index.b, index.r


def passages_alike(rows: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Different sections, by section_id, whose texts are nearly the same."""
    texts = {row["section_id"]: row["section_text"] for row in rows}
    return [*near(texts, PASSAGE)]


def evidence_shared(rows: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Pairs, by id, of different sections that require the same sentence, capitals and punctuation aside."""
    first: dict[str, Mapping[str, Any]] = {}
    found: dict[tuple[str, str], None] = {}
    for row in rows:
        for text in _evidence(row):
            earlier = first.setdefault(text, row)
            if earlier["section_id"] != row["section_id"]:
                found[earlier["id"], row["id"]] = None
    return [Pair(one, other, 1.0) for one, other in found]


def questions_alike(rows: Iterable[Mapping[str, Any]], known: Iterable[Mapping[str, Any]] | None = None) -> list[Pair]:
    """Pairs, by id, that ask nearly the same, in nearly the same words, and have nearly the same answer."""
    texts = {row["id"]: _asked(row) for row in rows}
    before = None if known is None else {row["id"]: _asked(row) for row in known if row["id"] not in texts}
    return [*near(texts, QUESTION, before)]


def questions_repeated(rows: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Pairs, by id, with the same question and answer, capitals and punctuation aside."""
    first: dict[str, str] = {}
    found = []
    for row in rows:
        earlier = first.setdefault(plain(_asked(row)), row["id"])
        if earlier != row["id"]:
            found.append(Pair(earlier, row["id"], 1.0))
    return found


def plain(text: str) -> str:
    """`text` in lower case, as words with single spaces."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _evidence(row: Mapping[str, Any]) -> Iterator[str]:
    for index in row["required_sentence_indices"]:
        text = plain(row["sentences"][index]["text"])
        if text.count(" ") + 1 >= SHORTEST_EVIDENCE:
            yield text


def _asked(row: Mapping[str, Any]) -> str:
    return f"{row['question']} {row['answer']}"


def _runs(text: str) -> frozenset[str]:
    words = plain(text).split()
    return frozenset(" ".join(words[i : i + RUN]) for i in range(max(1, len(words) - RUN + 1)))


def _minhash(kind: Any, runs: frozenset[str]) -> Any:
    hashed = kind(num_perm=_HASHES, seed=1)
    hashed.update_batch([run.encode() for run in sorted(runs)])
    return hashed


def _datasketch() -> tuple[Any, Any]:
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError as error:
        raise UsageError("A release needs more libraries: pip install 'craqan[release]'") from error
    return MinHash, MinHashLSH

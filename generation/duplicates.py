"""Sections that were seen before, word for word or nearly, found on the fly and in little memory.

Each section leaves 16 bytes behind, a similarity hash of its word pairs, and its name. Source: Charikar 2002 (simhash).
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

from generation.articles.sources import Skipped
from generation.records import Section

BITS = 128
NEAR = 18
"""Bits in which near-duplicates may differ; unrelated texts differ in about 64."""
_BLOCK = 8192


class Seen:
    """The sections so far, with their names, so that a duplicate can be told what it repeats."""

    def __init__(self) -> None:
        import numpy  # in here: the command line starts without it

        self._numpy: Any = numpy
        self._blocks: list[Any] = []  # of hashes, shape (_BLOCK, 2); one array would be copied whenever it grew
        self._names = bytearray()  # one after the other; a list of texts would take five times as much
        self._ends = array("Q")

    def earlier(self, section: Section) -> str | None:
        """The id of an earlier section that `section` repeats; if there is none, `section` is remembered."""
        numpy, count, hashed = self._numpy, len(self._ends), self._simhash(section)
        for start, block in zip(range(0, count, _BLOCK), self._blocks, strict=True):
            near = numpy.bitwise_count(block[: count - start] ^ hashed).sum(axis=1) <= NEAR
            if near.any():
                return self._name(start + int(near.argmax()))
        if count % _BLOCK == 0:
            self._blocks.append(numpy.zeros((_BLOCK, 2), dtype=numpy.uint64))
        self._blocks[-1][count % _BLOCK] = hashed
        self._names += section.id.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._names))
        return None

    def _name(self, place: int) -> str:
        start = self._ends[place - 1] if place else 0
        return self._names[start : self._ends[place]].decode("utf-8", "surrogatepass")

    def _simhash(self, section: Section) -> Any:
        numpy = self._numpy
        features = b"".join(blake2b(f.encode(), digest_size=BITS // 8).digest() for f in _features(section))
        bits = numpy.unpackbits(numpy.frombuffer(features, dtype=numpy.uint8)).reshape(-1, BITS)
        majority = bits.sum(axis=0) * 2 > len(bits)
        return numpy.packbits(majority).view(numpy.uint64)


def without_duplicates(sections: Iterable[Section], skipped: Callable[[Skipped], None]) -> Iterator[Section]:
    """`sections` without those that repeat an earlier one; each left out is told to `skipped`."""
    seen = Seen()
    for section in sections:
        earlier = seen.earlier(section)
        if earlier is None:
            yield section
        else:
            skipped(Skipped(section.id, f"repeats {earlier}, word for word or nearly", 1))


def _features(section: Section) -> list[str]:
    words = re.findall(r"\w+", section.text.casefold()) or [""]
    return [" ".join(words[i : i + 2]) for i in range(max(1, len(words) - 1))]

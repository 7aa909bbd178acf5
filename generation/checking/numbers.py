"""Numbers in words: "twenty-five" is 25, "twenty-first" 21, "1.2 billion" 1200000000, "a hundred and six" 106."""

from collections.abc import Sequence
from fractions import Fraction

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_UNITS += "seventeen eighteen nineteen".split()
_TENS = {w: str(10 * i) for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)}
NUMBERS = {w: str(i) for i, w in enumerate(_UNITS)} | _TENS
"""Number words below a hundred, without the compound ones."""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
_ORDINALS += "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
ORDINALS = {w: str(i) for i, w in enumerate(_ORDINALS.split(), start=1)}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9}
SCALES |= {"trillion": 10**12}
"""Words that multiply the number before them."""
_PARTS = SCALES.keys() | _TENS.keys()
_LONGEST = 18
"""Digits; a longer run is no number that anybody writes with a scale."""


def joined(words: Sequence[str]) -> list[str]:
    """`words`, in lower case, with each number of two or more of them as its digits."""
    if _PARTS.isdisjoint(words):
        return list(words)
    found: list[str] = []
    at = 0
    while at < len(words):
        value, end = _number(words, at)
        if end - at > 1 and value.denominator == 1:
            found.append(str(value))
            at = end
        else:
            found.append(words[at])
            at += 1
    return found


def _number(words: Sequence[str], at: int) -> tuple[Fraction, int]:
    """The value of the number that begins at `at`, and where it ends; `at` if none begins there."""
    total, scale, end = _part(words, at, is_first=True)
    while end > at and scale > 1:
        begin = end + (words[end : end + 1] == ["and"])
        more, smaller, after = _part(words, begin, is_first=False)
        if after == begin or smaller >= scale or more >= scale or words[after : after + 1] == ["hundred"]:
            break
        total, scale, end = total + more, smaller, after
    return total, end


def _part(words: Sequence[str], at: int, *, is_first: bool) -> tuple[Fraction, int, int]:
    """What "two hundred" is: its value, its scale, and where it ends; `at` if there is none.

    A later part in digits needs a scale: "5 million, 3 of them" is no number.
    """
    value, end = _small(words, at)
    if end == at and is_first and words[at] in ("a", "an") and at + 1 < len(words) and words[at + 1] in SCALES:
        value, end = Fraction(1), at + 1
    scale, after = 1, end
    while end > at and after < len(words) and SCALES.get(words[after], 0) >= scale:
        scale, after = scale * SCALES[words[after]], after + 1
    if not is_first and scale == 1 and end > at and words[at][0].isdigit():
        return Fraction(0), 1, at
    return value * scale, scale, after


def _small(words: Sequence[str], at: int) -> tuple[Fraction, int]:
    """A number below a hundred in words, or any in digits: its value, and where it ends; `at` if there is none."""
    word = words[at] if at < len(words) else ""
    if word.isascii() and word.replace(".", "", 1).isdecimal() and len(word) <= _LONGEST:
        return Fraction(word), at + 1
    if word not in NUMBERS:
        return Fraction(0), at
    unit = int((NUMBERS | ORDINALS).get(words[at + 1], "0")) if at + 1 < len(words) else 0
    if word in _TENS and 0 < unit < 10:
        return Fraction(int(NUMBERS[word]) + unit), at + 2
    return Fraction(NUMBERS[word]), at + 1

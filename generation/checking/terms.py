"""Words as the checks compare them: lower-cased, numbers written one way, stems that let "founder" meet "founded"."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from generation.checking import numbers

STOP_WORDS = frozenset(
    "a an the of in on at to for by with from as and or but nor is are was were be been being am has have had "
    "having do does did doing done that this these those it its itself he him his himself she her hers herself "
    "they them their theirs themselves who whom whose which what when where why how not no than then there here "
    "so such very too also into onto upon about over under after before between during through within without per "
    "if whether while because both either neither each any some all other another one can could may might must "
    "shall should will would i we us you my our your me s t".split()
)
ASKING = frozenset(
    "kind type sort name call year month date day time place country city person man woman people thing many much long "
    "often old far first last full title what which".split()
)
"""Words that say what is asked for, not what it is about."""

MONTHS = "january february march april may june july august september october november december".split()
_SHORT_MONTHS = {m[:3]: m for m in MONTHS} | {"sept": "september"}
_WRITTEN = numbers.NUMBERS | numbers.ORDINALS | _SHORT_MONTHS
"""Words that are written in another way elsewhere, as the checks compare them."""


@cache
def _base_forms() -> dict[str, str]:
    lines = Path(__file__).with_name("irregular_words.txt").read_text(encoding="utf-8").splitlines()
    return {form: line.split()[0] for line in lines if not line.startswith("#") for form in line.split()[1:]}


_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W_]+(?:[’'][^\W_]+)*")
_ENDINGS = re.compile(
    r"(?:isations?|izations?|ations?|itions?|ising|izing|ised|ized|ises|izes|ements?|ments?|ances?|ences?|ables?|ibles?"
    r"|ities|ity|iness|ness|ingly|edly|ings?|ions?|ists?|isms?|ants?|ents?|ials?|als?|ous|ives?|ers?|ors?|ies|ied|ying"
    r"|iers?|ier|ly|ed|es|s|y|e)$"
)
MIN_STEM = 4


def words(text: str) -> list[str]:
    """Lower-cased words and numbers in order; hyphens part words, 's and commas in numbers are cut out.

    Numbers of several words are one ("twenty-five", "1.2 billion"), and a date of digits has its month's name.
    """
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    found = (re.sub(r"[’']s?$", "", w) for w in _WORD.findall(_plain(text.casefold())))
    return numbers.joined([w.replace(",", "") if w[0].isdigit() else w for w in found if w])


def _plain(text: str) -> str:
    """Without the endings of "4th" and with the month's name in "1933-06-04"; most texts have no digit at all."""
    return _ISO_DATE.sub(_spelt_out, _ORDINAL.sub(r"\1", text)) if _DIGIT.search(text) else text


_DIGIT = re.compile(r"\d")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")


def _spelt_out(date: re.Match[str]) -> str:
    return f"{int(date[3])} {MONTHS[int(date[2]) - 1]} {date[1]}"


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A rough stem of a lower-case word; small numbers and ordinals become digits, short months long ones."""
    word = _WRITTEN.get(word, word)
    word = _base_forms().get(word, word)
    if word[0].isdigit():
        return word
    short = _ENDINGS.sub("", word)
    short = short if len(short) >= MIN_STEM - 1 else re.sub(r"(?:es|ed|ing|s|e|y)$", "", word)
    if len(short) < MIN_STEM - 1:
        short = word
    return short[:-1] if len(short) > MIN_STEM and short[-1] == short[-2] else short


@lru_cache(maxsize=8_192)
def stems(text: str) -> frozenset[str]:
    """The stems of all words of `text`."""
    return frozenset(stem(w) for w in words(text))


def content(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order, each once."""
    return list(dict.fromkeys(stem(w) for w in words(text) if w not in STOP_WORDS))


def asked_about(question: str) -> list[str]:
    """The content of a question without the words that only say what kind of answer it wants."""
    asking = {w for w in words(question) if w in STOP_WORDS or w in ASKING or w.removesuffix("s") in ASKING}
    return list(dict.fromkeys(stem(w) for w in words(question) if w not in asking))


def contains(text: Sequence[str], part: Sequence[str]) -> bool:
    """Do the words `part` stand in `text` one after the other?"""
    n = len(part)
    return n > 0 and any(list(text[i : i + n]) == list(part) for i in range(len(text) - n + 1))


_CAPITAL = re.compile(r"(?<![^\W\d_])[^\W\d_a-z][\w.&]*(?:[’'-]\w+)*")


def names(text: str) -> list[list[str]]:
    """The runs of capitalised words of a question or answer, lower-cased; its first word counts only as part of one."""
    runs: list[list[str]] = []
    end = -2
    for match in _CAPITAL.finditer(text):
        word = re.sub(r"[’']s?$", "", match[0].casefold()).rstrip(".")
        joined = runs and text[end : match.start()] in (" ", ". ")
        if match.start() == 0 or word in STOP_WORDS:
            continue
        if joined:
            runs[-1].append(word)
        else:
            runs.append([word])
        end = match.end()
    return runs


def written(text: str, word: str) -> str:
    """A lower-cased word or run of words as `text` writes it, or as it is if it is not there."""
    found = re.search(r"\W+".join(map(re.escape, word.split())), text, re.IGNORECASE)
    return found[0] if found else word

"""A second look at the ends that a splitter found: abbreviations, labels, brackets, words that are no abbreviation.

Splitters learn their abbreviations from large corpora, and with them some plain words ("code", "holidays"), but none
that the corpora lacked ("esp."). Here it is decided by form, by one list of real abbreviations and by the word that
comes next; where none of that decides, the splitter's word stands.
"""

import re
from collections.abc import Iterable

VERSION = 1
"""Goes into the name that every section carries; raise it with any change of what `mend` returns."""

_TITLES = "mr mrs ms mx dr drs prof profs rev fr hon messrs sen sens rep reps gov pres gen col lt sgt capt cmdr adm maj"
_BEFORE_MORE = "pub v vs cf viz e.g i.e nos secs chs paras subsec subsecs subpara subdiv cls pts eds"
_NUMBERED = (
    "no nos sec secs art arts fig figs vol vols ch chs para paras cl pt pts op ex exs app rule tit div reg regs p"
    " pp n nn cmt stat pub r ser supp jan feb mar apr jun jul aug sep sept oct nov dec c ca approx"
)
_OTHER = (
    "inc corp co cos ltd llc plc bros assn assoc jr sr esq etc al id ibid est dept univ inst int'l nat'l gov't"
    " dep't att'y app'x ass'n comm'n comm cong subcomm cnty twp bd ct cts cir dist super sup fed civ crim evid"
    " bankr proc bus admin auth bldg blvd ave rd ste st mt ft hwy tel coop dev emp env fin gen hist indus ins intl"
    " lab lib mach mfg mgmt mkt mun nat natl org pharm prod ref rel res ry sch sci serv soc sys tech transp util"
    " ala ariz ark cal calif colo conn del fla ga ill ind kan ky la mass md me mich minn miss mo mont neb nev okla"
    " ont ore pa tenn tex va vt wash wis wyo mon tue tues wed thu thur thurs fri sat sun am pm ad bc eg ie esp"
    " incl aka yr yrs mo mos wk hr hrs min sec max avg exec legis jud sec'y treas gaz tr pl def resp pet ord slip"
    " rptr rev stat ann code"
)
_ALWAYS_GOES_ON = frozenset(f"{_TITLES} {_BEFORE_MORE}".split())
_TAKES_NUMBER = frozenset(_NUMBERED.split())
_ABBREVIATIONS = (_ALWAYS_GOES_ON | _TAKES_NUMBER | frozenset(_OTHER.split())) - {"code", "rule", "me", "max", "min"}

# Words that open a sentence and hardly ever continue a name or a citation.
_OPENERS = frozenset(
    "A After Although An And Another As At Because Before Both But By Did Does During Each For From Had He Her"
    " His How However I If In It Its Many Most Nor Not On Once One Or Other Our Several She Since So Some Such"
    " That The Their Then There Therefore These They This Those Though Thus Under Until Upon We What When Where"
    " Whether Which While Who Why With You Your".split()
)

_AFTER_TIME = re.compile(  # what may follow "a.m." within a sentence: a zone, a day, a month
    r"[A-Z]{2,4}\b|(?:Eastern|Central|Mountain|Pacific|Mon|Tues?|Wed|Thu|Thurs|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug"
    r"|Sep|Oct|Nov|Dec)"
)
_ENUMERATED = re.compile(r"\s+\((?:[a-z]|\d{1,2}|[ivx]{1,4})\) [A-Z]")
_STOP = re.compile(r"[.!?\u2026][.!?\u2026\"\u201d\u2019')\]]*(?=\s)")
_LAST_WORD = re.compile(r"[^\s(\[\"\u201c\u2018]+$")
_NEXT_WORD = re.compile(r"\s+([\"\u201c\u2018'(\[]*)([^\s]*)")
_LABEL = re.compile(
    r"[(\[]?(?:[ivxlc]{1,5}|[IVXLC]{1,5}|[A-Za-z]|\d{1,3})[.)\]]+"  # 1. or (a). or IV.
    r"|(?:Sec|Section|Art|Article|Rule|Chapter|Part|Title|Clause|SEC|SECTION|ARTICLE|\u00a7+)\.? ?"
    r"[\dIVXLC]+[\w.\u2013-]*\."  # Sec. 3.
)
_BRACKETS = {")": "(", "]": "["}
_LONGEST_WORD = 50  # characters looked at before a full stop
_LONGEST_ASIDE = 600  # characters; a bracket that closes later than this is taken for a slip


def mend(text: str, ends: Iterable[int]) -> list[int]:
    """The ends of the sentences of one block, given those that a splitter found; the last is the end of the text.

    An end without a full stop, question or exclamation mark is none, wherever the splitter sees one.
    Offsets are exclusive and count from the start of `text`; each stands behind the closing quotes and brackets.
    """
    found = set(ends)
    kept: list[int] = []
    start = 0
    for stop in _STOP.finditer(text):
        end = stop.end()
        if _is_end(text, start, stop, end in found):
            kept.append(end)
            start = end
    last = len(text.rstrip())
    return [e for e in _outside_brackets(text, kept) if e < last] + [last]


def _is_end(text: str, start: int, stop: re.Match[str], was_found: bool) -> bool:
    following = _NEXT_WORD.match(text, stop.end())
    if following is None or not following[2]:
        return was_found
    opening, word = following.groups()
    if not opening and (word[0] == "." or (word[0].islower() and word.islower())):  # a spaced ellipsis goes on
        return False
    if stop.end() - start < _LONGEST_WORD and _LABEL.fullmatch(text[start : stop.end()].strip()):
        return False
    if stop[0][0] != ".":
        return was_found
    if "(" in opening and word[0].islower():
        return bool(_ENUMERATED.match(text, stop.end()))  # "(b) The owner", or an aside: "(which had no quorum)"
    before = text[max(start, stop.start() - _LONGEST_WORD) : stop.start()]
    return _ends_at_full_stop(before, word, was_found, has_closer=bool(stop[0].strip(".")))


def _ends_at_full_stop(before: str, following: str, was_found: bool, *, has_closer: bool) -> bool:
    last = _LAST_WORD.search(before)
    word = last[0] if last else ""
    key = word.lower().lstrip(".,;:-\u2013\u2014\u00a7")
    if key in _ALWAYS_GOES_ON:
        return False
    if key in _TAKES_NUMBER and following[0].isdigit() and not has_closer:
        return False
    if following.rstrip(",;:") in _OPENERS:
        return True
    if key in ("a.m", "p.m") and following[0].isupper():
        return not _AFTER_TIME.match(following)
    if following[0].isupper() and not _could_be_abbreviation(word, key):
        return True
    return was_found


def _could_be_abbreviation(word: str, key: str) -> bool:
    is_initial = len(word) == 1 and word.isalpha()
    is_acronym = len(word) > 2 and word[:2].isupper()  # NBC, DVDs
    has_no_vowel = key.isalpha() and not is_acronym and not set(key) & set("aeiouy")
    return is_initial or "." in word or has_no_vowel or key in _ABBREVIATIONS


def _outside_brackets(text: str, ends: list[int]) -> list[int]:
    """Without the ends within an aside, that is between brackets that open in the middle of a sentence."""
    kept: list[int] = []
    start = 0
    for end in ends:
        opened = _left_open(text, start, end)
        if opened is None or not _closes(text, opened, end):
            kept.append(end)
            start = end
    return kept


def _left_open(text: str, start: int, end: int) -> int | None:
    """Where a bracket opens in text[start:end] that does not close there; None if the sentence starts with it."""
    stack: list[int] = []
    for place in range(start, end):
        if text[place] in "([":
            stack.append(place)
        elif stack and text[stack[-1]] == _BRACKETS.get(text[place]):
            stack.pop()
    if not stack or not text[start : stack[0]].strip(' "\u201c'):
        return None
    return stack[0]


def _closes(text: str, opened: int, end: int) -> bool:
    closer = ")" if text[opened] == "(" else "]"
    return text.find(closer, end, opened + _LONGEST_ASIDE) >= 0

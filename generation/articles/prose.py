"""Text as a person would read it: odd characters, citation markers and the gaps that they leave."""

import re

_LINE_ENDS = "\r\x0b\x0c\x85\u2028\u2029"
_SPACES = "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = "\xad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, byte order mark
_CONTROL = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n" + _LINE_ENDS]
_CHARACTERS = str.maketrans(
    dict.fromkeys(_LINE_ENDS, "\n")
    | dict.fromkeys(_SPACES, " ")
    | dict.fromkeys([*_INVISIBLE, *_CONTROL], "")
    | {chr(code): "\ufffd" for code in range(0xD800, 0xE000)}
)

_EDITORIAL = (
    "citation needed|clarification needed|better source needed|needs update|update needed|update|original research"
    "|page needed|verification needed|failed verification|full citation needed|non-primary source needed"
    "|according to whom|by whom|to whom|who|when|where|which|why|how|dubious|disputed|vague|dead link"
    "|permanent dead link|not in citation given|edit|error retrieving ref link"
)
# Codes of Wikipedia's links to other languages; those that are English words as well (it, is, no, he) are left out.
_LANGUAGES = (
    "ar|bg|bn|ca|cs|da|de|el|es|et|eu|fa|fi|fr|hi|hr|hu|ja|ko|lt|lv|nl|nn|pl|pt|ro|ru|sk|sl|sr|sv|tr|uk|vi|wikidata|zh"
)
_MARKER = re.compile(
    rf"""[ ]?\[(?:
        (?P<number>\d{{1,3}}(?:(?:,[ ]?|[\u2013-])\d{{1,3}})*)   # [12], [3, 4], [5-7]; a year stays: [2022] UKSC 5
        |(?:(?:nb|note|notes|n)[ ]|[\u2020\u2021\u00a7*#][ ]?)\d{{1,3}}
        |\^[^\]\s]{{1,40}}                                    # a footnote of Markdown
        |!(?:note|tip|important|warning|caution)             # the kind of an alert on GitHub
        |(?:{_EDITORIAL.replace(" ", "[ ]")})(?:\?|[ ][\u2013-][ ][^\]]{{1,40}})?
        |(?:{_LANGUAGES})(?:;[ ](?:[a-z]{{2}}|wikidata))*
    )\]""",
    re.VERBOSE | re.IGNORECASE,
)
# A letter alone is a marker, unless it opens a quotation ("[a] person") or a word ([t]he).
_LETTER_MARKER = re.compile(r"(?<![ (\[][\"'])(?<!^[\"'])(?<![\u201c\u2018]) ?\[[a-z]\](?=[ .,;:!?)\[]|$)")
_PINPOINT = re.compile(r"(?:\b(?:at|paras?\.?|paragraphs?) |\] (?:and|to|or) |\u2013)$", re.IGNORECASE)

_GAP_BEFORE_STOP = re.compile(r"(?<![. ]) ([.,;:!?])(?= (?!\.)|$)")  # spares a spaced ellipsis: . . .
# ".." and ".\"."; a comma after an abbreviation ("Jr.,") stays.
_DOUBLE_STOP = re.compile(r"(?<!\.)(?<!\. )(\.[\"\u201d]?(?= ?\.)|,[\"\u201d]?(?= ?[.,])) ?[.,](?! ?[.,])(?= |$)")
# Two sentences that a crawler has run together, "the attack.Russian officials". Names with a dot in them stay as they
# are: after a capitalised word it takes one of the commonest first words to part them (String.Format stays).
_STARTERS = (
    "A|After|Although|As|At|By|During|For|From|He|His|If|In|It|Its|On|She|Since|The|Their|They|This|When|While|With"
)
_STOP = r"[\"\u201d)]?[.!?][\"\u201d)]?"
_GLUED = re.compile(
    rf"(?<!\S)([\"\u201c(]?(?:[a-z][\w'\u2019-]*[a-z]{_STOP}(?=[A-Z]\w*[ '\u2019])"
    rf"|[A-Z][\w'\u2019-]*[a-z]{_STOP}(?=(?:{_STARTERS}) )"
    rf"|(?:\S{{1,40}}\)|\d{{4}}|[\d.,]+%){_STOP}(?=[A-Z][a-z]+ )))"
)
_EMPTY_BRACKETS = re.compile(r" \( ?[;,]* ?\)")
_OPEN_BRACKET = re.compile(r"\( ?[;,] ")


def clean_characters(text: str) -> str:
    """Keep only characters that belong in prose: line ends become LF, odd spaces plain ones, control characters go.

    A lone surrogate, which no file can hold, becomes U+FFFD. Combining marks, joiners and direction marks stay.
    """
    return text.replace("\r\n", "\n").translate(_CHARACTERS)


def tidy(text: str) -> str:
    """One line of prose: white space collapsed, citation markers and editors' notes gone without a trace.

    "found [27] [11] . Next" becomes "found. Next"; "()", left where a pronunciation stood, goes as well; sentences that
    were run together ("the end.Russia") are parted. Markers are told from the text by their form; a number after "at"
    or "para." is a pinpoint of a legal citation and stays.
    """
    before, text = "", " ".join(clean_characters(text).split())
    while text != before:  # what goes may leave what has to go as well: ", . ."
        before, text = text, _tidied(text)
    return text


def _tidied(text: str) -> str:
    if "[" in text:
        text = _LETTER_MARKER.sub("", _MARKER.sub(_without_marker, text))
    text = _OPEN_BRACKET.sub("(", _EMPTY_BRACKETS.sub("", text))
    text = _GLUED.sub(r"\1 ", text)
    text = _GAP_BEFORE_STOP.sub(r"\1", _DOUBLE_STOP.sub(r"\1", text))
    return " ".join(text.split())


def _without_marker(match: re.Match[str]) -> str:
    start = match.start() + match[0].index("[")
    is_pinpoint = match["number"] and _PINPOINT.search(match.string, max(0, start - 12), start)
    return match[0] if is_pinpoint else ""

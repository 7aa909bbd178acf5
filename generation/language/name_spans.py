"""From the head of a name to the whole name: what stands before it, "of ...", titles with colons and in quotations."""

from typing import TYPE_CHECKING

from generation.language.lexicon import noun_kind
from generation.language.nlp import Parse

if TYPE_CHECKING:
    from spacy.tokens import Token

NO_NAMES = {"DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY", "NORP", "LANGUAGE"}
"""Entity labels of what is no name."""
COMPANY_FORMS = ("inc", "ltd", "llc", "corp", "co", "plc")
_BODIES = frozenset("center centers centre office institute agency council fund society association union".split())
_OPENING = ('"', "“", "``")
_CLOSING = ('"', "”", "''")


def name_range(parse: Parse, token: "Token", sentence: int) -> tuple[int, int]:
    """From the determiner or first capitalised left modifier to the head, widened to "of ..." and to its entity."""
    first, last = parse.bounds[sentence]
    doc = parse.words
    start = token.i
    while start - 1 >= first and _joins_left(doc[start - 1], token):
        start -= 1
    start = _title_start(parse, start, first)
    if start == token.i and token.lower_.rstrip(".") in COMPANY_FORMS:
        comma = int(start - 1 > first and doc[start - 1].text == ",")
        start = _title_start(parse, start - comma, first - 1)  # "Barrel Store, Inc." may open its sentence
    end = token.i + 1
    if token.ent_type_ and token.ent_type_ not in NO_NAMES:
        opens, closes = _entity(parse, token)
        if closes <= last and opens >= first and not any(t.pos_ in ("VERB", "AUX") for t in parse.words[opens:closes]):
            start, end = min(start, opens), max(end, closes)
    while end > token.i + 1 and (doc[end - 1].tag_ == "POS" or doc[end - 1].is_punct):
        end -= 1
    if end + 1 < last and doc[end].lower_ == "of" and doc[end].head.i in range(start, end):
        end = _of_range(doc, end, last)
    if end + 1 < last and doc[end].lower_ == "for" and doc[end - 1].lower_ in _BODIES:
        end = _for_range(doc, end - 1, last)
    start = _first_of_pair(parse, start, token, first)
    start = _title_before_colon(parse, start, first)
    start, end = _quoted(parse, start, end, first, last)
    if start - 1 >= first and doc[start - 1].lower_ == "the":
        start -= 1
    return start, end


def _entity(parse: Parse, token: "Token") -> tuple[int, int]:
    """The tokens of the named entity that `token` stands in."""
    words = parse.words
    start, end = token.i, token.i + 1
    while words[start].ent_iob_ == "I" and start > 0:
        start -= 1
    while end < len(words) and words[end].ent_iob_ == "I":
        end += 1
    return start, end


def _first_of_pair(parse: Parse, start: int, head: "Token", first: int) -> int:
    """ "Family and" of "the Family and Medical Leave Act": what stands between "the" and a singular institution."""
    doc = parse.words
    if start - 2 < first or doc[start - 1].lower_ not in ("and", "&") or noun_kind(head.lower_) not in ("law", "org"):
        return start
    begin = start - 2
    while begin > first and _may_list(doc[begin]):
        begin -= 1
    capitalised = all(_may_list(doc[i]) for i in range(begin + 1, start - 1)) and begin + 1 < start - 1
    return begin + 1 if doc[begin].lower_ == "the" and capitalised else start


def _may_list(token: "Token") -> bool:
    """A capitalised word, or the comma after one ("the Economic Growth, Regulatory Relief, and ... Act")."""
    return token.text == "," or token.text[:1].isupper() and token.lower_ not in ("the", "a")


def _for_range(doc, head: int, last: int) -> int:
    """The end of "for Medicare and Medicaid Services" after "Centers"; `head` + 1 if no name follows."""
    end = head + 2
    while end < last and (doc[end].text[:1].isupper() or doc[end].lower_ in ("and", "&") and doc[end - 1].is_title):
        end += 1
    while end > head + 2 and not doc[end - 1].text[:1].isupper():
        end -= 1
    return end if end > head + 2 else head + 1


def _title_before_colon(parse: Parse, start: int, first: int) -> int:
    """ "Fantastic Beasts" in "Fantastic Beasts: The Secrets of Dumbledore": a title goes on after a colon."""
    doc = parse.words
    colon = start - 1 - (start - 1 > first and doc[start - 1].lower_ in ("the", "a"))
    if colon - 1 < first or doc[colon].text != ":" or doc[colon - 1].pos_ != "PROPN":
        return start
    begin = colon - 1
    while begin - 1 >= first and doc[begin - 1].text[:1].isupper() and doc[begin - 1].pos_ in ("PROPN", "ADJ", "NUM"):
        begin -= 1
    return begin


def _quoted(parse: Parse, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """A name that opens a short quotation is the title that is quoted ("Jeanie with the Light Brown Hair")."""
    if start - 1 < first or parse.words[start - 1].text not in _OPENING:
        return start, end
    closing = next((i for i in range(end, min(end + 9, last)) if parse.words[i].text in _CLOSING), None)
    return (start, closing) if closing is not None else (start, end)


def _title_start(parse: Parse, start: int, first: int) -> int:
    """Further left over the capitalised words of a title ("Those Once Loyal"), but never a sentence's first."""
    doc = parse.words
    while (
        start - 1 > first
        and doc[start - 1].text[:1].isupper()
        and doc[start - 1].is_alpha
        and doc[start - 1].pos_ != "VERB"
    ):
        start -= 1
    return start


def _joins_left(left: "Token", head: "Token") -> bool:
    if not (left.text[:1].isupper() or left.text[:1].isdigit() or left.text == "-"):
        return False
    return left.dep_ in ("compound", "nmod", "amod", "nummod") and head.is_ancestor(left) and left.tag_ != "POS"


def _of_range(doc, of: int, last: int) -> int:
    """The end of "of the United States", "of 1976" after a capitalised head; `of` itself if no name follows."""
    end = of + 1
    if end < last and doc[end].lower_ == "the":
        end += 1
    named = end
    while end < last and (doc[end].pos_ == "PROPN" or (doc[end].pos_ == "NUM" and doc[end].shape_ == "dddd")):
        end += 1
    return end if end > named else of

"""Checks of a candidate's shape: are the texts there, plain and sane, do indices and spans point at something?"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from generation.checking import terms
from generation.checking.case import Case, Problem
from generation.records import Span

REQUIRED_COUNTS = (2, 3)  # Grzywinski et al. 2023, appendix A, rule 6
MAX_QUESTION_WORDS = 45
MAX_QUESTION_LENGTH = 1_000


def texts_present(case: Case) -> Iterator[Problem]:
    """Question and answer are there."""
    for name, text in (("question", case.candidate.question), ("answer", case.candidate.answer)):
        if not text.strip():
            yield Problem("formatting", "texts_present", f"The {name} is empty; write one.")
    for name, text in (("question", case.candidate.question), ("answer", case.candidate.answer)):
        if _is_halved(text):
            yield Problem("formatting", "texts_present", f"The {name} has half a character in it; write it anew.")
    if any(map(_is_halved, case.sentences)):
        yield Problem("formatting", "texts_present", "A sentence has half a character in it; read the text anew.")


def _is_halved(text: str) -> bool:
    """Has it a lone surrogate, which no file can hold?"""
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)


def indices_valid(case: Case) -> Iterator[Problem]:
    """Two or three different sentence indices, all within the passage."""
    indices = case.candidate.required_sentence_indices
    name = "indices_valid"
    if len(set(indices)) != len(indices):
        told = f"required_sentence_indices {list(indices)} names a sentence twice; name each once."
        yield Problem("formatting", name, told)
    elif list(indices) != sorted(indices):
        told = f"The required sentences are named out of order; write {sorted(indices)}."
        yield Problem("formatting", name, told, "unsure")
    if len(indices) not in REQUIRED_COUNTS:
        yield Problem("formatting", name, f"Name 2 or 3 required sentences, not {len(indices)}.")
    outside = [i for i in indices if not 0 <= i < len(case.sentences)]
    if outside:
        last = len(case.sentences) - 1
        yield Problem("formatting", name, f"Sentence {outside[0]} does not exist; the indices run from 0 to {last}.")


def question_form(case: Case) -> Iterator[Problem]:
    """The question ends in a question mark and has a sane length."""
    question = case.candidate.question.strip()
    if question and not question.rstrip("\"'”’").endswith("?"):
        yield Problem("formatting", "question_form", "The question must end with a question mark.")
    if len(question) > MAX_QUESTION_LENGTH or len(terms.words(question)) > MAX_QUESTION_WORDS:
        yield Problem("formatting", "question_form", f"Shorten the question to at most {MAX_QUESTION_WORDS} words.")


_ODD = re.compile(
    r"`|(?<!\w)_(?=\w)[^_]*(?<=\w)_(?!\w)|&(?:[a-z]{2,8}|#\d{2,5});|\[[A-Z_]{3,}\]|\?\?+|^\[.*\]$"
    r"|^\(?\d{1,2}[.)]\s+(?=[A-Z])"
)
"""What is markup unless the passage has it too: `code`, _stress_, &quot;, [NAME], ??, a list, a numbered line."""
_MARKUP = re.compile(
    r"```|</?[a-z][^<>]*>|\*\*|^#+ |^\s*[-*•] |^[{\[]\s*\"|^\s*(?:question|answer|response|q|a)\s*[:=]"
    r"|[.?!]\s*(?:question|answer)\s*:|\$[a-z_]{3,}|[\n\r\t\x00-\x08\x0b-\x1f\x7f]",
    re.IGNORECASE,
)


def no_markup(case: Case) -> Iterator[Problem]:
    """No code fences, tags, Markdown, line breaks or labels such as "Answer:" in the texts."""
    passage = "".join(case.sentences)
    for name, text in (("question", case.candidate.question), ("answer", case.candidate.answer)):
        markup = _MARKUP.search(text.strip()) or _ODD.search(text.strip())
        open_one = next((pair for pair in ("()", "[]", "{}", "“”") if text.count(pair[0]) != text.count(pair[1])), "")
        if markup and (markup.re is _MARKUP or markup[0] not in passage):
            reason = f"Give the {name} as one line of plain text, without labels or markup{_quoted(markup[0])}."
            yield Problem("formatting", "no_markup", reason)
        elif open_one:
            reason = f"The {name} has {open_one[0]} without {open_one[1]}, or the reverse; close what is open."
            yield Problem("formatting", "no_markup", reason)
        elif unseen := _unseen(text) - _unseen(passage):
            which = ", ".join(f"U+{ord(c):04X}" for c in sorted(unseen)[:5])
            reason = f"The {name} has invisible characters ({which}); write it without them."
            yield Problem("formatting", "no_markup", reason)


def _quoted(markup: str) -> str:
    """The markup itself where it can be shown."""
    shown = " ".join(markup.split())
    return f' such as "{shown[:20]}"' if shown.isprintable() and shown else " such as line breaks"


def _unseen(text: str) -> set[str]:
    """The control and format characters of `text`, by which words can be hidden or turned round."""
    return set() if text.isascii() else {c for c in text if unicodedata.category(c) in ("Cc", "Cf")}


def spans_real(case: Case) -> Iterator[Problem]:
    """Every mention and antecedent stands where it is said to stand."""
    for coreference in case.candidate.coreferences:
        for role, span in (("mention", coreference.mention), ("antecedent", coreference.antecedent)):
            if not _stands(span, case.sentences):
                reason = f'The {role} "{span.text}" does not stand in sentence {span.sentence_index}; copy it exactly.'
                yield Problem("coreference_error", "spans_real", reason)
            elif not _is_whole(span, case.sentences[span.sentence_index]):
                where = f"of sentence {span.sentence_index} begins or ends within a word, or with a space"
                reason = f'The {role} "{span.text}" {where}; take whole words.'
                yield Problem("coreference_error", "spans_real", reason)


def spans_required(case: Case) -> Iterator[Problem]:
    """A coreference ties two different required sentences."""
    required = set(case.candidate.required_sentence_indices)
    for c in case.candidate.coreferences:
        ends = {c.mention.sentence_index, c.antecedent.sentence_index}
        if len(ends) == 1:
            reason = f'"{c.mention.text}" and "{c.antecedent.text}" stand in one sentence; link two required sentences.'
            yield Problem("coreference_error", "spans_required", reason)
        elif not ends <= required:
            reason = f"Sentence {min(ends - required)} holds a coreference but is not among the required sentences."
            yield Problem("missing_sentences", "spans_required", reason)


def _is_whole(span: Span, sentence: str) -> bool:
    """Does it begin and end where a word does?"""
    if span.text != span.text.strip():
        return False
    before, after = sentence[: span.start][-1:], sentence[span.end :][:1]
    return not (before.isalnum() and span.text[0].isalnum() or after.isalnum() and span.text[-1].isalnum())


def _stands(span: Span, sentences: Sequence[str]) -> bool:
    if not 0 <= span.sentence_index < len(sentences) or span.start < 0 or not span.text:
        return False
    return sentences[span.sentence_index][span.start : span.end] == span.text

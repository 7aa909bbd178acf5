"""What code can decide about a candidate, free of charge and before any reviewer.

Each check is a function of a Case that yields Problems: a code of PROBLEM_CODES, a reason that a generator can act on,
and how certain it is. Only "certain" problems reject; "unsure" ones are shown and left to the panel.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from generation.records import Candidate, Span, Verdict

Certainty = Literal["certain", "unsure"]
Level = Literal["all", "format", "none"]

REQUIRED_COUNTS = (2, 3)  # Grzywinski et al. 2023, appendix A, rule 6
MAX_QUESTION_WORDS = 45
MAX_ANSWER_WORDS = 40


@dataclass(frozen=True, slots=True)
class Problem:
    """One breach: `code` of PROBLEM_CODES, the `check` that found it, and a `reason` in one sentence."""

    code: str
    check: str
    reason: str
    certainty: Certainty = "certain"


@dataclass(frozen=True)
class Case:
    """A candidate beside its section's sentences, with what several checks need worked out once."""

    candidate: Candidate
    sentences: Sequence[str]

    @cached_property
    def indices(self) -> list[int]:
        """The required indices that exist."""
        return [i for i in self.candidate.required_sentence_indices if 0 <= i < len(self.sentences)]

    @cached_property
    def required_text(self) -> str:
        return " ".join(self.sentences[i] for i in self.indices)

    @cached_property
    def required_words(self) -> set[str]:
        return set(_words(self.required_text))


def run(candidate: Candidate, sentences: Sequence[str], level: Level = "all") -> tuple[Problem, ...]:
    """All problems of `candidate` in the passage `sentences` (the section's, in order).

    `level` "format" asks only whether the shape is right, "none" asks nothing. A breach of shape hides the other
    checks, which could not be trusted on it.
    """
    if level == "none":
        return ()
    case = Case(candidate, sentences)
    problems = tuple(p for check in FORMAT_CHECKS for p in check(case))
    if level == "format" or any(p.certainty == "certain" for p in problems):
        return problems
    return problems + tuple(p for check in TEXT_CHECKS for p in check(case))


def verdict(problems: Sequence[Problem]) -> Verdict:
    """The checks' vote: a rejection with every certain problem, in words that go back to the generator."""
    certain = [p for p in problems if p.certainty == "certain"]
    if not certain:
        return Verdict("checks", True, "All checks decided by code passed.")
    codes = tuple(dict.fromkeys(p.code for p in certain))
    return Verdict("checks", False, " ".join(p.reason for p in certain), codes)


# Shape -----------------------------------------------------------------------------------------------------------


def texts_present(case: Case) -> Iterator[Problem]:
    """Question and answer are there."""
    for name, text in (("question", case.candidate.question), ("answer", case.candidate.answer)):
        if not text.strip():
            yield Problem("formatting", "texts_present", f"The {name} is empty; write one.")


def indices_valid(case: Case) -> Iterator[Problem]:
    """Two or three different sentence indices, all within the passage."""
    indices = case.candidate.required_sentence_indices
    name = "indices_valid"
    if len(set(indices)) != len(indices):
        yield Problem("formatting", name, f"required_sentence_indices {list(indices)} names a sentence twice.")
    if len(indices) not in REQUIRED_COUNTS:
        yield Problem("formatting", name, f"Name 2 or 3 required sentences, not {len(indices)}.")
    outside = [i for i in indices if not 0 <= i < len(case.sentences)]
    if outside:
        last = len(case.sentences) - 1
        yield Problem("formatting", name, f"Sentence {outside[0]} does not exist; the indices run from 0 to {last}.")


def question_form(case: Case) -> Iterator[Problem]:
    """The question ends in its only question mark and has a sane length."""
    question = case.candidate.question.strip()
    if question and not question.endswith("?"):
        yield Problem("formatting", "question_form", "The question must end with a question mark.")
    if len(_words(question)) > MAX_QUESTION_WORDS:
        yield Problem("formatting", "question_form", f"Shorten the question to at most {MAX_QUESTION_WORDS} words.")


_MARKUP = re.compile(r"```|</?\w+>|^\s*(?:question|answer|q|a)\s*:", re.IGNORECASE)


def no_markup(case: Case) -> Iterator[Problem]:
    """No code fences, tags or labels such as "Answer:" in the texts."""
    for name, text in (("question", case.candidate.question), ("answer", case.candidate.answer)):
        if _MARKUP.search(text):
            yield Problem("formatting", "no_markup", f"Give the {name} as plain text, without labels or markup.")


def spans_real(case: Case) -> Iterator[Problem]:
    """Every mention and antecedent stands where it is said to stand."""
    for coreference in case.candidate.coreferences:
        for role, span in (("mention", coreference.mention), ("antecedent", coreference.antecedent)):
            if not _stands(span, case.sentences):
                reason = f'The {role} "{span.text}" does not stand in sentence {span.sentence_index}; copy it exactly.'
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


# Text ------------------------------------------------------------------------------------------------------------

_COMPOUND = re.compile(
    r"\?.+\?|[,;]?\s\b(?:and|or|but)\s+(?:also\s+)?(?:what|who|whom|whose|when|where|why|which|how)\b"
    r"(?!\s+(?:else|many other)\b)",
    re.IGNORECASE,
)
_FREE_PRONOUNS = re.compile(
    r"\b(?:it|its|itself|he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves)\b", re.IGNORECASE
)
_POINTERS = re.compile(
    r"\b(?:the|this|that|these|those|above|given|following)\s+(?:passage|text|paragraph|excerpt|segment|sentences?"
    r"|context)\b|\b(?:the\s+)?(?:former|latter)\b",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "with", "from", "as", "and", "or", "but", "is", "are"}
    | {"was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did", "that", "this", "these", "not"}
    | {"those", "it", "its", "he", "she", "they", "his", "her", "their", "which", "who", "whom", "what", "when", "no"}
    | {"where", "why", "how"}
)


def single_question(case: Case) -> Iterator[Problem]:
    """One question only."""
    if _COMPOUND.search(case.candidate.question):
        yield Problem("compound_question", "single_question", "Ask one thing only; this joins two questions.")


def question_stands_alone(case: Case) -> Iterator[Problem]:
    """No pronoun without an antecedent in the question, and no pointing at "the passage"."""
    question = case.candidate.question
    pointer = _POINTERS.search(question)
    if pointer:
        reason = f'Name what is meant instead of "{pointer.group()}"; the question must stand without the passage.'
        yield Problem("ambiguous_question", "question_stands_alone", reason)
    pronoun = _FREE_PRONOUNS.search(question)
    if pronoun and not _names_before(question[: pronoun.start()]):
        reason = f'"{pronoun.group()}" in the question has no antecedent; write the name.'
        yield Problem("ambiguous_question", "question_stands_alone", reason)


def answer_not_leaked(case: Case) -> Iterator[Problem]:
    """The answer does not stand in the question."""
    answer, question = _words(case.candidate.answer), _words(case.candidate.question)
    content = [w for w in answer if w not in _STOP_WORDS]
    if content and _contains(question, answer):
        reason = "The question already holds the answer; ask without giving it away."
        yield Problem("other", "answer_not_leaked", reason)


def answer_supported(case: Case) -> Iterator[Problem]:
    """The answer is found in the required sentences: as it stands, or all its numbers and most of its words."""
    answer = _words(case.candidate.answer)
    if _contains(_words(case.required_text), answer):
        return
    numbers = [w for w in answer if any(c.isdigit() for c in w) and w not in case.required_words]
    if numbers:
        reason = f'"{numbers[0]}" in the answer stands in none of the required sentences.'
        yield Problem("wrong_information", "answer_supported", reason)
        return
    content = [_stem(w) for w in answer if w not in _STOP_WORDS]
    known = {_stem(w) for w in case.required_words}
    found = sum(w in known for w in content)
    if content and found < 0.5 * len(content):
        reason = "The answer is not in the required sentences; take it from them or add the sentence that has it."
        yield Problem("wrong_information", "answer_supported", reason)
    elif found < 0.75 * len(content):
        reason = "Parts of the answer are in no required sentence."
        yield Problem("wrong_information", "answer_supported", reason, "unsure")


def answer_form(case: Case) -> Iterator[Problem]:
    """The answer is a phrase: not a bare pronoun, not a whole required sentence, not an essay."""
    words = _words(case.candidate.answer)
    if len(words) == 1 and _FREE_PRONOUNS.fullmatch(words[0]):
        yield Problem("incomplete_answer", "answer_form", "A pronoun is no answer; write what it stands for.")
    if len(words) > MAX_ANSWER_WORDS:
        yield Problem("incomplete_answer", "answer_form", f"Cut the answer to at most {MAX_ANSWER_WORDS} words.")
    if any(words == _words(case.sentences[i]) for i in case.indices):
        reason = "The answer repeats a whole sentence; give only the phrase asked for."
        yield Problem("incomplete_answer", "answer_form", reason)


def antecedent_named(case: Case) -> Iterator[Problem]:
    """The question names what a required sentence only refers to: at least one antecedent's head words."""
    if not case.candidate.coreferences:
        return
    question = {_stem(w) for w in _words(case.candidate.question)} | {_stem(w) for w in _words(case.candidate.answer)}
    heads = [[_stem(w) for w in _words(c.antecedent.text) if w not in _STOP_WORDS] for c in case.candidate.coreferences]
    if not any(set(words) & question for words in heads):
        first = case.candidate.coreferences[0].antecedent.text
        reason = f'Neither question nor answer names the antecedent ("{first}"), so the coreference is not needed.'
        yield Problem("coreference_error", "antecedent_named", reason, "unsure")


Check = Callable[[Case], Iterator[Problem]]
FORMAT_CHECKS: tuple[Check, ...] = (
    texts_present,
    indices_valid,
    question_form,
    no_markup,
    spans_real,
    spans_required,
)
TEXT_CHECKS: tuple[Check, ...] = (
    single_question,
    question_stands_alone,
    answer_not_leaked,
    answer_supported,
    answer_form,
    antecedent_named,
)


def _stands(span: Span, sentences: Sequence[str]) -> bool:
    if not 0 <= span.sentence_index < len(sentences) or span.start < 0 or not span.text:
        return False
    return sentences[span.sentence_index][span.start : span.end] == span.text


_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|\w+(?:[’'-]\w+)*")


def _words(text: str) -> list[str]:
    """Lower-cased words and numbers; possessive 's is cut off."""
    return [re.sub(r"[’']s$", "", w).replace(",", "") for w in _WORD.findall(text.casefold())]


def _stem(word: str) -> str:
    """A rough stem, enough to let "requires" meet "require"."""
    return re.sub(r"(?:ies|ied|ing|es|ed|s|y|e)$", "", word) if len(word) > 4 else word


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    n = len(part)
    return n > 0 and any(list(words[i : i + n]) == list(part) for i in range(len(words) - n + 1))


def _names_before(text: str) -> bool:
    """Whether a noun-like word (a capital inside the sentence, or "the/a ... word") comes before a pronoun."""
    words = text.split()
    return any(w[:1].isupper() for w in words[1:]) or bool(re.search(r"\b(?:the|a|an)\s+\w+", text, re.IGNORECASE))

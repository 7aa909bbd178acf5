"""The embedded panel: four reviewers without a model, each with directives of its own persona.

They look at the pair afresh: the question is parsed by itself, and the required sentences are resolved as if there were
no others. A rejection tells the generator in one sentence what to mend.
Source of the personas: Grzywinski et al. 2023, appendices B to E.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from generation.language import anchoring, antecedents, nlp, resolver
from generation.language.lexicon import PERSONAL_PRONOUNS, noun_kind
from generation.llm import Chat
from generation.records import Candidate, Coreference, Section, Span, Verdict

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Problem = tuple[str, str]
"""A problem code and its reason."""

_CONTENT = ("NOUN", "PROPN", "VERB", "NUM", "ADJ")
_WH = ("who", "what", "when", "where", "why", "how", "which", "whom", "whose")
_ASKING = frozenset("do did does doing many much long person people place country year".split())
_PERSONS = frozenset("he she him her his hers".split())
MAX_ANSWER_WORDS = 25


@dataclass(frozen=True)
class Case:
    """A candidate and its passage, with the parses that several directives share."""

    section: Section
    candidate: Candidate

    @cached_property
    def indices(self) -> tuple[int, ...]:
        return tuple(i for i in self.candidate.required_sentence_indices if 0 <= i < len(self.section.sentences))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.section.sentences[i].text for i in self.indices)

    @cached_property
    def tokens(self) -> "tuple[list[Token], ...]":
        """The words of each required sentence, from the parse of the whole passage."""
        parse = nlp.parse(self.section)
        return tuple(parse.tokens(i) for i in self.indices)

    @cached_property
    def question(self) -> "Doc":
        return nlp.parse_question(self.candidate.question)

    @cached_property
    def words(self) -> set[str]:
        return {w for sentence in self.tokens for t in sentence for w in (t.lower_, t.lemma_.lower())}

    @cached_property
    def fact(self) -> int:
        """Position, among the required sentences, of the last one that holds the answer; -1 if none does."""
        answer = self.candidate.answer.lower()
        return max((i for i, text in enumerate(self.texts) if answer in text.lower()), default=-1)

    @cached_property
    def asks_back(self) -> bool:
        """Is the answer itself what a mention goes back to ("Who was arrested in 1939?")?"""
        return any(_core(r.antecedent.text) == _core(self.candidate.answer) for r in self.candidate.coreferences)

    def position(self, sentence: int) -> int:
        return self.indices.index(sentence) if sentence in self.indices else -1

    def resolved(self, left_out: int = -1) -> dict[tuple[int, int], list[str]]:
        """What each anaphor of the required sentences stands for: (position, start) to names, one sentence left out."""
        parse = nlp.parse(self.section)
        behind = antecedents.read(parse)
        given = [i for position, i in enumerate(self.indices) if position != left_out]
        links = resolver.resolve_parse(parse, given, behind.mentions, behind.named)
        return {
            (self.position(link.mention.sentence), parse.where[link.mention.start][1]): [
                _core(resolver.source_span(parse, n).text) for n in link.sources
            ]
            for link in links
        }


@dataclass(frozen=True)
class RuleReviewer:
    """One persona; its directives are functions of a Case that yield problems."""

    name: str
    directives: tuple[Callable[[Case], Iterator[Problem]], ...]

    async def judge(self, section: Section, candidate: Candidate, chat: Chat | None = None) -> Verdict:
        """Judge `candidate` by code; `chat` is not used."""
        question = anchoring.without(section.article_title, candidate.question)
        case = Case(section, replace(candidate, question=question))
        problems = [p for directive in self.directives for p in directive(case)]
        if not problems:
            return Verdict(self.name, True, "All directives that code can decide are followed.")
        codes = tuple(dict.fromkeys(code for code, _ in problems))
        return Verdict(self.name, False, " ".join(reason for _, reason in problems), codes)


# content cohesion


def words_come_from_the_sentences(case: Case) -> Iterator[Problem]:
    """The question brings nothing along that the required sentences do not say but the first name of whom they name."""
    titled = set(case.section.article_title.lower().split())
    asked = [t for t in case.question if t.pos_ in _CONTENT and t.lower_ not in _ASKING and t.lower_ not in _WH]
    foreign = [
        t.text
        for t in asked
        if not {t.lower_, t.lemma_.lower()} & case.words
        and not _shares_stem(t, case.words)
        and not (t.lower_ in titled and titled & case.words)
    ]
    if foreign:
        yield (
            "wrong_information",
            f"The required sentences say nothing of {', '.join(foreign)}; ask in their own words.",
        )


def reference_ties_the_sentences(case: Case) -> Iterator[Problem]:
    """A mention in one required sentence goes back to a name in another, which the question uses or asks for."""
    tied = [c for c in case.candidate.coreferences if _is_tie(case, c)]
    if case.candidate.coreferences and not tied:
        yield (
            "coreference_error",
            "No coreference links a name in the question or answer to a mention in another required sentence.",
        )
    if not case.candidate.coreferences and not any(case.resolved().values()):
        yield "coreference_error", "No required sentence refers back to a name in another one; choose a pair that does."


def _is_tie(case: Case, reference: Coreference) -> bool:
    ends = {reference.mention.sentence_index, reference.antecedent.sentence_index}
    told = f"{case.candidate.question} {case.candidate.answer}".lower()
    return len(ends) == 2 and ends <= set(case.indices) and _core(reference.antecedent.text) in told


# information accuracy


def answer_is_stated(case: Case) -> Iterator[Problem]:
    """The answer stands in a required sentence, word for word, and is not its whole."""
    words = case.candidate.answer.split()
    if case.fact < 0:
        yield "wrong_information", f"The answer “{case.candidate.answer}” does not stand in a required sentence."
    elif len(words) > MAX_ANSWER_WORDS:
        yield "incomplete_answer", f"The answer has {len(words)} words; give only what was asked for."
    elif len(case.candidate.answer) > 0.9 * len(case.texts[case.fact]):
        yield "incomplete_answer", "The answer repeats a whole sentence; give only what was asked for."


def numbers_are_the_texts(case: Case) -> Iterator[Problem]:
    """Every number of the question is in the required sentences."""
    text = " ".join(case.texts)
    wrong = [n for n in re.findall(r"\d[\d.,]*\d|\d", case.candidate.question) if n not in text]
    if wrong:
        yield "wrong_information", f"The required sentences do not hold the number {wrong[0]}."


def question_word_fits(case: Case) -> Iterator[Problem]:
    """ "When" gets a date, "who" somebody, "where" a place, "how many" a number."""
    if case.fact < 0:
        return
    kinds, nouns = _answer_kinds(case)
    opening = case.candidate.question.lower().split()[:2]
    if case.asks_back and any(r.mention.text.lower() in _PERSONS for r in case.candidate.coreferences):
        kinds.add("PERSON")
    misfit = {
        "when": not kinds & {"DATE", "TIME"} and not re.search(r"\d{4}", case.candidate.answer),
        "who": not kinds & {"PERSON", "ORG", "NORP", "GPE"} and not nouns & {"person", "org"},
        "where": not kinds & {"GPE", "LOC", "FAC", "ORG"} and "place" not in nouns,
    }
    if opening and misfit.get(opening[0], False):
        yield "wrong_information", f"“{opening[0]}” does not ask for an answer like “{case.candidate.answer}”."
    if opening[:2] == ["how", "many"] and not kinds & {"CARDINAL", "QUANTITY", "PERCENT", "MONEY"}:
        yield "wrong_information", "“How many” needs a number as its answer."


def _answer_kinds(case: Case) -> tuple[set[str], set[str]]:
    text, parse = case.texts[case.fact], nlp.parse(case.section)
    start = text.lower().index(case.candidate.answer.lower())
    end = start + len(case.candidate.answer)
    inside = [t for t in case.tokens[case.fact] if start <= parse.where[t.i][1] < end]
    return {t.ent_type_ for t in inside} - {""}, {noun_kind(t.lemma_.lower()) for t in inside} - {""}


def fact_is_not_denied(case: Case) -> Iterator[Problem]:
    """A negated verb is not asked about as if it were affirmed."""
    root = next((t for t in case.question if t.dep_ == "ROOT"), None)
    if root is None or any(t.dep_ == "neg" for t in case.question):
        return
    for token in case.tokens[case.fact] if case.fact >= 0 else ():
        if token.lemma_ == root.lemma_ and any(c.dep_ == "neg" for c in token.children):
            yield "wrong_information", f"The text denies “{token.text}”, the question affirms it."


# linguistic quality


def one_question(case: Case) -> Iterator[Problem]:
    text = case.candidate.question.strip()
    if not text.endswith("?") or text.count("?") != 1 or not text[:1].isupper():
        yield "formatting", "Write one question that begins with a capital and ends in its only question mark."
    if re.search(
        r"(?:,| and| or) (?:who|what|when|where|why|how) (?:is|was|were|did|does|do|has|had|many)\b", text.lower()
    ):
        yield "compound_question", "The question joins two queries; ask only one."


def question_is_grammatical(case: Case) -> Iterator[Problem]:
    """A question word, a finite verb before the subject, one main verb in the form that its auxiliary asks for."""
    doc = case.question
    if not any(t.lower_ in _WH for t in doc[:3]):
        yield "other", "Begin with a question word."
        return
    root = next((t for t in doc if t.dep_ == "ROOT"), doc[0])
    helper = next((t for t in doc[:4] if t.lower_ in ("did", "does", "do")), None)
    if not any(t.pos_ in ("VERB", "AUX") for t in doc):
        yield "other", "The question has no main verb that a reader can find; write it more simply."
    elif helper is not None and root.tag_ in ("VBD", "VBZ", "VBN") and root != helper and root.lower_ != root.lemma_:
        yield "other", f"After “{helper.text}” the verb “{root.text}” must stand in its base form."
    if any(a.lower_ == b.lower_ and a.is_alpha for a, b in zip(doc, doc[1:], strict=False)):
        yield "other", "The question repeats a word; write it more simply."


def question_stands_alone(case: Case) -> Iterator[Problem]:
    """No pronoun that goes back to nothing, no "this", no "the passage"."""
    seen_name = case.asks_back
    for token in case.question:
        seen_name = seen_name or token.pos_ == "PROPN"
        loose = token.lower_ in PERSONAL_PRONOUNS and token.lower_ not in _WH and not seen_name
        if loose or token.lower_ in ("this", "these", "those") and token.tag_ == "DT":
            yield "ambiguous_question", f"“{token.text}” in the question refers to nothing in it; write the name."
    if re.search(r"\b(?:the|this) (?:passage|text|sentence|section|article above)\b", case.candidate.question.lower()):
        yield "ambiguous_question", "Do not speak of the passage in the question."


def answer_is_whole(case: Case) -> Iterator[Problem]:
    """The answer is a phrase that nothing was cut from, without a pronoun."""
    doc = nlp.parse_question(case.candidate.answer)
    if any(t.lower_ in PERSONAL_PRONOUNS and t.lower_ not in _WH for t in doc):
        yield "incomplete_answer", "The answer holds a pronoun; write what it stands for or ask for something else."
    if doc and (doc[-1].pos_ in ("ADP", "CCONJ", "DET") or doc[0].pos_ == "CCONJ"):
        yield "incomplete_answer", f"The answer is cut at “{doc[-1].text}”; give the whole phrase."
    text = case.candidate.answer
    if text.count("(") != text.count(")") or text.count('"') % 2:
        yield "incomplete_answer", "The answer has an unclosed bracket or quotation."


# required sentences


def mentions_resolve_within(case: Case) -> Iterator[Problem]:
    """From the required sentences alone, each labelled mention still goes back to its name."""
    resolved = case.resolved()
    for reference in case.candidate.coreferences:
        key = (case.position(reference.mention.sentence_index), reference.mention.start)
        names = resolved.get(key, [])
        wanted = _core(_end_of(reference, case.candidate.coreferences).text)
        if not names:
            yield (
                "missing_sentences",
                f"From the required sentences alone “{reference.mention.text}” refers to no name.",
            )
        elif wanted not in names:
            yield "coreference_error", f"“{reference.mention.text}” seems to mean {names[-1]}, not {wanted}."


def _end_of(reference: Coreference, references: Sequence[Coreference]) -> Span:
    """What the antecedent itself goes back to, where that is labelled ("it" to "the act" to its name)."""
    known = {(r.mention.sentence_index, r.mention.start): r.antecedent for r in references}
    end = reference.antecedent
    while (
        further := known.get((end.sentence_index, end.start))
    ) is not None and further.sentence_index < end.sentence_index:
        end = further
    return end


def every_sentence_is_needed(case: Case) -> Iterator[Problem]:
    """Each sentence but the one with the answer gives a name, or a link without which a mention is lost."""
    references = case.candidate.coreferences
    if not references or case.fact < 0:
        return
    names = {case.position(r.antecedent.sentence_index) for r in references}
    for position, index in enumerate(case.indices):
        if position == case.fact or position in names:
            continue
        without = case.resolved(left_out=position)
        kept = (without.get((case.position(r.mention.sentence_index), r.mention.start)) for r in references)
        if all(kept):
            yield "irrelevant_sentences", f"Sentence {index} adds nothing: the reference is clear without it."


def one_sentence_does_not_suffice(case: Case) -> Iterator[Problem]:
    """No required sentence holds both the answer and the name, or all that is asked and the name that is the answer."""
    if case.asks_back:
        asked = {t.lemma_.lower() for t in case.question if t.pos_ in _CONTENT and t.lower_ not in _ASKING}
        lemmas = {t.lemma_.lower() for t in case.tokens[case.fact]}
        if asked <= lemmas:
            yield "irrelevant_sentences", f"Sentence {case.indices[case.fact]} alone says who or what is asked for."
        return
    for reference in case.candidate.coreferences:
        name = _core(reference.antecedent.text)
        for index, text in zip(case.indices, case.texts, strict=True):
            if (
                case.candidate.answer.lower() in text.lower()
                and name in text.lower()
                and len(case.candidate.coreferences) == 1
            ):
                yield "irrelevant_sentences", f"Sentence {index} alone holds the name and the answer."


def _core(name: str) -> str:
    return name.lower().removeprefix("the ").removesuffix("'s")


def _shares_stem(token: "Token", words: set[str]) -> bool:
    stem = token.lemma_.lower()[: max(4, len(token.lemma_) - 2)]
    return any(w.startswith(stem) for w in words)


def panel() -> tuple[RuleReviewer, ...]:
    """The paper's four reviewers, played by code."""
    return (
        RuleReviewer("content_cohesion", (words_come_from_the_sentences, reference_ties_the_sentences)),
        RuleReviewer(
            "information_accuracy", (answer_is_stated, numbers_are_the_texts, question_word_fits, fact_is_not_denied)
        ),
        RuleReviewer(
            "linguistic_quality", (one_question, question_is_grammatical, question_stands_alone, answer_is_whole)
        ),
        RuleReviewer(
            "required_sentences", (mentions_resolve_within, every_sentence_is_needed, one_sentence_does_not_suffice)
        ),
    )

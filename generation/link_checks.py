"""Checks of the coreferences themselves: labelled ones, or those that the resolver finds where none are labelled."""

from collections.abc import Iterator

from generation import terms
from generation.case import Case, Problem
from generation.lexicon import FEMININE, MASCULINE, PRONOUN_GENDER, noun_kind
from generation.records import Coreference

_DEMONSTRATIVE = frozenset("this that these those".split())
_THING_KINDS = ("law", "work", "event", "org")


def mention_after_antecedent(case: Case) -> Iterator[Problem]:
    """A mention refers back, not forward (no cataphora).

    Source: Grzywinski et al. 2023, appendix A, rule 2.
    """
    for c in case.candidate.coreferences:
        if c.mention.sentence_index < c.antecedent.sentence_index:
            reason = f'"{c.mention.text}" stands before "{c.antecedent.text}"; choose a mention that refers back.'
            yield Problem("coreference_error", "mention_after_antecedent", reason)


def mention_refers(case: Case) -> Iterator[Problem]:
    """A mention is something other than its antecedent's name over again."""
    for c in case.candidate.coreferences:
        if _core(c.mention.text) == _core(c.antecedent.text) and c.mention.text[:1].isupper():
            reason = f'"{c.mention.text}" repeats the name, so nothing has to be resolved; choose another sentence.'
            yield Problem("coreference_error", "mention_refers", reason)


def _core(text: str) -> list[str]:
    return [w for w in terms.words(text) if w not in ("the", "a", "an")]


def ends_agree(case: Case) -> Iterator[Problem]:
    """Mention and antecedent agree: no "she" for an act, no "it" for Mr Pell, no pronoun for a date."""
    for c in case.candidate.coreferences:
        gender = PRONOUN_GENDER.get(c.mention.text.lower(), "")
        why = _disagreement(c, gender) if gender else ""
        if why:
            reason = f'"{c.mention.text}" cannot refer to "{c.antecedent.text}", which is {why}.'
            yield Problem("coreference_error", "ends_agree", reason)


def _disagreement(c: Coreference, gender: str) -> str:
    from generation.mentions import name_gender

    words = _core(c.antecedent.text)
    known = name_gender(tuple(words))
    kind = next((k for k in map(noun_kind, reversed(words)) if k), "")
    if all(w.isdigit() or w in _MONTHS for w in words):
        return "a date or number"
    if gender in ("m", "f"):
        if set(words) & (FEMININE if gender == "m" else MASCULINE):
            return "of the other sex"
        return f"a{'n' if kind[:1] in 'aeiou' else ''} {kind}" if kind in _THING_KINDS and not known else ""
    if gender == "n" and (known and len(words) == 2 and c.antecedent.text[:1].isupper() and not kind):
        return "a person"
    return ""


_MONTHS = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)


def antecedent_named(case: Case) -> Iterator[Problem]:
    """The question names what a required sentence only refers to, by neither the mention's words nor another name."""
    links = case.candidate.coreferences
    told = terms.stems(f"{case.candidate.question} {case.candidate.answer}")
    unnamed = [c for c in links if not set(terms.content(c.antecedent.text)) & told]
    if links and len(unnamed) == len(links):
        reason = f'Neither question nor answer names the antecedent ("{links[0].antecedent.text}"); name it.'
        yield Problem("coreference_error", "antecedent_named", reason, "certain" if len(links) == 1 else "unsure")
    elif other := next((n for c in unnamed if (n := _name_beside(case, c))), ""):
        reason = (
            f'The question names "{other}", but "{unnamed[0].mention.text}" refers to "{unnamed[0].antecedent.text}".'
        )
        yield Problem("coreference_error", "antecedent_named", reason)
    for c in links:
        if _is_repeated_bare(c, case.candidate.question, told):
            reason = f'"{c.mention.text}" means nothing without the passage; call it "{c.antecedent.text}".'
            yield Problem("ambiguous_question", "antecedent_named", reason)


def _name_beside(case: Case, c: Coreference) -> str:
    """A name of the question, in no link, that stands in the sentence of an antecedent that is an unnamed name."""
    told = terms.stems(f"{case.candidate.question} {case.candidate.answer}")
    others = [x for x in case.candidate.coreferences if set(terms.content(x.antecedent.text)) & told]
    if not _is_name(c) or any(_is_name(x) for x in others):
        return ""
    linked = terms.stems(" ".join(f"{x.antecedent.text} {x.mention.text}" for x in case.candidate.coreferences))
    beside = terms.stems(case.sentences[c.antecedent.sentence_index]) - linked
    for run in terms.names(case.candidate.question):
        if {terms.stem(w) for w in terms.words(" ".join(run))} <= beside:
            return " ".join(run)
    return ""


def _is_name(c: Coreference) -> bool:
    return bool(terms.names(f"so {c.antecedent.text}"))


_GOES_ON = frozenset(
    "that which who whom whose of on in for to from with by along where under about between at".split()
)


def _is_repeated_bare(c: Coreference, question: str, told: frozenset[str]) -> bool:
    """Does the question say "the bureau", and nothing more of it, where the text names the Bureau of Shoals?"""
    mention = terms.words(c.mention.text)
    own = mention[1:]
    if not own or mention[0] not in ("the", *_DEMONSTRATIVE):
        return False
    if (set(terms.content(c.antecedent.text)) - set(terms.content(c.mention.text))) & told:
        return False
    asked = terms.words(question)
    for at in range(1, len(asked) - len(own) + 1):
        if asked[at : at + len(own)] == own and asked[at - 1] in ("the", *_DEMONSTRATIVE):
            following = asked[at + len(own)] if at + len(own) < len(asked) else ""
            return following not in _GOES_ON
    return False


def something_refers_back(case: Case) -> Iterator[Problem]:
    """A required sentence after the first holds a pronoun or a definite noun that may refer back."""
    from generation import mentions

    if case.candidate.coreferences:
        return
    later = set(case.indices[1:])
    found = [m for m in mentions.find(case.parse) if m.sentence in later]
    if not any(m.form in ("pronoun", "definite") for m in found):
        reason = "No required sentence refers back to another one, so no coreference has to be resolved."
        yield Problem("coreference_error", "something_refers_back", reason)

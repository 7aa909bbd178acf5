"""Checks of the coreferences themselves: labelled ones, or those that the resolver finds where none are labelled."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from generation.checking import terms
from generation.checking.case import Case, Certainty, Problem
from generation.language.lexicon import FEMININE, MASCULINE, PERSONAL_PRONOUNS, PRONOUN_GENDER, noun_kind
from generation.records import Coreference, Kind, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

    from generation.language.mentions import Mention

SURE = 0.85
"""A link of the resolver's from this margin on is taken as known."""
DESCRIBING = 3
"""Words of a sentence that a question needs to describe what the sentence is about."""
_DEMONSTRATIVE = frozenset("this that these those".split())
_THING_KINDS = ("law", "work", "event", "org", "place")


def mention_after_antecedent(case: Case) -> Iterator[Problem]:
    """A mention refers back, not forward (no cataphora).

    Source: Grzywinski et al. 2023, appendix A, rule 2.
    """
    for c in case.candidate.coreferences:
        if c.mention.sentence_index < c.antecedent.sentence_index:
            reason = f'"{c.mention.text}" stands before "{c.antecedent.text}"; choose a mention that refers back.'
            yield Problem("coreference_error", "mention_after_antecedent", reason)


def mention_refers(case: Case) -> Iterator[Problem]:
    """A mention is something other than its antecedent's name over again, and no mere verb or preposition."""
    for c in case.candidate.coreferences:
        inside = [
            t for t in case.parse.tokens(c.mention.sentence_index) if _is_within(case.parse.where[t.i], c.mention)
        ]
        if inside and all(t.pos_ in _NO_MENTIONS for t in inside):
            reason = f'"{c.mention.text}" refers to nothing; choose a pronoun or a noun that does.'
            yield Problem("coreference_error", "mention_refers", reason)
        if _core(c.mention.text) == _core(c.antecedent.text) and c.mention.text[:1].isupper():
            reason = f'"{c.mention.text}" repeats the name, so nothing has to be resolved; choose another sentence.'
            yield Problem("coreference_error", "mention_refers", reason)


_NO_MENTIONS = frozenset(("VERB", "AUX", "ADP", "CCONJ", "SCONJ", "PART", "PUNCT"))


def _core(text: str) -> list[str]:
    return [w for w in terms.words(text) if w not in ("the", "a", "an")]


def ends_agree(case: Case) -> Iterator[Problem]:
    """Mention and antecedent agree: no "she" for an act, a king or several people, no "it" for lakes or a date.

    That a first name is of the other sex is only told: Jean and Andrea may be men.
    """
    for c in case.candidate.coreferences:
        gender = PRONOUN_GENDER.get(c.mention.text.lower(), "")
        if not (_core(c.mention.text) and _core(c.antecedent.text)):
            continue
        why, certainty = _disagreement(c, gender) or _miscount(case, c, gender), "certain"
        if not why and _has_name_of_other_sex(c, gender):
            why, certainty = "a name of the other sex", "unsure"
        if why:
            reason = f'"{c.mention.text}" cannot refer to "{c.antecedent.text}", which is {why}; link what it means.'
            yield Problem("coreference_error", "ends_agree", reason, cast("Certainty", certainty))


def _disagreement(c: Coreference, gender: str) -> str:
    words = _core(c.antecedent.text)
    if gender and all(w.isdigit() or w in _MONTHS for w in words):
        return "a date or number"
    kind = next((k for k in map(noun_kind, reversed(words)) if k), "")
    is_person = gender in ("m", "f") or not gender and noun_kind(_core(c.mention.text)[-1]) == "person"
    if is_person and gender and set(words) & (FEMININE if gender == "m" else MASCULINE):
        return "of the other sex"
    if is_person and kind in _THING_KINDS and not _is_persons_name(words):
        return f"a{'n' if kind[0] in 'aeiou' else ''} {kind}"
    return ""


def _miscount(case: Case, c: Coreference, gender: str) -> str:
    """Is the antecedent of "he", "she" or "it" a plural noun ("the lakes"), and no measure ("two years")?"""
    if gender not in ("m", "f", "n"):
        return ""
    heads = _heads(case, c.antecedent)
    if len(heads) != 1 or heads[0].tag_ != "NNS" or heads[0].lemma_ == heads[0].lower_ or heads[0].text.endswith("ics"):
        return ""
    is_measure = any(child.dep_ == "nummod" for child in heads[0].children)
    return "" if is_measure or noun_kind(heads[0].lower_) else "more than one"


def _heads(case: Case, span: Span) -> "list[Token]":
    """The tokens of a span on which no other of them depends; a phrase that the parse takes for one has just one."""
    inside = [t for t in case.parse.tokens(span.sentence_index) if _is_within(case.parse.where[t.i], span)]
    return [t for t in inside if t.head not in inside or t.head == t]


def _is_within(place: tuple[int, int, int], span: Span) -> bool:
    return span.start <= place[1] and place[2] <= span.end


def _has_name_of_other_sex(c: Coreference, gender: str) -> bool:
    from generation.language.mentions import name_gender

    return gender in ("m", "f") and name_gender(tuple(_core(c.antecedent.text))) not in ("", gender)


def kind_fits(case: Case) -> Iterator[Problem]:
    """A pronoun is "pronominal", and what holds no word that stands for another is "nominal"."""
    for c in case.candidate.coreferences:
        words = set(terms.words(c.mention.text))
        wrong = words and (words <= PERSONAL_PRONOUNS if c.kind == "nominal" else not words & _STANDING_FOR)
        if wrong:
            right = "pronominal" if c.kind == "nominal" else "nominal"
            reason = f'"{c.mention.text}" is a {right} mention, not a {c.kind} one; call it so.'
            yield Problem("coreference_error", "kind_fits", reason)


_STANDING_FOR = PERSONAL_PRONOUNS | frozenset(
    "this that these those who whom whose which one ones both each either neither other others another some any all "
    "none many most few several such same former latter here there then somebody someone everybody everyone".split()
)


def _is_persons_name(words: list[str]) -> bool:
    from generation.language.mentions import name_gender

    return bool(name_gender(tuple(words))) or any(noun_kind(w) == "person" for w in words)


_MONTHS = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)


def antecedent_named(case: Case) -> Iterator[Problem]:
    """The question names what a required sentence only refers to, by neither the mention's words nor another name."""
    links = case.candidate.coreferences
    unnamed = [c for c in links or _found(case) if not _is_told(case, c)]
    if links and len(unnamed) == len(links):
        reason = f'Neither question nor answer names the antecedent ("{links[0].antecedent.text}"); name it.'
        sure = len(links) == 1 and not description(case, links[0])
        yield Problem("coreference_error", "antecedent_named", reason, "certain" if sure else "unsure")
    elif (links or _asks_of_one(case)) and (other := next((n for c in unnamed if (n := _name_beside(case, c))), "")):
        reason = (
            f'The question names "{other}", but "{unnamed[0].mention.text}" refers to "{unnamed[0].antecedent.text}".'
        )
        yield Problem("coreference_error", "antecedent_named", reason)
    for c in links:
        if _is_repeated_bare(case, c):
            reason = f'"{c.mention.text}" means nothing without the passage; call it "{c.antecedent.text}".'
            yield Problem("ambiguous_question", "antecedent_named", reason)


def _is_told(case: Case, c: Coreference) -> bool:
    """Does the question or the answer hold a word of the antecedent?"""
    return bool(
        set(terms.content(c.antecedent.text)) & terms.stems(f"{case.candidate.question} {case.candidate.answer}")
    )


def description(case: Case, c: Coreference) -> set[str]:
    """The stems by which the question describes the antecedent in place of its name, the empty set if it does not.

    "the company founded by Asha Raman": a noun with several words of the antecedent's sentence, which is nothing that
    the mention's own sentence speaks of. What stands aside in its sentence ("in Seattle") is not described so.
    """
    from generation.language import nlp

    own = terms.stems(case.sentences[c.antecedent.sentence_index]) - set(terms.content(c.antecedent.text))
    beside = terms.stems(case.sentences[c.mention.sentence_index]) - set(terms.content(c.mention.text))
    heads = _heads(case, c.antecedent)
    if any(head.dep_ == "pobj" and head.head.lower_ not in _AS_OBJECTS for head in heads):
        return set()
    for noun in nlp.parse_question(case.candidate.question):
        if noun.pos_ == "NOUN" and terms.stem(noun.lower_) not in beside:
            said = {s for token in noun.subtree for s in terms.content(token.text)}
            if len(said & (own - beside)) >= DESCRIBING:
                return said
    return set()


_AS_OBJECTS = ("by", "to", "as")


def _asks_of_one(case: Case) -> bool:
    return len(terms.names(case.candidate.question)) == 1


def _found(case: Case) -> list[Coreference]:
    """For a candidate without labels: what the resolver surely finds the subject of the last sentence to refer to."""
    found = []
    for link in case.links(case.indices):
        m = link.mention
        if m.sentence == case.indices[-1] and link.sources and link.margin >= SURE and _is_about(case, m):
            kind: Kind = "pronominal" if m.form == "pronoun" else "nominal"
            source = link.sources[0]
            ends = case.parse.span(m.start, m.end), case.parse.span(source.start, source.end)
            found.append(Coreference(kind, *ends))
    return found


def _name_beside(case: Case, c: Coreference) -> str:
    """A name of the question, in no link, that stands in the sentence of an antecedent that is an unnamed name."""
    links = case.candidate.coreferences or [c]
    if not _is_name(c) or any(_is_name(x) and _is_told(case, x) for x in links):
        return ""
    linked = terms.stems(" ".join(f"{x.antecedent.text} {x.mention.text}" for x in links))
    beside = terms.stems(case.sentences[c.antecedent.sentence_index]) - linked
    for run in terms.names(case.candidate.question):
        words = terms.words(" ".join(run))
        if {terms.stem(w) for w in words} <= beside - description(case, c) and not _may_mean_both(case, c, run):
            return terms.written(case.candidate.question, " ".join(words))
    return ""


def _may_mean_both(case: Case, c: Coreference, run: list[str]) -> bool:
    """Of two names that may be persons', which one "he" means is the resolver's guess where no link is labelled."""
    is_person = PRONOUN_GENDER.get(c.mention.text.lower()) in ("m", "f")
    return (
        not case.candidate.coreferences
        and is_person
        and len(run) > 1
        and not _is_persons_name(_core(c.antecedent.text))
    )


def _is_name(c: Coreference) -> bool:
    return bool(terms.names(f"so {c.antecedent.text}"))


def _is_repeated_bare(case: Case, c: Coreference) -> bool:
    """Does the question say "the bureau", and nothing more of it, where the text names the Bureau of Shoals?"""
    mention = terms.words(c.mention.text)
    own = mention[1:]
    told = terms.stems(f"{case.candidate.question} {case.candidate.answer}")
    if not own or mention[0] not in ("the", *_DEMONSTRATIVE):
        return False
    if (set(terms.content(c.antecedent.text)) - set(terms.content(c.mention.text))) & told:
        return False
    asked = terms.words(case.candidate.question)
    pairs = (asked[at : at + len(own) + 1] for at in range(len(asked) - len(own)))
    return any(p[0] in ("the", *_DEMONSTRATIVE) and p[1:] == own for p in pairs) and not _is_described(case, own[-1])


def _is_described(case: Case, noun: str) -> bool:
    """Does the question say more of `noun` ("the charges brought against ...", "the bureau that ...")?"""
    from generation.language import nlp

    found = [t for t in nlp.parse_question(case.candidate.question) if t.lower_ == noun]
    return any(c.dep_ in ("acl", "relcl", "prep", "appos", "poss", "nummod") for t in found for c in t.children)


def something_refers_back(case: Case) -> Iterator[Problem]:
    """Without labels: a required sentence after the first holds a pronoun, or a noun with "the" or "this"."""
    if case.candidate.coreferences:
        return
    later = [token for i in case.indices[1:] for token in case.parse.tokens(i)]
    if any(t.tag_ in ("PRP", "PRP$") or t.lower_ in _REFERRING for t in later):
        return
    reason = "No required sentence refers back to another one, so no coreference has to be resolved."
    yield Problem("coreference_error", "something_refers_back", reason, "unsure" if _shortens(case) else "certain")


_REFERRING = frozenset("the this that these those such both another other same former latter there then".split())


def _shortens(case: Case) -> bool:
    """Does a later required sentence take up a part of a name of an earlier one ("Shoals" for the Bureau of Shoals)?"""
    runs = [terms.names(f"so {case.sentences[i]}") for i in case.indices]
    for at, later in enumerate(runs):
        earlier = [set(name) for names in runs[:at] for name in names]
        if any(set(name) < known for name in later for known in earlier):
            return True
    return False


def mentions_resolvable(case: Case) -> Iterator[Problem]:
    """What the sentence that is asked about is about is named in a required sentence, if the resolver is sure of it."""
    fact = max(case.indices, key=lambda i: (len(set(case.asked) & terms.stems(case.sentences[i])), i))
    told = terms.stems(f"{case.candidate.question} {case.candidate.answer}")
    within = {link.mention.head for link in case.links(case.indices) if link.sources}
    for link in case.links(range(len(case.sentences))):
        m = link.mention
        if (
            m.sentence != fact
            or fact == case.indices[0]
            or m.head in within
            or link.margin < SURE
            or not _is_about(case, m)
            or not link.sources
        ):
            continue
        sources = [case.parse.span(s.start, s.end) for s in link.sources]
        if any(s.sentence_index in case.indices or set(terms.content(s.text)) & told for s in sources):
            continue
        text = case.parse.text(m.start, m.end)
        reason = f'"{text}" refers to "{sources[-1].text}" in sentence {sources[-1].sentence_index}: require that too.'
        yield Problem("missing_sentences", "mentions_resolvable", reason, "unsure")
        return


def _is_about(case: Case, mention: "Mention") -> bool:
    """Is it the subject of its sentence, or the owner of the subject?"""
    from generation.language.mentions import is_main_subject

    return mention.main or mention.role == "poss" and is_main_subject(case.parse.doc[mention.head].head)

"""A clause read for asking: its subject, verbs and complements as token ranges, and how they are written again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from generation.language.lexicon import CONTEXT_WORDS, DROPPED_ADVERBS, HEDGES, PERSONAL_PRONOUNS, first_names
from generation.language.mentions import SUBJECTS, Mention
from generation.language.nlp import Parse

if TYPE_CHECKING:
    from spacy.tokens import Token

_IGNORED = ("punct", "cc", "conj", "aux", "auxpass", "mark", "preconj")
_ADJUNCTS = (
    "prep",
    "npadvmod",
    "advmod",
    "advcl",
    "agent",
    "prt",
    "dobj",
    "dative",
    "xcomp",
    "ccomp",
    "attr",
    "acomp",
    "oprd",
)
_FACTUAL = frozenset("after when because although though while since as".split())
_CONDITIONS = frozenset("if unless whether except provided".split())
_COUNTING = ("more", "less", "fewer", "further", "later", "earlier")
MAX_ADJUNCT = 12
"""Tokens; longer adjuncts are left out of a question."""


@dataclass(frozen=True)
class Writer:
    """Writes tokens again with anaphors replaced: `names` maps an anaphor to the name that stands for it.

    `bound` are anaphors that stay as they are, as they go back to what the question asks for ("Who sold his farm").
    `resolved` are the heads of all anaphors: one that has no name here must not stand in a question.
    """

    parse: Parse
    names: Mapping[Mention, str]
    bound: tuple[Mention, ...] = ()
    resolved: frozenset[int] = frozenset()

    def write(self, tokens: Sequence[int]) -> str:
        """The text of `tokens` (sorted), names in place of anaphors, spaced as in the passage."""
        kept = set(tokens)
        pieces: list[str] = []
        skip = -1
        for i in tokens:
            if i < skip:
                continue
            mention = self.at(i)
            if mention is not None and set(range(mention.start, mention.end)) <= kept:
                skip = mention.end
                text = self._name(mention)
            else:
                skip, text = i + 1, self._word(i)
            comma = self._is_comma_lost(skip, kept)
            pieces.append(text + (", " if comma else " " if self._spaced(skip - 1, kept) else ""))
        return "".join(pieces).strip(" ,;:–—-")

    def _is_comma_lost(self, i: int, kept: set[int]) -> bool:
        """Is a comma all that stands at token `i` between two tokens that are written?"""
        return i not in kept and i + 1 in kept and self.parse.words[i].text == ","

    def at(self, token: int) -> Mention | None:
        return next((m for m in self.names if m.start == token), None)

    def used(self, tokens: Sequence[int]) -> tuple[Mention, ...]:
        """The anaphors that `write` replaces in `tokens`."""
        kept = set(tokens)
        return tuple(m for m in self.names if set(range(m.start, m.end)) <= kept)

    def told(self, tokens: Sequence[int]) -> tuple[Mention, ...]:
        """The anaphors of `tokens` that a reader of the question can resolve."""
        kept = set(tokens)
        return (*self.used(tokens), *(m for m in self.bound if m.head in kept))

    def once(self, question: str, used: Sequence[Mention]) -> str:
        """`question` with each name only once: a pronoun that comes after the name stays a pronoun."""
        for mention in sorted(used, key=lambda m: -m.start):
            written = self._name(mention)
            first, last = question.find(self.names[mention]), question.rfind(written)
            owns = question[last + len(written) :].startswith("'")
            if mention.form == "pronoun" and 0 <= first < last and not owns:
                pronoun = self.parse.words[mention.head].lower_
                question = question[:last] + pronoun + question[last + len(written) :]
        return question

    def _name(self, mention: Mention) -> str:
        name = self.names[mention]
        if self.parse.words[mention.head].tag_ != "PRP$":
            return name
        return name + ("'" if name.endswith("s") else "'s")

    def _word(self, i: int) -> str:
        token = self.parse.words[i]
        first = self.parse.bounds[self.parse.sentence_of(i)][0] == i
        if (
            first
            and token.pos_ != "PROPN"
            and token.lower_ not in self._capitalised
            and not (token.pos_ == "NOUN" and token.lower_ in first_names())
            and not (token.ent_type_ and token.dep_ == "compound")
            and not (token.is_upper and len(token) > 1)
            and token.text != "I"
        ):
            return token.text[:1].lower() + token.text[1:]
        return token.text

    @property
    def _capitalised(self) -> frozenset[str]:
        return capitalised(self.parse)

    def _spaced(self, i: int, kept: set[int]) -> bool:
        return i + 1 not in kept or bool(self.parse.words[i].whitespace_)


@lru_cache(maxsize=16)
def capitalised(parse: Parse) -> frozenset[str]:
    """Lower-case forms of the words that a passage capitalises inside its sentences: names, wherever they stand."""
    openers = {start for start, _ in parse.bounds}
    inside = (t for t in parse.words if t.i not in openers and t.pos_ == "PROPN" and t.text.istitle())
    return frozenset(t.lower_ for t in inside)


@dataclass(frozen=True)
class Clause:
    """`verb` with its parts. `auxiliaries` may be the first conjunct's; `fronted` stand before the subject.

    `leading` are the verbs that `verb` hangs on, the first of them finite ("began to", "was expected to").
    """

    parse: Parse
    verb: "Token"
    subject: "Token"
    auxiliaries: tuple["Token", ...]
    adverbs: tuple["Token", ...] = ()
    fronted: tuple["Token", ...] = ()
    complements: tuple["Token", ...] = ()
    is_passive: bool = False
    leading: tuple["Token", ...] = ()

    @property
    def finite(self) -> "Token":
        """The verb that carries tense and number where no auxiliary does."""
        return self.leading[0] if self.leading else self.verb


def clauses(parse: Parse, sentence: int) -> list[Clause]:
    """The sentence's main clauses, the verb phrases conjoined with them, and each once more by the verb it leads to."""
    if not is_askable(parse, sentence):
        return []
    found: list[Clause] = []
    for head in _heads(parse, sentence):
        first = clause_of(parse, head, None)
        if first is None:
            continue
        found.append(first)
        for other in head.conjuncts:
            between = "".join(t.text for t in parse.words[head.i : other.i])
            beside = _segment(parse, head) == _segment(parse, other)
            if other.pos_ in ("VERB", "AUX") and beside and between.count("(") == between.count(")"):
                more = clause_of(parse, other, found[-1]) if other.i > head.i else None
                found += [more] if more else []
    whole = [clause for clause in found if not _is_shared(clause)]
    return whole + [chain for clause in whole if (chain := _chained(clause)) is not None]


def _is_shared(clause: Clause) -> bool:
    """ "set or equaled several records": does what the verb needs stand behind the verb joined to it?"""
    joined = next((c for c in clause.verb.rights if c.dep_ == "cc"), None)
    return not clause.complements and joined is not None and joined.i == clause.verb.i + 1


def _heads(parse: Parse, sentence: int) -> Iterator["Token"]:
    """The root, and the main verbs of what semicolons set off from it."""
    tokens = parse.tokens(sentence)
    root = next((t for t in tokens if t.dep_ == "ROOT"), None)
    if root is None:
        return
    yield root
    for token in tokens:
        apart = token.dep_ in ("ccomp", "conj", "parataxis") and token.pos_ in ("VERB", "AUX")
        apart = apart and _segment(parse, token) != _segment(parse, token.head)
        if (apart or _is_told_by_the_way(token)) and any(c.dep_ in SUBJECTS for c in token.lefts):
            yield token


def _is_told_by_the_way(token: "Token") -> bool:
    """Is this the verb of a clause whose truth goes without saying ("after he had left Ohio", "because it lost")?"""
    openers = [c for c in token.lefts if c.dep_ == "mark" or c.tag_ == "WRB"]
    return token.dep_ == "advcl" and len(openers) == 1 and openers[0].lower_ in _FACTUAL


def _chained(clause: Clause) -> Clause | None:
    """ "It began to expand into banking" read as a clause about expanding."""
    inner = next((c for c in clause.complements if c.dep_ == "xcomp"), None)
    if inner is None or inner.pos_ != "VERB" or clause.verb.lemma_ == "be":
        return None
    if any(c.dep_ in ("dobj", "dative") for c in clause.complements):
        return None
    marks = [c for c in inner.lefts if c.dep_ in ("aux", "auxpass")]
    if not marks or marks[0].lower_ != "to" or any(c.dep_ in ("neg", *SUBJECTS, "mark") for c in inner.children):
        return None
    parts = [c for c in inner.children if c.dep_ not in _IGNORED and c.i > inner.i]
    if any(c.dep_ not in _ADJUNCTS for c in parts) or any(_is_condition(c) for c in parts):
        return None
    particles = [c for c in clause.complements if c.dep_ == "prt"]
    after = [c for c in clause.complements if c.i > inner.i or c.dep_ == "agent"]
    return replace(
        clause,
        verb=inner,
        leading=tuple(sorted([clause.verb, *particles, *marks], key=lambda t: t.i)),
        complements=(*parts, *after),
    )


def is_askable(parse: Parse, sentence: int) -> bool:
    """Is the sentence plain prose: no question, list, table, markup or semicolon?"""
    text = parse.sentences[sentence]
    if not text.rstrip().endswith((".", '."', ".”", ".)")) or any(mark in text for mark in "|?*#`{}<>_\n[]"):
        return False
    return 4 <= len(parse.tokens(sentence)) <= 60 and not text.lstrip().startswith("(")


def clause_of(parse: Parse, verb: "Token", first: Clause | None) -> Clause | None:
    """Read the clause of `verb`; `first` lends its subject and auxiliaries to a conjoined verb."""
    if verb.pos_ not in ("VERB", "AUX") or any(c.dep_ == "neg" for c in verb.children):
        return None
    own = next((c for c in verb.lefts if c.dep_ in SUBJECTS), None)
    subject = own or (first.subject if first else None)
    if subject is None or subject.lower_ in ("there", "who", "which", "that", "what"):
        return None
    if any(c.dep_ in ("expl", "csubj", "csubjpass", "intj") or c.lower_ in ("neither", "nor") for c in verb.children):
        return None
    if own is not None and verb.tag_ == "VBD" and parse.words[verb.i - 1].text == "," and own.i == verb.i - 2:
        return None  # "His test, called the rule of reason, was": rather a participle
    if own is not None and _is_interrupted(parse, own, verb):
        return None
    if verb.dep_ != "advcl" and any(c.tag_ == "WRB" for c in verb.children):
        return None
    auxiliaries = tuple(c for c in verb.lefts if c.dep_ in ("aux", "auxpass"))
    if not auxiliaries and verb.tag_ in ("VBN", "VBG", "VB"):
        if first is None:
            return None
        auxiliaries = first.auxiliaries
    if not auxiliaries and verb.tag_ not in ("VBD", "VBZ", "VBP", "MD"):
        return None
    if not auxiliaries and own is None and first and first.is_passive and verb.text.endswith("ed"):
        return None  # "was appointed in 1909 and promoted in 1924": a participle that is read as a past tense
    start, end = _segment(parse, verb)
    parts = [
        c
        for c in verb.children
        if c != subject
        and c.dep_ not in _IGNORED
        and c.tag_ != "WRB"
        and c.i not in {a.i for a in auxiliaries}
        and start <= c.i < end
    ]
    if any(c.left_edge.i < start or end <= c.right_edge.i for c in parts):
        return None
    parts = _without_tail(parse, verb, parts)
    if any(c.i < subject.i and _is_needed(c) for c in parts):
        return None  # "From the service he had resigned": what the verb needs, where a question has no room for it
    if sum(c.dep_ == "dobj" for c in parts) > 1:
        return None
    if any(c.dep_ not in _ADJUNCTS and c.dep_ not in SUBJECTS for c in parts):
        return None
    if any(_is_condition(c) or _is_hedged(c) for c in parts):
        return None
    return Clause(
        parse,
        verb,
        subject,
        auxiliaries,
        tuple(c for c in parts if c.dep_ == "advmod" and subject.i < c.i < verb.i),
        tuple(c for c in parts if own is not None and c.i < subject.i and c.dep_ not in SUBJECTS),
        tuple(c for c in parts if c.i > verb.i),
        any(a.dep_ == "auxpass" for a in auxiliaries),
    )


def _is_interrupted(parse: Parse, subject: "Token", verb: "Token") -> bool:
    """ "Congress, he held, may decide": does another finite verb stand between the subject and its verb?"""
    inner = {t.i for t in subject.subtree}
    between = (t for t in parse.words[subject.i + 1 : verb.i] if t.pos_ == "VERB" and t.i not in inner)
    return any(t.tag_ in ("VBD", "VBZ", "VBP") and t.head.i >= verb.i for t in between)


def _is_hedged(part: "Token") -> bool:
    """ "almost entirely composed": an adverb of two words without which the statement is not true."""
    return part.dep_ == "advmod" and part.i < part.head.i and any(c.lower_ in HEDGES for c in part.children)


def _is_needed(part: "Token") -> bool:
    """Is this before the subject what the verb needs, not a span of time ("From March 1974 to ...")?"""
    timed = any(t.ent_type_ == "DATE" for t in part.children)
    return part.dep_ == "prep" and part.lower_ in ("from", "to", "into", "of", "against") and not timed


def _without_tail(parse: Parse, verb: "Token", parts: list["Token"]) -> list["Token"]:
    """The parts without a second object that a comma sets off (", increasing predictions": a misread participle)."""
    objects = [c for c in parts if c.dep_ == "dobj"]
    if len(objects) < 2:
        return parts
    cut = next((c.left_edge.i for c in objects[1:] if parse.words[c.left_edge.i - 1].text == ","), None)
    return parts if cut is None else [c for c in parts if c.i < cut]


def _segment(parse: Parse, token: "Token") -> tuple[int, int]:
    """Between which semicolons or colons, or ends of its sentence, does `token` stand?"""
    first, last = parse.bounds[parse.sentence_of(token.i)]
    marks = [i for i in range(first, last) if parse.words[i].text in (";", ":")]
    return max((m + 1 for m in marks if m < token.i), default=first), min(
        (m for m in marks if m > token.i), default=last
    )


def _is_condition(part: "Token") -> bool:
    return part.dep_ == "advcl" and any(c.dep_ in ("mark", "advmod") and c.lower_ in _CONDITIONS for c in part.lefts)


def leans(parse: Parse, tokens: Sequence[int], known: Sequence[Mention] = ()) -> bool:
    """Do the tokens lean on what was said before: a pronoun, "the latter", "this", "later"? `known` are replaced."""
    replaced = {i for m in known for i in range(m.start, m.end)}
    return any(_leans(parse.words[i]) for i in tokens if i not in replaced)


def _leans(token: "Token") -> bool:
    word = token.lower_
    if token.tag_ in ("JJR", "RBR"):
        if token.dep_ == "amod" and word not in _COUNTING and _is_bare_plural(token.head):
            return False  # "lower duties", "older bureaus"
        return not any(t.lower_ == "than" for t in token.doc[token.i : token.i + 8])
    if word in ("himself", "herself", "itself", "themselves"):
        return False
    if word == "that" and token.dep_ in ("mark", "nsubj", "dobj", "nsubjpass"):
        return False
    if word in PERSONAL_PRONOUNS:
        return not (word in ("who", "whom", "whose") and token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj", "poss"))
    named = ("ORDINAL", "ORG", "GPE", "WORK_OF_ART", "LAW", "EVENT", "FAC", "LOC")
    return word in CONTEXT_WORDS and token.ent_type_ not in named and not _stands_by_itself(token, word)


def _is_bare_plural(noun: "Token") -> bool:
    return noun.tag_ == "NNS" and not any(c.dep_ in ("det", "poss") for c in noun.lefts)


def _stands_by_itself(token: "Token", word: str) -> bool:
    """ "a new agency", "such as", "more than five", "one of calcium": they seem to lean but do not."""
    following = token.nbor() if token.i + 1 < len(token.doc) else None
    if word in ("such", "more", "less"):
        return following is not None and following.lower_ in ("as", "than") and token.dep_ in ("amod", "advmod")
    if word in ("new", "second", "third", "additional", "further"):
        return (
            any(c.lower_ in ("a", "an") for c in token.head.lefts)
            or token.head.tag_ == "NNS"
            and not any(c.dep_ in ("det", "poss") for c in token.head.lefts)
        )
    if word in ("both", "either", "neither"):
        return token.dep_ == "preconj" or token.dep_ == "cc"
    counted = token.dep_ in ("nummod", "compound") or token.ent_type_ in ("MONEY", "PERCENT", "QUANTITY")
    return word == "one" and counted


def is_droppable(part: "Token") -> bool:
    """May a question do without this adjunct?"""
    if part.dep_ == "advmod":
        manner = part.tag_ == "RB" and part.lower_.endswith("ly")
        hedged = any(c.lower_ in HEDGES for c in part.children)
        return not hedged and (part.lower_ in DROPPED_ADVERBS or manner and part.lower_ not in HEDGES)
    return part.dep_ == "advcl" or part.dep_ == "npadvmod" and not (_is_manner(part) or part.lemma_ == "time")


def _is_manner(part: "Token") -> bool:
    """ "stood side by side", "walked arm in arm": a noun that says how, without which the rest is broken."""
    return part.ent_type_ == "" and not list(part.lefts) and part.i > part.head.i

"""Mentions: the names, definite and indefinite nouns and third-person pronouns of a parsed passage."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from generation.language import topic
from generation.language.lexicon import (
    FEMININE,
    LEADING_NOUNS,
    MASCULINE,
    MONTHS,
    PLEONASTIC_VERBS,
    PRONOUN_GENDER,
    TITLES,
    first_names,
    noun_kind,
)
from generation.language.name_spans import COMPANY_FORMS, NO_NAMES, name_range
from generation.language.nlp import Parse, trimmed

if TYPE_CHECKING:
    from spacy.tokens import Token

Form = Literal["name", "definite", "indefinite", "pronoun"]

SUBJECTS = ("nsubj", "nsubjpass")
_ENTITY_KINDS = {
    "PERSON": "person",
    "ORG": "org",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "LAW": "law",
    "WORK_OF_ART": "work",
    "EVENT": "event",
    "PRODUCT": "thing",
}
_TAKEN = ("effect", "place", "part", "over", "control", "office", "on", "up", "off", "in")
"""What "it" takes where it does refer to something."""
_OBJECTS = ("dobj", "dative", "attr", "oprd", "agent")


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention: tokens `start` to `end` (exclusive), without a possessive 's.

    `kind` is lexicon.noun_kind's or "" if unknown; `gender` "m", "f", "n" or ""; `plural` is the form's number.
    `words` are the lower-case tokens of a name; `noun` is the lower-case head of a definite or indefinite;
    `modifiers` are what stands between determiner and head. `role` is "subject", "object", "poss" or "other";
    `main` says that it is the subject of its sentence's root; `bare` that nothing that narrows it down follows a noun.
    `is_sure` is false where a name's kind is only the guess of spaCy's entity labels.
    `first` to `last` are a common noun's whole phrase without its determiner, -1 if it is not in one piece.
    `nouns` are the common nouns that the text itself calls a name by ("X, a printer", "X was a printer").
    `topical` marks a bare "the law" or "the agency" of an article whose title is a law's or an agency's.
    """

    sentence: int
    start: int
    end: int
    head: int
    form: Form
    kind: str = ""
    gender: str = ""
    plural: bool = False
    words: tuple[str, ...] = ()
    noun: str = ""
    modifiers: frozenset[str] = frozenset()
    role: str = "other"
    main: bool = False
    coordinated: bool = False
    bare: bool = True
    nouns: frozenset[str] = frozenset()
    is_sure: bool = True
    first: int = -1
    last: int = -1
    topical: bool = False

    @property
    def is_describing(self) -> bool:
        """Is this a common noun with enough around it to say which one is meant ("a channel linked to the group")?"""
        if self.form == "definite" and not self.modifiers:
            return False
        return self.form in ("definite", "indefinite") and not self.plural and self.last - self.first >= 2


@lru_cache(maxsize=64)
def find(parse: Parse) -> tuple[Mention, ...]:
    """All mentions of the passage in reading order, found once; nested possessors are mentions of their own."""
    found = [m for s in range(len(parse.sentences)) for m in _in_sentence(parse, s)]
    return tuple(sorted(found, key=lambda m: (m.head, m.start)))


def _in_sentence(parse: Parse, sentence: int) -> Iterator[Mention]:
    covered: set[int] = set()
    for token in parse.tokens(sentence):
        if token.i in covered:
            continue
        mention = _mention(parse, token, sentence)
        if mention is not None:
            if mention.form == "name":
                covered.update(range(mention.start, mention.end))
            yield mention


def _mention(parse: Parse, token: "Token", sentence: int) -> Mention | None:
    if (span := topic.spans(parse).get(token.i)) is not None:
        return _topic(parse, span, sentence)
    if token.lower_ in PRONOUN_GENDER and token.tag_ in ("PRP", "PRP$"):
        alone = token.lower_ == "his" and token.dep_ not in ("poss", "nmod", "amod", "compound")  # "gave his away"
        return None if alone or _is_pleonastic(token) else _pronoun(token, sentence)
    if _is_name_head(token):
        return _common(parse, token, sentence) if _is_short_form(token) else _name(parse, token, sentence)
    if token.pos_ == "NOUN" and token.dep_ not in ("compound", "nmod", "npadvmod"):
        return _common(parse, token, sentence)
    return None


def _topic(parse: Parse, span: tuple[int, int], sentence: int) -> Mention:
    """The title as the passage writes it: one name, whatever the parser made of its words."""
    inside = range(*span)
    head = next((t for t in parse.words[span[0] : span[1]] if t.head.i not in inside), parse.words[span[1] - 1])
    return _name(parse, head, sentence, span)


def _pronoun(token: "Token", sentence: int) -> Mention:
    gender = PRONOUN_GENDER[token.lower_]
    kind = "person" if gender in "mf" else ""
    return Mention(
        sentence,
        token.i,
        token.i + 1,
        token.i,
        "pronoun",
        kind,
        "" if gender == "p" else gender,
        gender == "p",
        role=role(token),
        main=is_main_subject(token),
        coordinated=_is_coordinated(token),
    )


def _is_pleonastic(token: "Token") -> bool:
    """ "It is known that", "it took", "it was not until": an "it" that refers to nothing."""
    if token.lower_ != "it":
        return False
    if token.dep_ == "expl":
        return True
    verb = token.head
    if token.dep_ not in SUBJECTS:
        return False
    if verb.lemma_ in PLEONASTIC_VERBS and not _takes_something(verb):
        return True
    clause = [c for c in verb.children if c.dep_ in ("ccomp", "csubj", "csubjpass", "acl", "relcl", "advcl", "xcomp")]
    marked = any(g.lower_ in ("that", "whether", "how", "if") for c in clause for g in c.lefts)
    if token.dep_ == "nsubjpass":
        return marked
    if verb.lemma_ != "be":
        return False
    complement = [c for c in verb.children if c.dep_ in ("acomp", "attr", "advmod", "prep")]
    infinitive = any(g.dep_ == "aux" and g.lower_ == "to" for c in clause for g in c.lefts)
    adjective = any(c.dep_ == "acomp" for c in complement)
    return marked or (infinitive and adjective) or any(c.lower_ in ("until", "not", "only") for c in complement)


def _takes_something(verb: "Token") -> bool:
    """ "It took effect", "it took its name from": of a thing, unlike "it took years to"."""
    owned = verb.lemma_ == "take" and any(
        c.dep_ == "dobj" and any(g.tag_ == "PRP$" for g in c.lefts) for c in verb.rights
    )
    return owned or any(c.lower_ in _TAKEN for c in verb.rights)


def _is_name_head(token: "Token") -> bool:
    if token.pos_ != "PROPN" or not token.text[:1].isupper() or token.ent_type_ in NO_NAMES:
        return False
    if token.dep_ in ("compound", "nmod", "amod", "nummod"):
        return not (token.head.pos_ in ("PROPN", "NOUN", "ADJ", "ADP", "NUM") and token.head.i > token.i)
    return token.dep_ != "det"


def _is_short_form(token: "Token") -> bool:
    """ "the Act", "the Commission": a capitalised common noun after an article."""
    alone = all(c.dep_ in ("det", "prep", "punct", "acl", "relcl", "case", "cc", "conj") for c in token.children)
    article = any(c.dep_ == "det" and c.lower_ in ("the", "this") and c.i == token.i - 1 for c in token.lefts)
    return alone and article and bool(noun_kind(token.lower_))


def _name(parse: Parse, token: "Token", sentence: int, span: tuple[int, int] | None = None) -> Mention:
    start, end = span or name_range(parse, token, sentence)
    if not span and end - start > 1 and _is_date_before(parse, start):
        start += 1
    if span and start > parse.bounds[sentence][0] and parse.words[start - 1].lower_ == "the":
        start -= 1
    words = tuple(t.lower_ for t in parse.words[start:end] if not t.is_punct)
    words = words[1:] if words[0] in ("the", "a", "an") else words
    called = "case" if {"v.", "vs."} & set(words) else topic.noun(parse.title) if span else ""
    kind = noun_kind(called) or ("person" if _is_called_like_a_thing(words, token) else _name_kind(words))
    is_sure = bool(kind)
    kind = kind or _ENTITY_KINDS.get(token.ent_type_, "")
    noun = ""
    if kind != "person":
        noun = called if called == "case" else _last_word(words) if noun_kind(_last_word(words)) else ""
    return Mention(
        sentence,
        start,
        end,
        token.i,
        "name",
        kind,
        _gender_of(words, kind if is_sure else "", parse.words[start].lower_ == "the"),
        token.tag_ == "NNPS" and parse.words[start].lower_ == "the" and kind not in ("org", "place", "work"),
        words,
        noun,
        frozenset(words),
        role(token),
        is_main_subject(token),
        _is_coordinated(token),
        nouns=_descriptions(token) | {n for n in (noun, called) if n} | _titles(words, kind),
        is_sure=is_sure,
    )


def _is_date_before(parse: Parse, start: int) -> bool:
    """ "In November Olson filed", "From about 1905 Claudel destroyed": is the first word of a name a date's?"""
    token = parse.words[start]
    told = start > 0 and parse.words[start - 1].lower_ in ("in", "since", "until", "by", "about", "around", "from")
    return told and (token.shape_ == "dddd" or token.ent_type_ == "DATE" and token.text in MONTHS)


def _is_called_like_a_thing(words: tuple[str, ...], token: "Token") -> bool:
    """ "Russell Train", "Mary Lake": a person whose surname is a common noun."""
    return len(words) == 2 and words[0] in first_names() and token.ent_type_ == "PERSON"


def _titles(words: tuple[str, ...], kind: str) -> frozenset[str]:
    """ "senator" of "Senator Huey Long"."""
    return frozenset(w for w in words[:-1] if kind == "person" and noun_kind(w) == "person")


def _gender_of(words: tuple[str, ...], kind: str, has_article: bool) -> str:
    """The sex that a name tells, "n" for a thing; after "the" only a title tells ("the Earl of X")."""
    if kind not in ("", "person"):
        return "n"
    titled = any(w in MASCULINE or w in FEMININE for w in words[:1])
    return name_gender(words) if titled or not has_article else "" if kind == "person" else "n"


def _descriptions(token: "Token") -> frozenset[str]:
    """Lower-case heads of appositions, predicate nominals and nouns set before the name."""
    found = [c for c in token.children if c.dep_ == "appos" and c.pos_ == "NOUN"]
    found += [c for c in token.lefts if c.dep_ in ("compound", "nmod") and c.pos_ == "NOUN" and c.i == token.i - 1]
    found = [f for f in found if _may_describe(f, token)]
    if token.dep_ == "appos" and token.head.pos_ == "NOUN" and abs(token.head.i - token.left_edge.i) <= 2:
        kind = noun_kind(token.head.lemma_.lower())
        found += [token.head] if kind in ("work", "org", "law", "event") or _may_describe(token.head, token) else []
    if token.dep_ == "nsubj" and token.head.lemma_ in ("be", "become", "remain"):
        found += [c for c in token.head.children if c.dep_ == "attr" and c.pos_ == "NOUN"]
    found += [c for f in found for c in f.conjuncts if c.pos_ == "NOUN"]
    return frozenset(f.lemma_.lower() for f in found if f.tag_ == "NN")


def _may_describe(noun: "Token", name: "Token") -> bool:
    """A person's noun for what may be a person, a thing's for what may be a thing; an unknown noun only with "a"."""
    kind = noun_kind(noun.lemma_.lower())
    if not kind:
        return any(c.lower_ in ("a", "an") for c in noun.lefts)
    return not name.ent_type_ or (kind == "person") == (name.ent_type_ == "PERSON")


def _before_of(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[: words.index("of")] if "of" in words[1:] else words


def _name_kind(words: tuple[str, ...]) -> str:
    """The kind that a title, a first name or a common noun in the name tells; "" if none does."""
    full = words[:1] and words[0] in first_names() and 2 <= len(words) <= 4 and "of" not in words
    if (full or words[:1] and words[0] in TITLES) and noun_kind(words[-1]) in ("", "person"):
        return "person"
    return noun_kind(_last_word(words)) if len(words) > 1 else ""


def _last_word(words: tuple[str, ...]) -> str:
    """The word that says what a name names: "act" of "Copyright Act of 1976", "storm" of "Tropical Storm Ana"."""
    named = [w for w in _before_of(words) if not w[0].isdigit() and w.rstrip(".") not in COMPANY_FORMS]
    leading = [w for w in named[:-1] if w in LEADING_NOUNS]
    return leading[-1] if leading and not noun_kind(named[-1]) else named[-1] if named else ""


def name_gender(words: tuple[str, ...]) -> str:
    """ "m" or "f" from a title or first name, else ""."""
    for word in words[:2]:
        if word in MASCULINE:
            return "m"
        if word in FEMININE:
            return "f"
    if len(words) >= 2:
        return first_names().get(words[1] if words[0] in TITLES and len(words) > 2 else words[0], "")
    return first_names(only_common=True).get(words[0], "") if words else ""


def _common(parse: Parse, token: "Token", sentence: int) -> Mention:
    first = parse.bounds[sentence][0]
    determiner = next((c for c in token.lefts if c.dep_ == "det"), None)
    definite = determiner is not None and determiner.lower_ in ("the", "this", "that", "these", "those")
    start = determiner.i if determiner is not None and definite else max(token.left_edge.i, first)
    modifiers = frozenset(t.lower_ for t in parse.words[start : token.i] if t != determiner and not t.is_punct)
    noun = token.lemma_.lower()
    kind = noun_kind(noun)
    gender = ("m" if noun in MASCULINE else "f" if noun in FEMININE else "") if kind == "person" else "n"
    whole = _whole(parse, token, determiner)
    after = [c for c in token.rights if c.dep_ in ("prep", "relcl", "acl", "appos", "nummod")]
    plain = determiner is not None and determiner.lower_ == "the" and determiner.i == token.i - 1 and not after
    return Mention(
        sentence,
        start,
        token.i + 1,
        token.i,
        "definite" if definite else "indefinite",
        kind,
        gender,
        token.tag_ in ("NNS", "NNPS"),
        (),
        noun,
        modifiers,
        role(token),
        is_main_subject(token),
        _is_coordinated(token),
        not after,
        first=whole[0],
        last=whole[1],
        topical=plain and whole[0] == token.i and noun in topic.nominals(parse.title),
    )


def _whole(parse: Parse, token: "Token", determiner: "Token | None") -> tuple[int, int]:
    """The phrase of a common noun after its article, if it is in one piece and starts with an article."""
    if determiner is None or determiner.lower_ not in ("a", "an", "the"):
        return -1, -1
    tokens = [i for i in trimmed(parse, token) if i != determiner.i]
    if not tokens or tokens != list(range(determiner.i + 1, tokens[-1] + 1)) or len(tokens) > 12:
        return -1, -1
    return tokens[0], tokens[-1] + 1


def role(token: "Token") -> str:
    if token.dep_ in SUBJECTS:
        return "subject"
    if token.dep_ == "poss":
        return "poss"
    return "object" if token.dep_ in _OBJECTS else "other"


def is_main_subject(token: "Token") -> bool:
    """Is `token` the subject of the sentence's root?"""
    return token.dep_ in SUBJECTS and token.head.dep_ == "ROOT"


def _is_coordinated(token: "Token") -> bool:
    return token.dep_ == "conj" or any(c.dep_ == "conj" for c in token.children)

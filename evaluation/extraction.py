"""Derivations from text: R4C's CORE baseline and an information-extraction baseline.

Both read spaCy's dependency parse, so they see what it sees: a wrong parse gives a wrong triple.
Source of the baselines: Inoue et al. 2020 (R4C), section 5.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evaluation.derivations import Triple
from generation.language.nlp import parse_sentences

if TYPE_CHECKING:
    from spacy.tokens import Token

_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj"))
COMPLEMENTS = frozenset(("dobj", "attr", "oprd", "acomp", "dative", "xcomp", "ccomp"))
AUXILIARIES = frozenset(("aux", "auxpass", "neg"))
_SIDE_CLAUSES = frozenset(("relcl", "acl", "advcl", "conj", "cc", "punct", "parataxis"))
PREPOSITIONS = frozenset(("prep", "agent"))
VERBS = frozenset(("VERB", "AUX"))


def core(sentences: Sequence[tuple[str, str]]) -> list[Triple]:
    """One step for each (article title, sentence): the title, the root verb, and the root's first child to the right.

    A preposition goes to the verb and gives way to its object; a sentence without a child to the right gives no step.
    """
    parse = parse_sentences(tuple(text.strip() for _, text in sentences))
    found = []
    for index, (title, _) in enumerate(sentences):
        root = _root(parse.tokens(index))
        child = root and next((t for t in root.rights if t.dep_ != "punct"), None)
        if root is None or child is None:
            continue
        relation = verb_text(root)
        while child.dep_ in (*PREPOSITIONS, "prt") and (below := next(iter(child.rights), None)):
            relation, child = f"{relation} {child.text}", below
        found.append((title, relation, _chunk(child)))
    return found


def everything(sentences: Sequence[str]) -> list[Triple]:
    """All triples that the sentences state: each subject with its verb and each complement or prepositional object.

    Subjects are shared by joined verbs; a relative clause takes the noun that it stands by. Duplicates are left out.
    """
    parse = parse_sentences(tuple(text.strip() for text in sentences))
    found: dict[Triple, None] = {}
    for index in range(len(parse.sentences)):
        for token in parse.tokens(index):
            found |= dict.fromkeys(_clause(token))
    return list(found)


def _root(tokens: Sequence["Token"]) -> "Token | None":
    return next((t for t in tokens if t.dep_ == "ROOT"), None)


def verb_text(verb: "Token") -> str:
    """The verb with its auxiliaries, negation and particle, as they are written ("has not been set up")."""
    words = [t for t in verb.children if t.dep_ in AUXILIARIES or t.dep_ == "prt"]
    return " ".join(t.text for t in sorted([*words, verb], key=lambda t: t.i))


def _chunk(token: "Token") -> str:
    """The noun phrase of `token` without what follows it, or the word itself."""
    if token.pos_ not in ("NOUN", "PROPN", "PRON", "NUM", "SYM"):
        return token.text
    left = next((t.i for t in token.subtree if t.dep_ != "punct"), token.i)
    return token.doc[min(left, token.i) : token.i + 1].text


def phrase(token: "Token") -> tuple[int, int]:
    """The token range of the phrase of `token`, without clauses and without what is joined to it."""
    left_out = {t.i for child in token.children if child.dep_ in _SIDE_CLAUSES for t in child.subtree}
    kept = [t.i for t in token.subtree if t.i not in left_out]
    start = end = kept.index(token.i)
    while start and kept[start - 1] == kept[start] - 1:
        start -= 1
    while end + 1 < len(kept) and kept[end + 1] == kept[end] + 1:
        end += 1
    return kept[start], kept[end] + 1


def subjects(verb: "Token") -> list["Token"]:
    """Who does it: the verb's own subjects, those of the verb that it is joined to, or the noun that it describes."""
    if verb.pos_ not in VERBS:
        return []
    own = [t for t in verb.children if t.dep_ in _SUBJECTS]
    if own and own[0].tag_ in ("WDT", "WP") and verb.dep_ == "relcl":
        return [verb.head]
    if own:
        return [own[0], *own[0].conjuncts]
    if verb.dep_ in ("acl", "relcl"):
        return [verb.head]
    return subjects(verb.head) if verb.dep_ == "conj" else []


def _clause(verb: "Token") -> Iterator[Triple]:
    """The triples of one verb."""
    if verb.dep_ in AUXILIARIES:
        return
    doc = verb.doc
    for subject in subjects(verb):
        for relation, place in said(verb):
            yield doc[slice(*phrase(subject))].text, relation, doc[slice(*place)].text


def said(verb: "Token") -> Iterator[tuple[str, tuple[int, int]]]:
    """What is said with `verb`: the words of the relation and the token range of each complement or object."""
    for child in verb.rights:
        if child.dep_ in COMPLEMENTS:
            for tail in (child, *child.conjuncts):
                yield verb_text(verb), phrase(tail)
        elif child.dep_ in PREPOSITIONS:
            for tail in (t for t in child.children if t.dep_ == "pobj"):
                yield f"{verb_text(verb)} {child.text}", phrase(tail)

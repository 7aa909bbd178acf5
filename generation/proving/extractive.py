"""A reader without a model: it takes a phrase of the sentence that shares most with the question, or cannot tell.

For tests, for the demonstration, and for a first look where no model is at hand. It answers only from a sentence that
is tied to every name in the question: the sentence holds the name, or refers back, as far as the resolver sees within
the sentences given, to one that does. What it is bad at: questions that describe their subject in several steps,
answers that are put in other words, why and how, and everything that the resolver gets wrong. A pair that it cannot
prove may be perfectly good; one that it proves has been answered by words and links alone. It is deterministic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from generation.checking import terms
from generation.language import nlp, resolver
from generation.language.lexicon import TITLES
from generation.llm import Chat
from generation.prompts import CANNOT_TELL

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

VERSION = "1"
MIN_SHARED = 0.5
"""Share of the question's meaning that must stand in a sentence and in those it refers back to."""
MIN_FIT = 1.0
"""Below this score no phrase is the answer."""
MAX_WORDS = 25

ENTITIES = {
    "who": ("PERSON", "ORG", "NORP"),
    "when": ("DATE", "TIME"),
    "where": ("GPE", "LOC", "FAC", "ORG"),
    "how many": ("CARDINAL", "PERCENT", "QUANTITY"),
    "how much": ("MONEY", "PERCENT", "QUANTITY", "CARDINAL"),
    "how long": ("DATE", "TIME", "QUANTITY"),
}
_NOUNS = {
    "year": "when", "date": "when", "day": "when", "month": "when", "decade": "when", "century": "when",
    "city": "where", "country": "where", "state": "where", "place": "where", "town": "where",
    "person": "who", "man": "who", "woman": "who", "president": "who", "justice": "who", "senator": "who",
    "company": "who", "firm": "who", "agency": "who", "body": "who", "court": "who", "organization": "who",
    "share": "how much", "percentage": "how much", "amount": "how much", "sum": "how much", "number": "how many",
}  # fmt: skip
_PHRASES = ("NOUN", "PROPN", "NUM")
_TIMES = ("DATE", "TIME")
_CLAUSES = ("xcomp", "ccomp", "advcl", "pcomp")
_PREPOSITIONS = ("on", "in", "to", "by", "for", "from", "at", "as")


class RuleReader:
    """The reader as `proof.Reader` wants it; `chat` is not used."""

    name = f"rules:reader-{VERSION}"

    async def read(self, sentences: Sequence[str], question: str, chat: Chat | None = None) -> str:
        return read(tuple(sentences), question)


def read(sentences: tuple[str, ...], question: str) -> str:
    """The best phrase of the sentences tied to the question, or CANNOT_TELL."""
    return sourced(sentences, question)[0]


def sourced(sentences: tuple[str, ...], question: str) -> tuple[str, frozenset[int]]:
    """`read`'s answer, with the indices of the sentence it stands in and of those that this one refers back to."""
    if not sentences or not question.strip():
        return CANNOT_TELL, frozenset()
    passage = _Passage(sentences)
    asked = Asked(question)
    scored = ((*found, index) for index in range(len(sentences)) for found in _answers(passage, asked, index))
    score, answer, index = max(scored, key=lambda s: (s[0], -len(s[1]), s[1]), default=(0.0, "", 0))
    return (answer, passage.behind(index)) if score >= MIN_FIT else (CANNOT_TELL, frozenset())


def guess(sentences: tuple[str, ...], question: str) -> str:
    """The phrase that suits the question best by its kind, role and near words, whatever it is tied to.

    What a reader could answer without following any reference; CANNOT_TELL only where there is no phrase.
    """
    if not sentences or not question.strip():
        return CANNOT_TELL
    passage, asked = _Passage(sentences), Asked(question)
    found = [a for index in range(len(sentences)) for a in _answers(passage, asked, index, tied=False)]
    return max(found, key=lambda a: (a[0], -len(a[1]), a[1]))[1] if found else CANNOT_TELL


@dataclass(frozen=True)
class Asked:
    """A question: its names, what else it is about, and what kind of phrase it wants."""

    text: str

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return tuple(terms.asked_about(self.text))

    @cached_property
    def names(self) -> list[list[str]]:
        """Words of each name, as stems, titles left out."""
        runs = ([w for w in terms.words(" ".join(run)) if w not in TITLES] for run in terms.names(self.text))
        return [[terms.stem(w) for w in run] for run in runs if run]

    @cached_property
    def doc(self) -> "Doc":
        return nlp.parse_question(self.text)

    @cached_property
    def wh(self) -> "Token | None":
        return next((t for t in self.doc if t.tag_ in ("WP", "WDT", "WRB", "WP$")), None)

    @cached_property
    def kind(self) -> str:
        """A key of ENTITIES, "why", or "" for any phrase."""
        if self.wh is None:
            return ""
        word = self.wh.lower_
        following = self.doc[self.wh.i + 1].lower_ if self.wh.i + 1 < len(self.doc) else ""
        if word == "how":
            return f"how {following}" if f"how {following}" in ENTITIES else "how"
        if word in ("who", "whom", "whose"):
            return "who"
        if word in ("what", "which"):
            noun = self.wh.head.lemma_.lower() if self.wh.dep_ == "det" else following
            return _NOUNS.get(noun, "")
        return word

    @cached_property
    def gap(self) -> tuple[str, str]:
        """The role of what is asked for ("dobj", "nsubj", "pobj", ...) and the preposition before it, if any."""
        token = self.wh
        if token is None:
            return "", ""
        if token.dep_ in ("det", "poss", "advmod", "amod") and token.head.pos_ in _PHRASES:
            token = token.head
        before = token.head if token.dep_ == "pobj" else None
        return token.dep_, before.lower_ if before is not None else ""

    @cached_property
    def verbs(self) -> frozenset[str]:
        return frozenset(terms.stem(t.lower_) for t in self.doc if t.pos_ == "VERB")


class _Passage:
    """The sentences given, with what each refers back to among them."""

    def __init__(self, sentences: tuple[str, ...]) -> None:
        self.sentences = sentences
        self.parse = nlp.parse_sentences(sentences)
        self.links = resolver.resolve_parse(self.parse)

    def behind(self, index: int) -> frozenset[int]:
        """Sentence `index` and all that it refers back to, directly or by way of others."""
        found, waiting = set(), [index]
        while waiting:
            sentence = waiting.pop()
            if sentence in found:
                continue
            found.add(sentence)
            for link in self.links:
                if link.mention.sentence == sentence:
                    waiting += [m.sentence for m in (*link.sources, link.antecedent) if m.sentence < sentence]
        return frozenset(found)

    def stems(self, indices: frozenset[int]) -> frozenset[str]:
        return frozenset().union(*(terms.stems(self.sentences[i]) for i in indices))


def _answers(passage: _Passage, asked: Asked, index: int, *, tied: bool = True) -> Iterator[tuple[float, str]]:
    """(score, phrase) of what sentence `index` offers, nothing if it is not `tied` to the question."""
    reached = passage.stems(passage.behind(index))
    if tied and (not asked.stems or not all(name[-1] in reached for name in asked.names)):
        return
    own = terms.stems(passage.sentences[index])
    shared = sum(s in reached for s in asked.stems) / max(1, len(asked.stems))
    if tied and shared < MIN_SHARED:
        return
    beyond_names = [s for s in asked.stems if not any(s in name for name in asked.names)]
    near = sum(s in own for s in beyond_names) / max(1, len(beyond_names))
    for token, tokens in _phrases(passage, asked, index):
        fit = _fit(passage, asked, token, tokens)
        if fit is not None:
            yield round(shared + 2.0 * near + fit, 6), passage.parse.text(tokens[0], tokens[-1] + 1)


def _phrases(passage: _Passage, asked: Asked, index: int) -> Iterator[tuple["Token", list[int]]]:
    """The head and tokens of all that could be an answer: phrases, clauses, and entities of the kind asked for."""
    for token in passage.parse.tokens(index):
        if tokens := _phrase(passage, token):
            yield token, tokens
    start, end = passage.parse.bounds[index]
    for entity in passage.parse.doc[start:end].ents:
        if entity.label_ in ENTITIES.get(asked.kind, ()):
            yield entity.root, list(range(entity.start, entity.end))


def _phrase(passage: _Passage, token: "Token") -> list[int]:
    """The tokens of the phrase headed by `token`, if it could be an answer and is in one piece."""
    if token.pos_ not in (*_PHRASES, "PRON") and token.dep_ not in _CLAUSES or token.pos_ == "PRON":
        return []
    if token.dep_ in ("compound", "nmod"):
        return []
    tokens = nlp.trimmed(passage.parse, token)
    whole = tokens == list(range(tokens[0], tokens[-1] + 1)) if tokens else False
    return tokens if whole and len(tokens) <= MAX_WORDS else []


def _fit(passage: _Passage, asked: Asked, token: "Token", tokens: list[int]) -> float | None:
    """How well a phrase suits what is asked for; None where it cannot be the answer."""
    words = terms.content(passage.parse.text(tokens[0], tokens[-1] + 1))
    if not words or all(w in asked.stems for w in words):
        return None
    repeated = sum(w in asked.stems for w in words)
    role, preposition = asked.gap
    score = -0.7 * repeated - 0.02 * len(tokens)
    score += _type_fit(passage, asked, token, tokens)
    verb = token.head if token.dep_ != "pobj" else token.head.head
    score += 0.8 * (terms.stem(verb.lower_) in asked.stems) + 0.4 * (terms.stem(verb.lower_) in asked.verbs)
    score += 0.6 * (bool(role) and token.dep_ == role)
    if preposition and token.dep_ == "pobj":
        score += 0.6 if token.head.lower_ == preposition else -0.3
    return score


def _type_fit(passage: _Passage, asked: Asked, token: "Token", tokens: list[int]) -> float:
    wanted = ENTITIES.get(asked.kind)
    labels = {t.ent_type_ for t in token.doc[tokens[0] : tokens[-1] + 1] if t.ent_type_}
    if asked.kind == "why":
        return 1.5 if token.dep_ in ("advcl", "pcomp") or token.head.lower_ in ("because", "for", "to") else -0.5
    if wanted and token.ent_type_ in wanted:
        return -1.0 if _cuts_entity(token, tokens) else 1.5
    if token.ent_type_ in _TIMES:
        return -2.0
    return 0.0 if not wanted else 0.4 if labels & set(wanted) else -1.0


def _cuts_entity(token: "Token", tokens: list[int]) -> bool:
    """Does the phrase hold only a part of the entity that its head belongs to ("1977" of "April 28, 1977")?"""
    entity = next((e for e in token.doc.ents if e.start <= token.i < e.end), None)
    return entity is not None and not (tokens[0] <= entity.start and entity.end - 1 <= tokens[-1])

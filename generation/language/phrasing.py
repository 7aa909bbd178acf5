"""How a question is written once it is known what it asks for: inversion, do-support, what is kept.

Whatever cannot be written without leaning on the passage, or whose answer does not stand alone, is not written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generation.language import clauses, nlp, verb_forms
from generation.language.asking_words import Wording, object_of
from generation.language.lexicon import (
    ADJUNCT_PREPOSITIONS,
    COMPLEMENT_VERBS,
    GOVERNED,
    KNOWN_GROUPS,
    LINKING_PHRASES,
    REPEATED_VERBS,
    UNIQUE_NOUNS,
    WEAK_VERBS,
)
from generation.language.mentions import Mention

if TYPE_CHECKING:
    from spacy.tokens import Token

PRIORS = {
    "when": 0.93, "where": 0.92, "agent": 0.92, "control": 0.93, "governed": 0.88, "object": 0.86, "count": 0.88,
    "become": 0.88, "intend": 0.88, "purpose": 0.86, "how": 0.88, "how much": 0.88,
    "that": 0.84, "subject": 0.86, "name": 0.9, "attribute": 0.84, "why": 0.84, "how long": 0.86, "adjective": 0.87,
    "who": 0.9, "which": 0.88, "whose": 0.8, "second": 0.75, "within": 0.9,
}  # fmt: skip
"""How often a question of this kind is good when its link is right; from reading candidates on texts to tune on."""

_COMPLEMENTS = ("dobj", "attr", "ccomp", "xcomp", "oprd", "acomp")
MAX_COMPLEMENT = 20
"""Tokens of what a verb cannot do without; adjuncts are kept shorter."""
_SAY_NOTHING = ("no", "none", "nothing", "many", "several", "some", "various", "few", "numerous")
"""First words of what answers nothing."""
MAX_ANSWER = 24
MAX_QUESTION = 28


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its names are tied to sentences; `answer` are tokens start to end of the fact sentence.

    `used` are the anaphors that the question replaces by names; `weight` is the prior times what speaks against it.
    `wanted` is the anaphor whose name is the answer, if that is what is asked for; `answer` is empty then.
    `lost` counts the complements that the question does without, though they may narrow what it asks; `loose` are the
    bare nouns with "the" that it holds. `told` is another sentence whose words the question uses, `described` which.
    `anchor` are the words that name the article's matter first ("In Miranda v. Arizona,"), if any.
    """

    question: str
    answer: tuple[int, int]
    target: str
    verb: int
    used: tuple[Mention, ...]
    weight: float
    wanted: Mention | None = None
    lost: int = 0
    loose: tuple[str, ...] = ()
    told: int | None = None
    described: tuple[int, int] = (0, 0)
    anchor: str = ""


class Phrasing(Wording):
    """Writes questions about one clause; `mentions` are those of its sentence."""

    def ask(
        self,
        target: str,
        word: str | None,
        part: "Token",
        weight: float = 1.0,
        keep: Sequence["Token"] = (),
        answer: Sequence[int] | None = None,
    ) -> Draft | None:
        """Ask for `part` by `word`; of the parts in `keep` only their first word stays ("by", "to")."""
        if word is None:
            return None
        kept = self.kept(part, keep)
        tokens = list(answer) if answer is not None else nlp.trimmed(self.parse, part)
        if answer is None and target in ("object", "governed", "agent"):
            tokens = self._without_leaning(tokens, part)
        if target in ("object", "name", "become", "agent", "governed", "second", "within"):
            tokens, date = self._without_date(tokens)
            kept = [*kept, date] if kept is not None and date else kept
        return self.finish(target, word, kept, self._closed(tokens), weight=weight)

    def _closed(self, tokens: list[int]) -> list[int]:
        """The tokens with the quotation mark right after them that closes what they open."""
        marks = sum(self.parse.words[i].text == '"' for i in tokens)
        following = tokens[-1] + 1 if tokens else 0
        closing = marks % 2 == 1 and self.holds(tokens[-1]) and following < len(self.parse.words)
        return [*tokens, following] if closing and self.parse.words[following].text == '"' else tokens

    def _without_leaning(self, tokens: list[int], part: "Token") -> list[int]:
        """An answer without the relative clause or participle at its end that leans on what was said before."""
        if not clauses.leans(self.parse, tokens, tuple(self.writer.names)):
            return tokens
        for child in reversed(list(part.rights)):
            infinitive = child.dep_ == "acl" and any(c.lower_ == "to" for c in child.lefts)
            if child.dep_ not in ("relcl", "acl", "prep") or infinitive:
                break
            if child.dep_ != "prep" or child.lower_ in ("on", "in", "with", "by", "at", "as"):
                cut = [i for i in tokens if i < child.left_edge.i]
                if len(cut) > 1 and not clauses.leans(self.parse, cut):
                    return cut
        return tokens

    def _without_date(self, tokens: list[int]) -> tuple[list[int], list[int]]:
        """An answer without the date at its end, which tells when and belongs to the question; and that date."""
        start = next((n for n in range(1, len(tokens)) if self._opens_date(tokens[n:])), len(tokens))
        return tokens[:start], tokens[start:]

    def _opens_date(self, rest: list[int]) -> bool:
        words = [self.parse.words[i] for i in rest]
        dated = all(w.ent_type_ == "DATE" or w.is_punct for w in words[1:])
        if words[0].head.pos_ in ("VERB", "AUX") and words[0].head != self.clause.verb:
            return False  # the date of a clause inside the answer
        return words[0].lower_ in ("in", "on") and len(words) > 1 and dated

    def kept(self, asked: "Token", keep: Sequence["Token"]) -> list[list[int]] | None:
        """The other complements, then what stood before the subject; None if one is needed but leans on the context."""
        kept = []
        for part in (*self.clause.complements, *self.clause.fronted):
            if part.i in {k.i for k in keep}:
                kept.append([part.i])
                continue
            told = any(self.parse.words[i].pos_ == "VERB" for tokens in kept for i in tokens)
            if part == asked or told and part in self.clause.fronted:
                continue  # behind "a law for which she had lobbied", "in 1879" would tell when she had
            tokens = self._shortened(nlp.trimmed(self.parse, part), part)
            if self._follows_and(tokens):
                return None
            if self._fits(tokens, part) and not self._hangs(tokens, part):
                kept.append(tokens)
            elif not self._may_go(part):
                return None
        return kept

    def _hangs(self, tokens: list[int], part: "Token") -> bool:
        """Is this an adjunct, which the question can do without, with a noun that only the passage explains?"""
        if part.dep_ not in ("prep", "npadvmod") or not self._may_go(part):
            return False
        return bool(self._loose(tokens, self.writer.used(tokens), None))

    def _follows_and(self, tokens: Sequence[int]) -> bool:
        """Does an "and" stand right before the tokens, so that they belong to what was not kept?"""
        return bool(tokens) and tokens[0] > self.clause.verb.i and self.parse.words[tokens[0] - 1].dep_ == "cc"

    def _shortened(self, tokens: list[int], part: "Token") -> list[int]:
        """A long predicate nominal without what is conjoined to it ("the sequel to X, the third film and ...")."""
        other = next((c for c in part.rights if c.dep_ == "conj"), None)
        if part.dep_ != "attr" or other is None or len(tokens) <= clauses.MAX_ADJUNCT:
            return tokens
        if not any(c.dep_ == "det" for c in other.lefts):
            return tokens
        cut = [i for i in tokens if i < other.left_edge.i]
        while cut and self.parse.words[cut[-1]].dep_ in ("punct", "cc"):
            cut.pop()
        return cut

    def _lost(self, said: set[int]) -> int:
        """How many complements are neither asked for nor said? `said` are the tokens of question and answer."""
        parts = (*self.clause.complements, *self.clause.fronted)
        return sum(not clauses.is_droppable(p) and not said & {t.i for t in p.subtree} for p in parts)

    def _is_complete(self) -> bool:
        """Has a verb like "consider" what it needs beside its object?"""
        rest = {c.dep_ for c in self.clause.complements} & {"oprd", "ccomp", "xcomp", "acomp"}
        return self.clause.verb.lemma_ not in COMPLEMENT_VERBS or bool(rest)

    def _fits(self, tokens: list[int], part: "Token") -> bool:
        longest = MAX_COMPLEMENT if part.dep_ in _COMPLEMENTS else clauses.MAX_ADJUNCT
        if not tokens or clauses.is_droppable(part) or _is_linking(part) or len(tokens) > longest:
            return False
        if part in self.clause.fronted and (part.dep_ not in ("prep", "npadvmod") or part.lower_ == "as"):
            return False
        return not clauses.leans(self.parse, tokens, self.writer.told(tokens)) and self._is_whole(tokens)

    def _may_go(self, part: "Token") -> bool:
        if part.dep_ == "prep" and part.i > self.clause.verb.i and any(t.lower_ == "same" for t in part.subtree):
            return False
        if clauses.is_droppable(part) or part in self.clause.fronted or self._is_set_off(part) or _is_linking(part):
            return True
        governed = (self.clause.verb.lemma_, part.lower_) in GOVERNED
        behind = part.lower_ in ("with", "as", "for") and any(
            c.dep_ in ("dobj", "attr") and c.i < part.i for c in self.clause.complements
        )
        return part.dep_ == "prep" and (part.lower_ in ADJUNCT_PREPOSITIONS or behind) and not governed

    def _is_set_off(self, part: "Token") -> bool:
        """Does a comma before a phrase at the end say that the clause is whole without it (", including ...")?"""
        first = part.left_edge.i
        return part.dep_ == "prep" and first - 1 > self.clause.verb.i and self.parse.words[first - 1].text == ","

    def adverbs(self) -> list[int]:
        return [a.i for a in self.clause.adverbs if not clauses.is_droppable(a) and len(list(a.subtree)) == 1]

    def verbs(self) -> list[int]:
        """Auxiliaries, adverbs and verbs as they stand between subject and complements."""
        leading = [t.i for t in (*self.clause.auxiliaries, *self.clause.leading, self.clause.verb)]
        return sorted([*leading, *self.adverbs()])

    def finish(
        self,
        target: str,
        word: str,
        kept: list[list[int]] | None,
        answer: list[int],
        weight: float = 1.0,
        tail: str = "",
        extra: Sequence[int] = (),
        wanted: Mention | None = None,
    ) -> Draft | None:
        """Invert the clause: word, auxiliary, subject, verb, the kept parts, the tail."""
        if kept is None or any(a.lemma_ == "do" for a in self.clause.auxiliaries):
            return None  # "did gain one point" stands against what was said before
        if extra and clauses.leans(self.parse, extra, self.writer.told(extra)):
            return None
        subject = nlp.trimmed(self.parse, self.clause.subject)
        if clauses.leans(self.parse, subject, self.writer.told(subject)) or not self._is_whole(subject):
            return None
        first, others = self._inverted()
        if not self._agrees(first) or first in ("get", "gets", "got"):
            return None
        adverbs = [self.parse.words[i].text for i in self.adverbs()]
        near = {p.i for p in self.clause.complements if p.dep_ == "prt" or p.dep_ == "dative" and p.pos_ != "ADP"}
        first_ones = [t for t in kept if near & set(t)]
        kept = first_ones + [t for t in kept if t not in first_ones]
        words = [word, first, self.writer.write(subject), *adverbs, *others, *map(self.writer.write, kept), tail]
        return self.close(target, words, answer, [subject, *kept, list(extra)], weight, wanted)

    def _inverted(self) -> tuple[str, list[str]]:
        """The auxiliary that goes before the subject, and the verbs that stay behind it."""
        verb, auxiliaries = self.clause.finite, self.clause.auxiliaries
        after = [t.text for t in (*self.clause.leading[1:], self.clause.verb)] if self.clause.leading else []
        if auxiliaries:
            return auxiliaries[0].lower_, [*(a.lower_ for a in auxiliaries[1:]), verb.text, *after]
        if verb.lemma_ == "be":
            return verb.lower_, after
        form = {"VBD": "did", "VBZ": "does"}.get(verb.tag_, "do")
        return form, [verb_forms.base_form(verb), *after]

    def _agrees(self, first: str) -> bool:
        """A plural verb needs a subject that is still plural once the name stands for it."""
        head = self.clause.subject
        if first not in ("are", "were", "have", "do"):
            return True
        return not any(m.head == head.i for m in self.writer.names) or head.tag_ in ("NNS", "NNPS")

    def close(
        self,
        target: str,
        words: Sequence[str],
        answer: list[int],
        parts: list[list[int]],
        weight: float,
        wanted: Mention | None = None,
    ) -> Draft | None:
        """The question in `words`, if it reads well and its answer stands alone (a `wanted` name always does)."""
        if not self._is_complete() or not weight:
            return None
        asked = [i for p in parts for i in p]
        used = self.writer.used(asked)
        question = self.writer.once(" ".join(w for w in words if w) + "?", used).replace(" ,", ",")
        if "—" in question or "--" in question or re.search(r"\w ['’]s\b", question) and "'s" not in question:
            return None
        if wanted is None and not self._is_answer(answer, asked, used):
            return None
        if not 4 <= len(question.split()) <= MAX_QUESTION:
            return None
        loose = self._loose(asked, used, wanted)
        if any(m.head in self.writer.resolved for m in loose):
            return None
        weight *= PRIORS[target] * self._specific(asked, used, target)
        span = (answer[0], answer[-1] + 1) if answer else (0, 0)
        used = (*used, wanted) if wanted is not None else used
        said = {*asked, *answer, *([wanted.head] if wanted is not None else [])}
        return Draft(
            question,
            span,
            target,
            self.clause.verb.i,
            used,
            weight,
            wanted,
            self._lost(said),
            tuple(m.noun for m in loose),
        )

    def _is_answer(self, answer: list[int], asked: list[int], used: Sequence[Mention]) -> bool:
        """Is the answer in one piece, apart from the question, and does it stand alone?"""
        whole = bool(answer) and answer == list(range(answer[0], answer[-1] + 1))
        return whole and self._stands(answer, self._echoed(answer, used)) and not set(answer) & set(asked)

    def _echoed(self, answer: list[int], used: Sequence[Mention]) -> tuple[Mention, ...]:
        """Pronouns inside an answer that mean whom the question names ("What did Cuoco land?" "... of her life")."""
        said = {self.writer.names[m] for m in used}
        inner = (m for m in self.writer.names if m.form == "pronoun" and m.start > answer[0] and m.head in set(answer))
        return tuple(m for m in inner if self.writer.names[m] in said)

    def _stands(self, answer: list[int], echoed: tuple[Mention, ...] = ()) -> bool:
        """Does the answer stand alone: no pronoun but those `echoed`, not "the bill", not cut, not too long?"""
        doc = self.parse.words
        if doc[answer[0]].lower_ in _SAY_NOTHING or doc[answer[-1]].lower_ in ("whom", "which"):
            return False
        if len(answer) > MAX_ANSWER or clauses.leans(self.parse, answer, echoed) or not self._is_whole(answer):
            return False
        if (
            doc[answer[-1]].pos_ in ("ADP", "CCONJ", "DET", "SCONJ", "PART", "PUNCT")
            and doc[answer[-1]].text not in "\"”'%"
        ):
            return False
        if self._goes_on(answer[-1] + 1):
            return False
        if any(doc[i].tag_ == "NNS" and doc[i + 1].tag_ == "NNP" for i in answer[:-1]):
            return False  # "war on all Muggles and tortures Jacob": a verb taken for a noun
        bare = [m for m in self.mentions if m.form == "definite" and m.head in answer and m.bare and not m.modifiers]
        return not any(m.start <= answer[0] and m.end - 1 >= answer[-1] for m in bare) and not set(answer) & {
            i for m in self.writer.names if m not in echoed for i in range(m.start, m.end)
        }

    def _goes_on(self, following: int) -> bool:
        """Does the list or the phrase of an answer go on at token `following` (", that it voted", "named Otis")?"""
        doc = self.parse.words
        if following + 1 >= self.parse.bounds[self.parse.sentence_of(self.clause.verb.i)][1]:
            return False
        if doc[following].tag_ == "VBN" and doc[following].lower_ in ("named", "called", "known", "titled"):
            return True
        if self._lists_more(following + (doc[following].text == ",")):
            return True
        return doc[following].text == "," and doc[following + 1].lower_ in ("that", "which", "rather")

    def _lists_more(self, following: int) -> bool:
        """ "and a slip of paper": is another thing joined to the answer?"""
        doc = self.parse.words
        if doc[following].lower_ not in ("and", "or", "&", "as") or following + 1 >= len(doc):
            return False
        behind = doc[following + 1]
        if behind.dep_ in ("nsubj", "nsubjpass"):
            return False  # a clause of its own: "came in 1893, and she stood first"
        return behind.pos_ in ("DET", "NOUN", "PROPN", "ADJ", "NUM", "PRON")

    def _is_whole(self, tokens: Sequence[int]) -> bool:
        """Are quotations and brackets closed, and is nothing cut out but what a comma or dash sets off?"""
        gaps = [a + 1 for a, b in zip(tokens, tokens[1:], strict=False) if b - a > 1]
        if any(self.parse.words[gap].text not in (",", "(", "–", "—", "-") for gap in gaps):
            return False
        if tokens and self._is_inside_a_word(tokens[-1]):
            return False
        text = "".join(self.parse.words[i].text for i in tokens)
        return text.count('"') % 2 == 0 and text.count("“") == text.count("”") and "(" not in text and ")" not in text

    def _is_inside_a_word(self, token: int) -> bool:
        """Does the text go on right after `token`, as in "160 km" of "160 km/h"?"""
        end = self.parse.bounds[self.parse.sentence_of(token)][1]
        if token + 1 >= end or self.parse.words[token].whitespace_:
            return False
        following = self.parse.words[token + 1]
        return not following.is_punct and following.tag_ != "POS" or following.text in ("/", "-", "°")

    def _specific(self, asked: list[int], used: Sequence[Mention], target: str) -> float:
        replaced = {i for m in used for i in range(m.start, m.end)} | {self.clause.verb.i}
        content = [
            i
            for i in asked
            if i not in replaced and self.parse.words[i].pos_ in ("NOUN", "PROPN", "NUM", "ADJ", "VERB")
        ]
        lemma = self.clause.verb.lemma_
        if target == "object" and (lemma in REPEATED_VERBS or lemma in WEAK_VERBS) and not content:
            return 0.55
        if target == "when" and not content and not self.clause.is_passive:
            return 0.75
        return 1.0

    def _loose(self, asked: list[int], used: Sequence[Mention], wanted: Mention | None) -> list[Mention]:
        """What asks "which?" in the question: "the proposal" and nothing that tells it from others."""
        gone = {i for m in (*used, *self.writer.bound) for i in range(m.start, m.end)}
        definite = [m for m in self.mentions if m.form == "definite" and m.head in set(asked) - gone and m != wanted]
        return [m for m in definite if m.last <= m.head + 1 and not m.modifiers and not self._is_told(m)]

    def _is_told(self, mention: Mention) -> bool:
        """ "the world", "the sign @": there is but one, or its name follows."""
        following = self.parse.words[mention.end] if mention.end < len(self.parse.words) else None
        named = following is not None and following.pos_ in ("SYM", "NUM", "PROPN") and self.holds(mention.end)
        return mention.noun in UNIQUE_NOUNS or named or mention.plural and mention.noun in KNOWN_GROUPS


def _is_linking(part: "Token") -> bool:
    """ "in consequence", "at home", "in turn": a phrase that leans on what was told before."""
    inner = object_of(part)
    if inner is None or list(inner.children) or part.dep_ != "prep":
        return False
    return (part.lower_, inner.lower_) in LINKING_PHRASES

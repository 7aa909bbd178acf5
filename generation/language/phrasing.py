"""How a question is written once it is known what it asks for: inversion, do-support, what is kept.

Whatever cannot be written without leaning on the passage, or whose answer does not stand alone, is not written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generation.language import clauses, nlp, verb_forms
from generation.language.answering import Answering
from generation.language.asking_words import object_of
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
MAX_QUESTION = 28
_CUT = re.compile(r"\bby the time\b|\bthe (?:first|second|third|last|only) \w+ after [^,]*\?$|\b\d{4} in which\b")
"""What shows that a question is a piece of one."""


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


class Phrasing(Answering):
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
        if target in ("object", "name", "become", "agent", "governed", "second", "within", "where"):
            tokens, date = self._without_date(tokens)
            kept = [*kept, date] if kept is not None and date else kept
        return self.finish(target, word, kept, self._closed(tokens), weight=weight)

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
            if self._follows_and(tokens) or asked.dep_ in ("pobj", "pcomp") and self._joins_another(tokens):
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

    def _joins_another(self, tokens: Sequence[int]) -> bool:
        """ "in the House from 1903 to 1913 and in the Senate": does the part go on with what is like the one asked?"""
        words = [self.parse.words[i] for i in tokens]
        after = (b for a, b in zip(words, words[1:], strict=False) if a.dep_ == "cc")
        return any(t.dep_ == "conj" and t.pos_ == "ADP" for t in after)

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
        if not first or not self._agrees(first):
            return None
        adverbs = [self.parse.words[i].text for i in self.adverbs()]
        near = {p.i for p in self.clause.complements if p.dep_ == "prt" or p.dep_ == "dative" and p.pos_ != "ADP"}
        first_ones = [t for t in kept if near & set(t)]
        kept = first_ones + [t for t in kept if t not in first_ones]
        if target == "agent":
            kept = self._with_by_first(kept)
        words = [word, first, self.writer.write(subject), *adverbs, *others, *self.written(kept), tail]
        return self.close(target, words, answer, [subject, *kept, list(extra)], weight, wanted)

    def written(self, kept: Sequence[list[int]]) -> list[str]:
        """The kept parts in words; a comma closes what stands beside a noun where more follows."""
        said = []
        for tokens in kept:
            text = self.writer.write(tokens)
            beside = "," in text and any(self.parse.words[i].dep_ == "appos" for i in tokens)
            said.append(text + "," if beside and tokens is not kept[-1] else text)
        return said

    def _with_by_first(self, kept: list[list[int]]) -> list[list[int]]:
        """The "by" of "Who was X founded by in 1685 near the coast?" before the times and places."""
        by = next((t for t in kept if len(t) == 1 and self.parse.words[t[0]].dep_ == "agent"), None)
        apart = ("prep", "npadvmod")
        place = next((n for n, t in enumerate(kept) if t != by and self.parse.words[t[0]].dep_ in apart), len(kept))
        into = place < len(kept) and self.parse.words[kept[place][0]].lower_ in ("to", "into", "as", "of", "with")
        if by is None or into or place > kept.index(by):
            return kept
        rest = [t for t in kept if t != by]
        return [*rest[:place], by, *rest[place:]]

    def _inverted(self) -> tuple[str, list[str]]:
        """The auxiliary that goes before the subject, "" where none can, and the verbs that stay behind it."""
        verb, auxiliaries = self.clause.finite, self.clause.auxiliaries
        after = [t.text for t in (*self.clause.leading[1:], self.clause.verb)] if self.clause.leading else []
        if auxiliaries and auxiliaries[0].lemma_ not in ("be", "have", "do") and auxiliaries[0].tag_ != "MD":
            return "", []  # "became known": nothing that goes before the subject
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
        if _CUT.search(question) or wanted is None and not self._is_answer(answer, asked, used):
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

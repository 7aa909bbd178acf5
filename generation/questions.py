"""From a clause to questions: what can be asked for, with which word, and how the rest is written around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generation import clauses, nlp
from generation.clauses import Clause, Writer
from generation.lexicon import (
    CONTROL_VERBS,
    GOVERNED,
    INTEND_VERBS,
    LIGHT_VERBS,
    MONEY_VERBS,
    MOTION_VERBS,
    PLACE_VERBS,
    PURPOSE_VERBS,
    REPEATED_VERBS,
    THAT_VERBS,
    WEAK_VERBS,
    noun_kind,
)
from generation.mentions import Mention
from generation.nlp import Parse

if TYPE_CHECKING:
    from spacy.tokens import Token

PRIORS = {
    "when": 0.93, "where": 0.92, "agent": 0.92, "control": 0.93, "governed": 0.88, "object": 0.86, "count": 0.88,
    "become": 0.88, "intend": 0.88, "purpose": 0.86, "how": 0.88, "how much": 0.88,
    "that": 0.84, "subject": 0.86, "name": 0.9, "attribute": 0.84, "why": 0.84, "how long": 0.86, "adjective": 0.87,
}  # fmt: skip
"""How often a question of this kind is good when its link is right; from reading candidates on texts to tune on."""

MAX_ANSWER = 20
MAX_QUESTION = 28
_TIMES = frozenset("year month week day hour minute decade season time".split())
_MONTHS = "january february march april may june july august september october november december".split()
_NAMING = "name rename call title dub entitle retitle rebrand award grant appoint elect designate declare".split()
_COMPLEMENT_PREPOSITIONS = ("into", "from", "with", "for", "to", "against", "about", "upon", "on")
_ADJECTIVES = frozenset(
    {("responsible", "for"), ("subject", "to"), ("eligible", "for"), ("capable", "of"), ("similar", "to"),
     ("liable", "for"), ("exempt", "from"), ("native", "to"), ("based", "on"), ("applicable", "to"), ("open", "to")}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its names are tied to sentences; `answer` are tokens start to end of the fact sentence.

    `used` are the anaphors that the question replaces by names; `weight` is the prior times what speaks against it.
    """

    question: str
    answer: tuple[int, int]
    target: str
    verb: int
    used: tuple[Mention, ...]
    weight: float


def drafts(parse: Parse, sentence: int, writer: Writer, mentions: Sequence[Mention]) -> Iterator[Draft]:
    """All questions about one sentence that name at least one antecedent."""
    for clause in clauses.clauses(parse, sentence):
        asker = Asker(parse, clause, writer, tuple(m for m in mentions if m.sentence == sentence))
        yield from (d for d in asker.all() if d is not None and d.used)


@dataclass(frozen=True)
class Asker:
    """Asks about one clause."""

    parse: Parse
    clause: Clause
    writer: Writer
    mentions: tuple[Mention, ...]

    def all(self) -> Iterator[Draft | None]:
        yield self.subject()
        for part in (*self.clause.complements, *self.clause.fronted):
            if part.dep_ == "dobj":
                yield self.count(part)
                yield self.how_much(part)
                yield self.object(part)
            elif part.dep_ == "agent":
                yield self.agent(part)
            elif part.dep_ == "oprd":
                yield self.name(part)
            elif part.dep_ == "attr":
                yield self.attribute(part)
                yield self.become(part)
            elif part.dep_ in ("xcomp", "ccomp"):
                yield self.control(part)
                yield self.intend(part)
                yield self.purpose(part)
                yield self.that(part)
            elif part.dep_ == "acomp":
                yield self.adjective(part)
            elif part.dep_ == "advcl":
                yield self.why(part)
                yield self.purpose(part)
            elif part.dep_ in ("prep", "npadvmod"):
                yield from self.adjunct(part)

    def adjunct(self, part: "Token") -> Iterator[Draft | None]:
        yield self.when(part)
        if part.dep_ == "prep":
            yield self.where(part)
            yield self.governed(part)
            yield self.how_long(part)
            yield self.how(part)
            yield self.due_to(part)

    # targets

    def subject(self) -> Draft | None:
        """ "Who signed X into law?": the subject is asked for, an anaphor stands further on."""
        head = self.clause.subject
        finite = (*self.clause.auxiliaries, self.clause.verb)[0]
        if head.dep_ == "nsubjpass" and self.clause.verb.lemma_ in LIGHT_VERBS or head.tag_ in ("NNS", "NNPS", "PRP"):
            return None
        if finite.lower_ in ("are", "were", "have", "do") or finite.tag_ == "VBP" or self.clause.verb.lemma_ == "be":
            return None
        word = self._wh(head, as_agent=True)
        if word is None or any(c.dep_ in ("conj", "poss") for c in head.children):
            return None
        rest = self._rest(head, keep_subject=False)
        if rest is None or not self.writer.used([i for p in rest[1] for i in p]):
            return None
        verbs = [*[a.i for a in self.clause.auxiliaries], *self._adverbs(), self.clause.verb.i]
        return self._draft("subject", [word, self.writer.write(sorted(verbs))], rest, head)

    def object(self, part: "Token") -> Draft | None:
        verb = self.clause.verb
        if verb.lemma_ in LIGHT_VERBS or part.ent_type_ in ("DATE", "TIME", "PERCENT", "MONEY", "GPE"):
            return None
        if any(c.dep_ in ("xcomp", "ccomp", "oprd") for c in self.clause.complements) or verb.lemma_ in CONTROL_VERBS:
            return None
        word = self._wh(part)
        weight = 1.0
        if self._is_followed(part):
            weight *= 0.75
        if self._is_vague(part):
            weight *= 0.6
        return self._ask("object", word, part, weight)

    def agent(self, part: "Token") -> Draft | None:
        inner = _object_of(part)
        if inner is None or inner.tag_ == "VBG":
            return None
        return self._ask("agent", self._wh(inner, as_agent=True), inner, keep=(part,))

    def name(self, part: "Token") -> Draft | None:
        if self.clause.verb.lemma_ not in _NAMING:
            return None
        return self._ask("name", "What", part) if part.pos_ in ("PROPN", "NOUN") else None

    def attribute(self, part: "Token") -> Draft | None:
        """ "What is X's capital?": only where the subject is something of the anaphor's."""
        owner = next((c for c in self.clause.subject.children if c.dep_ == "poss"), None)
        if owner is None or self.clause.verb.lemma_ != "be" or not self.writer.used([t.i for t in owner.subtree]):
            return None
        definite = part.pos_ == "PROPN" or any(c.lower_ == "the" or c.dep_ == "nummod" for c in part.lefts)
        return self._ask("attribute", self._wh(part), part) if definite else None

    def become(self, part: "Token") -> Draft | None:
        """ "What did X become in 1920?"."""
        return (
            self._ask("become", "What", part) if self.clause.verb.lemma_ == "become" and part.pos_ == "NOUN" else None
        )

    def intend(self, part: "Token") -> Draft | None:
        """ "What did X agree to do?"."""
        mark = _to_of(part)
        if self.clause.verb.lemma_ not in INTEND_VERBS or mark is None or mark.i != part.i - 1 or part.lemma_ == "be":
            return None
        if any(c.dep_ in ("dobj", "dative") for c in self.clause.complements):
            return None
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > mark.i]
        return self._finish("intend", "What", [], tokens, tail="to do")

    def purpose(self, part: "Token") -> Draft | None:
        """ "Why was X created?", answered by "to ..."."""
        mark = _to_of(part)
        if self.clause.verb.lemma_ not in PURPOSE_VERBS or mark is None or part.i < self.clause.verb.i:
            return None
        if any(c.dep_ in ("nsubj", "mark") for c in part.lefts) or mark.i != part.left_edge.i or part.lemma_ == "be":
            return None
        return self._ask("purpose", "Why", part)

    def how(self, part: "Token") -> Draft | None:
        """ "How did X strengthen the law?", answered by "by ..."."""
        inner = next((c for c in part.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
        return self._ask("how", "How", part) if part.lower_ == "by" and inner is not None else None

    def due_to(self, part: "Token") -> Draft | None:
        text = self.parse.doc[part.i + 1].lower_ if part.i + 1 < len(self.parse.doc) else ""
        return self._ask("why", "Why", part) if (part.lower_, text) in (("due", "to"), ("because", "of")) else None

    def how_much(self, part: "Token") -> Draft | None:
        """ "How much did X cost?"."""
        if part.ent_type_ != "MONEY" or self.clause.verb.lemma_ not in MONEY_VERBS:
            return None
        tokens = nlp.trimmed(self.parse, part)
        if any(
            self.parse.doc[i].ent_type_ != "MONEY" and self.parse.doc[i].pos_ not in ("ADV", "ADP", "SYM")
            for i in tokens
        ):
            return None
        return self._ask("how much", "How much", part)

    def control(self, part: "Token") -> Draft | None:
        """ "What does X require lenders to do?"."""
        if self.clause.verb.lemma_ not in CONTROL_VERBS or part.lemma_ == "be":
            return None
        mark = _to_of(part)
        inner = next((c for c in part.lefts if c.dep_ in ("nsubj", "nsubjpass")), None)
        objects = [c for c in self.clause.complements if c.dep_ in ("dobj", "dative")]
        if mark is None or any(c.dep_ in ("auxpass", "neg") for c in part.lefts) or not (inner or objects):
            return None
        kept = [nlp.trimmed(self.parse, c) for c in objects if c.i < part.i]
        kept += [nlp.trimmed(self.parse, inner)] if inner is not None else []
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > mark.i]
        return self._finish("control", "What", [*kept], tokens, tail="to do", core=True)

    def that(self, part: "Token") -> Draft | None:
        mark = next((c for c in part.lefts if c.dep_ == "mark" and c.lower_ == "that"), None)
        if self.clause.verb.lemma_ not in THAT_VERBS or mark is None:
            return None
        if any(c.dep_ in ("dobj", "dative") for c in self.clause.complements):
            return None
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > mark.i]
        return self._finish("that", "What", self._kept(part, ()), tokens)

    def adjective(self, part: "Token") -> Draft | None:
        """ "What is X responsible for?"."""
        governed = next((c for c in part.rights if c.dep_ == "prep" and (part.lower_, c.lower_) in _ADJECTIVES), None)
        inner = governed and next((c for c in governed.children if c.dep_ in ("pobj", "pcomp")), None)
        if governed is None or inner is None:
            return None
        return self._finish("adjective", "What", [[part.i, governed.i]], nlp.trimmed(self.parse, inner))

    def why(self, part: "Token") -> Draft | None:
        mark = next((c for c in part.lefts if c.dep_ == "mark" and c.lower_ == "because"), None)
        if mark is None or mark.i < self.clause.verb.i:
            return None
        return self._ask("why", "Why", part)

    def when(self, part: "Token") -> Draft | None:
        dates = {e.start for e in self.parse.doc.ents if e.label_ == "DATE" and self._holds(e.start)}
        inner = part if part.dep_ == "npadvmod" else _object_of(part)
        if inner is None or inner.ent_type_ != "DATE" or len(dates) != 1:
            return None
        if part.dep_ == "prep" and part.lower_ not in ("in", "on"):
            return None
        tokens = nlp.trimmed(self.parse, inner)
        text = " ".join(self.parse.doc[i].lower_ for i in tokens)
        if (
            not any(m in text for m in _MONTHS)
            and not any(self.parse.doc[i].shape_ == "dddd" for i in tokens)
            or "the" in text.split()
        ):
            return None
        year = any(self.parse.doc[i].shape_ == "dddd" for i in tokens)
        if not any(c.isdigit() for c in text) or any(self.parse.doc[i].ent_type_ != "DATE" for i in tokens):
            return None
        return self._ask("when", "When", part, 1.0 if year else 0.85, answer=tokens)

    def where(self, part: "Token") -> Draft | None:
        inner = _object_of(part)
        if inner is None or part.lower_ not in ("in", "at", "near", "on", "to") or not self._is_place(inner):
            return None
        verb = self.clause.verb
        if part.lower_ == "to":
            tokens = nlp.trimmed(self.parse, inner)
            return self._ask("where", "Where", part, answer=tokens) if verb.lemma_ in MOTION_VERBS else None
        located = verb.lemma_ in PLACE_VERBS or (verb.lemma_ == "be" and len(self.clause.complements) == 1)
        return self._ask("where", "Where", part, answer=nlp.trimmed(self.parse, inner)) if located else None

    def governed(self, part: "Token") -> Draft | None:
        inner = next((c for c in part.children if c.dep_ in ("pobj", "pcomp")), None)
        if inner is None or inner.ent_type_ in ("DATE", "TIME", "GPE"):
            return None
        word = "What" if inner.dep_ == "pcomp" else self._wh(inner)
        if inner.dep_ == "pobj" and (self._is_vague(inner) or self._is_idiom(inner)):
            return None
        weight = 0.6 if self._is_followed(inner) else 1.0
        if (self.clause.verb.lemma_, part.lower_) in GOVERNED:
            return self._ask("governed", word, inner, weight, keep=(part,))
        if not self._follows(part) or part.lower_ not in _COMPLEMENT_PREPOSITIONS:
            return None
        return self._ask("governed", word, inner, 0.9 * weight, keep=(part,))

    def _is_idiom(self, inner: "Token") -> bool:
        """ "into force", "from time to time": a bare noun that cannot be asked for."""
        return inner.pos_ == "NOUN" and inner.tag_ == "NN" and not list(inner.children)

    def _is_followed(self, part: "Token") -> bool:
        """Does a phrase come right after `part` that may belong to it ("all agencies with more than fifty employees")?"""
        end = nlp.trimmed(self.parse, part)[-1] + 1
        return any(c.dep_ == "prep" and c.i == end and not self._is_time(c) for c in self.clause.complements)

    def _follows(self, part: "Token") -> bool:
        """Does the preposition come right after a verb without object, so that it must be its complement?"""
        others = [c for c in self.clause.complements if c.dep_ in ("dobj", "attr", "acomp", "oprd", "dative", "agent")]
        return part.i == self.clause.verb.i + 1 and not others and self.clause.verb.lemma_ not in LIGHT_VERBS

    def how_long(self, part: "Token") -> Draft | None:
        inner = _object_of(part)
        if inner is None or part.lower_ != "for" or inner.lemma_ not in _TIMES or inner.ent_type_ != "DATE":
            return None
        return self._ask("how long", "How long", part, answer=nlp.trimmed(self.parse, inner))

    def count(self, part: "Token") -> Draft | None:
        """ "How many people did X kill?": answered by the number."""
        number = next((c for c in part.lefts if c.dep_ == "nummod"), None)
        if number is None or part.tag_ != "NNS" or part.lemma_ in _TIMES or number.ent_type_ not in ("CARDINAL", ""):
            return None
        if any(c.dep_ in ("conj", "relcl", "poss", "det") for c in part.children):
            return None
        answer = sorted(t.i for t in number.subtree)
        noun = [i for i in nlp.trimmed(self.parse, part) if i > answer[-1]]
        if part.i not in noun:
            return None
        return self._finish("count", f"How many {self.writer.write(noun)}", self._kept(part, ()), answer, extra=noun)

    # writing

    def _ask(
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
        kept = self._kept(part, keep)
        tokens = list(answer) if answer is not None else nlp.trimmed(self.parse, part)
        return self._finish(target, word, kept, tokens, weight=weight)

    def _kept(self, asked: "Token", keep: Sequence["Token"]) -> list[list[int]] | None:
        """The other complements, then what stood before the subject; None if one is needed but leans on the context."""
        kept = []
        for part in (*self.clause.complements, *self.clause.fronted):
            if part.i in {k.i for k in keep}:
                kept.append([part.i])
                continue
            if part == asked:
                continue
            tokens = nlp.trimmed(self.parse, part)
            if self._fits(tokens, part):
                kept.append(tokens)
            elif not self._may_go(part):
                return None
        return kept

    def _fits(self, tokens: list[int], part: "Token") -> bool:
        if not tokens or clauses.is_droppable(part) or len(tokens) > clauses.MAX_ADJUNCT:
            return False
        return not clauses.leans(self.parse, tokens, self.writer.used(tokens)) and self._is_whole(tokens)

    def _may_go(self, part: "Token") -> bool:
        return (
            clauses.is_droppable(part) or part.dep_ == "prep" and (self.clause.verb.lemma_, part.lower_) not in GOVERNED
        )

    def _rest(self, asked: "Token", keep_subject: bool) -> tuple[float, list[list[int]]] | None:
        kept = self._kept(asked, ())
        return None if kept is None else (1.0, kept)

    def _adverbs(self) -> list[int]:
        return [a.i for a in self.clause.adverbs if not clauses.is_droppable(a) and len(list(a.subtree)) == 1]

    def _draft(
        self, target: str, opening: list[str], rest: tuple[float, list[list[int]]], head: "Token"
    ) -> Draft | None:
        """A subject question: the opening, the rest as it stands."""
        weight, kept = rest
        if len(kept) < 1:
            return None
        answer = nlp.trimmed(self.parse, head)
        return self._close(target, [*opening, *map(self.writer.write, kept)], answer, kept, weight)

    def _finish(
        self,
        target: str,
        word: str,
        kept: list[list[int]] | None,
        answer: list[int],
        weight: float = 1.0,
        tail: str = "",
        extra: Sequence[int] = (),
        core: bool = False,
    ) -> Draft | None:
        """Invert the clause: word, auxiliary, subject, verb, the kept parts, the tail."""
        if kept is None:
            return None
        subject = nlp.trimmed(self.parse, self.clause.subject)
        if clauses.leans(self.parse, subject, self.writer.used(subject)) or not self._is_whole(subject):
            return None
        first, others = self._inverted()
        if not self._agrees(first):
            return None
        adverbs = [self.parse.doc[i].text for i in self._adverbs()]
        particle = [t for t in kept if len(t) == 1 and self.parse.doc[t[0]].dep_ == "prt"]
        kept = particle + [t for t in kept if t not in particle]
        words = [word, first, self.writer.write(subject), *adverbs, *others, *map(self.writer.write, kept), tail]
        return self._close(target, words, answer, [subject, *kept, list(extra)], weight)

    def _inverted(self) -> tuple[str, list[str]]:
        """The auxiliary that goes before the subject, and the verbs that stay behind it."""
        verb, auxiliaries = self.clause.verb, self.clause.auxiliaries
        if auxiliaries:
            return auxiliaries[0].lower_, [*(a.lower_ for a in auxiliaries[1:]), verb.text]
        if verb.lemma_ == "be":
            return verb.lower_, []
        form = {"VBD": "did", "VBZ": "does"}.get(verb.tag_, "do")
        return form, [clauses.base_form(verb)]

    def _agrees(self, first: str) -> bool:
        """A plural verb needs a subject that is still plural once the name stands for it."""
        head = self.clause.subject
        if first not in ("are", "were", "have", "do"):
            return True
        return not any(m.head == head.i for m in self.writer.names) or head.tag_ in ("NNS", "NNPS")

    def _close(
        self, target: str, words: Sequence[str], answer: list[int], parts: list[list[int]], weight: float
    ) -> Draft | None:
        asked = [i for p in parts for i in p]
        used = self.writer.used(asked)
        question = self.writer.once(" ".join(w for w in words if w) + "?", used)
        if not answer or answer != list(range(answer[0], answer[-1] + 1)) or not self._stands(answer):
            return None
        if set(answer) & set(asked) or len(question.split()) > MAX_QUESTION or len(question.split()) < 4:
            return None
        weight *= PRIORS[target] * self._specific(asked, used, target) * self._definite_penalty(asked, used)
        return Draft(question, (answer[0], answer[-1] + 1), target, self.clause.verb.i, used, weight)

    def _stands(self, answer: list[int]) -> bool:
        """Does the answer stand alone: no pronoun, not "the bill", not cut, not too long?"""
        doc = self.parse.doc
        if len(answer) > MAX_ANSWER or clauses.leans(self.parse, answer) or not self._is_whole(answer):
            return False
        if (
            doc[answer[-1]].pos_ in ("ADP", "CCONJ", "DET", "SCONJ", "PART", "PUNCT")
            and doc[answer[-1]].text not in "\"”'%"
        ):
            return False
        bare = [m for m in self.mentions if m.form == "definite" and m.head in answer and m.bare and not m.modifiers]
        return not any(m.start <= answer[0] and m.end - 1 >= answer[-1] for m in bare) and not set(answer) & {
            i for m in self.writer.names for i in range(m.start, m.end)
        }

    def _is_whole(self, tokens: Sequence[int]) -> bool:
        text = "".join(self.parse.doc[i].text for i in tokens)
        return text.count('"') % 2 == 0 and text.count("“") == text.count("”") and "(" not in text and ")" not in text

    def _specific(self, asked: list[int], used: Sequence[Mention], target: str) -> float:
        replaced = {i for m in used for i in range(m.start, m.end)} | {self.clause.verb.i}
        content = [
            i for i in asked if i not in replaced and self.parse.doc[i].pos_ in ("NOUN", "PROPN", "NUM", "ADJ", "VERB")
        ]
        lemma = self.clause.verb.lemma_
        if target == "object" and (lemma in REPEATED_VERBS or lemma in WEAK_VERBS) and not content:
            return 0.55
        if target == "when" and not content and not self.clause.is_passive:
            return 0.75
        return 1.0

    def _definite_penalty(self, asked: list[int], used: Sequence[Mention]) -> float:
        """ "the proposal" in a question asks which; each costs."""
        kept = set(asked) - {i for m in used for i in range(m.start, m.end)}
        loose = [m for m in self.mentions if m.form == "definite" and m.head in kept and m.bare and not m.plural]
        return 0.65 ** sum(not m.modifiers for m in loose) * 0.88 ** sum(bool(m.modifiers) for m in loose)

    # judging words

    def _wh(self, head: "Token", as_agent: bool = False) -> str | None:
        """ "Who", "What" or None where the kind is not known well enough to ask."""
        mention = next((m for m in self.mentions if m.head == head.i), None)
        kind = mention.kind if mention else noun_kind(head.lemma_.lower())
        if head.pos_ == "PROPN" and not kind or head.pos_ == "PRON":
            return None
        if kind == "person" or (as_agent and kind in ("org", "place") and head.pos_ == "PROPN"):
            return "Who"
        if kind == "place" and head.pos_ == "PROPN":
            return None
        if head.pos_ not in ("NOUN", "PROPN"):
            return None
        return "What"

    def _is_place(self, head: "Token") -> bool:
        return head.ent_type_ in ("GPE", "LOC", "FAC") and head.pos_ == "PROPN"

    def _is_time(self, part: "Token") -> bool:
        inner = _object_of(part)
        return inner is not None and inner.ent_type_ in ("DATE", "TIME")

    def _is_vague(self, part: "Token") -> bool:
        return part.lemma_ in (
            "part",
            "number",
            "lot",
            "series",
            "way",
            "thing",
            "place",
            "role",
            "amount",
            "variety",
            "first",
            "most",
            "time",
            "example",
            "fact",
        )

    def _holds(self, token: int) -> bool:
        return self.parse.sentence_of(token) == self.parse.sentence_of(self.clause.verb.i)


def _to_of(part: "Token") -> "Token | None":
    return next((c for c in part.lefts if c.dep_ == "aux" and c.lower_ == "to"), None)


def _object_of(part: "Token") -> "Token | None":
    return next((c for c in part.children if c.dep_ == "pobj"), None)

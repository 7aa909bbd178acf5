"""From a clause to questions: what can be asked for, with which word, and how the rest is written around it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from generation.language import clauses, nlp
from generation.language.asking_words import object_of
from generation.language.circumstances import Circumstances
from generation.language.clauses import Writer
from generation.language.lexicon import (
    CONTROL_VERBS,
    GOVERNED,
    IDIOMS,
    INTEND_VERBS,
    LIGHT_VERBS,
    PURPOSE_VERBS,
    THAT_VERBS,
    may_be_person,
    noun_kind,
)
from generation.language.mentions import SUBJECTS, Mention
from generation.language.nlp import Parse
from generation.language.phrasing import Draft
from generation.language.relations import Related

if TYPE_CHECKING:
    from spacy.tokens import Token

_TO_PLACES = ("depart", "leave", "reach", "visit", "enter", "hit", "cross", "exit")
_AGES = ("child", "boy", "girl", "youth", "teenager", "adult", "man", "woman", "student")
_TIMES = frozenset("year month week day hour minute decade season time".split())
_SITES = "hospital center centre prison jail airport station university college school camp palace museum".split()
_PLURAL_OR_EMPHATIC = ("are", "were", "have", "do", "did", "does")
_NAMING = "name rename call title dub entitle retitle rebrand award grant appoint elect designate declare".split()
_TELLING_VERBS = ("tell", "inform", "assure", "remind", "warn", "convince", "persuade", "notify")
_BARRING = ("prevent", "prohibit", "bar", "stop", "keep", "ban", "block", "restrain", "discourage")
_COMPLEMENT_PREPOSITIONS = ("into", "from", "with", "for", "to", "against", "about", "upon", "on", "in", "of", "over")
_ADJECTIVES = frozenset(
    {("responsible", "for"), ("subject", "to"), ("eligible", "for"), ("capable", "of"), ("similar", "to"),
     ("liable", "for"), ("exempt", "from"), ("native", "to"), ("based", "on"), ("applicable", "to"), ("open", "to")}
)  # fmt: skip


def drafts(parse: Parse, sentence: int, writer: Writer, mentions: Sequence[Mention]) -> Iterator[Draft]:
    """All questions about one sentence that name at least one antecedent."""
    first = True
    for clause in clauses.clauses(parse, sentence):
        here = tuple(m for m in mentions if m.sentence == sentence)
        related = Related(parse, clause, writer, here)
        asked = chain(Asker(parse, clause, writer, here).all(), related.all())
        yield from (d for d in asked if d is not None and d.used)
        if first:
            own = [m for m in writer.names if m.sentence == sentence]
            yield from (d for m in own for d in (*related.beside(m), related.by_the_way(m)) if d is not None)
        first = False


class Asker(Circumstances):
    """Asks about one clause: each target is tried on each part, None where it does not apply."""

    def all(self) -> Iterator[Draft | None]:
        yield self.subject()
        for part in (*self.clause.complements, *self.clause.fronted):
            if part.dep_ == "dobj":
                yield self.object(part)
                yield from (self.barred(c) for c in part.rights if c.dep_ == "prep")
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
                yield self.attribute(part)
                yield self.purpose(part)
                yield self.that(part)
                yield self.told_deed(part)
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
            yield self.barred(part)
            yield self.how_long(part)
            yield self.how(part)
            yield self.due_to(part)

    # targets

    def subject(self) -> Draft | None:
        """ "Who signed X into law?": the subject is asked for, an anaphor stands further on."""
        head = self.clause.subject
        finite = (*self.clause.auxiliaries, self.clause.finite)[0]
        if head.dep_ == "nsubjpass" and self.clause.verb.lemma_ in LIGHT_VERBS or head.tag_ == "PRP":
            return None
        if finite.lower_ in _PLURAL_OR_EMPHATIC or finite.tag_ == "VBP" or self.clause.verb.lemma_ == "be":
            return None
        word = self.wh(head, as_agent=True)
        if word is None or any(c.dep_ == "poss" for c in head.children) or not self._is_telling(head):
            return None
        if finite.tag_ not in ("VBD", "MD") and (head.conjuncts or head.tag_ in ("NNS", "NNPS")):
            return None
        kept = self.kept(head, ())
        if not kept or not self.writer.used([i for p in kept for i in p]):
            return None
        verbs = self.verbs()
        words = [word, self.writer.write(sorted(verbs)), *self.written(kept)]
        return self.close("subject", words, nlp.trimmed(self.parse, head), kept, 1.0)

    def _is_telling(self, head: "Token") -> bool:
        """Can a subject be the answer: not "the parliamentary action", "a judge" whose name follows, "nothing"?"""
        if head.pos_ == "PROPN":
            return True
        if head.tag_ == "NNS" and not list(head.children):
            return False
        if any(c.dep_ == "appos" for c in head.children) or head.left_edge.lower_ in ("no", "none", "nothing"):
            return False
        definite = any(c.dep_ == "det" and c.lower_ in ("the", "this", "that") for c in head.lefts)
        return not definite or any(c.dep_ == "prep" for c in head.rights)

    def object(self, part: "Token") -> Draft | None:
        verb = self.clause.verb
        if verb.lemma_ in LIGHT_VERBS or part.lemma_ in _TIMES or (verb.lemma_, part.lemma_) in IDIOMS:
            return None
        if part.ent_type_ in ("DATE", "TIME", "PERCENT", "MONEY", "GPE"):
            return None
        if any(c.dep_ in ("xcomp", "ccomp", "oprd") for c in self.clause.complements) or verb.lemma_ in CONTROL_VERBS:
            return None
        if part.pos_ == "PROPN" and verb.lemma_ in _TO_PLACES:
            return None
        if verb.lemma_ in _BARRING and any(t.lower_ == "from" for c in (verb, part) for t in c.rights):
            return None
        word = self.wh(part)
        if self._is_idiom(part):
            return None
        weight = 1.0
        if self._is_followed(part):
            weight *= 0.75
        if self.is_vague(part):
            weight *= 0.6
        return self.ask("object", word, part, weight)

    def agent(self, part: "Token") -> Draft | None:
        inner = object_of(part)
        if inner is None or inner.tag_ == "VBG":
            return None
        return self.ask("agent", self.wh(inner, as_agent=True), inner, keep=(part,))

    def name(self, part: "Token") -> Draft | None:
        offices = [c for c in self.clause.complements if c.dep_ in ("oprd", "attr")]
        if self.clause.verb.lemma_ not in _NAMING or len(offices) > 1:
            return None
        return self.ask("name", "What", part) if part.pos_ in ("PROPN", "NOUN") else None

    def attribute(self, part: "Token") -> Draft | None:
        """ "What is X's capital?": only where the subject is something of the anaphor's."""
        owner = next((c for c in self.clause.subject.children if c.dep_ == "poss"), None)
        if owner is None or self.clause.verb.lemma_ != "be" or not self.writer.used([t.i for t in owner.subtree]):
            return None
        if part.dep_ == "xcomp":
            mark = _to_of(part)
            return self.ask("attribute", "What", part) if mark is not None and mark.i == part.left_edge.i else None
        definite = part.pos_ == "PROPN" or any(c.lower_ == "the" or c.dep_ == "nummod" for c in part.lefts)
        return self.ask("attribute", self.wh(part), part) if definite else None

    def become(self, part: "Token") -> Draft | None:
        """ "What did X become in 1920?"."""
        return self.ask("become", "What", part) if self.clause.verb.lemma_ == "become" and part.pos_ == "NOUN" else None

    def intend(self, part: "Token") -> Draft | None:
        """ "What did X agree to do?"."""
        mark = _to_of(part)
        if self.clause.verb.lemma_ not in INTEND_VERBS or self.clause.is_passive or part.lemma_ == "be":
            return None
        if mark is None or mark.i != part.i - 1 or any(c.dep_ == "neg" for c in part.lefts):
            return None
        if any(c.dep_ in ("dobj", "dative") for c in self.clause.complements):
            return None
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > mark.i]
        return self.finish("intend", "What", [], tokens, tail="to do") if len(tokens) > 1 else None

    def purpose(self, part: "Token") -> Draft | None:
        """ "Why was X created?", answered by "to ..."."""
        mark = _to_of(part)
        if self.clause.verb.lemma_ not in PURPOSE_VERBS or mark is None or part.i < self.clause.verb.i:
            return None
        if any(c.dep_ in ("nsubj", "mark", "auxpass") for c in part.lefts) or part.lemma_ == "be":
            return None
        if mark.i != part.left_edge.i:
            return None
        return self.ask("purpose", "Why", part)

    def how(self, part: "Token") -> Draft | None:
        """ "How did X strengthen the law?", answered by "by ..."."""
        inner = next((c for c in part.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
        return self.ask("how", "How", part) if part.lower_ == "by" and inner is not None else None

    def due_to(self, part: "Token") -> Draft | None:
        text = self.parse.words[part.i + 1].lower_ if part.i + 1 < len(self.parse.doc) else ""
        return self.ask("why", "Why", part) if (part.lower_, text) in (("due", "to"), ("because", "of")) else None

    def control(self, part: "Token") -> Draft | None:
        """ "What does X require lenders to do?"."""
        if self.clause.verb.lemma_ not in CONTROL_VERBS or part.lemma_ == "be":
            return None
        mark = _to_of(part)
        if mark is None and self.clause.verb.lemma_ == "let" and part.tag_ == "VB":
            mark = self.parse.words[part.i - 1]
        inner = next((c for c in part.lefts if c.dep_ in ("nsubj", "nsubjpass")), None)
        objects = [c for c in self.clause.complements if c.dep_ in ("dobj", "dative")]
        if mark is None or any(c.dep_ in ("auxpass", "neg") for c in part.lefts) or not (inner or objects):
            return None
        if not all(self._may_act(c) for c in [*objects, *([inner] if inner is not None else [])]):
            return None
        kept = [nlp.trimmed(self.parse, c) for c in objects if c.i < part.i]
        if any(clauses.leans(self.parse, tokens, self.writer.told(tokens)) for tokens in kept):
            return None
        kept += [nlp.trimmed(self.parse, inner)] if inner is not None else []
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > mark.i]
        return self.finish("control", "What", [*kept], tokens, tail="to do")

    def barred(self, part: "Token") -> Draft | None:
        """ "What did X prohibit vessels from doing?"."""
        inner = next((c for c in part.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
        if self.clause.verb.lemma_ not in _BARRING or part.lower_ != "from" or inner is None:
            return None
        if part.head.dep_ == "dobj":
            return self._barred_object(part, inner)
        before = [c for c in self.clause.complements if c.i < part.i]
        objects = [c for c in before if c.dep_ == "dobj"]
        if before != objects or bool(objects) == self.clause.is_passive or inner.i != part.i + 1:
            return None
        kept = [*(nlp.trimmed(self.parse, c) for c in objects), [part.i]]
        return self.finish("control", "What", kept, nlp.trimmed(self.parse, inner), tail="doing")

    def _barred_object(self, part: "Token", inner: "Token") -> Draft | None:
        """The same where the parser hangs "from" on the object."""
        whole = nlp.trimmed(self.parse, part.head)
        kept = [[i for i in whole if i < part.i], [part.i]]
        done = [i for i in whole if i >= inner.i]
        return self.finish("control", "What", kept, done, tail="doing") if kept[0] and done else None

    def _may_act(self, who: "Token") -> bool:
        """Is this somebody who can be told to do something, not "only reasonable grounds"?"""
        noun = who.lemma_.lower()
        all_of_them = any(c.lower_ in ("every", "each", "all", "any") for c in who.lefts)  # "every foreign ship"
        known = who.pos_ in ("PROPN", "PRON") or noun_kind(noun) in ("person", "org", "place") or may_be_person(noun)
        return known or all_of_them

    def that(self, part: "Token") -> Draft | None:
        mark = next((c for c in part.lefts if c.dep_ == "mark"), None)
        opens = any(c.dep_ in SUBJECTS and c.left_edge.i == part.left_edge.i for c in part.lefts)
        told = self.clause.verb.lemma_ in _TELLING_VERBS
        if self.clause.verb.lemma_ not in THAT_VERBS and not told or mark is not None and mark.lower_ != "that":
            return None
        if mark is None and (part.dep_ != "ccomp" or not opens or part.left_edge.i != self.clause.verb.i + 1):
            return None
        if told != any(c.dep_ in ("dobj", "dative") for c in self.clause.complements) or told and mark is None:
            return None
        tokens = [i for i in nlp.trimmed(self.parse, part) if mark is None or i > mark.i]
        return self.finish("that", "What", self.kept(part, ()), tokens)

    def told_deed(self, part: "Token") -> Draft | None:
        """ "What did X say he would do?", answered by what comes after "would"."""
        subject = next((c for c in part.lefts if c.dep_ in SUBJECTS), None)
        modal = next((c for c in part.lefts if c.dep_ == "aux" and c.tag_ == "MD"), None)
        own = self.writer.told([subject.i]) if subject is not None and subject.pos_ == "PRON" else ()
        if not own or modal is None or part.pos_ != "VERB" or self.clause.verb.lemma_ not in THAT_VERBS | {"say"}:
            return None
        if any(c.dep_ in ("neg", "auxpass") for c in part.lefts) or self.clause.subject.tag_ == "NNS":
            return None
        if subject is None or not self._is_same_as_subject(subject):
            return None
        tokens = [i for i in nlp.trimmed(self.parse, part) if i > modal.i]
        words = [subject.lower_, modal.lower_, "do"]
        return self.finish("intend", "What", [], tokens, tail=" ".join(words)) if len(tokens) > 1 else None

    def _is_same_as_subject(self, pronoun: "Token") -> bool:
        """Does a pronoun of a clause below mean its subject, which is the same pronoun?"""
        return self.clause.subject.lower_ == pronoun.lower_

    def adjective(self, part: "Token") -> Draft | None:
        """ "What is X responsible for?"."""
        governed = next((c for c in part.rights if c.dep_ == "prep" and (part.lower_, c.lower_) in _ADJECTIVES), None)
        inner = governed and next((c for c in governed.children if c.dep_ in ("pobj", "pcomp")), None)
        if governed is None or inner is None:
            return None
        return self.finish("adjective", "What", [[part.i, governed.i]], nlp.trimmed(self.parse, inner))

    def why(self, part: "Token") -> Draft | None:
        mark = next((c for c in part.lefts if c.dep_ == "mark" and c.lower_ == "because"), None)
        if mark is None or mark.i < self.clause.verb.i:
            return None
        return self.ask("why", "Why", part)

    def governed(self, part: "Token") -> Draft | None:
        inner = next((c for c in part.children if c.dep_ in ("pobj", "pcomp")), None)
        if inner is None or inner.ent_type_ in ("DATE", "TIME", "GPE"):
            return None
        if part.lower_ == "as" and not self._is_post(inner):
            return None
        if part.lower_ in ("in", "at", "on") and inner.ent_type_ in ("LOC", "FAC"):
            return None  # rather "where"
        word = "What" if inner.dep_ == "pcomp" or part.lower_ == "as" else self.wh(inner)
        if inner.dep_ == "pobj" and (self.is_vague(inner) or self._is_idiom(inner)):
            return None
        if self._is_followed(inner):
            return None
        weight = 1.0
        if (self.clause.verb.lemma_, part.lower_) in GOVERNED:
            return self.ask("governed", word, inner, weight, keep=(part,))
        moved = [c for c in self.clause.complements if c.dep_ == "dobj" and c.pos_ == "NOUN"]
        if part.lower_ == "to" and self._is_site(inner) and not moved:
            return self.ask("where", "Where", part, 0.9, answer=nlp.trimmed(self.parse, inner))
        if part.lower_ not in _COMPLEMENT_PREPOSITIONS:
            return None
        if self._follows(part):
            return self.ask("governed", word, inner, 0.9 * weight, keep=(part,))
        return self.ask("second", word, inner, weight, keep=(part,)) if self._comes_second(part) else None

    def _is_post(self, inner: "Token") -> bool:
        """ "as a teacher", but not "as a child", nor one of two posts ("as president she served as governor")."""
        posts = [p for p in (*self.clause.complements, *self.clause.fronted) if p.lower_ == "as"]
        return len(posts) < 2 and inner.lemma_ not in _AGES

    def _comes_second(self, part: "Token") -> bool:
        """Does the preposition come right after a short object, or after a participle ("was fined for")?"""
        objects = [c for c in self.clause.complements if c.dep_ == "dobj"]
        return len(objects) == 1 and objects[0].right_edge.i + 1 == part.i and part.lower_ not in ("to", "on")

    def _is_site(self, inner: "Token") -> bool:
        """A name of somewhere to go: a hospital, a prison, a school."""
        return inner.pos_ == "PROPN" and inner.lower_ in _SITES

    def _is_idiom(self, inner: "Token") -> bool:
        """ "into force", "from time to time": a bare noun that cannot be asked for."""
        return inner.pos_ == "NOUN" and inner.tag_ == "NN" and not list(inner.children)

    def _is_followed(self, part: "Token") -> bool:
        """Does a phrase come right after `part` that may belong to it ("agencies with fifty employees")?"""
        end = nlp.trimmed(self.parse, part)[-1] + 1
        return any(c.dep_ == "prep" and c.i == end and not self.is_time(c) for c in self.clause.complements)

    def _follows(self, part: "Token") -> bool:
        """Does the preposition come right after a verb without object, so that it must be its complement?"""
        others = [c for c in self.clause.complements if c.dep_ in ("dobj", "attr", "acomp", "oprd", "dative", "agent")]
        return part.i == self.clause.verb.i + 1 and not others and self.clause.verb.lemma_ not in LIGHT_VERBS


def _to_of(part: "Token") -> "Token | None":
    return next((c for c in part.lefts if c.dep_ == "aux" and c.lower_ == "to"), None)

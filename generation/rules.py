"""The embedded default: a generator and a panel without model or network.

A candidate is offered only where a later sentence refers back to a name, and its required sentences are those from
which the resolver alone still finds that name. It abstains rather than guesses.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from generation.errors import Abstention
from generation.language import anchoring, antecedents, confidence, doubts, nlp, referents, resolver
from generation.language.antecedents import Antecedents, Support
from generation.language.clauses import Writer
from generation.language.entities import Link
from generation.language.mentions import Mention
from generation.language.nlp import Parse
from generation.language.phrasing import Draft
from generation.language.questions import drafts
from generation.language.resolver import resolve
from generation.language.rule_panel import RuleReviewer, panel
from generation.llm import Chat
from generation.records import Candidate, Round, Section, Step

__all__ = ["RuleGenerator", "RuleReviewer", "Scored", "candidates", "panel", "resolve"]

VERSION = "13"
MIN_CONFIDENCE = 0.8
MAX_SENTENCES = 200
"""Longer sections are no passages; nothing is offered for them."""
FLOOR = 0.3
"""Below this confidence a draft is noise and is not listed."""
LEFT = {
    "object": 0.84, "governed": 0.86, "second": 0.7, "that": 0.8, "name": 0.8, "become": 0.75, "control": 0.85,
    "intend": 0.85, "purpose": 0.85, "count": 0.9, "within": 0.9, "which": 0.9, "who": 0.81, "whose": 0.81,
}  # fmt: skip
"""What is left of the confidence by what is asked for. In the tenth to twelfth reading, on texts that no rule was made
on, readers signed 93 of 101 questions for a date at 0.7 or more, 46 of 53 for an agent, a subject, a place or an
attribute, 20 of 30 for an object or after a preposition, and 19 of 26 that ask with "Who" for the antecedent."""
RARE = 0.1
"""How much less sure than another a sound candidate of three sentences may be and still come first: they are few."""
_REPEATABLE = ("object", "that", "subject", "count", "agent", "when", "where")


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its confidence between 0 and 1, what it asks for ("object", "when", ...) and its traits.

    `doubts` are reasons in words that speak against it; what they weigh is in its confidence.
    """

    candidate: Candidate
    confidence: float
    target: str
    traits: Mapping[str, float] = field(default_factory=dict, repr=False)
    doubts: tuple[str, ...] = ()


def candidates(section: Section) -> list[Scored]:
    """All candidates of a segmented section, best first (see `_rank`), at most one a question. Deterministic."""
    if not section.sentences or len(section.sentences) > MAX_SENTENCES:
        return []
    best: dict[str, Scored] = {}
    for scored in _all(antecedents.read(nlp.parse(section))):
        known = best.get(scored.candidate.question)
        if scored.confidence >= FLOOR and (known is None or scored.confidence > known.confidence):
            best[scored.candidate.question] = scored
    return sorted(best.values(), key=_rank)


def _rank(scored: Scored) -> tuple[float, tuple[int, ...], str]:
    """The surest first; of two that are about as sure, the one that ties three sentences together."""
    indices = scored.candidate.required_sentence_indices
    bonus = RARE if len(indices) > 2 and not scored.doubts else 0.0
    return -(scored.confidence + bonus), indices, scored.candidate.question


def _all(behind: Antecedents) -> Iterator[Scored]:
    for sentence, links in sorted(behind.by_sentence.items()):
        names = {link.mention: name for link in links if (name := behind.name(link)) is not None}
        anaphors = frozenset(link.mention.head for link in behind.links if link.mention.sentence == sentence)
        writer = Writer(behind.parse, {m: behind.called(n) for m, n in names.items()}, resolved=anaphors)
        chosen = {link.mention: link for link in links if link.mention in names}
        found = drafts(behind.parse, sentence, writer, behind.mentions)
        backward = referents.drafts(behind.parse, sentence, writer, chosen, behind.mentions)
        for draft in chain(found, backward):
            yield from _both(behind, sentence, draft, {m: chosen[m] for m in draft.used})


def _both(behind: Antecedents, sentence: int, draft: Draft, links: Mapping[Mention, Link]) -> Iterator[Scored]:
    """The draft as it stands, and where that leaves open what is meant, with the article's matter named first."""
    scored = _scored(behind, sentence, draft, links)
    if scored is None:
        return
    yield scored
    named = anchoring.anchored(behind, draft) if scored.doubts or draft.wanted is not None else None
    if named is not None and not set(scored.doubts) - anchoring.LIFTED - anchoring.OPEN:
        again = _scored(behind, sentence, named, links)
        yield from [again] if again is not None else []


def _scored(behind: Antecedents, sentence: int, draft: Draft, links: Mapping[Mention, Link]) -> Scored | None:
    support = behind.required(sentence, links)
    if support is None or draft.told is not None and draft.told not in support.indices:
        return None
    if draft.wanted is not None and not _can_answer(behind, support.names[draft.wanted]):
        return None
    answer = _answer(behind, draft, support)
    if answer.lower() in draft.question.lower() or draft.wanted and _shares_a_name(answer, draft.question):
        return None
    if draft.wanted is None and _is_told_elsewhere(behind.parse, answer, sentence, links, draft):
        return None
    reasons = doubts.of(behind, draft, links, support)
    traits = confidence.with_doubts(confidence.traits(behind, draft, links, support), reasons)
    references = support.coreferences(behind.parse)
    candidate = Candidate(
        draft.question, answer, support.indices, references, _derivation(behind.parse, draft, support, answer)
    )
    sure = confidence.of(traits) * LEFT.get(draft.target, 1.0)
    return Scored(candidate, round(sure, 4), draft.target, traits, reasons)


def _can_answer(behind: Antecedents, name: Mention) -> bool:
    return name.form != "name" or behind.is_good(name)


def _answer(behind: Antecedents, draft: Draft, support: Support) -> str:
    if draft.wanted is None:
        return behind.parse.text(*draft.answer)
    name = support.names[draft.wanted]
    return behind.written(name).removeprefix("the ")


def _shares_a_name(answer: str, question: str) -> bool:
    """Does the question give a capitalised word of the answer away?"""
    said = {w.strip("?,.").removesuffix("'s") for w in question.split()[1:]}
    return any(w[:1].isupper() and w in said for w in answer.replace(",", "").split())


def _is_told_elsewhere(parse: Parse, answer: str, fact: int, links: Mapping[Mention, Link], draft: Draft) -> bool:
    """Does another sentence about the entity hold the answer too, or the verb, so that the question has two answers?"""
    lemma = parse.words[draft.verb].lemma_
    repeatable = draft.target in _REPEATABLE and (draft.target == "that" or not _is_telling(parse, draft, links))
    others = {m.sentence for link in links.values() for m in link.entity.mentions} - {fact}
    for sentence in others:
        verbs = {t.lemma_ for t in parse.tokens(sentence) if t.pos_ == "VERB"}
        if answer.lower() in parse.sentences[sentence].lower() or lemma in verbs and repeatable:
            return True
    return False


def _is_telling(parse: Parse, draft: Draft, links: Mapping[Mention, Link]) -> bool:
    """Does the question say more than who and the verb, so that it cannot mean what another sentence tells?"""
    names = {w for link in links.values() for n in link.entity.names for w in n.words}
    fact = parse.tokens(parse.sentence_of(draft.verb))
    outside = [t for t in fact if not draft.answer[0] <= t.i < draft.answer[1] and t.i != draft.verb]
    words = {w.strip("?,.'") for w in draft.question.lower().split()}
    said = {t.lower_ for t in outside if t.pos_ in ("NOUN", "PROPN", "NUM") and t.lower_ in words} - names
    return len(said) >= 2 or any(t.ent_type_ == "DATE" and t.lower_ in words for t in outside)


def _derivation(parse: Parse, draft: Draft, support: Support, answer: str) -> tuple[Step, ...]:
    """From each name to its mention, then from the first mention by the verb to the answer."""
    pairs = sorted(support.names.items(), key=lambda p: p[0].start)
    steps = [
        Step(resolver.source_span(parse, n).text, "is meant by", parse.text(m.start, m.end), n.sentence)
        for m, n in pairs
    ]
    verb = parse.words[draft.verb]
    words = [*(c.text for c in verb.lefts if c.dep_ in ("aux", "auxpass")), verb.text]
    head = parse.text(pairs[0][0].start, pairs[0][0].end)
    tail = answer if draft.wanted is None else _rest(parse, draft)
    return (*steps, Step(head, " ".join(words), tail, parse.sentence_of(draft.verb)))


def _rest(parse: Parse, draft: Draft) -> str:
    """What the sentence says after its verb, or before it where nothing follows."""
    start, end = parse.bounds[parse.sentence_of(draft.verb)]
    following = draft.verb + 1
    text = parse.text(following, end) if following < end else parse.text(start, draft.verb)
    return text.strip(" .,") or parse.text(start, end)


class RuleGenerator:
    """GENERATOR without a model. `chat` is not used; the rounds so far say which candidates were refused."""

    name = "rules"

    def __init__(self, min_confidence: float = MIN_CONFIDENCE):
        self.min_confidence = min_confidence

    def candidates(self, section: Section) -> list[Scored]:
        """The section's candidates of enough confidence, best first."""
        return [s for s in candidates(section) if s.confidence >= self.min_confidence]

    async def draft(self, section: Section, rounds: Sequence[Round], chat: Chat | None = None) -> Candidate:
        """The best candidate that no earlier round has seen; raises Abstention if there is none."""
        seen = {(r.candidate.question, r.candidate.answer) for r in rounds}
        offered = self.candidates(section)
        for scored in offered:
            if (scored.candidate.question, scored.candidate.answer) not in seen:
                return scored.candidate
        raise Abstention(self._reason(section, bool(offered)))

    def remark(self, section: Section, candidate: Candidate) -> str:
        """Marks a draft that only a lower confidence than the default let through; "" for any other candidate."""
        scored = next((s for s in candidates(section) if s.candidate == candidate), None)
        if scored is None or scored.confidence >= MIN_CONFIDENCE:
            return ""
        words = f"a draft of low confidence ({scored.confidence:.2f}; the default asks for {MIN_CONFIDENCE})"
        return f"{words}: {'; '.join(scored.doubts)}" if scored.doubts else words

    def _reason(self, section: Section, had_some: bool) -> str:
        if had_some:
            return "every question that the rules could ask about this text was turned down"
        if len(section.sentences) < 2:
            return "the text has fewer than two sentences"
        behind = antecedents.read(nlp.parse(section))
        if not any(m.form == "name" for m in behind.mentions):
            return "no sentence names a person, an organisation or a law that a later sentence could refer back to"
        if not behind.by_sentence:
            return "no sentence refers back to a name by 'it', 'he', 'she' or a phrase like 'the Act'"
        if unsure := candidates(section):
            return (
                "sentences refer back to a name, but no question about them is sure enough to be offered; "
                f"a minimum confidence of {unsure[0].confidence - 0.005:.2f} would let a draft through"
            )
        return "sentences refer back to a name, but none of them states a plain fact that can be asked for"

"""The embedded default: a generator and a panel without model or network.

A candidate is offered only where a later sentence refers back to a name, and its required sentences are those from
which the resolver alone still finds that name. It abstains rather than guesses.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from generation import mentions, nlp, resolver
from generation.clauses import Writer, leans
from generation.errors import Abstention
from generation.lexicon import GENERIC_NAMES, TITLES, noun_kind
from generation.llm import Chat
from generation.mentions import Mention
from generation.nlp import Parse
from generation.questions import Draft, drafts
from generation.records import Candidate, Round, Section, Step
from generation.resolver import Link, resolve
from generation.rule_panel import RuleReviewer, panel

__all__ = ["RuleGenerator", "RuleReviewer", "Scored", "candidates", "panel", "resolve"]

VERSION = "1"
MIN_CONFIDENCE = 0.5
MAX_SENTENCES = 200
_REPEATABLE = ("object", "that", "subject", "count", "agent", "when", "where")
FLOOR = 0.15
"""Below this confidence a draft is noise and is not listed."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its confidence between 0 and 1 and what it asks for ("object", "when", ...)."""

    candidate: Candidate
    confidence: float
    target: str


def candidates(section: Section) -> list[Scored]:
    """All candidates of a segmented section, best first, at most one a question. Deterministic."""
    if not section.sentences or len(section.sentences) > MAX_SENTENCES:
        return []
    book = Book(nlp.parse(section))
    best: dict[str, Scored] = {}
    for scored in book.candidates():
        known = best.get(scored.candidate.question)
        if known is None or scored.confidence > known.confidence:
            best[scored.candidate.question] = scored
    return sorted(
        best.values(), key=lambda s: (-s.confidence, s.candidate.required_sentence_indices, s.candidate.question)
    )


class Book:
    """One parsed passage with its mentions and links, and what follows from them."""

    def __init__(self, parse: Parse):
        self.parse = parse
        self.mentions = mentions.find(parse)
        self.links = resolver.resolve_parse(parse, found=self.mentions)
        self.people = self._known_people()
        self.by_sentence: dict[int, list[Link]] = {}
        for link in self.links:
            if link.sources and not self._is_named_in(link.mention.sentence, link):
                self.by_sentence.setdefault(link.mention.sentence, []).append(link)

    def _known_people(self) -> dict[tuple[str, ...], str]:
        """Names that at least two pronouns of the whole passage take for a man's or a woman's."""
        counts: dict[int, Counter[str]] = {}
        entities = {}
        for link in self.links:
            if link.mention.form == "pronoun" and link.mention.gender in ("m", "f") and link.margin >= 0.5:
                counts.setdefault(id(link.entity), Counter()).update([link.mention.gender])
                entities[id(link.entity)] = link.entity
        return {
            name.words: gender
            for key, count in counts.items()
            for gender, times in count.most_common(1)
            for name in entities[key].names
            if times >= 2 and times == sum(count.values())
        }

    def _is_named_in(self, sentence: int, link: Link) -> bool:
        """Does the sentence itself hold a telling word of the entity's names?"""
        telling = {
            w for n in link.entity.names for w in n.words if w not in GENERIC_NAMES and not noun_kind(w) and len(w) > 2
        }
        return any(t.lower_ in telling and t.text[:1].isupper() for t in self.parse.tokens(sentence))

    def candidates(self) -> Iterator[Scored]:
        for sentence, links in sorted(self.by_sentence.items()):
            names = {link.mention: name for link in links if (name := self.name(link)) is not None}
            writer = Writer(self.parse, {m: self.written(n) for m, n in names.items()})
            chosen = {link.mention: link for link in links if link.mention in names}
            for draft in drafts(self.parse, sentence, writer, self.mentions):
                scored = self._scored(sentence, draft, chosen)
                if scored is not None and scored.confidence >= FLOOR:
                    yield scored

    # names

    def name(self, link: Link) -> Mention | None:
        """The fullest name before the mention, the nearest of equals; None if none stands alone."""
        if not link.names:
            return next((d for d in link.sources if self._describes(d, link)), None)
        good = [n for n in link.names if stands_alone(n) and not n.coordinated and self._is_clean(n)]
        return max(good, key=lambda n: (len(n.words), n.sentence), default=None)

    def _describes(self, source: Mention, link: Link) -> bool:
        """Can the phrase stand in a question: nothing in it leans on the context, nothing else is called by its noun?"""
        tokens = list(range(source.first, source.last))
        text = self.parse.text(source.first, source.last)
        others = [m for m in self.mentions if m.noun == source.noun and m not in link.entity.mentions]
        clean = not any(mark in text for mark in '|*#`{}<>[]()"_\n;:,')
        return clean and not others and not source.coordinated and not leans(self.parse, tokens)

    def _is_clean(self, name: Mention) -> bool:
        text = self.parse.text(name.start, name.end)
        return not any(mark in text for mark in '|*#`{}<>[]()"_\n;') and len(name.words) <= 10

    def written(self, name: Mention) -> str:
        """The name as a question writes it: "the" in lower case unless it belongs to a title."""
        if name.form != "name":
            return "the " + self.parse.text(name.first, name.last)
        text = self.parse.text(name.start, name.end)
        text = text.removesuffix("'s").removesuffix("’s")
        if text.startswith("The ") and not self._owns_article(name):
            return "the " + text[4:]
        return text

    def _owns_article(self, name: Mention) -> bool:
        first = self.parse.bounds[name.sentence][0]
        if name.start != first:
            return True
        return name.kind == "work" or any(
            m.words == name.words
            and m.start != self.parse.bounds[m.sentence][0]
            and self.parse.doc[m.start].text == "The"
            for m in self.mentions
        )

    # required sentences

    def required(
        self, sentence: int, names: dict[Mention, Link]
    ) -> tuple[tuple[int, ...], dict[Mention, Mention], float] | None:
        """The fewest sentences from which every mention in `names` still resolves to its own name.

        Returns the sentences with `sentence`, the name that each mention goes back to, and the least margin on the way.
        """
        entities = {m: link.entity for m, link in names.items()}
        earlier = sorted({n.sentence for link in names.values() for n in self._full(link)}, reverse=True)
        linking = sorted(
            {m.sentence for e in entities.values() for m in e.mentions if m.sentence < sentence}, reverse=True
        )
        pool = list(dict.fromkeys([*earlier, *linking]))
        for size in (1, 2):
            tried = [c for c in combinations(pool, size) if any(s in earlier for s in c)]
            fits = [f for c in tried[:60] if (f := self._try(tuple(sorted(c)), sentence, names)) is not None]
            if fits:
                return max(fits, key=lambda f: (round(f[2], 2), sum(f[0])))
        return None

    def _full(self, link: Link) -> list[Mention]:
        name = self.name(link)
        return [
            n for n in link.sources if name is not None and (n == name or n.form == "name" and n.words == name.words)
        ]

    def _try(
        self, given: tuple[int, ...], sentence: int, names: dict[Mention, Link]
    ) -> tuple[tuple[int, ...], dict[Mention, Mention], float] | None:
        links = {
            k.mention: k for k in resolver.resolve_parse(self.parse, (*given, sentence), self.mentions, self.people)
        }
        found: dict[Mention, Mention] = {}
        margin = 1.0
        for mention, full in names.items():
            link, wanted = links.get(mention), self.name(full)
            if link is None or wanted is None:
                return None
            same = [n for n in link.sources if n == wanted or n.form == "name" and n.words == wanted.words]
            if not same:
                return None
            found[mention] = same[-1]
            margin = min(margin, link.margin)
        if {n.sentence for n in found.values()} | set(self._linking(links, names, sentence)) != set(given):
            return None
        return (*given, sentence), found, margin

    def _linking(self, links: dict[Mention, Link], names: dict[Mention, Link], sentence: int) -> Iterator[int]:
        """Sentences that a mention's chain passes through."""
        for mention in names:
            link: Link | None = links[mention]
            while link is not None and link.antecedent in links:
                if link.antecedent.sentence != sentence:
                    yield link.antecedent.sentence
                link = links.get(link.antecedent)

    # scoring

    def _scored(self, sentence: int, draft: Draft, links: dict[Mention, Link]) -> Scored | None:
        used = {m: links[m] for m in draft.used}
        required = self.required(sentence, used)
        if required is None or len(required[0]) > 3:
            return None
        indices, found, margin = required
        answer = self.parse.text(*draft.answer)
        if self._is_told_elsewhere(answer, indices, used, draft) or answer.lower() in draft.question.lower():
            return None
        margin = min(margin, *(link.margin for link in used.values()))
        confidence = draft.weight * margin * self._distance_factor(indices)
        references = tuple(
            resolver.coreference(self.parse, used[m], n) for m, n in sorted(found.items(), key=lambda f: f[0].start)
        )
        candidate = Candidate(draft.question, answer, indices, references, self._derivation(draft, found, answer))
        return Scored(candidate, round(confidence, 4), draft.target)

    def _distance_factor(self, indices: Sequence[int]) -> float:
        widest = max(b - a for a, b in zip(indices, indices[1:], strict=False))
        return 1.0 if widest <= 2 else 0.95 if widest <= 4 else 0.85

    def _is_told_elsewhere(self, answer: str, indices: Sequence[int], used: dict[Mention, Link], draft: Draft) -> bool:
        """Does another sentence name the entity, or the same verb, beside the same answer?"""
        lemma = self.parse.doc[draft.verb].lemma_
        telling = draft.target != "that" and self._is_telling(draft, used)
        fact = indices[-1]
        for link in used.values():
            for mention in link.entity.mentions:
                if mention.sentence == fact:
                    continue
                if answer.lower() in self.parse.sentences[mention.sentence].lower():
                    return True
                verbs = {t.lemma_ for t in self.parse.tokens(mention.sentence) if t.pos_ == "VERB"}
                if lemma in verbs and draft.target in _REPEATABLE and not telling:
                    return True
        return False

    def _is_telling(self, draft: Draft, used: dict[Mention, Link]) -> bool:
        """Does the question say more than who and the verb, so that it cannot mean what another sentence tells?"""
        names = {w for link in used.values() for n in link.entity.names for w in n.words}
        fact = self.parse.tokens(self.parse.sentence_of(draft.verb))
        outside = [t for t in fact if not draft.answer[0] <= t.i < draft.answer[1] and t.i != draft.verb]
        words = {w.strip("?,.'") for w in draft.question.lower().split()}
        said = {t.lower_ for t in outside if t.pos_ in ("NOUN", "PROPN", "NUM") and t.lower_ in words} - names
        return len(said) >= 2 or any(t.ent_type_ == "DATE" and t.lower_ in words for t in outside)

    def _derivation(self, draft: Draft, found: dict[Mention, Mention], answer: str) -> tuple[Step, ...]:
        steps = []
        for mention, name in sorted(found.items(), key=lambda f: f[0].start):
            text = self.parse.text(mention.start, mention.end)
            steps.append(Step(resolver.source_span(self.parse, name).text, "is meant by", text, name.sentence))
        verb = self.parse.doc[draft.verb]
        words = [*(c.text for c in verb.lefts if c.dep_ in ("aux", "auxpass")), verb.text]
        main = min(found, key=lambda m: m.start)
        head = self.parse.text(main.start, main.end)
        return (*steps, Step(head, " ".join(words), answer, self.parse.sentence_of(draft.verb)))


def stands_alone(name: Mention) -> bool:
    """Does the name say who or what is meant without its passage ("the Government" does not)?"""
    words = [w for w in name.words if w not in TITLES]
    if not words or len("".join(words)) < 3:
        return False
    return not all(w in GENERIC_NAMES for w in words)


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

    def _reason(self, section: Section, had_some: bool) -> str:
        if had_some:
            return "every question that the rules could ask about this text was turned down"
        if len(section.sentences) < 2:
            return "the text has fewer than two sentences"
        book = Book(nlp.parse(section))
        if not any(m.form == "name" for m in book.mentions):
            return (
                "no sentence names a person, an organisation, a law or anything else that later sentences refer back to"
            )
        if not book.by_sentence:
            return "no sentence refers back to a name by 'it', 'he', 'she' or a phrase like 'the Act'"
        if candidates(section):
            return "sentences refer back to a name, but no question about them is sure enough to be offered"
        return "sentences refer back to a name, but none of them states a plain fact that can be asked for"

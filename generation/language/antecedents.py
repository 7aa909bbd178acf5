"""Which name stands for an anaphor in a question, and which sentences a reader needs to see that it does.

The sentences are found by resolving again: the fewest from which the resolver alone still finds the same name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from generation.language import mentions, resolver, topic
from generation.language.clauses import leans
from generation.language.entities import Link, gather
from generation.language.lexicon import GENERIC_NAMES, KNOWN_NAMES, TITLES, noun_kind
from generation.language.mentions import Mention
from generation.language.nlp import Parse
from generation.records import Coreference

if TYPE_CHECKING:
    from spacy.tokens import Token

_WITH_ARTICLE = frozenset(
    "act amendment treaty convention statute committee commission court bureau department board agency council "
    "administration association tribunal".split()
)
"""Nouns whose names English writes with "the"."""
_SMALL_WORDS = ("the", "and", "for", "from", "with")
MAX_TRIES = 60
"""Sets of sentences that are resolved again for one question."""


@dataclass(frozen=True, slots=True)
class Support:
    """Sentences `indices` (the fact's last) suffice to tell what each mention of `names` stands for.

    `chain` are the mentions on the way in the other sentences, with the same names; `margin` is the least certain link.
    """

    indices: tuple[int, ...]
    names: Mapping[Mention, Mention]
    chain: Mapping[Mention, Mention]
    margin: float

    @property
    def gap(self) -> int:
        """Sentences from one required sentence to the next, at most."""
        return max(b - a for a, b in zip(self.indices, self.indices[1:], strict=False))

    def coreferences(self, parse: Parse) -> tuple[Coreference, ...]:
        """Mention and name of all that the sentences tie together, in reading order.

        A mention that a reader understands only by "the act" of a sentence between goes back to that.
        """
        through = {m: self._step_before(m) or n for m, n in self.names.items()}
        pairs = sorted({**self.chain, **through}.items(), key=lambda p: p[0].start)
        return tuple(resolver.coreference(parse, m, n, n in self.chain) for m, n in pairs if m.sentence != n.sentence)

    def _step_before(self, mention: Mention) -> Mention | None:
        """The last definite noun on the way from `mention` to its name, in a sentence between the two."""
        name = self.names[mention]
        between = (
            m
            for m, n in self.chain.items()
            if n == name and m.form == "definite" and name.sentence < m.sentence < mention.sentence
        )
        return max(between, key=lambda m: m.start, default=None)


class Antecedents:
    """A parsed passage, its links, and the names and sentences behind them."""

    def __init__(self, parse: Parse):
        self.parse = parse
        self.mentions = mentions.find(parse)
        self.links = resolver.resolve_parse(parse, found=self.mentions)
        names = (m for m in self.mentions if m.form == "name")
        self.named = gather(names, self._known_people(), parse.title)
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
        words = {w for n in link.entity.names for w in n.words if len(w) > 2 and w not in _SMALL_WORDS}
        telling = {w for w in words if w not in GENERIC_NAMES and not noun_kind(w)}
        others = self._of_others(sentence, link)
        inside = (t for t in self.parse.tokens(sentence) if t.i not in others)
        return any(t.lower_ in telling and t.text[:1].isupper() for t in inside)

    def _of_others(self, sentence: int, link: Link) -> set[int]:
        """The tokens of whole names of others ("Henry Clayton" where the Clayton Act is meant)."""
        own = {n.words for n in link.entity.known}
        names = (m for m in self.mentions if m.sentence == sentence and m.form == "name" and len(m.words) > 1)
        return {i for m in names if m.words not in own and self._is_apart(m, link) for i in range(m.start, m.end)}

    def _is_apart(self, name: Mention, link: Link) -> bool:
        """Is the name, of another kind or with words of its own, surely not another way to write the entity's?"""
        entity = self.named[name.head]
        longest = max((n.words for n in link.entity.known), key=len, default=())
        kinds = entity.kind and link.entity.kind and entity.kind != link.entity.kind
        return bool(kinds) or len(set(name.words) - set(longest)) > 0 < len(set(longest) - set(name.words))

    # names

    def name(self, link: Link) -> Mention | None:
        """The fullest name before the mention, the nearest of equals; None if none stands alone."""
        if not link.names:
            return next((d for d in link.sources if d.topical or self._describes(d, link)), None)
        alone = link.mention.form == "definite" or link.mention.gender in ("m", "f")  # cannot mean two together
        good = [n for n in link.names if self.is_good(n) and (alone or not n.coordinated)]
        if not good and topic.is_person(link.entity, self.parse.title):
            good = [n for n in link.names if n.form == "name"]  # a question calls them by the title
        return max(good, key=lambda n: (len(n.words), n.sentence), default=None)

    def is_good(self, name: Mention) -> bool:
        """Can the name as it stands be an answer?"""
        return stands_alone(name) and self._is_clean(name)

    def _describes(self, source: Mention, link: Link) -> bool:
        """Can the phrase stand in a question: it does not lean on the context, its noun is used of one thing?"""
        tokens = list(range(source.first, source.last))
        text = self.parse.text(source.first, source.last)
        others = [m for m in self.mentions if m.noun == source.noun and m not in link.entity.mentions]
        clean = not any(mark in text for mark in '|*#`{}<>[]()"_\n;:,')
        named = {t.lower_ for t in self.parse.words[source.first : source.last] if t.pos_ == "PROPN"}
        again = any(t.lower_ in named for t in self.parse.tokens(link.mention.sentence))
        content = [t for t in self.parse.words[source.first : source.last] if t.pos_ in ("NOUN", "PROPN", "NUM", "ADJ")]
        telling = source.last > source.end and (bool(named) or len(content) >= 3)
        clean = clean and telling and not source.coordinated and self.parse.words[source.head].dep_ != "attr"
        return clean and not others and not again and not leans(self.parse, tokens)

    def _is_clean(self, name: Mention) -> bool:
        text = self.parse.text(name.start, name.end)
        clean = not any(mark in text for mark in '|*#`{}<>[]()"_\n;') and len(name.words) <= 10
        before = self.parse.words[name.start - 1] if name.start > self.parse.bounds[name.sentence][0] else None
        if self._is_only_capitalised(name):
            return False
        if name.kind in ("person", "") and any(t.tag_ == "POS" for t in self.parse.words[name.start : name.end - 1]):
            return False
        return clean and not self._goes_on(name) and (before is None or not _may_belong(before, name, self.parse))

    def _goes_on(self, name: Mention) -> bool:
        """Does a title go on in brackets ("Speak Now (Taylor's Version)"), or a name behind a hyphen?"""
        following = self.parse.words[name.end : name.end + 2]
        if name.kind == "person" or len(following) < 2 or following[0].sent_start == 1:
            return False
        bracket = following[0].text == "(" and following[1].pos_ == "PROPN" and following[1].text.istitle()
        return bracket or following[0].text == "-" and not following[0].whitespace_

    def _is_only_capitalised(self, name: Mention) -> bool:
        """Is a single word, taken for a name, only the first of its sentence ("Litigation shifted to Section 2")?"""
        token = self.parse.words[name.head]
        if len(name.words) > 1 or token.i != self.parse.bounds[name.sentence][0] or token.ent_type_:
            return False
        return all(m.head == token.i or m.words != name.words for m in self.mentions)

    def written(self, name: Mention) -> str:
        """The name as a question writes it: "the" in lower case unless it belongs to a title."""
        if name.form != "name":
            return "the " + self.parse.text(name.first, name.last)
        text = self.parse.text(name.start, name.end)
        text = text.removesuffix("'s").removesuffix("’s")
        if text.startswith("The ") and not self._owns_article(name):
            return "the " + text[4:]
        return "the " + text if self._lacks_article(name) else text

    def _lacks_article(self, name: Mention) -> bool:
        """ "Virginia's Racial Integrity Act": a name that takes "the" once nothing owns it."""
        first = self.parse.words[name.start]
        taking = len(name.words) > 1 and name.noun in _WITH_ARTICLE and name.words[-1] in (name.noun, "commerce")
        return taking and first.lower_ != "the" and not any(w.endswith(("'s", "’s")) for w in name.words)

    def called(self, name: Mention) -> str:
        """The name as a question calls it: in full where the article's title tells whose surname it is."""
        full = topic.full_name(self.parse.title, name.words) if name.form == "name" else ""
        entity = self.named.get(name.head)
        about = entity is not None and topic.is_person(entity, self.parse.title)
        if about and not full and not self._is_clean(name):
            return topic.names(self.parse.title)[0]  # 'James "Jesse" Owens': only the topic's name is kept so
        if name.form == "name" and (whole := topic.whole_body(self.parse.title, name.words)):
            return whole
        short = entity is not None and (entity.kind == "person" or full in topic.names(self.parse.title)[:1])
        return full if full and short else self.written(name)

    def _owns_article(self, name: Mention) -> bool:
        first = self.parse.bounds[name.sentence][0]
        if name.kind in ("law", "org") and name.noun in _WITH_ARTICLE:
            return False
        if name.start != first or self.parse.title.startswith(self.parse.text(name.start, name.end)):
            return True
        return name.kind == "work" or any(
            m.words == name.words
            and m.start != self.parse.bounds[m.sentence][0]
            and self.parse.words[m.start].text == "The"
            for m in self.mentions
        )

    # required sentences

    def required(self, sentence: int, links: Mapping[Mention, Link]) -> Support | None:
        """The fewest sentences besides `sentence` from which every mention still resolves to its own name."""
        full = {m: self.name(link) for m, link in links.items()}
        named = sorted({n.sentence for m, link in links.items() for n in _alike(link, full[m])}, reverse=True)
        linking = {m.sentence for link in links.values() for m in link.entity.mentions if m.sentence < sentence}
        pool = list(dict.fromkeys([*named, *sorted(linking, reverse=True)]))
        for size in (1, 2):
            tried = [c for c in combinations(pool, size) if any(s in named for s in c)][:MAX_TRIES]
            fits = [f for c in tried if (f := self._try(tuple(sorted(c)), sentence, full)) is not None]
            if fits:
                return max(fits, key=lambda f: (round(f.margin, 2), sum(f.indices)))
        return None

    def _try(self, given: tuple[int, ...], sentence: int, full: Mapping[Mention, Mention | None]) -> Support | None:
        again = resolver.resolve_parse(self.parse, (*given, sentence), self.mentions, self.named)
        found = {link.mention: link for link in again}
        names: dict[Mention, Mention] = {}
        for mention, name in full.items():
            link = found.get(mention)
            same = _alike(link, name) if link is not None else []
            if not same:
                return None
            names[mention] = same[-1]
        chain = {step: names[m] for m in names for step in _steps(found, m, sentence)}
        if {n.sentence for n in names.values()} | {m.sentence for m in chain} != set(given):
            return None
        return Support((*given, sentence), names, chain, min(found[m].margin for m in names))


def _may_belong(before: "Token", name: Mention, parse: Parse) -> bool:
    """May the word before a name be its beginning, so that the name is cut ("Those Once Loyal", "Chris von Rohr")?"""
    opens = before.i == parse.bounds[name.sentence][0]
    if before.text in ("-", "–") and not before.whitespace_ and not opens:
        return parse.words[before.i - 1].text[:1].isupper()
    if before.lower_ == "of" and name.kind != "person" and noun_kind(name.noun) and not opens:
        return parse.words[before.i - 1].text[:1].isupper() and not _has_article(name, parse)
    if opens and before.lower_ in ("those", "these", "that"):
        return True
    if opens and before.lower_ in ("a", "an"):
        return name.kind == "work"
    if before.lower_ in ("and", "&") and name.kind != "person" and before.i - 1 >= parse.bounds[name.sentence][0]:
        return parse.words[before.i - 1].pos_ == "PROPN" and not _has_article(name, parse)
    joined = before.dep_ in ("compound", "nmod", "amod") and before.head.i in range(name.start, name.end)
    titled = before.lower_ in TITLES or noun_kind(before.lower_) == "person"
    return (
        before.text[:1].isupper() and before.pos_ == "PROPN" and joined and not titled and not _has_article(name, parse)
    )


def _has_article(name: Mention, parse: Parse) -> bool:
    return parse.words[name.start].pos_ == "DET"


@lru_cache(maxsize=64)
def read(parse: Parse) -> Antecedents:
    """The antecedents of a passage, worked out once."""
    return Antecedents(parse)


def _alike(link: Link, name: Mention | None) -> list[Mention]:
    """Where the name that question or answer will use stands."""
    return [n for n in link.sources if name is not None and _is_same(n, name)]


def _is_same(name: Mention, other: Mention) -> bool:
    return name == other or name.form == "name" and name.words == other.words


def _steps(links: Mapping[Mention, Link], mention: Mention, sentence: int) -> Iterator[Mention]:
    """The anaphors in other sentences through which a mention goes back to its name."""
    link: Link | None = links[mention]
    while link is not None and link.antecedent in links:
        if link.antecedent.sentence != sentence:
            yield link.antecedent
        link = links.get(link.antecedent)


def stands_alone(name: Mention) -> bool:
    """Does the name say who or what is meant without its passage ("the Government" does not)?"""
    words = [w for w in name.words if w not in TITLES]
    if " ".join(name.words) in KNOWN_NAMES:
        return True
    if not words or len("".join(words)) < 3:
        return False
    if any(w.isdigit() for w in words) and all(w.isdigit() or len(w.replace(".", "")) < 4 for w in words):
        return False  # "AC 22" of a citation
    if name.words[-1:] and name.words[-1] in ("of", "and", "the", "for"):
        return False
    if len(name.words) == 2 and name.words[0] in ("lord", "lady", "baron", "baroness", "earl", "viscount"):
        return False  # borne by several, one after the other
    if len(name.words) > 1 and all(w in TITLES or noun_kind(w) == "person" for w in name.words):
        return False  # "Lord Lieutenant"
    if len(words) == 1 and words[0].endswith(("hood", "ship", "tion", "ness")) and name.gender != "n":
        return False
    return not all(w in GENERIC_NAMES for w in words)

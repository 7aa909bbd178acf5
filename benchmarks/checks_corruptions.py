"""Corruptions of good pairs after the reasons for which people turned pairs down, seeded.

Each reason has several kinds, from the obvious to the fluent. A corruption keeps what a generator that believes in its
own answer would keep: the links of a sentence that was left out are left out too, so that nothing gives it away.
Source of reasons and counts: Grzywinski et al. 2023, Table 2. Its "other" (9) has no shape to imitate: a question that
holds its own answer stands in for it, and weighs nothing.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.checks_format import spoiled
from benchmarks.checks_pairs import PRONOUNS, Pair, span_of
from generation.records import Coreference, Span

COUNTS = {
    "irrelevant_sentences": 47,
    "missing_sentences": 43,
    "formatting": 36,
    "incomplete_answer": 17,
    "ambiguous_question": 17,
    "coreference_error": 11,
    "wrong_information": 7,
    "compound_question": 6,
    "other": 0,
}
_NAME = re.compile(r"(?:[A-Z][\w'’-]*\.? )*[A-Z][\w'’-]*[a-z](?: of (?:the )?[A-Z]\w+)?")
_OPENERS = frozenset(
    "The A An In On At By For After Before When While Its It He She They His Her Their This That These Those Under "
    "From To Of With As But And One Two Each Most Some Many No Only Every Who What Which Where Why How Whose Whom "
    "There Although Because Between During Among Three".split()
)


@dataclass(frozen=True)
class Corruption:
    """One spoilt pair as a line of a file, with the reason for which it should be rejected."""

    pair: Pair
    reason: str
    kind: str
    line: str


Variant = tuple[str, Pair]
"""A kind of corruption and the spoilt pair."""


def corrupt(pair: Pair, seed: int = 7) -> list[Corruption]:
    """All corruptions of one pair that change it; the same seed gives the same ones."""
    rng = random.Random(f"{seed}/{pair.id}")
    made = []
    for reason, maker in MAKERS.items():
        made += [Corruption(pair, reason, kind, line_of(spoilt)) for kind, spoilt in maker(pair, rng)]
    made += [Corruption(pair, "formatting", kind, line) for kind, line in spoiled(row_of(pair), rng)]
    original = line_of(pair)  # another name or number drawn for one may be that very one
    return [corruption for corruption in made if corruption.line != original]


def row_of(pair: Pair) -> dict[str, Any]:
    """The pair as a row of a file; without links, as other people's files are, if it has none."""
    row = {"sentences": list(pair.sentences), **asdict(pair.candidate)}
    row["required_sentence_indices"] = list(pair.candidate.required_sentence_indices)
    return {name: value for name, value in row.items() if value not in ((), [])}


def line_of(pair: Pair) -> str:
    return json.dumps(row_of(pair), ensure_ascii=False)


def _with(pair: Pair, **changes: Any) -> Pair:
    return replace(pair, candidate=replace(pair.candidate, **changes))


def _requiring(pair: Pair, indices: Sequence[int], extra: Sequence[Coreference] = ()) -> Pair:
    """The pair with other required sentences and the links that stay within them."""
    kept = [
        c
        for c in pair.candidate.coreferences
        if {c.mention.sentence_index, c.antecedent.sentence_index} <= set(indices)
    ]
    return _with(pair, required_sentence_indices=tuple(sorted(indices)), coreferences=(*kept, *extra))


def _others(pair: Pair) -> list[int]:
    return [i for i in range(len(pair.sentences)) if i not in pair.candidate.required_sentence_indices]


def _words(text: str) -> set[str]:
    return {w for w in re.findall(r"\w+", text.lower()) if len(w) > 3}


def _likeness(pair: Pair, index: int) -> int:
    asked = _words(pair.candidate.question) | _words(pair.candidate.answer)
    return len(asked & _words(pair.sentences[index]))


def _answer_sentence(pair: Pair) -> int:
    """The last required sentence that holds the answer, else the one most like it."""
    answer, required = pair.candidate.answer.lower(), pair.candidate.required_sentence_indices
    holding = [i for i in required if answer in pair.sentences[i].lower()]
    overlap = {i: len(_words(answer) & _words(pair.sentences[i])) for i in required}
    return holding[-1] if holding else max(required, key=lambda i: (overlap[i], i))


# sentences


def irrelevant(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """A third sentence that adds nothing; or the passage says the name itself, so that one sentence is enough."""
    required, others = pair.candidate.required_sentence_indices, _others(pair)
    if len(required) == 3 or not others:
        return
    near = min(others, key=lambda i: (abs(i - _answer_sentence(pair)), i))
    chosen = {
        "nearest": near,
        "random": rng.choice(others),
        "most alike": max(others, key=lambda i: _likeness(pair, i)),
    }
    for kind, extra in chosen.items():
        yield f"added: {kind}", _requiring(pair, [*required, extra])
    yield from _added_with_link(pair, rng)
    yield from _self_sufficient(pair)


def _added_with_link(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    if not pair.candidate.coreferences:
        return
    antecedent = pair.candidate.coreferences[0].antecedent
    linked = []
    for index in _others(pair):
        found = re.search(r"\b(?:[Ii]ts?|[Hh]e|[Hh]is|[Ss]he|[Hh]er|[Tt]hey|[Tt]heir|[Tt]hem)\b", pair.sentences[index])
        if found and index > antecedent.sentence_index:
            mention = Span(index, found.start(), found.end(), found[0])
            linked.append((index, Coreference("pronominal", mention, antecedent)))
    if linked:
        index, link = rng.choice(linked)
        required = (*pair.candidate.required_sentence_indices, index)
        yield "added: with a link of its own", _requiring(pair, required, [link])


def _self_sufficient(pair: Pair) -> Iterator[Variant]:
    """ "It requires ..." becomes "The Harbor Act requires ..." in the passage: the other sentence is not needed."""
    links = pair.candidate.coreferences
    if len(links) != 1 or links[0].mention.sentence_index != _answer_sentence(pair):
        return
    mention, antecedent = links[0].mention, links[0].antecedent
    if antecedent.text.lower().removeprefix("the ") not in pair.candidate.question.lower():
        return
    possessive = mention.text.lower() in ("its", "his", "their") or mention.text == "Her"
    name = antecedent.text + ("'s" if possessive else "")
    name = name[:1].upper() + name[1:] if mention.start == 0 else name
    old = pair.sentences[mention.sentence_index]
    new = old[: mention.start] + name + old[mention.end :]
    sentences = tuple(new if i == mention.sentence_index else s for i, s in enumerate(pair.sentences))
    span = Span(
        mention.sentence_index, mention.start, mention.start + len(antecedent.text), name[: len(antecedent.text)]
    )
    spoilt = _with(pair, coreferences=(Coreference("nominal", span, antecedent),))
    yield "one sentence is enough", replace(spoilt, sentences=sentences)


def missing(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """A needed sentence left out of three, or another one in its place."""
    required, others = pair.candidate.required_sentence_indices, _others(pair)
    for left_out in required:
        kept = [i for i in required if i != left_out]
        if len(required) == 3:
            yield "left out", _requiring(pair, kept)
        fitting = [i for i in others if not _stands_in(pair, left_out, i)]
        if fitting:
            near = min(fitting, key=lambda i: (abs(i - left_out), i))
            yield "replaced by the nearest", _requiring(pair, [*kept, near])
            yield "replaced by a random one", _requiring(pair, [*kept, rng.choice(fitting)])


def _stands_in(pair: Pair, left_out: int, new: int) -> bool:
    """Might the new sentence do as well: does it hold the answer, or a name of the question that the old one held?"""
    asked = f"{pair.candidate.question} {pair.candidate.answer}"
    names = {w for w in re.findall(r"\b[A-Z]\w+", asked) if w not in _OPENERS and w in pair.sentences[left_out]}
    answer = pair.candidate.answer.lower()
    held = answer in pair.sentences[left_out].lower() and answer in pair.sentences[new].lower()
    return held or any(name in pair.sentences[new] for name in names)


# question and answer


def incomplete(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """The answer cut in its middle, a pronoun, a whole sentence, a phrase that says nothing."""
    answer = pair.candidate.answer
    words = answer.split()
    if len(words) > 1:
        yield "cut in the middle", _with(pair, answer=" ".join(words[: len(words) // 2]))
    if len(words) > 3:
        yield "last word cut off", _with(pair, answer=" ".join(words[:-1]))
    yield "a pronoun", _with(pair, answer=rng.choice(("it", "They", "him", "She", "this", "them.")))
    yield "the whole sentence", _with(pair, answer=pair.sentences[_answer_sentence(pair)])
    vague = ("that one", "the former", "It depends.", "the same", "as mentioned above", "Unknown", "the other one")
    yield "vague", _with(pair, answer=rng.choice(vague))


def ambiguous(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """The name in the question becomes what the passage calls it, a pronoun, or nothing."""
    question, links = pair.candidate.question, pair.candidate.coreferences
    for link in links:
        name = re.sub(r"^(?:the|a|an) ", "", link.antecedent.text, flags=re.IGNORECASE)
        if name in question and not re.search(rf"\b{re.escape(link.mention.text)}\b", question, re.IGNORECASE):
            pronoun = link.mention.text.lower() in PRONOUNS
            text = link.mention.text.lower() if pronoun else link.mention.text[:1].lower() + link.mention.text[1:]
            kind = "the mention for the name: pronoun" if pronoun else "the mention for the name: noun"
            if (changed := _swap(question, name, text)) != question:
                yield kind, _with(pair, question=changed)
    if name := _subject(pair):
        for text in rng.sample(("it", "they", "he", "this one", "the other one", "the former", "that"), 2):
            yield "a pointer for the name", _with(pair, question=_swap(question, name, text))
    tails = (" in the passage?", " according to the text?", " in the above paragraph?", " in this sentence?")
    yield "points at the passage", _with(pair, question=question.rstrip("? ") + rng.choice(tails))
    vague = ("What happened?", "What did they do next?", "Why is this important?", "What is it?", "Who was he?")
    yield "asks for nothing", _with(pair, question=rng.choice(vague))


def _subject(pair: Pair) -> str:
    """What the question names: a link's antecedent without its article, else its longest name that is whole; or ""."""
    question = pair.candidate.question
    named = [re.sub(r"^(?:the|a|an) ", "", c.antecedent.text, flags=re.IGNORECASE) for c in pair.candidate.coreferences]
    if named := [n for n in named if n in question and n[:1].isupper()]:
        return max(named, key=len)
    whole = [
        n for n in _names(question, opening=False) if not re.search(rf"{re.escape(n)} (?:and|of|for|v\.) ?", question)
    ]
    return max(whole, key=len, default="")


def _swap(question: str, name: str, text: str) -> str:
    return re.sub(rf"\b(?:(?:[Tt]he|[Aa]n?) )?{re.escape(name)}(?!\w)", text, question, count=1)


def coreference(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """Another name of the passage in the name's place; a link turned round, or to the wrong thing."""
    question, links = pair.candidate.question, pair.candidate.coreferences
    asked = _subject(pair)
    everywhere = {n: i for i, s in enumerate(pair.sentences) for n in _names(s)}
    strange = {n: i for n, i in everywhere.items() if not _words(n) & _words(question + pair.candidate.answer)}
    if asked and strange:
        old, new = asked, rng.choice(sorted(strange))
        swapped = _with(pair, question=question.replace(old, new, 1))
        yield "another name asked for", swapped
        at = strange[new]
        if links and at not in pair.candidate.required_sentence_indices and old in links[0].antecedent.text:
            yield from _adapted(swapped, links[0], new, at)
    if links:
        link = links[0]
        turned = replace(link, mention=link.antecedent, antecedent=link.mention)
        yield "link turned round", _with(pair, coreferences=(turned, *links[1:]))
        yield from _wrong_end(pair, link, rng)


def _adapted(pair: Pair, link: Coreference, name: str, at: int) -> Iterator[Variant]:
    """The wrong antecedent in fluent text: question, required sentences and link all agree on it."""
    required = {at if i == link.antecedent.sentence_index else i for i in pair.candidate.required_sentence_indices}
    if at < link.mention.sentence_index and len(pair.candidate.coreferences) == 1 and len(required) == 2:
        wrong = replace(link, antecedent=span_of(pair.sentences, at, name))
        yield (
            "another name, all adapted",
            _with(pair, required_sentence_indices=tuple(sorted(required)), coreferences=(wrong,)),
        )


def _wrong_end(pair: Pair, link: Coreference, rng: random.Random) -> Iterator[Variant]:
    index = link.antecedent.sentence_index
    found = [n for n in _names(pair.sentences[index]) if not _words(n) & _words(link.antecedent.text)]
    if found:
        wrong = replace(link, antecedent=span_of(pair.sentences, index, rng.choice(found)))
        yield "link to another name", _with(pair, coreferences=(wrong, *pair.candidate.coreferences[1:]))
    own = [n for n in _names(pair.sentences[link.mention.sentence_index]) if n not in link.mention.text]
    if own:
        near = replace(link, antecedent=span_of(pair.sentences, link.mention.sentence_index, rng.choice(own)))
        yield "link within one sentence", _with(pair, coreferences=(near, *pair.candidate.coreferences[1:]))


def wrong(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """Another number, name or phrase in the answer; another number in the question."""
    answer, question = pair.candidate.answer, pair.candidate.question
    for kind, text, field in (
        ("number in the answer", answer, "answer"),
        ("number in the question", question, "question"),
    ):
        if numbers := re.findall(r"\d+", text):
            old = rng.choice(numbers)
            new = str(int(old) + rng.choice((1, 2, 10, 100)))
            yield kind, _with(pair, **{field: re.sub(rf"\b{old}", new, text, count=1)})
    strange = [n for i in _others(pair) for n in _names(pair.sentences[i]) if not _words(n) & _words(answer + question)]
    text = " ".join(pair.sentences[i] for i in pair.candidate.required_sentence_indices)
    strange = [n for n in strange if n not in text]
    if strange and _names(answer):
        yield "another name of the passage", _with(pair, answer=rng.choice(strange))
    outside = (
        "the Ministry of Weights",
        "Harald Finch",
        "a wooden ladder",
        "seventeen",
        "in 1743",
        "because of the rain",
    )
    yield "from elsewhere", _with(pair, answer=rng.choice(outside))


def compound(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """A second question joined on."""
    stem = pair.candidate.question.rstrip("? ")
    tails: tuple[str, ...] = (
        ", and when was that?",
        " and why did it happen?",
        "? And how did it end?",
        ", and who was involved?",
    )
    tails += (", and in what year?", " and how many were there?", "? When?", " as well as when?", "; where was it?")
    for tail in rng.sample(tails, 2):
        yield "second question joined on", _with(pair, question=stem + tail)


def leaked(pair: Pair, rng: random.Random) -> Iterator[Variant]:
    """The answer told in the question."""
    stem, answer = pair.candidate.question.rstrip("? "), pair.candidate.answer.rstrip(". ")
    tail = rng.choice((f", namely {answer}?", f" ({answer})?", f", if it is {answer}?"))
    yield "the answer told in it", _with(pair, question=stem + tail)


MAKERS: dict[str, Callable[[Pair, random.Random], Iterator[Variant]]] = {
    "irrelevant_sentences": irrelevant,
    "missing_sentences": missing,
    "incomplete_answer": incomplete,
    "ambiguous_question": ambiguous,
    "coreference_error": coreference,
    "wrong_information": wrong,
    "compound_question": compound,
    "other": leaked,
}


def _names(text: str, opening: bool = True) -> list[str]:
    """Runs of capitalised words, but no single word that starts the text; without `opening`, nothing that starts it."""
    found = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and words[0] in _OPENERS:
            words.pop(0)
        name = re.sub(r"['’]s$", "", " ".join(words))
        is_first = match.start() == 0 and len(words) == len(match[0].split())
        if len(name) > 2 and not (is_first and (len(words) == 1 or not opening)):
            found.append(name)
    return found

"""Is every required sentence really needed? Asked of a reader who is shown this much of the section and no more.

It answers from the whole section, from the required sentences, from these with each one left out, from the section with
each one left out, and from nothing. Proven means: right from the section and from the required sentences, wrong with
any one of the latter left out.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evaluation.answers import token_f1
from generation.errors import UsageError
from generation.llm import Chat, Request, ask, read_json
from generation.prompts import CANNOT_TELL, Prompt
from generation.records import Candidate, Proof, Reading, Section, Verdict

RIGHT_F1 = 0.6
"""Token F1 from which an answer is right: "rafts" for "two rafts" (0.67) is, "the House bill" for "the Senate bill"
(0.5) is not."""
TEMPERATURE = 0.0
PROOF = "proof"
"""The name of the proof's verdict among the others of a round."""


class Reader(Protocol):
    """Answers a question from `sentences` alone, with CANNOT_TELL where they do not say. Raises ModelError."""

    @property
    def name(self) -> str: ...

    async def read(self, sentences: Sequence[str], question: str, chat: Chat | None = None) -> str: ...


@dataclass(frozen=True)
class ModelReader:
    """Reads with a model; `name` is what proofs say of it."""

    prompt: Prompt
    name: str = "model"
    temperature: float = TEMPERATURE

    async def read(self, sentences: Sequence[str], question: str, chat: Chat | None = None) -> str:
        messages = self.prompt.render(sentences=list(sentences), question=question)
        return (
            await ask(_needed(chat), Request(messages, self.temperature, self.prompt.schema, role="reader"), _answer)
        ).value


@dataclass(frozen=True)
class ModelJudge:
    """Asks a model whether an answer whose words differ says the same as the right one."""

    prompt: Prompt
    temperature: float = TEMPERATURE

    async def is_same(self, question: str, answer: str, given: str, chat: Chat | None = None) -> bool:
        messages = self.prompt.render(question=question, answer=answer, given=given)
        return (
            await ask(_needed(chat), Request(messages, self.temperature, self.prompt.schema, role="judge"), _sameness)
        ).value


def contexts(count: int, required: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """What the reader is shown, by name, of a section of `count` sentences: indices in reading order."""
    whole = tuple(range(count))
    kept = tuple(i for i in whole if i in required)
    return {
        "section": whole,
        "required": kept,
        **{f"required without {k}": tuple(i for i in kept if i != k) for k in kept},
        **{f"section without {k}": tuple(i for i in whole if i != k) for k in kept},
        "nothing": (),
    }


@dataclass(frozen=True)
class Prover:
    """Proves candidates, and says what to mend in those that fail.

    An answer is right if its token F1 is at least `threshold`, or if a `judge` says that it means the same. `unique`
    also rejects where another sentence of the section can stand in for a required one, `drop_leaked` where the reader
    is right without any text.
    """

    reader: Reader
    threshold: float = RIGHT_F1
    judge: ModelJudge | None = None
    unique: bool = False
    drop_leaked: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"The bound on the token F1 of a right answer is above 0 and at most 1, not {self.threshold}."
            )

    async def prove(self, section: Section, candidate: Candidate, chat: Chat | None = None) -> Proof:
        """Ask the reader about each context, at once; equal ones (all sentences are required) are asked once.

        Raises ModelError if any answer cannot be had, after all that are under way have come.
        """
        texts = [s.text for s in section.sentences]
        named = contexts(len(texts), candidate.required_sentence_indices)
        shown = dict.fromkeys(named.values())
        asked = [self._reading([texts[i] for i in seen], candidate, chat) for seen in shown]
        # Wait for all, even if one fails: what is under way will be kept.
        found = await asyncio.gather(*asked, return_exceptions=True)
        answers: dict[tuple[int, ...], tuple[str, bool]] = {}
        for seen, result in zip(shown, found, strict=True):
            if isinstance(result, BaseException):
                raise result
            answers[seen] = result
        return Proof(self.reader.name, tuple(Reading(name, *answers[seen]) for name, seen in named.items()))

    async def _reading(self, sentences: Sequence[str], candidate: Candidate, chat: Chat | None) -> tuple[str, bool]:
        answer = await self.reader.read(sentences, candidate.question, chat)
        return answer, await self._is_right(answer, candidate, chat)

    async def _is_right(self, answer: str, candidate: Candidate, chat: Chat | None) -> bool:
        if answer == CANNOT_TELL:
            return False
        if token_f1(answer, candidate.answer, empty=0.0) >= self.threshold:
            return True
        return self.judge is not None and await self.judge.is_same(candidate.question, candidate.answer, answer, chat)

    def verdict(self, proof: Proof) -> Verdict:
        """The proof's vote: what failed, in words that go back to the generator."""
        problems = [*_failures(proof), *(self._optional(proof))]
        if not problems:
            return Verdict(PROOF, True, "A reader needs each required sentence, and no other.")
        return Verdict(PROOF, False, " ".join(reason for _, reason in problems), tuple(dict(problems)))

    def _optional(self, proof: Proof) -> list[tuple[str, str]]:
        found = []
        if self.unique and proof.replaceable and not proof.not_needed:
            which = _listed(proof.replaceable)
            reason = f"Another sentence of the section can stand in for {which}: ask what only the required ones say."
            found.append(("irrelevant_sentences", reason))
        if self.drop_leaked and proof.closed_book_right:
            found.append(("other", "A reader answers without any text: ask what is known from this text alone."))
        return found

    def recipe(self) -> dict[str, Any]:
        """What of it goes into a row's signature."""
        options: dict[str, Any] = {"reader": self.reader.name, "threshold": self.threshold}
        prompts = {p.name: p.digest for part in (self.reader, self.judge) if (p := getattr(part, "prompt", None))}
        return {**options, "unique": self.unique, "drop_leaked": self.drop_leaked, "prompts": prompts}


def _failures(proof: Proof) -> list[tuple[str, str]]:
    """(problem code, reason) of each way in which the experiment did not come out as it should."""
    said = {name: _said(reading.answer) for name, reading in proof.by_context.items()}
    if not proof.is_answered and proof.is_sufficient:
        reason = f"From the whole section a reader {said['section']}: ask so that just one answer fits."
        return [("ambiguous_question", reason)]
    if not proof.is_answered:
        reason = f"From the whole section a reader {said['section']}: ask, and answer, what the text says."
        return [("wrong_information", reason)]
    found = []
    if not proof.is_sufficient:
        reason = f"From the required sentences alone a reader {said['required']}: add what is lacking."
        found.append(("missing_sentences", reason))
    if proof.not_needed:
        knows = " (or from nothing at all)" if proof.closed_book_right else ""
        reason = f"A reader answers without {_listed(proof.not_needed)} too{knows}: leave out what is not needed."
        found.append(("irrelevant_sentences", reason))
    return found


def _listed(indices: Sequence[int]) -> str:
    return f"sentence{'s' * (len(indices) > 1)} {' or '.join(map(str, indices))}"


def _said(answer: str) -> str:
    return CANNOT_TELL if answer == CANNOT_TELL else f'answers "{answer[:200]}"'


def _needed(chat: Chat | None) -> Chat:
    if chat is None:
        raise UsageError("A model's reader needs a chat; give --model, or use the reader without a model.")
    return chat


def _answer(text: str) -> str:
    """A reader's reply; ValueError where it holds no answer."""
    answer = _field(text, "answer")
    if not isinstance(answer, str) or not answer.strip():
        raise ValueError(f'"answer" must be a string; write "{CANNOT_TELL}" where the sentences do not say')
    return CANNOT_TELL if _REFUSAL.fullmatch(answer.strip()) else answer.strip()


_TEXT = r"(?:the |these |this )?(?:given |provided )?(?:text|passage|sentences?|context|section)"
_REFUSAL = re.compile(
    rf"(?:{CANNOT_TELL}|(?:i |we |one |it |this )?(?:can(?:no|['’])t|can not|could not|couldn['’]t|(?:am )?unable to)"
    r" (?:tell|say|answer|determine|know|be (?:told|determined|answered|inferred))"
    r"(?: (?:that|it|this|from|based on|with)\b.*)?"
    rf"|{_TEXT} (?:do(?:es)?(?: not|n['’]t)) (?:say|tell|state|mention|specify|give|provide|contain)\b.*"
    rf"|(?:it is |this is )?(?:not|un)[ -]?(?:stated|mentioned|given|specified|known|clear)"
    rf"(?: (?:in|by|from) {_TEXT})?"
    r"|(?:there is )?(?:not enough|insufficient|no) information(?: .*)?|i (?:do not|don['’]t) know)[.!]?",
    re.IGNORECASE | re.DOTALL,
)
"""Ways in which readers say that they cannot tell. "unknown" and the like count too: they answer nothing."""


def _sameness(text: str) -> bool:
    is_same = _field(text, "is_same")
    if not isinstance(is_same, bool):
        raise ValueError('"is_same" must be true or false')
    return is_same


def _field(text: str, name: str) -> Any:
    data = read_json(text)
    if not isinstance(data, Mapping):
        raise ValueError("the reply must be one JSON object")
    return data.get(name)

"""GENERATOR and REVIEWERS played by a model: render the prompt, ask, and read the answer strictly.

Source: Grzywinski et al. 2023, arXiv:2311.16338, sections 3.1.1 and 3.1.2.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from generation.errors import UsageError
from generation.llm import Chat, Request, ask, read_json
from generation.prompts import Data, Prompt, PromptSet, as_data
from generation.records import PROBLEM_CODES, Candidate, Coreference, Round, Section, Span, Verdict

GENERATOR_TEMPERATURE = 0.7  # Grzywinski et al. 2023, section 3.1.1
REVIEWER_TEMPERATURE = 0.3  # section 3.1.2

T = TypeVar("T")


@dataclass(frozen=True)
class ModelGenerator:
    """Drafts with a model; earlier rounds go along as the conversation so far."""

    prompt: Prompt
    temperature: float = GENERATOR_TEMPERATURE
    name: str = "generator"

    async def draft(self, section: Section, rounds: Sequence[Round], chat: Chat | None = None) -> Candidate:
        messages = [*self.prompt.render(segmented_text=_segmented(section))]
        for previous in rounds:
            said = _shown(previous.candidate, self.prompt.is_extended)
            messages.append({"role": "assistant", "content": json.dumps(said, ensure_ascii=False)})
            messages.append({"role": "user", "content": feedback(previous)})
        request = Request(tuple(messages), self.temperature, self.prompt.schema, role="generator", scope=section.id)
        return await _asked(chat, request, lambda text: read_candidate(text, [s.text for s in section.sentences]))


@dataclass(frozen=True)
class ModelReviewer:
    """Judges with a model, by one persona's prompt."""

    name: str
    prompt: Prompt
    temperature: float = REVIEWER_TEMPERATURE

    async def judge(self, section: Section, candidate: Candidate, chat: Chat | None = None) -> Verdict:
        messages = self.prompt.render(input=written_for_reviewers(section, candidate, self.prompt.is_extended))
        role = f"reviewers/{self.name}"
        request = Request(messages, self.temperature, self.prompt.schema, role=role, scope=section.id)
        return await _asked(chat, request, lambda text: read_verdict(text, self.name))


def from_prompts(
    prompts: PromptSet,
    generator_temperature: float = GENERATOR_TEMPERATURE,
    reviewer_temperature: float = REVIEWER_TEMPERATURE,
) -> tuple[ModelGenerator, tuple[ModelReviewer, ...]]:
    """The GENERATOR and the panel of a prompt set; its folder of reviewers is the panel."""
    reviewers = tuple(ModelReviewer(name, p, reviewer_temperature) for name, p in prompts.reviewers.items())
    return ModelGenerator(prompts.generator, generator_temperature), reviewers


def feedback(round_: Round) -> str:
    """What the GENERATOR is told of a round: every verdict against it, its author and problem codes first."""
    against = [v for v in round_.verdicts if not v.is_quality]
    lines = [f"REVIEWER {v.reviewer} ({', '.join(v.problems)}): {as_data(v.reason)}" for v in against]
    return "\n".join([*lines, "Answer again with the whole JSON object, revised or new."])


def read_candidate(text: str, sentences: Sequence[str]) -> Candidate:
    """Read a GENERATOR's reply; ValueError names what its shape lacks.

    Whether it is true to the text is not asked here: see checks.run. A span whose text does not stand in its sentence
    gets start -1, which `checks.spans_real` reports.
    """
    data = _checked_object(read_json(text))
    indices = data.get("required_sentence_indices")
    if not isinstance(indices, list) or any(type(i) is not int for i in indices):
        raise ValueError('"required_sentence_indices" must be a list of integers')
    coreferences = data.get("coreferences") or []
    if not isinstance(coreferences, list):
        raise ValueError('"coreferences" must be a list of objects')
    return Candidate(
        question=_string(data, "question"),
        answer=_string(data, "answer"),
        required_sentence_indices=tuple(sorted(indices)),
        coreferences=tuple(_coreference(c, sentences) for c in coreferences),
    )


def read_verdict(text: str, reviewer: str) -> Verdict:
    """Read a REVIEWER's reply; ValueError where it holds no clear verdict: nothing is taken for a yes or a no."""
    return read_verdict_object(read_json(text), reviewer)


def read_verdict_object(value: Any, reviewer: str) -> Verdict:
    """`read_verdict` for a reply whose JSON is read already."""
    data = _checked_object(value)
    is_quality = data.get("is_quality")
    if not isinstance(is_quality, bool):
        raise ValueError('"is_quality" must be true or false')
    reason = _string(data, "reason")
    problems = data.get("problems") or []
    if not isinstance(problems, list) or any(p not in PROBLEM_CODES for p in problems):
        raise ValueError(f'"problems" must be a list of these codes: {", ".join(PROBLEM_CODES)}')
    if is_quality and problems:
        raise ValueError('"problems" must be empty where "is_quality" is true')
    return Verdict(reviewer, is_quality, reason, tuple(problems) if is_quality or problems else ("other",))


async def _asked(chat: Chat | None, request: Request, read: Callable[[str], T]) -> T:
    if chat is None:
        raise UsageError("A model's generator or reviewer needs a chat; give --model, or use the embedded default.")
    value, _replies = await ask(chat, request, read)
    return value


_written: tuple[Any, ...] = (None, None, False, Data())


def written_for_reviewers(section: Section, candidate: Candidate, extended: bool) -> Data:
    """`shown_to_reviewer` as text; the last one is remembered, since a whole panel asks for it in a row."""
    global _written
    known_section, known_candidate, known_extended, text = _written
    if known_section is not section or known_candidate is not candidate or known_extended != extended:
        text = as_data(shown_to_reviewer(section, candidate, extended))
        _written = (section, candidate, extended, text)
    return text


def shown_to_reviewer(section: Section, candidate: Candidate, extended: bool) -> dict[str, Any]:
    """The data of a reviewer's prompt; `extended` adds the coreferences."""
    return {"segmented_text": _segmented(section), **_shown(candidate, extended)}


def _segmented(section: Section) -> list[dict[str, Any]]:
    return [{"index": i, "sentence": s.text} for i, s in enumerate(section.sentences)]


def _shown(candidate: Candidate, extended: bool) -> dict[str, Any]:
    """The candidate as the prompts write it; coreferences only for prompts that know them."""
    shown: dict[str, Any] = {
        "question": candidate.question,
        "answer": candidate.answer,
        "required_sentence_indices": list(candidate.required_sentence_indices),
    }
    if extended:
        shown["coreferences"] = [
            {"kind": c.kind, "mention": _shown_span(c.mention), "antecedent": _shown_span(c.antecedent)}
            for c in candidate.coreferences
        ]
    return shown


def _shown_span(span: Span) -> dict[str, Any]:
    return {"sentence_index": span.sentence_index, "text": span.text}


def _checked_object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("the reply must be one JSON object")
    return value


def _string(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'"{key}" must be a string that is not empty')
    return value.strip()


def _coreference(value: Any, sentences: Sequence[str]) -> Coreference:
    if not isinstance(value, Mapping) or value.get("kind") not in ("pronominal", "nominal"):
        raise ValueError('each of "coreferences" must have a "kind", pronominal or nominal')
    return Coreference(value["kind"], _span(value.get("mention"), sentences), _span(value.get("antecedent"), sentences))


def _span(value: Any, sentences: Sequence[str]) -> Span:
    if not isinstance(value, Mapping) or type(value.get("sentence_index")) is not int:
        raise ValueError('a mention or antecedent must have an integer "sentence_index" and a "text"')
    index, text = value["sentence_index"], _string(value, "text")
    sentence = sentences[index] if 0 <= index < len(sentences) else ""
    start, end = locate(sentence, text)
    return Span(index, start, end, sentence[start:end] if start >= 0 else text)


def locate(sentence: str, text: str) -> tuple[int, int]:
    """Where `text` first stands in `sentence` as whole words, in its own case if it can be; (-1, -1) if nowhere."""
    pattern = rf"(?<!\w){re.escape(text)}(?!\w)"
    match = re.search(pattern, sentence) or re.search(pattern, sentence, re.IGNORECASE)
    return match.span() if match else (-1, -1)

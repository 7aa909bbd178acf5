"""The whole panel in one call: cheaper, and less independent, which is why every verdict says "joint".

The reviewers stay who they are, each with its own prompt and verdict; they share the call that asks for all verdicts.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.errors import PromptError, UsageError
from generation.llm import Chat, Request, ask, read_json
from generation.panel import read_verdict_object, shown_to_reviewer
from generation.prompts import Prompt
from generation.records import Candidate, Section, Verdict

_HEAD = """You are a panel of reviewers who share one desk. Each has instructions of its own, below, under its name.
Work
through them one after the other, as that reviewer alone, without regard to what the others found."""
_TAIL = """# How the panel answers

Each reviewer's instructions describe an answer of its own. Collect them: reply with one JSON object and nothing around
it, whose keys are {names}, in this order, each holding that reviewer's whole answer."""


@dataclass(frozen=True)
class JointReviewer:
    """One seat of a Joint panel."""

    panel: "Joint"
    name: str
    prompt: Prompt
    temperature: float

    async def judge(self, section: Section, candidate: Candidate, chat: Chat | None = None) -> Verdict:
        return (await self.panel.verdicts(section, candidate, chat))[self.name]


class Joint:
    """Asks one call for the verdicts of all `prompts`; `reviewers` are its seats. Use one a run."""

    def __init__(self, prompts: Mapping[str, Prompt], temperature: float):
        self.prompts = prompts
        self.temperature = temperature
        self.reviewers = tuple(JointReviewer(self, f"joint/{n}", p, temperature) for n, p in prompts.items())
        self._calls: dict[tuple[str, Candidate], tuple[asyncio.Task[dict[str, Verdict]], int]] = {}

    async def verdicts(self, section: Section, candidate: Candidate, chat: Chat | None) -> dict[str, Verdict]:
        """The verdicts by reviewer's name; the first seat that asks makes the call, the last one forgets it."""
        key = (section.id, candidate)
        task, seats = self._calls.get(key) or (asyncio.create_task(self._ask(section, candidate, chat)), 0)
        if seats + 1 == len(self.reviewers):
            self._calls.pop(key, None)
        else:
            self._calls[key] = (task, seats + 1)
        return await asyncio.shield(task)

    async def _ask(self, section: Section, candidate: Candidate, chat: Chat | None) -> dict[str, Verdict]:
        if chat is None:
            raise UsageError("A joint panel needs a chat; give --model.")
        extended = all(p.is_extended for p in self.prompts.values())
        system, user = self._messages(shown_to_reviewer(section, candidate, extended))
        schema = _object({name: prompt.schema for name, prompt in self.prompts.items()})
        request = Request((system, user), self.temperature, schema, role="reviewers/joint", scope=section.id)
        return (await ask(chat, request, self._read)).value

    def _messages(self, shown: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
        parts, user = [_HEAD], {}
        for name, prompt in self.prompts.items():
            messages = prompt.render(input=shown)
            if len(messages) != 2:
                raise PromptError(f'{prompt.name} has no "<!-- user -->" line, so it cannot sit on a joint panel.')
            parts.append(f"# Reviewer {name}\n\n{messages[0]['content']}")
            user = messages[1]
        parts.append(_TAIL.format(names=", ".join(f'"{name}"' for name in self.prompts)))
        return {"role": "system", "content": "\n\n".join(parts)}, user

    def _read(self, text: str) -> dict[str, Verdict]:
        data = read_json(text)
        if not isinstance(data, Mapping) or set(data) != set(self.prompts):
            raise ValueError(f"the reply must be one JSON object with the keys {', '.join(self.prompts)}")
        return {f"joint/{name}": read_verdict_object(data[name], f"joint/{name}") for name in self.prompts}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

"""What a run will ask and cost, said before the first call."""

from collections.abc import Iterable

from generation.panel import ModelGenerator, shown_to_reviewer
from generation.prompts import Prompt, as_data
from generation.records import Candidate, Section, Usage
from generation.running.budget import Price
from generation.running.session import Cast

ROUNDS = 1.5
"""Rounds a section, by experience with strong models; the most is six."""
_CHARACTERS_PER_TOKEN = 4
_CANDIDATE_TOKENS = 160  # question, answer, indices and two labelled coreferences
_VERDICT_TOKENS = 110
_SAMPLE = Candidate("What does the law that the example names require of a company?", "a yearly report", (0, 2))


def forecast(sections: Iterable[Section], cast: Cast, price: Price | None) -> str:
    """A sentence or two on all of `sections`, which are read through; a guess, within a factor of about two."""
    count, usage = 0, Usage()
    for section in sections:
        count += 1
        usage += of_section(section, cast)
    if not cast.model:
        return f"{count} sections; rules ask no model and cost nothing."
    tokens = f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens"
    text = f"{count} sections: about {usage.calls:,} calls, {tokens}"
    if price is None:
        return f"{text}; no price is known for {cast.model} (--prices IN,OUT gives one)."
    return f"{text}, about ${price.of(usage):.2f} (prices: {price.source})."


def of_section(section: Section, cast: Cast) -> Usage:
    """The calls and tokens that one section is expected to take."""
    if not isinstance(cast.generator, ModelGenerator):
        return Usage()
    shown = len(as_data(shown_to_reviewer(section, _SAMPLE, True))) / _CHARACTERS_PER_TOKEN
    prompts: list[Prompt] = [r.prompt for r in cast.reviewers if hasattr(r, "prompt")]
    instructions = sum(len(p.text) for p in (cast.generator.prompt, *prompts)) / _CHARACTERS_PER_TOKEN
    is_joint = any(r.name.startswith("joint/") for r in cast.reviewers)
    calls = 2 if is_joint else 1 + len(prompts)
    completion = _CANDIDATE_TOKENS + _VERDICT_TOKENS * len(prompts)
    return Usage(
        calls=round(ROUNDS * calls),
        prompt_tokens=round(ROUNDS * (instructions + calls * shown)),
        completion_tokens=round(ROUNDS * completion),
    )

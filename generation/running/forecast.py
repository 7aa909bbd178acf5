"""What a run will ask and cost, said before the first call."""

from collections.abc import Iterable

from generation.panel import ModelGenerator, shown_to_reviewer
from generation.prompts import Prompt, as_data
from generation.proof import contexts
from generation.records import Candidate, Section, Usage
from generation.running.budget import Tariff
from generation.running.settings import Cast

ROUNDS = 1.5
"""Rounds a section, by experience with strong models; the most is six."""
_CHARACTERS_PER_TOKEN = 4
_CANDIDATE_TOKENS = 160  # question, answer, indices and two labelled coreferences
_VERDICT_TOKENS = 110
_ANSWER_TOKENS = 60
_SAMPLE = Candidate("What does the law that the example names require of a company?", "a yearly report", (0, 2))


def forecast(sections: Iterable[Section], cast: Cast, tariff: Tariff | None) -> str:
    """A sentence or two on all of `sections`, which are read through; a guess, within a factor of about two."""
    count, drafting, reading = 0, Usage(), Usage()
    for section in sections:
        count += 1
        drafting += of_section(section, cast)
        reading += of_proof(section, cast)
    usage = drafting + reading
    if not cast.model:
        return f"{count} sections; rules ask no model and cost nothing."
    tokens = f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens"
    text = f"{count} sections: about {usage.calls:,} calls, {tokens}"
    if reading.calls:
        text += f", {reading.calls:,} of the calls for the proof"
    if tariff is None:
        return f"{text}; no price is known for {cast.model} (--prices IN,OUT gives one)."
    dollars = tariff.price.of(drafting) + tariff.at("reader").of(reading)
    return f"{text}, about ${dollars:.2f} (prices: {tariff.price.source})."


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


def of_proof(section: Section, cast: Cast) -> Usage:
    """The calls and tokens of one proof a section: what fails once is mostly proven or given up before the panel."""
    prompt = getattr(cast.prover.reader, "prompt", None) if cast.prover else None
    if prompt is None:
        return Usage()
    texts = [s.text for s in section.sentences]
    shown = contexts(len(texts), _SAMPLE.required_sentence_indices).values()
    characters = sum(len(prompt.text) + sum(len(texts[i]) for i in indices) for indices in shown)
    return Usage(len(shown), round(characters / _CHARACTERS_PER_TOKEN), 0, _ANSWER_TOKENS * len(shown))

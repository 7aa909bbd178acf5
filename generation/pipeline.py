"""`craqan generate` from end to end: articles in, a run's folder out."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console

from generation import __version__, corpus, panel, prompts
from generation.errors import UsageError
from generation.llm import Chat, OpenAIChat
from generation.progress import Progress, report
from generation.records import Section
from generation.refine import MAX_REVISIONS, CheckLevel, Generator, Reviewer
from generation.run import Ledger, Prepare, RunFolder, make_recipe, outcomes
from generation.segment import DEFAULT_SEGMENTER, segment_with_model, segmenter_name
from generation.sources import Skipped

MIN_CONFIDENCE = 0.5


@dataclass(frozen=True)
class Cast:
    """Who plays the roles of a run, and what their rows say of them."""

    generator: Generator
    reviewers: Sequence[Reviewer]
    generator_name: str
    reviewer_name: str
    prepare: Prepare | None = None
    notes: Sequence[str] = ()


def rules_cast(segmenter: str = DEFAULT_SEGMENTER, min_confidence: float = MIN_CONFIDENCE) -> Cast:
    """The embedded default in all roles."""
    if segmenter == "model":
        raise UsageError("--segmenter model needs a model; add --model NAME or take another segmenter.")
    from generation import rules  # brings spaCy

    name = f"rules:{rules.VERSION}"
    return Cast(rules.RuleGenerator(min_confidence), rules.panel(), name, name)


def model_cast(
    model: str,
    prompt_folder: Path | None = None,
    temperature: float = panel.GENERATOR_TEMPERATURE,
    reviewer_temperature: float = panel.REVIEWER_TEMPERATURE,
    segmenter: str = DEFAULT_SEGMENTER,
) -> Cast:
    """One model in all roles, by the prompts of `prompt_folder` or else our own."""
    prompt_set = prompts.load_set(prompt_folder)
    generator, reviewers = panel.from_prompts(prompt_set, temperature, reviewer_temperature)
    name = f"model:{model}"

    async def split(section: Section, chat: Chat) -> Section:
        return await segment_with_model(section, chat, prompt_set.segmenter)

    return Cast(generator, reviewers, name, name, split if segmenter == "model" else None, prompt_set.notes)


def generate(
    inputs: Sequence[str],
    out: Path,
    console: Console,
    *,
    overwrite: bool = False,
    model: str = "",
    base_url: str = "",
    prompt_folder: Path | None = None,
    check_level: CheckLevel = "all",
    sections: int | Literal["all"] = "all",
    min_sentences: int = corpus.MIN_SENTENCES,
    max_sentences: int = corpus.MAX_SENTENCES,
    segmenter: str = DEFAULT_SEGMENTER,
    seed: int = 0,
    concurrency: int = 16,
    max_revisions: int = MAX_REVISIONS,
    temperature: float = panel.GENERATOR_TEMPERATURE,
    reviewer_temperature: float = panel.REVIEWER_TEMPERATURE,
    timeout: float = 60.0,
    min_confidence: float = MIN_CONFIDENCE,
    max_bytes: int = corpus.MAX_BYTES,
) -> Ledger:
    """Run the loop over every chosen section; write accepted, rejected and failed pairs and run.json under `out`.

    `inputs` are addresses as `sources.read_source` takes them. Without a `model` the embedded default plays all roles.
    Progress and a summary go to `console`. Raises UsageError for a wrong call, CorpusError if nothing is left to work
    on, and the ModelError of a wrong key or model.
    """
    splitter = DEFAULT_SEGMENTER if segmenter == "model" else segmenter
    segmenter_name(splitter)  # raises for one that does not exist, before any file is touched
    settings = {k: v for k, v in locals().items() if k not in ("console", "out", "overwrite", "splitter")}
    settings["prompt_folder"] = str(prompt_folder or "")
    if model:
        cast = model_cast(model, prompt_folder, temperature, reviewer_temperature, segmenter)
    else:
        cast = rules_cast(segmenter, min_confidence)
    chat = OpenAIChat(model, base_url or None, timeout=timeout) if model else None
    skipped: list[Skipped] = []
    chosen = corpus.read(
        inputs,
        sections=sections,
        seed=seed,
        min_sentences=min_sentences,
        max_sentences=max_sentences,
        segmenter=splitter,
        max_bytes=max_bytes,
        skipped=skipped.append,
    )
    recipe = make_recipe(cast.generator, cast.reviewers, check_level, cast.generator_name, cast.reviewer_name)
    ledger = Ledger()
    started, clock = datetime.now(UTC), time.monotonic()
    with RunFolder(out, recipe, overwrite=overwrite) as folder, Progress(console, ledger) as progress:

        async def work() -> None:
            async for outcome in outcomes(
                chosen,
                cast.generator,
                cast.reviewers,
                chat=chat,
                check_level=check_level,
                max_revisions=max_revisions,
                window=concurrency,
                prepare=cast.prepare,
                ledger=ledger,
                on_change=progress.moved,
            ):
                folder.add(outcome)
            if chat:
                await chat.aclose()

        asyncio.run(work())
        folder.close(
            {
                "craqan_version": __version__,
                "settings": settings,
                "recipe": recipe,
                **ledger.as_dict(),
                "skipped": [asdict(s) for s in skipped],
                "notes": [*cast.notes, *(chat.notes if chat else ())],
                "started_at": started.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - clock, 3),
            }
        )
    report(console, out, ledger, skipped)
    return ledger

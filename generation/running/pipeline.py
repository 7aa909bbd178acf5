"""`craqan generate` from end to end: articles in, a run's folder out."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console

from generation import corpus, panel, prompts, rules
from generation.articles.article import slug
from generation.articles.sources import Skipped
from generation.checks import CheckLevel
from generation.errors import UsageError
from generation.llm import Chat
from generation.proving.setup import Proving, prover_of
from generation.records import Section
from generation.refine import MAX_REVISIONS, Reviewer
from generation.run import Ledger, make_recipe
from generation.running.folder import Resume, RunFolder
from generation.running.forecast import forecast
from generation.running.novelty import Novelty
from generation.running.progress import report
from generation.running.session import Session
from generation.running.settings import Cast, Cluster, Limits
from generation.segment import DEFAULT_SEGMENTER, segment_with_model, segmenter_name

if TYPE_CHECKING:
    from generation.running.table import Table

DEFAULT_LIMITS = Limits()
_NOT_SETTINGS = ("console", "out", "splitter", "limits", "resume", "dry_run", "cluster", "parquet", "against", "prove")


def default_folder(addresses: Sequence[str]) -> Path:
    """runs/NAME after the first input, so that another input gets another folder and the same one goes on."""
    first = addresses[0] if addresses else "nothing"
    return Path("runs") / slug(Path(first.removeprefix("wikipedia:")).stem)


def rules_cast(segmenter: str = DEFAULT_SEGMENTER, min_confidence: float = rules.MIN_CONFIDENCE) -> Cast:
    """The embedded default in all roles."""
    if segmenter == "model":
        raise UsageError("--segmenter model needs a model; add --model NAME or take another segmenter.")
    name = f"rules:{rules.VERSION}"
    return Cast(rules.RuleGenerator(min_confidence), rules.panel(), name, name)


def model_cast(
    model: str,
    base_url: str = "",
    prompt_folder: Path | None = None,
    temperature: float = panel.GENERATOR_TEMPERATURE,
    reviewer_temperature: float = panel.REVIEWER_TEMPERATURE,
    segmenter: str = DEFAULT_SEGMENTER,
    joint: bool = False,
) -> Cast:
    """One model in all roles, by the prompts of `prompt_folder` or else our own; `joint` asks the panel in one call."""
    prompt_set = prompts.load_set(prompt_folder)
    generator, reviewers = panel.from_prompts(prompt_set, temperature, reviewer_temperature)
    seats: Sequence[Reviewer] = reviewers
    if joint:
        from generation.joint import Joint

        seats = Joint(prompt_set.reviewers, reviewer_temperature).reviewers

    async def split(section: Section, chat: Chat) -> Section:
        return await segment_with_model(section, chat, prompt_set.segmenter)

    name = f"model:{model}"
    prepare = split if segmenter == "model" else None
    return Cast(generator, seats, name, name, model, base_url, prepare, prompt_set.notes)


def generate(
    inputs: Sequence[str],
    out: Path,
    console: Console,
    *,
    model: str = "",
    base_url: str = "",
    prompt_folder: Path | None = None,
    joint: bool = False,
    check_level: CheckLevel = "all",
    sections: int | Literal["all"] = "all",
    min_sentences: int = corpus.MIN_SENTENCES,
    max_sentences: int = corpus.MAX_SENTENCES,
    segmenter: str = DEFAULT_SEGMENTER,
    seed: int = 0,
    keep_duplicates: bool = False,
    max_revisions: int = MAX_REVISIONS,
    temperature: float = panel.GENERATOR_TEMPERATURE,
    reviewer_temperature: float = panel.REVIEWER_TEMPERATURE,
    min_confidence: float | None = None,
    max_bytes: int = corpus.MAX_BYTES,
    limits: Limits = DEFAULT_LIMITS,
    resume: Resume = "if-possible",
    dry_run: bool = False,
    cluster: Cluster | None = None,
    parquet: str = "",
    prove: Proving | None = None,
    against: Sequence[Path] = (),
) -> Ledger:
    """Run the loop over every chosen section; write accepted, rejected and failed pairs and run.json under `out`.

    `inputs` are addresses as `sources.read_source` takes them, or all of them URLs of Parquet files as
    `table.read_sections` takes them. `parquet` is a folder, as a URL, for the same rows in Parquet; `cluster` does the
    work in place of this process. `prove` puts what the panel accepts to a reader. Without a `model` the embedded
    default plays all roles. With all checks a question that the run, or one of the files `against`, has asked before is
    not accepted again, unless `keep_duplicates`.
    `dry_run` only says what would be asked and what it would cost. Progress and a summary go to `console`. Raises
    UsageError for a wrong call, CorpusError if nothing is left to work on, CircuitError if going on was hopeless; after
    each of them the same call goes on where this one stopped.
    """
    min_confidence = rules.MIN_CONFIDENCE if min_confidence is None else min_confidence
    splitter = DEFAULT_SEGMENTER if segmenter == "model" else segmenter
    segmenter_name(splitter)  # raises for one that does not exist, before any file is touched
    settings = {k: v for k, v in locals().items() if k not in _NOT_SETTINGS}
    settings |= {"inputs": list(inputs), "prompt_folder": str(prompt_folder or ""), **asdict(limits)}
    if model:
        cast = model_cast(model, base_url, prompt_folder, temperature, reviewer_temperature, segmenter, joint)
    else:
        _refuse_without_model(base_url=base_url, prompts=prompt_folder, panel_joint=joint, **_model_limits(limits))
        cast = rules_cast(segmenter, min_confidence)
    if prove:
        cast = replace(cast, prover=prover_of(prove, model, prompt_folder), others=prove.models)
        settings["prove"] = asdict(prove)
    if against:
        settings["against"] = [str(path) for path in against]
    skipped: list[Skipped] = []
    chosen = _read(
        inputs,
        {"sections": sections, "seed": seed, "max_bytes": max_bytes},
        min_sentences=min_sentences,
        max_sentences=max_sentences,
        segmenter=splitter,
        skipped=skipped.append,
    )
    if not keep_duplicates:
        from generation.duplicates import without_duplicates

        chosen = without_duplicates(chosen, skipped.append)
    novelty = None if keep_duplicates or check_level != "all" else Novelty(against)
    if against and novelty is None:
        raise UsageError("--against needs --checks all, and no --keep-duplicates.")
    options: dict[str, Any] = {"check_level": check_level, "max_revisions": max_revisions, "cluster": cluster}
    session = Session(cast, limits, console, novelty=novelty, **options)
    if dry_run:
        console.print(forecast(islice(chosen, limits.max_candidates), cast, session.known_prices()), soft_wrap=True)
        return session.books
    session.refuse_unable()
    names = (cast.generator_name, cast.reviewer_name)
    recipe = make_recipe(cast.generator, cast.reviewers, check_level, *names, cast.prover)
    with RunFolder(out, recipe, settings, resume, _table(parquet)) as folder:
        session.work(chosen, folder, skipped, inputs)
    report(console, out, session, skipped)
    if session.failure:
        raise session.failure
    return session.books


def _model_limits(limits: Limits) -> dict[str, object]:
    return {name: getattr(limits, name) for name in ("rpm", "tpm", "max_usd", "prices")}


def _refuse_without_model(**options: object) -> None:
    """Nothing that only concerns a model is dropped in silence."""
    for name, value in options.items():
        if value:
            flag = name.replace("_", "-").replace("panel-", "panel ")
            raise UsageError(f"--{flag} needs a model; add --model NAME, or leave it out to use the embedded default.")


def _read(inputs: Sequence[str], of_articles: dict[str, Any], **options: Any) -> Iterator[Section]:
    from generation.running import table

    tables = [address for address in inputs if table.is_address(address)]
    if not tables:
        return corpus.read(inputs, **of_articles, **options)
    if len(tables) < len(inputs):
        raise UsageError("Take either Parquet files of sections (URLs) or documents as input, not both.")
    return table.read_sections(tables, **options)


def _table(url: str) -> "Table | None":
    if not url:
        return None
    from generation.running.table import Table

    return Table(url)

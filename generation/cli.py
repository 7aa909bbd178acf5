"""The `craqan` command: parse, call one function, print."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from evaluation import cli as evaluating
from generation import __version__, proof_cli
from generation.checks import CheckLevel
from generation.errors import CraqanError, InputError, UsageError
from generation.files import read_lines
from generation.releases import cli as releasing
from generation.review import cli as review
from generation.running import interrupts, options

if TYPE_CHECKING:
    from generation.proving.setup import Proving

app = typer.Typer(
    help="""CRaQAn: make, check and read question-answer pairs that need coreference resolution.

    Begin with craqan generate ARTICLE.md --out runs/first and craqan show runs/first/accepted.jsonl; no key is needed.
    """,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(review.app, name="review")
progress = Console(stderr=True)
Resume = Literal["if-possible", "always", "never"]
Engine = Literal["local", "ray"]
PanelKind = Literal["separate", "joint"]


def main() -> None:
    """Run the command; one of our errors is one sentence and an exit code: 2 the call was wrong, 1 the work failed."""
    interrupts.guarded(_run)


def _run() -> None:
    try:
        app()
    except CraqanError as error:
        progress.print(f"craqan: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, help="Print the version.")] = False):
    pass


Inputs = Annotated[
    list[str] | None,
    typer.Argument(help="Files, folders, globs (Markdown, text, HTML, wikitext, JSONL) or hf://datasets/ORG/NAME."),
]


@app.command()
def generate(
    inputs: Inputs = None,
    wikipedia: Annotated[
        list[str] | None,
        typer.Option(help="A Wikipedia article by title; may be repeated.", show_default="none", metavar="TITLE"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the run's files.", show_default="runs/NAME, after the first input")
    ] = None,
    resume: Annotated[Resume, typer.Option(help="Go on with the run in that folder?")] = "if-possible",
    model: Annotated[
        str, typer.Option(help="The model for all roles, such as gpt-4o.", show_default="the embedded default: rules")
    ] = "",
    base_url: options.BaseUrl = "",
    prompts: options.Prompts = None,
    panel: Annotated[PanelKind, typer.Option(help="Ask each reviewer by itself, or all in one call.")] = "separate",
    checks: Annotated[CheckLevel, typer.Option(help="Checks decided by code, before any reviewer.")] = "all",
    sections: Annotated[str, typer.Option(help="all, or N: the summary and N-1 random others an article.")] = "all",
    min_sentences: Annotated[int, typer.Option(min=2, help="Leave out shorter sections.")] = 3,
    max_sentences: Annotated[int, typer.Option(min=2, help="Leave out longer sections.")] = 40,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Work on repeated sections and keep repeated questions too.")
    ] = False,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Files of earlier pairs (JSONL), whose questions are not asked again.", show_default="none"),
    ] = None,
    segmenter: Annotated[str, typer.Option(help="nupunkt, spacy, or model (asks the model).")] = "nupunkt",
    seed: Annotated[int, typer.Option(help="Seed for the choice of sections.")] = 0,
    max_revisions: Annotated[int, typer.Option(min=0, help="Revisions after the first draft.")] = 5,
    temperature: Annotated[float, typer.Option(min=0, max=2, help="The GENERATOR's temperature.")] = 0.7,
    reviewer_temperature: Annotated[float, typer.Option(min=0, max=2, help="The REVIEWERS' temperature.")] = 0.3,
    min_confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Embedded default: offer nothing less sure (0 to 1).", show_default="0.8"),
    ] = None,
    max_mb: Annotated[float, typer.Option(min=0.001, help="Skip input files larger than this many megabytes.")] = 5.0,
    concurrency: options.Concurrency = 16,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = 60.0,
    patience: Annotated[float, typer.Option(min=1, help="Stop when no call was answered for so many seconds.")] = 120.0,
    accept: Annotated[
        int | None, typer.Option(min=1, help="Stop at so many accepted pairs.", show_default="no limit")
    ] = None,
    max_candidates: Annotated[
        int | None, typer.Option(min=1, help="Work on at most so many sections.", show_default="no limit")
    ] = None,
    max_usd: options.MaxUsd = None,
    prices: options.Prices = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask in batch jobs: for less, but each round takes up to 24 hours.")
    ] = False,
    engine: Annotated[Engine, typer.Option(help="Work in this process, or in workers of a Ray cluster.")] = "local",
    workers: Annotated[int, typer.Option(min=1, help="Ray: how many workers share the limits.")] = 2,
    ray_address: Annotated[
        str, typer.Option(help='Ray: "auto", HOST:PORT or ray://HOST:PORT.', show_default="a cluster on this machine")
    ] = "",
    prove: Annotated[
        bool, typer.Option("--prove", help="Put what the panel accepts to a reader: is each sentence needed?")
    ] = False,
    prove_uniqueness: Annotated[
        bool, typer.Option("--prove-uniqueness", help="Reject where another sentence can stand in for a required one.")
    ] = False,
    drop_leaked: Annotated[
        bool, typer.Option("--drop-leaked", help="Reject what the reader answers without any text.")
    ] = False,
    right_f1: Annotated[float, typer.Option(min=0.01, max=1, help="Token F1 from which the reader is right.")] = 0.6,
    reader_model: Annotated[str, typer.Option(help="Another model that reads.", show_default="--model")] = "",
    judge_model: Annotated[
        str, typer.Option(help="A model that says whether other words mean the same.", show_default="none")
    ] = "",
    parquet: Annotated[
        str, typer.Option(help="Write the rows to Parquet there too: a folder, s3://...", show_default="none")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and what it costs; stop.")
    ] = False,
) -> None:
    """Generate pairs from articles: accepted, rejected and failed ones, each in a file of its own.

    The key comes from OPENAI_API_KEY or HF_TOKEN. The same command again goes on where the last one stopped.
    """
    from generation.running import pipeline
    from generation.running.budget import from_flag

    addresses = [*(inputs or []), *(f"wikipedia:{title}" for title in wikipedia or [])]
    books = pipeline.generate(
        addresses,
        out or pipeline.default_folder(addresses),
        progress,
        model=model,
        base_url=base_url,
        prompt_folder=prompts,
        joint=panel == "joint",
        check_level=checks,
        sections=_count(sections),
        min_sentences=min_sentences,
        max_sentences=max_sentences,
        keep_duplicates=keep_duplicates,
        against=against or [],
        segmenter=segmenter,
        seed=seed,
        max_revisions=max_revisions,
        temperature=temperature,
        reviewer_temperature=reviewer_temperature,
        min_confidence=min_confidence,
        max_bytes=_bytes(max_mb),
        limits=pipeline.Limits(
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            timeout=timeout,
            patience=patience,
            accept=accept,
            max_candidates=max_candidates,
            max_usd=max_usd,
            prices=from_flag(prices),
            batch=batch,
        ),
        resume=resume,
        dry_run=dry_run,
        cluster=pipeline.Cluster(workers, ray_address) if engine == "ray" else None,
        parquet=parquet,
        prove=_proving(prove, right_f1, prove_uniqueness, drop_leaked, reader_model, judge_model),
    )
    if books.submitted and books.counts["failed"] == books.submitted:
        raise typer.Exit(1)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="accepted.jsonl, rejected.jsonl or released rows.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Print at most this many.", show_default="all")] = None,
) -> None:
    """Print pairs for a person: required sentences bold, mention and antecedent on colour."""
    from generation.running.show import show as print_pairs

    try:
        printed = print_pairs(_rows(file), Console(), limit)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} holds a row whose parts are missing or of the wrong kind: {error}.") from error
    if printed == 0:
        progress.print(f"{file} holds no pair.", markup=False, soft_wrap=True)


@app.command()
def calls(
    folder: Annotated[Path, typer.Argument(help="The folder of a run that asked a model.")],
    section: Annotated[str, typer.Option(help="Only calls on this section.", show_default="all")] = "",
    full: Annotated[bool, typer.Option("--full", help="Print requests and replies whole, as JSON lines.")] = False,
) -> None:
    """Show what a run asked and what was answered."""
    from generation.running.show import show_calls

    show_calls(folder / "journal.sqlite", Console(), section, full)


@app.command()
def validate(folder: Annotated[Path, typer.Argument(help="A folder of released rows.")] = Path("data")) -> None:
    """Check every invariant of the dataset over every row of a folder."""
    from generation.releases.invariants import check_folder

    for config, splits in check_folder(folder).items():
        print(f"{config}: " + ", ".join(f"{split} {count}" for split, count in splits.items()))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Pairs, one JSON object a line: ours, of v1, or your own.")],
    against: Annotated[
        list[Path] | None, typer.Option(help="Earlier pairs whose questions must not be repeated.", show_default="none")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print {index, problems} a row instead.")] = False,
) -> None:
    """Check pairs by code: shape, wording, evidence, links. Exit code 1 if any row is rejected."""
    from generation.checking.rows import check_file, report

    rows = list(check_file(file, against or []))
    lines, count, rejected = report(rows, file)
    for line in [row.as_json() for row in rows] if as_json else lines:
        print(line)
    progress.print(f"{count} rows: {count - rejected} pass, {rejected} rejected.", highlight=False)
    if rejected:
        raise typer.Exit(1)


app.command()(proof_cli.prove)
app.command()(proof_cli.audit)
app.command()(evaluating.evaluate)


@app.command()
def assemble(
    drafts: Annotated[list[Path], typer.Argument(help="Folders of hand-written articles, pairs and verdicts.")],
    out: Annotated[Path, typer.Option(help="Folder for the rows.")] = Path("data"),
    seed: Annotated[int, typer.Option(help="Seed for the splits.")] = 42,
    keep: Annotated[
        bool, typer.Option("--keep", help="Add to the rows in that folder, which stay as they are, in their splits.")
    ] = False,
) -> None:
    """Make rows of the dataset from hand-written drafts."""
    from generation.releases.assemble import assemble as rows_from

    made = rows_from(drafts, out, seed, keep)
    print(
        f"{made.articles} articles; {made.submitted} pairs = {made.accepted} accepted + {made.rejected} rejected"
        f" ({made.kept} of them from before)"
    )


app.command()(releasing.release)
app.command()(releasing.publish)


def _count(sections: str) -> int | Literal["all"]:
    if sections == "all":
        return "all"
    if not (sections.isascii() and sections.isdigit()) or int(sections) < 1:
        raise UsageError(f'--sections takes "all" or a number from 1, not "{sections}".')
    return int(sections)


def _bytes(max_mb: float) -> int:
    from generation.running.settings import refuse_no_number

    refuse_no_number("max_mb", max_mb)
    return int(max_mb * 1_000_000)


def _proving(wanted: bool, *options: Any) -> "Proving | None":
    from generation.proving.setup import Proving

    proving = Proving(*options)
    if not wanted and proving != Proving():
        raise UsageError("--prove is missing: the other flags of the proof say how to prove.")
    return proving if wanted else None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in read_lines(path):
        yield _row(path, number, line)


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number}, is not JSON; give a JSONL file, one object a line.") from error
    if not isinstance(row, dict) or "sentences" not in row:
        raise InputError(f'{path}, line {number}, has no "sentences"; give a JSONL file of pairs.')
    return row

"""`craqan prove` and `craqan audit`: experiments on pairs that are there already, and what the judges are worth."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from generation.running import options

progress = Console(stderr=True)
WIDTH = 180
"""Of tables in a file or pipe, which need not be cut."""

File = Annotated[
    Path, typer.Argument(help="Pairs: JSONL or Parquet, a run's folder, or a folder of the dataset (data).")
]


def prove(
    file: File,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="runs/NAME-proof, after the file")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a pair as well.")] = False,
    model: Annotated[str, typer.Option(help="Who reads.", show_default="the reader by rules")] = "",
    base_url: options.BaseUrl = "",
    prompts: options.Prompts = None,
    prove_uniqueness: Annotated[
        bool, typer.Option("--prove-uniqueness", help="Reject where another sentence can stand in for a required one.")
    ] = False,
    drop_leaked: Annotated[
        bool, typer.Option("--drop-leaked", help="Reject what the reader answers without any text.")
    ] = False,
    right_f1: Annotated[float, typer.Option(min=0.01, max=1, help="Token F1 from which the reader is right.")] = 0.6,
    judge_model: Annotated[
        str, typer.Option(help="A model that says whether other words mean the same.", show_default="none")
    ] = "",
    concurrency: options.Concurrency = 16,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = 60.0,
    max_usd: options.MaxUsd = None,
    prices: options.Prices = None,
    batch: Annotated[bool, typer.Option("--batch", help="Ask in one batch job: for less, within 24 hours.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be asked; stop.")] = False,
) -> None:
    """Ask a reader whether each required sentence is needed. Exit code 1 if any pair is not proven.

    The same command again goes on where the last one stopped.
    """
    from generation.proving.file import default_folder, matrix, prove_file
    from generation.proving.setup import Proving
    from generation.running.budget import from_flag
    from generation.running.settings import Limits

    folder = out or default_folder(file)
    done = prove_file(
        file,
        folder,
        progress,
        model=model,
        base_url=base_url,
        prompt_folder=prompts,
        options=Proving(right_f1, prove_uniqueness, drop_leaked, judge_model=judge_model),
        limits=Limits(concurrency, rpm, tpm, timeout, None, None, max_usd, from_flag(prices), batch),
        dry_run=dry_run,
    )
    if dry_run:
        return
    for line in done.lines if as_json else ():
        print(json.dumps(line, ensure_ascii=False))
    (progress if as_json else Console()).print(matrix(done.proofs))
    for row in done.unreadable:
        progress.print(f"{row}", markup=False, highlight=False, style="yellow", soft_wrap=True)
    counts = ", ".join(f"{n} {status}" for status, n in done.counts.items() if n)
    progress.print(f"{counts or 'no pair'}; {len(done.unreadable)} unreadable. Files: {folder}", markup=False)
    if not done.all_proven:
        raise typer.Exit(1)


def audit(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A run's folder, or rows with verdicts and gold or votes.", show_default="with --corruptions"
        ),
    ] = None,
    votes: Annotated[
        Path | None,
        typer.Option(help="Known verdicts: JSON lines by id, or a review file.", show_default="in the rows"),
    ] = None,
    corruptions: Annotated[
        bool,
        typer.Option("--corruptions", help="Measure on the good and spoilt pairs of benchmarks/ (a checkout only)."),
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Ask the reviewers without a model too.")] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Ask the proof without a model too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON object instead.")] = False,
) -> None:
    """What is each reviewer, check and proof worth, against verdicts known to be right, and what does each add?"""
    from generation.auditing.command import audited
    from generation.auditing.tables import tables

    found = audited(file, votes, corruptions=corruptions, rules=rules, prove=prove)
    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    for table in tables(found):
        console.print(table)

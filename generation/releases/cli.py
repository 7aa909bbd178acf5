"""`craqan release` and `craqan publish`: parse, call one function, print."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from generation.errors import UsageError

Names = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="GATE", help="Let through what this gate finds; the card says so."),
]


def release(
    inputs: Annotated[list[str], typer.Argument(help="Folders of runs, of rows (data/) or of releases.")],
    version: Annotated[str, typer.Option(help="Semantic version, such as 1.1.0.")],
    out: Annotated[Path, typer.Option(help="Folder of the release; it must not exist yet.")],
    previous: Annotated[
        str, typer.Option(help="The last release: a folder, ORG/NAME or ORG/NAME@v1.0.0.", show_default="none")
    ] = "",
    review: Annotated[list[Path] | None, typer.Option(help="A review file of people's votes; may be repeated.")] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="labelled: unread pairs say so. reviewed:N: N people accepted each pair.",
            show_default="reviewed:2 with --review, else labelled",
        ),
    ] = "",
    allow: Names = None,
    withdraw: Annotated[
        list[str] | None, typer.Option(metavar="ID=REASON", help="Withdraw a pair; may be repeated.")
    ] = None,
    license: Annotated[
        str, typer.Option(help="The licence of the release.", show_default="the last one's, else cc-by-4.0")
    ] = "",
    source_license: Annotated[
        str, typer.Option(help="The licence of articles that name none.", show_default="unknown")
    ] = "",
    original: Annotated[
        str, typer.Option(help="Compare with the first CRaQAn: a file, or its revision.", show_default="not compared")
    ] = "",
    texts: Annotated[
        Path | None,
        typer.Option(help="Folder of README.md and DATASHEET.md to fill.", show_default="the last release's"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the splits of new pairs.")] = 42,
) -> None:
    """Make a release on disk from runs, rows and reviews, after every gate."""
    from generation import release as releases

    made = releases.make(
        inputs,
        version,
        out,
        previous=previous or None,
        review=review or (),
        policy=policy,
        allow=allow or (),
        withdraw=_reasons(withdraw or []),
        licence=license,
        source_license=source_license,
        original=original,
        texts=texts,
        seed=seed,
    )
    for config, splits in made.splits.items():
        print(f"{config}: " + ", ".join(f"{split} {count}" for split, count in splits.items()))
    if made.changes:
        counts = {name: len(getattr(made.changes, name)) for name in ("added", "changed", "withdrawn")}
        print(", ".join(f"{count} {name}" for name, count in counts.items()))
    for gate, found in made.allowed.items():
        print(f"let through by --allow {gate}: {len(found)}")
    print(f"Release {made.version}: {made.path}")


def publish(
    folder: Annotated[Path, typer.Argument(help="A folder of craqan release.")],
    repo: Annotated[str, typer.Option(help="The dataset repository, ORG/NAME.")],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would change, and change nothing.")] = False,
    create_pr: Annotated[bool, typer.Option("--create-pr", help="Open a pull request; no tag is set.")] = False,
    space: Annotated[
        str, typer.Option(help="Bring this Space to the release too, ORG/NAME.", show_default="none")
    ] = "",
) -> None:
    """Send a release to the Hugging Face Hub: one commit and a tag, read back and compared.

    The token comes from HF_TOKEN or from `hf auth login`. The same command again finishes what was cut off.
    """
    from generation.publish import publish as send

    say = partial(print, flush=True)
    send(folder, repo, private=private, dry_run=dry_run, create_pr=create_pr, space=space, say=say)


def _reasons(pairs: list[str]) -> dict[str, str]:
    reasons = {}
    for text in pairs:
        id, _, reason = text.partition("=")
        if not id.strip() or not reason.strip():
            raise UsageError(f'--withdraw takes ID=REASON, not "{text}".')
        reasons[id.strip()] = reason.strip()
    return reasons

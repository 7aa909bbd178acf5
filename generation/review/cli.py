"""The `craqan review` commands: parse, call one function, print."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from generation.errors import UsageError
from generation.files import read_text

if TYPE_CHECKING:
    from generation.review.agreement import Agreement

app = typer.Typer(help="Review by people: deal pairs out, collect votes, measure agreement.", no_args_is_help=True)
progress = Console(stderr=True)

OnDisagreement = Literal["third", "drop"]
Format = Literal["auto", "jsonl", "csv", "xlsx", "label-studio"]
Review = Annotated[Path, typer.Argument(help="The review's file, such as review.sqlite.")]
Places = Annotated[
    list[Path] | None, typer.Argument(help="Runs' folders, datasets' folders, or files of pairs (JSONL).")
]
Gold = Annotated[
    Path | None,
    typer.Option(help='Hidden pairs that measure reviewers: JSONL rows with "expected".', show_default="none"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
FileFormat = Annotated[Format, typer.Option("--format", help="auto goes by the file's ending.")]


@app.command()
def start(
    review: Review,
    places: Places = None,
    people: Annotated[int, typer.Option(min=1, help="How many people read each pair.")] = 2,
    on_disagreement: Annotated[OnDisagreement, typer.Option(help="Ask a third person, or drop the pair.")] = "third",
    adjudicator: Annotated[
        list[str] | None,
        typer.Option(help="Who alone settles disagreements, by name; may be repeated.", show_default="anybody"),
    ] = None,
    reviewer: Annotated[
        list[str] | None, typer.Option(help="Who may judge, by name; may be repeated.", show_default="anybody")
    ] = None,
    gold: Gold = None,
    guidelines: Annotated[
        Path | None, typer.Option(help="Guidelines of your own, Markdown.", show_default="the prompts' rules")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for each person's order.")] = 0,
    lease_minutes: Annotated[float, typer.Option(min=0.1, help="How long an open pair is kept for a person.")] = 30.0,
) -> None:
    """Start a review of pairs in a new file."""
    from generation import human

    policy = human.Policy(people, on_disagreement, tuple(adjudicator or ()), tuple(reviewer or ()), seed, lease_minutes)
    text = read_text(guidelines, "a Markdown file") if guidelines else None
    made = human.start(review, places or [], policy, gold=gold, guidelines=text)
    print(f"{review}: {made.added} pairs. Open it with: craqan review serve {review}")


@app.command()
def add(review: Review, places: Places = None, gold: Gold = None) -> None:
    """Add pairs, or gold pairs, to a review."""
    from generation import human

    if not places and not gold:
        raise UsageError("Name what to add: a run's folder, a file of pairs, or --gold FILE.")
    made = human.add(review, places or [], gold=gold)
    print(f"{made.added} added, {made.known} were there already.")


@app.command()
def serve(
    review: Review,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the page listens, on this machine only.")] = 7860,
) -> None:
    """Open the page with this review's tab."""
    from generation.review.serve import serve as open_page

    open_page(review, port)


@app.command()
def status(review: Review, as_json: AsJson = False) -> None:
    """Say how far a review is."""
    from generation import human

    found = human.status(review)
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False))
        return
    print(f"{found.pairs} pairs = {found.accepted} accepted + {found.rejected} rejected + {found.needs_more} open")
    print(
        f"{found.disputed} disputed, {found.corrections} corrections among the pairs, {found.gold} gold pairs besides"
    )
    for name, done in found.people.items():
        print(f"{name}: {done} judged")


@app.command()
def decisions(review: Review) -> None:
    """Print what has been decided, one JSON object a pair."""
    from generation import human

    for d in human.decisions(review):
        about = {"id": d.id, "decision": d.decision, "how": d.how, "reasons": d.reasons, "reviewers": d.reviewers}
        print(json.dumps({**about, "parent": d.parent, "question": d.row["question"]}, ensure_ascii=False))


@app.command()
def agreement(
    review: Review,
    as_json: AsJson = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=10, help="How often the bootstrap draws.")] = 999,
) -> None:
    """Measure how far people agree, with 95 % bootstrap intervals."""
    from generation import human

    found = human.agreement(review, seed=seed, resamples=resamples)
    if as_json:
        confusion = [{"one": a, "other": b, "count": n} for (a, b), n in found.confusion.items()]
        print(json.dumps({**asdict(found), "confusion": confusion}, ensure_ascii=False))
        return
    for line in report(found):
        print(line)


@app.command()
def export(
    review: Review,
    out: Annotated[Path, typer.Argument(help="FILE.jsonl, .csv, .xlsx, or .json for Label Studio.")],
    format: FileFormat = "auto",
    names: Annotated[bool, typer.Option("--names", help="People by name instead of by pseudonym.")] = False,
) -> None:
    """Write pairs and votes to a file: for keeping (JSONL), or for people to fill in elsewhere."""
    from generation import human

    votes = human.export(review, out, format, names=names)
    print(f"{out}: {votes} votes.")


@app.command("import")
def import_(
    review: Review,
    file: Annotated[Path, typer.Argument(help="A file of votes, as export writes them.")],
    format: FileFormat = "auto",
) -> None:
    """Add the votes of a file: all of them, or none if any is wrong."""
    from generation import human

    made = human.import_votes(review, file, format)
    print(f"{made.added} votes added, {made.known} were there already.")
    if made.corrections or made.pairs:
        print(f"With them came {made.corrections} corrected pairs and {made.pairs} pairs.")


@app.command()
def pull(
    review: Review,
    repo: Annotated[str, typer.Argument(help="The private dataset repository that a Space keeps its review in.")],
) -> None:
    """Bring the votes that a Space has kept on the Hub into a file here, which is made if it is not there."""
    from generation.review import keeping

    store = keeping.restore(review, keeping.download(repo))
    print(f"{review}: {len(store.pairs())} pairs, {len(store.votes())} votes.")


def report(found: "Agreement") -> Iterator[str]:
    """Agreement in lines for a person; people by pseudonym."""
    yield f"{found.votes} first votes on {found.pairs} pairs, {found.changed} changed afterwards"
    yield f"raw agreement         {found.raw}"
    yield f"Krippendorff's alpha  {found.alpha}"
    for two in found.people:
        yield f"{two.one} and {two.other}: raw {two.raw}, Cohen's kappa {two.kappa}"
    for code, estimate in found.reasons.items():
        if found.given[code]:
            yield f"{code}: given {found.given[code]} times, alpha {estimate}"
    for (one, other), times in found.confusion.items():
        yield f"{one} / {other}: {times}"
    median = "" if found.median_minutes is None else f", median {found.median_minutes:.2f}"
    yield f"minutes a vote        {found.minutes}{median}"
    for who, minutes in found.minutes_of.items():
        yield f"{who}: minutes a vote {minutes}"
    for who, gold in found.gold.items():
        wrong = f"{gold.wrongly_accepted} wrongly accepted, {gold.wrongly_rejected} wrongly rejected"
        yield f"{who} on gold: {gold.right} of {gold.seen} right, {wrong}"
        yield f"{who} on gold: {gold.reasons_found} of {gold.reasons_known} reasons found"

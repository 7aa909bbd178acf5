"""Review by people: the pairs that they read, their votes, and what these decide.

    from generation import human

    for d in human.decisions("review.sqlite"):
        print(d.id, d.decision, d.how, d.reasons, d.reviewers)

A review is one SQLite file, started from pairs and filled by the page's Review tab or by imports. Every pair is read by
at least two people who do not see each other's votes. The parts are in `generation.review`: `desk` deals pairs out and
takes votes, `exchange` moves them between files. Source: Grzywinski et al. 2023, section 3.2.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from generation.errors import CraqanError, UsageError
from generation.files import write_whole
from generation.review import exchange, intake, label_studio, sheet
from generation.review.ballots import Count, Decision, Policy, Vote, count, last_votes
from generation.review.desk import clean_name
from generation.review.exchange import Imported
from generation.review.guidelines import default_guidelines
from generation.review.intake import Added
from generation.review.store import Pair, Store, names_of, pairs_of, votes_of

if TYPE_CHECKING:
    from generation.review.agreement import Agreement

__all__ = [
    "Added",
    "Count",
    "Decision",
    "Imported",
    "Policy",
    "Status",
    "Vote",
    "add",
    "agreement",
    "count",
    "decisions",
    "export",
    "import_votes",
    "last_votes",
    "policy",
    "start",
    "status",
]

Format = Literal["auto", "jsonl", "csv", "xlsx", "label-studio"]
_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".csv": "csv", ".xlsx": "xlsx", ".json": "label-studio"}


@dataclass(frozen=True, slots=True)
class Status:
    """Where a review stands: pairs = accepted + rejected + needs_more. `disputed` are those of needs_more on which the
    people so far disagree. `corrections` of the pairs were offered by reviewers. `people` counts each person's pairs,
    gold ones too, by the name that they gave.
    """

    pairs: int
    accepted: int
    rejected: int
    needs_more: int
    disputed: int
    corrections: int
    gold: int
    votes: int
    people: dict[str, int]


def start(
    path: Path | str,
    places: Sequence[Path],
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    *,
    gold: Path | None = None,
    guidelines: str | None = None,
) -> Added:
    """Make a review file of the pairs of `places`: runs' folders, datasets' folders, files of pairs.

    `gold` is a file of hidden pairs with known verdicts (see `intake.add_gold`); `guidelines`, in Markdown, are those
    of the prompts unless given. The file is complete or not made. Raises UsageError, InputError.
    """
    store = Store.create(path, policy, default_guidelines() if guidelines is None else guidelines)
    try:
        return add(path, places, gold=gold)
    except CraqanError:
        for suffix in ("", "-wal", "-shm"):
            store.path.with_name(store.path.name + suffix).unlink(missing_ok=True)
        raise


def add(path: Path | str, places: Sequence[Path], *, gold: Path | None = None) -> Added:
    """Add pairs, and gold pairs, to a review; all or none. Raises UsageError, InputError, ReviewError."""
    pairs = [Pair(row["id"], row) for row in intake.read_all(places)]
    return intake.put_pairs(Store(path), pairs + (intake.read_gold(gold) if gold else []))


def status(path: Path | str) -> Status:
    """Where a review stands. Raises ReviewError if the file is none."""
    store, made = Store(path), decisions(path)
    votes, names = store.votes(), store.names()
    read = {(vote.reviewer, vote.pair) for vote in votes}
    open_ = [d for d in made if d.decision == "needs_more"]
    return Status(
        pairs=len(made),
        accepted=sum(d.decision == "accepted" for d in made),
        rejected=sum(d.decision == "rejected" for d in made),
        needs_more=len(open_),
        disputed=sum(len({v.accept for v in d.votes}) > 1 for d in open_),
        corrections=sum(bool(d.parent) for d in made),
        gold=sum(pair.gold is not None for pair in store.pairs()),
        votes=len(votes),
        people={name: sum(who == label for who, _ in read) for label, name in names.items()},
    )


def agreement(path: Path | str, *, seed: int = 0, resamples: int | None = None) -> "Agreement":
    """How far people agree, how long they take, and how they do on gold pairs; people by pseudonym.

    Raises UsageError if the libraries for it are not installed, ReviewError if the file is none.
    """
    from generation.review.agreement import RESAMPLES, measure

    store = Store(path)
    return measure(store.pairs(), store.votes(), seed=seed, resamples=resamples or RESAMPLES)


def export(path: Path | str, out: Path, format: Format = "auto", *, names: bool = False) -> int:
    """Write all pairs and votes to `out`; returns how many votes. "auto" goes by the name's ending.

    JSON Lines also say which pairs are gold; the others, for people to fill in, do not. People stand there by pseudonym
    or, with `names`, by the names they gave. With Label Studio's tasks comes a labelling config, `out` with the ending
    .xml. Raises UsageError, ReviewError.
    """
    leaving = exchange.leaving(Store(path), names=names)
    contents: dict[Path, str | bytes] = {}
    match format if format != "auto" else _format_of(out):
        case "jsonl":
            contents[out] = exchange.write_jsonl(leaving)
        case "label-studio":
            contents = {out.with_suffix(".xml"): label_studio.config(), out: label_studio.write(leaving)}
        case "csv":
            contents[out] = sheet.write_csv(leaving)
        case _:
            contents[out] = sheet.write_xlsx(leaving)
    try:
        for file, content in contents.items():
            write_whole(file, content)
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error.strerror}); name another file.") from error
    return sum(len(one.votes) for one in leaving)


def import_votes(path: Path | str, file: Path, format: Format = "auto") -> Imported:
    """Add the votes of a file that `export` could have written; all of them, or none if any cannot stand.

    Votes that are there already are counted and left. Raises UsageError, InputError naming every place that is wrong.
    """
    store = Store(path)
    if not file.is_file():
        raise UsageError(f"{file} {'is a folder' if file.is_dir() else 'does not exist'}; name a file of votes.")
    match format if format != "auto" else _format_of(file):
        case "jsonl":
            return exchange.take_in(store, *exchange.read_jsonl(file))
        case "label-studio":
            pairs = {pair.id: pair for pair in store.pairs()}
            return exchange.take_in(store, label_studio.read(file, pairs))
        case _:
            return exchange.take_in(store, sheet.read(file))


def _format_of(file: Path) -> Format:
    if file.suffix.casefold() not in _SUFFIXES:
        raise UsageError(f"{file} does not tell its format: end its name in {', '.join(_SUFFIXES)}, or give --format.")
    return _SUFFIXES[file.suffix.casefold()]


def decisions(path: Path | str, policy: Policy | None = None) -> list[Decision]:
    """What people have decided of each pair of a review file, in the order in which the pairs were added.

    Every pair that was put to people is there, decided or not, corrected ones (which no other file holds) too; hidden
    gold pairs are not. Of a pair and its corrections at most one is accepted: the accepted correction that was added
    last, the others being rejected as "replaced". `policy` is asked instead of the file's own, if given.
    Raises ReviewError if the file is none.
    """
    store = Store(path)
    rules = policy or store.policy
    with store.reading() as db:
        pairs, votes, names = pairs_of(db), votes_of(db), names_of(db)
    named = {clean_name(name) for name in rules.adjudicators}
    adjudicators = {label for label, name in names.items() if name in named}
    by_pair: dict[str, list[Vote]] = {pair.id: [] for pair in pairs}
    for vote in votes:
        by_pair[vote.pair].append(vote)
    made = [_decision(pair, by_pair[pair.id], rules, adjudicators) for pair in pairs if pair.gold is None]
    return _one_of_each_family(made)


def policy(path: Path | str) -> Policy:
    """The policy that a review file was started with. Raises ReviewError if the file is none."""
    return Store(path).policy


def _decision(pair: Pair, votes: Sequence[Vote], rules: Policy, adjudicators: set[str]) -> Decision:
    counted = count(votes, rules, adjudicators)
    valid = last_votes(votes)
    return Decision(pair.id, counted.decision, counted.how, valid, pair.row, pair.parent, pair.corrected_by)


def _one_of_each_family(made: Sequence[Decision]) -> list[Decision]:
    parents = {d.id: d.parent for d in made}

    def root(id: str) -> str:
        return root(parents[id]) if parents[id] else id

    chosen = {root(d.id): d.id for d in made if d.decision == "accepted"}  # the last one stays
    return [_replaced(d, chosen[root(d.id)]) if d.decision == "accepted" else d for d in made]


def _replaced(decision: Decision, chosen: str) -> Decision:
    if decision.id == chosen:
        return decision
    return replace(decision, decision="rejected", how="replaced", replaced_by=chosen)

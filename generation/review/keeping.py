"""A review kept in a private dataset repository, for machines whose disk does not last, such as a Space.

The repository holds log/<start>.jsonl, one file for each start of the page, lines only ever added: settings, people,
pairs, votes. The Hub client's CommitScheduler sends what is new every few minutes, and once more at the end. Reading
all logs gives the whole review back, whatever order they come in; what is known already is passed over.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generation.errors import ReviewError, UsageError
from generation.releases.hub import Errors, hub_errors
from generation.review.ballots import Vote
from generation.review.store import Pair, Store, names_of, pairs_of, policy_from, put_pair, put_vote, votes_of

MINUTES = 1.0  # between two commits; the Hub allows about a hundred an hour
Line = dict[str, Any]


class Keeper:
    """Keeps the review `path` in the repository `repo`, private and made if need be; `save` after every change.

    What the repository holds is brought into the file first; where there is neither, `start` makes the file. Raises
    ReviewError if the repository cannot be read or is public: nobody should vote where votes would be lost or seen.
    """

    def __init__(self, path: Path, repo: str, start: Callable[[Path], Any], *, minutes: float = MINUTES) -> None:
        from huggingface_hub import CommitScheduler

        kept = download(repo, create=True)
        if not kept and not path.is_file():
            start(path)
        self.store = restore(path, kept) if kept else Store(path)
        self._sent = {_key(line) for line in kept}
        folder = Path(tempfile.mkdtemp(prefix="craqan-review-"))
        self._log = folder / "log" / f"{secrets.token_hex(8)}.jsonl"
        self._log.parent.mkdir()
        self.scheduler = CommitScheduler(
            repo_id=repo, folder_path=folder, every=minutes, repo_type="dataset", private=True
        )
        self.save()

    def save(self) -> None:
        """Add what is new to the log, whole lines, where the scheduler takes it from."""
        with self.scheduler.lock:
            new = [line for line in lines(self.store) if _key(line) not in self._sent]
            if new:
                with self._log.open("a", encoding="utf-8", newline="\n") as file:
                    file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in new))
                self._sent.update(map(_key, new))


def from_environment() -> tuple[Path | None, Callable[[], None]]:
    """The review that the environment names, and what to call after a change; (None, ...) if it names none.

    REVIEW_FILE is a review's file; REVIEW_REPO a dataset repository to keep it in, with the Hub's token in HF_TOKEN.
    With a repository alone the file lies in a temporary folder. A first start takes the pairs of REVIEW_PAIRS (data).
    """
    from generation import human

    file, repo = os.environ.get("REVIEW_FILE", ""), os.environ.get("REVIEW_REPO", "")
    if not repo:
        return (Path(file) if file else None), lambda: None
    path = Path(file or Path(tempfile.mkdtemp(prefix="craqan-review-")) / "review.sqlite")
    pairs = Path(os.environ.get("REVIEW_PAIRS") or Path(__file__).parents[2] / "data")
    keeper = Keeper(path, repo, lambda new: human.start(new, [pairs]), minutes=_minutes())
    return path, keeper.save


def _minutes() -> float:
    value = os.environ.get("REVIEW_MINUTES", str(MINUTES))
    try:
        minutes = float(value)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < float("inf"):
        raise UsageError(f"REVIEW_MINUTES takes a number above 0, not {value!r}.")
    return minutes


def download(repo: str, *, create: bool = False) -> list[Line]:
    """All lines of all logs of a repository; none if it is new. Raises ReviewError if it is public or out of reach."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError

    errors: Errors = (*hub_errors(), HFValidationError, OSError)
    api = HfApi()
    try:
        if create:
            api.create_repo(repo, repo_type="dataset", private=True, exist_ok=True)
        if not api.dataset_info(repo).private:
            raise ReviewError(f"{repo} is public, and votes are not: make it private, or name another repository.")
        with tempfile.TemporaryDirectory() as folder:
            api.snapshot_download(repo, repo_type="dataset", allow_patterns="log/*.jsonl", local_dir=folder)
            return [line for path in sorted(Path(folder, "log").glob("*.jsonl")) for line in _read(path)]
    except errors as error:
        reason = str(error).strip().partition("\n")[0]
        raise ReviewError(f"The dataset repository {repo} cannot be used: {reason}") from error


def restore(path: Path, kept: list[Line]) -> Store:
    """Bring logged lines into the review `path`, which is made if it is not there. Raises ReviewError if they lack the
    settings that every log of a review begins with."""
    settings = next((line["settings"] for line in kept if "settings" in line), None)
    if settings is None:
        raise ReviewError("The logs do not begin with a review's settings; name the repository of a review.")
    store = (
        Store(path) if path.is_file() else Store.create(path, policy_from(settings["policy"]), settings["guidelines"])
    )
    with store.writing() as db:
        known = {name: label for label, name in names_of(db).items()}
        labels = {}
        for line in (line["person"] for line in kept if "person" in line):
            labels[line["label"]] = known.setdefault(line["name"], line["label"])
            db.execute("INSERT OR IGNORE INTO people VALUES (?, ?)", (labels[line["label"]], line["name"]))
        there = {pair.id for pair in pairs_of(db)} | {""}
        for pair in [Pair(**line["pair"]) for line in kept if "pair" in line]:
            if pair.id not in there:
                put_pair(db, pair)
                there.add(pair.id)
        seen = {vote.uid for vote in votes_of(db)}
        for line in sorted((line["vote"] for line in kept if "vote" in line), key=lambda vote: vote["at"]):
            if line["uid"] not in seen:
                reviewer = labels.get(line["reviewer"], line["reviewer"])
                put_vote(db, Vote(**{**line, "number": 0, "reviewer": reviewer, "reasons": tuple(line["reasons"])}))
                seen.add(line["uid"])
    return store


def lines(store: Store) -> Iterator[Line]:
    """Everything of a review but who has which pair open, in an order in which it can be read back."""
    yield {"settings": {"policy": asdict(store.policy), "guidelines": store.guidelines}}
    with store.reading() as db:
        people, pairs, votes = names_of(db), pairs_of(db), votes_of(db)
    yield from ({"person": {"label": label, "name": name}} for label, name in people.items())
    yield from ({"pair": asdict(pair)} for pair in pairs)
    yield from ({"vote": asdict(vote)} for vote in votes)


def _key(line: Line) -> str:
    ((kind, content),) = line.items()
    return f"{kind} {content.get('uid') or content.get('id') or content.get('label') or ''}"


def _read(path: Path) -> Iterator[Line]:
    for number, line in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise ReviewError(f"{path.name}, line {number}, is damaged; mend it in the repository.") from error

"""From a text to a tagged set on a Hub, as its makers go: every step is the command, the page or the library itself."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generation import dataset, human
from tests.browser.desk import Desk, is_finished, question, served, sign_in, vote
from tests.browser.warm import ROOT
from tests.hub import Hub
from tests.hub_client import REPO, load, publish, publish_alone, reached, rows_of_each
from tests.test_cli import within

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:Use 'content:DeprecationWarning"),  # of the Hub's client
]

# One pair each, as a rule; a release needs three to fill its splits, so that some may be wanting.
ACTS = {
    "harbor": "The Harbor Safety Act was passed in 1974. Senator Mary Cole wrote most of the bill. It requires every"
    " ferry to carry two rafts. She had lost a brother at sea.",
    "lantern": "The Lantern Act was signed in 1811. Joseph Marsh had asked for it. It fined every innkeeper without a"
    " lamp at the door. He sold lamps in three towns.",
    "dock": "The Dock Act was passed in 1888. Anna Reed wrote the report. It gave every docker two hours of rest. She"
    " had counted the accidents of nine years.",
    "mill": "The Mill Act was passed in 1843. Senator Jane Ward wrote most of the bill. It shortened the day of every"
    " weaver. She had lost a sister in the great fire.",
    "well": "The Well Act was passed in 1911. Senator Ruth Lane wrote most of the bill. It closed every open well in"
    " the city. She had lost a son to typhoid.",
    "bridge": "The Stone Bridge Act was passed in 1902. Clara Lund wrote most of the bill. It closed the old bridge to"
    " all heavy carts. She had built three bridges abroad.",
}
LATER = {
    "kiln": "The Kiln Act was enacted in 1866. Senator Ada Holm led the committee. It banned brick kilns within the"
    " city walls. She had lost a house to the fire of 1860.",
    "coal": "The Coal Act was passed in 1899. Senator Martha Hill wrote most of the bill. It gave every miner a lamp."
    " She had lost a father in the pits.",
}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running


def craqan(*words: str | Path) -> str:
    done = within(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def generating(folder: Path, name: str, texts: dict[str, str]) -> subprocess.Popen[bytes]:
    source = folder / f"{name}-texts"
    source.mkdir()
    for act, text in texts.items():
        (source / f"{act}.md").write_text(f"# {act.title()} Act\n\n{text}\n", encoding="utf-8")
    command = [sys.executable, "-m", "generation", "generate", str(source), "--out", str(folder / name)]
    command += ["--min-confidence", "0.3"]  # of such short texts the default is rarely sure
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def read_all(page: Any, rejects: str = "") -> list[str]:
    """Vote on all that the desk has, by keys; the question `rejects` alone is turned down. Returns the questions."""
    asked = []
    while not is_finished(page):
        asked.append(vote(page, "r 4" if question(page) == rejects else "a"))
    return asked


def ids(splits: dict[str, list[dict[str, Any]]]) -> set[str]:
    return {row["id"] for rows in splits.values() for row in rows}


def test_a_set_is_made_read_by_people_released_published_loaded_and_extended(
    tmp_path: Path, hub: Hub, open_page: Any
) -> None:
    runs = [generating(tmp_path, "first", ACTS), generating(tmp_path, "second", LATER)]
    assert [run.wait(120) for run in runs] == [0, 0]
    review = tmp_path / "review.sqlite"
    craqan("review", "start", review, tmp_path / "first")
    options = ["--review", review, "--source-license", "CC0"]

    with served(tmp_path) as desk:
        disputed = three_people_read(desk, open_page)
        craqan("release", tmp_path / "first", *options, "--version", "1.0.0", "--out", tmp_path / "1.0.0")
        published = publish_alone(hub, tmp_path / "1.0.0", home=tmp_path / "maker")
        assert published.returncode == 0, published.stderr
        first = rows_of_each(load(hub, tmp_path / "user", "v1.0.0", token=""))["v1.0.0"]
        assert first == dataset.rows_of(tmp_path / "1.0.0" / "data")["default"]
        assert disputed not in {row["question"] for rows in first.values() for row in rows}
        assert all(row["human_reviews"] == 2 for rows in first.values() for row in rows)

        craqan("review", "add", review, tmp_path / "second")
        for name in ("Ann", "Ben"):
            assert read_all(sign_in(open_page, desk, name))
    again = [tmp_path / "second", *options, "--previous", f"{REPO}@v1.0.0"]
    with reached(hub, tmp_path / "maker"):
        told = craqan("release", *again, "--version", "1.1.0", "--out", tmp_path / "1.1.0")
    published = publish(hub, tmp_path / "1.1.0", home=tmp_path / "maker")
    assert published.returncode == 0, published.stderr

    loaded = rows_of_each(load(hub, tmp_path / "other", "v1.0.0", "v1.1.0", "", token=""))
    assert loaded["v1.0.0"] == first
    assert loaded["v1.1.0"] == loaded[""] == dataset.rows_of(tmp_path / "1.1.0" / "data")["default"]
    assert all(row in loaded[""][split] for split, rows in first.items() for row in rows)
    added = ids(loaded["v1.1.0"]) - ids(first)
    log = (tmp_path / "1.1.0" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert added and f"{len(added)} added, 0 changed, 0 withdrawn" in told
    newest = log[: log.index("## 1.0.0")]
    assert all(f"- `{id}` " in newest for id in added) and not any(id in newest for id in ids(first))


def three_people_read(desk: Desk, open_page: Any) -> str:
    """Ann accepts all, Ben turns one pair down, Eve, who is shown that one alone, sides with him. Returns its question.

    Their votes are in the file, and theirs are the names; the rows have pseudonyms.
    """
    asked = read_all(sign_in(open_page, desk, "Ann"))
    disputed = sorted(asked)[0]
    assert sorted(read_all(sign_in(open_page, desk, "Ben"), rejects=disputed)) == sorted(asked)
    assert read_all(sign_in(open_page, desk, "Eve"), rejects=disputed) == [disputed]
    made = {d.row["question"]: d for d in human.decisions(desk.review)}
    assert (made[disputed].decision, made[disputed].how) == ("rejected", "third person")
    assert {d.decision for asked, d in made.items() if asked != disputed} == {"accepted"}
    return disputed

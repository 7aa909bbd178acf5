"""Publishing to a Hub over real HTTP: one commit and a tag, read back; rights, races, faults, kills, the Space."""

import multiprocessing
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import datasets
import pytest

from generation import dataset, release
from generation import publish as publishing
from generation.errors import InputError, UsageError
from tests.hub import OWNER, READER, STRANGER, Hub
from tests.hub_client import REPO, environment, load, publish, publish_alone, put, reached, rows_of_each

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content:DeprecationWarning")  # of the Hub's client


@pytest.fixture(scope="module")
def second(first: Path) -> Path:
    """1.1.0: one pair withdrawn, and a file that the first has is gone."""
    gone = dataset.rows_of(first / "data")["default"]["train"][0]["id"]
    out = first.parent / "1.1.0"
    release.make(first, "1.1.0", out, previous=first, withdraw={gone: "misread"})
    return out


def ids(folder: Path) -> dict[str, list[str]]:
    return {split: [row["id"] for row in rows] for split, rows in dataset.rows_of(folder / "data")["default"].items()}


def loaded_ids(hub: Hub, home: Path, token: str = OWNER) -> dict[str, list[str]]:
    """What `datasets` finds under the tag v1.0.0; raises what it raises."""
    with reached(hub, home, token):
        loaded = datasets.load_dataset(REPO, revision="v1.0.0", token=token or False)
    return {split: rows["id"] for split, rows in loaded.items()}


def test_two_releases_one_after_the_other_and_each_loads_by_its_tag(
    hub: Hub, first: Path, second: Path, tmp_path: Path
) -> None:
    done = publish_alone(hub, first, home=tmp_path / "a")
    assert done.returncode == 0, done.stderr
    repo = hub.dataset(REPO)
    assert list(repo.tags) == ["v1.0.0"] and len(repo.commits) == 2
    assert len([r for r in hub.log if "/commit/" in r]) == 1
    before = len(hub.writes())
    again = publish(hub, first, home=tmp_path / "a")
    assert again.returncode == 0 and "nothing to do" in again.stdout and len(hub.writes()) == before
    stray = dict(repo.at("main").tree)  # type: ignore[union-attr]
    stray["data/old/train.jsonl"] = stray["README.md"]
    repo.commit("main", "a stray file", stray, repo.refs["main"])
    assert publish(hub, second, home=tmp_path / "a").returncode == 0
    assert set(repo.at("v1.1.0").tree) - {".gitattributes"} == {  # type: ignore[union-attr]
        path.relative_to(second).as_posix() for path in second.rglob("*") if path.is_file()
    }
    loaded = rows_of_each(load(hub, tmp_path / "home", "v1.0.0", "v1.1.0", "", token=""))
    for revision, folder in (("v1.0.0", first), ("v1.1.0", second), ("", second)):
        assert loaded[revision] == dataset.rows_of(folder / "data")["default"]
    back = publish(hub, first.parent / "1.0.0", home=tmp_path / "b")
    assert back.returncode == 0 and "nothing to do" in back.stdout


def test_a_release_that_was_published_is_the_previous_one_of_the_next(hub: Hub, first: Path, tmp_path: Path) -> None:
    put(hub, REPO, "v1.0.0", first)
    code = f"from generation import release; r = release.read('{REPO}'); print(r.version, len(r.tables['default']))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(hub, tmp_path / "b"), text=True, capture_output=True
    )
    assert done.stdout.split() == ["1.0.0", "3"], done.stderr


def test_a_dry_run_tells_the_exact_difference_and_changes_nothing(
    hub: Hub, first: Path, second: Path, tmp_path: Path
) -> None:
    done = publish(hub, first, "--dry-run", home=tmp_path / "a")
    assert done.returncode == 0 and "would be made" in done.stdout and hub.writes() == []
    told = set(re.findall(r"^\+ (\S+) \(", done.stdout, re.MULTILINE))
    assert told == {path.relative_to(first).as_posix() for path in first.rglob("*") if path.is_file()}
    put(hub, REPO, "v1.0.0", first)
    before = hub.writes()
    done = publish(hub, second, "--dry-run", home=tmp_path / "a")
    assert "~ data/default/train-00000-of-00001.parquet" in done.stdout and hub.writes() == before
    assert "+## 1.1.0" in done.stdout  # what changes in the changelog, line by line


def test_another_content_under_a_tag_is_refused_before_anything_is_written(
    hub: Hub, first: Path, tmp_path: Path
) -> None:
    put(hub, REPO, "v1.0.0", first)
    release.make(first, "1.0.0", tmp_path / "other", withdraw={ids(first)["train"][0]: "misread"})
    before = hub.writes()
    done = publish(hub, tmp_path / "other", home=tmp_path / "a")
    assert done.returncode == 1 and "a tag never changes" in done.stderr and hub.writes() == before


def test_an_older_release_does_not_take_main_back(hub: Hub, first: Path, second: Path, tmp_path: Path) -> None:
    put(hub, REPO, "v1.1.0", second)
    done = publish(hub, first, home=tmp_path / "a")
    assert done.returncode == 1 and "has v1.1.0, which is newer" in done.stderr


def test_a_name_that_datasets_refuses_is_a_wrong_call(hub: Hub, first: Path, tmp_path: Path) -> None:
    done = publish(hub, first, home=tmp_path / "a", repo="acme/craqan")
    assert done.returncode == 2 and hub.log == []


@pytest.mark.parametrize("repo", ["acme/CRaQAn", "acme", "acme/a/b", "../x", "acme/set name"])
def test_a_name_that_cannot_be_is_told_before_the_hub_is_asked(repo: str, first: Path) -> None:
    with pytest.raises(UsageError):
        publishing.publish(first, repo)


def test_a_changed_folder_is_not_published(first: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(first, tmp_path / "copy"))
    (copied / "README.md").write_text("changed", encoding="utf-8")
    with pytest.raises(InputError, match=r"README\.md differs"):
        publishing.publish(copied, REPO)


@pytest.mark.parametrize(
    ("token", "message"),
    [("", "hf auth login"), ("hf_nonsense", "valid token"), (READER, "may not be written"), (STRANGER, "may not be")],
)
def test_who_may_not_write_is_told_so_in_one_sentence(
    token: str, message: str, hub: Hub, first: Path, tmp_path: Path
) -> None:
    done = publish(hub, first, home=tmp_path / "a", token=token)
    assert done.returncode == 1 and message in done.stderr and done.stderr.count("\n") == 1
    assert not hub.repos


def test_the_clients_own_store_has_the_token(hub: Hub, first: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "token").write_text(OWNER, encoding="utf-8")
    assert publish_alone(hub, first, home=tmp_path / "a", token="").returncode == 0


def test_a_private_set_loads_with_a_token_only(hub: Hub, first: Path, tmp_path: Path) -> None:
    assert publish(hub, first, "--private", home=tmp_path / "a").returncode == 0
    assert hub.dataset(REPO).private
    assert loaded_ids(hub, tmp_path / "b", READER) == ids(first)
    for token in ("", STRANGER):
        with pytest.raises(datasets.exceptions.DatasetNotFoundError):
            loaded_ids(hub, tmp_path / f"c{token}", token)


def test_a_public_set_is_not_taken_for_a_private_one(hub: Hub, first: Path, tmp_path: Path) -> None:
    hub.create("dataset", REPO)
    done = publish(hub, first, "--private", home=tmp_path / "a")
    assert done.returncode == 1 and "is public" in done.stderr and hub.writes() == []


def test_a_pull_request_sets_no_tag_and_is_opened_once(hub: Hub, first: Path, tmp_path: Path) -> None:
    repo = hub.create("dataset", REPO)
    done = publish(hub, first, "--create-pr", home=tmp_path / "a")
    assert done.returncode == 0 and "discussions/1" in done.stdout
    again = publish(hub, first, "--create-pr", home=tmp_path / "a")
    assert "already: refs/pr/1" in again.stdout and "refs/pr/2" not in repo.refs and not repo.tags
    repo.refs["main"] = repo.refs["refs/pr/1"]  # merged
    done = publish(hub, first, home=tmp_path / "a")
    assert done.returncode == 0 and repo.tags["v1.0.0"] == repo.refs["main"]


# --- others at work, faults, kills -----------------------------------------------------------------------------------


def test_of_two_publishers_at_once_one_wins_and_the_other_is_told(hub: Hub, first: Path, tmp_path: Path) -> None:
    release.make(first, "1.0.0", tmp_path / "other", withdraw={ids(first)["train"][0]: "misread"})
    hub.create("dataset", REPO)
    both = threading.Barrier(2, timeout=60)
    hub.fail("POST /api/datasets/acme/acts/preupload/.*", times=2, status=0, hook=both.wait)
    done: dict[str, subprocess.CompletedProcess[str]] = {}

    def send(name: str, folder: Path) -> None:
        done[name] = publish_alone(hub, folder, home=tmp_path / name)

    threads = [threading.Thread(target=send, args=pair) for pair in (("a", first), ("b", tmp_path / "other"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = sorted(result.returncode for result in done.values())
    assert codes == [0, 1], {name: result.stderr for name, result in done.items()}
    loser = next(result for result in done.values() if result.returncode)
    assert "Somebody else has changed" in loser.stderr
    winner = first if done["a"].returncode == 0 else tmp_path / "other"
    assert loaded_ids(hub, tmp_path / "c") == ids(winner)
    assert len(hub.dataset(REPO).commits) == 2


STEPS = ("POST /api/repos", "PUT /lfs/", "POST .*/commit/", "POST .*/tag/", "GET .*/resolve/")
"""A publication's requests, in order."""


@pytest.mark.parametrize("after", [False, True])
def test_a_503_at_every_step_is_got_over(after: bool, hub: Hub, first: Path, tmp_path: Path) -> None:
    for request in (*STEPS, "GET .*/tree/"):
        hub.fail(request, 503, after=after)
    done = publish(hub, first, home=tmp_path / "a")
    assert done.returncode == 0, done.stderr
    repo = hub.dataset(REPO)
    assert len(repo.commits) == 2 and repo.tags == {"v1.0.0": repo.refs["main"]}
    assert not any(fault["times"] for fault in hub._faults)


def test_a_hub_that_stays_away_is_told_and_the_same_command_finishes(
    hub: Hub, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.releases.hub.WAITS", (0.01,) * 4)
    hub.fail("POST .*/tag/", 503, times=99)
    done = publish(hub, first, home=tmp_path / "a")
    assert done.returncode == 1 and "the Hub answers 503: give the command again" in done.stderr
    hub._faults.clear()
    assert publish(hub, first, home=tmp_path / "a").returncode == 0
    assert len(hub.dataset(REPO).commits) == 2 and "v1.0.0" in hub.dataset(REPO).tags


def test_no_connection_is_one_sentence(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.releases.hub.WAITS", (0.01,) * 4)
    with Hub() as gone:
        pass
    done = publish(gone, first, home=tmp_path / "a")
    assert done.returncode == 1 and "could not be reached" in done.stderr and done.stderr.count("\n") == 1


def test_killed_at_each_step_in_turn_the_same_command_finishes(hub: Hub, first: Path, tmp_path: Path) -> None:
    for step in STEPS:
        kill_at(step, hub, first, tmp_path / "a")
    done = publish(hub, first, home=tmp_path / "a")
    assert done.returncode == 0, done.stderr
    repo = hub.dataset(REPO)
    assert len(repo.commits) == 2 and repo.tags == {"v1.0.0": repo.refs["main"]}
    assert loaded_ids(hub, tmp_path / "b") == ids(first)


FORKS = multiprocessing.get_context("forkserver")  # processes of their own, the libraries read once
FORKS.set_forkserver_preload(["generation.publish", "generation.cli", "datasets"])


def publish_until_killed(url: str, folder: Path, home: Path) -> None:
    with reached(SimpleNamespace(url=url), home):  # type: ignore[arg-type]
        publishing.publish(folder, REPO)


def kill_at(step: str, hub: Hub, folder: Path, home: Path) -> None:
    """Start a publication and kill it while the Hub works on `step`, which is still carried out."""
    at_step, killed = threading.Event(), threading.Event()

    def hold() -> None:
        at_step.set()
        killed.wait(60)

    hub.fail(step, 503, after=True, hook=hold)
    process = FORKS.Process(target=publish_until_killed, args=(hub.url, folder, home))
    process.start()
    assert at_step.wait(60), step
    process.kill()
    process.join()
    before = len(hub.log)
    killed.set()
    until = time.monotonic() + 60
    while len(hub.log) == before and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)


# --- the Space -------------------------------------------------------------------------------------------------------


def test_the_space_shows_the_tag_and_runs_from_its_own_files(hub: Hub, first: Path, tmp_path: Path) -> None:
    done = publish(hub, first, "--space", "acme/page", home=tmp_path / "a")
    assert done.returncode == 0, done.stderr
    space = hub.repos["space", "acme/page"]
    assert space.variables == {"CRAQAN_DATASET": REPO, "CRAQAN_REVISION": "v1.0.0"}
    folder = tmp_path / "page"
    for path, blob in space.at("main").tree.items():  # type: ignore[union-attr]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(blob.content)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "sdk: gradio" in readme and f"datasets: [{REPO}]" in readme and "configs:" not in readme
    code = "from space.shelf import load_shelf; print(sum(1 for _ in load_shelf().rows))"
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, text=True, capture_output=True)
    assert run.returncode == 0, run.stderr
    commits = len(space.commits)
    assert publish(hub, first, "--space", "acme/page", home=tmp_path / "a").returncode == 0
    assert len(space.commits) == commits


def test_a_space_cannot_follow_a_pull_request(hub: Hub, first: Path, tmp_path: Path) -> None:
    done = publish(hub, first, "--create-pr", "--space", "acme/page", home=tmp_path / "a")
    assert done.returncode == 2 and hub.log == []

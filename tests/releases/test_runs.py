"""A run becomes a release, with its article, recipe and yield."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generation import dataset, release
from generation.errors import GateError, UsageError
from generation.releases import files, runs
from tests.dataset_files import ROOT

pytestmark = pytest.mark.usefixtures("without_pictures")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on one article; not to be written to."""
    folder = tmp_path_factory.mktemp("run") / "run"
    source = str(ROOT / "examples" / "wilderness-act.md")
    command = [sys.executable, "-m", "generation", "generate", source, "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return folder


def test_a_run_becomes_a_release_with_its_article_recipe_and_yield(run: Path, tmp_path: Path) -> None:
    pool = runs.read_run(run)
    assert not pool.excerpts and [row["license"] for row in pool.articles.values()] == ["unknown"]
    out = tmp_path / "out"
    with pytest.raises(GateError, match='its licence, "unknown", is not known'):
        release.make(run, "0.1.0", out, allow=["splits"])
    release.make(run, "0.1.0", out, allow=["splits"], source_license="CC0")
    about = files.read_manifest(out)
    rows = [row for rows in dataset.rows_of(out / "data")["provenance"].values() for row in rows]
    assert about["recipes"][rows[0]["recipe"]]["checks"] == "all"
    stages, submitted = about["stages"], json.loads((run / "run.json").read_text(encoding="utf-8"))["submitted"]
    lost = sum(about["rows"]["default"].values()) + len(pool.rejected) + stages["nothing_offered"] + stages["failed"]
    assert stages["sections"] == submitted == lost == 6
    assert rows[0]["rounds"][0]["verdicts"][1]["reviewer"] == f"{rows[0]['generator']}/content_cohesion"
    assert "| sections given to a run | 6 |" in (out / "README.md").read_text(encoding="utf-8")


def test_an_article_that_cannot_be_read_again_is_an_excerpt_and_the_card_says_so(run: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(run, tmp_path / "run"))
    about = json.loads((moved / "run.json").read_text(encoding="utf-8"))
    about["settings"]["inputs"] = [str(tmp_path / "gone.md")]
    (moved / "run.json").write_text(json.dumps(about), encoding="utf-8")
    release.make(moved, "0.1.0", tmp_path / "out", allow=["splits"], source_license="CC0")
    assert "Of 1 articles only the sections are given" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_a_folder_that_is_nothing_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder of a run"):
        release.make(tmp_path / "nothing", "1.0.0", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no data"):
        release.make(tmp_path / "empty", "1.0.0", tmp_path / "out")

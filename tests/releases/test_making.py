"""A release is made whole or not at all, whatever kills it; the command says which."""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from generation import release
from generation.errors import UsageError
from generation.releases import files
from tests.dataset_files import ROOT


def test_a_folder_that_is_there_is_not_touched(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already"):
        release.make(data, "1.0.0", tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine.txt"]


KILLED_AFTER = ("data/default/train-00000-of-00001.parquet", "data/figures/kinds.png", "craqan.py", "manifest.json")


def test_a_release_killed_at_each_file_in_turn_leaves_a_hidden_part_that_the_next_one_clears(
    data: Path, tmp_path: Path
) -> None:
    out, part = tmp_path / "out", tmp_path / ".out.part"
    makers = multiprocessing.get_context("forkserver")  # processes of their own, the libraries loaded once
    makers.set_forkserver_preload(["generation.release", "datasets", "matplotlib.pyplot", "datasketch"])
    for file in KILLED_AFTER:
        maker = makers.Process(target=release.make, args=(data, "1.0.0", out))
        maker.start()
        until = time.monotonic() + 60
        while not (part / file).exists() and maker.is_alive() and time.monotonic() < until:
            time.sleep(0.0005)
        maker.kill()
        maker.join()
        if out.exists():  # the last file was written, and the kill came after the folder was moved
            break
        assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == [part.name], file
        (part / "left-over").write_text("by the killed one", encoding="utf-8")
    if not out.exists():
        release.make(data, "1.0.0", out)
    assert files.verify(out)["version"] == "1.0.0" and not part.exists() and not (out / "left-over").exists()


def test_the_command_prints_what_it_made_and_a_gate_is_exit_code_1(data: Path, tmp_path: Path) -> None:
    run = lambda *more: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "generation", "release", str(data), "--out", str(tmp_path / "out"), *more],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    stopped = run("--version", "1.0.0", "--policy", "reviewed")
    assert (stopped.returncode, stopped.stdout) == (1, "") and "was accepted by 0 people" in stopped.stderr
    done = run("--version", "1.0.0")
    assert done.returncode == 0 and "default: train 2, validation 1, test 1" in done.stdout
    assert json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["rows"]["default"]["train"] == 2

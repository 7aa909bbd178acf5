"""README.md against the tree and the command: its map is complete, its examples run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dataset_files import some_articles
from tests.model_server import ModelServer
from tests.test_cli import KEY, ROOT, within
from tests.test_resume import script

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAP = README.partition("## Where things are")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.partition("  #")[0].strip() for kind, text in BLOCKS if kind == "bash" for line in text.splitlines()]


def modules(folder):
    return sorted(p.name for p in (ROOT / folder).glob("*.py") if not p.name.startswith("_"))


@pytest.mark.parametrize("name", modules("generation") + modules("evaluation"))
def test_every_module_has_its_place_in_the_map(name):
    assert re.search(rf"(?<!\S){re.escape(name)}(?!\w)", MAP), f"{name} is not in README's map"


def test_every_module_in_the_map_exists():
    there = {p.name for folder in ("generation", "evaluation", "space", ".") for p in (ROOT / folder).glob("*.py")}
    assert {Path(name).name for name in re.findall(r"[\w/]+\.py", MAP)} <= there


def test_every_folder_has_its_place_in_the_map():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    folders = {name.split("/")[0] for name in tracked if "/" in name and not name.startswith(".")}
    folders |= {path.parent.name for path in (ROOT / "generation").glob("*/__init__.py")}
    assert [f for f in sorted(folders) if f"{f}/" not in MAP] == []


def test_no_placeholder_was_left():
    assert not re.search(r"^[A-Z]{3,}$", README, re.MULTILINE)


def test_the_test_command_is_the_one_that_ci_runs():
    assert "make test" in COMMANDS
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A few of the released rows: what the examples do with all of them is told by what they do with some."""
    return some_articles(tmp_path_factory.mktemp("few"))


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("craqan ")])
def test_the_craqan_commands_of_the_readme_run(command, data, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_bytes((ROOT / "examples" / "wilderness-act.md").read_bytes())
    (tmp_path / "data").symlink_to(data)
    if "--wikipedia" in command:
        pytest.skip("asks Wikipedia itself; the client is tested against a local server in test_wikipedia.py")
    arguments = shlex.split(command)[1:]
    if arguments[0] == "publish":
        pytest.skip("asks the Hub itself; publishing is tested against a local Hub in tests/releases")
    if arguments[0] == "show":
        assert within("generate", "docs", "--out", "runs/rules", cwd=tmp_path).returncode == 0
    if arguments[0] == "review" and arguments[1] != "start":
        assert within("review", "start", "review.sqlite", "data", cwd=tmp_path).returncode == 0
        assert within("review", "export", "review.sqlite", "votes.xlsx", cwd=tmp_path).returncode == 0
    with ModelServer(script) as server:
        if "--max-usd" in arguments:
            arguments += ["--prices", "2.5,10"]  # the stand-in server has no listed price
        if "--model" in arguments and "--dry-run" not in arguments:
            if "--base-url" in arguments:
                at = arguments.index("--base-url")
                del arguments[at : at + 2]
            arguments += ["--base-url", server.url]
        done = within(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", [t for kind, t in BLOCKS if kind == "python" and "127.0.0.1" not in t])
def test_the_python_examples_of_the_readme_run(code, data, tmp_path):
    """Those that call the page run in tests/browser/test_api.py."""
    checkout = tmp_path / "CRaQAn_checkout"
    checkout.mkdir()
    (checkout / "README.md").write_text(README, encoding="utf-8")
    (checkout / "data").symlink_to(ROOT / "data")
    (tmp_path / "data").symlink_to(data)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = code.replace("path/to/CRaQAn_checkout", str(checkout))
    environment = {"PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "hf"), "PATH": "", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_links_to_files_of_the_tree_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert Path(ROOT, target).exists(), target

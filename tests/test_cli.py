"""The command as a person runs it: files, exit codes, messages, and no key anywhere."""

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from generation import cli
from generation.rules import MIN_CONFIDENCE
from tests.model_server import ModelServer, failing
from tests.test_panel import NO, YES

ROOT = Path(__file__).parents[1]
ARTICLE = ROOT / "examples" / "wilderness-act.md"
KEY = "sk-canary-0123456789abcdef"


def craqan(*arguments, cwd=None, **environment):
    """Run the command in a process of its own, without any key but those given."""
    clean = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN")}
    return subprocess.run(
        [sys.executable, "-m", "generation", *map(str, arguments)],
        cwd=cwd or ROOT,
        env={**clean, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def within(*arguments, cwd=ROOT, **environment):
    """Run the command in this process, seconds sooner; what a process of its own adds is tested elsewhere."""
    printed, told, code = io.StringIO(), io.StringIO(), 0
    clean = {k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "HF_TOKEN")}
    with (
        chdir(cwd),
        patch.object(sys, "argv", ["craqan", *map(str, arguments)]),
        patch.dict(os.environ, {**clean, "COLUMNS": "100", **environment}, clear=True),
        redirect_stdout(printed),
        redirect_stderr(told),
    ):
        try:
            cli._run()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, printed.getvalue(), told.getvalue())


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def counts(out):
    summary = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return {k: summary[k] for k in ("submitted", "accepted", "rejected", "failed", "pending")}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "run"
    return out, craqan("generate", ARTICLE, "--out", out)


def test_the_embedded_default_generates_pairs_from_the_shipped_article(demo):
    out, done = demo
    assert done.returncode == 0, done.stderr
    assert counts(out)["submitted"] == 6 and counts(out)["accepted"] >= 1
    assert all(row["generator"].startswith("rules:") for row in lines(out / "accepted.jsonl"))


def test_the_command_asks_for_the_confidence_that_the_rules_do(demo):
    out, _ = demo
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))["settings"]["min_confidence"] == MIN_CONFIDENCE
    assert f"[default: ({MIN_CONFIDENCE})]" in craqan("generate", "--help").stdout


def test_show_tells_an_accepted_draft_of_low_confidence_from_a_pair_that_was_refused(tmp_path):
    craqan("generate", ARTICLE, "--out", tmp_path / "run", "--min-confidence", "0.3")
    marked = [row for row in lines(tmp_path / "run" / "accepted.jsonl") if row["reason"]]
    assert marked
    assert "Accepted, but" in craqan("show", tmp_path / "run" / "accepted.jsonl").stdout
    assert "Accepted, but" not in craqan("show", tmp_path / "run" / "rejected.jsonl").stdout


def test_the_counts_of_a_run_are_those_of_its_files(demo):
    out, _ = demo
    books = counts(out)
    for status in ("accepted", "rejected", "failed"):
        assert len(lines(out / f"{status}.jsonl")) == books[status]
    assert books["submitted"] == sum(books[s] for s in ("accepted", "rejected", "failed", "pending"))


def test_an_abstention_says_why_and_a_lower_confidence_lets_drafts_through(demo, tmp_path):
    out = tmp_path / "run"
    done = within("generate", ARTICLE, "--out", out, "--min-confidence", "0.97")
    assert done.returncode == 0, done.stderr
    reasons = [row["reason"] for row in lines(out / "rejected.jsonl") if not row["rounds"]]
    assert reasons and all(len(r.split()) > 5 for r in reasons)
    assert counts(out)["accepted"] < counts(demo[0])["accepted"]


def test_show_prints_question_answer_and_marks(demo):
    out, _ = demo
    done = craqan("show", out / "accepted.jsonl", "--limit", "1")
    row = lines(out / "accepted.jsonl")[0]
    printed = " ".join(done.stdout.replace("│", " ").split())
    assert row["question"] in printed and "refers to" in printed and "▸" in printed


def test_the_same_command_again_gives_the_same_files(demo):
    out, _ = demo
    before = (out / "accepted.jsonl").read_bytes()
    assert within("generate", ARTICLE, "--out", out).returncode == 0
    assert (out / "accepted.jsonl").read_bytes() == before


def test_another_setting_in_the_same_folder_is_refused_by_name(demo):
    out, _ = demo
    done = within("generate", ARTICLE, "--out", out, "--seed", "7")
    assert done.returncode == 2 and "seed" in done.stderr and "--resume never" in done.stderr


def test_two_runs_give_identical_pairs(demo, tmp_path):
    out, _ = demo
    craqan("generate", ARTICLE, "--out", tmp_path / "again")
    for name in ("accepted.jsonl", "rejected.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def model_script(request):
    """A model that drafts on whatever two sentences come first, and whose reviewers disagree on long questions."""
    sent = request["messages"][-1]["content"]
    if request["temperature"] != 0.7:
        return NO if "Aldo" in sent else YES
    if len(request["messages"]) > 2:
        return failing(400, "gone wrong on purpose")
    sentences = json.loads(sent)
    answer = " ".join(sentences[1]["sentence"].split()[1:4]).strip(".,")
    return {
        "question": "What stands in the second sentence about this?",
        "answer": answer,
        "required_sentence_indices": [0, 1],
        "coreferences": [],
    }


def test_a_model_over_http_gives_accepted_and_failed_sections(tmp_path):
    with ModelServer(model_script) as server:
        done = within(
            "generate", ARTICLE, "--out", tmp_path / "run", "--model", "m", "--base-url", server.url,
            "--checks", "format", OPENAI_API_KEY=KEY,
        )  # fmt: skip
    books = counts(tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert books["submitted"] == 6 and books["accepted"] and books["failed"] and books["pending"] == 0
    assert all(row["generator"] == "model:m" for row in lines(tmp_path / "run" / "accepted.jsonl"))
    usage = json.loads((tmp_path / "run" / "run.json").read_text())["usage"]
    assert usage["generator"]["calls"] >= 6 and usage["total"]["prompt_tokens"] > 0


def test_no_key_reaches_a_file_or_the_terminal(tmp_path):
    with ModelServer(lambda request: failing(400, f"internal error for key {KEY}")) as server:
        done = craqan(
            "generate", ARTICLE, "--sections", "1", "--out", tmp_path / "run", "--model", "m", "--base-url", server.url,
            OPENAI_API_KEY=KEY,
        )  # fmt: skip
    files = [p for p in (tmp_path / "run").iterdir() if p.is_file()]
    everything = done.stdout.encode() + done.stderr.encode() + b"".join(p.read_bytes() for p in files)
    assert b"internal error" in everything and KEY.encode() not in everything


def test_a_wrong_key_ends_the_run_with_one_sentence(tmp_path):
    with ModelServer(lambda request: failing(401, "Incorrect API key")) as server:
        done = within(
            "generate", ARTICLE, "--out", tmp_path / "run", "--model", "m", "--base-url", server.url, OPENAI_API_KEY=KEY
        )
    assert done.returncode == 1
    assert "key" in done.stderr and "Traceback" not in done.stderr and KEY not in done.stderr


def test_without_a_key_the_error_names_what_to_set(tmp_path):
    done = within("generate", ARTICLE, "--out", tmp_path / "run", "--model", "gpt-4o")
    assert done.returncode == 2 and "OPENAI_API_KEY" in done.stderr and "Traceback" not in done.stderr


def test_a_prompt_set_of_ones_own_is_used_as_it_is(tmp_path):
    def script(request):
        return {"question": "What?", "answer": "x", "required_sentence_indices": [0]}  # never passes the checks

    with ModelServer(script) as server:
        within(
            "generate", ARTICLE, "--sections", "1", "--out", tmp_path / "run", "--model", "m", "--base-url", server.url,
            "--prompts", ROOT / "tests" / "paper_prompts",
        )  # fmt: skip
        first = server.requests[0]
    assert [m["role"] for m in first["messages"]] == ["user"]
    assert "wilderness" in first["messages"][0]["content"].lower()


BAD_INPUTS = {
    "binary.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 20,
    "empty.md": b"",
    "latin.txt": "Café ".encode("latin-1") * 50,
    "short.md": b"# binary.md, latin.txt, empty.md, nosuch.md and short.md\n\nOnly one sentence.\n",
}


def test_bad_inputs_are_named_and_the_others_go_on(tmp_path):
    for name, content in BAD_INPUTS.items():
        (tmp_path / name).write_bytes(content)
    done = within("generate", tmp_path / "*.*", ARTICLE, tmp_path / "nosuch.md", "--out", tmp_path / "run")
    skipped = json.loads((tmp_path / "run" / "run.json").read_text())["skipped"]
    assert done.returncode == 0 and counts(tmp_path / "run")["submitted"] == 6
    for name in (*BAD_INPUTS, "nosuch.md"):
        assert any(name in s["name"] for s in skipped), name
    assert len({s["reason"] for s in skipped}) == 5
    assert done.stderr.count("Skipped") == 5


def test_nothing_left_to_work_on_is_an_error(tmp_path):
    (tmp_path / "short.md").write_text("# Title\n\nOnly one sentence.\n")
    done = within("generate", tmp_path / "short.md", "--out", tmp_path / "run")
    assert done.returncode == 1 and "sentences" in done.stderr and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["state"] == "running"


WRONG_CALLS = [
    "generate",
    "nonsense",
    "generate x.md --sections few",
    "generate x.md --sections \u00b2",
    "generate x.md --segmenter coin",
    "generate x.md --max-candidates -1",
    "generate x.md --timeout -1",
    "generate x.md --min-confidence 5",
    "generate x.md --base-url http://127.0.0.1:9/v1",
    "generate x.md --prompts tests/paper_prompts",
    "generate x.md --panel joint",
    "generate x.md --max-usd 5",
    "generate x.md --prompts nowhere --model m --base-url http://127.0.0.1:9/v1",
    "generate x.md --model m",
    "generate x.md --model m --base-url http://127.0.0.1:99999/v1",
    "generate x.md --model m --base-url http://[::zz]/v1",
    "show nosuch.jsonl",
    "calls nosuch",
]


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_exits_with_two(call, tmp_path):
    arguments = call.split()
    done = within(*arguments, *(["--out", tmp_path / "run"] if arguments[0] == "generate" else []))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "accepted.jsonl").exists()


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = within("generate", ARTICLE, "--out", tmp_path / "file")
    assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "row", ['{"sentences": ["a b."], "question": "q?"}', '{"sentences": [{"t": 1}]}', '{"sentences": 5}']
)
def test_show_names_a_file_whose_rows_are_not_whole(row, tmp_path):
    (tmp_path / "rows.jsonl").write_text(row)
    done = within("show", tmp_path / "rows.jsonl")
    assert done.returncode == 1 and "rows.jsonl" in done.stderr and "Traceback" not in done.stderr


def test_a_call_that_failed_at_once_does_not_keep_the_folder(tmp_path):
    (tmp_path / "empty.md").write_text("")
    assert within("generate", tmp_path / "empty.md", "--out", tmp_path / "run").returncode == 1
    assert within("generate", ARTICLE, "--sections", "1", "--out", tmp_path / "run").returncode == 0


def test_nothing_but_a_runs_own_files_is_thrown_away(tmp_path):
    out = tmp_path / "run"
    within("generate", ARTICLE, "--sections", "1", "--out", out)
    (out / "mine.jsonl").write_text("precious")
    within("generate", ARTICLE, "--sections", "2", "--out", out, "--resume", "never")
    assert (out / "mine.jsonl").read_text() == "precious" and counts(out)["submitted"] == 2


@pytest.mark.parametrize("resume", ["if-possible", "never"])
def test_rows_that_no_run_wrote_are_not_overwritten(resume, tmp_path):
    (tmp_path / "accepted.jsonl").write_text("precious")
    done = within("generate", ARTICLE, "--sections", "1", "--out", tmp_path, "--resume", resume)
    assert done.returncode == 2 and (tmp_path / "accepted.jsonl").read_text() == "precious"


def test_help_shows_every_default():
    printed = craqan("generate", "--help").stdout
    for default in ("runs/NAME", "all", "nupunkt", "16", "0.7", "0.3", "60.0", "prompts/", "rules"):
        assert f"default: {default}" in " ".join(printed.split()) or default in printed


def test_importing_the_package_brings_in_nothing_heavy():
    heavy = ("spacy", "gradio", "openai", "datasets", "aiohttp", "trafilatura")
    code = f"import sys, generation, generation.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_released_rows_pass_every_invariant():
    done = within("validate", "data")
    assert done.returncode == 0 and "default: train" in done.stdout

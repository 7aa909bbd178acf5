"""Files that are missing, folders, empty, binary or of the wrong kind: one sentence, and nothing is lost."""

import json

import pytest

from generation import errors, files
from tests.test_cli import ARTICLE, ROOT, within
from tests.test_drafts import DRAFTS

PAIR = (ROOT / "data" / "default" / "test.jsonl").read_text(encoding="utf-8").partition("\n")[0]


@pytest.fixture
def bad(tmp_path):
    """A folder of files that nobody can use, and one that all can."""
    contents = {
        "empty": b"",
        "binary": bytes(range(256)),
        "broken": f"{PAIR}\n{{oops\n".encode(),
        "deep": b"[" * 100_000,
        "list": b"[1, 2]\n",
        "good": PAIR.encode(),
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.jsonl").write_bytes(content)
    (tmp_path / "folder.jsonl").mkdir()
    return tmp_path


READING = {
    "show": "show FILE",
    "check": "check FILE",
    "check --against": "check GOOD --against FILE",
    "generate --against": f"generate {ARTICLE} --out OUT --against FILE",
    "prove": "prove FILE --out OUT",
    "audit": "audit FILE",
    "audit --votes": "audit GOOD --votes FILE",
    "assemble": "assemble FILE --out OUT",
    "calls": "calls FILE",
    "validate": "validate FILE",
    "publish": "publish FILE --repo a/b --dry-run",
    "review start": "review start OUT FILE",
    "review start --gold": "review start OUT GOOD --gold FILE",
    "review start --guidelines": "review start OUT GOOD --guidelines FILE",
    "review status": "review status FILE",
    "review start, beneath": "review start FILE/review GOOD",
}
NOT_THERE = ("does not exist", "holds no data", "No drafts are in", "has no manifest.json")


@pytest.mark.parametrize("command", READING)
def test_a_file_of_no_use_is_one_sentence_and_an_exit_code(command, bad):
    for name in ("nowhere", "folder", "empty", "binary", "broken", "deep", "list"):
        file = bad / f"{name}.jsonl"
        if (command, name) in FINE or name in ("nowhere", "folder") and "beneath" in command:
            continue
        before = file.read_bytes() if file.is_file() else None
        words = {"FILE": file, "GOOD": bad / "good.jsonl", "OUT": bad / "out", "FILE/review": file / "review"}
        done = within(*(words.get(word, word) for word in READING[command].split()))
        assert done.returncode in (1, 2), (name, done.stdout, done.stderr)
        assert 0 < done.stderr.count("\n") <= 3 and "Traceback" not in done.stderr, done.stderr
        assert name != "nowhere" or any(words in done.stderr for words in NOT_THERE), done.stderr
        assert "[Errno" not in done.stderr
        assert (file.read_bytes() if file.is_file() else None) == before
        assert not (bad / "out").is_file()


FINE = {
    ("show", "empty"),  # a run may well have rejected nothing
    ("review start", "empty"),
    *(("review start --guidelines", name) for name in ("broken", "deep", "list")),  # any text will do
}


def test_a_place_that_cannot_be_written_to_is_told(bad):
    review, full = bad / "review.sqlite", bad / "good.jsonl"
    assert within("review", "start", review, full).returncode == 0
    done = within("review", "export", review, full / "votes.jsonl")
    assert done.returncode == 2 and "cannot be written (Not a directory)" in done.stderr
    assert full.read_text(encoding="utf-8") == PAIR


def test_drafts_that_are_there_are_taken_and_none_is_told_by_the_folders_name(tmp_path):
    done = within("assemble", tmp_path / "nowhere", "--out", tmp_path / "data")
    assert done.returncode == 2 and f"No drafts are in {tmp_path / 'nowhere'}" in done.stderr
    assert "No drafts" not in within("assemble", DRAFTS, "--out", tmp_path / "data").stderr


def test_earlier_pairs_that_ask_nothing_protect_nothing_and_are_refused(tmp_path):
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text(json.dumps({"answer": "1974"}) + "\n")
    done = within("generate", ARTICLE, "--out", tmp_path / "run", "--against", earlier)
    assert done.returncode == 1 and "asks nothing" in done.stderr and not (tmp_path / "run").exists()


def test_a_file_is_read_without_its_byte_order_mark_and_only_a_newline_ends_a_line(tmp_path):
    path = tmp_path / "file"
    path.write_bytes('\ufeff{"a": "x\u2028y"}\r\n\n{"b": 1}'.encode())
    assert [(n, json.loads(line)) for n, line in files.read_lines(path)] == [(1, {"a": "x\u2028y"}), (3, {"b": 1})]
    assert files.read_text(path, "a file").startswith("{")
    with pytest.raises(errors.UsageError, match="does not exist; give a file"):
        files.read_text(tmp_path / "none", "a file")

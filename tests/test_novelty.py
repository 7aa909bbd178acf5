"""A run asks no question twice, whichever section was finished first."""

import json
import random

import pytest

from tests.model_server import Canned, ModelServer
from tests.test_cli import counts, lines, within

SECTIONS = 6
FINE = {"reason": "Seen.", "problems": [], "is_quality": True}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for n in range(SECTIONS):
        city = " ".join(f"W{random.Random(n + k / 99).randrange(10**6)}" for k in range(20))
        passage = f"The Harbor Act was passed in {1900 + n} in {city}. It requires {n + 2} rafts. No more is known."
        (folder / f"a{n}.md").write_text(f"# Title {n}\n\n{passage}\n")
    return folder


def model(slow, requests_of=lambda n: "the Harbor Act" if n in (1, 4) else f"the Harbor Act of {1900 + n}"):
    """Sections 1 and 4 are asked the same; the section `slow` is answered last."""

    def script(request):
        sent = json.dumps(request["messages"])
        n = next(n for n in range(SECTIONS) if f"passed in {1900 + n} in" in sent)
        delay = 0.3 if n == slow else 0.0
        if request["temperature"] != 0.7:
            return Canned(json.dumps(FINE), delay=delay)
        mention = {"sentence_index": 1, "text": "It"}
        pair = {
            "question": f"How many rafts does {requests_of(n)} require?",
            "answer": f"{n + 2} rafts",
            "required_sentence_indices": [0, 1],
            "coreferences": [
                {
                    "kind": "pronominal",
                    "mention": mention,
                    "antecedent": {"sentence_index": 0, "text": "The Harbor Act"},
                }
            ],
        }
        return Canned(json.dumps(pair), delay=delay)

    return script


def run(corpus, out, script, *more):
    with ModelServer(script) as server:
        done = within("generate", corpus, "--out", out, "--model", "m", "--base-url", server.url, *more)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("slow", [1, 4])
def test_the_first_of_two_equal_questions_in_the_input_stays_whichever_is_finished_first(slow, corpus, tmp_path):
    done = run(corpus, tmp_path / "run", model(slow))
    assert counts(tmp_path / "run") == {"submitted": 6, "accepted": 5, "rejected": 1, "failed": 0, "pending": 0}
    (rejected,) = lines(tmp_path / "run" / "rejected.jsonl")
    assert rejected["article_title"] == "Title 4"
    assert rejected["reason"].startswith("repeats: The question repeats the one of title-1/0")
    assert "repeats: other 1" in done.stderr


def test_a_question_of_an_earlier_set_is_not_asked_again(corpus, tmp_path):
    run(corpus, tmp_path / "first", model(slow=None), "--max-candidates", "3")
    run(corpus, tmp_path / "second", model(slow=None), "--against", tmp_path / "first" / "accepted.jsonl")
    kept = [row["article_title"] for row in lines(tmp_path / "second" / "accepted.jsonl")]
    assert kept == ["Title 3", "Title 5"]
    assert all("accepted.jsonl, line" in row["reason"] for row in lines(tmp_path / "second" / "rejected.jsonl"))


def test_a_repeated_question_does_not_count_towards_the_target(corpus, tmp_path):
    run(corpus, tmp_path / "run", model(slow=None), "--accept", "5", "--concurrency", "1")
    assert counts(tmp_path / "run")["accepted"] == 5


def test_repeated_questions_are_kept_on_demand(corpus, tmp_path):
    run(corpus, tmp_path / "run", model(slow=None), "--keep-duplicates")
    assert counts(tmp_path / "run")["accepted"] == 6


def test_a_file_to_compare_with_that_is_not_there_is_a_wrong_call(corpus, tmp_path):
    done = within("generate", corpus, "--out", tmp_path / "run", "--against", tmp_path / "none.jsonl")
    assert done.returncode == 2 and "none.jsonl" in done.stderr

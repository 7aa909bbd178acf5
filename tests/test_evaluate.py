"""`evaluate` as a whole: the same figures again after a kill, every fault one sentence, results that say all."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import evaluation
from evaluation import adapters
from evaluation.cells import Shelf
from evaluation.examples import limited
from evaluation.harness import Options
from evaluation.plots import frontier
from evaluation.report import LEAST
from generation.cli import main
from generation.errors import CraqanError, InputError, UsageError
from generation.running.budget import by_hand
from generation.running.session import Limits
from tests.model_server import ModelServer, failing
from tests.test_chunkers_by_meaning import Echo, Letters
from tests.test_cli import KEY, ROOT, craqan
from tests.test_readers import SET
from tests.test_retrieval import Shortest

DATA = ROOT / "data"
PAIRS = DATA / "default" / "test.jsonl"
SHARED = Path(__file__).parents[2] / "shared"
CHUNKERS = ["sentences:1", "tokens:60"]


@pytest.fixture
def undrawn(monkeypatch):
    """Plots have a test of their own and take longer than all else here."""
    monkeypatch.setattr("evaluation.plots.draw", lambda results, folder: [])


def figures(results):
    return {cell.name: {id: {n: v for n, v in row.items() if n != "usage"} for id, row in cell.rows.items()}
            for cell in results.cells}  # fmt: skip


def test_five_lines_give_a_table():
    results = evaluation.evaluate(SET, chunkers=CHUNKERS, retrievers=["bm25"], readers=["extractive"], k=(1, 2))
    assert "| sentences:1 | bm25 |" in results.markdown()
    assert results.mean(results.retrieval[0], "recall@2") == 0.5
    assert [c.name for c in results.reading][0] == "given context > extractive-1"


def test_a_chunker_that_is_any_function_and_a_retriever_of_ones_own():
    def halves(text):
        return [(0, len(text) // 2), (len(text) // 2, len(text))]

    class Backwards:
        name = "backwards"

        def index(self, texts):
            return self

        def search(self, questions, k):
            from evaluation.retrieval import Hit

            return [[Hit(i, -i) for i in (5, 4, 3)] for _ in questions]

    results = evaluation.evaluate(SET, chunkers=[halves], retrievers=[Backwards()], k=[1])
    assert results.retrieval[0].name == "halves / backwards"


def test_it_works_inside_a_notebooks_loop():
    async def cell():
        return evaluation.evaluate(SET, chunkers=CHUNKERS, k=[1], readers=["extractive"])

    assert asyncio.run(cell()).retrieval


def test_a_second_run_computes_nothing_and_gives_the_same(tmp_path, undrawn):
    said = []
    first = evaluation.evaluate(SET, CHUNKERS, ["bm25"], ["extractive"], out=tmp_path)
    second = evaluation.evaluate(SET, CHUNKERS, ["bm25"], ["extractive"], out=tmp_path, say=said.append)
    assert figures(first) == figures(second)
    assert all("kept" in line for line in said if "/" in line or ">" in line)


def test_other_questions_or_settings_are_not_taken_for_these(tmp_path, undrawn):
    evaluation.evaluate(SET, CHUNKERS, ["bm25"], out=tmp_path)
    before = len(list((tmp_path / "rows").iterdir()))
    changed = replace(SET, examples=(replace(SET.examples[0], question="What is a raft?"), *SET.examples[1:]))
    evaluation.evaluate(changed, CHUNKERS, ["bm25"], out=tmp_path)
    evaluation.evaluate(SET, CHUNKERS, ["bm25"], out=tmp_path, options=Options(words=7))
    assert len(list((tmp_path / "rows").iterdir())) == 3 * before


def test_a_line_cut_by_a_kill_is_done_again_and_a_damaged_one_told(tmp_path, undrawn):
    first = evaluation.evaluate(SET, ["sentences:1"], ["bm25"], ["extractive"], out=tmp_path)
    for path in (tmp_path / "rows").iterdir():
        path.write_bytes(path.read_bytes()[:-20])
    second = evaluation.evaluate(SET, ["sentences:1"], ["bm25"], ["extractive"], out=tmp_path)
    assert figures(first) == figures(second)
    for path in (tmp_path / "rows").iterdir():
        path.write_text("{}\n" + path.read_text())
    with pytest.raises(InputError, match="delete that file"):
        evaluation.evaluate(SET, ["sentences:1"], ["bm25"], out=tmp_path)


def test_a_killed_command_goes_on(tmp_path, monkeypatch, capsys):
    arguments = ["evaluate", str(PAIRS), "--readers", "extractive", "--out", "run",
                 "--chunkers", "sentences:1,tokens:60", "--reader-limit", "4"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(
        [sys.executable, "-m", "generation", *arguments],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob("run/rows/*.jsonl")) and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (tmp_path / "run" / "results.json").exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["craqan", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert " kept" in capsys.readouterr().err
    fresh = evaluation.evaluate(PAIRS, CHUNKERS, ["bm25"], ["extractive"], options=Options(reader_limit=4))
    told = json.loads((tmp_path / "run" / "results.json").read_text())
    for cell, ours in zip(told["cells"], fresh.cells, strict=True):
        name = "f1" if cell["reader"] else "mrr"
        assert cell["measures"][name]["mean"] == pytest.approx(fresh.mean(ours, name))


def test_results_say_all_that_they_depend_on(tmp_path):
    results = evaluation.evaluate(PAIRS, CHUNKERS, ["bm25"], k=(1, 5), out=tmp_path)
    told = json.loads((tmp_path / "results.json").read_text())
    assert told["set"]["digest"] == results.examples.digest
    assert told["settings"]["k"] == [1, 5] and told["settings"]["chunkers"] == ["sentences:1", "tokens:60@words"]
    assert told["code_version"] and told["made_at"] and told["state"] == "finished"
    assert {d["measure"] for d in told["differences"]} == {"whole@5", "whole@400w"}
    assert (tmp_path / "table.md").read_text() == results.markdown()
    assert {p.name for p in (tmp_path / "plots").iterdir()} >= {"size.png", "pareto.png"}


def test_all_differences_that_are_shown_share_one_correction():
    three, some = ["sentences:1", "sentences:3", "tokens:60"], Options(reader_limit=4)
    results = evaluation.evaluate(PAIRS, three, ["bm25"], ["extractive"], options=some)
    assert len(results.differences) == 2 * 2 + 3
    assert results.markdown().count("[+") + results.markdown().count("[-") == len(results.differences)
    assert all(d.p_holm >= d.found.p for d in results.differences)
    smallest = min(results.differences, key=lambda d: d.found.p)
    assert smallest.p_holm == pytest.approx(min(1, len(results.differences) * smallest.found.p))


def test_groups_too_small_to_say_anything_are_left_out():
    results = evaluation.evaluate(DATA, ["sentences:1"], ["bm25"], options=Options(split="test"))
    assert all(len(ids) >= LEAST for ids in results.parts(lambda e: str(e.distance)).values())


def test_a_part_of_the_questions_is_the_same_part_each_time():
    pairs = adapters.load(PAIRS)
    assert [e.id for e in limited(pairs, 4, 0).examples] == [e.id for e in limited(pairs, 4, 0).examples]
    assert len(limited(pairs, 4, 0).examples) == 4
    assert limited(pairs, 4, 0).documents == pairs.documents


def test_the_pareto_frontier_leaves_out_what_is_beaten():
    assert frontier([(2, 5), (1, 3), (3, 4), (4, 5), (5, 9)]) == [(1, 3), (2, 5), (5, 9)]


def by_role(request):
    system = request["messages"][0]["content"]
    if "prepare a search" in system:
        return {"reason": "parts", "questions": ["Which act is it?", "Who sold the mill?"]}
    return {"reasoning": "so", "cited": ["1.1"], "answer": "two rafts"}


def options_for(server, **more):
    return Options(model="m", base_url=server.url, limits=Limits(prices=by_hand(1, 1), **more))


def test_visconde_is_paid_once_and_its_cost_told(tmp_path, undrawn):
    with ModelServer(by_role) as server:
        first = evaluation.evaluate(
            SET, ["sentences:1"], ["bm25"], ["visconde"], out=tmp_path, options=options_for(server)
        )
        calls = len(server.calls)
        for path in (tmp_path / "rows").iterdir():
            path.unlink()
        second = evaluation.evaluate(
            SET, ["sentences:1"], ["bm25"], ["visconde"], out=tmp_path, options=options_for(server)
        )
        assert len(server.calls) == calls  # all from the journal
    assert calls == 3 + 2 * 3  # read from the given context; decomposed, then read from what was found
    assert figures(first) == figures(second)
    cell = first.reading[-1]
    assert first.cost(cell)["usd"] == pytest.approx(6 * 120 / 1e6)
    assert {row["f1"] for row in cell.rows.values()} == {0.0, 1.0}


def test_what_a_model_fails_at_is_counted_and_asked_again(tmp_path, undrawn):
    sick = lambda request: failing(400, "no") if "Bob" in json.dumps(request["messages"][-1]) else by_role(request)  # noqa: E731
    with ModelServer(sick) as server:
        results = evaluation.evaluate(SET, (), (), ["visconde:zero:whole"], out=tmp_path, options=options_for(server))
    assert (len(results.reading[0].rows), len(results.reading[0].failed)) == (1, 2)
    assert "| 1 | 2 |" in results.markdown()
    with ModelServer(by_role) as server:
        asked = replace(options_for(server), base_url=server.url)
        results = evaluation.evaluate(SET, (), (), ["visconde:zero:whole"], out=tmp_path, options=asked)
    assert (len(results.reading[0].rows), len(results.reading[0].failed)) == (3, 0)


def test_a_spent_budget_stops_with_what_is_done(tmp_path, undrawn):
    with ModelServer(by_role, delay=0.05) as server:
        options = options_for(server, max_usd=0.0002, concurrency=1)
        results = evaluation.evaluate(
            SET, ["sentences:1"], ["bm25"], ["extractive", "visconde"], out=tmp_path, options=options
        )
    assert "are spent" in str(results.stopped)
    assert json.loads((tmp_path / "results.json").read_text())["state"] == "stopped"
    assert "**Not finished:**" in results.markdown()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.jsonl"], 2, "There is no nowhere.jsonl"),
        (["empty.jsonl"], 1, "holds no question"),
        (["nocolumn.jsonl"], 1, "no known format"),
        (["range.jsonl"], 1, "lie outside the 1 of the passage"),
        (["twice.jsonl"], 1, 'has the id "1" on two questions'),
        (["start.json"], 1, "begins at 99, outside the context's 11 characters"),
        (["good.jsonl", "--chunkers", "magic:5"], 2, 'no chunker "magic"'),
        (["good.jsonl", "--chunkers", "tokens:x"], 2, "tokens:SIZE"),
        (["good.jsonl", "--retrievers", "bm42"], 2, 'no retriever "bm42"'),
        (["good.jsonl", "--readers", "oracle"], 2, 'no reader "oracle"'),
        (["good.jsonl", "--readers", "visconde"], 2, "--model"),
        (["good.jsonl", "--k", "0,5"], 2, "from 1"),
        (["good.jsonl", "--k", "five"], 2, "whole numbers"),
        (["good.jsonl", "--chunkers", ""], 2, "Nothing to evaluate"),
        (["good.jsonl", "--split", "test"], 2, "has no splits"),
        (["good.jsonl", "--readers", "visconde", "--model", "m", "--max-usd", "1"], 2, "--prices"),
    ],
)
def test_each_fault_is_one_sentence(arguments, code, words, tmp_path, monkeypatch, capsys):
    pair = {"sentences": ["A man came."], "question": "Who?", "answer": "A man"}
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "nocolumn.jsonl").write_text('{"text": "x"}\n')
    (tmp_path / "range.jsonl").write_text(json.dumps(pair | {"required_sentence_indices": [0, 4]}))
    found = pair | {"required_sentence_indices": [0], "id": "1"}
    (tmp_path / "twice.jsonl").write_text(f"{json.dumps(found)}\n{json.dumps(found | {'question': 'Whose?'})}")
    asked = [{"id": "q", "question": "Who?", "answers": [{"text": "man", "answer_start": 99}]}]
    (tmp_path / "start.json").write_text(
        json.dumps({"data": [{"paragraphs": [{"context": "A man came.", "qas": asked}]}]})
    )
    (tmp_path / "good.jsonl").write_text(json.dumps(pair | {"required_sentence_indices": [0]}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(sys, "argv", ["craqan", "evaluate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert (ended.value.code, words in told) == (code, True), told
    assert len(told.strip().splitlines()) == 1


def test_a_fault_in_a_process_of_its_own_is_one_sentence_and_no_traceback(tmp_path):
    done = craqan("evaluate", "nowhere.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()[:8], len(done.stderr.strip().splitlines())) == (2, "craqan: ", 1)


def test_a_missing_split_is_told(tmp_path):
    with pytest.raises(UsageError, match='no split "dev"'):
        evaluation.evaluate(DATA, options=Options(split="dev"))


class Aware(Letters):
    """An embedder whose tokens know all words before them."""

    name, window = "aware", 10_000
    tokens = Echo.tokens
    read: list[str] = []


def test_late_chunks_are_ranked_by_vectors_that_know_the_text_before_them(tmp_path, undrawn):
    from evaluation.retrieval import BM25, Dense, Hybrid

    retrievers = [BM25(), Dense(Aware()), Hybrid((BM25(), Dense(Aware()))), Dense(Letters())]
    names, said = ["sentences:1", "late:sentences:1"], []
    results = evaluation.evaluate(PAIRS, names, retrievers, out=tmp_path, say=said.append)
    ranked = {cell.name: [row["ranked"] for row in cell.rows.values()] for cell in results.retrieval}
    plain, late = (f"{name} / " for name in ("sentences:1", "late:sentences:1 (aware)"))
    for retriever, changes in {
        "bm25": False,
        "dense:aware": True,
        "hybrid:aware": True,
        "dense:letters": False,
    }.items():
        assert (ranked[plain + retriever] != ranked[late + retriever]) is changes
    assert sum("no use for late vectors" in line for line in said) == 2
    again = evaluation.evaluate(PAIRS, names, retrievers, out=tmp_path)
    assert figures(again) == figures(results)


def test_the_vectors_of_a_late_chunk_are_what_is_searched():
    from evaluation.retrieval import Dense, LateRows, Qdrant, Reranked, indexed

    texts, question = ["it has two rafts", "bob lost it"], ["bob lost it"]
    rows = Aware().embed(texts[::-1])
    for retriever in (Dense(Aware()), Qdrant(Aware()), Reranked(Dense(Aware()), Shortest())):
        first = retriever.index(texts).search(question, 2)[0][0].index
        swapped = indexed(retriever, texts, LateRows("aware", rows)).search(question, 2)[0][0].index
        other = indexed(retriever, texts, LateRows("another model", rows)).search(question, 2)[0][0].index
        assert other == first
        assert swapped == (first if isinstance(retriever, Reranked) else 1 - first)  # a reranker reads the texts


def test_late_needs_a_retriever_that_embeds_tokens():
    with pytest.raises(UsageError, match="dense:st/MODEL"):
        evaluation.evaluate(SET, ["late:sentences:1"], ["bm25"])


def test_a_reranker_joins_in():
    from evaluation.retrieval import BM25, Reranked

    results = evaluation.evaluate(SET, ["sentences:1"], [BM25(), Reranked(BM25(), Shortest())], k=[1])
    assert len(results.differences) == 2


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CraqanError, match="cannot be made"):
        Shelf(tmp_path / "file" / "rows")


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not there")
@pytest.mark.parametrize("file", ["quoref/quoref-dev-public.json", "hotpotqa/hotpot_dev_distractor_public.json",
                                  "qed/qed-dev-public.jsonlines"])  # fmt: skip
def test_neighbours_sets_are_evaluated(file):
    results = evaluation.evaluate(SHARED / "data" / file, ["sentences:3"], ["bm25"], options=Options(limit=20))
    assert 0.3 < results.mean(results.retrieval[0], "recall@20") <= 1


def test_rows_with_other_line_separators_are_read_again(tmp_path):
    shelf = Shelf(tmp_path)
    rows = [{"id": "a\u2028b\x85c"}, {"id": "d", "answer": "\u2029\x0b\x1c"}]
    shelf.add("key", rows)
    assert list(shelf.read("key").values()) == rows


def test_one_passage_alone_has_no_interval(tmp_path):
    row = {"sentences": ["The Harbor Act passed.", "It funds two piers."], "question": "How many?", "answer": "two"}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({**row, "required_sentence_indices": [0, 1]}) + "\n", encoding="utf-8")
    told = evaluation.evaluate(path, chunkers=["sentences:1", "sentences:2"]).markdown()
    assert "| 100.0 |" in told and "[" not in told


@pytest.mark.parametrize("taken", ["cache", "plots", "results.json"])
def test_a_place_in_the_folder_that_is_taken_is_one_sentence(tmp_path, taken):
    row = {"sentences": ["The Harbor Act passed.", "It funds two piers."], "question": "How many?", "answer": "two"}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({**row, "required_sentence_indices": [0, 1]}) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    if taken == "results.json":
        (out / taken).mkdir()
    else:
        (out / taken).touch()
    with pytest.raises(InputError, match=f"{taken}.*(cannot be written|cannot hold embeddings)"):
        evaluation.evaluate(
            path, chunkers=["sentences:1"], retrievers=["dense" if taken == "cache" else "bm25"], out=out
        )

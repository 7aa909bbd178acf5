"""The proof: the matrix, what follows from it, and that it runs like all else, by HTTP, journal and loop."""

import json

import pytest

from generation import proof
from generation.api import generate
from generation.errors import ReplyError, UsageError
from generation.llm import OpenAIChat
from generation.panel import from_prompts
from generation.prompts import CANNOT_TELL, load, load_set
from generation.proof import ModelJudge, ModelReader, Prover, contexts
from generation.records import Proof, Reading
from generation.refine import refine
from generation.run import outcomes
from tests.helpers import PASSAGE, ScriptedGenerator, ScriptedReviewer, candidate_of, section_of
from tests.model_server import ModelServer
from tests.test_cli import KEY, lines, within

SECTION = section_of()
GOOD = candidate_of()
WIDE = candidate_of(indices=(0, 1, 2))
NARROW = candidate_of(indices=(1, 2))
ANSWER = "two rafts"


def understanding(sentences):
    """A reader who understands: who needs to see the Act's name and what it requires."""
    text = " ".join(sentences)
    return ANSWER if "Harbor Safety Act" in text and "It requires" in text else CANNOT_TELL


class Scripted:
    """A reader that answers by a function of the sentences; it keeps what it was shown."""

    name = "scripted"

    def __init__(self, answer=understanding):
        self.answer = answer
        self.seen = []

    async def read(self, sentences, question, chat=None):
        self.seen.append(tuple(sentences))
        return self.answer(sentences)


async def verdict_of(answer, candidate=GOOD, **options):
    prover = Prover(Scripted(answer), **options)
    found = await prover.prove(SECTION, candidate)
    return found, prover.verdict(found)


def test_the_reader_is_shown_the_section_the_required_sentences_each_left_out_and_nothing():
    assert contexts(4, (0, 2)) == {
        "section": (0, 1, 2, 3),
        "required": (0, 2),
        "required without 0": (2,),
        "required without 2": (0,),
        "section without 0": (1, 2, 3),
        "section without 2": (0, 1, 3),
        "nothing": (),
    }


async def test_a_pair_is_proven_that_needs_each_of_its_sentences_and_no_other():
    found, verdict = await verdict_of(understanding)
    assert found.is_proven and verdict.is_quality and verdict.problems == ()
    right = {r.context for r in found.readings if r.is_right}
    assert right == {"section", "required"}


async def test_a_sentence_whose_removal_changes_nothing_is_irrelevant():
    found, verdict = await verdict_of(understanding, WIDE)
    assert found.not_needed == (1,) and not found.is_proven
    assert verdict.problems == ("irrelevant_sentences",) and "sentence 1" in verdict.reason


async def test_required_sentences_that_do_not_suffice_are_missing_some():
    found, verdict = await verdict_of(understanding, NARROW)
    assert found.is_answered and not found.is_sufficient
    assert verdict.problems == ("missing_sentences",)


async def test_another_answer_from_the_whole_section_makes_the_question_ambiguous():
    _, verdict = await verdict_of(lambda s: "a red lamp" if len(s) == 4 else understanding(s))
    assert verdict.problems == ("ambiguous_question",) and "a red lamp" in verdict.reason


@pytest.mark.parametrize(
    "reply",
    [
        "Cannot tell.",
        "I can't tell from the sentences.",
        "The text does not say who did it.",
        "Not stated in the text",
        "Unknown",
        "It cannot be determined from the passage.",
        "Not enough information.",
        "I don\u2019t know.",
    ],
)
def test_cannot_tell_in_other_words_is_read_as_that(reply):
    assert proof._answer(json.dumps({"answer": reply})) == CANNOT_TELL


@pytest.mark.parametrize("reply", ["not guilty", "an unknown sailor", "unable to pay", "cannot be appealed"])
def test_an_answer_with_a_negation_is_an_answer(reply):
    assert proof._answer(json.dumps({"answer": reply})) == reply


async def test_an_answer_that_nobody_finds_is_wrong_information():
    _, verdict = await verdict_of(lambda sentences: CANNOT_TELL)
    assert verdict.problems == ("wrong_information",)


async def test_a_stand_in_elsewhere_in_the_section_is_reported_and_rejects_only_if_asked():
    def answer(sentences):
        text = " ".join(sentences)
        return ANSWER if "It requires" in text and ("Harbor" in text or "Mary Cole" in text) else CANNOT_TELL

    found, verdict = await verdict_of(answer)
    assert found.replaceable == (0,) and found.is_proven and verdict.is_quality
    assert (await verdict_of(answer, unique=True))[1].problems == ("irrelevant_sentences",)


async def test_knowledge_of_the_world_is_reported_apart_and_rejects_only_if_asked():
    def answer(sentences):
        return understanding(sentences) if sentences else ANSWER

    found, verdict = await verdict_of(answer)
    assert found.closed_book_right and found.is_proven and verdict.is_quality
    assert (await verdict_of(answer, drop_leaked=True))[1].problems == ("other",)


async def test_equal_contexts_are_read_once():
    reader = Scripted()
    section = section_of(*PASSAGE[:3])
    found = await Prover(reader).prove(section, WIDE)
    assert len(found.readings) == 9 and len(reader.seen) == len(set(reader.seen)) == 5


@pytest.mark.parametrize(
    ("said", "bound", "right"),
    [("rafts", 0.6, True), ("rafts", 0.7, False), ("The two rafts.", 1.0, True), ("ten oars", 0.01, False)],
)
async def test_right_means_the_token_f1_that_the_bound_asks_for(said, bound, right):
    found, _ = await verdict_of(lambda sentences: said, threshold=bound)
    assert found.is_answered is right


@pytest.mark.parametrize("bound", [0, -1, 1.1])
def test_a_bound_that_cannot_be_is_refused(bound):
    with pytest.raises(UsageError, match="F1"):
        Prover(Scripted(), threshold=bound)


def test_the_bound_is_between_a_part_of_the_answer_and_another_one():
    assert 0.5 < proof.RIGHT_F1 < 2 / 3


# --- by a model, over HTTP -------------------------------------------------------------------------------------------


def asked_of(request):
    """The data of a reader's request, or None if it is no reader's."""
    data = json.loads(request["messages"][-1]["content"].partition("\n")[0]) if len(request["messages"]) == 2 else {}
    return data if isinstance(data, dict) and set(data) == {"sentences", "question"} else None


def model(request):
    """Drafts (first with a sentence too many), accepts all, reads with understanding."""
    if (data := asked_of(request)) is not None:
        return {"reason": "Seen.", "answer": understanding(data["sentences"])}
    if request["temperature"] == 0.7:
        indices = [0, 1, 2] if len(request["messages"]) == 2 else [0, 2]
        return {"question": GOOD.question, "answer": ANSWER, "required_sentence_indices": indices, "coreferences": []}
    return {"reason": "Fine.", "problems": [], "is_quality": True}


async def test_a_failing_proof_goes_back_to_the_generator_and_the_revision_is_proven():
    generator, panel = from_prompts(load_set())
    with ModelServer(model) as server:
        async with OpenAIChat("m", server.url) as chat:
            prover = Prover(ModelReader(load("reader"), "model:m"))
            options = {"chat": chat, "check_level": "format", "prover": prover}
            rounds = [r async for r in refine(SECTION, generator, panel, **options)]
        drafts = [r for r in server.requests if r["temperature"] == 0.7]
    assert [r.accepted for r in rounds] == [False, True]
    assert rounds[0].verdicts[-1].reviewer == "proof" and rounds[0].proof.not_needed == (1,)
    assert rounds[1].proof.is_proven
    assert "irrelevant_sentences" in drafts[1]["messages"][-1]["content"]
    assert all(r["temperature"] == 0 for r in server.requests if asked_of(r))


async def test_what_the_panel_refuses_is_not_read():
    reader = Scripted()
    panel = [ScriptedReviewer("no", lambda c: False)]
    async for _ in refine(SECTION, ScriptedGenerator(GOOD, GOOD), panel, max_revisions=1, prover=Prover(reader)):
        pass
    assert reader.seen == []


async def test_proofs_that_fail_take_no_more_than_the_five_revisions():
    prover = Prover(Scripted(lambda sentences: CANNOT_TELL))
    found = [r async for r in refine(SECTION, ScriptedGenerator(*[GOOD] * 20), [ScriptedReviewer("a")], prover=prover)]
    assert len(found) == 6 and not any(r.accepted for r in found)


async def test_a_reader_that_gives_no_readable_answer_fails_the_section_and_proves_nothing():
    with ModelServer(lambda request: {"reason": "?", "answer": 3}) as server:
        async with OpenAIChat("m", server.url) as chat:
            prover = Prover(ModelReader(load("reader")))
            with pytest.raises(ReplyError):
                await prover.prove(SECTION, GOOD, chat)
            running = outcomes([SECTION], ScriptedGenerator(GOOD), [ScriptedReviewer("a")], chat=chat, prover=prover)
            (outcome,) = [o async for o in running]
    assert outcome.status == "failed" and "ReplyError" in outcome.error


@pytest.mark.parametrize("said", ["Cannot tell.", "CANNOT TELL", " cannot tell "])
async def test_a_reader_that_cannot_tell_is_never_right(said):
    with ModelServer(lambda request: {"reason": "?", "answer": said}) as server:
        async with OpenAIChat("m", server.url) as chat:
            found = await Prover(ModelReader(load("reader"))).prove(SECTION, candidate_of(answer="cannot tell"), chat)
    assert {r.answer for r in found.readings} == {CANNOT_TELL} and not any(r.is_right for r in found.readings)


async def test_a_judge_may_call_other_words_right_and_is_not_asked_about_equal_ones():
    def answer(request):
        if asked_of(request):
            return {"reason": "", "answer": "a pair of them" if understanding(asked_of(request)["sentences"]) == ANSWER
                    else CANNOT_TELL}  # fmt: skip
        return {"reason": "The same.", "is_same": True}

    with ModelServer(answer) as server:
        async with OpenAIChat("m", server.url) as chat:
            prover = Prover(ModelReader(load("reader")), judge=ModelJudge(load("judge")))
            found = await prover.prove(SECTION, GOOD, chat)
        judged = [r for r in server.requests if not asked_of(r)]
    assert found.is_proven and len(judged) == 2  # section and required; "cannot tell" is not judged


def test_the_order_of_readings_does_not_matter_to_what_a_proof_says():
    readings = [Reading("section", "a", True), Reading("required", "a", True), Reading("nothing", "-", False)]
    readings += [Reading("required without 10", "-", False), Reading("required without 2", "a", True)]
    for order in (readings, readings[::-1]):
        assert Proof("r", tuple(order)).not_needed == (2,)


def test_the_python_call_proves_with_the_chats_own_model():
    with ModelServer(model) as server:
        chat = OpenAIChat("m", server.url)
        (outcome,) = generate([SECTION], chat=chat, check_level="format", prove=True)
        assert outcome.status == "accepted" and len(outcome.rounds) == 2
        assert outcome.rounds[-1].proof.reader == "model:m" and outcome.recipe["proof"]["reader"] == "model:m"
        prover = Prover(ModelReader(load("reader")), threshold=1.0)
        (strict,) = generate([SECTION], chat=chat, check_level="format", prove=prover)
        assert strict.recipe["proof"]["threshold"] == 1.0


def test_the_python_call_reads_by_rules_where_there_is_no_model():
    found = list(generate([SECTION], generator=ScriptedGenerator(GOOD), panel=[ScriptedReviewer("a")], prove=True))
    assert found[0].rounds[0].proof.reader.startswith("rules:")


# --- craqan generate --prove -----------------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.md").write_text("# Harbor Safety Act\n\n" + " ".join(PASSAGE) + "\n")
    return folder


def generating(corpus, out, url, *more):
    options = ("--model", "m", "--base-url", url, "--checks", "format", "--prove", *more)
    return within("generate", corpus, "--out", out, *options, OPENAI_API_KEY=KEY)


def test_a_run_keeps_the_matrix_and_asks_nothing_when_it_is_run_again(corpus, tmp_path):
    with ModelServer(model) as server:
        done = generating(corpus, tmp_path / "run", server.url)
        assert done.returncode == 0, done.stderr
        first = (tmp_path / "run" / "accepted.jsonl").read_bytes()
        asked = len(server.requests)
        assert generating(corpus, tmp_path / "run", server.url).returncode == 0
        assert len(server.requests) == asked
    (row,) = lines(tmp_path / "run" / "accepted.jsonl")
    assert (tmp_path / "run" / "accepted.jsonl").read_bytes() == first
    assert [r["context"] for r in row["proof"]] == list(contexts(4, (0, 2)))
    assert row["rounds"][0]["proof"]["reader"] == "model:m" and row["usage"]["reader"]["calls"] == 16
    summary = json.loads((tmp_path / "run" / "run.json").read_text())
    assert summary["recipe"]["proof"]["prompts"]["reader"] == load("reader").digest


def test_another_model_reads_at_its_own_price_and_from_the_same_journal(corpus, tmp_path):
    with ModelServer(model) as server:
        more = ("--reader-model", "other", "--prices", "1,1")
        assert generating(corpus, tmp_path / "run", server.url, *more).returncode == 0
        by_model = {m: {bool(asked_of(r)) for r in server.requests if r["model"] == m} for m in ("m", "other")}
        asked = len(server.requests)
        generating(corpus, tmp_path / "run", server.url, *more)
        assert len(server.requests) == asked
    assert by_model == {"m": {False}, "other": {True}}
    summary = json.loads((tmp_path / "run" / "run.json").read_text())
    assert summary["cost"]["usd"] == pytest.approx(asked * 120 / 1e6)
    assert "reader" in summary["cost"]["usd_by_role"]


def test_the_budget_counts_the_readers_calls_too(corpus, tmp_path):
    with ModelServer(model) as server:
        more = ("--reader-model", "other", "--prices", "1,1", "--max-usd", "0.0013", "--concurrency", "1")
        done = generating(corpus, tmp_path / "run", server.url, *more)
        assert "spent" in done.stderr
        assert 11 <= len(server.requests) <= 13  # 120 dollars a million calls


def test_a_forecast_counts_the_proofs_calls(corpus, tmp_path):
    done = generating(corpus, tmp_path / "run", "http://127.0.0.1:1/v1", "--dry-run")
    assert done.returncode == 0 and "7 of the calls for the proof" in done.stderr


@pytest.mark.parametrize("flag", [["--drop-leaked"], ["--prove-uniqueness"], ["--reader-model", "x"]])
def test_flags_of_the_proof_are_refused_without_it(corpus, tmp_path, flag):
    done = within("generate", corpus, "--out", tmp_path / "run", *flag)
    assert done.returncode == 2 and "--prove" in done.stderr


def test_a_readers_model_is_refused_where_rules_play_the_roles(corpus, tmp_path):
    done = within("generate", corpus, "--out", tmp_path / "run", "--prove", "--reader-model", "x")
    assert done.returncode == 2 and "--model" in done.stderr


def test_a_run_without_proof_goes_on_with_one_from_before_there_were_proofs(corpus, tmp_path):
    assert within("generate", corpus, "--out", tmp_path / "run").returncode == 0
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert "prove" not in settings

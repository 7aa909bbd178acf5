"""The Generate tab without a browser: what it refuses, and the story that it tells of a run."""

import asyncio
import json
import time
from contextlib import aclosing
from dataclasses import replace

import gradio as gr
import pytest

from generation import rules
from generation.errors import InputError, ModelError, UsageError
from generation.records import PROBLEM_CODES, Round, Section, Verdict, digest
from space import generate, limits, making, rounds, telling
from tests.helpers import ScriptedGenerator, ScriptedReviewer, candidate_of, section_of
from tests.model_server import Canned, ModelServer, failing

EXAMPLE = generate.EXAMPLE.read_text(encoding="utf-8")

# what a visitor may send


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Paste a text first"),
        (" \n\t ", "Paste a text first"),
        ("The law holds. " * 20_000, "has 300,000 characters and the limit is 200,000"),
        ("The law holds. It is old.", "too short: its longest section has 2 sentences"),
        ("# Only a heading", "too short"),
        ("Der Hund bellt laut. Er hat Hunger. Seine Herrin gibt ihm einen Knochen.", "does not look like English"),
        ("这是一个测试。它很好。我们走吧。", "does not look like English"),
        ("It is so. " * 100, "more than 60 sentences"),
    ],
)
async def test_a_text_that_cannot_be_used_is_refused_with_advice(text, message):
    with pytest.raises(InputError, match=message):
        await making.split(text)


@pytest.mark.parametrize(
    "text",
    [
        "Bob ate. Ann ran. It fell.",
        "It does. He left. The Act applies.",
        "The Bundesverfassungsgericht sits in Karlsruhe. It decides cases on the Grundgesetz. Its judges wear red.",
        "Łukasz Gąsior met Žižek in Łódź. He liked Łódź. They left.",
    ],
)
def test_short_english_full_of_foreign_names_passes(text):
    assert limits.check_text(text) == text


@pytest.fixture
def space(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/CRaQAn")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://example.com/v1", "must start with https"),
        ("ftp://example.com", "no address of a server"),
        ("nonsense", "no address of a server"),
        ("https://user:secret-canary@example.com/v1", "holds a password"),
        ("https://" + "a" * 400, "may have 300 characters"),
    ],
)
async def test_a_base_url_that_may_not_be_called_is_refused_everywhere(url, message):
    with pytest.raises(UsageError, match=message) as refused:
        await limits.check_endpoint(url, "model", "key")
    assert "secret-canary" not in str(refused.value)


async def test_this_machine_may_be_called_without_a_key_unless_on_a_space(monkeypatch):
    url = "http://127.0.0.1:8000/v1"
    assert await limits.check_endpoint(url, "model", "") == url
    monkeypatch.setenv("SPACE_ID", "someone/CRaQAn")
    with pytest.raises(UsageError, match="must start with https"):
        await limits.check_endpoint(url, "model", "key")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "[::1]",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "0.0.0.0",
    ]
    + ["2130706433", "0x7f.1", "100.64.0.1", "224.0.0.1"],
)
async def test_a_space_calls_no_private_address(space, host):
    with pytest.raises(UsageError, match="private address|no server called"):
        await limits.check_endpoint(f"https://{host}/v1", "model", "key")


async def test_only_a_host_that_is_allowed_by_name_may_be_private_on_a_space(space, monkeypatch):
    monkeypatch.setenv("CRAQAN_MODEL_HOSTS", "10.1.2.3, llm.lan")
    assert await limits.check_endpoint("http://10.1.2.3:8000/v1", "model", "") == "http://10.1.2.3:8000/v1"
    with pytest.raises(UsageError, match="private address"):
        await limits.check_endpoint("https://10.1.2.4/v1", "model", "key")


async def test_a_name_that_leads_to_a_private_address_is_refused_on_a_space(space, monkeypatch):
    async def found(loop, host, port, **more):
        return [(0, 0, 0, "", (address, 0)) for address in ("93.184.216.34", "10.0.0.7")]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found)
    with pytest.raises(UsageError, match="rebind.example is a private address"):
        await limits.check_endpoint("https://rebind.example/v1", "model", "key")


async def test_a_redirect_is_not_followed():
    with (
        ModelServer(lambda request: "{}") as inside,
        ModelServer(lambda request: Canned(status=307, headers={"Location": inside.url})) as outside,
    ):
        outcome = await _outcome(outside.url, "visitor-canary-12345")
    assert outcome.status == "failed" and outside.calls and not inside.calls


async def test_a_public_address_may_be_called_from_a_space(space):
    assert await limits.check_endpoint("https://1.1.1.1/v1", "model", "key") == "https://1.1.1.1/v1"


@pytest.mark.parametrize(
    ("model", "key", "message"), [("", "k", "Name the model"), ("m", " ", "Enter the key for api.openai.com")]
)
async def test_model_and_key_are_asked_for(model, key, message):
    with pytest.raises(UsageError, match=message):
        await limits.check_endpoint("", model, key)


async def test_the_owners_keys_are_never_sent_to_a_visitors_server(monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "owner-canary-12345")
    with ModelServer(lambda request: failing(400, "as scripted")) as server:
        await _outcome(server.url, "")
    sent = [value for call in server.calls for value in call.headers.values()]
    assert server.calls and not any("owner-canary" in value for value in sent)


# the story of a run

SECTION = section_of()


def maker_of(generator, *reviewers) -> making.Maker:
    return making.Maker(generator, reviewers, "scripted:1")


async def stories_of(section: Section, maker: making.Maker) -> list[making.Story]:
    return [story async for story in making.watch(section, maker)]


async def _outcome(url: str, key: str):
    maker = await making.of_visitor(url, "any-model", key)
    try:
        return (await stories_of(SECTION, maker))[-1].outcome
    finally:
        await maker.chat.aclose()


async def test_draft_and_verdicts_are_told_one_by_one():
    told = await stories_of(
        SECTION, maker_of(ScriptedGenerator(candidate_of()), ScriptedReviewer("a"), ScriptedReviewer("b"))
    )
    assert [[len(r.verdicts) for r in story.rounds] for story in told] == [[], [0], [1], [2], [3], [3]]
    assert [bool(story.outcome) for story in told] == [False] * 5 + [True]
    assert told[-1].outcome.status == "accepted"


async def test_an_abstention_is_the_outcome_with_its_reason():
    told = await stories_of(SECTION, maker_of(ScriptedGenerator(), ScriptedReviewer("a")))
    assert (told[-1].outcome.status, told[-1].outcome.reason) == ("rejected", "Nothing more to offer.")


async def test_sections_are_tried_until_one_is_accepted():
    accepts_second = ScriptedReviewer("a", lambda candidate: candidate.question.startswith("What does"))
    first = candidate_of("Which thing does the Harbor Safety Act require every ferry to carry?")
    maker = maker_of(OneEach({"one": first, "two": candidate_of(), "three": candidate_of()}), accepts_second)
    sections = [section_of(id=f"{name}/0") for name in ("one", "two", "three")]
    *before, last = [stories async for stories in making.make(sections, maker)]
    assert not any(stories[-1].outcome for stories in before), "a page would announce an end that is none"
    assert [story.outcome.status for story in last] == ["rejected", "accepted"]


class OneEach:
    """One candidate a section, named by the first part of its id."""

    name = "one-each"

    def __init__(self, candidates):
        self.candidates = candidates

    async def draft(self, section, rounds, chat=None):
        return await ScriptedGenerator(self.candidates[section.article_id]).draft(section, rounds)


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_a_models_failure_is_an_outcome_without_the_key(status):
    def fail(request):
        return failing(status, "no: you sent visitor-canary-12345")

    with ModelServer(fail) as server:
        outcome = await _outcome(server.url, "visitor-canary-12345")
    assert outcome.status == "failed" and outcome.error and "visitor-canary" not in repr(outcome)


async def test_closing_the_story_stops_the_calls():
    with ModelServer(lambda request: "{}", delay=0.3) as server:
        maker = await making.of_visitor(server.url, "any-model", "")
        async with aclosing(making.make([SECTION], maker)) as telling:
            await anext(telling)  # the section, before anything is asked
            asking = asyncio.ensure_future(anext(telling))
            while not server.calls:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await maker.chat.aclose()
        await asyncio.sleep(0.6)
        assert len(server.calls) == 1, "the answer holds no draft, so a loop that goes on would ask again"


async def test_a_broken_generator_raises_instead_of_hanging():
    class Broken:
        name = "broken"

        async def draft(self, section, rounds, chat=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(stories_of(SECTION, maker_of(Broken(), ScriptedReviewer("a"))), 5)


async def test_a_run_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(making, "SECTION_SECONDS", 0.2)
    with ModelServer(lambda request: "{}", delay=5) as server, pytest.raises(ModelError, match="was stopped"):
        await _outcome(server.url, "")


async def test_rules_of_one_visitor_leave_the_page_responsive():
    class Busy:
        name = "busy"

        async def draft(self, section, rounds, chat=None):
            time.sleep(2)  # as a parse does: without giving the loop a turn
            return candidate_of()

    running = asyncio.ensure_future(stories_of(SECTION, maker_of(Busy(), ScriptedReviewer("a"))))
    await asyncio.sleep(0)
    started = time.monotonic()
    await asyncio.sleep(0.01)
    assert time.monotonic() - started < 1.5
    assert (await running)[-1].outcome.status == "accepted"


# the Generate tab


async def run_tab(text="", section=making.EACH, who=generate.RULES, url="", model="", key="", of=None) -> list[tuple]:
    """As a page sends it that shows the sentences of the text `of`, by default of `text` itself."""
    edits = json.dumps({"of": digest(text if of is None else of), "sections": {}})
    return [shown async for shown in generate._run(text, section, edits, generate.Origin(), who, url, model, key)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"text": ""}, "Paste a text first"),
        ({"text": EXAMPLE, "section": 9}, "choose the section again"),
        ({"text": EXAMPLE, "section": {}}, "choose the section again"),
        ({"text": "", "section": 1, "of": EXAMPLE}, "Paste a text first"),
        ({"text": "", "key": ["visitor-canary"]}, "This page is out of date"),
        ({"text": EXAMPLE, "who": generate.MODEL, "key": "visitor-canary"}, "Name the model"),
        ({"text": EXAMPLE, "who": generate.MODEL, "url": "http://example.com", "model": "m"}, "https"),
    ],
)
async def test_an_error_is_shown(call, message):
    shown = await run_tab(**call)
    assert message in shown[-1][0] and 'role="alert"' in shown[-1][0]
    assert "visitor-canary" not in repr(shown)


@pytest.mark.parametrize(("of", "count"), [(EXAMPLE, 1), (f"Before. {EXAMPLE}", 2)])
async def test_a_section_chosen_in_another_text_counts_as_none(monkeypatch, of, count):
    asked = []

    async def make(sections, maker):
        asked.extend(sections)
        raise UsageError("as scripted")
        yield

    monkeypatch.setattr(making, "make", make)
    await run_tab(EXAMPLE, section=1, of=of)
    assert len(asked) == count


async def test_the_example_gives_an_accepted_pair_with_the_rules():
    shown = await run_tab(EXAMPLE)
    results = [result for _, result, *_ in shown if isinstance(result, str) and result]
    assert shown[-1][4]["status"] == "accepted", "which can be sent to review"
    assert "Accepted by all" in shown[-2][0]
    assert 'download="craqan-accepted.jsonl"' in results[-1]


async def test_a_model_that_answers_makes_a_pair(monkeypatch):
    draft = {
        "question": "What did the Harbour Pilots Act require every foreign ship to take on board?",
        "answer": "a local pilot",
        "required_sentence_indices": [0, 1],
        "coreferences": [
            {
                "kind": "pronominal",
                "mention": {"sentence_index": 1, "text": "It"},
                "antecedent": {"sentence_index": 0, "text": "The Harbour Pilots Act"},
            }
        ],
    }

    def answer(request):
        asks_for_draft = "antecedent" in str(request.get("response_format", ""))
        return draft if asks_for_draft else {"reason": "Fine.", "problems": [], "is_quality": True}

    with ModelServer(answer) as server:
        shown = await run_tab(EXAMPLE, who=generate.MODEL, url=server.url, model="any", key="visitor-canary")
    assert "Accepted by all" in shown[-2][0] and "a local pilot" in shown[-2][1]
    assert "visitor-canary" not in repr(shown)
    assert "tokens in" in shown[-2][2] and "list of prices" in shown[-2][2]


async def test_an_account_of_hugging_face_pays_with_its_own_token_or_nothing_is_asked(monkeypatch):
    asked = []

    def of_visitor(url, model, key):
        asked.append((url, model, key))
        raise UsageError("as scripted")

    monkeypatch.setattr(making, "of_visitor", of_visitor)
    inputs = (EXAMPLE, making.EACH, "", generate.Origin(), generate.HUB, "https://example.com", "any", "typed")
    token = gr.OAuthToken(token="visitor-canary", scope="inference-api", expires_at=0)
    told = [[shown async for shown in generate._run(*inputs, token=t)][-1][0] for t in (None, token)]
    assert "Sign in" in told[0] and asked == [("https://router.huggingface.co/v1", "any", "visitor-canary")]
    assert "visitor-canary" not in repr(told)


def test_what_a_revision_changed_is_marked_and_the_rest_is_not():
    before, after = candidate_of("Which <b> does it carry?"), candidate_of("Which <i> thing does it carry?")
    told = rounds.rounds([Round(0, before), Round(1, after)])
    assert "<del>&lt;b&gt;</del> <ins>&lt;i&gt; thing</ins> does it carry?" in told
    assert "<ins>" not in rounds.rounds([Round(0, before), Round(1, before)])
    moved = replace(before, required_sentence_indices=(0, 1))
    assert "<del>0 and 2</del> <ins>0 and 1</ins>" in rounds.rounds([Round(0, before), Round(1, moved)])


def test_what_waits_and_what_was_not_asked_is_told():
    waiting = rounds.rounds(
        [Round(0, candidate_of(), (Verdict("checks", True, "Fine."),))], ["checks", "a"], is_running=True
    )
    stopped = rounds.rounds(
        [Round(0, candidate_of(), (Verdict("checks", False, "No.", ("other",)),))], ["checks", "a"], is_running=True
    )
    assert "is reading" in waiting and "under review" in waiting
    assert "not asked" in stopped and "rejected" in stopped


def test_all_problem_codes_have_plain_words():
    assert set(rounds.PROBLEM_WORDS) == set(PROBLEM_CODES)


async def test_why_no_pair_was_found_speaks_of_what_the_page_has():
    sure = replace(making.embedded(), generator=rules.RuleGenerator(1.0))
    stories = await stories_of((await making.split(EXAMPLE))[0], sure)
    assert "minimum confidence" in stories[-1].outcome.reason  # which the command line takes
    said = telling.status(stories[-1:], sure)
    assert "confidence" not in said and "the switch for less sure drafts may let one through" in said


def test_a_passage_that_the_rules_leave_at_once_is_not_shown_in_between():
    maker, first, next_ = making.embedded(), making.Story(SECTION), making.Story(SECTION)
    assert telling.has_more([first], maker) and not telling.has_more([first, next_], maker)
    assert telling.has_more([first, replace(next_, rounds=(Round(0, candidate_of()),))], maker)
    assert telling.has_more([first, next_], replace(maker, chat=object()))

"""What becomes of a model's answer: JSON through its wrapping, re-asks, numbers of askings, and what it cost."""

import pytest

from generation import errors
from generation.client.replies import read_json
from generation.llm import Answer, Reply, Request, Scoped, ask
from generation.records import Usage
from tests.model_server import Canned, ModelServer
from tests.test_llm import chat_of, json_request, request_of

READABLE = {
    '{"a": 1}': {"a": 1},
    ' \n{"a": 1}\n': {"a": 1},
    '\ufeff{"a": 1}': {"a": 1},
    '```json\n{"a": 1}\n```': {"a": 1},
    'Here it is:\n\n```\n{"a": 1}\n```\nI hope it helps {really}.': {"a": 1},
    'Sure! {"a": 1} I hope it helps.': {"a": 1},
    'As sentence [1] says: {"a": [1]}': {"a": [1]},
    '{"a": 1, "b": [1, 2,],}': {"a": 1, "b": [1, 2]},
    "{'a': 'x', 'b': True, 'c': None}": {"a": "x", "b": True, "c": None},
    "{'a': 'the Act\\'s scope'}": {"a": "the Act's scope"},
    '<think>Perhaps {"a": 2}?</think>{"a": 1}': {"a": 1},
    'Perhaps {"a": 2}?\n</think>\n\n```json\n{"a": 1}\n```': {"a": 1},
    '{"a": "a </think> in a string"}': {"a": "a </think> in a string"},
    '{"a": "```json\\n{}\\n```"}': {"a": "```json\n{}\n```"},
    '{"a": 1}\n{"a": 1}': {"a": 1},
    '{"a": "two\nlines"}': {"a": "two\nlines"},
    "[1, 2]": [1, 2],
    "true": True,
}

UNREADABLE = [
    "",
    "I cannot answer that.",
    "<think>Let me see",
    '{"a": "What did the',
    '{"a": 1',
    '{"a": "x}',
    '{"a": "x {b} y',
    '{"a": 1, "b": [{"c": 1}, {"d": 2',
    '{"a": 1, "b": [{"c": 1},',
    '{"a": [1, 2}',
    '{"is_quality": true} or rather {"is_quality": false}',
    '{"is_quality": true,}\n{"is_quality": false,}',
    '{"is_quality": true, "is_quality": false}',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": "\\ud83d"}',
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"a": ' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("text", READABLE)
def test_json_is_read_through_its_wrapping(text):
    assert read_json(text) == READABLE[text]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: text[:30])
def test_json_that_is_unclear_or_breaks_off_is_refused(text):
    with pytest.raises(ValueError):
        read_json(text)


def read_verdict(text: str) -> bool:
    value = read_json(text)
    if not isinstance(value, dict) or not isinstance(value.get("is_quality"), bool):
        raise ValueError('"is_quality" must be true or false')
    return value["is_quality"]


async def test_an_unreadable_answer_is_asked_again_quoting_the_error():
    with ModelServer(['{"is_quality": "yes"}', '{"is_quality": true}']) as server:
        async with chat_of(server) as chat:
            answer = await ask(chat, json_request(), read_verdict)
        assert isinstance(answer, Answer) and answer.value is True and len(answer.replies) == 2
        messages = server.requests[1]["messages"]
        assert [m["role"] for m in messages] == ["user", "assistant", "user"]
        assert messages[1]["content"] == '{"is_quality": "yes"}'
        assert '"is_quality" must be true or false' in messages[2]["content"]


async def test_re_asks_end_after_two_in_an_error_with_the_raw_text():
    with ModelServer(lambda _: "perhaps") as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.ReplyError) as raised:
                await ask(chat, json_request(role="reviewers/x"), read_verdict)
        assert len(server.calls) == 3
        assert raised.value.raw == "perhaps" and "reviewers/x" in str(raised.value)
        assert len(server.requests[2]["messages"]) == 3, "only the last answer is quoted"


async def test_a_fault_of_the_chats_own_is_not_taken_for_an_unreadable_answer():
    asked = []

    async def broken(request):
        asked.append(request)
        raise ValueError("a number was expected")

    with pytest.raises(ValueError, match="number was expected"):
        await ask(broken, json_request(), read_verdict)
    assert len(asked) == 1


async def test_an_empty_answer_is_asked_again_without_quoting_nothing():
    with ModelServer(["", '{"is_quality": false}']) as server:
        async with chat_of(server) as chat:
            scoped = Scoped(chat, "a/0")
            answer = await ask(scoped, json_request(role="r"), read_verdict)
        assert answer.value is False and len(answer.replies) == 2
        assert server.requests[0]["messages"] == server.requests[1]["messages"]
        assert scoped.usage["r"].calls == 2


async def test_a_refusal_is_not_asked_again():
    with ModelServer([Canned(message={"refusal": "No."}), "{}"]) as server:
        async with chat_of(server) as chat:
            with pytest.raises(errors.RefusalError):
                await ask(chat, json_request(), read_verdict)
        assert len(server.calls) == 1


class Recorder:
    """A chat that keeps its requests."""

    identity = "recorder"

    def __init__(self):
        self.seen: list[Request] = []

    async def __call__(self, request: Request) -> Reply:
        self.seen.append(request)
        return Reply("x", Usage(1, 10, 0, 2))


async def test_a_scope_numbers_equal_requests_and_only_those():
    recorder = Recorder()
    scoped = Scoped(recorder, "a/0", order=9)
    for text in ("one", "two", "one", "one"):
        await scoped(request_of(text))
    await Scoped(recorder, "b/0")(request_of("one"))
    assert [r.asking for r in recorder.seen] == [0, 0, 1, 2, 0]
    assert [r.scope for r in recorder.seen] == ["a/0"] * 4 + ["b/0"]


async def test_a_scope_puts_young_sections_and_generators_first():
    recorder = Recorder()
    scoped = Scoped(recorder, "a/0", order=9, cohort=3)
    for role in ("generator", "reviewers/x", "generator", "reviewers/x"):
        await scoped(request_of(role=role))
    assert [r.priority for r in recorder.seen] == [(3, 1, 0, 9), (3, 1, 1, 9), (3, 2, 0, 9), (3, 2, 1, 9)]
    assert scoped.usage == {"generator": Usage(2, 20, 0, 4), "reviewers/x": Usage(2, 20, 0, 4)}


async def test_unusable_replies_are_counted_since_they_were_paid():
    with ModelServer([Canned("{", finish_reason="length")]) as server:
        async with chat_of(server) as chat:
            scoped = Scoped(chat, "a/0")
            with pytest.raises(errors.LengthError):
                await scoped(request_of(role="generator"))
    assert scoped.usage["generator"].completion_tokens == 20

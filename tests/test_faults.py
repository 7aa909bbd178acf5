"""Whole runs over real HTTP against servers that fail in every way that we know: nothing vanishes, nothing hangs.

Kill -9 at ten moments is in test_resume, one fault at a time at the model's door in test_llm.
"""

import gzip
import io
import json
import os
import random
import time

import pytest
from rich.console import Console

from generation import errors
from generation.running import pipeline
from generation.running.budget import by_hand
from tests.model_server import Canned, ModelServer, completion, failing
from tests.test_cli import counts, lines

SECTIONS = 8
CONCURRENCY = 4
CALLS = 5 * SECTIONS
PAIR = {
    "question": "What is it that stands here?",
    "answer": "a thing",
    "required_sentence_indices": [0, 1],
    "coreferences": [],
}
FINE = {"reason": "Seen.", "problems": [], "is_quality": True}
PASSING = {"concurrency": CONCURRENCY, "timeout": 1.0, "backoff": 0.02}


def honest(request):
    return PAIR if request["temperature"] == 0.7 else FINE


class Striking:
    """An honest model that answers `fault` instead to the drafts asked for section 3, so many `times`."""

    def __init__(self, fault, times=1):
        self.fault = fault
        self.times = times
        self.struck = []

    def __call__(self, request):
        if self.times and request["temperature"] == 0.7 and "The thing 3 is" in json.dumps(request["messages"]):
            self.times -= 1
            self.struck.append(time.monotonic())
            return self.fault() if callable(self.fault) else self.fault
        return honest(request)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for n in range(SECTIONS):
        about = " ".join(f"w{random.Random(n + k / 99).randrange(10**6)}" for k in range(30))
        (folder / f"a{n}.md").write_text(
            f"# Title {n}\n\nThe thing {n} is {about}. It stands here. No more is known.\n"
        )
    return folder


class Run:
    """One run in this process: what it printed, wrote and raised, and what the server saw."""

    def __init__(self, corpus, out, server, **limits):
        self.out, self.printed, self.error = out, io.StringIO(), None
        before, started = len(server.calls), time.monotonic()
        try:
            pipeline.generate(
                [str(corpus)],
                out,
                Console(file=self.printed, width=300),
                model="m",
                base_url=server.url,
                check_level="format",
                limits=pipeline.Limits(**PASSING | limits),
            )
        except errors.CraqanError as error:
            self.error = error
        self.seconds = time.monotonic() - started
        self.calls = server.calls[before:]

    @property
    def summary(self):
        return json.loads((self.out / "run.json").read_text())

    @property
    def pairs(self):
        """The accepted rows without what they cost: a paid answer that was of no use is on the bill."""
        return [{k: v for k, v in row.items() if k != "usage"} for row in lines(self.out / "accepted.jsonl")]

    @property
    def failures(self):
        return [row["error"] for row in lines(self.out / "failed.jsonl")]

    def assert_books(self, **expected):
        """The sums hold, and each section is in one file or pending, none twice."""
        books = counts(self.out)
        assert books["submitted"] == sum(books[k] for k in ("accepted", "rejected", "failed", "pending"))
        rows = {k: lines(self.out / f"{k}.jsonl") for k in ("accepted", "rejected", "failed")}
        assert {k: len(found) for k, found in rows.items()} == {k: books[k] for k in rows}
        names = [row["section_id"] for found in rows.values() for row in found]
        assert len(names) == len(set(names))
        assert {k: books[k] for k in expected} == expected


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    with ModelServer(honest) as server:
        run = Run(corpus, tmp_path_factory.mktemp("unbroken") / "run", server)
    assert run.error is None and len(run.calls) == CALLS
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    return run


def wired(body, headers="", status="200 OK"):
    """A chat completion as bytes on the wire, with whatever headers."""
    return Canned(wire=f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}\r\n".encode() + body)


GOOD = completion(Canned(json.dumps(PAIR)), "m").encode()
ZIPPED = gzip.compress(GOOD)

MENDED_BY_ASKING_AGAIN = {
    "429": failing(429),
    "429, Retry-After negative": failing(429, retry_after="-5"),
    "429, Retry-After not a number": failing(429, retry_after="nan"),
    "429, Retry-After endless": failing(429, retry_after="inf"),
    "429, Retry-After in words": failing(429, retry_after="soon"),
    "429, Retry-After long ago": failing(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "500": failing(500),
    "500, an HTML page": Canned(status=500, body="<html>Oops</html>", headers={"Content-Type": "text/html"}),
    "502": Canned(status=502, body="<html>Bad gateway</html>"),
    "503": failing(503),
    "529": failing(529),
    "408": failing(408),
    "409": failing(409),
    "connection reset": Canned(fault="reset"),
    "connection closed": Canned(fault="disconnect"),
    "half-closed stream": Canned("x", fault="half"),
    "half-closed stream, unmeasured": Canned("x", fault="half_unmeasured"),
    "hang": Canned(fault="hang"),
    "slow drip": Canned("x", fault="drip"),
    "malformed JSON body": Canned(body="{'choices': ["),
    "truncated JSON body": Canned(body=GOOD.decode()[:-20]),
    "right JSON of the wrong shape as body": Canned(body='{"answer": 42}'),
    "no choices": Canned(body='{"choices": []}'),
    "choices null": Canned(body='{"choices": null}'),
    "empty body": Canned(body=""),
    "an HTML page with status 200": Canned(body="<html>Log in</html>", headers={"Content-Type": "text/html"}),
    "an error with status 200": Canned(body='{"error": {"message": "overloaded", "code": 503}}'),
    "an error in words with status 200": Canned(body='{"error": "oops"}'),
    "a rate limit with status 200": Canned(body='{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}'),
    "nothing, status 204": Canned(wire=b"HTTP/1.1 204 No Content\r\n\r\n"),
    "plain text said to be gzip": wired(GOOD, f"Content-Encoding: gzip\r\nContent-Length: {len(GOOD)}\r\n"),
    "gzip cut short": wired(ZIPPED[:-30], f"Content-Encoding: gzip\r\nContent-Length: {len(ZIPPED) - 30}\r\n"),
    "chunks without an end": wired(b"%x\r\n%s\r\n" % (len(GOOD), GOOD), "Transfer-Encoding: chunked\r\n"),
    "chunks without a size": wired(b"zz\r\n" + GOOD, "Transfer-Encoding: chunked\r\n"),
    "Content-Length too long": wired(GOOD, f"Content-Length: {len(GOOD) + 9}\r\n"),
    "Content-Length too short": wired(GOOD, f"Content-Length: {len(GOOD) - 9}\r\n"),
    "Content-Length in words": wired(GOOD, "Content-Length: banana\r\n"),
    "no HTTP at all": Canned(wire=b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "a header without end": wired(GOOD, "X-Long: " + "a" * 300_000 + "\r\n"),
}


@pytest.mark.parametrize("name", MENDED_BY_ASKING_AGAIN)
def test_a_passing_fault_costs_one_more_call_and_nothing_else(name, corpus, unbroken, tmp_path):
    model = Striking(MENDED_BY_ASKING_AGAIN[name])
    with ModelServer(model) as server:
        run = Run(corpus, tmp_path / "run", server)
    assert run.error is None and len(model.struck) == 1
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    assert run.pairs == unbroken.pairs
    assert len(run.calls) == CALLS + 1
    assert run.seconds < 30


ASKED_AGAIN_WITH_THE_ERROR = {
    "malformed JSON": "{question: What?,",
    "truncated JSON": json.dumps(PAIR)[:-20],
    "right JSON of the wrong shape": {"q": "What?", "a": "a thing"},
    "an answer that is no text": {**PAIR, "answer": None},
    "indices that are no numbers": {**PAIR, "required_sentence_indices": ["0", "1"]},
    "a list": [PAIR],
    "a key given twice": json.dumps(PAIR)[:-1] + ', "answer": "another thing"}',
    "NaN": json.dumps(PAIR)[:-1] + ', "score": NaN}',
    "a number of 5000 digits": json.dumps(PAIR)[:-1] + ', "score": ' + "9" * 5000 + "}",
    "empty content": "",
    "content null": Canned(None),
    "a tool call instead of content": Canned(
        None, finish_reason="tool_calls", message={"tool_calls": [{"id": "1", "type": "function", "function": {}}]}
    ),
    "reasoning instead of content": Canned(None, message={"reasoning_content": "Let me think."}),
    "prose": "I would gladly help. What do you need?",
}


@pytest.mark.parametrize("name", ASKED_AGAIN_WITH_THE_ERROR)
def test_an_unreadable_answer_is_asked_for_again_and_is_on_the_bill(name, corpus, unbroken, tmp_path):
    with ModelServer(Striking(ASKED_AGAIN_WITH_THE_ERROR[name])) as server:
        run = Run(corpus, tmp_path / "run", server)
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    assert run.pairs == unbroken.pairs
    assert len(run.calls) == CALLS + 1 == run.summary["usage"]["total"]["calls"]


TAKEN_AS_IT_IS = {
    "a byte-order mark before the body": Canned(body="\ufeff" + GOOD.decode()),
    "a byte-order mark before the content": "\ufeff" + json.dumps(PAIR),
    "gzip": wired(ZIPPED, f"Content-Encoding: gzip\r\nContent-Length: {len(ZIPPED)}\r\n"),
    "status 201": wired(GOOD, f"Content-Length: {len(GOOD)}\r\n", status="201 Created"),
    "100 Continue first": Canned(wire=b"HTTP/1.1 100 Continue\r\n\r\n" + wired(GOOD, "Connection: close\r\n").wire),
    "no usage": Canned(json.dumps(PAIR), usage=None),
    "usage is NaN": Canned(json.dumps(PAIR), usage={"prompt_tokens": float("nan"), "completion_tokens": -1}),
    "usage beyond any number": Canned(
        json.dumps(PAIR), usage={"prompt_tokens": 2**64 - 1, "completion_tokens": 10**40}
    ),
    "more tokens cached than sent": Canned(
        json.dumps(PAIR), usage={"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 10**6}}
    ),
    "reasoning beside the content": Canned(json.dumps(PAIR), message={"reasoning_content": "Let me think."}),
    "thinking before the content": f"<think>What now?</think>{json.dumps(PAIR)}",
    "no finish reason": Canned(json.dumps(PAIR), finish_reason=None),
}


@pytest.mark.parametrize("name", TAKEN_AS_IT_IS)
def test_an_odd_answer_that_can_be_read_is_taken(name, corpus, unbroken, tmp_path):
    with ModelServer(Striking(TAKEN_AS_IT_IS[name])) as server:
        run = Run(corpus, tmp_path / "run", server, prices=by_hand(1, 2, 0.5))
    run.assert_books(submitted=SECTIONS, accepted=SECTIONS)
    assert run.pairs == unbroken.pairs and len(run.calls) == CALLS
    assert 0 < run.summary["cost"]["usd"] < 1


FAILS_ALONE = {
    "refusal": (Canned(None, message={"refusal": "I would rather not."}), "RefusalError", 1),
    "content filter": (Canned("", finish_reason="content_filter"), "ContentFilterError", 1),
    "cut at the token limit": (Canned('{"question": "Wh', finish_reason="length"), "LengthError", 1),
    "400": (failing(400), "RequestError", 1),
    "403": (failing(403), "AuthError", 1),
    "404": (failing(404, "no such model here"), "AddressError", 1),
    "413": (failing(413), "RequestError", 1),
    "422": (failing(422), "RequestError", 1),
    "redirect": (Canned(status=301, headers={"Location": "http://x/v1"}, body=""), "AddressError", 1),
    "empty content, always": ("", "ReplyError", 3),
    "malformed JSON, always": ("{", "ReplyError", 3),
    "malformed JSON body, always": (Canned(body="{"), "ServerError", 5),
    "500, always": (failing(500), "ServerError", 5),
    "connection reset, always": (Canned(fault="reset"), "ConnectError", 5),
    "hang, always": (Canned(fault="hang"), "ModelTimeoutError", 3),
    "slow drip, always": (Canned("x", fault="drip"), "ModelTimeoutError", 3),
    "429 and no pause, always": (failing(429, retry_after="0"), "RateLimitError", 30),
}


@pytest.mark.parametrize("name", FAILS_ALONE)
def test_a_fault_of_one_section_is_its_own_and_is_named(name, corpus, unbroken, tmp_path):
    fault, kind, asked = FAILS_ALONE[name]
    with ModelServer(Striking(fault, times=999)) as server:
        run = Run(corpus, tmp_path / "run", server, timeout=0.6, backoff=0.005)
        assert run.error is None
        run.assert_books(submitted=SECTIONS, accepted=SECTIONS - 1, failed=1)
        assert run.failures[0].startswith(f"{kind}: ")
        assert run.summary["failures"] == {kind: 1} and f"Failed for: {kind} 1" in run.printed.getvalue()
        # a reset on a kept connection looks as if the server had not taken the request, which then goes out once more
        most = 2 * asked if "reset" in name else asked
        assert CALLS - 5 + asked <= len(run.calls) <= CALLS - 5 + most
        assert run.pairs == [row for row in unbroken.pairs if row["article_title"] != "Title 3"]


@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode there")
def test_names_and_fields_that_no_file_can_hold_do_not_end_the_run(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("The act was passed in 1974. It stands. No more is known.\n")
    (folder / os.fsdecode(b"none\xe9.md")).write_bytes(b"\0\1")
    about = '---\ntitle: "A\\ud800"\nurl: "\\ud800"\n---\n'
    (folder / "b.md").write_text(f"{about}A river in Spain flows west. Its bed is dry. Fish left it.\n")
    row = {"title": "Row \ud83d", "url": "\ud83d", "text": "Iron \ud83d rusts in rain. Salt helps it. Paint does not."}
    (folder / "c.jsonl").write_text(json.dumps(row))
    with ModelServer(honest) as server:
        for _ in range(2):
            run = Run(folder, tmp_path / "run", server)
            run.assert_books(submitted=3, accepted=3)
        assert len(run.calls) == 0
        named = Run(folder / os.fsdecode(b"caf\xe9.md"), tmp_path / "one", server)
        assert Run(folder / os.fsdecode(b"caf\xe9.md"), tmp_path / "one", server).error is named.error is None
    titles = [row["article_title"] for row in lines(tmp_path / "run" / "accepted.jsonl")]
    assert sorted(titles) == ["A\ufffd", "Row \ufffd", "caf\ufffd"] and "is binary" in str(run.summary["skipped"])
    (tmp_path / "run" / "accepted.jsonl").read_text().encode()


def test_what_failed_without_an_answer_is_asked_again_by_the_same_command(corpus, unbroken, tmp_path):
    with ModelServer(Striking(failing(500), times=5)) as server:
        Run(corpus, tmp_path / "run", server).assert_books(failed=1)
        again = Run(corpus, tmp_path / "run", server)
    again.assert_books(accepted=SECTIONS, failed=0)
    assert len(again.calls) == 5 and again.pairs == unbroken.pairs

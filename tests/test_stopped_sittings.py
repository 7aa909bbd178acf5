"""A run that goes on and is stopped at once: what an earlier sitting had brought stays in its files."""

import json

from generation import errors
from tests.model_server import ModelServer, failing
from tests.test_cli import counts, lines
from tests.test_faults import CALLS, SECTIONS, Run, honest
from tests.test_faults import corpus as corpus
from tests.test_faults import unbroken as unbroken


class Barred:
    """An honest model that takes no key for the sections whose numbers are in `barred`."""

    def __init__(self, *barred):
        self.barred = barred

    def __call__(self, request):
        sent = json.dumps(request["messages"])
        return failing(401) if any(f"The thing {n} is" in sent for n in self.barred) else honest(request)


def test_a_sitting_that_ends_before_it_is_as_far_as_the_last_takes_nothing_away(corpus, unbroken, tmp_path):
    out, model = tmp_path / "run", Barred(SECTIONS - 1)
    with ModelServer(model) as server:
        first = Run(corpus, out, server, concurrency=1)
        books, kept = counts(out), (out / "accepted.jsonl").read_bytes()
        assert isinstance(first.error, errors.CircuitError) and 0 < books["accepted"] < SECTIONS
        (out / "journal.sqlite").rename(tmp_path / "elsewhere")
        model.barred = range(SECTIONS)
        second = Run(corpus, out, server, concurrency=1)
        assert isinstance(second.error, errors.CircuitError)
        assert (out / "accepted.jsonl").read_bytes() == kept and counts(out) == books
        assert second.summary["state"] == "stopped" and "401" in second.summary["stopped"]
        (tmp_path / "elsewhere").rename(out / "journal.sqlite")
        model.barred = ()
        third = Run(corpus, out, server)
    assert third.error is None and third.pairs == unbroken.pairs and len(third.calls) < CALLS
    assert len(lines(out / "accepted.jsonl")) == counts(out)["accepted"] == SECTIONS

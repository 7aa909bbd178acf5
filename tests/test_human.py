"""What people's votes decide, and what the release reads of it."""

import pytest

from generation import human
from generation.dataset import row_from
from generation.errors import ReviewError, UsageError
from generation.human import Policy, Vote, count
from generation.review.store import Pair, Store, label_of, put_pair, put_vote
from tests.helpers import candidate_of, section_of

ROW = row_from(section_of(), candidate_of(), generator="rules:1", reviewed_by=["checks"])


def vote(number, reviewer, accept, pair="p", correction=""):
    reasons = () if accept else ("other",)
    return Vote(number, f"u{number}", pair, reviewer, accept, reasons, "", 3.0, "2026-11-22T00:00:00.000Z", correction)


def votes(word):
    """ "+a -b +C": a accepts, b rejects, C accepts."""
    return [vote(n, said[1:], said[0] == "+") for n, said in enumerate(word.split(), 1)]


@pytest.mark.parametrize(
    ("policy", "said", "expected"),
    [
        (Policy(), "", ("needs_more", "", 2, False)),
        (Policy(), "+a", ("needs_more", "", 1, False)),
        (Policy(), "+a +a", ("needs_more", "", 1, False)),
        (Policy(), "+a +b", ("accepted", "agreed", 0, False)),
        (Policy(), "-a -b", ("rejected", "agreed", 0, False)),
        (Policy(), "+a -b", ("needs_more", "", 1, False)),
        (Policy(), "+a -b +c", ("accepted", "third person", 0, False)),
        (Policy(), "+a -b -c", ("rejected", "third person", 0, False)),
        (Policy(), "+a -b +c -d", ("needs_more", "", 1, False)),
        (Policy(), "+a -b +b", ("accepted", "agreed", 0, False)),
        (Policy(), "+a +b -a", ("needs_more", "", 1, False)),
        (Policy(people=1), "-a", ("rejected", "agreed", 0, False)),
        (Policy(people=3), "+a +b -c", ("needs_more", "", 1, False)),
        (Policy(people=3), "+a +b -c +d", ("accepted", "third person", 0, False)),
        (Policy(on_disagreement="drop"), "+a -b", ("rejected", "disagreement", 0, False)),
        (Policy(adjudicators=("C",)), "+a -b", ("needs_more", "", 1, True)),
        (Policy(adjudicators=("C",)), "+a -b -c", ("needs_more", "", 1, True)),
        (Policy(adjudicators=("C",)), "+a -b +C", ("accepted", "adjudicator", 0, False)),
        (Policy(adjudicators=("C",)), "+C -a", ("needs_more", "", 1, False)),
        (Policy(adjudicators=("C",)), "-C +a +b", ("accepted", "agreed", 0, False)),
    ],
)
def test_what_votes_decide(policy, said, expected):
    assert tuple(count(votes(said), policy, set(policy.adjudicators))) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": 0},
        {"on_disagreement": "coin"},
        {"lease_minutes": 0},
        {"adjudicators": ("a",), "on_disagreement": "drop"},
        {"adjudicators": ("a",), "reviewers": ("a", "b")},
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(wrong):
    with pytest.raises(UsageError):
        Policy(**wrong)


@pytest.fixture
def store(tmp_path):
    store = Store.create(tmp_path / "review.sqlite", Policy(), "Be fair.")
    with store.writing() as db:
        for name in ("ann", "ben", "eve"):
            label_of(db, name)
    return store


def put(store, *pairs, said=()):
    with store.writing() as db:
        for pair in pairs:
            put_pair(db, pair)
        for number, (id, name, accept) in enumerate(said, 1):
            put_vote(db, vote(number, label_of(db, name), accept, id))


def test_every_pair_put_to_people_has_a_decision_and_gold_has_none(store):
    put(store, Pair("p", ROW), Pair("g", ROW, gold={"accept": True, "reasons": []}), said=[("p", "ann", False)])
    (decision,) = human.decisions(store.path)
    assert (decision.id, decision.decision, decision.row) == ("p", "needs_more", ROW)


def test_votes_carry_pseudonyms_and_reasons(store):
    put(store, Pair("p", ROW), said=[("p", "ann", False), ("p", "ben", False)])
    (decision,) = human.decisions(store.path)
    assert decision.decision == "rejected" and decision.reasons == ("other",)
    assert all(label.startswith("person:") for label in decision.reviewers) and len(set(decision.reviewers)) == 2
    assert not {"ann", "ben"} & {label.partition(":")[2] for label in decision.reviewers}
    assert [v["is_person"] for v in decision.provenance_votes()] == [True, True]


def test_an_accepted_correction_takes_the_place_of_its_parent(store):
    said = [("p", "ann", True), ("p", "ben", True), ("c", "ann", True), ("c", "ben", True)]
    put(store, Pair("p", ROW), Pair("c", ROW, parent="p", corrected_by="person:x"), said=said)
    parent, child = human.decisions(store.path)
    assert (parent.decision, parent.how, parent.replaced_by) == ("rejected", "replaced", "c")
    assert (child.decision, child.parent, child.corrected_by) == ("accepted", "p", "person:x")


def test_an_open_correction_leaves_its_parent_as_it_is(store):
    put(
        store,
        Pair("p", ROW),
        Pair("c", ROW, parent="p", corrected_by="person:x"),
        said=[("p", "ann", True), ("p", "ben", True)],
    )
    assert [d.decision for d in human.decisions(store.path)] == ["accepted", "needs_more"]


def test_another_policy_can_be_asked(store):
    put(store, Pair("p", ROW), said=[("p", "ann", True), ("p", "ben", False)])
    (decision,) = human.decisions(store.path, Policy(on_disagreement="drop"))
    assert (decision.decision, decision.how) == ("rejected", "disagreement")


def test_votes_cannot_be_changed_or_removed(store):
    put(store, Pair("p", ROW), said=[("p", "ann", True)])
    for statement in ("UPDATE votes SET accept = 0", "DELETE FROM votes"):
        with pytest.raises(ReviewError), store.writing() as db:
            db.execute(statement)
    assert [v.accept for v in store.votes()] == [True]


@pytest.mark.parametrize(
    "content", [b"", b"no database at all, but long enough to be read as one" * 40, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_review_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(ReviewError):
        human.decisions(path)
    assert path.read_bytes() == content


def test_a_missing_file_is_told_with_what_to_do(tmp_path):
    with pytest.raises(ReviewError, match="craqan review start"):
        human.decisions(tmp_path / "none.sqlite")

"""The desk: who is dealt which pair, what a vote may say, and that none is lost or seen too early."""

import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from generation import human
from generation.errors import BallotError, UsageError
from generation.human import Policy
from generation.review import desk
from generation.review.corrections import Correction
from generation.review.desk import Ballot
from tests.review_files import judge, judge_all, pair_rows, start
from tests.test_cli import ROOT


def test_two_people_decide_all_pairs_and_a_third_gets_none(tmp_path):
    store = start(tmp_path)
    assert len(judge_all(store, "ann")) == len(judge_all(store, "ben")) == 4
    assert judge(store, "eve") is None
    assert {d.decision for d in human.decisions(store.path)} == {"accepted"}


def test_a_third_person_is_dealt_only_what_the_two_disagree_on(tmp_path):
    store = start(tmp_path)
    judge_all(store, "ann")
    disputed = judge(store, "ben", accept=False)
    judge_all(store, "ben")
    assert judge_all(store, "eve", accept=False) == [disputed]
    by_id = {d.id: d for d in human.decisions(store.path)}
    assert (by_id[disputed].decision, by_id[disputed].how) == ("rejected", "third person")


def test_each_person_has_an_order_of_their_own_that_the_seed_sets(tmp_path):
    orders = []
    for folder, seed in (("a", 0), ("b", 1)):
        (tmp_path / folder).mkdir()
        store = start(tmp_path / folder, Policy(people=9, seed=seed), count=8)
        orders += [judge_all(store, "ann"), judge_all(store, "ben")]
    assert len({tuple(order) for order in orders}) > 1
    assert all(set(order) == set(orders[0]) for order in orders)


def test_an_open_pair_comes_again_and_keeps_its_place(tmp_path):
    store = start(tmp_path)
    first = desk.next_pair(store, "ann")
    again = desk.next_pair(store, "ann")
    assert (first.pair.id, first.ticket) == (again.pair.id, again.ticket)


def test_a_pair_that_others_have_open_is_not_dealt_beyond_need(tmp_path):
    store = start(tmp_path, Policy(people=1), count=1)
    assert desk.next_pair(store, "ann").pair
    waiting = desk.next_pair(store, "ben")
    assert waiting.pair is None and waiting.free_at > time.time()


def test_an_open_pair_that_was_left_alone_is_dealt_again_after_its_time(tmp_path):
    store = start(tmp_path, Policy(people=1, lease_minutes=0.0005), count=1)
    abandoned = desk.next_pair(store, "ann")
    time.sleep(0.1)
    assert judge(store, "ben") == abandoned.pair.id
    desk.send(store, "ann", Ballot(abandoned.pair.id, abandoned.ticket, True))
    assert len(store.votes()) == 2


def test_adjudicators_judge_disagreements_and_nothing_else(tmp_path):
    store = start(tmp_path, Policy(adjudicators=("Eve",)), count=2)
    assert judge(store, "eve") is None
    judge_all(store, "ann")
    judge_all(store, "ben", accept=False)
    assert judge(store, "dan") is None
    assert len(judge_all(store, " EVE ", accept=False)) == 2
    assert {d.how for d in human.decisions(store.path)} == {"adjudicator"}


def test_only_those_named_may_judge(tmp_path):
    store = start(tmp_path, Policy(reviewers=("Ann", "Ben")))
    assert judge(store, "ann")
    with pytest.raises(UsageError, match="not among the reviewers"):
        desk.next_pair(store, "mallory")


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\u202eb", "a\x00b", "\ud800"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(UsageError):
        desk.next_pair(start(tmp_path), name)


def test_a_changed_mind_is_a_new_vote_and_both_are_kept(tmp_path):
    store = start(tmp_path, Policy(people=1), count=2)
    id = judge(store, "ann")
    back = desk.reopen(store, "ann")
    assert back.pair.id == id and back.earlier.accept
    desk.send(store, "ann", Ballot(id, back.ticket, False, ["other"], "On second thoughts."))
    assert [v.accept for v in store.votes()] == [True, False]
    assert {d.id: d.decision for d in human.decisions(store.path)}[id] == "rejected"


def test_going_back_goes_on_to_earlier_votes_and_leaving_changes_nothing(tmp_path):
    store = start(tmp_path)
    first, second = judge(store, "ann"), judge(store, "ann")
    one = desk.reopen(store, "ann")
    two = desk.reopen(store, "ann", one.earlier.number)
    assert (one.pair.id, two.pair.id) == (second, first)
    assert desk.reopen(store, "ann", two.earlier.number) is None
    assert desk.next_pair(store, "ann").pair.id not in (first, second)
    assert len(store.votes()) == 2


def test_the_same_ballot_twice_is_one_vote_and_another_on_its_ticket_is_refused(tmp_path):
    store = start(tmp_path)
    served = desk.next_pair(store, "ann")
    ballot = Ballot(served.pair.id, served.ticket, True)
    assert desk.send(store, "ann", ballot) == desk.send(store, "ann", ballot)
    with pytest.raises(BallotError, match="already"):
        desk.send(store, "ann", Ballot(served.pair.id, served.ticket, False, ["other"]))
    assert len(store.votes()) == 1


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"accept": False}, "at least one reason"),
        ({"accept": True, "reasons": ["other"]}, "take the reasons back"),
        ({"accept": False, "reasons": ["bad"]}, "none of the nine"),
        ({"accept": False, "reasons": ["other"], "note": "x" * 2001}, "2,000 characters"),
        ({"accept": False, "reasons": ["other"], "note": "a\x00b"}, "control characters"),
        ({"accept": True, "correction": Correction(answer="three rafts")}, "not accepted as it is"),
        ({"accept": False, "reasons": ["other"], "correction": Correction(answer="two rafts")}, "changes nothing"),
        ({"accept": False, "reasons": ["other"], "correction": Correction(answer="nine anchors")}, "pass the checks"),
        (
            {"accept": False, "reasons": ["other"], "correction": Correction(required_sentence_indices=[0, 9])},
            "does not exist",
        ),
        ({"accept": False, "reasons": ["other"], "correction": Correction(question="x" * 501)}, "500 characters"),
        ({"accept": False, "reasons": ["other"], "correction": Correction(coreferences=["it"])}, "cannot be read"),
    ],
)
def test_an_incomplete_or_oversized_ballot_is_refused_and_nothing_kept(tmp_path, said, message):
    store = start(tmp_path, count=1)
    served = desk.next_pair(store, "ann")
    with pytest.raises(BallotError, match=message):
        desk.send(store, "ann", Ballot(served.pair.id, served.ticket, **said))
    assert store.votes() == [] and len(store.pairs()) == 1


def test_nobody_votes_on_what_is_not_on_their_desk(tmp_path):
    store = start(tmp_path)
    served = desk.next_pair(store, "ann")
    for who, pair, ticket in [
        ("ben", served.pair.id, served.ticket),
        ("ann", served.pair.id, "guessed"),
        ("ann", "no such pair", served.ticket),
    ]:
        with pytest.raises(BallotError, match="not on your desk"):
            desk.send(store, who, Ballot(pair, ticket, True))
    assert store.votes() == []


def test_votes_faster_than_anybody_reads_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(desk, "VOTES_A_MINUTE", 2)
    store = start(tmp_path)
    judge(store, "ann"), judge(store, "ann")
    with pytest.raises(BallotError, match="in a minute"):
        judge(store, "ann")
    assert judge(store, "ben")


def test_a_correction_is_a_new_pair_for_two_others(tmp_path):
    store = start(tmp_path, count=1)
    question = "What must every ferry carry under the Harbor Safety Act?"
    parent = judge(store, "ann", accept=False, correction=Correction(question=question))
    assert judge(store, "ann") is None, "its author does not judge it"
    assert len(judge_all(store, "ben", accept=lambda pair: pair.parent)) == 2
    (child,) = judge_all(store, "eve")
    first, second = human.decisions(store.path)
    assert (first.id, first.decision) == (parent, "rejected")
    assert (second.id, second.decision, second.parent) == (child, "accepted", parent)
    assert second.row["question"] == question and second.row["answer"] == first.row["answer"]
    assert second.corrected_by == first.reviewers[0] and second.corrected_by not in second.reviewers


def test_a_correction_of_a_link_alone_is_a_pair_of_its_own(tmp_path):
    store = start(tmp_path, count=1)
    shorter = {"sentence_index": 0, "text": "Harbor Safety Act"}
    link = {"kind": "pronominal", "mention": {"sentence_index": 2, "text": "It"}, "antecedent": shorter}
    parent = judge(store, "ann", accept=False, correction=Correction(coreferences=[link]))
    child = next(pair for pair in store.pairs() if pair.parent)
    assert child.id != parent and child.row["id"] == parent
    assert child.row["coreferences"][0]["antecedent"]["start"] == 4


def test_gold_pairs_are_dealt_to_everybody_and_never_decided(tmp_path):
    (bad,) = pair_rows(5)[4:]
    gold = [{**bad, "answer": "three rafts", "expected": "reject", "expected_reasons": ["wrong_information"]}]
    store = start(tmp_path, Policy(people=1), count=2, gold=gold)
    seen = [judge_all(store, name) for name in ("ann", "ben", "eve")]
    (hidden,) = set(seen[1])
    assert len(seen[0]) == 3 and seen[1] == seen[2] == [hidden]
    assert hidden not in {d.id for d in human.decisions(store.path)}


def test_a_correction_of_a_gold_pair_stays_out_of_the_set(tmp_path):
    (bad,) = pair_rows(5)[4:]
    store = start(tmp_path, count=0, gold=[{**bad, "expected": "accept"}])
    judge(
        store,
        "ann",
        accept=False,
        correction=Correction(question="What must every ferry carry by the Canal Safety Act?"),
    )
    assert len(store.pairs()) == 1 and human.decisions(store.path) == []


def test_time_is_counted_from_opening_to_vote(tmp_path):
    store = start(tmp_path, count=1)
    served = desk.next_pair(store, "ann")
    time.sleep(0.3)
    vote = desk.send(store, "ann", Ballot(served.pair.id, served.ticket, True))
    assert 0.3 <= vote.seconds < 60


def test_looking_at_progress_writes_nothing(tmp_path):
    store = start(tmp_path)
    with sqlite3.connect(store.path) as db:
        before = list(db.iterdump())
    desk.progress(store, "ann")
    human.decisions(store.path), human.status(store.path)
    with sqlite3.connect(store.path) as db:
        assert list(db.iterdump()) == before


def test_many_people_at_once_never_give_a_pair_more_votes_than_it_needs(tmp_path):
    store = start(tmp_path, count=8)
    people = [threading.Thread(target=judge_all, args=(store, f"person {i}")) for i in range(6)]
    for thread in people:
        thread.start()
    for thread in people:
        thread.join()
    found = human.decisions(store.path)
    assert [len(d.votes) for d in found] == [2] * 8


def test_a_vote_that_was_answered_survives_kill_9(tmp_path):
    store = start(tmp_path, Policy(people=99), count=8)
    script = (
        "import sys\nfrom tests.review_files import judge\nfrom generation.review.store import Store\n"
        "store = Store(sys.argv[1])\nn = 0\n"
        "while True:\n    n += 1\n    [print(judge(store, f'p{n}'), flush=True) for _ in range(8)]\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(store.path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    told = [process.stdout.readline().strip() for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    told += [line for line in process.stdout.read().split("\n")[:-1] if line]
    votes = [vote.pair for vote in store.votes()]
    assert votes[: len(told)] == told and len(votes) - len(told) <= 1
    assert judge(store, "somebody else")

"""`craqan audit`: the figures by hand, what a judge adds, and known verdicts from rows, votes and runs."""

import json
from dataclasses import asdict

import pytest

from generation.audit import Case, Said, audit, read_cases, with_checks
from generation.auditing.scores import Seen, scores
from generation.errors import InputError, UsageError
from generation.records import Outcome, Round, Verdict
from generation.running.folder import outcome_row
from tests.helpers import PASSAGE, candidate_of, section_of
from tests.test_cli import within

YES, NO = Said(False), Said(True, ("wrong_information",))


def case(number, bad, **said):
    return Case(f"p{number}", f"p{number}", bad, ("wrong_information",) if bad else (), said)


def seen(caught, false, missed, passed):
    pairs = [(True, True)] * caught + [(True, False)] * false + [(False, True)] * missed + [(False, False)] * passed
    return [Seen(rejected, bad, str(i)) for i, (rejected, bad) in enumerate(pairs)]


def judge(found, name):
    return next(j for j in found.judges if j.name == name)


def test_the_figures_are_those_of_a_table_done_by_hand():
    found = scores(seen(caught=20, false=5, missed=10, passed=15))
    assert (found.precision, found.recall) == (0.8, 20 / 30)
    assert found.f1 == pytest.approx(8 / 11)
    assert found.kappa == pytest.approx(0.4)  # Cohen's textbook case: agreement 0.7, chance 0.5
    assert found.intervals["recall"].low < 20 / 30 < found.intervals["recall"].high


def test_a_judge_that_accepts_everything_agrees_by_chance_only():
    found = scores(seen(0, 0, 10, 10))
    assert (found.precision, found.recall, found.kappa) == (None, 0.0, 0.0)


def test_pairs_of_one_passage_are_drawn_together_so_the_interval_is_wider():
    apart = seen(20, 0, 20, 0)
    together = [Seen(s.rejected, s.bad, str(i // 10)) for i, s in enumerate(apart)]
    widths = [(i := scores(s).intervals["recall"]).high - i.low for s in (apart, together)]
    assert widths[1] > 2 * widths[0]


def test_a_reviewer_that_adds_nothing_is_seen_to_add_nothing():
    cases = [case(n, n < 6, sharp=NO if n < 6 else YES, echo=NO if n < 3 else YES, idle=YES) for n in range(10)]
    found = audit(cases)
    assert (judge(found, "sharp").only_catches, judge(found, "sharp").recall_lost) == (3, 0.5)
    assert (judge(found, "echo").only_catches, judge(found, "echo").recall_lost) == (0, 0.0)
    assert judge(found, "echo").adds == "nothing" and judge(found, "idle").adds == "never rejects"


def test_one_that_only_raises_false_alarms_costs_precision():
    found = audit([case(n, n < 5, sharp=NO if n < 5 else YES, wild=NO) for n in range(10)])
    wild = judge(found, "wild")
    assert wild.only_alarms == 5 and wild.precision_lost == -0.5 and wild.adds == "nothing but false alarms"


def test_a_judge_is_measured_on_what_it_was_asked():
    found = audit([case(0, True, a=NO), case(1, True, a=YES, b=NO), case(2, False, a=YES, b=YES)])
    assert judge(found, "b").scores.pairs == 2 and judge(found, "b").scores.recall == 1.0
    assert found.all.recall == 1.0 and found.all.pairs == 3


def test_problem_codes_are_counted_as_caught_named_and_wrongly_named():
    other = Said(True, ("other",))
    found = audit([case(0, True, a=NO), case(1, True, a=other), case(2, True, a=YES), case(3, False, a=NO)])
    code = judge(found, "a").codes["wrong_information"]
    assert (code.bad, code.caught, code.named, code.wrongly) == (3, 2, 1, 1)
    assert judge(found, "a").codes["other"].wrongly == 1


# --- where cases come from -------------------------------------------------------------------------------------------

PAIR = {"sentences": list(PASSAGE), **asdict(candidate_of())}
LEAK = {**PAIR, "question": "Does the Harbor Safety Act require two rafts?"}
VERDICTS = [{"reviewer": "a", "is_quality": False, "reason": "no", "problems": ["other"]}]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("gold", [False, {"is_quality": False, "problems": ["other"]}])
def test_gold_in_the_row_is_known(tmp_path, gold):
    (found,) = read_cases(written(tmp_path / "f.jsonl", [{**PAIR, "gold": gold, "verdicts": VERDICTS}]))
    assert found.bad and found.said["a"] == Said(True, ("other",))


def test_votes_are_counted_and_ties_left_out(tmp_path):
    rows = [{**PAIR, "id": name, "verdicts": VERDICTS} for name in ("x", "y", "z")]
    votes = [{"id": "x", "accept": False, "reasons": ["other"]}] * 2 + [{"id": "x", "accept": True}]
    votes += [{"id": "y", "is_quality": True}, {"id": "z", "accept": True}, {"id": "z", "accept": False}]
    found = read_cases(written(tmp_path / "f.jsonl", rows), written(tmp_path / "votes.jsonl", votes))
    assert [(c.id, c.bad) for c in found] == [("x", True), ("y", False)]


def test_every_round_of_a_run_is_a_pair_of_its_own(tmp_path):
    section, first, last = section_of(), candidate_of(question="What must every ferry carry?"), candidate_of()
    against, fine = Verdict("a", False, "no", ("other",)), Verdict("a", True, "ok")
    outcome = Outcome(section, "accepted", last, (Round(0, first, (against,)), Round(1, last, (fine,))))
    row = outcome_row(outcome, {"generator": "model:m", "reviewed_by": ["model:m"]})
    (tmp_path / "run").mkdir()
    written(tmp_path / "run" / "accepted.jsonl", [row])
    written(tmp_path / "run" / "rejected.jsonl", [])
    from generation.dataset import id_of

    votes = [{"id": id_of(section, c), "accept": c == last, "reasons": ["other"] * (c != last)} for c in (first, last)]
    found = read_cases(tmp_path / "run", written(tmp_path / "votes.jsonl", votes))
    assert [(c.bad, c.said["a"].rejects) for c in found] == [(True, True), (False, False)]


def test_checks_are_asked_one_by_one_where_the_text_is_there(tmp_path):
    rows = [{**PAIR, "gold": True}, {**LEAK, "gold": False}]
    found = audit(with_checks(read_cases(written(tmp_path / "f.jsonl", rows))))
    assert judge(found, "check answer_not_leaked").scores.caught == 1
    assert found.all.precision == 1.0


@pytest.mark.parametrize("bad", ["maybe", {"is_quality": "yes"}, {"is_quality": False, "problems": ["bad luck"]}])
def test_a_known_verdict_that_is_none_is_named_with_its_line(tmp_path, bad):
    with pytest.raises(InputError, match="f.jsonl:1"):
        read_cases(written(tmp_path / "f.jsonl", [{**PAIR, "gold": bad}]))


def test_pairs_of_which_nothing_is_known_cannot_be_audited(tmp_path):
    with pytest.raises(UsageError, match="no gold"):
        read_cases(written(tmp_path / "f.jsonl", [PAIR]))


def test_nobodys_verdicts_cannot_be_audited():
    with pytest.raises(UsageError, match="Nobody"):
        audit([case(0, True)])


def test_the_command_prints_tables_or_json(tmp_path):
    rows = [{**PAIR, "gold": True, "verdicts": [{"reviewer": "a", "is_quality": True, "problems": []}]}]
    rows += [{**LEAK, "gold": {"is_quality": False, "problems": ["other"]}, "verdicts": VERDICTS}]
    file = written(tmp_path / "f.jsonl", rows)
    shown = within("audit", file, COLUMNS="180")
    assert shown.returncode == 0, shown.stderr
    assert "answer_not_leaked" in shown.stdout and "all checks" in shown.stdout
    data = json.loads(within("audit", file, "--json", "--rules", "--prove").stdout)
    assert (data["pairs"], data["bad"]) == (2, 1)
    names = [j["name"] for j in data["judges"]]
    assert {"a", "content_cohesion", "proof", "check answer_not_leaked"} <= set(names)


def test_the_command_wants_a_file_or_the_corruptions(tmp_path):
    for arguments in ([], [tmp_path / "nothing.jsonl"], [tmp_path, "--corruptions"]):
        done = within("audit", *arguments)
        assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize("spoilt", [{"votes": 5}, {"gold": True, "verdicts": [{"reviewer": "a", "is_quality": "yes"}]}])
def test_votes_or_verdicts_of_another_type_are_named_and_not_left_out(tmp_path, spoilt):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**asdict(candidate_of()), "sentences": list(PASSAGE), **spoilt}) + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl:1"):
        read_cases(path)


def test_a_line_that_cannot_be_read_is_named_and_not_left_out(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**asdict(candidate_of()), "sentences": list(PASSAGE), "gold": True}) + "\n{\n")
    with pytest.raises(InputError, match=r"rows.jsonl:2"):
        read_cases(path)


def test_a_gold_of_null_is_not_known_and_votes_count(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = {**asdict(candidate_of()), "sentences": list(PASSAGE), "gold": None, "votes": [False]}
    path.write_text(json.dumps(row) + "\n")
    (known,) = read_cases(path)
    assert known.bad

"""Votes out of a review and back: exact, whole or not at all, and nothing that a spreadsheet would run."""

import csv
import json

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation import human
from generation.errors import CraqanError, InputError, UsageError
from generation.human import Policy
from generation.review import sheet
from generation.review.corrections import Correction
from generation.review.store import Store
from tests.review_files import judge, judge_all, pair_rows, start, write_rows
from tests.test_cli import ROOT, within

NASTY = [
    '=HYPERLINK("http://x.invalid")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\ttab",
    "'=quoted",
    "'tis",
    "_x0041_",
    "a\nb;c,d",
    "𝒳 é",
]
LINK = {
    "kind": "pronominal",
    "mention": {"sentence_index": 2, "text": "It"},
    "antecedent": {"sentence_index": 0, "text": "Harbor Safety Act"},
}


@pytest.fixture
def busy(tmp_path):
    """Three people's votes, with notes of all kinds, a changed mind, corrections of all parts, and gold."""
    (bad,) = pair_rows(5)[4:]
    store = start(tmp_path, count=4, gold=[{**bad, "expected": "reject", "expected_reasons": ["other"]}])
    notes = iter([*NASTY] * 9)
    judge_all(store, "ann", accept=False, reasons=["formatting", "other"], note="=1+1")
    for name in ("ben", "eve"):
        judge_all(store, name, accept=lambda pair: len(pair.id) % 2 == 0, note=next(notes))
    return store


@pytest.fixture
def corrected(tmp_path):
    store = start(tmp_path, count=1)
    better = Correction("What must every ferry carry under the Harbor Safety Act?", coreferences=[LINK])
    for name, text in zip("abcdefghij", NASTY, strict=True):
        judge(store, name, accept=False, note=text, correction=better if name == "a" else None)
    judge_all(store, "last", accept=True)
    return store


def copy_of(store, folder):
    """A new review with the same pairs and no votes."""
    folder.mkdir(exist_ok=True)
    roots = [dict(pair.row) for pair in store.pairs() if not pair.parent and pair.gold is None]
    human.start(folder / "copy.sqlite", [write_rows(folder / "roots.jsonl", roots)], store.policy)
    return Store(folder / "copy.sqlite")


def said(store):
    names = store.names()
    return sorted(
        (v.uid, v.pair, names[v.reviewer], v.accept, v.reasons, v.note, v.seconds, v.at, v.correction)
        for v in store.votes()
    )


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx", "json"])
def test_what_was_exported_comes_back_exactly(corrected, tmp_path, ending):
    out = tmp_path / f"votes.{ending}"
    assert human.export(corrected.path, out, names=True) == len(corrected.votes())
    copy = copy_of(corrected, tmp_path / "copy")
    human.import_votes(copy.path, out)
    assert said(copy) == said(corrected)
    assert [(p.id, p.row, p.parent) for p in copy.pairs()] == [(p.id, p.row, p.parent) for p in corrected.pairs()]
    again = tmp_path / f"again.{ending}"
    human.export(copy.path, again, names=True)
    assert ending == "xlsx" or again.read_bytes() == out.read_bytes()


def test_a_whole_review_goes_through_jsonl_pairs_and_gold_too(busy, tmp_path):
    human.export(busy.path, tmp_path / "all.jsonl")
    human.start(tmp_path / "new.sqlite", [])
    human.import_votes(tmp_path / "new.sqlite", tmp_path / "all.jsonl")
    human.export(tmp_path / "new.sqlite", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx", "json"])
def test_importing_the_same_file_twice_adds_nothing(corrected, tmp_path, ending):
    out = tmp_path / f"votes.{ending}"
    human.export(corrected.path, out)
    made = human.import_votes(corrected.path, out)
    assert (made.added, made.known) == (0, len(corrected.votes()))


@pytest.mark.parametrize("ending", ["csv", "xlsx", "json"])
def test_what_people_fill_in_does_not_tell_gold_or_names(busy, tmp_path, ending):
    out = tmp_path / f"votes.{ending}"
    human.export(busy.path, out)
    text = out.read_bytes().decode("utf-8", "ignore")
    if ending == "xlsx":
        text = "\n".join(str(row) for row in openpyxl.load_workbook(out).active.values)
    assert "person:" in text and not any(word in text for word in ("gold", "expected", "'ann'", '"ann"', ",ann,"))


def test_no_cell_of_a_spreadsheet_is_a_formula(corrected, tmp_path):
    human.export(corrected.path, tmp_path / "v.csv")
    human.export(corrected.path, tmp_path / "v.xlsx")
    with (tmp_path / "v.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    book = openpyxl.load_workbook(tmp_path / "v.xlsx")
    assert {cell.data_type for row in book.active.iter_rows() for cell in row} <= {"s", "n"}


@given(st.text())
def test_guarding_is_undone_exactly(text):
    assert sheet.unguarded(sheet.guarded(text)) == text
    assert sheet.guarded(text)[:1] not in tuple("=+-@\t\r")


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_survives_a_cell_of_xlsx(text):
    assert sheet._cell(sheet._escaped(text)) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "maybe"}, '"accept" or "reject"'),
        ({"decision": "reject", "reasons": ""}, "at least one reason"),
        ({"decision": "accept", "reasons": "other"}, "take the reasons back"),
        ({"decision": "reject", "reasons": "ugly"}, "none of the nine"),
        ({"pair_id": "unknown"}, "no pair unknown"),
        ({"reviewer": ""}, "needs a reviewer"),
        ({"seconds": "-3"}, "seconds go from 0"),
        ({"seconds": "soon"}, "no number of seconds"),
        ({"at": "yesterday"}, "no time such as"),
        ({"decision": "reject", "reasons": "1", "corrected_required": "zero"}, "takes numbers"),
        ({"decision": "reject", "reasons": "1", "corrected_answer": "nine anchors"}, "does not pass the checks"),
        ({"note": "x" * 3000}, "2,000 characters"),
    ],
)
def test_one_wrong_row_is_named_and_nothing_is_imported(tmp_path, change, message):
    store = start(tmp_path, count=2)
    ids = [pair.id for pair in store.pairs()]
    good = {"pair_id": ids[0], "reviewer": "ann", "decision": "accept"}
    rows = [good, {"pair_id": ids[1], "reviewer": "ann", "decision": "accept", **change}]
    with (tmp_path / "votes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, sheet.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError, match=message) as told:
        human.import_votes(store.path, tmp_path / "votes.csv")
    assert "row 3" in str(told.value) and store.votes() == [] and store.names() == {}


def test_a_sheet_filled_in_by_hand_is_read_as_people_write(tmp_path):
    store = start(tmp_path, count=2)
    human.export(store.path, tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    first |= {"reviewer": "Ann", "decision": " Accepted "}
    second |= {"reviewer": "Ann", "decision": "REJECT", "reasons": "1; Badly formed, other", "note": "'tis wrong"}
    with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, first.keys(), delimiter=";")
        writer.writeheader()
        writer.writerows([first, second])
    assert human.import_votes(store.path, tmp_path / "filled.csv").added == 2
    one, two = store.votes()
    assert one.accept and two.reasons == ("irrelevant_sentences", "formatting", "other") and two.note == "'tis wrong"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.csv", b"question,answer\r\n1,2\r\n"),
        ("a.csv", b"pair_id,reviewer,decision,decision\r\n"),
        ("a.csv", b'pair_id,reviewer,decision\r\n"open'),
        ("a.xlsx", b"no zip"),
        ("a.json", b"{"),
        ("a.json", b"{}"),
        ("a.json", b'[{"data": {}}]'),
        ("a.json", b'[{"data": {"pair_id": "x"}, "annotations": [{"result": 3}]}]'),
        ("a.jsonl", b"no json"),
        ("a.jsonl", b'{"pair_id": 3, "votes": []}'),
        ("a.jsonl", b'{"pair_id": "x", "votes": [{"reviewer": "a"}]}'),
        ("a.jsonl", b'{"pair_id": "x", "votes": [7]}'),
        ("a.pdf", b"%PDF"),
    ],
)
def test_a_file_that_holds_no_votes_is_told_in_a_sentence(tmp_path, name, content):
    store = start(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, UsageError)):
        human.import_votes(store.path, tmp_path / name)
    assert store.votes() == []


def test_a_vote_id_that_says_something_else_is_refused(tmp_path):
    store = start(tmp_path)
    judge(store, "ann")
    human.export(store.path, tmp_path / "v.jsonl")
    text = (tmp_path / "v.jsonl").read_text().replace('"decision": "accept"', '"decision": "reject"')
    (tmp_path / "v.jsonl").write_text(text.replace('"reasons": []', '"reasons": ["other"]'))
    with pytest.raises(InputError, match="says something else"):
        human.import_votes(store.path, tmp_path / "v.jsonl")
    assert len(store.votes()) == 1


def test_nobody_imports_a_vote_on_their_own_correction(corrected, tmp_path):
    child = next(pair for pair in corrected.pairs() if pair.parent)
    line = {"pair_id": child.id, "votes": [{"reviewer": "A", "decision": "accept"}]}
    write_rows(tmp_path / "v.jsonl", [line])
    with pytest.raises(InputError, match="does not vote on it"):
        human.import_votes(corrected.path, tmp_path / "v.jsonl")


def annotation(*items, **more):
    return {"result": list(items), "completed_by": 7, "lead_time": 12.5, "created_at": "2026-11-22T10:00:00Z", **more}


def choice(name, *values):
    return {"from_name": name, "to_name": "passage", "type": "choices", "value": {"choices": list(values)}}


def label_studio(store, tmp_path, *annotations):
    human.export(store.path, tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    tasks[0]["annotations"] = list(annotations)
    (tmp_path / "done.json").write_text(json.dumps(tasks))
    return tasks[0], tmp_path / "done.json"


def test_an_annotation_by_label_studio_is_a_vote_and_a_skipped_task_is_none(tmp_path):
    store = start(tmp_path)
    rejects = annotation(choice("decision", "reject"), choice("reasons", "formatting", "other"))
    _, done = label_studio(store, tmp_path, rejects, annotation(was_cancelled=True))
    assert human.import_votes(store.path, done).added == 1
    (vote,) = store.votes()
    assert (vote.reasons, vote.seconds, vote.at) == (("formatting", "other"), 12.5, "2026-11-22T10:00:00.000Z")
    assert store.names()[vote.reviewer] == "label-studio-7"


def test_regions_that_were_left_alone_are_no_correction_and_moved_ones_are(tmp_path):
    store = start(tmp_path)
    task, _ = label_studio(store, tmp_path)
    regions = task["predictions"][0]["result"]
    rejects = [choice("decision", "reject"), choice("reasons", "other")]
    moved = json.loads(json.dumps(regions))
    antecedent = next(r for r in moved if r.get("id") == "antecedent-0")["value"]
    antecedent |= {"start": 4, "text": antecedent["text"][4:]}
    _, done = label_studio(
        store, tmp_path, annotation(*rejects, *regions), annotation(*rejects, *moved, completed_by=8)
    )
    human.import_votes(store.path, done)
    same, other = store.votes()
    assert same.correction == "" and other.correction
    child = store.pairs()[-1].row["coreferences"][0]["antecedent"]
    assert (child["start"], child["text"]) == (4, "Harbor Safety Act")


def test_regions_counted_in_utf_16_are_read_too():
    from generation.review.label_studio import _offsets

    row = {"section_text": "𝒳𝒳 The Act."}
    assert _offsets("", {"start": 5, "end": 12, "text": "The Act"}, row) == (3, 10)


def test_the_commands_work_as_a_person_uses_them(tmp_path):
    def review(*arguments):
        return within("review", *arguments, cwd=tmp_path)

    assert review("start", "r.sqlite", ROOT / "data" / "default", "--people", "1").returncode == 0
    assert review("start", "r.sqlite", ROOT / "data").returncode == 2
    assert "open" in review("status", "r.sqlite").stdout
    assert review("export", "r.sqlite", "votes.csv").returncode == 0
    text = (tmp_path / "votes.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines(keepends=True)))
    write_rows(
        tmp_path / "in.jsonl",
        [{"pair_id": rows[0]["pair_id"], "votes": [{"reviewer": "ann", "decision": "accept", "seconds": 60}]}],
    )
    assert "1 votes added" in review("import", "r.sqlite", "in.jsonl").stdout
    assert "minutes a vote        1.00" in review("agreement", "r.sqlite").stdout
    first = json.loads(review("decisions", "r.sqlite").stdout.splitlines()[0])
    assert first["decision"] == "accepted"
    assert json.loads(review("status", "r.sqlite", "--json").stdout)["accepted"] == 1
    missing = review("status", "none.sqlite")
    assert missing.returncode == 1 and "craqan review start" in missing.stderr and len(missing.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "line",
    ["{}", "[]", "no", '{"sentences": ["A."], "question": "Q?", "answer": "a", "required_sentence_indices": [0, 5]}'],
)
def test_a_pair_that_is_none_is_named_and_no_file_is_made(tmp_path, line):
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair_rows(1)[0]) + "\n" + line + "\n")
    with pytest.raises(CraqanError, match="pairs.jsonl:2"):
        human.start(tmp_path / "r.sqlite", [tmp_path / "pairs.jsonl"], Policy())
    assert not list(tmp_path.glob("r.sqlite*"))


def test_a_bare_pair_becomes_a_whole_row_and_keeps_its_own_id(tmp_path):
    bare = {
        "id": "mine-1",
        "sentences": ["The Dock Act was passed in 1974.", "It requires two rafts."],
        "question": "How many rafts does the Dock Act require?",
        "answer": "two",
        "required_sentence_indices": [0, 1],
    }
    human.start(tmp_path / "r.sqlite", [write_rows(tmp_path / "p.jsonl", [bare])])
    (decision,) = human.decisions(tmp_path / "r.sqlite")
    assert decision.row["source_id"] == "mine-1" and decision.row["section_text"].startswith("The Dock Act was")

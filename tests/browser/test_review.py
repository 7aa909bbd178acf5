"""The Review tab in a real Chromium: three people by keyboard alone, a server that is killed, accounts on a Space."""

import json
import sqlite3
import urllib.request
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from generation import human
from generation.human import Policy
from tests.browser.desk import press, question, served, sign_in, vote
from tests.browser.test_look import UNLABELLED, WEAK_TEXT
from tests.review_files import pair_rows, write_rows
from tests.space_rows import HOSTILE

pytestmark = pytest.mark.browser

HARBOR = "What does the Harbor Safety Act require every ferry to carry?"


@contextmanager
def running(folder, rows=None, policy=None, **environment):
    human.start(
        folder / "review.sqlite", [write_rows(folder / "pairs.jsonl", rows or pair_rows(2))], policy or Policy()
    )
    with served(folder, **environment) as desk:
        yield desk


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory):
    """A review of eight pairs that tests may look at and vote in, each under names of its own."""
    with running(tmp_path_factory.mktemp("desk"), pair_rows(8), Policy(people=99)) as desk:
        yield desk


@pytest.mark.parametrize("width", [1280, 390])
def test_three_people_decide_by_keyboard_and_a_killed_server_loses_nothing(tmp_path, open_page, width):
    with running(tmp_path) as desk:
        ann = sign_in(open_page, desk, "Ann", width)
        for _ in range(2):
            vote(ann, "a")
        expect(ann.locator(".desk")).to_contain_text("Nothing is waiting for you")

        ben = sign_in(open_page, desk, "Ben", width)
        assert "accept" not in ben.locator(".desk-progress, .desk-pair, #review-message").all_inner_texts()
        disputed = vote(ben, "r 4 8")
        press(ben, "r 2 n")
        ben.keyboard.type("a 1 u ? in a note are letters")
        desk.kill()
        assert len(votes(desk)) == 3
        desk.start()
        ben.reload()
        ben.get_by_role("tab", name="Review").click()
        expect(ben.locator("#reviewer-name")).to_have_value("Ben")
        ben.locator("#reviewer-name").press("Enter")
        expect(ben.locator("[name=note]")).to_have_value("a 1 u ? in a note are letters")
        expect(ben.locator("[name=reason]").nth(1)).to_be_checked()
        press(ben, "a")
        vote(ben, "")

        eve = sign_in(open_page, desk, "Eve", width)
        assert vote(eve, "r 4") == disputed
        expect(eve.locator(".desk")).to_contain_text("Nothing is waiting for you")
    made = {d.row["question"]: d for d in human.decisions(desk.review)}
    assert (made[disputed].decision, made[disputed].how) == ("rejected", "third person")
    assert made[disputed].reasons[0] == "incomplete_answer"
    (other,) = [d for asked, d in made.items() if asked != disputed]
    assert (other.decision, other.how) == ("accepted", "agreed")
    assert all(v.seconds > 0 for d in made.values() for v in d.votes)
    assert set(human.status(desk.review).people) == {"ann", "ben", "eve"}


def votes(desk):
    with sqlite3.connect(desk.review) as db:
        return db.execute("SELECT reviewer, accept, reasons, note FROM votes ORDER BY number").fetchall()


def test_a_changed_mind_by_key(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "changer")
    first = vote(page, "a")
    press(page, "u")
    expect(page.locator(".desk .notice")).to_contain_text("Your vote stands")
    assert question(page) == first
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Leave it").click()
    expect(page.locator(".desk .notice")).to_have_count(0)
    press(page, "u")
    expect(page.locator(".desk .notice")).to_be_visible()
    vote(page, "r 9")


def test_a_ballot_that_says_too_little_is_told_and_keeps_what_was_typed(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "hasty")
    press(page, "Enter")
    expect(page.get_by_role("alert")).to_contain_text("Accept (key a) or reject (key r)")
    expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)
    press(page, "n")
    page.keyboard.type("Half a thought")
    press(page, "Escape r Enter")
    expect(page.get_by_role("alert")).to_contain_text("at least one reason")
    expect(page.locator("[name=note]")).to_have_value("Half a thought")


def test_a_correction_by_keyboard_becomes_a_pair_for_others(tmp_path, open_page):
    with running(tmp_path, pair_rows(1)) as desk:
        page = sign_in(open_page, desk, "Ann")
        press(page, "r 3 c")
        page.keyboard.press("Control+a")
        page.keyboard.type("What must every ferry carry under the Harbor Safety Act")
        press(page, "Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("must end with a question mark")
        page.locator("[name=question]").press_sequentially("?")
        press(page, "Control+Enter")
        expect(page.locator("#review-message")).to_contain_text("Your correction is a new pair")
        other = sign_in(open_page, desk, "Ben")
        seen = {vote(other, "a"), vote(other, "a")}
    assert seen == {HARBOR, "What must every ferry carry under the Harbor Safety Act?"}
    child = human.decisions(desk.review)[1]
    assert child.row["coreferences"] == pair_rows(1)[0]["coreferences"]


def test_links_of_a_correction_are_edited_and_found_by_their_words(tmp_path, open_page):
    with running(tmp_path, pair_rows(1)) as desk:
        page = sign_in(open_page, desk, "Ann")
        press(page, "r 6 c")
        page.locator("[name=antecedent]").fill("Harbor Safety Act")
        vote(page, "Control+Enter")
    (_, child) = human.decisions(desk.review)
    antecedent = child.row["coreferences"][0]["antecedent"]
    assert (antecedent["start"], antecedent["text"]) == (4, "Harbor Safety Act")


def test_nothing_of_one_pairs_ballot_stays_for_the_next(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "tidy")
    press(page, "r 1 n")
    page.keyboard.type("For this one only")
    press(page, "Escape c Escape")
    page.get_by_role("button", name="Take out").click()
    page.get_by_role("button", name="Add one").click()
    page.locator("[name=mention]").fill("Nothing")
    page.locator("[name=answer]").fill("nothing")
    vote(page, "Escape a")
    expect(page.locator("[name=note]")).to_have_value("")
    expect(page.get_by_role("button", name="Reject")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("[name=reason]:checked")).to_have_count(0)
    press(page, "c")
    expect(page.locator("[name=answer]")).to_have_value("two rafts")
    expect(page.locator(".links li [name=mention]")).to_have_value("It")


def test_the_guidelines_are_one_key_away_and_go_again(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "reader")
    press(page, "?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Reasons to reject")
    expect(dialog).to_contain_text("Leave three kinds of link alone")
    press(page, "a")
    press(page, "?")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "false")


def test_keys_do_nothing_while_another_tab_is_open(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "elsewhere")
    page.get_by_role("tab", name="Browse").click()
    page.locator("body").press("a")
    page.get_by_role("tab", name="Review").click()
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "false")


def test_texts_of_rows_people_and_guidelines_are_shown_as_text(tmp_path, open_page):
    bad = {"sentences": [HOSTILE[:110], "It says so."], "question": "<img src=x onerror=hacked=1>?", "answer": '"><b>'}
    rows = [{**bad, "required_sentence_indices": [0, 1]}]
    human.start(
        tmp_path / "hostile.sqlite", [write_rows(tmp_path / "p.jsonl", rows)], guidelines="<script>hacked=1</script>"
    )
    with running(tmp_path) as desk:
        desk.kill()
        (tmp_path / "hostile.sqlite").replace(desk.review)
        for ending in ("-wal", "-shm"):
            desk.review.with_name(desk.review.name + ending).unlink(missing_ok=True)
        desk.start()
        page = sign_in(open_page, desk, "<b onclick=hacked=1>bold")
        assert question(page) == "<img src=x onerror=hacked=1>?"
        expect(page.locator("[name=answer]")).to_have_value('"><b>')
        press(page, "n")
        page.keyboard.type("<script>hacked=1</script>${hacked=1}")
        press(page, "Escape r 9")
        vote(page, "")
        press(page, "u")
        expect(page.locator("[name=note]")).to_have_value("<script>hacked=1</script>${hacked=1}")
        assert page.locator(".desk img, .desk script, .desk b[onclick]").count() == 0
        assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_can_be_read_reached_and_named_at_every_width(shared_desk, open_page, width, dark):
    page = sign_in(open_page, shared_desk, f"look {width} {dark}", width, dark=dark)
    for keys in ("", "r 1 c", "Escape ?"):
        press(page, keys)
        page.wait_for_timeout(300)  # colours fade in
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(WEAK_TEXT) == []
        assert page.evaluate(UNLABELLED) == []


def test_a_pressed_decision_and_a_chosen_reason_differ_by_more_than_colour(shared_desk, open_page):
    page = sign_in(open_page, shared_desk, "colour")
    press(page, "r 5")
    line = "e => getComputedStyle(e).textDecorationLine"
    assert page.get_by_role("button", name="Reject").evaluate(line) == "underline"
    assert page.get_by_role("button", name="Accept").evaluate(line) == "none"
    assert page.locator(".reasons b").nth(4).evaluate(line) == "underline"


def test_looking_at_the_page_writes_nothing(shared_desk, open_page):
    def dump():
        with sqlite3.connect(shared_desk.review) as db:
            return list(db.iterdump())

    before = dump()
    page = open_page(shared_desk.app)
    page.get_by_role("tab", name="Review").click()
    page.locator("#reviewer-name").wait_for()
    assert dump() == before


def submit(desk, data, cookie=""):
    """What a page would send, sent by a program: the events of a queue's answer."""
    config = json.load(urllib.request.urlopen(f"{desk.app.url}config", timeout=60))
    page = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "review")
    function = next(d for d in config["dependencies"] if [page, "submit"] in [list(t) for t in d["targets"]])
    body = {"fn_index": function["id"], "data": [None], "event_data": data, "session_hash": "h", "trigger_id": page}
    headers = {"Content-Type": "application/json", "Cookie": cookie}
    request = urllib.request.Request(f"{desk.app.url}gradio_api/queue/join", json.dumps(body).encode(), headers)
    urllib.request.urlopen(request, timeout=60)
    stream = urllib.request.Request(f"{desk.app.url}gradio_api/queue/data?session_hash=h", headers={"Cookie": cookie})
    for line in urllib.request.urlopen(stream, timeout=60):
        event = json.loads(line.removeprefix(b"data: ") or b"{}") if line.startswith(b"data: ") else {}
        if event.get("msg") == "process_completed":
            return json.dumps(event["output"])
    return ""


@pytest.mark.parametrize("data", [None, 3, [], {}, {"action": "vote"}, {"action": "start", "name": {"a": 1}}])
def test_what_no_page_sends_is_answered_with_a_sentence(shared_desk, data):
    assert "reload it" in submit(shared_desk, data)


def session_cookie(username, secret="secret"):
    """The cookie that gradio's sign-in would have set for this account."""
    import base64
    import hashlib

    from itsdangerous import TimestampSigner

    profile = {"name": username, "preferred_username": username, "profile": "", "picture": ""}
    session = json.dumps({"oauth_info": {"access_token": "t", "userinfo": profile}}).encode()
    signer = TimestampSigner(hashlib.sha256(f"{secret}-v4".encode()).hexdigest())
    return "session=" + signer.sign(base64.b64encode(session)).decode()


def test_on_a_space_the_account_says_who_votes_and_no_field_of_the_page(tmp_path):
    oauth = {f"OAUTH_{name}": name.lower() for name in ("CLIENT_ID", "SCOPES")}
    space = {
        "SPACE_ID": "org/space",
        "SYSTEM": "spaces",
        "OAUTH_CLIENT_SECRET": "secret",
        "OPENID_PROVIDER_URL": "http://127.0.0.1:9",
    }
    with running(tmp_path, **oauth, **space) as desk:
        start = {"action": "start", "name": "mallory", "username": "mallory"}
        assert "Sign in with your Hugging Face account" in submit(desk, start)
        assert "Sign in" in submit(desk, start, session_cookie("ann", secret="guessed"))
        assert human.status(desk.review).people == {}
        assert "ferry" in submit(desk, start, session_cookie("Ann"))
        assert human.status(desk.review).people == {"ann": 0}

"""Texts that are uploaded, fetched and edited sentence by sentence: what is taken, and what is said where it is not."""

import base64
import json

import pytest

from generation.articles import wikipedia
from generation.errors import InputError, UsageError
from generation.records import digest
from space import editing, making, rates, texts
from space.limits import MAX_FILE, MAX_TEXT
from tests.model_server import Canned, ModelServer, failing
from tests.test_wikipedia import PAGE

PLAIN = "The Reef Act was signed by Anna Holt in 1950. It protects the coral. She called it a promise. It stands."
PAGE_HTML = f"<html><head><title>Reef Act</title></head><body><script>x()</script><p>{PLAIN}</p></body></html>"


def upload(name, content: bytes, size=None):
    return texts.from_file(name, len(content) if size is None else size, base64.b64encode(content).decode())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", b"---\ntitle: Reef Act\n---\n" + PLAIN.encode()),
        ("A.HTML", PAGE_HTML.encode()),
        ("../../etc/passwd.txt", b"\xef\xbb\xbf" + PLAIN.encode()),
        ("a.txt", PLAIN.encode("utf-16")),
    ],
)
def test_a_file_becomes_markdown_and_its_name_is_not_used(name, content):
    read = upload(name, content).markdown
    assert PLAIN in read and "passwd" not in read and "x()" not in read


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "ends in .md"),
        ("a", b"text", "ends in .md"),
        ("a.txt", b"", "file is empty"),
        ("a.md", b" \n ", "file is empty"),
        ("a.md", b"\x00\x01\x02\xff" * 9, "file is binary"),
        ("a.txt", "Ärger".encode("latin-1"), "not UTF-8 text"),
        ("a.html", b"<html><body><img src=x></body></html>", "holds no prose"),
        ("a.txt", b"word " * (MAX_TEXT // 5 + 1), "the limit is 200,000"),
        ("a.txt", b"w" * (MAX_FILE + 1), "limit is 1,000,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(name, content, message):
    with pytest.raises(InputError, match=message):
        upload(name, content)


@pytest.mark.parametrize("sent", [(None, 1, "YQ=="), ("a.md", None, "YQ=="), ("a.md", 1, None), ("a.md", 1, "?")])
def test_what_no_page_uploads_is_refused(sent):
    with pytest.raises(InputError, match="reload|again"):
        texts.from_file(*sent)


def test_a_size_that_is_a_lie_does_not_let_a_large_file_through():
    with pytest.raises(InputError, match="limit is 1,000,000 bytes"):
        upload("a.txt", b"w" * (MAX_FILE + 1), size=1)


@pytest.fixture
def mediawiki(monkeypatch):
    answers = []
    with ModelServer(lambda request: answers[0]) as server:
        monkeypatch.setattr(wikipedia, "BASE", server.url)
        yield answers


@pytest.mark.parametrize("title", ["Harbor Act", "https://en.wikipedia.org/wiki/Harbor_Act#History"])
async def test_an_article_of_wikipedia_comes_with_its_source(mediawiki, title):
    mediawiki.append(Canned(body=json.dumps(PAGE)))
    text = await texts.from_wikipedia(title)
    assert text.markdown.startswith("# Harbor Act") and text.source.revision == "1181234567"
    kept = texts.origin_of(text)
    assert kept.of(text.markdown) == text.source
    assert not kept.of(text.markdown + "Mine.").url, "another text does not get its licence"


@pytest.mark.parametrize(
    ("title", "answer", "message"),
    [
        ("Nothing", failing(404, "no"), 'no article "Nothing": check the spelling.*instead'),
        ("Harbor Act", failing(503, "no"), "try again later"),
        ("Harbor Act", Canned(body="<html>"), "no page"),
    ],
)
async def test_an_article_that_does_not_come_is_told(mediawiki, title, answer, message):
    mediawiki.append(answer)
    with pytest.raises(InputError, match=message):
        await texts.from_wikipedia(title)


async def test_an_unreachable_wikipedia_is_told(monkeypatch):
    monkeypatch.setattr(wikipedia, "BASE", "http://127.0.0.1:9/")
    with pytest.raises(InputError, match="cannot be reached.*paste or upload"):
        await texts.from_wikipedia("Harbor Act")


@pytest.mark.parametrize(
    ("title", "message"),
    [("", "Name an article"), ("https://example.com/wiki/X", "Only articles of the English"), ("x" * 301, "300")],
)
async def test_a_title_that_is_none_is_refused_before_anything_is_asked(title, message):
    with pytest.raises(InputError, match=message):
        await texts.from_wikipedia(title)


# sentences, edited

TEXT = "# Reef\n\n## One\n\nThe Reef Act passed. It holds. She wrote it.\n\nIt stands still.\n\n"
TEXT += "## Two\n\nThe board met. It chose Anna Holt. She went home."


@pytest.fixture(scope="module")
def chosen():
    return making.limits.of_one_run(making._split(TEXT, texts.UNKNOWN))


def sent(chosen, change=None, of=TEXT, section=0):
    """What the page sends when `change` was done to the pieces of one section."""
    pieces = {s.id: [[t.text, False] for t in s.sentences] for s in chosen}
    if change:
        pieces[chosen[section].id] = change(pieces[chosen[section].id])
    return json.dumps({"of": digest(of), "sections": pieces})


def test_sentences_that_are_left_alone_keep_their_section(chosen):
    assert editing.edited(chosen, TEXT, sent(chosen)) == editing.edited(chosen, TEXT, "") == list(chosen)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p[1:],
        lambda p: [["The New Act passed.", False], *p[1:]],
        lambda p: [[p[0][0] + " " + p[1][0], False], *p[2:]],
        lambda p: [["The Reef", False], ["Act passed.", True], *p[1:]],
        lambda p: [[" The \n\n <b>Act</b> \u202e\u0000\ud800 ![x](http://x/) ", False], *p[1:], ["  ", True]],
    ],
    ids=["left out", "changed", "joined", "split", "hostile"],
)
def test_edited_sentences_make_a_section_whose_offsets_hold_and_which_says_so(chosen, change):
    one, two = editing.edited(chosen, TEXT, sent(chosen, change))
    assert all(one.text[s.start : s.end] == s.text and s.text.strip() == s.text for s in one.sentences)
    assert one.text == one.text.encode().decode() and not {"\u202e", "\0"} & set(one.text)
    assert one.segmenter.endswith("edited by hand") and one.id != chosen[0].id
    assert two == chosen[1]


def test_a_section_without_a_sentence_is_left_out_and_none_at_all_is_told(chosen):
    assert editing.edited(chosen, TEXT, sent(chosen, lambda p: [])) == [chosen[1]]
    with pytest.raises(InputError, match="Every sentence is left out"):
        editing.edited(chosen[:1], TEXT, sent(chosen[:1], lambda p: []))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[:1], "Only 1 sentence is left of “One”"),
        (lambda p: [["It is.", False]] * 61, "has 61 sentences and the limit is 60"),
        (lambda p: [["x" * 7000, False]] * 3, "more than 20,000 characters"),
        (lambda p: [["x" * 500_000, False]], "more than 20,000 characters"),
        (lambda p: ["It."], "reload"),
        (lambda p: [["It.", 1]], "reload"),
        (lambda p: [[None, True]], "reload"),
        (lambda p: {"a": 1}, "reload"),
    ],
)
def test_what_cannot_be_taken_is_told(chosen, change, message):
    with pytest.raises(InputError, match=message):
        editing.edited(chosen, TEXT, sent(chosen, change))


@pytest.mark.parametrize("sent_", ["{", "[]", "1", '{"of": 1, "sections": {}}', "[" * 100_000])
def test_what_no_page_sends_is_refused(chosen, sent_):
    with pytest.raises(InputError, match="reload"):
        editing.edited(chosen, TEXT, sent_)


def test_edits_of_an_earlier_text_change_nothing(chosen):
    assert editing.edited(chosen, TEXT, sent(chosen, lambda p: p[1:], of="before")) == list(chosen)


def test_the_editor_shows_every_sentence_and_no_markup_of_theirs():
    text = 'The `</textarea><script>x</script>` Act passed. It holds "on". The `&lt;b&gt;` stands.'
    sections = making._split(text, texts.UNKNOWN)
    shown = editing.editor(text, sections, 1)
    assert shown.count("<textarea") == shown.count("</textarea>") == len(sections[0].sentences) == 3
    assert "<script" not in shown and "&amp;lt;b&amp;gt;" in shown


# how much, how often


def test_one_run_reads_no_more_than_its_limit_and_at_least_one_section():
    long = "\n\n".join(f"## Part {n}\n\n" + f"Sentence number {n} is about a rule of law. " * 50 for n in range(20))
    sections = making._split(long, texts.UNKNOWN)
    read = making.choose(sections, making.EACH)
    assert 1 < len(read) < len(sections) == 20 and sum(len(s.text) for s in read) <= 20_000
    assert making.choose(sections, 19) == [sections[19]]
    assert "These 9 of 20 sections" in editing.editor(long, read, 20)


def test_a_visitor_who_asks_too_often_waits_and_others_do_not():
    now = [0.0]
    rate = rates.Rate(2, 600, "runs", lambda: now[0])
    for _ in range(2):
        rate.admit("192.0.2.1")
    with pytest.raises(UsageError, match="more runs than one visitor gets here: try again in 10 minutes"):
        rate.admit("192.0.2.1")
    rate.admit("192.0.2.2")
    now[0] = 600.0
    rate.admit("192.0.2.1")


def test_the_own_machine_is_not_counted_and_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(rates, "MOST_VISITORS", 10)
    rate = rates.Rate(1, 600, "runs")
    for visitor in ["127.0.0.1", "::1", ""] * 3 + [f"192.0.2.{n}" for n in range(50)]:
        rate.admit(visitor)
    assert len(rate._asked) == 10

"""Documents of every kind into sections: titles, paths, offsets, what is left out, what is skipped, what is chosen."""

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.article import make_article, slug
from generation.corpus import Skipped, articles, choose, read
from generation.errors import CorpusError, UsageError
from generation.markup import Block, from_html, from_markdown, from_text
from generation.prose import clean_characters, tidy
from generation.records import Article
from generation.wikitext import from_wikitext
from tests.dataset_files import python
from tests.hub_stub import serve

ROOT = Path(__file__).parents[1]
SHARED = Path(__file__).parents[2] / "shared"
PROSE = "The Act passed in 1974. It was short. Nobody read it."


def one(path: Path, **options: Any) -> Article:
    (article,) = articles([str(path)], **options)
    return article


def saved(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def markdown(folder: Path, text: str, name: str = "harbor_act.md") -> Article:
    return one(saved(folder, name, text))


def assert_offsets(article: Article) -> None:
    assert [s.id for s in article.sections] == [f"{article.id}/{n}" for n in range(len(article.sections))]
    for s in article.sections:
        assert article.text[s.start : s.end] == s.text
        assert s.text.strip()
    article.text.encode()  # no lone surrogate


# Offsets, whatever the document.

ODD = "\u0301\u200d\U0001f468\U0001f469\u05d0\u202e\x00\x0b\x0c\x1c\x85\xa0\u2028\ufeff\ud800\r\n\t"
ODD += " .!?'\"[]()<>#*_`-=|&;:1a"
odd_text = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=())), max_size=300)
PIECES = {
    "markdown": [
        "# A",
        "## B *c*",
        "p [1]. q",
        "- i",
        "1. j",
        "> k",
        "<div>l</div>",
        "```",
        "| m |",
        "|--|",
        "---",
        "",
    ],
    "html": [
        "<h1>A</h1>",
        "<h2>B",
        "<p>p<sup>2</sup>",
        "<ul><li>i",
        "</li></ul>",
        "<!-- c -->",
        "q",
        "<table>",
        "<br>",
    ],
    "wikitext": ["= A =", "== B ==", "p [[q|r]]", "* i", "{{t|u}}", "{|", "|}", "<ref>s</ref>", "'''v'''", "&#1;", ""],
    "text": ["A", "", "p. q", "\t", "- i"],
}
READERS: dict[str, Callable[[str], list[Block]]] = {
    "markdown": from_markdown,
    "html": from_html,
    "wikitext": from_wikitext,
    "text": from_text,
}


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_offsets_hold_in_every_format(kind: str, data: st.DataObject) -> None:
    pieces = st.lists(st.one_of(st.sampled_from(PIECES[kind]), odd_text), max_size=12)
    text = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(data.draw(pieces))
    article = make_article(READERS[kind](text), name="name")
    assert_offsets(article)
    assert all("\n" not in block.text and block.text == tidy(block.text) for block in READERS[kind](text))


@given(odd_text)
@settings(max_examples=300, deadline=None)
def test_tidying_twice_changes_nothing(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)


def test_odd_characters_are_cleaned_and_others_kept() -> None:
    assert clean_characters("a\r\nb\rc\u2028d\x85e\x0cf") == "a\nb\nc\nd\ne\nf"
    assert clean_characters("a\x00b\ufeffc\u200bd\xade") == "abcde"
    assert clean_characters("18\xa0U.S.C.\u2009§") == "18 U.S.C. §"
    assert clean_characters("\ud800x\udfff") == "\ufffdx\ufffd"
    kept = "e\u0301 \U0001f468\u200d\U0001f469 \u05d0\u05d1 \u0645\u06cc\u200c\u062e"
    assert clean_characters(kept) == kept


# Titles, paths, identity.

TITLES = {
    "front matter": ("---\ntitle: Harbor Law\n---\n# Other\n\n" + PROSE, "Harbor Law"),
    "leading H1": ("# Harbor *Safety* Act\n\n" + PROSE, "Harbor Safety Act"),
    "lone first line": (f"Harbor_Act_(1974)\n\n{PROSE}\n\n# History\n\n{PROSE}", "Harbor Act (1974)"),
    "file stem": (f"{PROSE}\n\n## History\n\n{PROSE}", "harbor act"),
    "several H1": (f"# One\n\n{PROSE}\n\n# Two\n\n{PROSE}", "harbor act"),
    "first line is a sentence": (f"It is law.\n\n{PROSE}", "harbor act"),
}


@pytest.mark.parametrize("case", TITLES)
def test_title_is_taken_from_the_best_place(case: str, tmp_path: Path) -> None:
    text, title = TITLES[case]
    article = markdown(tmp_path, text)
    assert article.title == title
    assert article.text.startswith(f"# {title}\n")
    assert all(s.article_title == title for s in article.sections)


def test_h1_sections_and_h2_sections_give_the_same_article(tmp_path: Path) -> None:
    body = "{t}\n\nLead.\n\n{h} History\n\nOld.\n\n{h}# Early\n\nOlder.\n\n{h} Later\n\nNew.\n"
    flat = markdown(tmp_path, body.format(t="Harbor_Act", h="#"))
    usual = markdown(tmp_path, body.format(t="# Harbor Act", h="##"))
    assert flat == usual
    assert [s.path for s in flat.sections] == [(), ("History",), ("History", "Early"), ("Later",)]
    assert [s.text for s in flat.sections] == ["Lead.", "Old.", "Older.", "New."]
    assert flat.text == "# Harbor Act\n\nLead.\n\n## History\n\nOld.\n\n### Early\n\nOlder.\n\n## Later\n\nNew.\n"
    assert flat.sections[0].is_summary and not flat.sections[1].is_summary


def test_front_matter_gives_source_and_domain(tmp_path: Path) -> None:
    about = "title: Harbor Act\nurl: https://a.example/x\nlicense: CC BY 4.0\ndomain: law\nretrieved_at: 2024-01-02"
    article = markdown(tmp_path, f"---\n{about}\n---\n{PROSE}")
    source = article.sections[0].source
    assert (source.url, source.license, source.retrieved_at) == ("https://a.example/x", "CC BY 4.0", "2024-01-02")
    assert article.domain == article.sections[0].domain == "law"
    assert article.sections[0].text == PROSE


def test_front_matter_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    assert "front matter" in reason(saved(tmp_path, "a.md", "---\ntitle: [x\n---\n" + PROSE))


def test_line_between_two_breaks_is_not_front_matter(tmp_path: Path) -> None:
    assert markdown(tmp_path, f"---\n{PROSE}\n---\n\nMore of it.").sections[0].text.endswith("More of it.")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Speak Now (Taylor's Version)", "speak-now-taylor-s-version"),
        ("Poincaré", "poincare"),
        ("x" * 200, "x" * 80),
    ],
)
def test_ids_are_short_ascii_words(title: str, expected: str) -> None:
    assert slug(title) == expected


def test_titles_without_ascii_get_ids_that_differ() -> None:
    assert slug("東京") != slug("京都") and slug("東京") == slug("東京") and slug("東京").isascii()


# What the text keeps and what it leaves out.

KEPT = {
    "links and emphasis": ("See [the *Act*](http://x) and <b>it</b>, `now`.", "See the Act and it, now."),
    "images and comments": ("A ![alt](x.png)<!-- c --> b.", "A b."),
    "scripts": ("A <script>alert(1)</script> b.\n\n<script>\nalert(2)\n</script>", "A b."),
    "wrapped lines": ("One sentence\nover lines.\nAnother.", "One sentence over lines. Another."),
    "tables": ("Before.\n\n| a | b |\n|---|---|\n| c | d |\n\nAfter.", "Before.\n\nAfter."),
    "code": ("Before.\n\n```py\nx = 1\n```\n\n    y = 2\n\nAfter.", "Before.\n\nAfter."),
    "lists": ("It has:\n\n* one\n* two\n  lines\n  1. deep", "It has:\n\n- one\n- two lines\n  1. deep"),
    "empty item": ("It has:\n\n- one\n-\n\nAfter.", "It has:\n\n- one\n\nAfter."),
    "quotes": ("> Quote\n> goes on.\n\nAfter.", "> Quote goes on.\n\nAfter."),
    "html blocks": ("<div>\n<p>Inside <i>it</i>.</p></div>\n\nAfter.", "Inside it.\n\nAfter."),
    "hidden entities": ("A&nbsp;b&#8232;c.", "A b c."),
    "footnotes": ("Text[^1] goes[^note].\n\n[^1]: https://a.example\n", "Text goes."),
    "linked citations": ("Found [8](http://x). Next [9].\n\n[9]: http://y\n", "Found. Next."),
}


@pytest.mark.parametrize("case", KEPT)
def test_canonical_text_is_prose_without_mark_up(case: str) -> None:
    given_text, expected = KEPT[case]
    article = make_article(from_markdown(given_text), name="n", title="Known title")
    assert article.sections[0].text == expected


def test_long_lines_are_paragraphs_of_their_own() -> None:
    first, second = "A long line. " * 20, "A second paragraph."
    assert [b.text for b in from_markdown(f"{first.strip()}\n{second}\n")] == [first.strip(), second]


CITATIONS = [
    ("found [27] [11]. Next", "found. Next"),
    ("found[3, 4] and[5–7] so [nb 2].", "found and so."),
    ("a claim [citation needed], more [when?] and [update] x", "a claim, more and x"),
    ("statewide. [c]  The party [d], he", "statewide. The party, he"),
    ("upheld.[ERROR retrieving ref link] Then", "upheld. Then"),
    ("million [15]. . Speaking", "million. Speaking"),
    ('the case." [5]. He', 'the case." He'),
    ("[!NOTE] Read this.", "Read this."),
    ("The eukaryotes () are", "The eukaryotes are"),
    ("behind the attack.Russian officials", "behind the attack. Russian officials"),
    ("since 1997.In May (NHC).Two fell 5%.The end", "since 1997. In May (NHC). Two fell 5%. The end"),
]
UNTOUCHED = [
    '"[a] person" and [t]he court',
    "[2022] UKSC 5 at [12] and [13]–[15]",
    "he wrote . . . and left . . . .",
    "he said [it] was [not] good [...] then",
    "call main() in String.Format or java.util.List",
    "version 2.0.1 of Node.js costs $3.5",
]


@pytest.mark.parametrize(("raw", "clean"), CITATIONS)
def test_citation_markers_leave_no_trace(raw: str, clean: str) -> None:
    assert tidy(raw) == clean


@pytest.mark.parametrize("text", UNTOUCHED)
def test_brackets_and_dots_of_the_author_stay(text: str) -> None:
    assert tidy(text) == text


def test_back_matter_and_empty_headings_are_left_out(tmp_path: Path) -> None:
    text = (
        f"# T\n\n{PROSE}\n\n## Results\n\n| a |\n|---|\n| b |\n\n## See also\n\n- X\n\n### Sub\n\nGone.\n\n"
        f"## History\n\n### Early\n\n{PROSE}\n\n## References\n\n[8] https://a.example/x\n[9] https://b.example/y\n"
    )
    article = markdown(tmp_path, text)
    assert [s.path for s in article.sections] == [(), ("History", "Early")]
    assert "Results" not in article.text and "Gone" not in article.text and "https" not in article.text


def test_list_of_addresses_without_a_heading_is_left_out(tmp_path: Path) -> None:
    article = markdown(tmp_path, f"# T\n\n{PROSE}\n\n[1] https://a.example/x\n[2] https://b.example/y\n")
    assert article.sections[0].text == PROSE


WIKITEXT = """{{Infobox law|name=x}}
The '''Harbor Act''' (''HA'') is a law.<ref name="a">Cole {{cite}}</ref> Boats of {{convert|5|m}} count.
See [[Gerald Ford|Ford]] and [[File:a.png|thumb|A caption]] {{USC|33|2101}}. __NOTOC__

== History ==
* One [[point]].
** Deep.
{| class="wikitable"
| cell
|}
: Indented&nbsp;line.
=== Later ===
More <!-- c --> text<br/>here. <math>x^2</math>
== References ==
{{reflist}}
[[Category:Laws]]
"""


def test_wikitext_becomes_prose(tmp_path: Path) -> None:
    article = one(saved(tmp_path, "Harbor_Act.wiki", WIKITEXT))
    assert article.text == (
        "# Harbor Act\n\nThe Harbor Act (HA) is a law. Boats of 5 m count. See Ford and 33 U.S.C. § 2101.\n\n"
        "## History\n\n- One point.\n  - Deep.\n\nIndented line.\n\n### Later\n\nMore text here.\n"
    )


def test_html_page_loses_menus_and_scripts(tmp_path: Path) -> None:
    paragraph = "The Harbor Act is a law of 1974 on boats and their rafts. It was signed by the President in June. " * 3
    page = (
        "<html><head><title>Harbor Act - Site</title></head><body><nav><a href='/'>Home menu</a></nav><article>"
        f"<h1>Harbor Act</h1><p>{paragraph}<sup class='reference'>[1]</sup></p><h2>History</h2><p>{paragraph}</p>"
        "<script>alert(1)</script><table><tr><td>cell</td></tr></table><p>At 10<sup>6</sup> <code>boats</code>, it ends.</p></article>"
        "<footer>Copyright notice</footer></body></html>"
    )
    article = one(saved(tmp_path, "page.html", page))
    assert article.title == "Harbor Act"
    assert [s.path for s in article.sections] == [(), ("History",)]
    assert article.sections[0].text == paragraph.strip()
    assert not any(word in article.text for word in ("menu", "alert", "cell", "Copyright", "[1]"))
    assert "At 10^6 boats, it ends." in article.text


def test_html_loses_citations_of_any_form_but_no_links() -> None:
    html = "<p>Found<sup class='reference'>[lower-alpha 1]</sup> <a class='reference internal' href='x'>here</a>.</p>"
    assert [b.text for b in from_html(html)] == ["Found here."]


def test_plain_text_is_not_read_as_markdown(tmp_path: Path) -> None:
    article = one(
        saved(tmp_path, "notes.txt", "A first line.\n\n# 1 is *not* a heading\nnor 2.\n\n    Indented prose.\n")
    )
    assert article.sections[0].text == "A first line.\n\n# 1 is *not* a heading nor 2.\n\nIndented prose."


# What cannot be read.


def skipped_of(*inputs: Path | str, **options: Any) -> tuple[list[Article], list[Skipped]]:
    notes: list[Skipped] = []
    found = list(articles([str(i) for i in inputs], skipped=notes.append, **options))
    return found, notes


def reason(path: Path | str, **options: Any) -> str:
    """Why `path` is skipped; it is named, and so it is in the error that nothing is left."""
    notes: list[Skipped] = []
    with pytest.raises(CorpusError) as caught:
        list(articles([str(path)], skipped=notes.append, **options))
    assert str(notes[0]) in str(caught.value) and "\n" not in str(caught.value)
    assert notes[0].name.startswith(str(path))
    return notes[0].reason


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.md", b"", "is empty"),
    "blank": ("a.md", b"\xef\xbb\xbf \n\n", "holds no prose"),
    "binary": ("a.md", b"PK\x03\x04\x00\x00text", "is binary"),
    "latin-1": ("a.txt", "Un café au lait. Très bon.".encode("latin-1"), r"is not UTF-8 text \(see byte 6\)"),
    "odd UTF-16": ("a.txt", b"\xff\xfea\x00b", "is not UTF-16"),
    "UTF-16 without a mark": ("a.txt", "Some text.".encode("utf-16-le"), "is binary"),
    "unknown kind": ("a.pdf", b"%PDF-1.7", r"is not of a kind that is read \(.md"),
    "no ending": ("LICENSE", b"text", "is not of a kind"),
    "broken parquet": ("a.parquet", b"no parquet at all", "cannot be loaded"),
    "empty JSONL": ("a.jsonl", b"\n\n", "is empty"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file_is_named_with_one_reason(case: str, tmp_path: Path) -> None:
    name, data, says = BAD_FILES[case]
    assert re.search(says, reason(saved(tmp_path, name, data)))


@pytest.mark.parametrize("name", ["prose.md", "prose.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-mark"])
def test_encodings_with_a_mark_are_read(name: str, encoding: str, tmp_path: Path) -> None:
    text = f"{PROSE} Café.\r\n\r\nSecond.\r\n"
    data = b"\xfe\xff" + text.encode("utf-16-be") if encoding == "utf-16-be-mark" else text.encode(encoding)
    assert one(saved(tmp_path, name, data)).sections[0].text == f"{PROSE} Café.\n\nSecond."


def test_file_of_200_mb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.md"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    tracemalloc.start()
    assert "200,000,000 bytes, and the limit is 5,000,000" in reason(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_limit_can_be_changed(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.md", PROSE)
    assert "too large" in reason(path, max_bytes=10)
    assert one(path, max_bytes=1000)


def test_good_files_go_on_beside_bad_ones(tmp_path: Path) -> None:
    saved(tmp_path, "1.md", b"\x00")
    saved(tmp_path, "2.md", f"# Good\n\n{PROSE}")
    saved(tmp_path, "3.html", b"")
    found, notes = skipped_of(tmp_path, tmp_path / "missing.md", str(tmp_path / "*.rst"), "https://a.example/x")
    assert [a.title for a in found] == ["Good"]
    assert [n.reason for n in notes][:2] == ["is binary, not text", "is empty"]
    assert [n.reason.split(",")[0] for n in notes][2:] == ["does not exist", "matches no file", "is an address"]


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "loop.md"
    loop.symlink_to(loop)
    assert "does not exist" in reason(loop)


def test_folders_are_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b.md", "a.txt", "sub/c.md", ".git/d.md", ".e.md"):
        saved(tmp_path, name, f"{PROSE} {name}")
    assert [a.title for a in articles([str(tmp_path)])] == ["a", "b", "c"]
    assert [a.title for a in articles([str(tmp_path / "**" / "*.md")])] == ["b", "c"]


def test_empty_folder_is_named(tmp_path: Path) -> None:
    assert reason(tmp_path) == "is a folder without files"


def test_no_input_is_a_wrong_call() -> None:
    with pytest.raises(UsageError):
        articles([])


def test_ids_are_unique_and_the_same_text_is_read_once(tmp_path: Path) -> None:
    a, b, c = (
        saved(tmp_path, f"{n}.md", f"# Harbor Act\n\n{PROSE}{more}")
        for n, more in (("a", ""), ("b", " New."), ("c", ""))
    )
    found, notes = skipped_of(a, b, c)
    assert found[0].id == "harbor-act" and found[1].id.startswith("harbor-act-")
    assert skipped_of(a, b)[0][1].id == found[1].id
    assert [str(n) for n in notes] == [f"{c}: was read before, word for word"]
    for article in found:
        assert_offsets(article)


# Rows.


def rows(folder: Path, *values: Any, name: str = "rows.jsonl") -> Path:
    return saved(folder, name, "".join(json.dumps(v) + "\n" for v in values))


def test_rows_of_jsonl_become_articles(tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        {"text": f"{PROSE}\n\n## History\n\nOld.", "title": "Harbor Act", "url": "https://a.example", "domain": "law"},
        {"text": PROSE + " Second."},
    )
    first, second = articles([str(path)])
    assert (first.title, first.id, first.source.url, first.domain) == (
        "Harbor Act",
        "harbor-act",
        "https://a.example",
        "law",
    )
    assert [s.path for s in first.sections] == [(), ("History",)]
    assert second.title == "rows.jsonl-2"


def test_indented_prose_in_rows_is_not_taken_for_code(tmp_path: Path) -> None:
    assert one(rows(tmp_path, {"text": "First.\n\n    Indented line."})).sections[0].text == "First.\n\nIndented line."


def test_any_column_can_hold_the_text(tmp_path: Path) -> None:
    assert one(rows(tmp_path, {"body": PROSE, "text": 1}), column="body").sections[0].text == PROSE


def test_each_bad_row_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    path = rows(
        tmp_path, {"text": PROSE}, {"body": "x"}, {"text": 5}, ["text"], {"text": "y" * 600}, {"text": PROSE + " 2"}
    )
    with path.open("ab") as file:
        file.write(b'{"text": \n{"text": "\xff"}\n' + b"[" * 400 + b"\n")
    found, notes = skipped_of(path, max_bytes=500)
    assert len(found) == 2
    assert [n.name.split()[-1] for n in notes] == ["2", "3", "4", "5", "7", "8", "9"]
    assert 'no text in the column "text" (columns: body)' in notes[0].reason
    says = [
        "no text in the column",
        "not an object but a list",
        "too large",
        "is not JSON",
        "is not UTF-8",
        "is not JSON",
    ]
    assert all(word in n.reason for word, n in zip(says, notes[1:], strict=True))


def test_lone_surrogates_in_json_are_replaced(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jsonl", '{"text": "One \\ud800 two. Three."}\n')
    assert one(path).sections[0].text == "One \ufffd two. Three."


OURS: dict[str, Any] = {
    "article_id": "harbor",
    "article_title": "Harbor *Act* [1]",
    "domain": "law",
    "text": "Raw  *text* [1].\n\n## H\n\nKept as it is .",
    "sections": [
        {"section_id": "harbor/0", "path": [], "start": 0, "end": 16},
        {"section_id": "harbor/1", "path": ["H"], "start": 24, "end": 39},
    ],
    "license": "CC BY 4.0",
}


def test_our_own_articles_are_taken_as_they_are(tmp_path: Path) -> None:
    article = one(rows(tmp_path, OURS))
    assert (article.id, article.title, article.text) == ("harbor", OURS["article_title"], OURS["text"])
    assert [(s.id, s.path, s.text) for s in article.sections] == [
        ("harbor/0", (), "Raw  *text* [1]."),
        ("harbor/1", ("H",), "Kept as it is ."),
    ]
    assert article.sections[0].source.license == "CC BY 4.0"
    assert_offsets(article)


def test_rows_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for n in range(30):
            text = f"Row {n} " + "is long. " * 50_000
            part = {"section_id": f"r{n}/0", "path": [], "start": 0, "end": len(text)}
            file.write(json.dumps({"article_id": f"r{n}", "text": text, "sections": [part]}) + "\n")
    assert path.stat().st_size > 13_000_000
    tracemalloc.start()
    assert sum(1 for _ in articles([str(path)])) == 30
    assert tracemalloc.get_traced_memory()[1] < 7_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("change", [{"end": 400}, {"start": -1}, {"start": 16}, {"start": None}, {"path": None}])
def test_our_own_articles_with_broken_offsets_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    broken = OURS | {"sections": [OURS["sections"][0] | change]}
    assert "has a section" in reason(rows(tmp_path, broken))


def test_parquet_and_csv_are_read(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"text": [PROSE, PROSE + " Two."], "title": ["One", "Two"]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "b.csv", index=False)
    assert [a.title for a in articles([str(tmp_path / "a.parquet")])] == ["One", "Two"]
    assert [a.title for a in articles([str(tmp_path / "b.csv")])] == ["One", "Two"]


READ = """
from generation.corpus import articles
from generation.errors import CorpusError
notes = []
try:
    print([a.title for a in articles([{address!r}], skipped=notes.append)])
except CorpusError as error:
    print("CorpusError", error)
"""


def test_dataset_on_the_hub_is_read_by_its_address(tmp_path: Path) -> None:
    home = tmp_path / "hub" / "harbor" / "laws" / "v1"
    home.mkdir(parents=True)
    rows(
        home,
        {"body": PROSE, "title": "Harbor Act"},
        {"body": PROSE + " Two.", "title": "Ferry Act"},
        name="train.jsonl",
    )
    server = serve(tmp_path / "hub")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        address = "hf://datasets/harbor/laws?split=train&column=body"
        printed = python(READ.format(address=address), ROOT, tmp_path / "home", HF_ENDPOINT=endpoint)
    finally:
        server.shutdown()
    assert printed.strip().endswith("['Harbor Act', 'Ferry Act']")


def test_dataset_that_cannot_be_had_is_one_sentence(tmp_path: Path) -> None:
    address = "hf://datasets/harbor/none"
    printed = python(READ.format(address=address), ROOT, tmp_path / "home", HF_HUB_OFFLINE="1")
    last = printed.strip().splitlines()[-1]
    assert last.startswith("CorpusError No article could be read") and address in last and "cannot be loaded" in last


def test_mistyped_part_of_a_dataset_address_is_named() -> None:
    assert "knows no colum" in reason("hf://datasets/harbor/laws?colum=text")


# Choice.


def long_article(sections: int = 12, sentences: int = 4) -> Article:
    parts = [f"# T\n\n{'A lead sentence. ' * sentences}"]
    parts += [f"## H{n}\n\n{f'Sentence of {n}. ' * sentences}" for n in range(sections - 1)]
    return make_article(from_markdown("\n\n".join(parts)), name="t")


def test_all_sections_come_in_order_with_sentences() -> None:
    chosen = choose(long_article())
    assert [s.id for s in chosen] == [f"t/{n}" for n in range(12)]
    assert all(len(s.sentences) == 4 and s.segmenter for s in chosen)


def test_number_of_sections_means_the_summary_and_random_others() -> None:
    draws = {tuple(s.id for s in choose(long_article(), sections=4, seed=seed)) for seed in range(20)}
    assert all(len(draw) == 4 and draw[0] == "t/0" for draw in draws)
    assert all(list(draw) == sorted(draw, key=lambda name: int(name[2:])) for draw in draws)
    assert len(draws) > 10
    assert [s.id for s in choose(long_article(), sections=1, seed=3)] == ["t/0"]


def test_articles_of_the_same_shape_draw_differently() -> None:
    first, second = (make_article(from_markdown(long_article().text), name="t", title=title) for title in ("A", "B"))
    draws = [[s.path for s in choose(a, sections=4, seed=seed)] for a in (first, second) for seed in range(5)]
    assert draws[:5] != draws[5:]


def test_choice_depends_on_the_article_not_on_its_neighbours(tmp_path: Path) -> None:
    texts = [f"# {name}\n\n" + "\n\n".join(f"## H{n}\n\n{PROSE} {name}{n}." for n in range(9)) for name in ("A", "B")]
    a, b = (saved(tmp_path, f"{n}.md", text) for n, text in enumerate(texts))
    both = [s.id for s in read([str(a), str(b)], sections=3, seed=5)]
    swapped = [s.id for s in read([str(b), str(a)], sections=3, seed=5)]
    assert sorted(both) == sorted(swapped) and len(both) == 6
    assert both[3:] == [s.id for s in read([str(b)], sections=3, seed=5)]


def test_sections_that_do_not_fit_are_counted_not_drawn() -> None:
    notes: list[Skipped] = []
    article = make_article(from_markdown("# T\n\nOne.\n\n## A\n\n" + PROSE + "\n\n## B\n\n" + "Long. " * 50), name="t")
    assert [s.id for s in choose(article, sections=1, skipped=notes.append)] == ["t/1"]
    assert notes == [Skipped("T", "2 of 3 sections do not have 3 to 40 sentences", 2)]


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.md", "One. Two.")
    with pytest.raises(CorpusError, match="none has 3 to 40 sentences"):
        list(read([str(path)], skipped=lambda s: None))
    assert list(read([str(path)], min_sentences=2))


@pytest.mark.parametrize("wrong", [{"sections": 0}, {"min_sentences": 5, "max_sentences": 4}, {"segmenter": "x"}])
def test_wrong_settings_are_a_wrong_call(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        choose(long_article(), **wrong)


def test_skipped_files_are_logged_if_nobody_asks(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    good, bad = saved(tmp_path, "a.md", PROSE), saved(tmp_path, "b.md", b"")
    list(articles([str(good), str(bad)]))
    assert f"Skipped {bad}: is empty" in caplog.text


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared, real articles")
def test_real_articles_read_naturally() -> None:
    found, notes = skipped_of(*sorted((SHARED / "data" / "freshwiki").glob("*.md")))
    assert len(found) == 57 and not notes
    scars = re.compile(r"\[\d{1,3}\] ?[.,]|  | [.,;:](?: |$)|ERROR retrieving|\[citation needed\]|\( ?\)", re.MULTILINE)
    for article in found:
        assert_offsets(article)
        assert article.sections[0].is_summary and "_" not in article.title
        prose = [s.text for s in article.sections]
        assert not [m[0] for text in prose for m in scars.finditer(re.sub(r"^ +- ", "", text))]
        assert not any(s.path[-1:] == ("References",) for s in article.sections)

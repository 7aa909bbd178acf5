"""Documents into articles: titles, paths and offsets, what the canonical text keeps and what it leaves out."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generation.articles.article import make_article, slug
from generation.articles.markup import Block, from_html, from_markdown, from_text
from generation.articles.prose import clean_characters, tidy
from generation.articles.wikitext import from_wikitext
from tests.documents import PROSE, assert_offsets, markdown, one, reason, saved, skipped_of

SHARED = Path(__file__).parents[2] / "shared"

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
@example(", . .")
@example("A(,. ]a.")
@example("[1,. 1].1")
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
        "<script>alert(1)</script><table><tr><td>cell</td></tr></table>"
        "<p>At 10<sup>6</sup> <code>boats</code>, it ends.</p></article>"
        "<footer>Copyright notice</footer></body></html>"
    )
    article = one(saved(tmp_path, "page.html", page))
    assert article.title == "Harbor Act"
    assert [s.path for s in article.sections] == [(), ("History",)]
    assert article.sections[0].text == paragraph.strip()
    assert not any(word in article.text for word in ("menu", "alert", "cell", "Copyright", "[1]"))
    assert "At 10^6 boats, it ends." in article.text


FIRST, SECOND = "It passed in 1974. It was short.", "It asks for two rafts. Nobody read it."
PAGE = f"<h1>Harbor Act</h1><p>{FIRST}</p><h2>Duties</h2><p>{SECOND}</p>"
SHORT = {
    "headings and paragraphs": PAGE,
    "a title and a head": f"<html><head><title>T</title></head><body>{PAGE}</body></html>",
    "a menu and a footer": f"<nav><a href='/'>Home</a></nav><main>{PAGE}</main><footer>Copyright 2020</footer>",
    "a footer in an article": f"<article>{PAGE}<footer>Copyright 2020</footer></article>",
    "a heading above the article": "<header><h1>Harbor Act</h1></header><main>"
    + PAGE.partition("</h1>")[2]
    + "</main>",
    "no paragraphs": f"<h1>Harbor Act</h1>{FIRST}<h2>Duties</h2>{SECOND}",
    "blocks of any kind": PAGE.replace("p>", "div>"),
    "sections": f"<section>{PAGE}</section>".replace("<h2>", "</section><section><h2>"),
}


@pytest.mark.parametrize("name", SHORT)
def test_a_short_page_keeps_its_headings_and_all_of_its_text(name: str, tmp_path: Path) -> None:
    article = one(saved(tmp_path, "page.html", SHORT[name]))
    assert [(s.path, s.text) for s in article.sections] == [((), FIRST), (("Duties",), SECOND)]


def test_a_short_page_keeps_its_quotes_and_lists(tmp_path: Path) -> None:
    page = (
        "<h1>Rules</h1><blockquote><p>Be brief.</p></blockquote><p>They are two.</p><ol><li>Go.</li><li>Stay.</li></ol>"
    )
    assert (
        one(saved(tmp_path, "page.html", page)).sections[0].text == "> Be brief.\n\nThey are two.\n\n1. Go.\n2. Stay."
    )


def test_html_loses_citations_of_any_form_but_no_links() -> None:
    html = "<p>Found<sup class='reference'>[lower-alpha 1]</sup> <a class='reference internal' href='x'>here</a>.</p>"
    assert [b.text for b in from_html(html)] == ["Found here."]


def test_plain_text_is_not_read_as_markdown(tmp_path: Path) -> None:
    article = one(
        saved(tmp_path, "notes.txt", "A first line.\n\n# 1 is *not* a heading\nnor 2.\n\n    Indented prose.\n")
    )
    assert article.sections[0].text == "A first line.\n\n# 1 is *not* a heading nor 2.\n\nIndented prose."


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


@pytest.mark.parametrize("text", ["Franklin Roosevelt Jr., a son, led it.", "In Olmstead v. L.C., in 1999, it ruled."])
def test_a_comma_after_an_abbreviation_stays(text):
    assert tidy(text) == text

"""Sources and choice: what cannot be read is named, rows become articles, sections are drawn as asked."""

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from generation.articles.article import make_article
from generation.articles.markup import from_markdown
from generation.corpus import Skipped, articles, choose, read
from generation.errors import CorpusError, UsageError
from generation.records import Article
from tests.dataset_files import python
from tests.documents import PROSE, assert_offsets, one, reason, saved, skipped_of
from tests.hub import Hub
from tests.hub_client import put

ROOT = Path(__file__).parents[1]

# What cannot be read.


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.md", b"", "is empty"),
    "blank": ("a.md", b"\xef\xbb\xbf \n\n", "holds no prose"),
    "binary": ("a.md", b"PK\x03\x04\x00\x00text", "is binary"),
    "latin-1": ("a.txt", "Un café au lait. Très bon.".encode("latin-1"), r"is not UTF-8 text \(see byte 6\)"),
    "odd UTF-16": ("a.txt", b"\xff\xfea\x00b", "is not UTF-16"),
    "UTF-16 without a mark": ("a.txt", "Some text.".encode("utf-16-le"), "is UTF-16LE text without"),
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


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("Café au lait. It is hot.".encode("latin-1"), "is not UTF-8 text (see byte 3)"),
        ("The Act passed. It was short.".encode("utf-16-le"), "is UTF-16LE text without a byte-order mark"),
        ("The Act passed. It was short.".encode("utf-16-be"), "is UTF-16BE text without a byte-order mark"),
        (bytes(range(256)) * 4, "is binary"),
    ],
)
def test_a_file_in_another_encoding_is_refused_in_one_sentence(data: bytes, words: str, tmp_path: Path) -> None:
    assert words in reason(saved(tmp_path, "a.md", data))


def test_a_note_on_short_sections_names_the_file(tmp_path: Path) -> None:
    path, notes = saved(tmp_path, "a.md", f"# Good\n\n{PROSE}\n\n## Short\n\nOne sentence."), list[Skipped]()
    assert len(list(read([str(path)], skipped=notes.append))) == 1
    assert [str(n) for n in notes] == [f"{path}: 1 of 2 sections do not have 3 to 40 sentences"]


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
    home = tmp_path / "laws"
    home.mkdir()
    rows(
        home,
        {"body": PROSE, "title": "Harbor Act"},
        {"body": PROSE + " Two.", "title": "Ferry Act"},
        name="train.jsonl",
    )
    address = "hf://datasets/harbor/laws?split=train&column=body"
    with Hub() as hub:
        put(hub, "harbor/laws", "v1", home)
        printed = python(READ.format(address=address), ROOT, tmp_path / "home", HF_ENDPOINT=hub.url)
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

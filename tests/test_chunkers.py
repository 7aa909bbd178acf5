"""Chunkers: every chunk is a span of its text, nothing is lost, sizes hold, and wrong spans and names are refused."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluation import adapters, chunkers
from evaluation.chunking import libraries
from evaluation.chunking.tokens import Ruler, tokenizer
from evaluation.examples import Document, split
from generation.errors import ChunkError, UsageError

ROOT = Path(__file__).parents[1]
REPEATED = "The cat sat. The cat sat. The cat sat again. " * 40
TEXTS = {
    "repeated": REPEATED,
    "repeated lines": "no\n\nno\n\nyes no\n" * 60,
    "many bytes": "Übung naïve 😀😀 日本語。これはテストです。 Crème brûlée e\u0301t\u0301. 👨‍👩‍👧‍👦 family. " * 15,
    "line ends of Windows": "One line.\r\nAnother line of the text.\r\n\r\nA paragraph.\r\n" * 30,
    "no space": "antidisestablishmentarianism" * 40,
    "edges": "  \n\n  A beginning.  The end. \t\n\n",
    "special token": "Some <|endoftext|> in the text. " * 20,
    "lone surrogate-free controls": "a\x00b\x0bc\u2028d " * 30,
}
NAMES = [
    "tokens:7",
    "tokens:20:5",
    "tokens:30@characters",
    "tokens:20:10@cl100k",
    "sentences:1",
    "sentences:3:2",
    "recursive:2",
    "recursive:12",
    "recursive:20:10",
    "recursive:40:20@characters",
    "recursive:25:12@cl100k",
    "unicode:20",
    "unicode:20:5",
    "markdown:20",
    "sections",
    "sections:15",
]


def document(text):
    return Document("d", "", text, (), split(text))


@pytest.fixture(scope="module")
def examples():
    return adapters.load(ROOT / "data", split="test")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", TEXTS)
def test_chunks_are_spans_in_order_that_lose_no_word(name, text):
    given = TEXTS[text]
    held = [False] * len(given)
    found = chunkers.make(name)(document(given))
    for chunk in found:
        assert given[chunk.start : chunk.end] == chunk.text
        held[chunk.start : chunk.end] = [True] * len(chunk.text)
    assert [c.start for c in found] == sorted(c.start for c in found)
    assert not "".join(c for c, is_held in zip(given, held, strict=True) if not is_held).strip()


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("sections", "sentences:1", "sentences:3:2")])
@pytest.mark.parametrize("text", TEXTS)
def test_no_chunk_is_larger_than_its_size(name, text):
    size, unit = int(name.partition("@")[0].split(":")[1]), tokenizer(name.partition("@")[2] or "words")
    count = Ruler(TEXTS[text], unit).count
    longest = max(count(c.start, c.end) for c in chunkers.make(name)(document(TEXTS[text])))
    # a character of several bytes is more than one of cl100k's tokens, and no chunk holds a part of it
    assert longest <= size + (3 if unit.name == "cl100k" else 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", " \n\t\r\n "])
def test_an_empty_text_has_no_chunks(name, text):
    assert chunkers.make(name)(document(text)) == ()


@pytest.mark.parametrize("text", TEXTS)
def test_recursive_cuts_as_langchain_does(text):
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    theirs = RecursiveCharacterTextSplitter(list(libraries.SEPARATORS), chunk_size=40, chunk_overlap=15)
    ours = chunkers.make("recursive:40:15@characters")(document(TEXTS[text]))
    assert [c.text for c in ours] == theirs.split_text(TEXTS[text])


def test_recursive_places_overlapping_repeats_where_they_were_cut():
    text = "no no no no\n" * 8
    starts = [c.start for c in chunkers.make("recursive:30:14@characters")(document(text))]
    assert starts == [0, 12, 24, 36, 48, 60, 72]


def test_token_windows_share_exactly_the_overlap():
    text = " ".join(map(str, range(25)))
    assert [c.text.split() for c in chunkers.make("tokens:10:4")(document(text))] == [
        [str(i) for i in range(a, min(a + 10, 25))] for a in (0, 6, 12, 18)
    ]


def test_sentence_windows_are_of_whole_sentences():
    found = chunkers.make("sentences:2:1")(document("One is here. Two is here. Three is here. Four is here."))
    assert [c.text for c in found] == [
        "One is here. Two is here.",
        "Two is here. Three is here.",
        "Three is here. Four is here.",
    ]


def test_a_section_keeps_its_heading_and_nothing_of_the_next(examples):
    home = next(iter(examples.documents.values()))
    found = chunkers.make("sections")(home)
    assert len(found) == len(home.sections)
    for chunk, section in zip(found, home.sections, strict=True):
        assert chunk.end == section.end
        assert chunk.text.endswith(home.text[slice(*section)])
    assert all(chunk.text.startswith("#") for chunk in found)


def test_a_long_section_is_filled_up_and_never_goes_on_into_the_next(examples):
    ends = {s.end for d in examples.documents.values() for s in d.sections}
    for home in examples.documents.values():
        for chunk in chunkers.make("sections:60")(home):
            assert not any(chunk.start < end < chunk.end for end in ends & {s.end for s in home.sections})


def test_cl100k_counts_as_tiktoken_does():
    unit = tokenizer("cl100k")
    assert unit.count("hello world") == 2  # 15339, 1917
    assert unit.count("日本語 <|endoftext|>") == len(unit.spans("日本語 <|endoftext|>"))
    assert [s.end for s in unit.spans("tiktoken is great!")] == [1, 3, 8, 11, 17, 18]


@pytest.mark.parametrize(
    "name",
    ["", "nothing", "tokens", "tokens:", "tokens:0", "tokens:-5", "tokens:ten", "tokens:1.5", "tokens:10:10",
     "tokens:5:9", "tokens:1:0:0", "tokens:10@", "tokens:10@gpt9", "tokens: 10", "recursive:1", "sections:0",
     "sections:", "sentences", "tokens:²", "@words", ":", "tokens:10@words@words", "sections@words",
     "sentences:3@words"],
)  # fmt: skip
def test_a_name_outside_the_grammar_is_refused_in_one_sentence(name):
    with pytest.raises(UsageError) as error:
        chunkers.make(name)
    assert "\n" not in str(error.value)


def test_a_name_says_its_tokenizer_in_full():
    assert chunkers.make("tokens:10").name == "tokens:10@words"
    assert chunkers.make("tokens:10:2@cl100k").name == "tokens:10:2@cl100k"
    assert chunkers.make("sections").name == "sections"


def test_any_function_from_text_to_spans_is_a_chunker():
    def halves(text):
        return [(0, len(text) // 2), (len(text) // 2, len(text))]

    found = chunkers.make(halves)
    assert found.name == "halves"
    assert [c.text for c in found(document("ab cd."))] == ["ab ", "cd."]


@pytest.mark.parametrize(
    "spans",
    [[(0, 99)], [(-1, 2)], [(2, 2)], [(3, 1)], [(2, 4), (0, 2)], [(0.0, 2.0)], [(0, 2, 3)], ["ab"], [3], [(None, 2)],
     [(False, True)]],
)  # fmt: skip
def test_spans_that_do_not_fit_the_text_are_refused(spans):
    with pytest.raises(ChunkError, match="Chunk [12] of "):
        chunkers.make(lambda text: spans)(document("abcdef."))


def test_a_library_that_finds_the_wrong_repeat_is_refused():
    wrong = SimpleNamespace(
        chunk=lambda text: [SimpleNamespace(start_index=0, text="same "), SimpleNamespace(start_index=0, text="same ")]
    )
    with pytest.raises(ChunkError, match="leaves out"):
        chunkers.make(wrong)(document("same same "))


def test_a_library_whose_offsets_count_bytes_is_refused():
    wrong = SimpleNamespace(chunk_indices=lambda text: [(0, "é. "), (4, "b.")])
    with pytest.raises(ChunkError, match="does not stand at character 4"):
        chunkers.make(wrong)(document("é. b."))


@pytest.mark.parametrize("given", [None, 3, object(), SimpleNamespace(split_text=str.split)])
def test_what_is_no_chunker_is_refused(given):
    with pytest.raises(UsageError):
        chunkers.make(given)


@pytest.mark.parametrize("returned", [None, 5, "a text"])
def test_a_function_that_returns_no_pairs_is_one_clear_sentence(returned):
    with pytest.raises(ChunkError, match="pairs .start, end. are wanted"):
        chunkers.make(lambda text: returned)(Document("d", "", "Ann ran.", (), ()))


@pytest.mark.parametrize("name", ["coref:40@cl100k", "sections:40@cl100k"])
def test_white_space_that_is_a_token_makes_no_chunk(name):
    text = "word " * 600  # the last token is a space, and 600 tokens fill 15 chunks
    pieces = chunkers.make(name)(Document("d", "", text, (), split(text)))
    assert " ".join(c.text for c in pieces).split() == text.split()

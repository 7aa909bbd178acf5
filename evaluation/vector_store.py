"""Vectors in Qdrant: in a folder of this machine, in memory, or on a server; the same code for each."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.embedders import Embedder, missing
from evaluation.retrieval import Hit
from generation.errors import ConnectError, InputError

BATCH = 256


def connect(url: str = "", folder: Path | None = None) -> Any:
    """A client of the server at `url`, else of `folder`, else of memory. Raises ConnectError or InputError."""
    try:
        from qdrant_client import QdrantClient
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
    except ImportError as error:
        raise missing("qdrant-client", "dense") from error
    if url:
        client = QdrantClient(url=url, api_key=os.environ.get("QDRANT_API_KEY"), check_compatibility=False)
        try:
            client.get_collections()
        except UnexpectedResponse as error:
            raise ConnectError(f"Qdrant at {url} refuses ({error.status_code}); set QDRANT_API_KEY.") from None
        except (ResponseHandlingException, ValueError) as error:
            raise ConnectError(f"No Qdrant answers at {url}; start it, or leave the address out.") from error
        return client
    if folder is None:
        return QdrantClient(":memory:")
    try:
        return QdrantClient(path=str(folder))
    except (RuntimeError, OSError, sqlite3.Error, ValueError) as error:
        raise InputError(f"{folder} is in use by another process, or is no Qdrant folder; wait, or move it.") from error


class QdrantIndex:
    """One collection, filled unless it is already whole; `vectors` are those of the texts, if made elsewhere."""

    def __init__(
        self, client: Any, collection: str, embedder: Embedder, texts: Sequence[str], vectors: Any = None
    ) -> None:
        self._client, self._collection, self._embedder, self._count = client, collection, embedder, len(texts)
        if texts and not self._is_whole():
            self._fill(embedder.embed(texts) if vectors is None else vectors)

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        if not self._count or not questions:
            return [[] for _ in questions]
        asked = self._embedder.embed(questions, is_query=True)
        return [self._ranked(vector, min(k, self._count)) for vector in asked]

    def _ranked(self, vector: Any, k: int) -> list[Hit]:
        found = self._client.query_points(self._collection, query=vector.tolist(), limit=k).points
        return sorted((Hit(int(p.id), float(p.score)) for p in found), key=lambda hit: (-hit.score, hit.index))

    def _is_whole(self) -> bool:
        if not self._client.collection_exists(self._collection):
            return False
        return bool(self._client.count(self._collection, exact=True).count == self._count)

    def _fill(self, vectors: Any) -> None:
        from qdrant_client.models import Distance, PointStruct, VectorParams

        if self._client.collection_exists(self._collection):  # cut off while it was filled
            self._client.delete_collection(self._collection)
        size = VectorParams(size=vectors.shape[1], distance=Distance.COSINE)
        self._client.create_collection(self._collection, vectors_config=size)
        for at in range(0, len(vectors), BATCH):
            points = [PointStruct(id=at + i, vector=v.tolist()) for i, v in enumerate(vectors[at : at + BATCH])]
            self._client.upsert(self._collection, points, wait=True)

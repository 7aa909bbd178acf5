"""Files, folders, globs, JSONL and datasets -> articles, one at a time; what cannot be read becomes a Skipped."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from generation.articles import wikipedia
from generation.articles.article import make_article
from generation.articles.markup import Block, from_markdown, from_text, main_content, parse_html
from generation.articles.wikitext import from_wikitext
from generation.errors import CorpusError
from generation.records import Article, Section, Source

MAX_BYTES = 5_000_000
"""Default limit for one document; the longest pages of Wikipedia stay below it as HTML."""

WIKIPEDIA = "wikipedia:"

_KINDS = {
    **dict.fromkeys([".md", ".markdown"], "markdown"),
    **dict.fromkeys([".txt", ".text"], "text"),
    **dict.fromkeys([".html", ".htm", ".xhtml"], "html"),
    **dict.fromkeys([".wiki", ".wikitext", ".mediawiki"], "wikitext"),
    **dict.fromkeys([".jsonl", ".ndjson"], "jsonl"),
    ".parquet": "parquet",
    ".csv": "csv",
}
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a run went on without: a whole source, or `sections` sections of an article that is used otherwise."""

    name: str
    reason: str
    sections: int = 0

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Found(NamedTuple):
    """An article and where it was found: a path, or an address and a row."""

    name: str
    article: Article


def read_source(address: str, max_bytes: int = MAX_BYTES, column: str = "text") -> Iterator[Found | Skipped]:
    """All articles at `address`: a file, a folder, a glob, or `hf://datasets/OWNER/NAME?config=...&split=...&column=...`.

    `wikipedia:TITLE` is an article of the English Wikipedia, fetched as it stands now. `max_bytes` limits one file or
    row; `column` names the text of a row.
    """
    if address.startswith("hf://"):
        yield from _dataset(address, max_bytes, column)
        return
    if address.startswith(WIKIPEDIA):
        yield _wikipedia(address.removeprefix(WIKIPEDIA))
        return
    if "://" in address:
        yield Skipped(address, "is an address, which is not fetched; save the page to a file first")
        return
    files = _files(address)
    if not files:
        yield Skipped(address, _why_no_file(address))
    for path in files:
        yield from _file(path, max_bytes, column)


def count_articles(addresses: Sequence[str]) -> int | None:
    """How many articles `read_source` will find there, readable or not, without reading them; None if it cannot tell.

    Lines are counted in JSONL files, and nothing is fetched.
    """
    total = 0
    for address in addresses:
        if "://" in address:
            return None
        paths = [] if address.startswith(WIKIPEDIA) else _files(address)
        counts = [_count_in(path) for path in paths]
        if None in counts:
            return None
        total += sum(filter(None, counts)) if paths else 1
    return total


def _count_in(path: Path) -> int | None:
    kind = _KINDS.get(path.suffix.lower())
    if kind in ("parquet", "csv"):
        return None
    if kind != "jsonl":
        return 1
    try:
        with path.open("rb") as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 1  # a source that cannot be read is skipped as a whole


def _wikipedia(title: str) -> Found | Skipped:
    name = f"{WIKIPEDIA}{title}"
    try:
        return Found(name, wikipedia.fetch(title, base=wikipedia.BASE))
    except CorpusError as error:
        return Skipped(name, str(error))


def _files(address: str) -> list[Path]:
    path = Path(address)
    if path.is_file():
        return [path]
    if path.is_dir():
        found, root = path.rglob("*"), path
    elif any(c in address for c in "*?["):
        root = Path(path.anchor)
        found = root.glob(str(path.relative_to(path.anchor)))
    else:
        return []
    return sorted(p for p in found if p.is_file() and not _is_hidden(p.relative_to(root)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in path.parts)


def _why_no_file(address: str) -> str:
    if Path(address).is_dir():
        return "is a folder without files"
    return "matches no file" if any(c in address for c in "*?[") else "does not exist"


def _file(path: Path, max_bytes: int, column: str) -> Iterator[Found | Skipped]:
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        yield Skipped(str(path), f"is not of a kind that is read ({', '.join(_KINDS)})")
    elif kind == "jsonl":
        yield from _rows(path.name, str(path), _json_lines(path, max_bytes), max_bytes, column)
    elif kind in ("parquet", "csv"):
        rows = _streamed(kind, {"data_files": str(path), "split": "train"})
        yield from _rows(path.name, str(path), rows, max_bytes, column)
    else:
        try:
            yield Found(str(path), _document(path, kind, max_bytes))
        except (CorpusError, OSError) as error:
            yield Skipped(str(path), _one_line(error))


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read ({error.strerror})"
    return " ".join(str(error).split())[:300] or type(error).__name__


def _document(path: Path, kind: str, max_bytes: int) -> Article:
    size = path.stat().st_size  # before a byte is read
    if size > max_bytes:
        raise CorpusError(f"is too large: {size:,} bytes, and the limit is {max_bytes:,}")
    return _read_as(kind, path.read_bytes(), path.stem)


def read_document(data: bytes, suffix: str, name: str) -> Article:
    """The article in the bytes of a Markdown, HTML, wikitext or text file, by the suffix of its name (".md").

    `name` is its title where it names none. Raises CorpusError, whose message continues a sentence that begins with the
    file: "is empty", "is binary, not text", "is not UTF-8 text ...", "is not of a kind that is read ...".
    """
    kind = _KINDS.get(suffix.lower(), "")
    if kind not in ("html", *_READERS):
        known = ", ".join(s for s, k in _KINDS.items() if k in ("html", *_READERS))
        raise CorpusError(f"is not of a kind that is read ({known})")
    return _read_as(kind, data, name)


def _read_as(kind: str, data: bytes, name: str) -> Article:
    text = _decode(data)
    if kind == "html":
        return _page(text, name)
    meta: Mapping[str, str] = {}
    if kind == "markdown":
        meta, text = _front_matter(text)
    return _article(_READERS[kind](text), name, meta)


_READERS: dict[str, Callable[[str], list[Block]]] = {
    "markdown": from_markdown,
    "text": from_text,
    "wikitext": from_wikitext,
}


def _article(blocks: list[Block], name: str, meta: Mapping[str, str]) -> Article:
    return make_article(
        blocks, name=name, title=meta.get("title", ""), domain=meta.get("domain", ""), source=_source(meta)
    )


def _source(meta: Mapping[str, str]) -> Source:
    return Source(*(meta.get(key, "") for key in ("url", "license", "revision", "retrieved_at")))


def _decode(data: bytes) -> str:
    if not data.strip():
        raise CorpusError("is empty")
    is_utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in data and not is_utf16:
        if (encoding := _unmarked(data)) is not None:
            raise CorpusError(f"is {encoding} text without a byte-order mark; convert it to UTF-8, say with iconv")
        raise CorpusError("is binary, not text")
    try:
        return data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        encoding = "UTF-16" if is_utf16 else "UTF-8"
        raise CorpusError(f"is not {encoding} text (see byte {error.start:,}); convert it, say with iconv") from None


def _unmarked(data: bytes) -> str | None:
    """The UTF-16 that `data` seems to be: every other byte of Western text is zero."""
    sample = data[:4000]
    for encoding, zeros, others in (("UTF-16LE", sample[1::2], sample[::2]), ("UTF-16BE", sample[::2], sample[1::2])):
        if len(zeros) > 4 and zeros.count(0) > 0.8 * len(zeros) and not others.count(0):
            return encoding
    return None


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """YAML between two lines of "---" at the very top, its plain values as strings, and the text after it."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        return {}, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() in ("---", "...")), None)
    if end is None:
        return {}, text
    import yaml

    try:
        values = yaml.safe_load("".join(lines[1:end]))
    except yaml.YAMLError as error:
        raise CorpusError(f"has front matter that is not YAML ({_one_line(error)})") from None
    if not isinstance(values, dict):
        return {}, text  # a thematic break, not front matter
    plain = {str(k): str(v) for k, v in values.items() if isinstance(v, str | int | float) or hasattr(v, "isoformat")}
    return plain, "".join(lines[end + 1 :])


def _page(html: str, name: str) -> Article:
    import trafilatura

    root = parse_html(html)
    about = trafilatura.extract_metadata(root)
    source = Source(url=about.url or "", license=about.license or "")
    blocks = main_content(root)
    has_title = any(b.kind == "heading" and b.level == 1 for b in blocks[:1])
    return make_article(blocks, name=name, title="" if has_title else about.title or name, source=source)


def _json_lines(path: Path, max_bytes: int) -> Iterator[Any]:
    with path.open("rb") as lines:
        while line := lines.readline(max_bytes + 1):
            if len(line) > max_bytes:
                yield CorpusError(f"is too large: more than {max_bytes:,} bytes")
                while line and not line.endswith(b"\n"):
                    line = lines.readline(max_bytes)
            elif line.strip():
                yield _json_line(line)


def _json_line(line: bytes) -> Any:
    try:
        text = _decode(line)
        row = json.loads(text)
        if "\\ud" not in text.lower():
            return row
        # half a surrogate pair, which no file can hold; one for one, so that offsets stay
        return json.loads(_HALF.sub("\ufffd", json.dumps(row, ensure_ascii=False)))
    except (CorpusError, ValueError, RecursionError) as error:
        return error if isinstance(error, CorpusError) else CorpusError(f"is not JSON ({_one_line(error)})")


def _dataset(address: str, max_bytes: int, column: str) -> Iterator[Found | Skipped]:
    parts = urlsplit(address)
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if unknown := set(query) - {"config", "split", "column"}:
        yield Skipped(address, f"knows no {', '.join(sorted(unknown))}; config, split and column can be given")
        return
    repository, _, revision = (parts.netloc + parts.path).removeprefix("datasets/").strip("/").partition("@")
    wanted = {"name": query.get("config"), "split": query.get("split", "train"), "revision": revision or None}
    rows = _streamed(repository, wanted)
    yield from _rows(repository.split("/")[-1], address, rows, max_bytes, query.get("column", column))


def _streamed(path: str, wanted: Mapping[str, Any]) -> Iterator[Any]:
    """The rows of a dataset; what stops them comes last, as an error."""
    import datasets

    try:
        yield from datasets.load_dataset(path, streaming=True, **wanted)
    except (OSError, ValueError, KeyError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        yield CorpusError(f"cannot be loaded ({_one_line(error)})")


def _rows(name: str, address: str, rows: Iterator[Any], max_bytes: int, column: str) -> Iterator[Found | Skipped]:
    n = 0
    for n, row in enumerate(rows, 1):
        try:
            if isinstance(row, CorpusError):
                raise row
            yield Found(f"{address} row {n}", _row(row, f"{name}-{n}", max_bytes, column))
        except CorpusError as error:
            yield Skipped(f"{address} row {n}", str(error))
    if not n:
        yield Skipped(address, "is empty")


def _row(row: Any, name: str, max_bytes: int, column: str) -> Article:
    if not isinstance(row, Mapping):
        raise CorpusError(f"is not an object but a {type(row).__name__}")
    text = row.get(column)
    if not isinstance(text, str) or not text.strip():
        raise CorpusError(f'has no text in the column "{column}" (columns: {", ".join(map(str, row))})')
    if len(text) > max_bytes:
        raise CorpusError(f"is too large: {len(text):,} characters, and the limit is {max_bytes:,}")
    meta = {key: value for key, value in row.items() if isinstance(value, str)}
    if isinstance(row.get("sections"), list) and "article_id" in meta and column == "text":
        return _article_of_ours(row, meta)
    meta["title"] = meta.get("title") or meta.get("article_title") or ""
    return _article(from_markdown(text, indented_code=False), name, meta)


def _article_of_ours(row: Mapping[str, Any], meta: Mapping[str, str]) -> Article:
    """A row of the `articles` config: text and offsets are taken as they are, once they have been proven."""
    article_id, title, text = meta["article_id"], meta.get("article_title", ""), meta["text"]
    domain, source = meta.get("domain", ""), _source(meta)
    sections: list[Section] = []
    try:
        for part in row["sections"]:
            name, path, start, end = part["section_id"], tuple(part["path"]), part["start"], part["end"]
            if not 0 <= start < end <= len(text) or not text[start:end].strip():
                raise CorpusError(f"has a section, {name}, whose offsets point at no text")
            sections.append(
                Section(name, article_id, title, path, text[start:end], start, end, domain=domain, source=source)
            )
    except (KeyError, TypeError) as error:
        raise CorpusError(f"has a section that cannot be read ({_one_line(error)})") from None
    return Article(article_id, title, text, tuple(sections), domain, source)

"""Parquet wherever fsspec reaches (a disk, s3://, gs://, hf://, ...): sections in, outcomes out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from generation.articles.sources import Skipped
from generation.corpus import MAX_SENTENCES, MIN_SENTENCES
from generation.errors import CorpusError, InputError
from generation.records import Section, Sentence, Source
from generation.segment import DEFAULT_SEGMENTER, segment

PART_ROWS = 50_000
GROUP_ROWS = 500
"""Rows that are held in memory until they are written."""

OnSkipped = Callable[[Skipped], None]


def is_address(address: str) -> bool:
    """Is it a URL of Parquet files with sections? Files of this machine without a scheme are read as articles."""
    return "://" in address and address.endswith(".parquet")


class Table:
    """The outcomes of a run as `<url>/part-00000.parquet` and so on, one row each, in input order.

    The columns are those of the run's JSONL files and `status`. A part appears when it is whole. `close` removes parts
    that an earlier, longer run has left.
    """

    def __init__(self, url: str, part_rows: int = PART_ROWS) -> None:
        import fsspec

        try:
            self._fs, self._root = fsspec.core.url_to_fs(url)
            self._fs.makedirs(self._root, exist_ok=True)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(f"Parquet cannot be written to {url}: {error}.") from error
        self._schema = _schema()
        self._part_rows = part_rows
        self._rows: list[dict[str, Any]] = []
        self._parts = self._in_part = 0
        self._file: Any = None
        self._writer: Any = None

    def add(self, status: str, row: Mapping[str, Any]) -> None:
        """Write one line of a run's files."""
        usage = [{"role": role, **tokens} for role, tokens in row["usage"].items()]
        self._rows.append({**row, "status": status, "usage": usage})
        if len(self._rows) >= min(GROUP_ROWS, self._part_rows):
            self._write_group()
        if self._in_part >= self._part_rows:
            self._end_part()

    def close(self) -> None:
        """Write what is left; a table without rows has one part without rows."""
        self._write_group()
        if self._writer is not None or not self._parts:
            self._begin_part()
            self._end_part()
        for path in self._fs.glob(f"{self._root}/part-*.parquet"):
            if path.rpartition("/")[2] not in map(_name, range(self._parts)):
                self._fs.rm(path)

    def _write_group(self) -> None:
        import pyarrow

        if self._rows:
            self._begin_part()
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, self._schema))
            self._in_part += len(self._rows)
            self._rows = []

    def _begin_part(self) -> None:
        from pyarrow import parquet

        if self._writer is None:
            self._file = self._fs.open(f"{self._root}/.{_name(self._parts)}", "wb")
            self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")

    def _end_part(self) -> None:
        self._writer.close()
        self._file.close()
        name = _name(self._parts)
        self._fs.mv(f"{self._root}/.{name}", f"{self._root}/{name}")
        self._writer = self._file = None
        self._parts, self._in_part = self._parts + 1, 0


def read_sections(
    addresses: Sequence[str],
    *,
    min_sentences: int = MIN_SENTENCES,
    max_sentences: int = MAX_SENTENCES,
    segmenter: str = DEFAULT_SEGMENTER,
    skipped: OnSkipped,
) -> Iterator[Section]:
    """The sections in Parquet files, one row each, a few hundred of which are in memory; globs are taken.

    Needs the columns section_id and section_text; article_id, article_title, domain, section_path, sentences,
    segmenter and source are taken where they are. Rows without sentences are segmented. Raises InputError for a file
    that cannot be read or lacks a column, CorpusError, at the end, if no section is left.
    """
    is_empty = True
    for row in _rows(addresses):
        section = segment(_section(row), segmenter)
        if min_sentences <= len(section.sentences) <= max_sentences:
            is_empty = False
            yield section
        else:
            count = len(section.sentences)
            skipped(Skipped(section.id, f"has {count} sentences, not {min_sentences} to {max_sentences}", 1))
    if is_empty:
        raise CorpusError(
            f"No section is left: none has {min_sentences} to {max_sentences} sentences; change these two numbers."
        )


def _rows(addresses: Sequence[str]) -> Iterator[dict[str, Any]]:
    import fsspec
    import pyarrow
    from pyarrow import parquet

    for address in addresses:
        try:
            fs, path = fsspec.core.url_to_fs(address)
            paths = sorted(fs.glob(path))
            if not paths:
                raise InputError(f"{address} names no file.")
            for found in paths:
                with fs.open(found, "rb") as file:
                    table = parquet.ParquetFile(file)
                    if missing := {"section_id", "section_text"} - set(table.schema_arrow.names):
                        raise InputError(f"{address} has no column {sorted(missing)[0]}; each row must be a section.")
                    for batch in table.iter_batches(batch_size=256):
                        yield from batch.to_pylist()
        except (OSError, ValueError, ImportError, pyarrow.ArrowException) as error:
            raise InputError(f"{address} cannot be read as Parquet: {error}.") from error


def _section(row: Mapping[str, Any]) -> Section:
    text = row["section_text"]
    return Section(
        id=row["section_id"],
        article_id=row.get("article_id") or row["section_id"].partition("/")[0],
        article_title=row.get("article_title") or "",
        path=tuple(row.get("section_path") or ()),
        text=text,
        start=0,
        end=len(text),
        sentences=tuple(Sentence(**s) for s in row.get("sentences") or ()),
        segmenter=row.get("segmenter") or "",
        domain=row.get("domain") or "",
        source=Source(**(row.get("source") or {})),
    )


def _name(part: int) -> str:
    return f"part-{part:05}.parquet"


def _schema() -> Any:
    """The columns of "default", and what a run's lines say beyond them."""
    import pyarrow as pa

    import craqan

    pair = craqan.FEATURES["default"].arrow_schema
    names = ("question", "answer", "required_sentence_indices", "coreferences", "derivation")
    words = pa.list_(pa.string())
    text = [("reviewer", pa.string()), ("is_quality", pa.bool_()), ("reason", pa.string()), ("problems", words)]
    reading = pa.struct([("context", pa.string()), ("answer", pa.string()), ("is_right", pa.bool_())])
    round_ = [("index", pa.int32()), ("candidate", pa.struct([pair.field(n) for n in names]))]
    proof = pa.struct([("reader", pa.string()), ("readings", pa.list_(reading))])
    counts = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
    more = {
        "status": pa.string(),
        "reason": pa.string(),
        "problems": words,
        "error": pa.string(),
        "rounds": pa.list_(pa.struct([*round_, ("verdicts", pa.list_(pa.struct(text))), ("proof", proof)])),
        "usage": pa.list_(pa.struct([("role", pa.string()), *((c, pa.int64()) for c in counts)])),
        "segmenter": pa.string(),
        "source": pa.struct([(n, pa.string()) for n in ("url", "license", "revision", "retrieved_at")]),
        "recipe": pa.string(),
        "proof": pa.list_(reading),
    }
    return pa.schema([*pair, *(pa.field(name, kind) for name, kind in more.items())])

"""Files of CRaQAn and of its neighbours -> the common form of `evaluation.examples`.

Formats: craqan, quoref, squad, quac, hotpotqa (R4C's joined file too), qed, expertqa. What a set lacks is said in
`ExampleSet.lacks`, and nothing is made up for it, save where the note says "silver".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation import formats
from evaluation.examples import Example, ExampleError, ExampleSet
from evaluation.rows import craqan_set
from generation.errors import UsageError

Row = Mapping[str, Any]


def load(source: str | Path, *, format: str = "", split: str = "") -> ExampleSet:
    """Read a set: a folder of our configs, a run, JSON, JSON Lines or Parquet, or "ORG/NAME[@REVISION]" on the Hub.

    `format` is recognised by the columns unless given; `split` takes one split of a folder or of the Hub, "" all.
    Raises ExampleError with the file, the row and the column; UsageError for a path, format or split that is not there.
    """
    if format and format not in FORMATS:
        raise UsageError(f'There is no format "{format}"; choose one of {", ".join(FORMATS)}.')
    path = Path(source)
    if path.is_dir():
        return _from_folder(path, split)
    if not path.exists():
        if path.suffix in SUFFIXES:
            raise UsageError(f"There is no {source}; give a folder, a file, or ORG/NAME of a dataset on the Hub.")
        return _from_hub(str(source), split)
    if split:
        raise UsageError(f"{path} is one file and has no splits; leave the split out.")
    rows = _rows(path)
    if not rows:
        raise ExampleError(f"{path} holds no question; give a file with at least one.")
    format = format or _recognised(rows[0], path)
    try:
        found = FORMATS[format](rows, path.stem)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ExampleError(f"{path} is not in the format {format}: {what}.") from error
    if not found.examples:
        lacking = " with an answer that cites passages" if format == "expertqa" else ""
        raise ExampleError(f"{path} holds no question{lacking}; give a file with at least one.")
    for example in found.examples:
        if not all(isinstance(text, str) for text in (example.question, *example.answers)):
            raise ExampleError(f"{path}: the question and the answers of {example.id} must be texts.")
    return _each_once(found)


def _each_once(examples: ExampleSet) -> ExampleSet:
    """Questions that a file repeats are kept once, and that is said. ExampleError where two have the same id."""
    kept: dict[str, Example] = {}
    for example in examples.examples:
        if kept.setdefault(example.id, example) != example:
            raise ExampleError(f'{examples.name} has the id "{example.id}" on two questions; each needs its own.')
    if (repeated := len(examples.examples) - len(kept)) == 0:
        return examples
    note = f"questions of their own in {repeated} rows, which repeat others and are left out"
    return replace(examples, examples=tuple(kept.values()), lacks=(*examples.lacks, note))


def _rows(path: Path) -> list[Row]:
    """The rows of a file: of JSON Lines, of Parquet, of a JSON list, or of what stands under "data"."""
    if path.suffix == ".parquet":
        from pyarrow import ArrowInvalid, parquet

        try:
            return parquet.read_table(path).to_pylist()
        except ArrowInvalid as error:
            raise ExampleError(f"{path} is not a Parquet file that can be read.") from error
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ExampleError(f"{path} cannot be read as a UTF-8 file of JSON, JSON Lines or Parquet.") from error
    whole = _json(text)
    if isinstance(whole, dict) and isinstance(whole.get("data"), list):
        whole = whole["data"]
    rows = whole if isinstance(whole, list) else []
    if whole is None or isinstance(whole, dict):
        rows = [_line(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if bad := next((n for n, row in enumerate(rows, 1) if not isinstance(row, dict)), None):
        raise ExampleError(f"{path}, row {bad}: a JSON object is wanted.")
    return rows


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _line(path: Path, number: int, line: str) -> Any:
    found = _json(line)
    if found is None:
        raise ExampleError(f"{path}, line {number}: this is not JSON; write one object a line, or one list.")
    return found


def _recognised(row: Row, path: Path) -> str:
    for format, columns in COLUMNS.items():
        if all(column in row for column in columns):
            return format
    if row.get("paragraphs"):
        first = row["paragraphs"][0]
        asked = (first.get("qas") or [{}])[0]
        return "quac" if "followup" in asked else "quoref" if "context_id" in first else "squad"
    wanted = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in COLUMNS.items())
    raise ExampleError(f"{path} is of no known format; its rows need the columns of one of these ({wanted}).")


def _from_folder(folder: Path, split: str) -> ExampleSet:
    """A folder with `default/` and `articles/` (or a `data/` of these), or a run's folder with accepted rows."""
    import craqan

    home = next((f for f in (folder, folder / "data") if (f / "default").is_dir()), None)
    if home is None:
        for name in ("accepted.jsonl", "default.jsonl"):
            if (folder / name).is_file():
                return load(folder / name)
        raise UsageError(f"{folder} holds no set; give a folder with default/ and articles/, or a run's folder.")
    tables = {}
    for config in ("default", "articles"):
        files = craqan.local_files(home, config)
        if split and split not in files:
            raise UsageError(f'{folder} has no split "{split}"; choose one of {", ".join(files) or "none"}.')
        wanted = [split] if split else list(files)
        tables[config] = [row for name in wanted for path in files[name] for row in _rows(Path(path))]
    if not tables["default"]:
        raise ExampleError(f"{folder} holds no question; give a set with at least one.")
    return _each_once(craqan_set(tables["default"], folder.resolve().name, tables["articles"]))


def _from_hub(source: str, split: str) -> ExampleSet:
    from datasets import load_dataset
    from datasets.exceptions import DatasetNotFoundError

    name, _, revision = source.partition("@")
    if name.count("/") != 1 or name.startswith(("/", ".")):
        raise UsageError(f"There is no {source}; give a folder, a file, or ORG/NAME of a dataset on the Hub.")
    tables = {}
    for config in ("default", "articles"):
        try:
            found = load_dataset(name, config, revision=revision or None)
        except (DatasetNotFoundError, ValueError, OSError) as error:
            raise UsageError(f"{source} could not be loaded from the Hub: {str(error).splitlines()[0]}") from error
        if split and split not in found:
            raise UsageError(f'{source} has no split "{split}"; choose one of {", ".join(found)}.')
        tables[config] = [row for part in ([split] if split else found) for row in found[part]]
    return _each_once(craqan_set(tables["default"], source, tables["articles"]))


FORMATS: dict[str, Callable[[Sequence[Row], str], ExampleSet]] = {
    "craqan": craqan_set,
    "quoref": formats.quoref,
    "squad": formats.squad,
    "quac": formats.quac,
    "hotpotqa": formats.hotpot,
    "qed": formats.qed,
    "expertqa": formats.expertqa,
}
COLUMNS = {
    "hotpotqa": ("_id", "context", "supporting_facts"),
    "qed": ("example_id", "paragraph_text", "annotation"),
    "expertqa": ("question", "answers", "metadata"),
    "craqan": ("question", "answer"),
}
"""Columns by which a file's format is known; SQuAD's family is known by "paragraphs"."""
SUFFIXES = (".json", ".jsonl", ".jsonlines", ".parquet", ".csv", ".tsv", ".md", ".txt")
"""What ends so is meant as a file of this machine: a mistyped one is not looked for on the Hub."""

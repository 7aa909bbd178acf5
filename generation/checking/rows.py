"""`craqan check`: the checks on any file of pairs, our own or other people's: one JSON object a line, or Parquet.

A row has `sentences` (strings, or objects with `text`), `question`, `answer`, `required_sentence_indices` and, if it
likes, `coreferences`, with or without offsets; or the columns of Edge-Pyxos/CRaQAn_v1. A row that cannot be read is a
breach of format like any other: it is told, with its line, and the rest go on.
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from generation import checks
from generation.checking.case import Problem
from generation.checking.repeats import Questions
from generation.errors import InputError, UsageError
from generation.files import PAIRS, read_lines, read_parquet
from generation.records import Candidate, Coreference, Kind, Span

MAX_PASSAGE = 100_000
"""Characters of a row's sentences; parsing more takes minutes."""
SHOWN = 300
"""Characters of a question in the report for a person."""
AHEAD = 32
"""Rows whose passages are parsed together."""
_COLUMNS = "sentences, question, answer and required_sentence_indices"
PRONOUNS = frozenset("i you he him his she her hers it its we us they them their theirs".split())


class RowError(InputError):
    """A row that is no pair; the message says in one sentence what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say of one row; `index` counts rows from 0, `line` lines from 1."""

    index: int
    line: int
    question: str
    problems: tuple[Problem, ...]

    @property
    def rejected(self) -> bool:
        return any(p.certainty == "certain" for p in self.problems)

    def as_json(self) -> str:
        return json.dumps({"index": self.index, "problems": [asdict(p) for p in self.problems]}, ensure_ascii=False)


def check_file(path: Path, against: Sequence[Path] = ()) -> Iterator[Checked]:
    """Check every row of `path`; a question that the file or one of `against` asked before is a problem too.

    Raises UsageError for a file that is not there or has no row, InputError for one that cannot be read.
    """
    asked = Questions()
    for where, question in questions_in(against):
        asked.add(question, where)
    for index, (line, text) in enumerate(_read_ahead(text_lines(path))):
        question = _question(text)
        problems = check_line(text, line)
        if question and (repeat := asked.earlier(question)):
            problems += (repeat.problem,)
        if question:
            asked.add(question, f"line {line}")
        yield Checked(index, line, question, problems)


def questions_in(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """("old.jsonl, line 3", its question) of every row of `paths` that has one.

    Raises UsageError, and InputError for a line that is no JSON object and a file that asks nothing.
    """
    for path in paths:
        found = 0
        for line, text in text_lines(path):
            try:
                question = _asked(read_object(text))
            except RowError as error:
                raise InputError(f"{path}:{line}: {error}") from error
            if question:
                found += 1
                yield f"{path.name}, line {line}", question
        if not found:
            raise InputError(f'{path} asks nothing: no row has a "question"; give {PAIRS}.')


def _read_ahead(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The same lines, with the passages of the next AHEAD of them parsed together."""
    from generation.language import nlp

    for start in range(0, len(lines), AHEAD):
        block = lines[start : start + AHEAD]
        nlp.parse_ahead(passage for _, text in block if (passage := _passage(text)))
        yield from block


def _passage(text: str) -> tuple[str, ...]:
    """The sentences of a line, () if it is no pair."""
    try:
        return read_pair(read_object(text))[1]
    except RowError:
        return ()


def check_line(text: str, line: int) -> tuple[Problem, ...]:
    """The problems of one line of a file; one that is no pair has a single one, of format."""
    try:
        candidate, sentences = read_pair(read_object(text))
    except RowError as error:
        return (Problem("formatting", "schema", f"Line {line}: {error}"),)
    return checks.run(candidate, sentences)


def report(checked: Iterable[Checked], path: Path) -> tuple[list[str], int, int]:
    """Lines for a person, how many rows there were, and how many are rejected."""
    lines, rows, rejected = [], 0, 0
    for row in checked:
        rows += 1
        rejected += row.rejected
        if row.problems:
            shown = row.question if len(row.question) <= SHOWN else row.question[:SHOWN] + "..."
            lines.append(f"{path}:{row.line}: {'rejected' if row.rejected else 'unsure'}: {shown}".rstrip(": "))
            lines += [
                f"    {p.code} ({p.check}{', unsure' * (p.certainty == 'unsure')}): {p.reason}" for p in row.problems
            ]
    return lines, rows, rejected


def text_lines(path: Path) -> list[tuple[int, str]]:
    """(number from 1, line) of all lines that are not blank, or of the rows of a Parquet file.

    Raises UsageError if there is none, or if the file is one JSON value over many lines.
    """
    if path.suffix == ".parquet":
        rows = read_parquet(path)
        lines = [(n, json.dumps(row, ensure_ascii=False, default=str)) for n, row in enumerate(rows, 1)]
    else:
        lines = list(read_lines(path))
    if not lines:
        raise UsageError(f"{path} holds no row; give {PAIRS}.")
    if lines[0][1].lstrip().startswith(("[", "{")) and not _is_object(lines[0][1]):
        _refuse_one_value(path, lines)
    return lines


def _is_object(text: str) -> bool:
    try:
        return bool(read_object(text))
    except RowError:
        return False


def _refuse_one_value(path: Path, lines: Sequence[tuple[int, str]]) -> None:
    """Raise UsageError if the lines together are one value of JSON: a list of objects, or an object over many lines."""
    try:
        value = json.loads("\n".join(text for _, text in lines))
    except (ValueError, RecursionError):
        return
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        raise UsageError(f"{path} is one JSON list; write each of its {len(value)} objects on a line of its own.")
    if isinstance(value, dict) and len(lines) > 1:
        raise UsageError(f"{path} is one JSON object over {len(lines)} lines; write each row's object on one line.")


def read_object(text: str) -> Mapping[str, Any]:
    """The JSON object of a line. Raises RowError if it is none."""
    try:
        row = json.loads(text)
        row = json.loads(text)
        if "\\u" in text:
            json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RowError(
            "a text has half a character (a lone surrogate), which nothing can read; leave it out."
        ) from None
    except (ValueError, RecursionError) as error:
        raise RowError("this is not JSON; write one object a line.") from error
    if not isinstance(row, dict):
        raise RowError(f"a JSON object is wanted, not {_kind(row)}.")
    return row


def _question(text: str) -> str:
    """The question of a line, "" if it has none."""
    try:
        return _asked(read_object(text))
    except RowError:
        return ""


def _asked(row: Mapping[str, Any]) -> str:
    question = row.get("question")
    return question.strip() if isinstance(question, str) else ""


def read_pair(row: Mapping[str, Any]) -> tuple[Candidate, tuple[str, ...]]:
    """The candidate of a row and its passage's sentences. Raises RowError if a column is missing or of another type."""
    sentences, labels = _sentences(row)
    name = "required_sentence_indices" if "sentences_required" not in row else "sentences_required"
    required = _parsed(row, name)
    if not isinstance(required, list) or not all(type(i) is int for i in required):
        raise RowError(f'"{name}" must be a list of whole numbers, not {_kind(required)}.')
    required = [labels.get(i, i if not labels else -1) for i in required]
    question, answer = (_text(row, column) for column in ("question", "answer"))
    references = tuple(_coreference(c, sentences) for c in _list(row, "coreferences"))
    return Candidate(question, answer, tuple(required), references), sentences


def _sentences(row: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[int, int]]:
    """The sentences, and from the labels that a row of v1 gives them to their places."""
    name = "sentences" if "section_sentences" not in row else "section_sentences"
    items = _parsed(row, name)
    if not isinstance(items, list) or not items:
        raise RowError(f'"{name}" must be a list of sentences, not {_kind(items)}.')
    texts = [_sentence(item) for item in items]
    if sum(map(len, texts)) > MAX_PASSAGE:
        raise RowError(f"the sentences have more than {MAX_PASSAGE:,} characters; give one section a row.")
    labels = [item["index"] for item in items if isinstance(item, dict) and type(item.get("index")) is int]
    whole = len(set(labels)) == len(items)
    return tuple(texts), {label: place for place, label in enumerate(labels)} if whole else {}


def _sentence(item: Any) -> str:
    text = item.get("text", item.get("sentence")) if isinstance(item, dict) else item
    if isinstance(text, str) and not text.strip():
        raise RowError("a sentence is empty; leave it out, and count the others from 0.")
    if not isinstance(text, str):
        raise RowError(f'a sentence must be text, or an object with "text", not {_kind(item)}.')
    return text


def _parsed(row: Mapping[str, Any], name: str) -> Any:
    """A column that may be a list, or a string of JSON or of a Python literal as in v1."""
    if name not in row:
        raise RowError(f'"{name}" is missing; a pair has {_COLUMNS}.')
    value = row[name]
    if not isinstance(value, str) or name not in ("section_sentences", "sentences_required"):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise RowError(f'"{name}" is text that holds no list.')


def _text(row: Mapping[str, Any], name: str) -> str:
    if name not in row:
        raise RowError(f'"{name}" is missing; a pair has {_COLUMNS}.')
    if not isinstance(row[name], str):
        raise RowError(f'"{name}" must be text, not {_kind(row[name])}.')
    return row[name]


def _list(row: Mapping[str, Any], name: str) -> list[Any]:
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowError(f'"{name}" must be a list, not {_kind(value)}.')
    return value


def _coreference(item: Any, sentences: Sequence[str]) -> Coreference:
    if not isinstance(item, dict) or not all(isinstance(item.get(end), dict) for end in ("mention", "antecedent")):
        raise RowError('a coreference must be an object with the objects "mention" and "antecedent".')
    mention, antecedent = (_span(item[end], sentences) for end in ("mention", "antecedent"))
    kind: Kind = item.get("kind") or ("pronominal" if mention.text.lower() in PRONOUNS else "nominal")
    if kind not in get_args(Kind):
        raise RowError('the "kind" of a coreference must be "pronominal" or "nominal".')
    return Coreference(kind, mention, antecedent)


def _span(item: Mapping[str, Any], sentences: Sequence[str]) -> Span:
    """A span as it is given; without offsets, the first place in its sentence where its text stands as whole words."""
    index, text, start, end = (item.get(name) for name in ("sentence_index", "text", "start", "end"))
    if type(index) is not int or not isinstance(text, str) or not text:
        raise RowError('a mention or antecedent needs a whole number "sentence_index" and a "text".')
    if type(start) is int and type(end) is int:
        return Span(index, start, end, text)
    if start is not None or end is not None:
        raise RowError('the "start" and "end" of a mention or antecedent must be whole numbers.')
    found = _find(sentences[index], text) if 0 <= index < len(sentences) else 0
    return Span(index, found, found + len(text), text)


def _find(sentence: str, text: str) -> int:
    """Where `text` begins in `sentence`, at the edges of words if it can be; 0 if nowhere."""
    places = [i for i in range(len(sentence)) if sentence.startswith(text, i)]
    edged = [i for i in places if not sentence[i - 1 : i].isalnum() and not sentence[i + len(text) :][:1].isalnum()]
    return next(iter(edged or places), 0)


def _kind(value: Any) -> str:
    names = {type(None): "nothing", bool: "true or false", str: "text", dict: "an object", int: "a number"}
    if isinstance(value, list):
        return "a list with something else in it" if value else "an empty list"
    return names.get(type(value), "a number")

"""Votes as a spreadsheet, CSV or XLSX: one row a vote, and one for each pair that nobody has voted on yet.

A cell that a spreadsheet would take for a formula is written with an apostrophe before it, which is taken off again on
import. What people fill in: reviewer, decision, reasons (separated by ";"), note, and the corrected_ columns.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from generation.errors import InputError, UsageError
from generation.review.corrections import Correction
from generation.review.exchange import Entry, Leaving
from generation.review.store import Pair

CONTEXT = ("pair_id", "article", "section", "passage", "question", "answer", "required", "coreferences")
VOTE = ("reviewer", "decision", "reasons", "note")
CORRECTED = ("corrected_question", "corrected_answer", "corrected_required", "corrected_coreferences")
COLUMNS = (*CONTEXT, *VOTE, *CORRECTED, "seconds", "at", "vote_id")
NEEDED = ("pair_id", "reviewer", "decision")
MAX_CELL = 32_767  # characters that a spreadsheet's cell holds
MAX_FILE = 50_000_000  # bytes

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # the last four are the wide forms of the first
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_WRITTEN = re.compile(r"_x([0-9A-Fa-f]{4})_")


def guarded(text: str) -> str:
    """`text` so that no spreadsheet takes it for a formula; `unguarded` gives it back exactly."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """What was given to `guarded`; a text that a person typed stays as it is."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def write_csv(leaving: Sequence[Leaving]) -> bytes:
    """The sheet as CSV in UTF-8, with the mark at its start by which spreadsheets know that."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([COLUMNS, *([guarded(cell) for cell in row] for row in _rows(leaving))])
    return text.getvalue().encode("utf-8-sig")


def write_xlsx(leaving: Sequence[Leaving]) -> bytes:
    """The sheet as XLSX. Raises UsageError if openpyxl is not installed."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("votes")
    sheet.freeze_panes = "B2"
    for row in [COLUMNS, *_rows(leaving)]:
        sheet.append([_escaped(guarded(cell)) or None for cell in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(path: Path) -> list[Entry]:
    """The votes of a CSV or XLSX file; rows without a decision are pairs still to be judged, and no votes.

    Raises UsageError if the file is no such sheet, InputError naming the row that cannot be read.
    """
    if path.stat().st_size > MAX_FILE:
        raise UsageError(f"{path} has more than {MAX_FILE // 1_000_000} megabytes; export it in parts.")
    rows = _xlsx_rows(path) if path.suffix.casefold() == ".xlsx" else _csv_rows(path)
    header = [name.strip().casefold() for name in next(rows, [])]
    if missing := [name for name in NEEDED if name not in header]:
        raise UsageError(f'{path} has no column "{missing[0]}"; it needs {", ".join(NEEDED)}, as craqan exports them.')
    if twice := [name for name in COLUMNS if header.count(name) > 1]:
        raise UsageError(f'{path} has the column "{twice[0]}" twice; take one of them out.')
    entries = []
    for number, row in enumerate(rows, 2):
        cells = {name: unguarded(cell) for name, cell in zip(header, row, strict=False)}
        if any(cells.get(name, "").strip() for name in ("decision", "reasons", "note", *CORRECTED)):
            entries.append(_entry(f"{path}, row {number}", cells))
    return entries


def _rows(leaving: Sequence[Leaving]) -> Iterator[list[str]]:
    for pair, votes in leaving:
        context = _context(pair)
        blank = dict.fromkeys(COLUMNS, "")
        for vote, who, correction in votes:
            cells = {
                "reviewer": who,
                "decision": "accept" if vote.accept else "reject",
                "reasons": "; ".join(vote.reasons),
                "note": vote.note,
                **(_correction_cells(correction) if correction else {}),
                "seconds": "" if vote.seconds is None else repr(vote.seconds),
                "at": vote.at,
                "vote_id": vote.uid,
            }
            yield list({**blank, **context, **cells}.values())
        if not votes:
            yield list({**blank, **context}.values())


def _context(pair: Pair) -> dict[str, str]:
    """The pair for a person to read; what is longer than a cell is cut, and says so."""
    row = pair.row
    cells = {
        "pair_id": pair.id,
        "article": row["article_title"],
        "section": " > ".join(row["section_path"]),
        "passage": "\n".join(f"[{i}] {s['text']}" for i, s in enumerate(row["sentences"])),
        "question": row["question"],
        "answer": row["answer"],
        "required": _numbers(row["required_sentence_indices"]),
        "coreferences": json.dumps(row["coreferences"], ensure_ascii=False),
    }
    return {
        name: text if len(text) < MAX_CELL - 100 else text[: MAX_CELL - 100] + " … (cut)"
        for name, text in cells.items()
    }


def _correction_cells(correction: Correction) -> dict[str, str]:
    required, links = correction.required_sentence_indices, correction.coreferences
    return {
        "corrected_question": correction.question or "",
        "corrected_answer": correction.answer or "",
        "corrected_required": "" if required is None else _numbers(required),
        "corrected_coreferences": "" if links is None else json.dumps(links, ensure_ascii=False),
    }


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _entry(where: str, cells: Mapping[str, str]) -> Entry:
    if not cells.get("reviewer", "").strip() or not cells.get("decision", "").strip():
        raise InputError(f"{where}: a vote needs a reviewer and a decision; nothing was imported.")
    return Entry(
        where,
        cells["pair_id"].strip(),
        cells["reviewer"],
        cells["decision"],
        [reason for reason in re.split(r"[;,\n]", cells.get("reasons", "")) if reason.strip()],
        cells.get("note", ""),
        _correction(where, cells),
        cells.get("seconds", "").strip() or None,  # type: ignore[arg-type]
        cells.get("at", "").strip(),
        cells.get("vote_id", "").strip(),
    )


def _correction(where: str, cells: Mapping[str, str]) -> Correction | None:
    question, answer, required, links = (cells.get(name) or None for name in CORRECTED)
    if not any((question, answer, required, links)):
        return None
    try:
        indices = [int(number) for number in re.split(r"[\s,;]+", required.strip())] if required else None
        coreferences = json.loads(links) if links else None
        if coreferences is not None and not isinstance(coreferences, list):
            raise ValueError("no list")
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: corrected_required takes numbers such as 0 2, corrected_coreferences a JSON list as in the"
            " column coreferences; nothing was imported."
        ) from error
    return Correction(question, answer, indices, coreferences)


def _csv_rows(path: Path) -> Iterator[list[str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8; save it as “CSV UTF-8”, or as XLSX.") from error
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    try:
        yield from (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}; save it anew from your spreadsheet.") from error


def _xlsx_rows(path: Path) -> Iterator[list[str]]:
    from zipfile import BadZipFile

    openpyxl = _openpyxl()
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        for row in book.worksheets[0].iter_rows(values_only=True):
            yield [_cell(value) for value in row]
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be read as XLSX; save it anew from your spreadsheet.") from error


def _cell(value: Any) -> str:
    """What a spreadsheet made of a cell, as text again."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _WRITTEN.sub(lambda match: chr(int(match[1], 16)), str(value))


def _escaped(text: str) -> str:
    """Characters that XML cannot hold as _xHHHH_, as spreadsheets write them."""
    return _UNWRITABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise UsageError("XLSX needs openpyxl: pip install 'craqan[review]', or take CSV.") from error
    return openpyxl

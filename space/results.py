"""The stored results of whole evaluations, as `craqan evaluate` writes them, read for the page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import craqan
from space.cuts import share
from space.passage import escape

DOCS = Path(craqan.__file__).parent / "docs"
NONE = (
    '<div class="empty"><h4>No results are stored in this copy</h4><p>They are made by '
    "<code>python -m benchmarks.evaluation</code>, which takes minutes; the comparison above is made now.</p></div>"
)


def stored(folder: Path = DOCS) -> str:
    """Every results*.json of a folder as tables; a file that cannot be read is named, none at all is said."""
    return "".join(_file(path) for path in sorted(folder.glob("results*.json"))) or NONE


def _file(path: Path) -> str:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return _set(found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        words = f"{escape(path.name)} holds no results that can be read."
        return f'<div class="notice error" role="status"><b>{words}</b></div>'


def _set(found: Mapping[str, Any]) -> str:
    about = found["set"]
    rows = "".join(_chunker(name, figures) for name, figures in found["chunkers"].items())
    head = "".join(f'<th scope="col">{n}</th>' for n in ("Chunker", "Whole", "Links cut", "Chunks", "Mean tokens"))
    said = (
        f"{about['questions']:,} questions on {about['documents']:,} documents; made {escape(found['made_at'][:10])}."
    )
    return (
        f'<h4>{escape(about["name"])}</h4><p class="count">{said}</p>{_table(head, rows, "Stored figures of chunkers")}'
        f"{_retrieval(found)}"
    )


def _chunker(name: str, figures: Mapping[str, Any]) -> str:
    return (
        f'<tr><th scope="row">{escape(name)}</th>{share(figures["all"]["whole"])}{share(figures["all"]["cut"])}'
        f"<td>{figures['chunks']:,}</td><td>{figures['mean_tokens']:.0f}</td></tr>"
    )


def _retrieval(found: Mapping[str, Any]) -> str:
    """How often all required sentences are among the first five chunks, by chunker and retriever."""
    cells = [c for c in found.get("cells", ()) if not c["reader"] and "whole@5" in c["measures"]]
    if not cells:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(c["chunker"])}</th><td>{escape(c["retriever"])}</td>'
        f"{share(c['measures']['whole@5']['mean'])}</tr>"
        for c in cells
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Chunker", "Retriever", "Whole in the first 5 chunks"))
    return _table(head, rows, "Stored figures of retrievers")


def _table(head: str, rows: str, label: str) -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="matrix figures"><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )

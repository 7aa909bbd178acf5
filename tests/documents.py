"""Small documents on disk, and what becomes of them."""

from pathlib import Path
from typing import Any

import pytest

from generation.corpus import Skipped, articles
from generation.errors import CorpusError
from generation.records import Article

PROSE = "The Act passed in 1974. It was short. Nobody read it."


def one(path: Path, **options: Any) -> Article:
    (article,) = articles([str(path)], **options)
    return article


def saved(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def markdown(folder: Path, text: str, name: str = "harbor_act.md") -> Article:
    return one(saved(folder, name, text))


def assert_offsets(article: Article) -> None:
    assert [s.id for s in article.sections] == [f"{article.id}/{n}" for n in range(len(article.sections))]
    for s in article.sections:
        assert article.text[s.start : s.end] == s.text
        assert s.text.strip()
    article.text.encode()  # no lone surrogate


def skipped_of(*inputs: Path | str, **options: Any) -> tuple[list[Article], list[Skipped]]:
    notes: list[Skipped] = []
    found = list(articles([str(i) for i in inputs], skipped=notes.append, **options))
    return found, notes


def reason(path: Path | str, **options: Any) -> str:
    """Why `path` is skipped; it is named, and so it is in the error that nothing is left."""
    notes: list[Skipped] = []
    with pytest.raises(CorpusError) as caught:
        list(articles([str(path)], skipped=notes.append, **options))
    assert str(notes[0]) in str(caught.value) and "\n" not in str(caught.value)
    assert notes[0].name.startswith(str(path))
    return notes[0].reason

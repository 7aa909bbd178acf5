"""What all tests of releases start from: the rows of tests/drafts, and a release of them."""

from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest

from generation import release
from generation.releases import plots
from generation.releases.assemble import assemble
from tests.dataset_files import DRAFTS
from tests.hub import Hub


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of the drafts; never written to."""
    folder = tmp_path_factory.mktemp("rows") / "data"
    assemble(DRAFTS, folder, seed=0)
    return folder


@pytest.fixture(scope="session")
def first(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the drafts, 1.0.0; never written to."""
    out = tmp_path_factory.mktemp("releases") / "1.0.0"
    release.make(data, "1.0.0", out)
    return out


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing them is two thirds of making a release; test_card and test_contents have them."""
    monkeypatch.setattr(plots, "draw", lambda counted, folder: [])


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running

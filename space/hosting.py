"""What the environment tells the page, held against what can be right before anything is served."""

import os
from importlib.util import find_spec
from pathlib import Path

import craqan
from generation.errors import UsageError
from generation.language.nlp import MODELS


def check_environment() -> None:
    """Raises UsageError, which names the setting and what to change, for one that visitors would meet as a fault."""
    dataset()
    model = os.environ.get("CRAQAN_SPACY_MODEL", "")
    if model and not Path(model).is_dir() and not (model.isidentifier() and find_spec(model)):
        raise UsageError(
            f"CRAQAN_SPACY_MODEL names {model!r}, which is neither a folder nor an installed package: unset it, and "
            f"{' or '.join(MODELS)} is used."
        )
    for host in model_hosts():
        if not host or any(c in "/:@?#" or c.isspace() for c in host):
            raise UsageError(f"CRAQAN_MODEL_HOSTS lists bare host names, parted by commas; {host!r} is none.")


def dataset() -> tuple[str, str]:
    """The repository that the rows are from, and its tag or "": CRAQAN_DATASET and CRAQAN_REVISION, as publishing sets
    them. Raises UsageError for what names no repository."""
    repo = os.environ.get("CRAQAN_DATASET") or craqan.REPO
    try:
        return craqan.usable_name(repo), os.environ.get("CRAQAN_REVISION", "")
    except ValueError as error:
        raise UsageError(f"CRAQAN_DATASET: {error}") from error


def model_hosts() -> list[str]:
    """The hosts that visitors' models may always be called at, as CRAQAN_MODEL_HOSTS lists them."""
    listed = os.environ.get("CRAQAN_MODEL_HOSTS", "").strip()
    return [host.strip().lower() for host in listed.split(",")] if listed else []

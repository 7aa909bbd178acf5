"""What the environment tells the page, held against what can be right before anything is served.

gradio reads its own settings when it is imported, so nothing here imports it.
"""

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import craqan
from generation.client.environment import is_loopback
from generation.errors import UsageError
from generation.language.nlp import MODELS

NUMBERS = {
    "GRADIO_SERVER_PORT": 65535,
    "GRADIO_NUM_PORTS": 65535,
    "GRADIO_NODE_NUM_PORTS": 65535,
    "GRADIO_ANALYTICS_MAX_EVENTS": 10**9,
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": 10**9,
    "GRADIO_DEBUG": 1,
}
"""gradio's settings that are whole numbers, and the greatest that each may be; it meets others with a traceback."""


def is_public() -> bool:
    """Does this run as a Space, open to everybody?"""
    return bool(os.environ.get("SPACE_ID"))


def is_open() -> bool:
    """Does this serve others than this machine, as a Space or at an address of GRADIO_SERVER_NAME?"""
    return is_public() or not is_loopback(os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))


def check_or_exit() -> None:
    """`check_environment`; what it finds is said in one sentence on stderr, with exit status 2."""
    try:
        check_environment()
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def check_environment() -> None:
    """Raises UsageError, which names the setting and what to change, for one that visitors would meet as a fault."""
    for name, greatest in NUMBERS.items():
        _check_number(name, greatest)
    _check_server_name(os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    dataset()
    model = os.environ.get("CRAQAN_SPACY_MODEL", "")
    if model and not Path(model, "config.cfg").is_file() and not (model.isidentifier() and find_spec(model)):
        raise UsageError(
            f"CRAQAN_SPACY_MODEL names {model!r}, which is neither a spaCy pipeline's folder nor an installed package: "
            f"unset it, and {' or '.join(MODELS)} is used."
        )
    for host in model_hosts():
        if not host or any(c in "/:@?#" or c.isspace() for c in host):
            raise UsageError(f"CRAQAN_MODEL_HOSTS lists bare host names, parted by commas; {host!r} is none.")


def _check_number(name: str, greatest: int) -> None:
    value = os.environ.get(name)
    least = 0 if name == "GRADIO_DEBUG" else 1
    if value is not None and not (value.isascii() and value.strip().isdigit() and least <= int(value) <= greatest):
        raise UsageError(f"{name} takes a whole number from {least} to {greatest}, not {value!r}: change or unset it.")


def _check_server_name(name: str) -> None:
    """gradio would look for a free port in vain, and say so; at no name it would listen everywhere, and not find it."""
    if not name.strip() or not _can_be_bound(name):
        raise UsageError(
            f"GRADIO_SERVER_NAME names {name!r}, at which this machine cannot be reached: use 127.0.0.1 for visitors "
            "on it alone, or 0.0.0.0 for all."
        )


def _can_be_bound(name: str) -> bool:
    try:
        with socket.socket() as bound:
            bound.bind((name, 0))
            return True
    except (OSError, UnicodeError):
        return False


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

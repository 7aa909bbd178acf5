"""Evaluation: does a pipeline keep the coreference chain whole, and what does a reader make of it?

    import evaluation

    results = evaluation.evaluate("data", chunkers=["sentences:3", "tokens:100"], retrievers=["bm25"])
    print(results.markdown())

`answers`, `evidence` and `derivations` score one prediction as the official evaluators do; `official` takes whole files
and gives the figures that the official scripts print. Scores are fractions from 0 to 1, except where `official` copies
a script's percentages. Nothing heavy is imported until one of these names is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.adapters import load
    from evaluation.harness import Options, evaluate

__all__ = ["Options", "evaluate", "load"]
_HOMES = {"Options": "harness", "evaluate": "harness", "load": "adapters"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""CRaQAn's generation package: articles in, question-answer pairs that need coreference resolution out.

Without a model, by the embedded default, in a script or in a notebook:

    import generation

    for outcome in generation.generate(generation.read(["examples/wilderness-act.md"])):
        if outcome.status == "accepted":
            print(outcome.candidate.question, "-", outcome.candidate.answer)

With a model in all roles, every reply kept, and each outcome there as soon as it is its turn:

    import generation

    chat = generation.OpenAIChat("my-model", "http://localhost:8000/v1")
    sections = generation.read(["examples/wilderness-act.md"], sections=3)
    for outcome in generation.generate(sections, chat=chat, journal="runs/journal.sqlite", concurrency=64):
        print(outcome.section.id, outcome.status, outcome.reason)

The same in batch jobs, for less and within hours; killed and called again, it collects what is out:

    import generation

    chat = generation.OpenAIChat("my-model", "http://localhost:8000/v1")
    sections = generation.read(["examples/wilderness-act.md"], sections=3)
    for outcome in generation.generate(sections, chat=chat, journal="runs/journal.sqlite", batch=True):
        print(outcome.section.id, outcome.status, outcome.reason)

In asynchronous code: `async for outcome in generation.agenerate(sections, chat=chat)`. Nothing heavy is imported until
one of these names is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generation.api import agenerate, generate
    from generation.corpus import read
    from generation.llm import OpenAIChat

__version__ = "1.0.0"
__all__ = ["OpenAIChat", "agenerate", "generate", "read"]
_HOMES = {"OpenAIChat": "llm", "agenerate": "api", "generate": "api", "read": "corpus"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

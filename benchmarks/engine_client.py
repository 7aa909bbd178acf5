"""One run of benchmarks/engine.py in a process of its own: the paper's loop over many passages, by one way to call.

`craqan` is the engine with journal, admission and ledger; `openai` is the same loop over the bare openai package, a
semaphore and `gather`, as one would write it in an afternoon. Prompts, reading and checks are the same code in both.
Prints one JSON line: when it started, processor seconds, what came out.
"""

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Iterator
from typing import Any, get_args

STARTED = time.time()

from generation import panel, prompts, run  # noqa: E402
from generation.client.loops import new_loop  # noqa: E402
from generation.llm import Chat, OpenAIChat, Reply, Request  # noqa: E402
from generation.records import Section, Sentence, Usage  # noqa: E402
from generation.refine import CheckLevel  # noqa: E402

PASSAGE = (
    "The Harbor Safety Act was passed in 1974.",
    "Senator Mary Cole wrote most of the bill.",
    "It requires every ferry to carry two rafts.",
    "She had lost a brother at sea.",
    "The agency that enforces it sits in Portland.",
    "It publishes its inspections every year.",
    "File {number} lists the ferries concerned.",
)
REVISIONS = 4  # one draft and four revisions: five rounds


def sections(count: int) -> Iterator[Section]:
    """Passages of seven sentences that differ in one number."""
    for number in range(count):
        sentences: list[Sentence] = []
        start = 0
        for text in (line.format(number=number) for line in PASSAGE):
            sentences.append(Sentence(text, start, start + len(text)))
            start += len(text) + 1
        text = " ".join(sentence.text for sentence in sentences)
        yield Section(f"bench/{number}", "bench", "Bench", (), text, 0, len(text), tuple(sentences), "bench")


class BareChat:
    """The openai package as it comes."""

    def __init__(self, url: str, calls: int) -> None:
        import openai

        self.identity = f"{url} mock"
        self._client = openai.AsyncOpenAI(base_url=url, api_key="none", timeout=60)
        self._room = asyncio.Semaphore(calls)

    async def __call__(self, request: Request) -> Reply:
        schema: Any = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema}}
        messages: Any = list(request.messages)
        async with self._room:
            completion = await self._client.chat.completions.create(
                model="mock", messages=messages, temperature=request.temperature, response_format=schema
            )
        counts = completion.usage
        usage = Usage(1, counts.prompt_tokens, 0, counts.completion_tokens) if counts else Usage(1)
        return Reply(completion.choices[0].message.content or "", usage)


async def bare(url: str, passages: int, calls: int, checks: CheckLevel) -> dict[str, Any]:
    chat = BareChat(url, calls)
    generator, reviewers = panel.from_prompts(prompts.load_set())
    loops = [
        run.finish(section, order, generator, reviewers, chat=chat, check_level=checks, max_revisions=REVISIONS)
        for order, section in enumerate(sections(passages))
    ]
    ledger = run.Ledger(submitted=passages)
    for outcome in await asyncio.gather(*loops):
        ledger.add(outcome)
    return ledger.as_dict()


async def engine(url: str, passages: int, calls: int, checks: CheckLevel, journal: str) -> dict[str, Any]:
    from generation.client.admission import Admission
    from generation.journal import Journal, Journaled

    generator, reviewers = panel.from_prompts(prompts.load_set())
    ledger = run.Ledger()
    with Journal(journal) as book:
        async with OpenAIChat("mock", url, retries=0) as server:
            chat: Chat = Journaled(Admission(server, calls), book)
            stream = run.outcomes(
                sections(passages),
                generator,
                reviewers,
                chat=chat,
                check_level=checks,
                max_revisions=REVISIONS,
                window=2 * calls,
                ledger=ledger,
            )
            async for _ in stream:
                pass
    return ledger.as_dict()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=("craqan", "openai"))
    parser.add_argument("--url", required=True)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=128, help="most calls in flight")
    parser.add_argument("--checks", choices=get_args(CheckLevel), default="format")
    parser.add_argument("--journal", default="")
    options = parser.parse_args()
    if options.system == "craqan":
        work = engine(options.url, options.passages, options.calls, options.checks, options.journal)
    else:
        work = bare(options.url, options.passages, options.calls, options.checks)
    with asyncio.Runner(loop_factory=new_loop if options.system == "craqan" else None) as runner:
        result = runner.run(work)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    print(json.dumps({"started": STARTED, "ended": time.time(), "cpu": cpu, "ledger": result}))

"""What benchmarks/engine.py measures `craqan generate` beside: the same loop, as one would write it in an afternoon.

`openai` calls the openai package, `aiohttp` plain aiohttp, which is the least that a general client costs. Prompts,
reading and checks are our own code in both; neither has a journal, admission or a memory of what was asked.
"""

import argparse
import asyncio
import json
from typing import Any, get_args

from benchmarks.engine_workload import REVISIONS
from generation import corpus, panel, prompts, run
from generation.checks import CheckLevel
from generation.llm import Reply, Request
from generation.records import Usage


class OpenAI:
    """The openai package as it comes."""

    def __init__(self, url: str) -> None:
        import openai

        self.identity = f"{url} mock"
        self._client = openai.AsyncOpenAI(base_url=url, api_key="none", timeout=60)

    async def __call__(self, request: Request) -> Reply:
        schema: Any = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema}}
        messages: Any = list(request.messages)
        completion = await self._client.chat.completions.create(
            model="mock", messages=messages, temperature=request.temperature, response_format=schema
        )
        counts = completion.usage
        usage = Usage(1, counts.prompt_tokens, 0, counts.completion_tokens) if counts else Usage(1)
        return Reply(completion.choices[0].message.content or "", usage)


class Aiohttp:
    """aiohttp and orjson, nothing else."""

    def __init__(self, url: str) -> None:
        import aiohttp
        import orjson
        from yarl import URL

        self.identity = f"{url} mock"
        self._url, self._json = URL(url + "/chat/completions"), orjson
        connector = aiohttp.TCPConnector(limit=0)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=60))

    async def __call__(self, request: Request) -> Reply:
        schema: Any = {"type": "json_schema", "json_schema": {"name": "answer", "schema": request.schema}}
        body = {"model": "mock", "messages": list(request.messages), "temperature": request.temperature}
        data = self._json.dumps(body | {"response_format": schema})
        async with self._session.post(self._url, data=data, headers={"Content-Type": "application/json"}) as response:
            answer = self._json.loads(await response.read())
        counts = answer["usage"]
        usage = Usage(1, counts["prompt_tokens"], 0, counts["completion_tokens"])
        return Reply(answer["choices"][0]["message"]["content"], usage)


class Bounded:
    """A chat behind a semaphore."""

    def __init__(self, chat: Any, calls: int) -> None:
        self.chat, self.identity = chat, chat.identity
        self._room = asyncio.Semaphore(calls)

    async def __call__(self, request: Request) -> Reply:
        async with self._room:
            return await self.chat(request)


async def bare(options: argparse.Namespace) -> dict[str, Any]:
    """All passages at once, and `gather`."""
    chat = Bounded(OpenAI(options.url) if options.system == "openai" else Aiohttp(options.url), options.calls)
    generator, reviewers = panel.from_prompts(prompts.load_set())
    levels = {"check_level": options.checks, "max_revisions": REVISIONS}
    loops = [
        run.finish(section, order, generator, reviewers, chat=chat, **levels)
        for order, section in enumerate(corpus.read([options.passages]))
    ]
    ledger = run.Ledger(submitted=len(loops))
    for outcome in await asyncio.gather(*loops):
        ledger.add(outcome)
    return ledger.as_dict()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=("openai", "aiohttp"))
    parser.add_argument("passages", help="a JSONL file")
    parser.add_argument("--url", required=True)
    parser.add_argument("--calls", type=int, default=128, help="most calls in flight")
    parser.add_argument("--checks", choices=get_args(CheckLevel), default="format")
    print(json.dumps(asyncio.run(bare(parser.parse_args()))))

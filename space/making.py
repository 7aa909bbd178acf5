"""From a pasted text to the story of its pair: sections, who makes the pair, and the loop watched as it goes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from generation import panel, prompts, refine, rules, run, segment
from generation.articles import article, markup
from generation.errors import ModelError, ModelTimeoutError, UsageError
from generation.llm import OpenAIChat
from generation.records import Outcome, Round, Section, Source, Verdict
from generation.running.folder import outcome_row
from space import limits

EACH = -1  # the choice of sections: one after the other until there is a pair
SECTION_SECONDS = 300  # for the loop on one section: others wait in the queue
CALL_SECONDS = 60
_UNKNOWN = Source()

# spaCy holds the interpreter while it parses and is not safe to share: one thread does all of it, and the page goes on.
_rules_thread = ThreadPoolExecutor(1, "rules")


@dataclass(frozen=True, slots=True)
class Maker:
    """Who drafts and who judges; `name` is what the row says of both. Without a `chat` no model is asked."""

    generator: refine.Generator
    panel: Sequence[refine.Reviewer]
    name: str
    chat: OpenAIChat | None = None
    base_url: str = ""

    @property
    def reviewers(self) -> list[str]:
        """In the order in which they are asked: the code's checks, then the panel."""
        return ["checks", *(r.name for r in self.panel)]

    def row(self, outcome: Outcome) -> dict[str, Any]:
        """The outcome as a line of a run's files."""
        recipe = run.make_recipe(self.generator, self.panel, "all", self.name, self.name)
        return {"status": outcome.status, **outcome_row(outcome, recipe)}


@dataclass(frozen=True, slots=True)
class Story:
    """The loop on one section so far; `outcome` comes with the end. The last round may still be under review."""

    section: Section
    rounds: tuple[Round, ...] = ()
    outcome: Outcome | None = None


def embedded(unsure: bool = False) -> Maker:
    """Rules: no key, no network. `unsure` lets drafts through that the rules are less sure of; they are marked."""
    generator = rules.RuleGenerator(rules.FLOOR if unsure else rules.MIN_CONFIDENCE)
    return Maker(generator, rules.panel(), f"rules:{rules.VERSION}")


async def of_visitor(base_url: str, model: str, key: str) -> Maker:
    """A model that the visitor brings; the key lives as long as the Maker does. UsageError says what to change."""
    url = await limits.check_endpoint(base_url.strip(), model.strip(), key.strip())
    # A word in place of an absent key: the client would otherwise look for this machine's own.
    options: dict[str, Any] = {"timeout": CALL_SECONDS, "retries": 2, "admit": limits.admission(url)}
    chat = OpenAIChat(model.strip(), url, key.strip() or "none", **options)
    return Maker(*panel.from_prompts(prompts.load_set()), f"model:{model.strip()}", chat, url)


async def split(text: str, source: Source = _UNKNOWN) -> list[Section]:
    """The sections of a text, segmented; `source` is where it is from. Raises InputError for an unfit text."""
    return await aside(_split, text, source)


def titles(sections: Sequence[Section]) -> list[str]:
    """What to call each section in a choice."""
    return [f"{s.title} ({len(s.sentences)} sentences)" for s in sections]


def choose(sections: Sequence[Section], index: int) -> Sequence[Section]:
    """The section at `index`; for EACH, as many as one run reads. Raises UsageError if there is none."""
    if index == EACH:
        return limits.of_one_run(sections)
    if type(index) is not int or not 0 <= index < len(sections):
        there = "1 section" if len(sections) == 1 else f"{len(sections)} sections"
        raise UsageError(f"The text has {there} to choose from, and none at {index}: choose the section again.")
    return [sections[index]]


async def watch(section: Section, maker: Maker) -> AsyncGenerator[Story, None]:
    """Run the loop on `section` and yield its story whenever something has happened; the last one has the outcome.

    A model's failure ends as an outcome with status "failed". Closing the iterator stops the loop.
    """
    yield Story(section)
    news: asyncio.Queue[Story] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(story: Story) -> None:
        if is_left:  # what the rules still do for a visitor who went away ends at their next step
            raise asyncio.CancelledError
        loop.call_soon_threadsafe(news.put_nowait, story)

    is_left = False
    telling = _told(section, maker, tell)
    task = asyncio.ensure_future(telling if maker.chat else aside(asyncio.run, telling))
    deadline = loop.time() + SECTION_SECONDS
    try:
        while True:
            story = await _next(news, task, deadline - loop.time())
            yield story
            if story.outcome:
                return
    finally:
        is_left = True
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def make(sections: Sequence[Section], maker: Maker) -> AsyncGenerator[list[Story], None]:
    """Watch one section after the other until one has an accepted pair; yields the stories of all tried so far.

    The last story has an outcome only when the whole run is over.
    """
    done: list[Story] = []
    for section in sections:
        async with aclosing(watch(section, maker)) as stories:
            async for story in stories:
                goes_on = story.outcome and story.outcome.status == "rejected" and section is not sections[-1]
                if not goes_on:
                    yield [*done, story]
        done.append(story)
        if not goes_on:
            return


async def aside(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` on the one thread that parses, and wait for it without holding up the page."""
    return await asyncio.get_running_loop().run_in_executor(_rules_thread, function, *args)


def _split(text: str, source: Source) -> list[Section]:
    limits.check_text(text)
    whole = article.make_article(markup.from_markdown(text), name="Pasted text", source=source)
    return limits.check_sections([segment.segment(s) for s in whole.sections])


async def _next(news: "asyncio.Queue[Story]", task: "asyncio.Future[None]", seconds: float) -> Story:
    """The next piece of news; if the loop broke instead, its error."""
    getting = asyncio.ensure_future(news.get())
    try:
        both: set[asyncio.Future[Any]] = {getting, task}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        if not task.done():
            raise ModelTimeoutError(f"This took more than {SECTION_SECONDS // 60} minutes and was stopped: try again.")
        task.result()
        return await getting
    finally:
        getting.cancel()


@dataclass
class _Teller:
    """Keeps the rounds of a running loop, the unfinished one included, and tells of each change."""

    section: Section
    tell: Callable[[Story], None]
    rounds: list[Round] = field(default_factory=list)

    def drafted(self, index: int, candidate: Any) -> None:
        self.rounds.append(Round(index, candidate))
        self.tell(Story(self.section, tuple(self.rounds)))

    def judged(self, index: int, verdict: Verdict) -> None:
        self.rounds[index] = replace(self.rounds[index], verdicts=(*self.rounds[index].verdicts, verdict))
        self.tell(Story(self.section, tuple(self.rounds)))


async def _told(section: Section, maker: Maker, tell: Callable[[Story], None]) -> None:
    teller = _Teller(section, tell)
    try:
        outcome = await run.finish(
            section, 0, maker.generator, maker.panel, chat=maker.chat, on_draft=teller.drafted, on_verdict=teller.judged
        )
    except ModelError as failure:  # the key or the model's name is wrong: to one visitor, a failure like any other
        outcome = Outcome(section, "failed", error=str(failure))
    tell(Story(section, tuple(teller.rounds), outcome))

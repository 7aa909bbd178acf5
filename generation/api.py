"""The loop over many sections as two functions: `generate` for scripts and notebooks, `agenerate` for async code."""

import asyncio
import atexit
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from generation import panel as model_panel
from generation.checks import CheckLevel
from generation.client.admission import Admission
from generation.client.environment import allow_connections
from generation.client.loops import new_loop
from generation.errors import UsageError
from generation.journal import Journal, Journaled
from generation.llm import Chat, OpenAIChat
from generation.prompts import PromptSet, load_set
from generation.proof import ModelReader, Prover
from generation.records import Outcome, Section
from generation.refine import MAX_REVISIONS, Generator, Reviewer
from generation.run import Ledger, make_recipe, outcomes
from generation.running.journals import refuse_open_batches
from generation.running.novelty import Novelty
from generation.running.settings import MOST_AT_ONCE
from generation.segment import segment

if TYPE_CHECKING:
    from generation.client.batch import BatchChat

CONCURRENCY = 16

T = TypeVar("T")


def generate(
    sections: Iterable[Section],
    *,
    chat: Chat | None = None,
    generator: Generator | None = None,
    panel: Sequence[Reviewer] | None = None,
    prompts: PromptSet | Path | str | None = None,
    check_level: CheckLevel = "all",
    max_revisions: int = MAX_REVISIONS,
    concurrency: int = CONCURRENCY,
    window: int | None = None,
    rpm: float | None = None,
    tpm: float | None = None,
    journal: Path | str | None = None,
    ledger: Ledger | None = None,
    prove: bool | Prover = False,
    against: Sequence[Path | str] = (),
    batch: bool = False,
) -> Iterator[Outcome]:
    """Run the loop on every section; yield one outcome each, in input order, as soon as it is there.

    `sections` are those of `corpus.read`, or any others, read lazily; one without sentences is segmented by the default
    splitter. Without a `chat` the embedded default (rules) plays all roles. With one, a model does by our prompts or
    those of `prompts`, a set or its folder; `generator` and `panel` replace either. At most `concurrency` calls are out
    at a time, `rpm` and `tpm` bound requests and tokens a minute, and `window` (twice `concurrency`) sections are under
    way. `journal` is a file that keeps every reply: what it holds is not asked again. `ledger` is kept up to date. With
    `prove` what the panel accepts is put to a reader (the chat's model, or rules without one), and what fails goes back
    to the generator; a `proof.Prover` says more exactly how. `against` are files of earlier pairs: what asks one of
    their questions, or one that was asked earlier in the same call, is rejected.

    With `batch` a model is asked in batch jobs, for less but within hours. It takes an OpenAIChat (one on a client of
    the openai package, Azure's included, is refused) and a `journal`; what is out is noted in JOURNAL.batches, so that
    the same call goes on where a killed one stopped. All sections, up to 50,000, advance together.

    The work is done in a thread of its own, so that it may be called where an event loop runs, and goes on only as far
    as outcomes are taken. Closing the iterator, or an exception in the loop over it, stops the work and frees all.

    An outcome says "failed" where the model gave no usable answer. Raises UsageError for a wrong call, here and now;
    CircuitError, after the outcomes that were under way, once going on is hopeless (a wrong key or model, a server that
    stays away): what they still lacked is "pending". With a journal the same call goes on from there.
    """
    options = {name: value for name, value in locals().items() if name != "sections"}
    work = _Work(**options)
    return _in_a_thread(lambda: work.stream(sections))


def agenerate(sections: Iterable[Section], **options: Any) -> AsyncIterator[Outcome]:
    """`generate` for asynchronous code, with the same options, in the running loop.

    Leave it early with `contextlib.aclosing`, or by `aclose()`, so that what is under way ends there and then.
    """
    return _Work(**options).stream(sections)


@dataclass
class _Work:
    """One call of `generate`: its options, checked and filled in at once."""

    chat: Chat | None = None
    generator: Generator | None = None
    panel: Sequence[Reviewer] | None = None
    prompts: PromptSet | Path | str | None = None
    check_level: CheckLevel = "all"
    max_revisions: int = MAX_REVISIONS
    concurrency: int = CONCURRENCY
    window: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    journal: Path | str | None = None
    ledger: Ledger | None = None
    prove: bool | Prover = False
    against: Sequence[Path | str] = ()
    batch: bool = False

    def __post_init__(self) -> None:
        if self.batch:
            self._refuse_no_batches()
        if self.chat is None and (self.prompts is not None or self.journal is not None):
            raise UsageError("prompts and journal are for a model: give chat=OpenAIChat(...) too, or leave them out.")
        self._refuse_wrong_values()
        if self.concurrency < 1 or (self.window is not None and self.window < 1):
            raise UsageError("concurrency and window must be 1 or more.")
        if isinstance(self.chat, OpenAIChat) and not self.batch:
            allow_connections(self.concurrency)
        if self.generator is None or self.panel is None:
            generator, panel = _rules() if self.chat is None else _models(self.prompts)
            self.generator = self.generator or generator
            self.panel = panel if self.panel is None else self.panel
        if self.prove is True:
            self.prove = _prover(self.chat, self.prompts)
        if isinstance(self.against, str | Path):
            raise UsageError("against takes a list of files.")
        self._novelty = Novelty([Path(path) for path in self.against]) if self.against else None
        if not self.panel:
            raise UsageError("The panel is empty: give at least one reviewer.")

    def _refuse_wrong_values(self) -> None:
        if self.chat is not None and not hasattr(self.chat, "identity"):
            raise UsageError(f"chat takes a Chat such as OpenAIChat(model, base_url), not {self.chat!r}.")
        if self.check_level not in get_args(CheckLevel):
            raise UsageError(f"check_level is one of {', '.join(get_args(CheckLevel))}, not {self.check_level!r}.")
        if self.max_revisions < 0:
            raise UsageError("max_revisions must be 0 or more.")
        if any(limit is not None and not 0 < limit < inf for limit in (self.rpm, self.tpm)):
            raise UsageError("rpm and tpm must be more than 0; leave them out for no limit.")

    def _refuse_no_batches(self) -> None:
        if not isinstance(self.chat, OpenAIChat) or self.journal is None:
            raise UsageError("batch needs chat=OpenAIChat(...) and a journal, which keeps what the jobs bring.")
        if self.rpm is not None or self.tpm is not None:
            raise UsageError("rpm and tpm limit live calls; leave them out with batch.")
        self.chat.refuse_batches()

    async def stream(self, sections: Iterable[Section]) -> AsyncIterator[Outcome]:
        assert self.generator is not None and self.panel is not None
        names = _name(self.generator, self.chat), _name(self.panel[0], self.chat)
        prover = self.prove or None
        assert prover is not True
        recipe = make_recipe(self.generator, self.panel, self.check_level, *names, prover)
        async with AsyncExitStack() as stack:
            chat, door = await self._connected(stack)
            running: Any = outcomes(
                (segment(section) for section in sections),
                self.generator,
                self.panel,
                chat=chat,
                check_level=self.check_level,
                max_revisions=self.max_revisions,
                prover=prover,
                window=self.window or (MOST_AT_ONCE if self.batch else 2 * self.concurrency),
                ledger=self.ledger,
                stop=lambda: door is not None and door.stopped is not None,
            )
            async for outcome in await stack.enter_async_context(aclosing(running)):
                yield replace(self._judged_new(outcome), recipe=recipe)
            if door is not None and door.stopped is not None:
                raise door.stopped

    def _judged_new(self, outcome: Outcome) -> Outcome:
        """The outcome, rejected if its question was asked before; the ledger follows."""
        judged = self._novelty.of(outcome) if self._novelty else outcome
        if judged.status != outcome.status and self.ledger is not None:
            self.ledger.counts.subtract([outcome.status])
            self.ledger.add(replace(judged, usage={}))
        return judged

    async def _connected(self, stack: AsyncExitStack) -> tuple[Chat | None, "Admission | BatchChat | None"]:
        """The chat behind admission, or batch jobs, and journal; one that holds an Admission is used as it is."""
        chat = self.chat
        if chat is None:
            return None, None
        if self.journal is None:
            return await self._admitted(stack, chat)
        journal, out = stack.enter_context(Journal(self.journal)), Path(f"{self.journal}.batches")
        door: Admission | BatchChat
        if self.batch:
            assert isinstance(chat, OpenAIChat)
            chat = door = await stack.enter_async_context(chat.in_batches(journal, out))
        else:
            refuse_open_batches(out, journal, "batch=True")
            chat, door = await self._admitted(stack, chat)
        return Journaled(chat, journal), door

    async def _admitted(self, stack: AsyncExitStack, chat: Chat) -> tuple[Chat, Admission]:
        if (admission := _admission_in(chat)) is not None:
            return chat, admission
        if isinstance(chat, OpenAIChat):
            # connections belong to an event loop, and it is Admission that asks again
            chat = await stack.enter_async_context(chat.apart(retries=0))
        admission = Admission(chat, self.concurrency, rpm=self.rpm, tpm=self.tpm)
        return admission, admission


def _rules() -> tuple[Generator, Sequence[Reviewer]]:
    from generation import rules  # brings spaCy

    return rules.RuleGenerator(), rules.panel()


def _models(prompts: PromptSet | Path | str | None) -> tuple[Generator, Sequence[Reviewer]]:
    if not isinstance(prompts, PromptSet):
        prompts = load_set(None if prompts is None else Path(prompts))
    return model_panel.from_prompts(prompts)


def _prover(chat: Chat | None, prompts: PromptSet | Path | str | None) -> Prover:
    from generation.proving.setup import Proving, prover_of

    if chat is None:
        return prover_of(Proving())
    if not isinstance(prompts, PromptSet):
        prompts = load_set(None if prompts is None else Path(prompts))
    return Prover(ModelReader(prompts.reader, f"model:{_model_of(chat)}"))


def _model_of(chat: Chat) -> str:
    return chat.model if isinstance(chat, OpenAIChat) else chat.identity


def _name(role: Generator | Reviewer, chat: Chat | None) -> str:
    """What rows say of who plays a role."""
    if chat is not None and hasattr(role, "prompt"):
        return f"model:{_model_of(chat)}"
    if type(role).__module__.startswith("generation.rule"):
        from generation import rules

        return f"rules:{rules.VERSION}"
    return f"own:{type(role).__name__}"


def _admission_in(chat: Any) -> Admission | None:
    while chat is not None and not isinstance(chat, Admission):
        chat = getattr(chat, "chat", None)
    return chat


def _in_a_thread(start: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
    """Draw from an asynchronous iterator whose event loop runs in a thread of its own until this one is closed."""
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, name="craqan generate", daemon=True)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    stream = start()

    def end() -> None:
        if loop.is_closed():
            return
        atexit.unregister(end)
        wait_for(_shut(stream))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(end)  # an iterator that is still held then is closed later, when its thread runs no more
    try:
        while (drawn := wait_for(_next(stream))) is not None:
            yield drawn[0]
    finally:
        end()


async def _next(stream: AsyncIterator[T]) -> tuple[T] | None:
    async for value in stream:
        return (value,)
    return None


async def _shut(stream: Any) -> None:
    """End what still runs in this loop (a Ctrl-C leaves the draw under way), then the stream."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await stream.aclose()

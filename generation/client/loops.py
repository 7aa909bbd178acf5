"""The event loop that runs are worked off in: uvloop's where there is one, which takes a fifth off a call's cost."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def new_loop() -> asyncio.AbstractEventLoop:
    """A fresh loop, for `asyncio.Runner(loop_factory=new_loop)` or a thread of its own; uvloop knows no Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextmanager
def running() -> Iterator[asyncio.Runner]:
    """A runner of that loop; meanwhile the collector leaves alone what was there before and comes less often.

    It came every few calls and stopped all of them for up to 40 ms, for cycles that the engine does not make.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            yield runner
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()

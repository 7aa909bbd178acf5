"""The event loop that runs are worked off in: uvloop's where there is one, which takes a fifth off a call's cost."""

import asyncio


def new_loop() -> asyncio.AbstractEventLoop:
    """A fresh loop, for `asyncio.Runner(loop_factory=new_loop)` or a thread of its own; uvloop knows no Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()

"""Ctrl-C from the first moment of the command to its last: exit code 130, no traceback, nothing lost.

One handler stays in force all the while, so that there is no moment at which Python's or the system's own would end the
process: not between two handlers, not while what was begun is put away, not when the interpreter shuts down.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

EXIT_CODE = 130
_SHOW_CURSOR = b"\x1b[?25h"  # a live line hides it

_listener: Callable[[], None] | None = None
_presses = 0
_is_leaving = False  # Ctrl-C ends the process there and then
_is_broken_off = False  # by a KeyboardInterrupt


def guarded(command: Callable[[], None]) -> None:
    """Run a whole command; Ctrl-C ends it with EXIT_CODE. For a process of its own, which keeps the handler.

    The first, if a listener has it, may let the work end well; after a second it never counts as done.
    """
    global _is_leaving
    try:
        _take_over()
        try:
            command()
        finally:
            _is_leaving = True
    except KeyboardInterrupt:
        sys.exit(EXIT_CODE)


def break_off() -> NoReturn:
    """Raise KeyboardInterrupt; from now on Ctrl-C does not wait for anything to be put away."""
    global _is_leaving, _is_broken_off
    _is_leaving = _is_broken_off = True
    raise KeyboardInterrupt


@contextmanager
def told_to(listener: Callable[[], None]) -> Iterator[None]:
    """Let `listener`, not KeyboardInterrupt, have Ctrl-C meanwhile; elsewhere than in the main thread nobody hears it.

    It is called between any two steps of the main thread, so it had better only schedule what is to be done.
    """
    global _listener, _presses, _is_leaving, _is_broken_off
    try:
        before = signal.signal(signal.SIGINT, _heard)
    except ValueError:  # not in the main thread, which Ctrl-C goes to
        yield
        return
    _listener = listener
    try:
        yield
    finally:
        _listener = None
        signal.signal(signal.SIGINT, before)
        if before is not _heard:
            _presses, _is_leaving, _is_broken_off = 0, False, False


def _take_over() -> None:
    if signal.getsignal(signal.SIGINT) is not _heard:
        atexit.register(_end)  # the first to be registered is the last to run
        signal.signal(signal.SIGINT, _heard)


def _heard(number: int, frame: FrameType | None) -> None:
    global _presses
    _presses += 1
    if _is_leaving:
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(2, _SHOW_CURSOR)
        os._exit(EXIT_CODE)  # what is on disk is enough to go on from, as after kill -9
    if _listener is None:
        break_off()
    _listener()


def _end() -> None:
    """The last that runs before the interpreter goes.

    It would put the system's handler back, though not in place of one that ignores. And it would end itself by the
    signal where a KeyboardInterrupt, caught or not, has passed through `exec`, which reading modules is full of.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _is_broken_off or _presses > 1:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        os._exit(EXIT_CODE)

"""Servers in processes of their own that start in a moment: forked from one that has read gradio and the rest.

Reading them takes a processor some seconds, for each of a dozen servers. That the commands themselves start is tested
in test_space_hosting and, with an account, in test_review.
"""

import importlib
import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_forks = multiprocessing.get_context("forkserver")


class Warm:
    """`python -m MODULE ARGUMENTS` in the checkout's folder, its output at the end of `log`.

    The environment has GRADIO_SERVER_PORT; what the libraries read of it on import is the pytest process's.
    """

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        _forks.set_forkserver_preload(["app", "generation.cli", "generation.review.serve", "tests.browser.serve"])
        self._process = _forks.Process(target=_run, args=(module, list(arguments), dict(environment), log))
        self._process.start()

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        """Kill -9, and wait until it is gone."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """Ask it to end; if it does not, kill it."""
        self._process.terminate()
        self._process.join(30)
        self.kill()


def _run(module: str, arguments: list[str], environment: dict[str, str], log: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # multiprocessing ignores Ctrl-C in the process it forks
    with log.open("a") as output:
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    import gradio.http_server

    importlib.reload(gradio.http_server)  # has read the port from the environment
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)

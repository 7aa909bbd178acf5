"""Generate and Stop in the browser: a run begins when all is over that gradio has to tell of the one before.

gradio tells the end of a stopped run twice as `failure`, and not of which run: when the run's stream ends, for want of
data, and when what `cancels` sends is answered. Before both, a press on Generate comes to nothing, or its run is taken
for the one that failed and can be stopped no more. `cancels` itself is sent when the listeners before it are through,
and ends nothing while the run's number is not known yet. So a press waits in the browser for what was before it, and
generate.js counts the ends. None of this asks the server, whose queue may be full.
"""

import json
from typing import Any

import gradio as gr

from space.telling import notice

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
BROKEN = notice("This page is too busy, or something broke on its side: try again in a minute.", "error")
STOPPED = notice("Stopped. Nothing was kept.")
# generate.js writes the place in the queue into it, and takes the dots for "not in the queue yet"
WAITING = '<div class="notice waiting" role="status"><b>Waiting for a turn …</b></div>'
BEGIN = "window.craqanRun.begin()"


def wait(status: gr.HTML, start: gr.Button, stop: gr.Button) -> None:
    """What the page shows until the run begins; call before the run is wired to `start`."""
    start.click(None, None, [status, start, stop], js=f"() => {_shown(WAITING, False, True)}", **QUIET)


def end(running: Any, status: gr.HTML, start: gr.Button, stop: gr.Button) -> None:
    """What the page shows when the run has ended by itself, has failed, or is stopped."""
    buttons = [status, start, stop]
    running.success(None, None, buttons, js=_if("ended()", _shown(None, True, False)), **QUIET)
    running.failure(None, None, buttons, js=_if("ended()", _shown(BROKEN, True, False)), **QUIET)
    stop.click(None, None, stop, js=f"() => [{_button(False)}]", **QUIET)
    stop.click(None, None, None, js="() => window.craqanRun.stop()", cancels=[running], **QUIET)
    stop.click(None, None, buttons, js=_if("stopped()", _shown(STOPPED, True, False)), **QUIET)


def _if(asked: str, shown: str) -> str:
    return f"async () => await window.craqanRun.{asked} ? {shown} : {_shown(None)}"


def _shown(words: str | None, can_start: bool | None = None, can_stop: bool | None = None) -> str:
    """What a listener in the browser returns for status and buttons; None leaves what is there."""
    status = '{"__type__": "update"}' if words is None else json.dumps(words)
    return f"[{status}, {_button(can_start)}, {_button(can_stop)}]"


def _button(is_on: bool | None) -> str:
    return json.dumps({"__type__": "update"} | ({} if is_on is None else {"interactive": is_on}))

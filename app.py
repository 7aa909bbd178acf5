"""The Space: browse the released questions, and generate some from a text of your own."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

# gradio reads these when it is imported: nothing is counted, reported or looked up elsewhere.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
from space import hosting

if __name__ == "__main__":
    hosting.check_or_exit()

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from craqan import DataError
from generation import __version__
from generation.errors import CraqanError
from generation.review import keeping
from space import api, browse, calls, evaluate, generate, theme
from space import review as people
from space.cutting import Bench
from space.door import Door
from space.shelf import DATA, Shelf, load_shelf

MASTHEAD = """<header class="masthead"><h1>CRaQAn</h1>
<p>Questions that no single sentence answers: each needs two or three, tied together by a word such as “it” or
“the Act”.</p></header>"""


def build_demo(
    shelf: Shelf | None = None, review: Path | None = None, keep_review: Callable[[], None] = lambda: None
) -> gr.Blocks:
    """The page, not yet launched.

    `shelf` holds the rows to browse, by default those of data/; `review` is the file of a review by people, if there is
    one to take part in, and `keep_review` is called after each change of it.
    """
    shelf = shelf or load_shelf()
    bench = Bench(shelf)
    with gr.Blocks(
        title="CRaQAn",
        analytics_enabled=False,
        delete_cache=(3600, 3600),  # seconds: look every hour, drop what is older than one
    ) as demo:
        gr.HTML(MASTHEAD, apply_default_css=False)
        with gr.Tabs():
            with gr.Tab("Browse", id="browse"):
                _heading("Browse")
                browse.build(shelf)
            with gr.Tab("Generate", id="generate"):
                _heading("Generate")
                generate.build(review, keep_review)
            with gr.Tab("Review", id="review") as tab:
                _heading("Review")
                people.build(tab, review, keep_review)
            with gr.Tab("Evaluate", id="evaluate") as tab:
                _heading("Evaluate")
                evaluate.build(tab, bench)
        api.build(shelf, bench)
    calls.guard(demo)
    return demo


def _heading(tab: str) -> None:
    """The tab's name for those who go from heading to heading; the eye has it in the row of tabs."""
    gr.HTML(f"<h2>{tab}</h2>", elem_classes="sr", apply_default_css=False)


def launch(demo: gr.Blocks) -> None:
    """Serve the page, GET /health and the endpoints, which are tools for MCP too.

    Host and port come from gradio's own GRADIO_SERVER_NAME and GRADIO_SERVER_PORT.
    """
    demo.queue(max_size=64, default_concurrency_limit=8, api_open=False).launch(
        **theme.look(),
        ssr_mode=False,
        mcp_server=True,
        app_kwargs={
            "routes": [Route("/health", _health)],  # routes of gradio's own come after and would take it
            "middleware": [Middleware(Door)],
            "exception_handlers": calls.HANDLERS,
        },
        state_session_capacity=128,  # each takes some 200 kB, and is kept for an hour after its visitor has left
        run_history=False,  # what visitors paste stays out of browser storage
        footer_links=["api"],
        max_file_size="1mb",
        share=False,
        show_error=False,
        quiet=True,
        prevent_thread_lock=True,
    )
    api.answer_mcp_in_json(demo)
    print(f"{demo.local_url} (end with Ctrl-C)", flush=True)
    demo.block_thread()


async def _health(request: Request) -> JSONResponse:
    """Answers as long as the server does; touches neither data nor queue."""
    return JSONResponse({"status": "ok", "version": __version__})


def main() -> None:
    """The page as a Space runs it, with the review that the environment names, if it does.

    What keeps it from starting is said in one sentence on stderr, with exit status 2.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # a Space that is stopped still sends its last votes
    try:
        review, keep_review = keeping.from_environment()
        shelf = load_shelf()
        if not shelf.rows:
            print(f"There are no rows in {DATA}: Browse and Evaluate are empty.", file=sys.stderr)
        launch(build_demo(shelf, review, keep_review))
    except (CraqanError, DataError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

"""The command line's options that several commands share: how a model is reached, and how much it may be asked."""

from pathlib import Path
from typing import Annotated

import typer

BaseUrl = Annotated[
    str, typer.Option(help="An OpenAI-compatible server, as http://HOST:PORT/v1.", show_default="OpenAI")
]
Prompts = Annotated[
    Path | None,
    typer.Option(help="A folder of your own prompts: generator.md, reviewers/, ...", show_default="prompts/"),
]
Concurrency = Annotated[int, typer.Option(min=1, help="Most calls to the model at a time.")]
Rpm = Annotated[float | None, typer.Option(min=0.01, help="Most requests a minute.", show_default="no limit")]
Tpm = Annotated[float | None, typer.Option(min=0.01, help="Most tokens a minute.", show_default="no limit")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for one reply.")]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Stop when this is spent.", show_default="no limit")]
Prices = Annotated[
    str | None,
    typer.Option(
        help="US dollars per million tokens: prompt,completion[,cached].",
        show_default="genai-prices' list",
    ),
]

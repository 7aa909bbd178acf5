"""`craqan evaluate`: chunkers, retrievers and readers on a set, from the command line."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from generation.running import options

progress = Console(stderr=True)


def evaluate(
    data: Annotated[str, typer.Argument(help="A folder of the dataset, a file of questions, or ORG/NAME on the Hub.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="runs/NAME-evaluation")
    ] = None,
    chunkers: Annotated[
        str, typer.Option(help='Chunkers, parted by commas, the first compared with; "" for none.')
    ] = "sentences:1,sentences:3,tokens:100,recursive:200,sections",
    retrievers: Annotated[
        str, typer.Option(help="bm25, dense, hybrid, qdrant; :EMBEDDER, then +monot5 or +cross-encoder may follow.")
    ] = "bm25",
    readers: Annotated[
        str, typer.Option(help="extractive, visconde[:static|dynamic|zero][:whole]", show_default="none")
    ] = "",
    k: Annotated[str, typer.Option(help="Numbers of chunks retrieved, parted by commas.")] = "1,5,20",
    split: Annotated[str, typer.Option(help="One split of the set.", show_default="all")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="So many questions, by chance.", show_default="all")] = None,
    seed: Annotated[int, typer.Option(help="Seed for that chance.")] = 0,
    reader_k: Annotated[int, typer.Option(min=1, help="Chunks a reader is shown for each (sub-)question.")] = 5,
    reader_limit: Annotated[
        int | None, typer.Option(min=1, help="Read so many questions, by chance.", show_default="all")
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="The budget of words at which chunkers are compared.")] = 400,
    model: Annotated[str, typer.Option(help="Who reads as visconde.", show_default="none")] = "",
    base_url: options.BaseUrl = "",
    prompts: options.Prompts = None,
    examples: Annotated[
        str, typer.Option(help="Worked examples: a set, or SET#SPLIT.", show_default="the train split, else DATA")
    ] = "",
    cache: Annotated[Path | None, typer.Option(help="Where embeddings are kept.", show_default="OUT/cache")] = None,
    embeddings_url: Annotated[
        str, typer.Option(help="The server of openai/MODEL embedders.", show_default="OpenAI")
    ] = "",
    qdrant: Annotated[str, typer.Option(help="A Qdrant server's address.", show_default="a folder in the cache")] = "",
    concurrency: options.Concurrency = 16,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = 60.0,
    max_usd: options.MaxUsd = None,
    prices: options.Prices = None,
) -> None:
    """Measure which chunkers, retrievers and readers keep the coreference chain whole.

    Writes results.json, table.md, plots and the figures of each question. The same command again goes on where the last
    one stopped. A model's key comes from OPENAI_API_KEY or HF_TOKEN.
    """
    from evaluation.harness import Options, default_folder, numbers, several
    from evaluation.harness import evaluate as run
    from generation.running.budget import from_flag
    from generation.running.session import Limits
    from generation.running.show import harmless

    folder = out or default_folder(data)
    limits = Limits(concurrency, rpm, tpm, timeout, None, None, max_usd, from_flag(prices))
    asked = {"split": split, "limit": limit, "seed": seed, "model": model, "base_url": base_url, "prompts": prompts}
    read = {"reader_k": reader_k, "reader_limit": reader_limit, "words": words, "examples": examples}
    where = {"cache": cache, "embeddings_url": embeddings_url, "qdrant_url": qdrant}
    options = Options(**asked, **read, **where, limits=limits)  # type: ignore[arg-type]
    results = run(
        data,
        several(chunkers),
        several(retrievers) if several(chunkers) else (),
        several(readers),
        numbers(k),
        out=folder,
        options=options,
        say=lambda text: progress.print(harmless(text), markup=False, highlight=False, soft_wrap=True),
    )
    print(results.markdown())
    progress.print(f"Files: {folder}/results.json, table.md, plots/, rows/", markup=False, soft_wrap=True)
    if results.stopped is not None:
        raise results.stopped
    if any(cell.failed and not cell.rows for cell in results.cells):
        raise typer.Exit(1)

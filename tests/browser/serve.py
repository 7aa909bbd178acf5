"""Serves the app on the six rows of tests/space_rows.py, with a review open and a Wikipedia of one article.

The port comes from GRADIO_SERVER_PORT, the folder for the review from HF_HOME.
"""

import json
import os
from pathlib import Path

import app
from generation.articles import wikipedia
from space.shelf import Shelf
from tests import review_files
from tests.model_server import Canned, ModelServer, failing
from tests.space_rows import ROWS
from tests.test_wikipedia import PAGE

HTML = (
    "<html><body><p>The Harbor Act was signed by Ellen Marsh in 1948. It created the Pilotage Board in 1949. Nobody "
    "has repealed it.</p></body></html>"
)
ARTICLE, MISSING = Canned(body=json.dumps({**PAGE, "html": HTML})), failing(404, "none")


def main() -> None:
    review = review_files.start(Path(os.environ["HF_HOME"]))
    with ModelServer(lambda _: ARTICLE if "Harbor" in mediawiki.calls[-1].path else MISSING) as mediawiki:
        wikipedia.BASE = mediawiki.url
        app.launch(app.build_demo(Shelf(ROWS), review.path))


if __name__ == "__main__":
    main()

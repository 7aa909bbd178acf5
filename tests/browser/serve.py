"""Serves the app on the six rows of tests/space_rows.py; the port comes from GRADIO_SERVER_PORT."""

import app
from space.shelf import Shelf
from tests.space_rows import ROWS

app.launch(app.build_demo(Shelf(ROWS)))

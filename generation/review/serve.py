"""The page with one review's tab, on this machine."""

import os
from pathlib import Path

from generation.errors import UsageError
from generation.review.store import Store


def serve(path: Path, port: int) -> None:
    """Serve until stopped. Raises UsageError without the page's libraries, ReviewError if the file is none."""
    Store(path)
    os.environ.setdefault("GRADIO_SERVER_NAME", "127.0.0.1")
    os.environ["GRADIO_SERVER_PORT"] = str(port)
    try:
        from space import hosting

        hosting.check_environment()  # gradio reads it when it is imported, by app
        import app
    except ImportError as error:
        raise UsageError(f"The page needs {error.name}: pip install 'craqan[space]'.") from error
    app.launch(app.build_demo(review=path))

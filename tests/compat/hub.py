"""A release, published to a Hub on this machine, loads by its tag under each version of `datasets`.

    python -m tests.compat.hub 5.2.0 3.6.0    in the environments that run.sh makes

Makes a release of the tests' drafts, publishes it by the command, and has each version compare every config and split,
streaming and not, with the release's own files.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from generation import release
from generation.releases.assemble import assemble
from tests.dataset_files import DRAFTS, LEAVE, ROOT
from tests.hub import Hub
from tests.hub_client import REPO, environment, publish_alone

LOAD = """
import sys
from pathlib import Path
import datasets
from pyarrow import parquet

datasets.disable_progress_bars()
repo, revision, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
count = 0
for config in sorted(path.name for path in (folder / "data").iterdir() if list(path.glob("*.parquet"))):
    files = (folder / "data" / config).glob("*.parquet")
    expected = {file.name.split("-")[0]: parquet.read_table(file).to_pylist() for file in files}
    for streaming in (False, True):
        loaded = datasets.load_dataset(repo, config, revision=revision, streaming=streaming)
        assert {split: list(rows) for split, rows in loaded.items()} == expected, (config, streaming)
    count += sum(map(len, expected.values()))
print(f"datasets {datasets.__version__}: {count} rows of {repo} at {revision}, streaming and not")
"""


def main(versions: list[str]) -> int:
    with tempfile.TemporaryDirectory() as work, Hub() as hub:
        folder = Path(work)
        assemble(DRAFTS, folder / "data", seed=0)
        release.make(folder / "data", "1.0.0", folder / "1.0.0")
        published = publish_alone(hub, folder / "1.0.0", home=folder / "maker")
        if published.returncode:
            print(published.stderr, file=sys.stderr)
            return 1
        for version in versions:
            python = ROOT / f".venv-datasets-{version}" / "bin" / "python"
            command = [str(python), "-c", LOAD + LEAVE, REPO, "v1.0.0", str(folder / "1.0.0")]
            alone = {**environment(hub, folder / version, token=""), "PYTHONPATH": ""}
            if code := subprocess.run(command, env=alone).returncode:
                return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

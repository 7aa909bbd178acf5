"""Runs in an environment that holds one version of `datasets`: craqan.py as a module, as a script, and its README.

    python check.py CHECKOUT    a folder not named craqan, with craqan.py, README.md and data/

Prints what was compared; fails on the first difference. Uses nothing of the project but craqan.py.
"""

import json
import sys
from pathlib import Path

import datasets

CHECKOUT = Path(sys.argv[1]).resolve()
CONFIGS = ("default", "articles", "provenance", "rejected", "v1")
HAS_SCRIPTS = int(datasets.__version__.split(".")[0]) < 4


def rows_on_disk(config: str) -> dict[str, list[dict]]:
    """{split: rows}, read by nothing but json."""
    files = sorted((CHECKOUT / "data" / config).glob("*.jsonl"))
    return {f.stem: [json.loads(line) for line in f.open(encoding="utf-8")] for f in files}


def compare(way: str, config: str, found: dict, features: object) -> None:
    """Every split, row, column and type of `found` is what the files hold."""
    expected = rows_on_disk(config)
    assert set(found) == set(expected), (way, config, set(found), set(expected))
    for split, rows in found.items():
        assert [dict(row) for row in rows] == expected[split], (way, config, split)
        assert rows.features == features, (way, config, split, rows.features)
    print(f"  {way:<34} {config:<11} {sum(map(len, expected.values())):>4} rows")


def check_module(config: str) -> None:
    import craqan

    assert Path(craqan.__file__).parent == CHECKOUT
    compare("module", config, craqan.load(config), craqan.FEATURES[config])
    compare("module, streaming", config, craqan.load(config, streaming=True), craqan.FEATURES[config])


def check_readme(config: str) -> None:
    import craqan

    compare("load_dataset(folder)", config, datasets.load_dataset(str(CHECKOUT), config), craqan.FEATURES[config])
    streamed = datasets.load_dataset(str(CHECKOUT), config, streaming=True)
    compare("load_dataset(folder), streaming", config, streamed, craqan.FEATURES[config])


def check_script(config: str) -> None:
    import craqan

    script = str(CHECKOUT / "craqan.py")
    if not HAS_SCRIPTS:
        try:
            datasets.load_dataset(script, config)
        except RuntimeError as error:
            assert "no longer supported" in str(error)
            return
        raise AssertionError("datasets runs scripts again")
    loaded = datasets.load_dataset(script, config, trust_remote_code=True)
    compare("script", config, loaded, craqan.FEATURES[config])
    streamed = datasets.load_dataset(script, config, trust_remote_code=True, streaming=True)
    compare("script, streaming", config, streamed, craqan.FEATURES[config])


def check_edits_are_seen() -> None:
    """An edited file is read afresh, by the module and (where scripts exist) by the script."""
    import craqan

    path = next((CHECKOUT / "data" / "default").glob("*.jsonl"))
    before = path.read_text(encoding="utf-8")
    row = json.loads(before.split("\n")[0])
    path.write_text(json.dumps({**row, "answer": "edited"}) + "\n", encoding="utf-8")
    try:
        assert craqan.load(split=path.stem)[0]["answer"] == "edited"
        if HAS_SCRIPTS:
            script = str(CHECKOUT / "craqan.py")
            assert datasets.load_dataset(script, split=path.stem, trust_remote_code=True)[0]["answer"] == "edited"
        path.write_text(json.dumps({**row, "extra": 1}) + "\n", encoding="utf-8")
        try:
            craqan.load(split=path.stem)
        except craqan.DataError as error:
            assert 'column "extra" is not in the schema' in str(error)
        else:
            raise AssertionError("a column too many went through")
    finally:
        path.write_text(before, encoding="utf-8")


if __name__ == "__main__":
    print(f"datasets {datasets.__version__}, Python {sys.version.split()[0]}")
    datasets.disable_progress_bars()
    sys.path.insert(0, str(CHECKOUT))
    for name in CONFIGS:
        if rows_on_disk(name):
            check_module(name)
            check_script(name)
            check_readme(name)
    check_edits_are_seen()
    print("  edited data and columns too many are seen")

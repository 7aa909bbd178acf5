"""The YAML front matter of README.md, made from craqan.py and data/; the text below it is never touched.

    python -m generation.releases.card            bring README.md of this checkout up to date
    python -m generation.releases.card --check    exit with 1 if it is not

One front matter serves the dataset's page (configs, dataset_info) and the Space's (title, sdk, app_file ...).
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation.errors import InputError, UsageError

ROOT = Path(__file__).resolve().parents[2]

_SPACE = {
    "title": "CRaQAn",
    "emoji": "🔗",
    "colorFrom": "blue",
    "colorTo": "yellow",
    "sdk": "gradio",
    "sdk_version": "6.31.0",
    "python_version": "3.11",
    "app_file": "app.py",
    "short_description": "Questions that need coreference resolution",
}
_DATASET = {
    "pretty_name": "CRaQAn",
    "language": ["en"],
    "task_categories": ["question-answering"],
    "annotations_creators": ["machine-generated"],
    "source_datasets": ["original"],
    "tags": ["coreference-resolution", "chunking", "information-retrieval", "law"],
}
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def front_matter(data_dir: Path) -> str:
    """The whole block, `---` lines included. Raises UsageError if the folder holds no data."""
    import yaml

    import craqan

    counts = {config: _splits(data_dir, config) for config in craqan.CONFIGS}
    counts = {config: splits for config, splits in counts.items() if splits}
    if "default" not in counts:
        raise UsageError(f"{data_dir}/default holds no data to describe.")
    total = sum(split["num_examples"] for split in counts["default"])
    fields = {
        **_SPACE,
        "license": craqan.LICENSE,
        **_DATASET,
        "size_categories": [next(name for limit, name in _SIZES.items() if total < limit)],
        "configs": [_config(data_dir, config) for config in counts],
        "dataset_info": [_info(config, splits) for config, splits in counts.items()],
    }
    return f"---\n{yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)}---\n"


def update(readme: Path, data_dir: Path, *, write: bool = True) -> bool:
    """Whether the front matter was out of date; with `write` it no longer is. Raises InputError if there is none."""
    text = readme.read_text(encoding="utf-8") if readme.exists() else "---\n---\n\n# CRaQAn\n"
    if not _FRONT_MATTER.match(text):
        raise InputError(f"{readme} does not begin with a front matter: put two lines of --- at its top.")
    new = front_matter(data_dir) + _FRONT_MATTER.sub("", text)
    if write and new != text:
        part = readme.with_suffix(".md.part")
        part.write_text(new, encoding="utf-8", newline="\n")
        part.replace(readme)
    return new != text


def main(arguments: list[str]) -> int:
    """0 if README.md is, or now is, up to date; 1 if --check finds that it is not."""
    check = arguments == ["--check"]
    if arguments and not check:
        raise UsageError("Usage: python -m generation.releases.card [--check]")
    changed = update(ROOT / "README.md", ROOT / "data", write=not check)
    is_stale = changed and check
    print(f"README.md {'is out of date: run python -m generation.releases.card' if is_stale else 'is up to date'}.")
    return int(changed and check)


def _splits(data_dir: Path, config: str) -> list[dict[str, Any]]:
    import craqan

    return [
        {
            "name": split,
            "num_bytes": sum(Path(path).stat().st_size for path in paths),
            "num_examples": sum(1 for path in paths for _ in craqan.read_rows(path, config)),
        }
        for split, paths in craqan.local_files(data_dir, config).items()
    ]


def _config(data_dir: Path, config: str) -> dict[str, Any]:
    import craqan

    files = [
        {"split": split, "path": paths[0] if len(paths) == 1 else paths}
        for split, found in craqan.local_files(data_dir, config).items()
        for paths in [[f"data/{Path(path).relative_to(data_dir).as_posix()}" for path in found]]
    ]
    return {"config_name": config, **({"default": True} if config == "default" else {}), "data_files": files}


def _info(config: str, splits: list[dict[str, Any]]) -> dict[str, Any]:
    import craqan

    size = sum(split["num_bytes"] for split in splits)
    return {
        "config_name": config,
        "features": _fields(craqan.FEATURES[config]),
        "splits": splits,
        "download_size": size,
        "dataset_size": size,
    }


def _fields(features: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, **_type(feature)} for name, feature in features.items()]


def _type(feature: Any) -> dict[str, Any]:
    """`sequence` for lists of values is what datasets 2.21 to 5.2 all read as the type that craqan.py declares."""
    import craqan

    if isinstance(feature, Mapping):
        return {"struct": _fields(feature)}
    if isinstance(feature, craqan.Value):
        return {"dtype": feature.dtype}
    inner = feature[0] if isinstance(feature, list) else feature.feature
    return {"list": _fields(inner)} if isinstance(inner, Mapping) else {"sequence": inner.dtype}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

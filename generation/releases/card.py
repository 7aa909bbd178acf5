"""What README.md and DATASHEET.md say of the data, made from craqan.py and data/; people's own words stay.

    python -m generation.releases.card            bring README.md and DATASHEET.md of this checkout up to date
    python -m generation.releases.card --check    exit with 1 if one is not

Made are the YAML front matter and the blocks (see `blocks`). In the checkout one front matter serves the dataset's page
(configs, dataset_info) and the Space's (title, sdk, app_file ...); in a release it is the dataset's alone.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation import dataset
from generation.errors import InputError, UsageError
from generation.releases import plots
from generation.releases.pool import SPLIT_CONFIGS

ROOT = Path(__file__).resolve().parents[2]

SPACE = {
    "title": "CRaQAn",
    "emoji": "🔗",
    "colorFrom": "blue",
    "colorTo": "yellow",
    "sdk": "gradio",
    "sdk_version": "6.31.0",
    "python_version": "3.11",
    "app_file": "app.py",
    "hf_oauth": True,
    "hf_oauth_scopes": ["inference-api"],
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
    """The checkout's, `---` lines included. Raises UsageError if the folder holds no data."""
    import craqan

    return as_yaml({**SPACE, "license": craqan.LICENSE, **_DATASET, **_measured(data_dir)})


def release_front_matter(data_dir: Path, licence: str, text: str, people: bool) -> str:
    """A release's: what `text` (an earlier card) has of its own, and what is made from the data.

    `people` says that people judged pairs. Raises InputError if the earlier front matter is no YAML mapping.
    """
    import yaml

    match = _FRONT_MATTER.match(text)
    try:
        own = yaml.safe_load(match[0].strip("-\n")) if match else {}
    except yaml.YAMLError as error:
        raise InputError(f"The front matter of the card is no YAML: {error}.") from error
    if not isinstance(own, dict | None):
        raise InputError("The front matter of the card should hold keys and values.")
    kept = {name: value for name, value in (own or {}).items() if name not in SPACE}
    made = {"license": licence, **_measured(data_dir)}
    if people:
        made["annotations_creators"] = ["machine-generated", "expert-generated"]
    return as_yaml({**_DATASET, "tags": _DATASET["tags"][:-1], **kept, **made})


def as_yaml(fields: Mapping[str, Any]) -> str:
    """A front matter, `---` lines included."""
    import yaml

    lines = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return f"---\n{lines}---\n"


def body(text: str) -> str:
    """A card without its front matter."""
    return _FRONT_MATTER.sub("", text)


def _measured(data_dir: Path) -> dict[str, Any]:
    """The keys that follow from the data."""
    import craqan

    counts = {config: _splits(data_dir, config) for config in craqan.CONFIGS}
    counts = {config: splits for config, splits in counts.items() if splits}
    if "default" not in counts:
        raise UsageError(f"{data_dir}/default holds no data to describe.")
    total = sum(split["num_examples"] for split in counts["default"])
    of_pairs = _fields(craqan.FEATURES["default"])  # one object, which YAML writes once for all configs that have it
    return {
        "size_categories": [next(name for limit, name in _SIZES.items() if total < limit)],
        "configs": [_config(data_dir, config) for config in counts],
        "dataset_info": [
            _info(config, splits, of_pairs if config in SPLIT_CONFIGS else _fields(craqan.FEATURES[config]))
            for config, splits in counts.items()
        ],
    }


def update(readme: Path, data_dir: Path, *, write: bool = True) -> bool:
    """Whether README.md or a DATASHEET.md beside it was out of date; with `write` they no longer are.

    Raises InputError if README.md has no front matter, or a block of either that nobody makes.
    """
    import craqan
    from generation.files import write_whole
    from generation.releases import blocks, figures, page

    text = readme.read_text(encoding="utf-8") if readme.exists() else "---\n---\n\n# CRaQAn\n"
    if not _FRONT_MATTER.match(text):
        raise InputError(f"{readme} does not begin with a front matter: put two lines of --- at its top.")
    counted = figures.count(dataset.rows_of(data_dir))
    drawn = sorted(path.stem for path in (data_dir / plots.FOLDER).glob("*.png"))
    measured = readme.with_name("docs") / "results" / "summary.md"  # `python -m benchmarks.evaluation` writes it
    made = page.blocks(
        counted,
        licence=craqan.LICENSE,
        pictures=drawn,
        picture_folder=f"{data_dir.name}/{plots.FOLDER}",
        evaluation=measured.read_text(encoding="utf-8") if measured.exists() else "",
    )
    new = {readme: front_matter(data_dir) + blocks.fill(body(text), made, str(readme))}
    datasheet = readme.with_name("DATASHEET.md")
    if datasheet.exists():
        new[datasheet] = blocks.fill(datasheet.read_text(encoding="utf-8"), made, str(datasheet))
    stale = [path for path, content in new.items() if not path.exists() or path.read_text(encoding="utf-8") != content]
    for path in stale if write else ():
        write_whole(path, new[path])
    return bool(stale)


def main(arguments: list[str]) -> int:
    """0 if both are, or now are, up to date; 1 if --check finds that one is not."""
    check = arguments == ["--check"]
    if arguments and not check:
        raise UsageError("Usage: python -m generation.releases.card [--check]")
    if not check:
        from generation.releases import figures

        plots.draw(figures.count(dataset.rows_of(ROOT / "data")), ROOT / "data" / plots.FOLDER)
    is_stale = update(ROOT / "README.md", ROOT / "data", write=not check) and check
    state = "are out of date: run python -m generation.releases.card" if is_stale else "are up to date"
    print(f"README.md and DATASHEET.md {state}.")
    return int(is_stale)


def _splits(data_dir: Path, config: str) -> list[dict[str, Any]]:
    import craqan

    return [
        {
            "name": split,
            "num_bytes": sum(Path(path).stat().st_size for path in paths),
            "num_examples": sum(1 for path in paths for _ in dataset.read_file(Path(path), config)),
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


def _info(config: str, splits: list[dict[str, Any]], fields: list[dict[str, Any]]) -> dict[str, Any]:
    size = sum(split["num_bytes"] for split in splits)
    return {
        "config_name": config,
        "features": fields,
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

"""The Space of a release: the page's code with the rows of one tag, in a repository of its own."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from generation.errors import UsageError
from generation.releases import card
from generation.releases.hub import Repo

_CODE = ("generation", "evaluation", "prompts", "space", "examples")
_FILES = ("app.py", "requirements.txt", "LICENSE")
_BODY = """
# CRaQAn

Questions that no single sentence answers. The rows are those of [{repo}](https://huggingface.co/datasets/{repo}) at
`{tag}`; this Space does not follow later releases by itself.
"""


def bring(
    name: str, release: Path, repo: str, tag: str, *, private: bool, dry_run: bool, say: Callable[[str], None]
) -> None:
    """Make the Space `name` if needed and bring it to `tag` of the dataset `repo`, rows included, in one commit.

    A Space of a private dataset is made private. Raises UsageError outside a checkout, PublishError as Repo does.
    """
    from generation.publish import show

    space = Repo(name, "space")
    with tempfile.TemporaryDirectory() as folder:
        content = _content(release, repo, tag, Path(folder))
        head = space.head()
        if dry_run:
            change = space.difference(content, head)
            say(f"The Space {name} {'is at ' + head if head else 'would be made'}; for {tag} it would be:")
            show(space, content, change, say, head)
            return
        if not head:
            space.create(private)
            head = space.head()
        change = space.difference(content, head)
        if not change.is_empty:
            space.commit(content, change, head, f"Show {repo} {tag}")
    space.set_variables({"CRAQAN_DATASET": repo, "CRAQAN_REVISION": tag})
    say(f"The Space {name} {'shows' if change.is_empty else 'now shows'} {repo} at {tag}.")


def _content(release: Path, repo: str, tag: str, folder: Path) -> dict[str, Path]:
    if missing := [name for name in (*_FILES, *_CODE) if not (card.ROOT / name).exists()]:
        raise UsageError(f"A Space is published from a checkout of the project; {missing[0]} is not here.")
    content = {name: card.ROOT / name for name in _FILES}
    for name in _CODE:
        for path in sorted((card.ROOT / name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content[path.relative_to(card.ROOT).as_posix()] = path
    content["craqan.py"] = release / "craqan.py"
    for path in sorted((release / "data").rglob("*.parquet")):
        content[path.relative_to(release).as_posix()] = path
    readme = folder / "README.md"
    readme.write_text(_readme(release, repo, tag), encoding="utf-8", newline="\n")
    return {**content, "README.md": readme}


def _readme(release: Path, repo: str, tag: str) -> str:
    from generation.releases import files

    licence = files.read_manifest(release)["licence"]
    return card.as_yaml({**card.SPACE, "license": licence, "datasets": [repo]}) + _BODY.format(repo=repo, tag=tag)

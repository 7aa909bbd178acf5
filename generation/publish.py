"""A release -> the Hugging Face Hub: one commit and a tag, read back and compared; then the Space.

    from generation.publish import publish

    publish("releases/1.1.0", "ORG/NAME", dry_run=True)

Every step looks first at what is there, so that the same call finishes what was cut off, and does nothing when all is
done. A tag is never moved, and a repository that somebody else changes meanwhile is left to them.
"""

import difflib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from generation import dataset
from generation.errors import PublishError, UsageError
from generation.releases import files
from generation.releases.hub import Difference, Repo, newest, numbers, quiet

Say = Callable[[str], None]


class Published(NamedTuple):
    """The tag and its commit; "" where a dry run or a pull request has set none. `change` is what was to be done."""

    repo: str
    tag: str
    commit: str
    change: Difference
    pull_request: str = ""


def publish(
    folder: Path | str,
    repo: str,
    *,
    private: bool = False,
    dry_run: bool = False,
    create_pr: bool = False,
    space: str = "",
    say: Say = lambda line: None,
) -> Published:
    """Bring the dataset `repo` to the release in `folder`, tag it, read it back, then bring `space` to it.

    `private` makes a new repository private, and insists that an old one is. `say` is told each step. Raises UsageError
    for a name that cannot be, InputError for a folder that is no whole release, PublishError for all that the Hub
    does not allow, or holds otherwise: another content under the tag, a newer version, somebody else's commit.
    """
    release = Path(folder)
    about = files.verify(release)
    _refuse_name(repo, release)
    if space and create_pr:
        raise UsageError("A Space follows a tag, which a pull request has not: leave out --space or --create-pr.")
    tag = f"v{about['version']}"
    content = _content(release)
    with quiet():
        done = _bring(Repo(repo), content, tag, private, dry_run, create_pr, say)
        if done.commit and not dry_run:
            _read_back(Repo(repo), release, tag)
            say(f"Read back: {repo} at {tag} holds what {release} holds.")
        if space:
            from generation.releases import space as spaces

            spaces.bring(space, release, repo, tag, private=private, dry_run=dry_run, say=say)
    return done


def show(repo: Repo, content: dict[str, Path], change: Difference, say: Say, revision: str) -> None:
    """Tell the exact difference: every path with its sizes, and what changes in texts."""
    there = repo.files(revision) if revision else {}
    for sign, paths in (("+", change.added), ("~", change.changed), ("-", change.removed)):
        for path in paths:
            sizes = [str(there[path][1])] if path in there else []
            sizes += [str(content[path].stat().st_size)] if path in content else []
            say(f"{sign} {path} ({' -> '.join(sizes)} bytes)")
    texts = [path for path in change.changed if path.endswith((".md", ".py"))]
    if texts:
        with tempfile.TemporaryDirectory() as cache:
            old = repo.download(revision, Path(cache), texts)
            for path in texts:
                before, after = ((root).read_text(encoding="utf-8") for root in (old / path, content[path]))
                lines = difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
                say("\n".join(lines))


def _bring(
    repo: Repo, content: dict[str, Path], tag: str, private: bool, dry_run: bool, create_pr: bool, say: Say
) -> Published:
    head = repo.head()
    tags = repo.tags() if head else {}
    if head and private and not repo.is_private():
        raise PublishError(f"The dataset {repo.name} is public: make it private in its settings, or drop --private.")
    if tag in tags:
        change = repo.difference(content, tags[tag])
        _refuse_other(repo, tag, change)
        say(f"{repo.name} has this release as {tag} already: nothing to do.")
        return Published(repo.name, tag, tags[tag], change)
    if (last := newest(tags)) and numbers(last) > numbers(tag):
        raise PublishError(f"The dataset {repo.name} has {last}, which is newer: give this release a new number.")
    change = repo.difference(content, head)
    if head and not change.is_empty and repo.title(head) == _title(tag):
        raise PublishError(
            f"The dataset {repo.name} holds another {tag}, not tagged yet: finish it with its own folder, or give this"
            " release a new number."
        )
    if dry_run:
        say(f"{repo.name} {'would be made' if not head else 'is at ' + head}; {tag} would be:")
        show(repo, content, change, say, head)
        return Published(repo.name, "", "", change)
    if not head:
        repo.create(private)
        head = repo.head()
        change = repo.difference(content, head)
        say(f"Made the dataset {repo.name}.")
    if create_pr:
        return _pull_request(repo, content, change, head, tag, say)
    commit = repo.commit(content, change, head, _title(tag)) if not change.is_empty else head
    say(f"Committed: {len(change.added)} added, {len(change.changed)} changed, {len(change.removed)} removed.")
    if not repo.tag(tag, commit):
        _refuse_other(repo, tag, repo.difference(content, tag))
    say(f"Tagged {tag} at {commit}.")
    return Published(repo.name, tag, commit, change)


def _pull_request(repo: Repo, content: dict[str, Path], change: Difference, head: str, tag: str, say: Say) -> Published:
    if change.is_empty:
        say(f"{repo.name} holds these files already; publish without --create-pr to set the tag {tag}.")
        return Published(repo.name, "", "", change)
    for ref in repo.pull_requests():
        if repo.difference(content, ref).is_empty:
            say(f"There is a pull request with this release already: {ref}.")
            return Published(repo.name, "", "", change, ref)
    address = repo.commit(content, change, head, _title(tag), create_pr=True)
    say(f"Opened {address}; once it is merged, publish without --create-pr to set the tag {tag}.")
    return Published(repo.name, "", "", change, address)


def _read_back(repo: Repo, release: Path, tag: str) -> None:
    """Fetch the tag with a cache of its own, compare every file, and load every config as a user does."""
    import datasets

    with tempfile.TemporaryDirectory() as cache:
        try:
            files.verify_same(release, repo.download(tag, Path(cache) / "hub"))
            for config, splits in dataset.rows_of(release / "data").items():
                loaded: Any = datasets.load_dataset(repo.name, config, revision=tag, cache_dir=f"{cache}/datasets")
                if {split: [dict(row) for row in rows] for split, rows in loaded.items()} != splits:
                    raise PublishError(f"{repo.name} at {tag} loads other rows in {config} than {release} holds.")
        except (datasets.exceptions.DatasetsError, ValueError, OSError) as error:
            kind = type(error).__name__
            raise PublishError(
                f"{repo.name} at {tag} was sent, but cannot be read back ({kind}): give the command again."
            ) from None


def _refuse_other(repo: Repo, tag: str, change: Difference) -> None:
    if not change.is_empty:
        path = [*change.changed, *change.added, *change.removed][0]
        raise PublishError(
            f"The dataset {repo.name} has another release as {tag} ({path} differs), and a tag never changes: give this"
            " release a new number."
        )


def _refuse_name(repo: str, release: Path) -> None:
    """datasets takes a script of the repository's name for the repository's loader, or refuses both."""
    import craqan

    try:
        craqan.usable_name(repo)
    except ValueError as error:
        raise UsageError(str(error)) from None
    name = f"{repo.split('/')[1]}.py".lower()
    if any(path.name.lower() == name for path in release.glob("*.py")):
        raise UsageError(f"{repo} is named like {name} in the release, which datasets refuses: take another name.")


def _content(release: Path) -> dict[str, Path]:
    return {p.relative_to(release).as_posix(): p for p in sorted(release.rglob("*")) if p.is_file()}


def _title(tag: str) -> str:
    return f"Release {tag}"

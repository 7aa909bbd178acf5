"""Prompts: load a set of Markdown files, put data into them, and name each by its digest.

A set is a folder with generator.md and reviewers/*.md, and perhaps one file for each other role; the
reviewers' files are the panel. In a file, `$name` marks where data goes (`$$` is a dollar), a line `<!-- user -->`
parts the system message from the user's, and HTML comments are not sent. A file that holds `*PLACEHOLDER*` instead
follows the paper's style: it is one user message in which that marker is replaced; all else, braces and dollars
included, stands for itself.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any

from generation.errors import NoPromptsError, PromptError
from generation.records import PROBLEM_CODES
from generation.records import digest as digest_of

FOLDER = Path(__file__).parent.parent / "prompts"
CANNOT_TELL = "cannot tell"

_DATA = {  # role -> the placeholders that its prompt must hold
    "generator": ("segmented_text",),
    "reviewers": ("input",),
    "segmenter": ("text",),
    "reader": ("sentences", "question"),
    "judge": ("question", "answer", "given"),
    "decomposer": ("question",),
    "aggregator": ("examples", "documents", "question"),
}
_ROLES = ", ".join(role for role in _DATA if role != "reviewers")
_EXTENSION = {"generator": '"coreferences"', "reviewers": '"problems"'}  # the key that the paper's shapes lack
_NAME = re.compile(r"generator|segmenter|reader|judge|decomposer|aggregator|reviewers/[^./\\\s][^/\\]*")
_COMMENT = re.compile(r"<!--.*?-->[ \t]*\n?", re.DOTALL)
_USER = re.compile(r"^<!-- user -->[ \t]*$", re.MULTILINE)
_MARKER = re.compile(r"\\?\*PLACEHOLDER\\?\*")  # the backslashes come with text copied out of Markdown
_UNUSUAL = re.compile(r"[<>\x7f-\U0010ffff]")
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, bidi and zero width, lone surrogates, line separators


def _object(**properties: Any) -> dict[str, Any]:
    """A JSON Schema as strict modes want it: every key required, none besides, in the order given."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT = {"type": "string"}
_INDEX = {"type": "integer"}
_MENTION = _object(sentence_index=_INDEX, text=_TEXT)
_KIND = {"type": "string", "enum": ["pronominal", "nominal"]}
_PAIR = {"question": _TEXT, "answer": _TEXT, "required_sentence_indices": _list(_INDEX)}

CANDIDATE_SCHEMA = _object(**_PAIR, coreferences=_list(_object(kind=_KIND, mention=_MENTION, antecedent=_MENTION)))
"""A generator's answer: the paper's three keys and the labelled coreferences."""
MINIMAL_CANDIDATE_SCHEMA = _object(**_PAIR)
"""A generator's answer as in Grzywinski et al. 2023, appendix A."""
VERDICT_SCHEMA = _object(
    reason=_TEXT, problems=_list({"type": "string", "enum": list(PROBLEM_CODES)}), is_quality={"type": "boolean"}
)
"""A reviewer's answer: the paper's two keys, the reason before the verdict, and the problem codes between them."""
MINIMAL_VERDICT_SCHEMA = _object(reason=_TEXT, is_quality={"type": "boolean"})
"""A reviewer's answer as in Grzywinski et al. 2023, appendices B to E."""
SENTENCES_SCHEMA = _object(sentences=_list(_TEXT))
"""The segmenter's answer."""
ANSWER_SCHEMA = _object(reason=_TEXT, answer=_TEXT)
"""The reader's answer; `answer` is CANNOT_TELL where the sentences do not say."""
SAMENESS_SCHEMA = _object(reason=_TEXT, is_same={"type": "boolean"})
"""The judge's answer: does a reader's answer say the same as the right one?"""
QUESTIONS_SCHEMA = _object(reason=_TEXT, questions=_list(_TEXT))
"""The decomposer's answer; no question where one search is enough."""
AGGREGATE_SCHEMA = _object(reasoning=_TEXT, cited=_list(_TEXT), answer=_TEXT)
"""The aggregator's answer: its reasoning, the labels of the sentences it rests on, and what it comes to."""

_SCHEMAS = {  # role -> (extended, the paper's)
    "generator": (CANDIDATE_SCHEMA, MINIMAL_CANDIDATE_SCHEMA),
    "reviewers": (VERDICT_SCHEMA, MINIMAL_VERDICT_SCHEMA),
    "segmenter": (SENTENCES_SCHEMA, SENTENCES_SCHEMA),
    "reader": (ANSWER_SCHEMA, ANSWER_SCHEMA),
    "judge": (SAMENESS_SCHEMA, SAMENESS_SCHEMA),
    "decomposer": (QUESTIONS_SCHEMA, QUESTIONS_SCHEMA),
    "aggregator": (AGGREGATE_SCHEMA, AGGREGATE_SCHEMA),
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file, checked: `name` is "reviewers/<file>", "generator" or another role's."""

    name: str
    text: str

    @property
    def role(self) -> str:
        return self.name.partition("/")[0]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What `render` has to be given, neither more nor less."""
        return _DATA[self.role]

    @property
    def digest(self) -> str:
        """The hash of the file's text: a prompt that differs by one character has another."""
        return digest_of(self.text)

    @property
    def is_extended(self) -> bool:
        """Does it ask for the key beyond the paper's shapes (`coreferences`, `problems`)?"""
        return self.role not in _EXTENSION or _EXTENSION[self.role] in self.text

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer that this prompt asks for."""
        extended, minimal = _SCHEMAS[self.role]
        return extended if self.is_extended else minimal

    def render(self, **values: Any) -> tuple[dict[str, str], ...]:
        """Put `values` in place of the placeholders and return the messages: system and user, or user alone.

        A value that is not yet Data is written by `as_data`, so that nothing gets into a prompt as it is.
        Raises PromptError unless the names given are exactly `placeholders`.
        """
        if values.keys() != set(self.placeholders):
            wanted, given = (", ".join(sorted(names)) or "nothing" for names in (self.placeholders, values))
            raise PromptError(f"The prompt {self.name} takes {wanted}, but was given {given}.")
        data = {name: value if isinstance(value, Data) else as_data(value) for name, value in values.items()}
        parts = [_fill(pieces, data) for pieces in _pieces(self.text)]
        roles = ("system", "user") if len(parts) == 2 else ("user",)
        return tuple({"role": role, "content": part} for role, part in zip(roles, parts, strict=True))


@dataclass(frozen=True, slots=True)
class PromptSet:
    """A generator, a panel (name -> prompt, in the order of file names), a segmenter and a reader.

    `notes` says, in sentences for the user, which files were not found and replaced by ours, or not taken.
    """

    generator: Prompt
    reviewers: Mapping[str, Prompt]
    segmenter: Prompt
    reader: Prompt
    notes: tuple[str, ...] = ()

    @property
    def digests(self) -> dict[str, str]:
        """Prompt name -> digest, for the recipe of a row."""
        return {p.name: p.digest for p in (self.generator, *self.reviewers.values(), self.segmenter, self.reader)}


def load(name: str, folder: Path | None = None) -> Prompt:
    """Read the prompt `name` ("generator", "reviewers/content_cohesion", ...) from `folder`, by default from our set.

    A name is never taken for a path or for the prompt itself. Raises PromptError if the name is none, the file is
    missing, empty or no UTF-8, or its placeholders are not those of its role.
    """
    if not _NAME.fullmatch(name):
        raise PromptError(f"There is no prompt {name!r}: name {_ROLES} or reviewers/<file>.")
    path = (folder or FOLDER) / f"{name}.md"
    prompt = Prompt(name, _read(path))
    _check(prompt, path)
    return prompt


def load_or_ours(name: str, folder: Path | None = None) -> Prompt:
    """Read the prompt `name` from `folder`, or ours where it has none. NoPromptsError if that is no folder."""
    if folder is not None and not folder.is_dir():
        raise NoPromptsError(f"The prompt set {folder} is not a folder: give one that holds {name}.md, or none.")
    return load(name, folder if folder and (folder / f"{name}.md").exists() else None)


def load_set(folder: Path | None = None) -> PromptSet:
    """Load a whole set; segmenter and reader come from ours where `folder` has none, which `notes` then says.

    Raises PromptError for any file that `load` would refuse, and if there is no generator or no reviewer.
    """
    root = folder or FOLDER
    if not root.is_dir():
        raise NoPromptsError(f"The prompt set {root} is not a folder: give one that holds generator.md and reviewers/.")
    files = sorted(p for p in (root / "reviewers").glob("*") if not p.name.startswith((".", "__")))
    panel = [p.stem for p in files if p.suffix == ".md"]
    if not panel:
        raise PromptError(f"No reviewer found: put at least one .md file into {root / 'reviewers'}.")
    notes = [f"{p} is not a .md file and is not on the panel." for p in files if p.suffix != ".md"]
    return PromptSet(
        generator=load("generator", root),
        reviewers={stem: load(f"reviewers/{stem}", root) for stem in panel},
        segmenter=_load_or_ours("segmenter", root, notes),
        reader=_load_or_ours("reader", root, notes),
        notes=tuple(notes),
    )


class Data(str):
    """Text that `as_data` has written: safe to stand in a prompt."""

    __slots__ = ()


def as_data(value: Any) -> Data:
    """Write `value` as JSON that can neither close a tag nor hide a character from a reader.

    Angle brackets, control, bidirectional, zero-width and line-separating characters and lone surrogates are written
    as escapes (\\u and four hex digits); all other letters stay as they are. `json.loads` gives the value back.
    """
    return Data(_UNUSUAL.sub(_escape, json.dumps(value, ensure_ascii=False)))


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PromptError(f"The prompt file {path} is missing: add it, or choose another folder.") from None
    except UnicodeDecodeError:
        raise PromptError(f"The prompt file {path} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise PromptError(f"The prompt file {path} cannot be read: {error.strerror}.") from None
    if not text.strip():
        raise PromptError(f"The prompt file {path} is empty: write the prompt, or remove the file.")
    return text


def _check(prompt: Prompt, path: Path) -> None:
    wanted = ", ".join(f"${name}" for name in prompt.placeholders)
    markers = len(_MARKER.findall(prompt.text))
    parts = _parts(prompt.text)
    if len(parts) > 2:
        raise PromptError(f"{path} has more than one line <!-- user -->: keep the last one.")
    templates = [Template(part) for part in parts]
    found = {name for template in templates for name in template.get_identifiers()}
    if markers:
        _check_marker(path, markers, prompt.placeholders, found)
        return
    if not all(template.is_valid() for template in templates):
        raise PromptError(f"{path} holds a dollar sign that starts no placeholder: write $$ for a dollar.")
    if found != set(prompt.placeholders):
        names = ", ".join(f"${name}" for name in sorted(found)) or "no placeholder"
        raise PromptError(f"{path} must hold {wanted}, but holds {names}; write $$ for a dollar sign.")


def _check_marker(path: Path, markers: int, placeholders: Sequence[str], found: set[str]) -> None:
    if markers > 1:
        raise PromptError(f"{path} holds *PLACEHOLDER* {markers} times: keep the one that stands for the data.")
    if len(placeholders) > 1:
        raise PromptError(
            f"{path} needs {' and '.join(f'${name}' for name in placeholders)} in place of *PLACEHOLDER*."
        )
    if found & set(placeholders):
        raise PromptError(f"{path} holds both *PLACEHOLDER* and ${placeholders[0]}: keep one of them.")


def _parts(text: str) -> list[str]:
    """The text of each message, as a template; comments are ours to drop only in our own style."""
    if _MARKER.search(text):
        return [text]
    return [_COMMENT.sub("", part) for part in _USER.split(text)]


@lru_cache(maxsize=64)
def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """Each message cut at its placeholders, once for each prompt: text at even places, names at odd ones."""
    return tuple(_stripped(_cut(part)) for part in _parts(text))


def _stripped(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """Without white space around the whole message; data has none that is its own, being JSON."""
    first, *rest = (pieces[0].lstrip(), *pieces[1:])
    return (first, *rest[:-1], rest[-1].rstrip()) if rest else (first.rstrip(),)


def _cut(part: str) -> tuple[str, ...]:
    if (marker := _MARKER.search(part)) is not None:
        return part[: marker.start()], "", part[marker.end() :]  # no name: the only value there is
    pieces, end = [""], 0
    for match in Template.pattern.finditer(part):
        pieces[-1] += part[end : match.start()]
        if name := match["named"] or match["braced"]:
            pieces += [name, ""]
        else:
            pieces[-1] += "$"
        end = match.end()
    pieces[-1] += part[end:]
    return tuple(pieces)


def _fill(pieces: Sequence[str], data: Mapping[str, str]) -> str:
    only = next(iter(data.values()), "")
    return "".join((data[piece] if piece else only) if place % 2 else piece for place, piece in enumerate(pieces))


def _load_or_ours(name: str, folder: Path, notes: list[str]) -> Prompt:
    if (folder / f"{name}.md").exists():
        return load(name, folder)
    notes.append(f"{folder} has no {name}.md: our own {name} prompt is used.")
    return load(name)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in "<>":
        return f"\\u{ord(char):04x}"
    return json.dumps(char)[1:-1] if unicodedata.category(char) in _INVISIBLE else char

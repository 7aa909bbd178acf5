"""Texts of which people write one part and code the other: the code's parts stand between two comments.

<!-- figures: made from the data -->
...
<!-- end of figures -->
"""

import re
from collections.abc import Mapping

from generation.errors import InputError

_BLOCK = re.compile(
    r"^<!-- (?P<name>[\w-]+): made from the data -->\n(?P<text>.*?)^<!-- end of (?P=name) -->$",
    re.DOTALL | re.MULTILINE,
)


def fill(text: str, blocks: Mapping[str, str], name: str) -> str:
    """`text` with the blocks that it has brought up to date; all else stays, to the letter.

    Raises InputError, with `name` as the text's, for a block that nobody makes or that does not end.
    """
    there = [match["name"] for match in _BLOCK.finditer(text)]
    begun = re.findall(r"^<!-- ([\w-]+): made from the data -->$", text, re.MULTILINE)
    for one in begun:
        if begun.count(one) != there.count(one):
            raise InputError(f'{name}: the block "{one}" has no end: put "<!-- end of {one} -->" after it.')
    if unknown := set(there) - set(blocks):
        raise InputError(f'{name} has a block "{min(unknown)}"; blocks are {", ".join(blocks)}.')
    return _BLOCK.sub(lambda match: block(match["name"], blocks[match["name"]]), text)


def names(text: str) -> set[str]:
    """The blocks that `text` has."""
    return {match["name"] for match in _BLOCK.finditer(text)}


def block(name: str, text: str) -> str:
    """A block with its two comments."""
    return f"<!-- {name}: made from the data -->\n{text.strip()}\n<!-- end of {name} -->"

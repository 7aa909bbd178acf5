"""Whether texts under their licences may be given out under another one.

Only licences that this file knows are let through: what is not known is not guessed. Not legal advice.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_FREE = frozenset({"cc0-1.0", "public-domain"})
_MAY_BECOME: dict[str, frozenset[str]] = {
    "cc-by-3.0": frozenset({"cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"}),
    "cc-by-4.0": frozenset({"cc-by-4.0", "cc-by-sa-4.0"}),
    # ShareAlike: the same terms, or a later version of them (CC BY-SA 3.0, section 4b).
    "cc-by-sa-3.0": frozenset({"cc-by-sa-3.0", "cc-by-sa-4.0"}),
    "cc-by-sa-4.0": frozenset({"cc-by-sa-4.0"}),
    "cc-by-nc-4.0": frozenset({"cc-by-nc-4.0", "cc-by-nc-sa-4.0"}),
    "cc-by-nc-sa-4.0": frozenset({"cc-by-nc-sa-4.0"}),
    "mit": frozenset({"mit", "apache-2.0", "cc-by-4.0", "cc-by-sa-4.0"}),
    "apache-2.0": frozenset({"apache-2.0"}),
}
STATED = tuple(sorted({*_MAY_BECOME, "cc0-1.0"}))
"""Licences that a release can be stamped with."""

_SHARE_ALIKE_SITES = ("wikipedia.org", "wikinews.org", "wikivoyage.org", "fandom.com")


def name_of(licence: str) -> str:
    """The short name of a licence however it is written ("CC BY-SA 4.0" and its address are "cc-by-sa-4.0").

    A text that names none of those known comes back in lower case.
    """
    text = licence.strip().lower()
    if re.search(r"\bcc-?0\b|publicdomain/zero|creative commons zero", text):
        return "cc0-1.0"
    if re.search(r"public[ -]?domain|\bpd-us|\bpdm\b", text):
        return "public-domain"
    parts = re.findall(r"\bsa\b|share\W?alike|\bnc\b|non\W?commercial|\bnd\b|no\W?deriv", text)
    short = {"sa": "sa", "sh": "sa", "nc": "nc", "no": "nc", "nd": "nd"}
    if re.search(r"\bcc\b|creative\W?commons", text) and re.search(r"\bby\b|attribution", text):
        found = {"nd" if "deriv" in part else short[part[:2]] for part in parts}
        version = re.search(r"\d\.\d", text)
        return "-".join(["cc-by", *(p for p in ("nc", "nd", "sa") if p in found), version[0] if version else "?"])
    if re.search(r"\bmit\b", text):
        return "mit"
    if re.search(r"apache", text):
        return "apache-2.0"
    return text


def obstacles(articles: Mapping[str, Mapping[str, Any]], stated: str) -> Iterator[str]:
    """One sentence for each licence among the articles' sources that does not allow `stated`."""
    wanted = name_of(stated)
    if wanted not in STATED:
        yield f'the licence of the release, "{stated}", is none of {", ".join(STATED)}'
        return
    problems: dict[str, list[str]] = {}
    for id, row in articles.items():
        if problem := _problem(row, wanted):
            problems.setdefault(problem, []).append(id)
    for problem, ids in problems.items():
        yield f"{len(ids)} articles, such as {ids[0]}: {problem}"


def _problem(row: Mapping[str, Any], wanted: str) -> str:
    licence = name_of(row["license"])
    if any(site in row["url"] for site in _SHARE_ALIKE_SITES) and not licence.startswith("cc-by-sa"):
        return f'the text is from {row["url"].split("/")[2]}, which is under CC BY-SA, but its licence says "{licence}"'
    if licence in _FREE:
        return ""
    if licence not in _MAY_BECOME:
        return f'its licence, "{row["license"]}", is not known; name it, or leave the article out'
    if wanted not in _MAY_BECOME[licence]:
        allowed = ", ".join(sorted(_MAY_BECOME[licence]))
        return f"text under {licence} may not be given out under {wanted}, only under {allowed}"
    return ""

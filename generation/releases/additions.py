"""New rows beside those that a data folder holds: nothing that is there changes its text or its split."""

import json

from generation.dataset import Row, Tables
from generation.errors import InputError

_KEYS = {"articles": "article_id", "default": "id", "rejected": "id", "provenance": "id", "v1": ""}


def added(new: Tables, before: Tables) -> Tables:
    """`before` with the rows of `new` that it does not have yet, each article in the split that it already has.

    A row of `new` that is there already is left out; its history (provenance) stays the one from before. Raises
    InputError for an article or pair that is there with other contents, or with another verdict.
    """
    homes = {row["article_id"]: split for split, rows in before.get("articles", {}).items() for row in rows}
    owners = {row["id"]: row["article_id"] for c in ("default", "rejected") for rows in new[c].values() for row in rows}
    known = {config: _by_key(config, before) for config in new}
    _refuse_other_verdicts(new, before)
    tables: Tables = {config: {s: list(rows) for s, rows in before.get(config, {}).items()} for config in new}
    for config, splits in new.items():
        for split, rows in splits.items():
            for row in rows:
                earlier = known[config].get(_key(config, row))
                if earlier is None:
                    home = split if config == "v1" else homes.get(row.get("article_id") or owners[row["id"]], split)
                    tables[config].setdefault(home, []).append(row)
                elif config != "provenance" and earlier != row:
                    raise InputError(_difference(config, row, earlier))
    return tables


def _by_key(config: str, tables: Tables) -> dict[str, Row]:
    return {_key(config, row): row for rows in tables.get(config, {}).values() for row in rows}


def _key(config: str, row: Row) -> str:
    return row[_KEYS[config]] if _KEYS[config] else json.dumps(row, sort_keys=True)


def _refuse_other_verdicts(new: Tables, before: Tables) -> None:
    for config, other in (("default", "rejected"), ("rejected", "default")):
        for id in _by_key(config, new).keys() & _by_key(other, before).keys():
            raise InputError(
                f'The pair {id} would be in "{config}" but is in "{other}" of the rows to keep: correct its verdicts,'
                " or make all rows anew from all drafts."
            )


def _difference(config: str, row: Row, earlier: Row) -> str:
    columns = ", ".join(name for name in row if row[name] != earlier[name])
    return (
        f'The draft of {_key(config, row)} differs in {columns} from the row to keep in "{config}": give it as it was,'
        " or make all rows anew from all drafts."
    )

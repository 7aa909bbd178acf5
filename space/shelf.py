"""The released rows as the Space holds them: found by what they are like, in the order that is asked for."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import craqan
from generation.errors import UsageError
from generation.records import candidate_from_dict

Row = Mapping[str, Any]
DATA = Path(craqan.__file__).parent / "data"
QUESTION_WORDS = ("what", "which", "who", "when", "where", "why", "how")
MAX_SEARCH = 300
_SAME_WORD = {"whom": "who", "whose": "who"}
_QUESTION_WORD = re.compile(rf"\b({'|'.join((*QUESTION_WORDS, *_SAME_WORD))})\b", re.IGNORECASE)

ORDERS: dict[str, tuple[str, Callable[[Row], Any]]] = {
    "": ("As released", lambda row: 0),
    "article": ("By article", lambda row: row["article_title"].casefold()),
    "far": ("Greatest distance first", lambda row: -row["distance"]),
    "near": ("Smallest distance first", lambda row: row["distance"]),
    "long": ("Longest passage first", lambda row: -len(row["section_text"])),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a row has to be like; an empty string or 0 asks nothing. Distances are inclusive.

    `config` is "default" for the accepted pairs, "random" or "domain" for the same in other splits, or "rejected" for
    those that were turned down; `order` is one of ORDERS.
    """

    article: str = ""
    kind: str = ""
    required_sentences: int = 0
    min_distance: int = 0
    max_distance: int = 0
    text: str = ""
    domain: str = ""
    question_word: str = ""
    split: str = ""
    config: str = "default"
    order: str = ""

    def fit(self, row: Row) -> bool:
        words = self.text.casefold().split()
        distance = row["distance"]
        return (
            self.article in ("", row["article_title"])
            and self.kind in ("", row["kind"])
            and self.domain in ("", row["domain"])
            and self.question_word in ("", question_word(row["question"]))
            and self.split in ("", row.get("split", ""))
            and self.required_sentences in (0, len(row["required_sentence_indices"]))
            and self.min_distance <= distance <= (self.max_distance or distance)
            and (not words or all(word in _haystack(row) for word in words))
        )


class Shelf:
    """The rows that the tabs show, with the provenance that belongs to them, the rejected pairs and whole articles.

    `divided` holds, by config, the split of each row's id where the accepted pairs are divided otherwise.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        provenance: Iterable[Row] = (),
        rejected: Iterable[Row] = (),
        texts: Iterable[Row] = (),
        divided: Mapping[str, Mapping[str, str]] | None = None,
    ):
        self.texts = list(texts)
        self.rows = list(rows)
        self.rejected = [_measured(row) for row in rejected]
        self.by_id = {row["id"]: row for row in (*self.rejected, *self.rows)}
        self.provenance = {row["id"]: row for row in provenance}
        self.divided = divided or {}
        self._sets = {"default": self.rows, "rejected": self.rejected}
        for config, splits in self.divided.items():
            self._sets[config] = [{**row, "split": splits[row["id"]]} for row in self.rows if row["id"] in splits]

    @cached_property
    def articles(self) -> list[str]:
        return sorted({row["article_title"] for row in self.by_id.values()})

    @cached_property
    def domains(self) -> list[str]:
        return sorted({row["domain"] for row in self.by_id.values()} - {""})

    @cached_property
    def splits(self) -> list[str]:
        return list(dict.fromkeys(row["split"] for row in self.rows if row.get("split")))

    def of(self, config: str) -> list[Row]:
        """All rows of a config of pairs; none if it is not on the shelf."""
        return self._sets.get(config, [])

    def splits_of(self, id: str) -> dict[str, str]:
        """The split of the row called `id` in each other division of the accepted pairs that has it."""
        return {config: splits[id] for config, splits in self.divided.items() if id in splits}

    def find(self, filters: Filters) -> list[Row]:
        """The rows that fit, in the order asked for. Raises UsageError for an order that there is none of, and for too
        many words to look for."""
        if filters.order not in ORDERS:
            raise UsageError(f"There is no order {filters.order!r}; choose one of {', '.join(filter(None, ORDERS))}.")
        if len(filters.text) > MAX_SEARCH:
            raise UsageError(f"A search takes {MAX_SEARCH} characters at most: give the few words that matter.")
        return sorted((row for row in self.of(filters.config) if filters.fit(row)), key=ORDERS[filters.order][1])

    def check(self, filters: Filters) -> None:
        """Raises UsageError for a value that no row has, which would otherwise find nothing without a word."""
        known: dict[str, tuple[object, Sequence[object]]] = {
            "article": (filters.article, self.articles),
            "kind": (filters.kind, ("pronominal", "nominal", "mixed")),
            "required_sentences": (filters.required_sentences, (2, 3)),
            "domain": (filters.domain, self.domains),
            "question_word": (filters.question_word, QUESTION_WORDS),
            "split": (filters.split, self.splits),
        }
        for name, (value, choices) in known.items():
            if value and value not in choices:
                listed = "a title of the set" if name == "article" else f"one of {', '.join(map(str, choices))}"
                raise UsageError(f"No row has {name} {_cut(value)}: give {listed}, or leave it out.")
        if min(filters.min_distance, filters.max_distance) < 0:
            raise UsageError("A distance counts sentences from 0; leave it out, or give 0, for any.")

    def get(self, id: str) -> Row:
        """The row called `id`. Raises UsageError if there is none."""
        if id not in self.by_id:
            raise UsageError("There is no question with this id in the released set; search for it by its words.")
        return self.by_id[id]


def load_shelf(folder: Path = DATA) -> Shelf:
    """The released rows of a data folder, each with its `split`. Raises craqan.DataError for rows that are none."""

    def rows(config: str) -> Iterator[Row]:
        for split, paths in craqan.local_files(folder, config).items():
            for path in paths:
                for _, row in craqan.read_rows(path, config):
                    yield {**row, "split": split}

    divided = {config: {row["id"]: row["split"] for row in rows(config)} for config in ("random", "domain")}
    return Shelf(rows("default"), rows("provenance"), rows("rejected"), rows("articles"), divided)


def _cut(value: object) -> str:
    """In quotation marks if it is a text, and of a length to be read."""
    return repr(value if not isinstance(value, str) or len(value) <= 60 else f"{value[:60]}…")


def question_word(question: str) -> str:
    """The first question word ("whom" counts as "who"), "" if there is none."""
    found = _QUESTION_WORD.search(question)
    word = found.group().lower() if found else ""
    return _SAME_WORD.get(word, word)


def _measured(row: Row) -> Row:
    """A rejected row with the columns that the list shows of an accepted one."""
    candidate = candidate_from_dict(row)
    return {**row, "kind": candidate.kind, "distance": candidate.distance}


def _haystack(row: Row) -> str:
    return " ".join((row["question"], row["answer"], row["article_title"], row["section_text"])).casefold()

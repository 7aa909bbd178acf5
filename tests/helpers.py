"""Small records for tests, and a scripted generator and reviewer."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from generation.errors import Abstention
from generation.records import Candidate, Coreference, Round, Section, Sentence, Span, Verdict

PASSAGE = (
    "The Harbor Safety Act was passed in 1974.",
    "Senator Mary Cole wrote most of the bill.",
    "It requires every ferry to carry two rafts.",
    "She had lost a brother at sea.",
)


def section_of(*sentences: str, id: str = "harbor/0", path: tuple[str, ...] = ()) -> Section:
    """A segmented section whose text is the sentences joined by spaces."""
    sentences = sentences or PASSAGE
    found, start = [], 0
    for text in sentences:
        found.append(Sentence(text, start, start + len(text)))
        start += len(text) + 1
    text = " ".join(sentences)
    return Section(id, id.partition("/")[0], "Harbor Safety Act", path, text, 0, len(text), tuple(found), "author")


def candidate_of(
    question: str = "What does the Harbor Safety Act require every ferry to carry?",
    answer: str = "two rafts",
    indices: Sequence[int] = (0, 2),
    coreferences: Sequence[Coreference] | None = None,
) -> Candidate:
    if coreferences is None:
        mention, antecedent = Span(2, 0, 2, "It"), Span(0, 0, 21, "The Harbor Safety Act")
        coreferences = (Coreference("pronominal", mention, antecedent),)
    return Candidate(question, answer, tuple(indices), tuple(coreferences))


class ScriptedGenerator:
    """Offers the given candidates in turn, then abstains; keeps the rounds it was shown."""

    name = "scripted"

    def __init__(self, *candidates: Candidate):
        self.candidates = candidates
        self.seen: list[tuple[Round, ...]] = []

    async def draft(self, section: Section, rounds: Sequence[Round], chat: object = None) -> Candidate:
        self.seen.append(tuple(rounds))
        if len(rounds) >= len(self.candidates):
            raise Abstention("Nothing more to offer.")
        return self.candidates[len(rounds)]


class ScriptedReviewer:
    """Accepts what `accepts` says yes to; counts how often it was asked."""

    def __init__(self, name: str, accepts: Callable[[Candidate], bool] = lambda candidate: True):
        self.name = name
        self.accepts = accepts
        self.asked: list[Candidate] = []

    async def judge(self, section: Section, candidate: Candidate, chat: object = None) -> Verdict:
        self.asked.append(candidate)
        if self.accepts(candidate):
            return Verdict(self.name, True, "Fine.")
        return Verdict(self.name, False, f"{self.name} objects.", ("other",))


def written_articles(folder: Path, count: int) -> Path:
    """`folder` with `count` articles of one section, of three sentences each, that share no content word."""
    for n in range(count):
        words = random.Random(n)
        about = " ".join(f"w{words.randrange(10**6)}" for _ in range(30))
        text = f"# Title {n}\n\nThe thing {n} is {about}. It stands here. Nothing more is known.\n"
        (folder / f"a{n:02}.md").write_text(text)
    return folder

"""What benchmarks/engine.py works on: passages of seven sentences, and a model whose replies are known beforehand.

A reply depends on the passage, the round and the reviewer alone, so that every client, and every order of work, meets
the same ones.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from generation.prompts import load

NAMES = "Harbor River Coastal Northern Lakeside Valley Prairie Island Border Summit Canyon Delta".split()
THINGS = "Safety Transit Fishing Lighthouse Dredging Salvage Mooring Pilotage Customs Towing Ballast Survey".split()
PEOPLE = "Cole Brand Ortiz Lund Archer Pike Doyle Keller Mason Reyes Stone Walsh Quinn Barnes Novak Ames".split()
PLACES = "Portland Salem Dover Bristol Augusta Norfolk Mobile Galveston Duluth Tacoma Erie Savannah Bangor".split()
NOUNS = "inspections ledgers charts permits tariffs beacons wardens manuals hearings seals registers tolls".split()
VERBS = "publishes audits renews stores reviews copies collects revises signs mails orders files".split()
TIMES = "every spring|each quarter|once a decade|after a storm|before the season|on request|twice a year".split("|")
CLASSES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm")  # one a round: no draft comes twice
REVISIONS = 4  # one draft and four revisions: five rounds
REVIEWERS = tuple(sorted(path.stem for path in (Path(__file__).parents[1] / "prompts" / "reviewers").glob("*.md")))
FLAW = "ninety lanterns"

_DOCKET = re.compile(rb"Docket (\d+)")
_ASKED = re.compile(rb"of class (\w+) to carry")


def passages(count: int) -> Iterator[dict[str, str]]:
    """Rows of a JSONL file, different enough to be no near-duplicates."""
    for number in range(count):
        draw = random.Random(number).choice

        def habit(draw=draw) -> str:
            things = f"{draw(NOUNS)}, {draw(NOUNS)} and {draw(NOUNS)}"
            return f"{draw(VERBS)} {things} of {draw(PLACES)} and {draw(PLACES)} {draw(TIMES)}"

        lines = (
            f"The {_act(number, draw)} was passed in {1900 + number % 100}.",
            f"Senator {draw(PEOPLE)} of {draw(PLACES)} {habit()}.",
            "It requires every ferry of class Alder, Birch, Cedar, Dogwood or Elm to carry two rafts.",
            f"Governor {draw(PEOPLE)} {habit()}.",
            f"An agency in {draw(PLACES)} {habit()}.",
            f"Its office {habit()}, and {habit()}.",
            f"Docket {number} {habit()}.",
        )
        yield {"title": f"Act {number}", "text": " ".join(lines)}


def _act(number: int, draw: Callable[[list[str]], str] | None = None) -> str:
    """The name of a passage's Act, in no other passage: no run accepts a question twice."""
    draw = draw or random.Random(number).choice
    return f"{draw(NAMES)} {draw(THINGS)} Act of chapter {number}"


def asked(body: bytes) -> str:
    """What a request asks for: passage, round and role, the same in every wording."""
    docket = _DOCKET.search(body)
    number = docket[1].decode() if docket else "?"
    if b"is_quality" not in body:
        drafts = body.count(b'"assistant"')
        return f"{number}/{drafts}/generator"
    question = _ASKED.search(body)
    mark = question[1].decode() if question else "?"
    return f"{number}/{mark}/" + ("joint" if b"share one desk" in body else _reviewer(body))


def chance(what: str) -> float:
    """A number from 0 to 1 that depends on `what` alone."""
    return (int.from_bytes(blake2b(what.encode(), digest_size=8).digest()) + 1) / 2**64


def reply(what: str, accept: float, flawed: float, has_flaw: bool) -> str:
    """The text that answers `what`; a reviewer accepts with a chance of `accept`, what has a flaw never."""
    passage, mark, role = what.split("/")
    if role == "generator":
        return _draft(int(passage), CLASSES[int(mark) % len(CLASSES)], chance(what + "/flaw") < flawed)

    def verdict(name: str) -> dict[str, object]:
        accepts = not has_flaw and chance(f"{passage}/{mark}/{name}") < accept
        reason = "It is as it should or should not be."
        return {"reason": reason, "problems": [] if accepts else ["other"], "is_quality": accepts}

    return json.dumps({name: verdict(name) for name in REVIEWERS} if role == "joint" else verdict(role))


def _draft(number: int, mark: str, flawed: bool) -> str:
    coreference = {
        "kind": "pronominal",
        "mention": {"sentence_index": 2, "text": "It"},
        "antecedent": {"sentence_index": 0, "text": f"The {_act(number)}"},
    }
    question = f"What does the {_act(number)} require every ferry of class {mark} to carry?"
    answer = {"question": question, "answer": FLAW if flawed else "two rafts", "required_sentence_indices": [0, 2]}
    return json.dumps(answer | {"coreferences": [coreference]})


def _opening(name: str) -> bytes:
    system = load(f"reviewers/{name}").render(input="")[0]["content"]
    return json.dumps(system[:200], ensure_ascii=False).encode()[1:-1]


_OPENINGS = {name: _opening(name) for name in REVIEWERS}


def _reviewer(body: bytes) -> str:
    return next((name for name, opening in _OPENINGS.items() if opening in body), "?")

"""Questions that name the article's matter first, and the forms and links that came with them."""

import dataclasses

from generation import rules
from generation.language import anchoring
from generation.records import Section
from tests.test_resolver import passage

WARREN = (
    "Chief Justice Earl Warren, who had been a prosecutor in California, delivered the opinion of the court.",
    "He reviewed police manuals and concluded that questioning in isolation was inherently coercive.",
)


def titled(title: str, *sentences: str) -> Section:
    return dataclasses.replace(passage(*sentences), article_title=title)


def offered(section: Section) -> dict[str, str]:
    return {s.candidate.question: s.candidate.answer for s in rules.candidates(section) if not s.doubts}


def test_a_question_that_could_mean_many_cases_names_its_own():
    found = offered(titled("Miranda v. Arizona", *WARREN))
    question = "In Miranda v. Arizona, what did Chief Justice Earl Warren conclude?"
    assert found[question] == "questioning in isolation was inherently coercive"
    assert question not in offered(titled("Earl Warren", *WARREN))


def test_a_title_that_names_no_matter_is_not_named():
    assert anchoring.wording("Mann Act") == "In the history of the Mann Act,"
    assert anchoring.wording("Great Salt Lake") == anchoring.wording("Photosynthesis") == ""
    assert anchoring.wording("Kate Winslet") == ""


async def test_the_panel_judges_the_question_behind_the_matter():
    section = titled("Miranda v. Arizona", *WARREN)
    scored = next(s for s in rules.candidates(section) if s.candidate.question.startswith("In Miranda"))
    assert all([(await reviewer.judge(section, scored.candidate)).is_quality for reviewer in rules.panel()])


def test_it_as_an_object_is_not_the_subject_of_its_own_verb():
    found = offered(
        titled(
            "Homestead Act",
            "The Homestead Act of 1862 was a United States law that allowed settlers to acquire public land.",
            "President Abraham Lincoln signed it on May 20, 1862, during the second year of the Civil War.",
        )
    )
    assert found["When did President Abraham Lincoln sign the Homestead Act?"] == "May 20, 1862"


def test_whose_asks_for_the_owner_of_an_object():
    found = offered(
        titled(
            "Standard Oil Company",
            "Ida Tarbell grew up among the oil wells of Pennsylvania.",
            "McClure's Magazine printed her history of the Standard Oil Company in nineteen parts.",
        )
    )
    assert found["Whose history of the Standard Oil Company did McClure's Magazine print in nineteen parts?"] == (
        "Ida Tarbell"
    )


def test_a_day_without_its_year_is_no_answer():
    found = offered(
        titled(
            "Gideon v. Wainwright",
            "Clarence Gideon was a drifter of 50.",
            "He appeared before Judge Robert McCrary Jr. on August 4 and asked for a lawyer.",
        )
    )
    assert "August 4" not in found.values()

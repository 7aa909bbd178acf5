"""Whom and what an article is about: whose a pronoun is, whose a surname, and by which name a question calls them."""

import pytest

from generation import rules
from generation.language import mentions, nlp, resolver, topic
from generation.records import Section
from tests.test_rules_standing import titled


def asked(section: Section) -> dict[str, str]:
    return {s.candidate.question: s.candidate.answer for s in rules.candidates(section)}


def meant(section: Section, mention: str) -> set[str]:
    """The names that the mentions of that wording stand for."""
    links = resolver.resolve_parse(nlp.parse(section))
    parse = nlp.parse(section)
    found = (link for link in links if parse.text(link.mention.start, link.mention.end) == mention)
    return {" ".join(n.words) for link in found for n in link.names}


ABOUT_THE_SON = (
    "Nansen was born at Store Frøen, near Christiania, where his father, Baldur Nansen, was a lawyer.",
    "In 1880 he entered the Royal Frederick University to study zoology.",
)


def test_he_is_whom_the_article_is_about_and_not_his_father():
    section = titled("Fridtjof Nansen", *ABOUT_THE_SON)
    assert meant(section, "he") == {"nansen"}
    assert asked(section)["When did Fridtjof Nansen enter the Royal Frederick University?"] == "1880"


def test_without_a_title_nobody_is_called_by_it():
    assert asked(titled("", *ABOUT_THE_SON)) == {"When did Nansen enter the Royal Frederick University?": "1880"}


@pytest.mark.parametrize(
    ("words", "title", "is_other"),
    [
        (("james", "harlan"), "John Marshall Harlan", True),
        (("harlan",), "John Marshall Harlan", False),
        (("john", "harlan"), "John Marshall Harlan", False),
        (("justice", "harlan"), "John Marshall Harlan", False),
        (("henry", "clay"), "John Marshall Harlan", False),
        (("dr.", "harlan"), "John Marshall Harlan", False),
        (("young", "harlan"), "John Marshall Harlan", False),
        (("j.", "m.", "harlan"), "John Marshall Harlan", False),
        (("sergei", "gaposchkin"), "Cecilia Payne-Gaposchkin", True),
        (("harlan",), "", False),
    ],
)
def test_somebody_of_the_same_surname_is_another(words, title, is_other):
    assert topic.is_other(words, title) is is_other


@pytest.mark.parametrize(
    ("title", "first", "second", "question", "answer"),
    [
        (
            "Cecilia Payne-Gaposchkin",
            "Payne was born in Wendover in England.",
            "She won a scholarship to Newnham College in 1919.",
            "When did Cecilia Payne-Gaposchkin win a scholarship to Newnham College?",
            "1919",
        ),
        (
            "Hugo Black",
            "Black was born in Harlan, a village in Clay County, Alabama.",
            "He graduated from the University of Alabama School of Law in 1906.",
            "When did Hugo Black graduate from the University of Alabama School of Law?",
            "1906",
        ),
        (
            "Jesse Owens",
            'James Cleveland "Jesse" Owens was an American athlete.',
            "In 1950 he moved to the city of Chicago.",
            "When did Jesse Owens move to the city of Chicago?",
            "1950",
        ),
        (
            "Clayton Antitrust Act",
            "The Clayton Antitrust Act is a United States federal statute.",
            "It was named after Henry De Lamar Clayton, a representative from Alabama.",
            "Who was the Clayton Antitrust Act named after?",
            "Henry De Lamar Clayton",
        ),
        (
            "Clayton Antitrust Act",
            "The Clayton Antitrust Act is a United States federal statute.",
            "President Woodrow Wilson signed it on October 15, 1914.",
            "When did President Woodrow Wilson sign the Clayton Antitrust Act?",
            "October 15, 1914",
        ),
    ],
    ids=["half a double surname", "a surname that is a plain word", "a nickname", "its namesake", "it is signed"],
)
def test_the_topic_is_known_and_called_by_its_title(title, first, second, question, answer):
    found = asked(titled(title, first, second))
    assert found[question] == answer
    assert "Black" not in found.values(), "a plain word is no answer"


@pytest.mark.parametrize(
    ("words", "title", "whole"),
    [
        (("secret", "service"), "United States Secret Service", "the United States Secret Service"),
        (("constitutional", "court"), "Federal Constitutional Court", "the Federal Constitutional Court"),
        (("new", "york"), "Federal Reserve Bank of New York", ""),
        (("north", "carolina"), "University of North Carolina", ""),
        (("service",), "United States Secret Service", ""),
        (("secret", "service"), "", ""),
    ],
)
def test_a_body_is_called_in_full_but_not_the_place_in_its_name(words, title, whole):
    assert topic.whole_body(title, words) == whole


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("In November Olson filed a complaint.", "olson"),
        ("From about 1905 Claudel destroyed many statues.", "claudel"),
        ("The play was written by August Wilson.", "august wilson"),
        ("The song was written by June Carter.", "june carter"),
        ("They competed in the 1996 Olympics in Atlanta.", "1996 olympics"),
    ],
)
def test_a_date_before_a_name_is_no_part_of_it(sentence, name):
    found = mentions.find(nlp.parse(titled("", sentence)))
    assert name in {" ".join(m.words) for m in found if m.form == "name"}


# what is not asked

MARIE = "Mary Jones was an English chemist."


@pytest.mark.parametrize(
    ("fact", "unwanted"),
    [
        ("She retired from the college on April 8.", "April 8"),
        ("She neither opened a shop in London nor taught in Paris.", "a shop in London"),
        ("In 1935 she set or equaled several records in Leeds.", "When did Mary Jones set?"),
        ("She signed with a label that folded in 2006.", "2006"),
        ("She fixed the rates, approved the mergers and decided who might trade.", "the rates, approved the mergers"),
    ],
)
def test_what_says_too_little_or_something_else_is_not_asked(fact, unwanted):
    found = asked(titled("Mary Jones", MARIE, fact, "She founded a school in Leeds in 1921."))
    assert unwanted not in {*found, *found.values()}
    assert "1921" in found.values(), "something is asked"


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        (
            "In 1931 she married Louis James, a nephew of the writer Henry James and the painter Ann James.",
            "Who married Louis James, a nephew of the writer Henry James and the painter Ann James, in 1931?",
        ),
        ("She was elected in 1685 near the coast by the French Academy.", "Who was Mary Jones elected by in 1685"),
    ],
)
def test_questions_keep_their_parts_apart(fact, question):
    assert any(q.startswith(question) for q in asked(titled("Mary Jones", MARIE, fact)))

"""Questions of the embedded default stand alone: who, which law and which matter are told in words that read well."""

import dataclasses

import pytest

from generation import checks, rules
from generation.language import anchoring, topic
from generation.records import Section
from tests.test_resolver import passage


def titled(title: str, *sentences: str) -> Section:
    return dataclasses.replace(passage(*sentences), article_title=title)


def offered(section: Section) -> dict[str, str]:
    return {s.candidate.question: s.candidate.answer for s in rules.candidates(section) if not s.doubts}


LAW = titled(
    "Chinese Exclusion Act",
    "The law exempted merchants and teachers, who had to carry certificates.",
    "It also forbade state and federal courts to naturalize Chinese residents.",
)


def test_a_pronoun_goes_back_to_the_law_that_the_title_names():
    question = "In the history of the Chinese Exclusion Act, what did the law forbid state and federal courts to do?"
    assert offered(LAW)[question] == "naturalize Chinese residents"
    assert offered(dataclasses.replace(LAW, article_title="Immigration")) == {}


def test_what_a_law_does_not_do_is_not_said_of_the_titles_law():
    section = titled(
        "Chinese Exclusion Act",
        "The law led Ann Lee to write the novel Silent Gates.",
        "It sold 300,000 copies in its first year.",
    )
    assert offered(section) == {}


async def test_checks_and_panel_let_the_question_name_its_article():
    scored = next(s for s in rules.candidates(LAW) if not s.doubts)
    sentences = [s.text for s in LAW.sentences]
    assert not [p for p in checks.run(scored.candidate, sentences) if p.certainty == "certain"]
    assert all([(await reviewer.judge(LAW, scored.candidate)).is_quality for reviewer in rules.panel()])


def test_a_name_of_which_the_question_tells_nothing_else_is_still_checked():
    scored = next(s for s in rules.candidates(LAW) if not s.doubts)
    question = "In the history of the Chinese Exclusion Act, what did the law forbid Dwight Eisenhower in 1954 to do?"
    wrong = dataclasses.replace(scored.candidate, question=question)
    found = checks.run(wrong, [s.text for s in LAW.sentences])
    assert "numbers_supported" in {p.check for p in found}


@pytest.mark.parametrize(
    ("title", "sentences", "unwanted"),
    [
        ("Loving", ("Mildred and Richard moved to Ohio.", "He was killed in June 1975."), "Richard"),
        ("Korematsu", ("Ann Porter led the office in Ohio.", "She closed a school in March."), "March"),
        (
            "USS Atlanta (1861)",
            ("Atlanta was an ironclad of the Confederate Navy.", "She was rebuilt from a ship named Fingal in 1862."),
            "Who",
        ),
        (
            "Night at the Museum",
            (
                "Silent Harvest is a comedy film.",
                "It is the sequel to the 2009 film Night at the Museum: Battle of the Smithsonian.",
            ),
            "Museum?",
        ),
        (
            "Diana Rigg",
            ("Diana Rigg joined the series in 2013.", "In 2015 she reprised the role in the fifth season."),
            "the role",
        ),
    ],
    ids=["first name", "month without year", "who of a ship", "cut at its colon", "the role"],
)
def test_what_only_the_passage_explains_is_not_asked(title, sentences, unwanted):
    assert not [q for q in offered(titled(title, *sentences)) if unwanted in q]


def test_a_law_that_somebody_owns_gets_its_article():
    section = titled(
        "Loving v. Virginia",
        "Ann Porter was convicted of violating the state's Racial Integrity Act in 1959.",
        "On June 12, 1967, the justices ruled that the statute violated the Fourteenth Amendment.",
    )
    questions = [s.candidate.question for s in rules.candidates(section)]
    assert any("the Racial Integrity Act" in q for q in questions)
    assert not any("that Racial Integrity Act" in q for q in questions)


def test_what_a_name_is_best_known_for_leaves_no_word_behind():
    section = titled(
        "Christa Allen",
        "Christa Allen is an American actress best known for her role in the 2004 movie 13 Going on 30.",
        "She is the youngest of five siblings with four elder brothers.",
    )
    assert not any("actress best" in s.candidate.question for s in rules.candidates(section))


def test_what_is_prevented_is_asked_for_with_doing():
    section = titled(
        "Embargo Act of 1807",
        "The Embargo Act of 1807 was meant to compel Great Britain and France.",
        "It prohibited American vessels from sailing to foreign ports.",
    )
    found = {s.candidate.question: s.candidate.answer for s in rules.candidates(section)}
    assert found["What did the Embargo Act of 1807 prohibit American vessels from doing?"] == "sailing to foreign ports"


async def test_a_chain_of_three_sentences_passes_checks_and_panel():
    section = titled(
        "Clean Harbors Act",
        "Congress passed the Clean Harbors Act in 1987 after a long debate about the cost of the plan.",
        "The Act created a fund of 40 million dollars.",
        "It obliges owners of large ports to test the water every month.",
    )
    chains = [s.candidate for s in rules.candidates(section) if len(s.candidate.required_sentence_indices) == 3]
    for candidate in chains:
        problems = checks.run(candidate, [s.text for s in section.sentences])
        assert "sentences_needed" not in {p.check for p in problems if p.certainty == "certain"}
        reviewer = next(r for r in rules.panel() if r.name == "required_sentences")
        assert (await reviewer.judge(section, candidate)).is_quality
    assert chains


def test_a_place_keeps_its_district():
    section = titled(
        "Harbor Safety Commission",
        "The Harbor Safety Commission is an agency of the United States.",
        "Its headquarters are in Washington, D.C., near the river.",
    )
    places = {a for q, a in offered(section).items() if q.startswith("Where")}
    assert places <= {"Washington, D.C."}


def test_a_second_verb_takes_the_nearest_subject():
    section = titled(
        "Tania Bailey",
        "Tania Bailey won the World Junior Championship in 1997.",
        "A car accident led to surgery in Leeds, but she successfully recovered and resumed her playing career.",
    )
    assert "A car accident" not in offered(section).values()


def test_he_is_not_another_than_whom_the_article_is_about():
    section = titled(
        "Benjamin Hawes",
        "In 1857 a reform of the War Office brought Hawes into a new post.",
        "In 1860 Charles Babbage was dealing with Hawes.",
        "He died on 15 May 1862.",
    )
    assert not [q for q in offered(section) if "Babbage" in q]


@pytest.mark.parametrize(
    ("title", "sentences", "unwanted"),
    [
        (
            "SS United States",
            (
                "The crossing of the liner beat the Queen Mary's time by ten hours.",
                "She was put on alert during the Cuban Missile Crisis in 1962.",
            ),
            "Queen Mary",
        ),
        (
            "Interstate Commerce Commission",
            (
                "The Elkins Act of 1903 punished rebates.",
                "In 1913 it was told to determine the value of every railroad in the country.",
            ),
            "Elkins Act",
        ),
        (
            "Lacey Act of 1900",
            (
                "Congress dealt with fish through the Black Bass Act of 1926.",
                "The 2008 farm bill extended the Act to a broad range of plants and plant products.",
            ),
            "Black Bass",
        ),
        (
            "Lacey Act of 1900",
            (
                "In Geer v. Connecticut, the Supreme Court confirmed that a state could control the game.",
                "His bill used the power of Congress over interstate commerce to back up the rules of the states.",
            ),
            "Geer",
        ),
        (
            "Wickard v. Filburn",
            (
                "Prices fell during the Great Depression, and the Agricultural Adjustment Act of 1938 raised them.",
                "Under the statute, the secretary of agriculture announced a national acreage allotment.",
            ),
            "Depression, and",
        ),
        (
            "Hepburn Act",
            (
                "In 1897 the Supreme Court held that the commission had no authority to fix rates for the future.",
                "It could declare a charge unreasonable in 1898.",
            ),
            "unreasonable",
        ),
        (
            "Learned Hand",
            (
                "Learned Hand served as a federal judge in New York for 52 years.",
                "He was appointed to the district court in 1909 and promoted to the Court of Appeals in 1924.",
            ),
            "promote ",
        ),
    ],
    ids=["ship", "told", "the act", "party", "two names", "what was said", "participle"],
)
def test_what_blind_readers_refused_of_unseen_texts_is_held_back(title, sentences, unwanted):
    section = titled(title, *sentences)
    assert not [q for q, a in offered(section).items() if unwanted in q or unwanted in a]


def doubts_of(section: Section, word: str) -> set[str]:
    """The doubts of all candidates whose question holds the word; a test that finds none of them proves nothing."""
    found = [s for s in rules.candidates(section) if word in s.candidate.question]
    assert found
    return {d for s in found for d in s.doubts}


@pytest.mark.parametrize(
    ("doubt", "title", "other", "sentences"),
    [
        (
            "the text is about another person of that sex",
            "Helen Vendler",
            "Elizabeth Bishop",
            ("Helen Vendler wrote the introduction to a volume of letters.", "In 1976 she moved to Boston."),
        ),
        (
            "the noun could as well mean what the text is about",
            "Atlas Copco",
            "Edwards Vacuum",
            (
                "Atlas Copco Group is a company from Sweden that bought Edwards in 2014.",
                "In 2020 the company opened a new service centre in Dublin.",
            ),
        ),
        (
            "the pronoun could as well mean what the text is about",
            "Revenue Act of 1924",
            "United States Tax Court",
            (
                "The Revenue Act of 1924 created the Board of Tax Appeals in Washington.",
                "In July 1924 its first members were appointed by Calvin Coolidge.",
            ),
        ),
    ],
)
def test_what_an_article_is_about_may_be_meant_rather_than_another(doubt, title, other, sentences):
    named = title.split()[0]
    assert doubt in doubts_of(titled(other, *sentences), named)
    assert doubt not in doubts_of(titled(title, *sentences), named)


@pytest.mark.parametrize("title", ["Donoghue v Stevenson", "Donoghue v. Stevenson"])
def test_a_case_is_a_case_however_its_v_is_written(title):
    assert anchoring.wording(title) == f"In {title},"
    assert topic.kind(title) == "event"


def test_a_surname_cut_from_a_longer_name_is_doubted():
    text = "left Harvard in 1951 to start a business with savings of 600 dollars."
    section = titled("Wang Laboratories", "An Wang was an engineer in Boston.", f"He {text}")
    assert "the name may be a part of a longer one" in doubts_of(section, "Harvard")


def test_an_answer_that_is_a_bare_noun_is_doubted(monkeypatch):
    monkeypatch.setattr(rules, "FLOOR", 0.0)
    section = titled("Barbara McClintock", "Barbara McClintock was an American scientist.", "She developed techniques.")
    assert "the question says too little" in doubts_of(section, "develop")

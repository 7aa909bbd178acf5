"""The embedded default: what it offers, what it refuses to guess, and what its panel sees."""

import dataclasses
from pathlib import Path

import pytest

from generation import rules
from generation.errors import Abstention
from generation.records import PROBLEM_CODES, Candidate, Round, Section, Verdict
from tests.test_resolver import ACT, passage

SHARED = Path(__file__).parents[2] / "shared" / "data" / "freshwiki"
COPYRIGHT = passage(
    ACT,
    "The Act was signed into law by President Gerald Ford on October 19, 1976.",
    "It spells out the basic rights of copyright holders.",
)
LIKELY = 0.6
"""Above it a question is rather good than not; the default asks for more."""
CHAIN = passage(
    "Congress passed the Clean Harbors Act in 1987 after a long debate about the cost of the plan.",
    "The Act created a fund of 40 million dollars.",
    "It obliges owners of large ports to test sea water every month.",
)


def best(section: Section) -> Candidate:
    return rules.candidates(section)[0].candidate


async def verdicts(section: Section, candidate: Candidate) -> dict[str, Verdict]:
    return {r.name: await r.judge(section, candidate) for r in rules.panel()}


async def test_the_papers_copyright_example_is_found():
    found = {(c.candidate.question, c.candidate.answer) for c in rules.candidates(COPYRIGHT)}
    assert ("What does the Copyright Act of 1976 spell out?", "the basic rights of copyright holders") in found


async def test_candidates_hold_the_datasets_invariants():
    for section in (COPYRIGHT, CHAIN):
        for scored in rules.candidates(section):
            candidate, texts = scored.candidate, [s.text for s in section.sentences]
            indices = candidate.required_sentence_indices
            assert 2 <= len(indices) <= 3 and list(indices) == sorted(set(indices))
            assert any(candidate.answer in texts[i] for i in indices)
            assert 0 < scored.confidence <= 1
            for reference in candidate.coreferences:
                assert reference.mention.sentence_index != reference.antecedent.sentence_index
                for span in (reference.mention, reference.antecedent):
                    assert span.sentence_index in indices
                    assert texts[span.sentence_index][span.start : span.end] == span.text
            assert {s.sentence_index for s in candidate.derivation} <= set(indices)


async def test_the_question_names_the_antecedent_not_the_mention():
    for scored in rules.candidates(COPYRIGHT):
        assert "Copyright Act of 1976" in f"{scored.candidate.question} {scored.candidate.answer}"
        assert " it" not in f" {scored.candidate.question.lower()}"


async def test_a_link_that_a_reader_needs_is_required_too():
    found = next(c.candidate for c in rules.candidates(CHAIN) if c.candidate.question.startswith("What does"))
    assert found.question == "What does the Clean Harbors Act oblige owners of large ports to do?"
    assert found.required_sentence_indices == (0, 1, 2)
    assert [c.mention.text for c in found.coreferences] == ["The Act", "It"]


async def test_two_names_from_two_sentences_stand_in_one_question():
    section = passage(
        "The Clean Ports Act was passed in 1994.",
        "The Harbor Safety Commission was set up in the following year.",
        "The Act requires the commission to publish a list of unsafe docks.",
    )
    found = {s.candidate.question: s.candidate for s in rules.candidates(section)}
    asked = found["What does the Clean Ports Act require the Harbor Safety Commission to do?"]
    assert asked.required_sentence_indices == (0, 1, 2)


async def test_a_description_stands_in_where_there_is_no_name():
    section = passage(
        "A Telegram channel linked to the Wagner Group reported the crash on Monday.",
        "The channel revealed that residents had heard two loud noises.",
    )
    assert best(section).question == "What did the Telegram channel linked to the Wagner Group reveal?"


@pytest.mark.parametrize(
    "sentences",
    [
        (ACT, "If Congress agrees, it will protect recipes from 2030 on."),
        ("Mary Jones met Ann Smith in Boston.", "She won the race."),
        ("In 1992, Edwards Corporation purchased Electrotech Corporation.", "It was based in Nailsea."),
        ("When he was minister, John Kallergis formed a party.", "The party lost the election."),
        (ACT, "It covers this."),
        (ACT, "It repealed the bill."),
    ],
    ids=["condition", "two women", "two companies", "cataphora", "deictic", "bare answer"],
)
async def test_nothing_sure_is_offered_where_a_reader_would_doubt(sentences):
    assert rules.RuleGenerator(LIKELY).candidates(passage(*sentences)) == []


@pytest.mark.parametrize(
    ("sentences", "question", "answer"),
    [
        (
            (ACT, "It was praised by printers in Ohio in 1979."),
            "Which act was praised by printers in Ohio in 1979?",
            None,
        ),
        (
            ("Mary Jones grew up in Boston.", "She founded a school for deaf children in 1921."),
            "Who founded a school for deaf children in 1921?",
            "Mary Jones",
        ),
        (
            ("Senator Huey Long spoke in Baton Rouge.", "A doctor shot the senator in September 1935."),
            "Who did a doctor shoot in September 1935?",
            "Senator Huey Long",
        ),
        (
            ("Mary Jones grew up in Boston.", "Her first novel sold 40,000 copies in Canada."),
            "Whose first novel sold 40,000 copies in Canada?",
            "Mary Jones",
        ),
    ],
    ids=["which", "who", "object", "whose"],
)
async def test_what_a_mention_goes_back_to_is_asked_for(sentences, question, answer):
    found = {c.candidate.question: c.candidate for c in rules.candidates(passage(*sentences))}
    assert question in found, sorted(found)
    assert found[question].answer == (answer or "Copyright Act of 1976")
    assert found[question].required_sentence_indices == (0, 1)


async def test_a_pronoun_for_what_is_asked_for_stays_a_pronoun():
    section = passage("Fred Darby made lumber in Georgia.", "He sold his mill in Savannah to a bank in 1939.")
    assert "Who sold his mill in Savannah to a bank in 1939?" in {
        c.candidate.question for c in rules.candidates(section)
    }


@pytest.mark.parametrize(
    "sentences",
    [
        ("Mary Jones met a plumber in Boston.", "He was late."),
        ("Dr. Ann Lee trained Dr. Mary Jones in Boston.", "The doctor sold a clinic in Ohio in 1950."),
    ],
    ids=["no one fits", "two doctors"],
)
async def test_nobody_is_asked_for_where_nobody_fits_or_two_could_be_meant(sentences):
    assert rules.RuleGenerator(LIKELY).candidates(passage(*sentences)) == []


async def test_a_clause_told_by_the_way_is_asked_about():
    section = passage("Mary Jones grew up in Boston.", "After she had left Ohio in 1921, the school closed.")
    assert "When had Mary Jones left Ohio?" in {c.candidate.question for c in rules.candidates(section)}


async def test_confidence_falls_with_a_doubt_that_readers_shared():
    sure = rules.candidates(
        passage("Mary Jones grew up in Boston.", "She founded a school for deaf children in 1921.")
    )[0]
    from generation.language import confidence

    for doubt in ("the text is about another person of that sex", "what the question says could be true of many"):
        assert confidence.of(confidence.with_doubts(sure.traits, [doubt])) < sure.confidence - 0.1


async def test_the_same_passage_gives_the_same_candidates():
    again = passage(*(s.text for s in COPYRIGHT.sentences))
    assert rules.candidates(COPYRIGHT) == rules.candidates(again)


async def test_a_refused_candidate_is_followed_by_another_and_then_by_abstention():
    generator, rounds, seen = rules.RuleGenerator(LIKELY), [], set()
    with pytest.raises(Abstention, match="turned down"):
        while True:
            candidate = await generator.draft(COPYRIGHT, rounds)
            assert candidate not in seen
            seen.add(candidate)
            rounds.append(Round(len(rounds), candidate))
    assert len(seen) >= 2


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        ((ACT,), "fewer than two sentences"),
        (("Rain fell all night.", "Roads were closed in the morning."), "names"),
        ((ACT, "The Berne Convention protects authors abroad."), "refers back"),
        ((ACT, "Did it change the law?"), "plain fact"),
        (("Mary Jones met Ann Smith.", "She was late."), "plain fact"),
        ((ACT, "It did not protect recipes."), "plain fact"),
    ],
    ids=["one sentence", "no name", "no anaphor", "a question", "two women", "negation"],
)
async def test_it_abstains_and_says_why(sentences, reason):
    with pytest.raises(Abstention, match=reason) as caught:
        await rules.RuleGenerator().draft(passage(*sentences), [])
    assert len(str(caught.value)) > 20


async def test_lower_confidence_gives_more_drafts():
    counts = [len(rules.RuleGenerator(c).candidates(COPYRIGHT)) for c in (0.0, 0.5, 0.99)]
    assert counts[0] >= counts[1] >= counts[2] == 0 < counts[1]


@pytest.mark.parametrize("section", [COPYRIGHT, CHAIN], ids=["two sentences", "three sentences"])
async def test_the_panel_accepts_the_best(section):
    assert all(v.is_quality for v in (await verdicts(section, best(section))).values())


def changed(**changes) -> Candidate:
    candidate = next(c.candidate for c in rules.candidates(COPYRIGHT) if c.candidate.question.startswith("What does"))
    return dataclasses.replace(candidate, **changes)


@pytest.mark.parametrize(
    ("changes", "reviewer", "code"),
    [
        ({"answer": "the basic rights of printers"}, "information_accuracy", "wrong_information"),
        ({"answer": "the basic rights of"}, "linguistic_quality", "incomplete_answer"),
        ({"question": "What does it spell out?"}, "linguistic_quality", "ambiguous_question"),
        ({"question": "What does it spell out?"}, "content_cohesion", "coreference_error"),
        (
            {"question": "What does the Copyright Act of 1976 spell out, and when was it signed?"},
            "linguistic_quality",
            "compound_question",
        ),
        ({"question": "When does the Copyright Act of 1976 spell out?"}, "information_accuracy", "wrong_information"),
        (
            {"question": "What does the Copyright Act of 1976 spell out for Canadian composers?"},
            "content_cohesion",
            "wrong_information",
        ),
        ({"question": "What do the Copyright Act of 1976 spells out."}, "linguistic_quality", "formatting"),
        ({"question": "What did the Copyright Act of 1976 spelled out?"}, "linguistic_quality", "other"),
        ({"question": "The Copyright Act of 1976 spells out what rights?"}, "linguistic_quality", "other"),
        ({"required_sentence_indices": (0, 1, 2)}, "required_sentences", "irrelevant_sentences"),
        ({"required_sentence_indices": (1, 2)}, "required_sentences", "missing_sentences"),
    ],
)
async def test_the_panel_sees_what_is_wrong(changes, reviewer, code):
    verdict = (await verdicts(COPYRIGHT, changed(**changes)))[reviewer]
    assert not verdict.is_quality
    assert code in verdict.problems and set(verdict.problems) <= set(PROBLEM_CODES)
    assert verdict.reason.endswith((".", "!"))


async def test_the_panel_is_the_papers():
    names = [r.name for r in rules.panel()]
    assert names == ["content_cohesion", "information_accuracy", "linguistic_quality", "required_sentences"]


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data/freshwiki")
def test_real_paragraphs_never_raise_and_keep_their_offsets():
    for path in sorted(SHARED.glob("*.md"))[:4]:
        for block in path.read_text(encoding="utf-8").split("\n\n")[:8]:
            section = passage(*(s + "." for s in block.split(". ") if s.strip()))
            for scored in rules.candidates(section):
                for reference in scored.candidate.coreferences:
                    span = reference.mention
                    assert section.sentences[span.sentence_index].text[span.start : span.end] == span.text


# drafts of low confidence

NO_YEAR = passage(
    "Ruth Hale was born in Boston in 1901.",
    "She was a novelist.",
    "She left office in August.",
)


ARTIST = "Martin Porter is an American artist of some renown."


async def test_a_question_that_says_too_little_is_no_more_than_a_draft(monkeypatch):
    monkeypatch.setattr(rules, "FLOOR", 0.0)
    found = [s for s in rules.candidates(NO_YEAR) if s.candidate.question == "Who left office in August?"]
    assert found and found[0].doubts and found[0].confidence < rules.MIN_CONFIDENCE


@pytest.mark.parametrize(
    ("fact", "offered"),
    [
        ("He attended the California College of the Arts.", False),
        ("He founded the California College of the Arts.", True),
        ("He attended the California College of the Arts in Oakland in 1998.", True),
        ("He signed with Katapult Records in 2006.", False),
        ("He was born in Eureka, Illinois, on May 16, 1894.", True),
    ],
)
async def test_who_is_likely_only_where_the_question_singles_one_out(fact, offered):
    question = f"Who {fact.removeprefix('He ').removesuffix('.')}?"
    found = next(s for s in rules.candidates(passage(ARTIST, fact)) if s.candidate.question == question)
    assert (found.confidence >= LIKELY) is offered


async def test_a_draft_below_the_default_confidence_is_marked_in_the_outcome():
    section = passage(ARTIST, "He attended the California College of the Arts.")
    generator = rules.RuleGenerator(rules.FLOOR)
    found = next(s for s in rules.candidates(section) if s.confidence < rules.MIN_CONFIDENCE)
    assert "low confidence" in generator.remark(section, found.candidate)


async def test_a_candidate_of_the_default_confidence_is_not_marked():
    section = passage("Mary Jones grew up in Boston.", "She founded a school for deaf children in 1921.")
    found = rules.candidates(section)[0]
    assert found.confidence >= rules.MIN_CONFIDENCE
    assert rules.RuleGenerator().remark(section, found.candidate) == ""


async def test_nobody_is_told_apart_by_a_pronoun_that_could_mean_either():
    section = passage(
        "Ann Porter met Mary Lake in Vienna in 1931.",
        "She moved to Paris and opened a bookshop in the same year.",
    )
    assert all(s.doubts for s in rules.candidates(section) if s.candidate.kind == "pronominal") or not rules.candidates(
        section
    )


async def test_nearly_is_never_left_out():
    section = passage(
        "The Harbor Safety Commission was set up in Boston in 1994.",
        "Its budget nearly doubled between 1998 and 2013.",
    )
    asked = [s.candidate.question for s in rules.candidates(section) if "budget" in s.candidate.question]
    assert all("nearly" in question for question in asked)


# what the title tells


def titled(title: str, *sentences: str) -> Section:
    return dataclasses.replace(passage(*sentences), article_title=title)


FILM = (
    "Silent Harvest premiered in Lisbon on May 3, 2019.",
    "Critics wrote about the light and the long silences.",
    "The film earned $9 million in Portugal.",
)


async def test_the_title_says_what_the_film_is():
    questions = {s.candidate.question for s in rules.candidates(titled("Silent Harvest", *FILM))}
    assert "How much did Silent Harvest earn in Portugal?" in questions
    assert not any("Silent Harvest" in s.candidate.question for s in rules.candidates(titled("Portugal", *FILM)))


async def test_a_title_in_brackets_and_with_a_colon_is_one_name():
    text = ("Silent Harvest: The Last Mile opened in Lisbon in 2019.", "The film earned $9 million in Portugal.")
    found = rules.candidates(titled("Silent Harvest: The Last Mile (film)", *text))
    assert any(s.candidate.coreferences[0].antecedent.text == "Silent Harvest: The Last Mile" for s in found)


async def test_who_somebody_is_makes_a_question_mean_one_person():
    section = passage(
        "Julius Lind, a physicist born in Lemberg, moved to Canada in 1925.",
        "He filed a patent in Ottawa before the decade was over.",
    )
    found = {s.candidate.question: s.candidate.required_sentence_indices for s in rules.candidates(section)}
    assert found.get("Which physicist born in Lemberg filed a patent in Ottawa?") == (0, 1)


@pytest.mark.parametrize(
    "sentence", ["He found a post in a country school.", "He was made an earl.", "He sat on a council of elders."]
)
async def test_what_could_be_true_of_many_is_never_offered(sentence):
    section = passage("Julius Lind moved to Canada in 1925.", sentence)
    assert not [s for s in rules.RuleGenerator(LIKELY).candidates(section) if s.candidate.answer == "Julius Lind"]

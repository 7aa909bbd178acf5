"""Shortcuts: each sees only what its name says, none learns from its own passage, and chance is what it is called."""

from dataclasses import replace
from itertools import product
from math import prod

import pytest

from evaluation import baselines
from evaluation.examples import Document, Example, ExampleSet, Place, split

HARBOR = "The Harbor Act passed in 1974. Mary Cole wrote most of the bill. It requires two rafts on every ferry."
BRIDGE = "The Bridge Act passed in 1981. John Hale wrote it. It requires two rails on every bridge."


def example_of(id, text, question, answer, required):
    spans = split(text)
    return Example(
        id=f"{id}:{answer}",
        question=question,
        answers=(answer,),
        context=(Place(id, 0, len(text)),),
        evidence=tuple(Place(id, *spans[i]) for i in required),
        group=id,
    )


def set_of(*examples):
    texts = {"harbor": HARBOR, "bridge": BRIDGE}
    documents = {id: Document(id, id, text, (), split(text)) for id, text in texts.items()}
    return ExampleSet("two", "craqan", documents, tuple(examples))


WHEN_HARBOR = example_of("harbor", HARBOR, "When did the Harbor Act pass?", "1974", [0, 1])
WHO_HARBOR = example_of("harbor", HARBOR, "Who wrote most of the act of 1974?", "Mary Cole", [0, 1])
WHAT_HARBOR = example_of("harbor", HARBOR, "What does the Harbor Act require on every ferry?", "two rafts", [0, 2])
WHEN_BRIDGE = example_of("bridge", BRIDGE, "When did the Bridge Act pass?", "1981", [0, 1])
SET = set_of(WHEN_HARBOR, WHO_HARBOR, WHAT_HARBOR, WHEN_BRIDGE)


def test_question_only_readers_learn_from_other_documents_alone():
    for read in (baselines.most_frequent, baselines.nearest_question):
        found = read(SET)
        assert found["harbor:1974"] == "1981" and found["bridge:1981"] == "1974"


def test_question_only_readers_do_not_read_the_text():
    other = replace(SET, documents={id: replace(d, text="x" * len(d.text)) for id, d in SET.documents.items()})
    for read in (baselines.most_frequent, baselines.nearest_question):
        assert read(other) == read(SET)


def test_a_question_that_nothing_is_like_gets_no_answer():
    alone = replace(SET, examples=(WHEN_HARBOR,))
    assert baselines.most_frequent(alone) == baselines.nearest_question(alone) == {"harbor:1974": ""}


def test_the_last_sentence_is_all_that_its_reader_sees():
    found = baselines.last_sentence(SET)
    assert found["harbor:two rafts"].startswith("two rafts")
    assert all(answer in "It requires two rafts on every ferry." for id, answer in found.items() if "harbor" in id)


def test_the_answers_sentence_is_the_last_required_one_that_holds_it():
    assert SET.text(baselines.fact(SET, WHO_HARBOR)) == "Mary Cole wrote most of the bill."
    assert baselines.fact(SET, replace(WHO_HARBOR, answers=("nobody",))) is None
    assert baselines.answer_sentence(SET)["harbor:Mary Cole"] == "Mary Cole"


def test_the_first_of_its_kind_is_not_one_that_the_question_names():
    assert baselines.first_of_its_kind(SET)["harbor:1974"] == "1974"
    assert baselines.first_of_its_kind(SET)["harbor:Mary Cole"] == "Mary Cole"


def test_the_whole_passage_is_read_without_following_a_reference():
    text = HARBOR.replace("The Harbor Act passed in 1974.", "Nothing of note happened in those years.")
    other = replace(WHAT_HARBOR, context=(Place("harbor", 0, len(text)),), evidence=())
    cut = ExampleSet("one", "craqan", {"harbor": Document("harbor", "", text, (), split(text))}, (other,))
    assert baselines.whole_context(cut)[other.id].startswith("two rafts")
    assert baselines.by_reference(cut)[other.id] == ""


@pytest.mark.parametrize("name", baselines.READERS)
def test_each_reader_answers_every_question_of_any_set(name):
    bare = Example("bare", "?", ("x",), ())
    odd = replace(SET, examples=(*SET.examples, bare, replace(WHO_HARBOR, id="no evidence", evidence=())))
    found = baselines.READERS[name](odd)
    assert found.keys() == {e.id for e in odd.examples}
    assert all(0 <= s.em <= s.f1 <= 1 for s in baselines.scored(odd, found).values())


def test_the_first_entity_is_counted_against_one_by_their_number():
    found = baselines.first_entity(SET)
    # "1974" is the second of two or the only entity, "Mary Cole" the only one; "two rafts" is none
    assert found.questions >= 2
    assert 0 < found.chance <= 1 and 0 <= found.first <= 1
    assert baselines.first_entity(replace(SET, examples=())) == (0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("chances", [(0.5, 0.25, 1.0), (0.1,), (1 / 3, 1 / 3, 0.2, 0.5)])
def test_the_probability_of_so_many_firsts_is_exact(chances):
    for least in range(len(chances) + 1):
        wanted = sum(
            prod(c if hit else 1 - c for c, hit in zip(chances, hits, strict=True))
            for hits in product((0, 1), repeat=len(chances))
            if sum(hits) >= least
        )
        assert baselines.at_least(least, chances) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("In what year did it end?", "what year"),
        ("For how long?", "how long"),
        ("Of WHOM was it?", "whom"),
        ("So?", ""),
    ],
)
def test_what_a_question_asks_with(question, words):
    assert baselines.asks(question) == words

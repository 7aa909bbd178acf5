"""Derivations: R4C's scores as its script gives them, its baselines from text, and the derivations of our pairs."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import r4c
from evaluation import derivations, extraction, facts
from evaluation.answers import Score
from generation.errors import UsageError
from generation.records import Candidate, Coreference, Span, Step
from tests.helpers import PASSAGE, candidate_of
from tests.test_answers import golden

SCORERS: dict[str, derivations.Scorer] = {"e": "entity", "r": "relation", "er": "full"}
FERRY = ("Harbor Safety Act", "requires", "two rafts")
OTHER = ("Mary Cole", "wrote", "the bill")


def test_every_golden_case_agrees_with_the_official_script_reference_order_included():
    compared = 0
    for case in golden("r4c"):
        prediction = derivations.from_r4c(case["prediction"])
        orders = case.get("official_by_reference_order") or {"012": case["official"]}
        for order, theirs in orders.items():
            references = [derivations.from_r4c(case["references"][int(i)]) for i in order]
            for key, scorer in SCORERS.items():
                ours = derivations.score(prediction, references, scorer)
                if theirs is None:
                    continue
                wanted = (theirs[key]["prec"], theirs[key]["recall"], theirs[key]["f1"])
                assert ours == pytest.approx(wanted, abs=1e-9, rel=0), (case["id"], order, key)
                compared += 1
    assert compared == 3 * (17 + 2 * 6)


def test_the_published_tables_are_reproduced(capsys):
    if not r4c.FOLDER.exists():
        pytest.skip(f"{r4c.FOLDER} is not here")
    assert r4c.main([]) == 0
    assert "DIFFERENT" not in capsys.readouterr().out


def test_the_benchmark_says_which_folder_it_wants(tmp_path, capsys):
    assert r4c.main([str(tmp_path)]) == 2
    assert "dev_csf.json" in capsys.readouterr().err


def test_the_scorers_look_at_entities_relations_or_both():
    reference = [("Harbor Safety Act", "demands", "two rafts")]
    entity, relation, full = (derivations.score([FERRY], [reference], name) for name in SCORERS.values())
    assert entity == (1.0, 1.0, 1.0)
    assert relation.f1 == pytest.approx(derivations.similarity("requires", "demands"))
    assert full.f1 == pytest.approx((2 + relation.f1) / 3)


def test_an_extra_step_costs_precision_and_a_lacking_one_recall():
    assert derivations.score([FERRY, OTHER], [[FERRY]]).precision == 0.5
    assert derivations.score([FERRY, OTHER], [[FERRY]]).recall == 1.0
    assert derivations.score([FERRY], [[FERRY, OTHER]]).recall == 0.5


def test_no_two_steps_are_paired_with_the_same_reference_step():
    assert derivations.score([FERRY, FERRY], [[FERRY]]) == Score(0.5, 1.0, 2 / 3)


def test_the_reference_with_the_highest_sum_counts_even_if_another_has_the_better_f1():
    # Against [FERRY] the F1 would be 1; the longer reference has the higher sum.
    longer = [FERRY, ("Harbor Safety Acts", "require", "rafts"), OTHER, OTHER, OTHER]
    assert derivations.score([FERRY, FERRY], [[FERRY], longer]).recall < 0.5


def test_of_references_that_tie_the_first_counts():
    short, long = [FERRY], [FERRY, ("zz", "zz", "zz")]
    assert derivations.score([FERRY], [short, long]).recall == 1.0
    assert derivations.score([FERRY], [long, short]).recall == 0.5


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [("Act", "act", 1.0), ("act", "acts", 0.75), ("", "act", 0.0), ("", "", 1.0), ("abc", "xyz", 0.0)],
)
def test_similarity_is_normalised_edit_distance_without_case(a, b, wanted):
    assert derivations.similarity(a, b) == wanted


def test_a_letter_that_grows_in_lower_case_gives_no_negative_step():
    assert derivations.similarity("İ", "x") == -1.0  # as in the official script
    assert derivations.score([("İ", "İ", "İ")], [[("x", "x", "x")]]) == Score(0.0, 0.0, 0.0)
    assert derivations.score([FERRY, ("İ", "İ", "İ")], [[FERRY, ("x", "x", "x")]]).precision >= 0.5


@pytest.mark.parametrize(("derivation", "references"), [([], [[FERRY]]), ([FERRY], [[], []])])
def test_nothing_against_something_scores_zero(derivation, references):
    assert derivations.score(derivation, references) == Score(0.0, 0.0, 0.0)


def test_a_call_without_references_or_with_an_unknown_scorer_is_refused():
    with pytest.raises(UsageError, match="at least one reference"):
        derivations.score([FERRY], [])
    with pytest.raises(UsageError, match="entity, relation, full"):
        derivations.score([FERRY], [[FERRY]], "er")  # type: ignore[arg-type]


STEPS = st.lists(st.tuples(*[st.text("abc", max_size=3)] * 3), min_size=1, max_size=4)


@given(STEPS, STEPS)
def test_the_pairing_is_the_best_of_all(derivation, reference):
    short, long = sorted((derivation, reference), key=len)

    def step(a, b):
        return sum(derivations.similarity(x, y) for x, y in zip(a, b, strict=True)) / 3

    best = max(sum(map(step, short, chosen)) for chosen in permutations(long, len(short)))
    score = derivations.score(derivation, [reference])
    assert score.precision * len(derivation) == pytest.approx(best, abs=1e-9)
    assert score.recall * len(reference) == pytest.approx(best, abs=1e-9)


def test_figures_over_a_file_are_means_of_the_questions_figures():
    steps = [["t", 0, list(FERRY)]]
    two = [["t", 0, list(FERRY)], ["t", 1, ["zzzz", "zzzz", "zzzz"]]]
    means = derivations.evaluate({"q1": steps, "q2": two, "unknown": two}, {"q1": [steps] * 3, "q2": [steps] * 3})
    assert means["full"] == pytest.approx(Score(0.75, 1.0, (1 + 2 / 3) / 2))


def test_more_references_than_there_are_cannot_be_used():
    steps = [["t", 0, list(FERRY)]]
    with pytest.raises(UsageError, match="q1 has 2 references, so 3"):
        derivations.evaluate({"q1": steps}, {"q1": [steps] * 2})


def test_derivations_are_counted_by_their_steps():
    step = ["t", 0, list(FERRY)]
    assert derivations.count_steps({"q": [[step] * 2, [step] * 3, [step] * 6]}) == (1, 1, 1, 3)


def test_core_takes_title_root_and_first_child_to_the_right():
    sentences = [
        ("Harbor Safety Act", " It was passed in 1974 after a long debate."),
        ("Mary Cole", "Mary Cole is an American senator from Maine."),
        ("Maine", "Rain fell."),
    ]
    assert extraction.core(sentences) == [
        ("Harbor Safety Act", "was passed in", "1974"),
        ("Mary Cole", "is", "an American senator"),
    ]


def test_everything_states_each_complement_and_each_object_of_a_preposition():
    found = extraction.everything(["Mary Cole wrote the bill and moved to Boston in 1974."])
    assert found == [
        ("Mary Cole", "wrote", "the bill"),
        ("Mary Cole", "moved to", "Boston"),
        ("Mary Cole", "moved in", "1974"),
    ]


def test_the_derivation_of_a_pair_names_what_the_mention_stands_for_and_then_the_fact():
    steps = facts.of_candidate(candidate_of(), PASSAGE)
    assert steps == (
        Step("It", "refers to", "The Harbor Safety Act", 2),
        Step("The Harbor Safety Act", "requires every ferry to carry", "two rafts", 2),
    )


CHAIN = (
    "Four students in Galway founded the Kestrel Quartet.",
    "Its first recording was made in a disused lighthouse.",
    "That album sold eleven copies before Christmas.",
)


def span(index: int, text: str) -> Span:
    start = CHAIN[index].index(text)
    return Span(index, start, start + len(text), text)


def test_a_chain_of_three_sentences_gives_a_fact_for_the_one_in_the_middle():
    links = (
        Coreference("pronominal", span(1, "Its"), span(0, "the Kestrel Quartet")),
        Coreference("nominal", span(2, "That album"), span(1, "Its first recording")),
    )
    steps = facts.of_candidate(Candidate("How many ...?", "Eleven.", (0, 1, 2), links), CHAIN)
    recording = "the Kestrel Quartet's first recording"
    assert steps == (
        Step("Its", "refers to", "the Kestrel Quartet", 1),
        Step(recording, "was made in", "a disused lighthouse", 1),
        Step("That album", "refers to", recording, 2),
        Step(recording, "sold", "eleven copies", 2),
    )


def pair(first: str, second: str, antecedent: str, mention: str, answer: str) -> tuple[Step, ...]:
    """The derivation of a pair on two sentences with one link."""
    here, there = second.index(mention), first.index(antecedent)
    link = Coreference(
        "pronominal",
        Span(1, here, here + len(mention), mention),
        Span(0, there, there + len(antecedent), antecedent),
    )
    return facts.of_candidate(Candidate("?", answer, (0, 1), (link,)), (first, second))


FACTS: dict[str, tuple[str, str, str, tuple[str, str]]] = {
    "a complement": ("It requires two rafts.", "It", "two rafts", ("requires", "two rafts")),
    "a count": ("It lists nine exemptions.", "It", "Nine.", ("lists", "nine exemptions")),
    "money": ("It cost $40 and failed.", "It", "$40.", ("cost", "$40")),
    "a second verb": ("It was amended and applies to ferries.", "It", "ferries", ("applies to", "ferries")),
    "a phrase that stands first": (
        "In 1974, it banned the use of tar.",
        "it",
        "1974",
        ("banned the use of tar in", "1974"),
    ),
}


@pytest.mark.parametrize(("second", "mention", "answer", "wanted"), FACTS.values(), ids=FACTS)
def test_the_fact_runs_from_the_name_over_the_verb_to_the_answer(second, mention, answer, wanted):
    steps = pair("The Harbor Act was passed by Congress.", second, "The Harbor Act", mention, answer)
    assert steps[-1] == Step("The Harbor Act", wanted[0], wanted[1], 1)


def test_where_the_answer_is_the_subject_the_fact_runs_to_the_mention():
    steps = pair("Daniella fell ill.", "Alexis Warr replaced her for two weeks.", "Daniella", "her", "Alexis Warr")
    assert steps[-1] == Step("Alexis Warr", "replaced", "Daniella", 1)


def test_a_possessive_mention_becomes_a_possessive_name():
    steps = pair("Noor Haddad runs a bank.", "Her brother lives in Oslo.", "Noor Haddad", "Her", "Oslo")
    assert steps[-1] == Step("Noor Haddad's brother", "lives in", "Oslo", 1)


def test_two_mentions_in_one_phrase_both_get_their_names():
    sentences = ("Omar Said met Lena Holt.", "His plan for her farm failed in 1974.")
    links = (
        Coreference("pronominal", Span(1, 0, 3, "His"), Span(0, 0, 9, "Omar Said")),
        Coreference("pronominal", Span(1, 13, 16, "her"), Span(0, 14, 23, "Lena Holt")),
    )
    steps = facts.of_candidate(Candidate("?", "1974", (0, 1), links), sentences)
    assert steps[-1] == Step("Omar Said's plan for Lena Holt's farm", "failed in", "1974", 1)


@pytest.mark.parametrize("answer", ["nine cows", "...", "*"])
def test_an_answer_that_stands_nowhere_gives_links_and_no_invented_fact(answer):
    steps = facts.of_candidate(candidate_of(answer=answer), PASSAGE)
    assert [step.relation for step in steps] == ["refers to"]


def test_without_a_clause_the_fact_runs_from_the_mention():
    sentences = ("The Harbor Safety Act was passed.", "It: two rafts.")
    link = Coreference("pronominal", Span(1, 0, 2, "It"), Span(0, 0, 21, "The Harbor Safety Act"))
    steps = facts.of_candidate(Candidate("?", "rafts", (0, 1), (link,)), sentences)
    assert steps[-1] == Step("The Harbor Safety Act", "two", "rafts", 1)


def test_a_link_onto_itself_ends():
    here = Span(2, 0, 2, "It")
    steps = facts.of_candidate(candidate_of(coreferences=[Coreference("pronominal", here, here)]), PASSAGE)
    assert steps[0] == Step("It", "refers to", "It", 2)


@pytest.mark.parametrize("step", [("a", "b"), ("a", "b", None), ("a", "b", "c", "d"), "abcd"])
def test_a_step_that_is_not_three_texts_is_told(step):
    with pytest.raises(UsageError, match="three texts"):
        derivations.score([step], [[("a", "b", "c")]])
    with pytest.raises(UsageError, match="three texts"):
        derivations.score([("a", "b", "c")], [[step]])


@pytest.mark.parametrize(
    ("derivation", "references"),
    [
        (None, [[FERRY]]),
        ("abc", [[FERRY]]),
        (["abc"], [[FERRY]]),
        ([FERRY], [("abc",)]),
        ([FERRY], [None]),
        ([5], [[FERRY]]),
    ],
)
def test_a_derivation_that_is_no_list_of_steps_is_one_clear_sentence(derivation, references):
    with pytest.raises(UsageError, match="A (step|derivation) is"):
        derivations.score(derivation, references)


def test_a_scorer_that_is_no_name_is_refused():
    with pytest.raises(UsageError, match="There is no scorer"):
        derivations.score([FERRY], [[FERRY]], ["full"])

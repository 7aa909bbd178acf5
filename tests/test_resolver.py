"""What refers back to what, on passages small enough that a reader is sure."""

import pytest

from generation.language import nlp, resolver
from generation.records import Section, Sentence


def passage(*sentences: str) -> Section:
    text, start, found = " ".join(sentences), 0, []
    for sentence in sentences:
        found.append(Sentence(sentence, start, start + len(sentence)))
        start += len(sentence) + 1
    return Section("s", "a", "A", (), text, 0, len(text), tuple(found))


def links(*sentences: str) -> dict[str, str]:
    return {c.mention.text: c.antecedent.text for c, _ in resolver.resolve(passage(*sentences))}


ACT = "The Copyright Act of 1976 is a copyright law of the United States."


@pytest.mark.parametrize(
    ("sentences", "mention", "name"),
    [
        ((ACT, "It spells out the basic rights of copyright holders."), "It", "The Copyright Act of 1976"),
        ((ACT, "The Act took effect on January 1, 1978."), "The Act", "The Copyright Act of 1976"),
        ((ACT, "Its authors worked for two decades."), "Its", "The Copyright Act of 1976"),
        (
            ("The Federal Trade Commission is an independent agency.", "The agency was created in 1914."),
            "The agency",
            "The Federal Trade Commission",
        ),
        (
            ("James Davis was a printer in New Bern.", "The printer published a newspaper."),
            "The printer",
            "James Davis",
        ),
        (("Mary Jones met Peter Smith in Boston.", "She taught mathematics."), "She", "Mary Jones"),
        (("Mary Jones met Peter Smith in Boston.", "His father was a banker."), "His", "Peter Smith"),
    ],
)
def test_a_mention_goes_back_to_its_name(sentences, mention, name):
    assert links(*sentences)[mention] == name


@pytest.mark.parametrize(
    "sentences",
    [
        (ACT, "It is known that many countries copied this model."),
        (ACT, "It was not until 1989 that the treaty was signed."),
        ("The senator met the mayor.", "He was late."),
        ("Mary Jones lived in Boston.", "He was a banker."),
        ("Mary Jones lived in Boston.", "It was cold that winter."),
        ("Ann Marsh lived in Boston.", "When she was minister, Mary Kallergis founded a party."),
    ],
    ids=["pleonastic", "cleft", "unnamed", "other gender", "person and it", "cataphora"],
)
def test_nothing_is_linked_where_no_name_fits(sentences):
    assert links(*sentences) == {}


def test_it_is_less_certain_where_another_name_of_its_kind_stands_by():
    alone = resolver.resolve(passage("Solara Health opened a clinic in 2001.", "It closed in 2010."))
    rival = resolver.resolve(
        passage("Solara Health Corporation bought Orion Corporation in 2001.", "It closed in 2010.")
    )
    assert not rival or rival[0][1] < alone[0][1]


def test_spans_point_at_their_text():
    section = passage(ACT, "The Act was signed in 1976.", "It spells out the rights of authors.")
    for reference, margin in resolver.resolve(section):
        assert 0 < margin <= 1
        for span in (reference.mention, reference.antecedent):
            assert section.sentences[span.sentence_index].text[span.start : span.end] == span.text


def test_fewer_sentences_resolve_as_if_there_were_no_others():
    sentences = (ACT, "The Berne Convention is a treaty.", "It protects authors abroad.")
    parse = nlp.parse(passage(*sentences))
    with_all = resolver.resolve_parse(parse)[-1]
    without = resolver.resolve_parse(parse, (0, 2))[-1]
    assert with_all.names[-1].words[0] == "berne"
    assert without.names[-1].words[0] == "copyright"


def test_white_space_and_odd_characters_do_not_move_spans():
    section = passage("The  Clean\u00a0Water Act is a law.\n", "\u200bThe  Act covers “rivers” 🏞 and lakes.")
    parse = nlp.parse(section)
    for index, (sentence, start, end) in enumerate(parse.where):
        assert section.sentences[sentence].text[start:end] == parse.doc[index].text

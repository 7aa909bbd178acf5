"""Card and datasheet: current, complete, figures by hand, and what people wrote in them is kept."""

from pathlib import Path
from typing import Any

import pytest

from generation import dataset, release
from generation.errors import InputError
from generation.releases import blocks, card, figures, page
from tests.dataset_files import ROOT


def test_the_card_and_the_datasheet_of_the_checkout_are_current() -> None:
    assert card.main(["--check"]) == 0


QUESTIONS = (
    "Why was the dataset created?",
    "Has the dataset been used already?",
    "Who funded the dataset?",
    "What are the instances?",
    "How many instances are there?",
    "What data does each instance consist of?",
    "Does the data rely on external resources?",
    "Are there recommended data splits or evaluation measures?",
    "How was the data collected?",
    "Who was involved in the collection process and what were their roles?",
    "Over what time frame was the data collected?",
    "Does the dataset contain all possible instances?",
    "If the dataset is a sample, then what is the population?",
    "What preprocessing or cleaning was done?",
    "Was the raw data saved in addition to the cleaned data?",
    "achieve the initial motivation?",
    "How is the dataset distributed?",
    "When was it released?",
    "What licence is it distributed under?",
    "Who is supporting and maintaining the dataset?",
    "Were workers told what the dataset would be used for and did they consent?",
    "could this dataset expose people to harm or legal action?",
    "does it unfairly advantage or disadvantage a particular social group?",
)


@pytest.mark.parametrize("sheet", ["DATASHEET.md", "generation/releases/datasheet.md"])
def test_every_question_of_a_datasheet_is_answered(sheet: str) -> None:
    text = (ROOT / sheet).read_text(encoding="utf-8")
    for question in QUESTIONS:
        _, found, after = text.partition(question)
        answer = after.partition("\n**")[0].partition("\n## ")[0].removeprefix("**").strip()
        assert found and answer, question


def test_the_hand_written_part_of_a_card_is_kept(data: Path, first: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    sheet = (first / "DATASHEET.md").read_text(encoding="utf-8")
    (texts / "DATASHEET.md").write_text(sheet.replace("Not stated.", "The Ministry of Silly Acts."), encoding="utf-8")
    own = "---\npretty_name: Acts\nextra_gated_prompt: 'Yes: really'\nsdk: gradio\n---\nOurs, <b>as it is</b>.\n\n"
    block = "<!-- splits: made from the data -->\nold\n<!-- end of splits -->\n"
    (texts / "README.md").write_text(own + block, encoding="utf-8")
    release.make(data, "1.0.0", tmp_path / "out", texts=texts)
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Ours, <b>as it is</b>." in readme and "| `default` |" in readme and "\nold\n" not in readme
    import yaml

    front = yaml.safe_load(readme.split("---\n")[1])
    assert front["pretty_name"] == "Acts" and front["extra_gated_prompt"] == "Yes: really" and "sdk" not in front
    assert "Silly Acts" in (tmp_path / "out" / "DATASHEET.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- splits: made from the data -->\n", "has no end"),
        ("<!-- spilts: made from the data -->\n<!-- end of spilts -->\n", 'has a block "spilts"'),
    ],
)
def test_a_block_that_cannot_be_filled_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        blocks.fill(text, {"splits": "x"}, "README.md")


def test_the_figures_are_those_of_the_rows(data: Path) -> None:
    counted = figures.count(dataset.rows_of(data))
    assert counted.counts["pairs"] == 4 and counted.counts["rejected"] == 1
    assert counted.reasons["irrelevant_sentences"] == 1 and sum(counted.reasons.values()) == 1
    assert figures.quantiles([1, 2, 3, 4, 5]) == (1.4, 3, 4.6)
    assert figures.quantiles([7]) == (7, 7, 7)
    assert "| Pairs | 4 | 261 |" in page.characteristics(counted)


def test_agreement_is_krippendorffs() -> None:
    verdicts = [[True, True], [True, False], [False, False], [True, True]]
    found = figures._agreement("people", verdicts)
    assert found is not None and found.raw == 0.75
    # 4 units, 5 yes and 3 no: observed 2/8, expected 2*5*3/(8*7)
    assert found.alpha == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_the_parts_of_the_proofs_are_counted_and_told() -> None:
    def history(**right: bool) -> dict[str, Any]:
        names = ("section", "required", "required without 0", "required without 2", "section without 0", "nothing")
        readings = [{"context": n, "answer": "x", "is_right": right.get(n.replace(" ", "_"), False)} for n in names]
        return {"proof": readings}

    histories = [
        history(section=True, required=True),
        history(section=True, required=True, required_without_2=True, nothing=True),
        history(section=True, section_without_0=True),
        {"proof": []},
    ]
    counted = figures._proof(histories)
    assert counted == {
        "read": 3, "section": 3, "required": 2, "needed": 2, "proven": 1, "replaceable": 1, "nothing": 1
    }  # fmt: skip
    assert "| all three: proven | 1 | 33.3 % |" in page.proof(figures.Figures(proof=counted))
    assert "No reader was asked" in page.proof(figures.Figures())


def test_pictures_are_drawn_of_what_there_is(first: Path, tmp_path: Path) -> None:
    from generation.releases import plots

    assert plots.draw(figures.Figures(), tmp_path) == []
    names = {path.stem for path in (first / "data" / "figures").glob("*.png")}
    assert names == {"distances", "kinds", "lengths", "reasons"}
    card_text = (first / "README.md").read_text(encoding="utf-8")
    assert all(f"(data/figures/{name}.png)" in card_text for name in names)

"""Rows and records, the invariants (each with a row that breaks it), drafts, files, and the card."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import craqan
from evaluation import adapters
from generation import dataset
from generation.errors import InputError, InvariantError, UsageError
from generation.records import Article, Candidate, Section, Sentence, candidate_from_dict
from generation.releases import assemble as assembling
from generation.releases import card, invariants
from generation.releases.assemble import assemble
from generation.releases.drafts import read_article, read_pairs
from tests.dataset_files import CONFIGS, DRAFTS, ROOT, drop, edit, repeat, rows_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    assemble(DRAFTS, tmp_path / "data", seed=0)
    return tmp_path / "data"


# --- rows and records ------------------------------------------------------------------------------------------------


def test_candidate_section_and_article_survive_the_way_into_rows_and_back() -> None:
    article, author = read_article(DRAFTS / "articles/glass-bottle-act.md")
    (draft,) = read_pairs(DRAFTS / "pairs/glass-bottle-act.jsonl", article)
    row = dataset.row_from(draft.section, draft.versions[-1], generator=author, reviewed_by=["model:one"])
    assert candidate_from_dict(row) == draft.versions[-1]
    back = dataset.article_from(json.loads(json.dumps(dataset.article_row(article, author=author))))
    assert [s.text for s in back.sections] == [s.text for s in article.sections]
    found = dataset.section_from(json.loads(json.dumps(row)), back)
    assert found.sentences == draft.section.sentences
    assert article.text[found.start : found.end] == found.text == draft.section.text


@pytest.mark.parametrize("text", ["Añ\u0301o — 𝒜 👩‍⚖️ ends.", "\u202eright to left\u202c.", "a\u2028b\x85c\x0bd."])
def test_odd_unicode_keeps_its_offsets_and_its_line_through_a_file(text: str, tmp_path: Path) -> None:
    section = Section("a/0", "a", "A", (), f"{text} It {text}", 0, 0, (), domain="law")
    spans = (Sentence(text, 0, len(text)), Sentence(f"It {text}", len(text) + 1, 2 * len(text) + 4))
    section = Section("a/0", "a", "A", (), section.text, 3, 3 + len(section.text), spans, domain="law")
    row = dataset.row_from(section, Candidate(f"What? {text}", text, (0, 1)), generator="rules", reviewed_by=[])
    dataset.write_tables({"default": {"train": [row]}}, tmp_path)
    (back,) = rows_of(tmp_path, "default")
    assert back == row
    invariants.check_row("default", back)
    assert [r for _, r in craqan.read_rows(tmp_path / "default/train.jsonl", "default")] == [row]


def test_craqan_hashes_pairs_as_the_records_do() -> None:
    parts = [["Ein Satz — 1.", "Zwei \ud800."], "q?", "a", [0, 1]]
    candidate = Candidate("q?", "a", (0, 1))
    assert craqan._digest(parts) == assembling.dataset.pair_id(parts[0], candidate)  # type: ignore[arg-type, attr-defined]


# --- the invariants of a row -----------------------------------------------------------------------------------------


def test_every_row_of_the_checkout_holds() -> None:
    counts = invariants.check_folder(ROOT / "data")
    assert set(counts["default"]) == {"train", "validation", "test"}


ROW_BREACHES: dict[str, tuple[str, Any, str]] = {
    "sentence text differs": ("default", lambda r: r["sentences"][0].update(start=1), "sentence 0 is not section_text"),
    "sentence empty": ("default", lambda r: r["sentences"][0].update(text="", end=0), "sentence 0"),
    "sentences out of order": ("default", lambda r: r["sentences"].reverse(), "starts before the end"),
    "sentence from the end": ("default", lambda r: r["sentences"][0].update(start=-9, end=-5), "sentence 0"),
    "one required": ("default", lambda r: r.update(required_sentence_indices=[0]), "requires 1 sentences"),
    "four required": ("default", lambda r: r.update(required_sentence_indices=[0, 1, 2, 3]), "requires 4 sentences"),
    "required unsorted": ("default", lambda r: r["required_sentence_indices"].reverse(), "not sorted"),
    "required twice": ("default", lambda r: r.update(required_sentence_indices=[1, 1]), "not sorted and unique"),
    "required too high": ("default", lambda r: r.update(required_sentence_indices=[0, 99]), "outside its"),
    "required negative": ("default", lambda r: r.update(required_sentence_indices=[-1, 0]), "outside its"),
    "id": ("default", lambda r: r.update(id="0" * 16), "not the hash"),
    "question changed": ("default", lambda r: r.update(question=r["question"] + "?"), "not the hash"),
    "kind unknown": ("default", lambda r: r["coreferences"][0].update(kind="event"), "neither pronominal nor nominal"),
    "span off by one": ("default", lambda r: r["coreferences"][0]["mention"].update(start=1), "is not at [1:2]"),
    "span empty": ("default", lambda r: r["coreferences"][0]["mention"].update(text="", end=0), "is not at [0:0]"),
    "span not required": (
        "default",
        lambda r: r["coreferences"][0]["mention"].update(sentence_index=3),
        "not required",
    ),
    "same sentence": (
        "default",
        lambda r: r["coreferences"][0].update(mention=r["coreferences"][0]["antecedent"]),
        "later",
    ),
    "antecedent later": (
        "default",
        lambda r: r["coreferences"][0].update(
            mention=r["coreferences"][0]["antecedent"], antecedent=r["coreferences"][0]["mention"]
        ),
        "later sentence",
    ),
    "kind of the row": ("default", lambda r: r.update(kind="mixed"), "kind is 'mixed'"),
    "distance": ("default", lambda r: r.update(distance=2), "distance is 2"),
    "step not required": ("default", lambda r: r["derivation"][0].update(sentence_index=2), "not required"),
    "step empty": ("default", lambda r: r["derivation"][0].update(tail=" "), "empty part"),
    "no answer": ("default", lambda r: r.update(answer=""), "hash"),
    "generator": ("default", lambda r: r.update(generator="somebody"), "generator"),
    "reviewer": ("default", lambda r: r.update(reviewed_by=["model:"]), "reviewed_by"),
    "people uncounted": ("default", lambda r: r["reviewed_by"].append("person:ida"), "names 1 people"),
    "people unnamed": ("default", lambda r: r.update(human_reviews=2), "names 0 people"),
    "title blank": ("default", lambda r: r.update(article_title=" "), "article_title is empty or has white space"),
    "rejected from elsewhere": ("rejected", lambda r: r.update(id="0" * 16), "not the hash"),
    "rejected by somebody": ("rejected", lambda r: r.update(rejected_by=["x"]), "rejected_by"),
    "made by somebody": ("provenance", lambda r: r.update(generator="x"), "generator"),
    "column missing": ("default", lambda r: r.pop("domain"), '"domain" is missing'),
    "column extra": ("default", lambda r: r.update(note="x"), '"note" is not in the schema'),
    "section outside": ("articles", lambda r: r["sections"][-1].update(end=9999), "outside the text"),
    "sections overlap": ("articles", lambda r: r["sections"][1].update(start=r["sections"][0]["start"]), "overlaps"),
    "section blank": ("articles", lambda r: r["sections"][0].update(start=20, end=21), "is blank"),
    "section twice": ("articles", lambda r: r["sections"][1].update(section_id="linden-orchard-act/0"), "one id"),
    "no sections": ("articles", lambda r: r.update(sections=[]), "no sections"),
    "no license": ("articles", lambda r: r.update(license=""), "license is empty"),
    "rounds": ("provenance", lambda r: r["rounds"][0].update(index=1), "count up from 0"),
    "no rounds": ("provenance", lambda r: r.update(rounds=[]), "count up from 0"),
    "problem of a good pair": ("provenance", lambda r: verdict(r).update(problems=["other"]), "should be empty"),
    "problem unknown": ("provenance", lambda r: verdict(r).update(is_quality=False, problems=["bad"]), "some codes"),
    "rejected without problem": ("provenance", lambda r: verdict(r).update(is_quality=False), "some codes"),
    "verdict of nobody": ("provenance", lambda r: verdict(r).update(reviewer="x"), "reviewer"),
    "no reason": ("rejected", lambda r: r.update(reason=" "), "by whom and why"),
    "no problems": ("rejected", lambda r: r.update(problems=[]), "some codes"),
    "rejected by nobody": ("rejected", lambda r: r.update(rejected_by=[]), "by whom and why"),
    "v1 section": ("v1", lambda r: r.update(section_index=1), "article_sections[section_index]"),
    "v1 index": ("v1", lambda r: r.update(section_index=99), "article_sections[section_index]"),
    "v1 titles": ("v1", lambda r: r["article_titles"].pop(), "not as many"),
    "v1 article": ("v1", lambda r: r.update(article="x"), "not in the article"),
    "v1 sentences": ("v1", lambda r: r.update(section_sentences="['a']"), "JSON list"),
    "v1 labels": ("v1", lambda r: r.update(section_sentences=r["section_sentences"].replace(": 0", ": 5")), "count up"),
    "v1 required": ("v1", lambda r: r.update(sentences_required=[0, 99]), "outside its"),
}


def verdict(row: dict[str, Any]) -> dict[str, Any]:
    return row["rounds"][0]["verdicts"][0]


@pytest.mark.parametrize("breach", ROW_BREACHES)
def test_a_row_that_breaks_an_invariant_is_named_with_its_breach(breach: str, data: Path) -> None:
    config, change, message = ROW_BREACHES[breach]
    row = first_linden_row(data, config)
    invariants.check_row(config, row)
    change(row)
    with pytest.raises(InvariantError) as caught:
        invariants.check_row(config, row)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{config} row ")


def first_linden_row(data: Path, config: str) -> dict[str, Any]:
    name = "validation" if config == "nothing" else "train"
    rows = [json.loads(line) for line in (data / config / f"{name}.jsonl").open(encoding="utf-8")]
    return next(
        r for r in rows if config == "provenance" or "linden" in str(r.get("article_id", r.get("title"))).lower()
    )


# --- the invariants of a folder --------------------------------------------------------------------------------------


def move_article(data: Path) -> None:
    row = (data / "articles/train.jsonl").read_text(encoding="utf-8")
    (data / "articles/train.jsonl").unlink()
    with (data / "articles/test.jsonl").open("a", encoding="utf-8") as file:
        file.write(row)


def rename_article(data: Path) -> None:
    edit(data / "articles/train.jsonl", 1, lambda row: row.update(article_title="Another Act"))


def change_text(data: Path) -> None:
    edit(data / "articles/train.jsonl", 1, lambda row: row.update(text=row["text"].replace("trees", "seeds")))


def change_path(data: Path) -> None:
    edit(data / "articles/train.jsonl", 1, lambda row: row["sections"][1].update(path=["The chair"]))


def reject_accepted(data: Path) -> None:
    change = {"is_quality": False, "problems": ["other"]}
    edit(data / "provenance/train.jsonl", 1, lambda row: verdict(row).update(change))


FOLDER_BREACHES: dict[str, tuple[Any, str]] = {
    "article in two splits": (move_article, "article linden-orchard-act is in two splits"),
    "id twice": (lambda data: repeat(data, "default/train.jsonl"), "is there twice"),
    "article twice": (lambda data: repeat(data, "articles/test.jsonl"), "article_id snow-plow-act is there twice"),
    "provenance twice": (lambda data: repeat(data, "provenance/test.jsonl"), "id of provenance"),
    "v1 twice": (lambda data: repeat(data, "v1/train.jsonl"), "pair of v1"),
    "article missing": (lambda data: (data / "articles/test.jsonl").unlink(), "snow-plow-act is not in articles"),
    "article's text": (change_text, "section_text is not its slice"),
    "article's title": (rename_article, "another title"),
    "section's path": (change_path, "under another heading"),
    "provenance missing": (lambda data: drop(data, "provenance/train.jsonl"), "has no provenance"),
    "pair missing": (lambda data: drop(data, "rejected/train.jsonl"), "belongs to no row"),
    "accepted against a verdict": (reject_accepted, "rejects it"),
    "round of another text": (
        lambda data: edit(data / "provenance/train.jsonl", 1, lambda r: r["rounds"][-1].update(answer="x")),
        "not the candidate of the last round",
    ),
    "another generator": (
        lambda data: edit(data / "provenance/train.jsonl", 1, lambda r: r.update(generator="rules")),
        "another generator",
    ),
    "v1 missing": (lambda data: drop(data, "v1/train.jsonl"), "differ in 1 pairs"),
    "row by itself": (
        lambda data: edit(data / "default/train.jsonl", 2, lambda r: r.update(distance=9)),
        "default/train.jsonl:2: default row",
    ),
    "no data": (lambda data: shutil.rmtree(data), "holds no data"),
    "unknown split": (lambda data: (data / "default/train.jsonl").rename(data / "default/dev.jsonl"), 'split "dev"'),
}


@pytest.mark.parametrize("breach", FOLDER_BREACHES)
def test_a_folder_whose_rows_contradict_each_other_is_refused(breach: str, data: Path) -> None:
    change, message = FOLDER_BREACHES[breach]
    assert invariants.check_folder(data)["default"] == {"train": 2, "validation": 1, "test": 1}
    change(data)
    with pytest.raises((InvariantError, UsageError)) as caught:
        invariants.check_folder(data)
    assert message in str(caught.value)


# --- files -----------------------------------------------------------------------------------------------------------


def test_writing_replaces_what_was_there_and_leaves_no_stale_split(data: Path) -> None:
    rows = rows_of(data, "default")
    (data / "default/train-00000-of-00001.parquet").write_bytes(b"PAR1")
    dataset.write_tables({"default": {"train": rows}}, data)
    assert [p.name for p in (data / "default").iterdir()] == ["train.jsonl"]
    assert rows_of(data, "default") == rows


def test_who_reads_while_a_file_is_replaced_reads_the_old_one_whole(data: Path) -> None:
    path = data / "default/train.jsonl"
    before = path.read_bytes()
    with path.open("rb", buffering=0) as file:
        start = file.read(100)
        dataset.write_tables({"default": {"train": rows_of(data, "default")[2:]}}, data)
        assert start + file.read() == before != path.read_bytes()


def test_a_write_that_fails_leaves_the_old_files_whole(data: Path) -> None:
    before = {p: p.read_bytes() for p in data.rglob("*.jsonl")}
    rows = rows_of(data, "default")
    bad = copy.deepcopy(rows[0])
    bad["question"] = "half a character \ud83d"
    with pytest.raises(UnicodeEncodeError):
        dataset.write_tables({"articles": {"train": rows_of(data, "articles")}, "default": {"train": [bad]}}, data)
    assert {p: p.read_bytes() for p in data.rglob("*") if p.is_file()} == before


# --- the card --------------------------------------------------------------------------------------------------------


def test_the_front_matter_of_the_readme_is_current() -> None:
    assert not card.update(ROOT / "README.md", ROOT / "data", write=False), "run python -m generation.releases.card"


def test_the_evaluation_that_the_card_quotes_was_of_these_rows() -> None:
    measured = ROOT / "docs" / "results" / "summary.md"
    digest = adapters.load(ROOT / "data").digest
    assert f"(digest {digest})" in measured.read_text(encoding="utf-8"), "run python -m benchmarks.evaluation"


def test_the_card_changes_with_the_data_and_never_the_text_below(data: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    body = "\n# Title\n\nText.\n\n---\n\nMore after a rule.\n"
    readme.write_text("---\nold: 1\n---\n" + body, encoding="utf-8")
    assert card.update(readme, data) and not card.update(readme, data)
    drop(data, "default/train.jsonl")
    assert card.update(readme, data, write=False) and card.update(readme, data)
    assert readme.read_text(encoding="utf-8").endswith("---\n" + body)


def test_the_card_describes_every_config_with_its_rows_and_columns(data: Path) -> None:
    import yaml

    fields = yaml.safe_load(card.front_matter(data).strip().strip("-"))
    assert [c["config_name"] for c in fields["configs"]] == ["default", "random", *CONFIGS[1:]]
    infos = {info["config_name"]: info for info in fields["dataset_info"]}
    assert {s["name"]: s["num_examples"] for s in infos["default"]["splits"]} == {
        "train": 2,
        "validation": 1,
        "test": 1,
    }
    for config in CONFIGS:
        assert [f["name"] for f in infos[config]["features"]] == list(craqan.FEATURES[config])
    assert fields["python_version"] == "3.11" and fields["license"] == "cc-by-4.0"
    assert len(fields["short_description"]) <= 60


def test_a_readme_without_front_matter_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="front matter"):
        card.update(tmp_path / "README.md", data)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "# Mine\n"


def test_records_and_schema_name_the_same_fields() -> None:
    article = Article("a", "A", "# A\n\nT.\n", (Section("a/0", "a", "A", (), "T.", 5, 7),))
    assert list(dataset.article_row(article, author="x")) == list(craqan.FEATURES["articles"])

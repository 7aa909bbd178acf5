"""What a run remembers of what it has read: exact enough, and small."""

from generation.articles.digests import Digests
from generation.duplicates import without_duplicates
from generation.records import Section


def test_what_was_added_is_known_and_nothing_else():
    seen = Digests()
    for n in range(20_000):
        assert f"text {n}" not in seen
        seen.add(f"text {n}")
        seen.add(f"text {n}")
    assert len(seen) == 20_000
    assert all(f"text {n}" in seen for n in range(20_000))
    assert not any(f"other {n}" in seen for n in range(20_000))
    assert len(seen._slots) * 8 / 20_000 < 30, "bytes each"


def test_half_a_surrogate_pair_is_a_text_like_others():
    seen = Digests()
    seen.add("caf\udce9")
    assert "caf\udce9" in seen and "caf" not in seen


def test_a_repeated_section_names_the_one_that_it_repeats():
    texts = [f"The {word} act was passed in {n} and {word * 2} keeps {n * 7} {word}s" for n, word in enumerate(WORDS)]
    names = ["é/0", "b", "long-name/12", "c/1"]
    sections = [Section(name, "a", "A", (), text, 0, len(text)) for name, text in zip(names, texts, strict=True)]
    again = [Section(f"{s.id}-again", "a", "A", (), s.text, 0, s.end) for s in sections]
    skipped = []
    assert [s.id for s in without_duplicates([*sections, *again], skipped.append)] == names
    assert [s.reason.split()[1].rstrip(",") for s in skipped] == names


WORDS = ("salmon", "harbour", "archive", "vaccine")

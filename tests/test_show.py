"""Pairs in the terminal: what is lit, and that a passage cannot drive the terminal."""

from dataclasses import asdict

from rich.console import Console

from generation.running.show import ANTECEDENT, MENTION, REQUIRED, harmless, passage, show
from tests.helpers import PASSAGE, candidate_of, section_of


def row_of(candidate=None, section=None):
    section = section or section_of()
    candidate = candidate or candidate_of()
    passage = {
        "article_title": section.article_title,
        "section_path": [],
        "sentences": [asdict(s) for s in section.sentences],
    }
    return {**passage, **asdict(candidate), "generator": "rules:1"}


def styled(text, style):
    return [text.plain[s.start : s.end] for s in text.spans if s.style == style]


def test_required_sentences_mention_and_antecedent_are_lit():
    text = passage(row_of())
    assert styled(text, REQUIRED) == [PASSAGE[0], PASSAGE[2]]
    assert styled(text, MENTION) == ["It"]
    assert styled(text, ANTECEDENT) == ["The Harbor Safety Act"]


def test_required_sentences_are_marked_without_colour_too():
    assert [line[0] for line in passage(row_of()).plain.splitlines()] == ["▸", " ", "▸", " "]


def test_escape_sequences_and_bidi_characters_are_shown_as_text():
    section = section_of("\x1b[2J\x1b]0;owned\x07The Act is old.", "It \u202estays.", "So be it.")
    console = Console(record=True, width=100, force_terminal=True)
    show([row_of(section=section, candidate=candidate_of(coreferences=(), indices=(0, 1)))], console)
    printed = console.export_text()
    assert "\x1b" not in printed and "\u202e" not in printed and "\x07" not in printed
    assert "owned" in printed


def test_harmless_keeps_every_offset():
    text = "a\x00b\u200fc\ud800d"
    assert len(harmless(text)) == len(text)
    assert harmless("naïve — “quoted” 日本") == "naïve — “quoted” 日本"


def test_markup_in_a_passage_is_not_interpreted():
    section = section_of("[bold red]The Act[/] is old.", "It stays.")
    console = Console(record=True, width=100)
    show([row_of(section=section, candidate=candidate_of(coreferences=(), indices=(0, 1)))], console)
    assert "[bold red]The Act[/]" in console.export_text()


def test_the_limit_and_the_count():
    console = Console(record=True)
    assert show([row_of()] * 5, console, limit=2) == 2
    assert show([], console) == 0

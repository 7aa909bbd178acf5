"""Time left and the bill at the end of a run."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from generation.articles.sources import count_articles
from generation.run import Ledger
from generation.running import pipeline, progress
from generation.running.budget import by_hand
from generation.running.outlook import Outlook, in_words
from tests.helpers import section_of
from tests.model_server import ModelServer
from tests.test_faults import PASSING, SECTIONS, honest
from tests.test_faults import corpus as corpus


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def sections(count):
    return [replace(section_of("It stands.", id=f"a{n}/0"), article_id=f"a{n}") for n in range(count)]


class Going:
    """A ledger and an outlook in which sections end at a pace of ours."""

    def __init__(self, count, counted=None, **ends):
        self.ledger, self.clock = Ledger(), Clock()
        self.outlook = Outlook(self.ledger, clock=self.clock, **ends)
        self.outlook._articles = counted
        self.reading = self.outlook.watched(sections(count))

    def read(self, count):
        for _ in range(count):
            next(self.reading, None)

    def finish(self, accepted=0, rejected=0, seconds=1.0):
        self.clock.now += seconds
        self.ledger.counts.update(accepted=accepted, rejected=rejected)
        self.outlook.look()


def test_the_time_left_follows_from_the_sections_left_and_their_pace():
    going = Going(100)
    going.read(101)
    for _ in range(10):
        going.finish(rejected=2)
    assert going.outlook.total() == 100
    assert going.outlook.left() == pytest.approx(40)


def test_before_all_is_read_the_share_of_the_articles_read_tells_how_many_sections_there_are():
    going = Going(100, counted=50)
    going.read(20)
    assert going.outlook.total() == 50
    assert Going(100).outlook.total() is None


def test_the_run_is_as_short_as_its_own_ends_make_it():
    going = Going(1000, most=30)
    assert going.outlook.total() == 30
    going = Going(1000, counted=1000, accept=20)
    going.read(50)
    for _ in range(10):
        going.finish(accepted=1, rejected=4)
    assert going.outlook.left() == pytest.approx(10)


def test_the_pace_is_that_of_the_last_minute():
    going = Going(10_000)
    going.read(10_001)
    going.finish(rejected=5000)  # from the journal, at once
    for _ in range(100):
        going.finish(rejected=5)
    assert going.outlook.left() == pytest.approx(4500 / 5, rel=0.05)


def test_without_a_pace_nothing_is_said():
    going = Going(10)
    going.read(11)
    assert going.outlook.left() is None
    going.finish(accepted=2, seconds=30)
    assert going.outlook.left() is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (3569, "59 min"),
        (3571, "1 h 0 min"),
        (12_000, "3 h 20 min"),
        (100_000, "1 day 4 h"),
        (187_200, "2 days 4 h"),
    ],
)
def test_a_length_of_time_is_said_in_words(seconds, words):
    assert in_words(seconds) == words


def test_articles_are_counted_without_reading_them(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n' * 7)
    (tmp_path / "page.md").write_text("# A\n\nText.\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert count_articles([str(tmp_path), "wikipedia:Oyster", str(tmp_path / "missing.md")]) == 11
    assert count_articles(["hf://datasets/someone/texts"]) is None


@pytest.fixture
def printed(corpus, tmp_path, monkeypatch):
    """What a run of several seconds prints, and its folder."""
    monkeypatch.setattr(progress, "EVERY", 0.5)
    out = io.StringIO()
    with ModelServer(honest, delay=0.3) as server:
        pipeline.generate(
            [str(corpus)],
            tmp_path / "run",
            Console(file=out, width=300),
            model="m",
            base_url=server.url,
            check_level="format",
            limits=pipeline.Limits(**PASSING | {"timeout": 5.0, "prices": by_hand(10, 20)}),
        )
    return out.getvalue()


def test_plain_lines_say_how_long_it_will_take(printed):
    assert re.search(r"\d pending · .* · about \d+ s left\n", printed)


def test_the_end_of_a_run_says_tokens_and_money_by_role_and_for_an_accepted_pair(printed):
    calls = 5 * SECTIONS
    assert f"  generator: {SECTIONS} calls, 800 tokens in (320 cached), 160 out, $0.0112\n" in printed
    assert f"  reviewers/content_cohesion: {SECTIONS} calls, 800 tokens in (320 cached), 160 out, $0.0112\n" in printed
    assert f"Asked: {calls} calls, 4,000 tokens in (1,600 cached), 800 out; 600 tokens an accepted pair\n" in printed
    assert "Cost: $0.0560, $0.0070 an accepted pair (prices: given by hand)\n" in printed

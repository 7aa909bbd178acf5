"""The page's functions for programs: named endpoints with types and descriptions, and the same limits."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import gradio as gr

from generation import checks
from generation.checking.rows import read_pair
from generation.errors import UsageError
from generation.records import Section
from space import editing, generate, limits, making, rates
from space.calls import endpoint
from space.cutting import Bench, Compared
from space.shelf import Filters, Shelf


def build(shelf: Shelf, bench: Bench) -> None:
    """Add the endpoints, each of which is a tool for MCP too; call inside a gr.Blocks."""
    _build_search(shelf)
    _build_generation()
    gr.api(endpoint(check_pair), api_name="check_pair", concurrency_limit=4)
    _build_evaluation(bench)


def answer_mcp_in_json(demo: gr.Blocks) -> None:
    """Make the replies to MCP, for which gradio prints Python's own notation, JSON; call when the page is launched."""
    server = demo.mcp_server_obj
    if server is None:
        return

    def as_json(data: Any, root_url: str) -> list[Any]:
        texts = (json.dumps(output, ensure_ascii=False, indent=1) for output in data)
        return [server.types.TextContent(type="text", text=text) for text in texts]

    server.postprocess_output_data = as_json  # type: ignore[method-assign]


async def check_pair(
    sentences: list[str],
    question: str,
    answer: str,
    required: list[int],
    coreferences: list[dict[str, Any]] | None = None,
    request: gr.Request | None = None,
) -> dict[str, Any]:
    """Check one question-answer pair by code alone; no model is asked, and nothing is kept.

    Args:
        sentences: the passage, one sentence an item, in order; 2 to 60 of them, 20,000 characters in all.
        question: the question.
        answer: its answer.
        required: indices, from 0, of the two or three sentences that the question needs.
        coreferences: each {"kind": "pronominal" or "nominal", "mention": SPAN, "antecedent": SPAN}, where SPAN is
            {"sentence_index": 1, "text": "It"}, with "start" and "end" if the words occur more than once; or none.

    Returns:
        `is_quality` (false if a problem is certain), the `reason` in words, and `problems`, each with its code, the
        check that found it, the reason and how certain it is.
    """
    row = {
        "sentences": sentences,
        "question": question,
        "answer": answer,
        "required_sentence_indices": required,
        "coreferences": coreferences or [],
    }
    problems = await making.aside(_problems, limits.check_pair(row))
    verdict = checks.verdict(problems)
    return {
        "is_quality": verdict.is_quality,
        "reason": verdict.reason,
        "problems": [asdict(problem) for problem in problems],
    }


def _problems(row: dict[str, Any]) -> tuple[checks.Problem, ...]:
    return checks.run(*read_pair(row))


def _build_evaluation(bench: Bench) -> None:
    async def evaluate_chunker(name: str, split: str = "", request: gr.Request | None = None) -> dict[str, Any]:
        """Measure a chunker on the released set: how many questions keep all their sentences in one chunk.

        Args:
            name: recursive:SIZE, tokens:SIZE, sentences:SIZE, unicode:SIZE, markdown:SIZE, sections:SIZE, coref:SIZE
                (slow) or oracle:SIZE (knows the labels: an upper bound). SIZE counts words and marks, for sentences
                sentences; NAME:SIZE:OVERLAP overlaps where the chunker can.
            split: train, validation or test, or empty for all.

        Returns:
            `whole`, the share of `questions` whose required sentences all lie in one chunk; `links_cut`, the share of
            labelled coreferences (`links`) that no chunk holds; `chunks`, `mean_tokens`, `mean_characters`, the seconds
            that cutting took, and `by_distance` between the required sentences. Where time ran out, `articles` is less
            than `of_articles`, and the figures are of those.
        """
        compared = [c async for c in bench.compare([name], split)][-1]
        return _figures(compared)

    gr.api(endpoint(evaluate_chunker), api_name="evaluate_chunker", concurrency_limit=2, concurrency_id="compare")


def _figures(compared: Compared) -> dict[str, Any]:
    report = compared.reports[0]
    return {
        "chunker": report.chunker,
        "articles": compared.articles,
        "of_articles": compared.of_articles,
        "questions": report.all.questions,
        "whole": report.all.whole,
        "links": report.all.links,
        "links_cut": report.all.cut,
        "chunks": report.chunks,
        "mean_tokens": report.mean_tokens,
        "mean_characters": report.mean_characters,
        "seconds": report.seconds,
        "by_distance": {str(d): asdict(share) for d, share in report.by_distance.items()},
    }


def _build_search(shelf: Shelf) -> None:
    async def search_questions(
        text: str = "",
        article: str = "",
        kind: str = "",
        required_sentences: int = 0,
        min_distance: int = 0,
        max_distance: int = 0,
        domain: str = "",
        question_word: str = "",
        split: str = "",
        request: gr.Request | None = None,
    ) -> list[dict[str, Any]]:
        """Find released questions.

        Args:
            text: words that must all occur in the question, the answer or the passage; upper and lower case are equal.
            article: an article's exact title, or empty for all.
            kind: pronominal, nominal or mixed, or empty for all.
            required_sentences: 2 or 3, or 0 for both.
            min_distance: least number of sentences from the first to the last required one, or 0.
            max_distance: greatest such number, or 0 for no limit.
            domain: law, science or another domain of the set, or empty for all.
            question_word: what, which, who, when, where, why or how, or empty for all.
            split: train, validation or test, or empty for all.

        Returns:
            The rows that fit, with the columns of the dataset's default config and their split.
        """
        filters = Filters(
            article, kind, required_sentences, min_distance, max_distance, text, domain, question_word, split
        )
        shelf.check(filters)
        return [dict(row) for row in shelf.find(filters)]

    async def get_question(id: str, request: gr.Request | None = None) -> dict[str, Any]:
        """Give one released question by its id, with the columns of the dataset's default config.

        Args:
            id: the row's id, as in the dataset.
        """
        return dict(shelf.get(id))

    gr.api(endpoint(search_questions), api_name="search_questions")
    gr.api(endpoint(get_question), api_name="get_question")


def _build_generation() -> None:
    async def list_sections(text: str, request: gr.Request | None = None) -> list[str]:
        """Split a text into sections, as `generate_pair` would, and name each with its number of sentences.

        Args:
            text: English, plain or Markdown.
        """
        return making.titles(await making.split(text))

    async def generate_pair(
        text: str = "",
        section: int = making.EACH,
        base_url: str = "",
        model: str = "",
        api_key: str = "",
        unsure: bool = False,
        sentences: list[str] | None = None,
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Make one question-answer pair that needs coreference resolution from a text, or from sentences.

        Without a model's name the built-in rules make it. The text and the key are used for this call only.

        Args:
            text: English, plain or Markdown, of at least 3 sentences.
            section: which of `list_sections` to use, counted from 0; -1 tries each in turn until one gives a pair.
            base_url: an OpenAI-compatible server; empty means OpenAI, if there is a model.
            model: the model's name on that server; empty means the built-in rules.
            api_key: the key for that server.
            unsure: let drafts through that the built-in rules are less sure of; `reason` then says so.
            sentences: one passage in place of the text, split as you want it; 3 to 60 of them.

        Returns:
            The last section's outcome: `status` (accepted, rejected or failed), the dataset's columns where there is a
            pair, the rounds with all verdicts, and the reason where it was not accepted.
        """
        chosen = await _passages(text, section, sentences)
        who = generate.MODEL if model or base_url else generate.RULES
        async with generate.maker_for(who, base_url, model, api_key, unsure) as maker:
            stories = [s async for s in making.make(chosen, maker)][-1]
            outcome = stories[-1].outcome
            return maker.row(outcome) if outcome else {}

    async def _passages(text: str, section: int, sentences: list[str] | None) -> Sequence[Section]:
        if not sentences:
            return making.choose(await making.split(text), section)
        if text.strip():
            raise UsageError("Give a text or its sentences, not both.")
        return [await making.aside(editing.given, sentences)]

    gr.api(endpoint(list_sections), api_name="list_sections", concurrency_limit=2)
    gr.api(
        endpoint(generate_pair, rates.RUNS),
        api_name="generate_pair",
        concurrency_limit=generate.AT_ONCE,
        concurrency_id="generate",
    )

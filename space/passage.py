"""A passage as HTML: its required sentences lit, every coreference marked and joined by a line.

All text that comes in is untrusted and leaves as text. The line itself is drawn in the browser, by passage.js, because
only the browser knows where a word ends up; without it the numbered marks and the list below the passage say the same.
"""

import html
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from generation.records import Candidate, Coreference, Sentence, Span

FOLD_FROM = 14  # sentences; shorter passages are shown whole
CONTEXT = 1  # sentences kept open around a required one in a folded passage
JOINERS = "\u200c\u200d"  # invisible, but part of how some scripts and emoji are written
KIND_WORDS = {"pronominal": "pronoun", "nominal": "noun phrase", "mixed": "pronoun and noun phrase", "": "not labelled"}


@dataclass(frozen=True, slots=True)
class End:
    """One end of coreference `number`: a mention or an antecedent; `is_lost` where the other end is out of reach."""

    role: str
    number: int
    span: Span
    is_lost: bool = False


def escape(text: str) -> str:
    """`text` as HTML that shows it: markup is inert, control and bidi characters appear by their code point."""
    return "".join(html.escape(c) if is_plain(c) else _named(c) for c in text)


def plain(text: str) -> str:
    """`text` for places that take no HTML, such as a choice in a list; what `escape` names is named here too."""
    return "".join(c if is_plain(c) else f"[U+{ord(c):04X}]" for c in " ".join(text.split()))


def quoted(text: str) -> str:
    """`text` in quotation marks, isolated so that it cannot turn the direction of what follows."""
    return f"<q><bdi>{escape(text)}</bdi></q>"


def drawn(sentences: Sequence[Sentence], text: str, candidate: Candidate | None) -> str:
    """The passage with `candidate`, if there is one yet, marked in it.

    `text` is the section that `sentences` count from. Spans that do not stand in their sentence, which a model's draft
    may hold, are left out: checks report them.
    """
    coreferences = candidate.coreferences if candidate else ()
    ends = [e for e in _ends(coreferences) if _is_real(e.span, sentences)]
    required = set(candidate.required_sentence_indices) if candidate else set()
    rows = {i: _row(i, s, i in required, ends, opens_paragraph(i, sentences, text)) for i, s in enumerate(sentences)}
    lanes = len({e.number for e in ends})
    body = "".join(_folded(rows, required)) if len(rows) > FOLD_FROM else "".join(rows.values())
    return (
        f'<craqan-passage class="passage" style="--lanes:{lanes}"><ol class="sentences">{body}</ol></craqan-passage>'
        f"{_legend(bool(ends))}{references(coreferences)}"
    )


def references(coreferences: Sequence[Coreference]) -> str:
    """The coreferences as a list in words, numbered as in the passage."""
    items = "".join(
        f'<li><span class="tag">{i + 1}</span><span>{quoted(c.mention.text)} in sentence {c.mention.sentence_index} '
        f"refers to {quoted(c.antecedent.text)} in sentence {c.antecedent.sentence_index} "
        f'<span class="soft">({KIND_WORDS[c.kind]})</span></span></li>'
        for i, c in enumerate(coreferences)
    )
    return f'<ul class="references" aria-label="Coreferences">{items}</ul>' if items else ""


def is_plain(char: str) -> bool:
    if char in "\n\t" or char in JOINERS:
        return True
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _named(char: str) -> str:
    name = html.escape(unicodedata.name(char, "control character").capitalize())
    return f'<span class="code-point" title="{name}">U+{ord(char):04X}</span>'


def _ends(coreferences: Sequence[Coreference]) -> Iterator[End]:
    for number, coreference in enumerate(coreferences, start=1):
        yield End("antecedent", number, coreference.antecedent)
        yield End("mention", number, coreference.mention)


def _is_real(span: Span, sentences: Sequence[Sentence]) -> bool:
    if not 0 <= span.sentence_index < len(sentences) or not 0 <= span.start < span.end:
        return False
    return sentences[span.sentence_index].text[span.start : span.end] == span.text


def opens_paragraph(index: int, sentences: Sequence[Sentence], text: str) -> bool:
    return index > 0 and text[sentences[index - 1].end : sentences[index].start].count("\n") > 1


def _row(index: int, sentence: Sentence, is_required: bool, ends: Sequence[End], opens_paragraph: bool) -> str:
    classes = " ".join(["sentence", *["required"] * is_required, *["paragraph"] * opens_paragraph])
    here = [e for e in ends if e.span.sentence_index == index]
    said = '<span class="sr">, required</span>' if is_required else ""
    return (
        f'<li class="{classes}"><span class="number"><span class="sr">Sentence </span>{index}{said}</span>'
        f'<p dir="auto">{marked(sentence.text, here)}</p></li>'
    )


def marked(text: str, ends: Sequence[End]) -> str:
    """`text` with its ends marked; it is cut wherever one starts or stops, so that they may touch, nest or overlap."""
    cuts = sorted({0, len(text), *(e.span.start for e in ends), *(e.span.end for e in ends)})
    pieces = zip(cuts, cuts[1:], strict=False)
    return "".join(_piece(text[a:b], a, [e for e in ends if e.span.start <= a and b <= e.span.end]) for a, b in pieces)


def _piece(text: str, start: int, ends: Sequence[End]) -> str:
    if not ends:
        return escape(text)
    roles = " ".join(sorted({e.role for e in ends}))
    lost = " lost" * any(e.is_lost for e in ends)
    numbers = "".join(f' data-{role}="{" ".join(_numbers(ends, role))}"' for role in roles.split())
    tags = "".join(f'<span class="tag">{e.number}</span>' for e in ends if e.span.start == start)
    return f'<mark class="{roles}{lost}"{numbers}>{tags}{escape(text)}</mark>'


def _numbers(ends: Sequence[End], role: str) -> list[str]:
    return [str(e.number) for e in ends if e.role == role]


def _folded(rows: dict[int, str], required: set[int]) -> Iterator[str]:
    """The rows, with runs of sentences far from every required one behind a summary."""

    def is_near(index: int) -> bool:
        return any(abs(index - r) <= CONTEXT for r in required)

    for near, run in groupby(rows, key=is_near):
        indices = list(run)
        body = "".join(rows[i] for i in indices)
        if near or len(indices) == 1:
            yield body
        else:
            words = f"Sentences {indices[0]} to {indices[-1]}"
            yield f'<li class="fold"><details><summary>{words}</summary><ol>{body}</ol></details></li>'


def _legend(has_ends: bool) -> str:
    ends = (
        '<span><mark class="antecedent">box</mark> what is meant</span>'
        '<span><mark class="mention">dashes</mark> the words that point to it</span>'
    )
    return (
        '<p class="legend" aria-hidden="true"><span><span class="swatch">0</span> required sentence</span>'
        f"{ends if has_ends else ''}<span>counted from 0</span></p>"
    )

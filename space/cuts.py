"""An article in chunks as HTML: between two chunks stands what the cut breaks, marked in the text and in words."""

from collections.abc import Iterator, Sequence

from evaluation.chunk_metrics import ChunkReport, in_one
from evaluation.chunkers import Chunk
from evaluation.chunking.chains import Reference
from evaluation.chunking.tokens import tokenizer
from evaluation.examples import Example, Span
from generation import records
from space.cutting import CutArticle
from space.passage import KIND_WORDS, End, escape, marked, quoted

LEGEND = (
    '<p class="legend" aria-hidden="true"><span><mark class="antecedent">box</mark> what is meant</span>'
    '<span><mark class="mention">dashes</mark> the words that point to it</span>'
    '<span><mark class="lost">red</mark> the cut has parted them</span></p>'
)


def article(cut: CutArticle, title: str) -> str:
    """The chunks one below the other. `title` names the chunker in words."""
    broken = {n: r for n, r in enumerate(cut.references, 1) if not _together(cut.chunks, r)}
    parts = []
    for number, chunk in enumerate(cut.chunks, 1):
        parts.append(_chunk(number, chunk, cut.references, set(broken)))
        if number < len(cut.chunks):
            parts.append(_cut(number, cut, broken))
    return (
        f'<section class="cutting"><h3>{escape(title)}</h3><p class="count">{_summary(cut, len(broken))}</p>'
        f'<ol class="chunks">{"".join(parts)}</ol>{_questions(cut)}</section>'
    )


def measured(reports: Sequence[ChunkReport], titles: Sequence[str]) -> str:
    """A comparison as a table, one row a chunker."""
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("Chunker", "Whole", "Links cut", "Chunks", "Mean tokens")
    )
    rows = "".join(_measured(report, title) for report, title in zip(reports, titles, strict=True))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Comparison"><table class="matrix figures">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        '<p class="soft">Whole: questions whose required sentences all lie in one chunk. Links cut: labelled '
        "coreferences whose two ends share no chunk. A token is a word or a mark.</p>"
    )


def share(value: float | None) -> str:
    """A cell with a share from 0 to 1 as a bar and in per cent; a dash where there is none."""
    if value is None:
        return "<td>–</td>"
    return (
        f'<td><span class="share"><span class="bar" style="--share:{value:.3f}"></span>'
        f"<span>{100 * value:.1f} %</span></span></td>"
    )


def _measured(report: ChunkReport, title: str) -> str:
    return (
        f'<tr><th scope="row">{escape(title)}</th>{share(report.all.whole)}{share(report.all.cut)}'
        f"<td>{report.chunks:,}</td><td>{report.mean_tokens:.0f}</td></tr>"
    )


def _summary(cut: CutArticle, broken: int) -> str:
    count = tokenizer("words").count
    mean = sum(count(c.text) for c in cut.chunks) / max(len(cut.chunks), 1)
    whole = sum(in_one(cut.chunks, e.evidence) for e in cut.questions)
    return (
        f"{_counted(len(cut.chunks), 'chunk')} of {mean:.0f} tokens on average. "
        f"{broken} of {_counted(len(cut.references), 'labelled coreference')} cut. "
        f"{whole} of {_counted(len(cut.questions), 'question')} keep all their sentences in one chunk."
    )


def _chunk(number: int, chunk: Chunk, references: Sequence[Reference], broken: set[int]) -> str:
    ends = [
        End(role, n, _inside(span, chunk), n in broken)
        for n, reference in enumerate(references, 1)
        for role, span in (("antecedent", reference.antecedent), ("mention", reference.mention))
        if span.start < chunk.end and chunk.start < span.end
    ]
    size = tokenizer("words").count(chunk.text)
    return (
        f'<li class="chunk"><p class="facts">Chunk {number} · {_counted(size, "token")}</p>'
        f'<div class="chunk-text" dir="auto">{marked(chunk.text, ends)}</div></li>'
    )


def _cut(number: int, cut: CutArticle, broken: dict[int, Reference]) -> str:
    """What the cut after chunk `number` breaks: the broken links of which one end lies before it and one after."""
    at = cut.chunks[number].start
    here = [(n, r) for n, r in broken.items() if min(r.mention.start, r.antecedent.start) < at <= _last(r)]
    if not here:
        return f'<li class="cut"><p>Cut {number} breaks nothing.</p></li>'
    items = "".join(_broken(n, r, cut) for n, r in here)
    return (
        f'<li class="cut breaks"><p>Cut {number} breaks {_counted(len(here), "coreference")}:</p>'
        f'<ul class="references">{items}</ul></li>'
    )


def _broken(number: int, reference: Reference, cut: CutArticle) -> str:
    text = cut.document.text
    mention, antecedent = (text[s.start : s.end] for s in (reference.mention, reference.antecedent))
    return (
        f'<li><span class="tag">{number}</span><span>{quoted(mention)} in chunk {_home(cut.chunks, reference.mention)} '
        f"refers to {quoted(antecedent)} in chunk {_home(cut.chunks, reference.antecedent)} "
        f'<span class="soft">({KIND_WORDS[reference.kind]})</span></span></li>'
    )


def _questions(cut: CutArticle) -> str:
    lost = [e for e in cut.questions if not in_one(cut.chunks, e.evidence)]
    if not lost:
        return ""
    words = "1 question loses" if len(lost) == 1 else f"{len(lost)} questions lose"
    items = "".join(f'<li><span dir="auto">{escape(e.question)}</span> {_needs(e, cut.chunks)}</li>' for e in lost)
    return f'<details class="lost-questions"><summary>{words} a part</summary><ul class="tried">{items}</ul></details>'


def _needs(example: Example, chunks: Sequence[Chunk]) -> str:
    homes = dict.fromkeys(_home(chunks, Span(p.start, p.end)) for p in example.evidence)
    if len(homes) == 1:
        return f'<span class="soft">needs more than chunk {next(iter(homes))} holds of its sentences</span>'
    return f'<span class="soft">needs chunks {", ".join(map(str, homes))}</span>'


def _together(chunks: Sequence[Chunk], reference: Reference) -> bool:
    spans = (reference.mention, reference.antecedent)
    return any(all(c.start <= s.start and s.end <= c.end for s in spans) for c in chunks)


def _home(chunks: Sequence[Chunk], span: Span) -> int:
    """The number of the first chunk that holds the span's start; a cut falls between chunks, never outside of all."""
    return next(_holding(chunks, span), len(chunks))


def _holding(chunks: Sequence[Chunk], span: Span) -> Iterator[int]:
    return (n for n, c in enumerate(chunks, 1) if span.start < c.end)


def _last(reference: Reference) -> int:
    """The last character of the link's two ends."""
    return max(reference.mention.end, reference.antecedent.end) - 1


def _inside(span: Span, chunk: Chunk) -> records.Span:
    start, end = max(span.start, chunk.start) - chunk.start, min(span.end, chunk.end) - chunk.start
    return records.Span(0, start, end, chunk.text[start:end])


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"

"""What the dataset reaches, figure by figure, and what shortcuts get of it and of Quoref: python -m benchmarks.dataset

    python -m benchmarks.dataset [FOLDER] [--counts]

FOLDER holds default/, articles/, provenance/ and rejected/ (data/ of this checkout). "--counts" leaves out the
shortcuts (evaluation/baselines.py), which take a few minutes. The exit code is 1 if a figure falls short of its reach.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.evaluation import QUOREF, sample, words
from evaluation import adapters, baselines, statistics
from evaluation.examples import ExampleSet, limited
from evaluation.tables import p_value
from generation import checks, dataset
from generation.checking.rows import read_pair
from generation.dataset import Row, Tables
from generation.language import nlp
from generation.releases import figures, gates, similar, splits
from generation.releases.changes import Version
from generation.releases.figures import PAPER_COUNTS, PAPER_QUANTILES, Figures

PAPER_ACCEPTED = 0.602
"""Grzywinski et al. 2023, section 4: 348 of 578 candidates."""
ALPHA = 0.05
LEAST_ALIKE = 0.05
"""Overlap of three-word runs from which two sections are looked at."""


class Line(NamedTuple):
    """A figure; `reach` is what is wanted and `is_met` whether it is there, None where nothing is wanted."""

    what: str
    ours: str
    reach: str = ""
    is_met: bool | None = None
    paper: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all figures; 1 if one falls short, 2 if the folder holds no set."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    folders = [a for a in given if not a.startswith("--")]
    folder = Path(folders[0]) if folders else Path(__file__).parents[1] / "data"
    if not (folder / "default").is_dir():
        print(f"{folder} holds no set: give a folder with default/ and articles/.", file=sys.stderr)
        return 2
    tables, examples = dataset.rows_of(folder), adapters.load(folder)
    lines = counted(tables, examples)
    _print(lines)
    if "--counts" not in given:
        lines += _shortcuts(examples)
    missed = [line.what for line in lines if line.is_met is False]
    print(f"\n{len(missed)} of {sum(line.is_met is not None for line in lines)} reaches missed. {'; '.join(missed)}")
    return int(bool(missed))


def counted(tables: Tables, examples: ExampleSet) -> list[Line]:
    """Everything that is counted from the rows."""
    found = figures.count(tables)
    rows, articles, histories = (_all(tables, config) for config in ("default", "articles", "provenance"))
    return [
        *_articles(articles, examples),
        *_prose(articles, examples),
        *_pairs(rows, found),
        *_review(rows, histories, found),
        *_splits(tables, rows),
    ]


def _articles(articles: Sequence[Row], examples: ExampleSet) -> Iterator[Line]:
    sizes = [figures.words(a["text"]) for a in articles]
    shaped = [a for a in articles if not a["sections"][0]["path"] and sum(bool(s["path"]) for s in a["sections"]) >= 4]
    inside = [
        sum(part.start <= s.start < part.end for s in d.sentences)
        for d in examples.documents.values()
        for part in d.sections
    ]
    domains = Counter(a["domain"] or "none" for a in articles)
    yield _at_least("articles", len(articles), 75, PAPER_COUNTS["articles"])
    yield _all_of("articles with an introduction and four headed sections", len(shaped), len(articles))
    yield _all_of("articles of 600 to 1,500 words", sum(600 <= n <= 1500 for n in sizes), len(articles))
    yield Line("words an article", f"{min(sizes)} to {max(sizes)}, {sum(sizes):,} in all")
    yield _all_of("sections of 4 to 14 sentences", sum(4 <= n <= 14 for n in inside), len(inside))
    yield _at_least("domains", len(domains), 5)
    yield Line("articles by domain", ", ".join(f"{domain} {n}" for domain, n in domains.most_common()))
    yield _share("articles on law", domains["law"], len(articles), 0.5)


def _prose(articles: Sequence[Row], examples: ExampleSet) -> Iterator[Line]:
    """What two articles have in common."""
    homes: dict[str, set[str]] = {}
    for d in examples.documents.values():
        for span in d.sentences:
            homes.setdefault(similar.plain(d.text[span.start : span.end]), set()).add(d.id)
    repeated = sum(len(ids) > 1 for text, ids in homes.items() if text.count(" ") + 1 >= similar.SHORTEST_EVIDENCE)
    sections = {s["section_id"]: a["text"][s["start"] : s["end"]] for a in articles for s in a["sections"]}
    alike = max((pair.overlap for pair in similar.near(sections, LEAST_ALIKE)), default=0.0)
    yield Line("sentences that two articles share", str(repeated), "0", repeated == 0)
    told = f"{alike:.2f}" if alike else f"below {LEAST_ALIKE}"
    yield Line("largest overlap of two sections", told, f"below {similar.PASSAGE}", alike < similar.PASSAGE)


def _pairs(rows: Sequence[Row], found: Figures) -> Iterator[Line]:
    counts = found.counts
    by_article = Counter(row["article_id"] for row in rows)
    far = sum(row["distance"] >= 3 for row in rows)
    links = sum(found.kinds.values())
    asked = Counter(baselines.asks(row["question"]) or "other" for row in rows)
    alike = len(similar.questions_alike(rows)) + len(similar.questions_repeated(rows))
    yield _at_least("pairs", len(rows), 400, PAPER_COUNTS["pairs"])
    yield _at_least(
        "pairs with three required sentences", counts["three sentences"], 120, PAPER_COUNTS["three sentences"]
    )
    yield _share("pairs with a distance of 3 or more, first to last required", far, len(rows), 0.4)
    yield Line(
        "distance of coreferences, 10/50/90 %",
        _three(figures.quantiles(found.lengths["distance"])),
        paper=_three(PAPER_QUANTILES["distance"]),
    )
    for kind in ("pronominal", "nominal"):
        yield _share(f"{kind} of all coreferences", found.kinds.get(kind, 0), links, 0.35)
        having = sum(any(c["kind"] == kind for c in row["coreferences"]) for row in rows)
        yield Line(f"pairs with a {kind} one", f"{100 * having / len(rows):.1f} %")
    yield _at_least("question words", len(asked.keys() - {"other"}), 5)
    yield Line("asked with", ", ".join(f"{word} {n}" for word, n in asked.most_common(12)))
    most = max(by_article.values(), default=0)
    yield Line("most pairs on an article", str(most), "at most 8", most <= 8)
    yield Line("pairs that repeat or nearly repeat another", str(alike), "0", alike == 0)


def _review(rows: Sequence[Row], histories: Sequence[Row], found: Figures) -> Iterator[Line]:
    nlp.parse_ahead(tuple(s["text"] for s in row["sentences"]) for row in rows)
    sound = sum(not any(p.certainty == "certain" for p in checks.run(*read_pair(row))) for row in rows)
    of = {history["id"]: history for history in histories}
    readers = [_readers(of[row["id"]]) for row in rows]
    proven = sum(bool(of[row["id"]]["proof"]) for row in rows)
    seen = len(rows) + found.counts["rejected"]
    yield _all_of("pairs that pass all checks", sound, len(rows))
    yield _all_of("pairs judged by two readers or more", sum(len(r) > 1 for r in readers), len(rows))
    yield _all_of("pairs with a proof matrix", proven, len(rows))
    yield Line("accepted of all candidates", f"{100 * len(rows) / seen:.1f} %", paper=f"{100 * PAPER_ACCEPTED:.1f} %")
    reasons = sorted(found.reasons.items(), key=lambda item: -item[1])
    yield Line("reasons of the rejected", ", ".join(f"{code} {n}" for code, n in reasons if n) or "none")
    for a in found.agreement:
        alpha = "none" if a.alpha is None else f"{a.alpha:.2f}"
        yield Line(f"agreement of {a.who}", f"{100 * a.raw:.1f} % of {a.pairs} pairs, alpha {alpha}")


def _readers(history: Row) -> set[str]:
    """The models that judged the text as released, a third one that settled a disagreement among them."""
    last = history["rounds"][-1]
    same = (r for r in history["rounds"] if (r["question"], r["answer"]) == (last["question"], last["answer"]))
    return {v["reviewer"] for r in same for v in r["verdicts"] if v["reviewer"].startswith("model:")}


def _splits(tables: Tables, rows: Sequence[Row]) -> Iterator[Line]:
    """The splits that a release makes of these rows; those of `default` are kept."""
    homes = {row["id"]: split for split, part in tables["default"].items() for row in part}
    divided = splits.divide(rows, {"default": homes})
    made = dict(tables) | {
        config: _parted(rows, divided[config]) for config in ("random", "domain") if config in divided
    }
    for config in ("default", "random", "domain"):
        sizes = {split: len(part) for split, part in made.get(config, {}).items()}
        told = ", ".join(f"{split} {n}" for split, n in sizes.items()) or splits.domain_obstacle(rows)
        yield Line(f"split {config}", told, "there", bool(sizes))
    proposal = gates.Proposal(Version(1, 0, 0), made, "CC-BY-4.0", "labelled", {})
    leaks = list(gates.leakage(proposal))
    yield Line("leaks between splits", str(len(leaks)), "0", not leaks)


def _parted(rows: Sequence[Row], homes: Mapping[str, str]) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {split: [] for split in splits.SHARES}
    for row in rows:
        parts[homes[row["id"]]].append(row)
    return parts


def _shortcuts(ours: ExampleSet) -> list[Line]:
    """What each shortcut gets of our set and, where it is at hand, of as much of Quoref."""
    sets = {"CRaQAn": ours}
    if QUOREF.exists():
        sets["Quoref"] = limited(sample(adapters.load(QUOREF), words(ours)), len(ours.examples), 0)
    scores = {
        name: {reader: baselines.scored(s, read(s)) for reader, read in baselines.READERS.items()}
        for name, s in sets.items()
    }
    print("\nShortcuts: exact match, token F1 with its 95 % interval over passages, in percent")
    for reader in baselines.READERS:
        print(f"  {reader}")
        for name, s in sets.items():
            print(f"    {name:<8} {_told(s, scores[name][reader])}")
    if "Quoref" in sets:
        _beside(sets, scores)
    found = {name: baselines.first_entity(s) for name, s in sets.items()}
    lines = [
        Line(
            f"{name}: the answer is the first entity of its sentence",
            f"{100 * f.first:.1f} % by chance {100 * f.chance:.1f} % (n={f.questions}, p {p_value(f.p)})",
            "not above chance" if name == "CRaQAn" else "",
            f.p >= ALPHA if name == "CRaQAn" else None,
        )
        for name, f in found.items()
    ]
    print()
    _print(lines)
    return lines


def _told(examples: ExampleSet, scores: Mapping[str, baselines.Answered]) -> str:
    groups = {e.id: e.group or e.id for e in examples.examples}
    f1 = statistics.interval([s.f1 for s in scores.values()], [groups[id] for id in scores])
    em = sum(s.em for s in scores.values()) / len(scores)
    return f"EM {100 * em:4.1f}  F1 {100 * f1.mean:4.1f} [{100 * f1.low:.1f}, {100 * f1.high:.1f}]  n={f1.questions}"


def _beside(sets: Mapping[str, ExampleSet], scores: Mapping[str, Mapping[str, Mapping]]) -> None:
    """Our F1 minus Quoref's, passages dealt out anew between the two, Holm-corrected."""
    found = []
    for reader in baselines.READERS:
        sides = []
        for name, s in sets.items():
            groups = {e.id: e.group or e.id for e in s.examples}
            sides += [[x.f1 for x in scores[name][reader].values()], [groups[id] for id in scores[name][reader]]]
        found.append(statistics.unpaired(*sides))
    print("  CRaQAn minus Quoref, F1")
    for reader, d, p in zip(baselines.READERS, found, statistics.holm([d.p for d in found]), strict=True):
        span = f"{100 * d.difference:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
        print(f"    {reader:<52} {span:<22} p (Holm) {p_value(p)}")


def _at_least(what: str, ours: int, reach: int, paper: int | None = None) -> Line:
    return Line(what, f"{ours:,}", f"{reach} or more", ours >= reach, "" if paper is None else f"{paper:,}")


def _all_of(what: str, ours: int, total: int) -> Line:
    return Line(what, f"{ours:,} of {total:,}", "all", ours == total)


def _share(what: str, part: int, whole: int, reach: float) -> Line:
    share = part / whole if whole else 0.0
    return Line(what, f"{100 * share:.1f} % ({part:,})", f"{100 * reach:.0f} % or more", share >= reach)


def _three(values: Sequence[float]) -> str:
    return "/".join(f"{v:.1f}".removesuffix(".0") for v in values)


def _all(tables: Tables, config: str) -> list[Row]:
    return [row for part in tables.get(config, {}).values() for row in part]


def _print(lines: Sequence[Line]) -> None:
    for line in lines:
        mark = {None: "", True: "pass", False: "FAIL"}[line.is_met]
        wanted = f"reach: {line.reach}" if line.reach else ""
        paper = f"paper: {line.paper}" if line.paper else ""
        print(f"{line.what:<60} {line.ours:<30} {wanted:<24} {mark:<5} {paper}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""R4C's published figures beside ours: python -m benchmarks.r4c [FOLDER]

FOLDER holds the corpus as its authors publish it: train.json, dev_csf.json, bm_core.json, oracle.json, and for the
baselines from text r4c_dev_with_hotpot_context_29.json, 29 items joined to their HotpotQA contexts.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation import derivations, extraction
from evaluation.answers import Score

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "r4c"
COUNTS = {"train": (4944, 1553, 640, 7137), "dev_csf": (4424, 1599, 604, 6627)}  # Inoue et al. 2020, Table 1
ORACLE = {  # Table 2: references used -> entity, relation, full
    1: "73.3/75.1/73.4  56.9/55.6/55.5  70.1/69.5/69.0",
    2: "79.4/77.6/77.6  66.7/65.4/65.3  74.7/73.2/73.2",
    3: "83.4/81.1/81.4  72.3/69.4/70.0  77.7/75.1/75.6",
}
CORE = "66.4/60.1/62.1  51.0/46.0/47.5  59.4/53.6/55.4"  # Table 3
IE = "11.3/53.4/16.6  13.7/62.8/19.9  11.4/52.3/16.5"  # Table 3; with Stanford OpenIE, over the whole dev set


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a figure that can be reproduced is not."""
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0]) if given else FOLDER
    if not (folder / "dev_csf.json").exists():
        print(f"R4C is not in {folder}: give the folder that holds dev_csf.json.", file=sys.stderr)
        return 2
    same = [_counts(folder), _published(folder)]
    _from_text(folder)
    return 0 if all(same) else 1


def figures(means: Mapping[str, Score]) -> str:
    """Precision/recall/F1 in percent by scorer, as the paper prints them."""
    return "  ".join("/".join(f"{100 * value:.1f}" for value in means[scorer]) for scorer in derivations.SCORERS)


def _counts(folder: Path) -> bool:
    print("Derivations by steps       2     3    4+   all")
    ours = {name: derivations.count_steps(_read(folder / f"{name}.json")) for name in COUNTS}
    for name, counts in ours.items():
        print(f"  {name:<10} ours    ", *(f"{n:5d}" for n in counts))
        print(f"  {'':<10} Table 1 ", *(f"{n:5d}" for n in COUNTS[name]))
    return all(tuple(ours[name]) == COUNTS[name] for name in COUNTS)


def _published(folder: Path) -> bool:
    references = _read(folder / "dev_csf.json")
    oracle, core = (_read(folder / name)["re"] for name in ("oracle.json", "bm_core.json"))
    rows = [(f"oracle, {n} references", oracle, n, ORACLE[n]) for n in ORACLE] + [("CORE, as published", core, 3, CORE)]
    print("\nP/R/F1                     entity          relation        full")
    same = True
    for name, predictions, used, published in rows:
        ours = figures(derivations.evaluate(predictions, references, used=used))
        same = same and ours == published
        print(f"  {name:<22} {ours}  ours\n  {'':<22} {published}  {'same' if ours == published else 'DIFFERENT'}")
    return same


def _from_text(folder: Path) -> None:
    items = _read(folder / "r4c_dev_with_hotpot_context_29.json")
    published = _read(folder / "bm_core.json")["re"]
    references = {item["_id"]: item["derivations"] for item in items}
    made: dict[str, dict[str, list]] = {"CORE, as published": {}, "CORE, from text": {}, "IE, from text": {}}
    for item in items:
        facts = _facts(item)
        made["CORE, as published"][item["_id"]] = published[item["_id"]]
        made["CORE, from text"][item["_id"]] = _steps(extraction.core(facts))
        made["IE, from text"][item["_id"]] = _steps(extraction.everything([text for _, text in facts]))
    print(f"\nOn the {len(items)} items with their contexts")
    for name, predictions in made.items():
        print(f"  {name:<22} {figures(derivations.evaluate(predictions, references))}")
    print(f"  {'IE of the paper':<22} {IE}  (whole dev set, another extractor)")


def _facts(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(title, sentence) of each supporting fact that the context holds."""
    context = dict(item["context"])
    return [(title, context[title][i]) for title, i in item["supporting_facts"] if i < len(context.get(title, ()))]


def _steps(triples: Sequence[derivations.Triple]) -> list[list]:
    return [["", 0, list(triple)] for triple in triples]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())

"""Learn the confidence of the embedded default from candidates that were read: python -m benchmarks.rules_fit LABELS.

LABELS is JSON Lines of {"traits": {...}, "doubts": [...], "good": true or false, "article": ..., "read": ...}. Those
used are benchmarks/rules_reading/tuning.jsonl: candidates that the rules' author read, those of the blind readings, and
WIDE, a reading of all kinds of candidates, sure ones and doubtful ones, from every source. Prints what the confidence
is worth on WIDE, each article judged by trees that were learnt without it, and writes
generation/language/confidence.json. The gates of generation/language/doubts.py were written with many of these articles
in sight, so the curve flatters.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from generation.language import confidence

WIDE = "wide"
FOLDS = 8
SETTINGS: dict[str, Any] = {
    "n_estimators": 300,
    "learning_rate": 0.02,
    "max_depth": 4,
    "subsample": 0.5,
    "min_samples_leaf": 12,
    "max_features": 0.15,
    "random_state": 0,
}
"""Small trees, each learnt from a part of the labels and of the traits: few labels speak for any one trait."""
Row = dict[str, Any]


def table(rows: Sequence[Row], names: Sequence[str]) -> np.ndarray:
    known = [confidence.with_doubts(row["traits"], row["doubts"]) for row in rows]
    return np.array([[traits.get(name, 0.0) for name in names] for traits in known])


def crossed(x: np.ndarray, good: np.ndarray, rows: Sequence[Row]) -> np.ndarray:
    """The log odds of each row by trees that were learnt without its article, shape (rows,)."""
    odds = np.zeros(len(rows))
    for others, judged in GroupKFold(FOLDS, shuffle=True, random_state=0).split(x, good, [r["article"] for r in rows]):
        odds[judged] = GradientBoostingClassifier(**SETTINGS).fit(x[others], good[others]).decision_function(x[judged])
    return odds


def stored(model: GradientBoostingClassifier) -> Iterator[Any]:
    """Each tree as [trait, bound, tree up to the bound, tree above it], a leaf as what it adds to the log odds."""

    def node(tree: Any, at: int) -> Any:
        if tree.children_left[at] < 0:
            return round(float(tree.value[at, 0, 0]) * SETTINGS["learning_rate"], 5)
        below, above = (node(tree, side[at]) for side in (tree.children_left, tree.children_right))
        return [int(tree.feature[at]), round(float(tree.threshold[at]), 6), below, above]

    for (tree,) in model.estimators_:
        yield node(tree.tree_, 0)


def curve(good: np.ndarray, shares: np.ndarray) -> Iterator[str]:
    """Precision by the least confidence asked for."""
    for threshold in (0.0, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85):
        kept = good[shares >= threshold]
        if len(kept):
            yield f"  confidence >= {threshold}: {kept.sum()}/{len(kept)} good, {kept.mean():.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    rows = [json.loads(ln) for ln in parser.parse_args().labels.read_text(encoding="utf-8").splitlines()]
    names = sorted({n for row in rows for n in confidence.with_doubts(row["traits"], row["doubts"])})
    x, good = table(rows, names), np.array([row["good"] for row in rows])
    odds, wide = crossed(x, good, rows), np.array([row["read"] == WIDE for row in rows])
    scale = LogisticRegression(C=1e6).fit(odds[wide, None], good[wide])
    slope, shift = float(scale.coef_[0, 0]), float(scale.intercept_[0])
    print(f"{len(rows)} labels, {good.sum()} good; in the wide reading {wide.sum()}, {good[wide].sum()} good.")
    print(
        f"The wide reading, without its article each: area under the curve {roc_auc_score(good[wide], odds[wide]):.3f}"
    )
    print(*curve(good[wide], 1 / (1 + np.exp(-slope * odds[wide] - shift))), sep="\n")
    model = GradientBoostingClassifier(**SETTINGS).fit(x, good)
    first = math.log(good.mean() / (1 - good.mean()))
    content = {
        "source": f"{len(rows)} candidates that were read; benchmarks/rules_fit.py",
        "slope": round(slope, 4),
        "start": round(shift + slope * first, 4),
        "traits": names,
        "trees": list(stored(model)),
    }
    path = Path(confidence.__file__).with_name("confidence.json")
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

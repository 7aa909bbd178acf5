"""Learn the confidence of the embedded default from candidates that were read: python -m benchmarks.rules_fit LABELS.

LABELS is JSON Lines of {"traits": {...}, "good": true or false, "article": ...}; those used, read on the tuning half of
benchmarks/rules_texts.py, are benchmarks/rules_reading/tuning.jsonl. Writes generation/language/confidence.json.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from generation.language import confidence

PENALTY = 8.0
"""L2, in units of one label: weights that few labels speak for stay small."""
FOLDS = 10


def learn(rows: Sequence[dict], names: Sequence[str]) -> np.ndarray:
    """Logistic regression by Newton's method; the intercept ("always") is not punished."""
    x = np.array([[row["traits"].get(name, 0.0) for name in names] for row in rows])
    y = np.array([float(row["good"]) for row in rows])
    ridge = np.diag([0.0 if name == "always" else PENALTY for name in names])
    weights = np.zeros(len(names))
    for _ in range(50):
        share = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (y - share) - ridge @ weights
        hessian = (x * (share * (1 - share))[:, None]).T @ x + ridge + 1e-6 * np.eye(len(names))
        weights += np.linalg.solve(hessian, gradient)
    return weights


def crossed(rows: Sequence[dict], names: Sequence[str]) -> list[float]:
    """The confidence of each row by weights that were learnt without its article."""
    fold = [int(hashlib.sha256(row["article"].encode()).hexdigest(), 16) % FOLDS for row in rows]
    shares = [0.0] * len(rows)
    for part in range(FOLDS):
        weights = learn([r for r, f in zip(rows, fold, strict=True) if f != part], names)
        for i, row in enumerate(rows):
            if fold[i] == part:
                score = sum(w * row["traits"].get(n, 0.0) for w, n in zip(weights, names, strict=True))
                shares[i] = float(1 / (1 + np.exp(-score)))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    rows = [json.loads(ln) for ln in parser.parse_args().labels.read_text(encoding="utf-8").splitlines()]
    names = sorted({n for row in rows for n in row["traits"]})
    shares = crossed(rows, names)
    print(f"{len(rows)} labels, {sum(r['good'] for r in rows)} good; cross-validated by article:")
    for threshold in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        kept = [r["good"] for r, s in zip(rows, shares, strict=True) if s >= threshold]
        print(f"  confidence >= {threshold}: {sum(kept)}/{len(kept)} good, {sum(kept) / max(1, len(kept)):.2f}")
    weights = learn(rows, names)
    stored = {
        "source": f"{len(rows)} candidates of the tuning half, read by the rules' author; benchmarks/rules_fit.py",
        "weights": {n: round(float(w), 4) for n, w in zip(names, weights, strict=True) if abs(w) > 1e-3},
    }
    path = Path(confidence.__file__).with_name("confidence.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

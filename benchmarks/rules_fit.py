"""Learn the confidence of the embedded default from candidates that were read: python -m benchmarks.rules_fit LABELS.

LABELS is JSON Lines of {"traits": {...}, "doubts": [...], "good": true or false, "article": ...}. Those used are
benchmarks/rules_reading/tuning.jsonl: candidates that the rules' author read, and those of the blind readings, which
both readers signed or not, with the traits and doubts that the rules of today give them. Prints the precision by
confidence, learnt without each article in turn and without each blind reading in turn, and writes
generation/language/confidence.json. The gates of generation/language/doubts.py were written with these labels in
sight, so both curves flatter them.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from generation.language import confidence

PENALTY = 8.0
"""L2, in units of one label: weights that few labels speak for stay small."""


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
    shares = [0.0] * len(rows)
    for article in {row["article"] for row in rows}:
        weights = learn([r for r in rows if r["article"] != article], names)
        for i, row in enumerate(rows):
            if row["article"] == article:
                score = sum(w * row["traits"].get(n, 0.0) for w, n in zip(weights, names, strict=True))
                shares[i] = float(1 / (1 + np.exp(-score)))
    return shares


def without_reading(rows: Sequence[dict], names: Sequence[str]) -> Iterator[tuple[dict, float]]:
    """What blind readers judged, with the confidence by weights learnt without that reading and its articles."""
    for reading in sorted({row["read"] for row in rows if row["read"].startswith("round ")}):
        judged = [row for row in rows if row["read"] == reading]
        articles = {row["article"] for row in judged}
        weights = learn([r for r in rows if r["read"] != reading and r["article"] not in articles], names)
        for row in judged:
            score = sum(w * row["traits"].get(n, 0.0) for w, n in zip(weights, names, strict=True))
            yield row, float(1 / (1 + np.exp(-score)))


def lower_bound(good: int, of: int) -> float:
    """Of Wilson's interval at 90 %: the share is rather higher than this."""
    if not of:
        return 0.0
    share, z = good / of, 1.645
    middle = share + z * z / (2 * of)
    return (middle - z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))) / (1 + z * z / of)


def curve(rows: Sequence[dict], shares: Sequence[float]) -> Iterator[str]:
    """Precision of what has no doubt, by the least confidence asked for."""
    for threshold in (0.0, 0.6, 0.65, 0.7, 0.72, 0.75, 0.78, 0.8, 0.85):
        kept = [r["good"] for r, s in zip(rows, shares, strict=True) if s >= threshold and not r["doubts"]]
        good, of = sum(kept), len(kept)
        share = good / max(1, of)
        yield f"  confidence >= {threshold}: {good}/{of} good, {share:.2f} (at least {lower_bound(good, of):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    rows = [json.loads(ln) for ln in parser.parse_args().labels.read_text(encoding="utf-8").splitlines()]
    names = sorted({n for row in rows for n in row["traits"]})
    shares = crossed(rows, names)
    sure = [r for r in rows if not r["doubts"]]
    print(f"{len(rows)} labels, {sum(r['good'] for r in rows)} good; without a doubt {len(sure)}.")
    print("Those without a doubt, each judged by weights that were learnt without its article:")
    print(*curve(rows, shares), sep="\n")
    judged = list(without_reading(rows, names))
    print("Those of the blind readings, each judged by weights that were learnt without its reading:")
    print(*curve([row for row, _ in judged], [share for _, share in judged]), sep="\n")
    weights = learn(rows, names)
    stored = {
        "source": f"{len(rows)} candidates that were read; benchmarks/rules_fit.py",
        "weights": {n: round(float(w), 4) for n, w in zip(names, weights, strict=True) if abs(w) > 1e-3},
    }
    path = Path(confidence.__file__).with_name("confidence.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

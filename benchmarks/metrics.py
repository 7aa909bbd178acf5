"""How fast the metrics are, on one core: python -m benchmarks.metrics

Pairs and derivations are made up from a fixed seed: answers of 1 to 12 words with 1 to 5 references, derivations of 2
to 4 steps with 3 references. A pair is a prediction with all its references; the best of three runs counts.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from evaluation import answers, derivations, evidence

WORDS = "the act of 1974 requires every ferry, port and harbor board to keep two rafts a day in the bay's docks".split()
PAIRS, DERIVATIONS = 20_000, 2_000
GOAL_PAIRS, GOAL_DERIVATIONS = 20_000, 2_000  # a second


def main() -> int:
    """Print items a second for each metric; 1 if one misses its goal."""
    stream = random.Random(7)
    pairs = [(_text(stream), [_text(stream) for _ in range(stream.randint(1, 5))]) for _ in range(PAIRS)]
    facts = [([*range(stream.randint(0, 4))], [*range(stream.randint(1, 4))]) for _ in range(PAIRS)]
    reasons = [(_derivation(stream), [_derivation(stream) for _ in range(3)]) for _ in range(DERIVATIONS)]
    rows: list[tuple[str, Callable, Sequence, int]] = [
        ("answers.exact_match", answers.exact_match, pairs, GOAL_PAIRS),
        ("answers.token_f1", answers.token_f1, pairs, GOAL_PAIRS),
        ("answers.hotpot_f1", lambda a, b: answers.hotpot_f1(a, b[0]), pairs, GOAL_PAIRS),
        ("answers.quac_f1", answers.quac_f1, pairs, GOAL_PAIRS),
        ("answers.quoref, one span", lambda a, b: answers.quoref(a, b[:1]), pairs, GOAL_PAIRS),
        ("answers.quoref, up to five", lambda a, b: answers.quoref(b, [a, *b[1:]]), pairs, GOAL_PAIRS),
        ("evidence.supporting_facts", evidence.supporting_facts, facts, GOAL_PAIRS),
        *(
            (
                f"derivations.score, {scorer}",
                lambda a, b, s=scorer: derivations.score(a, b, s),
                reasons,
                GOAL_DERIVATIONS,
            )
            for scorer in derivations.SCORERS
        ),
    ]
    missed = 0
    for name, function, items, goal in rows:
        speed = rate(function, items)
        missed += speed < goal
        print(f"{name:<30} {speed:>10,.0f} a second   goal {goal:,}{'' if speed >= goal else '   MISSED'}")
    return int(missed > 0)


def rate(function: Callable[[Any, Any], Any], items: Sequence[tuple[Any, Any]]) -> float:
    """Items a second of processor time, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for first, second in items:
            function(first, second)
        best = min(best, time.process_time() - start)
    return len(items) / best


def _text(stream: random.Random) -> str:
    return " ".join(stream.choices(WORDS, k=stream.randint(1, 12)))


def _derivation(stream: random.Random) -> list[tuple[str, str, str]]:
    return [(_text(stream), _text(stream), _text(stream)) for _ in range(stream.randint(2, 4))]


if __name__ == "__main__":
    sys.exit(main())

"""All the README's figures, one command after the other: python -m benchmarks [NAME ...]"""

import subprocess
import sys
from pathlib import Path

NAMES = tuple("segmenters gap qed rules checks audit metrics r4c chroma chunks evaluation dataset engine space".split())
NEEDS_SHARED = ("segmenters", "gap", "qed", "rules", "r4c", "chroma", "evaluation")  # texts that are not ours to ship
SHARED = Path(__file__).parents[2] / "shared"


def main(chosen: list[str]) -> int:
    """Run the `chosen` benchmarks, or all; the number of those that failed comes back."""
    failed = 0
    for name in chosen or NAMES:
        print(f"\n## python -m benchmarks.{name}\n", flush=True)
        if name in NEEDS_SHARED and not SHARED.is_dir():
            print(f"Skipped: it reads texts from {SHARED}, which is not there.", flush=True)
        else:
            failed += subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How long one grading of the design scenario takes: 300 Dags, 8,676 runs, the whole day, all requirements.

    python benchmarks/bench_design.py

The naive default stops early, for its only scheduler is lost; a design that passes plays everything.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import dagkit as dk

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.designs import GOOD  # noqa: E402

MOST = 5.0
"""Seconds one grading may take on two cores."""


def seconds(design: object, rounds: int = 3) -> float:
    """The median of several gradings."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        dk.design.grade(design)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> dict[str, float]:
    """Prints and returns seconds by design."""
    found = {name: seconds(design) for name, design in {"the naive default": {}, **GOOD}.items()}
    for name, took in found.items():
        print(f"{name:<20}{took:>6.2f} s{'' if took < MOST else f'  more than {MOST:.0f} s'}", flush=True)
    return found


if __name__ == "__main__":
    main()

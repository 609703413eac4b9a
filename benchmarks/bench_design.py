"""How long one grading of the design scenario takes: 300 Dags, 8,676 runs, the whole day, all requirements.

    python benchmarks/bench_design.py

The naive default stops early, for its only scheduler is lost; a design that passes plays everything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from harness import Cell, amount, show

import dagkit as dk

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.designs import GOOD  # noqa: E402


def cells() -> Iterator[Cell]:
    for name, design in {"the naive default": {}, **GOOD}.items():
        yield amount("a scenario of 300 Dags, graded", name, lambda design=design: dk.design.grade(design), 5, rounds=3)


if __name__ == "__main__":
    show(cells())

"""How long a learner waits: importing the kit, and its first answers.

    python benchmarks/bench_start.py

Imports are timed in processes of their own (seconds of wall clock, the fastest of a few, since a disk may be cold).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from harness import Cell, show

HEAVY = ("pandas", "networkx", "ipywidgets", "anywidget", "graphviz")


def importing(code: str, times: int = 7) -> float:
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        took.append(time.perf_counter() - begin)
    return min(took)


def cells() -> Iterator[Cell]:
    nothing, pandas, kit = (importing(code) for code in ("pass", "import pandas", "import dagkit"))
    core = ("import sys, dagkit as dk; dk.simulate(dk.examples.orders()).explain('publish', 7); "
            f"sys.exit(', '.join(set({HEAVY!r}) & set(sys.modules)) or 0)")
    subprocess.run([sys.executable, "-c", core], check=True)      # fails if the core brings any of them
    yield Cell("import dagkit, beside import pandas", "fresh process", "budget", (kit - nothing) / (pandas - nothing),
               1.5, "times")


if __name__ == "__main__":
    show(cells())

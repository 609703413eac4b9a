"""All benchmarks in turn: ``make bench``. One table of figures beside their goals, also as JSON and as a picture.

    python benchmarks/run.py [--quick | --only PART | --rest]

--quick stops at 10,000 tasks and keeps nothing: a look, not a result. --only measures one part anew and puts its figures
in the place of the old; the slow parts are measured only so: "million" (planning on Dags of a million tasks: 8 GB) and
"compiled" (what a compiled engine would bring). The table is kept in benchmarks/results.json and drawn as
docs/benchmarks.svg, both written when it is complete. An interrupt stops at once; an incomplete table is not kept. --rest
runs, instead, those that need a database, describe a model or time whole notebooks, and print what they find.
"""

from __future__ import annotations

import argparse
import json
import platform
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bench_compiled
import bench_design
import bench_engine
import bench_notebooks
import bench_planning
import bench_start
from harness import Cell, show
from picture import picture

HERE = Path(__file__).resolve().parent
RESULTS, PICTURE = HERE / "results.json", HERE.parent / "docs" / "benchmarks.svg"
REST = (["bench_executors"], ["bench_latency"], ["bench_probe"], ["bench_claims"], ["bench_notebooks", "--cells"])


PARTS: dict[str, Callable[[int], Iterator[Cell]]] = {       # given the most tasks that a Dag may have
    "start": lambda _: bench_start.cells(),
    "notebooks": lambda _: bench_notebooks.players(),
    "design": lambda _: bench_design.cells(),
    "engine": bench_engine.cells,
    "planning": lambda most: bench_planning.cells(tuple(n for n in bench_planning.SIZES if n <= most)),
    "million": lambda _: bench_planning.cells(bench_planning.SIZES[-1:]),
    "compiled": lambda _: bench_compiled.cells(),
}
SLOW = ("million", "compiled")


def main(quick: bool, only: str | None) -> None:
    measured: dict[str, dict[str, Any]] = {}
    for part in [only] if only else [part for part in PARTS if part not in SLOW]:
        begin = time.perf_counter()
        found = [cell.to_json() for cell in show(PARTS[part](10_000 if quick else 100_000))]
        measured[part] = {"minutes": round((time.perf_counter() - begin) / 60, 1), "cells": found}
    goals = [cell["met"] for cell in cells_of(measured) if cell["met"] is not None]
    print(f"\n{sum(goals)} of {len(goals)} goals met, in {sum(part['minutes'] for part in measured.values()):.1f} minutes")
    if not quick:
        keep(measured)


def keep(measured: dict[str, dict[str, Any]]) -> None:
    """Put these parts in the place of the old, in the table and in its picture."""
    known = {**json.loads(RESULTS.read_text(encoding="utf-8"))["parts"], **measured}
    parts = {name: known[name] for name in PARTS if name in known}
    about = {"python": platform.python_version(), "machine": "2 cores", "parts": parts}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(picture(cells_of(parts)), encoding="utf-8")


def cells_of(parts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for part in parts.values() for cell in part["cells"]]


def rest() -> None:
    for name, *options in REST:
        script = HERE / f"{name}.py"
        print(f"\n== {name}", flush=True)
        sys.argv = [str(script), *options]
        runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Figures beside their goals.")
    parser.add_argument("--quick", action="store_true", help="stop at 10,000 tasks, keep nothing")
    parser.add_argument("--only", choices=PARTS, help="measure one part anew")
    parser.add_argument("--rest", action="store_true", help="what is not in the table")
    given = parser.parse_args()
    try:
        rest() if given.rest else main(given.quick, given.only)
    except KeyboardInterrupt:
        print("stopped")
        sys.exit(130)

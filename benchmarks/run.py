"""All benchmarks in turn: ``make bench``. One table of figures beside their goals, also as JSON and as a picture.

    python benchmarks/run.py [--quick | --up-to TASKS | --only PART | --rest]

--quick stops at 10,000 tasks and keeps nothing: a look, not a result. --up-to leaves out planning on larger Dags (a
million tasks take half of the time and 8 GB). --only measures one part anew, "engine" say, and puts its figures in the
place of the old. The table is kept in benchmarks/results.json and drawn as docs/benchmarks.svg, both written when it is
complete. An interrupt stops at once; an incomplete table is not kept. --rest runs, instead, those that need a database,
describe a model or time whole notebooks, and print what they find (``make bench-rest``).
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


PARTS: dict[str, Callable[[int], Iterator[Cell]]] = {
    "start": lambda _: bench_start.cells(),
    "notebooks": lambda _: bench_notebooks.players(),
    "design": lambda _: bench_design.cells(),
    "engine": lambda up_to: bench_engine.cells(min(up_to, 100_000)),
    "compiled": lambda _: bench_compiled.cells(),
    "planning": lambda up_to: bench_planning.cells(tuple(n for n in bench_planning.SIZES if n <= up_to)),
}


def main(quick: bool, up_to: int, only: str | None) -> None:
    begin = time.perf_counter()
    parts = [only] if only else list(PARTS)
    found = show(cell for part in parts for cell in PARTS[part](10_000 if quick else up_to))
    goals = [cell.met for cell in found if cell.met is not None]
    minutes = (time.perf_counter() - begin) / 60
    print(f"\n{sum(goals)} of {len(goals)} goals met, in {minutes:.1f} minutes")
    if quick:
        return
    about = {"python": platform.python_version(), "machine": "2 cores", "minutes": round(minutes, 1)}
    told = [cell.to_json() for cell in found]
    if only:
        anew = {(cell["what"], cell["case"], cell["peer"]): cell for cell in told}
        about = json.loads(RESULTS.read_text(encoding="utf-8"))
        kept = about["cells"]
        told = [anew.pop((cell["what"], cell["case"], cell["peer"]), cell) for cell in kept] + list(anew.values())
    about["cells"] = told
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(picture(told), encoding="utf-8")


def rest() -> None:
    for name, *options in REST:
        script = HERE / f"{name}.py"
        print(f"\n== {name}", flush=True)
        sys.argv = [str(script), *options]
        runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Figures beside their goals.")
    parser.add_argument("--quick", action="store_true", help="stop at 10,000 tasks, keep nothing")
    parser.add_argument("--up-to", type=int, default=bench_planning.SIZES[-1], metavar="TASKS",
                        help="no planning on larger Dags")
    parser.add_argument("--only", choices=PARTS, help="measure one part anew")
    parser.add_argument("--rest", action="store_true", help="what is not in the table")
    given = parser.parse_args()
    try:
        rest() if given.rest else main(given.quick, given.up_to, given.only)
    except KeyboardInterrupt:
        print("stopped")
        sys.exit(130)

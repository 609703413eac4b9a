"""What a compiled engine would bring: the same source, compiled by mypyc in a folder of its own.

    python benchmarks/bench_compiled.py

Needs a C compiler, and mypy, which `make install` brings; compiling takes about a minute. Nothing of it is installed:
the kit stays what can be read and stepped through. The traces of both are compared before the times are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from harness import Cell, show, spread

ROOT = Path(__file__).resolve().parents[1]
COMPILED = ("tick", "limits", "core", "decide", "plan", "ending", "workers", "runs", "order", "window", "selection")
ROUNDS = 3
CHILD = f"""
import hashlib, json, sys
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import bench_engine as bench
from harness import seconds
found = {{}}
made = {{"all at once": bench.concurrent, "layered, 64 slots": bench.layered, "runs of 20": bench.many_runs}}
for name, make in made.items():
    scenario = make(20_000)
    sim = bench.play(scenario)
    trace = hashlib.sha256(bytes(sim.event_ti) + bytes(sim.event_new) + bytes(sim.tick_end)).hexdigest()
    found[name] = min(seconds(bench.ticks_only(scenario)) for _ in range(3)), trace
print(json.dumps(found))
"""


def measured(folder: Path) -> dict[str, tuple[float, str]]:
    """(seconds of the ticks, fingerprint of the trace) of each case, by the kit that lies in a folder."""
    out = subprocess.run([sys.executable, "-c", CHILD], env={**os.environ, "PYTHONPATH": str(folder)}, check=True,
                         capture_output=True, text=True, cwd=folder)
    return {name: (took, trace) for name, (took, trace) in json.loads(out.stdout).items()}


def cells() -> Iterator[Cell]:
    if not (shutil.which("gcc") or shutil.which("cc") or shutil.which("clang") or sys.platform == "win32"):
        print("compiled: skipped, no C compiler")
        return
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(ROOT / "dagkit", Path(place) / "dagkit", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(place) / "mypy.ini").write_text("[mypy]\nignore_missing_imports = true\n")
        print("compiling the engine ...", flush=True)
        done = subprocess.run([sys.executable, "-m", "mypyc", *(f"dagkit/engine/{name}.py" for name in COMPILED)],
                              cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"mypyc could not compile the engine:\n{(done.stdout + done.stderr)[-2000:]}")
        taken: list[tuple[dict[str, tuple[float, str]], ...]] = []
        for _ in range(ROUNDS):
            taken.append((measured(ROOT), measured(Path(place))))
    for name, (_, trace) in taken[0][0].items():
        assert all(each[name][1] == trace for pair in taken for each in pair), "the traces differ"
        plain, compiled = ([pair[side][name][0] for pair in taken] for side in (0, 1))
        yield Cell("ticks compiled by mypyc", f"20,000 tasks, {name}", "as they are", median(plain) / median(compiled),
                   None, spread=max(spread(plain), spread(compiled)))


if __name__ == "__main__":
    show(cells())

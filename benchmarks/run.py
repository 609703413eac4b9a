"""All benchmarks in turn: ``make bench``. Ratios to named peers measured in the same run; answers compared first."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    for script in sorted(HERE.glob("bench_*.py")):
        print(f"\n== {script.stem}", flush=True)
        sys.argv = [str(script)]
        try:
            runpy.run_path(str(script), run_name="__main__")
        except KeyboardInterrupt:
            print("stopped")
            break

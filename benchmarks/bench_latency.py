"""The latency model: how long all its curves take, how far off it is, and the one number in it that is measured.

    python benchmarks/bench_latency.py

Measured: what a task process costs when it is forked from a parent that has imported everything, and when it starts
anew. The libraries of the kit stand in for Airflow's. The goal: all curves in under 3 seconds.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import time

LIBRARIES = ("pandas", "networkx", "hypothesis", "nbconvert", "anywidget", "ipywidgets", "jupyterlab")
"""Imported before a fork; as heavy as what a task imports."""
FRESH = f"""
import importlib, sys
for name in {LIBRARIES!r}:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
print(sum(int(line.split()[1]) for line in open('/proc/self/smaps_rollup') if line.startswith('Private')))
"""


def private() -> float:
    """MiB that only this process has."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as rows:
        return sum(int(row.split()[1]) for row in rows if row.startswith("Private")) / 1024


def fresh() -> tuple[float, float]:
    """Seconds and MiB of a process that starts anew and imports."""
    start = time.perf_counter()
    said = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True).stdout
    return time.perf_counter() - start, int(said) / 1024


def forked() -> tuple[float, float, float]:
    """Seconds until a forked process runs; its MiB at once, and after a garbage collection."""
    import gc
    there, here = os.pipe()
    start = time.perf_counter()
    pid = os.fork()
    if not pid:
        took, first = time.perf_counter() - start, private()
        gc.collect()
        os.write(here, f"{took} {first} {private()}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    took, first, later = map(float, os.read(there, 200).split())
    return took, first, later


def curves() -> float:
    """Seconds for everything the lesson draws: solving, all curves, conclusions, a survey of a hundred models."""
    from dagkit import latency
    latency.survey.cache_clear()
    start = time.perf_counter()
    latency.curves()
    latency.predictions()
    latency.conclusions()
    drawn = time.perf_counter() - start
    latency.survey(100)
    print(f"{'all curves, solved anew':<44}{drawn:>10.2f} s   (goal: under 3 s)")
    print(f"{'a survey of 100 models':<44}{time.perf_counter() - start - drawn:>10.2f} s")
    return drawn


def stories(count: int = 200) -> None:
    """Runs played hop by hop, with a third of the hints lost."""
    from dagkit import latency
    start = time.perf_counter()
    bad = [s for s in range(count) if (story := latency.play(lose_share=0.3, seed=s)).missing or story.doubled]
    print(f"{'runs played hop by hop, 30 % of hints lost':<44}{count / (time.perf_counter() - start):>10,.0f} /s   "
          f"({len(bad)} of {count} lost or doubled something)")


def main() -> dict[str, float]:
    """Prints and returns the figures."""
    from dagkit import latency
    found = {"curves": curves()}
    stories()
    for row in latency.predictions():
        print(f"{str(row['figure'])[:52]:<54}{row['published']:>10} {row['model']:>10} {row['error %']:>5} %  {row['use']}")
    if not os.path.exists("/proc/self/smaps_rollup"):
        print("memory of a fork: only measured on Linux")
        return found
    anew = [fresh() for _ in range(2)]
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"({name} is not installed: the figures are too low)")
    warm = [forked() for _ in range(5)]
    found.update(fresh=min(t for t, _ in anew), fork=statistics.median(t for t, _, _ in warm),
                 dirtied=statistics.median(m for _, _, m in warm))
    print(f"{'a process that starts anew':<44}{found['fresh']:>10.2f} s  {anew[-1][1]:>8.0f} MiB of its own")
    print(f"{'a process forked from a warm parent':<44}{found['fork']:>10.4f} s  {warm[-1][1]:>8.1f} MiB at once, "
          f"{found['dirtied']:.0f} MiB after a garbage collection")
    print(f"{'the model uses':<44}{'':>12}{latency.PARAMETERS['dirtied'].value:>9.0f} MiB")
    return found


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped")

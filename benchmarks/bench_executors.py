"""How long it takes to compare executors: 1,000 five-second tasks on four of them, traces and table included.

    python benchmarks/bench_executors.py [tasks]

The yardstick is the same simulation on the plain executor, which draws nothing and keeps no workers.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import dagkit as dk

LIMIT = 2.0
"""Seconds that the four may take."""
SLOTS = 32
FOUR = {
    "local": dk.LocalExecutor(parallelism=SLOTS), "celery": dk.CeleryExecutor(workers=[dk.Worker(SLOTS)]),
    "kubernetes": dk.KubernetesExecutor(), "edge": dk.EdgeExecutor(workers=[dk.Worker(SLOTS)]),
}


def work(tasks: int) -> dk.Dag:
    return dk.Dag("short", [dk.Task(f"t{k}", duration=5) for k in range(tasks)], max_active_tasks=tasks)


def seconds(call: Callable[[], Any], rounds: int = 5) -> float:
    """The median of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(tasks: int = 1000) -> dict[str, float]:
    """Prints and returns seconds: each simulation alone, and the comparison of all four."""
    dag = work(tasks)
    table = dk.compare_executors(dag, FOUR)
    assert (table["worker_seconds_used"] == 5 * tasks).all(), "they do not do the same work"
    found = {name: seconds(lambda executor=executor: dk.simulate(dag, executor=executor))
             for name, executor in FOUR.items()}
    for name, taken in found.items():
        print(f"{name:<14}{taken:>8.3f} s{taken / found['local']:>8.1f} x the plain one")
    found["all four"] = seconds(lambda: dk.compare_executors(dag, FOUR))
    print(f"{'all four':<14}{found['all four']:>8.3f} s   {tasks:,} tasks, table included (limit {LIMIT:g} s)")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

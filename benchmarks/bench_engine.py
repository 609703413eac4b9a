"""How fast the engine plays, with the full trace, beside a bare loop that does the same transitions without rules.

    python benchmarks/bench_engine.py [tasks]

The bare loop is the floor of what a state machine costs in plain Python: a dictionary of states and a heap of ends,
no pools, no priorities, no rules, no reasons. Both run in turns in one process; the transitions are compared first.
"""

from __future__ import annotations

import gc
import heapq
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import dagkit as dk
from dagkit.engine import play

SLOTS, MAX_ACTIVE = 50, 64


def pooled(n: int) -> dk.Scenario:
    """n independent tasks of 1 to 50 ticks through a pool of 50 and max_active_tasks 64."""
    draw = random.Random(1)
    tasks = [dk.Task(f"t{i}", duration=draw.randint(1, 50), pool="p") for i in range(n)]
    return dk.Scenario(dk.Dag("pooled", tasks, max_active_tasks=MAX_ACTIVE), pools={"p": SLOTS},
                       config=dk.Config(parallelism=10 * n))


def layered(n: int, width: int = 300) -> dk.Scenario:
    """Layers of 300, about three upstreams each, through the same limits."""
    draw = random.Random(2)
    tasks = [dk.Task(f"t{i}", sorted({f"t{draw.randrange((i // width - 1) * width, i // width * width)}"
                                      for _ in range(3)}) if i >= width else (),
                     duration=draw.randint(1, 5), pool="p") for i in range(n)]
    return dk.Scenario(dk.Dag("layered", tasks, max_active_tasks=MAX_ACTIVE), pools={"p": SLOTS},
                       config=dk.Config(parallelism=10 * n))


def many_runs(n: int) -> dk.Scenario:
    """n / 20 runs of 20 tasks, all at once."""
    draw = random.Random(3)
    tasks = [dk.Task(f"t{i}", f"t{i - 1}" if i % 4 else (), duration=draw.randint(1, 5), pool="p") for i in range(20)]
    return dk.Scenario(dk.Dag("runs", tasks, max_active_tasks=4, max_active_runs=n), runs=n // 20,
                       pools={"p": 500}, config=dk.Config(parallelism=10 * n))


def bare_loop(durations: list[int], slots: int) -> list[tuple[int, int, str]]:
    """The same transitions of ``pooled`` with a dictionary and a heap, and nothing else."""
    state: dict[int, str] = dict.fromkeys(range(len(durations)), "none")
    events = []

    def move(tick: int, task: int, new: str) -> None:
        state[task] = new
        events.append((tick, task, new))

    for task in state:
        move(1, task, "scheduled")
    ends: list[tuple[int, int]] = []
    following, now, free = 0, 1, slots
    while following < len(durations) or ends:
        while ends and ends[0][0] == now:
            move(now, heapq.heappop(ends)[1], "success")
            free += 1
        while free and following < len(durations):
            move(now, following, "queued")
            move(now + 1, following, "running")
            heapq.heappush(ends, (now + 1 + durations[following], following))
            following, free = following + 1, free - 1
        if ends:
            now = ends[0][0]
    return events


def same_transitions(sim: Any, events: list[tuple[int, int, str]]) -> bool:
    mine = Counter(dk.states.NAMES[code] for code in sim.event_new)
    return mine == Counter(new for _, _, new in events)


def seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(n: int = 100_000, rounds: int = 3) -> dict[str, float]:
    """Prints transitions/s (median of rounds) and the ratio to the bare loop; returns the figures."""
    found: dict[str, float] = {}
    scenario = pooled(n)
    durations = [task.duration for task in scenario.dag]
    assert same_transitions(play(scenario), bare_loop(durations, SLOTS)), "the two do not make the same transitions"
    bare = 4 * n / statistics.median(seconds(lambda: bare_loop(durations, SLOTS)) for _ in range(rounds))
    print(f"{'bare loop':<24}{bare:>12,.0f} transitions/s")
    for name, made in (("pooled", scenario), ("layered", layered(n)), ("many runs", many_runs(n))):
        for pacing in ("lesson", "airflow"):
            one = made.replace(config=dk.Config(parallelism=10 * n, pacing=pacing))
            times, count = [], 0
            for _ in range(rounds):
                gc.collect()
                start = time.perf_counter()
                sim = play(one)
                times.append(time.perf_counter() - start)
                count = len(sim.event_new)
            rate = count / statistics.median(times)
            found[f"{name}, {pacing}"] = rate
            print(f"{name + ', ' + pacing:<24}{rate:>12,.0f} transitions/s{rate / bare:>8.2f} x the bare loop", flush=True)
    return found


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    except KeyboardInterrupt:
        print("stopped")

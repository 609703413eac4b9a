"""How fast the engine plays, with the full trace, beside a bare loop, a SimPy model and the naive loop.

    python benchmarks/bench_engine.py [tasks]

The bare loop is the floor of what a state machine costs in plain Python: a dictionary of states and a heap of ends,
no pools, no priorities, no rules, no reasons. Time is counted for one whole ``simulate``: compiling the Dag, all
ticks, the trace. Answers are compared before anything is timed.
"""

from __future__ import annotations

import gc
import heapq
import random
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

from bench_planning import lean_simpy
from harness import Cell, Fresh, amount, beside, in_turns, seconds, show, tell

import dagkit as dk
from dagkit.engine import play, prepare
from dagkit.engine.tick import tick
from dagkit.naive import MiniScheduler

SLOTS, MAX_ACTIVE = 50, 64


def pooled(n: int) -> dk.Scenario:
    """n independent tasks of 1 to 50 ticks through a pool of 50 and max_active_tasks 64."""
    draw = random.Random(1)
    tasks = [dk.Task(f"t{i}", duration=draw.randint(1, 50), pool="p") for i in range(n)]
    return dk.Scenario(dk.Dag("pooled", tasks, max_active_tasks=MAX_ACTIVE), pools={"p": SLOTS},
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


def concurrent(n: int, pacing: str = "lesson") -> dk.Scenario:
    """n tasks that all run at once: nothing limits them. Under airflow pacing 16 become queued in a pass."""
    draw = random.Random(4)
    longest = 50 if pacing == "lesson" else n // 4
    tasks = [dk.Task(f"t{i}", duration=draw.randint(1, longest)) for i in range(n)]
    return dk.Scenario(dk.Dag("concurrent", tasks, max_active_tasks=n), pools={"default_pool": -1},
                       config=dk.Config(parallelism=n, pacing=pacing))


def ticks_only(scenario: dk.Scenario) -> Fresh:
    """All ticks of a simulation; the compiled Dag is made anew outside the clock."""
    def run(sim: Any) -> Any:
        for now in sim.calendar:
            tick(sim, now)
        return sim
    return Fresh(lambda: prepare(scenario), run)


def transitions(played: Any) -> Counter[str]:
    """How often each state was entered, by a simulation or by the bare loop."""
    if isinstance(played, list):
        return Counter(new for _, _, new in played)
    return Counter(dk.states.NAMES[code] for code in played.event_new)


def against_bare(what: str, case: str, scenario: dk.Scenario, slots: int, goal: float | None,
                 rate: float | None) -> Iterator[Cell]:
    """goal: a share of the bare loop's speed. rate: thousands of transitions a second, of the ticks alone."""
    durations = [task.duration for task in scenario.dag] * max(runs.count for runs in scenario.runs.values())
    if len(durations) > 100_000:
        tell(f"{what}, {case}")
    bare = "bare dict and heap"
    taken = in_turns({"whole simulate": lambda: play(scenario), "ticks alone": ticks_only(scenario),
                      bare: lambda: bare_loop(durations, slots)}, 3, transitions)
    for part in ("whole simulate", "ticks alone"):
        yield taken.beside(what, f"{case}, {part}", part, bare, goal)
    yield Cell(f"{what}, transitions a second", f"{case}, ticks alone", "budget",
               4 * len(durations) / taken.median("ticks alone") / 1e3, rate, "k/s", taken.spread("ticks alone"))


def scale_cells(n: int) -> Iterator[Cell]:
    """Five times the task instances should take about five times as long."""
    small, large = concurrent(n), concurrent(5 * n)
    taken = in_turns({"small": lambda: play(small), "large": lambda: play(large)}, 1)
    yield Cell("five times the task instances", f"{n:,} to {5 * n:,}", "budget",
               taken.median("large") / taken.median("small"), 7, "times", taken.spread())


def layered(n: int) -> dk.Scenario:
    """Layers of 300 tasks with up to three upstreams each, 64 slots: nearly every tick moves a single task."""
    draw = random.Random(5)
    tasks = [dk.Task(f"t{i:06d}", sorted({f"t{draw.randrange((i // 300 - 1) * 300, i // 300 * 300):06d}"
                                          for _ in range(3)}) if i >= 300 else (), duration=draw.randint(1, 1000),
                     weight_rule="absolute") for i in range(n)]
    dag = dk.Dag("layered", tasks, max_active_tasks=64)
    return dk.Scenario(dag, executor=dk.LocalExecutor(handover=0), config=dk.Config(parallelism=64))


def simpy_cells(n: int) -> Iterator[Cell]:
    """The whole simulator beside a model that knows durations and slots only."""
    scenario = layered(n)
    dag = scenario.dag

    def end(played: Any) -> int:
        """The model counts from 0."""
        return 1 + played if isinstance(played, int) else dk.Trace.of(played).last_tick

    yield from beside(f"{n:,} tasks, layered, 64 slots", {"full simulator": lambda: play(scenario)},
                      {"SimPy, lean model": (lambda: lean_simpy(dag, 64), 1.5)}, 3, end)


def bytecodes(call: Callable[[], Any] | Fresh) -> int:
    """How many instructions of Python's virtual machine a call runs: the same on every machine, however busy."""
    count = 0

    def step(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return step

    if isinstance(call, Fresh):
        call = partial(call.use, call.make())
    sys.settrace(step)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def bytecode_cells(n: int = 2_000) -> Iterator[Cell]:
    """Why a ratio is what it is. Only Python's own instructions count, not the work of its built-in functions."""
    many, runs = layered(n), many_runs(n)
    lasting = [task.duration for task in many.dag]
    calls: dict[tuple[str, str], Callable[[], Any] | Fresh] = {
        ("layered, 64 slots", "dagkit, whole simulate"): lambda: play(many),
        ("layered, 64 slots", "dagkit, ticks alone"): ticks_only(many),
        ("layered, 64 slots", "SimPy, lean model"): lambda: lean_simpy(many.dag, 64),
        ("runs of 20", "dagkit, ticks alone"): ticks_only(runs),
        ("a pool of 64", "bare dict and heap"): lambda: bare_loop(lasting, 64)}
    for (case, whose), call in calls.items():
        yield Cell("bytecodes a task", case, whose, bytecodes(call) / n, None, "ops")


class Naive(MiniScheduler):
    """Lesson 3's loop, which looks at every task in every tick, at its best: what is active it counts once a tick
    (as it stands it counts anew for each task that waits)."""

    def admit(self) -> None:
        self.active = self.having("queued") + self.having("running")
        super().admit()

    def fits(self, task: dk.Task) -> bool:
        room = len(self.active) < self.dag.max_active_tasks       # these tasks have a pool with room for all
        if room:
            self.active.append(task)
        return room


def naive_cells() -> Iterator[Cell]:
    """2,000 tasks in 8 slots, mean duration 50."""
    draw = random.Random(6)
    dag = dk.Dag("many", [dk.Task(f"t{i}", duration=draw.randint(1, 99)) for i in range(2_000)], max_active_tasks=8)

    def same(played: Any) -> Any:
        """The whole trace; read outside the clock."""
        if isinstance(played, Naive):
            return played.events
        columns = dk.Trace.of(played).events[["tick", "task_id", "old", "new"]]
        return list(columns.itertuples(index=False, name=None))

    tell("the naive loop: 12,500 ticks")
    taken = in_turns({"naive loop": Fresh(lambda: Naive(dag), Naive.play),
                      "full simulator": lambda: play(dk.Scenario(dag))}, 1, same)
    taken["full simulator"] = [seconds(lambda: play(dk.Scenario(dag))) for _ in range(5)]
    yield taken.beside("full simulator", "2,000 tasks, 8 slots", "full simulator", "naive loop", 1_000)


def memory_cells(n: int) -> Iterator[Cell]:
    """Bytes a task instance at rest, beyond the Task objects that the user made; and all of it together, ids included."""
    gc.collect()
    tracemalloc.start()
    empty = tracemalloc.get_traced_memory()[0]

    def held() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tell(f"memory of {n:,} tasks")
    names, start = [f"t{i}" for i in range(n)], held()
    tasks = [dk.Task(name, duration=1 + i % 50) for i, name in enumerate(names)]
    declared = held()
    scenario = dk.Scenario(dk.Dag("wide", tasks, max_active_tasks=n), pools={"default_pool": -1},
                           config=dk.Config(parallelism=n))
    sim = prepare(scenario)
    ready = held()
    for now in sim.calendar:
        tick(sim, now)
    played = held()
    tracemalloc.stop()
    yield Cell("memory", f"{n:,}, a Task", "budget", (declared - start) / n, 400, "B")
    yield Cell("memory", f"{n:,}, beyond the Tasks", "budget", (played - declared) / n, 250, "B")
    yield Cell("memory", f"{n:,}, of that the trace", "budget", (played - ready) / n, 40, "B")
    yield Cell("memory", f"{n:,} tasks, all of it", "budget", (played - empty) / 2**20, (400 + 250) * n / 2**20, "MiB")


def explain_cells(n: int) -> Iterator[Cell]:
    """The first reason asked of a long trace, and another at another tick."""
    trace = dk.simulate(concurrent(n))
    assert len(trace._event_new) == 4 * n
    yield Cell("first explain", f"{4 * n:,} events", "budget", seconds(lambda: trace.explain("t7", 20)), 0.3, "s")
    yield amount("later explain", f"{4 * n:,} events", lambda: trace.explain("t9", 20), 20, unit="ms", scale=1e3)
    waiting = dk.simulate(pooled(n // 5))
    yield amount("waiting(), every row", f"{n // 5:,} that wait", lambda: waiting.waiting(20), 3, rounds=3)


def cells(n: int = 100_000) -> Iterator[Cell]:
    yield from against_bare("all at once", f"{n:,}", concurrent(n), n, 0.5, 600)
    yield from against_bare("all at once", f"{5 * n:,}", concurrent(5 * n), 5 * n, 0.5, 600)
    yield from scale_cells(n)
    yield from against_bare("through a pool of 50", f"{n:,}", pooled(n), SLOTS, None, None)
    yield from against_bare("airflow window", f"{n:,}", concurrent(n, "airflow"), n, 0.35, 400)
    yield from against_bare(f"{n // 20:,} runs of 20", f"{n:,}", many_runs(n), 500, 0.35, 400)
    yield from simpy_cells(n)
    yield from bytecode_cells()
    yield from naive_cells()
    yield from memory_cells(5 * n)
    yield from explain_cells(5 * n)


if __name__ == "__main__":
    show(cells(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))

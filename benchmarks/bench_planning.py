"""Planning beside its peers: answers compared first, then timed in turns, medians and ratios.

    python benchmarks/bench_planning.py [tasks ...]        (default 1000 10000 100000)

Layered Dags, three edges a task, names and declaration in scrambled order; each tool has its graph built already,
except in the rows that say "build". Critical paths and schedules are asked again of a Dag that has been asked before,
so its tasks are numbered and their durations read. rustworkx and SimPy are compared if they are installed.
"""

from __future__ import annotations

import dataclasses
import graphlib
import heapq
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
from harness import Cell, Fresh, amount, beside, show, tell

from dagkit.dag import Dag
from dagkit.planning import critical_path, makespan, makespan_curve, waves
from dagkit.task import Task

SHAPES: dict[str, Callable[[int], int]] = {   # tasks -> width of a layer
    "wide": lambda n: n // 10,
    "square": math.isqrt,
    "deep": lambda n: 10,
}
SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = {1_000: 5, 10_000: 5, 100_000: 3, 1_000_000: 1}
OPTIMA = Path(__file__).resolve().parents[1] / "tests" / "data" / "optimal.json"    # by tools/make_optimal.py
Plain = dict[str, list[str]]
"""id -> upstream ids: what graphlib takes, and all that networkx keeps."""


def layered(n: int, width: int, seed: int = 0) -> Dag:
    """``width`` tasks a layer, three upstreams each from the layer before; scrambled names and declaration."""
    draw = random.Random(seed)
    names = [f"task_{i:07d}" for i in draw.sample(range(10 * n), n)]
    specs = []
    for i, name in enumerate(names):
        begin = i // width * width
        above = draw.sample(range(begin - width, begin), min(3, width)) if begin else ()
        specs.append((name, [names[u] for u in above], draw.randint(1, 100_000)))
    draw.shuffle(specs)
    dag = Dag("layered", [Task(name, ups, duration=d) for name, ups, d in specs])
    dag.graph  # noqa: B018  (compiled once, as the peers' graphs are built once)
    return dag


def networkx_graph(dag: Dag) -> Any:
    """Edge weights carry the durations, because networkx weighs edges."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dag.tasks)
    for t in dag:
        graph.add_edges_from(((u, t.task_id) for u in t.upstream), weight=t.duration)
    return graph


def rooted(graph: Any, dag: Dag) -> Any:
    """The same graph with a node 0 before everything, so that first tasks have a weighted edge, too."""
    graph.add_weighted_edges_from((0, t.task_id, t.duration) for t in dag if not t.upstream)
    return graph


def rustworkx_graph(dag: Dag) -> Any:
    import rustworkx as rx
    graph = rx.PyDiGraph()
    at = dict(zip(dag.tasks, graph.add_nodes_from(list(dag.tasks)), strict=True))
    graph.add_edges_from_no_data([(at[u], at[v]) for u, v in dag.edges])
    return graph


def lean_simpy(dag: Dag, slots: int) -> int:
    """The greedy schedule with a process for each running task, its own list of ready names and no resource."""
    import simpy
    graph = dag.graph
    ids, index, up, down = graph.ids, graph.index, graph.up, graph.down
    durations = [t.duration for t in dag]
    env, free = simpy.Environment(), slots
    blocked_by = [len(u) for u in up]
    ready = sorted(ids[i] for i in range(len(ids)) if not blocked_by[i])

    def work(i: int) -> Iterator[Any]:
        nonlocal free
        yield env.timeout(durations[i])
        free += 1
        for d in down[i]:
            blocked_by[d] -= 1
            if not blocked_by[d]:
                heapq.heappush(ready, ids[d])
        yield env.timeout(0)   # the other completions of this instant come first
        start()

    def start() -> None:
        nonlocal free
        while ready and free:
            free -= 1
            env.process(work(index[heapq.heappop(ready)]))

    start()
    env.run()
    return int(env.now)


def bare_simpy(dag: Dag, slots: int) -> int:
    """The same on SimPy's event queue alone: callbacks, no process, one timeout a task."""
    import simpy
    ids, up, down = dag.graph.ids, dag.graph.up, dag.graph.down
    durations = [t.duration for t in dag]
    env, free, starting = simpy.Environment(), slots, False
    blocked_by = [len(u) for u in up]
    ready = [(ids[i], i) for i in range(len(ids)) if not blocked_by[i]]
    heapq.heapify(ready)

    def start(_: Any) -> None:
        nonlocal free, starting
        starting = False
        while ready and free:
            free -= 1
            _, i = heapq.heappop(ready)
            env.timeout(durations[i], i).callbacks.append(done)

    def done(event: Any) -> None:
        nonlocal free, starting
        free += 1
        for d in down[event.value]:
            blocked_by[d] -= 1
            if not blocked_by[d]:
                heapq.heappush(ready, (ids[d], d))
        if not starting:   # once, after all completions of this instant
            starting, later = True, env.event()
            later._ok, later._value = True, None
            later.callbacks.append(start)
            env.schedule(later, priority=2)

    start(None)
    env.run()
    return int(env.now)


def idiomatic_simpy(dag: Dag, slots: int) -> int:
    """As SimPy's guide would write it: a process for each task, a priority resource for the slots."""
    import simpy
    env = simpy.Environment()
    crew = simpy.PriorityResource(env, slots)
    rank = {name: r for r, name in enumerate(sorted(dag.tasks))}
    done = {name: env.event() for name in dag.tasks}

    def work(task: Task) -> Iterator[Any]:
        yield env.all_of([done[u] for u in task.upstream])
        with crew.request(priority=rank[task.task_id]) as turn:
            yield turn
            yield env.timeout(task.duration)
        done[task.task_id].succeed()

    for task in dag:
        env.process(work(task))
    env.run()
    return int(env.now)


def graphlib_waves(sorter: graphlib.TopologicalSorter[str]) -> list[list[str]]:
    sorter.prepare()
    found = []
    while sorter.is_active():
        ready = sorter.get_ready()
        found.append(list(ready))
        sorter.done(*ready)
    return found


def fresh_dag(plain: Plain) -> Dag:
    return Dag("fresh", [Task(name, ups) for name, ups in plain.items()])


def found_anew(dag: Dag) -> list[list[str]]:
    """A Dag keeps the waves it found while it looked for cycles; this finds them again."""
    dag._graph = dataclasses.replace(dag.graph)
    return waves(dag)


def built_by_networkx(plain: Plain) -> list[list[str]]:
    graph = nx.DiGraph()
    graph.add_nodes_from(plain)
    graph.add_edges_from((u, name) for name, ups in plain.items() for u in ups)
    return list(nx.topological_generations(graph))


def wave_cells(dag: Dag, graph: Any, case: str, rounds: int) -> Iterator[Cell]:
    """Everybody's graph is built outside the clock, except in the rows that say "build"."""
    plain: Plain = {t.task_id: list(t.upstream) for t in dag}
    names = dict(enumerate(plain))                             # rustworkx answers with numbers

    def same(found: Any) -> list[list[str]]:
        return [sorted(names.get(task, task) for task in wave) for wave in found]

    peers: dict[str, Any] = {
        "networkx": (lambda: list(nx.topological_generations(graph)), 3 if len(dag) <= 100_000 else 2),
        "graphlib": (Fresh(partial(graphlib.TopologicalSorter, plain), graphlib_waves), 5)}   # can be asked only once
    if find_spec("rustworkx"):
        import rustworkx as rx
        rust = rustworkx_graph(dag)
        peers["rustworkx"] = (lambda: rx.topological_generations(rust), 0.5)
    yield from beside(case, {"waves of a built Dag, first call": Fresh(partial(fresh_dag, plain), waves),
                             "waves, found anew": lambda: found_anew(dag)}, peers, rounds, same)
    yield from beside(case, {"build and waves, a dictionary": lambda: waves(plain),
                             "build and waves, a checked Dag": lambda: waves(fresh_dag(plain))},
                      {"networkx": (lambda: built_by_networkx(plain), 5)}, rounds, same)


def path_cells(dag: Dag, weighted: Any, case: str, rounds: int) -> Iterator[Cell]:
    lasts = {t.task_id: t.duration for t in dag}
    told = [(t.task_id, t.upstream, t.duration) for t in dag]
    fresh = Fresh(lambda: Dag("fresh", [Task(name, ups, duration=d) for name, ups, d in told]), critical_path)

    def same(found: Any) -> int:
        """How long the path is; there may be several of that length."""
        return sum(lasts[task] for task in getattr(found, "path", found) if task)

    yield from beside(case, {"critical path, first call": fresh, "critical path, asked again": lambda: critical_path(dag)},
                      {"networkx": (lambda: nx.dag_longest_path(weighted), 4)}, rounds, same)


def slot_cells(dag: Dag, case: str, rounds: int) -> Iterator[Cell]:
    ours = {"list schedule, 64 slots": lambda: makespan(dag, 64)}
    yield from beside(case, ours, {"SimPy, lean model": (partial(lean_simpy, dag, 64), 4),
                                   "SimPy, its event queue": (partial(bare_simpy, dag, 64), 1)}, rounds, int)
    # The idiomatic one grants a slot before the other completions of the instant, so it may differ in ties. SimPy keeps all
    # that wait in one sorted list: of the large Dags only the square one is not a matter of minutes.
    if len(dag) <= 10_000 or "square" in case:
        yield from beside(case, ours, {"SimPy, idiomatic": (partial(idiomatic_simpy, dag, 64), 15)},
                          rounds if len(dag) <= 10_000 else 1)


def small_cells() -> Iterator[Cell]:
    """A curve while a slider moves; and how long the schedules are, beside optima that a solver proved."""
    curve = layered(50, 7)
    yield amount("makespan curve, 1 to 32 slots", "50 tasks", lambda: makespan_curve(curve, 32), 100, unit="ms", scale=1e3)
    kept = json.loads(OPTIMA.read_text(encoding="utf-8"))["cases"]
    shares = [makespan(Dag.from_dict(case["tasks"]), case["slots"], first="critical_path") / case["optimum"]
              for case in kept]
    assert min(shares) >= 1, "shorter than a proved optimum"
    yield Cell("list schedule by critical path, mean length", f"{len(kept)} Dags with a proved optimum", "budget",
               sum(shares) / len(shares), 1.005, "times")


def cells(sizes: tuple[int, ...] = SIZES) -> Iterator[Cell]:
    if sizes[0] < SIZES[-1]:
        yield from small_cells()
    for n in sizes:
        for shape, width in SHAPES.items():
            case, rounds = f"{n:,} tasks, {shape}", ROUNDS[n] if n in ROUNDS else 3
            if n > 100_000:
                tell(case)
            dag = layered(n, width(n))
            graph = networkx_graph(dag)
            yield from wave_cells(dag, graph, case, rounds)
            yield from path_cells(dag, rooted(graph, dag), case, rounds)
            if 10_000 <= n <= 100_000 and find_spec("simpy"):
                yield from slot_cells(dag, case, rounds)


if __name__ == "__main__":
    show(cells(tuple(map(int, sys.argv[1:])) or SIZES[:-1]))

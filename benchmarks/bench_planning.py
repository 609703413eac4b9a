"""Planning beside its peers: answers compared first, then timed in turns, medians and ratios.

    python benchmarks/bench_planning.py [tasks ...]        (default 1000 10000 100000)

Layered Dags, three edges a task, names and declaration in scrambled order; each tool has its graph built
already. Seconds are CPU time, so that a busy machine disturbs less. networkx is needed; rustworkx and SimPy are
compared if they are installed.
"""

from __future__ import annotations

import gc
import heapq
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import networkx as nx

from dagkit.dag import Dag, Task
from dagkit.planning import critical_path, makespan, makespan_curve, saturation_slots, schedule, slack, waves
from dagkit.weights import priority_totals

SHAPES: dict[str, Callable[[int], int]] = {   # tasks -> width of a layer
    "wide": lambda n: n // 10,
    "square": math.isqrt,
    "deep": lambda n: 10,
}
Case = tuple[str, Callable[[], Any], dict[str, Callable[[], Any]]]


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
    """Edge weights carry the durations, because networkx weighs edges; node 0 comes before everything."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dag.tasks)
    for t in dag:
        graph.add_edges_from(((u, t.task_id) for u in t.upstream), weight=t.duration)
    return graph


def rooted(graph: Any, dag: Dag) -> Any:
    graph = graph.copy()
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


def cases(dag: Dag) -> Iterator[Case]:
    graph = networkx_graph(dag)
    peers: dict[str, Callable[[], Any]] = {
        "networkx": lambda: [sorted(w) for w in nx.topological_generations(graph)]}
    assert waves(dag) == peers["networkx"]()
    peers["networkx"] = lambda: list(nx.topological_generations(graph))
    if find_spec("rustworkx"):
        import rustworkx as rx
        rust = rustworkx_graph(dag)
        assert waves(dag) == [sorted(rust[i] for i in w) for w in rx.topological_generations(rust)]
        peers["rustworkx"] = lambda: rx.topological_generations(rust)
    yield "waves", lambda: waves(dag), peers

    weighted = rooted(graph, dag)
    assert critical_path(dag).length == nx.dag_longest_path_length(weighted)
    yield "critical path", lambda: critical_path(dag), {"networkx": lambda: nx.dag_longest_path(weighted)}

    peers = {}
    if find_spec("simpy"):
        assert makespan(dag, 64) == schedule(dag, 64).makespan == lean_simpy(dag, 64) == bare_simpy(dag, 64)
        # The idiomatic one grants a slot before the other completions of the instant, so it may differ in ties.
        peers = {f"{kind.__name__}": partial(kind, dag, 64) for kind in (bare_simpy, lean_simpy, idiomatic_simpy)}
    yield "makespan, 64 slots", lambda: makespan(dag, 64), peers
    yield "schedule, 64 slots", lambda: schedule(dag, 64), peers
    yield "slack", lambda: slack(dag), {}
    yield "saturation", lambda: saturation_slots(dag), {}
    yield "priority totals", lambda: priority_totals(dag), {}


def seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    begin = time.process_time()
    call()
    took = time.process_time() - begin
    gc.enable()
    return took


def measure(ours: Callable[[], Any], peers: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each, taken in turns so that a slow moment hits all."""
    calls = {"dagkit": ours, **peers}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(seconds(call))
    return {name: statistics.median(times) for name, times in taken.items()}


def main(sizes: list[int]) -> None:
    for n in sizes:
        for shape, width in SHAPES.items():
            for what, ours, peers in cases(layered(n, width(n))):
                took = measure(ours, peers, 9 if n <= 10_000 else 5)
                mine = took.pop("dagkit")
                ratios = ", ".join(f"{name} {each / mine:.2f} x" for name, each in took.items())
                print(f"{n:>8} {shape:<7} {what:<20} {mine * 1e3:10.2f} ms   {ratios}", flush=True)
    curve = layered(50, 7)
    took = measure(lambda: makespan_curve(curve, 32), {}, 9)["dagkit"]
    print(f"makespan_curve, 50 tasks, 32 slots: {took * 1e3:.1f} ms")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [1_000, 10_000, 100_000])

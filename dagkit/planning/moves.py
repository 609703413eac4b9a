"""What each thing one could do would buy: a faster task, a task in parts, more slots, a pool."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..checks import HUGE, MOST, is_number, listed, plain, table
from ..dag import Dag
from ..errors import DagkitError, nearest, quoted, shown
from ..task import Task, rebuilt
from .changes import expand
from .paths import critical_path
from .slots import makespan, saturation_slots
from .times import Number, at_least_one, graph_of, timed

TRIED = 5
"""Tasks of the critical path that are tried when nothing is named."""
Pools = Mapping[str, tuple[int, Collection[str]]]
"""``{"db": (1, ["extract", "load"])}``: places, and the tasks that take one each."""


def split(dag: Dag, task_id: str, parts: int) -> Dag:
    """The Dag with a task cut into ``parts`` equal parts that may run side by side: ``train[0]``, ``train[1]`` ...

    Raises DagkitError for an unknown task or fewer than one part.

    >>> from dagkit.examples import file_fanout
    >>> critical_path(split(file_fanout(), "process", 3)).path
    ['load_dim', 'join', 'report']
    """
    graph_of(dag)
    task, parts = dag[task_id], at_least_one("split: parts", parts, MOST)
    part = _divided(task, parts)
    wide = expand(dag, task.task_id, parts, max_map_length=parts)
    return _lasting(wide, {f"{task.task_id}[{i}]": part for i in range(parts)})


def _lasting(dag: Dag, durations: Mapping[str, Number]) -> Dag:
    """``what_if`` that takes over the tasks it does not change: large Dags are tried many times here."""
    tasks = [task if task.task_id not in durations
             else rebuilt(task, {"duration": durations[task.task_id]}) for task in dag]
    return Dag(dag.dag_id, tasks, **dag.options())


def pooled_makespan(dag: Dag, slots: int, pools: Pools) -> Number:
    """The greedy makespan on ``slots`` slots when some tasks also need a place in a pool.

    As ``makespan``: at each instant all completions first, then ready tasks by name; one whose pool is full waits, and
    the next that fits starts. Raises DagkitError for an unknown task, a task in two pools, or a pool without places.

    >>> dag = Dag.from_dict({"a": {}, "b": {}, "c": {}})
    >>> pooled_makespan(dag, 3, {}), pooled_makespan(dag, 3, {"db": (1, ["a", "b"])})
    (1, 2)
    """
    graph, (_, times) = graph_of(dag), timed(dag)
    pool_of = _pool_of(dag, pools)
    free, places = at_least_one("slots", slots), {name: plain(places) for name, (places, _) in pools.items()}
    blocked_by = list(map(len, graph.up))
    ready = sorted(name for name, n in zip(graph.ids, blocked_by, strict=True) if not n)
    running: list[tuple[int, int]] = []
    now = 0
    while ready or running:
        waiting = []
        for name in ready:
            pool = pool_of.get(name)
            if free and (pool is None or places[pool]):
                free -= 1
                if pool is not None:
                    places[pool] -= 1
                heapq.heappush(running, (now + times.exact[graph.index[name]], graph.index[name]))
            else:
                waiting.append(name)
        ready, now = waiting, running[0][0]
        while running and running[0][0] == now:
            done = heapq.heappop(running)[1]
            free += 1
            if graph.ids[done] in pool_of:
                places[pool_of[graph.ids[done]]] += 1
            for d in graph.down[done]:
                blocked_by[d] -= 1
                if not blocked_by[d]:
                    ready.append(graph.ids[d])
        ready.sort()
    return times.shown(now)


def _pool_of(dag: Dag, pools: Pools) -> dict[str, str]:
    found: dict[str, str] = {}
    table("pools", pools, "{'db': (1, ['extract', 'load'])}")
    for pool, given in pools.items():
        if not isinstance(given, tuple) or len(given) != 2 or isinstance(given[1], str):
            raise DagkitError(f"pool '{shown(pool)}': give its places and its tasks, not {quoted(given)}. "
                              "Write (1, ['extract', 'load']) for one place.")
        at_least_one(f"pool '{shown(pool)}': places", given[0])
        for name in given[1]:
            if found.setdefault(dag[name].task_id, pool) != pool:
                raise DagkitError(f"pool '{shown(pool)}': task '{shown(name)}' is in pool '{shown(found[name])}' "
                                  "already. A task takes places of one pool.")
    return found


def moves(
    dag: Dag, slots: int, *, faster: Mapping[str, Number] | None = None, parts: Mapping[str, int] | None = None,
    slots_to: Collection[int] = (), pools: Pools | None = None,
) -> Any:
    """What each change would buy, one at a time: a DataFrame with the floor, the makespan, what limits, and the new path.

    slots: how many there are. faster: ``{"train": 2}`` makes a task twice as fast. parts: ``{"train": 3}`` cuts it into
    three that may run side by side. slots_to: other numbers of slots. pools: ``{"db": (1, ["a", "b"])}``, a new pool.
    With none of these: the longest tasks of the critical path twice as fast, the longest in two parts, one slot more, and
    as many as ever help.

    sooner: against the Dag as it is. limit: "path", "slots" or "pool". Raises DagkitError for what ``what_if``,
    ``split`` or ``pooled_makespan`` refuse.

    >>> from dagkit.examples import file_fanout
    >>> moves(file_fanout(), 2, faster={"process": 3}, parts={"join": 2})[["move", "floor", "sooner"]].values.tolist()
    [['as it is', 7, 0], ['process 3 x as fast', 7, 0], ['join in 2 parts', 6, 1]]
    """
    import pandas as pd
    slots = at_least_one("slots", slots)
    if faster is None and parts is None and not slots_to and pools is None:
        faster, parts, slots_to = _usual(dag, slots)
    base, rows = makespan(dag, slots), []
    for name, changed, width, limited in _changes(dag, slots, faster or {}, parts or {}, slots_to, pools or {}):
        found, takes = critical_path(changed), makespan(changed, width)
        limit = "path" if takes == found.length else "slots"
        if limited:
            limit, takes = ("pool", held) if (held := pooled_makespan(changed, width, limited)) != takes else (limit, takes)
        rows.append({"move": name, "floor": found.length, "makespan": takes, "sooner": base - takes, "limit": limit,
                     "critical_path": found.path})
    return pd.DataFrame(rows, columns=["move", "floor", "makespan", "sooner", "limit", "critical_path"])


Change = tuple[str, Dag, int, Pools]


def _changes(dag: Dag, slots: int, faster: Mapping[str, Number], parts: Mapping[str, int], slots_to: Collection[int],
             pools: Pools) -> Iterator[Change]:
    """(what is done, the Dag then, slots, pools)."""
    yield "as it is", dag, slots, {}
    table("moves: faster", faster, "{'train': 2}")
    table("moves: parts", parts, "{'train': 3}")
    table("moves: pools", pools, "{'db': (1, ['extract', 'load'])}")
    for task_id, times in faster.items():
        times = plain(times)
        if not is_number(times) or not 0 < times < HUGE:
            raise DagkitError(f"moves: faster['{shown(task_id)}'] must be a number > 0 and below 2**63, not "
                              f"{quoted(times)}. 2 means twice as fast.")
        yield f"{shown(task_id)} {times:g} x as fast", _faster(dag, task_id, times), slots, {}
    for task_id, count in parts.items():
        yield f"{shown(task_id)} in {count} parts", split(dag, task_id, count), slots, {}
    for other in listed("moves", "slots_to", slots_to, "Write slots_to=[4, 8]."):
        width = at_least_one("slots_to", other)
        yield f"{width} slot{'s' * (width != 1)}", dag, width, {}
    for pool, given in pools.items():
        _pool_of(dag, {pool: given})
        many = len(given[1])
        yield f"pool {shown(pool)} of {given[0]} for {many} task{'s' * (many != 1)}", dag, slots, {pool: given}


def _faster(dag: Dag, task_id: str, times: Number) -> Dag:
    if task_id not in dag:
        raise DagkitError(f"moves: Dag '{shown(dag.dag_id)}' has no task '{shown(task_id)}'.{nearest(task_id, dag.tasks)}")
    return _lasting(dag, {task_id: _divided(dag[task_id], times)})


def _divided(task: Task, by: Number) -> Number:
    """Its duration divided by a number: whole where it was, and where that is exact."""
    lasts: Number = task.duration
    try:
        return lasts // by if lasts % by == 0 and isinstance(lasts, int) else lasts / by
    except OverflowError:
        raise DagkitError(f"task '{shown(task.task_id)}': its duration is more than a float can hold (about 1.8e308), so "
                          "it cannot be divided. Choose a larger unit.") from None


def _usual(dag: Dag, slots: int) -> tuple[dict[str, Number], dict[str, int], list[int]]:
    path = critical_path(dag).path
    longest = sorted(path, key=lambda name: -dag[name].duration)[:TRIED]
    return dict.fromkeys(longest, 2), dict.fromkeys(longest[:1], 2), sorted({slots + 1, saturation_slots(dag)} - {slots})

"""A Dag as integers, and the check that no task waits for itself."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from .errors import CycleError, DagkitError, choices, nearest, shown

if TYPE_CHECKING:
    from .task import Task


class Graph(NamedTuple):
    """A Dag as integers. Numbers are declaration positions; nothing here knows about time or states.

    ids: name by number. index: number by name. up, down: neighbours by number, duplicates removed, in listed order.
    order: *task order*: repeatedly the first declared task whose upstreams are all taken.
    """

    ids: list[str]
    index: dict[str, int]  # type: ignore[assignment]
    up: list[tuple[int, ...]]
    down: list[list[int]]
    order: list[int]


def compile_graph(tasks: Mapping[str, Task], dag_id: str) -> Graph:
    """The tasks of a Dag as integers. Raises DagkitError for an unknown upstream, CycleError for a ring."""
    ids = list(tasks)
    index = {task_id: i for i, task_id in enumerate(ids)}
    up: list[tuple[int, ...]] = []
    down: list[list[int]] = [[] for _ in ids]
    sorted_already = True
    for i, task in enumerate(tasks.values()):
        if not task.upstream:
            up.append(())
            continue
        try:
            ups = tuple(dict.fromkeys([index[u] for u in task.upstream]))
        except KeyError as missing:
            raise DagkitError(f"task '{shown(task.task_id)}': upstream '{shown(missing.args[0])}' is not a task of Dag "
                              f"'{shown(dag_id)}'.{nearest(missing.args[0], ids)} Known: {choices(ids)}.") from None
        up.append(ups)
        for u in ups:
            down[u].append(i)
            if u >= i:
                sorted_already = False
    order = list(range(len(ids))) if sorted_already else _task_order(up, down)
    if len(order) < len(ids):
        raise CycleError([ids[i] for i in _find_cycle(up, set(order))])
    return Graph(ids, index, up, down, order)


def _task_order(up: list[tuple[int, ...]], down: list[list[int]]) -> list[int]:
    """Kahn's algorithm with a heap: always the first declared task whose upstreams are all taken."""
    waiting = [len(u) for u in up]
    ready = [i for i, n in enumerate(waiting) if not n]
    order = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for d in down[i]:
            waiting[d] -= 1
            if not waiting[d]:
                heapq.heappush(ready, d)
    return order


def _find_cycle(up: list[tuple[int, ...]], taken: set[int]) -> list[int]:
    """Walk upstream among the tasks Kahn could not take: each has an untaken upstream, so the walk must repeat."""
    i = next(i for i in range(len(up)) if i not in taken)
    seen: dict[int, int] = {}
    walk: list[int] = []
    while i not in seen:
        seen[i] = len(walk)
        walk.append(i)
        i = next(u for u in up[i] if u not in taken)
    ring = walk[seen[i]:][::-1]
    start = ring.index(min(ring))
    ring = ring[start:] + ring[:start]
    return [*ring, ring[0]]

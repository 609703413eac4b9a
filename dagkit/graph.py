"""A Dag as integers, and the check that no task waits for itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any

from .errors import CycleError, DagkitError, choices, nearest, shown

if TYPE_CHECKING:
    from .task import Task


@dataclass(frozen=True, eq=False)
class Graph:
    """A Dag as integers. Numbers are declaration positions; nothing here knows about time or states.

    ids: name by number. index: number by name. up, down: neighbours by number, duplicates removed, in listed order.
    sorted: whether every task is declared after its upstreams.
    """

    ids: list[str]
    index: dict[str, int]
    up: list[tuple[int, ...]]
    down: list[Sequence[int]]
    sorted: bool

    @cached_property
    def order(self) -> Sequence[int]:
        """*Task order*: repeatedly the first declared task whose upstreams are all taken (Kahn with a heap)."""
        if self.sorted:
            return range(len(self.ids))
        waiting = list(map(len, self.up))
        ready = [i for i, n in enumerate(waiting) if not n]
        order = []
        while ready:
            i = heapq.heappop(ready)
            order.append(i)
            for d in self.down[i]:
                waiting[d] -= 1
                if not waiting[d]:
                    heapq.heappush(ready, d)
        return order

    @cached_property
    def waves(self) -> list[list[int]]:
        """Groups of tasks that wait only for earlier groups. Sorted by name within a group."""
        found = _waves(list(map(len, self.up)), self.down)
        for wave in found:
            wave.sort(key=self.ids.__getitem__)
        return found

    @cached_property
    def numbered(self) -> Numbered:
        """The same graph with its tasks numbered wave by wave, for loops over all tasks."""
        return Numbered(self)


class Numbered:
    """A graph whose numbers go wave by wave, and by name within a wave.

    Whoever walks all tasks in this order meets every upstream first, and finds neighbours close together in memory:
    on large Dags that is half the time. Each part is compiled once, when it is first needed.

    declared: number -> declaration position. place: the way back. up, down: neighbours by these numbers.
    blocked_by: how many upstreams. rank: position of the number's name among all names, sorted; by_rank: the way back.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.declared = list(chain.from_iterable(graph.waves))
        self.place = place = [0] * len(graph.ids)
        for number, position in enumerate(self.declared):
            place[position] = number
        self.up = self._renumbered(graph.up)
        self.blocked_by = list(map(len, self.up))

    def _renumbered(self, neighbours: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        at = self.place.__getitem__
        return [tuple(map(at, neighbours[i])) for i in self.declared]

    @cached_property
    def down(self) -> list[tuple[int, ...]]:
        return self._renumbered(self.graph.down)

    @cached_property
    def names(self) -> list[str]:
        return [self.graph.ids[i] for i in self.declared]

    @cached_property
    def by_rank(self) -> list[int]:
        return sorted(range(len(self.place)), key=self.names.__getitem__)

    @cached_property
    def rank(self) -> list[int]:
        rank = [0] * len(self.place)
        for turn, number in enumerate(self.by_rank):
            rank[number] = turn
        return rank


def compile_graph(tasks: Mapping[str, Task], dag_id: str) -> Graph:
    """The tasks of a Dag as integers. Raises DagkitError for an unknown upstream, CycleError for a ring."""
    ids = list(tasks)
    index = dict(zip(ids, range(len(ids)), strict=True))
    number = index.__getitem__
    try:
        up = [tuple(map(number, task.upstream)) for task in tasks.values()]
    except KeyError:
        raise _unknown_upstream(tasks, dag_id) from None
    if sum(map(len, map(set, up))) < sum(map(len, up)):   # some upstream is listed twice
        up = [tuple(dict.fromkeys(ups)) for ups in up]
    down: list[Any] = [()] * len(ids)                     # most tasks of a wide Dag lead nowhere: no list for them
    for i, ups in enumerate(up):
        for u in ups:
            below = down[u]
            if below:
                below.append(i)
            else:
                down[u] = [i]
    graph = Graph(ids, index, up, down, all(max(ups) < i for i, ups in enumerate(up) if ups))
    if not graph.sorted and sum(map(len, graph.waves)) < len(ids):
        raise CycleError([ids[i] for i in _find_cycle(up, set(chain.from_iterable(graph.waves)))])
    return graph


def waves_of(upstream: Mapping[str, Any]) -> list[list[str]] | None:
    """The waves of a plain mapping, id -> list of upstream ids; None for whatever needs a closer look.

    That is: a name that is unknown or no text, another kind of list, a ring. No Graph is compiled: waves need less.
    """
    try:
        found = _waves_by_name(upstream)
    except TypeError:
        return None
    return found if sum(map(len, found)) == len(upstream) and "" not in upstream else None


def _waves_by_name(upstream: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Waves without counting down: a task waits for one upstream at a time, the first that is not done yet.

    Most often all the others are done by then. If not, the task goes on asking where it stopped, so that a long list
    is read once and not again from its beginning. Whoever waits for what is never done is in no wave.
    Raises TypeError for a name that is no text and for another kind of list.
    """
    waiting: dict[str, list[str]] = {}                    # upstream -> who waits for it at the moment
    wave = []
    for task_id, ups in upstream.items():
        if task_id.__class__ is not str or (ups.__class__ is not list and ups.__class__ is not tuple):
            raise TypeError
        if ups:
            waiting.setdefault(ups[0], []).append(task_id)
        else:
            wave.append(task_id)
    done: set[str] = set()
    left: dict[str, Iterator[str]] = {}                   # who had to wait again -> upstreams not asked yet
    found = []
    while wave:
        found.append(sorted(wave))
        done.update(wave)
        freed = []
        for name in wave:
            for task_id in waiting.get(name, ()):
                if task_id not in left and done.issuperset(upstream[task_id]):
                    freed.append(task_id)
                    continue
                for missing in left.setdefault(task_id, filterfalse(done.__contains__, upstream[task_id])):
                    waiting.setdefault(missing, []).append(task_id)
                    break
                else:
                    freed.append(task_id)
        wave = freed
    return found


def _waves(blocked_by: list[int], down: Sequence[Sequence[int]]) -> list[list[int]]:
    """Kahn's algorithm wave by wave: a task joins the wave after the last of its upstreams. Uses up blocked_by."""
    wave = [i for i, n in enumerate(blocked_by) if not n]
    found = []
    while wave:
        found.append(wave)
        freed = []
        for i in wave:
            for d in down[i]:
                left = blocked_by[d] - 1
                if left:
                    blocked_by[d] = left
                else:
                    freed.append(d)
        wave = freed
    return found


def _unknown_upstream(tasks: Mapping[str, Task], dag_id: str) -> DagkitError:
    task_id, missing = next((t.task_id, u) for t in tasks.values() for u in t.upstream if u not in tasks)
    return DagkitError(f"task '{shown(task_id)}': upstream '{shown(missing)}' is not a task of Dag '{shown(dag_id)}'."
                       f"{nearest(missing, tasks)} Known: {choices(tasks)}.")


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

"""Running on a number of equal slots: greedy list scheduling and its bounds."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..checks import MOST
from ..dag import Dag
from ..errors import DagkitError, choices, nearest, quoted
from ..graph import Numbered
from .paths import latest_ends, length_of
from .times import Number, at_least_one, timed

Turns = tuple[list[int], list[int]]
"""The rank of each task number among ready tasks, and the number at each rank."""
Instant = tuple[int, list[tuple[int, int]], list[int]]
"""A time, the (task, slot) pairs started then, and a heap of the ranks of those left waiting."""


class Row(NamedTuple):
    """One task in a schedule: from start to end, in one slot (slots count from 0)."""

    task_id: str
    start: Number
    end: Number
    slot: int


@dataclass(frozen=True)
class Schedule:
    """A greedy schedule: when everything is done, and a row for each task in order of start.

    >>> schedule(Dag.from_dict({"a": {}, "b": {}}), 2)
    Schedule(slots=2, makespan=1)
    """

    slots: int
    makespan: Number
    rows: tuple[Row, ...] = field(repr=False)

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd
        return pd.DataFrame(list(self.rows), columns=list(Row._fields))


def schedule(dag: Dag, slots: int, *, first: str = "name") -> Schedule:
    """Greedy list scheduling on ``slots`` equal slots: at each instant first all completions, then starts.

    first: which ready task starts first: by "name" (plain string order), or the one with the longest way to the end
    still before it ("critical_path", names break ties), which is hardly ever far from the best there is. Each starts
    in the lowest free slot. A task of duration 0 holds its slot for no time: what it frees can start at the same
    instant. Raises DagkitError if slots is not a whole number >= 1, or for an unknown ``first``.

    >>> for row in schedule(Dag.from_dict({"a": {}, "b": {"duration": 2}, "c": {"upstream": "a"}}), 2).rows:
    ...     print(*row)
    a 0 1 0
    b 0 2 1
    c 1 2 0
    """
    (graph, times), slots = timed(dag), at_least_one("slots", slots)
    durations = times.by_number
    begun: list[tuple[int, int]] = []
    starts: list[int] = []
    now = 0
    for now, started, _ in _instants(graph, durations, slots, _turns(graph, durations, first)):
        begun += started
        starts += [now] * len(started)
    ends = [start + durations[i] for start, (i, _) in zip(starts, begun, strict=True)]
    names, places = [graph.names[i] for i, _ in begun], [slot for _, slot in begun]
    columns = zip(names, times.all_shown(starts), times.all_shown(ends), places, strict=True)
    rows = map(partial(tuple.__new__, Row), columns)      # Row(*column), without a Python call for each row
    return Schedule(slots, times.shown(now), tuple(rows))


def makespan(dag: Dag, slots: int, *, first: str = "name") -> Number:
    """The time at which the greedy schedule on ``slots`` slots is done; see ``schedule``.

    >>> makespan(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 2}}), 1)
    5
    """
    graph, times = timed(dag)
    durations = times.by_number
    return times.shown(_makespan(graph, durations, at_least_one("slots", slots), _turns(graph, durations, first)))


def lower_bound(dag: Dag, slots: int) -> Number:
    """No schedule on ``slots`` slots is shorter: the critical path, or total work / slots if that is more.

    >>> lower_bound(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 2}}), 2)
    3
    """
    (graph, times), slots = timed(dag), at_least_one("slots", slots)
    return times.shared(*_lower(times.work, length_of(graph, times.by_number), slots), up=True)


def graham_bound(dag: Dag, slots: int) -> Number:
    """No greedy schedule on W slots is longer: work / W + (1 - 1/W) * critical path.

    That is at most (2 - 1/W) times the best schedule there is. Source: R. L. Graham, "Bounds on
    multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17 (1969).

    >>> graham_bound(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 3}, "c": {"duration": 3}}), 2)
    6
    """
    (graph, times), slots = timed(dag), at_least_one("slots", slots)
    return times.shared(times.work + (slots - 1) * length_of(graph, times.by_number), slots, up=False)


def makespan_curve(dag: Dag, max_slots: int = 32) -> Any:
    """What more slots buy: a DataFrame with slots (1 to max_slots), makespan and lower_bound.

    >>> makespan_curve(Dag.from_dict({"a": {}, "b": {}, "c": {}}), 3)["makespan"].tolist()
    [3, 2, 1]
    """
    import pandas as pd
    graph, times = timed(dag)
    durations = times.by_number
    length, every = length_of(graph, durations), range(1, at_least_one("max_slots", max_slots, MOST) + 1)
    return pd.DataFrame({
        "slots": list(every),
        "makespan": [times.shown(_makespan(graph, durations, n)) for n in every],
        "lower_bound": [times.shared(*_lower(times.work, length, n), up=True) for n in every],
    })


def saturation_slots(dag: Dag) -> int:
    """The fewest slots whose greedy makespan is the critical path: from there on only a shorter path helps.

    Every number of slots is tried from below, because more slots can make a greedy schedule longer
    (Graham's anomaly). Only numbers that must fail are left out.

    >>> saturation_slots(Dag.from_dict({"a": {"duration": 2}, "b": {}, "c": {}}))
    2
    """
    graph, times = timed(dag)
    durations = times.by_number
    length = length_of(graph, durations)
    if not length:
        return 1
    latest = list(map(operator.sub, latest_ends(graph, durations, length), durations))
    slots = -(-times.work // length)
    while missing := _missing(graph, durations, slots, latest):
        slots += missing
    return slots


def _lower(work: int, length: int, slots: int) -> tuple[int, int]:
    """The lower bound as a fraction."""
    return (work, slots) if work > length * slots else (length, 1)


FIRST = ("name", "critical_path")


def _turns(graph: Numbered, durations: list[int], first: str) -> Turns:
    """The order in which ready tasks start: the rank of each number, and the way back."""
    if first not in FIRST:
        raise DagkitError(f"schedule: first must be one of {choices(FIRST)}, not {quoted(first)}.{nearest(first, FIRST)}")
    if first == "name":
        return graph.rank, graph.by_rank
    latest = latest_ends(graph, durations, 0)                 # minus what must still run after the task
    by_rank = sorted(graph.by_rank, key=lambda i: latest[i] - durations[i])
    rank = [0] * len(by_rank)
    for turn, number in enumerate(by_rank):
        rank[number] = turn
    return rank, by_rank


def _instants(graph: Numbered, durations: list[int], slots: int, turns: Turns) -> Iterator[Instant]:
    """Greedy list scheduling, instant by instant. The last time is the makespan."""
    down, (rank, by_rank) = graph.down, turns
    blocked_by = graph.blocked_by[:]
    ready = sorted([rank[i] for i, n in enumerate(blocked_by) if not n])   # sorted, so already a heap
    width = min(slots, len(durations))
    free, holds = list(range(width)), [0] * width
    running: list[int] = []   # a heap of end * width + slot: one number orders by end and tells the slot
    pop, push, now = heapq.heappop, heapq.heappush, 0
    while True:
        started = []
        while ready and free:
            i, slot = by_rank[pop(ready)], pop(free)
            holds[slot] = i
            push(running, (now + durations[i]) * width + slot)
            started.append((i, slot))
        yield now, started, ready
        if not running:
            return
        now = running[0] // width
        while running and running[0] < (now + 1) * width:
            slot = pop(running) % width
            push(free, slot)
            for d in down[holds[slot]]:
                blocked_by[d] = left = blocked_by[d] - 1
                if not left:
                    push(ready, rank[d])


def _makespan(graph: Numbered, durations: list[int], slots: int, turns: Turns | None = None) -> int:
    """The last of the ``_instants``, for those who ask for no more: which slot a task is in makes no difference."""
    down, (rank, by_rank) = graph.down, turns or (graph.rank, graph.by_rank)
    blocked_by = graph.blocked_by[:]
    ready = sorted([rank[i] for i, n in enumerate(blocked_by) if not n])
    running: list[tuple[int, int]] = []                   # a heap of (end, number)
    pop, push, now, free = heapq.heappop, heapq.heappush, 0, slots
    while True:
        while ready and free:
            i = by_rank[pop(ready)]
            push(running, (now + durations[i], i))
            free -= 1
        if not running:
            return now
        now = running[0][0]
        while running and running[0][0] == now:
            free += 1
            for d in down[pop(running)[1]]:
                left = blocked_by[d] - 1
                if left:
                    blocked_by[d] = left
                else:
                    push(ready, rank[d])


def _missing(graph: Numbered, durations: list[int], slots: int, latest: list[int]) -> int:
    """0 if on so many slots every task starts by its latest start, otherwise how many more it takes at least.

    Until the first task is left waiting, more slots would change nothing. If one of those left waiting then
    can wait no longer, there must be slots for it and for all names before it.
    """
    queued = False
    for now, started, ready in _instants(graph, durations, slots, (graph.rank, graph.by_rank)):
        if any(now > latest[i] for i, _ in started):
            return 1
        if ready and not queued:
            queued = True
            waiting = [graph.by_rank[rank] for rank in sorted(ready)]
            urgent = [place for place, i in enumerate(waiting, 1) if latest[i] <= now]
            # A task of no duration gives its slot back at once: beside one, places say nothing.
            if urgent and all(durations[i] for i in (*waiting, *(i for i, _ in started))):
                return urgent[-1]
    return 0

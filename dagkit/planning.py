"""What a Dag's shape and durations say before anything runs: waves, critical path, greedy schedules, bounds.

Only shape, durations and a number of equal slots: no pools, no states, no ticks (for those, ``simulate``).
Durations may be any non-negative numbers in one unit. All sums are exact: a float counts as the decimal it is
written as, so 0.1 + 0.2 ties with 0.3; whole durations give whole results, however large.

>>> from dagkit.examples import file_fanout
>>> critical_path(file_fanout())
CriticalPath(length=7, path=['list_files', 'process', 'join', 'report'])
>>> day = expand(file_fanout(), "process", 6)
>>> [makespan(day, slots) for slots in (1, 2, 4, 8)], saturation_slots(day)
([26, 16, 10, 7], 7)
"""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from .dag import Dag, Graph, spec_of
from .errors import DagkitError, shown

Number = int | float
Instant = tuple[int, list[tuple[int, int]], list[int]]
"""A time, the (task, slot) pairs started then, and a heap of the names left waiting (as sorted ranks)."""


def waves(dag: Dag) -> list[list[str]]:
    """Groups of tasks that may run side by side: each waits only for earlier groups. Names are sorted.

    >>> waves(Dag.from_dict({"a": {}, "c": {"upstream": ["a"]}, "b": {"upstream": ["a"]}}))
    [['a'], ['b', 'c']]
    """
    ids, _, up, _, order = _graph(dag)
    level = [0] * len(ids)
    found: list[list[str]] = []
    for i in order:
        ups = up[i]
        if ups:
            level[i] = here = (max([level[u] for u in ups]) if len(ups) > 1 else level[ups[0]]) + 1
        else:
            here = 0
        if here == len(found):
            found.append([])
        found[here].append(ids[i])
    for wave in found:
        wave.sort()
    return found


class CriticalPath(NamedTuple):
    """The longest chain: its length in the unit of the durations, and its tasks in the order they run."""

    length: Number
    path: list[str]


def critical_path(dag: Dag) -> CriticalPath:
    """The longest chain by duration: no number of slots finishes sooner.

    Ties: the path ends in the first declared of the tasks that finish last, and walks back each time to the
    first listed of the upstreams that finish last. ``tied_critical_paths`` has them all.

    >>> critical_path(Dag.from_dict({"a": {"duration": 2}, "b": {}, "c": {"upstream": ["b", "a"]}}))
    CriticalPath(length=3, path=['a', 'c'])
    """
    graph, times = _graph(dag), _Times(dag)
    if not graph.ids:
        return CriticalPath(0, [])
    finish = _finish(graph, times.exact)
    i = max(range(len(finish)), key=finish.__getitem__)   # max keeps the first of equals
    path = [i]
    while graph.up[i]:
        i = max(graph.up[i], key=finish.__getitem__)
        path.append(i)
    return CriticalPath(times.shown(finish[path[0]]), [graph.ids[i] for i in reversed(path)])


def slack(dag: Dag) -> dict[str, Number]:
    """How much later each task may finish, slots being plenty, without making the whole Dag finish later.

    Between floats, a difference below a millionth of a millionth of the critical path counts as 0.

    >>> slack(Dag.from_dict({"a": {"duration": 5}, "b": {"duration": 2}, "c": {"upstream": ["a", "b"]}}))
    {'a': 0, 'b': 3, 'c': 0}
    """
    graph, times = _graph(dag), _Times(dag)
    return dict(zip(graph.ids, map(times.shown, _slack(graph, times)), strict=True))


def critical_tasks(dag: Dag) -> list[str]:
    """The tasks without slack, in declared order: delay one of them and the whole Dag is late.

    >>> from dagkit.examples import file_fanout
    >>> critical_tasks(file_fanout())
    ['list_files', 'load_dim', 'process', 'join', 'report']
    """
    return [task_id for task_id, spare in slack(dag).items() if not spare]


def tied_critical_paths(dag: Dag, limit: int = 100) -> list[list[str]]:
    """All chains as long as the critical path, at most ``limit`` of them (their number can be astronomic).

    To finish sooner, every one of them must shrink.

    >>> from dagkit.examples import file_fanout
    >>> tied_critical_paths(file_fanout())
    [['list_files', 'process', 'join', 'report'], ['load_dim', 'join', 'report']]
    """
    graph, times = _graph(dag), _Times(dag)
    finish = _finish(graph, times.exact)
    critical = [not spare for spare in _slack(graph, times)]
    tight = [[u for u in ups if critical[u] and finish[u] == finish[i] - times.exact[i]]
             for i, ups in enumerate(graph.up)]
    goes_on = {u for i, ups in enumerate(tight) if critical[i] for u in ups}
    paths: list[list[str]] = []
    # Depth first without recursion: a linked path (task, rest) for each branch still to be walked.
    ends = [i for i in range(len(finish)) if critical[i] and i not in goes_on]
    stack: list[tuple[int, Any]] = [(i, None) for i in reversed(ends)]
    while stack and len(paths) < limit:
        link = stack.pop()
        ups = tight[link[0]]
        if ups:
            stack.extend((u, link) for u in reversed(ups))
        else:
            paths.append(_unlinked(link, graph.ids))
    return paths


def _unlinked(link: Any, ids: list[str]) -> list[str]:
    path = []
    while link:
        i, link = link
        path.append(ids[i])
    return path


# ---- running on so many slots ----


class Row(NamedTuple):
    """One task in a schedule: from start to end, in one slot (slots count from 0)."""

    task_id: str
    start: Number
    end: Number
    slot: int


@dataclass(frozen=True)
class Schedule:
    """A greedy schedule: when everything is done, and a row for each task in order of start."""

    slots: int
    makespan: Number
    rows: tuple[Row, ...]

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd
        return pd.DataFrame(list(self.rows), columns=list(Row._fields))


def schedule(dag: Dag, slots: int) -> Schedule:
    """Greedy list scheduling on ``slots`` equal slots: at each instant first all completions, then starts.

    Ready tasks start by name (plain string order), each in the lowest free slot. A task of duration 0 holds
    its slot for no time: what it frees can start at the same instant. Raises DagkitError if slots is not a
    whole number >= 1.

    >>> for row in schedule(Dag.from_dict({"a": {}, "b": {"duration": 2}, "c": {"upstream": "a"}}), 2).rows:
    ...     print(*row)
    a 0 1 0
    b 0 2 1
    c 1 2 0
    """
    graph, times = _graph(dag), _Times(dag)
    shown_time, exact, ids = times.shown, times.exact, graph.ids
    rows, now = [], 0
    for now, started, _ in _instants(graph, exact, at_least_one("slots", slots)):
        start = shown_time(now)
        rows.extend([Row(ids[i], start, shown_time(now + exact[i]), slot) for i, slot in started])
    return Schedule(slots, shown_time(now), tuple(rows))


def makespan(dag: Dag, slots: int) -> Number:
    """The time at which the greedy schedule on ``slots`` slots is done; see ``schedule``.

    >>> makespan(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 2}}), 1)
    5
    """
    times = _Times(dag)
    return times.shown(_makespan(_graph(dag), times.exact, at_least_one("slots", slots)))


def lower_bound(dag: Dag, slots: int) -> Number:
    """No schedule on ``slots`` slots is shorter: the critical path, or total work / slots if that is more.

    >>> lower_bound(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 2}}), 2)
    3
    """
    times, slots = _Times(dag), at_least_one("slots", slots)
    return times.shared(*_lower(times.work, _length(_graph(dag), times), slots), up=True)


def graham_bound(dag: Dag, slots: int) -> Number:
    """No greedy schedule on W slots is longer: work / W + (1 - 1/W) * critical path.

    That is at most (2 - 1/W) times the best schedule there is. Source: R. L. Graham, "Bounds on
    multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17 (1969).

    >>> graham_bound(Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 3}, "c": {"duration": 3}}), 2)
    6
    """
    times, slots = _Times(dag), at_least_one("slots", slots)
    return times.shared(times.work + (slots - 1) * _length(_graph(dag), times), slots, up=False)


def makespan_curve(dag: Dag, max_slots: int = 32) -> Any:
    """What more slots buy: a DataFrame with slots (1 to max_slots), makespan and lower_bound.

    >>> makespan_curve(Dag.from_dict({"a": {}, "b": {}, "c": {}}), 3)["makespan"].tolist()
    [3, 2, 1]
    """
    import pandas as pd
    graph, times = _graph(dag), _Times(dag)
    length, every = _length(graph, times), range(1, at_least_one("max_slots", max_slots) + 1)
    return pd.DataFrame({
        "slots": list(every),
        "makespan": [times.shown(_makespan(graph, times.exact, n)) for n in every],
        "lower_bound": [times.shared(*_lower(times.work, length, n), up=True) for n in every],
    })


def saturation_slots(dag: Dag) -> int:
    """The fewest slots whose greedy makespan is the critical path: from there on only a shorter path helps.

    Every number of slots is tried from below, because more slots can make a greedy schedule longer
    (Graham's anomaly). Only numbers that must fail are left out.

    >>> saturation_slots(Dag.from_dict({"a": {"duration": 2}, "b": {}, "c": {}}))
    2
    """
    graph, times = _graph(dag), _Times(dag)
    length = _length(graph, times)
    if not length:
        return 1
    latest = list(map(operator.sub, _latest(graph, times.exact, length), times.exact))
    slots = -(-times.work // length)
    while missing := _missing(graph, times.exact, slots, latest):
        slots += missing
    return slots


# ---- the width settled at run time ----


def expand(dag: Dag, task_id: str, items: Any, max_map_length: int = 1024) -> Dag:
    """The Dag once ``task_id`` is mapped over ``items`` (how many, or a list): "process[0]", "process[1]" ...

    Each instance has the parameters of the task; what followed the task follows all its instances. With no
    item at all, what followed the task follows the task's upstreams. Raises DagkitError if there are more
    items than max_map_length ([core] max_map_length in Airflow), for an unknown task, a taken id.

    >>> from dagkit.examples import file_fanout
    >>> expand(file_fanout(), "process", 2)["join"].upstream
    ('process[0]', 'process[1]', 'load_dim')
    >>> expand(file_fanout(), "process", 6, max_map_length=4)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: process: 6 mapped tasks > max_map_length 4, task fails
    """
    _graph(dag)
    mapped, count = dag[task_id], _count(task_id, items)
    if count > at_least_one("max_map_length", max_map_length):
        raise DagkitError(f"{shown(task_id)}: {count} mapped tasks > max_map_length {max_map_length}, "
                          "task fails")
    names = tuple(f"{task_id}[{i}]" for i in range(count))
    for name in names:
        if name in dag:
            raise DagkitError(f"expand '{shown(task_id)}': instance id '{shown(name)}' is taken by another "
                              f"task of Dag '{shown(dag.dag_id)}'. Rename that task.")
    spec = spec_of(mapped)
    spec.pop("expand", None)
    made: dict[str, dict[str, Any]] = {}
    for task in dag:
        if task is mapped:
            made.update((name, spec) for name in names)
        else:
            made[task.task_id] = _follow_instances(spec_of(task), task_id, names, mapped.upstream)
    options = dag.options()
    options["groups"] = {name: _literal(over, task_id, count) for name, over in dag.groups.items()}
    return Dag.from_dict(made, dag.dag_id, **options)


def _count(task_id: str, items: Any) -> int:
    if isinstance(items, Collection) and not isinstance(items, (str, bytes)):
        return len(items)
    if type(items) is int and items >= 0:
        return items
    raise DagkitError(f"expand '{shown(task_id)}': items must be a list or its length (a whole number >= 0), "
                      f"not {shown(repr(items))}.")


def _follow_instances(spec: dict[str, Any], task_id: str, names: tuple[str, ...], before: tuple[str, ...],
                      ) -> dict[str, Any]:
    """The parameters of a task that named the mapped task, naming its instances instead."""
    for key, instead in (("upstream", names or before), ("branch", names)):
        named = spec.get(key) or ()
        if task_id in named:
            swapped = (instead if name == task_id else (name,) for name in named)
            spec[key] = tuple(dict.fromkeys(name for group in swapped for name in group))
    if "expand" in spec:
        spec["expand"] = _literal(spec["expand"], task_id, len(names))
    return spec


def _literal(over: Mapping[str, Any], task_id: str, count: int) -> dict[str, Any]:
    """What was mapped over the results of the mapped task is mapped over that many results."""
    return {argument: count if source == task_id else source for argument, source in over.items()}


def what_if(dag: Dag, durations: Mapping[str, Number] | None = None, /, **more: Number) -> Dag:
    """A copy of the Dag in which some tasks last differently: ``what_if(dag, process=1, load_dim=2)``.

    >>> from dagkit.examples import file_fanout
    >>> critical_path(what_if(file_fanout(), process=1)).length
    7
    >>> critical_path(what_if(file_fanout(), {"process": 1, "load_dim": 2})).length
    5
    """
    _graph(dag)
    specs = {task.task_id: spec_of(task) for task in dag}
    for task_id, duration in {**(durations or {}), **more}.items():
        specs[dag[task_id].task_id]["duration"] = duration
    return Dag.from_dict(specs, dag.dag_id, **dag.options())


# ---- shared steps, on integers ----


class _Times:
    """The durations as exact integers, and the way back.

    exact: durations times ``scale``. Whole durations are kept as they are. Floats are read as the decimals
    they print as: a common denominator makes them integers, so sums, ties and slack have no rounding error.
    """

    def __init__(self, dag: Dag):
        given = [task.duration for task in dag]
        self.whole, self.scale = all(type(d) is int for d in given), 1
        if not self.whole:
            given, self.scale = _common_denominator(given)
            self.whole = self.scale == 0
        self.exact: list[int] = given
        self.work = sum(given)
        if not self.whole:
            try:
                self.shown(self.work)
            except OverflowError:
                raise DagkitError(f"Dag '{shown(dag.dag_id)}': its durations add up to more than a float can "
                                  "hold (about 1.8e308). Choose a larger unit, or whole numbers.") from None

    def shown(self, exact: int) -> Number:
        return exact if self.whole else exact / self.scale

    def shared(self, exact: int, slots: int, *, up: bool) -> Number:
        """exact / slots; where a float is too coarse for the fraction, the whole number on the safe side."""
        if not self.whole:
            return exact / (self.scale * slots)
        whole, rest = divmod(exact, slots)
        if rest and whole < 2**52:
            return exact / slots
        return whole + (up and rest > 0)


def _common_denominator(given: list[Any]) -> tuple[list[int], int]:
    """The durations as integers over one denominator; 0 as the denominator if all were whole after all."""
    plain = [d.item() if hasattr(d, "item") else d for d in given]   # numpy scalars
    if all(type(d) is int for d in plain):
        return plain, 0
    ratio = {d: Decimal(repr(d)).as_integer_ratio() for d in plain}
    scale = math.lcm(*{below for _, below in ratio.values()})
    return [ratio[d][0] * (scale // ratio[d][1]) for d in plain], scale


def _graph(dag: Any) -> Graph:
    if not isinstance(dag, Dag):
        raise DagkitError(f"planning needs a Dag, not {type(dag).__name__}. Give it a dk.Dag "
                          "(of a Scenario: its .dag).")
    return dag.graph


def at_least_one(what: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise DagkitError(f"{what} must be a whole number >= 1, not {shown(repr(value))}. Give at least 1.")
    return value


def _finish(graph: Graph, durations: list[int]) -> list[int]:
    """When each task ends at the earliest."""
    up, finish = graph.up, durations[:]
    for i in graph.order:
        ups = up[i]
        if len(ups) == 1:
            finish[i] += finish[ups[0]]
        elif ups:
            finish[i] += max([finish[u] for u in ups])
    return finish


def _length(graph: Graph, times: _Times) -> int:
    return max(_finish(graph, times.exact), default=0)


def _latest(graph: Graph, durations: list[int], length: int) -> list[int]:
    """When each task must have ended for all to be done at ``length``."""
    down, start = graph.down, [length] * len(durations)
    latest = start[:]
    for i in reversed(graph.order):
        if down[i]:
            latest[i] = min([start[d] for d in down[i]])
        start[i] = latest[i] - durations[i]
    return latest


def _slack(graph: Graph, times: _Times) -> list[int]:
    finish = _finish(graph, times.exact)
    length = max(finish, default=0)
    spare = list(map(operator.sub, _latest(graph, times.exact, length), finish))
    if times.whole:
        return spare
    noise = length // 10**12   # floats that were computed before they got here
    return [s if s > noise else 0 for s in spare]


def _lower(work: int, length: int, slots: int) -> tuple[int, int]:
    """The lower bound as a fraction."""
    return (work, slots) if work > length * slots else (length, 1)


def _instants(graph: Graph, durations: list[int], slots: int) -> Iterator[Instant]:
    """Greedy list scheduling, instant by instant. The last time is the makespan."""
    ids, _, up, down, _ = graph
    by_name = sorted(range(len(ids)), key=ids.__getitem__)
    rank = [0] * len(ids)
    for r, i in enumerate(by_name):
        rank[i] = r
    pop, push = heapq.heappop, heapq.heappush
    blocked_by = list(map(len, up))
    ready = [r for r, i in enumerate(by_name) if not blocked_by[i]]   # sorted, so already a heap
    free = list(range(min(slots, len(ids))))
    ending: dict[int, list[tuple[int, int]]] = {}
    times = [0]
    while times:
        now = pop(times)
        for i, slot in ending.pop(now, ()):
            push(free, slot)
            for d in down[i]:
                blocked_by[d] -= 1
                if not blocked_by[d]:
                    push(ready, rank[d])
        started = []
        while ready and free:
            i = by_name[pop(ready)]
            pair = (i, pop(free))
            started.append(pair)
            end = now + durations[i]
            if end in ending:
                ending[end].append(pair)
            else:
                ending[end] = [pair]
                push(times, end)
        yield now, started, ready


def _makespan(graph: Graph, durations: list[int], slots: int) -> int:
    return max(now for now, _, _ in _instants(graph, durations, slots))


def _missing(graph: Graph, durations: list[int], slots: int, latest: list[int]) -> int:
    """0 if on so many slots every task starts by its latest start, otherwise how many more it takes at least.

    Up to the first instant at which a task is left waiting, more slots would change nothing. If a task left
    waiting there can wait no longer, there must be slots for it and for all names before it.
    """
    queued = False
    for now, started, ready in _instants(graph, durations, slots):
        if any(now > latest[i] for i, _ in started):
            return 1
        if ready and not queued:
            queued = True
            names = sorted(graph.ids)
            late = [place for place, r in enumerate(sorted(ready), 1) if latest[graph.index[names[r]]] <= now]
            if late:
                return late[-1]
    return 0

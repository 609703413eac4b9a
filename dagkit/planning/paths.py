"""What no number of slots can change: waves, the critical path, slack."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

from ..dag import Dag
from ..graph import Numbered, waves_of
from .times import Number, Times, at_least_one, graph_of, timed, times_of


def waves(dag: Dag | Mapping[str, Any]) -> list[list[str]]:
    """Groups of tasks that may run side by side: each waits only for earlier groups. Names are sorted.

    No durations are needed, so a plain dictionary of each task's upstreams will do as well; it is checked like a Dag.

    >>> waves(Dag.from_dict({"a": {}, "c": {"upstream": ["a"]}, "b": {"upstream": ["a"]}}))
    [['a'], ['b', 'c']]
    >>> waves({"extract": [], "transform": ["extract"], "load": ["transform"], "audit": ["extract"]})
    [['extract'], ['audit', 'transform'], ['load']]
    >>> waves({"a": ["b"], "b": ["a"]})
    Traceback (most recent call last):
    ...
    dagkit.errors.CycleError: cycle: a -> b -> a
    """
    if isinstance(dag, Mapping):
        found = waves_of(dag)
        if found is not None:
            return found
        dag = Dag.from_dict({task_id: {"upstream": ups} for task_id, ups in dag.items()})   # says what is wrong, if it is
    graph = graph_of(dag)
    name = graph.ids.__getitem__
    return [list(map(name, wave)) for wave in graph.waves]


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
    graph, times = graph_of(dag), times_of(dag)
    finish = times.exact[:]
    end_of = finish.__getitem__
    for i in chain.from_iterable(graph.waves):             # upstreams first
        ups = graph.up[i]
        if ups:
            finish[i] += max(map(end_of, ups))
    if not finish:
        return CriticalPath(0, [])
    length = max(finish)
    path = [finish.index(length)]                          # the first declared of those that end last
    while ups := graph.up[path[-1]]:
        path.append(max(ups, key=end_of))                  # max keeps the first of equals
    return CriticalPath(times.shown(length), [graph.ids[i] for i in reversed(path)])


def slack(dag: Dag) -> dict[str, Number]:
    """How much later each task may finish, slots being plenty, without making the whole Dag finish later.

    Between floats, a difference below a millionth of a millionth of the critical path counts as 0.

    >>> slack(Dag.from_dict({"a": {"duration": 5}, "b": {"duration": 2}, "c": {"upstream": ["a", "b"]}}))
    {'a': 0, 'b': 3, 'c': 0}
    """
    graph, times = timed(dag)
    spare = times.all_shown(_spare(graph, times))
    return dict(zip(dag.graph.ids, map(spare.__getitem__, graph.place), strict=True))


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
    graph, times = timed(dag)
    durations = times.by_number
    finish = finish_times(graph, durations)
    critical = [not spare for spare in _spare(graph, times)]
    tight = [[u for u in ups if critical[u] and finish[u] == finish[i] - durations[i]]
             for i, ups in enumerate(graph.up)]
    goes_on = {u for i, ups in enumerate(tight) if critical[i] for u in ups}
    paths: list[list[str]] = []
    limit = at_least_one("tied_critical_paths: limit", limit)
    # Depth first without recursion: a linked path (task, rest) for each branch still to be walked.
    ends = [i for i in graph.place if critical[i] and i not in goes_on]     # in declared order
    stack: list[tuple[int, Any]] = [(i, None) for i in reversed(ends)]
    while stack and len(paths) < limit:
        link = stack.pop()
        ups = tight[link[0]]
        if ups:
            stack.extend((u, link) for u in reversed(ups))
        else:
            paths.append(_unlinked(link, graph.names))
    return paths


def _unlinked(link: Any, ids: list[str]) -> list[str]:
    path = []
    while link:
        i, link = link
        path.append(ids[i])
    return path


def finish_times(graph: Numbered, durations: list[int]) -> list[int]:
    """When each task ends at the earliest."""
    finish = durations[:]
    end_of = finish.__getitem__
    for i, ups in enumerate(graph.up):
        if ups:
            finish[i] += max(map(end_of, ups))
    return finish


def length_of(graph: Numbered, durations: list[int]) -> int:
    return max(finish_times(graph, durations), default=0)


def latest_ends(graph: Numbered, durations: list[int], length: int) -> list[int]:
    """When each task must have ended for all to be done at ``length``."""
    down, latest, start = graph.down, [length] * len(durations), durations[:]
    start_of = start.__getitem__
    for i in range(len(durations) - 1, -1, -1):
        if down[i]:
            latest[i] = min(map(start_of, down[i]))
        start[i] = latest[i] - durations[i]
    return latest


def _spare(graph: Numbered, times: Times) -> list[int]:
    durations = times.by_number
    finish = finish_times(graph, durations)
    length = max(finish, default=0)
    spare = list(map(operator.sub, latest_ends(graph, durations, length), finish))
    if times.whole:
        return spare
    noise = length // 10**12   # floats that were computed before they got here
    return [s if s > noise else 0 for s in spare]

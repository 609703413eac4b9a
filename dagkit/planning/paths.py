"""What no number of slots can change: waves, the critical path, slack."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ..dag import Dag
from ..graph import Graph
from .times import Number, Times, graph_of


def waves(dag: Dag) -> list[list[str]]:
    """Groups of tasks that may run side by side: each waits only for earlier groups. Names are sorted.

    >>> waves(Dag.from_dict({"a": {}, "c": {"upstream": ["a"]}, "b": {"upstream": ["a"]}}))
    [['a'], ['b', 'c']]
    """
    ids, _, up, down, _ = graph_of(dag)
    blocked_by = list(map(len, up))
    wave = [i for i, n in enumerate(blocked_by) if not n]
    found = []
    while wave:
        found.append(sorted([ids[i] for i in wave]))
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
    graph, times = graph_of(dag), Times(dag)
    if not graph.ids:
        return CriticalPath(0, [])
    finish = finish_times(graph, times.exact)
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
    graph, times = graph_of(dag), Times(dag)
    return dict(zip(graph.ids, times.all_shown(_spare(graph, times)), strict=True))


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
    graph, times = graph_of(dag), Times(dag)
    finish = finish_times(graph, times.exact)
    critical = [not spare for spare in _spare(graph, times)]
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


def finish_times(graph: Graph, durations: list[int]) -> list[int]:
    """When each task ends at the earliest."""
    up, finish = graph.up, durations[:]
    end_of = finish.__getitem__
    for i in graph.order:
        if up[i]:
            finish[i] += max(map(end_of, up[i]))
    return finish


def length_of(graph: Graph, times: Times) -> int:
    return max(finish_times(graph, times.exact), default=0)


def latest_ends(graph: Graph, durations: list[int], length: int) -> list[int]:
    """When each task must have ended for all to be done at ``length``."""
    down, latest, start = graph.down, [length] * len(durations), durations[:]
    start_of = start.__getitem__
    for i in reversed(graph.order):
        if down[i]:
            latest[i] = min(map(start_of, down[i]))
        start[i] = latest[i] - durations[i]
    return latest


def _spare(graph: Graph, times: Times) -> list[int]:
    finish = finish_times(graph, times.exact)
    length = max(finish, default=0)
    spare = list(map(operator.sub, latest_ends(graph, times.exact, length), finish))
    if times.whole:
        return spare
    noise = length // 10**12   # floats that were computed before they got here
    return [s if s > noise else 0 for s in spare]

"""Another Dag from a Dag: a mapped task at its full width, other durations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..checks import table
from ..dag import Dag
from ..errors import DagkitError, shown
from ..task import Task, length_of, rebuilt
from .times import Number, at_least_one, graph_of


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
    graph_of(dag)
    mapped, count = dag[task_id], _count(task_id, items)
    if count > (most := at_least_one("max_map_length", max_map_length)):
        raise DagkitError(f"{shown(task_id)}: {count} mapped tasks > max_map_length {most}, task fails")
    names = tuple(f"{task_id}[{i}]" for i in range(count))
    for name in names:
        if name in dag:
            raise DagkitError(f"expand '{shown(task_id)}': instance id '{shown(name)}' is taken by another "
                              f"task of Dag '{shown(dag.dag_id)}'. Rename that task.")
    made: list[Task] = []
    for task in dag:
        if task is mapped:
            made += (rebuilt(task, {"expand": None}, name) for name in names)
        else:
            made.append(rebuilt(task, _follow_instances(task, task_id, names, mapped.upstream)))
    options = dag.options()
    options["groups"] = {name: _literal(over, task_id, count) for name, over in dag.groups.items()}
    return Dag(dag.dag_id, made, **options).close()


def _count(task_id: str, items: Any) -> int:
    several = isinstance(items, Collection) and not isinstance(items, (str, bytes))
    return length_of(len(items) if several else items, f"expand '{shown(task_id)}': items")


def _follow_instances(task: Task, task_id: str, names: tuple[str, ...], before: tuple[str, ...]) -> dict[str, Any]:
    """What changes in a task that named the mapped task: it names its instances instead."""
    changes: dict[str, Any] = {}
    for key, instead in (("upstream", names or before), ("branch", names)):
        named = getattr(task, key) or ()
        if task_id in named:
            swapped = (instead if name == task_id else (name,) for name in named)
            changes[key] = tuple(dict.fromkeys(name for group in swapped for name in group))
    if task.expand:
        changes["expand"] = _literal(task.expand, task_id, len(names))
    return changes


def _literal(over: Mapping[str, Any], task_id: str, count: int) -> dict[str, Any]:
    """What was mapped over the results of the mapped task is mapped over that many results."""
    return {argument: count if source == task_id else source for argument, source in over.items()}


def what_if(dag: Dag, durations: Mapping[str, Number] | None = None, /, **more: Number) -> Dag:
    """A copy of the Dag in which some tasks last differently: ``what_if(dag, process=1, load_dim=2)``.

    >>> from dagkit.examples import file_fanout
    >>> from dagkit.planning import critical_path
    >>> critical_path(what_if(file_fanout(), process=1)).length
    7
    >>> critical_path(what_if(file_fanout(), {"process": 1, "load_dim": 2})).length
    5
    """
    graph_of(dag)
    table("what_if: durations", durations or {}, "{'process': 1}")
    changed = {dag[task_id].task_id: {"duration": duration}
               for task_id, duration in {**(durations or {}), **more}.items()}
    tasks = [rebuilt(task, changed.get(task.task_id, {})) for task in dag]
    return Dag(dag.dag_id, tasks, **dag.options()).close()

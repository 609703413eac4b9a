"""Task and Dag: what a learner declares, checked while it is declared.

>>> with Dag("report") as dag:
...     extract, load = Task("extract", duration=2), Task("load")
...     extract >> load
Task('load')
>>> dag.edges
[('extract', 'load')]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from . import keywords
from .checks import flag, is_number, plain, whole
from .errors import DagkitError, choices, nearest, quoted, shown
from .graph import Graph, compile_graph
from .task import (
    PARAMETERS,
    Task,
    detached,
    kept_by,
    kind_of,
    mapped_over,
    open_dags,
    put,
    rebuilt,
    unknown,
    upstream_ids,
)

OPTIONS = ("max_active_tasks", "max_active_runs", "fail_fast", "dagrun_timeout", "max_consecutive_failed_dag_runs",
           "groups", "assets")
"""The parameters of a Dag besides its id and its tasks."""
_AIRFLOW_ID = re.compile(r"[\w.-]{1,250}\Z")
_MAPPED = re.compile(r"\[\d+\]\Z")   # an instance of a mapped task, made by planning.expand


@keywords.checked
class Dag:
    """Tasks with one-way dependencies. Refuses, while being built, what could never run.

    dag_id: its name. tasks: Task objects, in the order that breaks ties (see ``Graph.order``).
    max_active_tasks: queued and running TIs in one run. max_active_runs: runs at once.
    fail_fast: the first final failure stops the run. dagrun_timeout: ticks a run may take.
    max_consecutive_failed_dag_runs: pause after so many failed runs in a row (0 = never).
    assets: names of assets; a run starts whenever all of them were updated since the last one.
    groups: mapped task groups, ``{"g": {"x": "producer"}}``; see ``Task(task_group=...)``.

    Raises DagkitError (duplicate id, unknown upstream, ...) and CycleError with the ring in full.

    >>> Dag("demo", [Task("a", upstream="b"), Task("b", upstream="a")])
    Traceback (most recent call last):
    ...
    dagkit.errors.CycleError: cycle: a -> b -> a
    """

    closed = False                                        # True once it is built

    def __init__(
        self, dag_id: str, tasks: Iterable[Task] = (), *, max_active_tasks: int = 16, max_active_runs: int = 16,
        fail_fast: bool = False, dagrun_timeout: float | None = None, max_consecutive_failed_dag_runs: int = 0,
        groups: Mapping[str, Mapping[str, Any]] | None = None, assets: Any = (),
        **unknown: Any,
    ):
        for name in unknown:
            raise keywords.unknown(f"Dag '{shown(dag_id)}'", name, OPTIONS)
        self.dag_id = dag_id
        self.max_active_tasks = max_active_tasks
        self.max_active_runs = max_active_runs
        self.fail_fast = fail_fast
        self.dagrun_timeout = dagrun_timeout
        self.max_consecutive_failed_dag_runs = max_consecutive_failed_dag_runs
        self.groups: Mapping[str, Mapping[str, Any]] = groups  # type: ignore[assignment]  # None until it is checked
        self.assets = assets
        self._tasks: dict[str, Task] = {}
        self._graph: Graph | None = None
        self._check()
        if isinstance(tasks, (str, bytes, Task, Mapping, set, frozenset)) or not isinstance(tasks, Iterable):
            raise DagkitError(f"Dag '{shown(dag_id)}': tasks must be a list of Task objects, not {kind_of(tasks)}. "
                              "For a dictionary use Dag.from_dict.")
        given = list(tasks)
        for task in given:
            if not isinstance(task, Task):
                raise DagkitError(f"Dag '{shown(dag_id)}': tasks must be Task objects, "
                                  f"found {quoted(task)}. Write dk.Task(...).")
        self._tasks = {task.task_id: task for task in given}
        if len(self._tasks) < len(given):
            self._tasks = {}
            for task in given:                             # says which id is declared twice
                self._add(task)
        if given:
            self.close()

    def _check(self) -> None:
        self.dag_id = plain(self.dag_id)
        if type(self.dag_id) is not str or not self.dag_id:
            raise DagkitError(f"Dag id must be non-empty text, not {quoted(self.dag_id)}. Put a name in quotes.")
        who = f"Dag '{shown(self.dag_id)}'"
        self.groups = _groups(who, self.groups)
        self.assets = upstream_ids(self.dag_id, self.assets, "assets", "Dag")
        for name, low in (("max_active_tasks", 1), ("max_active_runs", 1), ("max_consecutive_failed_dag_runs", 0)):
            setattr(self, name, plain(getattr(self, name)))
            whole(who, name, getattr(self, name), low)
        self.fail_fast = plain(self.fail_fast)
        flag(who, "fail_fast", self.fail_fast)
        timeout = self.dagrun_timeout
        if timeout is not None and not (is_number(timeout) and timeout > 0):
            raise DagkitError(f"{who}: dagrun_timeout must be a number > 0 or None, not {quoted(timeout)}. "
                              "Give a number of ticks.")
        self.dagrun_timeout = plain(timeout)

    def __setattr__(self, name: str, value: Any) -> None:
        """Once the Dag is built its parameters are as fixed as its tasks."""
        if self.closed and (name in OPTIONS or name == "dag_id"):
            raise DagkitError(f"Dag '{shown(self.dag_id)}': it is already built, so {name} is fixed. Give it when you "
                              f"declare the Dag: Dag(..., {name}=...).")
        put(self, name, value)

    def __reduce__(self) -> Any:
        """A copy (by pickle or copy) has tasks of its own, and is built if this one is."""
        tasks = [(t.task_id, kept_by(t), type(t)) for t in self]
        return _rebuilt, (type(self), self.dag_id, self.options(), tasks, self.closed)

    def __enter__(self) -> Dag:
        if self.closed:
            raise DagkitError(f"Dag '{shown(self.dag_id)}': it is already built, so `with` cannot open it again. Declare "
                              "all its tasks in one block, or build another: Dag('new', [*dag, Task('more')]).")
        open_dags.set((*open_dags.get(), self))
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        block = list(open_dags.get())
        block.remove(self)
        open_dags.set(tuple(block))
        if kind is None:
            self.close()

    def _add(self, task: Task) -> None:
        if self.closed:
            raise DagkitError(f"Dag '{shown(self.dag_id)}': it is already built, so task '{shown(task.task_id)}' comes "
                              "too late. Declare it before the Dag is closed.")
        if task.task_id in self._tasks:
            if self._tasks[task.task_id] is task:
                return
            raise DagkitError(f"Dag '{shown(self.dag_id)}': task id '{shown(task.task_id)}' is declared twice. "
                              "Ids must be unique; rename one.")
        self._tasks[task.task_id] = task

    def close(self) -> Dag:
        """Check the whole Dag and freeze its shape. Called for you by ``Dag(...)`` and by leaving ``with``."""
        if self.closed:
            return self
        self._check()                                      # what was set since then, too
        self._map_groups()
        self._check_rules(self.graph)                      # compiling the graph checks it
        self.closed = True
        for task in self._tasks.values():
            if task._dag is None:                          # a built task stays with the Dag it was built in
                put(task, "_dag", self)                    # and from now on refuses changes
        return self

    def _map_groups(self) -> None:
        """What a group is mapped over comes before its first tasks, as ``Task(expand=...)`` does for one task."""
        for group, over in self.groups.items():
            members = {t.task_id for t in self._tasks.values() if t.task_group == group}
            sources = list(dict.fromkeys(source for source in over.values() if isinstance(source, str)))
            for source in sources:
                if source not in self._tasks or source in members:
                    why = "one of its own tasks" if source in members else "not a task of the Dag"
                    raise DagkitError(f"Dag '{shown(self.dag_id)}': group '{shown(group)}' is mapped over "
                                      f"'{shown(source)}', which is {why}.{nearest(source, self._tasks)} "
                                      "Name a task outside the group that returns a list.")
            for task_id in self._tasks if members and sources else ():
                task = self._tasks[task_id]
                if task_id in members and members.isdisjoint(task.upstream):
                    task.upstream = (*task.upstream, *(s for s in sources if s not in task.upstream))

    def _check_rules(self, graph: Graph) -> None:
        who = f"Dag '{shown(self.dag_id)}'"
        if self.fail_fast:
            for t in self._tasks.values():
                if t.trigger_rule != "all_success" and not t.is_teardown:
                    raise DagkitError(f"{who}: fail_fast needs trigger_rule all_success everywhere, but task "
                                      f"'{shown(t.task_id)}' has {t.trigger_rule}. Drop one of the two.")
        for t in [t for t in self._tasks.values() if t._special]:
            if t.task_group is not None and t.task_group not in self.groups:
                raise DagkitError(f"{who}: task '{shown(t.task_id)}' names task_group '{shown(t.task_group)}', which "
                                  f"is not among its groups.{nearest(t.task_group, self.groups)} "
                                  "Declare it with Dag(groups=...).")
            if t.branch is not None:
                below = sorted(graph.ids[d] for d in graph.down[graph.index[t.task_id]])
                for chosen in t.branch:
                    if chosen not in below:
                        raise DagkitError(f"{who}: branch '{shown(t.task_id)}' follows '{shown(chosen)}', which is "
                                          f"not directly downstream of it.{nearest(chosen, below)} "
                                          f"Its downstream tasks: {choices(below) or 'none'}.")

    @classmethod
    def from_dict(cls, tasks: Mapping[str, Mapping[str, Any]], dag_id: str = "dag", **options: Any) -> Dag:
        """A Dag from ``{task_id: {parameter: value}}``; options are those of ``Dag``.

        >>> Dag.from_dict({"a": {"duration": 3}, "b": {"upstream": ["a"]}}).edges
        [('a', 'b')]
        """
        if not isinstance(tasks, Mapping):
            raise DagkitError(f"Dag.from_dict: needs a dictionary of tasks, not {kind_of(tasks)}. "
                              "Write {'a': {'duration': 3}}.")
        made = []
        for task_id, spec in tasks.items():
            if not isinstance(spec, Mapping):
                raise DagkitError(f"task '{shown(task_id)}': its description must be a dictionary, not {kind_of(spec)}. "
                                  "Write {'duration': 3}, or {} for a task of one tick.")
            for name in spec:
                if name not in PARAMETERS or name == "task_id":
                    raise unknown(task_id, name)
            made.append(detached(task_id, spec))
        dag = cls(dag_id, made, **options)
        return dag.close()

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by id, in declared order (read-only)."""
        return MappingProxyType(self._tasks)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(upstream, downstream) pairs, each once, grouped by downstream task in declared order."""
        ids = self.graph.ids
        return [(ids[u], ids[t]) for t, ups in enumerate(self.graph.up) for u in ups]

    @property
    def graph(self) -> Graph:
        """The Dag as integers, compiled on first use. Raises for unknown upstreams and cycles."""
        if self._graph is None or len(self._graph.ids) != len(self._tasks) or not self.closed:
            self._graph = compile_graph(self._tasks, self.dag_id)
        return self._graph

    @property
    def warnings(self) -> list[str]:
        """What real Airflow, or a reader, would stumble over although the kit accepts it."""
        return [*_id_warnings(self._tasks), *_edge_warnings(self._tasks)]

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def __contains__(self, task_id: object) -> bool:
        return isinstance(task_id, str) and task_id in self._tasks

    def __getitem__(self, task_id: str) -> Task:
        try:
            return self._tasks[task_id]
        except (KeyError, TypeError):
            raise DagkitError(f"Dag '{shown(self.dag_id)}' has no task '{shown(task_id)}'."
                              f"{nearest(task_id, self._tasks)} Its tasks: {choices(self._tasks)}.") from None

    def __repr__(self) -> str:
        return f"Dag('{shown(self.dag_id)}', {len(self)} task{'' if len(self) == 1 else 's'})"

    def draw(self, **options: Any) -> Any:
        """A picture of the Dag, see ``dagkit.views.draw``."""
        from .views import draw
        return draw(self, **options)

    def replace(self, task_id: str, /, **changes: Any) -> Dag:
        """A copy of the Dag in which one task differs: ``dag.replace("load", duration=1)``."""
        tasks = [rebuilt(t, changes if t is self[task_id] else {}) for t in self]
        return type(self)(self.dag_id, tasks, **self.options()).close()

    def options(self) -> dict[str, Any]:
        """The Dag-level parameters, as ``Dag(...)`` takes them."""
        return {name: getattr(self, name) for name in OPTIONS}


def _rebuilt(kind: type[Dag], dag_id: str, options: Mapping[str, Any], tasks: Iterable[tuple[Any, ...]],
             closed: bool) -> Dag:
    dag = kind(dag_id, **options)
    for task in tasks:
        dag._add(detached(*task))
    return dag.close() if closed else dag


def _groups(who: str, given: Any) -> dict[str, dict[str, str | int]]:
    """The mapped task groups, with lists replaced by their lengths."""
    if given is not None and not isinstance(given, Mapping):
        raise DagkitError(f"{who}: groups must be a dictionary of group names, not {quoted(given)}. "
                          "Write groups={'g': {'x': 'list_files'}}.")
    groups = {}
    for name, over in (given or {}).items():
        if not isinstance(name, str) or not name:
            raise DagkitError(f"{who}: group name {quoted(name)} must be non-empty text. Put a name in quotes.")
        if not isinstance(over, Mapping) or not over:
            raise DagkitError(f"{who}: group '{shown(name)}' must map argument names to an upstream id, a list "
                              f"or a length, not {quoted(over)}. Write {{'x': 'list_files'}}.")
        groups[plain(name)] = mapped_over(f"{who}: group '{shown(name)}'", "", over)
    return groups


def _id_warnings(tasks: Iterable[str]) -> list[str]:
    found: list[str] = []
    alike: dict[str, list[str]] = {}
    for task_id in tasks:
        if not _AIRFLOW_ID.match(_MAPPED.sub("", task_id)):
            found.append(f"task '{shown(task_id)}': not a legal Airflow id (letters, digits, dash, dot, underscore, "
                         "at most 250); Airflow would refuse it.")
        alike.setdefault(unicodedata.normalize("NFKC", task_id), []).append(task_id)
    for same in alike.values():
        if len(same) > 1:
            found.append(f"tasks {choices(repr(s) for s in same)}: different ids that look alike on screen.")
    return found


def _edge_warnings(tasks: Mapping[str, Task]) -> list[str]:
    return [f"task '{shown(t.task_id)}': upstream '{shown(u)}' is listed more than once; it counts once."
            for t in tasks.values() if len(set(t.upstream)) < len(t.upstream)
            for u in dict.fromkeys(t.upstream) if t.upstream.count(u) > 1]

"""A Dag compiled to integers, once, so that the tick never touches a Task object or a name.

A *task number* is a position in task order, so upstream tasks always have smaller numbers.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from operator import attrgetter
from typing import Any

from ..dag import Dag, Task
from ..errors import shown
from ..scenario import ticks
from ..states import FAILED, FINISHED, REMOVED, SKIPPED, SUCCESS, UPSTREAM_FAILED
from ..trigger_rules import EARLY, RUNS_AT_ZERO
from ..weights import weight_totals

OUTCOMES = (SUCCESS, FAILED, UPSTREAM_FAILED, SKIPPED, REMOVED)
DECIDED = 1 << 40
"""Subtracted from a task's countdown by an upstream outcome that decides its trigger rule at once."""
STARTS_EARLY = frozenset({"one_success", "one_failed", "one_done", "always"})


class Plan:
    """The frozen columns of one Dag, indexed by task number. See the comments for each."""

    def __init__(self, dag: Dag, number: int):
        graph = dag.graph
        self.dag, self.number, self.n = dag, number, len(graph.ids)
        totals = weight_totals(graph, _column("priority_weight", dag), _column("weight_rule", dag))
        self.ids, self.index, self.up, self.weight = graph.ids, graph.index, graph.up, totals
        self.down: list[Sequence[int]] = graph.down
        self.tasks = tasks = list(dag)
        if not graph.sorted:                                     # else the numbers of the graph will do
            order = graph.order
            place = [0] * self.n
            for task_number, declared in enumerate(order):
                place[declared] = task_number
            self.ids, self.weight = [graph.ids[i] for i in order], [totals[i] for i in order]
            self.index = {task_id: t for t, task_id in enumerate(self.ids)}
            self.tasks = tasks = [tasks[i] for i in order]
            self.up = [tuple([place[u] for u in graph.up[i]]) for i in order]
            self.down = [tuple(sorted([place[d] for d in graph.down[i]])) for i in order]
        self.duration = _column("duration", tasks)
        if not {*map(type, self.duration)} <= {int} or min(self.duration, default=1) < 1:
            self.duration = [ticks(t.duration, f"task '{shown(t.task_id)}': duration") for t in tasks]
        self.rule = _column("trigger_rule", tasks)
        self.countdown = list(map(len, self.up))                 # upstreams still to be decided
        for t in [t for t, rule in enumerate(self.rule) if rule == "always"]:
            self.countdown[t] = 0                                # it waits for none of them
        self.roots = array("I", [t for t, left in enumerate(self.countdown) if not left])
        self.step = _steps(self.rule)
        self._classes()
        self._relations()

    def _classes(self) -> None:
        """Tasks that every limit treats alike form a class; only one of a class need be asked whether it fits."""
        kind_of = attrgetter("pool", "pool_slots", "executor", "queue", "max_active_tis_per_dag",
                             "max_active_tis_per_dagrun")
        known: dict[tuple[Any, ...], int] = defaultdict(count().__next__)      # kind -> number, given on first sight
        self.cls = list(map(known.__getitem__, map(kind_of, self.tasks)))
        if any(kind[4] or kind[5] for kind in known):            # a task with a cap of its own is a class of its own
            kinds = [(*kind, t if kind[4] or kind[5] else -1) for t, kind in enumerate(map(kind_of, self.tasks))]
            known = defaultdict(count().__next__)
            self.cls = list(map(known.__getitem__, kinds))
        self.classes = list(known)

    def _relations(self) -> None:
        """Who skips whom, who cleans up after whom, and which tasks need more than their countdown.

        Only the special tasks are asked, so that a Dag of many plain ones is ready soon.
        """
        from . import relations
        special = self.special = {t: task for t, task in enumerate(self.tasks) if task._special}
        self.skips = relations.skips(self)                       # branch or short circuit -> tasks it may skip
        self.skipped_by = _reverse(self.skips, self.up)
        self.indirect_setups, self.scope = relations.setups(self)
        self.leaves = relations.effective_leaves(self)
        self.group = {t: task.task_group for t, task in special.items() if task.task_group is not None}
        self.mapped = {t for t, task in special.items() if task.expand is not None or task.task_group is not None}
        over = [s for task in special.values() if task.expand for s in task.expand.values()]
        over += [s for sources in self.dag.groups.values() for s in sources.values()]
        self.producers = {self.index[s] for s in over if isinstance(s, str)}
        # Who must look when a task that is not their direct upstream finishes: a setup, a scope, a mapping source.
        sources = {t: tuple(self.index[s] for s in self.dag.groups[group].values() if isinstance(s, str))
                   for t, group in self.group.items()}
        self.watchers = _reverse({t: (*self.indirect_setups.get(t, ()), *self.scope.get(t, ()), *sources.get(t, ()))
                                  for t in {**self.indirect_setups, **self.scope, **sources}}, None)
        self.past = {t for t, task in special.items() if task.depends_on_past or task.wait_for_downstream}
        self.wakes_next_run = bool(self.past)
        self.special_down = bool(self.mapped or self.watchers or self.past)
        self.outlets = {t for t, task in special.items() if task.outlets}
        self.empty = {t for t, task in special.items() if task.empty}
        # by_source: mapped tasks that ask more than their countdown. Under all_success nothing of what they are mapped over
        # is left to ask, once all upstreams have succeeded.
        self.by_source = {t for t in self.mapped if t in self.group or self.rule[t] != "all_success"}
        # contested: a task that may already run when a branch leaves it out or a setup above it fails.
        self.contested = any(self.rule[t] in STARTS_EARLY for t in {*self.skipped_by, *self.indirect_setups})
        # fast: a countdown of exactly zero means run, with nothing else to ask.
        self.fast = bytearray(map(RUNS_AT_ZERO.__getitem__, self.rule))
        teardowns = [t for t, task in special.items() if task.is_teardown]
        for t in (*self.skipped_by, *self.indirect_setups, *self.scope, *self.by_source, *self.past, *teardowns):
            self.fast[t] = False
        # timed: tasks with a duration by label; odd_length: those whose stay is not simply their duration.
        self.timed: set[int] = set()
        self.odd_length = {t for t, task in special.items() if task.wait is not None or task.execution_timeout is not None}
        # scripted: tasks whose try does not simply end in success (outcomes given by label are added later).
        self.scripted = self.odd_length | set(self.skips) | self.producers

    def lasts_otherwise(self, tasks: set[int]) -> None:
        """The scenario gives these tasks durations by label."""
        self.timed |= tasks
        self.odd_length |= tasks


def _column(name: str, tasks: Iterable[Task]) -> list[Any]:
    """One parameter of all tasks."""
    return list(map(attrgetter(name), tasks))


def _steps(rules: Sequence[str]) -> dict[int, list[int]]:
    """For each outcome, by how much one upstream with it lowers the countdown of each task."""
    used, columns = dict.fromkeys(rules), {}
    steps = {}
    for outcome in OUTCOMES:
        size = {rule: 0 if rule == "always" else DECIDED + 1 if outcome in EARLY[rule] else 1 for rule in used}
        kind = tuple(size.values())
        if kind not in columns:                                  # outcomes that count alike share a column
            columns[kind] = list(map(size.__getitem__, rules))
        steps[outcome] = columns[kind]
    return steps


def _reverse(relation: dict[int, tuple[int, ...]], direct: list[tuple[int, ...]] | None) -> dict[int, tuple[int, ...]]:
    """target -> sources; with ``direct``, only sources that are direct upstreams of the target."""
    found: dict[int, list[int]] = {}
    for source, targets in relation.items():
        for target in targets:
            if direct is None or source in direct[target]:
                found.setdefault(target, []).append(source)
    return {target: tuple(sources) for target, sources in found.items()}


assert set(OUTCOMES) == FINISHED

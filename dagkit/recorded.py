"""A recorded run against the ideal: where each task instance waited, and who owns the time above the floor.

A task instance is *ready* when the last of its upstreams has ended. From there to its end it is
unseen (the scheduler has not noticed), scheduled (waits for a place: limits and pools), queued (waits for a worker) and
running. Recordings keep the times of the last try only: what lies before them, if there were several, is retried.
Whatever a file does not record counts as unseen; but as far as even the ideal schedule on so many slots is above the
floor, it is the slots'.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import planning
from .checks import plain
from .dag import Dag
from .errors import DagkitError, quoted
from .formats.loaded import Loaded, TaskRun
from .planning.times import at_least_one
from .task import Task

WAITS = ("retried", "unseen", "scheduled", "queued", "ran")
OWNERS = {"retried": "earlier tries and their delays", "slots": "the slots: the ideal on them is that much above the floor",
          "unseen": "the scheduler", "scheduled": "limits and pools",
          "queued": "workers", "ran": "the tasks themselves"}
_NOT_RUN = ("skipped", "upstream_failed", "removed")


class Spent(NamedTuple):
    """One task instance, in seconds since the run began; ideal_*: when it would run with nothing in the way.

    retried, unseen, scheduled, queued, ran: how long it was each, from ready to end. later: start minus ideal_start.
    chain: on the chain of tasks that decided when the run ended.
    """

    task: str
    ready: float
    start: float
    end: float
    retried: float
    unseen: float
    scheduled: float
    queued: float
    ran: float
    ideal_start: float
    ideal_end: float
    later: float
    chain: bool


@dataclass(frozen=True)
class Actual:
    """rows: every task instance that ran, by start. slots: how many the ideal has. floor: the critical path; ideal: the
    greedy schedule on so many slots; took: the real run, all in seconds. chain: what the run waited for, from its
    beginning to its end. owned: seconds of that chain by owner (the keys of OWNERS). never: those that did not run.
    counted: slots were not given; so many tasks ran at once, at most.
    """

    dag: Dag
    rows: tuple[Spent, ...]
    slots: int
    floor: float
    ideal: float
    took: float
    chain: tuple[str, ...]
    owned: dict[str, float]
    never: tuple[str, ...]
    counted: bool = False

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd
        return pd.DataFrame(list(self.rows), columns=list(Spent._fields)).round(3)


def against_ideal(loaded: Loaded, slots: int | None = None) -> Actual:
    """Hold a recorded run against the ideal schedule of the same tasks with the durations they had.

    loaded: what ``load`` gave back, with a run and (``load(path, dag=...)``) its dependencies. slots: of the ideal; by
    default as many as the real run had tasks running at once.

    Raises DagkitError if no start and end times are recorded.
    """
    if not isinstance(loaded, Loaded) or loaded.run is None:
        raise DagkitError("actual: needs a file with a recorded run (start and end times), such as a listing of task "
                          f"instances, not {quoted(loaded)}. Read one with dk.load(path).")
    ran = [r for r in loaded.run.rows if did_run(r)]
    if not ran:
        raise DagkitError("actual: no task of this run has both a start and an end. Record a run that did something.")
    dag = _as_run(loaded.dag, ran)
    most, counted, slots = _at_once(ran), slots is None, plain(slots)
    slots = most if slots is None else at_least_one("actual: slots", slots)
    planned = {row.task_id: row for row in planning.schedule(dag, slots).rows}
    floor, ideal = float(planning.critical_path(dag).length), float(max((r.end for r in planned.values()), default=0))
    ends = _ends(dag, loaded.run.rows)
    chain = _chain(dag, ends)
    rows = [_spent(dag, row, ends, planned, chain) for row in ran if row.task in dag]
    owned = {name: sum(getattr(r, name) for r in rows if r.chain) for name in WAITS}
    owned["slots"] = 0.0 if slots < most else min(ideal - floor, _untold(rows, ran))
    owned["unseen"] -= owned["slots"]
    never = tuple(r.task for r in loaded.run.rows if not did_run(r))
    return Actual(dag, tuple(rows), slots, floor, ideal, loaded.run.makespan, tuple(chain), owned, never, counted)


def _untold(rows: Iterable[Spent], ran: Iterable[TaskRun]) -> float:
    """Seconds of waiting on the chain that the file gives no owner: it does not say when a task was scheduled or queued.

    Only of these may the slots be held responsible; and only if the run had no more tasks at once than there are slots.
    """
    told = {r.task for r in ran if r.scheduled is not None or r.queued is not None}
    return sum(row.unseen for row in rows if row.chain and row.task not in told)


def did_run(row: TaskRun) -> bool:
    """Whether a start and an end of it are recorded."""
    return row.start is not None and row.end is not None and not left_out(row)


def left_out(row: TaskRun) -> bool:
    """Whether it was skipped or given up without running: its start and end are the moment of that."""
    return row.state in _NOT_RUN and row.start is not None and row.end is not None and row.end <= row.start


def _as_run(shape: Dag, ran: list[TaskRun]) -> Dag:
    """The Dag at the width it had in the run, every task as long as it ran (0 if it did not)."""
    lasted = {row.task: max(0.0, row.end - row.start) for row in ran}  # type: ignore[operator]
    width: dict[str, int] = {}
    for name in lasted:
        task, bracket, index = name.rpartition("[")
        if bracket and name not in shape and task in shape and index[:-1].isdecimal():
            width[task] = max(width.get(task, 0), int(index[:-1]) + 1)
    specs = {name: {"upstream": _upstream(shape, task, index, width), "duration": lasted.get(name, 0.0)}
             for task in shape for name, index in _instances(task, width)}
    return Dag.from_dict(specs, shape.dag_id)


def _instances(task: Task, width: dict[str, int]) -> list[tuple[str, int | None]]:
    count = width.get(task.task_id)
    return [(task.task_id, None)] if count is None else [(f"{task.task_id}[{i}]", i) for i in range(count)]


def _upstream(shape: Dag, task: Task, index: int | None, width: dict[str, int]) -> list[str]:
    """All instances of a mapped upstream, but within a mapped group only the one of the same index."""
    found: list[str] = []
    for up in dict.fromkeys(task.upstream):
        same = task.task_group is not None and shape[up].task_group == task.task_group
        if index is not None and same and index < width.get(up, 0):
            found.append(f"{up}[{index}]")
        else:
            found += [name for name, _ in _instances(shape[up], width)]
    return found


def _at_once(ran: Iterable[TaskRun]) -> int:
    """The most tasks that ran at the same time. One that ends when another starts makes room first."""
    moments = sorted((time, change) for row in ran for time, change in ((row.start, 1), (row.end, -1)))
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return max(1, most)


def _ends(dag: Dag, rows: Iterable[TaskRun]) -> dict[str, float]:
    """When each task was decided; what never ran, when its record or its last upstream says so."""
    told = {row.task: row.end for row in rows}
    ends: dict[str, float] = {}
    ids = dag.graph.ids
    for number in dag.graph.order:
        name = ids[number]
        before = max((ends[ids[u]] for u in dag.graph.up[number]), default=0.0)
        end = told.get(name)
        ends[name] = before if end is None else end
    return ends


def _ready(dag: Dag, name: str, ends: dict[str, float]) -> float:
    return max((ends[up] for up in dag[name].upstream), default=0.0)


def _chain(dag: Dag, ends: dict[str, float]) -> dict[str, None]:
    """From the task that ended last back to the beginning, each time the upstream that ended last; ties: first listed."""
    chain = [max(ends, key=ends.__getitem__)] if ends else []
    while chain and dag[chain[-1]].upstream:
        chain.append(max(dag[chain[-1]].upstream, key=ends.__getitem__))
    return dict.fromkeys(reversed(chain))


def _spent(dag: Dag, row: TaskRun, ends: dict[str, float], planned: dict[str, Any], chain: dict[str, None]) -> Spent:
    """Moments put in order first: a clock of another machine may be a little off."""
    assert row.start is not None and row.end is not None
    ready = min(_ready(dag, row.task, ends), row.start)
    queued = row.start if row.queued is None else min(max(row.queued, ready), row.start)
    scheduled = queued if row.scheduled is None else min(max(row.scheduled, ready), queued)
    ideal, before = planned[row.task], scheduled - ready
    retried = before if (row.try_number or 0) > 1 else 0.0
    return Spent(row.task, ready, row.start, row.end, retried, before - retried, queued - scheduled, row.start - queued,
                 row.end - row.start, float(ideal.start), float(ideal.end), row.start - float(ideal.start),
                 row.task in chain)

"""The same work on several executors: one table, and the picture behind it.

All else stays equal: the Dags, the limits, the seed. So where a limit such as max_active_tasks holds the work back,
it does so on every executor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .checks import text
from .engine import simulate
from .errors import DagkitError, quoted, shown
from .executors import Executors, Stay
from .scenario import Scenario, as_scenario
from .states import QUEUED, RUNNING, SCHEDULED
from .stays import places

if TYPE_CHECKING:
    import pandas as pd

    from .trace import Trace

COLUMNS = ("makespan", "start_latency_p50", "start_latency_p95", "queue_wait", "worker_seconds_paid",
           "worker_seconds_used", "isolation", "needs")


def compare_executors(dag_or_workload: Any, executors: Mapping[str, Any], **changes: Any) -> pd.DataFrame:
    """Play the same work on each executor and compare. One row per executor, in the order given.

    dag_or_workload: a Dag, a list of Dags or a Scenario. executors: ``{name: executor}``; an entry may itself be several
    executors (a list or a dictionary), for tasks that name one. changes: as for ``simulate``.

    Columns, times in seconds: makespan, from the first due run to the last change of a state (NaN if it never ends).
    start_latency_p50, start_latency_p95: from scheduled (it could run) to running, over all tries. queue_wait: the mean
    of the part spent in queued. worker_seconds_paid: for how long places had to be kept, summed over all places;
    worker_seconds_used: for how long tasks ran on them. isolation, needs: what separates tasks, what has to be there.
    Raises DagkitError for what is no executor.

    >>> from dagkit import CeleryExecutor, Dag, KubernetesExecutor, Task, Worker
    >>> dag = Dag("short", [Task(f"t{k}", duration=5) for k in range(8)])
    >>> table = compare_executors(dag, {"celery": CeleryExecutor(workers=[Worker(4)]), "pods": KubernetesExecutor()})
    >>> bool(table.loc["pods", "makespan"] > table.loc["celery", "makespan"])
    True
    """
    return Comparison(dag_or_workload, executors, **changes).table


class Comparison:
    """What ``compare_executors`` has played: ``traces`` by name, ``rows`` and ``table``. It shows itself as lanes."""

    def __init__(self, dag_or_workload: Any, executors: Mapping[str, Any], **changes: Any):
        if not isinstance(executors, Mapping) or not executors:
            raise DagkitError("compare_executors: executors must be a dictionary of at least one, not "
                              f"{quoted(executors)}. Write {{'celery': dk.CeleryExecutor()}}.")
        if "executor" in changes:
            raise DagkitError("compare_executors: executor= is what is compared. Name it in the dictionary instead.")
        for name in executors:
            text("compare_executors", "each name", name)
        self.traces = {name: simulate(_with(dag_or_workload, name, executor, changes))
                       for name, executor in executors.items()}
        self.rows = {name: measures(trace) for name, trace in self.traces.items()}

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Comparison:
        """Several comparisons side by side, as one."""
        whole = cls.__new__(cls)
        found = list(comparisons)
        whole.traces = {name: trace for one in found for name, trace in one.traces.items()}
        whole.rows = {name: row for one in found for name, row in one.rows.items()}
        return whole

    @property
    def table(self) -> pd.DataFrame:
        """One row per executor; see ``compare_executors``."""
        import pandas as pd
        return pd.DataFrame(list(self.rows.values()), index=pd.Index(list(self.rows), name="executor"), columns=COLUMNS)

    def __repr__(self) -> str:
        def cell(value: Any) -> str:
            return f"{value:.1f}" if isinstance(value, float) else str(value)
        return "\n".join(f"{shown(name)}: " + ", ".join(f"{column} {cell(row[column])}" for column in COLUMNS[:6])
                         for name, row in self.rows.items())


def _with(dag_or_workload: Any, name: Any, executor: Any, changes: Mapping[str, Any]) -> Scenario:
    try:
        return as_scenario(dag_or_workload, **changes, executor=Executors.of(executor))
    except DagkitError as problem:
        raise DagkitError(f"compare_executors: '{shown(name)}': {problem}") from None


def measures(trace: Trace) -> dict[str, Any]:
    """The columns of one row, from what happened."""
    seconds = trace._now.config.tick_seconds
    begin = min((run.due for run in trace._runs), default=1)
    span, stalled = max(0, trace._end - begin), trace.stalled
    starts, queued = waits(trace)
    stays, used = _stays(trace, begin)
    executors = trace._now.executor.by_name.values()
    paid = sum(e.paid(stays.get(k, ()), span, trace._now.config) for k, e in enumerate(executors))
    return {
        "makespan": float("nan") if stalled else span * seconds,
        "start_latency_p50": percentile(starts, 50) * seconds, "start_latency_p95": percentile(starts, 95) * seconds,
        "queue_wait": sum(queued) / len(queued) * seconds if queued else float("nan"),
        "worker_seconds_paid": paid * seconds, "worker_seconds_used": float(used * seconds),
        "isolation": _joined(e.isolation for e in executors), "needs": _joined(e.needs for e in executors),
    }


def waits(trace: Trace) -> tuple[list[int], list[int]]:
    """For every try that ran: ticks from scheduled to running, and the part of them spent in queued."""
    since: dict[int, tuple[int, int]] = {}
    starts, queued = [], []
    for tick, ti, new in zip(trace._event_tick.tolist(), trace._event_ti, trace._event_new, strict=True):
        if new == SCHEDULED:
            since[ti] = tick, tick
        elif new == QUEUED:
            since[ti] = since.get(ti, (tick, tick))[0], tick
        elif new == RUNNING and ti in since:
            starts.append(tick - since[ti][0])
            queued.append(tick - since[ti][1])
    return starts, queued


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least ``percent`` of 100 do not exceed; NaN of none.

    >>> percentile([1, 2, 3, 4], 50), percentile([1, 2, 3, 4], 95)
    (2, 4)
    """
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else float("nan")


def _stays(trace: Trace, begin: int) -> tuple[dict[int, list[Stay]], int]:
    """By executor what its workers held, in ticks from the beginning; and ticks of work in all."""
    found: dict[int, list[Stay]] = {}
    used, end = 0, trace._end
    for place in places(trace):
        place = place._replace(left=min(place.left, max(end, place.picked)))
        began = None if place.began is None else place.began - begin
        found.setdefault(place.executor, []).append(Stay(place.worker, place.picked - begin, began, place.left - begin))
        used += 0 if place.began is None else place.left - place.began
    return found, used


def _joined(texts: Any) -> str:
    return " + ".join(dict.fromkeys(texts))

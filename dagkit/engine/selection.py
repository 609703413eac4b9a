"""Airflow's critical section: which scheduled rows one pass of the real scheduler turns into queued.

The scheduler looks through a *window*: the first ``max_tis`` rows of a sorted query. A row that does not fit is
passed over, nothing is reserved for it, and what refused it becomes a filter ("starved"). Only if the whole window
was full and nothing was taken is the query repeated with the new filters. So rows that cannot run can hide rows that
could. Source: _executable_task_instances_to_queued, jobs/scheduler_job_runner.py, Airflow 3.3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from .limits import Limit, take

Key = tuple[Any, ...]


class Row(NamedTuple):
    """One scheduled task instance, as the query sees it.

    ti: whatever the caller knows it by. needs: (limit, places), in the order they are checked.
    """

    ti: Any
    dag: str
    run: Any
    task: str
    pool: str
    needs: Sequence[tuple[Limit, int]]


def max_tis(max_tis_per_query: int, parallelism: int, held: int, open_slots: Iterable[float]) -> int:
    """How many rows one pass looks at: at most the free parallelism, and the open slots of all pools together.

    >>> max_tis(16, 32, 30, [128])
    2
    """
    free = parallelism - held
    window = min(max_tis_per_query, free) if max_tis_per_query else free
    return int(min(window, sum(max(0, n) for n in open_slots)))


def select(query: Callable[[set[Key]], Iterable[Row]], window: int) -> list[Row]:
    """The rows taken in one pass, in order. What they take is in use from then on.

    query: called with the starved filters, gives the eligible rows in the scheduler's order. A filter is ("pool",
    pool), ("task", dag, task), ("run", dag, run, task) or ("dag", dag).
    """
    starved: set[Key] = set()
    while True:
        known = len(starved)
        rows = list(islice(query(starved), max(0, window)))
        taken = []
        for row in rows:
            refusal = _refusal(row)
            if refusal is None:
                take(row.needs)
                taken.append(row)
            else:
                starved.add(refusal)
        if taken or len(rows) < window or len(starved) == known or not rows:
            return taken


def _refusal(row: Row) -> Key | None:
    """The filter that the first failing check adds, or None if the row fits."""
    for limit, places in row.needs:
        kind = limit.name.kind
        if limit.used + places <= limit.cap:
            continue
        if kind == "pool" and limit.used >= limit.cap:
            return "pool", row.pool
        if kind == "max_active_tasks":
            return "dag", row.dag
        if kind == "max_active_tis_per_dagrun":
            return "run", row.dag, row.run, row.task
        return "task", row.dag, row.task
    return None


def hidden(row: Row, starved: set[Key]) -> bool:
    """Whether a filter keeps this row out of the repeated query."""
    return bool(starved) and not starved.isdisjoint((
        ("pool", row.pool), ("dag", row.dag), ("task", row.dag, row.task), ("run", row.dag, row.run, row.task)))

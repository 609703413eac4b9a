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

from .changes import expand, what_if
from .moves import moves, pooled_makespan, split
from .paths import CriticalPath, critical_path, critical_tasks, slack, tied_critical_paths, waves
from .slots import (
    Row,
    Schedule,
    graham_bound,
    lower_bound,
    makespan,
    makespan_curve,
    saturation_slots,
    schedule,
)

__all__ = [
    "CriticalPath", "Row", "Schedule", "critical_path", "critical_tasks", "expand", "graham_bound",
    "lower_bound", "makespan", "makespan_curve", "moves", "pooled_makespan", "saturation_slots", "schedule",
    "slack", "split",
    "tied_critical_paths", "waves", "what_if",
]

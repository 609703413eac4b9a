"""How long a failed try waits for the next one."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

from ..task import Task

if TYPE_CHECKING:
    from .core import Run, Sim

LARGEST = 1e18
"""A wait of more than this many seconds is as good as any cap; the exponent is not taken further."""


def delay(sim: Sim, ti: int, run: Run, task: Task) -> int:
    """Ticks from the end of a failed try to the next one."""
    multiplier = float(task.retry_exponential_backoff) if task.retry_exponential_backoff is not True else 2.0
    if multiplier in (0.0, 1.0):
        return math.ceil(task.retry_delay)
    config = sim.scenario.config
    seconds = backoff(task.retry_delay * config.tick_seconds, multiplier, sim.tries[ti], run.plan.dag.dag_id,
                      task.task_id, sim.logical_date(run), config.max_task_retry_delay,
                      None if task.max_retry_delay is None else task.max_retry_delay * config.tick_seconds)
    return math.ceil(seconds / config.tick_seconds)


def backoff(retry_delay: float, multiplier: float, try_number: int, dag_id: str, task_id: str, logical_date: Any,
            max_task_retry_delay: float = 86_400, max_retry_delay: float | None = None) -> float:
    """Seconds until the next try under retry_exponential_backoff.

    The wait grows by ``multiplier`` with each try and carries a jitter of up to as much again, which is a hash of
    the TI and the try, so it is the same in every replay. Source: TaskInstance.next_retry_datetime, Airflow 3.3.2.

    >>> 60 <= backoff(60, 2.0, 1, "d", "t", "2026-01-01 00:00:00+00:00") < 120
    True
    """
    try:
        grown = retry_delay * multiplier ** (try_number - 1)
    except OverflowError:
        grown = LARGEST
    base = max(1, math.ceil(min(grown, LARGEST)))
    text = f"{dag_id}#{task_id}#{logical_date}#{try_number}"
    jitter = int(hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(), 16) % base
    wait = float(min(base + jitter, max_task_retry_delay))
    return wait if max_retry_delay is None else min(wait, max_retry_delay)

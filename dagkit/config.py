"""The settings a scenario is made of: pools, runs, and the scheduler's own.

>>> Config(parallelism=4).max_tis_per_query
16
"""

from __future__ import annotations

from dataclasses import dataclass

from .checks import HUGE, MOST, flag, is_number, number, plain_fields, whole
from .errors import DagkitError, choices, nearest, quoted, shown
from .keywords import checked

DEFAULT_POOL_SLOTS = 128   # [core] default_pool_task_slot_count
LONGEST = 10**12
"""Ticks: the longest cap of a retry delay, more than any simulation lasts."""


@checked
@dataclass(frozen=True)
class Pool:
    """A named number of slots, shared by any tasks of any Dags.

    slots: how many (-1 = unlimited, 0 = nothing ever starts). Queued and running TIs hold ``pool_slots`` each;
    deferred ones only with include_deferred.

    >>> Pool(2).slots
    2
    """

    slots: int
    include_deferred: bool = False

    def __post_init__(self) -> None:
        plain_fields(self)
        if type(self.slots) is not int or not -1 <= self.slots < HUGE:
            raise DagkitError(f"pool: slots must be a whole number >= 0, or -1 for unlimited, not "
                              f"{quoted(self.slots)}. Write dk.Pool(2).")
        flag("pool", "include_deferred", self.include_deferred)


@checked
@dataclass(frozen=True)
class Runs:
    """How many runs a Dag gets, and when they fall due.

    count: runs. every: ticks between two due times (0: all due at tick ``start``, like a backfill). start: the tick
    of the first. unpaused_at: the Dag is paused until this tick; of the runs missed until then, catchup=True creates
    all at once (as far as max_active_runs lets it) and catchup=False only the latest.

    >>> Runs(5, every=10, unpaused_at=35).due()
    [(35, 31), (41, 41)]
    """

    count: int = 1
    every: int = 0
    start: int = 1
    unpaused_at: int = 1
    catchup: bool = False

    def __post_init__(self) -> None:
        plain_fields(self)
        for name, low in (("count", 0), ("every", 0), ("start", 1), ("unpaused_at", 1)):
            whole("runs", name, getattr(self, name), low)
        if self.count > MOST:
            raise DagkitError(f"runs: count must be at most {MOST}, not {quoted(self.count)}. Give fewer runs.")
        flag("runs", "catchup", self.catchup)

    def due(self) -> list[tuple[int, int]]:
        """(tick at which it is created, tick its logical date stands for) of every run."""
        planned = [self.start + i * self.every for i in range(self.count)]
        missed = [tick for tick in planned if tick < self.unpaused_at]
        if not self.catchup:
            missed = missed[-1:] if self.every else missed
        return [(self.unpaused_at, tick) for tick in missed] + [(t, t) for t in planned if t >= self.unpaused_at]


PACINGS = ("lesson", "airflow")


@checked
@dataclass(frozen=True)
class Config:
    """Settings of the scheduler, named as in airflow.cfg. Durations are in ticks.

    pacing: "lesson" (cascades settle within the tick, every scheduled TI is considered, the verdict comes with the
    last TI) or "airflow" (one level per pass, the selection window with its repeat query, verdict a pass later).
    parallelism: [core] TIs that one scheduler's executors hold at once. schedulers: how many schedulers run.
    max_tis_per_query: [scheduler] rows looked at in one pass under airflow pacing (0 = as many as there is room for).
    max_map_length: [core] longest list a task may return to a mapped task.
    max_task_retry_delay: [core] cap of a growing retry delay.
    default_pool_slots: [core] default_pool_task_slot_count.
    tick_seconds: what one tick stands for, for display and for the retry jitter.
    triggerers, triggerer_capacity: deferred waits that run at once ([triggerer] capacity each).
    task_queued_timeout, task_queued_timeout_check_interval, num_stuck_in_queued_retries: when a TI that no worker
    picks up is queued again, how often that is checked, and how many times before it is failed.
    task_instance_heartbeat_timeout, ..._detection_interval: when a silent worker counts as lost.
    scheduler_health_check_threshold: when a silent scheduler counts as dead.

    >>> Config(parallelism=4).parallelism
    4
    """

    pacing: str = "lesson"
    parallelism: int = 32
    schedulers: int = 1
    max_tis_per_query: int = 16
    max_map_length: int = 1024
    max_task_retry_delay: float = 86_400
    default_pool_slots: int = DEFAULT_POOL_SLOTS
    tick_seconds: float = 1
    triggerers: int = 1
    triggerer_capacity: int = 1000
    task_queued_timeout: int = 600
    task_queued_timeout_check_interval: int = 120
    num_stuck_in_queued_retries: int = 2
    task_instance_heartbeat_timeout: int = 300
    task_instance_heartbeat_timeout_detection_interval: int = 10
    scheduler_health_check_threshold: int = 30

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.pacing, str) or self.pacing not in PACINGS:
            raise DagkitError(f"config: pacing must be one of {choices(PACINGS)}, not '{shown(self.pacing)}'."
                              f"{nearest(self.pacing, PACINGS)}")
        for name, low in (("parallelism", 1), ("schedulers", 1), ("max_tis_per_query", 0), ("max_map_length", 1),
                          ("default_pool_slots", -1), ("triggerers", 0), ("triggerer_capacity", 1),
                          ("task_queued_timeout", 1), ("task_queued_timeout_check_interval", 1),
                          ("num_stuck_in_queued_retries", 0), ("task_instance_heartbeat_timeout", 1),
                          ("task_instance_heartbeat_timeout_detection_interval", 1),
                          ("scheduler_health_check_threshold", 1)):
            whole("config", name, getattr(self, name), low)
        number("config", "max_task_retry_delay", self.max_task_retry_delay, 1e-6, LONGEST, unit=" of ticks")
        if not is_number(self.tick_seconds) or not 1e-6 <= self.tick_seconds <= 1e9:
            raise DagkitError(f"config: tick_seconds must be a number from 1e-6 to 1e9, not {quoted(self.tick_seconds)}. "
                              "Choose another unit.")

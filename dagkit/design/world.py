"""The situation that is graded: 300 Dags on one deployment, what they share, and a bad day, minute by minute.

A tick is 10 seconds. Nothing is drawn at random: every duration is fixed, and the same for all Dags of a kind. All of
the month that was missed is played: every Dag that was paused has 30 runs to catch up.
"""

from __future__ import annotations

from dataclasses import dataclass

TICK_SECONDS = 10
CONNECTIONS = 20
"""Connections the source database (PostgreSQL) bears at once."""
CALLS_A_MINUTE = 100
"""Calls the SaaS API answers in any 60 seconds; then it refuses."""
CALLS = {"call": 10}
"""API calls one task instance makes, all in the first moment of its run: the worst case for a quota."""
OPENS = {"read": 1, "extract": 1, "bulk_read": 4, "prepare": 1}
"""Connections to the source one task instance holds while it runs. Airflow cannot know."""
GPU_TASK = "train"
GPUS = ("gpu-1", "gpu-2")
"""The two machines with a GPU: a worker of such a name runs on one of them. Each bears one training at a time."""
CPU_SLOTS = 64
"""Places for all other tasks that there is money for: of workers, pods and local processes together."""
HOSTS = ("host-a", "host-b", "host-c")
"""Machines for schedulers, triggerers and Dag processors."""
DAYS = 30
UNPAUSED = 31
"""The tick at which what was paused is unpaused: minute 5."""
LOST = 301
"""The tick at which the machine of the first scheduler is lost for good: minute 50."""
DRAINED = 4 * 60
"""Minutes in which the missed month has to be caught up."""
LOOK = 30
"""Seconds within which the scheduler has to look at every running run again."""
IDLE_GPU = 120
"""Seconds for which a GPU may be idle although a training is ready."""


@dataclass(frozen=True)
class Part:
    """One task of a kind of Dag. seconds: its run. waits: seconds it is parked with the triggerer in between."""

    task_id: str
    seconds: int
    does: str
    waits: int = 0


@dataclass(frozen=True)
class Kind:
    """Dags that are alike: how many, their tasks one after the other, what is missed while they are paused."""

    name: str
    count: int
    parts: tuple[Part, ...]
    days: int
    does: str

    @property
    def dag_ids(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{k:03d}" for k in range(1, self.count + 1))


KINDS = {kind.name: kind for kind in (
    Kind("critical", 15, (Part("read", 20, "1 connection to the source"), Part("publish", 10, "a page people wait for")),
         0, "5 % of the Dags; never paused, a run every 12 minutes, 20 runs in 4 hours"),
    Kind("short", 229, (Part("extract", 20, "1 connection to the source"), Part("load", 20, "nothing shared")),
         DAYS, "the many small ones"),
    Kind("saas", 40, (Part("call", 30, "10 calls of the API"),
                      Part("settle", 20, "waits two minutes for the provider, deferred", waits=120),
                      Part("store", 10, "nothing shared")), DAYS, "fed by the SaaS API"),
    Kind("heavy", 10, (Part("bulk_read", 40, "4 connections to the source, read in parallel"),
                       Part("crunch", 600, "ten minutes of one CPU")), DAYS, "few and large"),
    Kind("training", 6, (Part("prepare", 60, "1 connection to the source"), Part("train", 1200, "a GPU for 20 minutes")),
         1, "catchup off: only the newest day is worth a model"),
)}
TASKS = {part.task_id: kind.name for kind in KINDS.values() for part in kind.parts}
"""The kind of Dag a task belongs to; the task ids are the same in all Dags of a kind."""

CRITICAL_EVERY, CRITICAL_RUNS = 72, 20
START_WITHIN = (30, 60)
"""Seconds from due until ``read`` runs that 95 of 100 runs must keep, for every third critical Dag and for the others."""
END_WITHIN = (120, 180)
"""Seconds from due until the run has ended: the deadline of every run, likewise."""

BAD_FILE = "imports_an_api.py"
BAD_SECONDS = 120
"""What the import of the bad file takes: it calls an API that does not answer."""
FILE_SECONDS = 0.25
"""What the import of every other file takes."""
FILE_TIMEOUT = 50
"""Seconds by which the bad file may delay others: the usual dag_file_processor_timeout."""


def strict(number: int) -> int:
    """Which target the critical Dag of this number (from 0) has: 0 the strict one, 1 the other.

    >>> [strict(k) for k in range(4)]
    [0, 1, 1, 0]
    """
    return 0 if number % 3 == 0 else 1


def clock(tick: int) -> str:
    """A tick as people say it; tick 1 is the start.

    >>> clock(31), clock(302)
    ('minute 5:00', 'minute 50:10')
    """
    seconds = (tick - 1) * TICK_SECONDS
    return f"minute {seconds // 60}:{seconds % 60:02d}"

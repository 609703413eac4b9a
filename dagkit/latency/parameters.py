"""Every number the latency model rests on, and how far each can be trusted.

given: a documented default, or something published about the test. calibrated: solved for, so that one published
figure comes out. measured: read off a machine, see ``benchmarks/bench_latency.py``. assumed: a guess with a range;
whatever the model says has to hold over that range, or it is not said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import plain
from ..errors import DagkitError, choices, quoted
from ..keywords import unknown

KINDS = ("given", "calibrated", "measured", "assumed")


@dataclass(frozen=True)
class Parameter:
    """One number. unit: of ``value``. low, high: what is plausible (assumed ones only). source: where it is from."""

    name: str
    value: float
    unit: str
    kind: str
    source: str
    low: float | None = None
    high: float | None = None


_ALL = (
    # ---- the standard path
    Parameter("idle_sleep", 1.0, "s", "given", "[scheduler] scheduler_idle_sleep_time"),
    Parameter("runs_per_pass", 20, "runs", "given", "[scheduler] max_dagruns_per_loop_to_schedule"),
    Parameter("health_threshold", 30.0, "s", "given", "[scheduler] scheduler_health_check_threshold"),
    Parameter("schedulers", 10, "schedulers", "assumed", "about ten are said to be the most that help", 3, 12),
    Parameter("tasks_per_run", 100, "tasks", "assumed", "how the resident tasks are spread over runs", 20, 500),
    Parameter("pass_base", 0.2, "s", "assumed", "a pass over an empty deployment", 0.05, 0.5),
    Parameter("lock_busy", 0.02, "share", "assumed", "of a pass in which a scheduler holds the critical section", 0.005,
              0.05),
    Parameter("celery_share", 0.5, "share", "assumed", "of what a resident task costs per pass, spent on asking Celery "
              "for its state", 0.2, 0.8),
    Parameter("commit", 0.01, "s", "assumed", "write scheduled and queued", 0.002, 0.03),
    Parameter("broker_hop", 0.05, "s", "assumed", "serialize, store, take, prefetch", 0.01, 0.2),
    Parameter("process_start", 1.5, "s", "assumed", "a process that imports and parses the Dag file", 0.5, 4.0),
    Parameter("row_cost", math.nan, "s per task", "calibrated", "what a resident task adds to each pass; solved from "
              "23.582 s at 50,000"),
    # ---- the hinted path
    Parameter("heartbeat", 5.0, "s", "given", "[workers] min_heartbeat_interval: how often a task's supervisor reports"),
    Parameter("fallback", 1.0, "s", "given", "the slow scan behind the hints: usually within a second"),
    Parameter("hint", 0.005, "s", "assumed", "publish a hint and wake somebody", 0.001, 0.02),
    Parameter("warm_fork", 0.03, "s", "assumed", "fork a warm parent, move to running", 0.008, 0.08),
    Parameter("updates_per_second", 100_000, "1/s", "assumed", "small updates a large database takes in all", 70_000,
              200_000),
    Parameter("work", math.nan, "s", "calibrated", "one read and guarded update on an idle database; solved from "
              "0.228 s at 100,000"),
    # ---- memory of a worker
    Parameter("dirtied", 57.0, "MiB", "measured", "a forked process after its first garbage collection, with 138 MiB "
              "of libraries imported before the fork"),
    Parameter("own_memory", 50.0, "MiB", "assumed", "what the task itself allocates", 10.0, 200.0),
)
PARAMETERS = {parameter.name: parameter for parameter in _ALL}
LARGEST = 1e12
"""No parameter is larger, whatever its unit."""
ASSUMED = tuple(p.name for p in _ALL if p.kind == "assumed")


def values(changes: Mapping[str, Any]) -> dict[str, float]:
    """The value of every parameter, some changed. Calibrated ones are missing: the model solves for them.

    Raises DagkitError for an unknown or calibrated name, and for a value that is not a finite number above 0.

    >>> values({"schedulers": 4})["schedulers"]
    4.0
    """
    for name, value in changes.items():
        _changeable(name)
        if type(plain(value)) not in (int, float) or not 0 < value <= LARGEST:
            raise DagkitError(f"latency: {name} must be a number above 0 and at most {LARGEST:g}, not {quoted(value)}. "
                              f"Usual here: {PARAMETERS[name].value:g}.")
    found = {p.name: float(changes.get(p.name, p.value)) for p in _ALL if p.kind != "calibrated"}
    for name in ("celery_share", "lock_busy"):
        if found[name] >= 1:
            raise DagkitError(f"latency: {name} is a share below 1, not {quoted(changes[name])}. Write {name}=0.5.")
    return found


def _changeable(name: str) -> None:
    if name not in PARAMETERS:
        raise unknown("latency", name, list(PARAMETERS))
    if PARAMETERS[name].kind == "calibrated":
        raise DagkitError(f"latency: {name} is solved for from a published figure. Change what it is solved with: "
                          f"{choices(ASSUMED, 30)}.")

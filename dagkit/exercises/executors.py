"""Exercise 6: how long tasks wait for their start, and executors within latency and cost."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..compared import measures, waits
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, quoted, shown
from ..executors import CeleryExecutor, Executor, KubernetesExecutor, LocalExecutor, Worker
from ..scenario import Config, Runs, Scenario
from ..task import Task as Declared
from .trial import NotYet, Task, call

Moves = list[tuple[int, str, str]]
GOALS: dict[str, tuple[int, int]] = {"burst": (20, 6_000), "rare": (30, 2_500)}
"""For each work: seconds within which 95 of 100 tries have to start, and worker seconds that may be paid."""


def work(name: str) -> Scenario:
    """``burst``: 60 tasks of 5 seconds at once, three times, two minutes apart. ``rare``: four trainings of two minutes,
    four times, a quarter of an hour apart. Raises DagkitError for another name.

    >>> len(work("burst").dag), len(work("rare").dag)
    (60, 4)
    """
    if not isinstance(name, str) or name not in GOALS:
        raise DagkitError(f"work '{shown(name)}' is unknown. Known: {', '.join(GOALS)}.")
    if name == "burst":
        dag = Dag(name, [Declared(f"file_{k}", duration=5) for k in range(60)], max_active_tasks=100)
        return Scenario(dag, runs=Runs(3, every=120), config=Config(parallelism=100))
    return Scenario(Dag(name, [Declared(f"train_{k}", duration=120) for k in range(4)]), runs=Runs(4, every=900))


@cache
def moves() -> list[tuple[Moves, list[int]]]:
    """Changes of state of some runs, (tick, task, new state), and for each try that ran how long it waited."""
    found = []
    for executor, outcomes in ((LocalExecutor(), {}), (CeleryExecutor(workers=[Worker(2)]), {"file_0": ["fail"]}),
                               (KubernetesExecutor(), {"file_1": ["fail", "fail"]})):
        tasks = [Declared(f"file_{k}", duration=3, retries=2, retry_delay=4) for k in range(5)]
        trace = simulate(Dag("moves", tasks, max_active_tasks=3), executor=executor, outcomes=outcomes)
        rows = trace.events[["tick", "task_id", "new"]].itertuples(index=False)
        found.append(([tuple(row) for row in rows], waits(trace)[0]))
    return found


def start_waits(answer: Any) -> None:
    """Seconds from scheduled to running, for every try."""
    for log, right in moves():
        found = call(answer, log, name="start_waits")
        if list(found) != right:
            raise NotYet(f"For the log that begins {log[:3]} you find {quoted(found)}; it is {right}.",
                         "Each try counts, a retry too; and it waits from the moment it is scheduled, not queued.")


def within(name: str) -> Any:
    """A judge of executors for one of the two works, by the goals on latency and cost."""
    soon, cost = GOALS[name]

    def judge(executor: Any) -> None:
        if not isinstance(executor, Executor):
            raise NotYet(f"{name} must be an executor, such as dk.CeleryExecutor(workers=[dk.Worker(4)]), not "
                         f"{quoted(executor)}.")
        if isinstance(executor, LocalExecutor):
            raise NotYet("LocalExecutor runs everything on the scheduler's own machine, and this work does not fit there.")
        trace = simulate(work(name).replace(executor=executor))
        if lost := [label for label, state in trace.final_states.items() if state != "success"]:
            raise NotYet(f"With this executor {len(lost)} of {len(trace.labels)} never succeed; {lost[0]} ends "
                         f"{trace.final_states[lost[0]]}.", "Who listens to the queue they are in? Nobody set another one.")
        row = measures(trace)
        if row["start_latency_p95"] > soon:
            raise NotYet(f"95 of 100 start within {row['start_latency_p95']:g} s, not within {soon} s. Paid are "
                         f"{row['worker_seconds_paid']:g} worker seconds of {cost}.",
                         "What does each task wait for: a pod that has to start, or a free place?")
        if row["worker_seconds_paid"] > cost:
            raise NotYet(f"95 of 100 start within {row['start_latency_p95']:g} s, which is good. But "
                         f"{row['worker_seconds_paid']:g} worker seconds are paid, {row['worker_seconds_used']:g} used; "
                         f"{cost} may be paid.", "Who is paid while nothing runs?")
    return judge


TASKS = (
    Task("6.1", ("start_waits",), start_waits, "Every try, from scheduled to running."),
    Task("6.2", ("burst",), within("burst"), "The flood starts in time, and not too many stand idle after it."),
    Task("6.3", ("rare",), within("rare"), "Nothing is paid while nothing runs, and it starts soon enough."),
)

"""What the learner names: where which state is stored, and which metrics tell that something is wrong."""

from __future__ import annotations

from dataclasses import dataclass

STORES = ("metadata database", "XCom", "object storage", "secrets backend", "worker disk", "broker")
"""Places to choose from."""


@dataclass(frozen=True)
class Item:
    """Something to be stored. good: where it may lie. why: what goes wrong elsewhere."""

    name: str
    good: tuple[str, ...]
    why: str


ITEMS = {item.name: item for item in (
    Item("task states", ("metadata database",),
         "every scheduler must find them again after a loss, and the broker forgets what it has delivered"),
    Item("serialized Dags", ("metadata database",),
         "scheduler and API server read them there, and import no file themselves"),
    Item("path to the data", ("XCom", "metadata database"),
         "a later task on another machine has to find it, and it is small"),
    Item("the data itself", ("object storage",),
         "the next task may run on another machine, and rows in the metadata database slow the scheduler"),
    Item("task logs", ("object storage",),
         "a pod's disk is gone with the pod, a machine's with the machine"),
    Item("connection passwords", ("secrets backend", "metadata database"),
         "task code asks for them through the Execution API; nothing of it belongs on a worker's disk"),
)}


@dataclass(frozen=True)
class Metric:
    """Something one can watch. tells: which question it answers, "" for a decoy. why: what it shows, or why it does not."""

    name: str
    tells: str
    why: str


QUESTIONS = {
    "scheduler": "is a scheduler gone?",
    "loop": "does a pass take too long?",
    "lock": "do schedulers stand in each other's way?",
    "starving": "do tasks wait for a place?",
    "lost": "was work left behind by a dead scheduler?",
    "database": "is the metadata database the bottleneck?",
}
METRICS = {metric.name: metric for metric in (
    Metric("scheduler_heartbeat", "scheduler", "it stops with the scheduler"),
    Metric("scheduler_loop_duration", "loop", "it grows with running runs and with a slow database"),
    Metric("critical_section_duration", "lock", "how long one of them holds the lock"),
    Metric("critical_section_busy", "lock", "how often the lock was taken by another"),
    Metric("tasks.starving", "starving", "tasks that were ready and found no slot in their pool"),
    Metric("pool.open_slots", "starving", "a pool at 0 holds its tasks in scheduled"),
    Metric("orphaned tasks", "lost", "adopted, or reset and run again"),
    Metric("database CPU", "database", "scheduling is database work"),
    Metric("database connections", "database", "each scheduler and API server holds some"),
    Metric("database lock waits", "database", "rows that several want"),
    Metric("scheduler host CPU", "", "the scheduler waits for the database most of the time; its CPU looks idle"),
    Metric("number of Dags", "", "it was the same before and after anything broke"),
    Metric("page views of the UI", "", "people look when it is too late"),
    Metric("successful tasks in all", "", "it only ever grows, also while the important ones wait"),
    Metric("size of the Dag folder", "", "a folder of any size may hold one file that hangs"),
    Metric("worker uptime", "", "a worker that is up may have nothing to do"),
)}
MOST_METRICS = 8
"""A dashboard of everything is looked at by nobody."""


def unanswered(chosen: tuple[str, ...]) -> list[str]:
    """The questions none of the chosen metrics answers.

    >>> unanswered(("scheduler_heartbeat", "tasks.starving", "orphaned tasks", "database CPU", "critical_section_busy"))
    ['does a pass take too long?']
    """
    told = {METRICS[name].tells for name in chosen}
    return [question for key, question in QUESTIONS.items() if key not in told]


def decoys(chosen: tuple[str, ...]) -> list[str]:
    """Those of the chosen metrics that tell nothing about this deployment's health."""
    return [name for name in chosen if not METRICS[name].tells]

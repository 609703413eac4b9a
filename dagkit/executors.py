"""Executors: how much the scheduler may hand over, and who picks it up when.

An executor is a setting of the scheduler, not a process. The engine asks it three things: how many task instances it
holds at once (``slots``), how long the hand-over takes (``handover``), and which workers pick queued work up
(``workers``; None means there is always one free). Defaults without a source are marked *assumed*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .checks import flag, names, text, whole
from .errors import DagkitError, choices, nearest, quoted, shown

UNLIMITED = float("inf")


@dataclass(frozen=True)
class Worker:
    """A standing worker: how many task instances it runs at once, and which queues it listens to.

    >>> Worker(concurrency=2, queues=("gpu",)).serves("gpu")
    True
    """

    concurrency: int = 16
    queues: Sequence[str] = ("default",)
    name: str = ""

    def __post_init__(self) -> None:
        whole("Worker", "concurrency", self.concurrency, 1)
        object.__setattr__(self, "queues", names("Worker", "queues", self.queues))
        text("Worker", "name", self.name, empty=True)

    def serves(self, queue: str) -> bool:
        return "*" in self.queues or queue in self.queues


@dataclass(frozen=True)
class Executor:
    """What all executors have in common.

    parallelism: TIs it holds at once (None: ``Config.parallelism``). handover: ticks from queued to the moment a
    worker may pick it up; with 0 a TI is queued and running in the same tick. name: what ``Task(executor=...)`` calls it.
    """

    parallelism: int | None = None
    handover: int = 1
    name: str = "Executor"

    adopts = False
    """Whether another scheduler can take over its running work when a scheduler dies."""
    counts = True
    """Whether the scheduler's parallelism counts what it holds."""
    revokes = True
    """Whether it can take a queued task back, which the check for stuck task instances needs."""
    pull = "queue"
    """The order in which workers take work: "queue" (first handed over first) or "priority"."""

    def __post_init__(self) -> None:
        text(type(self).__name__, "name", self.name)
        whole(shown(self.name), "parallelism", self.parallelism, 1, none=True)
        whole(shown(self.name), "handover", self.handover, 0)

    def slots(self, config: Any) -> float:
        """How many TIs the scheduler may have handed to it at once."""
        return self.parallelism if self.parallelism is not None else config.parallelism * config.schedulers

    def staff(self, config: Any) -> Sequence[Worker] | None:
        """The workers that pick its work up, or None where one is always free."""
        return None


@dataclass(frozen=True)
class LocalExecutor(Executor):
    """Child processes beside the scheduler. Simple, no broker, one machine for everything.

    remember_dispatched: True is the documented behaviour: what does not fit stays *scheduled*. False is what Airflow
    3.3.2 was recorded doing: the executor forgets what it handed out, so the surplus waits in *queued*.

    >>> LocalExecutor(parallelism=4).slots(None)
    4
    """

    name: str = "LocalExecutor"
    remember_dispatched: bool = True
    revokes = False

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(shown(self.name), "remember_dispatched", self.remember_dispatched)

    @property
    def counts(self) -> bool:  # type: ignore[override]
        return self.remember_dispatched

    def slots(self, config: Any) -> float:
        return super().slots(config) if self.remember_dispatched else UNLIMITED

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return None if self.remember_dispatched else (Worker(int(super().slots(config)), ("*",), "processes"),)


@dataclass(frozen=True)
class CeleryExecutor(Executor):
    """Standing workers fed by a broker: quick starts, a fleet to run.

    workers: each with its concurrency and queues. A queue nobody listens to is accepted, as in Airflow.
    """

    name: str = "CeleryExecutor"
    workers: Sequence[Worker] = (Worker(),)
    adopts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "workers", _workers(shown(self.name), self.workers))

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return self.workers


@dataclass(frozen=True)
class KubernetesExecutor(Executor):
    """A pod per task instance: isolation, at the price of a pod start each.

    max_pods: pods at once (None: as many as parallelism allows). handover: pod start in ticks.
    """

    name: str = "KubernetesExecutor"
    max_pods: int | None = None
    adopts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(shown(self.name), "max_pods", self.max_pods, 1, none=True)

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return None if self.max_pods is None else (Worker(self.max_pods, ("*",), "cluster"),)


@dataclass(frozen=True)
class EdgeExecutor(Executor):
    """Workers at remote sites that pull the work of their own queues, by priority, then age."""

    name: str = "EdgeExecutor"
    workers: Sequence[Worker] = (Worker(),)
    adopts = True
    pull = "priority"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "workers", _workers(shown(self.name), self.workers))

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return self.workers


def _workers(who: str, given: Any) -> tuple[Worker, ...]:
    workers = (given,) if isinstance(given, Worker) else tuple(given) if isinstance(given, (list, tuple)) else ()
    if not workers or not all(isinstance(w, Worker) for w in workers):
        raise DagkitError(f"{who}: workers must be a list of at least one dk.Worker, not {quoted(given)}. "
                          "Write workers=[dk.Worker(concurrency=4)].")
    return workers


@dataclass(frozen=True)
class Executors:
    """The executors of a scenario; the first is the default. Made from one, a list, or ``{alias: executor}``."""

    by_name: Mapping[str, Executor] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Executors:
        """One executor, several, or a dictionary of them, checked.

        >>> Executors.of([LocalExecutor(), CeleryExecutor()]).get("CeleryExecutor").name
        'CeleryExecutor'
        """
        if given is None:
            given = LocalExecutor()
        if isinstance(given, Executors):
            given = given.by_name
        named = list(given.items()) if isinstance(given, Mapping) else [
            (getattr(e, "name", ""), e) for e in (given if isinstance(given, (list, tuple)) else (given,))]
        found: dict[str, Executor] = {}
        for name, executor in named:
            if not isinstance(executor, Executor):
                raise DagkitError(f"executor: expected an executor such as dk.LocalExecutor(), not "
                                  f"{quoted(executor)}.")
            text("executor", "each name", name)
            if name in found:
                raise DagkitError(f"executor: two executors are called '{shown(name)}'. Give them names with "
                                  "executor={'short': ..., 'heavy': ...}.")
            found[name] = executor
        if not found:
            raise DagkitError("executor: the list of executors is empty. Name at least one.")
        return cls(found)

    @property
    def default(self) -> Executor:
        return next(iter(self.by_name.values()))

    def get(self, name: str | None) -> Executor:
        """The executor a task names, or the default one."""
        return self.default if name is None else self.by_name[name]

    def name_of(self, name: str | None) -> str:
        return next(iter(self.by_name)) if name is None else name

    def check(self, dag: Any) -> None:
        """Airflow refuses an unknown executor name when it parses the Dag; so does the kit."""
        for task in dag:
            if task.executor is not None and task.executor not in self.by_name:
                raise DagkitError(f"task '{shown(task.task_id)}': executor '{shown(task.executor)}' is not configured."
                                  f"{nearest(task.executor, self.by_name)} Known: {choices(self.by_name)}.")

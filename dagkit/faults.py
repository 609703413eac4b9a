"""What breaks, and when: faults are data, handed to ``simulate(..., faults=[...])``.

Every fault has a ``tick``, the first at which it holds. Those that pass have ``until``, the tick at which all is well
again (None: never). ``component`` says which part of the architecture is broken; ``str(fault)`` says it in words.

>>> print(BrokerDown(tick=5, until=20))
the broker delivers nothing from tick 5 until tick 20
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .checks import names, text, whole
from .errors import DagkitError, choices, shown

EARLIEST = 15
"""Ticks (here: seconds) until a supervisor gives up: [workers] max_failed_heartbeats 3 x min_heartbeat_interval 5."""


@dataclass(frozen=True)
class Fault:
    """What all faults have in common: when it begins, and which component it breaks."""

    tick: int

    component: ClassVar[str] = ""

    def __post_init__(self) -> None:
        whole(self._name, "tick", self.tick, 1)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _texts(self, *fields: str) -> None:
        for name in fields:
            text(self._name, name, getattr(self, name), none=True)

    def _one_of(self, first: str, second: str, what: str) -> None:
        self._texts(first, second)
        if (getattr(self, first) is None) == (getattr(self, second) is None):
            raise DagkitError(f"{self._name}: name either the {first} {what} ({first}=) or the {second} ({second}=).")

    def __str__(self) -> str:
        return f"{self._what()} {self._when()}"

    def _what(self) -> str:
        return self._name

    def _when(self) -> str:
        return f"at tick {self.tick}"


@dataclass(frozen=True)
class Outage(Fault):
    """A fault that may pass: it holds from ``tick`` until (not including) ``until``; None: for good."""

    until: int | None = None

    mutes: ClassVar[tuple[str, ...]] = ()
    """What is not heard of meanwhile: "event" (of a trigger), "answer" (of a person), "timeout" (of a wait)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "until", self.until, self.tick + 1, none=True)

    def _when(self) -> str:
        return f"from tick {self.tick} {'on' if self.until is None else f'until tick {self.until}'}"

    def holds(self, tick: int) -> bool:
        """Whether it holds at the end of a tick.

        >>> BrokerDown(5, until=7).holds(6), BrokerDown(5, until=7).holds(7)
        (True, False)
        """
        return self.tick <= tick and (self.until is None or tick < self.until)


# ---- what is lost for good ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoseWorker(Fault):
    """A worker dies without a word at ``tick``: the one that runs ``task``, or the one named ``worker``.

    Its task instances stay *running* until their heartbeat times out, then the retry rule decides.

    >>> LoseWorker(tick=5, task="transform")
    LoseWorker(tick=5, task='transform', worker=None, executor=None)
    """

    task: str | None = None
    worker: str | None = None
    executor: str | None = None

    component = "worker"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")
        self._one_of("task", "worker", "whose worker dies")

    def _what(self) -> str:
        return f"worker '{shown(self.worker)}' dies" if self.worker else f"the worker of {shown(self.task)} dies"


@dataclass(frozen=True)
class LoseMessage(Fault):
    """The broker loses the message that carries ``task`` when it is next queued, from ``tick`` on.

    It stays *queued* until the scheduler's check for stuck task instances queues it again.
    """

    task: str

    component = "broker"

    def __post_init__(self) -> None:
        super().__post_init__()
        text("LoseMessage", "task", self.task)

    def _what(self) -> str:
        return f"the broker loses the next message of {shown(self.task)},"

    def _when(self) -> str:
        return f"from tick {self.tick} on"


@dataclass(frozen=True)
class LoseScheduler(Fault):
    """One scheduler dies at ``tick``. Another finds out after scheduler_health_check_threshold.

    What it had queued or was running is adopted where the executor can; the rest goes back to none and counts a new
    try when it is scheduled again. With only one scheduler nothing is scheduled any more.
    """

    component = "scheduler"

    def _what(self) -> str:
        return "a scheduler dies"


# ---- workers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SlowWorker(Outage):
    """A worker is slow: every try that starts there meanwhile takes ``factor`` times as long.

    Name the ``worker``, or a ``task`` whose tries it runs. An execution_timeout counts as always.
    """

    task: str | None = None
    worker: str | None = None
    executor: str | None = None
    factor: int = 3

    component = "worker"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")
        self._one_of("task", "worker", "whose worker is slow")
        whole(self._name, "factor", self.factor, 2)

    def _what(self) -> str:
        who = f"worker '{shown(self.worker)}'" if self.worker else f"the worker of {shown(self.task)}"
        return f"{who} is {self.factor} times slower"


@dataclass(frozen=True)
class BrokenWorker(Outage):
    """A worker whose image lacks a package: every try that starts there fails at once, on an import.

    The others do well, so the same task fails here and succeeds there.
    """

    worker: str = ""
    executor: str | None = None

    component = "worker"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")
        text(self._name, "worker", self.worker)

    def _what(self) -> str:
        return f"worker '{shown(self.worker)}' cannot import what tasks need"


@dataclass(frozen=True)
class WrongQueue(Outage):
    """A worker was started with the wrong names: it listens to ``queues`` instead of its own."""

    worker: str = ""
    queues: Any = ()
    executor: str | None = None

    component = "worker"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")
        text(self._name, "worker", self.worker)
        object.__setattr__(self, "queues", names(self._name, "queues", self.queues))

    def _what(self) -> str:
        heard = choices(map(shown, self.queues)) if self.queues else "no queue at all"
        return f"worker '{shown(self.worker)}' listens to {heard}"


# ---- between scheduler and worker -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BrokerDown(Outage):
    """The broker of a CeleryExecutor takes messages and delivers none: its work stays *queued*.

    What is not delivered in task_queued_timeout is found by the check for stuck task instances. (A broker that
    refuses the connection is found sooner: after [celery] task_publish_max_retries the executor reports failed.)
    executor: which one, where several have a broker.
    """

    executor: str | None = None

    component = "broker"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")

    def _what(self) -> str:
        return "the broker delivers nothing"


@dataclass(frozen=True)
class PodsPending(Outage):
    """The cluster has no room: pods of a KubernetesExecutor stay pending, and their task instances *queued*."""

    executor: str | None = None

    component = "executor"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts("executor")

    def _what(self) -> str:
        return "new pods stay pending"


# ---- the control plane ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ApiServerDown(Outage):
    """The API server does not answer: nobody can report, and nobody can start.

    A running task's supervisor gives it up ``give_up_after`` ticks later, after three failed heartbeats (each call is
    also retried, so in truth a little later); the scheduler finds the silence after task_instance_heartbeat_timeout.
    If the server is back before that, what ended meanwhile reports late and nothing is lost. Queued task instances
    cannot start (assumed: they do when it is back). The scheduler itself goes on: it asks the database.
    Source: sdk/execution_time/supervisor.py, _handle_heartbeat_failures, Airflow 3.3.2.
    """

    give_up_after: int = EARLIEST

    component = "API server"
    mutes: ClassVar[tuple[str, ...]] = ("answer",)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "give_up_after", self.give_up_after, 1)

    @property
    def given_up(self) -> int | None:
        """The tick at which supervisors give up; None if the server is back in time."""
        gives_up = self.tick + self.give_up_after
        return gives_up if self.until is None or gives_up < self.until else None

    def _what(self) -> str:
        return "the API server does not answer"


@dataclass(frozen=True)
class SlowApiServer(Outage):
    """Pages take long. Tasks hardly notice: their calls are few, and are tried again."""

    component = "API server"

    def _what(self) -> str:
        return "the API server is slow"


@dataclass(frozen=True)
class DatabaseDown(ApiServerDown):
    """The metadata database is gone: no scheduler passes, and the API server cannot answer either."""

    component = "metadata DB"
    mutes: ClassVar[tuple[str, ...]] = ("answer", "event", "timeout")

    def _what(self) -> str:
        return "the metadata database does not answer"


@dataclass(frozen=True)
class SlowDatabase(Outage):
    """Every query is slow: a pass of the scheduler takes ``factor`` ticks instead of one. No error anywhere."""

    factor: int = 5

    component = "metadata DB"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "factor", self.factor, 2)

    def next_pass(self, tick: int) -> int:
        """The first tick from ``tick`` on at which a pass begins.

        >>> SlowDatabase(tick=3, factor=5).next_pass(4)
        8
        """
        at = tick + (self.tick - tick) % self.factor
        return at if self.until is None else min(at, max(tick, self.until))

    def _what(self) -> str:
        return f"the metadata database is slow (a pass takes {self.factor} ticks)"


@dataclass(frozen=True)
class TriggererDown(Outage):
    """No triggerer runs: *deferred* task instances do not wake.

    An event that comes meanwhile is seen when it is back. Timeouts of waits go on: the scheduler watches those.
    """

    component = "triggerer"
    mutes = ("event",)

    def _what(self) -> str:
        return "no triggerer runs"


@dataclass(frozen=True)
class DagProcessorDown(Outage):
    """No file is parsed: edits of Dags stay unseen until it is back. What is known already goes on."""

    component = "Dag processor"

    def _what(self) -> str:
        return "the Dag processor is down"

    def seen(self, tick: int) -> int | None:
        """When an edit of ``tick`` takes effect (None: never)."""
        return self.until if self.holds(tick) else tick


@dataclass(frozen=True)
class SlowDagProcessor(Outage):
    """Parsing takes long: an edit takes effect ``delay`` ticks later."""

    delay: int = 60

    component = "Dag processor"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "delay", self.delay, 1)

    def _what(self) -> str:
        return f"the Dag processor is {self.delay} ticks late"

    def seen(self, tick: int) -> int | None:
        """When an edit of ``tick`` takes effect."""
        return tick + self.delay if self.holds(tick) else tick


FAULTS = (LoseWorker, LoseMessage, LoseScheduler, SlowWorker, BrokenWorker, WrongQueue, BrokerDown, PodsPending,
          ApiServerDown, SlowApiServer, DatabaseDown, SlowDatabase, TriggererDown, DagProcessorDown, SlowDagProcessor)

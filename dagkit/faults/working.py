"""Faults where work is done and on the way there: workers, the broker, pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checks import names, text, whole
from ..errors import choices, shown
from ..keywords import checked
from .base import Fault, Outage


@checked
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


@checked
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


@checked
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


@checked
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


@checked
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


@checked
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


@checked
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

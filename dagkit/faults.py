"""What breaks, and when: faults are data, handed to ``simulate(..., faults=[...])``.

>>> LoseWorker(tick=5, task="transform")
LoseWorker(tick=5, task='transform', worker=None, executor=None)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .checks import text, whole
from .errors import DagkitError


def _tick(fault: Any) -> None:
    whole(type(fault).__name__, "tick", fault.tick, 1)


@dataclass(frozen=True)
class LoseWorker:
    """A worker dies without a word at ``tick``: the one that runs ``task``, or the one named ``worker``.

    Its task instances stay *running* until their heartbeat times out, then the retry rule decides.
    """

    tick: int
    task: str | None = None
    worker: str | None = None
    executor: str | None = None

    def __post_init__(self) -> None:
        _tick(self)
        for name in ("task", "worker", "executor"):
            text("LoseWorker", name, getattr(self, name), none=True)
        if (self.task is None) == (self.worker is None):
            raise DagkitError("LoseWorker: name either the task whose worker dies (task=) or the worker (worker=).")


@dataclass(frozen=True)
class LoseMessage:
    """The broker loses the message that carries ``task`` when it is next queued, from ``tick`` on.

    It stays *queued* until the scheduler's check for stuck task instances queues it again.
    """

    tick: int
    task: str

    def __post_init__(self) -> None:
        _tick(self)
        text("LoseMessage", "task", self.task)


@dataclass(frozen=True)
class LoseScheduler:
    """One scheduler dies at ``tick``. Another finds out after scheduler_health_check_threshold.

    What it had queued or was running is adopted where the executor can; the rest goes back to none and counts a new
    try when it is scheduled again. With only one scheduler nothing is scheduled any more.
    """

    tick: int

    def __post_init__(self) -> None:
        _tick(self)


FAULTS = (LoseWorker, LoseMessage, LoseScheduler)

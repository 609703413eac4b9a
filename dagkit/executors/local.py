"""LocalExecutor: child processes beside the scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import flag, text
from ..errors import shown
from ..keywords import checked
from .base import UNLIMITED, Executor, Worker


@checked
@dataclass(frozen=True)
class LocalExecutor(Executor):
    """Child processes beside the scheduler. Simple, no broker, one machine for everything.

    remember_dispatched: True is the documented behaviour: what does not fit stays *scheduled*. False is what Airflow
    3.3.2 was recorded doing: the executor forgets what it handed out, so the surplus waits in *queued*.
    environment: the packages installed beside the scheduler; only asked where ``environments`` are given.

    >>> LocalExecutor(parallelism=4).slots(None)
    4
    """

    name: str = "LocalExecutor"
    remember_dispatched: bool = True
    environment: str = ""
    revokes = False
    isolation = "a process per task; machine and packages shared"
    needs = "nothing more: the scheduler's machine does the work"

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(shown(self.name), "remember_dispatched", self.remember_dispatched)
        text(shown(self.name), "environment", self.environment, empty=True)

    @property
    def counts(self) -> bool:  # type: ignore[override]
        return self.remember_dispatched

    def slots(self, config: Any) -> float:
        return super().slots(config) if self.remember_dispatched else UNLIMITED

    def staff(self, config: Any) -> Sequence[Worker] | None:
        if self.remember_dispatched and not self.environments:
            return None
        return (Worker(int(super().slots(config)), ("*",), "processes", self.environment),)

    def paid(self, stays: Any, span: int, config: Any) -> float:
        return float(super().slots(config) * span)

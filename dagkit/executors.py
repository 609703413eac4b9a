"""Executors: where queued work goes, and when a worker picks it up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import DagkitError, shown


@dataclass(frozen=True)
class LocalExecutor:
    """Runs tasks in child processes beside the scheduler.

    parallelism: how many TIs it holds at once (None: as many as ``Config.parallelism``).
    handover: ticks between queued and running; with 0 a TI is queued and running in the same tick.

    >>> LocalExecutor(parallelism=4).slots(None)
    4
    """

    parallelism: int | None = None
    handover: int = 1
    name: str = "LocalExecutor"

    def __post_init__(self) -> None:
        if self.parallelism is not None and (type(self.parallelism) is not int or self.parallelism < 1):
            raise DagkitError(f"LocalExecutor: parallelism must be a whole number >= 1 or None, "
                              f"not {shown(repr(self.parallelism))}.")
        if type(self.handover) is not int or self.handover < 0:
            raise DagkitError(f"LocalExecutor: handover must be a whole number of ticks >= 0, "
                              f"not {shown(repr(self.handover))}.")

    def slots(self, config: Any) -> int:
        """How many TIs the scheduler may have handed to it at once."""
        return self.parallelism if self.parallelism is not None else config.parallelism * config.schedulers


def executor_of(scenario: Any, name: str | None) -> Any:
    """The executor a task is handed to: the one it names, else the scenario's default."""
    return scenario.executor if scenario.executor is not None else _DEFAULT


_DEFAULT = LocalExecutor()

"""The executors of a scenario: one, or several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..checks import text
from ..errors import DagkitError, choices, nearest, quoted, shown
from .base import Executor
from .local import LocalExecutor


@dataclass(frozen=True)
class Executors:
    """The executors of a scenario; the first is the default. Made from one, a list, or ``{alias: executor}``."""

    by_name: Mapping[str, Executor] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Executors:
        """One executor, several, or a dictionary of them, checked.

        >>> Executors.of({"near": LocalExecutor(), "far": LocalExecutor(2)}).get("far").parallelism
        2
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
                                  f"{quoted(executor)}. Write executor=dk.LocalExecutor().")
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

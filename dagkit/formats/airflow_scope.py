"""Names, functions and scopes of a Dag file that is read, and what counts as a plain value."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Name:
    """An imported or unknown name, with its dots: ``airflow.sdk.task.branch``."""

    dotted: str

    @property
    def last(self) -> str:
        return self.dotted.rpartition(".")[2]


@dataclass(eq=False)
class Function:
    """A function of the file. kind: "plain", "task", "dag" or "task_group"; given: what its decorator was given."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    kind: str = "plain"
    given: dict[str, Any] = field(default_factory=dict)
    operator: str = ""
    called: bool = False
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Bound:
    """A method waiting to be called: ``tasks.append``, ``first.set_upstream``."""

    owner: Any
    name: str


@dataclass(eq=False)
class Scope:
    """Names and their values; a name not found is looked up outside."""

    values: dict[str, Any]
    outer: Scope | None = None
    elsewhere: dict[str, Scope] = field(default_factory=dict)  # names of ``global`` and ``nonlocal``

    def get(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.elsewhere:
                return scope.elsewhere[name].get(name)
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return Name(name)

    def set(self, name: str, value: Any) -> None:
        self.elsewhere.get(name, self).values[name] = value


PLAIN = (str, int, float, bool, type(None))


def is_plain(value: Any) -> bool:
    """Text, a number, a flag or None."""
    return isinstance(value, PLAIN)

"""Where a Dag file that is read keeps its values: names, attributes, items of lists and dictionaries."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .airflow_model import MORE, UNKNOWN, DagModel, Group, Hidden, Path, Ref, TooMuch, Unknown
from .airflow_plain import Default, Fixed, items_of
from .airflow_scope import Bound, Function, Name, Scope, is_plain

MAX_STEPS = 500_000

_ENUMS = ("TriggerRule", "WeightRule")  # TriggerRule.ALL_DONE is the text "all_done"


class Places(ABC):
    """What a reader of Python keeps count of, and how names, attributes and items are read and set.

    calls: what a call means (see ``airflow_calls``). note: takes a sentence for the report.
    """

    def __init__(self, calls: Any, note: Callable[[str], None]):
        self.calls, self.note = calls, note
        self.steps, self.choices, self.said = 0, 0, 0
        self.path: Path = ()

    def step(self, count: int = 1) -> None:
        """Count work, and stop where it is too much."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise TooMuch(f"more than {MAX_STEPS} steps to follow")

    def unseen(self, node: ast.AST, what: str) -> None:
        """Report what hides a task, with its line."""
        self.said += 1
        self.note(f"Line {getattr(node, 'lineno', 0)}: {what}.")

    def both(self, node: ast.AST, what: str) -> None:
        """Report a choice that only running the file could make."""
        sides = "all" if isinstance(node, ast.Match) else "both"
        self.unseen(node, f"{what} on something only known at run time; {sides} sides were read")

    def sides(self, parts: Iterable[Any]) -> Iterator[Any]:
        """The sides of a choice one by one; what is made meanwhile knows on which side it is."""
        before = self.path
        self.choices += 1
        choice = self.choices
        try:
            for number, part in enumerate(parts):
                self.path = (*before, (choice, number))
                yield part
        finally:
            self.path = before

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.set(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.assign_each(target.elts, value, scope)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.value(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, scope), self.key(target.slice, scope)
            if isinstance(owner, dict):
                owner[key] = value
            elif isinstance(owner, list) and type(key) is int and -len(owner) <= key < len(owner):
                owner[key] = value
            elif isinstance(owner, list) and isinstance(key, slice) and isinstance(value, list) and key.step is None:
                owner[key] = value
            elif isinstance(owner, list):
                self.unseen(target, "a change of a list that cannot be followed")

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``task.trigger_rule = ...``, ``dag.max_active_tasks = ...``"""
        if isinstance(owner, (Ref, DagModel)):
            (owner.node if isinstance(owner, Ref) else owner).given[name] = value

    def assign_each(self, targets: list[ast.expr], value: Any, scope: Scope) -> None:
        """``a, *rest, z = value``."""
        parts: list[Any] | None = items_of(value)
        star = next((n for n, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if parts is not None and star is not None and len(parts) >= len(targets) - 1:
            end = len(parts) - (len(targets) - 1 - star)
            parts = [*parts[:star], parts[star:end], *parts[end:]]
        if parts is None or len(parts) != len(targets) or MORE in parts:
            parts = [value if isinstance(value, Ref) else UNKNOWN] * len(targets)
        for target, part in zip(targets, parts, strict=True):
            self.assign(target.value if isinstance(target, ast.Starred) else target, part, scope)

    def key(self, node: ast.expr, scope: Scope) -> Any:
        """A key of a dictionary or place in a list; one that is not known is ``Hidden``."""
        found = self.value(node, scope)
        if isinstance(found, Fixed) and all(is_plain(part) for part in found):
            return tuple(found)
        return found if is_plain(found) or isinstance(found, slice) else Hidden()

    def spread(self, value: Any) -> list[Any]:
        """``*value`` in a list."""
        items = items_of(value)
        self.step(1 + len(items or ()) // 100)
        return [MORE] if items is None else items

    @abstractmethod
    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression, UNKNOWN if it cannot be told."""

    def at_Attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        return self.attribute(self.value(node.value, scope), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """``owner.name``"""
        if isinstance(owner, Name):
            return name.lower() if owner.last in _ENUMS else Name(f"{owner.dotted}.{name}")
        if isinstance(owner, Ref) and name == "output":
            return Ref(owner.node, data=True)
        if isinstance(owner, Unknown):
            return UNKNOWN
        if isinstance(owner, (Ref, DagModel, Group)) and name in ("task_id", "dag_id", "group_id"):
            return getattr(getattr(owner, "node", owner), name, UNKNOWN)
        if isinstance(owner, DagModel) and name in ("tasks", "task_ids", "task_dict"):
            made = {task_id: Ref(node) for task_id, node in owner.nodes.items()}
            return made if name == "task_dict" else list(made.values() if name == "tasks" else made)
        if isinstance(owner, DagModel) and name == "default_args":
            return owner.given.setdefault(name, {})
        known = owner.given if isinstance(owner, (DagModel, Group)) else owner.node.given if isinstance(owner, Ref) else {}
        if name in known:
            return known[name]
        return owner.name if isinstance(owner, Function) and name == "__name__" else Bound(owner, name)

    def at_Subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        owner, key = self.value(node.value, scope), self.key(node.slice, scope)
        if isinstance(owner, Ref):
            return owner
        self.step(1 + len(owner) // 100 if isinstance(owner, list) else 1)
        if isinstance(owner, list) and MORE in owner:
            return UNKNOWN
        try:
            if isinstance(owner, (list, dict, str)):
                made = owner[key]
                return Fixed(made) if isinstance(key, slice) and isinstance(owner, Fixed) else made
        except (KeyError, IndexError, TypeError):
            if isinstance(owner, Default) and not isinstance(key, Hidden):
                return owner.setdefault(key, self.calls(self, node, owner.make, [], {}))
        return UNKNOWN

    def at_Slice(self, node: ast.Slice, scope: Scope) -> Any:
        ends = [None if end is None else self.value(end, scope) for end in (node.lower, node.upper, node.step)]
        known = all(end is None or type(end) is int for end in ends) and ends[2] != 0
        return slice(*ends) if known else UNKNOWN

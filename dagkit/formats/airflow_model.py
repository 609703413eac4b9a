"""What a Dag file builds while it is read: Dags, tasks, task groups, and the arrows between them.

The same rules as Airflow's own objects (``airflow.sdk``), without running any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..errors import DagkitError

MAX_ARROWS = 250_000  # of one statement

MAX_PARTS = 5_000_000  # of lists, of one file
BUDGET: ContextVar[list[int] | None] = ContextVar("BUDGET", default=None)
"""How many parts of lists may still be looked at, in a list of one; None: any number."""

Path = tuple[tuple[int, int], ...]
"""On which side of which choices something is made, the choices being only known at run time."""


def apart(one: Path, other: Path) -> bool:
    """Whether two things are on different sides of a choice, so that only one of them can be.

    >>> apart(((1, 0), (2, 0)), ((1, 0), (2, 1))), apart(((1, 0),), ((2, 1),))
    (True, False)
    """
    sides = dict(one)
    return any(sides.get(choice, side) != side for choice, side in other)


class Unknown:
    """A value that only running the file could tell."""

    def __repr__(self) -> str:
        return "something only known at run time"


UNKNOWN = Unknown()
MORE = Unknown()
"""In a list: any number of further items, ``[*unknown]``."""


class Hidden(Unknown):
    """A key of a dictionary that is not known, or stands for any number of them: ``{**unknown}``."""


@dataclass(eq=False)
class DagModel:
    """A Dag of the file: its id, its arguments, its tasks by id, what its mapped groups are mapped over."""

    dag_id: str
    given: dict[str, Any]
    nodes: dict[str, Node] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    group_paths: dict[str, Path] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    mapped_groups: dict[str, dict[Any, Any]] = field(default_factory=dict)


@dataclass(eq=False)
class Node:
    """A task: its id, what it was given, the tasks before and after it (a dict keeps their order)."""

    task_id: str
    given: dict[str, Any]
    operator: str
    line: int
    dag: DagModel | None = None
    up: dict[Node, None] = field(default_factory=dict)
    down: dict[Node, None] = field(default_factory=dict)
    expand: dict[str, Any] | None = None
    mapped_group: str | None = None
    path: Path = ()

    @property
    def is_teardown(self) -> bool:
        return self.given.get("is_teardown") is True


@dataclass(eq=False)
class Ref:
    """A task as the file holds it. data: it stands for the task's return value, so handing it on is an arrow.
    others: tasks whose values are in it too, ``a.zip(b)``."""

    node: Node
    data: bool = False
    others: tuple[Node, ...] = ()


@dataclass(eq=False)
class Group:
    """A task group: the prefix of its tasks' ids, and the tasks inside it and inside its groups."""

    group_id: str
    prefix: str
    given: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)

    def roots(self) -> list[Node]:
        """The tasks with nothing before them inside the group."""
        inside = set(self.nodes)
        return [node for node in self.nodes if inside.isdisjoint(node.up)]

    def leaves(self) -> list[Node]:
        """The tasks with nothing but teardowns after them inside the group; a teardown is never one."""
        inside = set(self.nodes)
        return [
            node
            for node in self.nodes
            if not node.is_teardown and not any(d in inside and _holds_back(node, d) for d in node.down)
        ]


def _holds_back(node: Node, down: Node) -> bool:
    """Whether an arrow makes a task no end of its group: a teardown does not, unless it is the task's own."""
    return not down.is_teardown or node.given.get("is_setup") is True


class Label:
    """``Label("...")`` between two arrows: text on the arrow, nothing more."""


def nodes_of(value: Any, side: str) -> Iterator[Node]:
    """The tasks an operand of ``>>`` stands for; side: "left" (its ends) or "right" (its starts)."""
    for part in parts_of(value):
        if isinstance(part, Ref):
            yield part.node
        elif isinstance(part, Group):
            yield from part.leaves() if side == "left" else part.roots()


def parts_of(value: Any) -> Iterator[Any]:
    """A value, or what is inside it if it is a list or dictionary; a list inside itself is walked once.

    Raises TooMuch when more than ``MAX_PARTS`` were looked at since ``BUDGET`` was set.
    """
    stack, seen, budget = [value], set(), BUDGET.get()
    while stack:
        if budget is not None:
            budget[0] -= 1
        if budget is not None and budget[0] < 0:
            raise TooMuch(f"more than {MAX_PARTS} items of lists to look through")
        value = stack.pop()
        if not isinstance(value, (list, tuple, dict)):
            yield value
        elif id(value) not in seen:
            seen.add(id(value))
            stack += list(value.values() if isinstance(value, dict) else value)[::-1]


class TooMuch(DagkitError):
    """The file does more than can be followed."""


def relate(left: Any, right: Any) -> int:
    """``left >> right``: the number of arrows; 0 if one side holds no task."""
    ups, downs = list(nodes_of(left, "left")), list(nodes_of(right, "right"))
    if len(ups) * len(downs) > MAX_ARROWS:
        raise TooMuch(f"{len(ups)} times {len(downs)} arrows at once")
    for up in ups:
        for down in downs:
            arrow(up, down)
    return len(ups) * len(downs)


def arrow(up: Node, down: Node) -> None:
    """One dependency; a task that is in no Dag yet joins the other's."""
    up.down[down] = None
    down.up[up] = None
    for one, other in ((up, down), (down, up)):
        if one.dag is None and other.dag is not None:
            one.dag = other.dag
            other.dag.nodes.setdefault(one.task_id, one)


def data_refs(value: Any) -> Iterator[Node]:
    """Tasks whose return values are somewhere inside a value that is handed to a task."""
    for part in parts_of(value):
        if isinstance(part, Ref) and part.data:
            yield part.node
            yield from part.others


def between(setups: Iterable[Node], teardowns: Iterable[Node], inside: list[Node]) -> None:
    """``with setup >> teardown:``; the tasks made inside come after the setups and before the teardowns.

    As in Airflow's SetupTeardownContext: only tasks with nothing at all before (after) them are joined, and where
    there is none, the first (last) one is.
    """
    work = [node for node in inside if not node.is_teardown and node.given.get("is_setup") is not True]
    starts = [node for node in work if not node.up] or work[:1]
    ends = [node for node in work if not node.down] or work[-1:]
    for setup in setups:
        for node in starts:
            arrow(setup, node)
    for teardown in teardowns:
        for node in ends:
            arrow(node, teardown)

"""Where a Dag file goes from one statement to another, and what holds after a choice that only running it could make.

The rule of the reader: what may happen is read. Every side of such a choice is followed, each from what was there
before; afterwards a name is what the sides agree on, or the tasks of all of them, or not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from typing import Any

from .airflow_model import UNKNOWN, Group, Ref, parts_of
from .airflow_plain import same
from .airflow_scope import Function, Name, is_plain

HARMLESS = frozenset(  # calls that say or compute something and leave a Dag as it is
    "print debug info warning warn error exception critical log getenv get int str float bool len lower upper strip split "
    "join format replace startswith endswith keys values items range sorted list dict set tuple timedelta datetime now "
    "isinstance getattr hasattr getLogger getattr exists Path loads wraps update_wrapper test cli sleep seed".split()
)
_MAKERS = frozenset({"DAG", "dag", "TaskGroup", "task_group", "chain", "chain_linear", "cross_downstream"})
_ENDS = ("Operator", "Sensor")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Jump(Exception):
    """A statement after which the next one is not read."""


class Return(Jump):
    """``return`` in a function that is being followed."""

    def __init__(self, value: Any):
        self.value = value


class Continue(Jump):
    """``continue`` in a loop that is being followed."""


class Break(Jump):
    """``break`` in a loop that is being followed."""


class Raised(Jump):
    """``raise``: the file itself ends here, unless a ``try`` is around it."""

    def __init__(self, line: int):
        self.line = line


def joint(jumps: list[Jump]) -> tuple[Jump, list[Any]]:
    """Where to go on if every side of a choice jumps: where most is still read; and what else may be returned."""
    for kind in (Continue, Break):
        found = next((jump for jump in jumps if isinstance(jump, kind)), None)
        if found is not None:
            return found, [jump.value for jump in jumps if isinstance(jump, Return)]
    values = [jump.value for jump in jumps if isinstance(jump, Return)]
    return (Return(reduce(either, values)) if values else jumps[0]), []


def either(left: Any, right: Any) -> Any:
    """What is known of a value that is one of two.

    >>> either(3, 3), either(3, 5)
    (3, something only known at run time)
    """
    if left is right or (is_plain(left) and is_plain(right) and type(left) is type(right) and left == right):
        return left
    tasks = [value for value in (left, right) if holds_tasks(value)]
    if tasks:
        return tasks[0] if len(tasks) == 1 else _together(*tasks)
    for kind in (Function, Name):
        found = [value for value in (left, right) if isinstance(value, kind)]
        if found and all(isinstance(value, (Function, Name)) for value in (left, right)):
            return found[0]
    if isinstance(left, list) and isinstance(right, list) and same(left, right):
        return left
    return UNKNOWN


def _together(left: Any, right: Any) -> Any:
    both = [*(left if isinstance(left, list) else [left]), *(right if isinstance(right, list) else [right])]
    kept: list[Any] = []
    seen: set[Any] = set()
    for one in both:
        key = id(one.node) if isinstance(one, Ref) else id(one)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept[0] if len(kept) == 1 and isinstance(left, Ref) else kept


def holds_tasks(value: Any) -> bool:
    return any(isinstance(part, (Ref, Group)) for part in parts_of(value))


def merged(ends: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str], bool]:
    """The names after a choice; those that stand for different classes or functions, of which one was taken; and
    whether a name stands for other tasks on one side than on another."""
    made: dict[str, Any] = {}
    unlike: list[str] = []
    mixed = False
    for end in ends:
        for name, value in end.items():
            old = made.get(name, value)
            made[name] = old if old is value else either(old, value)
            if old is not value and isinstance(made[name], (Function, Name)) and not _alike(old, value):
                unlike.append(name)
            mixed = mixed or differ(old, value)
    return made, unlike, mixed or any(
        any(name not in end for end in ends) and holds_tasks(value) for name, value in made.items()
    )


def differ(left: Any, right: Any) -> bool:
    """Whether two values stand for different tasks."""
    if left is right or isinstance(left, Ref) and isinstance(right, Ref) and left.node is right.node:
        return False
    return holds_tasks(left) or holds_tasks(right)


def _alike(left: Any, right: Any) -> bool:
    return isinstance(left, Name) and isinstance(right, Name) and left.last == right.last


def matters(*nodes: ast.AST) -> bool:
    """Whether code may do something to a Dag: calls, arrows, changes of what is there, jumps."""
    for part in _walk(nodes):
        if isinstance(part, (ast.AugAssign, ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.RShift, ast.LShift)):
            return True
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            return True
        if isinstance(part, ast.Call) and last_name(part.func) not in HARMLESS:
            return True
    return False


def _walk(nodes: tuple[ast.AST, ...]) -> Iterator[ast.AST]:
    """Everything inside, except what is raised: a side that raises makes no Dag."""
    stack = list(nodes)
    while stack:
        part = stack.pop()
        if not isinstance(part, ast.Raise):
            yield part
            stack += ast.iter_child_nodes(part)


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; nothing for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def makes_tasks(node: ast.AST, function: Function | None = None, seen: set[ast.AST] | None = None) -> bool:
    """Whether code makes tasks, Dags or arrows, also through other functions of the file. seen: those looked at."""
    seen = set() if seen is None else seen
    seen.add(node)
    for part in _walk((node,)):
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.RShift, ast.LShift)):
            return True
        if not isinstance(part, ast.Call):
            continue
        name = last_name(part.func)
        if name in _MAKERS or name.endswith(_ENDS) or any(word.arg in ("task_id", "dag_id") for word in part.keywords):
            return True
        other = function.scope.get(name) if function is not None and isinstance(part.func, ast.Name) else None
        if isinstance(other, Function) and other.kind != "plain":
            return True
        if isinstance(other, Function) and other.node not in seen and makes_tasks(other.node, other, seen):
            return True
    return False


def has_yield(function: ast.AST) -> bool:
    """Whether a function is a generator."""
    stack: list[ast.AST] = list(ast.iter_child_nodes(function))
    while stack:
        part = stack.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, _DEFS):
            stack += ast.iter_child_nodes(part)
    return False


def misplaced(tree: ast.Module) -> tuple[str, int] | None:
    """The first ``return``, ``yield``, ``break`` or ``continue`` where Python takes none, with its line."""
    stack: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while stack:
        node, inside, loop = stack.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and not inside:
            return ("'return'" if isinstance(node, ast.Return) else "'yield'") + " outside function", node.lineno
        if isinstance(node, (ast.Break, ast.Continue)) and not loop:
            return f"'{type(node).__name__.lower()}' outside loop", node.lineno
        if isinstance(node, _DEFS):
            inside, loop = not isinstance(node, ast.ClassDef), False
        later = set(node.orelse if isinstance(node, _LOOPS) else ())
        within = loop or isinstance(node, _LOOPS)
        stack += [(part, inside, loop if part in later else within) for part in ast.iter_child_nodes(node)]
    return None

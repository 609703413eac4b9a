"""What the names of Airflow mean when a Dag file calls them: Dags, operators, decorators, arrows."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .airflow_builtins import PLAIN_CALLS, WITH_FUNCTION, plain_call
from .airflow_eval import Reader
from .airflow_flow import HARMLESS, last_name
from .airflow_methods import LOST
from .airflow_model import MORE, UNKNOWN, DagModel, Label, Node, Ref, nodes_of
from .airflow_plain import Default
from .airflow_scope import Bound, Function, Name
from .airflow_tasks import (
    Partial,
    check_defaults,
    function_call,
    joined,
    make_operator,
    method,
    open_group,
    text_or,
    wrap,
)

_UNITS = {
    "weeks": 604800,
    "days": 86400,
    "hours": 3600,
    "minutes": 60,
    "seconds": 1,
    "milliseconds": 0.001,
    "microseconds": 1e-6,
}


_OPERATOR_ENDS = ("Operator", "Sensor")


class Decorator:
    """``@task(retries=2)``: a decorator that was given something."""

    def __init__(self, name: Name, given: dict[str, Any]):
        self.name, self.given = name, given


class Early:
    """``functools.partial(function, ...)``: a function that has some of its arguments already."""

    def __init__(self, function: Any, args: list[Any], given: dict[str, Any]):
        self.function, self.args, self.given = function, args, given


def call(
    reader: Reader, node: Any, function: Any, args: list[Any], given: dict[str, Any], *, quiet: bool = False
) -> Any:
    """The value of ``function(*args, **given)``. quiet: nothing is said of what is handed to the unknown."""
    if isinstance(function, Early):
        return call(reader, node, function.function, [*function.args, *args], {**function.given, **given})
    if isinstance(function, Name):
        made = _named(reader, node, function, args, given)
    elif isinstance(function, Decorator):
        return _decorated(reader, node, function.name, args, function.given)
    elif isinstance(function, Function):
        return function_call(reader, node, function, args, given)
    elif isinstance(function, Bound):
        return method(reader, node, function, args, given)
    elif "task_id" in given:
        return make_operator(reader, node, Name("operator"), given)
    else:
        made = LOST
    if made is LOST and not quiet:
        _lost(reader, node, function, [*args, *given.values()])
    return UNKNOWN if made is LOST else made


def _lost(reader: Reader, node: Any, function: Any, handed: list[Any]) -> None:
    """Say what is handed to a call that is not followed: tasks, or functions that make some."""
    written = last_name(node.func) if isinstance(node, ast.Call) else ""
    name = function.last if isinstance(function, Name) else written or "something"
    if name in HARMLESS:
        return
    if any(isinstance(one, DagModel) for one in handed):
        reader.unseen(node, f"a Dag is handed to {name}, which cannot be followed")
    elif any(nodes_of(handed, "left")):
        reader.unseen(node, f"tasks are handed to {name}, which cannot be followed")
    elif any(isinstance(one, Function) and reader.makes(one) for one in handed):
        reader.unseen(node, f"a function that makes tasks is handed to {name}, which cannot be followed")


def _named(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    last, owner = name.last, name.dotted.rpartition(".")[0]
    if owner.endswith("functools") and last == "partial":
        return Early(args[0], args[1:], given) if args else UNKNOWN
    if owner.endswith("functools") and last in ("wraps", "cache", "lru_cache"):
        return args[0] if last != "wraps" and args and isinstance(args[0], Function) else Name("functools.cache")
    if owner.startswith("itertools"):
        last = "end_to_end" if last == "chain" else last
    elif last in _NAMED:
        return _NAMED[last](reader, node, name, args, given)
    if ".task." in f".{name.dotted}." or last in ("dag", "task", "task_group", "setup", "teardown", "asset"):
        return _decorator(reader, node, name, args, given)
    if last in PLAIN_CALLS or last in WITH_FUNCTION:
        reader.step(sum(len(arg) // 10 for arg in args if isinstance(arg, (list, dict, str))))
        made = plain_call(last, args, given, lambda function, more: call(reader, node, function, more, {}))
        reader.step(len(made) // 100 if isinstance(made, (list, dict)) else 0)
        return LOST if made is UNKNOWN else made
    if last == "partial" and owner:
        operator = Name(owner)
        return Partial(
            lambda more, expand: make_operator(reader, node, operator, {**given, **more}, expand), given
        )
    if "task_id" in given or last.endswith(_OPERATOR_ENDS):
        return make_operator(reader, node, name, given)
    return LOST


def _decorator(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    """``@task``, ``@task(...)``, ``task(function)``; likewise dag, task_group, setup and teardown."""
    if args and isinstance(args[0], Function):
        return _decorated(reader, node, name, args, given)
    if name.last == "dag" and args and isinstance(args[0], str):
        given = {"dag_id": args[0], **given}
    if name.last == "task_group" and args and isinstance(args[0], str):
        given = {"group_id": args[0], **given}
    return Decorator(name, given)


def _decorated(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    function = args[0] if args else UNKNOWN
    if not isinstance(function, Function):
        return UNKNOWN
    last = name.last
    if last in ("dag", "task_group"):
        return replace(function, kind=last, given=given)
    if last == "asset":
        return _make_asset(reader, node, function, given)
    if last in ("setup", "teardown"):
        given = {**given, f"is_{last}": True}
    operator = "task" if last in ("setup", "teardown") else f"task.{last}".replace("task.task", "task")
    return replace(function, kind="task", given={**function.given, **given}, operator=operator)


def _make_dag(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    dag_id = given.get("dag_id", args[0] if args else UNKNOWN)
    if not isinstance(dag_id, str):
        reader.unseen(node, "a Dag whose id is only known at run time; the file's name was taken")
        dag_id = reader.stem
    model = DagModel(dag_id, given)
    check_defaults(reader, node, f"Dag '{dag_id}'", given)
    reader.dags.append(model)
    return model


def _make_asset(reader: Reader, node: Any, function: Function, given: dict[str, Any]) -> Function:
    """``@asset``: a Dag of one task, both called like the function."""
    name = text_or(given.get("name"), function.name)
    model = DagModel(name, given)
    model.nodes[name] = Node(name, {}, "asset", node.lineno, model)
    reader.dags.append(model)
    return function


def _make_group(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    group_id = given.get("group_id", args[0] if args else UNKNOWN)
    if not isinstance(group_id, str):
        reader.unseen(node, "a task group whose id is only known at run time")
        group_id = f"group_line_{node.lineno}"
    check_defaults(reader, node, f"task group '{group_id}'", given)
    return open_group(reader, group_id, given)


def _chain(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> None:
    """``chain(a, [b, c], [d, e], f)``: lists of equal length pair up. ``chain_linear`` joins all with all."""
    args = [arg for arg in args if not isinstance(arg, Label)]
    if MORE in args:
        reader.unseen(node, "chain() of something only known at run time")
        return
    for left, right in zip(args, args[1:], strict=False):
        pairs = [(left, right)]
        if name.last == "chain" and isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                reader.unseen(node, "chain() of lists of different length, which Airflow refuses")
            pairs = list(zip(left, right, strict=False))
        for up, down in pairs:
            if not joined(reader, up, down):
                reader.unseen(node, "chain() with something that is not seen as a task")


def _cross(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> None:
    ends = [*args, given.get("from_tasks", []), given.get("to_tasks", [])]
    ends = [end for end in ends if end != []]
    if len(ends) < 2 or not joined(reader, ends[0], ends[1]):
        reader.unseen(node, "cross_downstream() with something that is not seen as a task")


def _span(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    """``timedelta(minutes=5)`` in seconds."""
    parts = dict(zip(("days", "seconds", "microseconds"), args, strict=False)) | given
    if not all(key in _UNITS and type(value) in (int, float) for key, value in parts.items()):
        return UNKNOWN
    total = sum(_UNITS[key] * value for key, value in parts.items())
    return total if math.isfinite(total) else UNKNOWN


def _asset_name(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    return given.get("name", args[0] if args else UNKNOWN)


def _value_of(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    """``XComArg(task)``: what the task returns."""
    found = given.get("operator", args[0] if args else UNKNOWN)
    return Ref(found.node, data=True) if isinstance(found, Ref) else LOST


def _default_dict(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    made = Default(args[1] if len(args) > 1 and isinstance(args[1], dict) else given)
    made.make = args[0] if args else UNKNOWN
    return made if len(args) < 2 or isinstance(args[1], dict) else UNKNOWN


def _getattr(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    known = len(args) == 2 and isinstance(args[1], str)
    return reader.attribute(*args) if known else UNKNOWN


def _setattr(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    if len(args) == 3 and isinstance(args[1], str):
        return reader.set_attribute(*args)
    reader.unseen(node, "setattr() of something only known at run time")
    return None


_NAMED: dict[str, Callable[..., Any]] = {
    "DAG": _make_dag,
    "TaskGroup": _make_group,
    "chain": _chain,
    "chain_linear": _chain,
    "cross_downstream": _cross,
    "timedelta": _span,
    "duration": _span,
    "Label": lambda *_: Label(),
    "Asset": _asset_name,
    "XComArg": _value_of,
    "defaultdict": _default_dict,
    "getattr": _getattr,
    "setattr": _setattr,
}


class Calls:
    """The two things the reader of Python asks about Airflow."""

    __call__ = staticmethod(call)
    wrap = staticmethod(wrap)

"""What the names of Airflow mean when a Dag file calls them: Dags, operators, decorators, arrows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from .airflow_eval import MAX_ITEMS, Bound, Function, Name, Reader, is_plain, items_of
from .airflow_model import (
    UNKNOWN,
    DagModel,
    Group,
    Label,
    Node,
    Ref,
    arrow,
    between,
    data_refs,
    nodes_of,
    relate,
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
_TEXT_METHODS = (
    "lower",
    "upper",
    "strip",
    "replace",
    "title",
    "removeprefix",
    "removesuffix",
    "split",
    "join",
    "startswith",
    "endswith",
)
_OPERATOR_ENDS = ("Operator", "Sensor")


class Partial:
    """``Operator.partial(...)`` or ``function.partial(...)``, waiting for ``expand``."""

    def __init__(self, make: Callable[[dict[str, Any], dict[str, Any]], Any], given: dict[str, Any]):
        self.make, self.given = make, given


class Decorator:
    """``@task(retries=2)``: a decorator that was given something."""

    def __init__(self, name: Name, given: dict[str, Any]):
        self.name, self.given = name, given


def call(reader: Reader, node: Any, function: Any, args: list[Any], given: dict[str, Any]) -> Any:
    """The value of ``function(*args, **given)``."""
    if isinstance(function, Name):
        return _named(reader, node, function, args, given)
    if isinstance(function, Decorator):
        return _decorated(reader, node, function.name, args, function.given)
    if isinstance(function, Function):
        return _function(reader, node, function, args, given)
    if isinstance(function, Bound):
        return _method(reader, node, function, args, given)
    if any(data_refs([args, given])):
        reader.unseen(node, "tasks are handed to something that cannot be followed")
    return UNKNOWN


# ---- names ---------------------------------------------------------------------------------------------------


def _named(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    last = name.last
    special = _NAMED.get(last)
    if special is not None:
        return special(reader, node, name, args, given)
    if ".task." in f".{name.dotted}." or last in ("dag", "task", "task_group", "setup", "teardown", "asset"):
        return _decorator(reader, node, name, args, given)
    if last in _PLAIN_CALLS:
        return _plain_call(last, args)
    owner = name.dotted.rpartition(".")[0]
    if last == "partial" and owner and not owner.endswith("functools"):
        operator = Name(owner)
        return Partial(
            lambda more, expand: _operator(reader, node, operator, {**given, **more}, expand), given
        )
    if "task_id" in given or last.endswith(_OPERATOR_ENDS):
        return _operator(reader, node, name, given)
    if any(nodes_of(list(args) + list(given.values()), "left")):
        reader.unseen(node, f"tasks are handed to {last}, which cannot be followed")
    return UNKNOWN


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
        return Function(function.node, function.scope, last, given)
    if last == "asset":
        return _make_asset(reader, node, function, given)
    if last in ("setup", "teardown"):
        given = {**given, f"is_{last}": True}
    operator = "task" if last in ("setup", "teardown") else f"task.{last}".replace("task.task", "task")
    return Function(function.node, function.scope, "task", {**function.given, **given}, operator)


def _make_dag(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    dag_id = given.get("dag_id", args[0] if args else UNKNOWN)
    if not isinstance(dag_id, str):
        reader.unseen(node, "a Dag whose id is only known at run time; the file's name was taken")
        dag_id = reader.stem
    model = DagModel(dag_id, given)
    reader.dags.append(model)
    return model


def _make_asset(reader: Reader, node: Any, function: Function, given: dict[str, Any]) -> Function:
    """``@asset``: a Dag of one task, both called like the function."""
    name = _text_or(given.get("name"), function.name)
    model = DagModel(name, given)
    model.nodes[name] = Node(name, {}, "asset", node.lineno, model)
    reader.dags.append(model)
    return function


def _make_group(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    group_id = given.get("group_id", args[0] if args else UNKNOWN)
    if not isinstance(group_id, str):
        reader.unseen(node, "a task group whose id is only known at run time")
        group_id = f"group_line_{node.lineno}"
    return open_group(reader, group_id, given)


def open_group(reader: Reader, group_id: str, given: dict[str, Any]) -> Group:
    """A new group inside the open ones; a name that is taken gets ``__1``, ``__2``, as in Airflow."""
    outer = reader.group_stack[-1].prefix if reader.group_stack else ""
    dag = reader.dag_stack[-1] if reader.dag_stack else None
    full = outer + group_id
    if dag is not None:
        count = dag.groups.get(full, 0)
        dag.groups[full] = count + 1
        full = f"{full}__{count}" if count else full
    prefix = f"{full}." if given.get("prefix_group_id") is not False else ""
    return Group(full, prefix, given)


def _chain(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> None:
    """``chain(a, [b, c], [d, e], f)``: lists of equal length pair up. ``chain_linear`` joins all with all."""
    args = [arg for arg in args if not isinstance(arg, Label)]
    for left, right in zip(args, args[1:], strict=False):
        pairs = [(left, right)]
        if name.last == "chain" and isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                reader.unseen(node, "chain() of lists of different length, which Airflow refuses")
            pairs = list(zip(left, right, strict=False))
        for up, down in pairs:
            if not relate(up, down):
                reader.unseen(node, "chain() with something that is not seen as a task")


def _cross(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> None:
    ends = [*args, given.get("from_tasks", []), given.get("to_tasks", [])]
    ends = [end for end in ends if end != []]
    if len(ends) < 2 or not relate(ends[0], ends[1]):
        reader.unseen(node, "cross_downstream() with something that is not seen as a task")


def _span(reader: Reader, node: Any, name: Name, args: list[Any], given: dict[str, Any]) -> Any:
    """``timedelta(minutes=5)`` in seconds."""
    parts = dict(zip(("days", "seconds", "microseconds"), args, strict=False)) | given
    if not all(key in _UNITS and type(value) in (int, float) for key, value in parts.items()):
        return UNKNOWN
    total = sum(_UNITS[key] * value for key, value in parts.items())
    return total if math.isfinite(total) else UNKNOWN


_NAMED: dict[str, Callable[..., Any]] = {
    "DAG": _make_dag,
    "TaskGroup": _make_group,
    "chain": _chain,
    "chain_linear": _chain,
    "cross_downstream": _cross,
    "timedelta": _span,
    "duration": _span,
    "Label": lambda *_: Label(),
}


def _plain_call(name: str, args: list[Any]) -> Any:
    """A builtin on plain values; nothing that could run code or grow large."""
    try:
        made = _PLAIN_CALLS[name](*args)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return made if not isinstance(made, list) or len(made) <= MAX_ITEMS else UNKNOWN


def _range(*args: Any) -> Any:
    if not all(type(arg) is int for arg in args) or len(range(*args)) > MAX_ITEMS:
        return UNKNOWN
    return list(range(*args))


def _items(value: Any) -> list[Any]:
    items = items_of(value)
    if items is None:
        raise ValueError
    return items


def _text(value: Any = "") -> Any:
    return str(value) if is_plain(value) else UNKNOWN


_PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "range": _range,
    "str": _text,
    "len": lambda value: len(_items(value)),
    "list": lambda value=(): list(_items(value)) if value != () else [],
    "tuple": lambda value=(): list(_items(value)) if value != () else [],
    "set": lambda value=(): list(_items(value)) if value != () else [],
    "reversed": lambda value: _items(value)[::-1],
    "sorted": lambda value: sorted(_items(value)),
    "enumerate": lambda value, start=0: [[i, item] for i, item in enumerate(_items(value), start)],
    "zip": lambda *values: [list(row) for row in zip(*map(_items, values), strict=False)],
    "dict": lambda value=None: dict(value) if isinstance(value, dict) else {} if value is None else UNKNOWN,
    "int": lambda value: int(value) if type(value) in (int, float, bool) else UNKNOWN,
}


# ---- tasks ---------------------------------------------------------------------------------------------------


def _operator(
    reader: Reader, node: Any, name: Name, given: dict[str, Any], expand: dict[str, Any] | None = None
) -> Any:
    """A classic operator: any class called with a task_id."""
    task_id = given.get("task_id", UNKNOWN)
    if not isinstance(task_id, str):
        reader.unseen(node, f"a {name.last} whose task_id is only known at run time was left out")
        return UNKNOWN
    return Ref(add_node(reader, node, task_id, given, name.last, expand))


def add_node(
    reader: Reader,
    node: Any,
    task_id: str,
    given: dict[str, Any],
    operator: str,
    expand: dict[str, Any] | None = None,
    *,
    again: bool = False,
) -> Node:
    """A task in the open Dag and groups. again: a decorated function called twice gets ``__1``, as in Airflow."""
    group = given.get("task_group") if isinstance(given.get("task_group"), Group) else None
    group = group or (reader.group_stack[-1] if reader.group_stack else None)
    dag = given.get("dag") if isinstance(given.get("dag"), DagModel) else None
    dag = dag or (reader.dag_stack[-1] if reader.dag_stack else None)
    task_id = (group.prefix if group else "") + task_id
    taken = dag.nodes if dag else {}
    if again and task_id in taken:
        task_id = next(t for t in (f"{task_id}__{i}" for i in range(1, MAX_ITEMS)) if t not in taken)
    elif task_id in taken:
        reader.unseen(node, f"task id '{task_id}' is given twice, which Airflow refuses; the first was kept")
        return taken[task_id]
    made = Node(
        task_id, {**_defaults(dag, reader.group_stack), **given}, operator, node.lineno, dag, expand=expand
    )
    if dag is None:
        reader.loose.append(made)
    else:
        dag.nodes[task_id] = made
    for one in reader.group_stack if group in reader.group_stack or group is None else [group]:
        one.nodes.append(made)
    for watched in reader.watchers:
        watched.append(made)
    for up in data_refs([value for key, value in given.items() if key not in ("dag", "task_group")]):
        arrow(up, made)
    for up in data_refs(list((expand or {}).values())):
        arrow(up, made)
    return made


def _defaults(dag: DagModel | None, groups: Iterable[Group]) -> dict[str, Any]:
    """``default_args`` of the Dag, over them those of the groups from the outside in."""
    made: dict[str, Any] = {}
    for given in ([dag.given] if dag else []) + [group.given for group in groups]:
        found = given.get("default_args")
        made.update({str(key): value for key, value in found.items()} if isinstance(found, dict) else {})
    return made


def _function(reader: Reader, node: Any, function: Function, args: list[Any], given: dict[str, Any]) -> Any:
    function.called = True
    if function.kind == "task":
        return _task(reader, node, function, {**dict(enumerate(args)), **given})
    if function.kind == "dag":
        return _dag_body(reader, node, function, args, given)
    if function.kind == "task_group":
        group = open_group(reader, _text_or(function.given.get("group_id"), function.name), function.given)
        reader.group_stack.append(group)
        try:
            result = reader.follow(function, args, given)
        finally:
            reader.group_stack.pop()
        return group if result is None or result is UNKNOWN else result
    return reader.follow(function, args, given)


def _text_or(value: Any, other: str) -> str:
    return value if isinstance(value, str) else other


def _task(
    reader: Reader,
    node: Any,
    function: Function,
    handed: dict[Any, Any],
    expand: dict[str, Any] | None = None,
) -> Ref:
    """A call of an ``@task`` function: a task, after every task whose result it is handed."""
    task_id = _text_or(function.given.get("task_id"), function.name)
    made = add_node(reader, node, task_id, function.given, function.operator, expand, again=True)
    for up in data_refs(handed):
        arrow(up, made)
    return Ref(made, data=True)


def _dag_body(
    reader: Reader, node: Any, function: Function, args: list[Any], given: dict[str, Any]
) -> DagModel:
    model = DagModel(_text_or(function.given.get("dag_id"), function.name), function.given)
    reader.dags.append(model)
    held, reader.group_stack = reader.group_stack, []
    reader.dag_stack.append(model)
    try:
        reader.follow(function, args, given)
    finally:
        reader.dag_stack.pop()
        reader.group_stack = held
    return model


# ---- methods -------------------------------------------------------------------------------------------------


def _method(reader: Reader, node: Any, bound: Bound, args: list[Any], given: dict[str, Any]) -> Any:
    owner, name = bound.owner, bound.name
    if isinstance(owner, Function):
        return _function_method(reader, node, owner, name, args, given)
    if isinstance(owner, Partial) and name in ("expand", "expand_kwargs"):
        return owner.make({}, given if name == "expand" else {"kwargs": args[0] if args else UNKNOWN})
    if isinstance(owner, (Ref, Group)):
        return _task_method(reader, node, owner, name, args, given)
    return _value_method(owner, name, args)


def _function_method(
    reader: Reader, node: Any, function: Function, name: str, args: list[Any], given: dict[str, Any]
) -> Any:
    function.called = True
    if name == "override":
        return Function(
            function.node, function.scope, function.kind, {**function.given, **given}, function.operator
        )
    if function.kind == "task" and name == "partial":
        return Partial(lambda more, expand: _task(reader, node, function, {**given, **expand}, expand), given)
    if function.kind == "task" and name in ("expand", "expand_kwargs"):
        over = given if name == "expand" else {"kwargs": args[0] if args else UNKNOWN}
        return _task(reader, node, function, over, over)
    if function.kind == "task_group" and name == "partial":
        return Partial(lambda more, expand: _mapped_group(reader, node, function, given, expand), given)
    if function.kind == "task_group" and name in ("expand", "expand_kwargs"):
        return _mapped_group(reader, node, function, {}, given or {"kwargs": args})
    return UNKNOWN


def _mapped_group(
    reader: Reader, node: Any, function: Function, given: dict[str, Any], over: dict[Any, Any]
) -> Any:
    """A mapped task group, read once; what it is mapped over comes before its first tasks."""
    reader.unseen(node, "a mapped task group is shown once")
    before = set(reader.dag_stack[-1].nodes) if reader.dag_stack else set()
    result = _function(reader, node, function, [], {**given, **{str(k): UNKNOWN for k in over}})
    made = (
        [n for name, n in reader.dag_stack[-1].nodes.items() if name not in before]
        if reader.dag_stack
        else []
    )
    for up in data_refs(over):
        for start in Group("", "", {}, made).roots():
            arrow(up, start)
    return result


def _task_method(
    reader: Reader, node: Any, owner: Any, name: str, args: list[Any], given: dict[str, Any]
) -> Any:
    others = [*args, *given.values()]
    if name in ("set_upstream", "set_downstream"):
        pair = (others[:1], owner) if name == "set_upstream" else (owner, others[:1])
        if not relate(*pair):
            reader.unseen(node, f"{name}() with something that is not seen as a task")
        return None
    if isinstance(owner, Group):
        return UNKNOWN
    if name == "as_setup":
        owner.node.given["is_setup"] = True
        return owner
    if name == "as_teardown":
        owner.node.given["is_teardown"] = True
        for setup in nodes_of(given.get("setups", args[:1]), "left"):
            setup.given["is_setup"] = True
            arrow(setup, owner.node)
        return owner
    return Ref(owner.node, data=True) if name in ("map", "zip", "concat") else UNKNOWN


def _value_method(owner: Any, name: str, args: list[Any]) -> Any:
    if isinstance(owner, list) and name in ("append", "extend", "insert") and args and len(owner) < MAX_ITEMS:
        owner += items_of(args[0]) or [] if name == "extend" else [args[-1]]
        return None
    if isinstance(owner, dict) and name in ("items", "values", "keys"):
        made = {
            "items": [[k, v] for k, v in owner.items()],
            "values": list(owner.values()),
            "keys": list(owner),
        }
        return made[name]
    if isinstance(owner, dict) and name == "get" and args and is_plain(args[0]):
        return owner.get(args[0], args[1] if len(args) > 1 else None)
    if isinstance(owner, dict) and name == "update" and args and isinstance(args[0], dict):
        owner.update(args[0])
        return None
    if isinstance(owner, dict) and name == "copy":
        return dict(owner)
    if isinstance(owner, str) and name in _TEXT_METHODS:
        return _text_method(owner, name, args)
    return UNKNOWN


def _text_method(owner: str, name: str, args: list[Any]) -> Any:
    """A method of a text whose result cannot be much longer than what goes in."""
    if name == "replace" and (not args or args[0] == ""):
        return UNKNOWN
    if len(owner) * (1 + sum(len(str(arg)) for arg in args if is_plain(arg))) > MAX_ITEMS * 10:
        return UNKNOWN
    if (
        name == "join"
        and args
        and sum(len(item) + len(owner) for item in items_of(args[0]) or () if isinstance(item, str))
        > MAX_ITEMS
    ):
        return UNKNOWN
    try:
        return getattr(owner, name)(*args)
    except (TypeError, ValueError):
        return UNKNOWN


def wrap(value: Any, inside: list[Node]) -> None:
    """The end of ``with setup >> teardown:`` or ``with teardown:``."""
    named = list(nodes_of(value, "right"))
    teardowns = [node for node in named if node.is_teardown]
    setups = [node for node in named if node.given.get("is_setup") is True]
    for teardown in teardowns:
        setups += [up for up in teardown.up if up.given.get("is_setup") is True]
    between(dict.fromkeys(setups), teardowns, inside)


class Calls:
    """The two things the reader of Python asks about Airflow."""

    __call__ = staticmethod(call)
    wrap = staticmethod(wrap)

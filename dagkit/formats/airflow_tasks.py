"""How a Dag file makes tasks: operators, decorated functions, groups, mapping, setup and teardown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..errors import shown
from .airflow_eval import Reader
from .airflow_methods import LOST, value_method
from .airflow_model import (
    UNKNOWN,
    DagModel,
    Group,
    Node,
    Ref,
    apart,
    arrow,
    between,
    data_refs,
    nodes_of,
    relate,
)
from .airflow_plain import is_open
from .airflow_scope import Bound, Function, Name, is_plain


class Partial:
    """``Operator.partial(...)`` or ``function.partial(...)``, waiting for ``expand``."""

    def __init__(self, make: Callable[[dict[str, Any], dict[str, Any]], Any], given: dict[str, Any]):
        self.make, self.given = make, given


def open_group(reader: Reader, group_id: str, given: dict[str, Any]) -> Group:
    """A new group inside the open ones; a name that is taken gets ``__1``, ``__2``, as in Airflow."""
    outer = reader.group_stack[-1].prefix if reader.group_stack else ""
    dag = reader.dag_stack[-1] if reader.dag_stack else None
    full = outer + group_id
    if dag is not None and not apart(dag.group_paths.setdefault(full, reader.path), reader.path):
        count = dag.groups.get(full, 0)
        dag.groups[full] = count + 1
        full = f"{full}__{count}" if count else full
    prefix = f"{full}." if given.get("prefix_group_id") is not False else ""
    return Group(full, prefix, given)


def joined(reader: Reader, left: Any, right: Any) -> int:
    """``left >> right``, counted as that many steps."""
    count = relate(left, right)
    reader.step(count)
    return count


def make_operator(
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
    if task_id in taken and apart(taken[task_id].path, reader.path):
        told = f"task id '{shown(task_id)}' is on several sides of a choice; what the first gives it was kept"
        reader.unseen(node, told)
        return taken[task_id]
    if again and dag is not None and task_id in taken:
        number = dag.again[task_id] = dag.again.get(task_id, 0) + 1
        task_id = f"{task_id}__{number}"
    elif task_id in taken:
        reader.unseen(node, f"task id '{shown(task_id)}' is given twice, which Airflow refuses; the first was kept")
        return taken[task_id]
    given = {**_defaults(dag, reader.group_stack), **given}
    made = Node(task_id, given, operator, node.lineno, dag, expand=expand, path=reader.path)
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
        known = found if isinstance(found, dict) else {}
        made.update({key: value for key, value in known.items() if isinstance(key, str)})
    return made


def check_defaults(reader: Reader, node: Any, who: str, given: dict[str, Any]) -> None:
    """Say so if ``default_args``, or a part of them, are not known."""
    found = given.get("default_args")
    if found is not None and not isinstance(found, dict):
        reader.unseen(node, f"default_args of {shown(who)} are only known at run time; they were ignored")
    elif found and is_open(found):
        reader.unseen(node, f"default_args of {shown(who)} are partly known at run time only; that part was ignored")


def function_call(
    reader: Reader, node: Any, function: Function, args: list[Any], given: dict[str, Any]
) -> Any:
    function.called = True
    if function.kind == "task":
        return _task(reader, node, function, {**dict(enumerate(args)), **given})
    if function.kind == "dag":
        return _dag_body(reader, node, function, args, given)
    if function.kind == "task_group":
        group_id = text_or(function.given.get("group_id"), function.name)
        check_defaults(reader, node, f"task group '{group_id}'", function.given)
        group = open_group(reader, group_id, function.given)
        reader.group_stack.append(group)
        try:
            result = reader.follow(function, args, given)
        finally:
            reader.group_stack.pop()
        return group if result is None or result is UNKNOWN else result
    return reader.follow(function, args, given)


def text_or(value: Any, other: str) -> str:
    return value if isinstance(value, str) else other


def _task(
    reader: Reader,
    node: Any,
    function: Function,
    handed: dict[Any, Any],
    expand: dict[str, Any] | None = None,
) -> Ref:
    """A call of an ``@task`` function: a task, after every task whose result it is handed."""
    task_id = text_or(function.given.get("task_id"), function.name)
    made = add_node(reader, node, task_id, function.given, function.operator, expand, again=True)
    for up in data_refs(handed):
        arrow(up, made)
    return Ref(made, data=True)


def _dag_body(
    reader: Reader, node: Any, function: Function, args: list[Any], given: dict[str, Any]
) -> DagModel:
    model = DagModel(text_or(function.given.get("dag_id"), function.name), function.given)
    check_defaults(reader, node, f"Dag '{model.dag_id}'", function.given)
    reader.dags.append(model)
    held, reader.group_stack = reader.group_stack, []
    reader.dag_stack.append(model)
    try:
        reader.follow(replace(function, defaults={}), [], {})  # its arguments are parameters of a run
    finally:
        reader.dag_stack.pop()
        reader.group_stack = held
    return model


def method(reader: Reader, node: Any, bound: Bound, args: list[Any], given: dict[str, Any]) -> Any:
    owner, name = bound.owner, bound.name
    if isinstance(owner, Function):
        return _function_method(reader, node, owner, name, args, given)
    if isinstance(owner, Partial) and name in ("expand", "expand_kwargs"):
        return owner.make({}, given if name == "expand" else {"kwargs": args[0] if args else UNKNOWN})
    if isinstance(owner, (Ref, Group)):
        return _task_method(reader, node, owner, name, args, given)
    if isinstance(owner, DagModel) and name == "get_task" and is_plain(args[0] if args else UNKNOWN):
        return Ref(owner.nodes[args[0]]) if args[0] in owner.nodes else UNKNOWN
    if isinstance(owner, (list, dict)):
        reader.step(1 + len(owner) // (10 if name in ("count", "index", "remove", "update") else 500))
    made = value_method(owner, name, args, given, lambda function, more: reader.calls(reader, node, function, more, {}))
    if made is LOST:
        kind = "dictionary" if isinstance(owner, dict) else "list"
        reader.unseen(node, f"{name}() of a {kind}, which cannot be followed")
    elif made is UNKNOWN and any(nodes_of([*args, *given.values()], "left")):
        reader.unseen(node, f"tasks are handed to {name}(), which cannot be followed")
    return UNKNOWN if made is LOST else made


def _function_method(
    reader: Reader, node: Any, function: Function, name: str, args: list[Any], given: dict[str, Any]
) -> Any:
    function.called = True
    if name == "override":
        return replace(function, given={**function.given, **given})
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
    result = function_call(reader, node, function, [], {**given, **{str(k): UNKNOWN for k in over}})
    made = (
        [n for name, n in reader.dag_stack[-1].nodes.items() if name not in before]
        if reader.dag_stack
        else []
    )
    for up in data_refs(over):
        for start in Group("", "", {}, made).roots():
            arrow(up, start)
    name = text_or(function.given.get("group_id"), function.name)
    for member in made:
        member.mapped_group = name
    if reader.dag_stack:
        reader.dag_stack[-1].mapped_groups[name] = over
    return result


def _task_method(
    reader: Reader, node: Any, owner: Any, name: str, args: list[Any], given: dict[str, Any]
) -> Any:
    others = [*args, *given.values()]
    if name in ("set_upstream", "set_downstream"):
        pair = (others[:1], owner) if name == "set_upstream" else (owner, others[:1])
        if not joined(reader, *pair):
            reader.unseen(node, f"{name}() with something that is not seen as a task")
        return None
    if isinstance(owner, Group):
        if any(nodes_of(others, "left")):
            reader.unseen(node, f"tasks are handed to {name}() of a task group, which cannot be followed")
        return UNKNOWN
    if name == "as_setup":
        owner.node.given["is_setup"] = True
        return owner
    if name == "as_teardown":
        owner.node.given["is_teardown"] = True
        owner.node.given.setdefault("on_failure_fail_dagrun", given.get("on_failure_fail_dagrun"))
        for setup in nodes_of(given.get("setups", args[:1]), "left"):
            setup.given["is_setup"] = True
            arrow(setup, owner.node)
        return owner
    if name in ("zip", "concat"):
        return Ref(owner.node, data=True, others=(*owner.others, *data_refs(others)))
    return Ref(owner.node, data=True, others=owner.others) if name == "map" else UNKNOWN


def wrap(value: Any, inside: list[Node]) -> None:
    """The end of ``with setup >> teardown:`` or ``with teardown:``."""
    named = list(nodes_of(value, "right"))
    teardowns = [node for node in named if node.is_teardown]
    setups = [node for node in named if node.given.get("is_setup") is True]
    for teardown in teardowns:
        setups += [up for up in teardown.up if up.given.get("is_setup") is True]
    between(dict.fromkeys(setups), teardowns, inside)

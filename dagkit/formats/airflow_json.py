"""Airflow's serialized Dag, as the metadata database keeps it, and the task listing of its REST API.

Definition: airflow/serialization/schema.json in https://github.com/apache/airflow (``__version`` 1 to 3).
Version 3 may keep defaults apart (``client_defaults``); older ones write some names with a leading
underscore.
"""

from __future__ import annotations

from typing import Any

from ..checks import is_number
from ..errors import shown
from .airflow_params import DAG_NAMES, NAMES, add_expands, dag_options, task_parameters
from .draft import Draft, label
from .loaded import Loaded
from .safe import as_dict, as_list, parse_json
from .source import Source

NAME = "airflow"
TITLE = "Airflow serialized Dag"
DEFINITION = "https://github.com/apache/airflow/blob/main/airflow-core/src/airflow/serialization/schema.json"

_DEPTH = 40


def matches(data: Any) -> bool:
    """``dag`` with ``tasks``, a row of the serialized_dag table, or a list of tasks with their downstream
    ids."""
    return _unwrapped(data) is not None


def _unwrapped(data: Any) -> dict[str, Any] | None:
    """The object that holds ``tasks``, with ``client_defaults`` brought inside."""
    defaults: Any = None
    for _ in range(4):
        if isinstance(data, list) and len(data) == 1:
            data = data[0]
        data = as_dict(data)
        defaults = data.get("client_defaults", defaults)
        tasks = data.get("tasks")
        if isinstance(tasks, list) and tasks and all(_operator(t).get("task_id") for t in tasks[:3]):
            looks = any(key in data for key in ("dag_id", "_dag_id", "fileloc", "_task_group", "task_group"))
            if looks or "downstream_task_ids" in _operator(tasks[0]):
                return {**data, "client_defaults": defaults}
        if isinstance(tasks, list) and not tasks and ("dag_id" in data or "_dag_id" in data):
            return data
        data = data.get("dag", data.get("data"))
    return None


def _operator(task: Any) -> dict[str, Any]:
    """A task's fields, which newer versions wrap as ``{"__type": "operator", "__var": {...}}``."""
    task = as_dict(task)
    return as_dict(task["__var"]) if isinstance(task.get("__var"), dict) else task


def decoded(value: Any, depth: int = 0) -> Any:
    """A serialized value as plain data: ``{"__type": "timedelta", "__var": 300.0}`` is 300.0.

    >>> decoded({"__type": "TimeDelta", "days": 1, "seconds": 5, "microseconds": 0})
    86405
    """
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return [decoded(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("__type") == "TimeDelta":
        days, rest = value.get("days", 0), value.get("seconds", 0)
        return days * 86400 + rest if is_number(days) and is_number(rest) else value  # refused where it is used
    if "__var" in value:
        inner = value["__var"]
        if value.get("__type") in ("xcomref", "XComRef"):
            return {"xcom": inner}
        if isinstance(inner, dict):
            return {key: decoded(item, depth + 1) for key, item in inner.items()}
        return decoded(inner, depth + 1)
    return {key: decoded(item, depth + 1) for key, item in value.items()}


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag as Airflow's scheduler sees it; times in seconds, each duration (unknown) 1 s."""
    data = parse_json(source) if data is None else data
    found = _unwrapped(data)
    if found is None:
        raise source.bad(
            "a serialized Dag with 'dag' and 'tasks'",
            type(data).__name__,
            "Take the column 'data' of the table serialized_dag.",
        )
    draft = Draft(NAME, source, label(_field(found, "dag_id")) or None)
    defaults = as_dict(as_dict(found.get("client_defaults")).get("tasks"))
    operators = {label(one.get("task_id")): one for one in map(_operator, found["tasks"])}
    parameters = {name: _parameters(one, defaults) for name, one in operators.items()}
    for name in operators:
        draft.task(name, (), **task_parameters(draft, name, parameters[name]))
    for name, one in operators.items():
        for down in as_list(_field(one, "downstream_task_ids")):
            if label(down) in operators:
                draft.edge(name, label(down))
            else:
                draft.note(f"Task '{shown(name)}': downstream '{shown(down)}' is not in this file; ignored.")
    add_expands(draft, {name: _sources(one) for name, one in operators.items() if _is_mapped(one)})
    _remarks(draft, found, operators)
    options = {
        key: decoded(_field(found, key))
        for key in DAG_NAMES
    }
    if options["max_active_tasks"] is None:
        options["max_active_tasks"] = _field(found, "concurrency")
    return draft.finish(unit="s", **dag_options(draft, options))


def _field(data: dict[str, Any], name: str) -> Any:
    """A field under its name or, in older versions, with an underscore before it."""
    return data.get(name, data.get(f"_{name}"))


def _parameters(one: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """What a task sets, on top of what a mapped task's partial() and the file's defaults set."""
    layers = (one, as_dict(decoded(one.get("partial_kwargs"))), defaults)
    made = {}
    for name in NAMES:
        made[name] = next(
            (decoded(v) for v in (_field(layer, name) for layer in layers) if v is not None), None
        )
    if isinstance(made["weight_rule"], dict):
        made["weight_rule"] = made["weight_rule"].get("__type")
    kind = label(_field(one, "task_type"))
    made["empty"] = _field(one, "is_empty") is True or kind in ("EmptyOperator", "DummyOperator")
    return made


def _is_mapped(one: dict[str, Any]) -> bool:
    return bool(_field(one, "is_mapped") or one.get("expand_input") or one.get("op_kwargs_expand_input"))


def _sources(one: dict[str, Any]) -> dict[str, Any]:
    """What a task is mapped over: ``expand_input``, or ``op_kwargs_expand_input`` for decorated functions."""
    sources: dict[str, Any] = {}
    for key in ("expand_input", "op_kwargs_expand_input", "mapped_kwargs"):
        value = decoded(one.get(key))
        value = value.get("value") if isinstance(value, dict) and "type" in value else value
        if isinstance(value, list):
            sources["kwargs"] = len(value)
        elif isinstance(value, dict) and "xcom" in value:
            sources["kwargs"] = _producer(value["xcom"])
        else:
            sources.update({arg: _length(over) for arg, over in as_dict(value).items()})
    return sources


def _length(over: Any) -> Any:
    if isinstance(over, dict):
        return _producer(over["xcom"]) if "xcom" in over else len(over)
    return len(over) if isinstance(over, list) else ""


def _producer(reference: Any) -> str:
    """The task whose plain return value is referred to; mapped, zipped or joined values have no single
    one."""
    reference = as_dict(decoded(reference))
    return label(reference.get("task_id")) if reference.get("type") in (None, "plain") else ""


def _remarks(draft: Draft, found: dict[str, Any], operators: dict[str, dict[str, Any]]) -> None:
    branching = [
        name
        for name, one in operators.items()
        if one.get("_can_skip_downstream")
        or "branch" in label(_field(one, "task_type")).lower()
        or label(_field(one, "task_type")) == "ShortCircuitOperator"
    ]
    draft.note_all(branching, "task|tasks may skip others at run time; here nothing is skipped")
    sensors = [name for name, one in operators.items() if one.get("_is_sensor")]
    draft.note_all(sensors, "sensor|sensors will succeed like any task here")
    if _has_mapped_group(_field(found, "task_group")):
        draft.note("A mapped task group is shown once.")
    draft.note("Schedule, callbacks, templates and display settings were ignored.")


def _has_mapped_group(group: Any) -> bool:
    """Whether a group in the tree of task groups is mapped."""
    stack = [as_dict(group)]
    for node in stack:
        if node.get("is_mapped") or node.get("_is_mapped"):
            return True
        for child in as_dict(node.get("children")).values():
            if isinstance(child, list) and len(child) == 2 and isinstance(child[1], dict):
                stack.append(child[1])
    return False

"""Dag files that the kit itself exported (``airflow_export``): everything in them is known, so nothing is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..checks import is_number
from ..dag import Dag
from ..errors import shown
from ..task import PARAMETERS, detached
from .airflow_eval import Reader
from .airflow_model import DagModel, Node, Ref
from .airflow_scope import is_plain
from .loaded import Loaded
from .source import Source

TIMES = ("retry_delay", "max_retry_delay", "execution_timeout", "dagrun_timeout")
_READ_APART = ("upstream", "branch", "short_circuit", "expand", "outlets", "task_group", "wait")
_PLAIN = frozenset(PARAMETERS[1:]) - frozenset(_READ_APART)


def is_own(reader: Reader) -> bool:
    """Whether the file says that the kit wrote it."""
    top = reader.top.values
    return top.get("DAGKIT_EXPORT") == 1 and is_number(top.get("TICK")) and top["TICK"] > 0


def read_own(name: str, source: Source, reader: Reader, model: DagModel) -> Loaded:
    """The Dag in ticks, with its pools and its script. Raises FormatError where the file was changed by hand."""
    tick = reader.top.values["TICK"]
    tasks = [detached(node.task_id, _spec(node, tick)) for node in _in_order(reader, model)]
    options = {key: _ticks(value, tick) if key in TIMES else value for key, value in model.given.items()
               if key in Dag("_").options() and is_plain(value) and value is not None}
    schedule = model.given.get("schedule")
    options["assets"] = _flat(schedule)
    options["groups"] = {name: _over(over) for name, over in model.mapped_groups.items()}
    dag = Dag(model.dag_id, tasks, **options)
    if not tasks:
        dag.close()
    loaded = Loaded(dag, name, [f"Exported by dagkit: times are in ticks of {tick:g} s there."])
    for table in ("pools", "outcomes", "durations"):
        setattr(loaded, table, _table(source, table, reader.top.values.get(table.upper(), {})))
    return loaded


def _spec(node: Node, tick: float) -> dict[str, Any]:
    given = node.given
    spec = {name: _ticks(value, tick) if name in TIMES else value for name, value in given.items()
            if name in _PLAIN and is_plain(value) and value is not None}
    over = _over(node.expand or {})
    mapped = [source for source in over.values() if isinstance(source, str)]
    ups = [up.task_id for up in node.up]
    spec["upstream"] = [*(u for u in ups if u not in mapped), *dict.fromkeys(u for u in ups if u in mapped)]
    spec["expand"], spec["task_group"] = over or None, node.mapped_group
    if node.operator == "Branch":
        spec["branch"] = given.get("follow") if is_plain(given.get("follow")) else _flat(given.get("follow"))
    if node.operator == "Short":
        spec["short_circuit"] = "hard" if given.get("ignore_downstream_trigger_rules") else "soft"
    spec["latest_only"] = node.operator == "Latest"
    spec["empty"] = node.operator == "EmptyOperator"
    spec["outlets"] = _flat(given.get("outlets"))
    return spec


def _in_order(reader: Reader, model: DagModel) -> list[Node]:
    """The tasks in the order in which they were declared, where the file had to make them in another."""
    declared = reader.top.values.get("ORDER")
    place = {name: number for number, name in enumerate(_flat(declared))}
    return sorted((node for node in model.nodes.values() if node.dag is model),
                  key=lambda node: place.get(node.task_id, len(place)))


def _flat(found: Any) -> list[Any]:
    """The plain items of a list: a file changed by hand may hold lists in lists."""
    return [item for item in found if is_plain(item)] if isinstance(found, list) else []


def _over(given: Mapping[Any, Any]) -> dict[str, str | int]:
    """What a task or a group is mapped over: task ids and lengths."""
    return {str(arg): source.node.task_id if isinstance(source, Ref) else len(source) if isinstance(source, list) else 0
            for arg, source in given.items()}


def _ticks(seconds: Any, tick: float) -> Any:
    """Seconds of the file in ticks; whole ones as whole numbers."""
    if not is_number(seconds):
        return seconds
    ticks = round(seconds / tick, 9)
    return int(ticks) if ticks == int(ticks) else ticks


def _table(source: Source, name: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise source.bad(f"a dictionary {name.upper()}", shown(type(found).__name__), "Export the Dag again.")
    deep = [key for key, value in found.items() if not _shallow(value)]
    if deep:
        what = f"something else under '{shown(deep[0])}'"
        raise source.bad(f"plain values in {name.upper()}", what, "Export the Dag again.")
    return dict(found)


def _shallow(value: Any) -> bool:
    """Whether a value is plain, or a list or dictionary of plain ones."""
    return is_plain(value) or isinstance(value, (list, dict)) and all(
        map(is_plain, value.values() if isinstance(value, dict) else value))

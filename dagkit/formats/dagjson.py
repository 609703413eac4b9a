"""The kit's own JSON of a Dag: everything ``Dag`` and ``Task`` take, exactly.

    {"dagkit": 1, "dag_id": "orders", "options": {...}, "tasks": {"extract": {"duration": 2}, ...}}

Only what differs from a default is written. The same Dag gives the same bytes everywhere.
"""

from __future__ import annotations

import json
from typing import Any

from ..dag import Dag
from ..errors import DagkitError, shown
from ..task import spec_of
from .draft import MAX_TASKS
from .loaded import Loaded
from .safe import as_dict, parse_json
from .source import Source

NAME = "json"
TITLE = "JSON of a Dag"
DEFINITION = "dagkit/formats/dagjson.py"
VERSION = 1


def matches(data: Any) -> bool:
    """An object with the key ``dagkit`` and tasks."""
    return isinstance(data, dict) and "dagkit" in data and isinstance(data.get("tasks"), dict)


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag of a JSON text made by ``write``. Raises FormatError for another version or a damaged text."""
    data = parse_json(source) if data is None else data
    if not matches(data):
        raise source.bad(
            "an object with 'dagkit' and 'tasks'", type(data).__name__, "Write one with dump(dag, 'json')."
        )
    if data["dagkit"] != VERSION:
        raise source.bad(f"version {VERSION} of this format", shown(repr(data["dagkit"])), "Update dagkit.")
    if len(data["tasks"]) > MAX_TASKS:
        raise source.bad(f"at most {MAX_TASKS} tasks", str(len(data["tasks"])), "Cut it down.")
    return Loaded(dag_from(source, data), NAME)


def dag_from(source: Source, data: dict[str, Any]) -> Dag:
    """The Dag of a parsed description; unknown options are refused by name."""
    options = as_dict(data.get("options"))
    unknown = sorted(set(options) - set(Dag("_").options()))
    if unknown:
        raise source.bad("known Dag options", f"'{shown(unknown[0])}'", "Remove it.")
    return Dag.from_dict(data["tasks"], dag_id=data.get("dag_id", "dag"), **options)


def describe(dag: Dag) -> dict[str, Any]:
    """The Dag as plain data. Raises DagkitError for a parameter that JSON cannot hold."""
    defaults = Dag("_").options()
    return {
        "dagkit": VERSION,
        "dag_id": dag.dag_id,
        "options": {
            name: _plain(value, dag.dag_id)
            for name, value in dag.options().items()
            if value != defaults[name]
        },
        "tasks": {
            t.task_id: {name: _plain(value, t.task_id) for name, value in spec_of(t).items()} for t in dag
        },
    }


def _plain(value: Any, owner: str) -> Any:
    """Numbers, text, lists and dictionaries; a tuple becomes a list, a numpy number a number."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, owner) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, owner) for key, item in value.items()}
    if hasattr(value, "item"):
        return _plain(value.item(), owner)
    raise DagkitError(
        f"'{shown(owner)}': {type(value).__name__} has no JSON form. Leave it out of what is exported."
    )


def write(dag: Dag) -> str:
    """The Dag as JSON text, one task a line.

    >>> print(write(Dag.from_dict({"a": {"duration": 2}, "b": {"upstream": "a"}})))
    {"dagkit": 1, "dag_id": "dag", "options": {}, "tasks": {
    "a": {"duration": 2},
    "b": {"upstream": ["a"]}
    }}
    <BLANKLINE>
    """
    found = describe(dag)
    head = json.dumps({name: found[name] for name in ("dagkit", "dag_id", "options")})
    lines = [f"{json.dumps(name)}: {json.dumps(spec)}" for name, spec in found["tasks"].items()]
    return head[:-1] + ', "tasks": {\n' + ",\n".join(lines) + "\n}}\n"

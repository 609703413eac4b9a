"""Names for an exported Dag file: ids that Airflow takes, variables and arguments that Python takes.

Definition: airflow/utils/helpers.py (validate_key) in https://github.com/apache/airflow: letters, digits, dash, dot and
underscore, at most 250.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import DagkitError, choices, shown
from .airflow_template import RESERVED

LEGAL = re.compile(r"[\w.-]{1,250}\Z")


def legal_ids(names: Iterable[str], what: str, report: list[str]) -> dict[str, str]:
    """Each name as Airflow takes it, all different; what had to be rewritten is told in the report.

    >>> legal_ids(["build (linux)", "build_linux"], "task id", [])
    {'build (linux)': 'build_linux_2', 'build_linux': 'build_linux'}
    """
    names = list(names)
    made = {name: name for name in names if LEGAL.match(name)}
    taken, changed = set(made.values()), [name for name in names if name not in made]
    for name in changed:
        base = re.sub(r"[^\w.-]+", "_", name)[:200].strip("_") or "task"
        made[name] = next(c for c in numbered(base) if c not in taken)
        taken.add(made[name])
    if changed:
        pairs = choices(f"{shown(name, 30)} -> {made[name][:30]}" for name in changed)
        report.append(f"{what}s that Airflow would refuse were rewritten: {pairs}.")
    return {name: made[name] for name in names}


def argument_names(names: Iterable[str], report: list[str]) -> dict[str, str]:
    """Names of arguments that tasks are mapped over, as parameters of a Python function.

    >>> argument_names(["day", "class"], [])
    {'day': 'day', 'class': 'arg'}
    """
    names = list(names)
    fit = {n for n in names if n.isascii() and n.isidentifier() and not keyword.iskeyword(n) and n not in RESERVED}
    changed = [name for name in names if name not in fit]
    fresh = (name for name in numbered("arg") if name not in names)
    if changed:
        report.append(f"Argument names that Python would refuse were rewritten: {choices(changed)}.")
    return {name: name if name in fit else next(fresh) for name in names}


def plain_name(name: str, who: str) -> None:
    """Raise DagkitError for the name of a pool, queue or executor that would not survive the way."""
    if not name.isprintable() or len(name) > 250:
        raise DagkitError(f"export_airflow: {who}: the name '{shown(name)}' has characters that cannot be printed, or more "
                          "than 250; Airflow's database may refuse it. Rename it.")


def numbered(base: str) -> Iterator[str]:
    """The name itself, then ``name_2``, ``name_3`` ..."""
    yield base
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1


def variables(ids: Mapping[Any, str]) -> dict[Any, str]:
    """A variable for every task, a function's name for every group: its id where that is a plain Python name.

    >>> variables({"a": "a", "b.c": "b.c", "class": "class"})
    {'a': 'a', 'b.c': 'b_c', 'class': 'task_3'}
    """
    made: dict[Any, str] = {}
    taken = set(RESERVED)
    for number, (task_id, legal) in enumerate(ids.items(), 1):
        name = re.sub(r"[^0-9A-Za-z]", "_", legal)
        fits = legal.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
        made[task_id] = next(c for c in numbered(name if fits else f"task_{number}") if c not in taken)
        taken.add(made[task_id])
    return made

"""Checkers of the exercises in ``exercises/``: a verdict in words and a hint, and no answer anywhere.

A notebook's check cell says ``dk.exercises.check("1.2")``. The checker takes what the learner wrote out of the
notebook by its name, tries it on situations it makes up, and compares with what planning or the simulator finds.

>>> from dagkit.exercises import judge
>>> judge("1.1", {"order": lambda needs: sorted(needs)})
Traceback (most recent call last):
...
dagkit.exercises.trial.NotYet: 1.1 not yet: order({'raw': [], ...
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..errors import DagkitError, choices, expect, nearest, shown
from .architecture import two_faults
from .capacity_and_recovery import looks
from .executors import work
from .high_availability import told
from .limits_and_pools import connections, evening
from .mini_scheduler import in_order, places, situations
from .polling_vs_hints import Table
from .task_states import doctored
from .trial import NotYet, Passed, Task
from .trigger_rules import night

MODULES: tuple[str, ...] = (
    "why_a_dag", "task_states", "mini_scheduler", "trigger_rules", "limits_and_pools", "executors", "architecture",
    "high_availability", "polling_vs_hints", "capacity_and_recovery", "your_own_dag", "interview_practice",
    "design_scenario",
)
"""One module for each exercise notebook, in the order of the lessons."""


def tasks() -> dict[str, Task]:
    """All tasks by their number, such as "1.2": lesson 1, second task."""
    return {task.number: task for name in MODULES for task in import_module(f"{__name__}.{name}").TASKS}


def check(number: str) -> Passed:
    """Judge what the calling notebook holds for a task. Shows one line when it is right.

    Raises NotYet, which notebooks show as its sentences alone, when it is not; DagkitError for an unknown number.
    """
    return judge(number, sys._getframe(1).f_globals)


def judge(number: str, found: Mapping[str, Any]) -> Passed:
    """The same for names given as a dictionary.

    number: the task, "1.2". found: what the learner has defined, by name.
    Raises NotYet with the reason and a hint; DagkitError for an unknown number.
    """
    expect("judge", number, str, "the number of a task in quotes, such as '1.2'")
    expect("judge", found, Mapping, "what you have defined as a dictionary: globals()")
    known = tasks()
    if number not in known:
        raise DagkitError(f"task '{shown(number)}' is unknown.{nearest(number, known)} Known: {choices(known, 60)}.")
    return known[number].judge(found)


__all__ = ["NotYet", "Passed", "Table", "check", "connections", "doctored", "evening", "in_order", "judge", "looks",
           "night", "places", "situations", "tasks", "told", "two_faults", "work"]

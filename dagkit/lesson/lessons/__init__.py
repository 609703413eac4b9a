"""The words of the lessons, one module each, found by number; and their questions, found by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ...checks import plain
from ...errors import DagkitError, choices, nearest, quoted, shown
from ..ask import Question
from ..book import Lesson

MODULES = {1: "why_a_dag", 2: "task_states", 3: "mini_scheduler", 4: "trigger_rules", 5: "limits_and_pools", 6: "executors",
           7: "architecture", 8: "high_availability", 9: "polling_vs_hints", 10: "capacity_and_recovery",
           11: "your_own_dag", 12: "interview_practice", 13: "design_scenario"}


def lesson(number: int) -> Lesson:
    """A lesson by its number. Raises DagkitError if it has no words here."""
    known = plain(number)
    if type(known) is not int or known not in MODULES:
        raise DagkitError(f"lesson {quoted(number)}: there is none. Known: {choices(MODULES, 20)}.")
    return _lesson(known)


@cache
def _lesson(number: int) -> Lesson:
    found: Lesson = import_module(f"{__name__}.{MODULES[number]}").LESSON
    return found


def find(name: str) -> Question:
    """A question by its name. Raises DagkitError with the nearest known name."""
    known = {key: number for number in MODULES for key in lesson(number).asks}
    if name not in known:
        raise DagkitError(
            f"question '{shown(name)}' is unknown.{nearest(name, known)} Known: {choices(known, 40)}."
        )
    return lesson(known[name]).question(name)

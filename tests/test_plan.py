"""The plan asks only special tasks about relations: none may be missed."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import textwrap
from collections.abc import Callable

import pytest

import dagkit as dk
from dagkit.engine import relations
from dagkit.engine.plan import Plan
from dagkit.parameters import SPECIAL


class EmptyOne(dk.Task):
    empty = True


def set_later() -> dk.Task:
    task = dk.Task("a")
    task.empty = True
    return task


@pytest.mark.parametrize("make", [
    lambda: dk.Task("a", empty=True), lambda: EmptyOne("a"), set_later, lambda: copy.copy(EmptyOne("a")),
    lambda: pickle.loads(pickle.dumps(dk.Dag("d", [EmptyOne("a")])))["a"],
    lambda: dk.Dag("d", [dk.Task("a")]).replace("a", empty=True)["a"]])
def test_a_special_task_is_found_however_it_was_declared(make: Callable[[], dk.Task]) -> None:
    events = dk.simulate(dk.Dag("d", [make(), dk.Task("b")])).events
    assert "running" not in set(events[events["task_id"] == "a"]["new"])     # a worker never sees an EmptyOperator
    assert "running" in set(events[events["task_id"] == "b"]["new"])


def test_whatever_special_tasks_are_asked_makes_a_task_special() -> None:
    asked = set()
    for part in (Plan._relations, relations, dk.Dag._check_rules):
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(part)))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("t", "task"):
                asked.add(node.attr)
    assert {"branch", "expand", "wait"} <= asked
    of_all_tasks, of_teardowns = {"task_id", "trigger_rule", "_special"}, {"on_failure_fail_dagrun"}
    assert asked - of_all_tasks - of_teardowns <= SPECIAL

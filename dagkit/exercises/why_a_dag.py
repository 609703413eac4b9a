"""Exercise 1: Kahn's algorithm, and where more slots stop helping."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from .. import examples, planning
from ..dag import Dag
from ..errors import quoted
from .trial import NotYet, Task, call, same

Needs = dict[str, list[str]]
RINGS: tuple[tuple[Needs, frozenset[str]], ...] = (
    ({"fetch": ["publish"], "publish": ["fetch"]}, frozenset({"fetch", "publish"})),
    ({"raw_orders": [], "clean": ["raw_orders", "score"], "model": ["clean"], "score": ["model"],
      "mail": ["score"], "raw_rates": []}, frozenset({"clean", "model", "score"})),
)
"""Needs with a ring, and the ring. ``mail`` only waits for one: to name it is neither asked nor wrong."""


def needs_of(dag: Dag) -> Needs:
    return {task.task_id: list(task.upstream) for task in dag}


def dags() -> list[Dag]:
    """A chain declared backwards, a short cut beside a long way, the two of the lesson, and some at random."""
    given: list[Needs] = [{"c": ["b"], "b": ["a"], "a": []},
                          {"raw": [], "clean": ["raw"], "join": ["clean", "raw"], "send": ["raw", "join"]}, {}]
    known = [Dag.from_dict({t: {"upstream": up} for t, up in needs.items()}) for needs in given]
    return [*known, examples.file_fanout(), examples.graham_anomaly(), *map(some_dag, range(6))]


def some_dag(seed: int, size: int = 9) -> Dag:
    """A random Dag, declared in a random order. The same seed gives the same Dag in every version of Python."""
    draw = random.Random(seed).random
    names = [f"t{k}" for k in range(size)]
    spec = {name: {"upstream": [up for up in names[:k] if draw() < 0.3], "duration": 1 + int(4 * draw())}
            for k, name in enumerate(names)}
    return Dag.from_dict({name: spec[name] for name in sorted(names, key=lambda _: draw())})


def order(answer: Any) -> None:
    """Any order in which nobody comes before what it needs."""
    for dag in dags():
        needs = needs_of(dag)
        found = call(answer, needs, name="order")
        if sorted(found) != sorted(needs):
            raise NotYet(f"order({quoted(needs)}) is {quoted(found)}: each task has to be there, once.")
        for k, task in enumerate(found):
            if early := [up for up in needs[task] if up not in found[:k]]:
                raise NotYet(f"order({quoted(needs)}) is {quoted(found)}: {task} comes before {early[0]}, which it needs.",
                             "When may a task be taken? When everything it needs is in `taken`.")


def waves(answer: Any) -> None:
    """Waves as planning finds them, the order inside a wave being free; a ring raises ValueError."""
    for dag in dags():
        needs = needs_of(dag)
        found = call(answer, needs, name="waves")
        same([sorted(wave) for wave in found], planning.waves(dag), f"waves({quoted(needs)})",
             "A task belongs to the first wave in which *everything* it needs is already done.")
    for needs, ring in RINGS:
        refusal = call(answer, needs, name="waves", refuses=ValueError)
        if not isinstance(refusal, ValueError):
            raise NotYet(f"waves({quoted(needs)}) must raise ValueError, since some of these tasks can never start.",
                         "What is free in a step in which everything left waits for something else that is left?")
        names_ring(str(refusal), needs, ring)


def names_ring(message: str, needs: Needs, ring: frozenset[str]) -> None:
    """The message has every task of the ring in it, as a word of its own, and none that could start."""
    named = {task for task in needs if re.search(rf"(?<!\w){task}(?!\w)", message)}
    start = [task for task, ups in needs.items() if not ups]
    asked = f"waves({quoted(needs)}) raises ValueError({quoted(message)})"
    if missing := [task for task in needs if task in ring - named]:
        raise NotYet(f"{asked}, and nobody reads there that {missing[0]} can never start.",
                     "Whoever mends the Dag needs every name in the ring. Which tasks are left when nothing is free?")
    if wrong := [task for task in start if task in named]:
        raise NotYet(f"{asked}, and {wrong[0]} is named although it needs nothing: it is in no ring.",
                     "Not all tasks of `needs` are left at that point. Which of them are in no wave yet?")


def staircases() -> list[tuple[str, Callable[[int], Any], Any, int]]:
    """What it is, makespan by slots, the floor, and the fewest slots that reach it."""
    chain = Dag.from_dict({"a": {"duration": 2}, "b": {"upstream": ["a"], "duration": 5}})
    named = {"six files": planning.expand(examples.file_fanout(), "process", 6), "a chain of two": chain,
             "Graham's nine tasks": examples.graham_anomaly(), **{f"random Dag {k}": some_dag(k) for k in range(4)}}
    return [(what, makespan_of(dag), planning.critical_path(dag).length, planning.saturation_slots(dag))
            for what, dag in named.items()]


def makespan_of(dag: Dag) -> Callable[[int], Any]:
    def makespan(slots: int) -> Any:
        return planning.makespan(dag, slots)
    return makespan


def fewest_slots(answer: Any) -> None:
    """Every number has to be tried, from one upwards: the staircase has flat steps, and may even rise."""
    for what, makespan, floor, right in staircases():
        found = call(answer, makespan, floor, name="fewest_slots")
        if type(found) is not int or found < 1:
            raise NotYet(f"For {what} you say {quoted(found)}, which is no number of slots.")
        if makespan(found) != floor:
            raise NotYet(f"For {what} you say {found}. On {found} slots it takes {makespan(found)}, and the floor is "
                         f"{floor}.",
                         "A flat step is not the end of the stairs.")
        if found > right:
            raise NotYet(f"For {what} you say {found}. That reaches the floor of {floor}, but so do fewer slots.",
                         "Which numbers did you never try? And does one more slot always help?")


TASKS = (
    Task("1.1", ("order",), order, "Nobody comes before what it needs."),
    Task("1.2", ("waves",), waves, "Waves of any Dag, and no ring gets through."),
    Task("1.3", ("fewest_slots",), fewest_slots, "The fewest slots that reach the floor, even where the stairs go up."),
)

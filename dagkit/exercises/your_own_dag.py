"""Exercise 11: what limits a Dag, where its knee is, and which task to make faster first."""

from __future__ import annotations

from typing import Any

from .. import examples, planning
from ..dag import Dag
from ..errors import nearest, quoted
from .trial import NotYet, Task, call
from .why_a_dag import some_dag


def dags() -> dict[str, Dag]:
    """A chain, a crowd, a tie, a long task nobody waits for, the lesson's Dags, and some at random."""
    def dag(**tasks: tuple[list[str], int]) -> Dag:
        return Dag.from_dict({name: {"upstream": up, "duration": lasts} for name, (up, lasts) in tasks.items()})

    made = {"a chain": dag(a=([], 2), b=(["a"], 5)), "a crowd": dag(**{f"t{k}": ([], 3) for k in range(4)}),
            "a long task beside a longer chain": dag(long=([], 9), a=([], 4), b=(["a"], 4), c=(["b"], 4)),
            "a tie": dag(a=([], 6), b=([], 6), c=(["a", "b"], 2)), "six files": planning.expand(
                examples.file_fanout(), "process", 6), "Graham's nine tasks": examples.graham_anomaly()}
    return {**made, **{f"random Dag {seed}": some_dag(seed) for seed in range(10, 15)}}


def limit(answer: Any) -> None:
    for name, dag in dags().items():
        for slots in range(1, 6):
            right = "path" if planning.makespan(dag, slots) == planning.critical_path(dag).length else "slots"
            found = call(answer, dag, slots, name="limit")
            if found != right:
                raise NotYet(f"{name} on {slots} slots: you say {quoted(found)}; it is {right!r}.",
                             f"It takes {planning.makespan(dag, slots)} there. How long would it take on any number?")


def first_to_halve(answer: Any) -> None:
    """The task whose halving shortens the critical path most; of equals any."""
    for name, dag in dags().items():
        floors = {task.task_id: planning.critical_path(planning.what_if(dag, {task.task_id: task.duration / 2})).length
                  for task in dag}
        found, best = call(answer, dag, name="first_to_halve"), min(floors.values())
        if found not in floors:
            raise NotYet(f"For {name} you say {quoted(found)}, which is none of its tasks.{nearest(found, floors)}")
        if floors[found] > best:
            raise NotYet(f"For {name} you say {found}: with half its duration the path is {floors[found]:g} long. "
                         f"There is a task with which it becomes {best:g}.",
                         "The longest task need not be on the path; and where paths tie, one of them alone gains nothing.")


def knee(mine: Any, answer: Any) -> None:
    """The fewest slots on which the learner's own Dag is at its floor."""
    dag = getattr(mine, "dag", mine)
    if not isinstance(dag, Dag):
        raise NotYet(f"mine must be a Dag or what dk.load gives, not {quoted(mine)}.")
    if type(answer) is not int or answer < 1:
        raise NotYet(f"knee must be a whole number of slots, not {quoted(answer)}.")
    takes, floor = planning.makespan(dag, answer), planning.critical_path(dag).length
    if takes > floor:
        raise NotYet(f"On {answer} slots it takes {takes:g}, and the floor is {floor:g}.",
                     "Something waits there for a slot.")
    if planning.saturation_slots(dag) < answer:
        raise NotYet(f"On {answer} slots it takes {floor:g}, the floor; but fewer slots do that too.",
                     "Try each number below.")


TASKS = (
    Task("11.1", ("limit",), limit, "Path or slots: you can tell what limits a Dag."),
    Task("11.2", ("first_to_halve",), first_to_halve, "The one task that is worth the work."),
    Task("11.3", ("mine", "knee"), knee, "More slots than that buy nothing for this Dag."),
)

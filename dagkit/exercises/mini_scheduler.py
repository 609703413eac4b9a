"""Exercise 3: the learner's own scheduler in six steps, each held change by change to traces."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .. import examples
from ..checks import plain
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, expect, quoted, shown
from ..executors import CeleryExecutor, Worker
from ..scenario import Scenario
from ..task import Task as Declared
from .trial import NotYet, Task, bounded, where

Event = tuple[int, str, str, str]
STEPS = ("States", "Dependencies", "Pools", "Retries", "Rules", "Executor")
"""What the learner calls the class of each step."""
UNDER_WAY = ("queued", "running", "up_for_retry")
GOLDEN = Path(__file__).with_name("golden.json")


def in_order(dag: Dag) -> list[Any]:
    """The tasks of a Dag, each after what it needs; of those that may come next, the first declared.

    >>> [task.task_id for task in in_order(Dag.from_dict({"b": {"upstream": ["a"]}, "a": {}, "c": {}}))]
    ['a', 'b', 'c']
    """
    expect("in_order", dag, Dag, "a dk.Dag")
    return [list(dag)[i] for i in dag.graph.order]


def places(scenario: Scenario) -> int | None:
    """How many tasks the workers of the scenario's executor run at once; None where a worker is always free.

    >>> places(examples.orders().replace(executor=CeleryExecutor(workers=[Worker(2), Worker(3)])))
    5
    """
    expect("places", scenario, Scenario, "a dk.Scenario")
    staff = scenario.executor.default.staff(scenario.config)
    return None if staff is None else sum(worker.concurrency for worker in staff)


def situations(step: int) -> dict[str, Scenario]:
    """The situations on which a step (1 to 6) is tried, by name: small ones that show one thing, then some at random.

    Raises DagkitError for another step.

    >>> [*situations(6)][:2]
    ["two workers' places, three tasks", 'the important first']
    """
    step = plain(step)
    if step not in range(1, len(STEPS) + 1):
        raise DagkitError(f"situations: step must be 1 to {len(STEPS)}, not {quoted(step)}. Write situations(3).")
    small = {name: scenario for at, name, scenario in _small() if at == step}
    return {**small, **{f"random {k}": some(step, 100 * step + k) for k in range(6)}}


def _small() -> list[tuple[int, str, Scenario]]:
    """(step, name, situation), made for what usually goes wrong there."""
    def day(*tasks: Declared, pools: Any = None, most: int = 16, **more: Any) -> Scenario:
        return Scenario(Dag("day", list(tasks), max_active_tasks=most), pools=pools or {}, **more)

    t = Declared
    return [
        (1, "one task", day(t("a", duration=3))),
        (1, "two that end together", day(t("b", duration=2), t("a", duration=2))),
        (2, "a short cut", day(t("a"), t("b", "a", duration=4), t("c", ["a", "b"]))),
        (2, "declared backwards", day(t("c", "b"), t("b", "a"), t("a", duration=2))),
        (3, "one place", day(*(t(x, pool="db", duration=2) for x in "abc"), pools={"db": 1})),
        (3, "a big one stops nobody", day(t("a", pool="db", duration=3), t("big", pool="db", pool_slots=2),
                                          t("c", pool="db"), pools={"db": 2})),
        (3, "two pools", day(t("a", pool="x"), t("b", pool="y"), t("c", pool="x"), pools={"x": 1, "y": 1})),
        (3, "max_active_tasks over two pools", day(t("a", pool="x"), t("b"), t("c"), pools={"x": 5}, most=2)),
        (4, "one retry", day(t("a", retries=1, retry_delay=2), t("b", "a"), outcomes={"a": ["fail", "success"]})),
        (4, "no delay", day(t("a", retries=1, retry_delay=0), outcomes={"a": ["fail"]})),
        (4, "no place while it waits", day(t("a", retries=1, retry_delay=3, pool="db"), t("b", pool="db", duration=9),
                                           pools={"db": 1}, outcomes={"a": ["fail"]})),
        (4, "fails for good", day(t("a", retries=1), t("b"), outcomes={"a": ["fail", "fail"]})),
        (5, "orders", examples.orders()),
        (5, "a failure is passed on in one tick", day(t("a"), t("b", "a"), t("c", "b"),
                                                      t("d", "c", trigger_rule="all_done"), outcomes={"a": ["fail"]})),
        (5, "a failure is not waited for", day(t("slow", duration=5), t("bad"), t("c", ["slow", "bad"]),
                                               outcomes={"bad": ["fail"]})),
        (6, "two workers' places, three tasks", _busy(day(t("a", duration=2), t("b", duration=4), t("c")), 2)),
        (6, "the important first", _busy(day(t("a"), t("b"), t("c", priority_weight=9)), 1)),
        (6, "a retry goes to the end of the line", _busy(day(t("a", retries=1, retry_delay=0), t("b", duration=3), t("c"),
                                                             outcomes={"a": ["fail"]}), 1)),
    ]


def _busy(scenario: Scenario, concurrency: int) -> Scenario:
    return scenario.replace(executor=CeleryExecutor(workers=[Worker(concurrency)]))


def some(step: int, seed: int, size: int = 8) -> Scenario:
    """A random situation with no more in it than ``step`` knows. The same seed gives the same in every Python."""
    draw = random.Random(seed).random
    tasks: list[Declared] = []
    outcomes: dict[str, list[str]] = {}
    doomed: set[str] = set()
    for k in range(size):
        upstream = [f"t{u}" for u in range(k) if step > 1 and draw() < 0.25 and f"t{u}" not in doomed]
        spec: dict[str, Any] = {"duration": 1 + int(4 * draw())}
        if step > 2:
            spec |= {"pool": "db" if draw() < 0.6 else "default_pool", "pool_slots": 1 + (draw() < 0.2),
                     "priority_weight": 1 + int(3 * draw())}
        if step > 3:
            spec |= {"retries": int(3 * draw()), "retry_delay": int(4 * draw())}
            outcomes[f"t{k}"] = ["fail" if draw() < 0.4 else "success" for _ in range(3)]
            if step == 4 and outcomes[f"t{k}"][:spec["retries"] + 1].count("fail") > spec["retries"]:
                doomed.add(f"t{k}")                        # what fails for good has nothing below it until step 5
        if step > 4 and draw() < 0.3:
            spec["trigger_rule"] = "all_done"
        tasks.append(Declared(f"t{k}", upstream, **spec))
    found = Scenario(Dag(f"random_{seed}", tasks, max_active_tasks=3 if step > 2 else 16), outcomes=outcomes,
                     pools={"db": 2} if step > 2 else {})
    return _busy(found, 1 + seed % 2) if step > 5 else found


@cache
def golden() -> dict[str, tuple[int, Scenario, list[Event]]]:
    """Golden traces, older than the kit: the first step that has all it takes, the situation, every change in it."""
    found = {}
    for case in json.loads(GOLDEN.read_text(encoding="utf-8")):
        tasks = [Declared(spec["id"], spec["upstream"], weight_rule="absolute",
                          **{k: v for k, v in spec.items() if k not in ("id", "upstream", "outcomes")})
                 for spec in case["tasks"]]
        scenario = Scenario(Dag(case["name"], tasks, max_active_tasks=case["max_active_tasks"]), pools=case["pools"],
                            outcomes={spec["id"]: spec["outcomes"] for spec in case["tasks"]})
        found[case["name"]] = case["from_step"], scenario, [tuple(event) for event in case["events"]]
    return found


def events_of(scenario: Scenario) -> list[Event]:
    frame = simulate(scenario).events
    return [tuple(row) for row in frame[["tick", "task_id", "old", "new"]].itertuples(index=False)]


def played(loop_class: Any, scenario: Scenario, ticks: int, name: str) -> list[Event]:
    """What a learner's loop writes down, given as many ticks as the golden trace has."""
    def go() -> Any:
        loop = loop_class(scenario)
        for _ in range(ticks):
            loop.tick()
            if not any(state in UNDER_WAY for state in loop.state.values()):
                break
        return loop.events

    try:
        return [tuple(event) for event in bounded(go)]
    except NotYet:
        raise
    except Exception as error:
        raise NotYet(f"On the situation “{name}” your loop ended in {type(error).__name__}: {shown(error, 200)}"
                     f"{where(error)}.",
                     "The step before was sound: what does this one ask for that is not there?") from None


def compare(found: list[Event], right: list[Event], name: str, step: int, hint: str) -> None:
    """Raises NotYet at the first change in which the two differ."""
    for k in range(max(len(found), len(right))):
        mine, golden_one = (_said(events[k]) if k < len(events) else "nothing more" for events in (found, right))
        if mine != golden_one:
            see = f" See it: dk.play(dk.simulate(dk.exercises.situations({step})[{name!r}]))."
            raise NotYet(f"On the situation “{name}” change {k + 1} should be {golden_one}; yours is {mine}.",
                         hint + (see if name in situations(step) else ""))


def _said(event: Event) -> str:
    try:
        tick, task, old, new = event
    except (TypeError, ValueError):
        return quoted(event)
    return f"“tick {tick}: {shown(task)} {old} -> {new}”"


HINTS = (
    "What is queued in one tick starts in the next one, and ends its duration later.",
    "Which upstream task was still under way then?",
    "Who held the places of the pool at that tick? Queued tasks hold theirs too; and some take more than one.",
    "Count the tries that have ended. When may the next one begin, and does one that waits hold a place?",
    "Read the two rules once more: which of them waits for everybody, and which does not?",
    "How many were running, after those that ended in this tick? And who had been in the line longest?",
)


def step(number: int) -> Callable[[Any], None]:
    def judge(loop_class: Any) -> None:
        if not isinstance(loop_class, type):
            raise NotYet(f"{STEPS[number - 1]} must be a class, not {quoted(loop_class)}.")
        asked = [(name, scenario, events_of(scenario)) for name, scenario in situations(number).items()]
        asked += [(name, scenario, events) for name, (first, scenario, events) in golden().items() if first <= number]
        try:
            for name, scenario, right in asked:
                compare(played(loop_class, scenario, right[-1][0] + 1, name), right, name, number, HINTS[number - 1])
        except NotYet:
            _blame_the_first(loop_class, number)
            raise
    return judge


def _blame_the_first(loop_class: type, number: int) -> None:
    """Raises NotYet for the first step that is not right, if it is an earlier one on which this class builds."""
    for before in range(1, number):
        built_on = next((base for base in loop_class.__mro__ if base.__name__ == STEPS[before - 1]), None)
        if built_on is not None:
            try:
                step(before)(built_on)
            except NotYet:
                raise NotYet(f"It builds on {STEPS[before - 1]}, and that is not right yet.",
                             f"Make the check of 3.{before} pass first, then run the cells after it.") from None


DONE = ("Every task takes its four moves.", "Nobody starts before what it needs is there.",
        "No pool and no Dag is ever fuller than allowed, and nobody waits without need.",
        "Failures are tried again in time.",
        "Failures travel as they should, on orders and on the golden traces.",
        "Decided and ran are two things now: the scheduler is complete, and it is yours.")
TASKS = tuple(Task(f"3.{n}", (STEPS[n - 1],), step(n), DONE[n - 1]) for n in range(1, 7))

"""Exercise 5: who gets into a pool, and a database kept safe within a deadline."""

from __future__ import annotations

import random
from typing import Any

from ..dag import Dag
from ..engine import simulate
from ..errors import expect, quoted
from ..executors import LocalExecutor
from ..scenario import Scenario
from ..task import Task as Declared
from ..trace import Trace
from .trial import NotYet, Task, call, keyed, same

Asking = tuple[str, str, int]
BEARS, REPORT_BY, ALL_BY = 4, 4, 11
"""Connections the database bears at once, and the ticks by which the report and everything must be there."""
OPENS = {"light": 1, "heavy": 2, "sales": 1}
"""Connections a task really opens: nothing that Airflow could know."""


def evening(db: int = 16, heavy_slots: int = 1, sales_weight: int = 1) -> Scenario:
    """Eight light extracts, three heavy ones, and the sales that the report waits for, all from one database.

    db: slots of the pool. heavy_slots: pool_slots of a heavy extract. sales_weight: priority_weight of ``sales``.
    Raises DagkitError for a number that Airflow would refuse.

    >>> len(evening().dag)
    13
    """
    light = [Declared(f"light_{k}", pool="db", duration=2) for k in range(8)]
    heavy = [Declared(f"heavy_{k}", pool="db", duration=3, pool_slots=heavy_slots) for k in range(3)]
    sales = Declared("sales", pool="db", duration=2, priority_weight=sales_weight, weight_rule="absolute")
    dag = Dag("evening", [*light, *heavy, sales, Declared("report", "sales")])
    return Scenario(dag, pools={"db": db}, executor=LocalExecutor(handover=0))


def connections(trace: Any) -> list[int]:
    """Open connections at each tick, counted from who runs, whatever any pool believes."""
    expect("connections", trace, Trace, "a trace, such as dk.simulate(dk.exercises.evening())")
    return [sum(OPENS.get(task.split("_")[0], 0) for task, state in trace.states_at(tick).items() if state == "running")
            for tick in range(trace.last_tick + 1)]


def used(answer: Any) -> None:
    """Slots taken in a pool, held to what the simulator's own meter counts."""
    for seed in range(8):
        _, active, pools = crowd(seed)
        for pool in pools:
            same(call(answer, pool, active, name="used"), held(pool, active, pools), f"used({pool!r}, {active})",
                 "Only who is in this pool counts, and each with all its slots.")


def held(pool: str, active: list[Asking], pools: dict[str, int]) -> int:
    """Slots of a pool in use, as the simulator's meter shows them after its first pass."""
    meters = {meter.name: meter for meter in simulate(_tick_one([], active, pools)).meters}
    meter = meters.get(f"pool {pool}")
    return max((used for tick, used in meter.used if tick == 1), default=0) if meter else 0


def crowd(seed: int) -> tuple[list[Asking], list[Asking], dict[str, int]]:
    """Who waits, who holds slots, and how large the pools are. The same seed gives the same in every Python."""
    draw = random.Random(seed).random
    pools = {"db": 2 + int(4 * draw()), "api": 1 + int(3 * draw())}
    free, active = dict(pools), []
    for k in range(4):
        pool, slots = ("db" if draw() < 0.6 else "api"), 1 + (draw() < 0.4)
        if slots < free[pool] or draw() < 0.3 and slots == free[pool]:
            free[pool] -= slots
            active.append((f"busy_{k}", pool, slots))
    waiting = [(f"task_{k}", "db" if draw() < 0.6 else "api", 1 + int(3 * draw() ** 2)) for k in range(6)]
    return waiting, active, pools


def _tick_one(waiting: list[Asking], active: list[Asking], pools: dict[str, int]) -> Scenario:
    """A Dag whose first pass asks exactly this: whoever is active comes first and fits."""
    tasks = [Declared(name, pool=pool, pool_slots=slots, priority_weight=100 - k, weight_rule="absolute")
             for k, (name, pool, slots) in enumerate([*active, *waiting])]
    return Scenario(Dag("crowd", tasks, max_active_tasks=100), pools=pools)


def admitted(waiting: list[Asking], active: list[Asking], pools: dict[str, int]) -> list[str]:
    """Who of the waiting the simulator queues in its next pass."""
    states = simulate(_tick_one(waiting, active, pools)).states_at(1)
    return [name for name, _, _ in waiting if states[name] == "queued"]


def admit(answer: Any) -> None:
    """The walk of one pass, on small crowds made for one thing each and on random ones."""
    made = [([("a", "db", 1), ("b", "db", 1)], [("x", "db", 1)], {"db": 2}),
            ([("big", "db", 3), ("small", "db", 1)], [], {"db": 2}),
            ([("a", "api", 1), ("b", "db", 2)], [("x", "db", 1)], {"db": 3, "api": 1})]
    for waiting, active, pools in [*made, *map(crowd, range(12))]:
        right = admitted(waiting, active, pools)
        found = call(answer, waiting, active, pools, name="admit")
        if list(found) != right:
            raise NotYet(f"Waiting {waiting}, active {active}, pools {pools}: you admit {quoted(found)}; "
                         f"the scheduler admits {right}.",
                         "Who was let in a moment ago holds slots too. And who is refused: does that end the walk?")


def safe(settings: Any) -> None:
    """The database is never asked for more than it bears, the report is early, the evening ends in time."""
    keyed("settings", settings, ("db", "heavy_slots", "sales_weight"))
    trace = simulate(evening(**settings))
    if trace.stalled:
        raise NotYet("This evening never ends: " + trace.warnings[-1],
                     "How large is the pool, and what does one task ask for?")
    most = max(connections(trace))
    if most > BEARS:
        raise NotYet(f"At tick {connections(trace).index(most)} the database has {most} connections open; it bears "
                     f"{BEARS}.",
                     "How many slots does the pool give away? And which tasks open more than they say?")
    ends = {task: changes[-1][0] for task, changes in zip(trace.labels, trace.changes, strict=True)}
    if ends["report"] > REPORT_BY:
        raise NotYet(f"The database is safe. But the report is there at tick {ends['report']}, not by {REPORT_BY}.",
                     "Who stands in front of sales in the line, and what decides who is asked first?")
    if trace.last_tick > ALL_BY:
        raise NotYet(f"The database is safe and the report in time. But all is done at tick {trace.last_tick}, not by "
                     f"{ALL_BY}.",
                     "How many connections are open at each tick? Are there some that nobody uses?")


TASKS = (
    Task("5.1", ("used",), used, "Every slot is counted, and only once."),
    Task("5.2", ("admit",), admit, "The same are let in as the scheduler lets in."),
    Task("5.3", ("settings",), safe,
         f"Never more than {BEARS} connections, the report by tick {REPORT_BY}, all by {ALL_BY}."),
)

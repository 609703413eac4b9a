"""Who stayed with which worker, and when: read from what a trace keeps of work that was picked up."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from .states import QUEUED, RUNNING

if TYPE_CHECKING:
    from .trace import Trace


class Place(NamedTuple):
    """One task instance (TI) on one worker of one executor (both counted from 0).

    picked: the tick at which its place was taken. began: when it ran, None if it never did. left: when its place was
    free again; one tick after the end of the trace if it never was.
    """

    ti: int
    executor: int
    worker: int
    picked: int
    began: int | None
    left: int


def places(trace: Trace) -> list[Place]:
    """Every stay of a trace, in the order in which they ended. Where nobody keeps workers (a LocalExecutor), a stay
    is the time a TI runs.

    >>> from dagkit import CeleryExecutor, Dag, Task, simulate
    >>> places(simulate(Dag("d", [Task("a", duration=3)]), executor=CeleryExecutor(handover=2)))
    [Place(ti=0, executor=0, worker=0, picked=3, began=3, left=6)]
    """
    found: list[Place] | None = trace.__dict__.get("_places")
    if found is None:
        found = trace.__dict__["_places"] = places_of(trace, range(len(trace._task_of)))
    return found


def places_of(trace: Trace, tis: Collection[int]) -> list[Place]:
    """The stays of some TIs, in the order in which they ended."""
    picks: dict[int, deque[tuple[int, int, int]]] = {}
    for ti, tick, executor, worker in trace._picks:
        if ti in tis:
            picks.setdefault(ti, deque()).append((tick, executor, worker))
    found: list[Place] = []
    open_places: dict[int, Place] = {}
    state = bytearray(trace._initial)
    for tick, ti, new in trace._events_of(tis):
        old, state[ti] = state[ti], new
        waiting = picks.get(ti)
        if new == RUNNING:
            at, executor, worker = waiting.popleft() if waiting else (tick, _number(trace, ti), 0)
            while waiting and waiting[0][0] <= tick:          # taken back in the tick it was picked up
                at, executor, worker = waiting.popleft()
            open_places[ti] = Place(ti, executor, worker, at, tick, tick)
        elif ti in open_places:
            found.append(open_places.pop(ti)._replace(left=tick))
        elif old == QUEUED and waiting and waiting[0][0] < tick:
            at, executor, worker = waiting.popleft()          # taken back before it ran
            found.append(Place(ti, executor, worker, at, None, tick))
    after = max(trace._end, trace._tick_no[-1] if trace._tick_no else 0) + 1
    found += [place._replace(left=after) for place in open_places.values()]
    found += [Place(ti, executor, worker, at, None, after) for ti, left in picks.items() for at, executor, worker in left]
    return found


def _number(trace: Trace, ti: int) -> int:
    """Which executor a TI goes to, as a number."""
    run = trace._run_of[ti]
    task = trace._task_of[ti]
    executors = trace._now.executor
    chosen = run.plan.tasks[task].executor if task < run.plan.n and ti not in trace._gone else None
    return list(executors.by_name).index(executors.name_of(chosen))

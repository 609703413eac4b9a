"""Tasks that wait for something outside: sensors, deferrals to the triggerer, a person's answer.

Each try of such a task is made of short stays with a worker and waits between them. The waits hold no worker slot
(except a poking sensor, which is the point of the lesson), and their ends are appointments in the calendar.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..states import AWAITING_INPUT, DEFERRED, SCHEDULED, UP_FOR_RESCHEDULE
from ..waits import Deferral, HumanInput, Sensor
from . import limits

if TYPE_CHECKING:
    from .core import Sim


class Waits:
    """What is remembered between the stays of a try.

    first_check: when a sensor's clock began. erred: how many of a sensor's errors have happened. resumed: TIs past
    their wait, True if it timed out. parked: the number of a TI's current wait, so that an appointment for an earlier
    one is void. The triggerer runs at most ``capacity`` triggers; those beyond wait in ``line``. missed: ends of waits
    that nobody could hear of.
    """

    def __init__(self, capacity: int):
        self.first_check: dict[int, int] = {}
        self.erred: dict[int, int] = {}
        self.resumed: dict[int, bool] = {}
        self.parked: dict[int, int] = {}
        self.count = 0
        self.capacity = capacity
        self.triggers: set[int] = set()
        self.line: deque[tuple[int, int]] = deque()
        self.missed: list[tuple[int, int, bool]] = []


def length(sim: Sim, ti: int, wait: Any) -> int:
    """Ticks of the stay with a worker that starts now."""
    if isinstance(wait, Sensor):
        sim.waits.first_check.setdefault(ti, sim.now)
        if wait.mode == "reschedule":
            return 1
        return _last_check(wait, sim.waits.erred.get(ti, 0)) + 1
    return wait.after if ti in sim.waits.resumed else wait.before


def _last_check(sensor: Sensor, erred: int) -> int:
    """Ticks from the first check to the one that ends the try: true, past the timeout, or the next error."""
    step = sensor.poke_interval
    ends = [*sensor.errors_at[erred:erred + 1], *([] if sensor.true_after is None else [sensor.true_after])]
    return min([-(-tick // step) * step for tick in ends] + [(sensor.timeout // step + 1) * step])


def after_stay(sim: Sim, ti: int, wait: Any) -> str | None:
    """What follows a stay with a worker: "parked", an outcome that is final, or None for the scripted outcome."""
    waits = sim.waits
    if isinstance(wait, Sensor):
        return _after_check(sim, ti, wait)
    if ti not in waits.resumed:
        _park(sim, ti, wait)
        return "parked"
    return "timed_out" if waits.resumed.pop(ti) else None


def _after_check(sim: Sim, ti: int, sensor: Sensor) -> str | None:
    first = sim.waits.first_check.setdefault(ti, sim.now - 1)   # it may have become a sensor on the way
    check = sim.now - 1                                    # a check takes one tick
    erred = sim.waits.erred.get(ti, 0)
    if erred < len(sensor.errors_at) and check - first >= sensor.errors_at[erred]:
        sim.waits.erred[ti] = erred + 1
        if sensor.mode == "poke":
            del sim.waits.first_check[ti]                      # the next try has a clock of its own
        return "poke_error"
    if sensor.true_after is not None and check - first >= sensor.true_after:
        del sim.waits.first_check[ti]
        return None
    if check - first > sensor.timeout:
        del sim.waits.first_check[ti]
        return "sensor_timeout_skip" if sensor.soft_fail else "sensor_timeout"
    sim.record(ti, UP_FOR_RESCHEDULE)
    sim.not_before[ti] = check + sensor.poke_interval
    if sim.not_before[ti] > sim.now:
        sim.calendar.look[sim.not_before[ti]].append(ti)
    else:
        sim.look_at(ti)
    return "parked"


def _park(sim: Sim, ti: int, wait: Deferral | HumanInput) -> None:
    """Leave the worker: deferred or awaiting_input, keeping only what counts in that state."""
    waits, deferred = sim.waits, isinstance(wait, Deferral)
    waits.count += 1
    number = waits.parked[ti] = waits.count
    sim.record(ti, DEFERRED if deferred else AWAITING_INPUT)
    limits.take(kept(sim, ti))
    if deferred:
        waits.line.append((ti, number))
        run_triggers(sim)
    elif wait.answered_after is not None and (wait.timeout is None or wait.answered_after <= wait.timeout):  # type: ignore[union-attr]
        _later(sim, ti, number, wait.answered_after, timed_out=False)  # type: ignore[union-attr]
        return
    if wait.timeout is not None:
        _later(sim, ti, number, wait.timeout, timed_out=not getattr(wait, "defaults", False))


def run_triggers(sim: Sim) -> None:
    """The triggerer takes waits from the line while it has room; a wait begins when its trigger runs."""
    waits = sim.waits
    if sim.outages and unheard(sim, "event"):
        return
    while waits.line and len(waits.triggers) < waits.capacity:
        ti, number = waits.line.popleft()
        if waits.parked.get(ti) == number:
            waits.triggers.add(ti)
            ticks = sim.run_of[ti].plan.tasks[sim.task_of[ti]].wait.wait
            if ticks is not None:
                _later(sim, ti, number, ticks, timed_out=False)


def _later(sim: Sim, ti: int, number: int, ticks: int, *, timed_out: bool) -> None:
    sim.calendar.source[sim.now + max(1, ticks)].append(lambda s, _: resume(s, ti, number, timed_out))


def unheard(sim: Sim, what: str) -> bool:
    """Whether an outage hides the end of a wait: an "event", a person's "answer" or a "timeout"."""
    return sim.outages is not None and any(what in fault.mutes for _, fault in sim.outages.at(sim.now))


def resume(sim: Sim, ti: int, number: int, timed_out: bool) -> None:
    """The wait is over: straight to scheduled, same try, and through the limits again."""
    if sim.waits.parked.get(ti) != number:
        return
    if sim.outages:
        wait = sim.run_of[ti].plan.tasks[sim.task_of[ti]].wait
        if unheard(sim, "timeout" if timed_out else "answer" if isinstance(wait, HumanInput) else "event"):
            sim.waits.missed.append((ti, number, timed_out))
            return
    unpark(sim, ti)
    sim.waits.resumed[ti] = timed_out
    sim.record(ti, SCHEDULED, "wait_timeout" if timed_out else None)
    limits.make_ready(sim, ti, sim.run_of[ti], sim.task_of[ti])


def unpark(sim: Sim, ti: int) -> None:
    """Give back what the wait kept; a free place in the triggerer goes to the next in line."""
    limits.give_back(sim.limits, kept(sim, ti))
    del sim.waits.parked[ti]
    sim.waits.triggers.discard(ti)
    run_triggers(sim)


def kept(sim: Sim, ti: int) -> limits.Places:
    """The places a parked TI keeps: task limits; its pool only if deferred and the pool says include_deferred."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    keeps = run.heads[run.plan.cls[task]].keeps
    if isinstance(run.plan.tasks[task].wait, HumanInput):
        return tuple([(limit, places) for limit, places in keeps if limit.name.kind != "pool"])
    return keeps


def forget(sim: Sim, ti: int) -> None:
    """The TI starts afresh (a new try, a clear): nothing of its waits is left."""
    if ti in sim.waits.parked:
        unpark(sim, ti)
    sim.waits.resumed.pop(ti, None)
    sim.waits.first_check.pop(ti, None)
    sim.waits.erred.pop(ti, None)

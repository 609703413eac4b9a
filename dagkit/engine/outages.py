"""Outages at work: what holds for a while and then is over, or makes things slow without an error.

Everything is worked out from the faults that hold *now*, so that any number of them may overlap. Nothing here runs in
a scenario without outages.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from ..errors import DagkitError
from ..executors import CeleryExecutor, KubernetesExecutor, Worker
from ..faults import (
    ApiServerDown,
    BrokenWorker,
    BrokerDown,
    DatabaseDown,
    Outage,
    PodsPending,
    SlowDatabase,
    SlowWorker,
    TriggererDown,
    WrongQueue,
)
from ..faults.control import next_pass
from ..states import RUNNING
from . import waiting
from .ending import fail, leave
from .loss import check_executor, check_worker, go_silent, tis_of
from .workers import Floor

if TYPE_CHECKING:
    from .core import Sim

ENDLESS = 2**62
"""Places of an executor that has no staff of workers to count."""


class Holding:
    """Which outages hold, asked in the order of time: those to come and those that are over are not looked at."""

    def __init__(self) -> None:
        self.count = 0
        self.coming: list[tuple[int, int, Outage]] = []        # heap by tick
        self.held: list[tuple[int, Outage]] = []               # in the order given
        self.tick = 0

    def add(self, fault: Outage) -> None:
        heappush(self.coming, (fault.tick, self.count, fault))
        self.count += 1

    def at(self, tick: int) -> list[tuple[int, Outage]]:
        """(number, outage) of those that hold at this tick."""
        if tick != self.tick:
            self.tick = tick
            while self.coming and self.coming[0][0] <= tick:
                _, number, fault = heappop(self.coming)
                insort(self.held, (number, fault))
            if any(not fault.holds(tick) for _, fault in self.held):
                self.held = [(number, fault) for number, fault in self.held if fault.holds(tick)]
        return self.held


class Happening:
    """The beginning or the end of an outage. A database that is down cannot hold these back."""

    def __init__(self, fault: Outage, begins: bool):
        self.fault, self.begins = fault, begins

    def __call__(self, sim: Sim, now: int) -> None:
        refresh(sim, now)
        if self.begins and isinstance(self.fault, ApiServerDown):
            cut_off(sim, self.fault)
        if self.begins and isinstance(self.fault, DatabaseDown):
            postpone(sim, self.fault)


def put_on_calendar(sim: Sim, fault: Outage) -> None:
    """An outage, checked and entered. It begins after what ends in that tick, and is over before anything else."""
    _check(sim, fault)
    for name in _stops(sim, fault):
        if name not in sim.floors:                        # something must hold what is not delivered
            executor = sim.scenario.executor.by_name[name]
            sim.floors[name] = Floor([Worker(ENDLESS, ("*",))], executor.pull)
    sim.staffs = {name: list(floor.staff) for name, floor in sim.floors.items()}
    if sim.outages is None:
        sim.outages = Holding()
    sim.outages.add(fault)
    if isinstance(fault, (SlowDatabase, DatabaseDown)):
        sim.gates.append(fault)
    sim.calendar.source[fault.tick].append(Happening(fault, True))
    if fault.until is not None:
        sim.calendar.change[fault.until].append(Happening(fault, False))


def _check(sim: Sim, fault: Outage) -> None:
    name = type(fault).__name__
    if isinstance(fault, (SlowWorker, BrokenWorker, WrongQueue)):
        check_worker(sim, fault)
    elif isinstance(fault, (BrokerDown, PodsPending)):
        check_executor(sim, fault)
        if not _stops(sim, fault):
            part, use = (("a broker", "CeleryExecutor") if isinstance(fault, BrokerDown)
                         else ("pods", "KubernetesExecutor"))
            raise DagkitError(f"{name}: no executor here has {part}. Use executor=dk.{use}().")
    elif isinstance(fault, TriggererDown) and not sim.scenario.config.triggerers:
        raise DagkitError("TriggererDown: config.triggerers is 0, so there is none to lose. Set triggerers=1.")


def _stops(sim: Sim, fault: Outage) -> list[str]:
    """The executors whose work reaches no worker because of a fault."""
    by_name = sim.scenario.executor.by_name
    if isinstance(fault, ApiServerDown):
        return list(by_name)
    kind = CeleryExecutor if isinstance(fault, BrokerDown) else KubernetesExecutor
    return [name for name, executor in by_name.items() if isinstance(fault, (BrokerDown, PodsPending))
            and isinstance(executor, kind) and fault.executor in (None, name)]


def holding(sim: Sim, *kinds: type[Outage]) -> list[Any]:
    """The outages of some kinds that hold now."""
    return [fault for _, fault in sim.outages.at(sim.now) if isinstance(fault, kinds)] if sim.outages else []


def refresh(sim: Sim, now: int) -> None:
    """Who delivers, and who listens to which queues, now. What was not heard of is heard now, if it can be."""
    sim.cut = {name for fault in holding(sim, Outage) for name in _stops(sim, fault)}
    for name, floor in sim.floors.items():
        floor.staff = list(sim.staffs.get(name, floor.staff))
        for fault in holding(sim, WrongQueue):
            floor.staff = [replace(w, queues=fault.queues) if _is(fault, name, w) else w for w in floor.staff]
    missed, sim.waits.missed = sim.waits.missed, []
    for ti, number, timed_out in missed:
        waiting.resume(sim, ti, number, timed_out)
    waiting.run_triggers(sim)


def _is(fault: Any, executor: str, worker: Worker) -> bool:
    return bool(worker.name == fault.worker and fault.executor in (None, executor))


# ---- the control plane ----------------------------------------------------------------------------------------------


def passes(sim: Sim, now: int) -> bool:
    """Whether the scheduler gets through a pass in this tick; if not, it tries again as soon as it can."""
    down = holding(sim, DatabaseDown)
    if down:
        ends = [fault.until for fault in down if fault.until is not None]
        if len(ends) == len(down):
            sim.calendar.look[max(ends)]                  # asking puts the tick on the calendar
        return False
    if not holding(sim, SlowDatabase):
        return True
    at = next_pass(sim.gates, now)
    if at != now:
        sim.calendar.look[at]
    return at == now


def cut_off(sim: Sim, fault: ApiServerDown) -> None:
    """Who runs cannot report. Back in time: what ended meanwhile reports then. Else it is given up, and lost."""
    running = [ti for ti, state in enumerate(sim.state) if state == RUNNING]
    if fault.given_up is not None:
        for ti in running:
            go_silent(sim, ti)
        return
    back = fault.until
    assert back is not None
    for tick in sorted(tick for tick in sim.calendar.finish if fault.tick < tick < back):
        late = [ti for ti in sim.calendar.finish[tick] if sim.state[ti] == RUNNING and sim.ends.get(ti, tick) == tick]
        for ti in late:
            sim.ends[ti] = back
            sim.calendar.finish[back].append(ti)


def postpone(sim: Sim, fault: DatabaseDown) -> None:
    """What the scheduler would look at meanwhile (a run falls due, a timeout) waits until the database is back."""
    source = sim.calendar.source
    for tick in sorted(t for t in source if t > fault.tick and (fault.until is None or t < fault.until)):
        waits = [appointment for appointment in source[tick] if not isinstance(appointment, Happening)]
        source[tick] = [appointment for appointment in source[tick] if isinstance(appointment, Happening)]
        if fault.until is not None:
            source[fault.until].extend(waits)


# ---- workers --------------------------------------------------------------------------------------------------------


def stay(sim: Sim, ti: int, ticks: int) -> int:
    """How long a try that starts now stays with its worker, given how that worker is."""
    for fault in holding(sim, SlowWorker, BrokenWorker):
        if _runs_on(sim, ti, fault):
            if isinstance(fault, BrokenWorker):
                return _fails_on_import(sim, ti, ticks)
            sim.notes.append((sim.now, ti, "slow_worker"))
            ticks *= fault.factor
    return ticks


def _runs_on(sim: Sim, ti: int, fault: Any) -> bool:
    if getattr(fault, "task", None) is not None:
        return ti in tis_of(sim, fault.task)
    return any(ti in floor.at and _is(fault, name, floor.staff[floor.at[ti]]) for name, floor in sim.floors.items())


def _fails_on_import(sim: Sim, ti: int, ticks: int) -> int:
    token = sim.started_at(ti)
    sim.ends[ti] = -1                                     # its usual end is void

    def crash(s: Sim, _: Any) -> None:
        if s.state[ti] == RUNNING and s.started_at(ti) == token:
            leave(s, ti)
            fail(s, ti, "import_error")

    sim.calendar.source[sim.now + 1].append(crash)
    return ticks

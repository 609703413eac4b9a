"""Faults at work: silent workers, lost messages, a dead scheduler. All of it as appointments in the calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DagkitError, choices, nearest, quoted, shown
from ..faults import FAULTS, LoseMessage, LoseScheduler, LoseWorker, Outage
from ..states import NONE, QUEUED, RUNNING
from .ending import fail, leave, stop
from .runs import pause
from .script import known, readings

if TYPE_CHECKING:
    from .core import Sim

NO_SCHEDULER = "no scheduler is alive"


def put_on_calendar(sim: Sim) -> None:
    """Every fault of the scenario, checked and entered."""
    from . import outages
    for fault in sim.scenario.faults:
        if isinstance(fault, LoseMessage):
            tis_of(sim, fault.task)
            sim.calendar.change[fault.tick].append(lambda s, _, f=fault: s.lost_messages.update(tis_of(s, f.task)))
        elif isinstance(fault, LoseWorker):
            check_worker(sim, fault)
            sim.calendar.source[fault.tick].append(lambda s, _, f=fault: _lose_worker(s, f))
        elif isinstance(fault, LoseScheduler):
            sim.calendar.source[fault.tick].append(lambda s, _: _lose_scheduler(s))
        elif isinstance(fault, Outage):
            outages.put_on_calendar(sim, fault)
        else:
            raise DagkitError(f"faults: {quoted(fault)} is not a fault. Known: {choices(f.__name__ for f in FAULTS)}.")


def tis_of(sim: Sim, label: str) -> list[int]:
    """The TIs a label means now; none where its task is not in the Dag at present but comes or leaves on the way."""
    if not known(label, sim.plans) and any({"dag", "tasks"} & set(change) for _, change in sim.given.changes):
        return []
    return [ti for plan, task, index, run_no, _ in readings(label, sim.plans) for run in sim.runs
            if run.plan is plan and run_no in (None, run.number)
            for ti in run.tis(task) if index in (None, sim.map_index.get(ti))]


def check_executor(sim: Sim, fault: Any) -> None:
    """Refuses a fault of an executor that is not there."""
    known_names = sim.scenario.executor.by_name
    if fault.executor is not None and fault.executor not in known_names:
        raise DagkitError(f"{type(fault).__name__}: no executor is called '{shown(fault.executor)}'."
                          f"{nearest(fault.executor, known_names)} Known: {choices(known_names)}.")


def check_worker(sim: Sim, fault: Any) -> None:
    """Refuses a fault of a task or worker that is not there."""
    check_executor(sim, fault)
    if getattr(fault, "task", None) is not None:
        tis_of(sim, fault.task)
        return
    names = [w.name for name, floor in sim.floors.items() if fault.executor in (None, name) for w in floor.staff]
    if fault.worker not in names:
        there = choices(names) or "none (this executor has no named workers)"
        raise DagkitError(f"{type(fault).__name__}: no worker is called '{shown(fault.worker)}'."
                          f"{nearest(fault.worker, names)} Known: {there}.")


def _lose_worker(sim: Sim, fault: LoseWorker) -> None:
    """Its running TIs go silent; a standing worker is gone for good."""
    if fault.task is not None:
        silent = [ti for ti in tis_of(sim, fault.task) if sim.state[ti] == RUNNING]
    else:
        silent = []
        for name, floor in sim.floors.items():
            for w, worker in enumerate(floor.staff):
                if worker.name == fault.worker and fault.executor in (None, name):
                    silent += [ti for ti, at in floor.at.items() if at == w and sim.state[ti] == RUNNING]
                    floor.dismiss(w)
    for ti in silent:
        go_silent(sim, ti)


def go_silent(sim: Sim, ti: int) -> None:
    """No heartbeat from now on: found at the first detection after the timeout, then the retry rule applies."""
    config = sim.scenario.config
    sim.ends[ti] = -1
    every = config.task_instance_heartbeat_timeout_detection_interval
    found = -(-(sim.now + config.task_instance_heartbeat_timeout) // every) * every
    token = sim.started_at(ti)
    sim.silent[ti] = found

    def check(s: Sim, _: Any) -> None:
        if s.state[ti] == RUNNING and s.started_at(ti) == token and s.schedulers > 0:
            s.silent.pop(ti, None)
            leave(s, ti)
            fail(s, ti, "heartbeat_timeout")

    sim.calendar.source[found].append(check)


def _lose_scheduler(sim: Sim) -> None:
    """The last of the schedulers still alive dies. The common budget of parallelism stays as it was."""
    dead = sim.schedulers = sim.schedulers - 1
    if sim.schedulers <= 0:
        for plan in sim.plans:
            pause(sim, plan.dag.dag_id, NO_SCHEDULER)
        return
    sim.calendar.source[sim.now + sim.scenario.config.scheduler_health_check_threshold].append(
        lambda s, _: _adopt(s, dead))


def _adopt(sim: Sim, dead: int) -> None:
    """The dead scheduler's work: adopted where the executor can, else back to none (the lost try counts)."""
    if sim.schedulers <= 0:
        return                                            # meanwhile the last one died too
    for ti, owner in sorted(sim.queued_by.items()):
        if owner == dead and sim.state[ti] in (QUEUED, RUNNING):
            task = sim.run_of[ti].plan.tasks[sim.task_of[ti]]
            if sim.scenario.executor.get(task.executor).adopts:
                sim.queued_by[ti] = 0
            else:
                stop(sim, ti, NONE, "orphaned")
                sim.look_at(ti)

"""Queued work waiting for a worker: who picks it up, and what happens when nobody does.

Only executors with a staff of workers come here; for the others a worker is always free.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from ..executors import Worker
from ..states import FAILED, QUEUED, SCHEDULED
from . import limits

if TYPE_CHECKING:
    from .core import Sim


class Floor:
    """The workers of one executor and the work in front of them.

    free: free slots of each worker. lines: per queue, waiting TIs in the order they are taken. at: where a TI runs.
    """

    def __init__(self, staff: list[Worker], pull: str):
        self.staff, self.pull = staff, pull
        self.free = [w.concurrency for w in staff]
        self.lines: dict[str, list[tuple[float, int, int]]] = {}
        self.at: dict[int, int] = {}
        self.arrivals = 0

    def arrive(self, ti: int, queue: str, weight: int) -> None:
        self.arrivals += 1
        insort(self.lines.setdefault(queue, []), (-weight if self.pull == "priority" else 0, self.arrivals, ti))

    def served(self, queue: str) -> bool:
        return any(w.serves(queue) for w in self.staff)


def arrive(sim: Sim, tis: list[int]) -> list[int]:
    """Handed-over TIs reach their executor. Returns those that start at once, and those whose turn has come."""
    ready, waiting = [], []
    executors = sim.scenario.executor
    for ti in tis:
        if sim.state[ti] == QUEUED:
            plan = sim.run_of[ti].plan
            task = plan.tasks[sim.task_of[ti]]
            floor = sim.floors.get(executors.name_of(task.executor))
            if ti in sim.lost_messages:
                waiting.append(ti)
            elif floor is None:
                ready.append(ti)
            else:
                floor.arrive(ti, task.queue, plan.weight[sim.task_of[ti]])
                waiting.append(ti)
    picked = pick_up(sim)
    taken = set(picked)
    for ti in waiting:
        if ti not in taken:
            _watch(sim, ti)
    return ready + picked


def pick_up(sim: Sim) -> list[int]:
    """Free workers take the first waiting TI of a queue they serve; of equals the one with most free slots."""
    taken = []
    for name, floor in sim.floors.items():
        for queue in floor.lines if name not in sim.cut else ():
            line = floor.lines[queue]
            while line:
                _, _, ti = line[0]
                if sim.state[ti] != QUEUED or ti in floor.at:
                    line.pop(0)
                    continue
                able = [w for w, worker in enumerate(floor.staff) if worker.serves(queue) and floor.free[w] > 0]
                if not able:
                    break
                line.pop(0)
                best = max(able, key=lambda w: (floor.free[w], -w))
                floor.free[best] -= 1
                floor.at[ti] = best
                taken.append(ti)
    return taken


def release(sim: Sim, ti: int) -> None:
    """The TI is no longer with a worker (or no longer waits for one)."""
    for floor in sim.floors.values():
        worker = floor.at.pop(ti, None)
        if worker is not None:
            floor.free[worker] += 1


def _watch(sim: Sim, ti: int) -> None:
    """Check, at the scheduler's fixed rhythm, whether the TI is stuck in queued."""
    config = sim.scenario.config
    every = config.task_queued_timeout_check_interval
    since = sim.queued_at[ti]
    due = -(-(since + config.task_queued_timeout + 1) // every) * every
    sim.calendar.source[max(due, sim.now + 1)].append(lambda s, _: _stuck(s, ti, since))


def _stuck(sim: Sim, ti: int, since: int) -> None:
    """Queued too long: back to scheduled without a new try, at most twice; then failed, retries or not.

    Source: _handle_tasks_stuck_in_queued, jobs/scheduler_job_runner.py, Airflow 3.3.2.
    """
    if sim.state[ti] != QUEUED or sim.queued_at.get(ti) != since or sim.schedulers <= 0:
        return
    run, task = sim.run_of[ti], sim.task_of[ti]
    if not sim.scenario.executor.get(run.plan.tasks[task].executor).revokes:
        return
    limits.give_back(sim.limits, run.heads[run.plan.cls[task]].needs)
    sim.requeues[ti] = sim.requeues.get(ti, 0) + 1
    sim.lost_messages.discard(ti)
    if sim.requeues[ti] > sim.scenario.config.num_stuck_in_queued_retries:
        sim.settle(ti, FAILED, "stuck_in_queued")
    else:
        sim.record(ti, SCHEDULED, "stuck_in_queued")
        limits.make_ready(sim, ti, run, task)


def handed_over(sim: Sim, tis: list[int]) -> None:
    """Note when, and by which scheduler, TIs were queued; only where that can matter."""
    for ti in tis:
        sim.queued_at[ti] = sim.now
        sim.queued_by[ti] = len(sim.queued_by) % max(1, sim.schedulers)

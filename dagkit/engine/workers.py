"""Between queued and running: where a handed-over TI arrives, who picks it up, and when it starts."""

from __future__ import annotations

from bisect import insort
from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import DagkitError, choices, nearest, shown
from ..executors import Executor, Rhythm, Turn, Worker
from ..executors.latency import draw
from ..states import FAILED, QUEUED, SCHEDULED
from . import limits

if TYPE_CHECKING:
    from .core import Sim


class Floor:
    """The workers of one executor and the work in front of them.

    free: free slots of each worker. lines: per queue, waiting TIs in the order they are taken. kept: per worker, TIs it
    reserved but has no slot for; room: how many more it would reserve. at: where a TI runs or starts. number: the
    executor's place among all. seen: what the executor remembers. look: (tick, TIs taken in it).
    starts_at_once: whether a TI runs as soon as it is picked up.
    """

    def __init__(self, staff: list[Worker], pull: str):
        self.staff, self.pull = staff, pull
        self.free = [w.concurrency for w in staff]
        self.room = [0] * len(staff)
        self.kept: list[deque[int]] = [deque() for _ in staff]
        self.lines: dict[str, list[tuple[float, int, int]]] = {}
        self.at: dict[int, int] = {}
        self.arrivals = 0
        self.executor: Executor | None = None
        self.rhythm: Rhythm | None = None
        self.number = 0
        self.seen: dict[Any, Any] = {}
        self.look = (0, 0)
        self.starts_at_once = True

    @classmethod
    def of(cls, executor: Executor, staff: list[Worker], number: int, config: Any, seed: int) -> Floor:
        """The floor of an executor with these workers."""
        floor = cls(staff, executor.pull)
        floor.room = [w.concurrency * (executor.prefetch - 1) for w in staff]
        floor.executor, floor.number = executor, number
        floor.rhythm = executor.rhythm(config, seed)
        floor.starts_at_once = type(executor).begin is Executor.begin
        return floor

    def arrive(self, ti: int, queue: str, weight: int) -> None:
        self.arrivals += 1
        insort(self.lines.setdefault(queue, []), (-weight if self.pull == "priority" else 0, self.arrivals, ti))

    def served(self, queue: str) -> bool:
        return any(w.serves(queue) for w in self.staff)

    def dismiss(self, worker: int) -> None:
        """A worker is gone for good: it takes nothing any more. What it had reserved stays where it is."""
        self.free[worker], self.room[worker] = -self.staff[worker].concurrency, 0
        self.kept[worker] = deque()

    def able(self, queue: str, tick: int | None) -> list[int]:
        """The workers that could take one more TI of a queue, those only that look for work in this tick (None: any)."""
        rhythm = self.rhythm if tick is not None else None
        return [w for w, worker in enumerate(self.staff) if worker.serves(queue) and self.free[w] + self.room[w] > 0
                and (rhythm is None or rhythm.looks(w, tick or 0))]


def prepare(sim: Sim) -> None:
    """The floors of all executors. Whether hand-overs are noted."""
    config, seed = sim.scenario.config, sim.scenario.seed
    for number, (name, executor) in enumerate(sim.scenario.executor.by_name.items()):
        staff = executor.staff(config)
        if staff is not None:
            sim.floors[name] = Floor.of(executor, list(staff), number, config, seed)
        for task_id, _ in executor.environments:
            ids = [i for plan in sim.plans for i in plan.ids]
            if task_id not in ids:
                raise DagkitError(f"{shown(name)}: environments: no Dag has a task '{shown(task_id)}'."
                                  f"{nearest(task_id, ids)} Known: {choices(ids)}.")
    sim.tracks_queued = bool(sim.floors or sim.scenario.faults)
    mark_environments(sim)


def mark_environments(sim: Sim) -> None:
    """Tasks that need an environment may end otherwise than scripted."""
    for executor in sim.scenario.executor.by_name.values():
        for task_id, _ in executor.environments:
            for plan in sim.plans:
                if task_id in plan.index:
                    plan.scripted.add(plan.index[task_id])
                    plan.odd_length.add(plan.index[task_id])


def hand_over(sim: Sim, queued: list[int]) -> list[int]:
    """Queued TIs set out for their executors. Returns those that are there in the same tick."""
    if sim.same_handover is not None and not sim.starts:
        if not sim.same_handover:
            return queued
        sim.calendar.start[sim.now + sim.same_handover].extend(queued)
        return []
    at_once: list[int] = []
    for ti in queued:
        executor = _executor(sim, ti)
        ticks = executor.handover if executor.steady else executor.arrival(_drawer(sim, ti), sim.scenario.config)
        if ti in sim.starts:
            sim.starts[ti] = sim.now + ticks
        (sim.calendar.start[sim.now + ticks] if ticks else at_once).append(ti)
    return at_once


def _executor(sim: Sim, ti: int) -> Executor:
    return sim.scenario.executor.get(sim.run_of[ti].plan.tasks[sim.task_of[ti]].executor)


def _drawer(sim: Sim, ti: int) -> Any:
    """Draws for one hand-over of a TI: the same whenever this try is played, whatever else happens."""
    run = sim.run_of[ti]
    key = (sim.scenario.seed, run.plan.dag.dag_id, run.plan.ids[sim.task_of[ti]], run.number, sim.map_index.get(ti, -1),
           sim.tries[ti], sim.requeues.get(ti, 0))
    return lambda purpose: draw(*key, purpose)


def arrive(sim: Sim, tis: list[int]) -> list[int]:
    """TIs that reach their executor, or whose worker is ready. Returns those that start at once."""
    ready, waiting = [], []
    executors = sim.scenario.executor
    for ti in dict.fromkeys(tis):                         # a void appointment may fall into the tick of the true one
        if sim.state[ti] == QUEUED and sim.starts.get(ti, sim.now) == sim.now:
            plan = sim.run_of[ti].plan
            task = plan.tasks[sim.task_of[ti]]
            floor = sim.floors.get(executors.name_of(task.executor))
            if floor is None and ti not in sim.lost_messages or floor is not None and ti in floor.at:
                ready.append(ti)
            else:
                waiting.append(ti)
                if floor is not None and ti not in sim.lost_messages:
                    floor.arrive(ti, task.queue, plan.weight[sim.task_of[ti]])
    picked = pick_up(sim)
    taken = set(picked)
    for ti in waiting:
        if ti not in taken:
            _watch(sim, ti)
    return ready + picked


def pick_up(sim: Sim) -> list[int]:
    """Free workers take the first waiting TI of a queue they serve; of equals the one with most room. Returns those
    that start in this tick; the others' workers need a while."""
    begun: list[int] = []
    for name, floor in sim.floors.items():
        if name not in sim.cut:
            begun += [ti for ti, worker in _picks(sim, floor) if not _take(sim, floor, ti, worker)]
    return begun


def _picks(sim: Sim, floor: Floor) -> list[tuple[int, int]]:
    """(TI, worker) for every TI that gets a slot now."""
    picks = [(ti, w) for w in range(len(floor.staff)) for ti in _from_reserve(sim, floor, w)]
    taken = floor.look[1] if floor.look[0] == sim.now else 0
    most = -1 if floor.rhythm is None or floor.rhythm.most is None else floor.rhythm.most - taken
    for queue, line in floor.lines.items():
        while line:
            ti = line[0][2]
            if sim.state[ti] != QUEUED or ti in floor.at:
                line.pop(0)
                continue
            able = floor.able(queue, sim.now)
            if not able or not most:
                _look_again(sim, floor, queue)
                break
            line.pop(0)
            taken, most = taken + 1, most - 1
            best = max(able, key=lambda w: (floor.free[w] + floor.room[w], -w))
            if floor.free[best] > 0:
                floor.free[best] -= 1
                floor.at[ti] = best
                picks.append((ti, best))
            else:
                floor.room[best] -= 1
                floor.kept[best].append(ti)
    floor.look = sim.now, taken
    return picks


def _from_reserve(sim: Sim, floor: Floor, worker: int) -> list[int]:
    """A worker's free slots go first to what it has reserved."""
    found, kept = [], floor.kept[worker]
    while kept and floor.free[worker] > 0:
        ti = kept.popleft()
        floor.room[worker] += 1
        if sim.state[ti] == QUEUED and ti not in floor.at:
            floor.free[worker] -= 1
            floor.at[ti] = worker
            found.append(ti)
    return found


def _look_again(sim: Sim, floor: Floor, queue: str) -> None:
    """Somebody has room, but looks for work only later: that tick is put on the calendar."""
    rhythm = floor.rhythm
    if rhythm is not None and (able := floor.able(queue, None)):
        sim.calendar.start[min(rhythm.next_look(w, sim.now) for w in able)]  # asking puts it there


def _take(sim: Sim, floor: Floor, ti: int, worker: int) -> int:
    """A worker has picked a TI up; its slot is taken. Returns the ticks until the TI runs."""
    ticks = 0
    if floor.executor is not None:
        executor = floor.executor
        sim.picks.append((ti, sim.now, floor.number, worker))
        if not floor.starts_at_once or executor.environments:
            task_id = sim.run_of[ti].plan.ids[sim.task_of[ti]]
        if not floor.starts_at_once:
            seconds = sim.scenario.config.tick_seconds
            ticks = executor.begin(Turn(sim.now, task_id, seconds, _drawer(sim, ti), floor.seen))
        if executor.environments and not executor.own_image:
            fits = executor.environment_of(task_id) in ("", floor.staff[worker].environment)
            (sim.misfits.discard if fits else sim.misfits.add)(ti)
    if ti in sim.starts:
        sim.starts[ti] = sim.now + ticks
    if ticks:
        sim.calendar.start[sim.now + ticks].append(ti)
        if ticks >= sim.scenario.config.task_queued_timeout:
            _watch(sim, ti)
    return ticks


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
    if not _executor(sim, ti).revokes:
        return
    limits.give_back(sim.limits, run.heads[run.plan.cls[task]].needs)
    release(sim, ti)                                      # a pod that is still pending is deleted
    sim.starts[ti] = -1
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

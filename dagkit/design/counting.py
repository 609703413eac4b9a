"""What is read off a trace: connections, calls, waits, trainings, running runs. Nothing here knows a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..states import FAILED, FINISHED, NAMES, QUEUED, RUNNING, SCHEDULED, SUCCESS
from . import world

Line = list[tuple[int, int]]
Event = tuple[int, str, str, int, int, int, int]
MINUTE = 60 // world.TICK_SECONDS


@dataclass(frozen=True)
class CriticalRun:
    """One run of a critical Dag: ticks at which it was due, ``read`` began to run, and it ended (None: never)."""

    dag_id: str
    due: int
    began: int | None
    ended: int | None


class Readings:
    """The figures of one trace, each computed when it is asked for."""

    def __init__(self, trace: Any):
        self.trace = trace

    @cached_property
    def events(self) -> list[Event]:
        """(tick, dag_id, task_id, TI, old state, new state, event number) of every change."""
        trace = self.trace
        told = [(run.plan.dag.dag_id, run.plan.ids) for run in trace._run_of]
        task_of = trace._task_of
        moves = zip(trace._event_tick.tolist(), trace._event_ti, trace._event_old, trace._event_new, strict=True)
        return [(tick, told[ti][0], told[ti][1][task_of[ti]], ti, old, new, n)
                for n, (tick, ti, old, new) in enumerate(moves)]

    @cached_property
    def holders(self) -> list[tuple[int, Counter[str]]]:
        """At each change: how many task instances of each kind hold connections to the source."""
        now: Counter[str] = Counter()
        found: list[tuple[int, Counter[str]]] = []
        for tick, _, task_id, _, old, new, _ in self.events:
            if task_id in world.OPENS and (old == RUNNING) != (new == RUNNING):
                now[task_id] += 1 if new == RUNNING else -1
                if found and found[-1][0] == tick:
                    found[-1] = (tick, +now)
                else:
                    found.append((tick, +now))
        return found

    @cached_property
    def connections(self) -> Line:
        """Open connections to the source at the end of each tick in which they change."""
        return [(tick, sum(n * world.OPENS[task_id] for task_id, n in held.items())) for tick, held in self.holders]

    @cached_property
    def calls(self) -> Line:
        """Calls of the API in the 60 seconds up to a tick, wherever calls are made."""
        made: Counter[int] = Counter()
        for tick, _, task_id, _, _, new, _ in self.events:
            if task_id in world.CALLS and new == RUNNING:
                made[tick] += world.CALLS[task_id]
        return [(tick, sum(made[t] for t in range(tick - MINUTE + 1, tick + 1))) for tick in sorted(made)]

    @cached_property
    def critical(self) -> list[CriticalRun]:
        """Every run of the critical Dags."""
        began: dict[tuple[str, int], int] = {}
        for tick, dag_id, task_id, ti, _, new, _ in self.events:
            if task_id == "read" and new == RUNNING:
                began.setdefault((dag_id, self.trace._run_of[ti].number), tick)
        return [CriticalRun(run.plan.dag.dag_id, run.due, began.get((run.plan.dag.dag_id, run.number)), run.ended)
                for run in self.trace._runs if run.plan.dag.dag_id.startswith("critical")]

    @cached_property
    def idle_gpu(self) -> list[tuple[int, int]]:
        """(from tick, to tick) of each time in which a training was ready and a GPU had none."""
        ready = busy = 0
        found: list[tuple[int, int]] = []
        since: int | None = None
        for tick, _, task_id, _, old, new, _ in self.events:
            if task_id == world.GPU_TASK:
                ready += (new in (SCHEDULED, QUEUED)) - (old in (SCHEDULED, QUEUED))
                busy += (new == RUNNING) - (old == RUNNING)
                waits = ready > 0 and busy < len(world.GPUS)
                if waits and since is None:
                    since = tick
                elif not waits and since is not None:
                    found.append((since, tick))
                    since = None
        return found + ([] if since is None else [(since, max(since, self.trace._end))])

    @cached_property
    def trainings(self) -> list[tuple[int, int]]:
        """(tick, trainings at once) at each change."""
        return self._counted((tick, (new == RUNNING) - (old == RUNNING)) for tick, _, task_id, _, old, new, _ in
                             self.events if task_id == world.GPU_TASK)

    def shared_gpu(self, pods: bool) -> tuple[int, int | None]:
        """(most trainings at once on one GPU, the first tick of it). pods: each goes to a GPU node with room, if any."""
        if pods:
            over, tick = highest(self.trainings)
            return (over - len(world.GPUS) + 1, tick) if over > len(world.GPUS) else (1, None)
        trace, at = self.trace, Counter[int]()
        where = {(ti, tick): worker for ti, tick, _, worker in trace._picks}
        now: dict[int, int] = {}
        most, first = 0, None
        for tick, _, task_id, ti, old, new, _ in self.events:
            if task_id == world.GPU_TASK and new == RUNNING and (ti, tick) in where:
                now[ti] = where[ti, tick]
                at[now[ti]] += 1
                if at[now[ti]] > max(1, most):
                    first = tick
                most = max(most, at[now[ti]])
            elif task_id == world.GPU_TASK and old == RUNNING and ti in now:
                at[now.pop(ti)] -= 1
        return most, first

    @cached_property
    def running_runs(self) -> Line:
        """Dag runs in state running at each change."""
        steps: Counter[int] = Counter()
        for run in self.trace._runs:
            for (tick, state), after in zip(run.history, [*run.history[1:], None], strict=False):
                if state == "running":
                    steps[tick] += 1
                    if after is not None:
                        steps[after[0]] -= 1
        return self._counted(sorted(steps.items()))

    @cached_property
    def missed(self) -> list[tuple[int | None, str]]:
        """(tick at which it ended or None, state) of every run that has to be caught up."""
        return [(run.ended, run.state) for run in self.trace._runs if not run.plan.dag.dag_id.startswith("critical")]

    def picked(self, task_id: str) -> list[tuple[int, int, int]]:
        """(tick, number of the executor, number of the worker) for each time a worker took such a task."""
        trace = self.trace
        return [(tick, executor, worker) for ti, tick, executor, worker in trace._picks
                if trace._run_of[ti].plan.ids[trace._task_of[ti]] == task_id]

    @cached_property
    def twice(self) -> list[tuple[int, str]]:
        """(tick, task id) of each try that was taken from a dead scheduler's machine and had to begin again."""
        return [(tick, task_id) for tick, _, task_id, _, old, _, n in self.events
                if self.trace._causes.get(n) == "orphaned" and old == RUNNING]

    @cached_property
    def failed(self) -> list[tuple[int, str]]:
        """(tick, task id) of each failure."""
        return [(tick, task_id) for tick, _, task_id, _, _, new, _ in self.events if new == FAILED]

    @cached_property
    def left(self) -> Counter[tuple[str, str]]:
        """(task id, state): how many never ended, those with a state only."""
        trace = self.trace
        codes = trace._codes_at(trace.last_tick).tolist()
        return Counter((trace._task_id(ti), NAMES[code]) for ti, code in enumerate(codes)
                       if code not in FINISHED and code)

    @cached_property
    def trained(self) -> int:
        """Trainings that succeeded."""
        return sum(task_id == world.GPU_TASK and new == SUCCESS for _, _, task_id, _, _, new, _ in self.events)

    @staticmethod
    def _counted(steps: Iterable[tuple[int, int]]) -> Line:
        line: Line = []
        now = 0
        for tick, step in steps:
            now += step
            if line and line[-1][0] == tick:
                line[-1] = (tick, now)
            else:
                line.append((tick, now))
        return line


def first_above(line: Line, limit: int) -> int | None:
    """The first tick at which a line is above a limit.

    >>> first_above([(1, 3), (4, 7)], 5)
    4
    """
    return next((tick for tick, value in line if value > limit), None)


def highest(line: Line) -> tuple[int, int]:
    """(value, tick) of the highest point, the first of equals; (0, 0) for none.

    >>> highest([(1, 3), (4, 7), (9, 7)])
    (7, 4)
    """
    return max(((value, tick) for tick, value in line), key=lambda point: (point[0], -point[1]), default=(0, 0))

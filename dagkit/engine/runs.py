"""Dag runs: when one starts, what its verdict is, when it has waited long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..states import FAILED, FINISHED, NONE, REMOVED, SKIPPED, UPSTREAM_FAILED
from .ending import stop

if TYPE_CHECKING:
    from .core import Run, Sim


def update(sim: Sim) -> None:
    """Give ended runs their verdict, then start queued runs for which there is room."""
    for run in sim.ended_runs:
        if run.left == 0 and run.state == "running":
            end(sim, run, verdict(sim, run))
    sim.ended_runs = []
    _start_queued(sim)
    for run in stuck(sim):
        end(sim, run, "failed", "deadlock")
        _start_queued(sim)


def _start_queued(sim: Sim) -> None:
    for queue in sim.waiting_runs:
        while queue and queue[0].due <= sim.now and sim.active[queue[0].plan.number] < _room(queue[0]):
            begin(sim, queue.popleft())


def stuck(sim: Sim) -> list[Run]:
    """Running runs in which nothing can ever change."""
    return [run for run in sim.watched if run.state == "running" and deadlocked(sim, run)]


def _room(run: Run) -> int:
    return run.plan.dag.max_active_runs


def begin(sim: Sim, run: Run) -> None:
    """The run goes from queued to running; its tasks without upstreams are looked at."""
    again = run.started is not None                        # a finished run in which something was cleared
    run.state = "running"
    sim.active[run.plan.number] += 1
    for task in range(run.plan.n) if again else run.plan.roots:
        for ti in run.tis(task):
            sim.look_at(ti)
    if not again:
        run.started = sim.now
    if run.plan.dag.dagrun_timeout is not None:
        sim.calendar.source[sim.now + int(run.plan.dag.dagrun_timeout)].append(lambda s, _, run=run: time_out(s, run))
    if not run.left:
        sim.ended_runs.append(run)
        if sim.cascade:
            update(sim)


def verdict(sim: Sim, run: Run) -> str:
    """Airflow looks at the effective leaves only: any of them failed means failed, else success.

    So a run with a failed task can be a success. ``removed`` instances do not count.
    """
    states = {sim.state[ti] for task in run.plan.leaves for ti in run.tis(task)}
    return "failed" if states & {FAILED, UPSTREAM_FAILED} else "success"


def end(sim: Sim, run: Run, state: str, cause: str | None = None) -> None:
    run.state, run.ended, run.cause = state, sim.now, cause
    sim.active[run.plan.number] -= 1


def time_out(sim: Sim, run: Run) -> None:
    """dagrun_timeout: the run is failed, and every TI that is not finished becomes skipped (not failed)."""
    if run.state != "running":
        return
    end(sim, run, "failed", "dagrun_timeout")
    for task in range(run.plan.n):
        for ti in run.tis(task):
            if sim.state[ti] not in FINISHED:
                stop(sim, ti, SKIPPED, "dagrun_timeout")


def deadlocked(sim: Sim, run: Run) -> bool:
    """Nothing can ever change: every unfinished TI is still none, and none of them may run or be decided.

    Airflow does not look for this while an unfinished task has depends_on_past or a limit of its own.
    """
    from .decide import rule_verdict
    open_tis = [ti for task in range(run.plan.n) for ti in run.tis(task) if sim.state[ti] not in FINISHED]
    if not open_tis or any(sim.state[ti] != NONE for ti in open_tis):
        return False
    for ti in open_tis:
        task = run.plan.tasks[sim.task_of[ti]]
        if task.depends_on_past or task.wait_for_downstream or task.max_active_tis_per_dag is not None \
                or task.max_active_tis_per_dagrun is not None:
            return False
    return all(rule_verdict(sim, ti, run) == "wait" for ti in open_tis)


def watch(sim: Sim, run: Run) -> None:
    """Look out for a deadlock: only a removed instance can leave a task waiting for ever."""
    if run not in sim.watched:
        sim.watched.append(run)


__all__ = ["REMOVED", "begin", "deadlocked", "end", "stuck", "time_out", "update", "verdict", "watch"]

"""Dag runs: when one starts, what its verdict is, when it has waited long enough."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ..errors import DagkitError, choices, nearest, shown
from ..states import AWAITING_INPUT, CODE, DEFERRED, FAILED, FINISHED, NONE, REMOVED, SKIPPED, UPSTREAM_FAILED
from .calendar import LAST_TICK
from .ending import stop
from .limits import LimitName
from .order import rank_of, turn_of

if TYPE_CHECKING:
    from .core import Run, Sim
    from .plan import Plan


def update(sim: Sim) -> None:
    """Give ended runs their verdict, and start queued runs for which there is room.

    A pass of Airflow starts runs first, so the room that a verdict makes is used in the next pass.
    """
    if not stirred(sim):
        return
    _start_queued(sim)
    while ended := [run for run in sim.ended_runs if run.left == 0 and run.state == "running"] + stuck(sim):
        sim.ended_runs = []
        _judge(sim, ended)
    sim.ended_runs = []


def _judge(sim: Sim, ended: list[Run]) -> None:
    for run in dict.fromkeys(ended):
        end(sim, run, *((verdict(sim, run), None) if run.left == 0 else ("failed", "deadlock")))
    if sim.cascade:
        _start_queued(sim)
    elif any(sim.waiting_runs):
        sim.calendar.source[sim.now + 1].append(due)


def stirred(sim: Sim) -> bool:
    """Whether anything about runs can have changed."""
    return bool(sim.stirred or sim.ended_runs or sim.watched or (sim.contested and not sim.cascade))


def due(sim: Sim, _: int) -> None:
    """An appointment: a run falls due."""
    sim.stirred = True


def _start_queued(sim: Sim) -> None:
    sim.stirred = False
    for queue in sim.waiting_runs:
        while queue and queue[0].due <= sim.now and sim.active[queue[0].plan.number] < _room(queue[0]) \
                and queue[0].plan.dag.dag_id not in sim.paused:
            begin(sim, queue.popleft())


def pause(sim: Sim, dag_id: str, why: str) -> None:
    """Nothing of this Dag is scheduled or queued any more; what is queued or running goes on."""
    _known(sim, dag_id)
    sim.paused.add(dag_id)
    sim.pauses.append((sim.now, dag_id, why))


def unpause(sim: Sim, dag_id: str) -> None:
    _known(sim, dag_id)
    if sim.schedulers <= 0:
        return                                            # nobody is there to notice
    sim.paused.discard(dag_id)
    sim.stirred = True
    sim.pauses.append((sim.now, dag_id, ""))
    shut = sim.limits.by_name.get(LimitName("paused", dag_id))
    if shut is not None:
        sim.limits.ask_again(shut)
    for run in sim.runs:
        if run.plan.dag.dag_id == dag_id and run.state == "running":
            for task in range(run.plan.n):
                for ti in run.tis(task):
                    sim.look_at(ti)


def _known(sim: Sim, dag_id: str) -> None:
    ids = [plan.dag.dag_id for plan in sim.plans]
    if dag_id not in ids:
        raise DagkitError(f"pause: no Dag is called '{shown(dag_id)}'.{nearest(dag_id, ids)} Known: {choices(ids)}.")


def asset_event(sim: Sim, assets: tuple[str, ...]) -> None:
    """A task that updates assets succeeded: a Dag whose assets are all updated since its last run gets a run."""
    for plan in sim.plans:
        waiting = sim.assets.get(plan.number)
        if waiting is not None:
            waiting.difference_update(assets)
            if not waiting:
                waiting.update(plan.dag.assets)
                _triggered(sim, plan)


MOST_TRIGGERED = 1000
"""Runs that asset events may make of one Dag: Dags that update each other's assets would go on for ever."""


def _triggered(sim: Sim, plan: Plan) -> None:
    number = sim.made[plan.number]
    if number >= MOST_TRIGGERED:
        sim.overdriven.add(plan.dag.dag_id)
        return
    sim.made[plan.number] += 1
    run, = sim.add_runs(plan, [(sim.now, sim.now)], number)
    run.triggered, run.turn = True, turn_of(run)
    sim.rank.extend(rank_of(sim, ti) for ti in run.ti)  # type: ignore[attr-defined]
    sim.waiting_runs[plan.number].append(run)
    before = sim.latest.get(plan.number)
    sim.latest[plan.number] = run
    if before is not None:
        sim.previous_run[run], sim.next_run[before] = before, run
    if sim.cascade:
        sim.stirred = True
    else:
        sim.calendar.source[sim.now + 1].append(due)


def unsettled(sim: Sim) -> bool:
    """Whether a run has ended, or can go no further, and has no verdict yet."""
    return bool(sim.ended_runs or (sim.watched and stuck(sim)))


def stuck(sim: Sim) -> list[Run]:
    """Running runs in which nothing can ever change."""
    return [run for run in sim.watched if run.state == "running" and deadlocked(sim, run)]


def _room(run: Run) -> int:
    return run.plan.dag.max_active_runs


def begin(sim: Sim, run: Run) -> None:
    """The run goes from queued to running; its tasks without upstreams are looked at."""
    again = run.started is not None                        # a finished run in which something was cleared
    run.enter("running", sim.now)
    sim.active[run.plan.number] += 1
    sim.look_at_all(run.tis_of(range(run.plan.n) if again or sim.initial else run.plan.roots))
    if not again:
        run.started = sim.now
    if run.plan.dag.dagrun_timeout is not None:
        run.deadline = sim.now + ceil(run.plan.dag.dagrun_timeout)
        if run.deadline <= LAST_TICK:
            sim.calendar.source[run.deadline].append(lambda s, _, run=run: time_out(s, run))
    if not run.left:
        sim.ended_runs.append(run)


def verdict(sim: Sim, run: Run) -> str:
    """Airflow looks at the effective leaves only: any of them failed means failed, else success.

    So a run with a failed task can be a success. ``removed`` instances do not count.
    """
    states = set(map(sim.state.__getitem__, run.tis_of(run.plan.leaves)))
    return "failed" if states & {FAILED, UPSTREAM_FAILED} else "success"


def end(sim: Sim, run: Run, state: str, cause: str | None = None) -> None:
    run.enter(state, sim.now)
    run.ended, run.cause = sim.now, cause
    number, dag = run.plan.number, run.plan.dag
    sim.active[number] -= 1
    sim.stirred = True
    sim.failures[number] = sim.failures[number] + 1 if state == "failed" else 0
    limit = dag.max_consecutive_failed_dag_runs
    if limit and sim.failures[number] >= limit and dag.dag_id not in sim.paused:
        pause(sim, dag.dag_id, "max_consecutive_failed_dag_runs")


def time_out(sim: Sim, run: Run) -> None:
    """dagrun_timeout: the run is failed, and every TI that is not finished becomes skipped (not failed)."""
    if run.state != "running" or run.deadline != sim.now:
        return                                             # it ended in time, or was cleared and has begun again
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
    if not may_be_deadlocked(sim, run, open_tis):
        return False
    return all(rule_verdict(sim, ti, run) == "wait" for ti in open_tis)


def may_be_deadlocked(sim: Sim, run: Run, open_tis: list[int]) -> bool:
    """Airflow looks for a deadlock only where no unfinished task has a past, a limit of its own or a parked wait."""
    tasks = [run.plan.tasks[sim.task_of[ti]] for ti in open_tis]
    held = any(t.depends_on_past or t.wait_for_downstream or t.max_active_tis_per_dag is not None
               or t.max_active_tis_per_dagrun is not None for t in tasks)
    return not held and not any(sim.state[ti] in (DEFERRED, AWAITING_INPUT) for ti in open_tis)


def after_pass(sim: Sim, before: int) -> None:
    """The end of a pass under airflow pacing: from now on, what it set is seen.

    Where a pass neither scheduled nor changed anything in a run, Airflow asks whether any unfinished TI could run at
    all, and in asking it applies the dependencies even to TIs that run already. So a task that an early rule let
    start can be skipped while it runs, because a branch above it chose otherwise; and the run is then failed as
    deadlocked. Source: _are_premature_tis, models/dagrun.py, Airflow 3.3.2.
    """
    sim.unseen.clear()
    if sim.expanded:                  # a pass that expands a mapped task counts again what is left before it judges
        _judge(sim, [run for run in sim.expanded if run.left == 0 and run.state == "running"])
        sim.expanded.clear()
    if not sim.contested:
        return
    contested = [run for run in sim.runs if run.plan.contested and run.state == "running" and run.left]
    if contested:
        busy = {id(sim.run_of[ti]) for ti in sim.event_ti[before:]}
        for run in contested:
            if id(run) in busy:
                sim.calendar.look[sim.now + 1]            # the next pass asks again
            else:
                _ask_all(sim, run)


def _ask_all(sim: Sim, run: Run) -> None:
    from .decide import rule_verdict
    rule_changed = False
    open_tis = [ti for _, t in sorted((name, t) for t, name in enumerate(run.plan.ids)) for ti in run.tis(t)
                if sim.state[ti] not in FINISHED]         # by task id: the first that could run ends the asking
    if not may_be_deadlocked(sim, run, open_tis):
        return
    for ti in open_tis:
        decided = rule_verdict(sim, ti, run)
        if decided == "run":
            return
        if decided != "wait":
            stop(sim, ti, CODE[decided], "trigger_rule")
            rule_changed |= sim.task_of[ti] not in run.plan.skipped_by
    if run.left or not rule_changed:
        end(sim, run, "failed", "deadlock")


def watch(sim: Sim, run: Run) -> None:
    """Look out for a deadlock: only a removed instance can leave a task waiting for ever."""
    if run not in sim.watched:
        sim.watched.append(run)


__all__ = ["REMOVED", "begin", "deadlocked", "end", "stuck", "time_out", "update", "verdict", "watch"]

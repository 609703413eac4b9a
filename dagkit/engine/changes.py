"""A learner's hand in a running simulation: resize a pool, clear a task, edit a Dag, from a tick on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..scenario import ACTIONS, Scenario
from ..states import ACTIVE, EXECUTION, FINISHED, NONE, REMOVED, RESTARTING, RUNNING
from . import limits, mapping, runs, waiting, workers
from .ending import leave, stop, wait_for_retry
from .order import rank_of
from .plan import Plan
from .script import Script, known, readings
from .seen import seen

if TYPE_CHECKING:
    from .core import Run, Sim


def put_on_calendar(sim: Sim, scenario: Scenario) -> None:
    for tick, (_, change) in seen(scenario):
        sim.calendar.change[tick].append(lambda s, _, change=change: apply(s, change))


def apply(sim: Sim, change: Mapping[str, Any]) -> None:
    """Carry out one change at the start of the tick. Keys are those of ``Trace.fork``."""
    rest = {name: value for name, value in change.items() if name not in ACTIONS}
    if rest:
        before, sim.scenario = sim.scenario, sim.scenario.merged(rest)
        if sim.scenario.dags != before.dags:
            _new_definitions(sim)
        if "outcomes" in rest or "durations" in rest or sim.scenario.dags != before.dags:
            _new_script(sim, {*rest.get("outcomes", ()), *rest.get("durations", ())})
        _resize(sim)
    for dag_id in _names(change.get("pause", ())):
        runs.pause(sim, dag_id, "a change on the way")
    for dag_id in _names(change.get("unpause", ())):
        runs.unpause(sim, dag_id)
    if "clear" in change:
        clear(sim, change["clear"], fresh_script="outcomes" in rest)


def _names(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _new_script(sim: Sim, named: set[str]) -> None:
    """What was scripted for tasks that have left the Dag is forgotten; what the change names must exist."""
    first_try = sim.script.first_try
    outcomes, durations = ({label: value for label, value in values.items() if label in named or known(label, sim.plans)}
                           for values in (sim.scenario.outcomes, sim.scenario.durations))
    sim.script = Script(outcomes, durations, sim.plans, sim.scenario.runs)
    sim.script.first_try = first_try
    for plan in sim.plans:
        plan.scripted |= sim.script.outcomes.tasks(plan)
        plan.lasts_otherwise(sim.script.durations.tasks(plan))


def _resize(sim: Sim) -> None:
    """Every limit takes the cap it has now; what is in use stays in use."""
    config = sim.scenario.config
    sim.waits.capacity = config.triggerers * config.triggerer_capacity
    waiting.run_triggers(sim)
    for ti in sim.waits.parked:                           # a pool may count deferred TIs now, or no more
        limits.give_back(sim.limits, waiting.kept(sim, ti))
    for run in sim.runs:
        for cls, head in run.heads.items():
            head.keeps = limits.places_of(sim, run, cls)[1]
            for need in limits.needs_of(sim.scenario, run.plan, run.number, cls):
                limit = sim.limits.by_name[need.limit]
                if limit.cap != need.cap:
                    sim.limits.resize(limit, need.cap)
    for ti in sim.waits.parked:
        limits.take(waiting.kept(sim, ti))


def clear(sim: Sim, labels: Any, *, fresh_script: bool = False) -> None:
    """Airflow's clear: the task instances go back to none and run again, with all their retries.

    A running one is *restarting* until its worker has stopped, and is then always retried. A finished run goes on.
    """
    cleared: set[int] = set()
    for label in _names(labels):
        for plan, task, index, run_no, _ in readings(label, sim.plans):
            for run in sim.runs:
                if run.plan.number == plan.number and run_no in (None, run.number):
                    if run.plan is not plan:          # it ended before the Dag changed, and runs on as the new one
                        _follow(sim, run, run.plan, plan)
                    for ti in run.tis(task):
                        if index in (None, sim.map_index.get(ti)) and ti not in cleared:
                            cleared.add(ti)
                            _clear_one(sim, ti, run, task, fresh_script)


def _clear_one(sim: Sim, ti: int, run: Run, task: int, fresh_script: bool) -> None:
    if run.state in ("success", "failed"):
        run.enter("queued", sim.now)
        run.ended = run.cause = None
        queue = [*sim.waiting_runs[run.plan.number], run]
        sim.waiting_runs[run.plan.number] = deque(sorted(queue, key=lambda r: (r.due, r.number)))
        sim.stirred = True
    if sim.state[ti] != RUNNING:                      # the worker of a running one knows its last try already
        sim.max_tries[ti] = sim.tries[ti] + run.plan.tasks[task].retries
    if fresh_script:
        sim.script.first_try[ti] = sim.tries[ti]
    sim.revised.discard((task, run))
    sim.returned.pop(ti, None)
    if sim.state[ti] == RUNNING:
        leave(sim, ti)
        sim.record(ti, RESTARTING, "cleared")
        sim.calendar.change[sim.now + 1].append(lambda s, _: _restarted(s, ti))
    elif sim.state[ti] != NONE:
        stop(sim, ti, NONE, "cleared")
        sim.look_at(ti)


def _restarted(sim: Sim, ti: int) -> None:
    """The worker of a restarting TI has stopped: it is retried, whatever its tries."""
    if sim.state[ti] == RESTARTING:
        wait_for_retry(sim, ti, "cleared")


def _new_definitions(sim: Sim) -> None:
    """The Dag files changed. A running run follows the newest definition: what left the file becomes removed."""
    plans = [Plan(dag, number) for number, dag in enumerate(sim.scenario.dags)]
    for run in sim.runs:
        old, new = run.plan, plans[run.plan.number]
        if old.dag is not new.dag and run.state in ("queued", "running"):
            _follow(sim, run, old, new)
    sim.stirred = True
    for number, plan in enumerate(plans):
        if plan.dag is not sim.plans[number].dag:
            sim.plans[number] = plan
    workers.mark_environments(sim)


def _follow(sim: Sim, run: Run, old: Plan, new: Plan) -> None:
    tis = []
    for task, task_id in enumerate(old.ids):
        if task_id not in new.index:
            for ti in run.tis(task):
                sim.gone[ti] = task_id
                if sim.state[ti] != REMOVED:
                    stop(sim, ti, REMOVED, "removed")
            runs.watch(sim, run)
    instances = {new.index[old.ids[t]]: tis for t, tis in run.instances.items() if old.ids[t] in new.index}
    for task_id in new.ids:
        if task_id in old.index:
            tis.append(run.ti[old.index[task_id]])
        else:
            tis += mapping.new_tis(sim, run)
            sim.joined[tis[-1]] = sim.now
    _unready(sim, run)
    run.plan, run.ti, run.instances = new, tis, instances
    for task in range(new.n):
        for ti in run.tis(task):
            sim.task_of[ti] = task
    for task in range(new.n):
        for ti in run.tis(task):
            sim.rank[ti] = rank_of(sim, ti)  # type: ignore[index]
            mapping.recount(sim, ti)
            if sim.state[ti] not in FINISHED:
                sim.look_at(ti)
    _ready_again(sim, run)


def _unready(sim: Sim, run: Run) -> None:
    """Take the run's TIs out of the limits' books; ``_ready_again`` enters them under the new definition."""
    for ti, state in _open(sim, run):
        if state in ACTIVE:
            limits.give_back(sim.limits, _places(sim, ti, run, state))
    limits.forget(sim.limits, run)


def _ready_again(sim: Sim, run: Run) -> None:
    for ti, state in _open(sim, run):
        task = sim.task_of[ti]
        if state in ACTIVE:
            limits.head_of(sim, run, run.plan.cls[task])
            limits.take(_places(sim, ti, run, state))
        elif state == limits.SCHEDULED:
            limits.make_ready(sim, ti, run, task)


def _places(sim: Sim, ti: int, run: Run, state: int) -> limits.Places:
    """What a TI holds: everything while it is queued or running, less while it is parked."""
    if state in EXECUTION:
        return run.heads[run.plan.cls[sim.task_of[ti]]].needs
    return waiting.kept(sim, ti)


def _open(sim: Sim, run: Run) -> list[tuple[int, int]]:
    return [(ti, sim.state[ti]) for task in range(len(run.ti)) for ti in run.tis(task) if sim.state[ti] not in FINISHED]

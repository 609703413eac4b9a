"""The engine: ``simulate`` plays a scenario and returns a Trace. Start reading at ``tick.py``."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..errors import DagkitError, shown
from ..scenario import Scenario, as_scenario
from ..states import FINISHED, REMOVED, code
from . import changes, loss, mapping, order, runs, workers
from .core import Sim
from .plan import Plan
from .script import Script, readings
from .tick import tick


def simulate(dag_or_dags_or_scenario: Any, **changes: Any) -> Any:
    """Play a scenario to its end: every state change of every task instance, and why each one waits.

    dag_or_dags_or_scenario: a Dag, a list of Dags or a Scenario; keyword arguments are those of Scenario.
    Returns a Trace. The same arguments give the same Trace on every machine.
    Raises DagkitError for bad input. A scenario that can never finish stops at once, see ``trace.stalled``.

    >>> from dagkit.examples import orders
    >>> simulate(orders()).last_tick
    16
    """
    from ..trace import Trace
    scenario = as_scenario(dag_or_dags_or_scenario, **changes)
    return Trace.of(play(scenario))


def play(scenario: Scenario) -> Sim:
    """Run the engine until nothing is left on the calendar."""
    sim = prepare(scenario)
    for now in sim.calendar:
        tick(sim, now)
        if sim.stop_at is not None and now >= sim.stop_at:
            break
    return sim


def prepare(scenario: Scenario) -> Sim:
    """The situation before the first tick."""
    plans = [Plan(dag, number) for number, dag in enumerate(scenario.dags)]
    sim = Sim(scenario, plans)
    sim.script = Script(scenario.outcomes, scenario.durations, plans, scenario.runs)
    for plan in plans:
        plan.scripted |= sim.script.outcomes.tasks(plan)
        plan.lasts_otherwise(sim.script.durations.tasks(plan))
    workers.prepare(sim)
    for plan in plans:
        _add_runs(sim, plan)
    order.fix(sim)
    for run in sim.runs if any(plan.mapped for plan in plans) else ():
        mapping.expand_literals(sim, run)
        for ti in (ti for t in range(run.plan.n) for ti in run.tis(t)):
            sim.rank[ti] = order.rank_of(sim, ti)  # type: ignore[index]
            mapping.recount(sim, ti)
    if scenario.initial:
        _force(sim, {label: code(state) for label, state in scenario.initial.items()})
    changes.put_on_calendar(sim, scenario)
    loss.put_on_calendar(sim)
    return sim


def _add_runs(sim: Sim, plan: Plan) -> None:
    queue = deque(sim.add_runs(plan, sim.scenario.runs[plan.dag.dag_id].due()))
    before = None
    for run in queue:
        if run.due not in sim.calendar.source:
            sim.calendar.source[run.due].append(runs.due)
        if before is not None:
            sim.previous_run[run], sim.next_run[before] = before, run
        before = sim.latest[plan.number] = run
        sim.made[plan.number] += 1
    sim.waiting_runs.append(queue)
    sim.active.append(0)


def _force(sim: Sim, initial: dict[str, int]) -> None:
    """States before the first tick, the most specific label first. They are no events: the trace starts from them."""
    chosen: dict[int, tuple[int, int]] = {}
    for label, state in initial.items():
        if state not in FINISHED:
            raise DagkitError(f"initial['{shown(label)}']: only a finished state can be forced before the first tick; "
                              "anything else is for the scheduler to reach.")
        for plan, task, index, run_no, rank in readings(label, sim.plans):
            for run in sim.runs:
                if run.plan is plan and run_no in (None, run.number):
                    for ti in run.tis(task):
                        if index in (None, sim.map_index.get(ti)):
                            chosen[ti] = max(chosen.get(ti, (-1, 0)), (rank, state))
    for ti, (_, state) in chosen.items():
        sim.settle(ti, state)
        if state == REMOVED:
            runs.watch(sim, sim.run_of[ti])
    sim.initial = bytes(sim.state)
    del sim.event_ti[:], sim.event_new[:]
    sim.causes.clear()


__all__ = ["play", "prepare", "simulate"]

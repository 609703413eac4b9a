"""The verdict on one TI: may it run, must it wait, or is its state already decided?

Airflow asks a list of *dependencies* in every pass (``ti_deps/deps``). So does this module, in the same spirit: the
trigger rule with setups, what a branch said, mapped upstreams, the retry delay, the previous run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import trigger_rules
from ..states import CODE, NONE, SCHEDULABLE, SUCCESS
from . import mapping
from .past import past_allows

if TYPE_CHECKING:
    from .core import Run, Sim

RUN, WAIT = trigger_rules.RUN, trigger_rules.WAIT


def verdict(sim: Sim, ti: int) -> str:
    """``"run"``, ``"wait"`` or the state to set."""
    state = sim.state[ti]
    if state not in SCHEDULABLE:
        return WAIT
    run = sim.run_of[ti]
    if run.state != "running" or (sim.paused and run.plan.dag.dag_id in sim.paused):
        return WAIT
    if state == NONE and sim.pending[ti] == 0 and run.plan.fast[sim.task_of[ti]]:
        return RUN
    decided = rule_verdict(sim, ti, run)
    if decided is WAIT and sim.unseen:
        sim.look_at(ti)                                   # what it did not see in this pass, it sees in the next
    if decided is RUN and (sim.not_before.get(ti, 0) > sim.now or not past_allows(sim, ti, run)):
        return WAIT
    return decided


def rule_verdict(sim: Sim, ti: int, run: Run) -> str:
    """What the tasks above decide, delays and the past left out."""
    plan, task = run.plan, sim.task_of[ti]
    state: Any = _Seen(sim) if sim.unseen else sim.state
    states = {u: [state[i] for i in mapping.relevant(sim, ti, run, u)] for u in plan.up[task]}
    upstream = [s for ss in states.values() for s in ss]
    own_setups = [s for u, ss in states.items() if plan.tasks[u].is_setup for s in ss]
    decided = trigger_rules.verdict(
        plan.rule[task], upstream, own_setups,
        [state[i] for s in plan.indirect_setups.get(task, ()) for i in mapping.relevant(sim, ti, run, s)],
        [state[i] for s in plan.scope.get(task, ()) for i in mapping.relevant(sim, ti, run, s)])
    if decided in (RUN, WAIT):
        branches = [i for b in plan.skipped_by.get(task, ()) for i in run.tis(b)]
        if any(state[i] == SUCCESS and i not in sim.let_pass for i in branches):
            return "skipped"                              # NotPreviouslySkippedDep
        decided = mapping.source_verdict(sim, ti, run, task) or decided
    elif decided == "skipped":
        # Airflow applies its dependencies in the order of a set, which differs from process to process: where a rule
        # says skipped and the source has failed, either may come last. Here the failure does.
        decided = mapping.source_verdict(sim, ti, run, task) or decided
    return decided


class _Seen:
    """States as they were when the pass began: what was set since is not seen before the next pass."""

    def __init__(self, sim: Sim):
        self.sim = sim

    def __getitem__(self, ti: int) -> int:
        return NONE if ti in self.sim.unseen else self.sim.state[ti]


def set_state(sim: Sim, ti: int, decided: str) -> None:
    """Write a verdict that is a state."""
    sim.not_before.pop(ti, None)
    sim.settle(ti, CODE[decided], "trigger_rule")
    if not sim.cascade:
        sim.unseen.add(ti)



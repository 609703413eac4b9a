"""The scheduler's loop on one page: read it, run it, change it.

It looks at *every* task in *every* tick, which is slow and easy to understand. Tests hold the engine, which
looks only at what changed, to exactly these changes in exactly this order.

One Dag, one run: pools, pool_slots, priority, max_active_tasks, retries with a fixed delay, the rules
all_success and all_done, scripted outcomes. The other lessons add the rest.

>>> from dagkit.examples import orders
>>> loop = MiniScheduler(orders()).play()
>>> loop.states["publish"], loop.now
('upstream_failed', 16)
"""

from __future__ import annotations

import math
from typing import Any

from .errors import DagkitError, shown
from .scenario import Scenario, as_scenario
from .task import Task, spec_of
from .weights import priority_totals

FINISHED = ("success", "failed", "upstream_failed", "skipped")
KNOWN = {"upstream", "duration", "pool", "pool_slots", "retries", "retry_delay", "priority_weight",
         "weight_rule", "trigger_rule"}
PARALLELISM = 32                                   # Airflow's default: what one scheduler lets run at once


class MiniScheduler:
    """All that a scheduler has to remember, and the four phases of its tick.

    Takes what ``simulate`` takes. now: the tick. states, tries: by task id. events: (tick, task, old, new) in
    the order in which they happen. Raises DagkitError for what lies outside its subset.
    """

    def __init__(self, dag_or_scenario: Any, **changes: Any):
        self.scenario = as_scenario(dag_or_scenario, **changes)
        self.dag = self.scenario.dag
        check(self.scenario)
        self.tasks = [list(self.dag)[i] for i in self.dag.graph.order]     # upstream first, then as declared
        self.priority = priority_totals(self.dag)
        self.now = 0
        self.states = {task.task_id: "none" for task in self.tasks}
        self.tries = {task.task_id: 0 for task in self.tasks}
        self.due: dict[str, int] = {}              # running: when it ends; up_for_retry: when it may go on
        self.events: list[tuple[int, str, str, str]] = []

    def tick(self) -> None:
        """One pass of the loop. Time is a counter: no clock, so every run of it is the same."""
        self.now += 1
        self.finish()
        self.start()
        self.evaluate()
        self.admit()

    def finish(self) -> None:
        """Phase 1: what ends now gets its outcome."""
        for task in self.having("running"):
            if self.due[task.task_id] == self.now:
                self.set(task, self.ending(task))

    def start(self) -> None:
        """Phase 2: a worker picks up what was queued in the tick before."""
        for task in self.having("queued"):
            lasts = self.scenario.durations.get(task.task_id, task.duration)
            self.due[task.task_id] = self.now + lasts
            self.set(task, "running")

    def evaluate(self) -> None:
        """Phase 3: whose dependencies are met? Upstream first, so that a failure travels down in one tick."""
        for task in self.tasks:
            state = self.states[task.task_id]
            if state == "none":
                verdict = self.rule(task)
                if verdict != "wait":
                    self.set(task, verdict)
            elif state == "up_for_retry" and self.due[task.task_id] <= self.now:
                self.set(task, "scheduled")

    def admit(self) -> None:
        """Phase 4: the most important first, each if it fits. One that does not stops nobody behind it."""
        waiting = sorted(self.having("scheduled"), key=lambda task: -self.priority[task.task_id])
        for task in waiting:                       # sorted is stable: equals stay in task order
            if self.fits(task):
                self.set(task, "queued")

    def rule(self, task: Task) -> str:
        """What the states upstream allow: "scheduled", "wait", or the state that is left for it."""
        above = [self.states[u] for u in task.upstream]
        if task.trigger_rule == "all_success":
            if "failed" in above or "upstream_failed" in above:
                return "upstream_failed"
            if "skipped" in above:
                return "skipped"
        return "scheduled" if all(state in FINISHED for state in above) else "wait"

    def fits(self, task: Task) -> bool:
        """Queued and running tasks hold places: is there room for one more?"""
        active = self.having("queued") + self.having("running")
        pool = self.scenario.pools.get(task.pool)
        if pool is None:                           # a pool nobody has created never lets anyone in
            return False
        if len(active) >= min(self.dag.max_active_tasks, PARALLELISM):
            return False
        used = sum(other.pool_slots for other in active if other.pool == task.pool)
        return pool.slots == -1 or used + task.pool_slots <= pool.slots

    def ending(self, task: Task) -> str:
        """The state after a try: as scripted (nothing scripted: success); retries while there are any."""
        script, tried = self.scenario.outcomes.get(task.task_id, ()), self.tries[task.task_id]
        outcome = script[tried - 1] if tried <= len(script) else "success"
        if outcome == "fail" and tried <= task.retries:
            self.due[task.task_id] = self.now + math.ceil(task.retry_delay)
            return "up_for_retry"
        return {"success": "success", "skip": "skipped"}.get(outcome, "failed")

    def having(self, state: str) -> list[Task]:
        """The tasks in this state, in task order."""
        return [task for task in self.tasks if self.states[task.task_id] == state]

    def set(self, task: Task, new: str) -> None:
        """Every change of state passes here, and is written down."""
        self.events.append((self.now, task.task_id, self.states[task.task_id], new))
        self.states[task.task_id] = new
        if new == "scheduled":
            self.tries[task.task_id] += 1

    def play(self) -> MiniScheduler:
        """Tick until nothing is under way any more: all is finished, or what is left can never start."""
        self.tick()
        while any(state in ("queued", "running", "up_for_retry") for state in self.states.values()):
            self.tick()
        return self

    def log(self) -> str:
        """The changes as text, line for line what ``Trace.log`` gives."""
        return "\n".join(f"tick {tick:>2}  {shown(task_id):<15} {old:>15} -> {new}"
                         for tick, task_id, old, new in self.events)


def check(scenario: Scenario) -> None:
    """Refuse what the loop would silently get wrong. Raises DagkitError."""
    dag = scenario.dag
    for task in dag:
        beyond = sorted(set(spec_of(task)) - KNOWN)
        if task.trigger_rule not in ("all_success", "all_done"):
            beyond.append("trigger_rule")
        if beyond:
            raise DagkitError(f"task '{shown(task.task_id)}': the loop of lesson 3 does not know {beyond[0]}="
                              f"{shown(repr(getattr(task, beyond[0])))}. Use dk.simulate, which does.")
    for label in (*scenario.outcomes, *scenario.durations):
        dag[label]                                 # raises, with the nearest name: here a label is a task id
    plain = Scenario(dag, scenario.pools, scenario.outcomes, scenario.durations, seed=scenario.seed)
    if scenario != plain or dag.fail_fast or dag.dagrun_timeout:
        raise DagkitError(f"Dag '{shown(dag.dag_id)}': the loop of lesson 3 plays one run with the usual "
                          "executor and settings, without faults, changes, fail_fast or timeouts. "
                          "Use dk.simulate, which has them.")

"""Reasons that are outages: which fault keeps a task instance where it is, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .dag import Dag
from .engine.seen import EDITS, unseen
from .executors import CeleryExecutor, KubernetesExecutor, Worker
from .faults import (
    ApiServerDown,
    BrokerDown,
    DatabaseDown,
    Outage,
    PodsPending,
    SlowWorker,
    TriggererDown,
    WrongQueue,
)
from .faults.control import governing, next_pass
from .states import AWAITING_INPUT, DEFERRED, FINISHED, NONE, QUEUED, RUNNING, SCHEDULED
from .task import spec_of

if TYPE_CHECKING:
    from .scenario import Scenario
    from .situation import Situation

Told = tuple[str, str, Sequence[int], str]
"""(code, text, blockers, remedy), as in ``situation``."""


def moments(scenario: Scenario) -> set[int]:
    """The ticks at which an outage begins or ends or a Dag is edited: reasons may change then, states or not."""
    if not scenario.faults:
        return set()
    found = {fault.tick for fault in scenario.faults}
    for fault in scenario.faults:
        found |= {t for t in (getattr(fault, "until", None), getattr(fault, "given_up", None)) if t is not None}
    return found | {tick for tick, change in scenario.changes if EDITS & set(change)}


def staff(faults: Iterable[Any], workers: Sequence[Worker], executor: str, tick: int) -> list[Worker]:
    """The workers of an executor with the queues they really listen to at a tick."""
    found = list(workers)
    for fault in faults:
        if isinstance(fault, WrongQueue) and fault.holds(tick) and fault.executor in (None, executor):
            found = [replace(w, queues=fault.queues) if w.name == fault.worker else w for w in found]
    return found


def why(at: Situation, ti: int, state: int, told: Told) -> Told:
    """The reason given what is broken: the fault if it is the cause, else the reason as it was told."""
    if state in FINISHED:
        return told
    holding = [f for f in at.trace.scenario.faults if isinstance(f, Outage) and f.holds(at.tick)]
    if state == RUNNING:
        return _running(at, ti, told)
    for fault in holding:
        if found := _held(at, ti, state, told[0], fault):
            return found
    return _stale(at, ti, state, told)


def _held(at: Situation, ti: int, state: int, code: str, fault: Outage) -> Told | None:
    """Whether one outage is what a task instance that does not run waits for."""
    till = "" if fault.until is None else f" (until tick {fault.until})"
    faults = at.trace.scenario.faults
    if isinstance(fault, DatabaseDown):
        return ("database_down", f"the metadata database has not answered since tick {fault.tick}{till}: nobody can "
                "change a state.", (), "bring the database back")
    if state == QUEUED and (delivery := _undelivered(at, ti, fault, till)):
        return delivery
    if isinstance(fault, ApiServerDown) and state == AWAITING_INPUT:
        return ("api_server_down", f"the API server has not answered since tick {fault.tick}{till}, and an answer would "
                "come through it.", (), "bring the API server back")
    if isinstance(fault, TriggererDown) and state == DEFERRED:
        return ("triggerer_down", f"no triggerer has run since tick {fault.tick}{till}, so nothing watches for its "
                "event.", (), "start a triggerer")
    if fault is governing(faults, at.tick) and code in ("next_pass", "not_examined"):
        return ("slow_database", f"nothing holds it but the scheduler: the database is slow, and a pass takes "
                f"{fault.factor} ticks. The next begins at tick {next_pass(faults, at.tick + 1)}.", (),
                "mend the database: connections, locks, missing clean-up")
    return None


def _undelivered(at: Situation, ti: int, fault: Outage, till: str) -> Told | None:
    """Queued, and nothing brings it to a worker."""
    executors = at.trace.scenario.executor
    name = executors.name_of(at.trace._run_of[ti].plan.tasks[at.trace._task_of[ti]].executor)
    mine = getattr(fault, "executor", None) in (None, name)
    if isinstance(fault, BrokerDown) and mine and isinstance(executors.by_name[name], CeleryExecutor):
        return ("broker_down", f"its message is with the broker, which has delivered nothing since tick {fault.tick}"
                f"{till}.", (), "bring the broker back")
    if isinstance(fault, PodsPending) and mine and isinstance(executors.by_name[name], KubernetesExecutor):
        return ("cluster_full", f"its pod is pending: the cluster has had no room since tick {fault.tick}{till}.", (),
                "add nodes, or ask for less in the pod")
    if isinstance(fault, ApiServerDown):
        return ("api_server_down", f"no worker can start it: the API server has not answered since tick {fault.tick}"
                f"{till}.", (), "bring the API server back")
    return None


def _running(at: Situation, ti: int, told: Told) -> Told:
    """What befell a running task instance: cut off from the API server, or on a slow worker."""
    changes = at.trace._changes_of(ti)
    since = max((tick for tick, new, _ in changes if tick <= at.tick and new == RUNNING), default=0)
    then = next(((tick, event) for tick, _, event in changes if tick > at.tick), None)
    found_at = "" if then is None else f" at tick {then[0]}"
    for fault in at.trace.scenario.faults:
        if not isinstance(fault, ApiServerDown) or not since <= fault.tick <= at.tick:
            continue
        down = "the metadata database" if isinstance(fault, DatabaseDown) else "the API server"
        code = "database_down" if isinstance(fault, DatabaseDown) else "api_server_down"
        if fault.given_up is not None:
            gives = "gave" if at.tick >= fault.given_up else "gives"
            return (code, f"its supervisor has not reached {down} since tick {fault.tick} and {gives} it up at tick "
                    f"{fault.given_up}; the scheduler finds out{found_at or ' when it can look'} "
                    "(task_instance_heartbeat_timeout).", (), f"bring {down} back; see that the task may run again")
        if fault.holds(at.tick):
            return (code, f"it can report nothing until tick {fault.until}: {down} does not answer.", (),
                    f"bring {down} back")
    for fault in at.trace.scenario.faults:
        if (isinstance(fault, SlowWorker) and fault.tick <= since and fault.holds(since)
                and (since, ti, "slow_worker") in at.trace._notes):
            return ("slow_worker", f"a slow worker executes it ({fault.factor} times as long){' until' * bool(then)}"
                    f"{found_at[3:]}.", (), "mend or replace the worker")
    return told


def _differs(old: Dag, new: Dag, task_id: str) -> bool:
    """Whether a new definition of the same Dag has another such task, or none."""
    if new.dag_id != old.dag_id or task_id not in old:
        return False
    return task_id not in new or spec_of(new[task_id]) != spec_of(old[task_id])


def _stale(at: Situation, ti: int, state: int, told: Told) -> Told:
    """Whether its Dag was edited and the scheduler does not know: the edit might be what it waits for."""
    if state not in (NONE, SCHEDULED, QUEUED) or told[0] == "run_not_due":
        return told
    plan, task_id = at.trace._run_of[ti].plan, at.trace._task_id(ti)
    for tick, holds_from, change in unseen(at.trace._whole.scenario, at.tick):
        dag = change.get("dag")
        if task_id in change.get("tasks", {}) or (dag is not None and _differs(plan.dag, dag, task_id)):
            when = "never" if holds_from is None else f"at tick {holds_from}"
            return ("stale_dag", f"it was edited at tick {tick}, but the scheduler sees that {when}, because the Dag "
                    f"processor is down or slow. Until then: {told[1]}", told[2], "bring the Dag processor back")
    return told

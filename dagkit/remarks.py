"""What a reader should be told about a trace: its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dag import Dag
from .engine.runs import MOST_TRIGGERED
from .engine.seen import late
from .errors import nearest, shown
from .explain import MANY, reason
from .redelivery import redeliveries
from .scenario import Config
from .states import FINISHED

if TYPE_CHECKING:
    from .trace import Trace


def warnings(trace: Trace) -> list[str]:
    """What Airflow accepts although it can never work, unstarted work, and caps a reader may not expect."""
    found: list[str] = []
    scenario = trace._now
    for plan in trace._plans:
        found += plan.dag.warnings
        for task in plan.tasks:
            who = f"task '{shown(task.task_id)}'"
            pool = scenario.pools.get(task.pool)
            if pool is None:
                found.append(f"{who}: pool '{shown(task.pool)}' does not exist; Airflow accepts that and never runs it."
                             f"{nearest(task.pool, scenario.pools)}")
            elif pool.slots != -1 and task.pool_slots > pool.slots:
                found.append(f"{who}: it asks for {task.pool_slots} slots of pool '{shown(task.pool)}', which has "
                             f"{pool.slots}; Airflow accepts that and never runs it.")
            executor = scenario.executor.get(task.executor)
            staff = executor.staff(scenario.config)
            if staff is not None and not any(worker.serves(task.queue) for worker in staff):
                queues = [queue for worker in staff for queue in worker.queues]
                found.append(f"{who}: no worker of {shown(executor.name)} listens to queue '{shown(task.queue)}'; Airflow "
                             f"accepts that, and it stays queued.{nearest(task.queue, queues)}")
    for dag_id in trace._overdriven:
        found.append(f"Dag '{shown(dag_id)}': asset events would have made more than {MOST_TRIGGERED} runs of it; the rest "
                     "was left out. Dags that update each other's assets never stop.")
    found += [f"fault: {fault}, after the last change (tick {trace._end}), so it broke nothing. Let it begin sooner."
              for fault in trace.faults if fault.tick > trace._end]
    for tick, at in late(trace.scenario):
        when = "never seen" if at is None else f"seen at tick {at}"
        found.append(f"the edit of tick {tick} is {when}: the Dag processor is down or slow.")
    again = redeliveries(trace)
    if again:
        more = f", and {len(again) - 1} more times" if len(again) > 1 else ""
        found.append(f"the broker hands the message of {shown(again[0][1])} out again at tick {again[0][0]}{more}: it runs "
                     "longer than visibility_timeout. The second start is refused, but raise the timeout.")
    found += _caps(trace)
    if trace.stalled:
        codes = trace._codes_at(trace.last_tick)
        stuck = [ti for ti in trace._order if codes[ti] not in FINISHED]
        for ti in stuck[:MANY]:
            found.append(f"stalled: {reason(trace, ti, trace._end)}")
        if len(stuck) > MANY:
            found.append(f"stalled: {len(stuck) - MANY} more task instances wait as well.")
    return found


def _caps(trace: Trace) -> list[str]:
    """Limits nobody set that held task instances back: planning's makespan(slots) knows none of them."""
    defaults = {"max_active_tasks": Dag("_").max_active_tasks, "parallelism": Config().parallelism}
    found: list[str] = []
    for limit, tick in trace._capped:
        run = next((r for r in trace._runs if r.plan.dag.dag_id == limit.name), None)
        value = run.plan.dag.max_active_tasks if limit.kind == "max_active_tasks" and run else trace._now.config.parallelism
        if defaults.get(limit.kind) == value and not any(limit.kind in said for said in found):
            whose = f" of Dag '{shown(limit.name)}'" if limit.name else ""
            found.append(f"{limit.kind}{whose} is {value} (the default) and held tasks back from tick {tick} on; raise it "
                         "to see the run without it.")
    if trace._window_cut is not None:
        found.append(f"max_tis_per_query is {trace._now.config.max_tis_per_query}: from tick {trace._window_cut} on, some "
                     "scheduled tasks were not looked at in a pass although they might have fitted.")
    return found

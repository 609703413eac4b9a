"""A broker that hands a message out again: Redis and SQS do, when a task runs longer than the visibility timeout.

With late acknowledgement (Airflow's setting) a message is not acknowledged while its task runs. After the visibility
timeout the broker takes its worker for dead and gives the message to another. Airflow refuses the second start, because
the task instance is running; no state changes, no retry is used, and the first try may be disturbed.
Source: [celery_broker_transport_options] visibility_timeout, provider celery 3.26.0.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trace import Trace


def redeliveries(trace: Trace) -> list[tuple[int, str]]:
    """(tick, label) of every message that the broker hands out again, in order.

    >>> from dagkit import Broker, CeleryExecutor, Dag, Task, simulate
    >>> slow = Dag("d", [Task("etl", duration=250)])
    >>> redeliveries(simulate(slow, executor=CeleryExecutor(broker=Broker(visibility_timeout=100), handover=0)))
    [(101, 'etl'), (201, 'etl')]
    """
    found: list[tuple[int, str]] = []
    if not any(getattr(executor, "broker", None) for executor in trace.scenario.executor.by_name.values()):
        return found
    for label, changes in zip(trace.labels, trace.changes, strict=True):
        every = _visible_for(trace, label)
        ends = [*(tick for tick, _ in changes[1:]), trace._end]
        for (since, state), until in zip(changes, ends, strict=True):
            if every and state == "running":
                found += [(tick, label) for tick in range(since + every, until, every)]
    return sorted(found)


def _visible_for(trace: Trace, label: str) -> int | None:
    """Ticks after which the message of a task is handed out again, or None where no broker does that."""
    dag_id, task_id, _, _ = trace.task_of(label)
    dag = next(dag for dag in trace._now.dags if dag.dag_id == dag_id)
    executor: Any = trace.scenario.executor.get(dag[task_id].executor if task_id in dag else None)
    broker = getattr(executor, "broker", None)
    if broker is None or broker.visibility_timeout is None or not broker.acks_late:
        return None
    return ceil(broker.visibility_timeout / trace.scenario.config.tick_seconds)


__all__ = ["redeliveries"]

"""The kit's standing examples, blackboard-sized."""

from __future__ import annotations

from .dag import Dag
from .scenario import Scenario
from .task import Task


def orders() -> Scenario:
    """The lesson's main example: a scarce database pool, a retry, a failed check and a clean-up.

    >>> orders().pools["db"].slots
    1
    """
    with Dag("orders", max_active_tasks=2) as dag:
        extract_orders = Task("extract_orders", duration=2, pool="db")
        extract_users = Task("extract_users", pool="db")
        transform = Task("transform", retries=2, retry_delay=2, pool="default")
        quality_check = Task("quality_check", pool="default")
        publish = Task("publish", pool="default")
        cleanup_tmp = Task("cleanup_tmp", trigger_rule="all_done", pool="default")
        [extract_orders, extract_users] >> transform >> quality_check >> publish >> cleanup_tmp
    return Scenario(dag, pools={"db": 1, "default": 8},
                    outcomes={"transform": ["fail", "success"], "quality_check": ["fail"]})


def file_fanout() -> Dag:
    """Files listed, processed, joined with a dimension table and reported. Durations in minutes.

    Two critical paths tie at 7; see the first lesson.
    """
    return Dag("file_fanout", [
        Task("list_files", duration=1, returns=6),
        Task("load_dim", duration=4),
        Task("process", "list_files", duration=3),
        Task("join", ["process", "load_dim"], duration=2),
        Task("report", "join", duration=1),
    ])


def graham_anomaly() -> Dag:
    """A Dag that takes longer on four slots than on three, though nothing else changes.

    Source: R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17
    (1969): nine jobs, of which the last needs the first and 5 to 8 need the fourth.

    >>> from dagkit.planning import makespan
    >>> [makespan(graham_anomaly(), slots) for slots in (3, 4)]
    [12, 15]
    """
    lasts = {"t1": 3, "t2": 2, "t3": 2, "t4": 2, "t5": 4, "t6": 4, "t7": 4, "t8": 4, "t9": 9}
    needs = {"t9": "t1", **dict.fromkeys(("t5", "t6", "t7", "t8"), "t4")}
    return Dag("graham_anomaly", [Task(t, needs.get(t, ()), duration=d) for t, d in lasts.items()])

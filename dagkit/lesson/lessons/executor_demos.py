"""The demonstrations of lesson 6: workloads, each a function whose arguments are its knobs, and what they are played on.

One tick is one second, unless a demonstration says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...compared import Comparison
from ...dag import Dag
from ...engine import simulate
from ...executors import (
    BatchExecutor,
    CeleryExecutor,
    EdgeExecutor,
    KubernetesExecutor,
    LocalExecutor,
    Site,
    Worker,
)
from ...scenario import Config, Runs, Scenario
from ...task import Task

SLOTS = 32

LOCAL = LocalExecutor(parallelism=SLOTS)
CELERY = CeleryExecutor(workers=[Worker(16, name="w1"), Worker(16, name="w2")])
PODS = KubernetesExecutor(max_pods=SLOTS)
EDGE = EdgeExecutor(sites=[Site(SLOTS, ("default",), "site")])
BATCH = BatchExecutor(max_jobs=SLOTS)
FOUR: Mapping[str, Any] = {"Local": LOCAL, "Celery": CELERY, "Kubernetes": PODS, "Edge": EDGE}
FIVE: Mapping[str, Any] = {**FOUR, "Batch": BATCH}


def chain() -> Dag:
    """Three short tasks after each other."""
    return Dag("daily", [Task("extract", duration=5), Task("clean", "extract", duration=5),
                         Task("load", "clean", duration=5)])


def many(tasks: int = 1000, seconds: int = 5, *, executor: str | None = None) -> Dag:
    """So many tasks side by side, each of so many seconds. No limit but the executor's own holds them."""
    return Dag("many", [Task(f"t{k}", duration=seconds, executor=executor) for k in range(tasks)], max_active_tasks=tasks)


def grouped(tasks: int = 1000, seconds: int = 5, *, per_task: int = 50) -> Dag:
    """The same work, so many pieces to a task."""
    return many(tasks // per_task, seconds * per_task)


CURES = ("as it was", "16 pods per loop", "50 pieces to a task", "Celery for the short ones")


def cured(how: str) -> dict[str, Any]:
    """One row: a thousand five-second pieces of work in pods, and what helps."""
    work: dict[str, tuple[Dag, Any]] = {
        "as it was": (many(), PODS),
        "16 pods per loop": (many(), KubernetesExecutor(max_pods=SLOTS, batch=16)),
        "50 pieces to a task": (grouped(), PODS),
        "Celery for the short ones": (many(executor="celery"), {"pods": PODS, "celery": CELERY}),
    }
    row = Comparison(work[how][0], {how: work[how][1]}).rows[how]
    return {"pods for 1,000 pieces of 5 s": how, "takes, s": row["makespan"], "paid": round(row["worker_seconds_paid"]),
            "used": round(row["worker_seconds_used"])}


# ---- an idle fleet, and a mixed load -------------------------------------------------------------------------------


def night(tasks: int = 8, seconds: int = 120, runs: int = 6) -> Scenario:
    """A few tasks of two minutes each at every full hour, and nothing in between."""
    dag = Dag("hourly", [Task(f"t{k}", duration=seconds) for k in range(tasks)])
    return Scenario(dag, runs=Runs(runs, every=3600))


FLEETS: Mapping[str, Any] = {
    "Celery, 16 slots": CeleryExecutor(workers=[Worker(16)]),
    "Celery, autoscale (16, 2)": CeleryExecutor(workers=[Worker(16)], autoscale=(16, 2)),
    "Kubernetes": KubernetesExecutor(batch=16),
    "Batch": BatchExecutor(),
}


def figures(table: Any) -> list[dict[str, str]]:
    """What ``compare_executors`` found, its times and costs written for reading.

    >>> import dagkit as dk
    >>> for name, value in figures(dk.compare_executors(many(64), {"Local": LOCAL}))[0].items():
    ...     print(name, "=", value)
    executor = Local
    takes = 12 s
    half start within = 1 s
    95 of 100 within = 7 s
    queued, on average = 1 s
    worker-seconds paid = 384
    used = 320
    """
    def written(value: float, unit: str = "") -> str:
        return f"{value:,.1f}".removesuffix(".0") + unit if value == value else "never"

    return [{"executor": str(name), "takes": written(row["makespan"], " s"),
             "half start within": written(row["start_latency_p50"], " s"),
             "95 of 100 within": written(row["start_latency_p95"], " s"),
             "queued, on average": written(row["queue_wait"], " s"),
             "worker-seconds paid": written(row["worker_seconds_paid"]), "used": written(row["worker_seconds_used"])}
            for name, row in table.iterrows()]


def mixed(short: str | None = None, heavy: str | None = None, executor: Any = CELERY) -> Scenario:
    """Forty heavy tasks of ten minutes, ready at once, and every minute a quick one that people wait for."""
    heavies = Dag("heavy", [Task(f"h{k}", duration=600, executor=heavy) for k in range(40)], max_active_tasks=40)
    quick = Dag("quick", [Task("q", duration=5, executor=short)])
    return Scenario([heavies, quick], runs={"heavy": 1, "quick": Runs(20, every=60, start=30)}, executor=executor,
                    config=Config(parallelism=64))


MIXES: Mapping[str, tuple[str | None, str | None, Any]] = {
    "all on Celery": (None, None, CELERY),
    "all in pods": (None, None, KubernetesExecutor(max_pods=SLOTS, batch=16)),
    "quick on Celery, heavy in pods": (
        None, "pods", {"celery": CELERY, "pods": KubernetesExecutor(max_pods=SLOTS, batch=16)}),
}


def mixing(how: str) -> dict[str, Any]:
    """One row: how long the quick ones waited, and when all was done."""
    short, heavy, executor = MIXES[how]
    trace = simulate(mixed(short, heavy, executor))
    waits = sorted(began - due for label, due, began in begins(trace) if "quick" in label)
    return {"executor": how, "quick: half start within, s": waits[len(waits) // 2 - 1], "quick: the slowest, "
                                                                                        "s": waits[-1],
            "all done at, s": trace.last_tick}


def begins(trace: Any) -> list[tuple[str, int, int]]:
    """(label, tick at which it became scheduled, tick at which it first ran) of every TI that ran."""
    found = []
    for label, changes in zip(trace.labels, trace.changes, strict=True):
        first = {state: tick for tick, state in reversed(changes)}
        if "running" in first:
            found.append((label, first["scheduled"], first["running"]))
    return found


def by_queue(dag: Dag, routes: Mapping[str, str]) -> Dag:
    """The move from a hybrid executor of Airflow 2 to Airflow 3: what went by queue goes by ``executor=``.

    >>> dag = Dag("d", [Task("a"), Task("b", queue="kubernetes")])
    >>> [task.executor for task in by_queue(dag, {"kubernetes": "KubernetesExecutor"})]
    [None, 'KubernetesExecutor']
    """
    for task in dag:
        if task.queue in routes:
            dag = dag.replace(task.task_id, executor=routes[task.queue], queue="default")
    return dag


# ---- conflicting packages ------------------------------------------------------------------------------------------

NEEDS = {f"{name}_{k}": f"torch {version}" for version, name in enumerate(("train", "score"), 1) for k in range(1, 5)}
"""train_1 to train_4 need torch 1, score_1 to score_4 need torch 2."""


def models(*, apart: bool = False, retries: int = 0) -> Dag:
    """Eight tasks side by side that need one of two versions of a package. apart: each kind on a queue of its own."""
    return Dag("models", [Task(name, duration=4, retries=retries, queue=need if apart else "default")
                          for name, need in NEEDS.items()])


ONE, TWO = Worker(4, environment="torch 1", name="w1"), Worker(4, environment="torch 2", name="w2")
HOMES: Mapping[str, tuple[Dag, Any]] = {
    "one worker, torch 1": (models(), CeleryExecutor(workers=[ONE], environments=NEEDS)),
    "another worker beside it, torch 2": (models(), CeleryExecutor(workers=[ONE, TWO], environments=NEEDS)),
    "the same, 3 retries": (models(retries=3), CeleryExecutor(workers=[ONE, TWO], environments=NEEDS)),
    "a queue for each version": (models(apart=True), CeleryExecutor(environments=NEEDS, workers=[
        Worker(4, "torch 1", environment="torch 1"), Worker(4, "torch 2", environment="torch 2")])),
    "pods, an image for each": (models(), KubernetesExecutor(batch=16, environments=NEEDS)),
}


def home(where: str) -> dict[str, Any]:
    """One row: how many of the eight failed in the end, in how many tries, and what one of them says."""
    dag, executor = HOMES[where]
    trace = simulate(dag, executor=executor)
    bad = [label for label, state in trace.final_states.items() if state == "failed"]
    return {"where": where, "failed": len(bad), "tries": sum(trace.tries.values()),
            "why": str(trace.explain(bad[0])) if bad else ""}


# ---- a database, a giant Dag, sites ---------------------------------------------------------------------------------


BIG: Mapping[str, Any] = {
    "Local, 64": LocalExecutor(parallelism=64), "Celery, 4 x 16": CeleryExecutor(workers=[Worker(16)] * 4),
    "Kubernetes": KubernetesExecutor(batch=16),
}


def queries(pool: bool = False, tasks: int = 60) -> Scenario:
    """Sixty queries of half a minute each against a database that bears twenty connections."""
    dag = Dag("queries", [Task(f"q{k}", duration=30, pool="db" if pool else "default_pool") for k in range(tasks)],
              max_active_tasks=tasks)
    return Scenario(dag, pools={"db": 20}, config=Config(parallelism=64))


def most_at_once(trace: Any) -> int:
    """The most TIs that run in one tick."""
    running = most = 0
    for event in trace.events.to_dict("records"):
        running += (event["new"] == "running") - (event["old"] == "running")
        most = max(most, running)
    return most


def connections() -> list[dict[str, Any]]:
    """Connections the database sees, on each executor, without and with a pool."""
    return [{"executor": name, "connections, no pool": most_at_once(simulate(queries(), executor=executor)),
             "connections, pool of 20": most_at_once(simulate(queries(pool=True), executor=executor))}
            for name, executor in BIG.items()]


def giant(dags: int = 1, tasks: int = 128) -> Scenario:
    """So many tasks of a minute each, in one Dag or by domain in several."""
    size = tasks // dags
    return Scenario([Dag(f"domain_{d}", [Task(f"d{d}_t{k}", duration=60) for k in range(size)]) for d in range(dags)],
                    config=Config(parallelism=64))


def giants() -> list[dict[str, Any]]:
    """The giant on each executor, and the same work cut into four."""
    one, four = (Comparison(giant(dags), BIG).rows for dags in (1, 4))
    return [{"executor": name, "one Dag, s": one[name]["makespan"], "four Dags, s": four[name]["makespan"]} for name in BIG]


def sites(poll_interval: float = 5) -> EdgeExecutor:
    """Two sites, each with a worker that listens to the queue of its name."""
    return EdgeExecutor(sites=[Site(2, name="berlin"), Site(2, name="lima")], poll_interval=poll_interval)


def readings(places: Sequence[str] = ("berlin", "berlin", "lima")) -> Dag:
    """One task for each place, on the queue of that place."""
    counts: Counter[str] = Counter()
    tasks = []
    for place in places:
        counts[place] += 1
        tasks.append(Task(f"{place}_{counts[place]}", duration=4, queue=place))
    return Dag("readings", tasks)


POLLS = (0, 1, 5, 15)


def polling(seconds: float, tasks: int = 24) -> dict[str, Any]:
    """One row: tasks that come one a time, and how long each waits for the next look."""
    dag = Dag("readings", [Task("berlin", duration=2, queue="berlin")])
    trace = simulate(dag, executor=sites(seconds), runs=Runs(tasks, every=11))
    waits = [began - due for _, due, began in begins(trace)]
    return {"a worker asks every, s": seconds, "mean wait, s": round(sum(waits) / len(waits), 1), "longest, s": max(waits)}


def reserved(prefetch: int = 1) -> Scenario:
    """Two workers of one slot each, one long task and five short ones."""
    tasks = [Task("long", duration=60), *(Task(f"short_{k}", duration=5) for k in range(1, 6))]
    workers = [Worker(1, name="w1"), Worker(1, name="w2")]
    return Scenario(Dag("six", tasks), executor=CeleryExecutor(workers=workers, prefetch=prefetch))


def last_short(prefetch: int) -> int:
    """The tick at which the last short task is done."""
    trace = simulate(reserved(prefetch))
    return max(changes[-1][0] for label, changes in zip(trace.labels, trace.changes, strict=True) if "short" in label)


@cache
def compared(name: str) -> Comparison:
    """A comparison of this lesson by its name; played once."""
    work: dict[str, tuple[Any, Mapping[str, Any]]] = {
        "chain": (chain(), {name: FOUR[name] for name in ("Local", "Celery", "Kubernetes")}),
        "short": (many(), FIVE), "night": (night(), FLEETS),
    }
    return Comparison(*work[name])

"""More scenes: executors, parts that fail, several schedulers, passes, runs and dates."""

from __future__ import annotations

from functools import cache
from typing import Any

from .. import planning
from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, KubernetesExecutor, Worker
from ..faults import LoseMessage, LoseScheduler, LoseWorker
from ..scenario import Config, Runs, Scenario
from ..task import Task
from ..waits import Deferral
from .choosing_kinds import POD_START, played
from .scenes import AT_ONCE, Scene, scene, told

# ---- executors -----------------------------------------------------------------------------------------------------


@cache
def batched() -> int:
    """The work of 160 tasks of 5 s in 16 tasks of 50 s, on 16 pods: seconds."""
    dag = Dag("load", [Task(f"t{k}", duration=50) for k in range(16)])
    return int(simulate(dag, executor=KubernetesExecutor(parallelism=16, handover=POD_START)).last_tick)


@scene
def pods_for_short() -> Scene:
    """Short tasks on pods and on workers."""
    rows = [(n, played(n)) for n in (5, 60, 300)]
    return Scene(f"160 alike tasks, 16 at once; a pod starts in {POD_START} s (assumed).", (
        *(f"tasks of {n} s: workers {found['CeleryExecutor']} s, pods {found['KubernetesExecutor']} s"
          for n, found in rows),
        f"tasks of 5 s, ten in each pod: pods {batched()} s"))


@scene
def two_executors() -> Scene:
    """Short work on workers, heavy work on pods, in one Dag."""
    tasks = [*(Task(f"short_{k}", duration=2) for k in range(1, 5)), Task("train", duration=6, executor="pods")]
    trace = simulate(Scenario(Dag("mixed", tasks), executor={
        "workers": CeleryExecutor(workers=[Worker(2)]), "pods": KubernetesExecutor(handover=5)}))
    return told("Four short tasks on two worker slots; train on a pod that starts in 5 ticks.", trace, log=30)


@scene
def wrong_queue() -> Scene:
    """A queue nobody listens to."""
    trace = simulate(Scenario(Dag("d", [Task("load"), Task("train", queue="gpu")]), executor=CeleryExecutor()))
    return told("train names queue gpu; the workers listen to default.", trace, ("train", 3))


# ---- parts that fail -----------------------------------------------------------------------------------------------


def _lost_message() -> Any:
    return simulate(Scenario(Dag("d", [Task("load", duration=3)]), faults=[LoseMessage(1, task="load")],
                             executor=CeleryExecutor()))


def lost_message_found() -> int:
    """The tick at which a message lost at tick 1 is found out, with Airflow's usual values."""
    return next(tick for tick, state in _lost_message().changes[0] if tick > 1 and state == "scheduled")


@scene
def lost_message() -> Scene:
    """A message that the broker lost."""
    return told("The broker loses the message of load; a tick is a second.", _lost_message(), ("load", 100), log=10)


def lost_worker_trace(retries: int = 1) -> Any:
    """A worker that dies under a task, with the usual heartbeat timeout; a tick is a second."""
    return simulate(Scenario(Dag("d", [Task("load", duration=60, retries=retries)]), executor=AT_ONCE,
                             faults=[LoseWorker(10, task="load")]))


@scene
def lost_worker() -> Scene:
    """A worker that dies."""
    return told("The worker under load dies at tick 10; one retry.", lost_worker_trace(), ("load", 100), log=12)


@scene
def no_triggerer() -> Scene:
    """Nobody watches the triggers."""
    trace = simulate(Scenario(Dag("d", [Task("wait", wait=Deferral(before=1, wait=5, after=1))]), executor=AT_ONCE,
                              config=Config(triggerers=0)))
    return told("wait is deferred, and no triggerer runs.", trace, ("wait", 6))


def scheduler_lost(schedulers: int, executor: Any = None) -> Any:
    """The first scheduler dies at tick 3, in the middle of three tasks in a row."""
    dag = Dag("d", [Task("a", duration=6), Task("b", "a", duration=2), Task("c", "b")])
    return simulate(Scenario(dag, faults=[LoseScheduler(3)], config=Config(schedulers=schedulers),
                             executor=executor or CeleryExecutor()))


@scene
def one_of_one() -> Scene:
    """The only scheduler dies."""
    return told("One scheduler, dead at tick 3; a runs from tick 2.", scheduler_lost(1), ("a", 10), ("b", 12))


@scene
def one_of_two() -> Scene:
    """One of two schedulers dies."""
    trace = scheduler_lost(2)
    return told("Two schedulers, one dies at tick 3.", trace, log=14, more=(
        f"run: {trace.run_states}", f"tries: {trace.tries}"))


# ---- passes, dates, runs -------------------------------------------------------------------------------------------


def chain(pacing: str, length: int = 6) -> Any:
    """A chain whose first task fails: how long until the last knows."""
    tasks = [Task("t1"), *(Task(f"t{k}", f"t{k - 1}") for k in range(2, length + 1))]
    return simulate(Scenario(Dag("chain", tasks), outcomes={"t1": ["fail"]}, executor=AT_ONCE,
                             config=Config(pacing=pacing)))


@scene
def passes() -> Scene:
    """What is written in one pass is read in the next."""
    trace = chain("airflow")
    return told("Six tasks in a row, the first fails; every level takes a pass.", trace, log=12)


def due(catchup: bool) -> list[int]:
    """The ticks at which the runs of a Dag are created: one every 10 ticks, paused until tick 45."""
    return [tick for tick, _ in Runs(6, every=10, unpaused_at=45, catchup=catchup).due()]


@scene
def catchup() -> Scene:
    """What catchup creates."""
    return Scene("A run every 10 ticks, six in all; paused until tick 45.", tuple(
        f"catchup {'on' if on else 'off'}: runs created at ticks {', '.join(map(str, due(on)))}" for on in (True, False)))


@scene
def stamps() -> Scene:
    """A run is created later than the time it stands for."""
    pairs = Runs(4, every=10, unpaused_at=25, catchup=True).due()
    return Scene("A run every 10 ticks, paused until tick 25, catchup on.", tuple(
        f"stands for tick {logical}, created at tick {made}" for made, logical in pairs))


@scene
def assets() -> Scene:
    """Runs that follow an asset."""
    from .scenes import demo
    trace = demo("split")
    return told("orders updates an asset; orders_report runs whenever it was updated.", trace, more=tuple(
        f"{label}: created at tick {run.due}" for label, run in
        [(r.label, r) for r in (trace.run(n, "orders_report") for n in range(3))]))


@scene
def again() -> Scene:
    """A task that is cleared runs once more, side effects included."""
    usual = simulate(Dag("d", [Task("load", duration=2), Task("publish", "load")]), executor=AT_ONCE)
    trace = usual.fork(5, clear=["load"])
    return told("load and publish are done; at tick 5 somebody clears load.", trace, log=20, more=(
        f"tries: {trace.tries}",))


# ---- planning with real numbers ------------------------------------------------------------------------------------


def your_dag() -> Dag:
    """A chain beside a crowd: slots help the crowd, and not the chain."""
    crowd = [Task(f"part_{k}", "read", duration=3) for k in range(1, 7)]
    return Dag("yours", [Task("read", duration=2), Task("clean", "read", duration=4), Task("model", "clean", duration=4),
                         *crowd, Task("report", ["model", *(t.task_id for t in crowd)])])


@scene
def knee() -> Scene:
    """Where more slots stop to help."""
    dag = your_dag()
    path = planning.critical_path(dag)
    return Scene("read, then clean > model beside six parts of 3, then report.", (
        *(f"slots {n}: {planning.makespan(dag, n)}" for n in range(1, 6)),
        f"critical path {path.length}: {' > '.join(path.path)}"))

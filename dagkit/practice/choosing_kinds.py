"""Drills on choosing: the executor for a workload, the component behind a symptom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, KubernetesExecutor, Worker
from ..faults import LoseScheduler, LoseWorker
from ..scenario import Config, Scenario
from ..task import Task
from ..waits import Deferral, Sensor
from . import notation
from .dice import Dice
from .drill import Judged, Posed, Worked, kind
from .worlds import listed

# ---- executor choice -----------------------------------------------------------------------------------------------

EXECUTORS = {
    "LocalExecutor": ["local"], "CeleryExecutor": ["celery"], "KubernetesExecutor": ["kubernetes", "k8s", "pods"],
    "EdgeExecutor": ["edge", "edge3"], "several": ["both", "mixed", "several at once", "celery and kubernetes"],
}
POD_START = 20
"""Seconds from queued to running for a pod. Assumed: it depends on the image and the cluster."""


@dataclass(frozen=True)
class Load:
    """A workload in numbers. peak: tasks at once, cpus: what one takes. images: different environments needed."""

    tasks: int
    seconds: int
    peak: int
    cpus: int
    machine: int
    images: int = 1
    heavy: int = 0
    remote: bool = False

    def sentences(self) -> list[str]:
        kinds = "one environment fits all" if self.images == 1 else \
            f"they need {self.images} container images that do not mix"
        said = [f"{self.tasks:,} tasks a day of about {self.seconds} s, {self.cpus} CPU each; at most {self.peak} at once; "
                f"{kinds}.", f"The machine beside the scheduler has {self.machine} CPUs."]
        if self.heavy:
            said.append(f"Besides, {self.heavy} training jobs a day: 64 GB of memory and an image of their own each.")
        where = "at a plant behind a firewall; its data must not leave the plant" if self.remote else \
            "in the same data centre"
        return [*said, f"The source is {where}."]


def steps(load: Load) -> list[tuple[str, str]]:
    """The way through the decision: (question, answer), the last one with the executor."""
    way = []
    if load.remote:
        return [("must work run where the scheduler cannot reach?", "yes: EdgeExecutor, its workers pull over HTTP")]
    way.append(("must work run where the scheduler cannot reach?", "no"))
    need = load.peak * load.cpus
    if need <= load.machine and load.images == 1 and not load.heavy:
        return [*way, ("is one machine enough?",
                       f"{load.peak} x {load.cpus} = {need} CPUs of {load.machine}: LocalExecutor")]
    way.append(("is one machine enough?", f"no: {need} CPUs at the peak, it has {load.machine}" if need > load.machine
                else "no: not for tasks that need images of their own"))
    if load.heavy:
        return [*way, ("do parts need another trade-off?",
                       f"yes, {load.tasks:,} short ones and {load.heavy} heavy ones: several")]
    if load.images > 1:
        return [*way, ("an image or strong isolation for each task?", f"yes, {load.images} images: KubernetesExecutor")]
    return [*way, ("an image or strong isolation for each task?", "no"),
            ("many short tasks, alike?", f"yes, {load.tasks:,} of {load.seconds} s: CeleryExecutor")]


def chosen(load: Load) -> str:
    """The executor the steps lead to."""
    last = steps(load)[-1][1]
    return next(name for name in EXECUTORS if name in last.replace(",", " ").replace(":", " ").split())


def _load(dice: Dice, level: int) -> Load:
    wanted = dice.one(list(EXECUTORS)[:3 + (level > 1) + (level > 2)])
    short = dice.between(2, 8)
    if wanted == "LocalExecutor":
        return Load(dice.between(5, 40) * 10, dice.between(2, 20) * 10, dice.between(2, 6), 1, dice.between(8, 16))
    if wanted == "CeleryExecutor":
        return Load(dice.between(5, 40) * 1000, short, dice.between(8, 20) * 10, 1, dice.between(8, 32))
    if wanted == "KubernetesExecutor":
        return Load(dice.between(3, 30) * 10, dice.between(3, 12) * 300, dice.between(8, 20), dice.between(2, 8),
                    dice.between(8, 16), images=dice.between(3, 9))
    if wanted == "EdgeExecutor":
        return Load(dice.between(5, 40) * 10, dice.between(2, 20) * 10, dice.between(2, 20), 1, dice.between(8, 32),
                    remote=True)
    return Load(dice.between(5, 40) * 1000, short, dice.between(8, 20) * 10, 1, dice.between(8, 32),
                heavy=dice.between(2, 9))


@cache
def played(seconds: int, tasks: int = 160, slots: int = 16) -> dict[str, int]:
    """The same short tasks on as many worker slots as pods: when all are done, in seconds, played by the simulator."""
    dag = Dag("load", [Task(f"t{k}", duration=seconds) for k in range(tasks)], max_active_tasks=tasks)
    return {executor.name: simulate(Scenario(dag, executor=executor, config=Config(parallelism=slots))).last_tick
            for executor in (CeleryExecutor(workers=[Worker(slots)], handover=1),
                             KubernetesExecutor(handover=POD_START))}


@kind("executor", "Executor choice", 6)
def executor(seed: int, level: int) -> Posed:
    """Which executor fits a workload given in numbers?"""
    load = _load(Dice("executor", seed, level), level)
    right = chosen(load)
    offered = dict(list(EXECUTORS.items())[:4 if level < 3 else 5])

    def judge(given: Any) -> Judged:
        said = notation.one_of(given, offered)
        if said == right:
            return Judged(True, f"{steps(load)[-1][0].capitalize()} {steps(load)[-1][1]}.")
        return _wrong_executor(load, said, right)

    def worked() -> Worked:
        found = played(load.seconds) if load.seconds < 60 else {}
        told = [f"{question} {answer}" for question, answer in steps(load)]
        if found:
            told.append(f"played, 160 tasks of {load.seconds} s, 16 at once, a pod start of {POD_START} s (assumed): "
                        f"workers {found['CeleryExecutor']} s, pods {found['KubernetesExecutor']} s")
        return Worked(right, told)

    return Posed(load.sentences(), [], "Which executor fits?", "Answer with one of the names.", judge, worked, right,
                 offered=tuple(offered))


def _wrong_executor(load: Load, said: str, right: str) -> Judged:
    need = load.peak * load.cpus
    if load.remote:
        return Judged(False, "The tasks must run inside the plant. Its workers have to fetch their work from there.",
                      "Who opens the connection, through the firewall?", "location-asked-last")
    if said == "LocalExecutor":
        what = f"{need} CPUs are needed at the peak, and the machine has {load.machine}." if need > load.machine else \
            "All tasks would share the scheduler's machine and its one environment."
        return Judged(False, what, "What grows beyond one machine?", "local-scales")
    if said == "EdgeExecutor":
        return Judged(False, "Nothing is remote here; you would run sites for nobody.", "What is special about Edge?")
    if right == "LocalExecutor":
        return Judged(False, f"It would work, at the price of more parts to run. The peak is {need} CPUs of "
                      f"{load.machine}.",
                      "What is the least that is enough?", "more-parts-is-better")
    if said == "KubernetesExecutor" and load.seconds < 60:
        found = played(load.seconds)
        return Judged(False, f"A pod start of {POD_START} s for {load.seconds} s of work: 160 such tasks, 16 at once, take "
                      f"{found['KubernetesExecutor']} s on pods and {found['CeleryExecutor']} s on workers.",
                      "Must all of them share one choice?" if load.heavy else "", "pods-for-short-tasks")
    if load.heavy:
        return Judged(False, f"What suits the {load.tasks:,} short ones does not suit the {load.heavy} heavy ones.",
                      "Must all of them share one choice?", "one-executor-only")
    if said == "CeleryExecutor":
        return Judged(False, f"The tasks need {load.images} images; a standing worker has one environment.",
                      "What carries its environment with it?", "workers-hold-any-environment")
    return Judged(False, "One choice is enough here: the tasks are all alike.", "What do they have in common?")


# ---- symptom to component ------------------------------------------------------------------------------------------

COMPONENTS = {
    "limits": ["pool", "pools", "limit", "max_active_tasks"],
    "workers": ["worker", "queue", "executor"],
    "scheduler": ["schedulers"],
    "triggerer": ["triggerers"],
    "sensors": ["sensor", "sensors that poke", "not deferred"],
    "task code": ["code", "the task itself", "task"],
}
LAST = 14
"""Ticks shown."""


def _work(dice: Dice, **options: Any) -> list[Task]:
    return [Task(f"load_{k}", duration=dice.between(2, 3), **options) for k in range(1, dice.between(3, 4) + 1)]


def _full_pool(dice: Dice) -> Scenario:
    tasks = [Task("export", duration=30, pool="source", priority_weight=9), *_work(dice, pool="source")]
    return Scenario(Dag("ingest", tasks), pools={"source": 1})


def _wrong_queue(dice: Dice) -> Scenario:
    return Scenario(Dag("ingest", [*_work(dice), Task("train", duration=4, queue="gpu_large")]),
                    executor=CeleryExecutor(workers=[Worker(8, ("default", "gpu"))]))


def _busy_workers(dice: Dice) -> Scenario:
    return Scenario(Dag("ingest", [Task("export", duration=30, priority_weight=9), *_work(dice)]),
                    executor=CeleryExecutor(workers=[Worker(1)]))


def _dead_scheduler(dice: Dice) -> Scenario:
    tasks = [Task("extract", duration=2), *_work(dice, upstream=["extract"])]
    return Scenario(Dag("ingest", tasks), faults=[LoseScheduler(dice.between(2, 3))], executor=CeleryExecutor())


def _no_triggerer(dice: Dice) -> Scenario:
    wait = Task("wait_for_file", wait=Deferral(before=1, wait=4, after=1))
    return Scenario(Dag("ingest", [wait, *_work(dice), Task("load_file", ["wait_for_file"])]), config=Config(triggerers=0))


def _poking(dice: Dice) -> Scenario:
    places = dice.between(2, 3)
    wait = Sensor(true_after=30, poke_interval=5)
    waits = [Task(f"file_{k}", wait=wait, priority_weight=2) for k in range(1, places + 1)]
    return Scenario(Dag("ingest", [*waits, *_work(dice)]), config=Config(parallelism=places))


def _lost_worker(dice: Dice) -> Scenario:
    return Scenario(Dag("ingest", [Task("extract", duration=3), Task("publish", ["extract"])]),
                    faults=[LoseWorker(tick=dice.between(3, 4), task="extract")],
                    config=Config(task_instance_heartbeat_timeout=30))


def _slow_code(dice: Dice) -> Scenario:
    return Scenario(Dag("ingest", [Task("extract", duration=3), Task("publish", ["extract"])]),
                    durations={"extract": dice.between(25, 40)})


CASES: tuple[tuple[Callable[[Dice], Scenario], str, str, str], ...] = (
    (_full_pool, "limits", "load_1", "Pools page: open slots of pool source."),
    (_wrong_queue, "workers", "train", "Which queues do the workers listen to?"),
    (_dead_scheduler, "scheduler", "load_1", "The scheduler's heartbeat."),
    (_no_triggerer, "triggerer", "wait_for_file", "The triggerer's heartbeat."),
    (_poking, "sensors", "load_1", "What are the running tasks doing?"),
    (_busy_workers, "workers", "load_1", "Slots of the workers against tasks in queued."),
    (_lost_worker, "workers", "extract", "The worker's host, and the task's heartbeats."),
    (_slow_code, "task code", "extract", "The log of the task: what is it doing?"),
)
NOT_IT = {
    "limits": "Limits hold tasks back in scheduled. {task} is {state}, and no limit is full that it still has to pass.",
    "workers": "{task} is {state}; workers come in from queued on, and they are not what it waits for.",
    "scheduler": "A dead scheduler would leave tasks in none or scheduled although there is room; {task} is {state}, and "
                 "what it waits for is no pass of a scheduler.",
    "triggerer": "The triggerer only holds deferred tasks; {task} is {state}.",
    "sensors": "No sensor holds a place here.",
    "task code": "{task} is {state}. Code can be slow only while it runs, and a task that runs sends heartbeats.",
}


@kind("symptom", "Symptom to component", 7)
def symptom(seed: int, level: int) -> Posed:
    """Something waits. Which part do you look at first?"""
    dice = Dice("symptom", seed, level)
    make, right, task, look = dice.one(CASES[:2 + 2 * level])
    trace = simulate(make(dice))
    end = min(LAST, max(trace.last_tick, 10))
    state, why = trace.states_at(end)[task], trace.explain(task, tick=end).text

    def judge(given: Any) -> Judged:
        said = notation.one_of(given, COMPONENTS)
        if said == right:
            return Judged(True, f"{why[0].upper()}{why[1:]} Look first: {look}")
        if (said, right) == ("limits", "sensors"):
            return Judged(False, f"{why[0].upper()}{why[1:]} But what do those that hold the places do? They wait.",
                          "Who could give its place back while it waits?", "sensors-cost-nothing")
        slips = {"limits": "limits-hold-queued", "scheduler": "scheduler-for-queued"} if state == "queued" else {}
        return Judged(False, NOT_IT[said].format(task=task, state=state), "In which state does it wait, and "
                      "who acts on a task in that state?", slips.get(said, ""))

    def worked() -> Worked:
        since = [t for t, _ in trace.changes[trace.labels.index(task)] if t <= end][-1]
        told = [f"{task} is {state} since tick {since}", why, f"look first: {look}"]
        return Worked(right, told, trace.gantt(tick=end))

    return Posed([f"Dag ingest, seen at three moments. {_facts(trace)}"], _moments(trace, (2, (end + 2) // 2, end)),
                 f"{task} does not get on. Which part do you look at first?", "Answer with one of the names.", judge,
                 worked, right, offered=tuple(COMPONENTS))


def _moments(trace: Any, ticks: tuple[int, ...]) -> list[dict[str, Any]]:
    at = [trace.states_at(tick) for tick in ticks]
    return [{"task": label, "queue": trace.scenario.dag[label].queue, "pool": trace.scenario.dag[label].pool,
             **{f"tick {tick}": states[label] for tick, states in zip(ticks, at, strict=True)}} for label in trace.labels]


def _facts(trace: Any) -> str:
    scenario = trace.scenario
    made = scenario.executor.default
    staff = made.staff(scenario.config) or ()
    workers = "; ".join(f"a worker with {w.concurrency} slots listens to {listed(w.queues)}" for w in staff)
    pools = [f"pool {name} {pool.slots}" for name, pool in scenario.pools.items() if name != "default_pool"]
    said = [f"{made.name}", workers, *pools, f"parallelism {scenario.config.parallelism}"]
    extra = [f"{task.task_id} is a sensor that pokes" for task in scenario.dag if isinstance(task.wait, Sensor)]
    if lost := [fault.tick for fault in scenario.faults if isinstance(fault, LoseWorker)]:
        extra.append(f"extract usually takes 3 ticks; its last heartbeat came at tick {lost[0]}")
    if scenario.durations:
        extra.append("extract usually takes 3 ticks; its heartbeats come as they should")
    return ". ".join([", ".join(filter(None, said)), *extra]) + "."


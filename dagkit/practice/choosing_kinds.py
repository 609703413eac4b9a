"""Drills on choosing: the executor for a workload, the component behind a symptom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, KubernetesExecutor, Worker
from ..scenario import Config, Scenario
from ..task import Task
from . import notation
from .dice import Dice
from .drills import Judged, Posed, Worked, kind

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

ALSO = {"a limit": ["limit", "limits", "pool", "pools"], "worker": ["workers"], "metadata DB": ["db", "database"],
        "API server": ["api"], "Dag processor": ["processor"], "Dag file": ["file", "code"], "scheduler": ["schedulers"]}
"""Other words for a component."""
AFTER_QUEUED = ("worker", "broker", "executor")


@kind("symptom", "Symptom to component", 7)
def symptom(seed: int, level: int) -> Posed:
    """Something is wrong with a deployment. Which part do you look at first? The cases are those of ``dagkit.symptoms``."""
    from ..symptoms import readings
    from ..symptoms import symptom as case_of
    case = case_of(seed, level)
    offered = {name: ALSO.get(name, []) for name in case.choices}

    def judge(given: Any) -> Judged:
        said = notation.one_of(given, offered)
        reply = case.reply(said)
        late = case.answer in AFTER_QUEUED and not reply.right
        slip = {"a limit": "limits-hold-queued", "scheduler": "scheduler-for-queued"}.get(said, "") if late else ""
        return Judged(reply.right, reply.text, misconception=slip)

    def worked() -> Worked:
        odd = [f"{found.name} = {found.value}" for found in readings(case.case) if found.odd]
        return Worked(case.answer, [case.solution, *(f"odd: {one}" for one in odd[:3])])

    return Posed([case.symptom, *map(str, case.clues)], case.table(), "Which part do you look at first?",
                 "Answer with one of the names.", judge, worked, case.answer, offered=tuple(offered))

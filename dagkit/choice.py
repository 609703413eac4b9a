"""Which executor? A chart of questions as data, and the walk through it.

The chart is the usual one, with its usual flaw: it asks for the location last, so a workload that is remote *and* needs
isolation is sent to Kubernetes and never hears of Edge. ``blind_spots`` finds that by trying every combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .errors import DagkitError, choices, nearest, quoted, shown
from .executors import (
    BatchExecutor,
    CeleryExecutor,
    EdgeExecutor,
    Executor,
    KubernetesExecutor,
    LocalExecutor,
    Site,
    Worker,
)


@dataclass(frozen=True)
class Step:
    """One question with two ways on. yes, no: what follows; ``Goto`` with the executor found so far, if one was.

    number: as in the chart. asks: the question. why: what it is about.
    """

    name: str
    number: int
    asks: str
    why: str
    yes: Goto
    no: Goto


@dataclass(frozen=True)
class Goto:
    """What an answer leads to: an executor (or None: none yet), and the next question (None: done)."""

    executor: str | None = None
    then: str | None = None
    several: bool = False


STEPS: Mapping[str, Step] = {step.name: step for step in (
    Step("one_machine", 2, "Is one machine enough for all of it?",
         "The fewest parts to run: no broker, no cluster.", Goto("Local", "still_enough"), Goto(None, "isolation")),
    Step("still_enough", 2, "Is it still enough: does nothing pile up in queued?",
         "Work that piles up there is how a LocalExecutor that was outgrown shows itself.", Goto(),
         Goto(None, "isolation")),
    Step("isolation", 3, "Does a task need its own image, its own resources or strong isolation?",
         "Workers that stand share one set of packages, and their memory.",
         Goto("Kubernetes", "mixed"), Goto(None, "short")),
    Step("short", 4, "Are there many short tasks, and does it matter how soon each starts?",
         "A pod has to start for each task; a standing worker only starts a process.",
         Goto("Celery", "mixed"), Goto(None, "remote")),
    Step("remote", 5, "Is the work at remote sites, behind firewalls or near its data?",
         "Edge workers pull their work over HTTPS: nobody has to reach them.", Goto("Edge"), Goto("Celery", "mixed")),
    Step("mixed", 6, "Do some Dags need another trade-off?",
         "Several executors at once: each task or Dag may name one.", Goto(several=True), Goto()),
)}
FIRST = "one_machine"
BEFORE = "First estimate how much there is to run, how far tasks must be kept apart, and where they must run."
"""Step 1 of the chart: it asks nothing that leads anywhere, it makes the other answers possible."""
ALTERNATIVE = {"Local": "Celery", "Celery": "Kubernetes", "Kubernetes": "Celery", "Edge": "Celery"}
"""What each recommendation is compared with: the choice that is most often made instead."""


@dataclass(frozen=True)
class Advice:
    """Where a walk ended. executor: "Local", "Celery", "Kubernetes" or "Edge". several: with a second one beside it.
    path: the questions answered, in order, as (step name, answer)."""

    executor: str
    several: bool
    path: tuple[tuple[str, bool], ...]

    @property
    def alternative(self) -> str:
        return ALTERNATIVE[self.executor]

    def __str__(self) -> str:
        beside = f", and {self.alternative} beside it for the Dags that need it" if self.several else ""
        return f"{self.executor}Executor{beside}"


def recommend(answers: Mapping[str, bool]) -> Advice:
    """Walk the chart with these answers (by step name); only those on the way are looked at.

    Raises DagkitError for an unknown question, for an answer that is not True or False, and for one that is missing.

    >>> print(recommend({"one_machine": False, "isolation": False, "short": True, "mixed": False}))
    CeleryExecutor
    """
    _check(answers)
    path: list[tuple[str, bool]] = []
    executor, name = "", FIRST
    while True:
        step = STEPS[name]
        if name not in answers:
            raise DagkitError(f"which executor: the question '{name}' comes up ({step.asks}) and has no answer. "
                              f"Add '{name}': True or False.")
        path.append((name, answers[name]))
        goto = step.yes if answers[name] else step.no
        executor = goto.executor or executor
        if goto.then is None:
            return Advice(executor, goto.several, tuple(path))
        name = goto.then


def _check(answers: Any) -> None:
    if not isinstance(answers, Mapping):
        raise DagkitError(f"which executor: answers must be a dictionary, not {quoted(answers)}. "
                          "Write {'one_machine': True, 'still_enough': True}.")
    for name, answer in answers.items():
        if name not in STEPS:
            raise DagkitError(f"which executor: there is no question '{shown(name)}'.{nearest(name, STEPS)} "
                              f"Known: {choices(STEPS)}.")
        if type(answer) is not bool:
            raise DagkitError(f"which executor: the answer to '{name}' must be True or False, not {quoted(answer)}. "
                              "Answer yes with True.")


def paths(name: str = FIRST, before: tuple[tuple[str, bool], ...] = ()) -> Iterator[tuple[tuple[str, bool], ...]]:
    """Every way through the chart, as (step name, answer) pairs; yes before no.

    >>> len(list(paths()))
    15
    """
    for answer, goto in ((True, STEPS[name].yes), (False, STEPS[name].no)):
        way = (*before, (name, answer))
        if goto.then is None:
            yield way
        else:
            yield from paths(goto.then, way)


def remote_answers() -> list[dict[str, bool]]:
    """All answers of somebody whose work is remote, and so does not fit on one machine."""
    rest = [name for name in STEPS if name not in (FIRST, "still_enough", "remote")]
    return [{FIRST: False, "remote": True, **dict(zip(rest, answers, strict=True))}
            for answers in product((True, False), repeat=len(rest))]


def blind_spots() -> list[dict[str, bool]]:
    """Those of them whom the chart does not send to Edge: it never asks them where their work is.

    >>> {spot["isolation"] or spot["short"] for spot in blind_spots()}
    {True}
    """
    return [answers for answers in remote_answers() if recommend(answers).executor != "Edge"]


# ---- the executors it speaks of, all of the same size --------------------------------------------------------------


def executors(slots: int = 32, queues: Sequence[str] = ("default",)) -> dict[str, Executor]:
    """One of each kind with so many slots, its latencies at their defaults.

    >>> sorted(executors())
    ['Batch', 'Celery', 'Edge', 'Kubernetes', 'Local']
    """
    return {
        "Local": LocalExecutor(parallelism=slots),
        "Celery": CeleryExecutor(workers=[Worker(slots, queues)]),
        "Kubernetes": KubernetesExecutor(max_pods=slots, batch=16),
        "Edge": EdgeExecutor(sites=[Site(concurrency=slots, queues=queues, name="site")]),
        "Batch": BatchExecutor(max_jobs=slots),
    }

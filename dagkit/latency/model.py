"""A task's way from "its upstream finished" to ``running``, in two designs, with many tasks resident.

Each design is a row of stages. A stage takes a fixed time, or a random one of a named shape; the same 2,000 points
of chance are used for every question, so curves are smooth and every machine finds the same numbers. The probe Dag
has three tasks, and all three wait alike: there is no mini scheduler in Airflow 3, a pass has to notice each.

What grows with N, the number of resident tasks:

* standard path: every pass gets longer (it counts what runs, for the limits; Celery is asked about every task it
  holds), *and* there are more runs to go round. Both together: more than proportional.
* hinted path: resident tasks only take a share of the database with their heartbeats. Times grow as 1 / (1 - share):
  flat for long, then a knee.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import DagkitError, choices, nearest, quoted
from .parameters import values

DESIGNS = {
    "standard": "standard scheduler, Celery",
    "executor": "standard scheduler, pull executor",
    "hinted": "hints, pull executor",
}
FITTED = {"standard": (50_000, 23.582), "hinted": (100_000, 0.228)}
"""The only two figures the model is solved with: p95 in seconds at so many resident tasks."""
POINTS = 2_000
SHAPES: Mapping[str, Callable[[float], float]] = {
    "fixed": lambda u: 1.0,                              # always its mean
    "turn": lambda u: 2 * u,                             # somewhere in a round: uniform from 0 to twice the mean
    "wait": lambda u: -math.log(1 - u),                  # exponential: mostly short, sometimes long
}


@dataclass(frozen=True)
class Stage:
    """One part of the way. mean: seconds. shape: see SHAPES."""

    name: str
    mean: float
    shape: str


def _chance(stages: int = 8) -> list[list[float]]:
    """For each stage the same number of evenly spread points between 0 and 1, in an order of its own."""
    dice, columns = random.Random(0), []
    for _ in range(stages):
        column = [(k + 0.5) / POINTS for k in range(POINTS)]
        dice.shuffle(column)
        columns.append(column)
    return columns


class Model:
    """The model with some parameters changed; calibrated when it is first asked.

    >>> model = Model()
    >>> round(model.p95("standard", 50_000), 3), round(model.p95("hinted", 100_000), 3)
    (23.582, 0.228)

    Raises DagkitError for a parameter or design that does not exist or a value it cannot have, and when no value of
    a calibrated parameter meets the published figure.
    """

    def __init__(self, **changes: Any):
        self.given = values(changes)
        self.changes = dict(changes)

    # ---- what is solved for

    @cached_property
    def row_cost(self) -> float:
        """Seconds that a resident task adds to each pass of the standard path."""
        n, wanted = FITTED["standard"]
        return _solve(lambda cost: self._p95(self._standard(n, cost)), wanted, "row_cost", "standard")

    @cached_property
    def work(self) -> float:
        """Seconds of one read and guarded update on an idle database."""
        n, wanted = FITTED["hinted"]
        return _solve(lambda work: self._p95(self._hinted(n, work)), wanted, "work", "hinted")

    def tuned(self, **changes: Any) -> Model:
        """The same deployment with a setting turned: what was solved stays as it is, so the figures move.

        (``Model(schedulers=4)`` asks another question: what if the *test* had run with four? That is solved anew.)

        >>> model = Model()
        >>> model.tuned(schedulers=5).p95("standard", 50_000) > model.p95("standard", 50_000)
        True
        """
        other = Model(**{**self.changes, **changes})
        other.__dict__.update(row_cost=self.row_cost, work=self.work)
        return other

    # ---- the stages

    def stages(self, design: str, resident: float) -> list[Stage]:
        """The parts of a task's way to running, with ``resident`` tasks running already.

        >>> [stage.name for stage in Model().stages("hinted", 1_000)]
        ['hint', 'check and update', 'wake a worker', 'assign', 'warm fork']
        """
        _known(design, resident)
        if design == "hinted":
            return self._hinted(resident, self.work)
        if design == "standard":
            return self._standard(resident, self.row_cost)
        p = self.given
        own = self._standard(resident, self.row_cost * (1 - p["celery_share"]))[:3]
        return own + self._hinted(resident, self.work)[2:]

    def pass_seconds(self, design: str, resident: float) -> float:
        """How long one pass of a standard scheduler takes."""
        share = 1 - self.given["celery_share"] if design == "executor" else 1.0
        return self.given["pass_base"] + self.row_cost * share * resident

    def _standard(self, n: float, cost: float) -> list[Stage]:
        p = self.given
        period = p["pass_base"] + cost * n + p["idle_sleep"]
        rounds = max(1.0, n / p["tasks_per_run"] / (p["runs_per_pass"] * p["schedulers"]))
        busy = min(0.95, p["lock_busy"] * (p["schedulers"] - 1))
        return [
            Stage("a pass notices", rounds * period / 2, "turn"),
            Stage("its turn for the limits", period * busy / (1 - busy), "wait"),
            Stage("update", p["commit"], "fixed"),
            Stage("broker hop", p["broker_hop"], "wait"),
            Stage("process start", p["process_start"], "fixed"),
        ]

    def _hinted(self, n: float, work: float) -> list[Stage]:
        p = self.given
        left = 1 - n / p["heartbeat"] / p["updates_per_second"]
        queue = work / left if left > 0 else math.inf
        return [
            Stage("hint", p["hint"], "wait"), Stage("check and update", queue, "wait"),
            Stage("wake a worker", p["hint"], "wait"), Stage("assign", queue, "wait"),
            Stage("warm fork", p["warm_fork"], "fixed"),
        ]

    # ---- answers

    def p95(self, design: str, resident: float) -> float:
        """Seconds within which 95 of 100 task starts happen; infinite where the design cannot keep up."""
        return self._p95(self.stages(design, resident))

    def _p95(self, stages: list[Stage]) -> float:
        import numpy
        if any(math.isinf(stage.mean) for stage in stages):
            return math.inf
        total = sum(stage.mean * column for stage, column in zip(stages, _columns(tuple(s.shape for s in stages)),
                                                                 strict=True))
        rank = POINTS * 95 // 100
        return float(numpy.partition(total, rank)[rank])

    def ceiling(self, design: str) -> float:
        """Resident tasks up to which the design can keep itself going.

        Standard scheduler: until one pass takes longer than the health threshold, when it passes for dead and its
        tasks are taken away; or until heartbeats alone fill the database. Hints: until a hint is slower than the
        fallback scan behind it.
        """
        _known(design, 1)
        limit = self.given["health_threshold"]
        if design == "hinted":
            return _largest(lambda n: self.p95(design, n) <= self.given["fallback"])
        most = _largest(lambda n: self.pass_seconds(design, n) <= limit)
        return min(most, self.given["heartbeat"] * self.given["updates_per_second"])

    def per_worker(self) -> float:
        """Task processes per worker, pull executor to Celery. Celery keeps a pool process beside each task's own."""
        dirtied, own = self.given["dirtied"], self.given["own_memory"]
        return (2 * dirtied + own) / (dirtied + own)

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value:g}" for name, value in self.changes.items())
        return f"Model({changed})"


_COLUMNS: dict[tuple[str, ...], list[Any]] = {}


def _columns(shapes: tuple[str, ...]) -> list[Any]:
    """The points of chance of a row of stages, as arrays; made once."""
    if shapes not in _COLUMNS:
        import numpy
        _COLUMNS[shapes] = [numpy.array([SHAPES[shape](u) for u in column])
                            for shape, column in zip(shapes, _chance(), strict=False)]
    return _COLUMNS[shapes]


def _solve(curve: Callable[[float], float], wanted: float, name: str, design: str) -> float:
    """The value at which a rising curve meets what is wanted, by halving."""
    low, high = 0.0, 1.0
    if not curve(low) <= wanted <= curve(high):
        raise DagkitError(f"latency: with these parameters no {name} gives {wanted:g} s ({DESIGNS[design]}): without "
                          f"any it is {curve(low):.3g} s already. Make the other stages shorter.")
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) < wanted else (low, middle)
    return high


def _largest(holds: Callable[[float], bool]) -> float:
    low, high = 0.0, 1e9
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _known(design: str, resident: float) -> None:
    if not isinstance(design, str) or design not in DESIGNS:
        raise DagkitError(f"latency: design {quoted(design)} is unknown.{nearest(design, DESIGNS)} "
                          f"Known: {choices(DESIGNS)}.")
    if isinstance(resident, bool) or not isinstance(resident, (int, float)) or not 0 <= resident < math.inf:
        raise DagkitError(f"latency: resident tasks must be a number >= 0, not {quoted(resident)}. "
                          "Write 50_000, for example.")

"""One deployment, and a cause or two that break it. A tick is 10 seconds, so Airflow's timeouts hold as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..checks import seeds
from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, KubernetesExecutor, Worker
from ..practice.dice import Dice
from ..scenario import Config, Runs, Scenario
from ..task import Task
from ..waits import Deferral
from .causes import CAUSES, COMPONENTS, Cause

NAMES = (("orders", "invoices", "stock"), ("clicks", "weather", "prices"), ("report", "digest", "ranking"))
WORKERS = (("celery-1", 4, "default"), ("celery-2", 4, "default"), ("reports-1", 2, "reports"))
TEN_SECONDS = Config(tick_seconds=10, task_queued_timeout=60, task_queued_timeout_check_interval=12,
                     task_instance_heartbeat_timeout=30, task_instance_heartbeat_timeout_detection_interval=1,
                     scheduler_health_check_threshold=3)
"""Airflow's usual 600, 120, 300, 10 and 30 seconds."""


@dataclass(frozen=True)
class Broken:
    """A deployment with its causes. at: the tick at which somebody looks. edited: the tick of an edit, if any."""

    seed: int
    dags: list[str]
    causes: tuple[Cause, ...]
    scenario: Scenario
    calm_scenario: Scenario
    since: int
    at: int
    edited: int | None

    @cached_property
    def trace(self) -> Any:
        """What happens."""
        return simulate(self.scenario)

    @cached_property
    def calm(self) -> Any:
        """What would happen if nothing were wrong."""
        return simulate(self.calm_scenario)

    def say(self, text: str) -> str:
        return text.format(*self.dags, edit=self.edited)


def broken(seed: int, *keys: str) -> Broken:
    """The deployment of a seed with some causes of CAUSES.

    >>> broken(1, "broker down").trace.faults[0].component
    'broker'
    """
    seed = seeds("broken", seed)
    dice = Dice("deployment", seed)
    dags = [dice.one(names) for names in NAMES]
    first, second, third = _dags(dags, dice)
    since, causes = dice.between(9, 13), tuple(CAUSES[key] for key in keys)
    made = [cause.make(since, dags) for cause in causes]
    given: dict[str, Any] = {"pools": {"warehouse": 6}, "config": TEN_SECONDS, "seed": seed, "executor": _executors(),
                             "runs": {first.dag_id: Runs(9, every=4), second.dag_id: Runs(5, every=8),
                                      third.dag_id: Runs(12, every=3)}}
    calm = Scenario([first, second, third], **given)
    edits = [(each["edit"], {"dag": with_check(first)}) for each in made if "edit" in each]
    changes = [change for each in made for change in each.get("changes", ())]
    dags_now = [_edited(dag, {k: v for each in made for k, v in each.get("tasks", {}).items()}) for dag in calm.dags]
    given["pools"] = {**given["pools"], **{k: v for each in made for k, v in each.get("pools", {}).items()}}
    given["runs"] = {**given["runs"], **{k: v for each in made for k, v in each.get("runs", {}).items()}}
    scenario = Scenario(dags_now, faults=[f for each in made for f in each.get("faults", ())],
                        changes=sorted(changes + edits, key=lambda change: change[0]), **given)
    at = since + max((cause.after for cause in causes), default=14) + dice.between(0, 2)
    return Broken(seed, dags, causes, scenario, calm, since, at, edits[0][0] if edits else None)


def _dags(names: list[str], dice: Dice) -> list[Dag]:
    retry: dict[str, Any] = {"retries": 2, "retry_delay": 2}
    return [
        Dag(names[0], [Task("extract", duration=dice.between(2, 3), **retry),
                       Task("clean", "extract", duration=dice.between(1, 2), **retry),
                       Task("load", "clean", duration=dice.between(3, 4), pool="warehouse", **retry)]),
        Dag(names[1], [Task("arrive", wait=Deferral(before=1, wait=dice.between(3, 5), after=1), **retry),
                       Task("train", "arrive", duration=2, executor="KubernetesExecutor", **retry)]),
        Dag(names[2], [Task("collect", queue="reports", **retry), Task("send", "collect", queue="reports", **retry)]),
    ]


def with_check(dag: Dag) -> Dag:
    """The edit that somebody makes: one task more at the end."""
    last = list(dag)[-1]
    return Dag.from_dict({**{t.task_id: _spec(t) for t in dag}, "check": {"upstream": [last.task_id]}}, dag.dag_id)


def _spec(task: Any) -> dict[str, Any]:
    from ..task import spec_of
    return spec_of(task)


def _edited(dag: Dag, tasks: dict[str, dict[str, Any]]) -> Dag:
    for task_id, parameters in tasks.items():
        if task_id in dag:
            dag = dag.replace(task_id, **parameters)
    return dag


def _executors() -> list[Any]:
    return [CeleryExecutor(workers=[Worker(slots, (queue,), name) for name, slots, queue in WORKERS], handover=0),
            KubernetesExecutor(handover=1)]


__all__ = ["COMPONENTS", "Broken", "broken", "with_check"]

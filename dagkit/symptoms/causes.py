"""What can be wrong with a deployment: one row for each cause, with how to make it and what to look at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import faults
from ..waits import Sensor

COMPONENTS = {
    "Dag file": "what the author wrote: sensors that poke, an endless task",
    "Dag processor": "reads files, stores serialized Dags",
    "scheduler": "decides what may run",
    "a limit": "pools, max_active_runs, a paused Dag",
    "metadata DB": "the single source of truth",
    "broker": "carries queued work to Celery's workers",
    "executor": "gets queued work to where it runs; here: pods",
    "worker": "runs the code",
    "triggerer": "watches for events of deferred tasks",
    "API server": "pages, REST, and what workers report to",
}
"""Where a cause can lie, and what that part does."""


@dataclass(frozen=True)
class Cause:
    """One thing that is wrong. component: a name of COMPONENTS. said: the cause in words. seen: what people report.
    first: the first thing to check. make: tick, Dag ids -> what it changes of the scenario; "tasks" edits the Dags.
    after: ticks until it shows.
    """

    key: str
    component: str
    said: str
    seen: str
    first: str
    make: Callable[[int, list[str]], dict[str, Any]]
    after: int = 14


def _broken(*faults_: faults.Fault) -> dict[str, Any]:
    return {"faults": list(faults_)}


def _pokes(tick: int, dags: list[str]) -> dict[str, Any]:
    return {"tasks": {"arrive": {"wait": Sensor(true_after=40, poke_interval=2), "pool": "default_pool"}},
            "runs": {dags[1]: 10}}


def _edit(tick: int, dags: list[str]) -> dict[str, Any]:
    return {"faults": [faults.DagProcessorDown(tick)], "edit": tick + 2}


CAUSES = {cause.key: cause for cause in (
    Cause("dag processor down", "Dag processor", "The Dag processor is down: what was saved since is not parsed.",
          "A task was added to {0} at tick {edit}. The grid does not show it, and there is no import error.",
          "When was the file last parsed? (Health: Dag processor)", _edit),
    Cause("scheduler dead", "scheduler", "The only scheduler is dead.",
          "Nothing new starts. What was running has ended.",
          "The scheduler's heartbeat (airflow jobs check)", lambda t, d: _broken(faults.LoseScheduler(t))),
    Cause("pool too small", "a limit", "The pool warehouse has one slot, and everybody wants it.",
          "{0} comes later and later, although workers are idle.",
          "Open slots of the pools (the page Pools)",
          lambda t, d: {"pools": {"warehouse": 1}, "tasks": {"extract": {"pool": "warehouse"}}}, 18),
    Cause("dag paused", "a limit", "{2} was paused: no run of it is looked at.",
          "{2} has not run for a while. Everything else does.",
          "Is the Dag paused? (the switch beside its name)", lambda t, d: {"changes": [(t, {"pause": d[2]})]}),
    Cause("database slow", "metadata DB", "The database is slow: a pass of the scheduler takes many times as long.",
          "Everything is late, and there is no error anywhere.",
          "How long does one loop of the scheduler take, and its query?",
          lambda t, d: _broken(faults.SlowDatabase(t, factor=6))),
    Cause("broker down", "broker", "The broker delivers nothing.",
          "Tasks are queued, and the workers have nothing to do.",
          "Messages that wait in the broker, and messages delivered", lambda t, d: _broken(faults.BrokerDown(t))),
    Cause("cluster full", "executor", "The cluster has no room: new pods stay pending.",
          "train does not start. All else does.",
          "Pods that are pending (kubectl get pods)", lambda t, d: _broken(faults.PodsPending(t))),
    Cause("worker lost", "worker", "Worker celery-1 died; what it ran is still called running.",
          "Some tasks run for ever.",
          "Heartbeats of the running tasks, by worker", lambda t, d: _broken(faults.LoseWorker(t, worker="celery-1"))),
    Cause("wrong queue", "worker", "The worker for queue reports was started with a wrong name.",
          "{2} is queued. Other Dags run.",
          "Which queues do the workers listen to?",
          lambda t, d: _broken(faults.WrongQueue(t, worker="reports-1", queues="report"))),
    Cause("worker image", "worker", "The image of celery-1 lacks a package: tasks fail there and succeed elsewhere.",
          "Tasks fail and succeed when they are tried again.",
          "The logs of failed tries: which worker, which import?",
          lambda t, d: _broken(faults.BrokenWorker(t, worker="celery-1"))),
    Cause("triggerer down", "triggerer", "No triggerer runs.",
          "arrive has been deferred much longer than files take to come.",
          "The triggerer's heartbeat (Health: Triggerer)", lambda t, d: _broken(faults.TriggererDown(t))),
    Cause("api server down", "API server", "The API server does not answer, so nobody can report or start.",
          "Nothing ends and nothing starts; the pages do not load.",
          "The health page of the API server", lambda t, d: _broken(faults.ApiServerDown(t, give_up_after=2))),
    Cause("api server slow", "API server", "The API server (or what it reads from the database) is slow.",
          "The pages take half a minute. The tasks are fine.",
          "How long do requests to the API server take?", lambda t, d: _broken(faults.SlowApiServer(t))),
    Cause("sensors poke", "Dag file", "Sensors that poke hold every worker slot.",
          "{0} is queued. The workers are busy, and no work gets done.",
          "What do the tasks do that hold the worker slots?", _pokes, 18),
)}
"""All causes by key."""

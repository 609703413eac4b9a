"""The incident museum: situations people asked about in public, as small scenarios that can be played.

Each *case* of ``incidents.yaml`` becomes a Scenario: its time t is tick t + 1, the hand-over takes no time, and the
clock is ideal unless the case is about the scheduler's loop. Every case says how its outcome was verified and links
to the public thread. What the kit does not simulate is listed with the reason, not left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .dag import Dag
from .engine import simulate
from .errors import DagkitError, choices, nearest, shown
from .executors import Broker, CeleryExecutor, EdgeExecutor, Executor, KubernetesExecutor, LocalExecutor, Worker
from .scenario import Config, Pool, Runs, Scenario
from .states import AIRFLOW_VERSION
from .task import Task
from .waits import Deferral, Sensor

TOPICS = {
    "trigger_rules": "Trigger rules", "mapping": "Mapped tasks", "pools": "Pools", "priority": "Priority",
    "limits": "Limits", "past": "The previous run", "sensors": "Sensors", "retries": "Retries",
    "run_state": "The run's verdict", "executors": "Executors and workers", "change": "A Dag that changes",
    "loop": "The scheduler's loop", "parsing": "Parsing",
}
NOT_SIMULATED: dict[str, str] = {}
LOST_HINT = "a hint that is lost: no scheduler of Airflow 3 gets any. The hops of lesson 9 play it"


@dataclass(frozen=True)
class Case:
    """One incident: ``told`` is its entry in incidents.yaml."""

    told: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.told["id"])

    @property
    def title(self) -> str:
        return str(self.told["title"])

    @property
    def question(self) -> str:
        return str(self.told["question"])

    @property
    def reason(self) -> str:
        return str(self.told["expected"]["reason"])

    @property
    def verified(self) -> str:
        return ", ".join(self.told["verified"])

    @property
    def changes(self) -> list[str]:
        """The variants, in words."""
        return [variant["change"] for variant in self.told.get("variants", ())]

    @property
    def links(self) -> dict[str, str]:
        """Where it was asked: name and address of each public thread (documents have no address here)."""
        found = {}
        for source in self.told["source"]:
            repository, _, number = source.partition("#")
            found[source] = f"https://github.com/{repository}/issues/{number}" if number.isdecimal() else ""
        return found


@cache
def cases() -> dict[str, Case]:
    """All cases by id, in the order of the museum's rooms.

    >>> cases()["A07"].title
    'Short circuit skips an all_done clean-up task'
    """
    text = (Path(__file__).parent / "incidents.yaml").read_text(encoding="utf-8")
    told = [Case(entry) for entry in yaml.safe_load(text)["cases"] if entry["kind"] == "A"]
    rooms = list(TOPICS)
    return {case.id: case for case in sorted(told, key=lambda case: rooms.index(case.told["topic"]))}


def case(case_id: str) -> Case:
    """One case. Raises DagkitError for an unknown id, with the known ones."""
    if case_id not in cases():
        raise DagkitError(f"incident '{shown(case_id)}' is unknown.{nearest(case_id, cases())} "
                          f"Known: {choices(cases(), 40)}.")
    return cases()[case_id]


def variant(case_id: str, change: int | None = None) -> dict[str, Any]:
    """The scenario of a case as incidents.yaml tells it, or that of its n-th variant (from 0)."""
    told = copy.deepcopy(dict(case(case_id).told["scenario"]))
    if change is not None:
        _patch(told, case(case_id).told["variants"][change]["patch"])
    return told


def _patch(told: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if key == "tasks":
            for task in told["tasks"]:
                task.update(value.get(task["id"], {}))
        elif isinstance(value, Mapping) and isinstance(told.get(key), dict):
            told[key] = {**told[key], **value}
        else:
            told[key] = value


def unplayable(case_id: str, change: int | None = None) -> str:
    """Why the kit does not play a case or variant, or "".

    >>> unplayable("A22", 0)
    'it is about Airflow 2.x, and the kit plays the rules of version 3.3.2 alone'
    """
    if case_id in NOT_SIMULATED:
        return NOT_SIMULATED[case_id]
    told = variant(case_id, change)
    if "airflow_version" in told:
        return (f"it is about Airflow {told['airflow_version'].replace('-', ' to ')}, and the kit plays the rules of "
                f"version {AIRFLOW_VERSION} alone")
    return LOST_HINT if "lost_hint_after" in told.get("scheduling", {}) else ""


def scenario(case_id: str, change: int | None = None) -> Scenario:
    """A case, or its n-th variant, as a Scenario.

    Raises DagkitError for a case that the kit does not play, with the reason.

    >>> scenario("A16").pools["p"].slots
    2
    """
    why = unplayable(case_id, change)
    if why:
        raise DagkitError(f"incident {case_id} is not simulated: {why}. Read it in museum.case('{case_id}').")
    told = variant(case_id, change)
    dags = [_dag(name, tasks, told) for name, tasks in _dags_of(told).items()]
    settings = told.get("config", {})
    known = {"max_active_tasks", "dagrun_timeout", "dagbag_import_timeout"}
    config = Config(schedulers=told.get("schedulers", 1), tick_seconds=_seconds(told),
                    **{key: value for key, value in settings.items() if key not in known})
    events = [(event["t"] + 1, {"dag": _dag("dag", event["new_definition"], told)}) for event in told.get("events", ())
              if "new_definition" in event and told.get("bundle") != "versioned"]
    given = {"dags": dags, "config": config, "executor": _executor(told), "outcomes": dict(_outcomes(told)),
             "durations": dict(_durations(told)), "changes": events,
             "pools": {name: _pool(pool) for name, pool in told.get("pools", {}).items()}}
    return Scenario(**{**given, **_runs(told, dags)})


def replay(case_id: str, change: int | None = None) -> Any:
    """The Trace of a case or of its n-th variant.

    >>> replay("A07").final_states["cleanup"]
    'skipped'
    """
    return simulate(scenario(case_id, change))


def contents() -> list[dict[str, str]]:
    """The museum at a glance: a row per case."""
    return [{"room": TOPICS[c.told["topic"]], "case": c.id, "title": c.title,
             "verified": c.verified, "played here": f"no: {unplayable(c.id)}" if unplayable(c.id) else "yes"}
            for c in cases().values()]


# ---- from the words of incidents.yaml to the kit's ----------------------------------------------------------------


def _dags_of(told: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return dict(told["dags"]) if "dags" in told else {"dag": told["tasks"]}


def _all_tasks(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for tasks in _dags_of(told).values():
        yield from tasks


def _seconds(told: Mapping[str, Any]) -> float:
    """Seconds a tick stands for: with a polling loop one tick is one pass of it; a hint wakes the scheduler at once."""
    loop = told.get("scheduling", {}).get("loop_at") if told.get("scheduling", {}).get("mode") == "polling" else None
    return float(loop[1] - loop[0]) if loop else 1


def _dag(dag_id: str, tasks: Sequence[Mapping[str, Any]], told: Mapping[str, Any]) -> Dag:
    settings = told.get("config", {})
    options = {key: settings[key] for key in ("max_active_tasks", "dagrun_timeout") if key in settings}
    owners = {task["teardown_of"] for task in tasks if "teardown_of" in task}
    return Dag(dag_id, [_task(task, owners, told) for task in tasks], **options)


SAME_NAME = ("retries", "retry_delay", "max_retry_delay", "execution_timeout", "max_active_tis_per_dag", "queue",
             "max_active_tis_per_dagrun", "depends_on_past", "wait_for_downstream", "ignore_first_depends_on_past",
             "short_circuit", "branch", "returns", "executor", "pool")
RENAMED = {"rule": "trigger_rule", "priority": "priority_weight", "slots": "pool_slots"}


def import_seconds(case_id: str, change: int | None = None) -> tuple[int, int]:
    """(seconds the file's top level takes, [core] dagbag_import_timeout) of a case about parsing; (0, 30) elsewhere.

    >>> import_seconds("A47")
    (40, 30)
    """
    told = variant(case_id, change)
    return told.get("file", {}).get("top_level_seconds", 0), told.get("config", {}).get("dagbag_import_timeout", 30)


def _import(told: Mapping[str, Any]) -> tuple[bool, int]:
    """Whether the file's Dag is listed at all, and the seconds every task start pays for importing it again."""
    seconds = told.get("file", {}).get("top_level_seconds", 0)
    return seconds <= told.get("config", {}).get("dagbag_import_timeout", 30), seconds


def _task(spec: Mapping[str, Any], setups: set[str], told: Mapping[str, Any]) -> Task:
    given = {key: spec[key] for key in SAME_NAME if key in spec}
    given |= {new: spec[old] for old, new in RENAMED.items() if old in spec}
    up = list(spec.get("up", ()))
    if "teardown_of" in spec:
        given["is_teardown"] = True
        up += [spec["teardown_of"]] if spec["teardown_of"] not in up else []
    if spec.get("setup") or spec["id"] in setups:
        given["is_setup"] = True
    if "running_at" in spec:                       # it came before all others, so it is let in first
        given["priority_weight"] = 1 + max(task.get("priority", 1) for task in _all_tasks(told)) * len(told["tasks"])
    if "map_over" in spec:
        given["expand"] = {"item": spec["map_over"]}
    if "returns" in given:
        given["returns"] = len(given["returns"])
    if "weight_rule" in told:
        given["weight_rule"] = told["weight_rule"]
    given["retry_exponential_backoff"] = spec.get("backoff") == "exponential"
    errors = [event["t"] for event in told.get("events", ()) if event.get("poke_error_of") == spec["id"]]
    duration = max(1, spec.get("dur", 1)) + _import(told)[1]
    return Task(spec["id"], up, duration=duration, wait=_wait(spec, errors), **given)


def _wait(spec: Mapping[str, Any], errors: Sequence[int] = ()) -> Any:
    if "defer" in spec:
        return Deferral(**spec["defer"])
    if "sensor" in spec:
        sensor = {key: value for key, value in spec["sensor"].items() if key != "never"}
        return Sensor(true_after=None, errors_at=errors, **sensor)
    return None


def _pool(told: Any) -> Pool:
    return Pool(told) if isinstance(told, int) else Pool(**told)


WORDS = {"success": "success", "failed": "fail", "skipped": "skip"}


def _outcomes(told: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for task in _all_tasks(told):
        if "out" in task:
            yield task["id"], [WORDS[task["out"]]] * (task.get("retries", 0) + 1)
        for index, out in task.get("outs", {}).items():
            yield f"{task['id']}[{index}]", [WORDS[out]]
    for run, tasks in told.get("runs_state", {}).items():
        for task_id, state in tasks.items():
            if state == "skipped":
                yield f"{task_id}@{run[1:]}", ["skip"]


LONG = 100


def _durations(told: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for task in _all_tasks(told):
        for index, ticks in task.get("durs", {}).items():
            yield f"{task['id']}[{index}]", ticks
    for run, tasks in told.get("runs_state", {}).items():
        for task_id, state in tasks.items():
            if state == "running":
                yield f"{task_id}@{run[1:]}", LONG


def _runs(told: Mapping[str, Any], dags: Sequence[Dag]) -> dict[str, Any]:
    """How many runs, and what the runs before found."""
    if not _import(told)[0]:
        return {"runs": 0}                         # no Dag, no run
    if "previous_run" in told:                     # the first run was made before the Dag got its newest tasks
        old = [task for task in told["tasks"] if task["id"] in told["previous_run"]]
        return {"dags": [_dag("dag", old, told)], "runs": Runs(2, every=10), "changes": [(11, {"dag": dags[0]})]}
    if "dags" in told:                             # the last Dag's run has the oldest logical date
        late = {dag.dag_id: Runs(1, start=2) for dag in dags[:-1]}
        return {"runs": {**late, dags[-1].dag_id: Runs(1, every=1, unpaused_at=2)}}
    return {"runs": told.get("runs", len(told.get("runs_state", [0])))}


def _executor(told: Mapping[str, Any]) -> Any:
    spec = told.get("executor", {"kind": "local"})
    if spec.get("kind") == "multiple":
        kinds: dict[str, type[Executor]] = {"celery": CeleryExecutor, "kubernetes": KubernetesExecutor}
        names = sorted(spec["names"], key=lambda name: name != spec["default"])
        return {name: kinds[name](handover=0) for name in names}
    if "broker" in spec:
        timeout = spec["visibility_timeout"] if spec["broker"] == "redis" else None
        workers = [Worker(1, name=f"w{k}") for k in range(1, spec["workers"] + 1)]
        return CeleryExecutor(workers=workers, broker=Broker(spec["broker"], visibility_timeout=timeout), handover=0)
    if spec.get("kind") in ("celery", "edge"):
        kind = CeleryExecutor if spec["kind"] == "celery" else EdgeExecutor
        return kind(workers=[Worker(w.get("concurrency", 16), tuple(w["queues"]), w["name"]) for w in spec["workers"]],
                    handover=0)
    quirk = "executor" in told and not spec.get("remember_dispatched", False)
    return LocalExecutor(parallelism=told.get("slots"), handover=0, remember_dispatched=not quirk)

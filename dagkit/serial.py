"""Scenarios and traces as JSON text, and back. The text holds what happened; reading it simulates nothing."""

from __future__ import annotations

import dataclasses
import json
from array import array
from collections.abc import Iterable, Mapping
from typing import Any

from . import executors, faults
from .dag import Dag
from .engine.core import Run
from .engine.limits import LimitName
from .engine.plan import Plan
from .engine.seen import seen
from .errors import DagkitError, FormatError, shown
from .scenario import ACTIONS, Config, Pool, Runs, Scenario
from .states import RUN_STATES, TABLE
from .task import spec_of
from .trace import Trace
from .waits import wait_from_json, wait_to_json

FORMAT = 1
_RUN_FIELDS = ("state", "due", "started", "ended", "cause", "triggered", "history")


def dag_to_json(dag: Dag) -> dict[str, Any]:
    """A Dag as plain data: its id, its options, its tasks with what differs from the defaults."""
    tasks = [{"task_id": t.task_id, **{k: wait_to_json(v) if k == "wait" else v for k, v in spec_of(t).items()}}
             for t in dag]
    return {"dag_id": dag.dag_id, **dag.options(), "tasks": tasks}


def dag_from_json(data: Mapping[str, Any]) -> Dag:
    """The Dag that ``dag_to_json`` wrote.

    >>> from dagkit import Task
    >>> dag_from_json(dag_to_json(Dag("d", [Task("a"), Task("b", "a")]))).edges
    [('a', 'b')]
    """
    options = {k: v for k, v in data.items() if k not in ("dag_id", "tasks")}
    tasks = {t["task_id"]: {k: wait_from_json(v) if k == "wait" else v for k, v in t.items() if k != "task_id"}
             for t in data["tasks"]}
    if not tasks:
        return Dag(data["dag_id"], **options).close()
    return Dag.from_dict(tasks, data["dag_id"], **options)


def scenario_to_json(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain data."""
    return {
        "dags": [dag_to_json(dag) for dag in scenario.dags],
        "pools": {name: dataclasses.asdict(pool) for name, pool in scenario.pools.items()},
        "outcomes": {label: list(script) for label, script in scenario.outcomes.items()},
        "durations": dict(scenario.durations),
        "executor": [[name, _object_to_json(e)] for name, e in scenario.executor.by_name.items()],   # first: default
        "config": dataclasses.asdict(scenario.config),
        "runs": {dag_id: dataclasses.asdict(runs) for dag_id, runs in scenario.runs.items()},
        "initial": dict(scenario.initial or {}),
        "seed": scenario.seed,
        "faults": [_object_to_json(fault) for fault in scenario.faults],
        "changes": [[tick, _change_to_json(change)] for tick, change in scenario.changes],
    }


def scenario_from_json(data: Mapping[str, Any]) -> Scenario:
    """The scenario that ``scenario_to_json`` wrote."""
    return Scenario(
        tuple(dag_from_json(dag) for dag in data["dags"]),
        pools={name: Pool(**pool) for name, pool in data["pools"].items()},
        outcomes=data["outcomes"], durations=data["durations"],
        executor={name: _object_from_json(e) for name, e in data["executor"]},
        config=Config(**data["config"]), runs={dag_id: Runs(**runs) for dag_id, runs in data["runs"].items()},
        initial=data["initial"], seed=data["seed"], faults=[_object_from_json(f) for f in data["faults"]],
        changes=[(tick, _change_from_json(change)) for tick, change in data["changes"]])


def _object_to_json(thing: Any) -> Any:
    if isinstance(thing, (list, tuple)):
        return [_object_to_json(t) for t in thing]
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {f.name: _object_to_json(getattr(thing, f.name)) for f in dataclasses.fields(thing)}
        return {"kind": type(thing).__name__, **fields}
    return thing


def _object_from_json(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_object_from_json(d) for d in data)
    if isinstance(data, Mapping):
        name = str(data.get("kind"))
        kind = getattr(executors, name, None) or getattr(faults, name, None)
        if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            raise FormatError(f"trace: '{shown(name)}' is not an executor or fault this version knows. "
                              "Read it with the version that wrote it.")
        return kind(**{k: _object_from_json(v) for k, v in data.items() if k != "kind"})
    return data


def _change_to_json(change: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(change)
    if "dag" in out:
        out["dag"] = dag_to_json(out["dag"])
    if "config" in out:
        out["config"] = dataclasses.asdict(out["config"])
    if "pools" in out:
        out["pools"] = {n: dataclasses.asdict(p) if isinstance(p, Pool) else p for n, p in out["pools"].items()}
    if "tasks" in out:
        out["tasks"] = {task_id: {k: wait_to_json(v) if k == "wait" and v is not None else v for k, v in spec.items()}
                        for task_id, spec in out["tasks"].items()}
    return out


def _change_from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(data)
    if "dag" in out:
        out["dag"] = dag_from_json(out["dag"])
    if "config" in out:
        out["config"] = Config(**out["config"])
    if "pools" in out:
        out["pools"] = {n: Pool(**p) if isinstance(p, Mapping) else p for n, p in out["pools"].items()}
    if "tasks" in out:
        out["tasks"] = {task_id: {k: wait_from_json(v) if k == "wait" and v is not None else v for k, v in spec.items()}
                        for task_id, spec in out["tasks"].items()}
    return out


def trace_to_json(trace: Trace) -> str:
    """The whole trace as one JSON text with sorted keys: the same trace gives the same bytes."""
    runs = trace._runs
    number = {id(run): i for i, run in enumerate(runs)}
    return json.dumps({
        "dagkit_trace": FORMAT,
        "airflow_version": trace.airflow_version,
        "scenario": scenario_to_json(trace.scenario),
        "runs": [{name: getattr(run, name) for name in _RUN_FIELDS}
                 | {"dag": run.plan.number, "number": run.number, "definition": dag_to_json(run.plan.dag)
                    if run.plan.dag is not trace.scenario.dags[run.plan.number] else None,
                    "ti": list(run.ti), "instances": [[t, list(tis)] for t, tis in sorted(run.instances.items())]}
                 for run in runs],
        "tis": [[number[id(trace._run_of[ti])], trace._task_of[ti], trace._final_tries[ti]]
                for ti in range(len(trace._task_of))],
        "mapped": [[ti, index, trace._born[ti]] for ti, index in sorted(trace._map_index.items())],
        "initial": list(trace._initial), "tick_no": list(trace._tick_no), "tick_end": list(trace._tick_end),
        "event_ti": list(trace._event_ti), "event_new": list(trace._event_new),
        "causes": [[n, cause] for n, cause in sorted(trace._causes.items())],
        "pauses": [list(p) for p in trace._pauses], "notes": [list(n) for n in trace._notes],
        "picks": [list(p) for p in trace._picks],
        "capped": [[list(limit), tick] for limit, tick in trace._capped], "window_cut": trace._window_cut,
        "overdriven": trace._overdriven,
        "gone": [[ti, name] for ti, name in sorted(trace._gone.items())],
        "joined": [[ti, tick] for ti, tick in sorted(trace._joined.items())],
    }, sort_keys=True, separators=(",", ":"))


def trace_from_json(text: str) -> Trace:
    """The trace that ``trace_to_json`` wrote; FormatError, in one sentence, for anything else."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("dagkit_trace") != FORMAT:
            found = data.get("dagkit_trace", "none") if isinstance(data, dict) else type(data).__name__
            raise FormatError(f"trace: expected a dagkit trace of format {FORMAT}, found {shown(found)}. "
                              "Write one with trace.to_json().")
        return _build(data)
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as problem:
        what = str(problem) if isinstance(problem, DagkitError) else f"{type(problem).__name__}: {problem}"
        raise FormatError(f"trace: the text is damaged ({shown(what)}). Write it again with trace.to_json().") from None


def _build(data: Mapping[str, Any]) -> Trace:
    scenario = scenario_from_json(data["scenario"])
    plans = [Plan(dag, number) for number, dag in enumerate(scenario.dags)]
    runs = [_run(spec, plans, len(data["tis"])) for spec in data["runs"]]
    _check_tis(data, runs)
    _check_events(data)
    _check_remarks(data)
    now = scenario
    for _, (_, change) in seen(scenario):
        now = now.merged({name: value for name, value in change.items() if name not in ACTIONS})
    return Trace(scenario, plans, runs, {
        "now": now, "initial": bytes(data["initial"]), "task_of": [t for _, t, _ in data["tis"]],
        "run_of": [runs[r] for r, _, _ in data["tis"]], "tries": array("i", [n for _, _, n in data["tis"]]),
        "map_index": {ti: index for ti, index, _ in data["mapped"]},
        "born": {ti: born for ti, _, born in data["mapped"]},
        "tick_no": array("q", data["tick_no"]), "tick_end": array("q", data["tick_end"]),
        "event_ti": array("I", data["event_ti"]), "event_new": bytearray(data["event_new"]), "causes": dict(data["causes"]),
        "gone": dict(data["gone"]), "joined": dict(data["joined"]), "pauses": [tuple(p) for p in data["pauses"]],
        "notes": [tuple(n) for n in data.get("notes", [])],
        "picks": [tuple(p) for p in data.get("picks", [])],
        "capped": [(LimitName(*limit), tick) for limit, tick in data["capped"]], "window_cut": data["window_cut"],
        "overdriven": data["overdriven"]})


# ---- what a trace must hold before anything is derived from it: a damaged text is refused when it is read ----------

def _fit(ok: bool, what: str) -> None:
    if not ok:
        raise FormatError(f"trace: the text is damaged ({what} do not fit together). "
                          "Write it again with trace.to_json().")


def _wholes(values: Iterable[Any], below: int | None = None, low: int = 0) -> bool:
    """Whether all are whole numbers from ``low`` to ``below`` (exclusive)."""
    found = list(values)
    return not found or (set(map(type, found)) == {int} and min(found) >= low and (below is None or max(found) < below))


def _texts(values: Iterable[Any]) -> bool:
    return all(type(value) is str for value in values)


def _run(spec: Mapping[str, Any], plans: list[Plan], tis: int) -> Run:
    _fit(_wholes([spec["dag"]], len(plans)), "runs and Dags")
    plan = plans[spec["dag"]]
    if spec["definition"] is not None:
        plan = Plan(dag_from_json(spec["definition"]), spec["dag"])
    ticks = [spec[name] for name in ("due", "started", "ended") if name == "due" or spec[name] is not None]
    _fit(_wholes([spec["number"], *ticks]) and spec["state"] in RUN_STATES and type(spec["triggered"]) is bool
         and (spec["cause"] is None or type(spec["cause"]) is str), "the fields of a run")
    instances = dict(spec["instances"])
    _fit(len(spec["ti"]) == plan.n and _wholes(spec["ti"], tis) and _wholes(instances, plan.n)
         and all(found and _wholes(found, tis) for found in instances.values()), "runs and task instances")
    run = Run(plan, spec["number"], spec["ti"], spec["due"], spec["due"])
    run.instances = instances
    for name in _RUN_FIELDS:
        setattr(run, name, spec[name])
    run.history = _history(spec)
    return run


def _history(spec: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The states of a run, in order of time; the last is the one it ended in, a run without any was never started."""
    found = [(tick, state) for tick, state in spec["history"]]
    ticks, states = [tick for tick, _ in found], [state for _, state in found]
    _fit(_wholes(ticks) and sorted(ticks) == ticks and set(states) <= set(RUN_STATES)
         and ["queued", *states][-1] == spec["state"], "the states of a run")
    return found


def _check_tis(data: Mapping[str, Any], runs: list[Run]) -> None:
    """Every task instance has a run and a task; only one that left its Dag may have a task number of old."""
    tis = len(data["tis"])
    gone, joined = dict(data["gone"]), dict(data["joined"])
    _fit(_wholes(gone, tis) and _texts(gone.values()) and all(gone.values())
         and _wholes(joined, tis) and _wholes(joined.values()), "task instances that left or joined")
    _fit(all(_wholes([run], len(runs)) and _wholes([task, tries])
             and (ti in gone or task < runs[run].plan.n) for ti, (run, task, tries) in enumerate(data["tis"])),
         "task instances and runs")
    _fit(all(data["tis"][ti][:2] == [number, task] for number, run in enumerate(runs) for task, ti in enumerate(run.ti)),
         "task instances and runs")
    _fit(all(_wholes([ti], tis) and _wholes([index, born]) for ti, index, born in data["mapped"]),
         "mapped task instances")
    born = {ti: tick for ti, _, tick in data["mapped"]}
    expanded = [found for run in runs for found in run.instances.values()]
    _fit(all(ti in born for found in expanded for ti in found), "mapped task instances and runs")
    _fit(all(born[ti] >= born[found[0]] for found in expanded for ti in found), "ticks of mapped task instances")
    _fit(len(data["initial"]) == tis and _wholes(data["initial"], len(TABLE)), "initial states and task instances")


def _check_events(data: Mapping[str, Any]) -> None:
    ticks, ends, events = data["tick_no"], data["tick_end"], data["event_ti"]
    _fit(_wholes(ticks) and len(ticks) == len(ends) and all(a < b for a, b in zip(ticks, ticks[1:], strict=False)),
         "ticks")
    _fit(_wholes(ends) and sorted(ends) == ends and (ends[-1] if ends else 0) == len(events), "ticks and events")
    _fit(_wholes(events, len(data["tis"])) and len(data["event_new"]) == len(events)
         and _wholes(data["event_new"], len(TABLE)), "events and task instances")
    causes = dict(data["causes"])
    _fit(_wholes(causes, len(events)) and _texts(causes.values()), "events and causes")


def _check_remarks(data: Mapping[str, Any]) -> None:
    _fit(all(_wholes([tick]) and _texts([dag_id, why]) for tick, dag_id, why in data["pauses"]), "pauses")
    limits = [(LimitName(*limit), tick) for limit, tick in data["capped"]]
    _fit(all(_wholes([tick, 0 if limit.run is None else limit.run]) and _texts(limit[:2])
             for limit, tick in limits), "limits")
    _fit(all(_wholes([tick]) and _wholes([ti], len(data["tis"])) and _texts([what])
             for tick, ti, what in data.get("notes", [])), "notes")
    _fit(all(_wholes([ti], len(data["tis"])) and _wholes([tick, worker])
             and _wholes([executor], len(data["scenario"]["executor"]))
             for ti, tick, executor, worker in data.get("picks", [])), "work picked up")
    cut = data["window_cut"]
    _fit((cut is None or _wholes([cut])) and isinstance(data["overdriven"], list) and _texts(data["overdriven"]),
         "remarks")

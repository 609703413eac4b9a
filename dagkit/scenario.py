"""Everything around the Dags that a simulation needs: pools, scripted outcomes, runs, settings.

>>> Scenario(Dag("d", [Task("a")]), pools={"db": 1}).pools["db"]
Pool(slots=1, include_deferred=False)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import states
from .checks import HUGE, MOST, is_number, listed, names, plain, plain_fields
from .config import DEFAULT_POOL_SLOTS, Config, Pool, Runs
from .dag import Dag
from .errors import DagkitError, choices, nearest, quoted, shown
from .executors import Executors
from .faults import FAULTS
from .keywords import checked
from .task import Task, detached

ACTIONS = ("clear", "pause", "unpause")
"""Changes on the way that are done once, rather than merged into the scenario."""


@checked
@dataclass(frozen=True)
class Scenario:
    """One complete, repeatable situation: ``simulate(scenario)`` always gives the same Trace.

    dags: a Dag or several, in the order that breaks ties. pools: ``{"db": 1}`` or ``{"db": Pool(1)}``.
    outcomes: per label, what each try does: "success", "fail", "fail_hard" (no retry) or "skip"; "success:3"
    also returns a list of 3. Missing entries mean success. durations: per label, ticks instead of the task's.
    runs: a number, a Runs, or a dictionary of either per dag_id. initial: states before the first tick, by label.
    executor, faults: where queued work goes, and what breaks. seed: for whatever is drawn at random.
    changes: ``(tick, {what: new value})``, what a learner changes on the way; see ``Trace.fork``.

    A *label* is ``task`` or ``task[i]``, with ``dag.`` in front and ``@run`` behind where needed (runs count from 0).
    """

    dags: Any
    pools: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[str, Any] = field(default_factory=dict)
    durations: Mapping[str, Any] = field(default_factory=dict)
    executor: Any = None
    config: Config = None  # type: ignore[assignment]
    faults: Sequence[Any] = ()
    runs: Any = 1
    initial: Mapping[str, str] | None = None
    seed: int = 0
    changes: Sequence[tuple[int, Mapping[str, Any]]] = ()

    def __post_init__(self) -> None:
        fix = object.__setattr__
        plain_fields(self)
        fix(self, "dags", _dags(self.dags))
        fix(self, "config", Config() if self.config is None else self.config)
        if not isinstance(self.config, Config):
            raise DagkitError(f"config must be a dk.Config, not {quoted(self.config)}. Write dk.Config(parallelism=4).")
        fix(self, "pools", _pools(self.pools, self.config))
        fix(self, "runs", _runs(self.runs, self.dags))
        fix(self, "outcomes", {label: _outcomes(label, script) for label, script in _mapping("outcomes", self.outcomes)})
        fix(self, "durations", {label: _duration(label, d) for label, d in _mapping("durations", self.durations)})
        initial = dict(_mapping("initial", {} if self.initial is None else self.initial))
        for state in initial.values():
            states.code(state)
        fix(self, "initial", initial)
        if type(self.seed) is not int or abs(self.seed) >= HUGE:
            raise DagkitError(f"seed must be a whole number, not {quoted(self.seed)}. Any from 0 to 2**63 - 1 will do.")
        fix(self, "faults", _faults(self.faults))
        fix(self, "executor", Executors.of(self.executor))
        for dag in self.dags:
            self.executor.check(dag)
        fix(self, "changes", _changes(self.changes))
        now, kept = self, []
        for tick, change in self.changes:             # each is checked against what those before it have made
            now = now.merged({name: value for name, value in change.items() if name not in ACTIONS})
            kept.append((tick, _normalised(change, now)))
        fix(self, "changes", tuple(kept))

    @property
    def dag(self) -> Dag:
        """The only Dag of the scenario; raises if there are several."""
        if len(self.dags) != 1:
            raise DagkitError(f"this scenario holds {len(self.dags)} Dags, so name one: "
                              f"{choices(d.dag_id for d in self.dags)}. Write dags[0] for the first.")
        return self.dags[0]

    def replace(self, **changes: Any) -> Scenario:
        """A copy with some arguments changed; ``dag=`` stands for ``dags=``."""
        if "dag" in changes:
            changes["dags"] = changes.pop("dag")
        if "dags" in changes and "runs" not in changes:
            kept = {dag.dag_id for dag in _dags(changes["dags"])}
            changes["runs"] = {dag_id: runs for dag_id, runs in self.runs.items() if dag_id in kept}
        return dataclasses.replace(self, **changes)

    def merged(self, change: Mapping[str, Any]) -> Scenario:
        """The scenario after a change on the way: pools, outcomes and durations are merged, a Dag is swapped by id."""
        known = ("pools", "outcomes", "durations", "config", "dag", "tasks")
        new: dict[str, Any] = {}
        for name, value in change.items():
            if name not in known:
                raise DagkitError(f"change: '{shown(name)}' cannot be changed on the way.{nearest(name, known)} "
                                  f"Known: {choices((*known, *ACTIONS))}.")
            if name in ("pools", "outcomes", "durations"):
                new[name] = {**getattr(self, name), **dict(_mapping(name, value))}
            elif name == "config":
                if not isinstance(value, Config):
                    raise DagkitError(f"change: config must be a dk.Config, not {quoted(value)}. "
                                      "Write dk.Config(parallelism=4).")
                for fixed in ("pacing", "schedulers"):
                    if getattr(value, fixed) != getattr(self.config, fixed):
                        raise DagkitError(f"change: {fixed} cannot be changed on the way, from "
                                          f"{quoted(getattr(self.config, fixed))} to {quoted(getattr(value, fixed))}. "
                                          "Simulate a scenario of its own, or use a fault such as dk.LoseScheduler.")
                new[name] = value
            else:
                new["dags"] = self._with_dags(new.get("dags", self.dags), name, value)
        return dataclasses.replace(self, changes=(), **new)

    def _with_dags(self, dags: Sequence[Dag], name: str, value: Any) -> tuple[Dag, ...]:
        """``dag``: a new definition. ``tasks``: ``{task_id: {parameter: value}}``, edits of single tasks."""
        if name == "dag":
            if not isinstance(value, Dag):
                raise DagkitError(f"change: dag must be a dk.Dag (the new definition), not {quoted(value)}. "
                                  "Declare the changed Dag first.")
            ids = [dag.dag_id for dag in dags]
            if value.dag_id not in ids:
                raise DagkitError(f"change: no Dag is called '{shown(value.dag_id)}'.{nearest(value.dag_id, ids)}")
            return tuple(value if dag.dag_id == value.dag_id else dag for dag in dags)
        edited = list(dags)
        for task_id, parameters in _mapping("tasks", value):
            places = [i for i, dag in enumerate(edited) if task_id in dag]
            if not places:
                known = [known_id for dag in edited for known_id in dag.tasks]
                raise DagkitError(f"change: tasks: no Dag has a task '{shown(task_id)}'.{nearest(task_id, known)} "
                                  f"Known: {choices(known)}.")
            if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
                raise DagkitError(f"change: tasks['{shown(task_id)}'] must be a dictionary of parameters, "
                                  f"not {quoted(parameters)}. Write {{'duration': 3}}.")
            for i in places:
                edited[i] = edited[i].replace(task_id, **parameters)
        return tuple(edited)


def _mapping(what: str, given: Any) -> Iterable[tuple[str, Any]]:
    key = {"pools": "pool name", "tasks": "task id"}.get(what, "task label")
    if not isinstance(given, Mapping):
        raise DagkitError(f"{what} must be a dictionary keyed by {key}, not {type(given).__name__}. Write {what}={{...}}.")
    for label in given if what != "pools" else ():         # pool names are checked with their pools
        if not isinstance(label, str):
            raise DagkitError(f"{what}: the {key} {quoted(label)} must be text. Put it in quotes.")
    return given.items()


def _faults(given: Any) -> tuple[Any, ...]:
    faults = listed("scenario", "faults", given, "Write faults=[dk.LoseWorker(tick=5, task='load')].")
    for fault in faults:
        if not isinstance(fault, FAULTS):
            raise DagkitError(f"faults: {quoted(fault)} is not a fault. Known: {choices(f.__name__ for f in FAULTS)}.")
    return faults


def _changes(given: Any) -> tuple[tuple[int, Mapping[str, Any]], ...]:
    """In order of time; changes of one tick in the order given."""
    changes = []
    for change in listed("scenario", "changes", given, "Write changes=[(3, {'pools': {'db': 2}})]."):
        if not isinstance(change, (tuple, list)) or len(change) != 2 or not isinstance(change[1], Mapping):
            raise DagkitError("changes must be pairs of a tick and a dictionary, such as (3, {'pools': {'db': 2}}), "
                              f"not {quoted(change)}. The tick comes first.")
        tick = plain(change[0])
        if type(tick) is not int or tick < 1:
            raise DagkitError(f"changes: a change needs a tick >= 1, not {quoted(change[0])}. The first tick is 1.")
        changes.append((tick, change[1]))
    return tuple(sorted(changes, key=lambda c: c[0]))


def _normalised(change: Mapping[str, Any], after: Scenario) -> dict[str, Any]:
    """A change that ``merged`` has accepted, in the types the rest of the kit (and JSON) counts on."""
    new = dict(change)
    for name in ACTIONS:
        if name in new:
            new[name] = names("change", name, new[name])
    for name in ("outcomes", "durations"):
        if name in new:
            new[name] = {label: getattr(after, name)[label] for label in new[name]}
    if "pools" in new:
        new["pools"] = {name: plain(pool) for name, pool in new["pools"].items()}
    if "tasks" in new:
        tasks = {task_id: detached(task_id, parameters) for task_id, parameters in new["tasks"].items()}
        new["tasks"] = {task_id: {name: getattr(tasks[task_id], name) for name in parameters}
                        for task_id, parameters in new["tasks"].items()}
    return new


def _dags(given: Any) -> tuple[Dag, ...]:
    dags = (given,) if isinstance(given, Dag) else tuple(given) if isinstance(given, (list, tuple)) else (given,)
    seen: set[str] = set()
    for dag in dags:
        if not isinstance(dag, Dag):
            raise DagkitError(f"simulate needs a Dag or a list of Dags, not {type(dag).__name__}. Write dk.Dag(...).")
        if dag.dag_id in seen:
            raise DagkitError(f"two Dags are called '{shown(dag.dag_id)}'. Dag ids must be unique; rename one.")
        seen.add(dag.dag_id)
        if not dag.closed:
            dag.close()
    return dags


def _pools(given: Any, config: Any) -> dict[str, Pool]:
    pools = {}
    for name, pool in _mapping("pools", given):
        if type(name) is not str or not name:
            raise DagkitError(f"pool name {quoted(name)} must be non-empty text. Put it in quotes.")
        if not isinstance(pool, Pool):
            pool = plain(pool)
            if type(pool) is not int or not -1 <= pool < HUGE:
                raise DagkitError(f"pool '{shown(name)}': slots must be a whole number >= 0, or -1 for unlimited, "
                                  f"or a dk.Pool, not {quoted(pool)}. Write 2, for example.")
            pool = Pool(pool)
        pools[name] = pool
    pools.setdefault("default_pool", Pool(config.default_pool_slots))
    return pools


def _runs(given: Any, dags: Sequence[Dag]) -> dict[str, Runs]:
    per_dag = given if isinstance(given, Mapping) else {dag.dag_id: given for dag in dags}
    known = [dag.dag_id for dag in dags]
    runs = {}
    for dag_id, value in per_dag.items():
        if dag_id not in known:
            raise DagkitError(f"runs: no Dag is called '{shown(dag_id)}'.{nearest(dag_id, known)} Known: {choices(known)}.")
        if not isinstance(value, Runs):
            value = plain(value)
            if type(value) is not int or value < 0:
                raise DagkitError(f"runs must be a whole number >= 0 or a dk.Runs, not {quoted(value)}. Write runs=3.")
            value = Runs(value)
        runs[dag_id] = value
    return {dag_id: runs.get(dag_id, Runs()) for dag_id in known}


OUTCOMES = ("success", "fail", "fail_hard", "skip")


def _outcomes(label: str, script: Any) -> tuple[str, ...]:
    entries = (script,) if isinstance(script, str) else tuple(script) if isinstance(script, (list, tuple)) else None
    if entries is None:
        raise DagkitError(f"outcomes['{shown(label)}'] must be a list with one entry per try, not {quoted(script)}. "
                          "Write ['fail', 'success'].")
    for entry in entries:
        word, colon, length = entry.partition(":") if isinstance(entry, str) else ("", "", "")
        if word == "success" and length.isdecimal() and (len(length) > 4000 or int(length) > MOST):
            raise DagkitError(f"outcomes['{shown(label)}']: '{shown(entry)}' returns a list longer than {MOST}. "
                              "Return a shorter one.")
        if word not in OUTCOMES or (colon and not (word == "success" and length.isdecimal())):
            raise DagkitError(f"outcomes['{shown(label)}']: '{shown(entry)}' is not an outcome."
                              f"{nearest(word, OUTCOMES)} Known: {choices(OUTCOMES)}, success:N.")
    return entries


def _duration(label: str, value: Any) -> int:
    return ticks(value, f"durations['{shown(label)}']")


def ticks(value: Any, what: str) -> int:
    """A duration the simulator can use: a whole number of ticks >= 1."""
    if is_number(value) and value == int(value) and value >= 1:
        return int(value)
    raise DagkitError(f"{what} must be a whole number of ticks >= 1 to be simulated, not {quoted(value)}. "
                      "Choose a smaller unit and round up.")


def as_scenario(dag_or_dags_or_scenario: Any, **changes: Any) -> Scenario:
    """What ``simulate`` was given, as one Scenario."""
    if isinstance(dag_or_dags_or_scenario, Scenario):
        return dag_or_dags_or_scenario.replace(**changes) if changes else dag_or_dags_or_scenario
    return Scenario(dag_or_dags_or_scenario, **changes)


__all__ = ["ACTIONS", "Config", "DEFAULT_POOL_SLOTS", "Dag", "Pool", "Runs", "Scenario", "Task", "as_scenario", "ticks"]

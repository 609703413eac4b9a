"""Design: everything a learner declares about the deployment, checked in one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..checks import names, plain_fields, whole
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..executors import Executor, Executors, LocalExecutor
from ..keywords import checked
from ..scenario import Config, Pool
from . import facts, world

KNOBS = ("pool", "pool_slots", "priority_weight", "queue", "executor", "max_active_tis_per_dag")
"""What can be declared for a task: Airflow's names."""
ROLES = ("schedulers", "triggerers", "processors")


@checked
@dataclass(frozen=True)
class Design:
    """A deployment on paper. As it is made without arguments, it is what Airflow does by itself.

    pools: ``{"source": 20}``. tasks: by task id, Airflow's parameters: ``{"extract": {"pool": "source",
    "priority_weight": 5}}``; see KNOBS and ``world.TASKS``. max_active_runs, max_active_tasks: a number for all Dags, or
    by kind of Dag ``{"short": 2}`` (the rest keeps 16). executors: by name, the first is the default; together at most
    CPU_SLOTS places besides the two GPU machines. parallelism: [core], of each scheduler. schedulers, triggerers,
    processors: the machine of each, from HOSTS. parsing_processes, dag_file_processor_timeout: [dag_processor].
    stored: what lies where, see ``facts.ITEMS``. metrics: what is watched, see ``facts.METRICS``.

    Raises DagkitError with one sentence for whatever does not exist or cannot be.

    >>> Design().schedulers, Design(pools={"source": 20}, tasks={"extract": {"pool": "source"}}).pool_of("extract")
    (('host-a',), 'source')
    >>> Design(tasks={"extrakt": {}})
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: design: there is no task 'extrakt'. Did you mean 'extract'? Known: read, publish, ...
    """

    pools: Mapping[str, int] = field(default_factory=dict)
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    max_active_runs: Any = 16
    max_active_tasks: Any = 16
    executors: Any = None
    parallelism: int = 32
    schedulers: Any = ("host-a",)
    triggerers: Any = ("host-a",)
    processors: Any = ("host-a",)
    parsing_processes: int = 2
    dag_file_processor_timeout: int = 50
    stored: Mapping[str, str] = field(default_factory=dict)
    metrics: Any = ()

    def __post_init__(self) -> None:
        fix = object.__setattr__
        plain_fields(self)
        for role in ROLES:
            fix(self, role, _hosts(role, getattr(self, role)))
        for name in ("parallelism", "parsing_processes", "dag_file_processor_timeout"):
            whole("design", name, getattr(self, name), 1)
        fix(self, "pools", _pools(self.pools))
        fix(self, "executors", _executors(self.executors))
        fix(self, "tasks", {task_id: self._knobs(task_id, knobs) for task_id, knobs in _items("tasks", self.tasks)})
        for name in ("max_active_runs", "max_active_tasks"):
            fix(self, name, _by_kind(name, getattr(self, name)))
        fix(self, "stored", _stored(self.stored))
        fix(self, "metrics", names("design", "metrics", self.metrics))
        for metric in self.metrics:
            _known("metric", metric, facts.METRICS, 20)
        self._afford()

    def _knobs(self, task_id: str, knobs: Any) -> dict[str, Any]:
        _known("task", task_id, world.TASKS, 20)
        for name, value in _items(f"tasks['{task_id}']", knobs):
            if name not in KNOBS:
                raise DagkitError(f"design: task '{task_id}': '{shown(name)}' cannot be declared here."
                                  f"{nearest(name, KNOBS)} Known: {choices(KNOBS)}.")
            if name == "pool" and value not in (*self.pools, "default_pool"):
                raise DagkitError(f"design: task '{task_id}': pool {quoted(value)} is not declared."
                                  f"{nearest(value, self.pools)} Add it to pools=; in an unknown pool nothing runs.")
            if name == "executor" and value not in self.executors.by_name:
                raise DagkitError(f"design: task '{task_id}': executor {quoted(value)} is not configured."
                                  f"{nearest(value, self.executors.by_name)} Known: {choices(self.executors.by_name)}.")
        return dict(knobs)

    def _afford(self) -> None:
        gpus = [w.name for _, w in self.workers() if w.name.startswith("gpu-")]
        for name in gpus:
            if name not in world.GPUS or gpus.count(name) > 1:
                raise DagkitError(f"design: worker '{shown(name)}' has no machine: there are {choices(world.GPUS)}, "
                                  "with one worker each. Rename it or leave it out.")
        used = self.cpu_slots
        if used > world.CPU_SLOTS:
            said = "no end of" if used > 10**6 else f"{used}"
            raise DagkitError(f"design: executors have {said} places besides the GPU machines; there is money for "
                              f"{world.CPU_SLOTS}. Give fewer workers, or a smaller max_pods or parallelism.")

    def pool_of(self, task_id: str) -> str:
        """The pool a task names, or default_pool."""
        return str(self.tasks.get(task_id, {}).get("pool", "default_pool"))

    def executor_of(self, task_id: str) -> str:
        """The name of the executor a task goes to."""
        return str(self.executors.name_of(self.tasks.get(task_id, {}).get("executor")))

    @property
    def config(self) -> Config:
        """Airflow's settings, in ticks of ten seconds."""
        def ticks(seconds: int) -> int:
            return seconds // world.TICK_SECONDS
        return Config(tick_seconds=world.TICK_SECONDS, parallelism=self.parallelism, schedulers=len(self.schedulers),
                      triggerers=len(self.triggerers), scheduler_health_check_threshold=ticks(30),
                      task_queued_timeout=ticks(600), task_queued_timeout_check_interval=ticks(120),
                      task_instance_heartbeat_timeout=ticks(300), task_instance_heartbeat_timeout_detection_interval=1)

    def workers(self) -> list[tuple[str, Any]]:
        """(name of the executor, worker) of all that have standing workers, pods or jobs counted as one each."""
        return [(name, worker) for name, executor in self.executors.by_name.items()
                for worker in executor.staff(self.config) or ()]

    @property
    def cpu_slots(self) -> int:
        """Places for anything but a training. An executor of pods for trainings alone uses GPU nodes, and is not counted.

        >>> Design().cpu_slots
        32
        """
        only_gpu = self.executor_of(world.GPU_TASK)
        if any(self.executor_of(task_id) == only_gpu for task_id in world.TASKS if task_id != world.GPU_TASK):
            only_gpu = ""
        total = 0
        for name, executor in self.executors.by_name.items():
            staff = executor.staff(self.config)
            if staff is None:
                total += int(min(executor.slots(self.config), 10**9))
            elif not (executor.own_image and name == only_gpu):
                total += sum(w.concurrency for w in staff if not w.name.startswith("gpu-"))
        return total


def _items(what: str, given: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        raise DagkitError(f"design: {what} must be a dictionary, not {quoted(given)}. Write {what}={{...}}.")
    return given.items()


def _known(what: str, name: Any, known: Iterable[str], most: int = 8) -> None:
    if not isinstance(name, str) or name not in known:
        raise DagkitError(f"design: there is no {what} {quoted(name)}.{nearest(name, known)} "
                          f"Known: {choices(known, most)}.")


def _hosts(role: str, given: Any) -> tuple[str, ...]:
    found = names("design", role, given)
    if not found:
        raise DagkitError(f"design: {role} must name at least one machine, not none. Write {role}=['host-a'].")
    for host in found:
        _known("machine", host, world.HOSTS)
    return found


def _pools(given: Any) -> dict[str, int]:
    for name, slots in _items("pools", given):
        if not isinstance(name, str) or not name:
            raise DagkitError(f"design: a pool is named by text, not by {quoted(name)}. Put a name in quotes.")
        Pool(slots)
    return dict(given)


def _executors(given: Any) -> Executors:
    found = Executors.of(LocalExecutor() if given is None else given)
    for name, executor in found.by_name.items():
        if not isinstance(executor, Executor) or len(name) > 100:
            raise DagkitError(f"design: executor '{shown(name)}' needs a shorter name. At most 100 characters will do.")
    return found


def _by_kind(name: str, given: Any) -> dict[str, int]:
    """A number for every kind of Dag; what is not named keeps Airflow's 16."""
    chosen = dict.fromkeys(world.KINDS, given) if type(given) is int else dict(_items(name, given))
    for kind, number in chosen.items():
        _known("kind of Dag", kind, world.KINDS)
        whole("design", f"{name} of {kind}", number, 1)
    return {kind: chosen.get(kind, 16) for kind in world.KINDS}


def _stored(given: Any) -> dict[str, str]:
    for item, place in _items("stored", given):
        _known("item to store", item, facts.ITEMS)
        _known("place to store", place, facts.STORES)
    return dict(given)

"""Drives one real Dag run tick by tick and writes down what the scheduler did.

A tick is one `DagRun.update_state` and one `schedule_tis` of what it returned. Every attempt scheduled in a
tick starts at once and ends after that tick's pass if its duration is 1, `d - 1` ticks later if it is d.
Attempts that end in the same tick are applied in the order of task id, then map index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from airflow.models.dagbag import DBDagBag
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance, clear_task_instances
from airflow.sdk import DAG
from airflow.sdk.definitions.mappedoperator import MappedOperator
from airflow.utils.state import DagRunState
from sqlalchemy import select, update

from airflow_check.worker import end_attempt, start_attempt

Key = tuple[str, int]
LARGE = 100  # from this many task instances on, counts are recorded instead of names
TICK_LIMIT = 5000


def label(key: Key) -> str:
    """`("m", 2)` is written m[2], and an unmapped or unexpanded instance by its task id alone."""
    return key[0] if key[1] < 0 else f"{key[0]}[{key[1]}]"


@dataclass
class Recorder:
    """One run under observation. `outcome` gives the scripted outcome of an attempt, `duration` its ticks."""

    run: DagRun
    dag: DAG
    session: Any
    outcome: Callable[[Key, int], str]
    duration: Callable[[Key], int]
    ticks: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    running: dict[Key, tuple[int, Any]] = field(default_factory=dict)  # key -> (tick it ends in, run context)

    def __post_init__(self) -> None:
        self.bag = DBDagBag()

    def force(self, states: dict[str, str]) -> None:
        """Put task instances in a state before the first tick."""
        for task_id, state in states.items():
            self.session.execute(self._rows(update(TaskInstance), task_id).values(state=state))
        self.session.commit()

    def finish(self) -> None:
        """Tick until the run is decided or nothing can ever change."""
        for _ in range(TICK_LIMIT):
            if self._tick():
                return
        raise RuntimeError(f"the run was not decided after {TICK_LIMIT} ticks")

    def clear(self, task_ids: list[str]) -> None:
        """Clear the named tasks, all their instances, and let the run start again."""
        query = self._rows(select(TaskInstance)).where(TaskInstance.task_id.in_(task_ids))
        clear_task_instances(list(self.session.scalars(query)), self.session)
        self.run.state = DagRunState.RUNNING
        self.session.commit()
        self.ticks.append({"cleared": list(task_ids)})

    def snapshot(self) -> dict[Key, tuple[str | None, int]]:
        """State and try number of every task instance of the run."""
        columns = (TaskInstance.task_id, TaskInstance.map_index, TaskInstance.state, TaskInstance.try_number)
        rows = self.session.execute(self._rows(select(*columns)))
        return {(task_id, index): (state, tries) for task_id, index, state, tries in rows}

    def _rows(self, query: Any, task_id: str | None = None) -> Any:
        query = query.where(TaskInstance.dag_id == self.run.dag_id, TaskInstance.run_id == self.run.run_id)
        return query if task_id is None else query.where(TaskInstance.task_id == task_id)

    def _tick(self) -> bool:
        before = self.snapshot()
        keys = self._pass()
        tick: dict[str, Any] = {"sched": _shortened([label(key) for key in sorted(keys)])}
        tick |= _changes(before, self.snapshot())
        self.ticks.append(tick)
        if self.run.state != DagRunState.RUNNING:
            return True
        for key in sorted(keys):
            self._start(key)
        if not self.running and not tick.get("set") and not keys and not _retries(self.snapshot()):
            tick["stuck"] = True
            return True
        tick["end"] = self._end_attempts(tick)
        return False

    def _pass(self) -> list[Key]:
        ready, _callback = self.run.update_state(session=self.session, execute_callbacks=False)
        keys = [(ti.task_id, ti.map_index) for ti in ready]
        self.run.schedule_tis(ready, session=self.session)
        self.session.commit()
        return keys

    def _start(self, key: Key) -> None:
        ti = self._instance(key)
        if ti.state != "scheduled":
            return  # an empty operator, or one that the same pass removed
        told = start_attempt(ti, self.session, self.bag)
        self.running[key] = (len(self.ticks) - 1 + self.duration(key), told)

    def _end_attempts(self, tick: dict[str, Any]) -> dict[str, Any]:
        done = sorted(key for key, (end, _) in self.running.items() if end == len(self.ticks))
        ended: dict[str, Any] = {}
        for key in done:
            _, told = self.running.pop(key)
            ti = self._instance(key)
            if ti.state != "running":
                continue  # stopped meanwhile, by fail_fast: a worker learns that from its heartbeat
            skipped = self._end(ti, key, told)
            if skipped is not None:
                tick.setdefault("skip_call", []).append([label(key), skipped])
            ended[label(key)] = self._instance(key).state
        return ended if len(ended) < LARGE else {"count": len(ended)}

    def _end(self, ti: TaskInstance, key: Key, told: Any) -> list[str] | None:
        task = self.dag.get_task(key[0])
        mapped = isinstance(task, MappedOperator)
        if isinstance(task, MappedOperator):
            task = task.unmap(dict.fromkeys(task.expand_input.value, key[1]))
        outcome = self.outcome(key, ti.try_number)
        skipped, notes = end_attempt(ti, task, mapped, told, outcome, self.session, self.bag)
        self.notes += [f"{label(key)}: {note}" for note in notes]
        return skipped

    def _instance(self, key: Key) -> TaskInstance:
        query = self._rows(select(TaskInstance), key[0]).where(TaskInstance.map_index == key[1])
        found: TaskInstance = self.session.scalars(query.execution_options(populate_existing=True)).one()
        return found


def _retries(states: dict[Key, tuple[str | None, int]]) -> bool:
    return any(state == "up_for_retry" for state, _ in states.values())


def _shortened(labels: list[str]) -> list[str]:
    return labels if len(labels) < LARGE else [f"{len(labels)} tis", *labels[:2]]


def _changes(before: dict[Key, Any], after: dict[Key, Any]) -> dict[str, Any]:
    """What the pass itself wrote: states it set, and tasks whose number of indexed instances changed."""
    found = {key: state for key, (state, _) in after.items() if state not in (None, "scheduled")}
    changed = {label(key): found[key] for key in sorted(found) if found[key] != before.get(key, (None, 0))[0]}
    counts = [Counter(task_id for task_id, index in rows if index >= 0) for rows in (before, after)]
    grown = {task_id: n for task_id, n in sorted(counts[1].items()) if n != counts[0][task_id]}
    return ({"expanded": grown} if grown else {}) | ({"set": changed} if changed else {})

"""Records selection.json: one real critical section over task instances put in place by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from airflow.executors.base_executor import BaseExecutor
from airflow.executors.executor_utils import ExecutorName
from airflow.jobs.job import Job
from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.pool import Pool
from airflow.models.taskinstance import TaskInstance
from sqlalchemy import delete, update

from airflow_check import dags

UTC = dags.UTC


class HeldExecutor(BaseExecutor):
    """An executor that already holds some work and only collects what it is handed."""

    def __init__(self, name: str, parallelism: int, occupied: int) -> None:
        super().__init__(parallelism=parallelism)
        self.name = ExecutorName(module_path=f"recorded.{name}", alias=name)
        self.held = occupied

    @property
    def slots_occupied(self) -> int:
        return self.held

    @property
    def slots_available(self) -> int:
        return self.parallelism - self.held

    def queue_workload(self, workload: Any, session: Any) -> None:
        """Taking it is enough; nothing runs."""


def record_selection(case: dict[str, Any], session: Any) -> dict[str, Any]:
    """Which task instances one pass picks: indexes into the case's `tis`, in the order of picking."""
    _set_pools(case["pools"], session)
    stored = {dag_id: _store_dag(dag_id, spec, session) for dag_id, spec in case["dags"].items()}
    for run in case["runs"]:
        _create_run(run, stored[run["dag"]], session)
    for spec in case["tis"]:
        _add_instance(spec, stored[spec["dag"]], session)
    session.commit()
    session.expunge_all()
    picked = _critical_section(case, session)
    where = {_key(spec): index for index, spec in enumerate(case["tis"])}
    return {"effective_max_tis": effective_max_tis(case), "queued": [where[key] for key in picked]}


def effective_max_tis(case: dict[str, Any]) -> int:
    """The budget of the pass before free pool slots are looked at (what the real method computes first)."""
    room = case["parallelism"] - sum(executor["occupied"] for executor in case["executors"])
    return min(case["max_tis_per_query"] or room, room)


def _critical_section(case: dict[str, Any], session: Any) -> list[tuple[str, str, str, int]]:
    executors: list[BaseExecutor] = [HeldExecutor(**executor) for executor in case["executors"]]
    if sum(executor.slots_available for executor in executors) <= 0:
        return []  # _do_scheduling does not enter the section then
    job = Job()
    session.add(job)
    session.flush()
    runner = SchedulerJobRunner(job, executors=executors)
    runner._parallelism = case["parallelism"]
    job.max_tis_per_query = case["max_tis_per_query"]
    picked: list[tuple[str, str, str, int]] = []
    choose = runner._executable_task_instances_to_queued

    def watched(max_tis: int, session: Any) -> Any:
        chosen = choose(max_tis, session=session)
        picked.extend((ti.dag_id, ti.run_id, ti.task_id, ti.map_index) for ti in chosen)
        return chosen

    runner._executable_task_instances_to_queued = watched
    count = runner._critical_section_enqueue_task_instances(session=session)
    if count != len(picked):
        raise RuntimeError(f"the critical section reported {count} but picked {len(picked)}")
    return picked


def _set_pools(pools: dict[str, dict[str, Any]], session: Any) -> None:
    session.execute(delete(Pool))
    for name, spec in pools.items():
        deferred = spec.get("include_deferred", False)
        session.add(Pool(pool=name, slots=spec["slots"], description="", include_deferred=deferred))
    session.commit()


def _store_dag(dag_id: str, spec: dict[str, Any], session: Any) -> Any:
    tasks = {task_id: {"upstream": [], **limits} for task_id, limits in spec["tasks"].items()}
    stored = dags.store(dags.build_dag(dag_id, tasks, max_active_tasks=spec["max_active_tasks"]), session)
    paused = spec.get("paused", False)
    session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=paused))
    return stored


def _create_run(spec: dict[str, Any], dag: Any, session: Any) -> None:
    when = datetime.fromisoformat(spec["logical_date"]).replace(tzinfo=UTC)
    run = dags.create_run(dag, session, run_id=spec["run"], when=when)
    session.execute(
        delete(TaskInstance).where(TaskInstance.dag_id == spec["dag"], TaskInstance.run_id == spec["run"])
    )
    session.execute(update(DagRun).where(DagRun.id == run.id).values(state=spec.get("state", "running")))


def _add_instance(spec: dict[str, Any], dag: Any, session: Any) -> None:
    state = spec.get("state", "scheduled")
    version = dags.latest_version(spec["dag"], session)
    index = spec.get("map_index", -1)
    ti = TaskInstance(
        dag.get_task(spec["task"]), version, spec["run"], None if state == "none" else state, index
    )
    ti.priority_weight = spec["priority_weight"]
    ti.pool = spec.get("pool", "default_pool")
    ti.pool_slots = spec.get("pool_slots", 1)
    ti.executor = spec.get("executor")
    session.add(ti)


def _key(spec: dict[str, Any]) -> tuple[str, str, str, int]:
    return spec["dag"], spec["run"], spec["task"], spec.get("map_index", -1)

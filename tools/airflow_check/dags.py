"""Builds real Airflow Dags from the plain dictionaries of a case, and creates real runs of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.models.dagrun import DagRun
from airflow.models.serialized_dag import SerializedDagModel
from airflow.providers.standard.operators.python import ShortCircuitOperator
from airflow.sdk import DAG, BaseOperator
from airflow.sdk.bases.branch import BaseBranchOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from airflow.serialization.definitions.dag import SerializedDAG
from airflow.serialization.serialized_objects import DagSerialization, LazyDeserializedDAG
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType, DagRunType

from airflow_check.home import BUNDLE

START = datetime(2026, 1, 1, tzinfo=UTC)
PASSED_ON = ("depends_on_past", "wait_for_downstream", "max_active_tis_per_dag", "max_active_tis_per_dagrun",
             "priority_weight", "weight_rule", "pool", "pool_slots", "executor")  # fmt: skip


class Script:
    """What the next attempt of a task instance to end will do, by (task id, map index)."""

    next_outcome: dict[tuple[str, int], str] = {}


def act(context: Any) -> Any:
    """Do what the script says for this attempt: raise as a user's code would, or return a value."""
    ti = context["ti"]
    index = -1 if ti.map_index is None else ti.map_index
    outcome, _, length = Script.next_outcome[(ti.task_id, index)].partition(":")
    if outcome == "fail":
        raise AirflowException("scripted failure")
    if outcome == "fail_hard":
        raise AirflowFailException("scripted failure without retry")
    if outcome == "skip":
        raise AirflowSkipException("scripted skip")
    if outcome != "success":
        raise ValueError(f"unknown scripted outcome {outcome!r}")
    if length:
        return list(range(int(length)))
    return index if index >= 0 else None


class Scripted(BaseOperator):
    """An ordinary task; `x` and `y` exist to be mapped over."""

    def __init__(self, *, x: Any = None, y: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.x, self.y = x, y

    def execute(self, context: Any) -> Any:
        return act(context)


class ScriptedBranch(BaseBranchOperator):
    """A branch that follows a fixed list of its children."""

    def __init__(self, *, follow: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.follow = follow

    def choose_branch(self, context: Any) -> list[str]:
        act(context)
        return self.follow


class ScriptedShortCircuit(ShortCircuitOperator):
    """A short circuit whose condition is false (the hard kind unless told otherwise)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(python_callable=lambda: False, **kwargs)

    def execute(self, context: Any) -> Any:
        act(context)
        return super().execute(context)


def operator_for(task_id: str, spec: dict[str, Any], **extra: Any) -> Any:
    """The real operator for one task of a case (not yet wired to its upstream)."""
    kwargs: dict[str, Any] = {
        "task_id": task_id,
        "retries": spec.get("retries", 0),
        "retry_delay": timedelta(0),
    }
    kwargs["trigger_rule"] = spec.get("trigger_rule", "all_success")
    kwargs |= {name: spec[name] for name in PASSED_ON if name in spec} | extra
    if "branch_follow" in spec:
        return ScriptedBranch(follow=list(spec["branch_follow"]), **kwargs)
    if spec.get("short_circuit"):
        return ScriptedShortCircuit(**kwargs)
    task = Scripted(**kwargs)
    if spec.get("setup"):
        task.is_setup = True
    if spec.get("teardown"):
        task.is_teardown = True
        task.on_failure_fail_dagrun = bool(spec.get("on_failure_fail_dagrun"))
    return task


def build_dag(dag_id: str, tasks: dict[str, dict[str, Any]], **dag_arguments: Any) -> DAG:
    """A Dag of ordinary tasks with the upstream lists of the case."""
    with DAG(dag_id, schedule=None, start_date=START, **dag_arguments) as dag:
        made = {task_id: operator_for(task_id, spec) for task_id, spec in tasks.items()}
    for task_id, spec in tasks.items():
        for upstream in spec["upstream"]:
            made[upstream] >> made[task_id]
    return dag


def store(dag: DAG, session: Any) -> SerializedDAG:
    """Write the Dag to the database as the Dag processor would, and return the scheduler's copy of it."""
    SerializedDAG.bulk_write_to_db(BUNDLE, None, [dag], session=session)
    SerializedDagModel.write_dag(LazyDeserializedDAG.from_dag(dag), bundle_name=BUNDLE, session=session)
    session.commit()
    stored: SerializedDAG = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    return stored


def create_run(dag: SerializedDAG, session: Any, run_id: str = "r", when: datetime = START) -> DagRun:
    """A running run with all its task instances in state none."""
    run = dag.create_dagrun(
        run_id=run_id,
        logical_date=when,
        data_interval=(when, when),
        run_after=when,
        run_type=DagRunType.MANUAL,
        triggered_by=DagRunTriggeredByType.TEST,
        state=DagRunState.RUNNING,
        start_date=when,
        session=session,
    )
    run.dag = dag
    session.commit()
    return run


def latest_version(dag_id: str, session: Any) -> Any:
    """The id of the Dag's newest version, which every task instance has to carry to be queued."""
    from airflow.models.dag_version import DagVersion

    found = DagVersion.get_latest_version(dag_id, session=session)
    return found.id if found else None

"""Plays the worker: the real task runner, wired straight to the real Execution API functions.

In a real installation a task runner sends its messages to a supervisor, which turns them into HTTP calls to
the API server. Here `Wire.send` calls the functions behind those addresses directly, with the recorder's
database session. Whether a failure is retried, what a branch skips and which list is too long is therefore
decided by Airflow's own code on both sides.
"""

from __future__ import annotations

import logging
import os
import signal
from datetime import UTC, datetime
from typing import Any

from airflow.api_fastapi.execution_api.datamodels import taskinstance as payloads
from airflow.api_fastapi.execution_api.routes import task_instances as ti_routes
from airflow.api_fastapi.execution_api.routes import xcoms as xcom_routes
from airflow.models.taskinstance import TaskInstance
from airflow.sdk.api.datamodels._generated import TIRunContext
from airflow.sdk.execution_time import comms, task_runner
from fastapi import HTTPException
from sqlalchemy import update

from airflow_check.dags import Script


class _Token:
    class claims:
        scope = "execution"


class _ScriptedTI(task_runner.RuntimeTaskInstance):
    """A task instance whose arguments need no rendering: a scripted task never looks at them."""

    def render_templates(self, context: Any = None, jinja_env: Any = None) -> Any:
        return self.task


class Wire:
    """Stands where the supervisor's socket would be."""

    def __init__(self, session: Any, dag_bag: Any, ti_id: Any, notes: list[str]) -> None:
        self.session, self.dag_bag, self.ti_id, self.notes = session, dag_bag, ti_id, notes
        self.skip_call: list[str] | None = None
        self.broken: Exception | None = None

    def send(self, msg: Any) -> Any:
        """Answer one message of the task runner."""
        try:
            return getattr(self, "_" + type(msg).__name__)(msg)
        except HTTPException as refused:
            if refused.status_code == 409:
                self.broken = refused  # the recorder itself broke the order of events
            detail = refused.detail if isinstance(refused.detail, dict) else {"reason": str(refused.detail)}
            name = {"SetXCom": "set_xcom"}.get(type(msg).__name__, type(msg).__name__)
            self.notes.append(f"{name} -> HTTP {refused.status_code} {detail.get('reason')}")
            raise RuntimeError(f"the API server refused: {refused.detail}") from refused
        except Exception as error:
            self.broken = error  # the task runner would take it for a failure of the task
            raise

    def _SetXCom(self, msg: Any) -> Any:
        index = -1 if msg.map_index is None else msg.map_index
        return xcom_routes.set_xcom(
            msg.dag_id, msg.run_id, msg.task_id, msg.key, self.session, msg.value, index, msg.dag_result,
            msg.mapped_length,
        )  # fmt: skip

    def _GetXCom(self, msg: comms.GetXCom) -> comms.XComResult:
        params = xcom_routes.GetXcomFilterParams(map_index=-1 if msg.map_index is None else msg.map_index)
        found = xcom_routes.get_xcom(msg.dag_id, msg.run_id, msg.task_id, msg.key, self.session, params)
        return comms.XComResult(key=msg.key, value=found.value)

    def _DeleteXCom(self, msg: Any) -> Any:
        index = -1 if msg.map_index is None else msg.map_index
        return xcom_routes.delete_xcom(self.session, msg.dag_id, msg.run_id, msg.task_id, msg.key, index)

    def _SetRenderedFields(self, _msg: Any) -> None:
        """Only the UI shows these."""

    def _SkipDownstreamTasks(self, msg: comms.SkipDownstreamTasks) -> None:
        names = [task if isinstance(task, str) else task[0] for task in msg.tasks]
        self.skip_call = sorted(names)
        body = payloads.TISkippedDownstreamTasksStatePayload(tasks=list(msg.tasks))
        ti_routes.ti_skip_downstream(self.ti_id, body, self.session)

    def _SucceedTask(self, msg: comms.SucceedTask) -> None:
        self._report(payloads.TISuccessStatePayload(state="success", end_date=msg.end_date))

    def _TaskState(self, msg: comms.TaskState) -> None:
        state = payloads.TerminalStateNonSuccess(str(msg.state.value))
        self._report(payloads.TITerminalStatePayload(state=state, end_date=msg.end_date))

    def _RetryTask(self, msg: comms.RetryTask) -> None:
        self._report(payloads.TIRetryStatePayload(state="up_for_retry", end_date=msg.end_date))

    def _report(self, body: Any) -> None:
        ti_routes.ti_update_state(self.ti_id, body, self.session, self.dag_bag)


def start_attempt(ti: TaskInstance, session: Any, dag_bag: Any) -> TIRunContext:
    """Take a scheduled task instance over the executor to running; returns what the server tells it."""
    from fastapi import Response

    session.execute(update(TaskInstance).where(TaskInstance.id == ti.id).values(state="queued"))
    body = payloads.TIEnterRunningPayload(
        state="running", hostname="here", unixname="recorder", pid=os.getpid(), start_date=datetime.now(UTC)
    )
    answer = ti_routes.ti_run(ti.id, body, Response(), session, dag_bag, None, _Token())
    text = answer.model_dump_json()
    session.commit()
    return TIRunContext.model_validate_json(text)


def end_attempt(
    ti: TaskInstance, task: Any, mapped: bool, told: TIRunContext, outcome: str, session: Any, dag_bag: Any
) -> tuple[list[str] | None, list[str]]:
    """Let the attempt do what the script says; returns (ids it asked to skip or None, refusals)."""
    Script.next_outcome[(ti.task_id, ti.map_index)] = outcome
    runtime = _ScriptedTI.model_construct(
        id=ti.id, task_id=ti.task_id, dag_id=ti.dag_id, run_id=ti.run_id, try_number=ti.try_number,
        map_index=ti.map_index, dag_version_id=ti.dag_version_id, task=task, bundle_instance=None,
        _ti_context_from_server=told, max_tries=told.max_tries, start_date=datetime.now(UTC),
        state="running", is_mapped=mapped, sentry_integration="",
    )  # fmt: skip
    notes: list[str] = []
    wire = Wire(session, dag_bag, ti.id, notes)
    task_runner.SUPERVISOR_COMMS = wire
    before = signal.getsignal(signal.SIGTERM)
    task_runner.run(runtime, runtime.get_template_context(), logging.getLogger("recorder"))
    signal.signal(signal.SIGTERM, before)  # the task runner made itself deaf to it
    if wire.broken is not None:
        raise wire.broken
    session.commit()
    return wire.skip_call, notes

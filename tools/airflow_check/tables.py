"""Records the three files of small facts: trigger_rules.json, priority_weights.json and retry_delay.json."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from airflow.models.taskinstance import TaskInstance
from airflow.ti_deps.dep_context import DepContext
from airflow.ti_deps.deps.trigger_rule_dep import TriggerRuleDep
from airflow.utils.state import State, TaskInstanceState
from airflow.utils.trigger_rule import TriggerRule
from sqlalchemy import select, update

from airflow_check import dags

Specs = dict[str, dict[str, Any]]


class RuleBench:
    """A stored Dag per shape of a trigger rule question, so that each question only sets states."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.shapes: dict[str, tuple[Any, Any]] = {}

    def verdict(self, specs: Specs, states: dict[str, str], target: str) -> str:
        """What the real rule check says about `target`: run, wait, or the state it wrote."""
        dag, run = self._shape(specs)
        for task_id in specs:
            state = states.get(task_id, "none")
            self.session.execute(
                update(TaskInstance)
                .where(TaskInstance.dag_id == run.dag_id, TaskInstance.task_id == task_id)
                .values(state=None if state == "none" else state)
            )
        self.session.expire_all()
        run.dag = dag
        ti = self._instance(run, target)
        ti.task = dag.get_task(target)
        context = DepContext(flag_upstream_failed=True, finished_tis=self._finished(dag, run))
        statuses = list(TriggerRuleDep().get_dep_statuses(ti, context, session=self.session))
        written = self._instance(run, target).state
        return str(written) if written else "run" if all(s.passed for s in statuses) else "wait"

    def _shape(self, specs: Specs) -> tuple[Any, Any]:
        key = repr(specs)
        if key not in self.shapes:
            dag = dags.store(dags.build_dag(f"rule_{len(self.shapes)}", specs), self.session)
            self.shapes[key] = dag, dags.create_run(dag, self.session)
        return self.shapes[key]

    def _instance(self, run: Any, task_id: str) -> TaskInstance:
        where = (TaskInstance.dag_id == run.dag_id, TaskInstance.task_id == task_id)
        found: TaskInstance = self.session.scalars(select(TaskInstance).where(*where)).one()
        return found

    def _finished(self, dag: Any, run: Any) -> list[TaskInstance]:
        query = select(TaskInstance).where(TaskInstance.dag_id == run.dag_id)
        found = [ti for ti in self.session.scalars(query) if ti.state in State.finished]
        for ti in found:
            ti.task = dag.get_task(ti.task_id)
        return found


def rule_question(case: dict[str, Any]) -> tuple[Specs, dict[str, str], str]:
    """The Dag, the states and the target task that one case of trigger_rules.json describes."""
    kind = case.get("kind", "plain")
    rule = case["rule"]
    if kind == "plain":
        states = {f"u{i}": state for i, state in enumerate(case["upstream"])}
        return _fan_in(states, rule), states, "t"
    if kind == "teardown_direct":
        setups = {f"s{i}": state for i, state in enumerate(case["setups"])}
        states = setups | {f"t{i}": state for i, state in enumerate(case["tasks"])}
        return _fan_in(states, rule, setups=tuple(setups), teardown=True), states, "t"
    if kind == "teardown_scope":
        states = {"s": case["setup"], "a": case["inner_indirect"], "b": case["inner_direct"]}
        specs: Specs = {
            "s": {"upstream": [], "setup": True},
            "a": {"upstream": ["s"]},
            "b": {"upstream": ["a"]},
        }
        return specs | {"t": {"upstream": ["b", "s"], "trigger_rule": rule, "teardown": True}}, states, "t"
    if kind == "indirect_setup":
        states = {"s": case["indirect_setup"], "d": case["direct_task"]}
        specs = {"s": {"upstream": [], "setup": True}, "d": {"upstream": ["s"]}}
        specs["t"] = {"upstream": ["d"], "trigger_rule": rule}
        down = {"upstream": ["s", "t"], "trigger_rule": "all_done_setup_success", "teardown": True}
        return specs | {"td": down}, states, "t"
    raise ValueError(f"unknown kind of trigger rule case: {kind!r}")


def _fan_in(states: dict[str, str], rule: str, setups: tuple[str, ...] = (), teardown: bool = False) -> Specs:
    specs: Specs = {name: {"upstream": [], "setup": name in setups} for name in states}
    return specs | {"t": {"upstream": list(states), "trigger_rule": rule, "teardown": teardown}}


def rule_vocabulary() -> dict[str, Any]:
    """The names this Airflow knows: a release that adds a rule or a state shows up here."""
    return {
        "rules": [rule.value for rule in TriggerRule],
        "ti_states": ["none", *(state.value for state in TaskInstanceState)],
        "finished_states": sorted(str(state.value) for state in State.finished),
    }


def record_weights(case: dict[str, Any], session: Any) -> dict[str, int]:
    """Priority totals of every task, as `create_dagrun` stores them."""
    dag = dags.store(dags.build_dag("weights_" + case["id"], case["tasks"]), session)
    run = dags.create_run(dag, session)
    columns = select(TaskInstance.task_id, TaskInstance.priority_weight)
    rows = session.execute(columns.where(TaskInstance.dag_id == run.dag_id))
    found = {row.task_id: row.priority_weight for row in rows}
    return {task_id: found[task_id] for task_id in case["tasks"]}


def record_retry_rows(dag_id: str, rows: list[dict[str, Any]], session: Any) -> Iterator[dict[str, Any]]:
    """Fill in what the scheduler's copy of each task stores and how long each wait really is."""
    with dags.DAG(dag_id, schedule=None, start_date=dags.START) as dag:
        for row in rows:
            longest = row["max_retry_delay"]
            dags.Scripted(
                task_id=row["task_id"],
                retries=9,
                retry_delay=timedelta(seconds=row["retry_delay"]),
                retry_exponential_backoff=row["backoff"],
                max_retry_delay=None if longest is None else timedelta(seconds=longest),
            )
    stored = dags.store(dag, session)
    run = dags.create_run(stored, session)
    for row in rows:
        yield _retry_row(row, stored.get_task(row["task_id"]), run)


def _retry_row(row: dict[str, Any], task: Any, run: Any) -> dict[str, Any]:
    ti = run.get_task_instance(row["task_id"])
    ti.task, ti.end_date = task, dags.START
    multiplier = task.retry_exponential_backoff
    longest = task.max_retry_delay
    waits = []
    for attempt in row["attempts"]:
        ti.try_number = attempt
        delay = (ti.next_retry_datetime() - dags.START).total_seconds()
        waits.append([attempt, _base(row["retry_delay"], multiplier, attempt), delay])
    kept = {name: value for name, value in row.items() if name != "attempts"}
    stored = None if longest is None else longest.total_seconds()
    return kept | {"stored_multiplier": multiplier, "stored_max_retry_delay": stored, "tries": waits}


def _base(delay: float, multiplier: float, attempt: int) -> float:
    """Not observable from outside: the wait before jitter and caps, by the documented formula."""
    if multiplier in (0, 1):
        return delay
    return max(1, ceil(delay * multiplier ** (attempt - 1)))


def override_delay(seconds: float, dag_id: str, session: Any) -> float:
    """The wait of a task instance whose retry policy asked for `seconds`."""
    dag = dags.store(dags.build_dag(dag_id, {"t": {"upstream": []}}), session)
    ti = dags.create_run(dag, session).get_task_instance("t")
    ti.task, ti.end_date, ti.retry_delay_override = dag.get_task("t"), dags.START, seconds
    found: datetime = ti.next_retry_datetime()
    session.rollback()
    return (found - dags.START).total_seconds()

"""Records the two files about whole runs: dagrun_final_states.json and mapping.json."""

from __future__ import annotations

from collections import Counter
from typing import Any

from airflow.sdk import DAG, task_group
from airflow.sdk.definitions.xcom_arg import XComArg
from airflow.utils.state import DagRunState

from airflow_check import dags
from airflow_check.drive import LARGE, Key, Recorder, label

LITERAL = "literal list of "


def record_final_states(case: dict[str, Any], session: Any) -> dict[str, Any]:
    """Run one Dag of dagrun_final_states.json to its end and fill in the answer fields."""
    tasks = case["tasks"]
    dag = dags.build_dag(f"run_{case['id']}", tasks, fail_fast=case.get("fail_fast", False))
    run = dags.create_run(dags.store(dag, session), session)

    def outcome(key: Key, attempt: int) -> str:
        return nth(tasks[key[0]]["outcomes"], attempt)

    recorder = Recorder(run, dag, session, outcome, lambda key: tasks[key[0]].get("duration", 1))
    recorder.force(case.get("initial", {}))
    recorder.finish()
    end = recorder.snapshot()
    return {
        "final": {task_id: end[task_id, -1][0] or "none" for task_id in tasks},
        "tries": {task_id: end[task_id, -1][1] for task_id in tasks},
        "dag_run_state": DagRunState(run.state).value,
        "n_ticks": len(recorder.ticks),
        "ticks": recorder.ticks,
    }


def record_mapping(case: dict[str, Any], session: Any) -> dict[str, Any]:
    """Run one Dag of mapping.json to its end, with its rerun if it has one."""
    dag = _mapped_dag("map_" + case["name"], case["dag"])
    run = dags.create_run(dags.store(dag, session), session)
    script = dict(case["script"])
    start: dict[Key, int] = {}

    def outcome(key: Key, attempt: int) -> str:
        outcomes = script.get(label(key)) or script.get(key[0]) or ["success"]
        return nth(outcomes, attempt - start.get(key, 0))

    recorder = Recorder(run, dag, session, outcome, lambda key: 1)
    recorder.finish()
    if "rerun" in case:
        start |= {key: tries for key, (_, tries) in recorder.snapshot().items()}
        script = dict(case["rerun"]["script"])
        recorder.clear(case["rerun"]["clear"])
        recorder.finish()
    return _mapping_answer(recorder) | ({"notes": recorder.notes} if recorder.notes else {})


def nth(outcomes: list[str], attempt: int) -> str:
    """The outcome of the attempt (1 is the first); the last one repeats."""
    return outcomes[min(attempt, len(outcomes)) - 1]


def _mapping_answer(recorder: Recorder) -> dict[str, Any]:
    end = recorder.snapshot()
    states = {label(key): end[key][0] or "none" for key in sorted(end)}
    answer: dict[str, Any] = {"final": states, "tries": {label(key): end[key][1] for key in sorted(end)}}
    if len(end) >= LARGE:
        counts = Counter(f"{key[0]}:{end[key][0] or 'none'}" for key in sorted(end))
        answer = {"final_counts": dict(sorted(counts.items()))}
    return answer | {"dag_run_state": DagRunState(recorder.run.state).value, "ticks": recorder.ticks}


def _mapped_dag(dag_id: str, specs: dict[str, dict[str, Any]]) -> DAG:
    """The Dag of a mapping case; every task gets exactly the upstream list of the case."""
    made: dict[str, Any] = {}
    members = {name: group for group, spec in specs.items() for name in spec.get("group", ())}
    with DAG(dag_id, schedule=None, start_date=dags.START) as dag:
        for name, spec in specs.items():
            if "group" in spec:
                _add_group(name, specs, made)
            elif name not in members:
                made[name] = _operator(name, spec, made)
    for name, spec in specs.items():
        if "group" not in spec:
            _wire(made, name, spec["upstream"])
    return dag


def _operator(name: str, spec: dict[str, Any], made: dict[str, Any]) -> Any:
    if "expand" not in spec:
        return dags.operator_for(name, spec)
    partial: dict[str, Any] = {key: spec[key] for key in ("retries", "trigger_rule") if key in spec}
    partial["retry_delay"] = dags.timedelta(0)
    return dags.Scripted.partial(task_id=name, **partial).expand(**_arguments(spec, made))


def _arguments(spec: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for argument, source in spec["expand"].items():
        literal = source.startswith(LITERAL)
        found[argument] = list(range(int(source[len(LITERAL) :]))) if literal else XComArg(made[source])
    return found


def _add_group(group: str, specs: dict[str, dict[str, Any]], made: dict[str, Any]) -> None:
    names = specs[group]["group"]

    @task_group(group_id=group)
    def body(x: Any = None, y: Any = None) -> None:
        for name in names:
            inside = set(specs[name]["upstream"]) <= set(names)
            # A member that takes the argument depends on its source; inner edges come before the group's own.
            extra = {} if inside else {"x": x, "y": y}
            made[name] = dags.operator_for(name.removeprefix(group + "."), specs[name], **extra)
            for other in sorted(set(specs[name]["upstream"]) & set(names)):
                made[other] >> made[name]

    body.expand(**_arguments(specs[group], made))


def _wire(made: dict[str, Any], name: str, upstream: list[str]) -> None:
    task = made[name]
    for other in upstream:
        if other not in task.upstream_task_ids:
            made[other] >> task
    if set(task.upstream_task_ids) != set(upstream):
        raise ValueError(
            f"task {name!r} came out with upstream {sorted(task.upstream_task_ids)}, not {upstream}"
        )

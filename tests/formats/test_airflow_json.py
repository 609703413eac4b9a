"""Airflow's serialized Dags, versions 1 to 3, and its listings of tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dagkit.errors import FormatError
from dagkit.formats import load

from .support import FILES, remark


def test_a_dag_that_airflow_3_serialized() -> None:
    loaded = load(FILES / "shop_serialized.json")
    dag = loaded.dag
    assert (loaded.format, loaded.unit, dag.dag_id) == ("airflow", "s", "shop")
    assert (dag.max_active_tasks, dag.max_active_runs, dag.dagrun_timeout) == (4, 1, 7200)
    assert len(dag) == 25
    assert ("start", "list_files") in dag.edges and ("check_late", "per_region.load") in dag.edges
    assert (dag["clean"].retries, dag["clean"].retry_delay, dag["clean"].pool_slots) == (2, 60, 2)
    assert dag["clean"].expand == {"path": "list_files"} and dag["list_files"].returns == 1
    assert dag["fixed"].expand == {"bash_command": 3} and dag["fixed"].priority_weight == 5
    assert dag["start"].empty and not dag["clean"].empty
    assert dag["quality.check_north"].trigger_rule == "all_done"
    assert dag["open_db"].is_setup and dag["close_db"].is_teardown and dag["close_db"].on_failure_fail_dagrun
    assert remark(loaded, "No durations in this file: every task counts as 1 s.")
    assert "choose" in remark(loaded, "1 task may skip others")


def serialized(version: int, tasks: list[Any], **dag: Any) -> str:
    return json.dumps({"__version": version, "dag": {**dag, "tasks": tasks}})


def test_version_1_as_airflow_2_wrote_it() -> None:
    loaded = load(
        serialized(
            1,
            [
                {
                    "task_id": "a",
                    "_task_type": "DummyOperator",
                    "_downstream_task_ids": ["b"],
                    "pool": "db",
                    "retries": 1,
                    "retry_delay": {"__type": "timedelta", "__var": 30.0},
                },
                {
                    "task_id": "b",
                    "_task_type": "BashOperator",
                    "_downstream_task_ids": [],
                    "trigger_rule": "dummy",
                    "_trigger_rule": "ignored",
                    "weight_rule": "absolute",
                    "retries": 1,
                },
            ],
            _dag_id="old",
            _concurrency=3,
        )
    )
    assert loaded.dag.dag_id == "old" and loaded.dag.max_active_tasks == 3
    assert loaded.dag["a"].empty and loaded.dag["a"].retry_delay == 30
    assert loaded.dag["b"].trigger_rule == "always" and loaded.dag["b"].weight_rule == "absolute"
    assert loaded.dag["b"].retry_delay == 300  # Airflow's default_task_retry_delay
    assert loaded.dag.edges == [("a", "b")]


def test_version_3_with_client_defaults_below_the_tasks_own() -> None:
    data = json.loads(
        serialized(
            3,
            [
                {"__type": "operator", "__var": {"task_id": "a", "retries": 0, "downstream_task_ids": ["b"]}},
                {"__type": "operator", "__var": {"task_id": "b"}},
            ],
            dag_id="new",
        )
    )
    data["client_defaults"] = {"tasks": {"retries": 2, "retry_delay": 10.0, "pool": "p"}}
    dag = load(json.dumps(data)).dag
    assert (dag["a"].retries, dag["b"].retries, dag["b"].retry_delay, dag["b"].pool) == (0, 2, 10, "p")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda d: {"data": d},
        lambda d: [{"dag_id": "x", "data": d}],
        lambda d: d["dag"],
        lambda d: {"dag": d["dag"]},
    ],
)
def test_the_same_dag_as_a_row_of_the_database(wrap: Any) -> None:
    data = json.loads(
        serialized(
            2,
            [{"__var": {"task_id": "a", "downstream_task_ids": ["b"]}}, {"__var": {"task_id": "b"}}],
            dag_id="d",
        )
    )
    assert load(json.dumps(wrap(data))).dag.edges == [("a", "b")]


def test_the_task_listing_of_the_rest_api() -> None:
    text = json.dumps(
        {
            "total_entries": 2,
            "tasks": [
                {
                    "task_id": "a",
                    "downstream_task_ids": ["b"],
                    "retries": 1,
                    "retry_delay": {"__type": "TimeDelta", "days": 0, "seconds": 45, "microseconds": 0},
                },
                {"task_id": "b", "downstream_task_ids": [], "pool_slots": 2},
            ],
        }
    )
    dag = load(text).dag
    assert dag.edges == [("a", "b")] and dag["a"].retry_delay == 45 and dag["b"].pool_slots == 2


def test_mapping_over_a_mapped_task_assumes_nothing_about_it() -> None:
    def xcom(task: str) -> Any:
        return {"type": "dict-of-lists", "value": {"x": {"__type": "xcomref", "__var": {"task_id": task}}}}

    loaded = load(
        serialized(
            3,
            [
                {"task_id": "second", "_is_mapped": True, "expand_input": xcom("first")},
                {
                    "task_id": "first",
                    "_is_mapped": True,
                    "expand_input": xcom("make"),
                    "downstream_task_ids": ["second"],
                },
                {"task_id": "make", "downstream_task_ids": ["first"]},
            ],
            dag_id="d",
        )
    )
    assert loaded.dag["second"].expand == {"x": "first"} and loaded.dag["first"].returns is None
    assert "'make'" in remark(loaded, "The length of what")


def test_mapping_that_only_the_run_knows_is_one_task() -> None:
    zipped = {
        "type": "dict-of-lists",
        "value": {"x": {"__type": "xcomref", "__var": {"type": "zip", "args": []}}},
    }
    loaded = load(serialized(3, [{"task_id": "m", "_is_mapped": True, "expand_input": zipped}], dag_id="d"))
    assert loaded.dag["m"].expand is None
    assert remark(loaded, "Task 'm' is mapped over something only known at run time")


def test_odd_values_are_left_out_and_told() -> None:
    loaded = load(
        serialized(
            2,
            [
                {"task_id": "a", "trigger_rule": "sometimes", "retries": -1, "downstream_task_ids": ["gone"]},
                {"task_id": "b", "trigger_rule": "all_done"},
            ],
            dag_id="d",
            fail_fast=True,
        )
    )
    assert remark(loaded, "Task 'a': trigger_rule 'sometimes' was ignored")
    assert remark(loaded, "Task 'a': retries -1 was ignored")
    assert remark(loaded, "Task 'a': downstream 'gone' is not in this file")
    assert not loaded.dag.fail_fast and remark(loaded, "fail_fast was ignored")


def test_a_mapped_group_is_told() -> None:
    group = {"children": {"g": ["taskgroup", {"is_mapped": True, "children": {}}]}}
    loaded = load(serialized(3, [{"task_id": "g.a"}], dag_id="d", task_group=group))
    assert remark(loaded, "A mapped task group is shown once")


def test_forced_on_something_else() -> None:
    with pytest.raises(
        FormatError, match="expected a serialized Dag with 'dag' and 'tasks', found list.*'data'"
    ):
        load("[1, 2]\n", format="airflow")


def test_the_sample(samples_dir: Path) -> None:
    file = samples_dir / "airflow" / "serialized_example_branch_labels.json"
    if not file.exists():
        pytest.skip("no serialized Airflow Dag among the samples")
    dag = load(file).dag
    assert set(dag.edges) == {
        ("ingest", "analyze"),
        ("analyze", "check_integrity"),
        ("check_integrity", "save"),
        ("check_integrity", "describe_integrity"),
        ("describe_integrity", "email_error"),
        ("email_error", "report"),
        ("save", "report"),
    }
    assert all(task.empty for task in dag)


@pytest.mark.parametrize("days", [None, "x", [1], True])
def test_a_time_that_is_none_is_told_and_left_out(days: object) -> None:
    task = {"task_id": "a", "downstream_task_ids": [], "retries": 1, "retry_delay": {"__type": "TimeDelta", "days": days}}
    loaded = load(json.dumps({"dag": {"dag_id": "d", "tasks": [task]}}))
    assert loaded.dag["a"].retry_delay == 300
    assert remark(loaded, "Task 'a': retry_delay {")

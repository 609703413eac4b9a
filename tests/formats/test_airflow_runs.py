"""Listings of task instances, with and without the Dag they belong to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dagkit import Dag
from dagkit.errors import DagkitError, FormatError
from dagkit.formats import TaskRun, load

from .support import remark

DAY = "2026-05-01T10:00:"


def row(
    task: str, start: str | None, end: str | None, state: str | None = "success", **more: Any
) -> dict[str, Any]:
    return {
        "dag_id": "shop",
        "task_id": task,
        "state": state,
        **more,
        "start_date": start and DAY + start,
        "end_date": end and DAY + end,
    }


COMMAND_LINE = json.dumps(
    [
        row("a", "00.000+00:00", "02.500+00:00"),
        row("b", "03.000+00:00", "07.000+00:00", "failed"),
        row("c", "07.500+00:00", "07.500+00:00", "upstream_failed"),
        row("d", None, None, None),
    ]
)


def test_states_for_dag_run() -> None:
    loaded = load(COMMAND_LINE)
    assert (loaded.format, loaded.unit, loaded.dag.dag_id) == ("airflow-run", "s", "shop")
    assert loaded.dag.edges == []
    assert [(t.task_id, t.duration) for t in loaded.dag] == [("a", 2.5), ("b", 4), ("c", 0), ("d", 0)]
    assert loaded.missing == ("c", "d")
    assert loaded.recorded_makespan == 7.5
    assert loaded.run is not None
    assert loaded.run.rows[1] == TaskRun("b", 3.0, 7.0, state="failed")
    assert loaded.run.rows[-1] == TaskRun("d", state="none")
    assert remark(loaded, "A listing has no dependencies")
    assert "c, d" in remark(loaded, "2 task instances were not run to an end")


REST = json.dumps(
    {
        "total_entries": 7,
        "task_instances": [
            row(
                "a",
                "05Z",
                "15Z",
                dag_run_id="r1",
                map_index=-1,
                try_number=1,
                pool="db",
                duration=9.5,
                scheduled_when=DAY + "00Z",
                queued_when=DAY + "02Z",
            ),
            row("m", "16Z", "18Z", dag_run_id="r1", map_index=0, try_number=1),
            row("m", "16Z", "20Z", dag_run_id="r1", map_index=1, try_number=1),
            row("m", "30Z", "31Z", dag_run_id="r1", map_index=1, try_number=2),
            row("a", "05Z", "06Z", dag_run_id="r2", map_index=-1),
        ],
    }
)


def test_rest_listing_tells_where_the_time_went() -> None:
    loaded = load(REST)
    assert loaded.dag["a"].pool == "db"
    assert [(t.task_id, t.duration) for t in loaded.dag] == [("a", 9.5), ("m[0]", 2), ("m[1]", 1)]
    assert loaded.run is not None and loaded.run.started_at == "2026-05-01T10:00:00+00:00"
    frame = loaded.run.to_frame().set_index("task")
    assert frame.loc["a", ["waited_scheduled", "waited_queued", "ran"]].tolist() == [2.0, 3.0, 10.0]
    assert frame["waited_queued"].isna().tolist() == [False, True, True]
    assert remark(loaded, "Of several tries")
    assert "shop r2" in remark(loaded, "1 other run was left out")
    assert remark(loaded, "The listing holds 5 of 7 task instances")


def test_one_of_several_runs() -> None:
    assert load(REST, run_id="r2").dag["a"].duration == 1
    with pytest.raises(
        FormatError, match="expected a run of this listing, found run_id 'r9'. Known: r1, r2."
    ):
        load(REST, run_id="r9")


def test_with_the_dag_it_belongs_to() -> None:
    shape = Dag.from_dict(
        {"a": {}, "m": {"upstream": "a", "pool": "p"}, "z": {"upstream": "m"}}, dag_id="shop"
    )
    loaded = load(REST, dag=shape)
    assert loaded.dag.edges == [("a", "m"), ("m", "z")]
    assert [t.duration for t in loaded.dag] == [9.5, 2, 0]  # of the two instances of m the longer
    assert loaded.dag["m"].pool == "p"
    assert loaded.missing == ("z",) and loaded.run is not None
    assert load(REST, dag="a -> m\nm -> z\n").dag.edges == loaded.dag.edges
    with pytest.raises(DagkitError, match="with_dag: needs a Dag or what load gave back, not int"):
        load(REST).with_dag(3)  # type: ignore[arg-type]


def test_tasks_the_dag_does_not_know_are_told() -> None:
    loaded = load(COMMAND_LINE).with_dag(Dag.from_dict({"a": {}, "b": {"upstream": "a"}}))
    assert [t.duration for t in loaded.dag] == [2.5, 4]


def test_the_yaml_listing() -> None:
    text = (
        "- dag_id: d\n  task_id: a\n  state: success\n  start_date: 2026-05-01T10:00:00+00:00\n"
        "  end_date: 2026-05-01T10:00:04+00:00\n"
    )
    assert load(text).dag["a"].duration == 4


def test_times_that_are_no_times() -> None:
    loaded = load(
        json.dumps(
            [
                {"task_id": "a", "state": "success", "start_date": "soon", "end_date": None},
                {"task_id": "b", "state": "running", "start_date": 1e40, "end_date": "x"},
            ]
        )
    )
    assert loaded.missing == ("a", "b") and loaded.run is None and loaded.recorded_makespan is None


def test_forced_on_something_else() -> None:
    with pytest.raises(
        FormatError, match="expected a listing of task instances, found dict. Each row needs task_id"
    ):
        load('{"x": 1}', format="airflow-run")

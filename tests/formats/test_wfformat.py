"""WfFormat in its three shapes: 1.3 by name, 1.4 with repeated names, 1.5 with the run apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dagkit.errors import CycleError, FormatError
from dagkit.formats import TaskRun, load

from .support import FILES, longest_path, remark


def test_version_15_keeps_shape_and_run_apart() -> None:
    loaded = load(FILES / "wf_15.json")
    assert loaded.format == "wfformat"
    assert loaded.unit == "s"
    assert loaded.dag.dag_id == "photo-mosaic"
    assert loaded.dag.edges == [
        ("fetch_1", "crop_1"),
        ("fetch_1", "crop_2"),
        ("crop_1", "join_1"),
        ("crop_2", "join_1"),
    ]
    assert [t.duration for t in loaded.dag] == [1.5, 4, 0.25, 0]
    assert loaded.missing == ("join_1",)
    assert loaded.recorded_makespan == 9.5
    assert "gone_9" in remark(loaded, "1 parent or child name was ignored")
    assert "ghost" in remark(loaded, "1 recorded run was ignored")
    assert "join_1" in remark(loaded, "1 task has no duration")


def test_version_15_run_is_counted_from_its_first_moment() -> None:
    run = load(FILES / "wf_15.json").run
    assert run is not None
    assert run.rows == [
        TaskRun("fetch_1", 0.0, 1.5),
        TaskRun("crop_1", 2.0, 6.0),
        TaskRun("crop_2", 2.0, 2.25),
    ]
    assert run.makespan == 6.0
    assert run.started_at == "2024-02-03T04:05:01+00:00"


def test_version_13_refers_by_name() -> None:
    loaded = load(FILES / "wf_13.json")
    assert loaded.dag.edges == [("split_ID000001", "count_ID000002"), ("count_ID000002", "sum_ID000003")]
    assert [t.duration for t in loaded.dag] == [2.5, 10, 1]
    assert loaded.recorded_makespan == 30
    assert loaded.run is None
    assert loaded.missing == ()


def test_version_14_with_one_name_for_two_tasks() -> None:
    loaded = load(FILES / "wf_14.json")
    assert loaded.dag.edges == [("sort_1", "merge"), ("sort_2", "merge")]
    assert longest_path(loaded) == 9


def instance(tasks: list[dict], **workflow: object) -> str:
    return json.dumps({"name": "w", "schemaVersion": "1.4", "workflow": {"tasks": tasks, **workflow}})


def test_version_10_calls_them_jobs() -> None:
    text = json.dumps(
        {
            "workflow": {
                "makespan": 3,
                "jobs": [{"name": "a", "runtime": 1}, {"name": "b", "runtime": 2, "parents": ["a"]}],
            }
        }
    )
    loaded = load(text)
    assert loaded.dag.edges == [("a", "b")]
    assert longest_path(loaded) == loaded.recorded_makespan == 3


def test_children_alone_are_enough() -> None:
    loaded = load(instance([{"name": "a", "children": ["b"]}, {"name": "b"}]))
    assert loaded.dag.edges == [("a", "b")]


def test_a_dependency_listed_on_one_side_only_is_kept_and_reported() -> None:
    loaded = load(instance([{"name": "a", "parents": [], "children": ["b"]}, {"name": "b", "parents": []}]))
    assert loaded.dag.edges == [("a", "b")]
    assert remark(loaded, "1 dependency is listed only as children")


def test_without_dependencies_files_tell_the_order() -> None:
    loaded = load(
        instance(
            [
                {"name": "read", "files": [{"name": "x", "link": "input"}]},
                {"name": "make", "files": [{"name": "x", "link": "output"}]},
            ]
        )
    )
    assert loaded.dag.edges == [("make", "read")]
    assert remark(loaded, "No parents or children are listed")


def test_shape_without_a_run_counts_one_for_each_task() -> None:
    loaded = load(json.dumps({"workflow": {"specification": {"tasks": [{"name": "a", "id": "a"}]}}}))
    assert loaded.dag["a"].duration == 1
    assert loaded.unit is None
    assert loaded.missing == ("a",)
    assert loaded.recorded_makespan is None
    assert remark(loaded, "No durations in this file")


@pytest.mark.parametrize("value", [-1, "soon", True, [1]])
def test_a_runtime_that_is_no_number_is_ignored_and_reported(value: object) -> None:
    loaded = load(instance([{"name": "a", "runtimeInSeconds": value}, {"name": "b", "runtimeInSeconds": 1}]))
    assert loaded.missing == ("a",)
    assert "'a'" in remark(loaded, "The runtime of task")


def test_a_ring_is_named_in_full() -> None:
    with pytest.raises(CycleError, match="cycle: a -> b -> a"):
        load(instance([{"name": "a", "parents": ["b"]}, {"name": "b", "parents": ["a"]}]))


def test_forced_format_on_something_else() -> None:
    with pytest.raises(FormatError, match=r"the text: expected a WfFormat object .* found the keys \['x'\]"):
        load('{"x": 1}', format="wfformat")


def test_real_runs_are_never_shorter_than_their_critical_path(samples_dir: Path) -> None:
    files = sorted((samples_dir / "wfformat").glob("*.json"))
    if not files:
        pytest.skip("no WfFormat files among the samples")
    for file in files:
        loaded = load(file)
        assert loaded.recorded_makespan is not None
        assert 0 < longest_path(loaded) <= loaded.recorded_makespan, file.name
        listed = json.loads(file.read_text("utf-8"))["workflow"]["specification"]["tasks"]
        assert len(loaded.dag) == len(listed)
        assert len(loaded.dag.edges) == sum(len(set(task["parents"])) for task in listed)


def test_a_file_without_start_times_says_so() -> None:
    tasks = [{"name": "a", "id": "a", "runtimeInSeconds": 3}]
    loaded = load(json.dumps({"name": "w", "workflow": {"tasks": tasks, "makespanInSeconds": 5}}))
    assert loaded.run is None and loaded.recorded_makespan == 5
    assert remark(loaded, "The file has no start times, only the makespan of the whole run")


def test_a_number_beyond_all_reckoning_counts_as_none() -> None:
    flow = {"tasks": [{"name": "a", "runtime": 10**400}, {"name": "b", "runtime": 2}], "makespan": 10**400}
    loaded = load(json.dumps({"name": "x", "workflow": flow}))
    assert loaded.recorded_makespan is None and loaded._repr_html_() and loaded.missing == ("a",)
    assert remark(loaded, "The runtime of task 'a', 1000")

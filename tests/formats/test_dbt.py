"""dbt manifests with and without run results."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path

import pytest

from dagkit.errors import FormatError
from dagkit.formats import load

from .support import FILES, longest_path, remark

DBT = FILES / "dbt"


def test_manifest_with_results_beside_it() -> None:
    loaded = load(DBT / "manifest.json")
    assert loaded.format == "dbt"
    assert loaded.unit == "s"
    assert loaded.dag.dag_id == "shop"
    assert loaded.dag.edges == [
        ("seed.shop.countries", "model.shop.stg"),
        ("model.shop.stg", "model.shop.helper"),
        ("model.shop.helper", "model.shop.orders"),
        ("model.shop.stg", "model.shop.orders"),  # through the metric, which is no task
        ("model.shop.orders", "test.shop.not_null"),
        ("model.shop.orders", "snapshot.shop.history"),
    ]
    assert {t.task_id: t.duration for t in loaded.dag} == {
        "seed.shop.countries": 0,
        "model.shop.stg": 0.5,
        "model.shop.helper": 0,
        "model.shop.orders": 2.25,
        "test.shop.not_null": 0,
        "snapshot.shop.history": 0,
    }
    assert longest_path(loaded) == 2.75
    assert loaded.recorded_makespan == 3.5


def test_what_is_not_a_task_is_reported() -> None:
    loaded = load(DBT / "manifest.json")
    assert "source.shop.raw.orders" in remark(loaded, "1 source was left out")
    assert remark(loaded, "2 disabled nodes were left out: model.shop.off, model.shop.older.")
    for start in ("1 analysis", "1 hook", "1 exposure", "1 metric", "1 unit test", "Ephemeral models"):
        assert remark(loaded, start)
    assert "model.other.gone" in remark(loaded, "1 recorded result was ignored")
    assert remark(loaded, "3 tasks have no duration")
    assert loaded.missing == ("seed.shop.countries", "test.shop.not_null", "snapshot.shop.history")


def test_the_run_has_times_only_where_dbt_recorded_them() -> None:
    run = load(DBT / "manifest.json").run
    assert run is not None
    rows = {row.task: row for row in run.rows}
    assert (rows["model.shop.stg"].start, rows["model.shop.stg"].end) == (0.0, 0.5)
    assert rows["model.shop.orders"].start is None
    assert rows["test.shop.not_null"].state == "skipped"


def test_sources_can_be_shown() -> None:
    loaded = load(DBT / "manifest.json", sources=True)
    assert ("source.shop.raw.orders", "model.shop.stg") in loaded.dag.edges
    assert loaded.dag["source.shop.raw.orders"].empty


@pytest.mark.parametrize("inside", [".", "target"])
def test_a_project_or_target_directory_is_enough(tmp_path: Path, inside: str) -> None:
    shutil.copytree(DBT, tmp_path / inside, dirs_exist_ok=True)
    assert load(tmp_path).dag.edges == load(str(tmp_path)).dag.edges == load(DBT / "manifest.json").dag.edges


def test_results_lead_to_the_manifest(tmp_path: Path) -> None:
    assert len(load(DBT / "run_results.json").dag) == 6
    shutil.copy(DBT / "run_results.json", tmp_path)
    with pytest.raises(
        FormatError, match="expected a dbt manifest, found run results.*manifest.json beside it"
    ):
        load(tmp_path / "run_results.json")


def test_without_results_every_task_counts_one(tmp_path: Path) -> None:
    shutil.copy(DBT / "manifest.json", tmp_path)
    loaded = load(tmp_path / "manifest.json")
    assert loaded.unit is None
    assert loaded.run is None
    assert loaded.dag["model.shop.orders"].duration == 1
    assert loaded.dag["model.shop.helper"].duration == 0  # ephemeral: known to take no time
    assert remark(loaded, "No run_results.json beside it")


def test_results_elsewhere_are_named(tmp_path: Path) -> None:
    shutil.copy(DBT / "manifest.json", tmp_path / "manifest.json")
    loaded = load(tmp_path / "manifest.json", results=DBT / "run_results.json")
    assert loaded.dag["model.shop.orders"].duration == 2.25


def test_results_under_another_name_are_found_if_there_is_one(tmp_path: Path) -> None:
    shutil.copy(DBT / "manifest.json", tmp_path)
    shutil.copy(DBT / "run_results.json", tmp_path / "monday-run_results.json")
    loaded = load(tmp_path / "manifest.json")
    assert loaded.dag["model.shop.orders"].duration == 2.25
    assert remark(loaded, "Durations are the execution times in file 'monday-run_results.json'")
    shutil.copy(DBT / "run_results.json", tmp_path / "tuesday-run_results.json")
    with pytest.raises(
        FormatError, match="expected run_results.json beside it, found monday-.*results='...'"
    ):
        load(tmp_path / "manifest.json")


def test_unit_tests_with_a_result_are_tasks(tmp_path: Path) -> None:
    shutil.copy(DBT / "manifest.json", tmp_path)
    result = {"unique_id": "unit_test.shop.orders.adds", "status": "pass", "execution_time": 0.125}
    (tmp_path / "run_results.json").write_text(json.dumps({"results": [result]}), "utf-8")
    loaded = load(tmp_path / "manifest.json")
    assert loaded.dag["unit_test.shop.orders.adds"].duration == 0.125
    assert loaded.dag["unit_test.shop.orders.adds"].upstream == ("model.shop.orders",)


def test_a_manifest_with_little_in_it(tmp_path: Path) -> None:
    """Other versions leave keys out or turn dictionaries into lists."""
    text = json.dumps(
        {
            "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v20.json"},
            "nodes": [{"unique_id": "model.p.a"}, {"unique_id": "model.p.b", "depends_on": None}],
            "parent_map": {"model.p.b": ["model.p.a", "source.p.x"]},
        }
    )
    assert load(text).dag.edges == [("model.p.a", "model.p.b")]


def test_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected a dbt manifest with 'nodes', found the keys metadata"):
        load('{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}')
    shutil.copy(DBT / "manifest.json", tmp_path)
    (tmp_path / "run_results.json").write_text("{", "utf-8")
    with pytest.raises(
        FormatError, match="file 'run_results.json': expected JSON, found .* at line 1, column 2"
    ):
        load(tmp_path / "manifest.json")
    (tmp_path / "run_results.json").write_text("{}", "utf-8")
    with pytest.raises(FormatError, match="file 'run_results.json': expected dbt run results with 'results'"):
        load(tmp_path / "manifest.json")


def test_a_real_project(samples_dir: Path) -> None:
    file = samples_dir / "dbt" / "manifest-v12-manifest_1.11.json"
    if not file.exists():
        pytest.skip("no dbt manifest among the samples")
    loaded = load(file)
    nodes = json.loads(file.read_text("utf-8"))["nodes"]
    assert set(loaded.dag.tasks) == set(nodes)
    edges = [
        (up, n) for n, node in nodes.items() for up in node["depends_on"].get("nodes", []) if up in nodes
    ]
    assert sorted(loaded.dag.edges) == sorted(edges)
    assert loaded.run is not None and len(loaded.run) == 40
    assert len(loaded.missing) == 7  # the seeds were loaded in an earlier invocation
    assert loaded.recorded_makespan is not None and longest_path(loaded) <= loaded.recorded_makespan


def test_a_folder_whose_manifest_has_a_longer_name(tmp_path: Path) -> None:
    shutil.copy(DBT / "manifest.json", tmp_path / "shop-manifest-v12.json")
    shutil.copy(DBT / "run_results.json", tmp_path / "shop-run_results.json")
    (tmp_path / "semantic_manifest.json").write_text("{}", encoding="utf-8")
    found, usual = load(tmp_path), load(DBT)
    assert found.dag.edges == usual.dag.edges and found.recorded_makespan == usual.recorded_makespan
    shutil.copy(DBT / "manifest.json", tmp_path / "other-manifest.json")
    with pytest.raises(FormatError, match="expected one manifest in folder .*other-manifest.json, shop-manifest"):
        load(tmp_path)


def test_a_folder_without_a_manifest_says_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(FormatError, match=f"no manifest.json in folder '{tmp_path.name}'; found notes.txt"):
        load(tmp_path)


def test_nodes_without_their_own_list_have_the_parent_map(tmp_path: Path) -> None:
    node = {"resource_type": "model", "depends_on": {"nodes": None}, "config": {}}
    manifest = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v20.json"},
                "nodes": {"model.p.a": node, "model.p.b": node}, "parent_map": {"model.p.b": ["model.p.a"]}}
    assert load(json.dumps(manifest)).dag.edges == [("model.p.a", "model.p.b")]


def test_a_large_manifest_needs_little_more_memory_than_its_text(tmp_path: Path) -> None:
    """Mostly columns: kept, they would take several times their text."""
    columns = {f"c{j}": {"name": f"c{j}", "meta": {}, "tags": []} for j in range(40)}
    nodes = {f"model.p.m{i}": {"resource_type": "model", "config": {}, "columns": columns,
                               "depends_on": {"nodes": [f"model.p.m{i - 1}"] if i else []}} for i in range(800)}
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
                                "nodes": nodes}))
    del nodes
    tracemalloc.start()
    try:
        assert len(load(path).dag) == 800
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * path.stat().st_size

"""Dag files for a real Airflow: they say what the Dag says, read back the same, and hold text only as text.

That Airflow itself takes them is shown by the recorded runs (``test_recorded_runs``) and by ``make airflow-run``.
"""

from __future__ import annotations

import ast
import json
import re
from datetime import timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagkit as dk
from dagkit.formats.airflow_template import SCRIPTED
from dagkit.task import spec_of

from .random_scenarios import mapped_scenario, random_scenario

HOSTILE = ['"', "'", "\\", "a\nb", '"""', "'); import os; ('", "{}", "%s", "\ud800", "<script>", "a\\", "#", "é", "日本",
           "x" * 300, "class", "dag", "time", "ticks", "__init__", "None", "0", "a.b", "a-b", "a_b", " ", "\u2028", "\0"]


def written(given: Any, folder: Path, **options: Any) -> tuple[str, Any]:
    made = dk.export_airflow(given, folder / "dag.py", **options)
    return made.dag_file.read_text(encoding="utf-8"), made


def same(dag: dk.Dag, back: dk.Dag) -> None:
    """Everything but the order in which a task's upstreams are listed, and delays of tasks that never retry."""
    def said(one: dk.Dag) -> Any:
        rows = {}
        for task in one:
            spec = spec_of(task)
            if not task.retries:
                spec = {k: v for k, v in spec.items() if k != "retry_delay"}
            rows[task.task_id] = {**spec, "upstream": sorted(set(spec.get("upstream", ())))}
        return rows, list(rows), one.options(), one.dag_id
    assert said(back) == said(dag)


def test_orders_reads_back_as_the_same_scenario(tmp_path: Path) -> None:
    text, made = written(dk.examples.orders(), tmp_path, tick_seconds=0.1)
    loaded = dk.load(made.dag_file)
    same(dk.examples.orders().dag, loaded.dag)
    assert dk.simulate(loaded.scenario()).log() == dk.simulate(dk.examples.orders()).log()
    assert json.loads(made.pools_file.read_text()) == {
        "db": {"slots": 1, "description": "", "include_deferred": False},
        "default": {"slots": 8, "description": "", "include_deferred": False}}
    assert made.commands == ("airflow pools import dag.pools.json", "airflow dags trigger orders")
    assert "retries=2, retry_delay=ticks(2)" in text and "from airflow.sdk import DAG, BaseOperator" in text


def test_every_kind_of_task_reads_back(tmp_path: Path) -> None:
    dag = dk.Dag("kinds", [
        dk.Task("choose", branch=["left"], duration=2), dk.Task("left", "choose"), dk.Task("right", "choose"),
        dk.Task("cut", short_circuit="hard"), dk.Task("cut_soft", "cut", short_circuit="soft"),
        dk.Task("latest", latest_only=True), dk.Task("marker", empty=True),
        dk.Task("up", is_setup=True), dk.Task("down", ["up", "left"], is_teardown=True, on_failure_fail_dagrun=True),
        dk.Task("make", returns=3, outlets=["shop"]), dk.Task("each", "make", expand={"x": "make", "y": 2}),
        dk.Task("again", "each", expand={"class": "each"}, retries=1, retry_delay=0, retry_exponential_backoff=True,
                max_retry_delay=9, execution_timeout=2.5),
        dk.Task("last", ["left", "right"], trigger_rule="one_done", pool="p", pool_slots=2, queue="gpu",
                priority_weight=-3, weight_rule="absolute", depends_on_past=True, max_active_tis_per_dag=1),
    ], max_active_runs=2, dagrun_timeout=50, assets=["source"])
    _, made = written(dag, tmp_path, tick_seconds=3)
    back = dk.load(made.dag_file).dag
    assert back["again"].expand == {"arg": "each"}         # a keyword of Python cannot name an argument
    same(dag.replace("again", expand={"arg": "each"}), back)
    assert any("class" in sentence for sentence in made.report)


@pytest.mark.parametrize("pose", [random_scenario, mapped_scenario])
def test_random_scenarios_read_back(pose: Any, tmp_path: Path) -> None:
    tried = 0
    for seed in range(60):
        scenario = pose(Random(seed))
        if len(scenario.dags) > 1 or any("@" in label for label in scenario.outcomes):
            continue
        tried += 1
        _, made = written(scenario, tmp_path, tick_seconds=1)
        loaded = dk.load(made.dag_file)
        same(scenario.dag, loaded.dag)
        assert {k: tuple(v) for k, v in loaded.outcomes.items()} == scenario.outcomes
    assert tried > 30


def test_mapped_groups_and_tasks_declared_before_what_they_are_mapped_over(tmp_path: Path) -> None:
    dag = dk.Dag("g", [
        dk.Task("last", ["b", "other"]), dk.Task("a", task_group="per day"), dk.Task("other"),
        dk.Task("b", ["a", "other"], task_group="per day", retries=1), dk.Task("each", expand={"x": "days"}),
        dk.Task("days", returns=2),
    ], groups={"per day": {"day": "days", "part": 3}})
    text, made = written(dk.Scenario(dag, outcomes={"a[1]": ["fail"]}), tmp_path)
    loaded = dk.load(made.dag_file)
    assert dict(loaded.dag.groups) == {"per_day": {"day": "days", "part": 3}}
    assert [t.task_id for t in loaded.dag] == list(dag.tasks) and loaded.dag["a"].task_group == "per_day"
    assert {t.task_id: set(t.upstream) for t in loaded.dag} == {t.task_id: set(t.upstream) for t in dag}
    assert dk.simulate(loaded.scenario()).log() == dk.simulate(dk.Scenario(dag, outcomes={"a[1]": ["fail"]})).log()
    ast.parse(text)


@given(st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=[]), min_size=1, max_size=9),
                min_size=1, max_size=6, unique=True))
def test_text_from_outside_is_never_code(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    """The file has the same statements whatever the ids are; only literals and variable names differ."""
    folder = tmp_path_factory.mktemp("x", numbered=True)

    def chain(ids: list[str]) -> tuple[str, dk.Dag]:
        tasks = [dk.Task(i, ids[:n], expand={ids[n - 1]: ids[n - 1]} if n == 1 else None) for n, i in enumerate(ids)]
        text, made = written(dk.Scenario(dk.Dag(ids[0], tasks), outcomes={ids[-1]: ["fail"]}), folder)
        return text, dk.load(made.dag_file).dag

    text, back = chain(names)
    plain, _ = chain([f"t{n}" for n in range(len(names))])
    assert shape(text) == shape(plain)
    assert len(back) == len(names) and len(back.edges) == len(names) * (len(names) - 1) // 2
    assert all(re.fullmatch(r"[\w.-]{1,250}", task_id) for task_id in back.tasks)


def shape(text: str) -> list[str]:
    """The syntax tree without names, texts and keyword arguments that only show a name."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [k for k in node.keywords if k.arg != "task_display_name"]
    return [type(node).__name__ for node in ast.walk(tree)]


def test_ids_airflow_would_refuse_are_rewritten_and_told(tmp_path: Path) -> None:
    dag = dk.Dag("my dag", [dk.Task("build (linux)"), dk.Task("build_linux", "build (linux)"), dk.Task("build [linux]")])
    text, made = written(dag, tmp_path)
    back = dk.load(made.dag_file).dag
    assert back.dag_id == "my_dag" and list(back.tasks) == ["build_linux_2", "build_linux", "build_linux_3"]
    assert back.edges == [("build_linux_2", "build_linux")]
    assert "task_display_name='build (linux)'" in text
    assert any("build (linux) -> build_linux_2" in sentence for sentence in made.report)


@pytest.mark.parametrize(("scenario", "message"), [
    (dk.Scenario(dk.Dag("d", [dk.Task("s", wait=dk.Sensor(true_after=2))])), "task 's' waits .Sensor."),
    (dk.Scenario([dk.Dag("d", [dk.Task("a")]), dk.Dag("e", [dk.Task("a")])]), "holds one Dag, this scenario has 2"),
    (dk.Scenario(dk.Dag("d", [dk.Task("a", pool="p\n")])), r"the name 'p\\n' has characters that cannot be printed"),
    (dk.Scenario(dk.Dag("d", [dk.Task("a")]), runs=2, outcomes={"a@1": ["fail"]}), "'a@1' holds for one run only"),
    (dk.Scenario(dk.Dag("d", [dk.Task("p", returns=1), dk.Task("a", "p", expand={"x": "p"}, branch=["b"]),
                              dk.Task("b", "a")])), "'a' is mapped and also branches"),
    ("d", "needs a Dag, a Scenario or what load gave back"),
])
def test_refusals(scenario: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(dk.DagkitError, match=message):
        dk.export_airflow(scenario, tmp_path / "d.py")
    assert list(tmp_path.iterdir()) == []


def test_bad_paths_and_ticks(tmp_path: Path) -> None:
    with pytest.raises(dk.DagkitError, match="must end in .py"):
        dk.export_airflow(dk.examples.orders(), tmp_path / "orders.txt")
    with pytest.raises(dk.DagkitError, match="tick_seconds must be a number > 0, not 0"):
        dk.export_airflow(dk.examples.orders(), tmp_path / "orders.py", tick_seconds=0)


def test_something_loaded_is_exported_in_a_unit_of_ones_choice(tmp_path: Path) -> None:
    loaded = dk.load("task,upstream,minutes\na,,90\nb,a,61\n")
    made = dk.export_airflow(loaded, tmp_path / "d.py", unit="h", tick_seconds=2)
    assert [task.duration for task in dk.load(made.dag_file).dag] == [2, 2]      # rounded up to whole hours
    assert made.report == ("For simulation, one tick is h; durations are rounded up to whole ticks, at least 1 "
                           "(2 of 2 changed).",)
    with pytest.raises(dk.DagkitError, match="unit= is for what load gave back"):
        dk.export_airflow(dk.examples.orders(), tmp_path / "o.py", unit="h")


def test_an_edited_export_is_refused_in_one_sentence(tmp_path: Path) -> None:
    text, _ = written(dk.examples.orders(), tmp_path)
    with pytest.raises(dk.DagkitError, match="expected a dictionary OUTCOMES"):
        dk.load(text.replace("OUTCOMES = {", "OUTCOMES = 3\nIGNORED = {"))


def test_what_a_task_does_there() -> None:
    """The part of the file that plays the script, run here with stand-ins for Airflow's names."""
    class Failed(Exception): ...
    class Hard(Failed): ...
    class Skipped(Exception): ...
    slept: list[float] = []
    space: dict[str, Any] = {
        "time": SimpleNamespace(sleep=slept.append), "timedelta": timedelta, "BaseOperator": object,
        "AirflowException": Failed, "AirflowFailException": Hard, "AirflowSkipException": Skipped, "TICK": 5,
        "OUTCOMES": {"a": ["fail", "success"], "m": ["skip"], "m[1]": ["fail_hard"], "p": ["success:2"]},
        "DURATIONS": {"m[1]": 4}}
    exec(compile(SCRIPTED, "exported", "exec"), space)

    def played(task_id: str, attempt: int, index: int | None = -1, returns: int | None = None) -> Any:
        ti = SimpleNamespace(task_id=task_id, map_index=index, try_number=attempt)
        return space["act"](SimpleNamespace(duration=2, returns=returns), {"ti": ti})

    for attempt, index, task_id, error in ((1, -1, "a", Failed), (1, 1, "m", Hard), (1, 0, "m", Skipped)):
        with pytest.raises(error):
            played(task_id, attempt, index)
    assert played("a", 2) is None and played("a", 3, None) is None      # a script that has ended: success
    assert played("p", 1, returns=9) == [0, 1] and played("p", 2, returns=3) == [0, 1, 2]
    assert played("other", 1, 7) == 7                                  # an instance pushes something to be mapped over
    assert slept == [10, 20, 10, 10, 10, 10, 10, 10] and space["ticks"](2) == timedelta(seconds=10)


def test_an_empty_dag_is_still_a_program(tmp_path: Path) -> None:
    ast.parse(dk.export_airflow(dk.Dag("d", []), tmp_path / "d.py").dag_file.read_text())


@pytest.mark.parametrize(("path", "more"), [(5, {}), ("no/such/folder/d.py", {}), ("a\0b.py", {}),
                                            ("d.py", {"tick_seconds": 10**400})])
def test_a_path_or_a_tick_that_cannot_be_is_refused(path: Any, more: Any) -> None:
    with pytest.raises(dk.DagkitError, match="export_airflow: "):
        dk.export_airflow(dk.Dag("d", []), path, **more)

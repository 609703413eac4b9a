"""Seven Dags that a real Airflow ran (``make airflow-run``), held against the simulation of the very file it ran."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dagkit as dk
from dagkit.formats import Loaded
from dagkit.recorded import did_run
from dagkit.states import AIRFLOW_VERSION

RUNS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "airflow_runs"
NAMES = sorted(path.stem for path in RUNS.glob("*.py"))
MARGIN = 0.02  # seconds: the recordings are rounded to hundredths


def read(name: str) -> tuple[Loaded, Loaded, float]:
    """(the Dag file, the run, seconds a tick lasted)."""
    file = dk.load(RUNS / f"{name}.py")
    recorded = json.loads((RUNS / f"{name}.run.json").read_text(encoding="utf-8"))
    assert recorded["recorded_with"].startswith(f"Airflow {AIRFLOW_VERSION},")
    return file, dk.load(RUNS / f"{name}.run.json", dag=file), recorded["tick_seconds"]


def test_all_are_there() -> None:
    assert NAMES == ["groups", "mapping", "orders", "orders_daily", "pools", "retries", "rules"]


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@pytest.mark.parametrize("name", NAMES)
def test_states_tries_and_run_state_agree(name: str, pacing: str) -> None:
    file, run, tick = read(name)
    found = dk.beside(dk.simulate(file.scenario(config=dk.Config(pacing=pacing))), run, tick)
    assert found.agrees, str(found)
    assert run.run is not None and run.run.state in ("success", "failed") and len(found.rows) == len(run.run)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_that_ran_is_what_the_kit_writes_today(name: str, tmp_path: Path) -> None:
    file, _, tick = read(name)
    made = dk.export_airflow(file, tmp_path / f"{name}.py", tick_seconds=tick)
    assert made.dag_file.read_bytes() == (RUNS / f"{name}.py").read_bytes()


def test_orders_is_the_example_of_the_lessons() -> None:
    assert dk.simulate(read("orders")[0].scenario()).log() == dk.simulate(dk.examples.orders()).log()


def test_orders_daily_is_the_file_of_the_lessons_with_minutes_shrunk() -> None:
    ran, file = read("orders_daily")[0].dag, dk.load(RUNS.parent / "orders_daily.py").dag
    for name in ("upstream", "expand", "pool", "retries", "trigger_rule"):
        assert [getattr(task, name) for task in ran] == [getattr(task, name) for task in file]
    assert list(ran.tasks) == list(file.tasks) and ran.options() == file.options()


@pytest.mark.parametrize("name", NAMES)
def test_the_recording_keeps_pools_and_dependencies(name: str) -> None:
    """Read from the times alone: a recording made with other pools than the file's would show here."""
    file, run, _ = read(name)
    assert run.run is not None
    rows = {row.task: row for row in run.run.rows if did_run(row)}
    for pool, slots in file.pools.items():
        held = {label: file.dag[task].pool_slots for label, task in _tasks(rows) if file.dag[task].pool == pool}
        for moment in (rows[label].start + MARGIN for label in held):
            used = sum(n for label, n in held.items() if rows[label].start <= moment < rows[label].end)
            assert used <= slots, f"{pool} at {moment}"
    ends = {}
    for label, task in _tasks(rows):
        ends[task] = max(ends.get(task, 0.0), rows[label].end)
    for label, task in _tasks(rows):
        if file.dag[task].trigger_rule == "all_success":
            group = file.dag[task].task_group                      # its own index inside, all of it outside
            before = [up for up in file.dag[task].upstream if group is None or file.dag[up].task_group != group]
            assert all(ends[up] <= rows[label].start + MARGIN for up in before), label


def _tasks(rows: dict[str, object]) -> Iterator[tuple[str, str]]:
    for label in rows:
        yield label, re.sub(r"\[\d+\]$", "", label)


def test_a_task_that_must_not_overlap_itself_did_not() -> None:
    rows = sorted((r.start, r.end) for r in read("pools")[1].run.rows if r.task.startswith("one_by_one["))
    assert len(rows) == 3 and all(a[1] <= b[0] for a, b in zip(rows, rows[1:], strict=False))


def test_nothing_of_the_machine_is_in_the_recordings() -> None:
    for path in RUNS.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(home|tmp|root|work|opt|Users)/|127\.0\.0|host|pid|unixname", text)
        assert set(re.findall(r"20\d\d-\d\d-\d\d", text)) <= {"2026-01-01"}

"""The tool that runs exported Dags: what needs no Airflow. That it runs them is shown by its recordings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dagkit as dk

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "notebooks" / "data" / "airflow_runs"
sys.path.insert(0, str(ROOT / "tools"))

from airflow_run import recording, standalone  # noqa: E402
from airflow_run.__main__ import main  # noqa: E402
from airflow_run.scenarios import SCENARIOS  # noqa: E402


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_recorded_files_are_its_scenarios(name: str, tmp_path: Path) -> None:
    tick = json.loads((RUNS / f"{name}.run.json").read_text(encoding="utf-8"))["tick_seconds"]
    made = dk.export_airflow(SCENARIOS[name](), tmp_path / f"{name}.py", tick_seconds=tick)
    assert made.dag_file.read_bytes() == (RUNS / f"{name}.py").read_bytes()


def test_the_scenarios_cover_what_they_promise() -> None:
    rules = {task.trigger_rule for task in SCENARIOS["rules"]().dag}
    assert rules == set(dk.trigger_rules.RULES)
    assert all(dk.simulate(pose()).warnings == [] for pose in SCENARIOS.values())


def test_a_recording_keeps_times_since_the_start_and_nothing_of_the_machine() -> None:
    run = {"dag_id": "d", "state": "failed", "start_date": "2031-05-06T07:08:09.5+00:00", "run_id": "r",
           "end_date": "2031-05-06T07:08:20Z"}
    row: dict[str, Any] = {
        "task_id": "a", "map_index": 2, "state": "failed", "try_number": 2, "pool": "p", "pool_slots": 1,
        "priority_weight": 3, "duration": 1.23456, "scheduled_when": None, "queued_when": "2031-05-06T07:08:10.123456Z",
        "start_date": "2031-05-06T07:08:11+00:00", "end_date": "2031-05-06T07:08:13Z", "hostname": "secret", "pid": 4,
        "unixname": "me"}
    made = recording.recorded(run, [row, {**row, "map_index": 0}], {"tick_seconds": 4})
    text = recording.text(made)
    assert "secret" not in text and "2031" not in text and json.loads(text) == made
    loaded = dk.load(text)
    assert loaded.run is not None and loaded.run.state == "failed"
    assert [(r.task, r.queued, r.start, r.end) for r in loaded.run.rows] == [
        ("a[0]", 0.62, 1.5, 3.5), ("a[2]", 0.62, 1.5, 3.5)]


def test_everything_listens_on_this_machine_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "CeleryExecutor")
    monkeypatch.setenv("AIRFLOW_HOME", "elsewhere")
    made = standalone.settings(tmp_path, tmp_path / "dags", 1234)
    assert made["AIRFLOW_HOME"] == str(tmp_path) and made["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    addresses = [value for name, value in made.items() if name.startswith("AIRFLOW") and "http" in value]
    assert addresses and all(value.startswith("http://127.0.0.1:1234") for value in addresses)
    assert made["AIRFLOW__API__HOST"] == "127.0.0.1" and "--skip-serve-logs" in standalone.COMPONENTS["scheduler"]


@pytest.mark.skipif(os.name != "posix", reason="process groups as POSIX has them")
def test_stopping_ends_the_children_too() -> None:
    parent = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60"], stdout=subprocess.PIPE,
                              start_new_session=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    standalone.stop(parent, patience=0.2)
    parent.stdout.close()
    for _ in range(50):                                    # the child's parent is gone; somebody has to reap it
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").exists() and Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child is still there")


def test_wrong_options_are_told_before_anything_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, sentence in ((["nosuch"], "'nosuch' is neither a file nor one of orders"),
                                (["orders", "--airflow", str(tmp_path / "no")], "make airflow-run installs it")):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2 and sentence in capsys.readouterr().err

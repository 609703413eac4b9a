"""The recorder's pure parts: what it asks, how it writes, and how it classes a run. No Airflow needed.

That the recorder asks a real Airflow correctly is shown by `make airflow-verify`, which has to
reproduce every answer in tests/data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT / "tools"))

from airflow_check import files, generate_tables, naive  # noqa: E402

COUNT = 40


def fresh(name: str, seed: int = 5) -> dict[str, Any]:
    return files.new_payload(name, files.read(DATA, name), seed, COUNT)


@pytest.mark.parametrize("name", files.FILES)
def test_questions_are_a_function_of_the_seed(name: str) -> None:
    assert fresh(name) == fresh(name)
    assert fresh(name) != fresh(name, seed=6)


def test_questions_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import json, pathlib; from airflow_check import files; "
        f"d = pathlib.Path({str(DATA)!r}); "
        "print(json.dumps([files.new_payload(n, files.read(d, n), 5, 40) for n in files.FILES]))"
    )
    texts = set()
    for hash_seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / "tools")}
        run = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        texts.add(run.stdout)
    assert len(texts) == 1


@pytest.mark.parametrize("name", files.FILES)
def test_fresh_questions_have_the_fields_of_the_recorded_ones(name: str) -> None:
    """A reader of the recorded files must find nothing it has never seen (one documented field apart)."""
    recorded = files.read(DATA, name)
    asked = fresh(name)
    for key in files.LISTS[name]:
        known = set().union(*(fields(case) for case in files.questions(name, recorded)[key]))
        for case in asked[key]:
            assert fields(case) - known <= {"tasks.*.max_active_tis_per_dag", "tasks.*.duration"}, case


def fields(value: Any, path: str = "") -> set[str]:
    """Every path to a field; names chosen by the case (task ids, pools, labels) are written as *."""
    if isinstance(value, list):
        return set().union(*(fields(item, path) for item in value)) if value else set()
    if not isinstance(value, dict):
        return {path}
    named = path in ("tasks", "dag", "dags", "dags.*.tasks", "pools", "initial", "script", "rerun.script")
    named = named or path.endswith(".expand")
    found: set[str] = set()
    for key, item in value.items():
        found |= fields(item, ".".join(filter(None, [path, "*" if named else key])))
    return found


def test_final_state_questions_are_dags_in_topological_order() -> None:
    for case in fresh("dagrun_final_states")["cases"]:
        seen: set[str] = set()
        for task, spec in case["tasks"].items():
            assert set(spec["upstream"]) <= seen, case["id"]
            seen.add(task)
            if "branch_follow" in spec:
                assert set(spec["branch_follow"]) <= {
                    t for t, s in case["tasks"].items() if task in s["upstream"]
                }
            setups = [u for u in spec["upstream"] if case["tasks"][u].get("setup")]
            if setups and not spec.get("teardown"):
                assert spec["trigger_rule"] == "all_success", "Airflow refuses any other rule below a setup"


def test_every_kind_is_asked() -> None:
    kinds = {case["kind"] for case in fresh("dagrun_final_states")["cases"]}
    assert kinds == {"plain", "durations", "branch", "teardown", "fail_fast", "deadlock"}
    families = {case["name"].split("_", 1)[1] for case in fresh("mapping")["cases"]}
    assert {"pushed", "literal", "product", "chained", "grouped", "rerun", "too_long"} <= families


def test_selection_questions_cannot_tie() -> None:
    """A tie would be decided by the database, so its recorded answer would mean nothing."""
    for case in fresh("selection")["cases"]:
        dates = {(run["dag"], run["run"]): run["logical_date"] for run in case["runs"]}
        assert len(set(dates.values())) == len(dates)
        keys = Counter(
            (ti["priority_weight"], dates[ti["dag"], ti["run"]], ti.get("map_index", -1))
            for ti in case["tis"]
        )
        assert max(keys.values()) == 1, case["id"]


def test_impossible_agrees_with_the_recorded_files() -> None:
    for case in files.read(DATA, "selection")["cases"]:
        found = any(generate_tables.impossible(ti, case["pools"]) for ti in case["tis"])
        assert found == case["has_impossible_ti"], case["id"]


@pytest.mark.parametrize("name", files.FILES)
def test_writing_and_reading_gives_the_same_and_no_answer_survives_questions(
    name: str, tmp_path: Path
) -> None:
    recorded = files.read(DATA, name)
    path = files.write(tmp_path, name, recorded)
    assert files.read(tmp_path, name) == recorded
    assert path.read_bytes() == files.write(tmp_path / "again", name, recorded).read_bytes()
    for key, answers in files.LISTS[name].items():
        assert files.size(name, recorded) > 0
        assert not any(set(case) & set(answers) for case in files.questions(name, recorded)[key])


def test_differences_name_the_case_and_the_answer() -> None:
    recorded = files.read(DATA, "dagrun_final_states")
    changed = json.loads(json.dumps(recorded))
    assert list(files.differences("dagrun_final_states", recorded, changed)) == []
    case = changed["cases"][3]
    before, case["dag_run_state"] = case["dag_run_state"], "running"
    found = list(files.differences("dagrun_final_states", recorded, changed))
    assert found == [(case["id"], "dag_run_state", before, "running")]


def test_the_simple_model_reproduces_every_recorded_run_tick_for_tick() -> None:
    cases = files.read(DATA, "dagrun_final_states")["cases"]
    assert [case["id"] for case in cases if not naive.reproduces(case)] == []


def test_the_simple_model_can_tell_a_wrong_recording() -> None:
    case = json.loads(json.dumps(files.read(DATA, "dagrun_final_states")["cases"][0]))
    case["ticks"][0]["sched"] = []
    assert not naive.reproduces(case)
    assert naive.timing_class(case) == "exact"


def test_timing_classes_agree_with_those_recorded() -> None:
    """The recorded classes come from another model. Asked: all that are not free, and some that are.

    Two recorded as free are not. With other durations a branch passes a child by while that child runs and
    nothing else can start; Airflow 3.3.2 then skips the running child and fails the run as deadlocked.
    """
    cases = files.read(DATA, "dagrun_final_states")["cases"]
    chosen = [case for case in cases if case["timing_class"] != "free"] + cases[::24]
    chosen = [case for case in chosen if case["id"] not in ("c218", "c246")]
    wrong = {c["id"]: naive.timing_class(c) for c in chosen if naive.timing_class(c) != c["timing_class"]}
    assert wrong == {}


def test_the_deadlock_check_skips_a_running_child_that_its_branch_passed_by() -> None:
    """Recorded from Airflow 3.3.2: `late` starts early (one_success) and is still running when `b` decides."""
    success = {"trigger_rule": "all_success", "retries": 0, "outcomes": ["success"]}
    tasks = {
        "a": success | {"upstream": []},
        "b": success | {"upstream": ["a"], "branch_follow": []},
        "late": success | {"upstream": ["a", "b"], "trigger_rule": "one_success", "duration": 5},
    }
    model = naive.Model(naive.Shape({"id": "x", "tasks": tasks}), {"a": 1, "b": 1, "late": 5}).replay()
    assert model.state == {"a": "success", "b": "success", "late": "skipped"}
    assert model.run_state == "failed"
    assert model.ticks[-1] == {"sched": [], "set": {"late": "skipped"}}


def test_the_simple_model_knows_the_recorded_trigger_rules() -> None:
    for case in files.read(DATA, "trigger_rules")["cases"]:
        assert naive.rule_verdict(case["rule"], case["upstream"], []) == case["verdict"], case

"""Recorded planning cases and recorded priority totals, from the directory DAGKIT_CASES."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dagkit.dag import Dag
from dagkit.planning import critical_path, lower_bound, makespan, schedule, waves
from dagkit.weights import priority_totals

pytestmark = pytest.mark.conformance


def replay(cases_dir: Path, name: str, mismatch: Any) -> int:
    """Run every case of every file of that name; say how many, or fail with the cases that differ."""
    cases = []
    for path in sorted(cases_dir.rglob(name)):
        held = json.loads(path.read_text(encoding="utf-8"))
        cases += held["cases"] if isinstance(held, dict) else held
    differing = [found for case in cases if (found := mismatch(case))]
    assert not differing, f"{len(differing)} of {len(cases)} cases differ; first: {differing[0]}"
    return len(cases)


def planning_mismatch(case: dict[str, Any]) -> str:
    dag = Dag.from_dict(case["dag"])
    slots = [int(n) for n in case["makespan"]]
    found = {
        "waves": waves(dag),
        "critical_path": critical_path(dag).length,
        "makespan": {str(n): makespan(dag, n) for n in slots},
    }
    wrong = [f"{key} is {found[key]}, recorded {case[key]}" for key in found if found[key] != case[key]]
    wrong += [f"{n} slots: bound above the makespan" for n in slots if lower_bound(dag, n) > makespan(dag, n)]
    wrong += [f"{n} slots: no such schedule" for n in slots if schedule(dag, n).makespan != makespan(dag, n)]
    return f"{case['name']}: {'; '.join(wrong)}" if wrong else ""


def weights_mismatch(case: dict[str, Any]) -> str:
    found = priority_totals(Dag.from_dict(case["tasks"]))
    return f"{case['id']}: {found}, recorded {case['total']}" if found != case["total"] else ""


def test_planning_cases(cases_dir, count):
    count("planning.json", replay(cases_dir, "planning.json", planning_mismatch))


def test_priority_weight_cases(cases_dir, count):
    count("priority_weights.json", replay(cases_dir, "priority_weights.json", weights_mismatch))


@pytest.mark.parametrize(("name", "mismatch", "spoil"), [
    ("planning.json", planning_mismatch, lambda case: case["makespan"].update({"1": -1})),
    ("planning.json", planning_mismatch, lambda case: case.update(waves=[["x"]])),
    ("priority_weights.json", weights_mismatch, lambda case: case["total"].update(t0=-1)),
])
def test_a_spoiled_case_is_noticed(name, mismatch, spoil, tmp_path):
    shipped = json.loads((Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8"))
    cases = shipped["cases"] if isinstance(shipped, dict) else shipped
    spoil(cases[-1])
    (tmp_path / name).write_text(json.dumps(cases), encoding="utf-8")
    with pytest.raises(AssertionError, match=f"1 of {len(cases)} cases differ"):
        replay(tmp_path, name, mismatch)

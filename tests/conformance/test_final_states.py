"""dagrun_final_states.json: whole runs of the real scheduler."""

from __future__ import annotations

from typing import Any

import pytest

import dagkit as dk

from .airflow_cases import final_state_scenario, passes


def outcome(trace: dk.Trace) -> dict[str, Any]:
    return {"final": trace.final_states, "tries": trace.tries, "dag_run_state": trace.run_state}


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_final_states_tries_and_run_state(recorded: Any, count: Any, pacing: str) -> None:
    wrong = []
    cases = [c for file in recorded("dagrun_final_states.json") for c in file["cases"]]
    for case in cases:
        if case["timing_class"] == "exact" and pacing == "lesson":
            continue                                       # holds only where the timing of the passes is copied
        trace = dk.simulate(final_state_scenario(case, pacing))
        got = outcome(trace)
        differ = [k for k in got if got[k] != case[k]]
        if differ:
            wrong.append(f"{case['id']} ({case['kind']}): {differ[0]}: {got[differ[0]]} instead of {case[differ[0]]}")
    count("dagrun_final_states.json", len(cases) if pacing == "airflow" else 0)
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong[:10])


def test_every_pass_under_airflow_pacing(recorded: Any) -> None:
    wrong = []
    cases = [c for file in recorded("dagrun_final_states.json") for c in file["cases"]]
    for case in cases:
        got = passes(dk.simulate(final_state_scenario(case, "airflow")))
        for n, want in enumerate(case["ticks"]):
            mine = got[n] if n < len(got) else {"sched": [], "set": {}}
            same = (sorted(mine["sched"]) == sorted(want["sched"]) and mine["set"] == want.get("set", {})
                    and mine.get("end", {}) == want.get("end", {}))
            if not same:
                wrong.append(f"{case['id']} ({case['kind']}) pass {n}: {mine} instead of {want}")
                break
        else:
            if len(got) > case["n_ticks"]:
                wrong.append(f"{case['id']}: {len(got)} passes instead of {case['n_ticks']}")
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong[:10])

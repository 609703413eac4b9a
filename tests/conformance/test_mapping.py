"""mapping.json: dynamic task mapping of the real scheduler, pass by pass."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import dagkit as dk

from .airflow_cases import padded, passes

OPTIONS = {"upstream", "trigger_rule", "retries", "expand"}


def mapped_dag(case: dict[str, Any]) -> dk.Dag:
    groups = {name: spec for name, spec in case["dag"].items() if "group" in spec}
    member = {task: name for name, spec in groups.items() for task in spec["group"]}
    tasks = []
    for task_id, spec in case["dag"].items():
        if task_id in groups:
            continue
        assert set(spec) <= OPTIONS, f"{case['name']}: cannot express {set(spec) - OPTIONS}"
        tasks.append(dk.Task(task_id, spec["upstream"], trigger_rule=spec.get("trigger_rule", "all_success"),
                             retries=spec.get("retries", 0), retry_delay=0, task_group=member.get(task_id),
                             expand=over(spec["expand"]) if "expand" in spec else None))
    return dk.Dag(case["name"], tasks, groups={n: over(s["expand"]) for n, s in groups.items()}, max_active_tasks=10_000)


def over(expand: dict[str, str]) -> dict[str, Any]:
    return {arg: int(source.split()[-1]) if source.startswith("literal list of") else source
            for arg, source in expand.items()}


def scenario(case: dict[str, Any], pacing: str, rerun_at: int | None = None) -> dk.Scenario:
    rerun = case.get("rerun")
    changes = ()
    if rerun and rerun_at:
        script = {**{label: [] for label in case["script"]}, **{t: padded(s) for t, s in rerun["script"].items()}}
        changes = ((rerun_at, {"clear": rerun["clear"], "outcomes": script}),)
    return dk.Scenario(mapped_dag(case), outcomes={label: padded(s) for label, s in case["script"].items()},
                       pools={"default_pool": -1}, executor=dk.LocalExecutor(handover=0), changes=changes,
                       config=dk.Config(pacing=pacing, parallelism=10_000, max_tis_per_query=0))


def simulated(case: dict[str, Any], pacing: str) -> dk.Trace:
    first = dk.simulate(scenario(case, pacing))
    if "rerun" not in case:
        return first
    return dk.simulate(scenario(case, pacing, rerun_at=(first.run().ended or 0) + 1))


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_final_states(recorded: Any, count: Any, pacing: str) -> None:
    wrong = []
    cases = [c for file in recorded("mapping.json") for c in file["cases"]]
    for case in cases:
        trace = simulated(case, pacing)
        got: dict[str, Any] = {"dag_run_state": trace.run_state}
        if "final" in case:
            got |= {"final": trace.final_states, "tries": trace.tries}
        if "final_counts" in case:
            got["final_counts"] = dict(Counter(f"{label.partition('[')[0]}:{state}"
                                               for label, state in trace.final_states.items()))
        wrong += [f"{case['name']}: {k}: {got[k]} instead of {case[k]}" for k in got if k in case and got[k] != case[k]]
    count("mapping.json", len(cases) if pacing == "airflow" else 0)
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:10])


def test_every_pass_under_airflow_pacing(recorded: Any) -> None:
    wrong = []
    for case in [c for file in recorded("mapping.json") for c in file["cases"]]:
        got = passes(simulated(case, "airflow"))
        want = [t for t in case["ticks"] if "cleared" not in t]
        for n, tick in enumerate(want):
            mine = got[n] if n < len(got) else {"sched": [], "set": {}}
            if not same(mine, tick):
                wrong.append(f"{case['name']} pass {n}: {str(mine)[:300]} instead of {str(tick)[:300]}")
                break
        else:
            if len(got) != len(want):
                wrong.append(f"{case['name']}: {len(got)} passes instead of {len(want)}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:10])


def same(mine: dict[str, Any], tick: dict[str, Any]) -> bool:
    """Large passes are recorded shortened: "1024 tis" and two names, or only a count."""
    sched, end = tick.get("sched", []), tick.get("end", {})
    if sched and sched[0].endswith(" tis"):
        if len(mine["sched"]) != int(sched[0].split()[0]) or not set(sched[1:]) <= set(mine["sched"]):
            return False
    elif sorted(mine["sched"]) != sorted(sched):
        return False
    ends = mine.get("end", {})
    return mine["set"] == tick.get("set", {}) and (len(ends) == end["count"] if "count" in end else ends == end)

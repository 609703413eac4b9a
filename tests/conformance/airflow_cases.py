"""Recorded Airflow cases, expressed in the kit's own words."""

from __future__ import annotations

from typing import Any

import dagkit as dk

MANY_TRIES = 60   # a recorded script repeats its last entry


def padded(script: list[str]) -> list[str]:
    return [*script, *[script[-1]] * MANY_TRIES] if script else []


def final_state_dag(case: dict[str, Any]) -> dk.Dag:
    """The Dag of one case of dagrun_final_states.json."""
    known = {"upstream", "trigger_rule", "retries", "outcomes", "duration", "setup", "teardown",
             "on_failure_fail_dagrun", "branch_follow", "short_circuit", "depends_on_past", "max_active_tis_per_dag"}
    tasks = []
    for task_id, spec in case["tasks"].items():
        assert set(spec) <= known, f"{case['id']}: cannot express {set(spec) - known}"
        tasks.append(dk.Task(
            task_id, spec["upstream"], trigger_rule=spec["trigger_rule"], retries=spec["retries"], retry_delay=0,
            duration=spec.get("duration", 1), is_setup=spec.get("setup", False), is_teardown=spec.get("teardown", False),
            on_failure_fail_dagrun=spec.get("on_failure_fail_dagrun", False), branch=spec.get("branch_follow"),
            short_circuit="hard" if spec.get("short_circuit") else None,
            depends_on_past=spec.get("depends_on_past", False),
            max_active_tis_per_dag=spec.get("max_active_tis_per_dag")))
    return dk.Dag(case["id"], tasks, fail_fast=case.get("fail_fast", False), max_active_tasks=10_000)


def final_state_scenario(case: dict[str, Any], pacing: str, **changes: Any) -> dk.Scenario:
    return dk.Scenario(
        final_state_dag(case), outcomes={t: padded(spec["outcomes"]) for t, spec in case["tasks"].items()},
        initial=case.get("initial"), pools={"default_pool": -1}, executor=dk.LocalExecutor(handover=0),
        config=dk.Config(pacing=pacing, parallelism=10_000, max_tis_per_query=0), **changes)


def passes(trace: dk.Trace) -> list[dict[str, Any]]:
    """The trace in the words of a recorded pass: what was scheduled, what the scheduler set, how tries ended."""
    ticks: dict[int, dict[str, Any]] = {}
    for event in trace.events.to_dict("records"):
        label = event["task_id"] if event["map_index"] < 0 else f"{event['task_id']}[{event['map_index']}]"
        here = ticks.setdefault(event["tick"], {"sched": [], "set": {}})
        if event["new"] == "scheduled":
            here["sched"].append(label)
        elif event["old"] == "running" and event["cause"] not in ("fail_fast", "trigger_rule"):
            ticks.setdefault(event["tick"] - 1, {"sched": [], "set": {}}).setdefault("end", {})[label] = event["new"]
        elif event["cause"] in ("trigger_rule", "mapping_shrank"):
            here["set"][label] = event["new"]
    last = max(r.ended or 0 for r in trace._runs)
    return [ticks.get(t, {"sched": [], "set": {}}) for t in range(1, max([last, *ticks]) + 1)]

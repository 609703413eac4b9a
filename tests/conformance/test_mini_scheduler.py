"""mini_scheduler*.json and orders_trace.txt: the golden cases, event for event and line for line."""

from __future__ import annotations

from typing import Any

import pytest

import dagkit as dk

from .conftest import cases_root

pytestmark = pytest.mark.conformance

KNOWN = {"id", "upstream", "outcomes", "pool", "duration", "retries", "retry_delay", "trigger_rule",
         "priority_weight", "pool_slots"}


def scenario(case: dict[str, Any]) -> dk.Scenario:
    tasks = []
    for spec in case["tasks"]:
        assert set(spec) <= KNOWN, f"{case['name']}: cannot express {set(spec) - KNOWN}"
        options = {k: v for k, v in spec.items() if k not in ("id", "upstream", "outcomes")}
        tasks.append(dk.Task(spec["id"], spec["upstream"], weight_rule="absolute", **options))
    return dk.Scenario(dk.Dag(case["name"], tasks, max_active_tasks=case["max_active_tasks"]), pools=case["pools"],
                       outcomes={spec["id"]: spec["outcomes"] for spec in case["tasks"]})


def test_event_for_event(recorded: Any, count: Any) -> None:
    wrong, cases = [], [case for file in recorded("mini_scheduler*.json") for case in file]
    for case in cases:
        trace = dk.simulate(scenario(case))
        events = [[e.tick, e.task_id, e.old, e.new] for e in trace.events.itertuples()]
        if events != case["events"]:
            n = next((n for n, pair in enumerate(zip(events, case["events"], strict=False)) if pair[0] != pair[1]),
                     min(len(events), len(case["events"])))
            wrong.append(f"{case['name']} event {n}: {events[n:n + 1]} instead of {case['events'][n:n + 1]}")
        elif (trace.final_states, trace.last_tick) != (case["final"], case["last_tick"]):
            wrong.append(f"{case['name']}: {trace.final_states} at {trace.last_tick} instead of {case['final']}")
    count("mini_scheduler*.json", len(cases))
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong[:10])


def test_orders_line_for_line() -> None:
    for path in sorted(cases_root().rglob("orders_trace.txt")):
        assert dk.simulate(dk.examples.orders()).log().strip() == path.read_text(encoding="utf-8").strip()

"""The loop on one page: held to the golden cases, and the engine held to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagkit as dk
from dagkit.naive import MiniScheduler

DATA = Path(__file__).parent / "data"
SCHEDULER_CASES = [case for name in ("mini_scheduler.json", "mini_scheduler_order.json")
                   for case in json.loads((DATA / name).read_text(encoding="utf-8"))]


def scenario_of(case):
    tasks = []
    for spec in case["tasks"]:
        rest = {name: value for name, value in spec.items() if name not in ("id", "upstream", "outcomes")}
        tasks.append(dk.Task(spec["id"], spec["upstream"], weight_rule="absolute", **rest))
    dag = dk.Dag(case["name"], tasks, max_active_tasks=case["max_active_tasks"])
    return dk.Scenario(dag, pools=case["pools"],
                       outcomes={spec["id"]: spec["outcomes"] for spec in case["tasks"]})


@pytest.mark.parametrize("case", SCHEDULER_CASES, ids=lambda case: case["name"])
def test_recorded_cases_event_for_event(case):
    loop = MiniScheduler(scenario_of(case)).play()
    assert [list(event) for event in loop.events] == case["events"]
    assert loop.states == case["final"]


def test_orders_line_for_line():
    recorded = (DATA / "orders_trace.txt").read_text(encoding="utf-8").rstrip("\n")
    assert MiniScheduler(dk.examples.orders()).play().log() == recorded


def engine_events(trace):
    return [(tick, task, old, new) for tick, task, old, new in
            zip(*(trace.events[name].tolist() for name in ("tick", "task_id", "old", "new")), strict=True)]


@st.composite
def scenarios(draw):
    """Random Dags, declared in any order, with everything the loop knows."""
    count = draw(st.integers(1, 9))
    ids = draw(st.permutations([f"t{i}" for i in range(count)]))
    rank = {task_id: int(task_id[1:]) for task_id in ids}
    tasks, outcomes, durations = [], {}, {}
    for task_id in ids:
        earlier = [other for other in ids if rank[other] < rank[task_id]]
        upstream = draw(st.lists(st.sampled_from(earlier), max_size=3, unique=True)) if earlier else []
        tasks.append(dk.Task(
            task_id, upstream, duration=draw(st.integers(1, 4)),
            pool=draw(st.sampled_from(["db", "default_pool"])), pool_slots=draw(st.integers(1, 2)),
            retries=draw(st.integers(0, 2)), retry_delay=draw(st.integers(0, 3)),
            trigger_rule=draw(st.sampled_from(["all_success", "all_done"])),
            priority_weight=draw(st.integers(1, 3)),
            weight_rule=draw(st.sampled_from(["downstream", "upstream", "absolute"]))))
        words = st.sampled_from(["success", "fail", "fail", "fail_hard", "skip"])
        outcomes[task_id] = draw(st.lists(words, max_size=3))
        if draw(st.booleans()):
            durations[task_id] = draw(st.integers(1, 4))
    dag = dk.Dag("random", tasks, max_active_tasks=draw(st.integers(1, 4)))
    pools = {"db": draw(st.integers(0, 3)), "default_pool": draw(st.sampled_from([-1, 1, 2, 5]))}
    return dk.Scenario(dag, pools=pools, outcomes=outcomes, durations=durations)


@given(scenarios())
def test_the_engine_gives_the_identical_trace(scenario):
    loop, trace = MiniScheduler(scenario).play(), dk.simulate(scenario)
    assert loop.events == engine_events(trace)
    assert loop.states == trace.final_states
    assert loop.tries == trace.tries
    assert loop.log() == trace.log()


def test_a_wide_dag_meets_parallelism():
    """More tasks than max_active_tasks would hold back: the ceiling is then what one scheduler may run."""
    dag = dk.Dag("wide", [dk.Task(f"t{i:02}") for i in range(50)], max_active_tasks=100)
    loop, trace = MiniScheduler(dag).play(), dk.simulate(dag)
    assert sum(new == "queued" for tick, _, _, new in loop.events if tick == 1) == dk.Config().parallelism
    assert loop.events == engine_events(trace)


def test_tick_by_tick():
    loop = MiniScheduler(dk.examples.orders())
    loop.tick()
    assert loop.now == 1
    assert [task for task, state in loop.states.items() if state == "queued"] == ["extract_orders"]
    assert [task for task, state in loop.states.items() if state == "scheduled"] == ["extract_users"]


@pytest.mark.parametrize("pool", ["nowhere", "tiny"])
def test_what_can_never_start_ends_the_loop(pool):
    dag = dk.Dag("stuck", [dk.Task("a", pool=pool, pool_slots=2)])
    loop = MiniScheduler(dag, pools={"tiny": 1}).play()
    assert (loop.now, loop.states) == (1, {"a": "scheduled"})


def test_an_empty_dag_ends_at_once():
    loop = MiniScheduler(dk.Dag("empty")).play()
    assert (loop.events, loop.states) == ([], {})


@pytest.mark.parametrize(("scenario", "message"), [
    (dk.Scenario(dk.Dag("d", [dk.Task("a", trigger_rule="one_failed")])),
     "task 'a': the loop of lesson 3 does not know trigger_rule='one_failed'. Use dk.simulate, which does."),
    (dk.Scenario(dk.Dag("d", [dk.Task("a", depends_on_past=True)])),
     "task 'a': the loop of lesson 3 does not know depends_on_past=True. Use dk.simulate, which does."),
    (dk.Scenario(dk.Dag("d", [dk.Task("a")]), runs=2), "Dag 'd': the loop of lesson 3 plays one run"),
    (dk.Scenario(dk.Dag("d", [dk.Task("a")]), executor=dk.LocalExecutor(handover=0)), "the usual executor"),
    (dk.Scenario(dk.Dag("d", [dk.Task("a")], fail_fast=True)), "without faults, changes, fail_fast"),
    (dk.Scenario(dk.Dag("d", [dk.Task("load")]), outcomes={"laod": ["fail"]}), "Did you mean 'load'?"),
])
def test_what_it_does_not_know_is_refused(scenario, message):
    with pytest.raises(dk.DagkitError, match=re.escape(message)):
        MiniScheduler(scenario)


def test_a_hostile_id_stays_on_its_line():
    loop = MiniScheduler(dk.Dag("d", [dk.Task("a\nb<script>\ud800")])).play()
    assert len(loop.log().splitlines()) == len(loop.events)
    loop.log().encode()

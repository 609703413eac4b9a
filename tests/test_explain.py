"""Why a task instance is where it is: the first failing check, its blockers, its next change, in one sentence."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import Task as T

from .random_scenarios import random_changes, random_scenario

AT_ONCE = dk.LocalExecutor(handover=0)


def play(*tasks: T, dag: Any = None, **scenario: Any) -> dk.Trace:
    scenario.setdefault("executor", AT_ONCE)
    return dk.simulate(dk.Dag("d", tasks, **(dag or {})), **scenario)


def said(trace: dk.Trace, task: str, tick: int, **which: Any) -> tuple[str, tuple[str, ...], int | None]:
    reason = trace.explain(task, tick, **which)
    return reason.code, reason.blockers, reason.unblocks_at


# ---- the checks, one by one --------------------------------------------------------------------------------------


def test_printing_a_reason_gives_the_sentence() -> None:
    reason = dk.simulate(dk.examples.orders()).explain("extract_users", 1)
    assert str(reason) == "extract_users is scheduled: pool 'db' is full (1 of 1 used by extract_orders)."
    assert (reason.state, reason.code, reason.blockers, reason.unblocks_at) == (
        "scheduled", "pool", ("extract_orders",), 4)
    assert reason.remedy == "give pool 'db' more slots"


def test_orders_from_beginning_to_end() -> None:
    """publish waits for its upstream, and is then lost to a failure it never saw itself."""
    trace = dk.simulate(dk.examples.orders())
    first, last = trace.explain("publish", 1), trace.explain("publish")
    assert (first.code, first.blockers) == ("trigger_rule", ("quality_check",))
    assert (last.state, last.code, last.blockers) == ("upstream_failed", "trigger_rule", ("quality_check",))
    assert "quality_check is failed" in last.text
    assert trace.explain("cleanup_tmp").code == "finished"


def test_the_first_failing_check_speaks() -> None:
    """In Airflow's order: parallelism, pool, the run's cap, the task's own caps."""
    one = T("one", priority_weight=9, duration=5, pool="p")
    two = T("two", pool="p", max_active_tis_per_dagrun=1)
    limits = {"pools": {"p": 1}, "dag": {"max_active_tasks": 1}}
    assert said(play(one, two, config=dk.Config(parallelism=1), **limits), "two", 1)[0] == "parallelism"
    assert said(play(one, two, **limits), "two", 1)[0] == "pool"
    assert said(play(one, two, pools={"p": 2}, dag={"max_active_tasks": 1}), "two", 1)[0] == "max_active_tasks"


@pytest.mark.parametrize("cap, code, blocker", [
    ({"max_active_tis_per_dagrun": 1}, "max_active_tis_per_dagrun", "m[0]"),
    ({"max_active_tis_per_dag": 1}, "max_active_tis_per_dag", "m[0]")])
def test_a_task_that_must_not_overlap_itself(cap: dict[str, int], code: str, blocker: str) -> None:
    trace = play(T("m", expand={"x": 3}, duration=4, **cap))
    assert said(trace, "m[1]", 2) == (code, (blocker,), 5)


def test_pool_slots_say_how_many_are_missing() -> None:
    trace = play(T("a", pool="p", pool_slots=2, duration=4, priority_weight=9), T("b", pool="p", pool_slots=2),
                 pools={"p": 3})
    reason = trace.explain("b", 1)
    assert reason.text == "pool 'p' has too little room (2 of 3 used by a, and it needs 2)."


def test_runs_that_wait() -> None:
    trace = play(T("a", duration=5), dag={"max_active_runs": 1}, runs=dk.Runs(3, every=2))
    assert said(trace, "a", 1, run=2)[0] == "run_not_due"
    reason = trace.explain("a", 4, run=1)
    assert (reason.state, reason.code, reason.remedy) == ("none", "max_active_runs", "raise max_active_runs")
    assert "d@0" in reason.text and reason.unblocks_at == 6


def test_the_previous_run() -> None:
    trace = play(T("a", depends_on_past=True), runs=2, outcomes={"a@0": ["fail"]})
    reason = trace.explain("a", run=1)
    assert (reason.code, reason.blockers, reason.unblocks_at) == ("previous_run", ("a@0",), None)
    below = play(T("a", wait_for_downstream=True), T("b", "a", duration=5), runs=2)
    assert said(below, "a", 3, run=1) == ("previous_run", ("b@0",), 7)


def test_setups_and_teardowns() -> None:
    trace = play(T("s", is_setup=True, duration=3), T("w", "s"), T("other"), T("late", ["w", "other"]),
                 T("inner", "w", duration=4), T("td", ["s", "other"], is_teardown=True), T("end", "inner"))
    assert said(trace, "late", 2)[0] == "trigger_rule"
    under = play(T("s", is_setup=True, duration=3), T("w", "s", trigger_rule="always"), T("x", "w"))
    assert said(under, "x", 2) == ("setup", ("s",), 4)
    scope = play(T("s", is_setup=True), T("w", "s", duration=2), T("far", "w", duration=5), T("near", "s"),
                 T("gate", "far", trigger_rule="always"), T("td", ["s", "near", "gate"], is_teardown=True))
    assert said(scope, "td", 4) == ("teardown_scope", ("far",), 9)


def test_a_removed_setup_holds_its_work_for_ever() -> None:
    trace = play(T("s", is_setup=True), T("w", "s"), T("x", "w", max_active_tis_per_dag=9), initial={"s": "removed"})
    assert trace.stalled and trace.final_states == {"s": "removed", "w": "success", "x": "none"}
    assert said(trace, "x", trace.last_tick) == ("setup", ("s",), None)


def test_a_rule_that_can_never_hold() -> None:
    trace = play(T("a"), T("w", "a", trigger_rule="all_skipped", depends_on_past=True), initial={"a": "removed"})
    reason = trace.explain("w")
    assert (reason.code, reason.blockers, reason.unblocks_at) == ("trigger_rule", ("a",), None)
    assert "can never hold" in reason.text


def test_retries_count_what_is_left_of_them() -> None:
    trace = play(T("a", retries=1, retry_delay=4), outcomes={"a": ["fail", "fail", "fail", "fail"]},
                 changes=[(8, {"clear": ["a"]})])
    first = trace.explain("a", 2)
    assert first.text == "try 1 of 2 failed; the next one may start at tick 6 (retry_delay)."
    assert (first.unblocks_at, first.known_ahead) == (6, True)
    assert trace.states_at(7)["a"] == "failed", "both tries are used up, then it is cleared"
    assert trace.explain("a", 9).text.startswith("try 3 of 4 failed"), "cleared at try 2, with all its retries again"


def test_a_worker_runs_it_until_a_known_tick() -> None:
    trace = play(T("a", duration=7), executor=dk.LocalExecutor(handover=2))
    queued, running = trace.explain("a", 1), trace.explain("a", 4)
    assert (queued.code, queued.unblocks_at) == ("worker", 3)
    assert (running.code, running.unblocks_at, running.known_ahead) == ("running", 10, True)


def test_causes_of_states_that_no_rule_gave() -> None:
    def cause(task: str, *tasks: T, **more: Any) -> str:
        return play(*tasks, **more).explain(task).code
    assert cause("y", T("b", branch=["x"]), T("x", "b"), T("y", "b")) == "branch"
    assert cause("z", T("g", short_circuit="hard"), T("y", "g"), T("z", "y")) == "short_circuit"
    assert cause("a", T("a"), outcomes={"a": "skip"}) == "own_skip"
    assert cause("b", T("a"), T("b", duration=9), dag={"fail_fast": True}, outcomes={"a": "fail"}) == "fail_fast"
    assert cause("a", T("a", duration=9), dag={"dagrun_timeout": 2}) == "dagrun_timeout"
    assert cause("a", T("a", duration=9, execution_timeout=2)) == "execution_timeout"
    assert cause("p", T("p", returns=9), T("m", expand={"x": "p"}), config=dk.Config(max_map_length=4)) == \
        "max_map_length"
    assert cause("p", T("p"), T("m", expand={"x": "p"})) == "no_list"
    assert cause("m", T("p", returns=0), T("m", expand={"x": "p"})) == "mapping_source"


def test_the_window_hides_what_would_fit() -> None:
    """Two rows that can never run fill the window of two; the third would fit."""
    trace = play(T("big1", pool="p", pool_slots=2, priority_weight=9), T("big2", pool="p", pool_slots=2,
                 priority_weight=8), T("holder", pool="p", duration=6, priority_weight=20), T("small"), pools={"p": 2},
                 config=dk.Config(pacing="airflow", max_tis_per_query=1))
    hidden = [tick for tick in range(1, trace.last_tick) if trace.explain("small", tick).code == "not_examined"]
    assert hidden, "while the window is spent on others"
    lesson = play(T("holder", pool="p", duration=6, priority_weight=20), T("small"), pools={"p": 2})
    assert all(lesson.explain("small", t).code != "not_examined" for t in range(lesson.last_tick))


# ---- over time ---------------------------------------------------------------------------------------------------


def test_why_is_the_reasons_of_one_task_over_time() -> None:
    why = dk.simulate(dk.examples.orders()).why("transform")
    assert list(why["reason"])[:3] == ["run_not_due", "trigger_rule", "trigger_rule"], "nothing is due at tick 0"
    assert "retry_delay" in list(why["reason"])
    starts, ends = list(why["from"]), list(why["to"])
    assert starts[0] == 0 and ends[-1] == 16
    assert all(a + 1 == b for a, b in zip(ends, starts[1:], strict=False)), "no gap, no overlap"


def test_waiting_is_everything_unfinished_with_its_reason() -> None:
    trace = dk.simulate(dk.examples.orders())
    waiting = trace.waiting(3)
    assert set(waiting.index) == {label for label, state in trace.states_at(3).items()
                                  if state not in ("success", "failed", "skipped", "upstream_failed")}
    assert waiting.loc["extract_users", "reason"] == "pool"
    assert trace.waiting().empty, "at the end all is finished"


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_the_reasons_over_time_are_those_of_each_tick(seed: int) -> None:
    """One walk through the trace and a question for each tick give the same answers, changes on the way included."""
    rng = Random(seed)
    scenario = random_scenario(rng)
    trace = dk.simulate(random_changes(rng, scenario) if seed % 2 else scenario)
    for label, line in trace.reasons.items():
        assert [a for a, _, _ in line[1:]] == [b + 1 for _, b, _ in line[:-1]]
        for start, end, reason in line:
            for tick in {start, (start + end) // 2, end}:
                assert trace.explain(label, tick) == reason
    table = trace.table(trace.last_tick // 2)
    for label, row in table.iterrows():
        reason = trace.explain(label, trace.last_tick // 2)
        assert (row["state"], row["reason"], row["why"]) == (reason.state, reason.code, reason.text)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_after_a_change_no_reason_is_empty_and_blockers_exist(seed: int) -> None:
    rng = Random(seed)
    trace = dk.simulate(random_changes(rng, random_scenario(rng)))
    for tick in {1, trace.last_tick // 3, 2 * trace.last_tick // 3, trace.last_tick}:
        states = trace.states_at(tick)
        for label, state in states.items():
            reason = trace.explain(label, tick)
            assert (reason.label, reason.state) == (label, state)
            assert reason.code and reason.text.endswith((".", "?")) and set(reason.blockers) <= set(states)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_meters_count_what_the_events_say(seed: int) -> None:
    """Each meter against a count of queued and running tasks at that tick."""
    trace = dk.simulate(random_scenario(Random(seed)))
    dags = {dag.dag_id: dag for dag in trace.scenario.dags}
    for meter in trace.meters:
        assert meter.used[0] == (0, 0)
        assert all(a[0] < b[0] and a[1] != b[1] for a, b in zip(meter.used, meter.used[1:], strict=False))
        if meter.kind != "pool":
            continue
        name = meter.name.removeprefix("pool ")
        for tick, used in meter.used[:: max(1, len(meter.used) // 5)]:
            busy = [dags[d][t] for label, s in trace.states_at(tick).items() if s in ("queued", "running")
                    for d, t, _, _ in [trace.task_of(label)]]
            assert used == sum(task.pool_slots for task in busy if task.pool == name)

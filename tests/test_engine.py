"""The engine by hand: small situations whose outcome follows from a sentence of the documentation."""

from __future__ import annotations

import re
from typing import Any

import pytest

import dagkit as dk
from dagkit import states, trigger_rules
from dagkit.engine import decide
from dagkit.engine.calendar import LAST_TICK
from dagkit.engine.mapping import MOST_INSTANCES

AT_ONCE = dk.LocalExecutor(handover=0)


def play(*tasks: dk.Task, outcomes: Any = None, pacing: str = "lesson", dag: Any = None, **changes: Any) -> dk.Trace:
    """One Dag whose tries start in the tick in which they are admitted."""
    config = changes.pop("config", dk.Config(pacing=pacing))
    return dk.simulate(dk.Dag("d", tasks, **(dag or {})), outcomes=outcomes or {}, executor=AT_ONCE, config=config,
                       **changes)


def ticks(trace: dk.Trace, new: str) -> dict[str, list[int]]:
    """When each task entered a state."""
    found: dict[str, list[int]] = {}
    for event in trace.events.itertuples():
        if event.new == new:
            found.setdefault(event.task_id, []).append(event.tick)
    return found


# ---- states ------------------------------------------------------------------------------------------------------


def test_the_fourteen_states_and_what_they_occupy() -> None:
    assert len(states.TABLE) == len(set(states.NAMES)) == 14
    named = {kind: {states.NAMES[c] for c in codes} for kind, codes in {
        "finished": states.FINISHED, "schedulable": states.SCHEDULABLE, "execution": states.EXECUTION,
        "active": states.ACTIVE}.items()}
    assert named == {
        "finished": {"success", "failed", "skipped", "upstream_failed", "removed"},
        "schedulable": {"none", "up_for_retry", "up_for_reschedule"},
        "execution": {"queued", "running"},
        "active": {"queued", "running", "deferred", "awaiting_input"}}


@pytest.mark.parametrize("old, new", [
    ("none", "running"), ("none", "queued"), ("none", "failed"), ("scheduled", "running"), ("scheduled", "success"),
    ("queued", "success"), ("running", "scheduled"), ("running", "queued"), ("running", "upstream_failed"),
    ("success", "failed"), ("failed", "success"), ("failed", "skipped"), ("failed", "up_for_retry"),
    ("skipped", "scheduled"), ("up_for_retry", "running"), ("up_for_retry", "failed"), ("deferred", "running"),
    ("removed", "success"), ("awaiting_input", "success"), ("restarting", "running")])
def test_a_step_airflow_never_makes_is_not_legal(old: str, new: str) -> None:
    assert not states.is_legal(old, new)


@pytest.mark.parametrize("new", sorted(set(states.NAMES) - {"removed"}))
def test_no_state_leads_to_itself(new: str) -> None:
    assert not states.is_legal(new, new)


def test_only_legal_lists_no_unknown_state() -> None:
    assert set(states.LEGAL) == set(states.NAMES)
    assert all(new <= set(states.NAMES) for new in states.LEGAL.values())


# ---- trigger rules -------------------------------------------------------------------------------------------------


def test_thirteen_rules_each_with_a_sentence() -> None:
    assert len(trigger_rules.RULES) == 13
    for row in trigger_rules.RULES.values():
        assert "runs" in row.meaning
        assert row.done[-1][0] == "otherwise", "the last test always holds"


RULE_SENTENCES = [
    # rule, upstream states, verdict: one line for each half sentence of the specification
    ("all_success", ["success", "failed", "running"], "upstream_failed"),
    ("all_success", ["skipped", "running"], "skipped"),
    ("all_success", ["success", "removed"], "run"),
    ("all_success", ["skipped", "failed"], "upstream_failed"),
    ("all_failed", ["success", "running"], "skipped"),
    ("all_failed", ["failed", "upstream_failed", "removed"], "run"),
    ("all_done", ["failed", "running"], "wait"),
    ("all_done", ["failed", "skipped"], "run"),
    ("one_success", ["success", "running"], "run"),
    ("one_success", ["skipped", "failed"], "upstream_failed"),
    ("one_success", ["skipped", "skipped"], "skipped"),
    ("one_failed", ["upstream_failed", "none"], "run"),
    ("one_failed", ["success", "skipped"], "skipped"),
    ("one_done", ["failed", "none"], "run"),
    ("one_done", ["upstream_failed", "skipped", "none"], "wait"),
    ("one_done", ["upstream_failed", "skipped"], "skipped"),
    ("none_failed", ["skipped", "skipped"], "run"),
    ("none_failed", ["upstream_failed", "none"], "upstream_failed"),
    ("none_failed_min_one_success", ["skipped", "removed"], "upstream_failed"),
    ("none_failed_min_one_success", ["skipped", "skipped"], "skipped"),
    ("none_failed_min_one_success", ["success", "skipped"], "run"),
    ("none_skipped", ["skipped", "none"], "skipped"),
    ("none_skipped", ["failed", "success"], "run"),
    ("all_skipped", ["skipped", "upstream_failed"], "skipped"),
    ("all_skipped", ["skipped", "removed"], "wait"),
    ("all_skipped", ["skipped", "skipped"], "run"),
    ("all_done_min_one_success", ["skipped", "none"], "skipped"),
    ("all_done_min_one_success", ["failed", "success"], "run"),
    ("all_done_min_one_success", ["failed", "removed"], "upstream_failed"),
    ("all_done_setup_success", ["failed"], "run"),
    ("always", ["none", "running"], "run"),
]


@pytest.mark.parametrize("rule, upstream, verdict", RULE_SENTENCES)
def test_a_rule_sentence_by_sentence(rule: str, upstream: list[str], verdict: str) -> None:
    assert trigger_rules.evaluate(rule, upstream) == verdict


def test_every_rule_has_a_sentence_above() -> None:
    assert {rule for rule, _, _ in RULE_SENTENCES} == set(trigger_rules.RULES)


@pytest.mark.parametrize("rule", trigger_rules.RULES)
def test_without_upstreams_every_rule_runs(rule: str) -> None:
    assert trigger_rules.evaluate(rule, []) == "run"


@pytest.mark.parametrize("rule", [r for r in trigger_rules.RULES if r != "always"])
def test_a_setup_above_decides_under_every_rule_but_always(rule: str) -> None:
    assert trigger_rules.evaluate(rule, ["success"], indirect_setups=["failed"]) != "run"
    assert trigger_rules.evaluate("always", ["success"], indirect_setups=["failed"]) == "run"


def test_a_teardown_waits_for_its_scope_but_is_decided_by_its_setups() -> None:
    rule = "all_done_setup_success"
    assert trigger_rules.evaluate(rule, ["failed"], setups=["success"], scope=["running"]) == "wait"
    assert trigger_rules.evaluate(rule, ["failed"], setups=["success"], scope=["failed"]) == "run"
    assert trigger_rules.evaluate(rule, ["failed"], setups=["skipped"], scope=["running"]) == "skipped"
    assert trigger_rules.evaluate(rule, ["failed"], setups=["failed", "skipped"], scope=["running"]) == "upstream_failed"


# ---- tries, retries, timeouts ------------------------------------------------------------------------------------


def test_a_try_counts_when_it_is_scheduled() -> None:
    trace = play(dk.Task("a", retries=2, retry_delay=3), dk.Task("b", "a"), outcomes={"a": ["fail", "fail"]})
    assert trace.tries == {"a": 3, "b": 1}
    assert ticks(trace, "running")["a"] == [1, 5, 9], "a try of one tick, then a delay of three"


def test_skipped_and_upstream_failed_tasks_have_no_try() -> None:
    trace = play(dk.Task("a"), dk.Task("b", "a"), dk.Task("c"), dk.Task("d", "c"),
                 outcomes={"a": ["fail"], "c": ["skip"]})
    assert trace.tries == {"a": 1, "b": 0, "c": 1, "d": 0}
    assert trace.final_states == {"a": "failed", "b": "upstream_failed", "c": "skipped", "d": "skipped"}


def test_fail_hard_and_skip_use_no_retry() -> None:
    trace = play(dk.Task("a", retries=5), dk.Task("b", retries=5), outcomes={"a": ["fail_hard"], "b": ["skip"]})
    assert (trace.tries, trace.final_states) == ({"a": 1, "b": 1}, {"a": "failed", "b": "skipped"})


def test_missing_entries_of_a_script_mean_success() -> None:
    trace = play(dk.Task("a", retries=3, retry_delay=0), outcomes={"a": ["fail"]})
    assert (trace.tries["a"], trace.run_state) == (2, "success")


def test_execution_timeout_fails_the_try_and_uses_retries() -> None:
    trace = play(dk.Task("a", duration=9, execution_timeout=2.5, retries=1, retry_delay=0))
    assert ticks(trace, "up_for_retry") == {"a": [4]}, "half ticks round up"
    assert trace.final_states["a"] == "failed"
    assert play(dk.Task("a", duration=9, execution_timeout=9)).final_states["a"] == "success"


def test_dagrun_timeout_counts_from_the_start_of_the_run() -> None:
    trace = play(dk.Task("a", duration=9), dag={"dagrun_timeout": 3.5}, runs=dk.Runs(1, start=5))
    assert ticks(trace, "skipped") == {"a": [9]}
    assert (trace.run_state, trace.run().ended, trace.any_failed) == ("failed", 9, False)


def test_a_retry_that_waits_is_skipped_when_the_run_times_out() -> None:
    trace = play(dk.Task("a", retries=3, retry_delay=50), dag={"dagrun_timeout": 10}, outcomes={"a": ["fail"] * 4})
    assert trace.final_states == {"a": "skipped"}
    assert trace.last_tick == 11, "the retry at tick 52 is void"


# ---- branches, short circuits, setup and teardown, fail_fast ------------------------------------------------------


def test_a_branch_skips_direct_children_that_no_chosen_task_leads_to() -> None:
    trace = play(dk.Task("b", branch=["x"]), dk.Task("x", "b"), dk.Task("y", "b"), dk.Task("j", ["b", "x"]),
                 dk.Task("z", "y", trigger_rule="all_done"))
    assert trace.final_states == {"b": "success", "x": "success", "y": "skipped", "j": "success", "z": "success"}


def test_a_branch_that_fails_skips_nothing_itself() -> None:
    trace = play(dk.Task("b", branch=["x"]), dk.Task("x", "b"), dk.Task("y", "b", trigger_rule="all_done"),
                 outcomes={"b": ["fail"]})
    assert trace.final_states == {"b": "failed", "x": "upstream_failed", "y": "success"}


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_a_branch_overwrites_what_waits_but_not_what_runs(pacing: str) -> None:
    """Scheduled, up_for_retry and upstream_failed children become skipped; a running one goes on."""
    trace = play(
        dk.Task("b", branch=[], duration=4), dk.Task("fails"),
        dk.Task("runs", "b", trigger_rule="always", duration=9, priority_weight=9),
        dk.Task("retries", "b", trigger_rule="always", retries=1, retry_delay=9, priority_weight=8),
        dk.Task("full", "b", trigger_rule="always", pool="one"),
        dk.Task("a_holder", pool="one", duration=9, priority_weight=7), dk.Task("gone", ["b", "fails"]),
        outcomes={"fails": ["fail"], "retries": ["fail"]}, pools={"one": 1}, pacing=pacing)
    before, after = trace.states_at(4), trace.states_at(5)
    assert [before[t] for t in ("runs", "retries", "full", "gone")] == [
        "running", "up_for_retry", "scheduled", "upstream_failed"]
    assert [after[t] for t in ("retries", "full", "gone")] == ["skipped"] * 3
    assert after["runs"] == "running"


@pytest.mark.parametrize("other, fate", [("a", "running"), ("z", "skipped")])
def test_an_idle_pass_of_airflow_can_skip_a_child_that_runs(other: str, fate: str) -> None:
    """A pass that finds nothing to do asks, by task id, whether anything unfinished could run, and so applies the
    rules to running tasks too: ``child`` was left out by its branch. Only a task that sorts before it and could
    run ends the asking in time (_are_premature_tis, models/dagrun.py).
    """
    trace = play(dk.Task("b", branch=[], duration=4), dk.Task("child", "b", trigger_rule="always", duration=9),
                 dk.Task(other, duration=9), pacing="airflow")
    assert trace.states_at(5)["child"] == fate
    assert trace.run_state == "success"


def test_a_skipped_queued_task_gives_its_place_back() -> None:
    trace = dk.simulate(dk.Dag("d", [dk.Task("b", branch=[]), dk.Task("q", "b", trigger_rule="always", pool="one"),
                                     dk.Task("next", pool="one")]),
                        pools={"one": 1}, executor=dk.LocalExecutor(handover=3))
    assert trace.states_at(4)["q"] == "running", "handed over at 1, picked up at 4, like the branch"
    slow = dk.simulate(dk.Dag("d", [dk.Task("b", branch=[], priority_weight=9),
                                    dk.Task("q", "b", trigger_rule="always", pool="one", priority_weight=5),
                                    dk.Task("h", pool="one", duration=4, priority_weight=7),
                                    dk.Task("next", pool="one")]),
                       pools={"one": 1}, executor=dk.LocalExecutor(handover=2), durations={"b": 6})
    assert slow.states_at(8)["q"] == "queued" and slow.states_at(9)["q"] == "skipped"
    assert slow.states_at(9)["next"] == "queued", "in the same tick"


def test_short_circuit_hard_and_soft_and_the_teardown_it_spares() -> None:
    def chain(kind: str) -> dk.Trace:
        return play(dk.Task("s", is_setup=True), dk.Task("gate", "s", short_circuit=kind), dk.Task("w", "gate"),
                    dk.Task("clean", "w", trigger_rule="all_done"), dk.Task("td", ["clean", "s"], is_teardown=True))
    assert chain("hard").final_states == {"s": "success", "gate": "success", "w": "skipped", "clean": "skipped",
                                          "td": "success"}
    assert chain("soft").final_states["clean"] == "success"


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_a_failed_setup_reaches_all_its_work_in_one_pass(pacing: str) -> None:
    trace = play(dk.Task("s", is_setup=True), dk.Task("w0", "s"), dk.Task("w1", "w0"), dk.Task("w2", "w1"),
                 dk.Task("td", ["s", "w2"], is_teardown=True), outcomes={"s": ["fail"]}, pacing=pacing)
    assert ticks(trace, "upstream_failed")["w0"] == ticks(trace, "upstream_failed")["w2"] == [2]


def test_a_teardown_decides_the_run_only_if_asked() -> None:
    def run(on_failure: bool) -> str:
        return play(dk.Task("s", is_setup=True), dk.Task("w", "s"),
                    dk.Task("td", ["s", "w"], is_teardown=True, on_failure_fail_dagrun=on_failure),
                    outcomes={"td": ["fail"]}).run_state
    assert (run(False), run(True)) == ("success", "failed")


def test_fail_fast_spares_teardowns_siblings_and_what_is_decided() -> None:
    trace = play(
        dk.Task("list", returns=3), dk.Task("m", "list", expand={"x": "list"}, duration=1), dk.Task("skips"),
        dk.Task("long", duration=9), dk.Task("later", "long"), dk.Task("s", is_setup=True),
        dk.Task("td", ["s", "later"], is_teardown=True), dag={"fail_fast": True},
        outcomes={"m[0]": ["fail"], "skips": ["skip"]}, durations={"m[1]": 4})
    assert trace.states_at(3) == {
        "list": "success", "m[0]": "failed", "m[1]": "running", "m[2]": "success", "skips": "skipped",
        "long": "failed", "later": "skipped", "s": "success", "td": "running"}
    assert trace.final_states["m[1]"] == "success", "siblings of the failed instance go on"
    assert len(ticks(trace, "skipped")["skips"]) == 1, "what is skipped already is not skipped again"


def test_fail_fast_waits_for_the_last_try() -> None:
    trace = play(dk.Task("a", retries=1, retry_delay=0), dk.Task("b", duration=9), dag={"fail_fast": True},
                 outcomes={"a": ["fail", "fail"]})
    assert ticks(trace, "failed") == {"a": [3], "b": [3]}


def test_a_run_is_judged_by_its_leaves() -> None:
    trace = play(dk.Task("a"), dk.Task("clean", "a", trigger_rule="all_done"), outcomes={"a": ["fail"]})
    assert (trace.run_state, trace.any_failed) == ("success", True)
    watched = play(dk.Task("a"), dk.Task("clean", "a", trigger_rule="all_done"),
                   dk.Task("watcher", ["a", "clean"], trigger_rule="one_failed"),
                   outcomes={"a": ["fail"], "watcher": ["fail"]})
    assert watched.run_state == "failed", "the cure: a leaf that fails when anything did"


def test_an_empty_operator_takes_no_place() -> None:
    trace = play(dk.Task("a", empty=True, pool="none"), dk.Task("b", "a"), pools={"none": 0})
    assert [(e.old, e.new) for e in trace.events.itertuples() if e.task_id == "a"] == [("none", "success")]
    assert trace.tries["a"] == 1 and trace.run_state == "success"


# ---- mapped tasks: each of these was put to Airflow 3.3.2 itself ---------------------------------------------------


def test_a_branch_reaches_the_instances_of_a_literal_only_in_the_next_pass() -> None:
    """The branch asks for ``m``, which has no instance of that name any more; the pass after finds them left out."""
    trace = play(dk.Task("b", branch=[]), dk.Task("m", "b", expand={"x": 2}), dk.Task("j", "m", trigger_rule="all_done"),
                 pacing="airflow")
    assert trace.final_states == {"b": "success", "m[0]": "skipped", "m[1]": "skipped", "j": "success"}
    assert [(e.tick, e.cause) for e in trace.events.itertuples() if e.new == "skipped"] == [(2, "trigger_rule")] * 2
    assert trace.explain("m[0]").code == "branch"


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_a_short_circuit_does_not_reach_instances_further_down(pacing: str) -> None:
    trace = play(dk.Task("b", short_circuit="hard"), dk.Task("m", "b"),
                 dk.Task("n", "m", expand={"x": 2}, trigger_rule="all_done"), dk.Task("j", "n", trigger_rule="all_done"),
                 pacing=pacing)
    assert trace.final_states == {"b": "success", "m": "skipped", "n[0]": "success", "n[1]": "success", "j": "skipped"}


def test_a_pass_that_expands_judges_what_it_has_just_set() -> None:
    """Otherwise the verdict comes with the pass after the last state."""
    empty = play(dk.Task("p", returns=2), dk.Task("m", "p", expand={"x": "p", "y": 0}), pacing="airflow")
    assert (empty.final_states["m"], empty.last_tick, empty.run().ended) == ("skipped", 2, 2)
    plain = play(dk.Task("p"), dk.Task("m", "p", trigger_rule="one_failed"), pacing="airflow")
    assert (plain.final_states["m"], plain.last_tick, plain.run().ended) == ("skipped", 2, 3)


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@pytest.mark.parametrize("rule, source, final", [
    ("always", "fail", "upstream_failed"), ("always", "skip", "upstream_failed"), ("all_done", "skip", "skipped"),
    ("one_success", "fail", "upstream_failed"), ("one_success", "skip", "skipped"), ("none_failed", "skip", "skipped"),
    ("all_failed", "fail", "upstream_failed"), ("all_skipped", "fail", "upstream_failed")])
def test_no_rule_saves_a_mapped_task_from_its_source(rule: str, source: str, final: str, pacing: str) -> None:
    """``always`` does not even wait for the list. Where the rule itself says skipped and the source has failed, the
    answer of Airflow differs from process to process (it applies its dependencies in the order of a set)."""
    trace = play(dk.Task("p"), dk.Task("q"), dk.Task("m", ["p", "q"], expand={"x": "p"}, trigger_rule=rule),
                 outcomes={"p": [source], "q": ["skip"]}, pacing=pacing)
    assert trace.final_states["m"] == final


def test_what_undoes_one_mapped_task_undoes_those_mapped_over_it_in_the_same_pass() -> None:
    trace = play(dk.Task("p", returns=4), dk.Task("m1", "p", expand={"x": "p"}, trigger_rule="one_failed"),
                 dk.Task("m2", "m1", expand={"x": "m1"}, trigger_rule="none_failed"),
                 dk.Task("d", "m2", trigger_rule="all_failed"), pacing="airflow")
    assert ticks(trace, "skipped") == {"m1": [2], "m2": [2], "d": [3]}


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@pytest.mark.parametrize("source, final", [("fail", "upstream_failed"), ("skip", "skipped")])
def test_expanded_instances_share_the_fate_of_a_cleared_source(source: str, final: str, pacing: str) -> None:
    trace = play(dk.Task("p", returns=2), dk.Task("m", expand={"x": "p"}), dk.Task("j", "m"), pacing=pacing,
                 changes=[(9, {"clear": ["p", "m", "j"], "outcomes": {"p": [source]}})])
    assert {label: trace.final_states[label] for label in ("m[0]", "m[1]", "j")} == dict.fromkeys(
        ("m[0]", "m[1]", "j"), final)
    assert trace.tries["m[0]"] == 1


# ---- deadlock ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_a_deadlock_fails_the_run_and_leaves_the_tasks(pacing: str) -> None:
    trace = play(dk.Task("a"), dk.Task("w", "a", trigger_rule="all_skipped"), initial={"a": "removed"}, pacing=pacing)
    assert (trace.run_state, trace.run().cause, trace.final_states["w"]) == ("failed", "deadlock", "none")


@pytest.mark.parametrize("switch", [{"depends_on_past": True}, {"wait_for_downstream": True},
                                    {"max_active_tis_per_dag": 5}, {"max_active_tis_per_dagrun": 5}])
@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_deadlock_detection_is_silently_off_with_a_past_or_a_limit_of_its_own(pacing: str, switch: Any) -> None:
    trace = play(dk.Task("a"), dk.Task("w", "a", trigger_rule="all_skipped", **switch), initial={"a": "removed"},
                 pacing=pacing)
    assert (trace.run_state, trace.stalled) == ("running", True)


# ---- several runs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pacing, gap", [("lesson", 0), ("airflow", 1)])
def test_max_active_runs_one_with_failing_runs(pacing: str, gap: int) -> None:
    """A failed run makes room like any other; a pass of Airflow starts runs before it judges them."""
    trace = play(dk.Task("a"), dag={"max_active_runs": 1}, runs=3, outcomes={"a@0": ["fail"], "a@1": ["fail"]},
                 pacing=pacing)
    runs = [trace.run(n) for n in range(3)]
    assert [run.state for run in runs] == ["failed", "failed", "success"]
    assert [later.started - earlier.ended for earlier, later in zip(runs, runs[1:], strict=False)] == [gap, gap]


def test_depends_on_past_blocks_behind_a_failure_and_passes_a_skip() -> None:
    trace = play(dk.Task("a", depends_on_past=True), runs=3, outcomes={"a@0": ["skip"], "a@1": ["fail"]})
    assert trace.final_states == {"a@0": "skipped", "a@1": "failed", "a@2": "none"}
    assert trace.stalled and trace.run_states["d@2"] == "running"


def test_wait_for_downstream_also_waits_for_the_direct_children() -> None:
    trace = play(dk.Task("a", wait_for_downstream=True), dk.Task("b", "a", duration=5), dk.Task("c", "b"), runs=2)
    started = ticks(trace, "running")
    assert started["a"] == [1, 7], "b ends at 7; c is no direct child"


# ---- nothing, much, and nonsense -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_an_empty_dag_succeeds_at_once(pacing: str) -> None:
    trace = dk.simulate(dk.Dag("d"), config=dk.Config(pacing=pacing))
    assert (trace.run_state, trace.run().ended, trace.last_tick) == ("success", 1, 0)
    assert (trace.log(), trace.final_states, trace.stalled, trace.warnings) == ("", {}, False, [])


def test_thousands_of_empty_runs_one_at_a_time() -> None:
    trace = dk.simulate(dk.Dag("d", max_active_runs=1), runs=5000)
    assert set(trace.run_states.values()) == {"success"}


def test_no_run_and_no_dag() -> None:
    trace = play(dk.Task("a"), runs=0)
    assert (trace.final_states, trace.run_states, trace.last_tick, trace.stalled) == ({}, {}, 0, False)
    assert dk.simulate([]).log() == ""


def test_a_hundred_thousand_retries() -> None:
    trace = play(dk.Task("a", retries=10**9, retry_delay=0), outcomes={"a": ["fail"] * 20_000})
    assert trace.tries == {"a": 20_001}


def test_backoff_never_overflows() -> None:
    trace = play(dk.Task("a", retries=2000, retry_delay=300, retry_exponential_backoff=3),
                 outcomes={"a": ["fail"] * 2001})
    assert trace.final_states == {"a": "failed"}


@pytest.mark.parametrize("spec", [{"duration": 10**30}, {"retries": 1, "retry_delay": 1e300}])
def test_a_time_beyond_counting_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(dk.DagkitError, match=f"ticks are counted up to {LAST_TICK}. Choose a larger unit."):
        play(dk.Task("a", **spec), outcomes={"a": ["fail"]})


def test_a_timeout_beyond_counting_never_fires() -> None:
    assert play(dk.Task("a"), dag={"dagrun_timeout": 1e300}).run_state == "success"


def test_a_product_that_no_memory_holds_is_refused() -> None:
    with pytest.raises(dk.DagkitError, match=f"'m' would expand to 1000000000 instances; .* at most {MOST_INSTANCES}"):
        play(dk.Task("m", expand={"x": 10**5, "y": 10**4}))


def test_weights_of_any_size_only_order() -> None:
    trace = play(dk.Task("low", priority_weight=-10**40), dk.Task("high", priority_weight=10**40),
                 dag={"max_active_tasks": 1})
    assert ticks(trace, "running") == {"high": [1], "low": [2]}


@pytest.mark.parametrize("pools, sentence", [
    ({"p": 0}, "it asks for 2 slots of pool 'p', which has only 0; it never starts."),
    ({"p": 1}, "it asks for 2 slots of pool 'p', which has only 1; it never starts."),
    ({}, "pool 'p' does not exist, so it never starts."),
    ({"pp": 3}, "pool 'p' does not exist, so it never starts. Did you mean 'pp'?")])
@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_what_airflow_accepts_and_never_runs(pools: dict[str, int], sentence: str, pacing: str) -> None:
    trace = play(dk.Task("a", pool="p", pool_slots=2), dk.Task("b"), pools=pools, pacing=pacing)
    assert trace.explain("a").text == sentence
    assert (trace.stalled, trace.run_state, trace.final_states["b"]) == (True, "running", "success")
    assert f"stalled: a is scheduled: {sentence}" in trace.warnings


HOSTILE = ["quote ' and \"", "<script>alert(1)</script>", "two\nlines", "\x00\x1b[31m", "lone \ud800", "a@1", "a[0]",
           "d.a", "a", "@", "a@1[0]", "&amp;", "x" * 10_000, "日本語", " "]


@pytest.mark.parametrize("runs", [1, 2])
def test_hostile_ids_are_told_apart_and_never_break_a_line(runs: int) -> None:
    trace = play(*[dk.Task(name) for name in HOSTILE], outcomes={name: ["success"] for name in HOSTILE}, runs=runs,
                 dag={"max_active_tasks": 100})
    assert len(trace.final_states) == len(HOSTILE) * runs
    assert {trace.task_of(label)[1] for label in trace.labels} == set(HOSTILE)
    for label in trace.labels:
        assert trace.explain(label).label == label
        assert "\n" not in str(trace.explain(label))
    for line in trace.log().splitlines():
        assert re.match(r"tick +\d+  .* (none|scheduled|queued|running) -> \w+\Z", line) and line.isprintable()
        assert len(line) < 200


# ---- refusals ------------------------------------------------------------------------------------------------------


def one(**changes: Any) -> dk.Trace:
    return dk.simulate(dk.Dag("d", [dk.Task("transform")]), **changes)


REFUSALS = {
    "outcomes['transform']: 'succes' is not an outcome. Did you mean 'success'?":
        lambda: one(outcomes={"transform": ["succes"]}),
    "outcomes['transform'] must be a list with one entry per try, not 3.": lambda: one(outcomes={"transform": 3}),
    "outcomes['transform']: 'success:-1' is not an outcome.": lambda: one(outcomes={"transform": ["success:-1"]}),
    "outcomes['transform']: 'fail:2' is not an outcome.": lambda: one(outcomes={"transform": ["fail:2"]}),
    "label 'transform[3]' matches no task. Did you mean 'transform'?": lambda: one(outcomes={"transform[3]": ["fail"]}),
    "label 'trasnform' matches no task. Did you mean 'transform'? Known: transform.":
        lambda: one(outcomes={"trasnform": ["fail"]}),
    "config: pacing must be one of lesson, airflow, not 'lessson'. Did you mean 'lesson'?":
        lambda: dk.Config(pacing="lessson"),
    "task 'a': duration must be a whole number of ticks >= 1 to be simulated, not 1.5. "
    "Choose a smaller unit and round up.": lambda: dk.simulate(dk.Dag("d", [dk.Task("a", duration=1.5)])),
    "task 'a': duration must be a whole number of ticks >= 1 to be simulated, not 0.":
        lambda: dk.simulate(dk.Dag("d", [dk.Task("a", duration=0)])),
    "durations['transform'] must be a whole number of ticks >= 1 to be simulated, not True.":
        lambda: one(durations={"transform": True}),
    "initial['transform']: only a finished state can be forced before the first tick":
        lambda: one(initial={"transform": "running"}),
    "state 'done' is not a task-instance state. Did you mean 'none'?": lambda: one(initial={"transform": "done"}),
    "initial must be a dictionary keyed by task label, not list.": lambda: one(initial=["transform"]),
    "change: 'pool' cannot be changed on the way. Did you mean 'pools'?": lambda: one(changes=[(1, {"pool": 3})]),
    "changes must be pairs of a tick and a dictionary": lambda: one(changes=[3]),
    "changes: a change needs a tick >= 1, not 0.": lambda: one(changes=[(0, {"clear": ["transform"]})]),
    "label 'b' matches no task.": lambda: one(changes=[(1, {"clear": ["b"]})]),
    "fork: name at least one change": lambda: one().fork(1),
    "tick must be a whole number >= 0, not -1. This trace ends at tick 3.": lambda: one().explain("transform", -1),
    "a task is named by its id (text), not by 3. Put its label in quotes.": lambda: one().explain(3),
    "'transform' means 2 task instances; name one of transform@0, transform@1, or pass run= or dag_id=.":
        lambda: one(runs=2).explain("transform"),
    "several runs fit; name one with run= and dag_id=: d@0, d@1.": lambda: one(runs=2).run_state,
    "Scenario: parameter 'pool' is unknown. Did you mean 'pools'?": lambda: one(pool={"a": 1}),
    "config must be a dk.Config, not {'parallelism': 3}.": lambda: one(config={"parallelism": 3}),
    "simulate needs a Dag or a list of Dags, not str.": lambda: dk.simulate("d"),
    "runs must be a whole number >= 0 or a dk.Runs, not True.": lambda: one(runs=True),
    "runs: no Dag is called 'dd'. Did you mean 'd'?": lambda: one(runs={"dd": 1}),
    "pool 'a': slots must be a whole number >= 0, or -1 for unlimited": lambda: one(pools={"a": "1"}),
    "seed must be a whole number, not 'x'.": lambda: one(seed="x"),
    "task 'a': trigger_rule 'al_done' is unknown. Did you mean 'all_done'?":
        lambda: dk.Task("a", trigger_rule="al_done"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refusals_name_the_object_the_value_and_the_way_out(sentence: str) -> None:
    with pytest.raises(dk.DagkitError, match=re.escape(sentence)) as refusal:
        REFUSALS[sentence]()
    assert "\n" not in str(refusal.value)


def test_a_window_that_held_all_rows_is_no_reason_to_warn():
    """The more important of two becomes scheduled last: the place of the other in the walk is void, not a row unseen."""
    dag = dk.Dag("d", [dk.Task("light", duration=2), dk.Task("heavy", priority_weight=5)])
    trace = dk.simulate(dag, config=dk.Config(pacing="airflow", max_tis_per_query=2))
    assert [w for w in trace.warnings if "max_tis_per_query" in w] == []
    less = dk.simulate(dag, config=dk.Config(pacing="airflow", max_tis_per_query=1))
    assert [w for w in less.warnings if "max_tis_per_query" in w]


def test_instances_of_a_mapped_task_are_asked_for_once_and_not_once_for_each_above(monkeypatch):
    """Work grows with the number of instances, and not with its square: no verdict goes through all the states above."""
    calls = []
    monkeypatch.setattr(decide, "rule_verdict", lambda sim, ti, run, real=decide.rule_verdict: (
        calls.append(ti), real(sim, ti, run))[1])
    for pacing in ("lesson", "airflow"):
        counted = []
        for n in (10, 40):
            calls.clear()
            dag = dk.Dag("d", [dk.Task("p", returns=n), dk.Task("x", expand={"a": "p"}), dk.Task("y", expand={"b": "x"})])
            trace = dk.simulate(dag, config=dk.Config(parallelism=2, pacing=pacing))
            assert trace.run_state == "success" and sum(label.startswith("y") for label in trace.labels) == n
            counted.append(len(calls))
        assert counted[0] == counted[1]

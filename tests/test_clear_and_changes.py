"""What a learner does to a simulation on its way: clear, resize, edit a Dag; and the futures that follow from it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import Task as T
from dagkit.states import is_legal

from .random_scenarios import random_changes, random_scenario

AT_ONCE = dk.LocalExecutor(handover=0)


def play(*tasks: T, changes: Any = (), dag: Any = None, **scenario: Any) -> dk.Trace:
    scenario.setdefault("executor", AT_ONCE)
    return dk.simulate(dk.Dag("d", tasks, **(dag or {})), changes=changes, **scenario)


def path(trace: dk.Trace, label: str) -> list[tuple[int, str]]:
    return trace.changes[trace.labels.index(label)][1:]


# ---- clear -------------------------------------------------------------------------------------------------------


def test_a_finished_task_runs_again_and_its_run_goes_on() -> None:
    trace = play(T("a"), T("b", "a"), changes=[(9, {"clear": ["b"]})])
    assert path(trace, "b") == [(2, "scheduled"), (2, "queued"), (2, "running"), (3, "success"),
                                (9, "none"), (9, "scheduled"), (9, "queued"), (9, "running"), (10, "success")]
    assert (trace.tries, trace.run_state, trace.run().ended) == ({"a": 1, "b": 2}, "success", 10)


def test_clearing_gives_all_retries_back() -> None:
    """max_tries becomes try_number + retries (clear_task_instances, Airflow 3.3.2)."""
    trace = play(T("a", retries=1, retry_delay=0), outcomes={"a": ["fail"] * 9}, changes=[(9, {"clear": ["a"]})])
    assert trace.tries == {"a": 4}, "two tries, and two more"


def test_a_running_task_is_restarting_then_retried_whatever_its_tries() -> None:
    trace = play(T("a", duration=9, retry_delay=3), changes=[(4, {"clear": ["a"]})])
    assert path(trace, "a")[2:] == [(1, "running"), (4, "restarting"), (5, "up_for_retry"), (8, "scheduled"),
                                    (8, "queued"), (8, "running"), (17, "success")]
    assert trace.tries == {"a": 2}, "it had no retries, and was retried all the same"


def test_a_restarted_task_gets_no_new_retries() -> None:
    """A running task keeps the last try it had; only clearing one that does not run adds to it."""
    trace = play(T("a", retries=1, retry_delay=0, duration=3), outcomes={"a": ["success", "fail", "fail"]},
                 changes=[(2, {"clear": ["a"]})])
    assert (trace.tries, trace.final_states) == ({"a": 2}, {"a": "failed"})


def test_clearing_what_restarts_is_once_enough() -> None:
    trace = play(T("a", duration=9), changes=[(4, {"clear": ["a"]}), (5, {"clear": ["a"]})])
    assert [s for _, s in path(trace, "a")][3:6] == ["restarting", "none", "scheduled"]
    assert trace.run_state == "success"


@pytest.mark.parametrize("state, changes_at", [("scheduled", 2), ("queued", 2), ("up_for_retry", 4)])
@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_clearing_what_waits_starts_it_once(state: str, changes_at: int, pacing: str) -> None:
    """A task that was in line when it was cleared is in line once, not twice."""
    tasks = {"scheduled": [T("x", pool="p"), T("holder", pool="p", duration=6, priority_weight=9)],
             "queued": [T("x")], "up_for_retry": [T("x", retries=3, retry_delay=9)]}[state]
    trace = dk.simulate(dk.Dag("d", tasks), pools={"p": 1}, outcomes={"x": ["fail"]} if state == "up_for_retry" else {},
                        executor=dk.LocalExecutor(handover=1 if state != "queued" else 4),
                        config=dk.Config(pacing=pacing), changes=[(changes_at, {"clear": ["x"]})])
    assert trace.states_at(changes_at - 1)["x"] == state
    ran = [tick for tick, s in path(trace, "x") if s == "running"]
    assert len(ran) == (2 if state == "up_for_retry" else 1)
    assert trace.run_state == "success"


def test_a_queued_task_that_is_cleared_waits_for_its_new_hand_over() -> None:
    trace = dk.simulate(dk.Dag("d", [T("a")]), executor=dk.LocalExecutor(handover=5), changes=[(3, {"clear": ["a"]})])
    assert path(trace, "a") == [(1, "scheduled"), (1, "queued"), (3, "none"), (3, "scheduled"), (3, "queued"),
                                (8, "running"), (9, "success")]


def test_a_child_that_waits_sees_the_cleared_parent() -> None:
    trace = play(T("a"), T("slow", duration=6), T("j", ["a", "slow"]), changes=[(3, {"clear": ["a"]})],
                 durations={"a": 9}, dag={"max_active_tasks": 9})
    assert {s: t for t, s in path(trace, "j")}["running"] == path(trace, "a")[-1][0] == 1 + 3 + 1 + 9


def test_a_branch_remembers_whom_it_left_out() -> None:
    """Clearing only the child skips it again: what the branch chose still stands."""
    alone = play(T("b", branch=["x"]), T("x", "b"), T("y", "b"), changes=[(9, {"clear": ["y"]})])
    assert [s for _, s in path(alone, "y")] == ["skipped", "none", "skipped"]
    both = play(T("b", branch=["x"]), T("x", "b"), T("y", "b"), changes=[(9, {"clear": ["b", "y"]})])
    assert [s for _, s in path(both, "y")] == ["skipped", "none", "skipped"]


def test_clearing_upstream_failed_after_the_mend() -> None:
    """The usual repair: the failed task and what it took with it, with a script that works now."""
    trace = play(T("a"), T("b", "a"), T("c", "b"), outcomes={"a": ["fail"]},
                 changes=[(9, {"clear": ["a", "b", "c"], "outcomes": {"a": ["success"]}})])
    assert trace.run_state == "success" and set(trace.final_states.values()) == {"success"}
    assert [s for _, s in path(trace, "c")] == ["upstream_failed", "none", "scheduled", "queued", "running", "success"]


def test_one_instance_of_a_mapped_task() -> None:
    trace = play(T("p", returns=3), T("m", expand={"x": "p"}), T("j", "m"), outcomes={"m[1]": ["fail", "success"]},
                 changes=[(9, {"clear": ["m[1]", "j"]})])
    assert trace.tries == {"p": 1, "m[0]": 1, "m[1]": 2, "m[2]": 1, "j": 1}
    assert set(trace.final_states.values()) == {"success"}


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@pytest.mark.parametrize("length, final", [
    (1, {"m[0]": "success", "m[1]": "removed", "m[2]": "removed"}), (3, dict.fromkeys(("m[0]", "m[1]", "m[2]"), "success")),
    (5, {f"m[{i}]": "success" for i in range(5)}), (0, dict.fromkeys(("m[0]", "m[1]", "m[2]"), "removed"))])
def test_a_mapped_task_cleared_to_another_width(length: int, final: dict[str, str], pacing: str) -> None:
    trace = play(T("p", returns=3), T("m", expand={"x": "p"}), T("j", "m", trigger_rule="all_done"),
                 config=dk.Config(pacing=pacing),
                 changes=[(20, {"clear": ["p", "m", "j"], "outcomes": {"p": [f"success:{length}"]}})])
    assert {label: s for label, s in trace.final_states.items() if label.startswith("m")} == final
    assert trace.final_states["j"] == "success"


def test_clearing_an_ended_run_counts_its_timeout_anew() -> None:
    trace = play(T("a", duration=4), dag={"dagrun_timeout": 6}, changes=[(6, {"clear": ["a"]})])
    assert (trace.run_state, trace.last_tick) == ("success", 10), "the first timeout, at tick 7, is void"


def test_cleared_runs_begin_again_in_the_order_in_which_they_were_due() -> None:
    trace = play(T("a", duration=3), dag={"max_active_runs": 1}, runs=3, changes=[(20, {"clear": ["a"]})])
    again = {label: [t for t, s in path(trace, label) if s == "running"][1] for label in trace.labels}
    assert again == {"a@0": 20, "a@1": 23, "a@2": 26}


def test_one_run_of_several() -> None:
    trace = play(T("a"), runs=3, changes=[(5, {"clear": ["a@1"]})])
    assert trace.tries == {"a@0": 1, "a@1": 2, "a@2": 1}


def test_clearing_a_run_that_has_not_begun_changes_nothing() -> None:
    plain = play(T("a"), runs=dk.Runs(2, every=50))
    trace = play(T("a"), runs=dk.Runs(2, every=50), changes=[(9, {"clear": ["a@1"]})])
    assert trace.log() == plain.log()


# ---- limits ------------------------------------------------------------------------------------------------------


def test_a_pool_shrunk_below_its_usage_takes_nothing_away() -> None:
    trace = play(*[T(f"t{i}", pool="p", duration=5) for i in range(6)], pools={"p": 4}, changes=[(2, {"pools": {"p": 1}})])
    busy = [sum(s == "running" for s in trace.states_at(t).values()) for t in range(trace.last_tick)]
    assert busy[1:6] == [4] * 5 and max(busy[6:]) == 1, "those that run go on; then one at a time"
    assert trace.run_state == "success"
    assert trace.explain("t4", 3).text == "pool 'p' is full (4 of 1 used by t0, t1, t2, t3)."
    assert trace.explain("t4", 1).text == "pool 'p' is full (4 of 4 used by t0, t1, t2, t3).", "as it was then"


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_a_pool_that_grows_or_appears_lets_the_waiting_in_at_once(pacing: str) -> None:
    config = dk.Config(pacing=pacing)
    grown = play(T("a", pool="p"), pools={"p": 0}, config=config, changes=[(7, {"pools": {"p": 1}})])
    made = play(T("a", pool="p"), config=config, changes=[(7, {"pools": {"p": 1}})])
    assert path(grown, "a")[1] == path(made, "a")[1] == (7, "queued")
    assert (grown.stalled, made.stalled) == (False, False)


def test_parallelism_and_the_executor_are_two_limits_even_if_they_were_one() -> None:
    """Both were one at first; raising parallelism leaves the executor's own."""
    trace = play(*[T(f"t{i}", duration=9) for i in range(3)], executor=dk.LocalExecutor(parallelism=1, handover=0),
                 config=dk.Config(parallelism=1), changes=[(2, {"config": dk.Config(parallelism=5)})])
    assert max(sum(s == "running" for s in trace.states_at(t).values()) for t in range(trace.last_tick)) == 1


# ---- a new definition --------------------------------------------------------------------------------------------


def test_a_task_that_left_the_dag_is_removed_and_ignored() -> None:
    after = dk.Dag("d", [T("x"), T("z", "x")])
    trace = play(T("x"), T("y", "x", duration=50), T("z", "y"), changes=[(3, {"dag": after})],
                 outcomes={"y": ["fail"]}, pools={"p": 1})
    assert trace.final_states == {"x": "success", "y": "removed", "z": "success"}
    assert (trace.run_state, trace.last_tick) == ("success", 4)


def test_a_task_that_left_gives_its_places_back() -> None:
    after = dk.Dag("d", [T("b", pool="p")])
    trace = play(T("a", pool="p", duration=50, priority_weight=9), T("b", pool="p"), pools={"p": 1},
                 changes=[(5, {"dag": after})])
    assert path(trace, "b")[1] == (5, "queued")


def test_a_task_that_joins_is_there_from_then_on() -> None:
    after = dk.Dag("d", [T("a", duration=9), T("b", "a"), T("early")])
    trace = play(T("a", duration=9), changes=[(4, {"dag": after})])
    assert set(trace.states_at(3)) == {"a"}
    assert set(trace.states_at(4)) == {"a", "b", "early"}
    assert trace.final_states == {"a": "success", "b": "success", "early": "success"}
    assert list(trace.table(3).index) == ["a"]


def test_an_ended_run_keeps_its_definition_until_it_is_cleared() -> None:
    after = dk.Dag("d", [T("a"), T("new", "a")])
    kept = play(T("a"), changes=[(5, {"dag": after})])
    assert kept.final_states == {"a": "success"}
    cleared = play(T("a"), changes=[(5, {"dag": after}), (7, {"clear": ["a"]})])
    assert cleared.final_states == {"a": "success", "new": "success"}


def test_edits_of_single_tasks() -> None:
    trace = play(T("a", duration=4), T("b", "a"), T("c", "a"), outcomes={"a": ["fail"]},
                 changes=[(3, {"tasks": {"b": {"trigger_rule": "all_done"}}})])
    assert trace.final_states == {"a": "failed", "b": "success", "c": "upstream_failed"}
    moved = play(T("h", pool="p", duration=9, priority_weight=9), T("w", pool="p"), pools={"p": 1, "q": 1},
                 changes=[(4, {"tasks": {"w": {"pool": "q"}}})])
    assert path(moved, "w")[1] == (4, "queued")


def test_a_change_may_build_on_the_one_before() -> None:
    after = dk.Dag("d", [T("a", duration=9), T("b", "a")])
    trace = play(T("a", duration=9), changes=[(4, {"dag": after}), (5, {"tasks": {"b": {"duration": 7}}})])
    assert trace.last_tick == 17
    later_first = play(T("a", duration=9), changes=[(5, {"tasks": {"b": {"duration": 7}}}), (4, {"dag": after})])
    assert later_first == trace, "changes take place in order of time"


def test_scripts_of_tasks_that_left_are_no_error() -> None:
    after = dk.Dag("d", [T("a", duration=3)])
    trace = play(T("a", duration=3), T("gone", "a"), outcomes={"gone": ["fail"]}, durations={"gone": 4},
                 changes=[(2, {"dag": after})])
    assert trace.run_state == "success"


# ---- forks and differences ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_a_fork_shares_its_past_and_leaves_the_trace_alone(seed: int) -> None:
    rng = Random(seed)
    trace = dk.simulate(random_scenario(rng))
    before = trace.log()
    tick = rng.randint(1, max(1, trace.last_tick))
    fork = trace.fork(tick, pools={"p": rng.randint(0, 9)}, outcomes={rng.choice(list(trace.scenario.dags[0])).task_id:
                                                                      ["fail"]})

    def past(log: str) -> list[str]:
        return [line for line in log.splitlines() if int(line.split()[1]) < tick]

    assert past(fork.log()) == past(before)
    assert trace.log() == before
    difference = trace.diff(fork)
    assert bool(difference) == (fork.log() != before)
    if difference:
        assert difference.tick >= tick
        assert all(trace.states_at(t) == fork.states_at(t) for t in range(tick))
        assert trace.states_at(difference.tick) != fork.states_at(difference.tick)


def test_a_fork_that_changes_nothing_is_the_same_future() -> None:
    trace = dk.simulate(dk.examples.orders())
    same = trace.fork(4, pools={"db": 1})
    assert same.log() == trace.log() and not trace.diff(same)
    assert str(trace.diff(same)) == "the two traces are the same."


def test_a_difference_names_the_tick_the_task_and_the_limit() -> None:
    trace = dk.simulate(dk.examples.orders())
    difference = trace.diff(trace.fork(1, pools={"db": 2}))
    assert (difference.tick, difference.label, difference.left, difference.right) == (
        1, "extract_users", "scheduled", "queued")
    assert "pool" in difference.because


def test_forks_of_forks() -> None:
    trace = play(*[T(f"t{i}", pool="p", duration=4) for i in range(4)], pools={"p": 1})
    twice = trace.fork(3, pools={"p": 2}).fork(6, pools={"p": 4})
    assert [change[0] for change in twice.scenario.changes] == [3, 6]
    assert twice.last_tick < trace.fork(3, pools={"p": 2}).last_tick < trace.last_tick


# ---- whatever is done, it stays a simulation ---------------------------------------------------------------------


@settings(max_examples=80)
@given(seed=st.integers(0, 10**9))
def test_changes_keep_every_step_legal_and_every_run_decided(seed: int) -> None:
    rng = Random(seed)
    trace = dk.simulate(random_changes(rng, random_scenario(rng)))
    state = dict(trace.states_at(0))
    names = {trace.task_of(label): label for label in trace.labels}
    for event in trace.events.itertuples():
        label = names[event.dag_id, event.task_id, event.map_index, event.run]
        assert state[label] == event.old
        assert is_legal(event.old, event.new), f"{label}: {event.old} -> {event.new}"
        state[label] = event.new
    assert state == trace.final_states
    if not trace.stalled:
        assert set(trace.run_states.values()) <= {"success", "failed"}
    assert dk.Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize(("changed", "named"), [({"pacing": "airflow"}, "pacing"), ({"schedulers": 2}, "schedulers")])
def test_what_cannot_change_on_the_way_is_refused(changed: dict[str, Any], named: str) -> None:
    trace = dk.simulate(dk.Dag("d", [T("a")]))
    with pytest.raises(dk.DagkitError, match=f"{named} cannot be changed on the way"):
        trace.fork(2, config=dk.Config(**changed))


def test_a_run_that_there_will_not_be_has_no_script() -> None:
    dag = dk.Dag("d", [T("a")])
    with pytest.raises(dk.DagkitError, match=r"outcomes\['a@2'\]: Dag 'd' has runs 0 to 1, so there is no run 2"):
        dk.simulate(dag, runs=2, outcomes={"a@2": ["fail"]})
    with pytest.raises(dk.DagkitError, match=r"durations\['a@1'\]: Dag 'd' has run 0 only"):
        dk.simulate(dag, durations={"a@1": 3})
    told = dk.Dag("told", [T("b")], assets=["x"])              # its runs come with the asset, so they cannot be counted
    source = dk.Dag("source", [T("s", outlets=["x"])])
    trace = dk.simulate([source, told], runs={"source": 2, "told": 0}, outcomes={"told.b@1": ["fail"]})
    assert trace.run_states["told@1"] == "failed"

"""lifecycle.json: ten single checks on the real scheduler, set up here by hand; the observed results are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dagkit as dk

PATH = Path(__file__).parent / "data" / "lifecycle.json"
OBSERVED = {check["name"]: check["observed"] for check in json.loads(PATH.read_text(encoding="utf-8"))["checks"]}
AT_ONCE = dk.LocalExecutor(handover=0)


def states(trace: dk.Trace, label: str) -> list[str]:
    """The states of a task instance, one after the other."""
    return [state for _, state in trace.changes[trace.labels.index(label)]]


def tries_when(trace: dk.Trace, task: str, *new: str) -> list[list[Any]]:
    """[state, try number] each time the task enters one of the states."""
    return [[e.new, e.try_number] for e in trace.events.itertuples() if e.task_id == task and e.new in new]


def test_stuck_in_queued() -> None:
    """Nobody serves the queue: two requeues without a new try, then failed although retries were left."""
    trace = dk.simulate(dk.Dag("d", [dk.Task("a", queue="gpu", retries=5)]),
                        executor=dk.CeleryExecutor(workers=[dk.Worker()], handover=0))
    after_queued = [[e.new, e.try_number] for e in trace.events.itertuples() if e.old == "queued"]
    assert after_queued == OBSERVED["stuck_in_queued"]
    times = [e.tick for e in trace.events.itertuples() if e.old == "queued"]
    queued = [e.tick for e in trace.events.itertuples() if e.new == "queued"]
    assert all(600 <= end - start <= 720 for start, end in zip(queued, times, strict=True)), \
        "found by a check every 120 s, after 600 s"


@pytest.mark.parametrize("name, retries", [("heartbeat_timeout_no_retries", 0), ("heartbeat_timeout_with_retries", 2)])
def test_heartbeat_timeout(name: str, retries: int) -> None:
    """A silent task stays running until it is found; then the usual retry rule decides."""
    trace = dk.simulate(dk.Dag("d", [dk.Task("a", duration=1000, retries=retries)]), executor=AT_ONCE,
                        faults=[dk.LoseWorker(tick=5, task="a")])
    purge, events = (text.split()[0] for text in OBSERVED[name])
    assert trace.states_at(5)["a"] == purge
    assert states(trace, "a")[4] == events
    found = next(e.tick for e in trace.events.itertuples() if e.old == "running")
    assert 300 < found - 5 <= 310, "the heartbeat is 300 s old at the earliest, and looked at every 10 s"


def test_try_number_on_reschedule() -> None:
    told = OBSERVED["try_number_on_reschedule"]
    sensor = dk.Sensor(true_after=3, mode="reschedule", poke_interval=2)
    trace = dk.simulate(dk.Dag("d", [
        dk.Task("sleeps", wait=sensor), dk.Task("waits", wait=dk.Deferral(before=1, wait=3, after=1)),
        dk.Task("retries", retries=1)]), outcomes={"retries": ["fail"]}, executor=AT_ONCE)
    first, *later = tries_when(trace, "sleeps", "scheduled")
    assert first == told["first"] and later and all(row == told["up_for_reschedule"] for row in later)
    assert tries_when(trace, "waits", "deferred") == [told["deferred"]]
    assert tries_when(trace, "waits", "scheduled")[-1] == ["scheduled", 1], "it goes on with the same try"
    assert tries_when(trace, "retries", "scheduled") == [told["first"], told["up_for_retry"]]


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_dagrun_timeout(pacing: str) -> None:
    """A running, a none, a queued task, a teardown, and two that are done, when the run is too old."""
    told = dict(OBSERVED["dagrun_timeout"])
    trace = dk.simulate(
        dk.Dag("d", [dk.Task("s", is_setup=True), dk.Task("d"), dk.Task("a", duration=99), dk.Task("b", "a"),
                     dk.Task("c", ["s", "d"]), dk.Task("td", ["s", "c"], is_teardown=True)], dagrun_timeout=8),
        executor=dk.LocalExecutor(handover=5), config=dk.Config(pacing=pacing))
    assert trace.states_at(8) == {"a": "running", "b": "none", "c": "queued", "td": "none", "d": "success",
                                  "s": "success"}
    assert trace.run_state == told.pop("dag_run")
    assert trace.final_states == told
    assert not trace.any_failed, "skipped is not failed"


def test_dagrun_timeout_reaches_a_queued_task_too() -> None:
    trace = dk.simulate(dk.Dag("d", [dk.Task("c")], dagrun_timeout=2), executor=dk.LocalExecutor(handover=9))
    assert states(trace, "c") == ["none", "scheduled", "queued", OBSERVED["dagrun_timeout"]["c"]]
    assert trace.last_tick == 3, "its hand-over at tick 10 is void"


def test_orphan_of_a_dead_scheduler() -> None:
    """Its work goes back to none, and the lost attempt has used up a try number."""
    told = OBSERVED["orphan_of_dead_scheduler"]
    trace = dk.simulate(dk.Dag("d", [dk.Task("a", duration=100, retries=1), dk.Task("b", duration=100, retries=1)]),
                        executor=AT_ONCE, config=dk.Config(schedulers=2), faults=[dk.LoseScheduler(tick=2)])
    orphans = [label for label in trace.labels if "none" in states(trace, label)[1:]]
    assert len(orphans) == 1, "two schedulers, two tasks, one of each is lost"
    rows = [e for e in trace.events.itertuples() if e.task_id == orphans[0]]
    reset = next(n for n, e in enumerate(rows) if e.new == "none")
    assert [rows[reset].new, rows[reset].try_number] == told["ti_after"]
    assert [rows[reset + 1].new, rows[reset + 1].try_number] == told["after_next_pass"]
    assert rows[reset].tick == 2 + 30, "after scheduler_health_check_threshold"


def test_queued_runs_promotion() -> None:
    """Of five queued runs the two that were due first run; the others stay queued."""
    dag = dk.Dag("d", [dk.Task("a", duration=50)], max_active_runs=2)
    trace = dk.simulate(dag, runs=dk.Runs(5, every=1))
    assert OBSERVED["queued_runs_promotion"].startswith("the two runs with the earliest run_after become running")
    assert [trace.run(n).started for n in (0, 1)] == [1, 2]
    for n in (2, 3, 4):
        assert trace.run(n).started > 50
        reason = trace.explain("a", 20, run=n)
        assert (reason.state, reason.code) == ("none", "max_active_runs"), "the run is held, so the task is none"


@pytest.mark.parametrize("pacing, later", [("airflow", 1), ("lesson", 0)])
def test_empty_operator(pacing: str, later: int) -> None:
    told = OBSERVED["empty_operator"]
    trace = dk.simulate(dk.Dag("d", [dk.Task("a", empty=True), dk.Task("b", "a")]), executor=AT_ONCE,
                        config=dk.Config(pacing=pacing))
    assert tries_when(trace, "a", "success", "scheduled", "queued") == [told["a"]]
    first = next(e for e in trace.events.itertuples() if e.task_id == "b")
    assert first.tick == 1 + later, "b is picked up by the next pass; a lesson's cascade settles in one tick"
    if later:
        assert trace.states_at(1)["b"] == told["b"][0]


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_fail_fast_nonleaf(pacing: str) -> None:
    told = dict(OBSERVED["fail_fast_nonleaf"])
    trace = dk.simulate(
        dk.Dag("d", [dk.Task("a"), dk.Task("b", "a"), dk.Task("c", duration=9), dk.Task("e", "c")], fail_fast=True),
        outcomes={"a": ["fail"]}, executor=AT_ONCE, config=dk.Config(pacing=pacing))
    assert trace.run_state == told.pop("dag_run")
    assert trace.final_states == told
    assert trace.any_failed


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
def test_fail_fast_chain(pacing: str) -> None:
    told = dict(OBSERVED["fail_fast_chain"])
    trace = dk.simulate(dk.Dag("d", [dk.Task("a"), dk.Task("b", "a")], fail_fast=True), outcomes={"a": ["fail"]},
                        executor=AT_ONCE, config=dk.Config(pacing=pacing))
    assert trace.run_state == told.pop("dag_run")
    assert trace.final_states == told


def test_all_ten_checks_are_here() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    for name in OBSERVED:
        family = "heartbeat_timeout" if name.startswith("heartbeat_timeout") else \
            "orphan_of_a_dead_scheduler" if name.startswith("orphan") else name
        assert family in tested, f"{name} has no test"
    assert len(OBSERVED) == 10

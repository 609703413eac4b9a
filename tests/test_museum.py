"""The incident museum: what the kit plays is what was verified in public, and what it does not play is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import dagkit as dk
from dagkit import bridge, museum
from dagkit.lesson.lessons import incidents as exhibits
from dagkit.redelivery import redeliveries
from dagkit.views.player import still

ROOT = Path(__file__).resolve().parents[1]
RECORDED = {c["id"]: c for c in yaml.safe_load((ROOT / "tests" / "data" / "incidents.yaml").read_text("utf-8"))["cases"]
            if c["kind"] == "A"}
ALL = [(cid, k) for cid, c in RECORDED.items() for k in (None, *range(len(c.get("variants", ()))))]
PLAYED = [(cid, k) for cid, k in ALL if not museum.unplayable(cid, k)]
LEFT_OUT = {("A22", 0), ("A26", 0), ("A30", 1), ("A35", 0), ("A49", 1)}
MEANS = {"depends_on_past": "previous_run"}
"""Words of the recorded cases for reasons that the kit calls otherwise."""


def expected(cid: str, change: int | None) -> dict[str, Any]:
    """What the case says; of a variant, what its own entry says (the rest may differ and is not repeated there)."""
    return RECORDED[cid]["expected"] if change is None else RECORDED[cid]["variants"][change]["expected"]


def label(trace: dk.Trace, name: str) -> str:
    """"r1.T2" of the recorded words is "T2@1" here; "t0" of the only Dag stays; ids of several Dags get their Dag."""
    if name in trace.labels:
        return name
    run, _, task = name.partition(".")
    if run[:1] == "r" and run[1:].isdecimal():
        found = [la for la in trace.labels if la.endswith(f"@{run[1:]}") and (not task or la.startswith(task + "@"))]
        return found[0]
    return next(la for la in trace.labels if la.split(".")[-1].split("@")[0] == name and not la.endswith("@0"))


def times(trace: dk.Trace, name: str, states: set[str]) -> list[int]:
    """Times t (tick - 1) at which a TI entered one of the states."""
    changes = trace.changes[trace.labels.index(label(trace, name))]
    return [tick - 1 for tick, state in changes if state in states]


FINAL = {"success", "failed", "skipped", "upstream_failed", "removed"}


@pytest.mark.parametrize(("cid", "change"), PLAYED)
def test_states_and_times_are_those_verified_in_public(cid, change):
    trace, told = museum.replay(cid, change), expected(cid, change)
    start = 1 if cid == "A20" else 0               # two Dags with different logical dates begin one tick later
    final = trace.final_states
    checked = 0
    for name, state in told.get("states", {}).items():
        got = trace.states_at(20)[label(trace, name)] if cid == "A28" else final[label(trace, name)]
        assert got == state or (cid == "A28" and state == "scheduled" and got == "success"), name
        checked += 1
    if "run" in told:
        state = trace.run(run=1).state if cid == "A30" else trace.run_state
        assert state == told["run"]
        checked += 1
    for name, at in told.get("starts", {}).items():
        assert times(trace, name, {"running"})[0] == at * (1 if cid != "A49" else 1 / 5) + start, name
        checked += 1
    for name, at in told.get("ends", {}).items():
        last_check = times(trace, name, {"running"})[-1]          # a check takes one tick here, none in the case
        assert last_check == at and times(trace, name, {"failed"}) == [at + 1]
        checked += 1
    for name, at in told.get("decided_at", {}).items():
        assert times(trace, name, FINAL) == [at], name
        checked += 1
    for name, (low, high) in told.get("ends_range", {}).items():
        assert low <= times(trace, name, FINAL)[-1] <= high
        checked += 1
    if "makespan" in told and (cid, change) != ("A49", None):
        assert trace.last_tick - 1 == told["makespan"]
        checked += 1
    if "max_running" in told:
        assert max(sum(s == "running" for s in trace.states_at(t).values()) for t in range(trace.last_tick)) == \
            told["max_running"]
        checked += 1
    if "order" in told:
        ran = sorted((t, la) for la in trace.labels for t in times(trace, la, {"running"}))
        assert [la.split(".")[-1] for _, la in ran] == told["order"]
        checked += 1
    if "weights" in told:
        weights = {t: w for dag in trace.scenario.dags for t, w in dk.priority_totals(dag).items()}
        assert {t: weights[t] for t in told["weights"]} == told["weights"]
        checked += 1
    if cid == "A32" and change == 0:               # "that does use a retry, and the clock is meant not to restart"
        assert times(trace, "wait", {"up_for_retry"}) == [301]
        assert times(trace, "wait", {"failed"})[0] - 300 < 590 and trace.tries["wait"] == 2
        checked += 1
    if "events" in told:                           # the broker hands out again; nothing in Airflow changes
        assert [tick - 1 for tick, _ in redeliveries(trace)] == [event["t"] for event in told["events"]]
        assert trace.final_states == {"etl": "success"} and trace.tries == {"etl": 1}
        checked += 1
    if "dag_listed" in told:
        seconds, limit = museum.import_seconds(cid, change)
        assert told["dag_listed"] == (seconds <= limit) == bool(trace.labels)
        assert told.get("runs_created", 1) == len(trace._runs)
        assert trace.last_tick - 1 >= told.get("makespan_at_least", -1)
        checked += 1
    checked += check_moments(trace, told) + check_retries(trace, told)
    assert checked, "this case checks nothing"


def check_moments(trace: dk.Trace, told: dict[str, Any]) -> int:
    """at_N: the situation at time N, by task or as numbers of tasks in a state."""
    checked = 0
    for key, situation in told.items():
        if not key.startswith("at_"):
            continue
        states = trace.states_at(int(key[3:]) + 1)
        for name, value in situation.items():
            if isinstance(value, int):
                assert sum(s == name for s in states.values()) == value, (key, name)
            else:
                assert states[label(trace, name)] == value, (key, name)
            checked += 1
    return checked


def check_retries(trace: dk.Trace, told: dict[str, Any]) -> int:
    """Tries, and the delays between them."""
    checked = 0
    (name,) = trace.labels if len(trace.labels) == 1 else ("",)
    for key in ("attempts", "tries_used", "try_number"):
        if key in told:
            assert trace.tries[name] == told[key]
            checked += 1
    if "total_wait_range" in told:
        changes = trace.changes[0]
        waits = [after[0] - tick for (tick, state), after in zip(changes, changes[1:], strict=False)
                 if state == "up_for_retry"]
        low, high = told["total_wait_range"]
        assert low <= sum(waits) <= high
        for wait, (low, high) in zip(waits, told.get("delay_ranges", ()), strict=False):
            assert low <= wait <= high
        checked += 1
    if "state_path" in told:
        path = [state for _, state in trace.changes[0] if state != "none"]
        assert path == told["state_path"]
        checked += 1
    return checked


BLOCKED = [(cid, k, name, limit) for cid, k in PLAYED for key in ("blocked", "blocked_at_0")
           for name, limit in expected(cid, k).get(key, {}).items()]


@pytest.mark.parametrize(("cid", "change", "name", "limit"), BLOCKED)
def test_the_reason_given_is_the_limit_that_was_verified(cid, change, name, limit):
    trace = museum.replay(cid, change)
    if limit == "import_timeout":                  # it holds back the Dag, before there is a task to explain
        seconds, most = museum.import_seconds(cid, change)
        assert seconds > most and trace.labels == []
        return
    labels = [la for la in trace.labels if trace.states_at(51)[la] == name] if name == "queued" else [label(trace, name)]
    codes = {reason.code for la in labels for _, _, reason in trace.reasons[la]}
    assert MEANS.get(limit, limit) in codes
    assert codes <= set(bridge.codes())


def test_two_executors_share_one_parallelism():
    trace = museum.replay("A50")
    told = expected("A50", None)
    held = trace.waiting(1)
    held = held[held["state"] == "scheduled"]
    assert len(held) == told["blocked_at_0_count"] and set(held["reason"]) == {told["blocked_limit"]}


def test_a_loop_of_five_seconds_sets_the_pace():
    trace = museum.replay("A49")
    seconds = trace.scenario.config.tick_seconds
    last_start = times(trace, "c5", {"running"})[0]
    assert last_start * seconds + 1 == expected("A49", None)["makespan"]     # the work itself takes a second


def test_what_is_left_out_is_said_and_nothing_else():
    assert {(cid, k) for cid, k in ALL if museum.unplayable(cid, k)} == LEFT_OUT
    assert len(PLAYED) + len(LEFT_OUT) == len(ALL)
    rows = {row["case"]: row["played here"] for row in museum.contents()}
    assert {cid for cid, said in rows.items() if said.startswith("no: ")} == set(museum.NOT_SIMULATED)


def test_what_is_left_out_names_the_version_it_is_about():
    for cid, change in LEFT_OUT - {("A49", 1)}:
        version = RECORDED[cid]["variants"][change]["patch"]["airflow_version"].replace("-", " to ")
        assert f"Airflow {version}, and the kit plays the rules of version 3.3.2" in museum.unplayable(cid, change)
        assert museum.unplayable(cid, change) in str(exhibits.what_if(cid))
    assert {row.split(" | ")[0] for row in str(exhibits.left_out()).splitlines()[1:]} == {c for c, _ in LEFT_OUT} - {"A49"}


def test_the_lost_hint_is_played_by_the_hops():
    """Seconds as recorded; what a hop costs there, some milliseconds, is rounded away."""
    told, story = expected("A49", 1), exhibits.hinted("A49", 1)
    assert [round(start.at / 1000) for start in story.starts if start.task == "c4"] == [told["starts"]["c4"]]
    assert round(story.ended / 1000) == told["makespan"] and story.run == "success"
    assert round(exhibits.hinted("A49", 1, lost=False).ended / 1000) == expected("A49", 0)["makespan"]
    said = str(exhibits.what_if("A49"))
    assert "`c4` starts after 5.0 s, when the scheduler looks" in said and "with its hint it starts after 3.2 s" in said


def test_a_faster_loop_is_told_in_seconds():
    assert "a tick is 1 s long instead of 5. `c5` starts after 4 s instead of 20 s" in str(exhibits.what_if("A49"))


def test_the_shipped_cases_are_the_recorded_ones():
    assert {cid: dict(c.told) for cid, c in museum.cases().items()} == RECORDED
    assert {c.told["topic"] for c in museum.cases().values()} == set(museum.TOPICS)


def test_links_lead_to_the_public_threads():
    for case in museum.cases().values():
        for name, address in case.links.items():
            assert address.startswith("https://github.com/") or name.startswith("docs: ")
    assert museum.case("A16").links == {"apache/airflow#29474": "https://github.com/apache/airflow/issues/29474"}


def test_unknown_and_unplayed_cases_are_refused_plainly():
    with pytest.raises(dk.DagkitError, match="incident 'A99' is unknown.* Known: A02"):
        museum.case("A99")
    with pytest.raises(dk.DagkitError, match="incident A49 is not simulated: a hint that is lost"):
        museum.replay("A49", 1)


def test_a_variant_leaves_the_case_as_it_was():
    before = museum.scenario("A09").outcomes
    museum.scenario("A09", 0)
    assert museum.scenario("A09").outcomes == before


@pytest.mark.parametrize(("cid", "change"), PLAYED)
def test_every_case_can_be_shown(cid, change):
    trace = museum.replay(cid, change)
    drawn = still(trace)
    for task in {trace.task_of(la)[1] for la in trace.labels}:
        assert f">{task}<" in drawn
    assert trace.gantt().html().count("<svg") == 1

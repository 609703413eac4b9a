"""Capacity and recovery: each small simulation against rules stated again here, independently."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import capacity
from dagkit.capacity import (
    FINDINGS,
    ORDER,
    POLICIES,
    SITUATIONS,
    Deployment,
    Facts,
    Job,
    Work,
    decide,
    failover,
    hibernate,
    judge,
    scale,
    trial,
)
from dagkit.capacity.scaling import BOOT, SLOTS, Play
from dagkit.lesson.capacity_pictures import regions, scaling_panel

# ---- facts


def actions(**facts):
    return {action.component: action.action for action in decide(Facts(**facts))}


def test_each_fact_of_the_table_leads_to_its_action():
    assert actions(unfinished_runs=3)["scheduler"] == "keep"
    assert actions(next_run=10)["scheduler"] == "start" and actions(next_run=11)["scheduler"] == "may stop"
    assert [actions(trigger_rows=n)["triggerer"] for n in (0, 1, 1_000, 1_001)] == \
        ["may stop", "keep 1", "keep 1", "keep 2"]
    assert actions(pod_idle=5)["pod"] == "check again, then remove" and actions(pod_idle=0)["pod"] == "leave"


numbers = st.none() | st.integers(0, 5_000)


@given(runs=numbers, due=numbers | st.just(math.inf), rows=numbers, idle=numbers)
def test_what_could_not_be_read_never_takes_anything_away(runs, due, rows, idle):
    found = actions(unfinished_runs=runs, next_run=due, trigger_rows=rows, pod_idle=idle)
    less = {"may stop", "check again, then remove"}
    assert not (found["scheduler"] in less and (runs is None or due is None))
    assert not (found["triggerer"] in less and rows is None) and not (found["pod"] in less and idle is None)
    assert not (found["scheduler"] in less and runs)


def test_facts_that_are_none_are_refused():
    for bad in (-1, True, "0", math.nan):
        with pytest.raises(dk.DagkitError, match="facts: trigger_rows must be a number >= 0, not .* Write None if"):
            Facts(trigger_rows=bad)


# ---- scaling


def test_a_burst_waits_as_long_as_its_policy_is_blind():
    plays = {policy: scale(policy) for policy in POLICIES}
    assert max(plays["queue"].waits) == BOOT           # seen when it is there, served when workers have started
    assert max(plays["planned"].waits) == 0            # seen before
    assert max(plays["cpu"].waits) > 2 * BOOT          # sees full workers only: grows by 1 / 0.7 each time
    assert plays["queue"].cost <= plays["planned"].cost < 1.2 * plays["queue"].cost      # what being early costs


def test_a_trigger_needs_somebody_to_watch_it():
    plays = {policy: scale(policy, "a trigger that will fire") for policy in POLICIES}
    assert [plays[policy].never for policy in ("cpu", "queue", "planned")] == [0, 16, 0]
    assert plays["planned"].cost < plays["cpu"].cost / 3          # it may go down to no worker; the autoscaler keeps one
    assert set(plays["planned"].triggerers[2:41]) == {1} and plays["planned"].slots[30] == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_missing_is_not_zero(policy):
    zero, hold = (scale(policy, "a missing metric", missing_as=reading) for reading in ("zero", "hold"))
    assert zero.lost > 0 == hold.lost
    assert max(hold.waits) < max(zero.waits)


works = st.lists(st.builds(Work, st.integers(0, 40), st.integers(1, 30), st.integers(1, 6)), min_size=1, max_size=6)


@given(work=works, policy=st.sampled_from(list(POLICIES)), gap=st.integers(0, 30),
       reading=st.sampled_from(["zero", "hold"]))
@settings(max_examples=60, deadline=None)
def test_tasks_are_neither_made_nor_forgotten(work, policy, gap, reading):
    play = Play(policy, work, range(gap, gap + 8), reading)
    assert len(play.waits) - play.lost + play.never == sum(w.tasks for w in work)
    assert all(wait >= 0 for wait in play.waits) and all(s % SLOTS == 0 for s in play.slots)


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(dk.DagkitError, match="'queu' is unknown. Did you mean 'queue'"):
        scale("queu")
    with pytest.raises(dk.DagkitError, match="is unknown. Known: a burst"):
        scale("cpu", "sunshine")


def test_every_situation_has_a_row_per_policy():
    for situation in SITUATIONS:
        assert [row["policy"] for row in capacity.compare(situation)] == list(POLICIES)


# ---- hibernation


@pytest.mark.parametrize("order", list(itertools.permutations(ORDER)))
def test_an_order_is_clean_just_when_work_is_ended_while_nobody_can_make_or_miss_any(order):
    at = {step: order.index(step) for step in ORDER}
    ended = at["end unfinished runs"]
    rule = at["stop new runs"] < ended < min(at["remove workers"], at["stop services"])
    assert hibernate(order=order).clean == rule


def test_even_the_right_order_loses_work_and_says_which():
    found = hibernate()
    assert found.clean and {ti: after for ti, _, after in found.lost} == {
        "orders.load": "failed", "orders.report": "skipped", "train.fit": "skipped", "wait.for_file": "skipped"}
    assert all(before != "success" for _, before, _ in found.lost)


def test_each_left_out_step_is_missed():
    told = {step: hibernate(order=[s for s in ORDER if s != step]) for step in ORDER}
    assert told["write heartbeats"].alarms and told["end unfinished runs"].returned == ["orders.load"]
    assert told["end unfinished runs"].open and told["stop new runs"].open
    assert not hibernate(order=[]).taken


def test_only_what_is_idle_and_not_in_production_goes_to_sleep():
    with pytest.raises(dk.DagkitError, match="in production, and an ordered stop loses work"):
        hibernate(Deployment(production=True))
    with pytest.raises(dk.DagkitError, match="due in 20 minutes, within the look-ahead of 60"):
        hibernate(Deployment(next_run=20), look_ahead=60)
    with pytest.raises(dk.DagkitError, match="step 'stop service' is unknown. Did you mean 'stop services'"):
        hibernate(order=["stop service"])


def test_the_given_deployment_stays_as_it_was():
    mine = Deployment()
    hibernate(mine)
    assert mine == Deployment()


# ---- repairs


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_repair_needs_every_piece_of_evidence_at_both_looks(finding):
    needs = FINDINGS[finding].needs
    sure = dict.fromkeys(needs, True)
    assert judge(finding, sure, sure)[0] == FINDINGS[finding].action
    for name, value, look in itertools.product(needs, (None, False), (0, 1)):
        looks = [sure, sure]
        looks[look] = {**sure, name: value}
        assert judge(finding, *looks)[0] == "leave it"
        assert judge(finding, *[{k: v for k, v in one.items() if v is not None} for one in looks])[0] == "leave it"


def test_looking_again_spares_the_innocent_at_the_price_of_some_repairs():
    zero, one, two = (trial(looks, count=600, seed=1) for looks in (0, 1, 2))
    assert two.wrongly < one.wrongly / 3 and one.wrongly < zero.wrongly
    assert two.rightly < one.rightly < zero.rightly
    assert {t.rightly + t.left for t in (zero, one, two)} == {zero.rightly}      # as many were broken in all three
    with pytest.raises(dk.DagkitError, match="looks is 0, 1 or 2, not 3"):
        trial(3)


# ---- failover


@given(fails=st.integers(0, 1_200), lag=st.integers(0, 600), more=st.integers(0, 600))
def test_what_runs_again_had_begun_and_was_not_known_to_have_ended(fails, lag, more):
    jobs = [Job("a", 0, 5, 300), Job("b", 310, 315, 890), Job("c", 900, 905, 1_020)]
    found = failover(fails, db_lag=lag, jobs=jobs)
    copied = max(0, fails - lag)
    assert found.twice == [job.name for job in jobs if job.started <= fails and job.ended > copied
                           and (job.queued <= copied or job.started <= fails)]
    assert set(found.twice) <= set(failover(fails, db_lag=lag + more, jobs=jobs).twice)
    assert found.recovery_point == max(lag, 240)


def test_without_lag_nothing_that_ended_runs_again():
    for fails in range(0, 1_200, 7):
        found = failover(fails, db_lag=0)
        assert not [task for task in found.tasks if task.done_before and (task.again or task.was != "success")]


def test_the_published_bounds():
    assert failover().verified
    assert not failover(log_lag=900).verified and not failover(delays={"decide": 3_600}).verified
    lost = failover(1_000).tasks[2]
    assert (lost.was, lost.again) == ("running", False) and "no try is left" in lost.then


def test_times_that_are_none_are_refused():
    with pytest.raises(dk.DagkitError, match="db_lag must be a whole number of seconds >= 0, not -1"):
        failover(db_lag=-1)
    with pytest.raises(dk.DagkitError, match=r"delays\[decide\] must be a whole number"):
        failover(delays={"decide": 1.5})


# ---- the pictures


def test_the_panel_plays_what_is_chosen_and_can_be_read_without_widgets():
    panel = scaling_panel()
    assert "Longest wait 3 minutes" in repr(panel)
    panel.controls["policy"].value = "planned"
    assert "Longest wait 0 minutes" in repr(panel) and "Longest wait 0 minutes" in panel.result.value
    panel.controls["situation"].value, panel.controls["policy"].value = "a trigger that will fire", "queue"
    assert "16 never ran" in repr(panel) and "triggerers" in panel.result.value
    shown = panel._repr_mimebundle_()
    assert shown["text/plain"] == repr(panel) and "<svg" in shown["text/html"] and "<script" not in shown["text/html"]
    with pytest.raises(dk.DagkitError, match="Known: cpu, queue, planned"):
        scaling_panel(policy="magic")


def test_two_regions_show_what_is_done_twice():
    found = failover()
    drawn = regions(found)
    assert drawn.svg.count("transform, region") >= 2 and "Done twice: transform." in repr(drawn)
    assert [name for name, *_ in found.there()] == ["transform", "load", "publish"]
    starts = [start for _, start, _, _ in found.there()]
    assert starts[0] == found.resumes_at == 895 + 1_800 and starts == sorted(starts)
    failed = failover(1_000)
    assert failed.there() == [("load", 2_800, 2_800, "failed")] and "Nothing is done twice." in repr(regions(failed))
    assert failover(2_000).there() == [] and regions(failover(2_000)).svg and regions(failover(0)).svg


@pytest.mark.parametrize("wrong", [
    lambda: decide(3), lambda: failover(jobs=5), lambda: failover(jobs=["a"]), lambda: failover(delays=5),
    lambda: hibernate(5), lambda: hibernate(order=5), lambda: judge("stuck pod", 5, None), lambda: trial(count=10**9),
    lambda: trial(count="3"), lambda: trial(broken="x"), lambda: trial(missing=math.nan),
    lambda: dk.latency.conclusions(5), lambda: dk.latency.curves("x"), lambda: dk.latency.play(5),
    lambda: dk.latency.survey(10**9), lambda: dk.design.scenario(5), lambda: dk.design.scenario(dk.design.Design(), ["x"])])
def test_what_is_of_the_wrong_kind_is_refused_in_a_sentence(wrong):
    with pytest.raises(dk.DagkitError, match="not |there is no kind"):
        wrong()

"""Faults: what breaks, what follows, and that the kit says so.

Times are held to what Airflow 3.3.2 does (timeouts 600, 120, 300 and 10 s with a tick of one second), not to the kit.
"""

from __future__ import annotations

from random import Random

import pytest

import dagkit as dk
from dagkit import faults
from dagkit.engine import prepare
from dagkit.engine.tick import tick
from dagkit.scenario import as_scenario
from dagkit.states import is_legal
from tests.random_scenarios import random_dag

CHAIN = dk.Dag("chain", [dk.Task("a", duration=3), dk.Task("b", "a", duration=2), dk.Task("c", "b")])
WIDE = dk.Dag("wide", [dk.Task(f"t{k}", duration=4) for k in range(4)])


def celery(*workers):
    return dk.CeleryExecutor(workers=list(workers) or [dk.Worker(2, name="w1"), dk.Worker(2, name="w2")], handover=1)


def play(*broken, dag=CHAIN, **given):
    return dk.simulate(dag, faults=list(broken), **given)


def entered(trace, label, state):
    return [tick for tick, s in trace.changes[trace.labels.index(label)][1:] if s == state]


# ---- between scheduler and worker -----------------------------------------------------------------------------------


def test_a_broker_that_is_back_in_time_only_delays():
    trace = play(dk.BrokerDown(2, until=9), executor=celery())
    assert entered(trace, "a", "running") == [9] and trace.run_state == "success"
    assert trace.explain("a", 5).code == "broker_down" and "from tick" not in trace.explain("b", 5).text


def test_a_broker_that_stays_away_ends_in_failed_without_a_retry():
    """Queued too long is found at a multiple of 120 more than 600 later, requeued twice, then failed."""
    dag = dk.Dag("d", [dk.Task("a", retries=5)])
    trace = play(dk.BrokerDown(1), dag=dag, executor=celery())
    assert entered(trace, "a", "failed") == [2160] and entered(trace, "a", "scheduled") == [1, 720, 1440]
    assert trace.tries["a"] == 1 and trace.explain("a").code == "stuck_in_queued"


def test_a_lost_message_is_found_by_reconciliation():
    trace = play(faults.LoseMessage(1, "a"), executor=celery())
    assert entered(trace, "a", "queued") == [1, 720] and entered(trace, "a", "running") == [721]


def test_pods_pending_hold_only_what_runs_in_pods():
    dag = dk.Dag("d", [dk.Task("pod", executor="KubernetesExecutor"), dk.Task("plain", executor="LocalExecutor")])
    trace = play(dk.PodsPending(1, until=40), dag=dag, executor=[dk.LocalExecutor(), dk.KubernetesExecutor(handover=1)])
    assert entered(trace, "plain", "running") == [2] and entered(trace, "pod", "running") == [40]
    assert trace.explain("pod", 20).code == "cluster_full"


# ---- workers --------------------------------------------------------------------------------------------------------


def test_only_the_tries_on_the_slow_worker_take_longer():
    trace = play(dk.SlowWorker(1, worker="w1", factor=5), dag=WIDE, executor=celery())
    took = sorted(entered(trace, t, "success")[0] - entered(trace, t, "running")[0] for t in trace.labels)
    assert took == [4, 4, 20, 20]
    slow = next(t for t in trace.labels if entered(trace, t, "success")[0] == 22)
    assert trace.explain(slow, 10).code == "slow_worker"
    assert {trace.explain(t, 4).code for t in trace.labels} == {"slow_worker", "running"}


def test_execution_timeout_bounds_a_slow_worker():
    dag = dk.Dag("d", [dk.Task("a", duration=4, execution_timeout=6)])
    trace = play(dk.SlowWorker(1, task="a"), dag=dag)
    assert entered(trace, "a", "failed") == [8] and trace.explain("a").code == "execution_timeout"


def test_a_broken_image_fails_here_and_not_there():
    dag = dk.Dag("d", [dk.Task(f"t{k}", duration=4, retries=1, retry_delay=9) for k in range(4)])
    trace = play(dk.BrokenWorker(1, until=9, worker="w2"), dag=dag, executor=celery())
    failed_once = [t for t in trace.labels if entered(trace, t, "up_for_retry")]
    assert len(failed_once) == 2 and {entered(trace, t, "up_for_retry")[0] for t in failed_once} == {3}
    assert set(trace.final_states.values()) == {"success"}
    final = play(dk.BrokenWorker(1, worker="w1"), executor=celery(dk.Worker(1, name="w1")))
    assert final.final_states["a"] == "failed" and final.explain("a").code == "import_error"


def test_a_worker_on_the_wrong_queue_takes_nothing():
    trace = play(dk.WrongQueue(1, until=30, worker="w1", queues="defualt"), executor=celery(dk.Worker(4, name="w1")))
    assert entered(trace, "a", "running") == [30]
    assert trace.explain("a", 10).code == "no_worker_for_queue"


# ---- the control plane ----------------------------------------------------------------------------------------------


def test_a_short_outage_of_the_api_server_loses_nothing():
    """Shorter than three heartbeats of 5 s: what ended meanwhile reports when it is back."""
    trace = play(dk.ApiServerDown(3, until=18))
    assert entered(trace, "a", "success") == [18] and trace.run_state == "success"
    assert trace.explain("a", 10).code == "api_server_down"


def test_a_longer_one_loses_what_runs_and_the_scheduler_finds_out_by_the_heartbeat():
    trace = play(dk.ApiServerDown(3, until=19))
    assert entered(trace, "a", "failed") == [310] and trace.final_states["b"] == "upstream_failed"
    assert "gives it up at tick 18" in trace.explain("a", 10).text
    assert "gave it up at tick 18" in trace.explain("a", 100).text
    again = play(dk.ApiServerDown(3, until=19), dag=dk.Dag("d", [dk.Task("a", duration=3, retries=1, retry_delay=5)]))
    assert again.run_state == "success" and again.tries["a"] == 2


def test_queued_work_waits_for_the_api_server_whatever_the_executor():
    for executor in (dk.LocalExecutor(), celery(), dk.KubernetesExecutor(handover=1)):
        trace = play(dk.ApiServerDown(1, until=9), executor=executor)
        assert entered(trace, "a", "queued") == [1] and entered(trace, "a", "running") == [9]


def test_a_slow_database_slows_everything_and_fails_nothing():
    trace = play(dk.SlowDatabase(2, factor=7))
    assert {tick % 7 for t in "bc" for tick in entered(trace, t, "scheduled")} == {2}
    assert trace.run_state == "success" and not trace.any_failed and trace.warnings == []
    assert trace.explain("b", 6).code == "slow_database" and "begins at tick 9" in trace.explain("b", 6).text


def test_a_database_that_is_down_stops_everything():
    dag = dk.Dag("d", [dk.Task("early"), dk.Task("wait", wait=dk.Deferral(1, 5, 1, timeout=8)), dk.Task("b", "early")])
    trace = play(dk.DatabaseDown(3, until=60), dag=dag, runs=dk.Runs(2, every=20))
    assert [t for t in set(trace._event_tick.tolist()) if 3 < t < 60] == []
    assert trace.run(1).started == 60
    for_good = play(dk.DatabaseDown(3))
    assert for_good.last_tick == 2 and for_good.stalled
    assert {for_good.explain(t).code for t in "abc"} == {"database_down"}


def test_deferred_waits_sleep_on_without_a_triggerer_but_their_timeout_counts():
    dag = dk.Dag("d", [dk.Task("w", wait=dk.Deferral(1, 5, 1)), dk.Task("limited", wait=dk.Deferral(1, 5, 1, timeout=9))])
    trace = play(dk.TriggererDown(4, until=50), dag=dag)
    assert entered(trace, "w", "scheduled") == [1, 50] and trace.explain("w", 20).code == "triggerer_down"
    assert entered(trace, "limited", "scheduled") == [1, 12] and trace.final_states["limited"] == "failed"
    never = play(dk.TriggererDown(1), dag=dag)
    assert never.stalled and never.explain("w").code == "triggerer_down"


def test_nobody_reconciles_when_no_scheduler_is_alive():
    trace = play(faults.LoseWorker(3, task="a"), faults.LoseScheduler(5))
    assert trace.final_states["a"] == "running" and trace.stalled


@pytest.mark.parametrize(("fault", "seen"), [
    (dk.DagProcessorDown(2, until=7), 7), (dk.SlowDagProcessor(2, delay=4), 7), (dk.DagProcessorDown(4, until=9), 3),
    (dk.DagProcessorDown(2), None)])
def test_an_edit_is_seen_when_its_file_is_parsed(fault, seen):
    edit = (3, {"tasks": {"b": {"trigger_rule": "always"}}})
    trace = play(fault, changes=[edit], durations={"a": 30})
    assert entered(trace, "b", "scheduled") == [seen or 32]      # `always` waits for nobody; without the edit b waits for a
    if seen != 3:
        assert [trace.explain("b", t).code for t in (2, 3, 6)] == ["trigger_rule", "stale_dag", "stale_dag"]
    assert dk.Trace.from_json(trace.to_json()) == trace


def test_an_error_in_one_check_of_a_sensor_uses_a_retry_and_only_poke_starts_its_clock_anew():
    """Source: BaseSensorOperator.execute; the clock of mode reschedule begins at the first reschedule."""
    for mode, ends in (("reschedule", 603), ("poke", 963)):           # poke: 302 + 60, then 601 until the check past 590
        wait = dk.Sensor(mode=mode, poke_interval=30, timeout=590, errors_at=[300])
        dag = dk.Dag("d", [dk.Task("w", retries=2, retry_delay=60, wait=wait)])
        trace = play(dag=dag, executor=dk.LocalExecutor(handover=0))
        assert entered(trace, "w", "up_for_retry") == [302] and entered(trace, "w", "failed") == [ends]
        assert trace.tries["w"] == 2 and trace.explain("w").code == "sensor_timeout"
        assert dk.Trace.from_json(trace.to_json()) == trace


# ---- several, none, unknown -----------------------------------------------------------------------------------------


def test_two_outages_at_once_hold_until_the_later_is_over():
    for pair in ((dk.BrokerDown(2, until=9), dk.ApiServerDown(2, until=14)),
                 (dk.BrokerDown(2, until=14), dk.ApiServerDown(2, until=9))):
        assert entered(play(*pair, executor=celery()), "a", "running") == [14]
    both = play(dk.SlowDatabase(1, factor=6), dk.WrongQueue(1, until=20, worker="w1", queues="x"),
                executor=celery(dk.Worker(4, name="w1")))
    assert entered(both, "a", "running") == [20] and {t % 6 for t in entered(both, "b", "scheduled")} == {1}


def test_a_fault_after_the_end_breaks_nothing_and_is_said():
    calm, late = play(), play(dk.BrokerDown(99), executor=celery())
    assert late.log() == play(executor=celery()).log() and calm.warnings == []
    assert late.warnings == ["fault: the broker delivers nothing from tick 99 on, after the last change (tick 10), so it "
                             "broke nothing. Let it begin sooner."]


def test_the_trace_records_its_faults():
    fault = dk.BrokerDown(2, until=9)
    trace = play(fault, executor=celery())
    assert trace.faults == [fault]
    said = "the broker delivers nothing from tick 2 until tick 9"
    assert f"tick  2  FAULT: {said}" in trace.log().splitlines()
    drawn = trace.gantt().html()
    assert drawn.count('class="dk-mark"') == 1 and f"▼ {said}" in drawn
    assert "dk-mark" not in play().gantt().html()


@pytest.mark.parametrize(("fault", "given", "words"), [
    (dk.BrokerDown(1), {}, "BrokerDown: no executor here has a broker. Use executor=dk.CeleryExecutor()."),
    (dk.PodsPending(1), {}, "PodsPending: no executor here has pods. Use executor=dk.KubernetesExecutor()."),
    (dk.BrokerDown(1, executor="Celery"), {"executor": celery()}, "no executor is called 'Celery'."),
    (dk.SlowWorker(1, worker="w3"), {"executor": celery()}, "SlowWorker: no worker is called 'w3'."),
    (dk.SlowWorker(1, task="nope"), {}, "label 'nope' matches no task"),
    (dk.TriggererDown(1), {"config": dk.Config(triggerers=0)}, "TriggererDown: config.triggerers is 0"),
])
def test_a_fault_of_something_that_is_not_there_is_refused(fault, given, words):
    with pytest.raises(dk.DagkitError) as refused:
        play(fault, **given)
    assert words in str(refused.value)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: dk.BrokerDown(5, until=5), "BrokerDown: until must be a whole number >= 6 or None, not 5. Give 6 or more."),
    (lambda: dk.SlowDatabase(0), "SlowDatabase: tick must be a whole number >= 1, not 0. Give 1 or more."),
    (lambda: dk.SlowDatabase(1, factor=1), "SlowDatabase: factor must be a whole number >= 2, not 1. Give 2 or more."),
    (lambda: dk.SlowWorker(1), "SlowWorker: name either the task whose worker is slow (task=) or the worker (worker=). "
                               "One of the two, not both."),
    (lambda: dk.ApiServerDown(1, give_up_after="3"),
     "ApiServerDown: give_up_after must be a whole number >= 1, not '3'. Give 1 or more."),
])
def test_a_fault_that_makes_no_sense_is_refused(make, words):
    with pytest.raises(dk.DagkitError) as refused:
        make()
    assert str(refused.value) == words


def random_faults(rng):
    def until(tick):
        return tick + rng.randint(1, 60)
    made = []
    for _ in range(rng.randint(1, 3)):
        tick = rng.randint(1, 12)
        made.append(rng.choice((
            lambda t: dk.BrokerDown(t, until(t)), lambda t: dk.ApiServerDown(t, until(t)),
            lambda t: dk.DatabaseDown(t, until(t)), lambda t: dk.SlowDatabase(t, until(t), factor=rng.randint(2, 9)),
            lambda t: dk.TriggererDown(t, until(t)), lambda t: dk.SlowWorker(t, until(t), worker="w1"),
            lambda t: dk.BrokenWorker(t, until(t), worker="w2"), lambda t: dk.LoseWorker(t, worker="w2"),
            lambda t: dk.WrongQueue(t, until(t), worker="w1", queues="x")))(tick))
    return made


@pytest.mark.parametrize("seed", range(12))
def test_whatever_breaks_for_a_while_everything_ends_lawfully_and_is_explained(seed):
    rng = Random(seed)
    dag = random_dag(rng, limits=False, kinds=0)
    dag = dk.Dag("d", [*dag, dk.Task("wait", wait=dk.Deferral(1, rng.randint(1, 9), 1))], max_active_tasks=99)
    trace = dk.simulate(dag, faults=random_faults(rng), executor=celery(), runs=dk.Runs(2, every=7),
                        config=dk.Config(pacing=rng.choice(("lesson", "airflow"))))
    assert not trace.stalled
    events = trace.events
    assert all(is_legal(old, new) for old, new in zip(events["old"], events["new"], strict=True))
    assert dk.Trace.from_json(trace.to_json()) == trace
    for label, lines in trace.reasons.items():
        assert lines[0][0] == 0 and lines[-1][1] == trace._end, label
    assert dk.simulate(trace.scenario) == trace


@pytest.mark.parametrize("seed", range(40))
def test_outages_that_overlap_at_the_scheduler_never_keep_it_from_ending(seed):
    """Everything passes, or the database is gone for good and the rest is stalled. A second slow database never hangs."""
    rng = Random(seed)
    broken = [kind(begin := rng.randint(1, 6), rng.choice((None, begin + rng.randint(1, 9))), rng.randint(2, 6))
              for kind in rng.choices((dk.SlowDatabase, dk.DatabaseDown), weights=(3, 1), k=rng.randint(2, 5))]
    dag = dk.Dag("d", [*CHAIN, dk.Task("d", "c", retries=1, retry_delay=2)])
    scenario = as_scenario(dag, faults=broken, outcomes={"d": ["fail"]})
    sim = prepare(scenario)
    for now in sim.calendar:
        assert now < 900, "a pass is put off for ever"
        tick(sim, now)
    trace = dk.simulate(scenario)
    down = [f for f in broken if isinstance(f, dk.DatabaseDown)]
    assert trace.run_state in ("success", "failed")[:1 + bool(down)] or any(f.until is None for f in down)
    for label in dag.tasks:
        for _, _, reason in trace.reasons[label]:
            if reason.code == "slow_database":             # the pass it promises is one: the slower rhythm decides
                promised = int(reason.text.rsplit(" ", 1)[1].strip("."))
                assert promised in entered(trace, label, "scheduled") or down


def test_of_two_slow_databases_the_slower_sets_the_pace():
    """Ticks 1, 4, 7 and 2, 4, 6 would agree; 1, 3, 5 and 2, 4, 6 never do: passes are at 1, 3, 5."""
    trace = play(dk.SlowDatabase(1, factor=2), dk.SlowDatabase(2, factor=2))
    assert trace.run_state == "success" and {entered(trace, t, "scheduled")[0] % 2 for t in ("a", "b", "c")} == {1}
    slower = play(dk.SlowDatabase(1, factor=2), dk.SlowDatabase(2, factor=7))
    assert entered(slower, "b", "scheduled")[0] in range(2, 99, 7)


def test_hostile_names_stay_plain_text():
    evil = "<script>alert(1)</script>\n\x00\ud800"
    dag = dk.Dag("d", [dk.Task(evil, duration=3)])
    executor = celery(dk.Worker(2, name=evil), dk.Worker(2, queues=(evil,), name="w2"))
    trace = play(dk.SlowWorker(1, worker=evil), faults.LoseMessage(1, evil), dk.WrongQueue(2, worker="w2", queues=evil),
                 dag=dag, executor=executor)
    for text in (trace.log(), *map(str, trace.faults), *trace.warnings, trace.explain(evil, 5).text):
        assert "\x00" not in text and "\ud800" not in text
    assert len(trace.log().splitlines()) == len(trace.log_lines)
    html = trace.gantt().html()
    assert "<script>" not in html and "\x00" not in html and html.encode("utf-8")

"""Executors: when work is picked up and starts, what it costs, why it waits; compared, and chosen by the chart."""

from __future__ import annotations

import html.parser
import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import breakeven, choice
from dagkit.compared import COLUMNS, Comparison
from dagkit.executors import Stay
from dagkit.executors.celery import pool_ticks
from dagkit.executors.latency import draw
from dagkit.executors.sources import DEFAULTS
from dagkit.lesson import walk
from dagkit.lesson.lessons import executor_demos as demo
from dagkit.lesson.lessons import find
from dagkit.serial import scenario_from_json, scenario_to_json
from dagkit.stays import places
from dagkit.views.band import band
from dagkit.views.lanes import executor_lanes, levels
from tests.random_scenarios import waiting_scenario

T = dk.Task
FAR = {"max_active_tasks": 10_000}


def same(count, duration=5, **options):
    return dk.Dag("same", [T(f"t{k}", duration=duration, **options) for k in range(count)], **FAR)


def began(trace):
    """label -> the tick at which it first ran."""
    found = {label: [tick for tick, state in changes if state == "running"]
             for label, changes in zip(trace.labels, trace.changes, strict=True)}
    return {label: ticks[0] for label, ticks in found.items() if ticks}


def pods(**options):
    return dk.KubernetesExecutor(**{"pod_start": 3, "image_pull": 0, "batch": 100, **options})


# ---- latencies


def test_draws_are_spread_evenly_and_depend_on_the_key_alone():
    found = [draw("key", k) for k in range(4000)]
    assert abs(sum(found) / 4000 - 0.5) < 0.02 and all(0 < u < 1 for u in found)
    assert [sum(u < q for u in found) / 4000 == pytest.approx(q, abs=0.03) for q in (0.1, 0.5, 0.9)] == [True] * 3
    assert found == [draw("key", k) for k in range(4000)] and draw("\ud800") != draw("a")


def test_a_lognormal_latency_has_its_median_and_its_95th_percentile():
    slow = dk.Latency.lognormal(median=5, p95=15)
    found = sorted(slow.seconds(draw(k)) for k in range(4000))
    assert found[2000] == pytest.approx(5, rel=0.08) and found[3800] == pytest.approx(15, rel=0.1)


def test_what_one_try_draws_does_not_depend_on_the_others():
    alone = dk.simulate(same(1), executor=dk.BatchExecutor())
    many = dk.simulate(same(30), executor=dk.BatchExecutor())
    assert began(alone)["t0"] == began(many)["t0"]
    assert dk.simulate(same(30), executor=dk.BatchExecutor()) == many
    assert began(dk.simulate(same(30), executor=dk.BatchExecutor(), seed=1)) != began(many)


# ---- Kubernetes


def test_a_pod_runs_when_it_has_started():
    trace = dk.simulate(same(2), executor=pods())
    assert began(trace) == {"t0": 4, "t1": 4} and trace.last_tick == 9


@pytest.mark.parametrize(("batch", "tick_seconds", "loop", "ticks"), [
    (1, 1, 1, [1, 2, 3, 4, 5, 6]), (2, 1, 1, [1, 1, 2, 2, 3, 3]), (1, 0.5, 1, [2, 4, 6, 8, 10, 12]),
    (2, 60, 30, [1, 1, 1, 1, 2, 2])])
def test_so_many_pods_are_created_per_loop(batch, tick_seconds, loop, ticks):
    trace = dk.simulate(same(6), executor=pods(batch=batch, loop=loop), config=dk.Config(tick_seconds=tick_seconds))
    assert [p.picked for p in sorted(places(trace))] == ticks


def test_the_batch_holds_for_a_tick_in_which_work_arrives_twice():
    """Tasks that come later in the tick (handed over at once) do not get a batch of their own."""
    dag = dk.Dag("d", [T("a", duration=2), *(T(f"b{k}", "a") for k in range(4)), *(T(f"c{k}") for k in range(4))], **FAR)
    trace = dk.simulate(dag, executor=pods(batch=1, pod_start=0.6))
    assert max(Counter(p.picked for p in places(trace)).values()) == 1


def test_an_image_is_pulled_once_per_node_and_image_or_always():
    once = dk.simulate(same(3, 1), executor=pods(batch=1, nodes=1, image_pull=10))
    assert began(once) == {"t0": 14, "t1": 14, "t2": 14}         # created at 1, 2, 3; the image is there at 11, + 3
    always = dk.simulate(same(3, 1), executor=pods(batch=1, nodes=1, image_pull=10, pull_policy="Always"))
    assert began(always) == {"t0": 14, "t1": 15, "t2": 16}
    apart = dk.simulate(same(2, 1), executor=pods(nodes=1, image_pull=10, environments={"t1": "other"}))
    late = dk.simulate(dk.Dag("d", [T("t0"), T("t1", "t0")]), executor=pods(nodes=1, image_pull=10))
    assert began(apart) == {"t0": 14, "t1": 14} and began(late)["t1"] == 15 + 3


def test_a_given_handover_is_the_whole_way():
    trace = dk.simulate(same(50), executor=dk.KubernetesExecutor(handover=2), config=dk.Config(parallelism=50))
    assert set(began(trace).values()) == {3}


def test_a_pod_that_stays_pending_is_taken_back_and_at_last_given_up():
    trace = dk.simulate(same(1), executor=pods(pod_start=50_000))
    assert trace.final_states == {"t0": "failed"} and trace.explain("t0").code == "stuck_in_queued"
    assert [p.began for p in places(trace)] == [None] * 3          # the first time, and two requeues
    assert trace.explain("t0", tick=50).code == "pod_pending"


# ---- Celery, Edge, Batch


def test_messages_take_their_time():
    broker = dk.Broker("redis", latency=3)
    assert began(dk.simulate(same(2), executor=dk.CeleryExecutor(broker=broker))) == {"t0": 5, "t1": 5}


def test_a_worker_that_reserves_holds_work_back_from_an_idle_one():
    assert demo.last_short(1) == 2 + 25                            # five short ones after each other on the other worker
    assert demo.last_short(2) == 2 + 60 + 5                        # one of them behind the long one
    trace = dk.simulate(demo.reserved(2))
    assert trace.explain("short_2", tick=40).code == "prefetched"


@settings(max_examples=40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 3), st.integers(1, 3))
def test_slots_are_kept_and_without_prefetch_none_is_idle_while_work_waits(lengths, workers, prefetch):
    dag = dk.Dag("d", [T(f"t{k}", duration=length) for k, length in enumerate(lengths)], **FAR)
    staff = [dk.Worker(size) for size in ([2, 1, 3][:workers])]
    trace = dk.simulate(dag, executor=dk.CeleryExecutor(workers=staff, prefetch=prefetch), runs=dk.Runs(2, every=3))
    stays = places(trace)
    assert len(stays) == len(trace.labels) and set(trace.final_states.values()) == {"success"}
    for tick in range(trace.last_tick + 1):
        held = Counter(p.worker for p in stays if p.picked <= tick < p.left)
        assert all(held[w] <= worker.concurrency for w, worker in enumerate(staff))
        waiting = [label for label, state in trace.states_at(tick).items() if state == "queued"
                   and trace.states_at(tick - 1)[label] == "queued"]
        if waiting and prefetch == 1:
            assert sum(held.values()) == sum(worker.concurrency for worker in staff)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=7), st.integers(0, 3), st.integers(0, 9))
def test_the_ticks_of_a_growing_pool_counted_one_by_one(spans, least, keep):
    stays = [Stay(0, start, start, start + length) for start, length in spans]
    span = max((s.left for s in stays), default=0) + 4
    busy = [sum(s.picked <= t < s.left for s in stays) for t in range(span)]
    expected = sum(max(least, *busy[max(0, t - keep):t + 1]) for t in range(span))
    assert pool_ticks(stays, span, least, keep) == expected


def test_an_edge_worker_takes_work_only_when_it_looks():
    trace = dk.simulate(same(9, 1), executor=dk.EdgeExecutor(workers=[dk.Worker(2)], poll_interval=5))
    starts = sorted(began(trace).values())
    assert len({tick % 5 for tick in starts}) == 1 and set(Counter(starts).values()) == {2, 1}
    assert starts[-1] - starts[0] == 4 * 5                         # two at each look


def test_sites_take_the_work_of_their_own_queue():
    trace = dk.simulate(demo.readings(("berlin", "lima")), executor=demo.sites())
    assert {p.worker for p in places(trace)} == {0, 1}


def test_cleared_work_in_front_of_a_full_worker_is_picked_up_later():
    dag = dk.Dag("d", [T("long", duration=9, priority_weight=9), T("next")])
    trace = dk.simulate(dag, executor=dk.CeleryExecutor(workers=[dk.Worker(1)]), changes=[(4, {"clear": ["next"]})])
    assert began(trace)["next"] == 11 and not trace.stalled


def test_a_dead_worker_picks_nothing_up_and_reserves_nothing():
    executor = dk.CeleryExecutor(workers=[dk.Worker(1, name="w1"), dk.Worker(1, name="w2")], prefetch=3)
    trace = dk.simulate(same(8, 2), executor=executor, faults=[dk.LoseWorker(tick=1, worker="w1")])
    assert {p.worker for p in places(trace)} == {1} and set(trace.final_states.values()) == {"success"}


def random_executor(rng):
    slow = dk.Latency.lognormal(3, 9)
    return rng.choice((
        dk.KubernetesExecutor(batch=rng.choice((1, 2, None)), pod_start=rng.choice((0, 1, slow)), nodes=rng.choice((1, 3)),
                              image_pull=rng.choice((0, 4)), max_pods=rng.choice((None, 1, 3))),
        dk.BatchExecutor(provisioning=rng.choice((1, slow, 70)), max_jobs=rng.choice((None, 1))),
        dk.EdgeExecutor(workers=[dk.Worker(2, "default", "w1"), dk.Worker(1, "gpu", "w2")],
                        poll_interval=rng.choice((0, 3))),
        dk.CeleryExecutor(workers=[dk.Worker(1, "default", "w1"), dk.Worker(1, ("gpu", "default"), "w2")],
                          prefetch=rng.choice((1, 3)), broker=dk.Broker(latency=rng.choice((0, slow))))))


@pytest.mark.parametrize("seed", range(30))
def test_whatever_happens_who_runs_has_a_place_and_no_worker_too_many(seed):
    """Retries, waits, clears of queued work, lost messages and workers, on every kind of executor."""
    rng = Random(seed)
    plain = waiting_scenario(rng)
    faults = [f for f in plain.faults if getattr(f, "worker", None) is None]
    scenario = plain.replace(executor=random_executor(rng), faults=faults, seed=seed)
    trace, staff = dk.simulate(scenario), scenario.executor.default.staff(scenario.config)
    assert dk.Trace.from_json(trace.to_json()) == trace == dk.simulate(scenario)
    stays = places(trace)
    assert all(p.picked <= (p.left if p.began is None else p.began) <= p.left for p in stays)
    for tick in range(0, trace._end + 1, 1 + trace._end // 100):
        here = [p for p in stays if p.picked <= tick < p.left]
        running = {ti for ti, code in enumerate(trace._codes_at(tick)) if dk.states.NAMES[code] == "running"}
        assert {p.ti for p in here if p.began is not None and p.began <= tick} == running
        assert len({p.ti for p in here}) == len(here)
        for worker, held in Counter(p.worker for p in here).items():
            assert staff is None or held <= staff[worker].concurrency


# ---- packages


def test_a_try_on_a_worker_without_its_packages_fails_on_import():
    trace = dk.simulate(same(1, 30), executor=dk.CeleryExecutor(
        workers=[dk.Worker(environment="torch 1")], environments={"t0": "torch 2"}))
    assert trace.final_states == {"t0": "failed"} and trace.explain("t0").code == "import_error"
    assert trace.last_tick == began(trace)["t0"] + 1


def test_the_four_homes_of_conflicting_packages():
    failed = {where: demo.home(where)["failed"] for where in demo.HOMES}
    assert list(failed.values()) == [4, failed["another worker beside it, torch 2"], 0, 0, 0]
    assert 0 < failed["another worker beside it, torch 2"] < 8
    assert demo.home("the same, 3 retries")["tries"] > 8 == demo.home("a queue for each version")["tries"]


def test_a_local_executor_has_one_environment():
    local = dk.LocalExecutor(environment="torch 1", environments={"t0": "torch 1", "t1": "torch 2"})
    assert dk.simulate(same(2), executor=local).final_states == {"t0": "success", "t1": "failed"}


# ---- why


def test_reasons_of_the_way_from_queued_to_running():
    found = {}
    for executor in (dk.KubernetesExecutor(), dk.BatchExecutor(), dk.EdgeExecutor(poll_interval=30),
                     dk.CeleryExecutor(workers=[dk.Worker(1)])):
        trace = dk.simulate(same(4), executor=executor)
        found |= {r.code: r for lines in trace.reasons.values() for _, _, r in lines if r.state == "queued"}
    assert {"pod_creation", "pod_pending", "provisioning", "edge_poll", "worker_slots"} <= set(found)
    assert all(r.bridge.code == code for code, r in found.items())
    assert "worker_pods_creation_batch_size" in found["pod_creation"].remedy


def test_a_queue_nobody_serves_is_named_whatever_the_executor():
    for executor in (dk.CeleryExecutor(), dk.EdgeExecutor(sites=[dk.Site(name="berlin")])):
        assert dk.simulate(same(1, queue="gpu"), executor=executor).explain("t0", tick=9).code == "no_worker_for_queue"


# ---- compared


def test_one_task_compared_by_hand():
    table = dk.compare_executors(same(1), {
        "local": dk.LocalExecutor(parallelism=4), "pods": pods(pod_start=10), "batch": dk.BatchExecutor(provisioning=10)})
    assert list(table.columns) == list(COLUMNS) and list(table.index) == ["local", "pods", "batch"]
    assert list(table["makespan"]) == [6, 15, 15] and list(table["worker_seconds_used"]) == [5, 5, 5]
    assert list(table["worker_seconds_paid"]) == [4 * 6, 15, 60]    # four slots; start to end; a minute at least
    assert list(table["start_latency_p95"]) == [1, 10, 10] and table.notna().all(axis=None)


@pytest.mark.parametrize(("executor", "each"), [
    (demo.LOCAL, 5 + 1), (demo.CELERY, 5 + 1), (pods(max_pods=32, pod_start=10), 15)])
def test_a_thousand_tasks_take_as_many_rounds_as_slots_allow(executor, each):
    assert Comparison(demo.many(), {"x": executor}).rows["x"]["makespan"] == math.ceil(1000 / 32) * each


def test_seconds_follow_the_length_of_a_tick():
    rows = [Comparison(same(1), {"x": demo.LOCAL}, config=dk.Config(tick_seconds=s)).rows["x"] for s in (1, 60)]
    assert rows[1]["makespan"] == 60 * rows[0]["makespan"] and rows[1]["worker_seconds_used"] == 300


def test_what_never_ends_has_no_makespan():
    row = Comparison(dk.Dag("d", [T("a", pool="none")]), {"x": demo.LOCAL}).rows["x"]
    assert math.isnan(row["makespan"]) and math.isnan(row["start_latency_p50"]) and row["worker_seconds_used"] == 0


def test_several_executors_in_one_row():
    both = {"celery": demo.CELERY, "pods": demo.PODS}
    row = Comparison(demo.many(10, executor="pods"), {"both": both}).rows["both"]
    assert " + " in row["isolation"] and row["worker_seconds_used"] == 50


def test_lanes_show_what_runs_and_untrusted_names_as_text():
    name = '<script>alert(1)</script>"\n\ud800'
    for dag in (same(2), demo.many(60)):
        shown = executor_lanes(dag, {name: demo.LOCAL, "pods": demo.PODS})
        shown.html().encode()
        assert "script" not in Tags(shown.html()).seen and len(shown.svgs) == 1
    trace = dk.simulate(demo.many(60), executor=demo.LOCAL)
    assert max(running for running, _ in levels(trace, trace.last_tick + 1)) == 32


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)


# ---- break-even


@pytest.mark.parametrize("start", [2, 5, 10])
def test_the_break_even_of_a_fixed_start_is_where_arithmetic_puts_it(start):
    """(length + start) / (length + 1) is at most 1.1 from (start - 1.1) / 0.1 on."""
    assert breakeven.even(start) == math.ceil(round((start - 1.1) / 0.1, 9))


def test_pods_lose_on_short_tasks_whatever_the_plausible_latency():
    for start in breakeven.PLAUSIBLE.values():
        assert breakeven.ratio(start, 5) > breakeven.WORSE > breakeven.ratio(start, 3600)
    found = breakeven.break_even({"a": 2, "b": 30}, lengths=(5, 50, 500))
    assert found.even["a"] < found.even["b"] and list(found.curves["b"]) == sorted(found.curves["b"], reverse=True)
    assert band(found).svg.count('class="dk-curve"') == 2


# ---- the chart


@pytest.mark.parametrize("way", list(choice.paths()))
def test_every_way_through_the_chart(way):
    advice = choice.recommend(dict(way))
    given_, executor = dict(way), None
    if given_["one_machine"] and given_.get("still_enough"):
        executor = "Local"
    elif given_["isolation"]:
        executor = "Kubernetes"
    elif given_["short"]:
        executor = "Celery"
    else:
        executor = "Edge" if given_["remote"] else "Celery"
    assert (advice.executor, advice.several, advice.path) == (executor, given_.get("mixed", False), way)
    assert advice.executor in choice.executors() and advice.alternative in choice.executors()


def test_the_chart_is_walked_whole_and_its_flaw_is_known():
    ways = list(choice.paths())
    assert {(name, answer) for way in ways for name, answer in way} == {
        (name, answer) for name in choice.STEPS for answer in (True, False)}
    assert len(ways) == 15
    spots = choice.blind_spots()
    assert len(spots) == 6 and all(s["remote"] and (s["isolation"] or s["short"]) for s in spots)


def test_the_walk_leads_where_the_chart_does():
    shown = walk.walk()
    for name, answer in (("one_machine", True), ("still_enough", False), ("isolation", False), ("short", True)):
        shown.answers = {**shown.answers, name: answer}
        assert shown.advice is None and "Answer the question" in shown.result
    shown.answers = {**shown.answers, "mixed": True}
    assert str(shown.advice).startswith("CeleryExecutor, and Kubernetes") and "Celery + Kubernetes" in shown.result
    shown.answers = {"one_machine": False, "isolation": True, "mixed": False}
    before = shown.result
    shown.workload = "many short"
    assert shown.advice.executor == "Kubernetes" and shown.result != before
    assert [(step["yes"], step["no"]) for step in shown.steps] == [
        (step.yes.then or "", step.no.then or "") for step in choice.STEPS.values()]


def test_without_widgets_the_whole_chart_stands_there():
    twin, _ = walk.walk()._repr_mimebundle_()
    seen = Tags(twin["text/html"]).seen
    assert "script" not in seen and seen.count("details") == 2 * 15 - 2 + 1     # two answers per question, and the table
    assert twin["text/plain"].count("->") == 15 and all(s.asks in twin["text/html"] for s in choice.STEPS.values())
    drawn = walk.chart()
    assert len(drawn.edges) == 2 * len(choice.STEPS) + 2 and drawn.svg().count('class="dk-node"') == 12


# ---- the lesson


def test_answers_of_the_lesson_come_from_the_simulator():
    answers = {name: find(name).right for name in ("short_pods", "night", "packages", "giant", "blind", "reserved")}
    assert answers == {"short_pods": "more than five times as long", "night": "Kubernetes", "giant": "none of them",
                       "packages": "some fail, on some days", "blind": "Kubernetes", "reserved": "67"}


def test_every_cure_helps_and_the_pool_protects_on_every_executor():
    takes = [demo.cured(how)["takes, s"] for how in demo.CURES]
    assert all(cure < takes[0] / 2 for cure in takes[1:])
    assert all(row["connections, no pool"] > 20 == row["connections, pool of 20"] for row in demo.connections())
    assert demo.mixing("quick on Celery, heavy in pods")["quick: the slowest, s"] <= 1


def test_every_default_has_a_source_or_says_that_it_is_assumed():
    assert all(len(d.source) > 5 for d in DEFAULTS) and {d.assumed for d in DEFAULTS} == {True, False}
    assert {"batch", "poll_interval", "prefetch"} <= {d.what for d in DEFAULTS if not d.assumed}


# ---- kept and refused

EVERY = [
    dk.LocalExecutor(environment="a", environments={"t0": "a"}), dk.BatchExecutor(provisioning=dk.Latency.uniform(1, 9)),
    dk.CeleryExecutor(workers=[dk.Worker(2, ("a", "b"), "w", "torch")], prefetch=2, autoscale=(4, 1),
                      broker=dk.Broker("sqs", latency=dk.Latency.lognormal(1, 3), visibility_timeout=60)),
    dk.KubernetesExecutor(), dk.KubernetesExecutor(handover=2, batch=3), dk.KubernetesExecutor(batch=None),
    dk.EdgeExecutor(sites=[dk.Site(name="berlin"), dk.Site(3, ("x",), "lima")]), dk.EdgeExecutor(handover=0),
]


@pytest.mark.parametrize("executor", EVERY, ids=lambda e: type(e).__name__)
def test_executors_and_what_they_picked_up_survive_json(executor):
    trace = dk.simulate(same(3, queue="x"), executor=executor, config=dk.Config(task_queued_timeout=30))
    again = dk.Trace.from_json(trace.to_json())
    assert scenario_from_json(scenario_to_json(trace.scenario)).executor == trace.scenario.executor
    assert again == trace and places(again) == places(trace)
    assert again.explain("t2", tick=3) == trace.explain("t2", tick=3) and again.to_json() == trace.to_json()


@pytest.mark.parametrize(("wrong", "said"), [
    (lambda: dk.CeleryExecutor(workers=[]), "at least one dk.Worker, not \\[\\]"),
    (lambda: dk.EdgeExecutor(sites=[]), "at least one dk.Site"),
    (lambda: dk.Site(), "Site: name must be text"),
    (lambda: dk.Worker(0), "concurrency must be a whole number >= 1, not 0"),
    (lambda: dk.KubernetesExecutor(pod_start=-1), "pod_start must be a number of seconds >= 0"),
    (lambda: dk.KubernetesExecutor(batch=0), "batch must be a whole number >= 1 or None"),
    (lambda: dk.KubernetesExecutor(loop=0), "loop must be a number of seconds > 0"),
    (lambda: dk.KubernetesExecutor(pull_policy="always"), "Did you mean 'Always'"),
    (lambda: dk.EdgeExecutor(poll_interval=-5), "poll_interval must be a number of seconds >= 0"),
    (lambda: dk.BatchExecutor(provisioning="30"), "number of seconds >= 0 or a dk.Latency, not '30'"),
    (lambda: dk.BatchExecutor(least_paid=-1), "least_paid must be"),
    (lambda: dk.Latency.lognormal(5, 2), "95th percentile must be at least its median"),
    (lambda: dk.Latency.lognormal(0, 2), "median of a lognormal one must be above 0"),
    (lambda: dk.Latency.uniform(float("nan"), 2), "seconds must be a number"),
    (lambda: dk.Latency("logn", 1, 2), "Did you mean 'lognormal'"),
    (lambda: dk.CeleryExecutor(autoscale=(2, 16)), "max >= min"),
    (lambda: dk.CeleryExecutor(autoscale=4), "autoscale must be \\(max, min\\)"),
    (lambda: dk.CeleryExecutor(prefetch=0), "prefetch must be a whole number >= 1"),
    (lambda: dk.CeleryExecutor(broker="redis"), "broker must be a dk.Broker"),
    (lambda: dk.Broker("rabbit"), "Did you mean 'rabbitmq'"),
    (lambda: dk.Broker("rabbitmq", visibility_timeout=9), "knows no visibility_timeout"),
    (lambda: dk.CeleryExecutor(environments=["a"]), "environments must be a dictionary"),
    (lambda: dk.simulate(same(2), executor=dk.CeleryExecutor(environments={"t9": "a"})),
     "no Dag has a task 't9'. Known: t0, t1"),
    (lambda: dk.compare_executors(same(1), {}), "at least one"),
    (lambda: dk.compare_executors(same(1), {"x": 5}), "'x': executor: expected an executor"),
    (lambda: dk.compare_executors(same(1), {"x": demo.LOCAL}, executor=1), "is what is compared"),
    (lambda: choice.recommend({"one_machine": False}), "'isolation' comes up"),
    (lambda: choice.recommend({"one_machin": True}), "Did you mean 'one_machine'"),
    (lambda: choice.recommend({"one_machine": "yes"}), "must be True or False, not 'yes'"),
    (lambda: breakeven.even(5, worse=1), "above 1"),
    (lambda: walk.work("few heavi"), "Did you mean 'few heavy'"),
])
def test_slips_are_refused_in_one_sentence(wrong, said):
    with pytest.raises(dk.DagkitError, match=said):
        wrong()


@pytest.mark.parametrize(("wrong", "said"), [
    (lambda: dk.compare_executors(same(1), {1: demo.LOCAL, "1": demo.LOCAL}), "each name must be text, not 1"),
    (lambda: dk.EdgeExecutor(sites=[]), r"Write sites=\[dk.Site\(name='berlin'\)\]"),
    (lambda: dk.EdgeExecutor(poll_interval=10**400), "poll_interval must be a number of seconds >= 0"),
    (lambda: dk.KubernetesExecutor(loop=10**400), "loop must be a number of seconds > 0"),
    (lambda: dk.KubernetesExecutor(loop=5e-324), "loop must be a number of seconds > 0"),
    (lambda: dk.BatchExecutor(least_paid=10**400), "least_paid must be a number of seconds >= 0"),
    (lambda: dk.Config(tick_seconds=10**400), "tick_seconds must be a number from 1e-6 to 1e9"),
    (lambda: dk.Config(tick_seconds=5e-324), "tick_seconds must be a number from 1e-6 to 1e9"),
    (lambda: dk.simulate(same(1), faults=[dk.LoseWorker(2, task="t0", executor="nobody")]), "no executor is called"),
])
def test_what_would_overflow_or_be_lost_is_refused(wrong, said):
    with pytest.raises(dk.DagkitError, match=said):
        wrong()


def test_a_queue_that_no_worker_serves_is_warned_of():
    dag = dk.Dag("d", [dk.Task("a", queue="gpuu"), dk.Task("b", queue="gpu")])
    trace = dk.simulate(dag, executor=dk.CeleryExecutor(workers=[dk.Worker(queues=("default", "gpu"))]))
    said = [line for line in trace.warnings if "listens to queue" in line]
    assert said == ["task 'a': no worker of CeleryExecutor listens to queue 'gpuu'; Airflow accepts that, and it stays "
                    "queued. Did you mean 'gpu'?"]
    assert not any("listens" in line for line in dk.simulate(dag, executor=dk.KubernetesExecutor()).warnings)

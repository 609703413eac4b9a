"""Properties of the engine on random situations. Expectations are counted or derived here, never by the engine."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit.states import is_legal

from .random_scenarios import (
    mapped_scenario,
    may_be_skipped_while_running,
    random_changes,
    random_scenario,
    random_tasks,
    waiting_scenario,
)
from .reference import Reference, Shape

SEEDS = st.integers(0, 10**9)
BUSY = ("queued", "running")
FINISHED = ("success", "failed", "skipped", "upstream_failed", "removed")


def changes(trace: dk.Trace) -> list[tuple[int, str, int, str, str, str]]:
    return [(e.tick, e.dag_id, e.run, e.task_id, e.old, e.new) for e in trace.events.itertuples()]


# ---- a second scheduler ----------------------------------------------------------------------------------------


def same_as_the_reference(scenario: dk.Scenario) -> None:
    trace, slow = dk.simulate(scenario), Reference(scenario).play()
    assert changes(trace) == slow.events
    dags = [dag.dag_id for dag in scenario.dags]
    mine = {(dags[r.dag], r.number): (r.state, r.started, r.ended) for r in slow.runs}
    for (dag_id, number), record in mine.items():
        run = trace.run(number, dag_id)
        assert (run.state, run.started, run.ended) == record
    assert {label: slow.find[dags.index(dag_id), run, task_id].tries
            for label, (dag_id, run, task_id) in tis_by_label(trace).items()} == trace.tries


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@settings(max_examples=150)
@given(seed=SEEDS)
def test_the_slow_reference_gives_the_same_events_in_the_same_order(pacing: str, seed: int) -> None:
    scenario = random_scenario(Random(seed), pacing)
    assume(pacing == "lesson" or not may_be_skipped_while_running(scenario))
    same_as_the_reference(scenario)


@pytest.mark.parametrize("pacing", ["lesson", "airflow"])
@settings(max_examples=100)
@given(seed=SEEDS)
def test_the_slow_reference_follows_clears_and_new_limits_too(pacing: str, seed: int) -> None:
    rng = Random(seed)
    scenario = random_changes(rng, random_scenario(rng, pacing))
    assume(pacing == "lesson" or not may_be_skipped_while_running(scenario))
    same_as_the_reference(scenario)


# ---- what must hold at every tick -------------------------------------------------------------------------------


class Ledger:
    """Counts, from the events alone, who holds which places."""

    def __init__(self, scenario: dk.Scenario):
        self.scenario = scenario
        self.dags = {dag.dag_id: dag for dag in scenario.dags}
        self.state: dict[tuple[str, int, str], str] = {
            (dag.dag_id, run, task.task_id): "none"
            for dag in scenario.dags for run in range(scenario.runs[dag.dag_id].count) for task in dag}
        for label, state in scenario.initial.items():
            for dag_id, run, task_id in self.state:
                if task_id == label:
                    self.state[dag_id, run, task_id] = state

    def spec(self, ti: tuple[str, int, str]) -> dk.Task:
        return self.dags[ti[0]][ti[2]]

    def busy(self) -> list[tuple[str, int, str]]:
        return [ti for ti, state in self.state.items() if state in BUSY]

    def pool(self, name: str) -> int:
        return sum(self.spec(ti).pool_slots for ti in self.busy() if self.spec(ti).pool == name)

    def overdrawn(self) -> list[str]:
        """Every limit that holds more than its size."""
        busy, config = self.busy(), self.scenario.config
        found = [f"pool {name}" for name, pool in self.scenario.pools.items()
                 if pool.slots != -1 and self.pool(name) > pool.slots]
        found += ["unknown pool" for ti in busy if self.spec(ti).pool not in self.scenario.pools]
        found += ["parallelism"] * (len(busy) > config.parallelism * config.schedulers)
        slots = self.scenario.executor.get(None).parallelism
        found += ["executor"] * (slots is not None and len(busy) > slots)
        for (dag_id, _), n in Counter(ti[:2] for ti in busy).items():
            found += ["max_active_tasks"] * (n > self.dags[dag_id].max_active_tasks)
        for (dag_id, task_id), n in Counter((ti[0], ti[2]) for ti in busy).items():
            found += ["max_active_tis_per_dag"] * (n > (self.dags[dag_id][task_id].max_active_tis_per_dag or math.inf))
        for ti, n in Counter(busy).items():
            found += ["max_active_tis_per_dagrun"] * (n > (self.spec(ti).max_active_tis_per_dagrun or math.inf))
        return found

    def room_for(self, ti: tuple[str, int, str]) -> bool:
        """Whether every limit would hold with this TI queued as well."""
        old, self.state[ti] = self.state[ti], "queued"
        fits = not self.overdrawn()
        self.state[ti] = old
        return fits


@settings(max_examples=150)
@given(seed=SEEDS)
def test_every_change_is_legal_and_no_limit_is_ever_exceeded(seed: int) -> None:
    scenario = random_scenario(Random(seed))
    trace = dk.simulate(scenario)
    ledger, tick = Ledger(scenario), 1
    for at, dag_id, run, task_id, old, new in changes(trace):
        assert at >= tick, "time goes forward"
        tick = at
        ti = dag_id, run, task_id
        assert ledger.state[ti] == old, "the old state of an event is the new state of the one before"
        assert is_legal(old, new), f"{old} -> {new}"
        ledger.state[ti] = new
        assert ledger.overdrawn() == []
    assert {label: ledger.state[ti] for label, ti in tis_by_label(trace).items()} == trace.final_states


def tis_by_label(trace: dk.Trace) -> dict[str, tuple[str, int, str]]:
    found = {label: trace.task_of(label) for label in trace.labels}
    return {label: (dag_id, run, task_id) for label, (dag_id, task_id, _, run) in found.items()}


@settings(max_examples=100)
@given(seed=SEEDS)
def test_running_runs_never_outnumber_max_active_runs(seed: int) -> None:
    scenario = random_scenario(Random(seed))
    trace = dk.simulate(scenario)
    for dag in scenario.dags:
        runs = [trace.run(number, dag.dag_id) for number in range(scenario.runs[dag.dag_id].count)]
        started = [run for run in runs if run.started is not None]
        for run in started:
            assert run.started >= run.due
            together = [r for r in started if r.started <= run.started and (r.ended is None or r.ended > run.started)]
            assert len(together) <= dag.max_active_runs
        assert [r.started for r in started] == sorted(r.started for r in started), "the oldest run starts first"


@settings(max_examples=100)
@given(seed=SEEDS)
def test_under_lesson_pacing_no_task_waits_in_scheduled_while_it_would_fit(seed: int) -> None:
    """Nothing is left idle: whatever is scheduled at the end of a tick is refused by some limit."""
    scenario = random_scenario(Random(seed), "lesson")
    trace = dk.simulate(scenario)
    ledger = Ledger(scenario)
    ended = {label: trace.run(int(label.split("@")[1]), label.split("@")[0]).ended for label in trace.run_states}
    events = changes(trace)
    for n, (at, dag_id, run, task_id, _, new) in enumerate(events):
        ledger.state[dag_id, run, task_id] = new
        if n + 1 == len(events) or events[n + 1][0] > at:
            for ti, state in ledger.state.items():
                over = ended[f"{ti[0]}@{ti[1]}"]
                assert state != "scheduled" or (over is not None and over <= at) or not ledger.room_for(ti)


@settings(max_examples=150)
@given(seed=SEEDS)
def test_a_simulation_ends_and_stalls_only_for_a_reason(seed: int) -> None:
    scenario = random_scenario(Random(seed))
    trace = dk.simulate(scenario)
    unfinished = {label: s for label, s in trace.final_states.items() if s not in FINISHED}
    assert trace.stalled == bool(unfinished)
    tasks = [task for dag in scenario.dags for task in dag]
    impossible = any(t.pool not in scenario.pools or -1 < scenario.pools[t.pool].slots < t.pool_slots for t in tasks)
    past = any(t.depends_on_past or t.wait_for_downstream for t in tasks)
    if not (impossible or past or scenario.initial):
        assert not unfinished
        assert set(trace.run_states.values()) <= {"success", "failed"}
    if unfinished:
        assert any(line.startswith("stalled:") for line in trace.warnings)
        assert set(trace.waiting().index) == set(unfinished)


# ---- why it waits ----------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=SEEDS)
def test_explain_always_answers_and_what_it_says_is_true(seed: int) -> None:
    scenario = random_scenario(Random(seed))
    trace = dk.simulate(scenario)
    ledger, events, names = Ledger(scenario), changes(trace), tis_by_label(trace)
    for tick in range(trace.last_tick + 1):
        before = len(events)
        while events and events[0][0] <= tick:
            _, dag_id, run, task_id, _, new = events.pop(0)
            ledger.state[dag_id, run, task_id] = new
        if tick == 0 or len(events) < before or tick == trace.last_tick:
            for label, ti in names.items():
                reason = trace.explain(label, tick)
                assert (reason.state, bool(reason.code), bool(reason.text)) == (ledger.state[ti], True, True)
                if reason.state not in FINISHED:
                    check_claim(trace, ledger, ti, reason, tick, {names[b] for b in reason.blockers})
                    assert reason.unblocks_at == next((e[0] for e in events if e[1:4] == ti), None)


def check_claim(trace: dk.Trace, ledger: Ledger, ti: tuple[str, int, str], reason: Any, tick: int,
                blockers: set[tuple[str, int, str]]) -> None:
    """The reason against the ledger: right kind of state, right blockers, a limit that is really full."""
    scenario, spec = trace.scenario, ledger.spec(ti)
    dag = ledger.dags[ti[0]]
    busy, run = ledger.busy(), trace.run(ti[1], ti[0])
    running_runs = [r for r in (trace.run(n, ti[0]) for n in range(scenario.runs[ti[0]].count))
                    if r.started is not None and r.started <= tick and (r.ended is None or r.ended > tick)]
    if ledger.state[ti] == "scheduled":
        holders = {
            "pool": {b for b in busy if ledger.spec(b).pool == spec.pool}, "pool_too_small": set(),
            "unknown_pool": set(), "not_examined": set(), "parallelism": set(busy), "executor": set(busy),
            "max_active_tasks": {b for b in busy if b[:2] == ti[:2]}, "run_ended": set(),
            "max_active_tis_per_dag": {b for b in busy if (b[0], b[2]) == (ti[0], ti[2])},
            "max_active_tis_per_dagrun": {b for b in busy if b == ti}}[reason.code]
        assert blockers == holders, reason
        size = scenario.pools[spec.pool].slots if spec.pool in scenario.pools else None
        executor = scenario.executor.get(None).parallelism
        assert {
            "pool": lambda: ledger.pool(spec.pool) + spec.pool_slots > size >= spec.pool_slots,
            "pool_too_small": lambda: -1 < size < spec.pool_slots, "unknown_pool": lambda: size is None,
            "parallelism": lambda: len(busy) >= scenario.config.parallelism * scenario.config.schedulers,
            "executor": lambda: executor is not None and len(busy) >= executor,
            "max_active_tasks": lambda: len(holders) >= dag.max_active_tasks,
            "max_active_tis_per_dag": lambda: len(holders) >= spec.max_active_tis_per_dag,
            "max_active_tis_per_dagrun": lambda: len(holders) >= spec.max_active_tis_per_dagrun,
            "not_examined": lambda: scenario.config.pacing == "airflow" and ledger.room_for(ti),
            "run_ended": lambda: run.ended is not None and run.ended <= tick}[reason.code](), reason
    elif ledger.state[ti] == "none":
        above = {(ti[0], ti[1], u) for u in spec.upstream}
        checks = {
            "run_not_due": lambda: run.due > tick,
            "max_active_runs": lambda: len(running_runs) >= dag.max_active_runs,
            "run_ended": lambda: run.ended is not None and run.ended <= tick,
            "trigger_rule": lambda: blockers <= above and blockers and all(
                ledger.state[b] not in FINISHED or ledger.state[b] == "removed" for b in blockers),
            "setup": lambda: blockers and all(
                ledger.spec(b).is_setup and ledger.state[b] not in FINISHED for b in blockers),
            "teardown_scope": lambda: blockers and all(ledger.state[b] not in FINISHED for b in blockers),
            "previous_run": lambda: blockers and all(
                b[1] == ti[1] - 1 and ledger.state[b] not in ("success", "skipped") for b in blockers),
            "next_pass": lambda: scenario.config.pacing == "airflow"}
        assert checks[reason.code](), f"{reason} (code {reason.code}, tick {tick})"
    else:
        code = {"queued": "worker", "running": "running", "up_for_retry": "retry_delay"}[ledger.state[ti]]
        assert reason.code == code


# ---- order, determinism ------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(seed=SEEDS)
def test_within_a_phase_everything_goes_in_the_one_order(seed: int) -> None:
    """(Dag as given, task order, run); admission by (priority total, logical date) first."""
    scenario = random_scenario(Random(seed), "lesson")
    trace = dk.simulate(scenario)
    shapes = {dag.dag_id: Shape(dag) for dag in scenario.dags}
    dags = [dag.dag_id for dag in scenario.dags]

    def order(event: Any) -> tuple[int, int, int]:
        return dags.index(event.dag_id), shapes[event.dag_id].order.index(event.task_id), event.run

    def priority(event: Any) -> tuple[Any, ...]:
        run = trace.run(event.run, event.dag_id)
        return -shapes[event.dag_id].weight[event.task_id], run.due, event.run, order(event)

    for _, tick in trace.events.groupby("tick"):
        rows = list(tick.itertuples())
        ends = [e for e in rows if e.old == "running" and e.cause not in ("dagrun_timeout", "fail_fast")]
        assert ends == sorted(ends, key=order)
        starts = [e for e in rows if e.new == "running"]
        assert starts == sorted(starts, key=order)
        queued = [e for e in rows if e.new == "queued"]
        assert queued == sorted(queued, key=priority)


@settings(max_examples=100)
@given(seed=SEEDS)
def test_the_order_of_declaration_changes_nothing_but_the_order_within_a_tick(seed: int) -> None:
    """Without contention: every limit is wide open, so ties decide nothing but who is written down first."""
    rng = Random(seed)
    tasks = random_tasks(rng, rng.randint(2, 12), rules=list(dk.trigger_rules.RULES)[:-2], limits=False)
    outcomes = {t.task_id: rng.choices(("success", "fail", "skip"), k=2) for t in tasks if rng.random() < 0.5}

    def played(declared: list[dk.Task]) -> dk.Trace:
        return dk.simulate(dk.Dag("d", declared, max_active_tasks=1000), outcomes=outcomes,
                           config=dk.Config(parallelism=1000))

    one, other = played(tasks), played(rng.sample(tasks, len(tasks)))
    assert Counter(changes(one)) == Counter(changes(other))
    assert (one.run_state, one.tries) == (other.run_state, {label: other.tries[label] for label in one.tries})


@settings(max_examples=60)
@given(seed=SEEDS)
def test_the_same_input_gives_the_same_bytes(seed: int) -> None:
    one, other = dk.simulate(random_scenario(Random(seed))), dk.simulate(random_scenario(Random(seed)))
    assert one == other
    assert one.log().encode() == other.log().encode()
    assert one.to_json() == other.to_json()


DIGEST = """
import hashlib, sys
from random import Random
sys.path.insert(0, sys.argv[1])
import dagkit as dk
from tests.random_scenarios import random_scenario
found = hashlib.sha256()
for seed in range(40):
    trace = dk.simulate(random_scenario(Random(seed)))
    found.update(trace.log().encode() + trace.to_json().encode() + repr(trace.warnings).encode())
    for label in trace.labels[:3]:
        found.update(repr(trace.explain(label, trace.last_tick // 2)).encode())
print(found.hexdigest())
"""


def test_the_same_bytes_under_every_hash_seed() -> None:
    root = Path(__file__).resolve().parents[1]
    digests = {
        subprocess.run([sys.executable, "-c", DIGEST, str(root)], capture_output=True, text=True, check=True,
                       env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "4242")}
    assert len(digests) == 1


# ---- the planner and the engine are strangers ----------------------------------------------------------------------


@settings(max_examples=100)
@given(seed=SEEDS)
def test_the_engine_agrees_with_the_planner_where_both_apply(seed: int) -> None:
    """One Dag, all successful, equal weights, names in task order: the greedy schedule, to the tick."""
    rng = Random(seed)
    names = [f"t{i:02}" for i in range(rng.randint(1, 20))]
    tasks = [dk.Task(t, rng.sample(names[:i], min(i, rng.randint(0, 3))), duration=rng.randint(1, 9),
                     weight_rule="absolute") for i, t in enumerate(names)]
    slots = rng.randint(1, 6)
    dag = dk.Dag("d", tasks, max_active_tasks=slots)
    trace = dk.simulate(dag, executor=dk.LocalExecutor(handover=0))
    length = trace.last_tick - 1
    assert length == dk.makespan(dag, slots)
    work, path = sum(t.duration for t in tasks), dk.critical_path(dag).length
    assert max(path, work / slots) <= length <= work / slots + (1 - 1 / slots) * path, "Graham's bounds"


@settings(max_examples=100)
@given(seed=SEEDS)
def test_with_several_limits_the_makespan_still_lies_between_its_bounds(seed: int) -> None:
    """Any priorities and a hand-over of h ticks, counted as part of every task."""
    rng = Random(seed)
    names = [f"t{i}" for i in range(rng.randint(1, 15))]
    handover, slots = rng.randint(0, 2), rng.randint(1, 4)
    tasks = [dk.Task(t, rng.sample(names[:i], min(i, rng.randint(0, 3))), duration=rng.randint(1, 9),
                     priority_weight=rng.randint(-5, 5)) for i, t in enumerate(names)]
    trace = dk.simulate(dk.Dag("d", rng.sample(tasks, len(tasks)), max_active_tasks=slots),
                        executor=dk.LocalExecutor(handover=handover))
    longer = dk.Dag("d", [dk.Task(t.task_id, t.upstream, duration=t.duration + handover) for t in tasks])
    work, path = sum(t.duration for t in longer), dk.critical_path(longer).length
    assert max(path, work / slots) <= trace.last_tick - 1 <= work / slots + (1 - 1 / slots) * path


# ---- mapped tasks ------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(seed=SEEDS)
def test_mapped_tasks_keep_the_limits_and_the_law(seed: int) -> None:
    rng = Random(seed)
    scenario = mapped_scenario(rng)
    if seed % 3 == 0:
        scenario = random_changes(rng, scenario)
        scenario = scenario.replace(changes=[(t, {k: v for k, v in c.items() if k != "pools"})
                                             for t, c in scenario.changes])
    trace, dag = dk.simulate(scenario), scenario.dag
    state: dict[tuple[str, int, int], str] = {}
    for event in trace.events.itertuples():
        ti = event.task_id, event.run, event.map_index
        assert state.get(ti, "none") == event.old and is_legal(event.old, event.new), f"{ti} {event.old} {event.new}"
        state[ti] = event.new
        busy = [t for t, s in state.items() if s in BUSY]
        assert sum(dag[t].pool_slots for t, _, _ in busy if dag[t].pool == "p") <= scenario.pools["p"].slots
        assert all(n <= dag.max_active_tasks for n in Counter(run for _, run, _ in busy).values())
        for (task, _), n in Counter((t, run) for t, run, _ in busy).items():
            assert n <= (dag[task].max_active_tis_per_dagrun or math.inf)
    if not trace.stalled:
        assert set(trace.run_states.values()) <= {"success", "failed"}


@settings(max_examples=150)
@given(seed=SEEDS)
def test_a_mapped_task_has_as_many_instances_as_its_source_has_values(seed: int) -> None:
    """One source: the length that its last try returned, or how many of its instances succeeded."""
    scenario = mapped_scenario(Random(seed))
    trace, dag = dk.simulate(scenario), scenario.dag
    final = trace.final_states
    for run in range(scenario.runs["d"].count):
        mine = {trace.task_of(label)[1:3]: s for label, s in final.items() if trace.task_of(label)[3] == run}
        for task in dag:
            if task.expand is None or len(task.expand) > 1:
                continue
            (source,) = task.expand.values()
            indexes = sorted(i for t, i in mine if t == task.task_id)
            if isinstance(source, int):
                assert indexes == (list(range(source)) or [-1])
            elif indexes != [-1]:
                over = [s for (t, _), s in mine.items() if t == source]
                if (source, -1) in mine:
                    assert over == ["success"]
                else:
                    assert len(indexes) == over.count("success")
                assert indexes == list(range(len(indexes)))


# ---- waits, workers, losses --------------------------------------------------------------------------------------


@settings(max_examples=120)
@given(seed=SEEDS)
def test_waits_workers_and_losses_keep_the_limits_and_the_law(seed: int) -> None:
    """Deferred tasks keep their own caps, and their pool if it says so; nobody else does."""
    scenario = waiting_scenario(Random(seed))
    trace = dk.simulate(scenario)
    dags = {dag.dag_id: dag for dag in scenario.dags}
    state: dict[tuple[str, str, int, int], str] = {}
    for event in trace.events.itertuples():
        ti = event.dag_id, event.task_id, event.run, event.map_index
        assert is_legal(event.old, event.new), f"{ti} {event.old} -> {event.new}"
        state[ti] = event.new
        specs = [(dags[d][t], s) for (d, t, _, _), s in state.items()]
        for name, pool in scenario.pools.items():
            states = (*BUSY, "deferred") if pool.include_deferred else BUSY
            used = sum(spec.pool_slots for spec, s in specs if spec.pool == name and s in states)
            assert pool.slots == -1 or used <= pool.slots
        own = Counter((d, t) for (d, t, _, _), s in state.items() if s in (*BUSY, "deferred", "awaiting_input"))
        assert all(n <= (dags[d][t].max_active_tis_per_dag or math.inf) for (d, t), n in own.items())
    for tick in {1, trace.last_tick // 2, trace.last_tick}:
        for label in trace.states_at(tick):
            reason = trace.explain(label, tick)
            assert reason.code and reason.text
            assert scenario.config.pacing == "airflow" or reason.code not in ("next_pass", "not_examined"), reason
    assert dk.Trace.from_json(trace.to_json()) == trace


# ---- pacings -----------------------------------------------------------------------------------------------------

INSENSITIVE = [rule for rule in dk.trigger_rules.RULES if rule not in ("all_done_setup_success",)]
"""Rules whose verdict depends on nothing but the final upstream states.

A rule is sensitive to timing only if two different outcomes decide it early and differently. all_success alone has
that: a failure gives upstream_failed, a skip gives skipped, whichever comes first. It is let in here, and a
situation in which some all_success task really meets both is set aside (by induction along the Dag, the final states
above such a task are the same under every timing, so both pacings set the same situations aside). Nothing here
overwrites states from outside the rules: no branch, short circuit, setup, fail_fast, timeout, past, mapping.
"""


@pytest.mark.parametrize("handover", [0, 2])
@settings(max_examples=100)
@given(seed=SEEDS)
def test_both_pacings_agree_wherever_timing_cannot_matter(handover: int, seed: int) -> None:
    rng = Random(seed)
    tasks = random_tasks(rng, rng.randint(2, 12), rules=INSENSITIVE, kinds=0)
    outcomes = {t.task_id: rng.choices(("success", "fail", "fail_hard", "skip"), k=3) for t in tasks if
                rng.random() < 0.6}
    dag = dk.Dag("d", tasks, max_active_tasks=rng.choice((2, 16)))

    def played(pacing: str) -> dk.Trace:
        return dk.simulate(dag, outcomes=outcomes, pools={"p": 3, "q": 3}, runs=2,
                           executor=dk.LocalExecutor(handover=handover),
                           config=dk.Config(pacing=pacing, parallelism=rng.choice((2, 32)), max_tis_per_query=2))

    lesson, airflow = played("lesson"), played("airflow")
    final = lesson.final_states
    for task in dag:
        for run in (0, 1):
            above = {final[f"{u}@{run}"] for u in task.upstream}
            assume(not (task.trigger_rule == "all_success" and "skipped" in above
                        and above & {"failed", "upstream_failed"}))
    assert airflow.final_states == final
    assert airflow.tries == lesson.tries
    assert airflow.run_states == lesson.run_states


# ---- size --------------------------------------------------------------------------------------------------------


def test_five_thousand_runs_of_twenty_tasks() -> None:
    dag = dk.Dag("d", [dk.Task(f"t{i}", [f"t{i - 1}"] if i % 4 else (), pool="p") for i in range(20)],
                 max_active_tasks=4, max_active_runs=40)
    trace = dk.simulate(dag, runs=5000, pools={"p": 150}, config=dk.Config(parallelism=200))
    assert set(trace.run_states.values()) == {"success"}
    assert trace.final_states["t19@4999"] == "success"


def test_a_chain_of_100_000_and_a_fan_out_of_10_000() -> None:
    chain = dk.simulate(dk.Dag("chain", [dk.Task(f"t{i}", [f"t{i - 1}"] if i else ()) for i in range(100_000)]))
    assert chain.last_tick == 1 + 2 * 100_000, "one tick to hand over and one to run, each"
    assert chain.run_state == "success"
    fan = dk.Dag("fan", [dk.Task("root"), *(dk.Task(f"t{i}", "root") for i in range(10_000)),
                         dk.Task("end", [f"t{i}" for i in range(10_000)])], max_active_tasks=10_000)
    trace = dk.simulate(fan, pools={"default_pool": -1}, config=dk.Config(parallelism=10_000))
    assert (trace.last_tick, trace.run_state) == (1 + 3 * 2, "success")


def test_a_failure_travels_down_a_chain_of_20_000_in_one_lesson_tick() -> None:
    chain = dk.Dag("chain", [dk.Task(f"t{i}", [f"t{i - 1}"] if i else ()) for i in range(20_000)])
    trace = dk.simulate(chain, outcomes={"t0": ["fail"]})
    assert trace.last_tick == 3
    assert Counter(trace.final_states.values()) == {"failed": 1, "upstream_failed": 19_999}

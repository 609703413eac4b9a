"""Public incidents, built here by hand in the kit's own words; what must come out is read from incidents.yaml.

The museum reads the same file through an adapter of its own; these situations do not use it. Time t is tick t + 1,
and the hand-over takes no time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import dagkit as dk
from dagkit import Task as T
from dagkit.config import PACINGS

DATA = Path(__file__).parent / "data" / "incidents.yaml"
INCIDENTS = {case["id"]: case for case in yaml.safe_load(DATA.read_text(encoding="utf-8"))["cases"]
             if case["kind"] == "A"}
DONE = ("success", "failed", "skipped", "upstream_failed", "removed")


def situation(*tasks: T, dag: dict[str, Any] | None = None, **scenario: Any) -> dk.Scenario:
    return dk.Scenario(dk.Dag("d", tasks, **(dag or {})), executor=dk.LocalExecutor(handover=0), **scenario)


def nested_branch() -> dk.Scenario:
    return situation(T("outer", branch=["inner"]), T("inner", "outer", branch=["deadend"]), T("mid", "inner"),
                     T("deadend", "inner"), T("target", ["outer", "mid"], trigger_rule="none_failed_min_one_success"))


def no_success(b: str) -> dk.Scenario:
    return situation(T("a"), T("b"), T("j", ["a", "b"], trigger_rule="one_success"), outcomes={"a": "skip", "b": b})


def short_circuit(kind: str) -> dk.Scenario:
    return situation(T("gate", short_circuit=kind), T("work", "gate"), T("cleanup", "work", trigger_rule="all_done"))


def alarm(fast: str, rule: str = "one_failed") -> dk.Scenario:
    return situation(T("fast"), T("slow", duration=9), T("alarm", ["fast", "slow"], trigger_rule=rule),
                     outcomes={"fast": fast})


def one_bad_item(item: str = "fail", rule: str = "all_success") -> dk.Scenario:
    return situation(T("list", returns=3), T("work", expand={"x": "list"}), T("summary", "work", trigger_rule=rule),
                     outcomes={"work[1]": item}, durations={"work[2]": 9})


def too_long() -> dk.Scenario:
    return situation(T("list", returns=5), T("work", expand={"x": "list"}), T("summary", "work"),
                     config=dk.Config(max_map_length=4))


def starved() -> dk.Scenario:
    """s1 runs already: it alone is there at first, the others become ready with it holding its slot."""
    small = [T(name, pool="p", duration=d) for name, d in (("s2", 15), ("s3", 10), ("s4", 15))]
    return situation(T("s1", pool="p", duration=10, priority_weight=100),
                     T("big", pool="p", pool_slots=2, priority_weight=10, duration=5), *small, pools={"p": 2})


def deferred_slots(counted: bool) -> dk.Scenario:
    wait = dk.Deferral(before=1, wait=100, after=1)
    return situation(*[T(f"t{i}", pool="p", wait=wait) for i in range(3)], pools={"p": dk.Pool(1, counted)})


def long_chain(rule: str = "downstream", single: str = "downstream") -> dk.Scenario:
    """main's run has the older logical date, and both runs are due when the only slot is handed out first."""
    chain = dk.Dag("chain", [T(f"a{i}", [f"a{i - 1}"] if i > 1 else (), weight_rule=rule) for i in (1, 2, 3, 4)])
    lone = dk.Dag("single", [T("main", weight_rule=single)])
    return dk.Scenario([chain, lone], executor=dk.LocalExecutor(parallelism=1, handover=0),
                       runs={"chain": dk.Runs(1, start=2), "single": dk.Runs(1, every=1, unpaused_at=2)})


def two_runs() -> dk.Scenario:
    return situation(*[T(f"t{i}", duration=10) for i in range(3)], dag={"max_active_tasks": 1}, runs=2)


def schedulers(n: int) -> dk.Scenario:
    return situation(*[T(f"t{i}", duration=10) for i in range(5)], config=dk.Config(parallelism=2, schedulers=n))


def deferred_counts() -> dk.Scenario:
    return situation(T("t", max_active_tis_per_dag=1, wait=dk.Deferral(1, 100, 1)), runs=3)


def overtaking() -> dk.Scenario:
    return situation(T("T1"), T("T2", "T1", depends_on_past=True), runs=3, outcomes={"T1@1": "skip"},
                     durations={"T2@0": 1000})


def new_task(**options: Any) -> dk.Scenario:
    """The first run was made before `new` was added."""
    whole = dk.Dag("d", [T("old"), T("new", depends_on_past=True, **options)])
    return dk.Scenario(dk.Dag("d", [T("old")]), executor=dk.LocalExecutor(handover=0), runs=dk.Runs(2, every=10),
                       changes=[(5, {"dag": whole})])


def sensor() -> dk.Scenario:
    wait = dk.Sensor(true_after=None, mode="reschedule", poke_interval=30, timeout=590)
    return situation(T("wait", retries=2, execution_timeout=60, wait=wait))


def backoff(on: bool) -> dk.Scenario:
    return situation(T("t", retries=5, retry_delay=60, retry_exponential_backoff=on, max_retry_delay=600),
                     outcomes={"t": ["fail"] * 6})


def timed_out() -> dk.Scenario:
    return situation(T("a", duration=10), T("b", "a", duration=60), T("c", "b"), T("d", duration=5),
                     dag={"dagrun_timeout": 30})


def deleted(versioned: bool) -> dk.Scenario:
    after = dk.Dag("d", [T("x"), T("z", "x")])
    return situation(T("x"), T("y", "x", duration=50), T("z", "y"), changes=() if versioned else [(2, {"dag": after})])


def wrong_queue() -> dk.Scenario:
    return dk.Scenario(dk.Dag("d", [T("t", queue="gpu", retries=2)]), executor=dk.CeleryExecutor(
        workers=[dk.Worker(queues=("default",))], handover=0))


def site_worker() -> dk.Scenario:
    tasks = [T("a1", queue="site_a", duration=10), T("a2", queue="site_a", duration=10),
             T("b1", queue="site_b", duration=10)]
    return dk.Scenario(dk.Dag("d", tasks), executor=dk.EdgeExecutor(
        workers=[dk.Worker(concurrency=1, queues=("site_a",))], handover=0))


def forgetful(remembers: bool) -> dk.Scenario:
    return dk.Scenario(dk.Dag("d", [T(f"t{i}", duration=100) for i in range(6)]), config=dk.Config(parallelism=2),
                       executor=dk.LocalExecutor(handover=0, remember_dispatched=remembers))


def two_executors() -> dk.Scenario:
    tasks = [T(f"c{i}", duration=10) for i in range(3)]
    tasks += [T(f"k{i}", duration=10, executor="kubernetes") for i in range(3)]
    return dk.Scenario(dk.Dag("d", tasks), config=dk.Config(parallelism=4), executor={
        "celery": dk.CeleryExecutor(handover=0), "kubernetes": dk.KubernetesExecutor(handover=0)})


Key = tuple[str, int | None]
PLAYED: dict[Key, Callable[[], dk.Scenario]] = {
    ("A02", None): nested_branch,
    ("A04", None): lambda: no_success("fail"), ("A04", 0): lambda: no_success("skip"),
    ("A07", None): lambda: short_circuit("hard"), ("A07", 0): lambda: short_circuit("soft"),
    ("A09", None): lambda: alarm("fail"), ("A09", 0): lambda: alarm("success"),
    ("A09", 1): lambda: alarm("fail", "all_failed"),
    ("A12", None): one_bad_item, ("A12", 0): lambda: one_bad_item("skip"),
    ("A12", 1): lambda: one_bad_item(rule="one_success"),
    ("A14", None): too_long,
    ("A16", None): starved,
    ("A18", None): lambda: deferred_slots(False), ("A18", 0): lambda: deferred_slots(True),
    ("A20", None): long_chain, ("A20", 0): lambda: long_chain("absolute", "absolute"),
    ("A20", 1): lambda: long_chain("upstream"),
    ("A22", None): two_runs,
    ("A24", None): lambda: schedulers(2), ("A24", 0): lambda: schedulers(1),
    ("A26", None): deferred_counts,
    ("A28", None): overtaking,
    ("A30", None): new_task, ("A30", 0): lambda: new_task(ignore_first_depends_on_past=True),
    ("A32", None): sensor,
    ("A33", None): lambda: backoff(True), ("A33", 0): lambda: backoff(False),
    ("A35", None): timed_out,
    ("A36", None): wrong_queue,
    ("A40", None): site_worker,
    ("A42", None): lambda: forgetful(False), ("A42", 0): lambda: forgetful(True),
    ("A45", None): lambda: deleted(False), ("A45", 0): lambda: deleted(True),
    ("A50", None): two_executors,
}
OTHER_VERSION = "shown, not run: another version of Airflow"
NOT_PLAYED: dict[Key, str] = {
    ("A22", 0): OTHER_VERSION, ("A26", 0): OTHER_VERSION, ("A30", 1): OTHER_VERSION, ("A35", 0): OTHER_VERSION,
    ("A32", 0): "an error inside one check: see the museum",
    ("A38", None): "a broker that hands a message out again: see the museum", ("A38", 0): "the same broker",
    ("A47", None): "parsing of files: see the museum", ("A47", 0): "the same file",
    ("A49", None): "a loop of five seconds: see the museum", ("A49", 0): "hints instead of polling",
    ("A49", 1): "hints instead of polling",
}
RUN_OF = {"A30": 1}
"""Cases that are about a later run than the first."""


def expected(key: Key) -> dict[str, Any]:
    case, variant = key
    told = INCIDENTS[case] if variant is None else INCIDENTS[case]["variants"][variant]
    return told["expected"]


def name_of(trace: dk.Trace, case: str, name: str) -> str:
    """The label for a name of the file: ``r1.T2`` is task T2 in run 1; a bare ``r1`` its only task."""
    run, dot, task = name.partition(".")
    if run[:1] == "r" and run[1:].isdigit():
        return f"{task if dot else trace.labels[0].split('@')[0]}@{run[1:]}"
    found = [la for la in trace.labels if la.split(".")[-1].split("@")[0] == name]
    return found[RUN_OF.get(case, 0)] if len(found) > 1 else found[0]


def entered(trace: dk.Trace, label: str, *states: str) -> list[int]:
    return [tick - 1 for tick, state in trace.changes[trace.labels.index(label)] if state in states and tick]


def running_at_once(trace: dk.Trace) -> int:
    return max(list(trace.states_at(tick).values()).count("running") for tick in range(trace.last_tick + 1))


@pytest.mark.parametrize("key", PLAYED, ids=lambda key: f"{key[0]}{'' if key[1] is None else f'-{key[1]}'}")
def test_what_was_verified_in_public_comes_out(key: Key) -> None:
    case, told = key[0], expected(key)
    trace = dk.simulate(PLAYED[key]())
    shift = 1 if case == "A20" else 0                       # both runs begin at tick 2
    final = trace.states_at(20) if case == "A28" else trace.final_states
    checked = set()

    def check(name: str, got: Any, want: Any) -> None:
        checked.add(name)
        assert got == want, f"{case} {name}"

    for name, state in told.get("states", {}).items():
        # A28 tells the moment at which the third run's task may go; by tick 20 it has gone.
        want = "success" if state == "scheduled" else state
        check("states", final[name_of(trace, case, name)], want)
    if "run" in told:
        check("run", trace.run(RUN_OF.get(case, 0)).state, told["run"])
    for name, at in told.get("starts", {}).items():
        check("starts", entered(trace, name_of(trace, case, name), "running")[0], at + shift)
    for name, at in told.get("decided_at", {}).items():
        check("decided_at", entered(trace, name_of(trace, case, name), *DONE), [at])
    for name, at in told.get("ends", {}).items():
        # The file's checks take no time, the kit's take one tick: the last one starts at the time told.
        check("ends", entered(trace, name, "failed"), [at + 1])
    for name, (low, high) in told.get("ends_range", {}).items():
        check("ends_range", low <= entered(trace, name, *DONE)[0] <= high, True)
    for moment in [key for key in told if key.startswith("at_")]:
        states = trace.states_at(int(moment[3:]) + 1)
        for name, value in told[moment].items():
            if isinstance(value, int):
                check(moment, list(states.values()).count(name), value)
            else:
                check(moment, states[name_of(trace, case, name)], value)
    for name, limit in told.get("blocked_at_0", {}).items():
        check("blocked_at_0", trace.explain(name_of(trace, case, name), 1).code, limit)
    for name, limit in told.get("blocked", {}).items():
        label = next(la for la, s in trace.states_at(51).items() if s == name) if name == "queued" else \
            name_of(trace, case, name)
        codes = {reason.code for _, _, reason in trace.reasons[label]}
        check("blocked", {"depends_on_past": "previous_run"}.get(limit, limit) in codes, True)
    if "makespan" in told:
        check("makespan", trace.last_tick - 1, told["makespan"])
    if "max_running" in told:
        check("max_running", running_at_once(trace), told["max_running"])
    if "order" in told:
        started = sorted((entered(trace, la, "running")[0], la.split(".")[-1]) for la in trace.labels)
        check("order", [name for _, name in started], told["order"])
    if "weights" in told:
        totals = {k: v for dag in trace.scenario.dags for k, v in dk.priority_totals(dag).items()}
        check("weights", {name: totals[name] for name in told["weights"]}, told["weights"])
    for name in ("attempts", "tries_used", "try_number"):
        if name in told:
            check(name, list(trace.tries.values()), [told[name]])
    if "total_wait_range" in told:
        waits = [b - a for a, b in zip(entered(trace, "t", "up_for_retry"), entered(trace, "t", "scheduled")[1:],
                                       strict=True)]
        check("total_wait_range", told["total_wait_range"][0] <= sum(waits) <= told["total_wait_range"][1], True)
        ranges = told.get("delay_ranges", [])
        check("delay_ranges", all(low <= w <= high for w, (low, high) in zip(waits, ranges, strict=bool(ranges))), True)
    if "state_path" in told:
        check("state_path", [s for _, s in trace.changes[0] if s != "none"], told["state_path"])
    if "blocked_limit" in told:
        held = trace.waiting(1).query("state == 'scheduled'")
        check("blocked_limit", (len(held), set(held["reason"])), (told["blocked_at_0_count"], {told["blocked_limit"]}))
        checked.add("blocked_at_0_count")
    if "state_of_blocked" in told:
        check("state_of_blocked", {trace.explain(name, 1).state for name in told["blocked_at_0"]},
              {told["state_of_blocked"]})
    assert set(told) - checked <= {"reason", "note"}, "an expectation of the file that is not checked"


@pytest.mark.parametrize("key", [k for k in PLAYED if INCIDENTS[k[0]]["topic"] in (
    "trigger_rules", "mapping", "run_state", "retries", "change")], ids=str)
def test_the_final_states_are_the_same_under_airflow_pacing(key: Key) -> None:
    scenario = PLAYED[key]()
    told = expected(key)
    trace = dk.simulate(scenario, config=dk.Config(pacing="airflow", max_map_length=scenario.config.max_map_length))
    for name, state in told.get("states", {}).items():
        assert trace.final_states[name] == state
    assert trace.run_state == told.get("run", trace.run_state)
    assert told.get("states") or told.get("run") or "total_wait_range" in told


def test_every_case_and_variant_is_played_or_said_not_to_be() -> None:
    every = {(case, v) for case, told in INCIDENTS.items() for v in (None, *range(len(told.get("variants", ()))))}
    assert set(PLAYED) | set(NOT_PLAYED) == every
    assert not set(PLAYED) & set(NOT_PLAYED)


def test_exactly_the_variants_of_other_versions_are_only_shown() -> None:
    shown = {(case, v) for case, told in INCIDENTS.items() for v, variant in enumerate(told.get("variants", ()))
             if "airflow_version" in variant["patch"]}
    assert {key for key, why in NOT_PLAYED.items() if why == OTHER_VERSION} == shown


def test_what_is_said_to_be_beyond_the_kit_still_is() -> None:
    """The list above must not outlive its reasons."""
    forgets = dk.CeleryExecutor(broker=dk.Broker("redis", visibility_timeout=5), handover=0)
    assert dk.simulate(dk.Dag("d", [T("long", duration=20)]), executor=forgets).log().count("-> running") == 1
    assert not hasattr(dk.Config(), "dagbag_import_timeout")
    assert not {"hint", "polling"} & set(PACINGS)
    assert "poke_error_of" not in dk.Sensor.__dataclass_fields__

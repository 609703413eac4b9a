"""Short ways through a long trace give what the long way gives: names, changes of one task instance, places."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import Task as T
from dagkit.delivered import _here
from dagkit.explain import FEW, Situation
from dagkit.stays import places

from .random_scenarios import mapped_scenario, random_changes, random_scenario, waiting_scenario

SEEDS = st.integers(0, 10**9)
KINDS = (random_scenario, mapped_scenario, waiting_scenario, lambda rng: random_changes(rng, random_scenario(rng)))


def a_trace(kind: int, seed: int) -> dk.Trace:
    return dk.simulate(KINDS[kind](Random(seed)))


@pytest.mark.parametrize("kind", range(len(KINDS)))
@settings(max_examples=25)
@given(seed=SEEDS)
def test_every_label_is_found_again_and_rows_stand_in_order(kind: int, seed: int) -> None:
    trace = a_trace(kind, seed)
    assert len(set(trace.labels)) == len(trace.labels) == len(trace._task_of)
    assert [trace._ti(label) for label in trace.labels] == trace._order
    assert [trace._by_label[label] for label in trace.labels] == trace._order
    fresh = a_trace(kind, seed)                              # nobody has read all its labels
    assert [fresh._labelled(label) for label in trace.labels] == trace._order
    assert [trace._full_labels[ti] for ti in trace._order] == trace.labels
    places_in_order = [(trace._run_of[ti].plan.number, trace._task_of[ti], trace._map_index.get(ti, -1),
                        trace._run_of[ti].number) for ti in trace._order]
    assert places_in_order == sorted(places_in_order)


def test_an_id_that_looks_like_a_label_of_another_run() -> None:
    trace = dk.simulate(dk.Dag("d", [T("a"), T("a@1")]), runs=2)
    assert trace.labels == ["a@0", "a@1", "a@1@0", "a@1@1"]
    assert [trace.task_of(label)[1::2] for label in trace.labels] == [("a", 0), ("a", 1), ("a@1", 0), ("a@1", 1)]
    with pytest.raises(dk.DagkitError, match="means 2 task instances"):
        trace.explain("a")
    with pytest.raises(dk.DagkitError, match="named by its id"):
        trace.explain(["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("tasks", [
    lambda: [T("m", expand={"x": 12}), T("n", expand={"x": 2}), T("z", "m")],
    lambda: [T("p", returns=2), T("m", expand={"x": "p"}), T("m[1]")],
    lambda: [T("p[0]", returns=2), T("m", expand={"x": "p[0]"}), T("p")],
    lambda: [T("m@1", returns=2), T("m", expand={"x": "m@1"}), T("z@0")],
])
def test_a_name_means_what_the_table_of_all_labels_says(tasks: Callable[[], list[T]], runs: int) -> None:
    def made() -> dk.Trace:
        return dk.simulate(dk.Dag("d", tasks()), runs=runs)

    table = {label: ti for ti, label in enumerate(made()._full_labels)}
    names = [*table, "m", "m[01]", "m[99]", "m[1]@0", "m[1]@9", "m[2][0]", "m[-1]", "m[\u0663]", "z[0]", "@", "[1]", "p[0]"]
    trace = made()
    assert [trace._labelled(name) for name in names] == [table.get(name) for name in names]
    assert trace._plain == (not any(task.task_id.endswith("]") for task in trace.scenario.dag))


@pytest.mark.parametrize("kind", range(len(KINDS)))
@settings(max_examples=25)
@given(seed=SEEDS)
def test_the_changes_of_one_are_those_of_the_record(kind: int, seed: int) -> None:
    trace = a_trace(kind, seed)
    record = list(zip(trace._event_tick.tolist(), trace._event_ti, trace._event_new, strict=True))
    tis = range(len(trace._task_of))
    expected = {ti: [(tick, new, n) for n, (tick, one, new) in enumerate(record) if one == ti] for ti in tis}
    assert {ti: trace._changes_of(ti) for ti in tis} == expected
    trace._index_events()
    assert {ti: trace._changes_of(ti) for ti in tis} == expected
    some = set(tis[::2])
    assert trace._events_of(some) == [event for event in record if event[1] in some]


@pytest.mark.parametrize("executor", [
    dk.CeleryExecutor(workers=[dk.Worker(2), dk.Worker(1)], handover=3),
    dk.KubernetesExecutor(),                                  # a pod has its place while its task is still queued
    dk.LocalExecutor(parallelism=2),
], ids=lambda executor: type(executor).__name__)
@settings(max_examples=20)
@given(seed=SEEDS)
def test_who_has_a_place_can_be_read_from_those_who_can_have_one(executor: object, seed: int) -> None:
    trace = dk.simulate(random_scenario(Random(seed)).replace(executor=executor))
    for tick in range(0, trace._end + 1, 2):
        assert _here(Situation(trace, tick)) == {p.ti: p for p in places(trace) if p.picked <= tick < p.left}


def test_many_rows_are_told_what_each_is_told_alone() -> None:
    dag = dk.Dag("d", [T(f"t{i}", duration=1 + i % 7) for i in range(FEW + 50)])
    scenario = dk.Scenario(dag, executor=dk.CeleryExecutor(workers=[dk.Worker(5)]))
    told = dk.simulate(scenario).waiting(9)
    alone = dk.simulate(scenario)
    assert len(told) > FEW
    assert list(told["why"]) == [alone.explain(label, 9).text for label in told.index]


def test_a_run_that_ended_is_asked_by_the_dag_it_ran():
    """The task left the Dag and came back after the run had ended: of that run there is none to tell of."""
    mapped = dk.Dag("d", [dk.Task("a", returns=3), dk.Task("m", expand={"x": "a"}, duration=4)])
    trace = dk.simulate(mapped, changes=[(5, {"dag": dk.Dag("d", [dk.Task("a", returns=3)])}), (6, {"dag": mapped})])
    for asked in ("m", "m[3]"):
        with pytest.raises(dk.DagkitError, match="no task instance"):
            trace.explain(task=asked)
    assert "removed" in str(trace.explain("m[0]"))


def test_no_two_labels_are_the_same_whatever_the_ids():
    def dag(*names):
        return dk.Dag("d", [dk.Task("a", duration=3), *(dk.Task(name, "a") for name in names)])
    trace = dk.simulate(dag("b"), changes=[(2, {"dag": dag("b (removed)")}), (3, {"dag": dag("b", "b (removed)", "b #3")})])
    assert len(set(trace.labels)) == len(trace.labels) == 5
    assert set(trace.final_states) == set(trace.labels)

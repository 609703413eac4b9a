"""Planning against independent oracles: networkx, graphlib, brute force on small Dags, known figures."""

from __future__ import annotations

import graphlib
import itertools
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagkit.dag import Dag
from dagkit.errors import DagkitError
from dagkit.examples import file_fanout, orders
from dagkit.interop import from_networkx, to_networkx
from dagkit.planning import (
    critical_path,
    critical_tasks,
    expand,
    graham_bound,
    lower_bound,
    makespan,
    makespan_curve,
    saturation_slots,
    schedule,
    slack,
    tied_critical_paths,
    waves,
    what_if,
)
from dagkit.task import Task

DURATIONS = st.integers(min_value=0, max_value=6)
# Names whose string order differs from their number, their length and the order they are declared in.
NAMES = ["b", "a", "a10", "a9", "Z", "é", "_", "z", "aa", "A", "\U0001f600", "B2"]


@st.composite
def dags(draw, most=9, durations=DURATIONS):
    """A random Dag, declared in any order, with names that do not follow that order."""
    n = draw(st.integers(min_value=0, max_value=most))
    names = draw(st.permutations(NAMES))[:n]
    specs = {}
    for i, name in enumerate(names):
        upstream = draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=4)) if i else []
        specs[name] = {"upstream": upstream, "duration": draw(durations)}
    declared = draw(st.permutations(names))
    return Dag.from_dict({name: specs[name] for name in declared})


def chain(durations, **more):
    return Dag("chain", [Task(f"t{i}", f"t{i - 1}" if i else (), duration=d, **more)
                         for i, d in enumerate(durations)])


def fan_out(width, first=1, each=1):
    return Dag("fan", [Task("start", duration=first),
                       *(Task(f"t{i}", "start", duration=each) for i in range(width))])


def digraph(dag):
    """Built from the declarations alone."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dag.tasks)
    graph.add_edges_from((u, t.task_id) for t in dag for u in t.upstream)
    return graph


def all_paths(dag):
    """Every chain from a task without upstreams to any task."""
    found, stack = [], [[t.task_id] for t in dag if not t.upstream]
    below = {name: [t.task_id for t in dag if name in t.upstream] for name in dag.tasks}
    while stack:
        path = stack.pop()
        found.append(path)
        stack.extend([*path, d] for d in below[path[-1]])
    return found


def duration_of(dag, path):
    return sum(dag[name].duration for name in path)


# ---- waves ----


@given(dags())
def test_waves_are_networkx_generations(dag):
    assert waves(dag) == [sorted(wave) for wave in nx.topological_generations(digraph(dag))]


@given(dags())
def test_waves_are_what_graphlib_hands_out_at_a_time(dag):
    sorter = graphlib.TopologicalSorter({t.task_id: t.upstream for t in dag})
    sorter.prepare()
    batches = []
    while sorter.is_active():
        batch = sorter.get_ready()
        batches.append(sorted(batch))
        sorter.done(*batch)
    assert waves(dag) == batches


@given(dags())
def test_a_plain_dictionary_has_the_waves_of_its_dag(dag):
    found = waves(dag)
    assert waves({t.task_id: t.upstream for t in dag}) == found
    assert waves({t.task_id: list(t.upstream) * 2 for t in dag}) == found
    assert waves({t.task_id: set(t.upstream) for t in dag}) == found


@pytest.mark.parametrize("plain", [
    {"a": ["b"]}, {"a": ["b"], "b": ["c"], "c": ["a"]}, {"a": ["a"]}, {1: []}, {"": []}, {"a": [], "b": [3]}, {"a": [[]]},
    {"a": None}, {"a": [], "b": [["a"]]}, {"a": [], "b": ["a", None]}, {"a": [], "b": ["a", "b"]},
    {"a": [], "b": ["a", ["a"]]}, {"a": [], "b": ["a"], "c": ["a", "b", "d"]},
])
def test_a_plain_dictionary_is_checked_like_a_dag(plain):
    with pytest.raises(DagkitError) as of_dag:
        Dag("dag", [Task(task_id, ups) for task_id, ups in plain.items()])
    with pytest.raises(DagkitError) as of_plain:
        waves(plain)
    assert (type(of_plain.value), str(of_plain.value)) == (type(of_dag.value), str(of_dag.value))


def test_upstreams_may_finish_one_after_the_other_in_either_order():
    chain = [f"t{i:03d}" for i in range(300)]
    plain = {name: chain[max(0, i - 1):i] for i, name in enumerate(chain)}
    for listed in (chain, chain[::-1]):
        assert waves({**plain, "join": listed}) == [[name] for name in [*chain, "join"]]


def test_one_upstream_may_be_written_as_text_and_an_empty_dictionary_has_no_waves():
    assert waves({"extract": [], "load": "extract"}) == [["extract"], ["load"]]
    assert waves({}) == []


@given(dags())
def test_task_order_takes_the_first_declared_task_that_may_be_taken(dag):
    graph, taken = dag.graph, []
    declared = list(dag.tasks)
    while len(taken) < len(declared):   # as the rule says, by scanning
        taken.append(next(t for t in declared if t not in taken and set(dag[t].upstream) <= set(taken)))
    assert [graph.ids[i] for i in graph.order] == taken


# ---- critical path and slack ----


@given(dags())
def test_critical_path_is_as_long_as_networkx_says(dag):
    weighted = nx.DiGraph()
    for t in dag:   # networkx weighs edges: a task's duration sits on every edge into it
        weighted.add_edge(0, t.task_id, weight=t.duration)
        weighted.add_edges_from(((u, t.task_id) for u in t.upstream), weight=t.duration)
    assert critical_path(dag).length == nx.dag_longest_path_length(weighted)
    assert duration_of(dag, critical_path(dag).path) == critical_path(dag).length


@given(dags(most=7))
def test_critical_path_breaks_ties_as_documented(dag):
    """Among the longest chains: the first declared last task; from there back, the first listed upstream."""
    declared = list(dag.tasks)

    def preference(path):
        back = path[::-1]
        return [declared.index(back[0]), *(dag[t].upstream.index(u) for t, u in itertools.pairwise(back))]

    paths = all_paths(dag)
    longest = [p for p in paths if duration_of(dag, p) == max(duration_of(dag, q) for q in paths)]
    assert critical_path(dag).path == (min(longest, key=preference) if longest else [])


def test_a_tie_goes_to_the_first_listed_upstream_then_to_the_first_declared_task():
    shape = {"a": {}, "b": {}, "z": {"upstream": ["b", "a"]}, "y": {"upstream": ["a", "b"]}}
    assert critical_path(Dag.from_dict(shape)).path == ["b", "z"]
    assert critical_path(Dag.from_dict({k: shape[k] for k in "aby"} | {"z": shape["z"]})).path == ["a", "y"]


@given(dags())
def test_slack_is_how_much_longer_a_task_may_last(dag):
    length = critical_path(dag).length
    for task_id, spare in slack(dag).items():
        longer = what_if(dag, {task_id: dag[task_id].duration + spare})
        assert critical_path(longer).length == length
        too_long = what_if(dag, {task_id: dag[task_id].duration + spare + 1})
        assert critical_path(too_long).length == length + 1


@given(dags(most=7))
def test_critical_tasks_lie_on_a_longest_chain(dag):
    paths = all_paths(dag)
    longest = max((duration_of(dag, p) for p in paths), default=0)
    on_one = {t for p in paths if duration_of(dag, p) == longest for t in p}
    assert critical_tasks(dag) == [t for t in dag.tasks if t in on_one]


@given(dags(most=7, durations=st.integers(1, 4)))
def test_tied_critical_paths_are_all_longest_chains_and_the_critical_path_is_first(dag):
    paths = all_paths(dag)
    longest = max((duration_of(dag, p) for p in paths), default=0)
    tied = tied_critical_paths(dag)
    assert sorted(tied) == sorted(p for p in paths if duration_of(dag, p) == longest)
    assert tied[:1] == ([critical_path(dag).path] if len(dag) else [])


def test_tied_critical_paths_stop_at_the_limit():
    assert len(tied_critical_paths(diamonds(20), limit=7)) == 7   # of 2**20
    assert len(tied_critical_paths(diamonds(3))) == 8
    assert tied_critical_paths(chain([1] * 20_000)) == [[f"t{i}" for i in range(20_000)]]


def test_tied_critical_paths_end_where_nothing_follows():
    """A task of no duration at the end makes no second path."""
    assert tied_critical_paths(chain([3, 0])) == [["t0", "t1"]]
    assert tied_critical_paths(Dag("none", [])) == []


def diamonds(count):
    tasks = [Task("j0")]
    for i in range(count):
        tasks += [Task(f"l{i}", f"j{i}"), Task(f"r{i}", f"j{i}"), Task(f"j{i + 1}", [f"l{i}", f"r{i}"])]
    return Dag("diamonds", tasks)


# ---- greedy schedules ----


def naive_greedy(dag, slots):
    """Time one by one, every task looked at each time: {task: (start, end)}."""
    start, ended, time = {}, set(), 0
    while len(ended) < len(dag):
        again = True
        while again:   # tasks of no duration end at once and may free others at the same time
            ended |= {t for t in start if start[t] + dag[t].duration <= time}
            ready = sorted(t for t in dag.tasks if t not in start and set(dag[t].upstream) <= ended)
            begun = ready[:slots - (len(start) - len(ended))]
            start.update(dict.fromkeys(begun, time))
            again = any(dag[t].duration == 0 for t in begun)
        time += 1
    return {t: (s, s + dag[t].duration) for t, s in start.items()}


@given(dags(), st.integers(1, 6))
def test_schedule_is_the_naive_greedy_one(dag, slots):
    expected = naive_greedy(dag, slots)
    plan = schedule(dag, slots)
    assert {row.task_id: (row.start, row.end) for row in plan.rows} == expected
    assert plan.makespan == makespan(dag, slots) == max((end for _, end in expected.values()), default=0)


def crowded(seed):
    """A Dag with many tasks ready and ending at the same time: where the order of things is decided."""
    draw = random.Random(seed)
    names = draw.sample("abcdefghijklmnop", draw.randint(5, 12))
    return Dag("crowded", [Task(name, draw.sample(names[:i], min(i, draw.choice([0, 1, 1, 2]))),
                                duration=draw.choice([0, 1, 1, 1, 2, 3, 4])) for i, name in enumerate(names)])


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_schedules_of_crowded_dags_are_the_naive_greedy_ones(slots):
    for seed in range(300):
        dag = crowded(seed)
        found = {row.task_id: (row.start, row.end) for row in schedule(dag, slots).rows}
        assert found == naive_greedy(dag, slots), f"seed {seed}"


def test_all_completions_of_an_instant_come_before_any_start():
    """a and b end together. Started one by one, x would take the slot of a before b has freed c1 and c2."""
    dag = Dag("d", [Task("a"), Task("b"), Task("c1", "b"), Task("c2", "b"), Task("x")])
    assert [row[:2] for row in schedule(dag, 2).rows] == [("a", 0), ("b", 0), ("c1", 1), ("c2", 1), ("x", 2)]


@given(dags(), st.integers(1, 6))
def test_rows_come_by_start_and_no_slot_does_two_things_at_once(dag, slots):
    rows = schedule(dag, slots).rows
    assert sorted(row.task_id for row in rows) == sorted(dag.tasks)
    assert [row.start for row in rows] == sorted(row.start for row in rows)
    for slot in {row.slot for row in rows}:
        assert 0 <= slot < slots
        mine = [row for row in rows if row.slot == slot]
        assert all(before.end <= after.start for before, after in itertools.pairwise(mine))


def best_makespan(dag, slots):
    """The shortest schedule there is: every order of the tasks, each task as early as it then fits."""
    best = math.inf
    for names in itertools.permutations(dag.tasks):
        busy, end = [], {}
        for name in names:
            if not set(dag[name].upstream) <= set(end):
                break
            earliest, d = max((end[u] for u in dag[name].upstream), default=0), dag[name].duration
            for start in sorted({earliest, *(e for _, e in busy if e >= earliest)}):
                moments = {start, *(s for s, _ in busy if start <= s < start + d)} if d else set()
                if all(sum(s <= m < e for s, e in busy) < slots for m in moments):
                    break
            end[name] = start + d
            busy.append((start, start + d))
        else:
            best = min(best, max(end.values(), default=0))
    return best


@given(dags(most=5), st.integers(1, 3))
def test_makespan_lies_between_the_bounds(dag, slots):
    best, greedy = best_makespan(dag, slots), makespan(dag, slots)
    assert critical_path(dag).length <= lower_bound(dag, slots) <= best <= greedy <= graham_bound(dag, slots)
    assert greedy <= (2 - Fraction(1, slots)) * best
    assert graham_bound(dag, slots) <= (2 - 1 / slots) * lower_bound(dag, slots) + 1e-9


@given(dags())
def test_one_slot_does_the_whole_work_and_plenty_reach_the_critical_path(dag):
    assert makespan(dag, 1) == sum(t.duration for t in dag)
    assert makespan(dag, max(1, len(dag))) == critical_path(dag).length


@given(dags())
def test_saturation_is_the_first_number_of_slots_that_reaches_the_critical_path(dag):
    assert saturation_slots(dag) == first_enough(dag)


def first_enough(dag):
    length = critical_path(dag).length
    return next(n for n in itertools.count(1) if makespan(dag, n) == length)


def test_saturation_of_crowded_dags_leaves_out_no_number_that_would_do():
    for seed in range(700):
        assert saturation_slots(crowded(seed)) == first_enough(crowded(seed)), f"seed {seed}"


def test_saturation_skips_numbers_that_must_fail():
    """Ten thousand ready before one that must start at once: stepping by one would take minutes."""
    dag = Dag("late", [*(Task(f"a{i}") for i in range(10_000)), Task("z", duration=500)])
    assert saturation_slots(dag) == 10_001
    assert saturation_slots(fan_out(10_000)) == 10_000
    assert saturation_slots(fan_out(10_000, first=0)) == 10_000


def graham_anomaly():
    """Nine tasks that a fourth slot makes slower: 12 on three slots, 15 on four (Graham 1969)."""
    lasts = {"t1": 3, "t2": 2, "t3": 2, "t4": 2, "t5": 4, "t6": 4, "t7": 4, "t8": 4, "t9": 9}
    after = {"t9": "t1", **dict.fromkeys(["t5", "t6", "t7", "t8"], "t4")}
    return Dag("graham_anomaly", [Task(t, after.get(t, ()), duration=d) for t, d in lasts.items()])


def test_more_slots_can_make_it_longer():
    assert [makespan(graham_anomaly(), n) for n in (3, 4)] == [12, 15]
    assert makespan(graham_anomaly(), 4) > lower_bound(graham_anomaly(), 4)


def test_saturation_does_not_trust_that_more_slots_help():
    """With the critical path at 12, three slots are enough although four are not."""
    dag = graham_anomaly()
    assert critical_path(dag).length == 12
    assert saturation_slots(dag) == 3


@given(dags(), st.randoms(use_true_random=False))
def test_the_order_of_declaration_decides_nothing_but_ties_between_paths(dag, shuffled):
    names = list(dag.tasks)
    shuffled.shuffle(names)
    other = Dag("dag", [dag[name] for name in names])
    assert waves(other) == waves(dag) and slack(other) == slack(dag)
    assert schedule(other, 2) == schedule(dag, 2)
    assert critical_path(other).length == critical_path(dag).length


def test_makespan_curve_is_makespan_and_lower_bound_for_each_number_of_slots():
    dag = expand(file_fanout(), "process", 6)
    curve = makespan_curve(dag, 8)
    assert list(curve.columns) == ["slots", "makespan", "lower_bound"]
    assert curve["slots"].tolist() == list(range(1, 9))
    assert curve["makespan"].tolist() == [makespan(dag, n) for n in range(1, 9)]
    assert curve["lower_bound"].tolist() == [lower_bound(dag, n) for n in range(1, 9)]


def test_schedule_to_frame_has_a_row_for_each_task():
    frame = schedule(file_fanout(), 1).to_frame()
    assert list(frame.columns) == ["task_id", "start", "end", "slot"]
    assert frame["task_id"].tolist() == ["list_files", "load_dim", "process", "join", "report"]
    assert frame["end"].tolist() == [1, 5, 8, 10, 11]
    assert list(schedule(Dag("none", []), 1).to_frame().columns) == ["task_id", "start", "end", "slot"]


# ---- the first lesson's figures ----


def test_the_shape_of_the_file_example():
    dag = file_fanout()
    assert waves(dag) == [["list_files", "load_dim"], ["process"], ["join"], ["report"]]
    assert critical_path(dag) == (7, ["list_files", "process", "join", "report"])
    assert slack(dag) == dict.fromkeys(dag.tasks, 0)
    assert tied_critical_paths(dag)[1:] == [["load_dim", "join", "report"]]


def test_both_tied_paths_must_shrink():
    dag = file_fanout()
    assert critical_path(what_if(dag, process=1)).length == 7
    assert critical_path(what_if(dag, load_dim=2)).length == 7
    assert critical_path(what_if(dag, process=1, load_dim=2)).length == 5
    assert critical_path(dag).length == 7   # the Dag asked about is unchanged


def test_the_staircase_of_the_file_example():
    dag = expand(file_fanout(), "process", 6)
    assert [makespan(dag, n) for n in range(1, 9)] == [26, 16, 13, 10, 10, 10, 7, 7]
    assert saturation_slots(dag) == 7
    assert waves(dag)[1] == [f"process[{i}]" for i in range(6)]
    assert [lower_bound(dag, n) for n in (1, 2, 3, 4)] == [26, 13, pytest.approx(26 / 3), 7]


# ---- expand ----


def test_expand_keeps_parameters_places_and_options():
    dag = Dag("d", [
        Task("a"), Task("m", "a", duration=3, pool="db", retries=2, expand={"x": "a"}), Task("b"),
        Task("join", ["b", "m", "a"]),
    ], max_active_tasks=5)
    wide = expand(dag, "m", ["x", "y"])
    assert list(wide.tasks) == ["a", "m[0]", "m[1]", "b", "join"]
    assert wide["join"].upstream == ("b", "m[0]", "m[1]", "a")
    for name in ("m[0]", "m[1]"):
        instance = wide[name]
        assert (instance.upstream, instance.duration, instance.pool, instance.retries) == (("a",), 3, "db", 2)
        assert instance.expand is None
    assert (wide.dag_id, wide.max_active_tasks) == ("d", 5)
    assert list(dag.tasks) == ["a", "m", "b", "join"]


def test_expand_mends_whatever_else_named_the_task():
    dag = Dag("d", [Task("pick", branch=["m"]), Task("m", "pick", returns=2),
                    Task("n", expand={"x": "m", "y": 3})])
    wide = expand(dag, "m", 2)
    assert wide["pick"].branch == ("m[0]", "m[1]")
    assert wide["n"].expand == {"x": 2, "y": 3} and wide["n"].upstream == ("m[0]", "m[1]")
    grouped = Dag("g", [Task("m"), Task("in", "m", task_group="g")], groups={"g": {"x": "m"}})
    assert expand(grouped, "m", 4).groups == {"g": {"x": 4}}


def test_expand_over_nothing_keeps_the_order():
    dag = chain([1, 2, 3])
    assert expand(dag, "t1", []).edges == [("t0", "t2")]
    assert expand(dag, "t1", 1).edges == [("t0", "t1[0]"), ("t1[0]", "t2")]


def test_expand_refuses_more_than_max_map_length():
    with pytest.raises(DagkitError) as refusal:
        expand(file_fanout(), "process", 6, max_map_length=4)
    assert str(refusal.value) == "process: 6 mapped tasks > max_map_length 4, task fails"
    assert len(expand(file_fanout(), "process", 1024)) == 1028
    with pytest.raises(DagkitError, match="process: 1025 mapped tasks > max_map_length 1024, task fails"):
        expand(file_fanout(), "process", range(1025))


@pytest.mark.parametrize(("call", "says"), [
    (lambda: expand(file_fanout(), "proces", 2), "no task 'proces'. Did you mean 'process'?"),
    (lambda: expand(file_fanout(), "process", -1), "items must be a list or its length (a whole number"),
    (lambda: expand(file_fanout(), "process", -1), "not -1"),
    (lambda: expand(file_fanout(), "process", "abc"), "items must be a list or its length"),
    (lambda: expand(file_fanout(), "process", True), "not True"),
    (lambda: expand(file_fanout(), "process", 2, 0), "max_map_length must be a whole number >= 1, not 0"),
    (lambda: expand(Dag("d", [Task("a"), Task("a[1]")]), "a", 2), "id 'a[1]' is taken by another task"),
    (lambda: what_if(file_fanout(), proces=1), "no task 'proces'. Did you mean 'process'?"),
    (lambda: what_if(file_fanout(), process=-1), "task 'process': duration must be a number >= 0, not -1"),
    (lambda: makespan(file_fanout(), 0), "slots must be a whole number >= 1, not 0"),
    (lambda: makespan(file_fanout(), True), "slots must be a whole number >= 1, not True"),
    (lambda: schedule(file_fanout(), 2.0), "slots must be a whole number >= 1, not 2.0"),
    (lambda: lower_bound(file_fanout(), None), "slots must be a whole number >= 1, not None"),
    (lambda: graham_bound(file_fanout(), "2"), "slots must be a whole number >= 1, not '2'"),
    (lambda: makespan_curve(file_fanout(), 0), "max_slots must be a whole number >= 1, not 0"),
    (lambda: waves(orders()), "planning needs a Dag, not Scenario"),
    (lambda: critical_path("orders"), "planning needs a Dag, not str"),
    (lambda: from_networkx(nx.Graph([("a", "b")])), "needs a directed graph (networkx.DiGraph), not Graph"),
    (lambda: from_networkx({"a": {}}), "needs a directed graph (networkx.DiGraph), not dict"),
    (lambda: from_networkx(nx.DiGraph([(1, 2)])), "task id 1: an id must be text (str), not int"),
    (lambda: from_networkx(nx.DiGraph([("a", "b"), ("b", "a")])), "cycle: a -> b -> a"),
    (lambda: from_networkx(nx.DiGraph([("a", "a")])), "cycle: a -> a"),
])
def test_refusals(call, says):
    with pytest.raises(DagkitError) as refusal:
        call()
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


# ---- numbers ----


def test_whole_durations_stay_whole_however_large():
    big = 10**30
    dag = chain([big, 1])
    assert critical_path(dag).length == big + 1 == makespan(dag, 3) and type(critical_path(dag).length) is int
    assert slack(Dag("d", [Task("a", duration=big + 1), Task("b", duration=1)])) == {"a": 0, "b": big}
    assert makespan(chain([10**400, 1]), 1) == 10**400 + 1


def test_bounds_of_large_whole_durations_stay_on_the_safe_side():
    dag = Dag("d", [Task(f"t{i}", duration=10**30) for i in range(4)])
    exact = Fraction(4 * 10**30, 3)
    assert exact <= lower_bound(dag, 3) < exact + 1
    assert makespan(dag, 3) <= graham_bound(dag, 3) <= exact + Fraction(2, 3) * 10**30


def test_decimal_fractions_add_up_as_on_paper():
    """0.1 + 0.2 is not 0.3 in binary: rounding must neither hide a tie nor split an instant."""
    assert critical_path(chain([0.1, 0.1, 0.1])).length == 0.3
    assert slack(chain([0.1, 0.1, 0.1])) == {"t0": 0, "t1": 0, "t2": 0}
    tie = Dag("tie", [Task("a", duration=0.1), Task("b", "a", duration=0.2), Task("c", duration=0.3),
                      Task("d", ["b", "c"])])
    assert critical_tasks(tie) == ["a", "b", "c", "d"]
    assert [row.start for row in schedule(tie, 2).rows] == [0, 0, 0.1, 0.3]


def test_fractions_that_were_computed_elsewhere_are_critical_too():
    dag = Dag("d", [Task("a", duration=0.1 + 0.2), Task("b", duration=0.3)])
    assert slack(dag) == {"a": 0, "b": 0}
    assert slack(Dag("d", [Task("a", duration=0.3001), Task("b", duration=0.3)]))["b"] == pytest.approx(1e-4)


@given(dags(durations=st.floats(0, 1e6, allow_subnormal=False)), st.integers(1, 4))
def test_floats_agree_with_exact_fractions(dag, slots):
    finish = {}
    for i in dag.graph.order:
        name = dag.graph.ids[i]
        finish[name] = Fraction(dag[name].duration) + max((finish[u] for u in dag[name].upstream), default=0)
    assert critical_path(dag).length == pytest.approx(float(max(finish.values(), default=0)))
    assert lower_bound(dag, slots) <= makespan(dag, slots) <= graham_bound(dag, slots)
    assert all(math.isfinite(spare) and spare >= 0 for spare in slack(dag).values())


@pytest.mark.parametrize("durations", [[1e308, 1e308], [10**400, 0.5]])
def test_sums_that_a_float_cannot_hold_are_refused(durations):
    for ask in (critical_path, slack, saturation_slots, lambda dag: lower_bound(dag, 2)):
        with pytest.raises(DagkitError, match="'chain': its durations add up to more than a float can hold"):
            ask(chain(durations))
    assert waves(chain(durations)) == [["t0"], ["t1"]]


def test_numpy_scalars_are_numbers():
    assert critical_path(chain([np.int64(2), np.int8(3)])) == (5, ["t0", "t1"])
    assert type(critical_path(chain([np.int64(2)])).length) is int
    assert critical_path(chain([np.float64(0.1), np.float64(0.2)])).length == 0.3


# ---- sizes ----


def test_an_empty_dag_and_a_single_task():
    none = Dag("none", [])
    assert (waves(none), critical_path(none), slack(none)) == ([], (0, []), {})
    assert (makespan(none, 3), lower_bound(none, 3), saturation_slots(none)) == (0, 0, 1)
    assert schedule(none, 1).rows == ()
    only = Dag("one", [Task("only", duration=7)])
    assert (waves(only), critical_path(only), slack(only)) == ([["only"]], (7, ["only"]), {"only": 0})
    assert (makespan(only, 9), saturation_slots(only)) == (7, 1)


def test_disconnected_parts_and_zero_durations():
    dag = Dag("parts", [Task("a", duration=0), Task("b", "a", duration=0),
                        Task("c", duration=2), Task("d", "c")])
    assert waves(dag) == [["a", "c"], ["b", "d"]]
    assert slack(dag) == {"a": 3, "b": 3, "c": 0, "d": 0}
    assert [row[:3] for row in schedule(dag, 1).rows] == [("a", 0, 0), ("b", 0, 0), ("c", 0, 2), ("d", 2, 3)]


def test_a_chain_of_100000_needs_no_recursion():
    limit = sys.getrecursionlimit()
    dag = chain([1] * 100_000)
    assert len(waves(dag)) == critical_path(dag).length == makespan(dag, 2) == 100_000
    assert len(critical_path(dag).path) == 100_000 and saturation_slots(dag) == 1
    assert set(slack(dag).values()) == {0}
    assert sys.getrecursionlimit() == limit


def test_a_wide_fan_out():
    dag = fan_out(10_000, each=2)
    assert [len(wave) for wave in waves(dag)] == [1, 10_000]
    assert makespan(dag, 64) == 1 + 2 * math.ceil(10_000 / 64)
    assert makespan(dag, 10**9) == 3


def test_twenty_diamonds_are_not_walked_path_by_path():
    dag = diamonds(20)
    assert (len(dag), len(dag.edges), len(waves(dag)), critical_path(dag).length) == (61, 80, 41, 41)
    assert critical_tasks(dag) == list(dag.tasks)


def test_the_same_dag_gives_the_same_text_under_any_hash_seed():
    program = """
import dagkit.planning as p
from dagkit.examples import file_fanout
dag = p.expand(file_fanout(), "process", 6)
print(p.waves(dag), p.critical_path(dag), p.slack(dag), p.schedule(dag, 3).rows, p.tied_critical_paths(dag))
"""
    said = {run_with_hash_seed(program, seed) for seed in ("0", "1", "2")}
    assert len(said) == 1 and b"process[5]" in said.pop()


def run_with_hash_seed(program, seed):
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed},
                          cwd=Path(__file__).parents[1], capture_output=True, check=True).stdout


# ---- networkx in and out ----


@given(dags())
def test_networkx_round_trip(dag):
    again = from_networkx(to_networkx(dag))
    assert again.edges == dag.edges
    assert [(t.task_id, t.duration) for t in again] == [(t.task_id, t.duration) for t in dag]


def test_networkx_keeps_parameters_and_options():
    dag = Dag("d", [Task("a", pool="db", retries=3), Task("b", "a", trigger_rule="all_done")],
              max_active_tasks=3)
    graph = to_networkx(dag)
    assert graph.name == "d" and graph.nodes["b"] == {"duration": 1, "trigger_rule": "all_done"}
    again = from_networkx(graph, max_active_runs=2)
    assert (again.dag_id, again.max_active_tasks, again.max_active_runs) == ("d", 3, 2)
    assert (again["a"].pool, again["a"].retries, again["b"].trigger_rule) == ("db", 3, "all_done")


def test_from_networkx_reads_the_attribute_it_is_told_and_ignores_strangers():
    graph = nx.MultiDiGraph([("a", "b"), ("a", "b")])
    graph.nodes["b"].update(weight=4, colour="red", duration=9)
    dag = from_networkx(graph, "m", duration="weight")
    assert (dag["a"].duration, dag["b"].duration, dag.edges) == (1, 4, [("a", "b")])
    assert dag.warnings == []


OPTIMAL = json.loads((Path(__file__).parent / "data" / "optimal.json").read_text())["cases"]


def test_greedy_schedules_beside_the_best_there_is():
    """The optima were proved by a solver that knows nothing of the kit (tools/make_optimal.py)."""
    ratios = []
    for case in OPTIMAL:
        dag, slots, best = Dag.from_dict(case["tasks"]), case["slots"], case["optimum"]
        assert lower_bound(dag, slots) <= best <= graham_bound(dag, slots)
        by_path = schedule(dag, slots, first="critical_path")
        assert best <= by_path.makespan == makespan(dag, slots, first="critical_path") <= graham_bound(dag, slots)
        assert best <= makespan(dag, slots)
        ratios.append(by_path.makespan / best)
    assert len(ratios) >= 80 and sum(ratios) / len(ratios) <= 1.005


def test_the_longest_way_to_the_end_goes_first():
    dag = Dag.from_dict({"a": {"duration": 1}, "b": {"duration": 1}, "z": {"duration": 1},
                         "end": {"upstream": "z", "duration": 5}})
    assert [row.task_id for row in schedule(dag, 1, first="critical_path").rows] == ["z", "end", "a", "b"]
    assert makespan(dag, 2) == 7 and makespan(dag, 2, first="critical_path") == 6      # by name, z waits for a and b
    with pytest.raises(DagkitError, match="first must be one of name, critical_path, not 'length'"):
        schedule(dag, 1, first="length")

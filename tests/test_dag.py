"""Task, Dag and Scenario: what they accept, and the text of every refusal."""

from __future__ import annotations

import copy
import datetime
import functools
import inspect
import pickle
import re
import unicodedata
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import dagkit as dk
from dagkit.dag import Dag
from dagkit.errors import CycleError, DagkitError, choices, nearest, shown
from dagkit.planning import critical_path, critical_tasks, makespan, schedule, slack, waves
from dagkit.scenario import Config, Pool, Runs, Scenario, as_scenario, ticks
from dagkit.task import PARAMETERS, Task, spec_of

HOSTILE = [
    "quote ' and \" both",
    "<script>alert(1)</script>",
    "two\nlines",
    "\x00\x1b[31m",
    "lone \ud800 surrogate",
    "colon:port",
    'n0 [label="x"]; }',
    "a -> b",
    "&amp;",
    "\u2028",
    "\u202eevil",
    " ",
    "x" * 10_000,
    "日本語",
]


def small():
    return Dag("small", [Task("a"), Task("b", "a")])


# ---- every refusal: the object, the rule, the value found, what to do next ----


def in_block(dag_id, build):
    with Dag(dag_id):
        build()


def too_late():
    a, b = Task("a"), Task("b")
    Dag("done", [a, b])
    a >> b


TASK_REFUSALS = [
    (lambda: Task(7), ["task id 7", "must be text (str), not int", "Put it in quotes"]),
    (lambda: Task(None), ["task id None", "must be text (str), not None"]),
    (lambda: Task(""), ["task id ''", "must not be empty", "Give the task a name"]),
    (lambda: Task("a", 5), ["task 'a'", "upstream must be task ids, not int", "Write upstream=['a', 'b']"]),
    (lambda: Task("a", [1]), ["task 'a'", "upstream 1 must be text (str), not int"]),
    (lambda: Task("a", ["b", None]), ["task 'a'", "upstream None must be text (str), not None"]),
    (lambda: Task("a", duration=-1), ["task 'a'", "duration must be a number >= 0, not -1"]),
    (lambda: Task("a", duration=float("nan")), ["task 'a'", "duration must be a number >= 0, not nan"]),
    (lambda: Task("a", duration=float("inf")), ["task 'a'", "duration must be a number >= 0, not inf"]),
    (lambda: Task("a", duration="3"), ["task 'a'", "duration must be a number >= 0, not '3'"]),
    (lambda: Task("a", duration=True), ["task 'a'", "duration must be a number >= 0, not True"]),
    (lambda: Task("a", duration=np.bool_(True)), ["duration must be a number >= 0, not np.True_"]),
    (lambda: Task("a", duration=np.array([1, 2])), ["duration must be a number >= 0, not array([1, 2])"]),
    (lambda: Task("a", duration=datetime.timedelta(1)), ["duration must be a number >= 0", "timedelta"]),
    (lambda: Task("a", pool=""), ["task 'a'", "pool must be text, not ''"]),
    (lambda: Task("a", pool_slots=0), ["task 'a'", "pool_slots must be a whole number >= 1, not 0"]),
    (lambda: Task("a", retries=1.5), ["task 'a'", "retries must be a whole number >= 0, not 1.5"]),
    (lambda: Task("a", retry_delay=-1), ["task 'a'", "retry_delay must be a number >= 0, not -1"]),
    (lambda: Task("a", retry_exponential_backoff="x"), ["True, False or a multiplier >= 0, not 'x'"]),
    (lambda: Task("a", max_retry_delay=-2), ["max_retry_delay must be a number >= 0 or None, not -2"]),
    (lambda: Task("a", execution_timeout=0), ["execution_timeout must be a number > 0 or None, not 0"]),
    (
        lambda: Task("a", trigger_rule="all_sucess"),
        ["'a'", "'all_sucess' is unknown", "mean 'all_success'?", "Known:"],
    ),
    (
        lambda: Task("a", trigger_rule=["x"]),
        ["task 'a'", "trigger_rule '['x']' is unknown", "Known: all_success"],
    ),
    (lambda: Task("a", priority_weight=1.0), ["task 'a'", "priority_weight must be a whole number, not 1.0"]),
    (
        lambda: Task("a", weight_rule="down"),
        ["weight_rule 'down' is unknown", "Known: downstream, upstream, absolute"],
    ),
    (lambda: Task("a", queue=None), ["task 'a'", "queue must be text, not None"]),
    (lambda: Task("a", executor=""), ["task 'a'", "executor must be text or None, not ''"]),
    (
        lambda: Task("a", max_active_tis_per_dag=0),
        ["max_active_tis_per_dag must be a whole number >= 1 or None, not 0"],
    ),
    (lambda: Task("a", depends_on_past=1), ["task 'a'", "depends_on_past must be True or False, not 1"]),
    (
        lambda: Task("a", short_circuit="medium"),
        ["short_circuit must be one of 'hard', 'soft', None, not 'medium'"],
    ),
    (lambda: Task("a", branch=3), ["task 'a'", "branch must be task ids, not int"]),
    (
        lambda: Task("a", is_setup=True, is_teardown=True),
        ["task 'a'", "cannot be both setup and teardown", "Keep one"],
    ),
    (
        lambda: Task("a", is_teardown=True, trigger_rule="one_done"),
        ["must be all_done_setup_success, not one_done"],
    ),
    (
        lambda: Task("a", returns=-1),
        ["task 'a': returns", "a list or its length (a whole number >= 0), not -1"],
    ),
    (
        lambda: Task("a", expand={}),
        ["task 'a'", "expand must map argument names", "not {}", "expand={'path': 'list_"],
    ),
    (lambda: Task("a", expand={"x": 1.5}), ["task 'a': expand['x']", "a list or its length", "not 1.5"]),
    (lambda: Task("a", expand="b"), ["task 'a'", "expand must map argument names", "not 'b'"]),
    (
        lambda: Task("a") >> "b",
        ["task 'a'", ">> joins Tasks or lists of Tasks, not 'b'", "`a >> [b, c] >> d`"],
    ),
    (lambda: Task("a") >> [], ["task 'a'", ">> joins Tasks or lists of Tasks, not []"]),
    (lambda: [1] >> Task("a"), ["task 'a'", ">> joins Tasks or lists of Tasks, not [1]"]),
    (too_late, ["task 'b'", "its Dag 'done' is already built", "inside the `with Dag(...)` block"]),
]

DAG_REFUSALS = [
    (lambda: Dag(""), ["Dag id must be non-empty text, not ''"]),
    (lambda: Dag(3), ["Dag id must be non-empty text, not 3"]),
    (
        lambda: Dag("d", {"a": {}}),
        ["Dag 'd'", "must be a list of Task objects, not dict", "use Dag.from_dict"],
    ),
    (lambda: Dag("d", "abc"), ["Dag 'd'", "must be a list of Task objects, not str"]),
    (lambda: Dag("d", Task("a")), ["Dag 'd'", "must be a list of Task objects, not Task"]),
    (lambda: Dag("d", ["a"]), ["Dag 'd'", "tasks must be Task objects, found 'a'", "Write dk.Task(...)"]),
    (lambda: Dag("d", [Task("a"), Task("a")]), ["Dag 'd'", "task id 'a' is declared twice", "rename one"]),
    (lambda: in_block("d", lambda: (Task("a"), Task("a"))), ["Dag 'd'", "task id 'a' is declared twice"]),
    (
        lambda: Dag("d", [Task("load"), Task("b", "laod")]),
        ["task 'b'", "upstream 'laod' is not a task of Dag 'd'", "Did you mean 'load'?", "Known: load, b"],
    ),
    (
        lambda: in_block("d", lambda: Task("b", "nope")),
        ["task 'b'", "upstream 'nope' is not a task of Dag 'd'"],
    ),
    (
        lambda: Dag("d", [Task("a")], max_active_tasks=0),
        ["Dag 'd'", "max_active_tasks must be a whole number >= 1, not 0"],
    ),
    (
        lambda: Dag("d", [], max_active_runs="2"),
        ["Dag 'd'", "max_active_runs must be a whole number >= 1, not '2'"],
    ),
    (lambda: Dag("d", [], max_consecutive_failed_dag_runs=-1), ["must be a whole number >= 0, not -1"]),
    (
        lambda: Dag("d", [], dagrun_timeout=0),
        ["Dag 'd'", "dagrun_timeout must be a number > 0 or None, not 0"],
    ),
    (
        lambda: Dag("d", [Task("a", trigger_rule="always")], fail_fast=True),
        ["Dag 'd'", "fail_fast needs trigger_rule all_success", "task 'a' has always", "Drop one of the two"],
    ),
    (
        lambda: Dag("d", [Task("a")], groups={"g": 3}),
        ["Dag 'd'", "group 'g' must map argument names", "not 3"],
    ),
    (
        lambda: Dag("d", [Task("a", task_group="gg")], groups={"g1": {"x": 2}}),
        ["Dag 'd'", "task 'a' names task_group 'gg'", "Declare it with Dag(groups=...)"],
    ),
    (
        lambda: Dag("d", [Task("a", branch=["c"]), Task("b", "a"), Task("c")]),
        ["Dag 'd'", "branch 'a' follows 'c'", "not directly downstream", "Its downstream tasks: b"],
    ),
    (lambda: Dag.from_dict([("a", {})]), ["Dag.from_dict", "needs a dictionary of tasks, not list"]),
    (lambda: Dag.from_dict({"a": 3}), ["task 'a'", "its description must be a dictionary, not int"]),
    (
        lambda: Dag.from_dict({"a": {"duratoin": 3}}),
        ["task 'a'", "'duratoin' is unknown", "mean 'duration'?", "help(dk.Task)"],
    ),
    (lambda: Dag.from_dict({"a": {"task_id": "b"}}), ["task 'a'", "parameter 'task_id' is unknown"]),
    (lambda: Dag.from_dict({1: {}}), ["task id 1", "must be text (str), not int"]),
    (lambda: Dag.from_dict({"a": {"upstream": ["a"]}}), ["cycle: a -> a"]),
    (lambda: small()["bb"], ["Dag 'small' has no task 'bb'", "Did you mean 'b'?", "Its tasks: a, b"]),
    (lambda: small()[["x"]], ["Dag 'small' has no task '['x']'"]),
    (lambda: small().replace("bb", duration=1), ["Dag 'small' has no task 'bb'"]),
    (
        lambda: small().replace("b", durations=1),
        ["task 'b'", "'durations' is unknown", "Did you mean 'duration'?"],
    ),
    (lambda: small().replace("b", duration=-1), ["task 'b'", "duration must be a number >= 0, not -1"]),
    (lambda: small().replace("a", upstream="b"), ["cycle: a -> b -> a"]),
]

SCENARIO_REFUSALS = [
    (lambda: Scenario("orders"), ["needs a Dag or a list of Dags, not str"]),
    (lambda: Scenario([small(), 3]), ["needs a Dag or a list of Dags, not int"]),
    (lambda: Scenario([small(), small()]), ["two Dags are called 'small'", "rename one"]),
    (lambda: Scenario(small(), pools=["db"]), ["pools must be a dictionary", "not list"]),
    (
        lambda: Scenario(small(), pools={"db": "1"}),
        ["pool 'db'", "slots must be a whole number >= 0", "not '1'"],
    ),
    (lambda: Scenario(small(), pools={"": 1}), ["pool name ''", "must be non-empty text"]),
    (lambda: Pool(-2), ["slots must be a whole number >= 0, or -1 for unlimited, not -2"]),
    (lambda: Scenario(small(), outcomes={"a": 3}), ["outcomes['a']", "one entry per try, not 3"]),
    (
        lambda: Scenario(small(), outcomes={"a": ["fial"]}),
        ["outcomes['a']", "'fial' is not an outcome", "mean 'fail'?"],
    ),
    (lambda: Scenario(small(), outcomes={"a": ["fail:2"]}), ["outcomes['a']", "'fail:2' is not an outcome"]),
    (lambda: Scenario(small(), outcomes={"a": [None]}), ["outcomes['a']", "'None' is not an outcome"]),
    (lambda: Scenario(small(), outcomes=["a"]), ["outcomes must be a dictionary", "not list"]),
    (
        lambda: Scenario(small(), durations={"a": 0}),
        ["durations['a']", "whole number of ticks >= 1", "not 0"],
    ),
    (
        lambda: Scenario(small(), durations={"a": 1.5}),
        ["durations['a']", "not 1.5", "smaller unit and round up"],
    ),
    (lambda: ticks(float("nan"), "task 'a'"), ["task 'a'", "whole number of ticks >= 1", "not nan"]),
    (
        lambda: Scenario(small(), initial={"a": "sucess"}),
        ["'sucess' is not", "Did you mean 'success'?", "Known:"],
    ),
    (lambda: Scenario(small(), initial=["a"]), ["initial must be a dictionary", "not list"]),
    (lambda: Scenario(small(), runs=-1), ["runs must be a whole number >= 0 or a dk.Runs, not -1"]),
    (
        lambda: Scenario(small(), runs={"smal": 2}),
        ["no Dag is called 'smal'", "Did you mean 'small'?", "Known: small"],
    ),
    (lambda: Runs(count=-1), ["runs: count must be a whole number >= 0, not -1"]),
    (lambda: Runs(start=0), ["runs: start must be a whole number >= 1, not 0"]),
    (lambda: Scenario(small(), seed="x"), ["seed must be a whole number, not 'x'"]),
    (
        lambda: Config(pacing="lessons"),
        ["pacing must be one of lesson, airflow, not 'lessons'", "mean 'lesson'?"],
    ),
    (lambda: Config(parallelism=0), ["config: parallelism must be a whole number >= 1, not 0"]),
    (lambda: Config(tick_seconds=0), ["config: tick_seconds must be a number from 1e-6 to 1e9, not 0"]),
    (lambda: Config(max_task_retry_delay=10**400), ["config: max_task_retry_delay must be a number of ticks"]),
    (
        lambda: Scenario(small()).replace(pool={}),
        ["Scenario: parameter 'pool' is unknown", "Did you mean 'pools'?", "Known:"],
    ),
    (lambda: Scenario([small(), Dag("other", [])]).dag, ["holds 2 Dags", "name one: small, other"]),
]


@pytest.mark.parametrize(("call", "says"), TASK_REFUSALS + DAG_REFUSALS + SCENARIO_REFUSALS)
def test_refusals(call, says):
    with pytest.raises(DagkitError) as refusal:
        call()
    message = str(refusal.value)
    assert message.isprintable() and isinstance(refusal.value, ValueError)
    for part in says:
        assert part in message


# ---- what is accepted because real Airflow accepts it ----


def test_what_airflow_accepts_is_accepted():
    dag = Dag(
        "d", [Task("a", pool="no_such_pool", pool_slots=99, queue="nobody_listens", priority_weight=-3)]
    )
    assert (dag["a"].pool, dag["a"].pool_slots, dag["a"].queue) == ("no_such_pool", 99, "nobody_listens")
    assert Scenario(dag, pools={"p": 0}).pools["p"].slots == 0


# ---- cycles ----


def test_a_cycle_is_named_in_the_direction_data_flows_from_its_first_declared_task():
    with pytest.raises(CycleError) as refusal:
        Dag("d", [Task("z"), Task("c", ["b", "z"]), Task("a", "c"), Task("b", "a")])
    assert refusal.value.cycle == ["c", "a", "b", "c"]
    assert str(refusal.value) == "cycle: c -> a -> b -> c"


def test_the_ring_is_walked_without_recursion_and_a_long_one_is_shortened_in_the_text():
    tasks = [Task(f"t{i}", f"t{(i - 1) % 100_000}") for i in range(100_000)]
    with pytest.raises(CycleError) as refusal:
        Dag("ring", tasks)
    assert refusal.value.cycle == [*(f"t{i}" for i in range(100_000)), "t0"]
    assert len(str(refusal.value)) < 200


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))))
def test_a_ring_is_found_exactly_when_networkx_finds_one(pairs):
    graph = nx.DiGraph(pairs)
    tasks = [Task(f"t{i}", [f"t{u}" for u in graph.predecessors(i)]) for i in graph]
    if nx.is_directed_acyclic_graph(graph):
        assert sorted(Dag("d", tasks).edges) == sorted((f"t{u}", f"t{v}") for u, v in graph.edges)
        return
    with pytest.raises(CycleError) as refusal:
        Dag("d", tasks)
    ring = [int(name[1:]) for name in refusal.value.cycle]
    assert ring[0] == ring[-1] and len(set(ring)) == len(ring) - 1
    assert all(graph.has_edge(u, v) for u, v in zip(ring, ring[1:], strict=False))


# ---- >> in all its forms, with-blocks, from_dict ----


@pytest.mark.parametrize(
    ("join", "edges"),
    [
        (lambda a, b, c: a >> b >> c, [("a", "b"), ("b", "c")]),
        (lambda a, b, c: a >> [b, c], [("a", "b"), ("a", "c")]),
        (lambda a, b, c: a >> (b, c), [("a", "b"), ("a", "c")]),
        (lambda a, b, c: [a, b] >> c, [("a", "c"), ("b", "c")]),
        (lambda a, b, c: c << b << a, [("b", "c"), ("a", "b")]),
        (lambda a, b, c: c << [a, b], [("a", "c"), ("b", "c")]),
        (lambda a, b, c: [b, c] << a, [("a", "b"), ("a", "c")]),
        (lambda a, b, c: (a >> b, a >> b), [("a", "b")]),
        (lambda a, b, c: a >> [b, b], [("a", "b")]),
    ],
)
def test_shifts(join, edges):
    with Dag("d") as dag:
        join(Task("a"), Task("b"), Task("c"))
    assert sorted(dag.edges) == sorted(edges)
    assert dag.warnings == []


def test_a_shift_gives_its_right_side():
    a, b, c = Task("a"), Task("b"), Task("c")
    assert (a >> b) is b and (b << a) is a
    assert (a >> [b, c]) == [b, c] and ([a, b] >> c) is c and ([b, c] << a) is a


def test_a_diamond_of_shifts():
    with Dag("d") as dag:
        a, b, c, d = (Task(name) for name in "abcd")
        a >> [b, c] >> d
    assert dag.edges == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


def test_a_task_joined_to_itself_is_a_cycle():
    def build():
        a = Task("a")
        a >> a

    with pytest.raises(CycleError, match="cycle: a -> a"):
        in_block("d", build)


def test_upstream_may_be_a_name_a_task_or_several():
    a = Task("a")
    dag = Dag("d", [a, Task("b", a), Task("c", "a"), Task("d", [a, "c"]), Task("abc"), Task("x", "abc")])
    assert [t.upstream for t in dag] == [(), ("a",), ("a",), ("a", "c"), (), ("abc",)]


def test_blocks_may_be_nested():
    with Dag("outer") as outer:
        Task("a")
        with Dag("inner") as inner:
            Task("a") >> Task("b")
        Task("c", "a")
    assert (list(outer.tasks), list(inner.tasks)) == (["a", "c"], ["a", "b"])


def test_a_dag_made_inside_a_block_keeps_its_tasks_to_itself():
    with Dag("outer") as outer:
        Task("a")
        inner = Dag.from_dict({"x": {}, "y": {"upstream": "x"}})
        inner.replace("x", duration=2)
    assert (list(outer.tasks), list(inner.tasks)) == (["a"], ["x", "y"])


def test_a_block_that_fails_catches_no_later_task():
    for error in (RuntimeError, DagkitError):
        with pytest.raises(error), Dag("broken") as dag:
            Task("a")
            raise error("in the block")
        later = Task("later")
        assert list(dag.tasks) == ["a"] and later._dag is None
    with pytest.raises(CycleError), Dag("outer") as outer:  # noqa: PT012
        Task("a")
        in_block("inner", lambda: Task("x") << Task("y", "x"))
    Task("later")
    assert list(outer.tasks) == ["a"]


def test_a_task_that_is_refused_does_not_join():
    with Dag("d") as dag:
        Task("a")
        with pytest.raises(DagkitError):
            Task("b", duration=-1)
    assert list(dag.tasks) == ["a"]


def test_from_dict_is_the_same_dag():
    spec = {
        "a": {"duration": 3, "pool": "db"},
        "b": {"upstream": ["a"], "retries": 2, "trigger_rule": "all_done"},
    }
    dag = Dag.from_dict(spec, dag_id="named", max_active_tasks=4)
    assert (dag.dag_id, dag.max_active_tasks, dag.edges) == ("named", 4, [("a", "b")])
    assert {t.task_id: spec_of(t) for t in dag} == {"a": spec["a"], "b": {**spec["b"], "upstream": ("a",)}}
    assert {t.task_id: spec_of(t) for t in Dag.from_dict({t.task_id: spec_of(t) for t in dag})} == {
        t.task_id: spec_of(t) for t in dag
    }
    assert len(Dag.from_dict({})) == 0


def test_replace_changes_one_task_of_a_copy():
    dag = Dag("d", [Task("a", duration=2), Task("b", "a", pool="db")], max_active_runs=3)
    other = dag.replace("a", duration=9)
    assert (other["a"].duration, dag["a"].duration) == (9, 2)
    assert (other["b"].pool, other.max_active_runs, other.edges) == ("db", 3, dag.edges)


def test_a_dag_can_be_read_but_not_written():
    dag = small()
    assert len(dag) == 2 and "a" in dag and "z" not in dag and [t.task_id for t in dag] == ["a", "b"]
    with pytest.raises(TypeError):
        dag.tasks["c"] = Task("c")


def test_a_task_keeps_only_what_it_was_given():
    task = Task("a", duration=5, retries=0, pool="db")
    assert vars(task) == {"task_id": "a", "upstream": (), "duration": 5, "pool": "db"}
    assert (task.retries, task.trigger_rule, task.outlets) == (0, "all_success", ())


def test_an_unknown_parameter_is_refused_with_the_nearest_name():
    with pytest.raises(DagkitError, match="task 'a': parameter 'retris' is unknown. Did you mean 'retries'?"):
        Task("a", retris=3)
    with pytest.raises(AttributeError, match="parameter 'pol' is unknown. Did you mean 'pool'?"):
        Task("a").pol = "db"


@pytest.mark.parametrize("word", ["depends_on", "dependencies", "needs", "after", "requires", "upstreams", "downstream"])
def test_what_other_tools_call_an_order_is_answered_with_upstream_and_no_long_list(word: str):
    for declare in (lambda: Task("b", **{word: ["a"]}), lambda: Dag.from_dict({"a": {}, "b": {word: ["a"]}})):
        with pytest.raises(DagkitError, match=r"task 'b': parameter '\w+' is unknown\. .* write upstream=") as caught:
            declare()
        assert "depends_on_past" not in str(caught.value) and len(str(caught.value)) < 200


def test_help_shows_every_parameter_with_its_default():
    shown = inspect.signature(Task).parameters
    assert tuple(shown) == PARAMETERS
    assert [name for name, p in shown.items() if p.kind is not p.KEYWORD_ONLY] == ["task_id", "upstream"]
    assert all(p.default == getattr(Task("a"), name) for name, p in shown.items() if name != "task_id")
    assert all(re.search(rf"\b{name}\b", Task.__doc__) for name in PARAMETERS)


def test_parameters_are_those_of_task():
    assert PARAMETERS[:3] == ("task_id", "upstream", "duration")
    assert {"pool", "retries", "trigger_rule", "weight_rule", "queue"} <= set(PARAMETERS)


# ---- scenarios ----


def test_a_scenario_fills_in_what_is_short():
    scenario = Scenario(small(), pools={"db": 1}, outcomes={"a": "fail"}, runs=3)
    assert scenario.pools == {"db": Pool(1), "default_pool": Pool(128)}
    assert (scenario.outcomes, scenario.runs) == ({"a": ("fail",)}, {"small": Runs(3, every=0)})
    assert scenario.replace(pools={"db": 2}).pools["db"] == Pool(2) and scenario.pools["db"] == Pool(1)
    assert as_scenario(scenario) is scenario and as_scenario(scenario, seed=4).seed == 4


# ---- untrusted ids ----


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ids_are_kept_and_shown_as_one_line_of_text(name):
    dag = Dag(name, [Task(name), Task(name + "2", name)])
    assert list(dag.tasks) == [name, name + "2"] and waves(dag) == [[name], [name + "2"]]
    for text in (repr(dag), repr(dag[name]), *dag.warnings):
        assert text.isprintable() and len(text) < 400
        text.encode()
    for refused in (
        lambda: dag["nope"],
        lambda: Task(name, duration=-1),
        lambda: Task("b", name) >> name,
        lambda: Dag(name, [Task(name, name)]),
        lambda: Dag("d", [Task("a", name)]),
        lambda: Task("a", trigger_rule=name),
        lambda: Dag.from_dict({"a": {name: 1}}),
        lambda: Dag("d", [Task(name), Task(name)]),
    ):
        with pytest.raises(DagkitError) as refusal:
            refused()
        assert str(refusal.value).isprintable() and len(str(refusal.value)) < 1500


@given(st.lists(st.text(st.characters(), min_size=1), unique=True, min_size=1, max_size=6))
def test_any_text_is_a_task_id(names):
    dag = Dag("d", [Task(name, names[:i]) for i, name in enumerate(names)])
    assert critical_path(dag).path == names
    assert [row.task_id for row in schedule(dag, 2).rows] == names
    assert all(warning.isprintable() for warning in dag.warnings)


@given(st.text(st.characters()), st.integers(4, 80))
def test_shown_is_short_printable_and_readable(text, limit):
    assert shown(text, limit).isprintable() and len(shown(text, limit)) <= limit
    if text.isprintable() and len(text) <= limit:
        assert shown(text, limit) == text


def test_hints_and_lists_of_choices_stay_short():
    assert nearest("trasnform", ["extract", "transform"]) == " Did you mean 'transform'?"
    assert (
        nearest("zzz", ["extract"])
        == ""
        == nearest(None, ["extract"])
        == nearest("x" * 10_000, ["x" * 10_000])
    )
    assert choices(map(str, range(100)), 3) == "0, 1, 2, ... (100 in all)"


# ---- situations people asked about in public (tests/data/incidents.yaml) ----


@functools.cache
def incidents():
    text = (Path(__file__).parent / "data" / "incidents.yaml").read_text(encoding="utf-8")
    return {case["id"]: case for case in yaml.safe_load(text)["cases"]}


def incident(name):
    """The incident's input and what it expects."""
    return incidents()[name]["input"], incidents()[name]["expected"]


def incident_dag(tasks):
    return Dag("incident", [Task(t["id"], t.get("up", ()), duration=t.get("dur", 1)) for t in tasks])


def chain(durations):
    return Dag(
        "chain", [Task(f"t{i}", f"t{i - 1}" if i else (), duration=d) for i, d in enumerate(durations)]
    )


def test_c04_the_ring_is_named_and_nothing_else():
    given_, expected = incident("C04")
    with pytest.raises(CycleError) as refusal:
        incident_dag(given_["tasks"])
    assert refusal.value.cycle == expected["path_any_rotation"]  # and it starts at the first listed task
    assert not set(expected["not_in_path"]) & set(refusal.value.cycle)


@pytest.mark.parametrize(("name", "part"), [("C06", None), ("C08", "small"), ("C15", None)])
def test_small_shapes(name, part):
    given_, expected = incident(name)
    if part:
        given_, expected = given_[part], expected[part]
    dag = incident_dag(given_["tasks"])
    assert waves(dag) == expected["waves"]
    assert critical_path(dag) == (expected["critical_length"], expected["critical_path"])
    assert slack(dag) == expected.get("slack", slack(dag))
    assert (
        makespan(dag, 1) == sum(t.duration for t in dag) and makespan(dag, 9) == expected["critical_length"]
    )


def test_c08_twenty_diamonds():
    given_, expected = incident("C08")
    tasks = [Task("j0")]
    for i in range(given_["count"]):
        tasks += [Task(f"l{i}", f"j{i}"), Task(f"r{i}", f"j{i}"), Task(f"j{i + 1}", [f"l{i}", f"r{i}"])]
    dag = Dag("diamonds", tasks)
    assert (len(dag), len(dag.edges)) == (expected["tasks"], expected["edges"])
    assert (len(waves(dag)), critical_path(dag).length) == (
        expected["waves_count"],
        expected["critical_length"],
    )
    assert len(critical_tasks(dag)) == expected["tasks"]


def test_c10_unicode_and_look_alike_ids():
    given_, expected = incident("C10")
    dag = incident_dag(given_["tasks"])
    assert len(dag) == expected["tasks"]
    illegal, decomposed, alike = dag.warnings
    assert "task 'load data': not a legal Airflow id" in illegal
    assert unicodedata.normalize("NFC", alike).count("café") == 2 and "look alike" in alike
    # an accent of its own is no word character, so Airflow's pattern refuses that spelling of café too
    assert decomposed.startswith("task 'cafe\u0301': not a legal Airflow id")
    for task_id, accepted in expected["airflow_accepts"].items():
        if task_id == "":
            with pytest.raises(DagkitError, match="must not be empty"):
                Task("")
        else:
            assert (Dag("d", [Task(task_id)]).warnings == []) is accepted


def test_c13_a_chain_of_ten_thousand():
    given_, expected = incident("C13")
    dag = chain([given_["dur"]] * given_["count"])
    assert len(waves(dag)) == expected["waves_count"]
    assert critical_path(dag).length == expected["critical_length"]
    assert makespan(dag, 4) == expected["makespan"]


def test_c14_huge_and_tiny_durations():
    given_, expected = incident("C14")
    too_large, exact, close = (chain(case["chain"]) for case in given_["cases"])
    with pytest.raises(DagkitError, match="add up to more than a float can hold"):
        critical_path(too_large)
    assert critical_path(exact).length == int(expected["results"][1]["critical_length"])
    assert critical_path(close).length == pytest.approx(expected["results"][2]["critical_length_close_to"])
    assert critical_tasks(close) == list(close.tasks)


def test_c15_duplicate_edges_count_once():
    given_, expected = incident("C15")
    dag = incident_dag(given_["tasks"])
    assert len(dag.edges) == expected["edges"]
    assert dag.warnings == ["task 'b': upstream 'a' is listed more than once; it counts once."]


def test_c16_ids_that_are_not_text():
    given_, _ = incident("C16")
    assert Dag("d", [Task("1")])["1"].task_id == "1"
    for task_id in given_["id_cases"]:
        if task_id != "1" or not isinstance(task_id, str):
            kind = "None" if task_id is None else type(task_id).__name__
            with pytest.raises(DagkitError) as refusal:
                Task(task_id)
            assert f"an id must be text (str), not {kind}" in str(refusal.value)
    assert incident_dag(given_["up_case"]["tasks"])["x"].upstream == ("abc",)
    from_yaml = [task["id"] for task in yaml.safe_load(given_["yaml_text"])["tasks"]]
    for task_id in (each for each in from_yaml if not isinstance(each, str)):
        with pytest.raises(DagkitError, match=f"not {type(task_id).__name__}"):
            Task(task_id)
    assert not all(isinstance(each, str) for each in from_yaml)


def test_a_built_task_is_fixed_and_its_copies_are_free() -> None:
    dag = Dag("d", [Task("a"), Task("b", "a", retries=2)])
    with pytest.raises(DagkitError, match="task 'b': its Dag 'd' is already built, so retries is fixed"):
        dag["b"].retries = 3
    with pytest.raises(DagkitError, match="is already built"):
        dag["a"] >> dag["b"]
    for free in (copy.copy(dag["b"]), pickle.loads(pickle.dumps(dag["b"]))):
        assert spec_of(free) == {"upstream": ("a",), "retries": 2}
        free.retries = 3
    assert dag.close() is dag and dag["b"].retries == 2
    assert set(Dag("other", [dag["a"], Task("c", "a")]).tasks) == {"a", "c"}      # a built task may serve elsewhere too


# ---- what a Dag and its tasks are once they are declared ----


COPIES = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]


class Query(Task):
    """A subclass that gives values to its tasks and asks for other things when it is declared."""

    duration, pool = 7, "db"

    def __init__(self, table, **given):
        super().__init__(f"query_{table}", **given)


@pytest.mark.parametrize("copied", COPIES)
def test_the_copy_of_a_dag_is_as_fixed_as_the_dag(copied):
    dag = Dag("d", [Task("a", returns=2), Query("x", upstream="a"), Task("g1", task_group="g")], fail_fast=True,
              groups={"g": {"x": "a"}}, assets=["raw"])
    again = copied(dag)
    assert {t.task_id: spec_of(t) for t in again} == {t.task_id: spec_of(t) for t in dag}
    assert (again.dag_id, again.options(), again.edges) == ("d", dag.options(), dag.edges)
    assert type(again["query_x"]) is Query and again["a"] is not dag["a"] and again["a"]._dag is again
    with pytest.raises(DagkitError, match="already built"):
        again["a"].retries = 3
    with Dag("later") as dag:
        Task("a")
        again = copied(dag)                               # and joins no block
        again["a"].retries = 3
        assert (again.closed, dag["a"].retries, list(dag.tasks)) == (False, 0, ["a"])


@pytest.mark.parametrize("copied", COPIES)
def test_a_subclass_says_the_same_to_everyone(copied):
    task, other = Query("x"), Query("y", duration=1)
    for each in (task, copied(task)):
        assert (type(each), each.duration, spec_of(each)) == (Query, 7, {"duration": 7, "pool": "db"})
    assert (other.duration, copied(other).duration, spec_of(other)) == (1, 1, {"pool": "db"})
    dag = Dag("d", [task, other])
    again = dag.replace("query_x", retries=1)
    assert critical_path(dag).length == critical_path(again).length == 7
    assert [t.duration for t in again] == [7, 1]


def test_the_values_of_a_subclass_are_checked():
    class Teardown(Task):
        is_teardown = True

    class Wrong(Task):
        retries = "x"

    assert Teardown("t").trigger_rule == "all_done_setup_success"
    with pytest.raises(DagkitError, match="task 'a': retries must be a whole number >= 0, not 'x'"):
        Wrong("a")
    for name in ("upstream", "task_id"):
        with pytest.raises(DagkitError, match="class Each: it cannot set task_id or upstream"):
            type("Each", (Task,), {name: "a"})


@pytest.mark.parametrize(("name", "value", "says"), [
    ("retries", "x", "retries must be a whole number >= 0, not 'x'"),
    ("trigger_rule", "nope", "trigger_rule 'nope' is unknown"),
    ("expand", 5, "expand must map argument names"),
    ("is_setup", True, "cannot be both setup and teardown"),
    ("upstream", 5, "upstream must be task ids, not int"),
    ("task_id", "b", "an id cannot be changed"),
])
def test_what_is_set_later_is_checked_and_a_refusal_changes_nothing(name, value, says):
    task = Task("a", "p", is_teardown=True, retries=2)
    before = dict(vars(task))
    with pytest.raises(DagkitError, match=f"task 'a': .*{re.escape(says)}"):
        setattr(task, name, value)
    assert vars(task) == before


def test_what_is_set_later_counts_as_if_it_had_been_declared():
    with Dag("d") as dag:
        Task("p", returns=2)
        a, b = Task("a", retries=2), Task("b")
        a.is_teardown, a.retries = True, 0
        b.expand = {"x": "p"}
    assert (a.trigger_rule, a.retries, spec_of(a).get("retries")) == ("all_done_setup_success", 0, None)
    assert dag.edges == [("p", "b")] and list(dag.tasks) == ["p", "a", "b"]


def test_nothing_of_a_task_can_be_deleted():
    free, built = Task("a", retries=2), Dag("d", [Task("a", retries=2)])["a"]
    for task, says in ((free, "retries cannot be deleted"), (built, "already built, so retries is fixed")):
        with pytest.raises(DagkitError, match=f"task 'a': .*{says}"):
            del task.retries
        assert task.retries == 2


def test_a_built_dag_is_not_opened_again():
    dag = small()
    with pytest.raises(DagkitError, match="Dag 'small': it is already built, so `with` cannot open it again"), dag:
        pass
    Task("free")                                          # no block is left open by the refusal
    with pytest.raises(DagkitError, match="Dag 'small' is already built, so >> cannot add 'free' to it"):
        dag["a"] >> Task("free")
    with Dag("early") as early:
        Task("a")
        early.close()
        with pytest.raises(DagkitError, match="Dag 'early': it is already built, so task 'b' comes too late"):
            Task("b")
    assert (list(dag.tasks), list(early.tasks)) == (["a", "b"], ["a"])


def test_the_parameters_of_a_built_dag_are_fixed():
    dag = small()
    for name, value in (("max_active_tasks", 4), ("dag_id", "x"), ("groups", {}), ("assets", "a")):
        with pytest.raises(DagkitError, match=f"Dag 'small': it is already built, so {name} is fixed"):
            setattr(dag, name, value)
    with pytest.raises(DagkitError, match="max_active_tasks must be a whole number >= 1, not -4"), Dag("d") as early:
        early.max_active_tasks = -4
    with Dag("d") as early:
        early.max_active_tasks = 3
    assert early.options()["max_active_tasks"] == 3


def test_unknown_and_doubled_parameters_are_refused_in_a_sentence():
    with pytest.raises(DagkitError, match="Dag 's': parameter 'max_active_task' is unknown. Did you mean 'max_active_t"):
        Dag("s", [], max_active_task=3)
    with pytest.raises(DagkitError, match="task 'a': upstream is given twice, as 'b' and as 'c'"):
        Task("a", "b", upstream="c")


def test_text_and_truth_values_of_numpy_are_pythons_own():
    text = np.str_("b")
    task = Task(np.str_("a"), upstream=[text], depends_on_past=np.bool_(True), pool=text, outlets=np.array(["b"]),
                trigger_rule=np.str_("all_done"), weight_rule=np.str_("upstream"), expand={text: text}, branch=text)
    group = Dag(np.str_("d"), [Task("b", returns=1)], groups={text: {text: text}}, fail_fast=np.bool_(False))
    kept = [task.task_id, *task.upstream, task.pool, *task.outlets, task.trigger_rule, task.weight_rule, *task.branch,
            *task.expand, *task.expand.values(), group.dag_id, *group.groups, *group.groups["b"].values()]
    assert {*map(type, kept)} == {str} and task.depends_on_past is True and group.fail_fast is False
    with pytest.raises(DagkitError, match="retries must be a whole number"):
        Task("a", retries=np.bool_(True))                 # no number, as True is none


# ---- changed copies ------------------------------------------------------------------------------------------------


def test_a_changed_copy_of_a_dag_keeps_the_classes_of_its_tasks():
    dag = Dag("d", [Task("a"), Query("x", upstream="a", pool="default_pool", retries=1), Query("y", upstream="a")])
    for changed in (dag.replace("a", duration=3), dk.what_if(dag, a=3), dk.expand(dag, "a", 1), dk.split(dag, "a", 1),
                    dk.simulate(dag).fork(2, tasks={"a": {"retries": 1}}).scenario.merged({"tasks": {"a": {}}}).dag):
        each = changed["query_x"]
        assert (type(each), each.pool, each.duration, each.retries) == (Query, "default_pool", 7, 1)
        assert (changed["query_y"].pool, each is dag["query_x"]) == ("db", False)
    changed = dag.replace("query_x", duration=1, pool="db")
    assert (type(changed["query_x"]), changed["query_x"].duration, changed["query_x"].pool) == (Query, 1, "db")
    assert [type(t) for t in dk.expand(dag, "query_y", 2)] == [Task, Query, Query, Query]
    with pytest.raises(DagkitError, match="task 'a': parameter 'task_id' is unknown"):
        dag.replace("a", task_id="b")
    with pytest.raises(DagkitError, match="task 'a': parameter 'retris' is unknown. Did you mean 'retries'?"):
        dag.replace("a", retris=1)


def test_no_longer_a_teardown_is_no_longer_under_its_rule():
    class Tidy(Task):
        is_teardown = True

    for made in (Task("t", is_teardown=True), Tidy("t")):
        dag = Dag("d", [Task("a"), made])
        assert made.trigger_rule == "all_done_setup_success"
        assert dag.replace("t", is_teardown=False)["t"].trigger_rule == "all_success"
        assert dag.replace("t", is_teardown=False, trigger_rule="all_done")["t"].trigger_rule == "all_done"
        assert dag.replace("t", retries=1)["t"].trigger_rule == "all_done_setup_success"
    task = Task("t", is_teardown=True)
    task.is_teardown = False
    assert (task.trigger_rule, spec_of(task)) == ("all_success", {})
    task.is_teardown = True
    assert task.trigger_rule == "all_done_setup_success"
    rule = Task("t", trigger_rule="one_failed")
    with pytest.raises(DagkitError, match="a teardown's trigger_rule must be all_done_setup_success, not one_failed"):
        rule.is_teardown = True
    rule.is_teardown = False
    assert rule.trigger_rule == "one_failed"

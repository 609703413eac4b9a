"""Priority totals against networkx on random Dags, and on the shapes that have shortcuts."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagkit import weights
from dagkit.dag import Dag
from dagkit.parameters import WEIGHT_RULES
from dagkit.task import Task
from dagkit.weights import priority_totals, weight_totals


def expected(dag):
    """Each relative once, as sets of networkx say."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dag.tasks)
    graph.add_edges_from((u, t.task_id) for t in dag for u in t.upstream)
    relatives = {"downstream": nx.descendants, "upstream": nx.ancestors, "absolute": lambda *_: set()}
    counted = {t.task_id: {t.task_id, *relatives[t.weight_rule](graph, t.task_id)} for t in dag}
    return {task_id: sum(dag[r].priority_weight for r in each) for task_id, each in counted.items()}


@st.composite
def weighted_dags(draw, most=14):
    n = draw(st.integers(0, most))
    least = draw(st.sampled_from([1, -5, 0]))
    weight = st.integers(least, draw(st.sampled_from([1, 9, 2**40])))
    rule = st.sampled_from(draw(st.sampled_from([["downstream"], ["upstream"], list(WEIGHT_RULES)])))
    tasks = []
    for i in range(n):
        ups = draw(st.lists(st.integers(0, i - 1), max_size=3)) if i else []
        ups = [f"t{u}" for u in ups]
        tasks.append(Task(f"t{i}", ups, priority_weight=draw(weight), weight_rule=draw(rule)))
    return Dag("dag", draw(st.permutations(tasks)))


@given(weighted_dags())
def test_totals_are_those_of_networkx(dag):
    assert priority_totals(dag) == expected(dag)


def layered(count, width, edges, seed=1, **more):
    draw = random.Random(seed)
    tasks = []
    for i in range(count):
        above = range(i // width * width - width, i // width * width)
        ups = [f"t{j}" for j in draw.sample(above, edges)] if i >= width else []
        tasks.append(Task(f"t{i}", ups, priority_weight=draw.randint(-3, 30), **more))
    return Dag("layered", tasks)


@pytest.mark.parametrize("rule", ["downstream", "upstream"])
def test_sets_too_large_for_the_memory_are_counted_in_blocks(monkeypatch, rule):
    """With next to no memory allowed, 300 tasks need several blocks of positions."""
    dag = layered(300, 20, 3, weight_rule=rule)
    assert priority_totals(dag) == expected(dag)
    monkeypatch.setattr(weights, "BLOCK_BYTES", 1)
    assert priority_totals(dag) == expected(dag)


def test_every_path_to_a_relative_counts_once():
    diamond = Dag("diamond", [Task("a"), Task("b", "a"), Task("c", "a"), Task("d", ["b", "c"])])
    assert priority_totals(diamond) == {"a": 4, "b": 2, "c": 2, "d": 1}
    chained = [Task("j0")]
    for i in range(40):   # 2**40 paths
        chained += [Task(f"l{i}", f"j{i}"), Task(f"r{i}", f"j{i}"), Task(f"j{i + 1}", [f"l{i}", f"r{i}"])]
    assert priority_totals(Dag("diamonds", chained))["j0"] == 121


def test_each_task_has_its_own_rule():
    dag = Dag("mixed", [Task("a", priority_weight=5),
                        Task("b", "a", priority_weight=7, weight_rule="upstream"),
                        Task("c", "b", priority_weight=11, weight_rule="absolute")])
    assert priority_totals(dag) == {"a": 23, "b": 12, "c": 11}


def test_a_shortcut_edge_makes_relatives_overlap():
    dag = Dag("shortcut", [Task("a"), Task("b", "a"), Task("c", ["b", "a"]), Task("d", "c")])
    assert priority_totals(dag) == {"a": 4, "b": 3, "c": 2, "d": 1}


def test_long_chains_wide_fans_and_trees():
    chain = Dag("chain", [Task("t0"), *(Task(f"t{i}", f"t{i - 1}") for i in range(1, 100_000))])
    assert priority_totals(chain)["t0"] == 100_000
    tree = Dag("tree", [Task("t1"), *(Task(f"t{i}", f"t{i // 2}") for i in range(2, 2**15))])
    assert [priority_totals(tree)[t] for t in ("t1", "t2", "t16384")] == [2**15 - 1, 2**14 - 1, 1]
    fan = Dag("fan", [Task("s"), *(Task(f"t{i}", "s") for i in range(10_000)),
                      Task("e", [f"t{i}" for i in range(10_000)])])
    assert [priority_totals(fan)[t] for t in ("s", "t7", "e")] == [10_002, 2, 1]


def test_an_empty_dag():
    assert weight_totals(Dag("none", []).graph, [], []) == []

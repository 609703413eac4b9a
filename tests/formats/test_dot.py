"""DOT as other tools write it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dagkit import Dag
from dagkit.errors import CycleError, FormatError
from dagkit.formats import load
from dagkit.formats.dot import write

from .support import remark


def edges(text: str) -> str:
    return " ".join(sorted(f"{a}{b}" for a, b in load(text).dag.edges))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("a -> b", "ab"),
        ("a -> b -> c; b->d", "ab bc bd"),
        ("a -> {b c} -> d", "ab ac bd cd"),
        ("{a b} -> {c d}", "ac bc ad bd"),
        ("a -> subgraph cluster_x { b -> c }", "ab ac bc"),
        ("subgraph x { a b } -> c", "ac bc"),
        ("subgraph { a -> b } a -> c", "ab ac"),
        ('"a":out:s -> b:in:n', "ab"),
        ('a -> b [label="x -> y", weight=2][color=red]', "ab"),
        ("node [shape=box]; edge[color=grey] graph [rankdir=LR] rankdir=LR a -> b", "ab"),
        ("a -> b // a -> c\n/* a -> d */\n# a -> e\n", "ab"),
        ('"a" + "" -> b', "ab"),
        ("a -> b a -> b", "ab"),
        ("a\nb\na -> b", "ab"),
        ("a [label=<<b>bold</b> &amp; <i>more</i>>] a -> b", "ab"),
        ("\u00e9 -> \u65e5", "\u00e9\u65e5"),
        ("-1.5 -> .5", "-1.5.5"),
        ('"a\\\n" -> b', "ab"),
    ],
)
def test_statements(body: str, found: str) -> None:
    assert edges(f"digraph G {{ {body} }}") == " ".join(sorted(found.split()))


@pytest.mark.parametrize(
    "head", ["digraph {", "strict digraph G {", 'DiGraph "two words" {', "digraph\n{", "// x\ndigraph g{"]
)
def test_heads(head: str) -> None:
    assert edges(head + " a -> b }") == "ab"


def test_numbered_nodes_are_called_by_their_labels() -> None:
    loaded = load(
        'digraph s { 0[label="all"] 1[label="align\\ns: a"] 2[label="align\\ns: b"] 3[label="align\\ns: b"]'
        " 1 -> 0 2 -> 0 3 -> 0 }"
    )
    assert list(loaded.dag.tasks) == ["all", "align s: a", "align s: b (2)", "align s: b (3)"]
    assert remark(loaded, "1 label stood on several nodes")


def test_names_stay_names_where_they_say_something() -> None:
    assert list(load('digraph { a [label="Task A"] n1 [label="x"] a -> n1 }').dag.tasks) == ["a", "n1"]


def test_group_circles_of_airflow_are_joined_up() -> None:
    loaded = load("""digraph d { start
      subgraph "cluster_g" { "g.a" "g.b" "g.upstream_join_id" [shape=circle label=""] }
      start -> "g.upstream_join_id" -> "g.a" "g.upstream_join_id" -> "g.b"
      "g.a" -> "g.downstream_join_id" "g.b" -> "g.downstream_join_id" -> end }""")
    assert set(loaded.dag.edges) == {("start", "g.a"), ("start", "g.b"), ("g.a", "end"), ("g.b", "end")}
    assert remark(loaded, "2 circles around task groups")


def test_a_duration_attribute_counts() -> None:
    loaded = load('digraph { a [duration=2.5] b [duration="soon"] a -> b }')
    assert loaded.dag["a"].duration == 2.5 and loaded.missing == ("b",)


def test_a_default_duration_counts_for_nodes_that_come_after_it_inside_its_braces() -> None:
    """https://graphviz.org/doc/info/lang.html: any object defined afterwards inherits it; so do subgraphs."""
    dag = load("digraph { z; node [duration=5] a; { node [duration=7] b; a } c [duration=1]; a -> d; z }").dag
    assert {t.task_id: t.duration for t in dag} == {"z": 0, "a": 5, "b": 7, "c": 1, "d": 5}


def test_what_follows_the_graph_is_told() -> None:
    loaded = load("digraph x { a -> b } digraph y { c -> d }")
    assert loaded.dag.edges == [("a", "b")] and remark(loaded, "Only the first graph was read; what follows")
    assert not [said for said in load("digraph { a -> b }\n// the end\n").report if "first graph" in said]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph { a -- b }", "expected a directed graph (digraph), found 'graph'"),
        ("digraph { a -- b }", "found an edge without direction (--) at line 1"),
        ("digraph {\n a -> }", "found an arrow with nothing after it at line 2"),
        ("digraph {\n -> a }", "found an arrow with nothing before it at line 2"),
        ("digraph { a -> b", "found its end before the last closing brace"),
        ("digraph {\n a [x", "found its end before the last closing brace"),
        ("digraph { a [=] }", "found '=' among attributes at line 1"),
        ("digraph { a [x=;] }", "found ';' where a value belongs at line 1"),
        ('digraph { "a -> b }', "found '\"a -> b }' at line 1"),
        ("digraph { a <b }", "found an HTML label that never ends at line 1"),
        ("digraph {\n\n a ! b }", "found '! b }' at line 3"),
        ("digraph { ]", "found ']' at line 1"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        load(text, format="dot")


def test_deep_braces_are_refused_and_rings_are_named() -> None:
    with pytest.raises(FormatError, match="braces more than 200 deep at line 1"):
        load("digraph { " + "{ " * 5000 + "} " * 5000 + "}")
    with pytest.raises(CycleError, match="cycle: a -> b -> a"):
        load("digraph { a -> b -> a }")


def test_hostile_names_stay_inside_their_label() -> None:
    names = [
        '"]; evil -> x; n0 [label="',
        "\\",
        "a\\",
        "<script>alert(1)</script>",
        "a\nb",
        "\\N\\G",
        "&lt;",
        "\ud800\x07",
    ]
    text = write(Dag.from_dict({name: {} for name in names}))
    assert list(load(text).dag.tasks) == names
    assert text.count("\n") == len(names) + 3 and text.isascii()
    text.encode("utf-8")


def test_the_sample(samples_dir: Path) -> None:
    file = samples_dir / "dot" / "snakemake_dag.dot"
    if not file.exists():
        pytest.skip("no DOT file among the samples")
    loaded = load(file)
    assert (len(loaded.dag), len(loaded.dag.edges)) == (11, 13)
    assert loaded.dag["all"].upstream == ("report",) and "fetch s: a" in loaded.dag


def test_messages_of_the_tool_before_the_graph() -> None:
    """``snakemake --dag 2>&1`` catches both."""
    graph = 'digraph snakemake_dag {\n 0[label = "all"];\n 1[label = "map"];\n 1 -> 0\n}\n'
    loaded = load(f"Building DAG of jobs...\nUsing shell: bash\n{graph}")
    assert loaded.dag.edges == load(graph).dag.edges == [("map", "all")]
    assert remark(loaded, "The lines before the graph")


def test_mermaid_is_not_taken_for_an_edge_list() -> None:
    with pytest.raises(FormatError, match="found Mermaid, which the kit writes and does not read"):
        load("flowchart TD\n a-->b\n")

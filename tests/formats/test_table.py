"""CSV tables and edge lists."""

from __future__ import annotations

import re

import pytest

from dagkit import Dag
from dagkit.errors import DagkitError, FormatError
from dagkit.formats import dump, load

from .support import remark


def edges(text: str) -> str:
    return " ".join(sorted(f"{a}{b}" for a, b in load(text).dag.edges))


@pytest.mark.parametrize(
    "text",
    [
        "task,upstream,duration\na,,1\nb,a,2\nc,a;b,3\n",
        "task;upstream;duration\na;;1\nb;a;2\nc;a|b;3\n",
        "Task\tDepends on\tDuration\na\t\t1\nb\ta\t2\nc\ta b\t3\n",
        "task_id|predecessors|time\na||1\nb|a|2\nc|a b|3\n",
        'name,parents,runtime\na,,1\nb,a,2\nc,"a, b",3\n',
        'name,parents,runtime\na,,1\nb,a,2\nc,"[""a"", ""b""]",3\n',
        "task,upstream,duration\nc,a,3\nc,b,\nb,a,2\na,,1\n",
        "duration,upstream,id\n1,,a\n2,a,b\n3,a;b,c\n",
        "name,task,source file,upstream,duration\nx,a,f,,1\ny,b,f,a,2\nz,c,f,a;b,3\n",
        "\ufefftask,upstream,duration\r\na,,1\r\nb,a,2\r\nc,a;b,3\r\n",
    ],
)
def test_a_task_a_row(text: str) -> None:
    dag = load(text).dag
    assert sorted(dag.edges) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [dag[name].duration for name in "abc"] == [1, 2, 3]


@pytest.mark.parametrize(
    "text", ["source,target\na,b\nb,c\n", "from;to\na;b\nb;c\n", "upstream,downstream\na,b\nb,c\n"]
)
def test_a_dependency_a_row(text: str) -> None:
    assert edges(text) == "ab bc"


@pytest.mark.parametrize(
    ("column", "unit"),
    [("duration", None), ("duration_s", "s"), ("Duration (min)", "min"), ("hours", "h"), ("seconds", "s")],
)
def test_the_unit_is_in_the_column_name(column: str, unit: str | None) -> None:
    assert load(f"task,{column}\na,2\nb,3\n").unit == unit


def test_names_with_blanks_and_further_columns() -> None:
    loaded = load(
        "task,upstream,duration,pool,pool_slots,retries,owner\nload data,,1.5,db,2,1,me\nx,load data,,,,,\n"
    )
    assert loaded.dag.edges == [("load data", "x")]
    assert (
        loaded.dag["load data"].pool,
        loaded.dag["load data"].pool_slots,
        loaded.dag["load data"].retries,
    ) == ("db", 2, 1)
    assert loaded.missing == ("x",)
    assert remark(loaded, "1 column was ignored: owner.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "task,upstream\na,\nb,z\n",
            "expected a row for every task, found upstream 'z' of 'b' in line 3, which has none",
        ),
        ("task,duration\na,soon\n", "expected a number >= 0 as duration, found 'soon' in line 2"),
        ('task,duration\na,"1,500"\n', "found '1,500' in line 2. Write 1500 or 1.500."),
        ("task;retries\na;1,500\n", "expected a number as retries that can be read in one way, found '1,500'"),
        ("task,upstream\nload,\nb,laod\n", "Known: load, b. Did you mean 'load'? Add its row, or mend the name."),
        ('task,upstream\na,"' + "x" * 140_000, "expected cells of at most 131072 characters, found a longer one in "
                                              "line 2. Close its quotes, or spread its names over several rows"),
        ("task,duration\na,-1\n", "expected a number >= 0 as duration, found '-1' in line 2"),
        ("task,duration\na,nan\n", "expected a number >= 0 as duration, found 'nan' in line 2"),
        ("task,duration\na,1\na,2\n", "expected one duration a task, found 1 and 2 for one task (line 3)"),
        ("task,duration\n,1\n", "expected a task in every row, found none in line 2"),
        ('task,upstream\na,"\nb', "expected a CSV table, found unexpected end of data in line 3"),
        ('task,upstream\n"""a",\n', 'expected names in matching quotes, found "a in line 2'),
        ("one,two\na,b\n", "expected a header like task,upstream,duration or source,target, found 'one,two'"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        load(text, format="csv")


def test_a_decimal_comma_that_cannot_be_anything_else_is_read() -> None:
    assert [t.duration for t in load("task;duration\na;0,125\nb;1,5\n").dag] == [0.125, 1.5]


def test_a_cell_that_says_none_is_none_unless_a_task_is_called_so() -> None:
    loaded = load("task,upstream,duration\na,-,1\nb,N/A,1\nc,None,1\nd,a,1\n")
    assert loaded.dag.edges == [("a", "d")] and remark(loaded, "An upstream cell with 'N/A' was read as: none.")
    assert load("task,upstream\nnone,\nb,none\n").dag.edges == [("none", "b")]


def test_upstreams_may_be_numbers_of_rows_that_have_names() -> None:
    """As project plans write them."""
    loaded = load('id,name,duration,predecessors\n1,Plan,2,\n2,Build,3,1\n3,Test,1,"1,2"\n')
    assert set(loaded.dag.edges) == {("Plan", "Build"), ("Plan", "Test"), ("Build", "Test")}
    assert remark(loaded, "Upstreams were read as values of the column id")


def test_no_cell_of_an_export_is_a_formula() -> None:
    """A spreadsheet takes a cell that starts with = + - or @ for a formula."""
    names = ["=1+1", "+x", "-y", "@z", "plain"]
    text = dump(Dag.from_dict({name: {} for name in names}), "csv")
    assert not re.search(r'(^|,|;)"?[=+@-]', text, re.M)
    assert list(load(text).dag.tasks) == names
    with pytest.raises(DagkitError, match="the value '=cmd' cannot stand in a table"):
        dump(Dag.from_dict({"a": {"pool": "=cmd"}}), "csv")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a -> b\nb -> c\n", "ab bc"),
        ("a b\nb c\n", "ab bc"),
        ("# comment\n\na --> b => c >> d → e;\n", "ab bc cd de"),
        ("a, b -> c, d\n", "ac bc ad bd"),
        ("lone\na -> b\n", "ab"),
        ("a b {'weight': 3}\nb c {}\n", "ab bc"),
        ("a b 3.5\n", "ab"),
        ("a -> b\na -> b\n", "ab"),
        ("a-b -> c\n", "a-bc"),
        ("a -> b  # first\n// and\nb -> c // last\n", "ab bc"),
        ("a -> b; b -> c;\n", "ab bc"),
        ("a#1 -> //b; //b -> //c:d\n", "a#1//b //b//c:d"),
        ('"a # b" -> "c; d" # and so on\n', "a # bc; d"),
    ],
)
def test_edge_lists(text: str, found: str) -> None:
    pairs = [f"{a}{b}" for a, b in load(text, format="edges").dag.edges]
    assert sorted(pairs) == sorted([found] if '"' in text else found.split())


def test_names_may_hold_blanks_beside_an_arrow() -> None:
    assert load("load data -> check it\n").dag.edges == [("load data", "check it")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ->\n", "an arrow without a name on one side ('a ->') on line 1"),
        ("x\na -> -> b\n", "an arrow without a name on one side ('a -> -> b') on line 2"),
        ("a b c d\n", "4 words on line 1"),
        ("x y\na -- b\n", "3 words on line 2"),
        ("a <-> b\n", "'a <', which is no name and no arrow known here, on line 1. Put odd names in quotes."),
        ("a -> b\nb -.-> c\n", "'b -.', which is no name and no arrow known here, on line 2"),
        ("a -->|x| b\n", "'|x| b', which is no name and no arrow known here, on line 1"),
        ("a --> b & c\n", "'b & c', which is no name"),
        ("a -- t --> b\n", "'a -- t', which is no name"),
        ("graph TD;A-->B;B-->C", "found Mermaid, which the kit writes and does not read"),
        ("Graph TD\nA-->B\n", "found Mermaid"),
        ("flowchart-elk TD\nA-->B\n", "found Mermaid"),
        ("stateDiagram-v2\n[*] --> A\n", "found Mermaid"),
        ("sequenceDiagram\nA->>B: hi\n", "found Mermaid"),
        ("<body>a -> b</body>\n", "found HTML or XML"),
        ("@startuml\na -> b\n", "found PlantUML"),
        ('"a" "b" -> c\n', "'\"b\"' right after a name on line 1"),
        ('"\\x" -> a\n', 'a badly quoted name "\\x" on line 1'),
        ('"" -> a\n', 'a badly quoted name "" on line 1'),
    ],
)
def test_edge_list_refusals(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        load(text, format="edges")


def test_a_name_that_looks_like_another_language_or_an_arrow_is_quoted() -> None:
    names = ["sequenceDiagram", "//", ".", "-.", "flowchart", "graph TD", "a b"]
    dag = Dag.from_dict({name: {"upstream": names[:at]} for at, name in enumerate(names)})
    back = load(dump(dag, "edges")).dag
    assert list(back.tasks) == names and back.edges == dag.edges

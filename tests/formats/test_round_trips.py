"""What is written reads back: random Dags with any text as ids, through every format that can be read."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagkit import Dag
from dagkit.errors import DagkitError, FormatError
from dagkit.formats import WRITERS, dump, load
from dagkit.interop import to_networkx
from dagkit.task import spec_of

HOSTILE = [
    '"',
    "\\",
    "a\\",
    "<script>alert(1)</script>",
    "a\nb",
    "\r",
    "\t",
    "\x07",
    "\ud800",
    "->",
    "a -> b",
    ";",
    "|",
    ",",
    "a,b",
    "=1+1",
    "#c",
    "#quot;",
    "&amp;",
    "n0",
    "0",
    "task",
    "source",
    "true",
    "{",
    "}",
    "[",
    "x" * 10_000,
    " lead",
    "trail ",
    "é",
    "日本",
    "\u2028",
    "]]>",
    "%%",
    "`",
    "dagkit1:",
    "'",
    "--",
    "- a",
    "a: b",
]
IDS = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=[]), min_size=1, max_size=12)
)
NUMBERS = st.one_of(st.integers(0, 10**20), st.floats(0, 1e300, allow_nan=False))


@st.composite
def dags(draw: Any) -> Dag:
    names = draw(st.lists(IDS, unique=True, max_size=7))
    specs: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        ups = draw(st.lists(st.sampled_from(names[:number]), unique=True, max_size=3)) if number else []
        specs[name] = {"upstream": ups, "duration": draw(NUMBERS)}
    order = draw(st.permutations(names))
    return Dag.from_dict({name: specs[name] for name in order}, dag_id="d")


def shape(dag: Dag) -> Any:
    return list(dag.tasks), {task.task_id: set(task.upstream) for task in dag}


def timed(dag: Dag) -> Any:
    return shape(dag), [(t.duration, type(t.duration)) for t in dag]


@given(dags())
def test_edge_list(dag: Dag) -> None:
    assert shape(load(dump(dag, "edges") + "\n", format="edges").dag) == shape(dag)


@given(dags())
def test_csv(dag: Dag) -> None:
    assert timed(load(dump(dag, "csv"), format="csv").dag) == timed(dag)


@given(dags())
def test_dot(dag: Dag) -> None:
    text = dump(dag, "dot")
    text.encode("utf-8")
    assert timed(load(text, format="dot").dag) == timed(dag)


@given(dags())
def test_json(dag: Dag) -> None:
    text = dump(dag, "json")
    assert text.isascii()
    back = load(text).dag
    assert timed(back) == timed(dag) and back.edges == dag.edges
    assert dump(back, "json") == text


@given(dags(), st.none() | st.integers(0, 10**9))
def test_share(dag: Dag, tick: int | None) -> None:
    try:
        line = dump(dag, "share", tick=tick)
    except DagkitError:
        assert sum(len(name) for name in dag.tasks) > 500  # only what is long may be refused
        return
    assert line.isascii() and not set(line) & set(" \n+/=")
    loaded = load(line)
    assert timed(loaded.dag) == timed(dag) and loaded.tick == tick and loaded.dag.edges == dag.edges


@given(dags())
def test_networkx(dag: Dag) -> None:
    graph = to_networkx(dag)
    assert shape(load(graph).dag) == shape(dag)
    text = json.dumps(nx.node_link_data(graph, edges="links"))
    if len(dag):
        assert timed(load(text).dag) == timed(dag)


@given(dags())
def test_written_text_is_one_line_a_statement(dag: Dag) -> None:
    """No id can start a line of its own, in any format."""
    lines = 1 + len(dag) + len(dag.edges)
    assert dump(dag, "mermaid").count("\n") == lines
    assert dump(dag, "dot").count("\n") == lines + 2
    for name in WRITERS:
        if name not in ("share", "json"):
            assert "\r" not in dump(dag, name) and not set(dump(dag, name)) & set("\x07\x85\u2028\ud800")


def test_every_parameter_survives_json_and_share() -> None:
    dag = Dag.from_dict(
        {
            "s": {"is_setup": True},
            "t": {"is_teardown": True, "upstream": "s", "on_failure_fail_dagrun": True},
            "p": {
                "returns": 3,
                "pool": "db",
                "pool_slots": 2,
                "queue": "q",
                "executor": "E",
                "priority_weight": -4,
            },
            "m": {
                "expand": {"x": "p"},
                "retries": 2,
                "retry_delay": 0,
                "max_retry_delay": 9.5,
                "task_group": "g",
                "retry_exponential_backoff": True,
                "execution_timeout": 7,
            },
            "b": {"branch": ["c"], "trigger_rule": "one_done", "upstream": ["m"], "weight_rule": "absolute"},
            "c": {
                "upstream": "b",
                "short_circuit": "soft",
                "depends_on_past": True,
                "wait_for_downstream": True,
                "max_active_tis_per_dag": 1,
                "max_active_tis_per_dagrun": 2,
            },
        },
        dag_id="everything",
        max_active_tasks=2,
        max_active_runs=3,
        dagrun_timeout=50,
        groups={"g": {"y": "p"}},
    )
    for form in ("json", "share"):
        back = load(dump(dag, form)).dag
        assert {t.task_id: spec_of(t) for t in back} == {t.task_id: spec_of(t) for t in dag}
        assert back.options() == dag.options() and back.dag_id == "everything"


def test_a_task_parameter_without_json_form_is_refused() -> None:
    class Wait:
        pass

    dag = Dag.from_dict({"a": {}})
    object.__setattr__(dag["a"], "wait", Wait())
    with pytest.raises(DagkitError, match="'a': Wait has no JSON form"):
        dump(dag, "json")


def test_a_damaged_share_string() -> None:
    line = dump(Dag.from_dict({"a": {}, "b": {"upstream": "a"}}), "share")
    for damaged in (
        line[:-1],
        line[:-6],
        line.replace("W", "X", 1),
        line + "AAAA",
        "dagkit1:",
        "dagkit1:!!!!",
    ):
        with pytest.raises(
            FormatError, match="expected a share string, found one that is damaged. Copy the whole"
        ):
            load(damaged)
    assert load(line[:30] + "\n  " + line[30:] + "\n").dag.edges == [("a", "b")]  # wrapped by a mail program


@pytest.mark.parametrize(
    "held",
    [
        [], None, {}, ["d", None, {}], [5, None, {}, []], ["d", -1, {}, []], ["d", True, {}, []], ["d", None, [], []],
        ["d", None, {}, [["a", []], ["b", [-1]]]], ["d", None, {}, [["a", []], ["b", [True]]]],
        ["d", None, {}, [["a", []], ["b", [7]]]], ["d", None, {}, [["a", []], ["a", [0]]]],
        ["d", None, {}, [["a", [], []]]], ["d", None, {}, ["ab"]], ["d", None, {}, [[["a"], []]]],
    ],
)
def test_a_share_string_with_a_good_checksum_and_anything_in_it(held: object) -> None:
    packed = json.dumps(held).encode()
    line = base64.urlsafe_b64encode(packed + zlib.crc32(packed).to_bytes(4, "big")).decode()
    with pytest.raises(FormatError, match="expected a share string, found one that is damaged"):
        load(f"dagkit1:{line}")


def test_share_and_dump_refusals() -> None:
    with pytest.raises(DagkitError, match="share: Dag 'dag' needs .* characters, more than the 8000"):
        dump(Dag.from_dict({f"task_{i}": {} for i in range(1000)}), "share")
    with pytest.raises(DagkitError, match="share: tick must be a whole number >= 0 or None, not -1"):
        dump(Dag.from_dict({"a": {}}), "share", tick=-1)
    with pytest.raises(DagkitError, match="dump: format 'dto' is unknown. Did you mean 'dot'"):
        dump(Dag.from_dict({"a": {}}), "dto")


def test_json_refusals() -> None:
    with pytest.raises(FormatError, match="expected version 1 of this format, found 7. Update dagkit"):
        load('{"dagkit": 7, "tasks": {}}')
    with pytest.raises(FormatError, match="expected known Dag options, found 'colour'"):
        load('{"dagkit": 1, "tasks": {}, "options": {"colour": 1}}')
    with pytest.raises(FormatError, match="expected an object with 'dagkit' and 'tasks', found list"):
        load("[1]\n", format="json")


def test_mermaid_writes_markup_as_numbers() -> None:
    text = dump(
        Dag.from_dict({'x"]; click n0 "javascript:1"': {}, "`**b**`": {}, "end": {}, "a#35;": {}}), "mermaid"
    )
    labels = [line[line.index('["') + 2 : -2] for line in text.splitlines()[1:]]
    assert labels == [
        "x#quot;]#59; click n0 #quot;javascript:1#quot;",
        "#96;#42;#42;b#42;#42;#96;",
        "end",
        "a#35;35#59;",
    ]


def test_a_dump_to_a_file_has_the_same_bytes_everywhere(tmp_path: Any) -> None:
    dag = Dag.from_dict({"a": {}, "é": {"upstream": "a"}})
    for name in WRITERS:
        text = dump(dag, name, tmp_path / name)
        assert (tmp_path / name).read_bytes() == text.encode("utf-8")


def test_networkx_graphs_with_other_names() -> None:
    loaded = load(nx.DiGraph([(1, 2), (2, 3)]))
    assert loaded.dag.edges == [("1", "2"), ("2", "3")]
    assert loaded.report[0] == "Node names that are not text were turned into text (3)."
    with pytest.raises(FormatError, match="expected nodes whose text is unique and not empty"):
        load(nx.DiGraph([(1, "1")]))
    with pytest.raises(DagkitError, match="needs a directed graph"):
        load(nx.Graph([(1, 2)]))
    with pytest.raises(FormatError, match='expected a directed graph, found "directed": false'):
        load(json.dumps(nx.node_link_data(nx.Graph([("a", "b")]), edges="links")))
    with pytest.raises(FormatError, match="expected links between listed nodes, found a link with 'z'"):
        load('{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "z"}]}')


def test_what_cannot_be_written_is_said(tmp_path) -> None:
    with pytest.raises(DagkitError, match=r"dump: cannot write '.*missing.*': No such file or directory\. Choose another"):
        dump(Dag.from_dict({"a": {}}), "json", tmp_path / "missing" / "a.json")

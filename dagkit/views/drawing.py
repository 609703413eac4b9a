"""A Drawing: boxes and edges as SVG, whoever laid them out.

Every node is a group with id ``{prefix}n0``, ``{prefix}n1`` ... and the classes ``dk-node dk-<state>``;
a player recolours by changing classes and the text of ``.dk-glyph``; nothing is ever laid out twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .. import states as state_table
from ..errors import DagkitError, nearest, shown
from . import collapse as collapsing
from . import picture
from .picture import CHAR, badge, cells, el, esc, num, plain, state_style, svg_root, text_style

WRAP = 22
"""Labels longer than this take two lines."""
LINE = 15
"""Height of a line of text, in pixels."""
BADGE = 38
"""Room at the left of a box for glyph and letter."""
HEAD = 22
"""Room above the boxes for the names of the waves."""
MARGIN = 6
LEGEND = 420, 860
"""Least and most width given to a legend: it stays in sight beside a drawing that scrolls."""
Point = tuple[float, float]


class Node(NamedTuple):
    """One box: its SVG id, its label, the tasks it stands for, and the first wave among them (from 1)."""

    id: str
    label: str
    task_ids: list[str]
    wave: int


class Drawing(NamedTuple):
    """The SVG text, its nodes, a sentence if boxes stand for several tasks, and who laid it out."""

    svg: str
    nodes: list[Node]
    collapsed: str | None
    engine: str


class Sized(NamedTuple):
    """A box with its lines of text, a small note below them, and its size in pixels."""

    box: collapsing.Box
    lines: list[str]
    note: str
    width: float
    height: float


class Layout(NamedTuple):
    """In pixels: size, the centre of each box, the cubic Bezier points of each edge; and who laid it out."""

    width: float
    height: float
    centres: list[Point]
    curves: list[list[Point]]
    engine: str


Layer = Callable[[Sequence[Sized], Sequence[tuple[int, int]]], Layout]


def draw(
    dag: Any, layer: Layer, *, prefix: str, states: Mapping[str, str] | None = None,
    collapse: str | None = None, expand: Collection[Any] = (), badges: bool = True, path: Sequence[str] = (),
    notes: Mapping[str, str] | None = None, legend: bool = False, headings: bool = True,
) -> Drawing:
    """The drawing of a Dag, laid out by ``layer``. The other parameters as in ``graph.render``."""
    boxes, edges, collapsed = collapsing.boxes(dag, collapse, expand)
    ids, said = dag.graph.ids, notes or {}
    state_of = task_states(dag, states or {})
    sized = [_size(box, badges, said.get(ids[box.members[0]], "")) for box in boxes]
    layout = _shift(layer(sized, edges))
    nodes = [Node(f"{prefix}n{k}", box.label, [ids[i] for i in box.members], box.wave)
             for k, box in enumerate(boxes)]
    steps = _steps(dag, boxes, path)
    marked, body = set(pairwise(steps)), _headings(sized, layout) if headings else []
    for k, ((a, b), curve) in enumerate(zip(edges, layout.curves, strict=True)):
        body.append(_edge(f"{prefix}e{k}", nodes[a].id, nodes[b].id, curve, (a, b) in marked))
    for k, (node, one, centre) in enumerate(zip(nodes, sized, layout.centres, strict=True)):
        found = Counter(s for task_id in node.task_ids for s in state_of.get(task_id, ()))
        body.append(_node(node, one, centre, found, badges, k in steps))
    svg = _finished(prefix, layout, _title(dag, state_of), body, state_of if legend else {})
    return Drawing(svg, nodes, collapsed, layout.engine)


def task_states(dag: Any, given: Mapping[str, str]) -> dict[str, list[str]]:
    """States by task; ``process[0]`` counts for ``process``. Raises DagkitError for an unknown task or state.

    >>> from dagkit.examples import file_fanout
    >>> task_states(file_fanout(), {"process[0]": "success", "process[1]": "failed"})
    {'process': ['success', 'failed']}
    """
    found: dict[str, list[str]] = {}
    for label, state in given.items():
        task_id = label if label in dag else re.sub(r"\[\d+\]\Z", "", str(label))
        if task_id not in dag:
            raise DagkitError(f"states: Dag '{shown(dag.dag_id)}' has no task '{shown(label)}'."
                              f"{nearest(label, dag.tasks)} Use its task ids as keys.")
        state_table.code(state)
        found.setdefault(task_id, []).append(state)
    return found


def wrap(label: str) -> list[str]:
    """A label on one line, or on two broken near the middle, after a separator where there is one.

    >>> wrap("extract_orders"), wrap("transform_customer_addresses")
    (['extract_orders'], ['transform_', 'customer_addresses'])
    """
    if cells(label) <= WRAP:
        return [label]
    middle = len(label) / 2
    cuts = [i for i in range(1, len(label)) if label[i - 1] in "_.-/ :" and abs(i - middle) <= 6]
    cut = min(cuts, key=lambda i: (abs(i - middle), i), default=round(middle))
    return [label[:cut], label[cut:]]


def _steps(dag: Any, boxes: Sequence[collapsing.Box], path: Sequence[str]) -> list[int]:
    """The boxes a path of tasks goes through."""
    if not path:
        return []
    place = {i: k for k, box in enumerate(boxes) for i in box.members}
    return [place[dag.graph.index[task_id]] for task_id in path]


def _size(box: collapsing.Box, badges: bool, note: str) -> Sized:
    lines, merged = wrap(box.name), len(box.members) > 1
    note = f"{len(box.members):,} tasks" if merged else plain(note, 24) if note else ""
    wide = max([cells(line) * CHAR for line in lines] + [cells(note) * CHAR])
    width = max(64.0, round(wide) + 24.0 + (BADGE - 4 if badges else 0))
    return Sized(box, lines, note, width, float(LINE * (len(lines) + bool(note)) + 17 + (7 if merged else 0)))


def _shift(layout: Layout) -> Layout:
    """Make room for the margin and for the headings."""
    def move(p: Point) -> Point:
        return p[0] + MARGIN, p[1] + MARGIN + HEAD
    return Layout(layout.width + 2 * MARGIN, layout.height + 2 * MARGIN + HEAD, [*map(move, layout.centres)],
                  [[*map(move, curve)] for curve in layout.curves], layout.engine)


def _headings(sized: Sequence[Sized], layout: Layout) -> list[str]:
    """The wave above each column, where all boxes of a wave stand in one."""
    columns: dict[int, set[float]] = {}
    for one, (x, _) in zip(sized, layout.centres, strict=True):
        columns.setdefault(one.box.wave, set()).add(round(x))
    ranges = any(one.box.name.startswith("waves ") and len(one.box.members) > 1 for one in sized)
    if ranges or any(max(xs) - min(xs) > 2 for xs in columns.values()):
        return []
    return [el("text", f"wave {wave}", cls="dk-wave", x=min(xs), y=15)
            for wave, xs in sorted(columns.items())]


def _edge(id_: str, start: str, end: str, curve: Sequence[Point], marked: bool) -> str:
    """A curve with an open arrow head, drawn in full: a shared marker would have to be referred to by URL."""
    (x, y), (tx, ty) = curve[0], curve[-1]
    bends = " ".join(f"{num(px)} {num(py)}" for px, py in curve[1:])
    far = next(((px, py) for px, py in reversed(curve[:-1]) if abs(px - tx) + abs(py - ty) > 1), (tx - 1, ty))
    dx, dy = tx - far[0], ty - far[1]
    length = (dx * dx + dy * dy) ** 0.5
    ux, uy = dx / length * 6, dy / length * 6
    head = (f"M{num(tx - ux - uy * 0.6)} {num(ty - uy + ux * 0.6)} L{num(tx)} {num(ty)} "
            f"L{num(tx - ux + uy * 0.6)} {num(ty - uy - ux * 0.6)}")
    return el("path", cls="dk-edge dk-critical" if marked else "dk-edge", id=id_, data_from=start,
              data_to=end, d=f"M{num(x)} {num(y)} C{bends} {head}")


def _node(node: Node, one: Sized, centre: Point, counts: Counter[str], badges: bool, marked: bool) -> str:
    x, y = centre[0] - one.width / 2, centre[1] - one.height / 2
    state = state_table.TABLE[state_table.code(next(iter(counts)))] if len(counts) == 1 else None
    look = ["dk-node", "dk-many" if len(node.task_ids) > 1 else "", "dk-critical" if marked else "",
            f"dk-{state.name}" if state else "dk-mixed" if counts else ""]
    name = plain(node.task_ids[0], 250) if len(node.task_ids) == 1 else node.label
    told = f": {tally(counts)}" if counts else ""
    parts = [el("title", esc(name + told)),
             el("rect", cls="dk-box", x=x, y=y, width=one.width, height=one.height, rx=7)]
    if badges:
        mark = badge(state) if state else ""
        parts.append(el("text", esc(mark), cls="dk-glyph", x=x + 6 + BADGE / 2, y=y + 21))
    parts += _lines(one, x + (8 + BADGE if badges else 12), y + 20.5)
    if counts.total() > 1:
        parts += _bar(counts, x + 4, y + one.height - 8, one.width - 8)
    return el("g", *parts, cls=" ".join(filter(None, look)), id=node.id)


def _lines(one: Sized, x: float, y: float) -> list[str]:
    rows = [el("tspan", esc(line), x=x, y=y + LINE * k) for k, line in enumerate(one.lines)]
    look = "dk-count" if len(one.box.members) > 1 else "dk-small"
    note = el("text", esc(one.note), cls=look, x=x, y=y + LINE * len(rows) - 0.5)
    return [el("text", *rows, cls="dk-label"), note if one.note else ""]


def _bar(counts: Mapping[str, int], x: float, y: float, width: float) -> list[str]:
    """Counts per state as a stacked bar."""
    total, found = sum(counts.values()), []
    for name in filter(counts.get, state_table.NAMES):
        part = width * counts[name] / total
        found.append(el("rect", cls=f"dk-part dk-{name}", x=x, y=y, width=part, height=5))
        x += part
    return found


def tally(counts: Mapping[str, int]) -> str:
    """Counts per state in words; a single one without its number.

    >>> tally({"failed": 1, "success": 118}), tally({"queued": 1})
    ('118 success, 1 failed', 'queued')
    """
    if sum(counts.values()) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[name]} {name}" for name in filter(counts.get, state_table.NAMES))


def _title(dag: Any, state_of: Mapping[str, Sequence[str]]) -> str:
    waves = max(collapsing.wave_numbers(dag.graph), default=0)
    told = tally(Counter(s for found in state_of.values() for s in found)) if state_of else ""
    tasks = f"{len(dag):,} task{'s' * (len(dag) != 1)} in {waves:,} wave{'s' * (waves != 1)}"
    return f"Dag {plain(dag.dag_id)}: {tasks}" + (f"; {told}" if told else "")


def _finished(
    prefix: str, layout: Layout, title: str, body: list[str], state_of: Mapping[str, Sequence[str]],
) -> str:
    """The SVG element, with the legend of the states used below the drawing."""
    width, height = layout.width, layout.height
    used = {s for found in state_of.values() for s in found}
    if used:
        width = max(width, LEGEND[0])
        keys, room = picture.legend(used, MARGIN, height + 8, min(width, LEGEND[1]) - 2 * MARGIN)
        body, height = [*body, *keys], height + 8 + room
    if not layout.centres:
        body = [el("text", "This Dag has no tasks.", x=MARGIN, y=20)]
        width = 190
    return svg_root(prefix, width, height, title, style(f"{prefix}svg"), body)


def style(root: str) -> str:
    """The look of a drawing, inside the element ``root`` only. Neutral parts take the page's text colour."""
    return state_style(root) + text_style(root) + (
        f"#{root} .dk-mixed{{{picture.QUIET}--dk-solid:1}}"
        f"#{root} .dk-box{{fill:var(--dk-fill,currentColor);fill-opacity:var(--dk-solid,.06);"
        "stroke:currentColor;stroke-width:1.3;stroke-dasharray:var(--dk-dash,none)}"
        f"#{root} .dk-node text{{fill:var(--dk-ink,currentColor)}}"
        f"#{root} .dk-node .dk-glyph{{font-weight:700;font-size:13px;text-anchor:middle}}"
        f"#{root} .dk-node .dk-small{{font-size:11px}}"
        f"#{root} .dk-wave{{font-size:11px;text-anchor:middle;opacity:.75}}"
        f"#{root} .dk-part{{fill:var(--dk-fill);stroke:var(--dk-ink);stroke-width:.4}}"
        f"#{root} .dk-edge{{stroke:currentColor;stroke-width:1.3;stroke-opacity:.55;stroke-linejoin:round}}"
        f"#{root} .dk-edge.dk-critical{{stroke-width:2.8;stroke-opacity:1}}"
        f"#{root} .dk-critical .dk-box{{stroke-width:2.8}}"
        f"@media (forced-colors:active){{#{root} .dk-node,#{root} .dk-part{{forced-color-adjust:none}}}}"
    )

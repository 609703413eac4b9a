"""A Drawing: boxes and edges as SVG, whoever laid them out.

Every node is a group with id ``{prefix}n0``, ``{prefix}n1`` ... and the classes ``dk-node dk-<state>``; a player
recolours by changing classes and the text of ``.dk-glyph``; nothing is ever laid out twice.
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
from .picture import CHAR, FONT, badge, cells, esc, num, plain, state_style, svg_root

WRAP = 22
"""Labels longer than this take two lines."""
LINE = 15
"""Height of a line of text, in pixels."""
BADGE = 36
"""Room at the left of a box for glyph and letter."""
HEAD = 22
"""Room above the boxes for the names of the waves."""
MARGIN = 6
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
    """In pixels, without margins: the size, the centre of each box, and the cubic Bezier points of each edge."""

    width: float
    height: float
    centres: list[Point]
    curves: list[list[Point]]


Layer = Callable[[Sequence[Sized], Sequence[tuple[int, int]]], Layout]


def draw(
    dag: Any, layer: Layer, engine: str, *, prefix: str, states: Mapping[str, str] | None = None,
    collapse: str | None = None, expand: Collection[Any] = (), badges: bool = True,
    path: Sequence[str] = (), notes: Mapping[str, str] | None = None,
) -> Drawing:
    """The drawing of a Dag, laid out by ``layer``. Parameters as in ``graph.render``."""
    boxes, edges, collapsed = collapsing.boxes(dag, collapse, expand)
    ids = dag.graph.ids
    sized = [_size(box, badges, (notes or {}).get(ids[box.members[0]], "")) for box in boxes]
    layout = _shift(layer(sized, edges))
    state_of = task_states(dag, states or {})
    place = {i: number for number, box in enumerate(boxes) for i in box.members} if path else {}
    steps = [place[dag.graph.index[task_id]] for task_id in path]
    marked = set(pairwise(steps))
    body = _headings(sized, layout)
    body += [_edge(f"{prefix}e{k}", f"{prefix}n{a}", f"{prefix}n{b}", curve, (a, b) in marked)
             for k, ((a, b), curve) in enumerate(zip(edges, layout.curves, strict=True))]
    nodes = [Node(f"{prefix}n{k}", box.label, [ids[i] for i in box.members], box.wave) for k, box in enumerate(boxes)]
    body += [_node(node, one, centre, [s for t in node.task_ids for s in state_of.get(t, ())], badges, k in set(steps))
             for k, (node, one, centre) in enumerate(zip(nodes, sized, layout.centres, strict=True))]
    svg = svg_root(prefix, layout.width, layout.height, _title(dag, state_of), style(f"{prefix}svg"), body)
    return Drawing(svg, nodes, collapsed, engine)


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


def _size(box: collapsing.Box, badges: bool, note: str) -> Sized:
    lines = wrap(box.label)
    note = plain(note, 24) if note and len(box.members) == 1 else ""
    wide = max(*(cells(line) * CHAR for line in lines), cells(note) * CHAR * 0.85)
    bar = 8 if len(box.members) > 1 else 0
    return Sized(box, lines, note, max(64.0, round(wide) + 24 + (BADGE - 6 if badges else 0)),
                 float(LINE * (len(lines) + bool(note)) + 17 + bar))


def _shift(layout: Layout) -> Layout:
    """Make room for the margin and for the headings."""
    def move(p: Point) -> Point:
        return p[0] + MARGIN, p[1] + MARGIN + HEAD
    return Layout(layout.width + 2 * MARGIN, layout.height + 2 * MARGIN + HEAD,
                  [move(p) for p in layout.centres], [[move(p) for p in curve] for curve in layout.curves])


def _headings(sized: Sequence[Sized], layout: Layout) -> list[str]:
    """The wave above each column, where the boxes of a wave share one."""
    columns: dict[int, set[float]] = {}
    for one, (x, _) in zip(sized, layout.centres, strict=True):
        columns.setdefault(one.box.wave, set()).add(round(x))
    names = any(one.box.label.startswith("wave") and len(one.box.members) > 1 for one in sized)
    if names or any(max(xs) - min(xs) > 2 for xs in columns.values()):
        return []
    return [f'<text class="dk-wave" x="{num(min(xs))}" y="15">wave {wave}</text>' for wave, xs in sorted(columns.items())]


def _edge(id_: str, start: str, end: str, curve: Sequence[Point], marked: bool) -> str:
    """A curve with an open arrow head. No markers: they would need references, and ids that are never hidden."""
    (x, y), (tx, ty) = curve[0], curve[-1]
    bends = " ".join(f"{num(px)} {num(py)}" for px, py in curve[1:])
    hx, hy = next(((tx - px, ty - py) for px, py in reversed(curve[:-1]) if (px, py) != (tx, ty)), (1.0, 0.0))
    length = (hx * hx + hy * hy) ** 0.5
    ux, uy = hx / length * 6, hy / length * 6
    head = (f"M{num(tx - ux - uy * 0.6)} {num(ty - uy + ux * 0.6)} L{num(tx)} {num(ty)} "
            f"L{num(tx - ux + uy * 0.6)} {num(ty - uy - ux * 0.6)}")
    return (f'<path class="dk-edge{" dk-critical" if marked else ""}" id="{esc(id_)}" data-from="{esc(start)}" '
            f'data-to="{esc(end)}" d="M{num(x)} {num(y)} C{bends} {head}"/>')


def _node(node: Node, one: Sized, centre: Point, found: Sequence[str], badges: bool, marked: bool) -> str:
    x, y = centre[0] - one.width / 2, centre[1] - one.height / 2
    counts = Counter(found)
    state = state_table.TABLE[state_table.code(found[0])] if len(counts) == 1 else None
    classes = ["dk-node"]
    classes += ["dk-many"] if len(node.task_ids) > 1 else []
    classes += [f"dk-{state.name}"] if state else ["dk-mixed"] if counts else []
    classes += ["dk-critical"] if marked else []
    told = ", ".join(f"{n} {name}" for name, n in _in_order(counts)) if len(found) > 1 else "".join(counts)
    name = plain(node.task_ids[0], 250) if len(node.task_ids) == 1 else node.label
    parts = [f'<g class="{" ".join(classes)}" id="{esc(node.id)}">',
             f"<title>{esc(name)}{': ' + told if told else ''}</title>",
             f'<rect class="dk-box" x="{num(x)}" y="{num(y)}" width="{num(one.width)}" height="{num(one.height)}" rx="7"/>']
    if badges:
        mark = badge(state) if state else ""
        parts.append(f'<text class="dk-glyph" x="{num(x + 6 + BADGE / 2 - 3)}" y="{num(centre[1] + 4.5)}">{mark}</text>')
    parts += _lines(one, x + 12 + (BADGE - 6 if badges else 0), y)
    parts += _bar(counts, x + 4, y + one.height - 8, one.width - 8) if len(found) > 1 else []
    return "".join([*parts, "</g>"])


def _lines(one: Sized, x: float, y: float) -> list[str]:
    rows = [f'<tspan x="{num(x)}" y="{num(y + 20.5 + LINE * k)}">{esc(line)}</tspan>' for k, line in enumerate(one.lines)]
    found = [f'<text class="dk-label">{"".join(rows)}</text>']
    if one.note:
        found.append(f'<text class="dk-small" x="{num(x)}" y="{num(y + 20 + LINE * len(one.lines))}">{esc(one.note)}</text>')
    return found


def _in_order(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(name, counts[name]) for name in state_table.NAMES if counts.get(name)]


def _bar(counts: Mapping[str, int], x: float, y: float, width: float) -> list[str]:
    """Counts per state as a stacked bar."""
    total, found = sum(counts.values()), []
    for name, n in _in_order(counts):
        part = width * n / total
        found.append(f'<rect class="dk-part dk-{name}" x="{num(x)}" y="{num(y)}" width="{num(part)}" height="5"/>')
        x += part
    return found


def _title(dag: Any, state_of: Mapping[str, Sequence[str]]) -> str:
    waves = max(collapsing.wave_numbers(dag.graph), default=0)
    counts = Counter(s for found in state_of.values() for s in found)
    told = ", ".join(f"{n} {name}" for name, n in _in_order(counts))
    return f"Dag {plain(dag.dag_id)}: {len(dag):,} tasks in {waves:,} waves" + (f"; {told}" if told else "")


def style(root: str) -> str:
    """The look of a drawing, inside the element ``root`` only. Neutral parts take the page's text colour."""
    return (
        state_style(root)
        + f"#{root} .dk-mixed{{--dk-fill:#ffffff;--dk-ink:#111111;--dk-solid:1}}"
        f"#{root} text{{font:12px {FONT};fill:currentColor;white-space:pre;unicode-bidi:isolate}}"
        f"#{root} .dk-box{{fill:var(--dk-fill,currentColor);fill-opacity:var(--dk-solid,.06);stroke:currentColor;"
        f"stroke-width:1.3;stroke-dasharray:var(--dk-dash,none)}}"
        f"#{root} .dk-node text{{fill:var(--dk-ink,currentColor)}}"
        f"#{root} .dk-node .dk-glyph{{font-weight:700;font-size:13px;text-anchor:middle}}"
        f"#{root} .dk-node .dk-small{{font-size:10.5px;opacity:.85}}"
        f"#{root} .dk-wave{{font-size:11px;text-anchor:middle;opacity:.75}}"
        f"#{root} .dk-part{{fill:var(--dk-fill);stroke:var(--dk-ink);stroke-width:.4}}"
        f"#{root} .dk-edge{{stroke:currentColor;stroke-width:1.3;stroke-opacity:.55;stroke-linejoin:round}}"
        f"#{root} .dk-edge.dk-critical{{stroke-width:2.8;stroke-opacity:1}}"
        f"#{root} .dk-critical .dk-box{{stroke-width:2.8}}"
        f"@media (forced-colors:active){{#{root} .dk-node,#{root} .dk-part{{forced-color-adjust:none}}}}"
    )
